/* SPDX-License-Identifier: MIT
 * The grammar of .pipe files (LALR(1), no conflicts: Lemon fails the build on one). Each action is one call into
 * build_ast.c. layout.c has inserted a SEMI at each end of a statement. */

%name haloi_parser
%token_prefix TOKEN_
%token_type {token}
%extra_context {parse_context *p}

/* The parser's stack is a fixed array in the arena; nesting beyond it is an error of the script. */
%stack_size 3000
%stack_overflow { report_too_deep(p, token_span(p, p->tokens.items[p->at])); p->stopped = true; }

%include {
#include "lang/parse.h"
#include <assert.h>
}

%syntax_error { (void)yymajor; report_syntax_error(p, TOKEN, find_expected_tokens(yypParser)); }
%parse_failure { p->stopped = true; }

/* `image` is a keyword only before an element type. */
%fallback ID IMAGE.

/* Loosest first. build_binary refuses comparisons that chain; `-` binds looser than `**`, so -x**2 is -(x**2). */
%right QUESTION.
%left OR.
%left AND.
%right NOT.
%left EQ NE LT LE GT GE.
%left PLUS MINUS.
%left STAR SLASH FLOORDIV PERCENT.
%right NEGATE.
%right POW.

%type expr {expr *}
%type postfix {expr *}
%type primary {expr *}
%type exprs {expr_list}
%type args {argument_list}
%type opt_args {argument_list}
%type arg {argument}
%type ids {name_list}
%type binders {binder_list}
%type binder {binder}
%type opt_where {expr *}
%type range {range}
%type opt_in {range *}
%type type {type_expr *}
%type opt_type {type_expr *}
%type opt_result {type_expr *}
%type opt_default {expr *}
%type opt_params {parameter_list}
%type params {parameter_list}
%type param {parameter}
%type annots {annotation_list}
%type annot {annotation}
%type dims {dimension_list}
%type dim {dimension}
%type block {block}
%type stmts {stmt_list}
%type stmt {stmt *}
%type define {stmt *}
%type outputs {output_list}
%type output {output}
%type item {item *}
%type fn_head {item *}
%type pipe_head {item *}
%type pipe_outputs {item *}

/* ---- items. An error skips to the end of the item; a block on the way is still checked. ---- */

file ::= items.
items ::= .
items ::= items item(A) SEMI. { LIST_PUSH(p->memory, p->result->items, A); }
items ::= items error SEMI. { yypParser->yyerrcnt = -1; }
items ::= items error block SEMI. { yypParser->yyerrcnt = -1; }

item(A) ::= IMPORT(K) STRING(S).                 { A = build_import(p, K, S); }
item(A) ::= CONST(K) ID(N) ASSIGN expr(E).       { A = build_const_item(p, K, N, E); }
item(A) ::= fn_head(F) ASSIGN expr(E).           { A = set_fn_value(p, F, E); }
item(A) ::= fn_head(F) block(B).                 { A = set_body(F, B); }
item(A) ::= pipe_outputs(P) block(B).            { A = set_body(P, B); }

fn_head(A) ::= FN(K) ID(N) LPAREN opt_params(P) RPAREN(C) opt_result(T). { A = build_fn(p, K, N, P, T, C); }
opt_result(A) ::= .              { A = NULL; }
opt_result(A) ::= ARROW type(T). { A = T; }

pipe_head(A) ::= annots(L) PIPE(K) ID(N) LPAREN opt_params(P) RPAREN ARROW. { A = build_pipe(p, L, K, N, P); }
pipe_outputs(A) ::= pipe_head(P) type(T). {
    A = P;
    LIST_PUSH(p->memory, A->outputs, ((output){NULL, T, T->where}));
}
pipe_outputs(A) ::= pipe_head(P) LPAREN outputs(L) RPAREN. { A = P; A->outputs = L; A->outputs_named = true; }
outputs(A) ::= output(O).                  { A = (output_list){0}; LIST_PUSH(p->memory, A, O); }
outputs(A) ::= outputs(L) COMMA output(O). { A = L; LIST_PUSH(p->memory, A, O); }
output(A) ::= ID(N) COLON type(T).         { A = build_output(p, N, T); }

