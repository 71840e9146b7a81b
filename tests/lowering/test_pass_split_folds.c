/* SPDX-License-Identifier: MIT
 * Reductions over whole pictures: taken apart where the order of elements makes no bit, left alone where it does, where there are
 * few elements, and where every pixel has its own. */
#include <string.h>

#include "support_pass.h"

static const char head[] = "pipeline 1 @t { dim W = %src[0] dim H = %src[1]\n";
static const char *const bounds[2] = { "%y1 in 0..H - 1, %x1 in 0..W - 1", "%x1 in 0..W - 1, %y1 in 0..H - 1" };

/* Sides where lanes, chunks and their last steps begin and end. */
static const int sizes[][2] = {
    { 1, 1 }, { 1, 40 }, { 130, 1 }, { 63, 15 }, { 64, 16 }, { 65, 17 }, { 127, 3 }, { 128, 2 }, { 129, 33 }
};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static char *pipe_of(arena *memory, const char *input, const char *rest)
{
    return arena_printf(memory, "%sinput %%src %s (0..W - 1, 0..H - 1)\n%s\noutput %%out as \"out\" }", head, input, rest);
}

/* The same bits at every size; loops over two binders or more that are left. */
static int loops_left(const char *source, pass_id pass, const uint32_t (*params)[TENSOR_MAX_LANES], int every)
{
    arena *memory = arena_new(NULL);
    for (int k = every - 1; k < N_SIZES; k += every) expect_same_bits(source, pass, sizes[k][0], sizes[k][1], params, (uint64_t)k);
    tensor_pipe *p = after_pass(memory, source, pass);
    if (pass_get(pass)->run(p)) fail_msg("there is more to do in\n%s", ir_text(memory, p));
    int left = count_folds(p, FOLD_loop, 2) + count_folds(p, FOLD_loop, 3);
    arena_free(memory);
    return left;
}

static int left(const char *source) { return loops_left(source, PASS_split_folds, NULL, 1); }

/* ---- what has no order ----------------------------------------------------------------------------------------- */

/* A number n of a kind as the text has it. */
static char *number(arena *memory, const char *kind, int n)
{
    return strcmp(kind, "i32") == 0 ? arena_printf(memory, "%d", n) : arena_printf(memory, "%s(%d)", kind, n);
}

/* acc = init; acc = op(acc, element) */
static char *reduction(arena *memory, const char *input, const char *op, const char *kind, const char *element, const char *init,
                       const char *where, int order)
{
    return pipe_of(memory, input, arena_printf(memory,
        "stage %%one %s () {\n"
        "  $r = fold loop (%s) acc %s %%a = %s { $p = load %s %%src (%%x1, %%y1) %s %s $n = %s %s %%a, $e next $n } yield $r }\n"
        "stage %%out %s (0..1, 0..0) { $v = load %s %%one () yield $v }",
        kind, bounds[order], kind, init, input, element, where, op, kind, kind, kind));
}

static void whole_numbers(void **state)
{
    (void)state;
    static const char *const ops[] = { "add", "sub", "mul", "min", "max", "bitand", "bitor", "bitxor" };
    static const char *const kinds[] = { "i32", "u32", "u8", "i16" };
    arena *memory = arena_new(NULL);
    for (int op = 0; op < 8; op++)
        for (int k = 0; k < 4; k++)
            for (int how = (op + k) % 2; how < 4; how += 2 + (op + k) % 2) {
                const char *kind = kinds[k];
                char *odd = arena_printf(memory, "$k = bitor %s $p, %s", kind, number(memory, kind, 1));
                char *element = arena_printf(memory, "%s $e = add %s $k, %s", odd, kind, number(memory, kind, how & 1 ? 2 : 6));
                char *where = how & 2 ? arena_printf(memory, "$w = lt bool %s, $p where $w", number(memory, kind, 3)) : "";
                /* products and intersections of many numbers are 0 soon: those of nearly nothing but ones stay */
                if (op == 2) element = arena_printf(memory, "%s $e = bitor %s $k, %s", odd, kind, number(memory, kind, 1));
                if (op == 5) element = arena_printf(memory, "$e = bitor %s $p, %s", kind, number(memory, kind, 113));
                char *init = number(memory, kind, how == 1 ? 5 : op == 2 ? 1 : op == 5 ? 127 : how);
                char *source = reduction(memory, kind, ops[op], kind, element, init, where, how & 1);
                assert_int_equal(loops_left(source, PASS_split_folds, NULL, 3), 0);
            }
    arena_free(memory);
}

