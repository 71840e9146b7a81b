/* SPDX-License-Identifier: MIT
 * Reads IR text: operands, uniform expressions, and the lines of a stage's body. */
#include <string.h>

#include "lowering/tensor_build.h"
#include "lowering/tensor_parse.h"
#include "lowering/tensor_text.h"

/* ---- operands -------------------------------------------------------------------------------- */

static ref leaf(parser *p, tensor_op op, type t, uint32_t payload, int index)
{
    tensor_node node = { .op = (uint8_t)op, .type = t, .payload = payload, .index = (uint8_t)index };
    return node_make(p->pipe, node, NULL, 0);
}

static ref parse_param_use(parser *p)
{
    for (uint32_t k = 0; k < p->pipe->params.count; k++)
        if (strcmp(p->pipe->params.items[k].name, p->token.text) == 0) {
            parse_advance(p);
            return tensor_param_node(p->pipe, k);
        }
    parse_error(p, "there is no parameter `%s`", p->token.text);
    return 0;
}

static ref parse_dim_use(parser *p)
{
    for (uint32_t k = 0; k < p->pipe->dims.count; k++)
        if (strcmp(p->pipe->dims.items[k].name, p->token.text) == 0) {
            parse_advance(p);
            return tensor_dim_node(p->pipe, k);
        }
    parse_error(p, "there is no extent `%s`", p->token.text);
    return 0;
}

static ref parse_local(parser *p)
{
    token at = p->token;
    int64_t number = -1;
    parse_advance(p);
    if (strlen(at.text) < 10 && !strchr(at.text, '.'))
        for (number = 0; *at.text; at.text++)
            number = number * 10 + (*at.text - '0');
    if (number >= 0 && number < (int64_t)p->locals.count && p->locals.items[number])
        return p->locals.items[number];
    p->token = at;
    parse_error(p, "this isn't defined above");
    return 0;
}

static ref parse_named_value(parser *p)
{
    const char *name = p->token.text;
    for (uint32_t k = p->names.count; k-- > 0;)
        if (strcmp(p->names.items[k].name, name) == 0) {
            parse_advance(p);
            return p->names.items[k].node;
        }
    for (int k = 0; k < TENSOR_MAX_RANK; k++)
        if (strcmp(tensor_coord_names[k], name) == 0) {
            parse_advance(p);
            return tensor_coord(p->pipe, k);
        }
    parse_error(p, "there is no coordinate, binder or accumulator `%s` here", name);
    return 0;
}

/* `5` is i32, `5.0` f32. */
static ref parse_number(parser *p)
{
    token sign = p->token;
    bool negative = parse_accept(p, "-");
    bool real = p->token.kind == TOKEN_number && strpbrk(p->token.text, ".e") && strncmp(p->token.text, "0x", 2) != 0;
    if (negative)
        p->token = sign;
    kind k = real ? KIND_f32 : KIND_i32;
    uint32_t bits = parse_bits(p, k);
    return tensor_const(p->pipe, k, bits);
}

static ref parse_typed_number(parser *p, kind k)
{
    parse_advance(p);
    parse_expect(p, "(");
    uint32_t bits = parse_bits(p, k);
    parse_expect(p, ")");
    return tensor_const(p->pipe, k, bits);
}

ref parse_operand(parser *p)
{
    if (p->failed)
        return 0;
    switch (p->token.kind) {
    case TOKEN_param: return parse_param_use(p);
    case TOKEN_local: return parse_local(p);
    case TOKEN_value: return parse_named_value(p);
    case TOKEN_number: return parse_number(p);
    case TOKEN_name: {
        kind k = kind_find(p->token.text);
        return k == KIND_COUNT ? parse_dim_use(p) : parse_typed_number(p, k);
    }
    default:
        if (parse_at(p, "-"))
            return parse_number(p);
        parse_error(p, "expected an operand");
        return 0;
    }
}

/* ---- uniform expressions ------------------------------------------------------------------------- */

enum { MAX_ARGS = 2 * TENSOR_MAX_RANK };