opt_params(A) ::= .                 { A = (parameter_list){0}; }
opt_params(A) ::= params(L) opt_comma. { A = L; }
params(A) ::= param(P).             { A = (parameter_list){0}; LIST_PUSH(p->memory, A, P); }
params(A) ::= params(L) COMMA param(P). { A = L; LIST_PUSH(p->memory, A, P); }
param(A) ::= ID(N) opt_type(T) opt_default(D) opt_in(R). { A = build_parameter(p, N, T, D, R); }
opt_default(A) ::= .                { A = NULL; }
opt_default(A) ::= ASSIGN expr(E).  { A = E; }
opt_in(A) ::= .                     { A = NULL; }
opt_in(A) ::= IN range(R).          { A = build_range_copy(p, R); }
opt_type(A) ::= .                   { A = NULL; }
opt_type(A) ::= COLON type(T).      { A = T; }

type(A) ::= ID(E).                                { A = build_type(p, E); }
type(A) ::= IMAGE(I) ID(E).                       { A = build_image_type(p, I, E); }
type(A) ::= ID(E) LBRACKET exprs(X) RBRACKET(C).  { A = build_array_type(p, E, X, C); }

/* ---- statements. An error skips to the end of the statement; the name it would have defined stays known. ---- */

block(A) ::= LBRACE(O) stmts(S) RBRACE(C). { A = (block){S, span_join(token_span(p, O), token_span(p, C))}; }
stmts(A) ::= .                     { A = (stmt_list){0}; yypParser->yyerrcnt = -1; }
stmts(A) ::= stmts(L) stmt(S) SEMI. { A = L; LIST_PUSH(p->memory, A, S); }
stmts(A) ::= stmts(L) annots(N) ID(I) opt_type(T) ASSIGN(O) error SEMI. {
    A = L;
    LIST_PUSH(p->memory, A, build_define(p, N, I, T, O, build_error(p, O)));
    yypParser->yyerrcnt = -1;
}
stmts(A) ::= stmts(L) annots(N) ID(I) LBRACKET dims(D) RBRACKET opt_type(T) ASSIGN(O) error SEMI. {
    A = L;
    LIST_PUSH(p->memory, A, build_define_dims(p, N, I, D, T, O, build_error(p, O)));
    yypParser->yyerrcnt = -1;
}
stmts(A) ::= stmts(L) error SEMI.  { A = L; yypParser->yyerrcnt = -1; }
stmts(A) ::= stmts(L) error block SEMI. { A = L; yypParser->yyerrcnt = -1; }

stmt(A) ::= define(D).                                { A = D; }
stmt(A) ::= FOR(K) ID(N) IN range(R) block(B).        { A = build_for(p, K, N, R, B); }
stmt(A) ::= CONST(K) ID(N) ASSIGN expr(E).            { A = build_const(p, K, N, E); }
stmt(A) ::= RETURN(K) exprs(L).                       { A = build_return(p, K, L); }

define(A) ::= annots(L) ID(N) opt_type(T) ASSIGN(O) expr(E). { A = build_define(p, L, N, T, O, E); }
define(A) ::= annots(L) ID(N) LBRACKET dims(D) RBRACKET opt_type(T) ASSIGN(O) expr(E). {
    A = build_define_dims(p, L, N, D, T, O, E);
}
define(A) ::= annots(L) ID(N) LBRACKET dims(D) RBRACKET LBRACKET dims(D2) RBRACKET opt_type(T) ASSIGN(O) expr(E). {
    A = add_second_dims(build_define_dims(p, L, N, D, T, O, E), D2);
}
dims(A) ::= dim(D).               { A = (dimension_list){0}; LIST_PUSH(p->memory, A, D); }
dims(A) ::= dims(L) COMMA dim(D). { A = L; LIST_PUSH(p->memory, A, D); }
dim(A) ::= expr(E) opt_in(R).     { A = build_dimension(p, E, R); }

annots(A) ::= .                   { A = (annotation_list){0}; }
annots(A) ::= annots(L) annot(N). { A = L; LIST_PUSH(p->memory, A, N); }
annots(A) ::= annots(L) annot(N) SEMI. { A = L; LIST_PUSH(p->memory, A, N); }
annot(A) ::= AT(K) ID(N).         { A = build_annotation(p, K, N, (argument_list){0}, N); }
annot(A) ::= AT(K) ID(N) LPAREN opt_args(L) RPAREN(C). { A = build_annotation(p, K, N, L, C); }