static void conditions(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    for (int any = 0; any < 2; any++)
        for (int rare = 0; rare < 2; rare++) {
            /* rarely decided by one pixel; the other way round nearly always */
            char *element = arena_printf(memory, "$f = lt bool u8(%d), $p $e = not bool $f", (any != rare) ? 254 : 0);
            if (any) element = arena_printf(memory, "$e = lt bool u8(%d), $p", rare ? 254 : 0);
            char *source = reduction(memory, "u8", any ? "or" : "and", "bool", element, any ? "bool(0)" : "bool(1)", "", rare);
            assert_int_equal(left(source), 0);
        }
    arena_free(memory);
}

/* Totals of 64 bits don't go through anything narrower. */
static void long_sums(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    char *source = pipe_of(memory, "u32x3", arena_printf(memory,
        "stage %%one f32x3 () { $z = splat i64x3 i64(7) $r = fold loop (%s) acc i64x3 %%a = $z {\n"
        "  $p = load u32x3 %%src (%%x1, %%y1) $e = cast i64x3 $p $n = add i64x3 %%a, $e next $n } $f = cast f32x3 $r yield $f }\n"
        "stage %%out f32x3 (0..1, 0..0) { $v = load f32x3 %%one () yield $v }", bounds[0]));
    assert_int_equal(left(source), 0);
    arena_free(memory);
}

#define NUMBER(identity) "$isnt = ne bool $p, $p $k = select f32 $isnt, f32(" identity "), $p "
#define POSITIVE_ZERO(of) "$zero = eq bool " of ", 0.0 $e = select f32 $zero, 0.0, " of " "

/* min and max of reals: only of those that are ordered. */
static void reals(void **state)
{
    (void)state;
    static const struct { const char *op, *element, *init; int left; } cases[] = {
        { "max", NUMBER("0xff800000") POSITIVE_ZERO("$k"), "f32(0xff800000)", 0 },
        { "min", NUMBER("0x7f800000") POSITIVE_ZERO("$k"), "f32(0x7f800000)", 0 },
        { "min", NUMBER("5.0") POSITIVE_ZERO("$k"), "f32(100.0)", 0 },
        { "max", "$b = bitcast i32 $p $c = bitand i32 $b, 255 $k = cast f32 $c $e = add f32"
          " $k, 1.0 ", "f32(3.0)", 0 },    /* by its range */
        { "max", POSITIVE_ZERO("$p"), "f32(0xff800000)", 1 },                       /* may be NaN */
        { "max", NUMBER("0xff800000") "$e = add f32 $k, -0.0", "f32(0xff800000)", 1 },    /* may be -0 */
        { "max", NUMBER("0x7fc00000") POSITIVE_ZERO("$k"), "f32(0xff800000)", 1 },    /* NaN stays NaN */
        { "max", NUMBER("0xff800000") POSITIVE_ZERO("$k"), "f32(0x7fc00000)", 1 },    /* starts at NaN */
        { "min", NUMBER("0x7f800000") POSITIVE_ZERO("$k"), "-0.0", 1 },
        { "add", NUMBER("0.0") POSITIVE_ZERO("$k"), "0.0", 1 },                       /* rounds */
        { "mul", NUMBER("1.0") POSITIVE_ZERO("$k"), "1.0", 1 },
    };
    arena *memory = arena_new(NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int order = 0; order < 2; order++) {
            const char *where = order ? "$w = lt bool 0.5, $p where $w" : "";
            char *source = reduction(memory, "f32", cases[k].op, "f32", cases[k].element, cases[k].init, where, order);
            tensor_pipe *p = after_pass(memory, source, PASS_split_folds);
            if (count_folds(p, FOLD_loop, 2) != cases[k].left) fail_msg("case %zu: %d left", k, count_folds(p, FOLD_loop, 2));
            for (int s = order; s < N_SIZES; s += 2)
                expect_same_bits(source, PASS_split_folds, sizes[s][0], sizes[s][1], NULL, 50 + (uint64_t)s);
        }
    arena_free(memory);
}