/* Two operands of one type, as + - * between them need. */
static ref binary(parser *p, tensor_op op, ref a, ref b)
{
    if (p->failed)
        return 0;
    if (!type_equal(node_type(p->pipe, a), node_type(p->pipe, b)))
        parse_error(p, "the operands' types differ");
    return node_make(p->pipe, (tensor_node){ .op = (uint8_t)op, .type = node_type(p->pipe, a) }, (ref[]){ a, b }, 2);
}

/* The type that a call's result has; `suffix` is what follows the op's dot. */
static bool call_type(parser *p, tensor_op op, const char *suffix, const ref *args, int n_args, tensor_node *node)
{
    type first = node_type(p->pipe, args[0]);
    op_class class = op_get(op)->class;
    int number = *suffix >= '0' && *suffix <= '4' && !suffix[1] ? *suffix - '0' : -1;
    node->type = first;
    if (class == CLASS_CMP)
        node->type.kind = KIND_bool;
    if (class == CLASS_TYP) {
        kind k = kind_find(suffix);
        node->type.kind = (uint8_t)k;
        return n_args == 1 && k != KIND_COUNT;
    }
    switch (op) {
    case OP_select: node->type = n_args == 3 ? node_type(p->pipe, args[1]) : first; return n_args == 3;
    case OP_vec:    node->type = type_of(first.kind, n_args); return n_args >= 2 && n_args <= TENSOR_MAX_LANES;
    case OP_splat:  node->type = type_of(first.kind, number); return n_args == 1 && number >= 2;
    case OP_comp:   node->type = type_of(first.kind, 1); node->index = (uint8_t)number; return n_args == 1 && number >= 0;
    default:        return class != CLASS_STR && n_args == op_get(op)->arity && !*suffix;
    }
}

static ref parse_call(parser *p)
{
    token at = p->token;
    const char *dot = strchr(at.text, '.');
    size_t n = dot ? (size_t)(dot - at.text) : strlen(at.text);
    tensor_node node = { .op = (uint8_t)op_find(arena_string(p->memory, at.text, n)) };
    ref args[MAX_ARGS];
    int n_args = 0;
    parse_advance(p);
    parse_expect(p, "(");
    while (!p->failed && n_args < MAX_ARGS && !parse_at(p, ")")) {
        if (n_args)
            parse_expect(p, ",");
        args[n_args++] = parse_uniform(p);
    }
    parse_expect(p, ")");
    if (p->failed)
        return 0;
    if (node.op != OP_none && n_args > 0 && call_type(p, node.op, dot ? dot + 1 : "", args, n_args, &node))
        return node_make(p->pipe, node, args, n_args);
    p->token = at;
    parse_error(p, "no op is called so with %d operands", n_args);
    return 0;
}

static bool at_call(const parser *p)
{
    if (p->token.kind != TOKEN_name || kind_find(p->token.text) != KIND_COUNT)
        return false;
    token next = tensor_lex(p->memory, p->text, p->n_bytes, p->token.end);
    return next.kind == TOKEN_punctuation && strcmp(next.text, "(") == 0;
}

static ref parse_factor(parser *p)
{
    if (at_call(p))
        return parse_call(p);
    if (!parse_accept(p, "("))
        return parse_operand(p);
    ref inner = parse_uniform(p);
    parse_expect(p, ")");
    return inner;
}

static ref parse_product(parser *p)
{
    ref product = parse_factor(p);
    while (parse_accept(p, "*"))
        product = binary(p, OP_mul, product, parse_factor(p));
    return product;
}

/* `a - 5` is how a + -5 is written: builders never subtract a constant. */
ref parse_uniform(parser *p)
{
    if (!parse_enter(p))
        return 0;
    ref sum = parse_product(p);
    while (parse_at(p, "+") || parse_at(p, "-")) {
        bool minus = parse_at(p, "-");
        parse_advance(p);
        ref term = parse_product(p);
        int64_t value;
        if (!p->failed && minus && node_is_const(p->pipe, term, &value) && node_type(p->pipe, term).kind == KIND_i32) {
            term = tensor_i32(p->pipe, (int32_t)(uint32_t)-value);
            minus = false;
        }
        sum = binary(p, minus ? OP_sub : OP_add, sum, term);
    }
    p->depth--;
    return sum;
}