/* ---- expressions ---- */

expr(A) ::= expr(C) QUESTION expr(Y) COLON expr(N). [QUESTION] { A = build_select(p, C, Y, N); }
expr(A) ::= expr(L) OR expr(R).       { A = build_binary(p, BINARY_OR, L, R); }
expr(A) ::= expr(L) AND expr(R).      { A = build_binary(p, BINARY_AND, L, R); }
expr(A) ::= NOT(O) expr(E).           { A = build_unary(p, O, UNARY_NOT, E); }
expr(A) ::= expr(L) EQ expr(R).       { A = build_binary(p, BINARY_EQ, L, R); }
expr(A) ::= expr(L) NE expr(R).       { A = build_binary(p, BINARY_NE, L, R); }
expr(A) ::= expr(L) LT expr(R).       { A = build_binary(p, BINARY_LT, L, R); }
expr(A) ::= expr(L) LE expr(R).       { A = build_binary(p, BINARY_LE, L, R); }
expr(A) ::= expr(L) GT expr(R).       { A = build_binary(p, BINARY_GT, L, R); }
expr(A) ::= expr(L) GE expr(R).       { A = build_binary(p, BINARY_GE, L, R); }
expr(A) ::= expr(L) PLUS expr(R).     { A = build_binary(p, BINARY_ADD, L, R); }
expr(A) ::= expr(L) MINUS expr(R).    { A = build_binary(p, BINARY_SUB, L, R); }
expr(A) ::= expr(L) STAR expr(R).     { A = build_binary(p, BINARY_MUL, L, R); }
expr(A) ::= expr(L) SLASH expr(R).    { A = build_binary(p, BINARY_DIV, L, R); }
expr(A) ::= expr(L) FLOORDIV expr(R). { A = build_binary(p, BINARY_FLOORDIV, L, R); }
expr(A) ::= expr(L) PERCENT expr(R).  { A = build_binary(p, BINARY_MOD, L, R); }
expr(A) ::= expr(L) POW expr(R).      { A = build_binary(p, BINARY_POW, L, R); }
expr(A) ::= MINUS(O) expr(E). [NEGATE] { A = build_unary(p, O, UNARY_NEGATE, E); }
expr(A) ::= postfix(E).               { A = E; }

postfix(A) ::= primary(E).                                       { A = E; }
postfix(A) ::= postfix(E) DOT ID(N).                             { A = build_member(p, E, N); }
postfix(A) ::= postfix(E) DOT ID(N) LPAREN opt_args(L) RPAREN(C). { A = build_method(p, E, N, L, C); }
postfix(A) ::= postfix(E) LBRACKET exprs(L) RBRACKET(C).         { A = build_index(p, E, L, C); }
postfix(A) ::= ID(N) LPAREN opt_args(L) RPAREN(C).               { A = build_call(p, N, L, C); }
postfix(A) ::= ID(N) LPAREN binders(B) opt_where(W) COLON expr(V) RPAREN(C). { A = build_reduce(p, N, B, W, V, C); }

opt_where(A) ::= .               { A = NULL; }
opt_where(A) ::= WHERE expr(E).  { A = E; }
binders(A) ::= binder(B).        { A = (binder_list){0}; LIST_PUSH(p->memory, A, B); }
binders(A) ::= binders(L) COMMA binder(B). { A = L; LIST_PUSH(p->memory, A, B); }
binder(A) ::= expr(E) IN range(R). { A = build_binder(p, E, R); }
range(A) ::= expr(E).                    { A = build_range(p, E, NULL, false); }
range(A) ::= expr(E) DOTDOT expr(L).     { A = build_range(p, E, L, false); }
range(A) ::= expr(E) DOTDOTLT expr(L).   { A = build_range(p, E, L, true); }