/* What an accumulator becomes depends on others, on itself twice, or is no sum at all. */
static void other_loops(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "acc i32 %a = 0, i32 %b = 1 { $p = load i32 %src (%x1, %y1) $n = add i32 %a, %b $m = add i32 %b, $p next $n, $m }",
        "acc i32 %a = 0, f32 %b = 1.0 { $p = load i32 %src (%x1, %y1) $n = add i32 %a, $p $f = cast f32 $p $m = add f32 %b,"
          " $f next $n, $m }",
        "acc i32 %a = 0 { $p = load i32 %src (%x1, %y1) $q = mul i32 %a, $p $n = add i32 %a, $q next $n }",
        "acc i32 %a = 0 { $p = load i32 %src (%x1, %y1) $n = sub i32 $p, %a next $n }",
        "acc i32 %a = 7 { $p = load i32 %src (%x1, %y1) next $p }",
    };
    arena *memory = arena_new(NULL);
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        bool two = strstr(bodies[k], "next $n, $m") != NULL;
        assert_int_equal(left(pipe_of(memory, "i32", arena_printf(memory,
            "stage %%one i32 () { %s = fold loop (%s) %s yield $r }\nstage %%out i32 (0..1, 0..0) {"
              " $v = load i32 %%one () yield $v }",
            two ? "$r, $s" : "$r", bounds[0], bodies[k]))), 1);
    }
    arena_free(memory);
}

/* ---- which binders, which stages -------------------------------------------------------------------------------- */

/* A sum and how many it has: both or none. A reduction in the element of another; several stages that ask for the same one. */
static void several(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    char *source = pipe_of(memory, "u8", arena_printf(memory,
        "stage %%one f32 () { $z = cast i64 u8(0)\n"
        "  $r, $c = fold loop (%s) acc i64 %%a = $z, i32 %%n = 0 {\n"
        "    $p = load u8 %%src (%%x1, %%y1) $w = lt bool u8(9), $p where $w $e = cast i64 $p $s = add i64 %%a, $e"
        " $m = add i32 %%n, 1 next $s, $m }\n"
        "  $f = cast f32 $r $g = cast f32 $c $q = div f32 $f, $g yield $q }\n"
        "stage %%two i32x2 () {\n"
        "  $r = fold loop (%s) acc u8 %%a = u8(1) { $p = load u8 %%src (%%x1, %%y1) $n = max u8 %%a, $p next $n }\n"
        "  $t = fold loop (%s) acc i32 %%b = 0 { $p = load u8 %%src (%%x1, %%y1) $d = sub u8 $r, $p $e = cast i32 $d"
        " $n = add i32 %%b, $e next $n }\n"
        "  $i = cast i32 $r $v = vec i32x2 $t, $i yield $v }\n"
        "stage %%out f32x2 (0..W - 1, 0..H - 1) {\n"
        "  $t = fold loop (%s) acc u8 %%a = u8(1) { $p = load u8 %%src (%%x1, %%y1) $n = max u8 %%a, $p next $n }\n"
        "  $o = load f32 %%one () $w = load i32x2 %%two () $f = cast f32x2 $w $s = splat f32x2 $o $g = add f32x2 $f, $s\n"
        "  $h = cast f32 $t $u = splat f32x2 $h $k = add f32x2 $g, $u yield $k }", bounds[0], bounds[0], bounds[1], bounds[0]));
    assert_int_equal(left(source), 0);
    arena_free(memory);
}