/* ---- loads and folds --------------------------------------------------------------------------- */

static ref parse_load(parser *p, type t)
{
    tensor_node node = { .op = OP_load, .type = t, .payload = parse_stage_name(p) };
    int rank = p->failed ? 0 : stage_at(p->pipe, node.payload)->rank, n_args = rank;
    ref args[MAX_ARGS] = { 0 };
    bool bordered = parse_accept(p, "[");
    for (int k = 0; bordered && k < rank && !p->failed; k++) {
        if (k)
            parse_expect(p, ",");
        border mode = border_find(p->token.text);
        if (mode == BORDER_COUNT)
            parse_error(p, "expected a border mode");
        parse_advance(p);
        node.border[k] = (uint8_t)mode;
        if (mode == BORDER_value)
            args[n_args++] = parse_operand(p);
    }
    if (bordered)
        parse_expect(p, "]");
    parse_expect(p, "(");
    for (int k = 0; k < rank; k++) {
        if (k)
            parse_expect(p, ",");
        args[k] = parse_operand(p);
    }
    parse_expect(p, ")");
    return p->failed ? 0 : node_make(p->pipe, node, args, n_args);
}

typedef struct fold_head {
    tensor_fold fold;
    const char *acc_names[TENSOR_MAX_ACCS];
} fold_head;

static void parse_binders(parser *p, tensor_fold *fold)
{
    parse_expect(p, "(");
    while (!p->failed && !parse_at(p, ")")) {
        int k = fold->n_binders;
        if (k == TENSOR_MAX_BINDERS) {
            parse_error(p, "more than %d binders", TENSOR_MAX_BINDERS);
            return;
        }
        if (k)
            parse_expect(p, ",");
        fold->binder_names[k] = parse_word(p, TOKEN_value, "a binder");
        parse_expect(p, "in");
        fold->lo[k] = parse_uniform(p);
        parse_expect(p, "..");
        fold->hi[k] = parse_uniform(p);
        fold->n_binders++;
    }
    parse_expect(p, ")");
}

static fold_head parse_fold_head(parser *p)
{
    fold_head head = { .fold = { .form = UINT8_MAX } };
    for (int k = 0; k < N_FOLD_FORMS; k++)
        if (parse_at(p, tensor_fold_names[k]))
            head.fold.form = (uint8_t)k;
    if (head.fold.form == UINT8_MAX)
        parse_error(p, "expected loop, conv, image_sum or median");
    parse_advance(p);
    parse_binders(p, &head.fold);
    parse_expect(p, "acc");
    do {
        int k = head.fold.n_accs;
        if (k == TENSOR_MAX_ACCS) {
            parse_error(p, "more than %d accumulators", TENSOR_MAX_ACCS);
            return head;
        }
        token at = p->token;
        type t = parse_type(p);
        head.acc_names[k] = parse_word(p, TOKEN_value, "an accumulator");
        parse_expect(p, "=");
        head.fold.init[k] = parse_operand(p);
        if (!p->failed && !type_equal(t, node_type(p->pipe, head.fold.init[k]))) {
            p->token = at;
            parse_error(p, "the initial value isn't of this type");
        }
        head.fold.n_accs++;
    } while (parse_accept(p, ","));
    return head;
}

static void parse_statement(parser *p);

static void parse_fold_body(parser *p, tensor_fold *fold)
{
    parse_expect(p, "{");
    while (!p->failed && !parse_at(p, "next")) {
        if (parse_accept(p, "where"))
            fold->where = parse_operand(p);
        else
            parse_statement(p);
    }
    parse_expect(p, "next");
    for (int k = 0; k < fold->n_accs; k++) {
        if (k)
            parse_expect(p, ",");
        fold->next[k] = parse_operand(p);
    }
    parse_expect(p, "}");
}

