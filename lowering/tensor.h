/* SPDX-License-Identifier: MIT
 * Tensor IR: what a pipe computes.
 *
 * A pipe is a list of stages in topological order (a stage loads only from stages before it). A stage is a pure function from
 * i32 coordinates to a pixel over a rectangle whose bounds are *uniform* expressions (of constants, parameters and extent
 * symbols). Its value is one expression, `body`, in the pipe's node pool. Pads, crops, pastes and concats are never buffers:
 * a load carries a border mode per axis, a crop is a stage whose body is a shifted load.
 *
 * Nodes are hash-consed in one pool per pipe: equal expressions are equal references, and a node means the same wherever it
 * is reached from (`coord` is the coordinate of the stage whose body is being evaluated). Reference 0 is "none".
 * Building folds constants and trivial identities that keep every bit. */
#ifndef HALO_LOWERING_TENSOR_H
#define HALO_LOWERING_TENSOR_H

#include "lang/base.h"
#include "lang/diag.h"

enum { TENSOR_MAX_RANK = 5, TENSOR_MAX_LANES = 4, TENSOR_MAX_BINDERS = 8, TENSOR_MAX_ACCS = 8 };

#define KIND(name, bytes, class, bits, lowest, highest) KIND_##name,
typedef enum kind {
#include "lowering/types.def"
    KIND_COUNT
} kind;
#undef KIND

#define OP(name, arity, class, integer, floating, meaning) OP_##name,
typedef enum tensor_op {
    OP_none,
#include "lowering/ops.def"
    OP_COUNT
} tensor_op;
#undef OP

#define BORDER(name, picture) BORDER_##name,
typedef enum border {
#include "lowering/border.def"
    BORDER_COUNT
} border;
#undef BORDER

typedef enum op_class { CLASS_NUM, CLASS_SEL, CLASS_INT, CLASS_FLT, CLASS_CMP, CLASS_LOG, CLASS_EXP, CLASS_TYP, CLASS_STR } op_class;

typedef struct op_info { const char *name; uint8_t arity; op_class class; const char *meaning; } op_info;
typedef struct kind_info { const char *name; uint8_t n_bytes, bits; char class; int64_t lowest, highest; } kind_info;

const op_info   *op_get(tensor_op op);
const kind_info *kind_get(kind k);
const char      *border_name(border b);
/* Find by name; return OP_none, KIND_COUNT, BORDER_COUNT when there is none. */
tensor_op op_find(const char *name);
kind      kind_find(const char *name);
border    border_find(const char *name);

typedef struct type { uint8_t kind; uint8_t lanes; } type;       /* kind, 1 to 4 lanes */

static inline type type_of(kind k, int lanes) { return (type){ (uint8_t)k, (uint8_t)lanes }; }
static inline bool type_equal(type a, type b) { return a.kind == b.kind && a.lanes == b.lanes; }
static inline bool kind_is_float(int k) { return k == KIND_f32 || k == KIND_f16; }
static inline bool kind_is_integer(int k) { return k != KIND_bool && !kind_is_float(k); }

/* ---- nodes ----------------------------------------------------------------------------------- */

typedef uint32_t ref;                    /* index of a node; 0 is none */

typedef struct tensor_node {
    uint8_t  op;                         /* tensor_op */
    uint8_t  n_args;
    uint8_t  index;                      /* coord comp binder acc result: which */
    uint8_t  uniform;                    /* known when a run is set up: node_is_uniform */
    type     type;
    uint8_t  border[TENSOR_MAX_RANK];    /* load: border mode per axis */
    uint32_t payload;                    /* const: bits; param, dim: which; load: stage; binder acc result: fold */
    uint32_t first_arg;                  /* in pipe->args */
} tensor_node;

/* What a fold is; the language's reductions are all of the first form but the marked ones. */
typedef enum fold_form {
    FOLD_loop,          /* accs start at init; for every element in order (last binder fastest) where `where` holds: acc[k] = next[k] */
    FOLD_conv,          /* the same, and made by conv(): one acc, init -0.0 (0 for integers), next = muladd(weight, element, acc)
                           (integers: add(acc, mul(weight, element))); define passes may split it and drop literal zero taps */
    FOLD_image_sum,     /* f32 sum over a whole image (binders x then y): one acc, next = add(acc, element); the define pass
                           `order_sums` puts it into the order of scheduling.md section 1 */
    FOLD_median         /* one acc: the lower median of all next[0] (which doesn't use the acc), NaN last, -0 as +0; of nothing: init */
} fold_form;