/* Along the axes that are read: elements of a turned picture, of a line, of many dimensions, from a first element on. */
static void axes(void **state)
{
    (void)state;
    static const char *const folds[] = {
        "(%i in 0..H - 1, %j in 0..W - 1) acc i32 %a = 3 { $p = load i32 %src (%j, %i) ",
        "(%i in 0..W - 1, %j in 0..H - 1) acc i32 %a = 3 { $p = load i32 %src (%i, %j) ",
        "(%i in 2..H + 1, %j in -5..W + 9) acc i32 %a = 3 { $q = mul i32 %j, 2 $r = add i32 $q, 1"
          " $p = load i32 %src [wrap, reflect] ($r, %i) ",
        "(%i in 0..W - 1) acc i32 %a = 3 { $p = load i32 %src (%i, 0) ",
        "(%i in 0..H - 1) acc i32 %a = 3 { $p = load i32 %src (0, %i) ",
        "(%k in 0..2, %i in 0..H - 1, %j in 0..W - 1) acc i32 %a = 3 { $q = add i32 %j, %k"
          " $p = load i32 %src [edge, none] ($q, %i) ",
        "(%i in 0..H - 1, %k in -1..1, %j in 0..W - 1, %l in 0..1) acc i32 %a = 3 { $q = add i32 %j, %k $r = add i32 %i, %l"
          " $p = load i32 %src [edge, wrap] ($q, $r) ",
        "(%i in 0..W - 1, %j in 0..H - 1) acc i32 %a = 3 { $p = mul i32 %i, %j ",
    };
    arena *memory = arena_new(NULL);
    for (size_t k = 0; k < sizeof folds / sizeof *folds; k++) {
        char *source = pipe_of(memory, "i32", arena_printf(memory,
            "stage %%out i32 (0..1, 0..0) { $s = fold loop %s $n = add i32 %%a, $p next $n } yield $s }", folds[k]));
        left(source);
        tensor_pipe *p = after_pass(memory, source, PASS_split_folds);
        if (!find_stage(p, "out.2")) fail_msg("fold %zu was not taken apart", k);
    }
    arena_free(memory);
}

/* hi = lo - 1 is empty, and nothing is less. */
static void expect_sound_bounds(const tensor_pipe *p, const uint32_t (*params)[TENSOR_MAX_LANES])
{
    uint8_t pixel = 0;
    halo_image input = image_of(&pixel, 1, 1, 1);
    run_values values = { &input, params };
    for (uint32_t s = 1; s < p->stages.count; s++)
        for (int d = 0; d < stage_at(p, s)->rank; d++) {
            int64_t lo = uniform_evaluate(p, stage_at(p, s)->lo[d], &values).i;
            assert_true(uniform_evaluate(p, stage_at(p, s)->hi[d], &values).i >= lo - 1);
        }
}

/* Bounds of parameters: over something, over nothing, and over less than nothing. */
static void bounds_of_parameters(void **state)
{
    (void)state;
    static const int32_t at[][4] = { { 0, 99, 0, 49 }, { -7, 200, 3, 3 }, { 5, 5, -300, 20 }, { 0, -1, 0, 9 }, { 0, 9, 0, -1 },
    { 200, -100, 0, 40 },
                                     { 0, 40, 200, -100 }, { 300, -300, 300, -300 }, { 0, 63, 0, 15 }, { 0, 64, 0, 16 },
                                     { -1, 127, 4, 36 } };
    arena *memory = arena_new(NULL);
    for (int op = 0; op < 2; op++) {
        char *source = arena_printf(memory,
            "pipeline 1 @t { param @a i32 = 0 in -300..300 param @b i32 = 0 in -300..300\n"
            "param @c i32 = 0 in -300..300 param @d i32 = 0 in -300..300\n"
            "dim W = %%src[0] dim H = %%src[1] input %%src u8 (0..W - 1, 0..H - 1)\n"
            "stage %%out i32 (0..1, 0..0) { $s = fold loop (%%i in @a..@b, %%j in @c..@d) acc i32 %%s = 77 {\n"
            "  $p = load u8 %%src [wrap, edge] (%%i, %%j) $q = cast i32 $p $r = add i32 $q, 100 $n = %s i32 %%s, $r next"
            " $n } yield $s }\n"
            "output %%out as \"out\" }", op ? "max" : "add");
        for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
            uint32_t params[4][TENSOR_MAX_LANES] = { { 0 } };
            for (int n = 0; n < 4; n++) params[n][0] = (uint32_t)at[k][n];
            assert_int_equal(loops_left(source, PASS_split_folds, (const uint32_t (*)[TENSOR_MAX_LANES])params, 3), 0);
            expect_sound_bounds(after_pass(memory, source, PASS_split_folds), (const uint32_t (*)[TENSOR_MAX_LANES])params);
        }
    }
    arena_free(memory);
}

