/* SPDX-License-Identifier: MIT
 * Types of pixels: promotion, common types, conversions. The rules are those of the language's page "Types".
 *
 * The common type comes first, then promotion: u8 with u32 is u32, u8 with u8 is i32 in arithmetic and u8 in a selection. */
#include <math.h>
#include <string.h>

#include "frontend/builder.h"

const char *type_name(builder *b, type t)
{
    const char *kind = kind_get((enum kind)t.kind)->name;
    return t.lanes == 1 ? kind : arena_printf(b->memory, "%sx%d", kind, t.lanes);
}

bool find_type(const char *name, type *t)
{
    size_t n = strlen(name);
    int lanes = 1;
    char kind_name[8];
    if (n > 2 && name[n - 2] == 'x' && name[n - 1] >= '2' && name[n - 1] <= '4') {
        lanes = name[n - 1] - '0';
        n -= 2;
    }
    if (n >= sizeof kind_name)
        return false;
    memcpy(kind_name, name, n);
    kind_name[n] = 0;
    kind k = kind_find(kind_name);
    if (k == KIND_COUNT || k == KIND_i64)
        return false;
    *t = type_of(k, lanes);
    return true;
}

int promoted(int k)
{
    switch ((kind)k) {
    case KIND_bool: case KIND_u8: case KIND_i8: case KIND_u16: case KIND_i16: return KIND_i32;
    case KIND_f16: return KIND_f32;
    default: return k;
    }
}

static bool is_signed(int k)
{
    return kind_get((kind)k)->class == 'I';
}

/* KIND_COUNT: u32 with a signed kind. */
static int common_kind(int a, int c)
{
    if (a == c)
        return a;
    if (kind_is_float(a) || kind_is_float(c))
        return KIND_f32;
    if (a == KIND_bool || c == KIND_bool)
        return a == KIND_bool ? c : a;
    bool signed_a = is_signed(a), signed_c = is_signed(c);
    if (signed_a == signed_c)
        return kind_get((kind)a)->bits > kind_get((kind)c)->bits ? a : c;
    return a == KIND_u32 || c == KIND_u32 ? KIND_COUNT : KIND_i32;
}

static void report_mix(builder *b, int a, int c, span where)
{
    const char *first = kind_get((kind)a)->name, *second = kind_get((kind)c)->name;
    fail(b, DIAG_E0401, where, "%s and %s don't mix: neither holds all values of the other", first, second);
    const char *signed_kind = a == KIND_u32 ? second : first;
    diag_help(b->d, "convert one side: u32(...) for the %s, or i32(...) for the u32", signed_kind);
}

/* ---- literals ------------------------------------------------------------------------------------------ */

static bool component_fits(builder *b, ref node, kind k)
{
    int64_t v;
    return node_is_const(b->pipe, node, &v) && v >= kind_get(k)->lowest && v <= kind_get(k)->highest;
}

bool literal_fits(builder *b, value v, kind k)
{
    if (!v.literal)
        return false;
    if (kind_is_float(k))
        return true;
    if (k == KIND_bool)
        return false;
    for (int c = 0; c < v.type.lanes; c++)
        if (!component_fits(b, tensor_comp(b->pipe, v.node, c), k))
            return false;
    return true;
}

/* The common kind of all operands, literals last; KIND_COUNT when that was reported. */
static int common_of(builder *b, type_rule rule, const value *operands, int n, span where)
{
    int common = KIND_COUNT;
    for (int literals = 0; literals < 2; literals++)
        for (int k = 0; k < n; k++) {
            if (operands[k].literal != (literals == 1))
                continue;
            int kind = operands[k].type.kind;
            if (common == KIND_COUNT) {
                common = kind;
                continue;
            }
            if (literals && literal_fits(b, operands[k], (enum kind)(rule == RULE_selection ? common : promoted(common))))
                continue;
            int joined = common_kind(common, kind);
            if (joined == KIND_COUNT) {
                report_mix(b, common, kind, where);
                return KIND_COUNT;
            }
            common = joined;
        }
    return common;
}

bool common_type(builder *b, type a, type c, type *t, span where)
{
    int kind = common_kind(a.kind, c.kind);
    if (kind == KIND_COUNT) {
        report_mix(b, a.kind, c.kind, where);
        return false;
    }
    if (a.lanes != c.lanes && a.lanes != 1 && c.lanes != 1) {
        fail(b, DIAG_E0402, where, "%s and %s have different numbers of components", type_name(b, a), type_name(b, c));
        return false;
    }
    *t = type_of((enum kind)kind, a.lanes > c.lanes ? a.lanes : c.lanes);
    return true;
}

/* ---- bringing operands together --------------------------------------------------------------------------- */