typedef struct tensor_fold {
    uint8_t form, n_binders, n_accs;
    ref lo[TENSOR_MAX_BINDERS], hi[TENSOR_MAX_BINDERS];     /* uniform, both inclusive; hi < lo: over nothing */
    ref where;                                              /* bool or 0 */
    ref init[TENSOR_MAX_ACCS];
    ref next[TENSOR_MAX_ACCS];                              /* all are evaluated before any acc changes */
    const char *binder_names[TENSOR_MAX_BINDERS];
} tensor_fold;

/* ---- stages ---------------------------------------------------------------------------------- */

typedef enum stage_kind {
    STAGE_input,      /* memory that the host gives; bounds 0..extent-1 */
    STAGE_table,      /* constants of constant bounds: words[], dimension 0 fastest, `lanes` words a pixel */
    STAGE_compute     /* body */
} stage_kind;

typedef struct tensor_stage {
    uint8_t     kind;
    uint8_t     rank;                        /* 0 to 5; rank 0 is one value per run */
    type        type;
    bool        materialize, inline_hint;    /* @materialize, @inline */
    int32_t     tile_width, tile_height;     /* @tile(w, h), or 0 */
    const char *name;                        /* from the source; derived stages append .1, .2; unique in the pipe */
    const char *doc;                         /* inputs: documentation or NULL */
    bool        is_image;                    /* inputs: declared `image`, not an array */
    bool        has_range;                   /* inputs: `in a..b` (the clamp itself is a stage of its own) */
    double      range_lo, range_hi;
    span        where;
    ref         lo[TENSOR_MAX_RANK], hi[TENSOR_MAX_RANK];   /* uniform i32, both inclusive; hi = lo - 1 is empty */
    ref         body;                        /* compute: has type `type` */
    const uint32_t *words;                   /* table: bits of each component, as a 32-bit word (integers sign- or zero-extended) */
} tensor_stage;

typedef struct tensor_param {
    const char *name, *doc;
    type        type;
    bool        has_default, has_range, half_open;
    uint32_t    value[TENSOR_MAX_LANES];     /* the default's bits */
    double      lo, hi;                      /* inclusive (hi excluded when half_open); NaN is outside */
    span        where;
} tensor_param;

/* An extent symbol: bound by dimension `dimension` of input stage `stage`. Where the same name stands in several places the
 * frontend adds a check that they agree. */
typedef struct tensor_dim { const char *name; uint32_t stage; uint8_t dimension; } tensor_dim;

typedef struct tensor_output { const char *name; const char *doc; uint32_t stage; bool is_image; } tensor_output;

/* Something that depends on sizes or parameters and must hold before a pixel is written: else HALO_ERROR_SIZE
 * (or HALO_ERROR_PARAMETER), and `halo run` shows the message at its place. */
typedef struct tensor_check { ref condition; bool is_parameter; diag_code code; span where; const char *message; } tensor_check;

/* What a pass did to a stage and why, for `explain`; no meaning hangs on it, and the text form leaves it out. */
typedef struct tensor_note { const char *stage, *text; } tensor_note;

typedef struct tensor_pipe {
    arena      *memory;
    const char *name, *doc;
    bool        strict;                 /* no product is contracted with what is added to it, no f32 kernel is split */
    bool        no_fma;                 /* only the first: for processors without fma, and to get the bits that Vulkan gives */
    span        where;
    LIST(tensor_node)   nodes;              /* nodes.items[0] is none */
    LIST(ref)           args;
    LIST(tensor_fold)   folds;              /* folds.items[0] is unused */
    LIST(tensor_stage)  stages;             /* stage 0 is unused; inputs come first, in the script's order */
    uint32_t            n_inputs;
    LIST(tensor_param)  params;
    LIST(tensor_dim)    dims;
    LIST(tensor_output) outputs;
    LIST(tensor_check)  checks;
    LIST(tensor_note)   notes;
    uint32_t           *buckets; uint32_t n_buckets;    /* the hash table of nodes */
    struct tensor_names *names;                         /* of stages: set them with tensor_stage_rename, not by hand */
} tensor_pipe;

