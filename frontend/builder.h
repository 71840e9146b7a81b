/* SPDX-License-Identifier: MIT
 * The frontend's inside: what is known while one pipe is lowered, and who does what. One section per source file. */
#ifndef HALO_FRONTEND_BUILDER_H
#define HALO_FRONTEND_BUILDER_H

#include "frontend/values.h"

/* ---- script.c: files, imports, who sees which name --------------------------------------------- */

typedef struct import_edge { module *target; span where; } import_edge;

struct module {
    const char *name;
    file       *file;
    uint32_t    source;
    bool        is_prelude;
    LIST(import_edge) imports;
};

struct script {
    arena        *memory;
    interner     *names;
    diags        *d;
    import_lookup lookup;
    void         *user;
    LIST(module *) modules;          /* the script's own first, then imports */
    LIST(module *) prelude;
    uint32_t      n_errors;          /* of the texts and imports: with some nothing is lowered */
    bool          names_checked;
    bool          has_doubles;       /* names that are defined twice: lowered, but only to find more errors */
};

typedef enum name_space { NAMES_functions, NAMES_values } name_space;

void check_names(script *s);      /* reports names that are defined twice; once */
/* The item that `name` means in `from`: its own, an import's, the prelude's. *home: the module it stands in. */
const item *find_item(const script *s, const module *from, const char *name, name_space space, const module **home);

/* ---- scope.c: names, errors -------------------------------------------------------------------- */

typedef enum symbol_kind { SYMBOL_value, SYMBOL_parameter, SYMBOL_constant, SYMBOL_coordinate } symbol_kind;

typedef struct symbol {
    struct symbol *next;
    const char    *name;
    symbol_kind    kind;
    value          value;
    span           where;
} symbol;

/* A read of an image at computed coordinates, remembered until the ranges of the coordinates are known. */
typedef struct read {
    const image   *image;
    ref            index[TENSOR_MAX_RANK];
    const expr    *written[TENSOR_MAX_RANK];   /* or NULL */
    bool           counts;                     /* not in a condition or `where`: it takes part in finding the domain */
    bool           asked[TENSOR_MAX_RANK];     /* this axis is inside because the domain was made from it */
    span           where;
} read;

/* The coordinates in which scalar expressions stand at the moment: those of one stage (none outside of definitions). */
typedef struct coordinates {
    struct coordinates *outer;
    int         count;
    const char *names[TENSOR_MAX_RANK];
    span        where[TENSOR_MAX_RANK];
    ref         lo[TENSOR_MAX_RANK], hi[TENSOR_MAX_RANK];      /* 0 while unknown */
    LIST(read)  reads;
    int         in_condition;
} coordinates;

struct scope {
    struct scope  *outer;
    symbol        *symbols;
    const module  *module;
    coordinates   *at;                /* the coordinates its values are written in */
    bool           is_round;          /* a round of a `for`: list elements go further out */
};

typedef struct call { struct call *outer; const item *item; span where; } call;
typedef struct constant { struct constant *next; const item *item; value value; bool busy; } constant;

/* Values of an integer node; `known` unless it can be anything. */
typedef struct value_range { int64_t lo, hi; bool known; } value_range;
typedef struct trait { uint64_t depends; uint32_t depth; } trait;

typedef struct builder {
    script      *script;
    arena       *memory;
    diags       *d;
    tensor_pipe *pipe;
    scope       *scope;
    coordinates *at;
    call        *calls;
    constant    *constants;           /* file-level constants evaluated so far */
    const char  *defining;            /* the name on the left of the definition at hand: names derived stages */
    const char  *indexed_name;        /* the same, inside of an indexed definition: reading it is recursion */
    int          depth, n_calls, rounds, open_folds, n_derived;
    uint32_t     n_evaluations;       /* of expressions: functions that call functions twice are 2^n of them */
    bool         gave_up;             /* too large or too deep: everything is an error from here on */
    LIST(trait)  traits;              /* per node, see nodes.c */
    LIST(value_range) ranges;         /* per node, see overflow.c */
    LIST(uint8_t)  fold_depth;        /* per fold: how many folds were open around it */
    LIST(uint8_t)  stage_pixels;      /* per stage: its values depend on pixels of an input */
} builder;

scope  *scope_push(builder *b, bool is_round);
void    scope_pop(builder *b);
symbol *scope_find(builder *b, const char *name);                /* in the scopes of this function or pipe */
bool    scope_define(builder *b, scope *into, const char *name, symbol_kind kind, value v, span where);
value   lookup_value(builder *b, const char *name, span where);  /* constants of the file and the prelude, too */
bool    is_compile_time_name(builder *b, const char *name);      /* a constant or `for` variable of the script */
value   item_constant(builder *b, const item *constant, const module *home);