opt_args(A) ::= .                     { A = (argument_list){0}; }
opt_args(A) ::= args(L) opt_comma.    { A = L; }
args(A) ::= arg(E).                   { A = (argument_list){0}; LIST_PUSH(p->memory, A, E); }
args(A) ::= args(L) COMMA arg(E).     { A = L; LIST_PUSH(p->memory, A, E); }
arg(A) ::= expr(E).                   { A = build_argument(E); }
arg(A) ::= ID(N) COLON expr(E).       { A = build_named_argument(p, N, E); }
arg(A) ::= FN(K) LPAREN ids(L) RPAREN ASSIGN expr(E). { A = build_function_argument(p, K, L, E); }
ids(A) ::= ID(N).                     { A = (name_list){0}; LIST_PUSH(p->memory, A, token_name(p, N)); }
ids(A) ::= ids(L) COMMA ID(N).        { A = L; LIST_PUSH(p->memory, A, token_name(p, N)); }
opt_comma ::= .
opt_comma ::= COMMA.

primary(A) ::= ID(N).       { A = build_name(p, N); }
primary(A) ::= INTEGER(N).  { A = build_integer(p, N); }
primary(A) ::= FLOAT(N).    { A = build_float(p, N); }
primary(A) ::= STRING(N).   { A = build_string(p, N); }
primary(A) ::= LPAREN(O) expr(E) RPAREN(C).             { A = build_paren(p, O, E, C); }
primary(A) ::= LPAREN(O) expr(E) COMMA exprs(L) RPAREN(C). { A = build_tuple(p, O, E, L, C); }
primary(A) ::= LBRACKET(O) exprs(L) opt_comma RBRACKET(C). { A = build_array(p, O, L, C); }
exprs(A) ::= expr(E).                { A = (expr_list){0}; LIST_PUSH(p->memory, A, E); }
exprs(A) ::= exprs(L) COMMA expr(E). { A = L; LIST_PUSH(p->memory, A, E); }

%code {
_Static_assert(YYNTOKEN <= 64, "the set of expected tokens is one 64-bit word");

/* Would the parser shift this token, after the reductions that it brings about? Followed on the stack's states alone:
 * `states` holds those above `base`, the part of the real stack that is still untouched. */
static bool accepts(const yyParser *parser, int kind)
{
    YYACTIONTYPE states[64];
    int base = (int)(parser->yytos - parser->yystack), n = 0;
    for (;;) {
        YYACTIONTYPE state = n ? states[n - 1] : parser->yystack[base].stateno;
        YYACTIONTYPE action = yy_find_shift_action((YYCODETYPE)kind, state);
        if (action <= YY_MAX_SHIFTREDUCE)
            return true;
        if (action == YY_ERROR_ACTION || action == YY_ACCEPT_ACTION || action == YY_NO_ACTION)
            return action == YY_ACCEPT_ACTION;
        for (YYACTIONTYPE next = action; next >= YY_MIN_REDUCE;) {      /* a shift of a rule's left side may reduce again */
            int rule = next - YY_MIN_REDUCE, n_popped = -yyRuleInfoNRhs[rule];
            n -= n_popped;
            if (n < 0) {
                base += n;
                n = 0;
            }
            state = n ? states[n - 1] : parser->yystack[base].stateno;
            next = yy_find_reduce_action(state, (YYCODETYPE)yyRuleInfoLhs[rule]);
            if (n == 64)
                return false;
            bool reduces_again = next > YY_MAX_SHIFT && next <= YY_MAX_SHIFTREDUCE;
            states[n++] = next;
            if (reduces_again)
                next = (YYACTIONTYPE)(next + YY_MIN_REDUCE - YY_MIN_SHIFTREDUCE);
            else
                break;
        }
    }
}

uint64_t find_expected_tokens(const struct yyParser *parser)
{
    uint64_t expected = 0;
    for (int kind = 1; kind < YYNTOKEN; kind++)
        if (accepts(parser, kind))
            expected |= (uint64_t)1 << kind;
    return expected;
}

void run_parser(parse_context *p)
{
    yyParser *parser = ARENA_NEW(p->memory, yyParser);
    haloi_parserInit(parser, p);
    for (p->at = 0; p->at < p->tokens.count && !p->stopped; p->at++)
        haloi_parser(parser, p->tokens.items[p->at].kind, p->tokens.items[p->at]);
    haloi_parserFinalize(parser);
}
}