tensor_pipe *tensor_pipe_new(arena *memory, const char *name);

/* The accessors' pointers are valid until the next node (stage, fold) is made. */
static inline const tensor_node  *node_at(const tensor_pipe *p, ref r) { return &p->nodes.items[r]; }
static inline const ref          *node_args(const tensor_pipe *p, ref r) { return p->args.items + p->nodes.items[r].first_arg; }
static inline ref                 node_arg(const tensor_pipe *p, ref r, int k) { return node_args(p, r)[k]; }
static inline type                node_type(const tensor_pipe *p, ref r) { return p->nodes.items[r].type; }
static inline tensor_stage       *stage_at(const tensor_pipe *p, uint32_t s) { return &p->stages.items[s]; }
/* Products are rounded before something is added to them. */
static inline bool                rounds_products(const tensor_pipe *p) { return p->strict || p->no_fma; }
static inline tensor_fold        *fold_at(const tensor_pipe *p, uint32_t f) { return &p->folds.items[f]; }

/* ---- building: every function returns the simplified, hash-consed node ------------------------- */

ref tensor_i32(tensor_pipe *p, int32_t value);
ref tensor_u32(tensor_pipe *p, uint32_t value);
ref tensor_f32(tensor_pipe *p, float value);
ref tensor_bool(tensor_pipe *p, bool value);
ref tensor_const(tensor_pipe *p, kind k, uint32_t bits);          /* any kind, one lane; f16: bits of the f32 value */

/* Any op of a class other than STR and TYP. Operand types must already agree (asserted): no implicit conversion here.
 * One-lane operands beside wider ones are an error of the caller: use tensor_splat. */
ref tensor_op1(tensor_pipe *p, tensor_op op, ref a);
ref tensor_op2(tensor_pipe *p, tensor_op op, ref a, ref b);
ref tensor_op3(tensor_pipe *p, tensor_op op, ref a, ref b, ref c);
ref tensor_cast(tensor_pipe *p, ref a, kind to);                   /* lanes kept */
ref tensor_wrap(tensor_pipe *p, ref a, kind to);
ref tensor_bitcast(tensor_pipe *p, ref a, kind to);
ref tensor_select(tensor_pipe *p, ref condition, ref yes, ref no);  /* a one-lane condition is splatted */
ref tensor_splat(tensor_pipe *p, ref a, int lanes);                /* lanes 1: a itself */
ref tensor_vec(tensor_pipe *p, const ref *components, int n);      /* n == 1: the component itself */
ref tensor_comp(tensor_pipe *p, ref a, int which);
ref tensor_param_node(tensor_pipe *p, uint32_t which);
ref tensor_dim_node(tensor_pipe *p, uint32_t which);
ref tensor_coord(tensor_pipe *p, int dimension);
ref tensor_binder(tensor_pipe *p, uint32_t fold, int which);
ref tensor_acc(tensor_pipe *p, uint32_t fold, int which, type t);
ref tensor_result(tensor_pipe *p, uint32_t fold, int which);       /* after the fold's init and next are set */

/* index: one i32 per dimension. border may be NULL (all none). outside: one value per axis, used where the mode is `value`
 * (others ignored; may be NULL); all of type `t`, which must hold every value of the stage's type (stored values are converted). */
ref tensor_load(tensor_pipe *p, uint32_t stage, const ref *index, const uint8_t *border, const ref *outside, type t);
ref load_index(const tensor_pipe *p, ref load, int dimension);
ref load_outside(const tensor_pipe *p, ref load, int dimension);   /* 0 when the mode isn't `value` */

uint32_t tensor_fold_new(tensor_pipe *p, fold_form form, int n_binders, int n_accs);   /* then fill fold_at() */
uint32_t tensor_stage_new(tensor_pipe *p, stage_kind k, const char *name, type t, int rank, span where);
/* A stage with constant values; bounds lo[], extents extent[]; copies words. */
uint32_t tensor_table_new(tensor_pipe *p, const char *name, type t, int rank, const int32_t *lo, const int32_t *extent,
                          const uint32_t *words, span where);