/* Few elements, whatever the parameters are, or bounds so far apart that an i32 doesn't say how far. */
static void not_worth_it(void **state)
{
    (void)state;
    static const struct { const char *range, *bounds; } cases[] = {
        { " in 0..30", "%i in neg(@n)..@n, %j in neg(@n)..@n" }, { " in 0..3000", "%i in 0..@n, %j in 0..0" },
        { "", "%i in -1..@n, %j in -1..1" },
        { "", "%i in @n..@n + 5000, %j in -1..1" }, { " in 0..5000", "%i in -9..9, %j in -30..30" },
    };
    arena *memory = arena_new(NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char *source = arena_printf(memory,
            "pipeline 1 @t { param @n i32 = 2%s dim W = %%src[0] dim H = %%src[1] input %%src i32 (0..W - 1, 0..H - 1)\n"
            "stage %%out i32 (0..1, 0..0) { $s = fold loop (%s) acc i32 %%s = 0 {\n"
            "  $p = load i32 %%src [wrap, edge] (%%i, %%j) $n = add i32 %%s, $p next $n } yield $s }\noutput %%out as \"out\" }",
            cases[k].range, cases[k].bounds);
        tensor_pipe *p = ir_from_text(memory, ir_numbered(memory, source));
        assert_false(pass_get(PASS_split_folds)->run(p));
    }
    arena_free(memory);
}

/* Values for few places are taken apart too; where every pixel, or every column, has its own reduction, that is work enough. */
static void places(void **state)
{
    (void)state;
    static const struct { const char *bounds, *element; int left; } cases[] = {
        { "0..255, 0..0", "$i = load i32 %src (%x1, %y1) $e = eq bool $i, %x $p = cast i32 $e", 0 },
        { "-2..3, 0..4", "$k = add i32 %x1, %x $l = add i32 %y1, %y $p = load i32 %src [wrap, edge] ($k, $l)", 0 },
        { "-2..3, 0..4", "$k = add i32 %x1, %y $p = load i32 %src [wrap, edge] ($k, %y1)", 0 },
        { "0..511, 0..1", "$k = add i32 %x1, %x $l = add i32 %y1, %y $p = load i32 %src [wrap, edge] ($k, $l)", 1 },
        { "0..W - 1, 0..0", "$k = add i32 %x1, %x $p = load i32 %src [wrap, edge] ($k, %y1)", 1 },
        { "0..W - 1, 0..H - 1", "$p = load i32 %src (%x1, %y1)", 0 },
    };
    arena *memory = arena_new(NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char *body = arena_printf(memory, "stage %%out i32 (%s) { $s = fold loop (%s) acc i32 %%s = 9 { %s $n = add i32 %%s,"
          " $p next $n }\n"
                                          "  $v = add i32 $s, %%y yield $v }", cases[k].bounds, bounds[k % 2], cases[k].element);
        char *source = pipe_of(memory, "i32", body);
        tensor_pipe *p = after_pass(memory, source, PASS_split_folds);
        assert_int_equal(count_folds(p, FOLD_loop, 2) + (find_stage(p, "out.2") == 0), 2 * cases[k].left);
        for (int s = 0; s < N_SIZES; s += 2)
            expect_same_bits(source, PASS_split_folds, sizes[s][0], sizes[s][1], NULL, 80 + (uint64_t)s);
    }
    /* a line for each place: it would only be stored */
    char *lines = pipe_of(memory, "i32",
        "stage %out i32 (0..2, 0..0) { $s = fold loop (%x1 in 0..W + 5000) acc i32 %s = 9 {\n"
        "  $k = add i32 %x1, %x $p = load i32 %src [wrap, edge] ($k, 0) $n = add i32 %s, $p next $n } yield $s }");
    assert_false(pass_get(PASS_split_folds)->run(ir_from_text(memory, ir_numbered(memory, lines))));
    arena_free(memory);
}