static bool common_lanes(builder *b, const value *operands, int n, int *lanes, span where)
{
    *lanes = 1;
    for (int k = 0; k < n; k++) {
        int have = operands[k].type.lanes;
        if (have != 1 && *lanes != 1 && have != *lanes) {
            fail(b, DIAG_E0402, where, "pixels of %d and of %d components don't mix", *lanes, have);
            return false;
        }
        if (have > *lanes)
            *lanes = have;
    }
    return true;
}

static bool check_rule(builder *b, type_rule rule, const value *v, span where)
{
    if (rule == RULE_bool && v->type.kind != KIND_bool) {
        fail(b, DIAG_E0404, where, "this needs a condition (bool), not %s", type_name(b, v->type));
        diag_help(b->d, "compare it with something, as in v != 0");
        return false;
    }
    if (rule == RULE_bits && kind_is_float(v->type.kind)) {
        fail(b, DIAG_E0406, where, "bits are those of whole numbers, not of %s", type_name(b, v->type));
        diag_help(b->d, "convert it: i32(...) or u32(...)");
        return false;
    }
    return true;
}

bool unify(builder *b, type_rule rule, value *operands, int n, span where)
{
    int lanes;
    for (int k = 0; k < n; k++)
        if (is_error(operands[k]) || !check_rule(b, rule, &operands[k], where))
            return false;
    if (!common_lanes(b, operands, n, &lanes, where))
        return false;
    int kind = KIND_f32;
    if (rule != RULE_float) {
        kind = common_of(b, rule, operands, n, where);
        if (kind == KIND_COUNT)
            return false;
        if (rule == RULE_arithmetic || rule == RULE_bits || (rule == RULE_comparison && kind != KIND_bool))
            kind = promoted(kind);
    }
    for (int k = 0; k < n; k++)
        operands[k] = spread(b, convert(b, operands[k], (enum kind)kind), lanes);
    return true;
}

value spread(builder *b, value v, int lanes)
{
    if (v.type.lanes == lanes)
        return v;
    value out = scalar_value(b, tensor_splat(b->pipe, v.node, lanes));
    out.literal = v.literal;
    return out;
}

/* ---- conversions ---------------------------------------------------------------------------------------------- */

value convert(builder *b, value v, kind k)
{
    if (v.type.kind == k)
        return v;
    if (k == KIND_bool) {                                   /* what C means by it */
        ref zero = tensor_splat(b->pipe, constant_of(b, (kind)v.type.kind, 0), v.type.lanes);
        return scalar_value(b, tensor_op2(b->pipe, OP_ne, v.node, zero));
    }
    value out = scalar_value(b, tensor_cast(b->pipe, v.node, k));
    out.literal = v.literal && kind_is_integer(k);
    return out;
}

static bool widens(int from, int to)
{
    if (from == to)
        return true;
    if (from == KIND_bool || !kind_is_integer(from))
        return false;
    if (to == KIND_f32)
        return true;
    return kind_is_integer(to) && kind_get((kind)to)->lowest <= kind_get((kind)from)->lowest &&
           kind_get((kind)to)->highest >= kind_get((kind)from)->highest;
}

value convert_implicit(builder *b, value v, type t, span where, const char *what)
{
    if (is_error(v))
        return v;
    if (!is_scalar(v) && !is_image(v))
        return fail(b, DIAG_E0403, where, "%s is %s, and has to be %s", what, value_words(b, v), type_name(b, t));
    if (v.type.lanes != t.lanes) {
        value out = fail(b, DIAG_E0403, where, "%s is %s, and has to be %s", what, type_name(b, v.type), type_name(b, t));
        if (v.type.lanes == 1)
            diag_help(b->d, "make a pixel of it: (v, v%s)", t.lanes == 2 ? "" : t.lanes == 3 ? ", v" : ", v, v");
        else if (t.lanes == 1)
            diag_help(b->d, "take one component, as in v.r, or luma(v)");
        return out;
    }
    if (!widens(v.type.kind, t.kind) && !(is_scalar(v) && kind_is_integer(t.kind) && literal_fits(b, v, (enum kind)t.kind))) {
        value out = fail(b, DIAG_E0403, where, "%s is %s, and has to be %s", what, type_name(b, v.type), type_name(b, t));
        if (t.kind == KIND_bool)
            diag_help(b->d, "compare it with something, as in v != 0");
        else
            diag_help(b->d, "convert it: %s(%s)", kind_get((enum kind)t.kind)->name, written_text(b, where));
        return out;
    }
    return v.type.kind == t.kind ? v : lift(b, pixel_convert, &v, 1, t.kind, where);       /* the same type keeps a pad */
}