bool tensor_is_output(const tensor_pipe *p, uint32_t stage);
void tensor_note_add(tensor_pipe *p, uint32_t stage, const char *text);
const char *tensor_unique_name(tensor_pipe *p, const char *name);   /* name, name.1, name.2 ... */
void tensor_stage_rename(tensor_pipe *p, uint32_t stage, const char *name);   /* made unique */

/* ---- questions ------------------------------------------------------------------------------- */

bool node_is_const(const tensor_pipe *p, ref r, int64_t *value);   /* one-lane integers and bool */
bool node_is_f32(const tensor_pipe *p, ref r, float *value);       /* a one-lane f32 constant */
/* Depends on constants, parameters and extents alone (no coord, load, binder, acc, result): known when a run is set up. */
bool node_is_uniform(const tensor_pipe *p, ref r);

/* A linear form of an i32 expression: constant + sum of coefficient * atom, modulo 2^32. */
typedef struct linear_term { ref atom; int32_t coefficient; } linear_term;
typedef struct linear { int32_t constant; int n_terms; linear_term terms[16]; } linear;
bool linear_of(const tensor_pipe *p, ref r, linear *out);          /* false: more than 16 terms (then one atom: r itself) */
ref  linear_build(tensor_pipe *p, const linear *form);
bool linear_difference(const tensor_pipe *p, ref a, ref b, int32_t *difference);   /* a - b when it is a constant */
ref  tensor_normalize(tensor_pipe *p, ref r);                      /* an i32 expression in linear normal form, min/max of near forms resolved */

/* ---- rewriting ------------------------------------------------------------------------------- */

/* Rebuilds `root` with `visit` asked first for every node (in any order, once each): it returns the replacement or 0 to keep
 * the node with rewritten arguments. Folds whose parts change are copied, with binders and accs renamed. */
typedef struct rewrite_memo { struct { uint32_t key, value; } *slots; uint32_t count, capacity; } rewrite_memo;   /* key 0: free */
typedef struct rewriter {
    tensor_pipe *pipe;
    ref (*visit)(struct rewriter *w, ref r);   /* may be NULL */
    void *user;
    rewrite_memo done, folds;                  /* node -> new node, fold -> new fold */
    /* Optional, set after rewriter_begin: asked for what visit kept, once its arguments are rewritten (to `args`; a result
     * comes already rewritten, `args` NULL); the replacement, or 0 for the same op on the new arguments. */
    ref (*rebuild)(struct rewriter *w, ref r, const ref *args);
} rewriter;
void rewriter_begin(rewriter *w, tensor_pipe *p, ref (*visit)(rewriter *w, ref r), void *user);
ref  rewrite(rewriter *w, ref root);
bool rewrite_pipe(rewriter *w);                /* every body, bound and check; whether anything changed */
/* The same op on other arguments (of the old types), simplified. */
ref  node_with_args(tensor_pipe *p, ref r, const ref *args);
/* The body of a stage with coord(k) replaced by coordinates[k]. */
ref  tensor_substitute(tensor_pipe *p, ref body, const ref *coordinates);

/* ---- the value of one op (the constant folder, the interpreters) -------------------------------- */

typedef union scalar { int64_t i; float f; } scalar;               /* f for f16, f32; i for the others */
scalar op_evaluate(tensor_op op, kind k, const scalar *args);      /* NUM SEL INT FLT CMP LOG EXP; k: the operands' kind */
scalar cast_evaluate(scalar a, kind from, kind to);
scalar wrap_evaluate(scalar a, kind to);
scalar scalar_of_bits(kind k, uint32_t bits);
uint32_t bits_of_scalar(kind k, scalar a);
float f32_to_f16_and_back(float a);

/* floor division and the border maps on whole numbers, for every layer: index -> inside [lo, hi] (never for none and value) */
int64_t floor_div_i64(int64_t a, int64_t b);
int64_t border_map(border mode, int64_t index, int64_t lo, int64_t hi);

/* ---- text, verifier, interpreter ----------------------------------------------------------------- */

void tensor_print(const tensor_pipe *p, text *out);                /* `pipeline 1 @name { ... }` */
tensor_pipe *tensor_parse(arena *memory, diags *d, uint32_t source_index);   /* NULL with errors in d */
bool tensor_verify(const tensor_pipe *p, text *problems);          /* true when sound */

#endif