/* ---- positions ------------------------------------------------------------------------------------------------------ */

/* As argmin and argmax make it. `nodes`: $e of $p, and where; `better` compares $e and %b; `first` is taken besides. */
static char *position(arena *memory, const char *kind, const char *fold, const char *nodes, const char *better, const char *first,
                      const char *init)
{
    return pipe_of(memory, kind, arena_printf(memory,
        "stage %%one i32x4 () {\n"
        "  $b, $f, $i, $j = fold loop (%s) acc %s %%b = %s, bool %%f = bool(0), i32 %%i = 3, i32 %%j = -4 {\n"
        "    $p = load %s %%src [wrap, edge] (%%x1, %%y1) %s $o = not bool %%f $l = lt bool %s $t = or bool %s\n"
        "    $nb = select %s $t, $e, %%b $ni = select i32 $t, %%x1, %%i $nj = select i32 $t, %%y1, %%j next $nb, bool(1), $ni,"
        " $nj }\n"
        "  $k = cast i32 $b $g = cast i32 $f $v = vec i32x4 $i, $j, $k, $g yield $v }\n"
        "stage %%out i32x4 (0..1, 0..0) { $v = load i32x4 %%one () yield"
        " $v }", fold, kind, init, kind, nodes, better, first, kind));
}

static void positions(void **state)
{
    (void)state;
    static const char ordered[] = NUMBER("0x7f800000") POSITIVE_ZERO("$k");
    static const struct { const char *kind, *nodes, *better, *first, *init; bool left; } cases[] = {
        { "u8", "$e = bitand u8 $p, u8(7)", "$e, %b", "$o, $l", "u8(255)", 0 },              /* many are the least */
        { "i32", "$e = bitor i32 $p, 1", "%b, $e", "$o, $l", "-2147483648", 0 },
        { "f32", ordered, "$e, %b", "$o, $l", "f32(0x7f800000)", 0 },
        { "u8", "$q = bitand u8 $p, u8(1) $e = bitor u8 $q, u8(254)", "$e, %b", "$o,"
        " $l", "u8(254)", 0 },     /* no better than the start */
        { "u8", "$e = bitand u8 $p, u8(7) $w = lt bool u8(200), $p where $w", "%b, $e", "$o, $l", "u8(9)", 0 },
        { "u8", "$e = bitand u8 $p, u8(7) $w = lt bool $p, u8(0) where $w", "%b, $e", "$o,"
        " $l", "u8(9)", 0 },     /* there is none */
        { "f32", "$e = neg f32 $p", "$e, %b", "$o, $l", "f32(0x7f800000)", 1 },              /* NaN, and -0 */
        { "u8", "$e = bitand u8 $p, u8(7)", "$e, %b", "$l, $l", "u8(255)", 1 },              /* the first isn't taken as it is */
        { "u8", "$e = bitand u8 $p, u8(7)", "$p, %b", "$o, $l", "u8(255)", 1 },              /* another is compared */
        { "i32", "$e = add i32 $p, %i", "$e, %b", "$o, $l", "77", 1 },                       /* depends on the place before */
    };
    arena *memory = arena_new(NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int order = 0; order < 2; order++) {
            char *source = position(memory, cases[k].kind, bounds[order], cases[k].nodes, cases[k].better, cases[k].first,
            cases[k].init);
            if ((left(source) > 0) != cases[k].left) fail_msg("case %zu", k);
        }
    arena_free(memory);
}