value fail(builder *b, diag_code code, span where, const char *format, ...) __attribute__((format(printf, 4, 5)));
const char *written_text(builder *b, span where);                /* the source text, shortened */
const char *value_words(builder *b, value v);                    /* "an image of u8x3", "a list", "f32" */
const char *uniform_text(builder *b, ref r);                     /* "src.width - 1" */
void require(builder *b, ref condition, diag_code code, span where, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- nodes.c: questions about nodes --------------------------------------------------------------- */

value scalar_value(builder *b, ref node);
bool  node_is_closed(builder *b, ref node);       /* no coordinate, no variable of an open reduction */
bool  node_uses_pixels(builder *b, ref node);
bool  node_has_load(builder *b, ref node);
bool  node_uses_parameters(builder *b, ref node);
uint32_t node_depth(builder *b, ref node);        /* of its expression */
void  fold_opened(builder *b, uint32_t fold);     /* call after tensor_fold_new; then fold_closed */
void  fold_closed(builder *b);
void  node_renamed(builder *b, ref before, ref now);   /* now: before, with variables of an open reduction renamed */
ref   node_extent(builder *b, ref lo, ref hi);    /* hi - lo + 1 */
ref   normal(builder *b, ref r);
ref   ceil_div(builder *b, ref a, int32_t n);     /* n > 0 */
ref   floor_div(builder *b, ref a, int32_t n);
ref   node_add(builder *b, ref a, ref c);
ref   node_sub(builder *b, ref a, ref c);
ref   node_scale(builder *b, ref a, int32_t factor);
/* bounds.c. 1: holds for every size and parameter, 0: for none, -1: depends. */
int   known_less_equal(builder *b, ref a, ref c);
void  check_extent(builder *b, ref lo, ref hi, span where);
ref   constant_of(builder *b, kind k, double v);  /* one lane */

/* ---- types.c ---------------------------------------------------------------------------------------- */

typedef enum type_rule { RULE_arithmetic, RULE_selection, RULE_comparison, RULE_float, RULE_bool, RULE_bits } type_rule;

const char *type_name(builder *b, type t);
bool  find_type(const char *name, type *t);                                        /* "u8x3" */
bool  literal_fits(builder *b, value v, kind k);
/* Brings scalars to one kind and one number of lanes; false when that was reported as an error. */
bool  unify(builder *b, type_rule rule, value *operands, int n, span where);
bool  common_type(builder *b, type a, type c, type *t, span where);                /* of a selection */
value convert(builder *b, value v, kind k);                                        /* scalar, explicit */
value convert_implicit(builder *b, value v, type t, span where, const char *what); /* scalar or image */
value spread(builder *b, value v, int lanes);
int   promoted(int k);

/* ---- pixels.c: operators and scalar functions on pixels ------------------------------------------------ */

typedef value (*pixel_function)(builder *b, const value *operands, int n, intptr_t how, span where);

value pixel_binary(builder *b, const value *operands, int n, intptr_t op, span where);
value pixel_muladd(builder *b, const value *operands, int n, intptr_t how, span where);
value pixel_select(builder *b, const value *operands, int n, intptr_t how, span where);
value pixel_negate(builder *b, const value *operands, int n, intptr_t how, span where);
value pixel_not(builder *b, const value *operands, int n, intptr_t how, span where);
value pixel_tuple(builder *b, const value *operands, int n, intptr_t how, span where);
value pixel_swizzle(builder *b, const value *operands, int n, intptr_t which, span where);
value pixel_convert(builder *b, const value *operands, int n, intptr_t kind, span where);
value pixel_wrap(builder *b, const value *operands, int n, intptr_t kind, span where);
value pixel_minmax(builder *b, const value *operands, int n, intptr_t op, span where);
ref   minimum(builder *b, tensor_op op, ref a, ref c);       /* with the language's NaN rule; operands alike */
ref   clean_float(builder *b, ref element, ref identity);    /* NaN -> identity, -0 -> +0 */

/* How pixel_muladd is asked: which of the two operands of + or - are written products. */
enum { MULADD_left_product = 1, MULADD_right_product = 2, MULADD_subtract = 4 };

/* ---- images.c: content, stages, lifting, reads ------------------------------------------------------------- */

value    lift(builder *b, pixel_function f, const value *operands, int n, intptr_t how, span where);
content *content_new(builder *b, int rank, type t, span where);
value    content_value(builder *b, content *c);
uint32_t content_stage(builder *b, content *c);
ref      content_body(builder *b, content *c);
bool     content_uses_pixels(builder *b, content *c);
type     image_type(builder *b, const image *im, span where);       /* with its pad's values */
value    image_value(builder *b, image *im, span where);
image   *image_copy(builder *b, const image *im);
value    image_pixel(builder *b, const image *im);                  /* at its own coordinates, inside the domain */
/* A read at i32 index nodes. `proved`: known to be inside wherever there is no pad. */
value    image_read(builder *b, const image *im, const ref *index, const expr *const *written, bool proved, span where);
value    index_image(builder *b, value object, const value *indices, int n, const expr *e);
/* A stage under construction: pushes coordinates with the given ranges. stage_end checks reads; 0 when there were errors. */
void     stage_begin(builder *b, int rank, const ref *lo, const ref *hi);
content *stage_end(builder *b, value body, span where);
uint32_t stage_new(builder *b, const char *name, const content *c, ref body);
coordinates *coordinates_push(builder *b, int count);
void     coordinates_pop(builder *b);

/* ---- arrays.c: literals ------------------------------------------------------------------------------------- */

value evaluate_array(builder *b, const expr *e);
value lift_elements(builder *b, pixel_function f, const value *operands, int n, intptr_t how, span where);
bool  elements_apply(builder *b, const value *operands, int n);
uint32_t elements_stage(builder *b, content *c, const char *name);
bool  elements_at(builder *b, const content *c, const ref *index, value *v);
uint32_t element_count(builder *b, const content *c);
bool  constant_extents(builder *b, const content *c, int32_t *lo, int32_t *extent);

/* ---- domains.c, intervals.c ------------------------------------------------------------------------------------ */

typedef struct interval { ref lo, hi; } interval;                   /* lo == 0: unknown */
interval interval_of(builder *b, ref node, const coordinates *at);
bool find_domain(builder *b, coordinates *at);                     /* fills unknown ranges from the reads */
void check_reads(builder *b, const coordinates *at);

void warn_overflow(builder *b, const char *what, uint32_t fold, ref element, span where);      /* overflow.c */

/* ---- expressions.c -------------------------------------------------------------------------------------------------- */

value evaluate(builder *b, const expr *e);
value evaluate_condition(builder *b, const expr *e);                /* reads don't count */
const expr *strip_parens(const expr *e);
bool  evaluate_constant_i32(builder *b, const expr *e, const char *what, int32_t *v);
bool  evaluate_range(builder *b, const range *r, const char *what, ref *lo, ref *hi);   /* not a lone expression */
ref   uniform_i32(builder *b, const expr *e, const char *what);     /* 0: reported */
ref   value_uniform_i32(builder *b, value v, span where, const char *what);
value evaluate_scalar(builder *b, const expr *e, const char *what);

/* ---- calls.c, builtins.c ------------------------------------------------------------------------------------------------ */

value evaluate_call(builder *b, const expr *e);
value unknown_function(builder *b, const expr *e);                 /* reports it, with a near name */
value call_function(builder *b, const item *f, const module *home, const expr *e);
value call_closure(builder *b, const argument *function, scope *names, const ref *coordinates, int n, span where);
/* Positional and named arguments to n_names slots; false when reported. */
bool  bind_arguments(builder *b, const argument_list *args, const char *const *names, int n_names, int n_required,
                     const argument **slots, const char *function, span where);

typedef struct builtin builtin;
const builtin *find_builtin(const char *name);
value call_builtin(builder *b, const builtin *f, const expr *e);
void  builtin_names(const char ***names, uint32_t *count, arena *memory);
const char *const *reduction_names(int *count);

/* ---- views.c, pads.c, conv.c, reductions.c ----------------------------------------------------------------------------------- */

value builtin_pad(builder *b, const expr *e);
value builtin_crop(builder *b, const expr *e);
value builtin_paste(builder *b, const expr *e);
value builtin_concat(builder *b, const expr *e);
value builtin_origin(builder *b, const expr *e);
value builtin_flip(builder *b, const expr *e);
value builtin_anchor(builder *b, const expr *e);
value builtin_conv(builder *b, const expr *e);
value move_to_origin(builder *b, const image *im, bool keep_pad, span where);
value evaluate_reduction(builder *b, const expr *e);

/* ---- statements.c, indexed.c, pipes.c ----------------------------------------------------------------------------------------- */

typedef struct block_result { bool returned; value values[16]; int count; span where[16]; } block_result;
void  run_block(builder *b, const stmt_list *body, block_result *result, bool is_round);
void  define_indexed(builder *b, const stmt *s);
value indexed_definition(builder *b, const stmt *s, const dimension_list *dims, const char *name);
value name_value(builder *b, value v, const char *name, span where, const annotation_list *hints);
void  apply_hints(builder *b, const annotation_list *hints, uint32_t stage);
bool  resolve_type(builder *b, const type_expr *t, type *element);
value call_pipe(builder *b, const item *p, const module *home, const expr *e);
bool  check_in_range(builder *b, const parameter *p, value v, span where);      /* an argument against `in a..b` */

#endif