/* The fold's number, or 0 after an error. */
static uint32_t parse_fold(parser *p)
{
    fold_head head = parse_fold_head(p);
    uint32_t n_names = p->names.count;
    if (p->failed || !parse_enter(p))
        return 0;
    uint32_t f = tensor_fold_new(p->pipe, head.fold.form, head.fold.n_binders, head.fold.n_accs);
    for (int k = 0; k < head.fold.n_binders; k++)
        LIST_PUSH(p->memory, p->names, ((parsed_name){ head.fold.binder_names[k], tensor_binder(p->pipe, f, k) }));
    for (int k = 0; k < head.fold.n_accs; k++) {
        type t = node_type(p->pipe, head.fold.init[k]);
        LIST_PUSH(p->memory, p->names, ((parsed_name){ head.acc_names[k], tensor_acc(p->pipe, f, k, t) }));
    }
    parse_fold_body(p, &head.fold);
    p->names.count = n_names;
    p->depth--;
    *fold_at(p->pipe, f) = head.fold;
    return p->failed ? 0 : f;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static ref parse_op(parser *p, tensor_op op)
{
    tensor_node node = { .op = (uint8_t)op, .type = parse_type(p) };
    ref args[MAX_ARGS];
    int n_args = 0;
    if (op == OP_load)
        return parse_load(p, node.type);
    do {
        if (n_args == MAX_ARGS)
            parse_error(p, "too many operands");
        else
            args[n_args++] = parse_operand(p);
    } while (!p->failed && parse_accept(p, ","));
    if (parse_accept(p, "index")) {
        parse_expect(p, "=");
        node.index = (uint8_t)parse_integer(p);
    }
    return p->failed ? 0 : node_make(p->pipe, node, args, n_args);
}

/* %7, _, %8: numbers, and -1 for the result that nobody uses. */
static int parse_targets(parser *p, int64_t targets[TENSOR_MAX_ACCS])
{
    int n = 0;
    do {
        if (n == TENSOR_MAX_ACCS) {
            parse_error(p, "too many results");
            break;
        }
        if (parse_accept(p, "_")) {
            targets[n++] = -1;
            continue;
        }
        if (p->token.kind != TOKEN_local || strlen(p->token.text) > 8 || strchr(p->token.text, '.')) {
            parse_error(p, "expected `%%`, a number and `=`");
            break;
        }
        targets[n] = 0;
        for (const char *c = p->token.text; *c; c++)
            targets[n] = targets[n] * 10 + (*c - '0');
        n++;
        parse_advance(p);
    } while (!p->failed && parse_accept(p, ","));
    return n;
}

/* Numbers go up by one from line to line, so no text makes a table larger than itself. */
static void define(parser *p, int64_t number, ref r)
{
    if (p->failed || number < 0)
        return;
    if (number != (int64_t)p->locals.count)
        parse_error(p, "the next number is %%%u", p->locals.count);
    else
        LIST_PUSH(p->memory, p->locals, r);
}

static void parse_statement(parser *p)
{
    int64_t targets[TENSOR_MAX_ACCS];
    int n = parse_targets(p, targets);
    parse_expect(p, "=");
    if (p->failed)
        return;
    if (!parse_accept(p, "fold")) {
        tensor_op op = p->token.kind == TOKEN_name ? op_find(p->token.text) : OP_none;
        if (op == OP_none || (op_get(op)->class == CLASS_STR && op >= OP_const && op != OP_load)) {
            parse_error(p, "there is no op `%s`", p->token.text);
            return;
        }
        parse_advance(p);
        define(p, targets[0], parse_op(p, op));
        return;
    }
    /* The results' numbers come before those of the lines inside. */
    uint32_t first = p->locals.count;
    for (int k = 0; k < n; k++)
        define(p, targets[k], 0);
    uint32_t f = parse_fold(p);
    if (f && n != fold_at(p->pipe, f)->n_accs)
        parse_error(p, "a fold gives a result for each accumulator; `_` stands for one that isn't used");
    for (int k = 0; k < n && f && !p->failed; k++)
        if (targets[k] >= 0)
            p->locals.items[first++] = leaf(p, OP_result, node_type(p->pipe, fold_at(p->pipe, f)->init[k]), f, k);
}

ref parse_body(parser *p)
{
    p->locals.count = 0;
    p->names.count = 0;
    parse_expect(p, "{");
    while (!p->failed && !parse_at(p, "yield"))
        parse_statement(p);
    parse_expect(p, "yield");
    ref result = parse_operand(p);
    parse_expect(p, "}");
    return result;
}