/* Along one binder; over less than nothing, where the lines that are left must not be read. */
static void positions_in_bounds(void **state)
{
    (void)state;
    static const char *const folds[] = {
        "%y1 in 0..H - 1, %x1 in 0..W - 1", "%y1 in 5..H - 20, %x1 in -9..W + 70", "%y1 in 0..H + 90, %x1 in 3..W - 40",
        "%x1 in -3..W + 9, %y1 in H..2*H + 70"
    };
    arena *memory = arena_new(NULL);
    for (size_t k = 0; k < sizeof folds / sizeof *folds; k++)
        assert_int_equal(left(position(memory, "u8", folds[k], "$e = bitand u8 $p, u8(63)", "$e, %b", "$o, $l", "u8(255)")), 0);
    /* no number is left that says that there is none */
    char *last = position(memory, "u8", "%y1 in 2147478000..2147483647, %x1 in 0..W - 1", "$e = bitand u8 $p, u8(63)", "$e, %b",
                          "$o, $l", "u8(255)");
    assert_false(pass_get(PASS_split_folds)->run(ir_from_text(memory, ir_numbered(memory, last))));
    char *line = pipe_of(memory, "u8",
        "stage %out i32x2 (0..1, 0..0) {\n"
        "  $b, $f, $i = fold loop (%x1 in -7..W + 1000) acc u8 %b = u8(3), bool %f = bool(0), i32 %i = 3 {\n"
        "    $p = load u8 %src [wrap, edge] (%x1, 0) $o = not bool %f $l = lt bool %b, $p $t = or bool $o, $l\n"
        "    $nb = select u8 $t, $p, %b $ni = select i32 $t, %x1, %i next $nb, bool(1), $ni }\n"
        "  $k = cast i32 $b $v = vec i32x2 $i, $k yield $v }");
    left(line);
    assert_true(find_stage(after_pass(memory, line, PASS_split_folds), "out.4") != 0);
    arena_free(memory);
}

/* A fold that depends on where it stands, in a stage of few places and in one of many. */
static void one_fold_in_two_stages(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    char *source = pipe_of(memory, "u8",
        "stage %few i32 (0..2, 0..0) {\n"
        "  $s = fold loop (%y1 in 0..H - 1, %x1 in 0..W - 1) acc i32 %s = 9 {\n"
        "    $k = add i32 %x1, %x $p = load i32 %src [wrap, edge] ($k, %y1) $m = mul i32 $p, %x1 $n = add i32 %s, $m next"
        " $n } yield $s }\n"
        "output %few as \"few\" stage %out i32 (0..W - 1, 0..0) { yield 1 }");
    enum { W = 70, H = 40 };
    static uint8_t in[W * H];
    static int32_t out[2][2][W];
    random_source r = { 8 };
    for (int k = 0; k < W * H; k++) in[k] = (uint8_t)random_bits(&r);
    halo_image input = image_of(in, 1, W, H);
    for (int after = 0; after < 2; after++) {
        tensor_pipe *p = ir_from_text(memory, ir_numbered(memory, source));
        stage_at(p, find_stage(p, "out"))->body = stage_at(p, find_stage(p, "few"))->body;
        if (after) assert_true(pass_get(PASS_split_folds)->run(p));
        assert_int_equal(count_folds(p, FOLD_loop, 2), after ? 1 : 2);
        halo_image outputs[2] = { image_of(out[after][0], 4, 3, 1), image_of(out[after][1], 4, W, 1) };
        ir_run(p, &input, NULL, outputs);
    }
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    assert_memory_equal(out[0][0], out[0][1], 12);
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers), cmocka_unit_test(conditions), cmocka_unit_test(long_sums), cmocka_unit_test(reals),
        cmocka_unit_test(other_loops), cmocka_unit_test(several), cmocka_unit_test(axes), cmocka_unit_test(bounds_of_parameters),
        cmocka_unit_test(not_worth_it), cmocka_unit_test(places), cmocka_unit_test(positions),
        cmocka_unit_test(positions_in_bounds),
        cmocka_unit_test(one_fold_in_two_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
