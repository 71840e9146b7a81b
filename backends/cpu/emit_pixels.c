/* SPDX-License-Identifier: MIT
 * Gathers of whole pixels. A gather costs as much for 1 byte as for 8 (measured: 6 ns for 16, by the instruction or by scalar
 * loads), so a pixel of 8- or 16-bit components is fetched as one word of 4 or 8 bytes and taken apart in registers, and
 * where a bilinear filter reads two neighbours of a row, one word of 8 bytes serves both.
 *
 * A word may reach beyond its pixel, never beyond its row: near the row's end it begins earlier and the pixel is shifted into
 * place. Rows shorter than a word, and pictures whose offsets don't fit 32 bits, are left to the one-pixel loop (the guard). */
#include "backends/cpu/emit_loads.h"

#include <string.h>

typedef struct fetch {
    emitter        *e;
    const cpu_read *read, *next;             /* next: the load of the neighbour to the right, or NULL */
    storage         s;
    int             rank;
    int             pixel_bytes, word_bytes;
} fetch;

static LLVMTypeRef i32_type(emitter *e) { return LLVMInt32TypeInContext(emit_context(e)); }
static LLVMTypeRef i64_type(emitter *e) { return LLVMInt64TypeInContext(emit_context(e)); }
static LLVMTypeRef pointer_type(emitter *e) { return LLVMPointerTypeInContext(emit_context(e), 0); }

/* ---- which loads ------------------------------------------------------------------------------------------------------ */

static bool keeps_order(int border) { return border == BORDER_none || border == BORDER_edge || border == BORDER_value; }

static bool same_loops(emitter *e, ref a, ref b)
{
    depend first = *depends_of(e->pipe, e->all, a);
    const depend *second = depends_of(e->pipe, e->all, b);
    return first.n_open == second->n_open && memcmp(first.open, second->open, sizeof *first.open * first.n_open) == 0;
}

/* Does b read the pixel to the right of a's, under the same borders? */
static bool is_right_of(emitter *e, const cpu_read *b, const cpu_read *a)
{
    const tensor_pipe *p = e->pipe;
    tensor_node n = *node_at(p, a->load), m = *node_at(p, b->load);
    int32_t apart;
    if (a->edge != b->edge || n.payload != m.payload || memcmp(n.border, m.border, sizeof n.border) != 0 || !keeps_order(n.border[0])) return false;
    for (int d = 1; d < stage_at(p, n.payload)->rank; d++) if (load_index(p, a->load, d) != load_index(p, b->load, d)) return false;
    return linear_difference(p, load_index(p, b->load, 0), load_index(p, a->load, 0), &apart) && apart == 1 && same_loops(e, a->load, b->load)
        && emit_varies(e, b->load);
}

static const cpu_read *neighbour(emitter *e, const cpu_read *read, bool right)
{
    for (uint32_t k = 0; k < e->stage->loads.count; k++) {
        const cpu_read *other = &e->stage->loads.items[k];
        if (right ? is_right_of(e, other, read) : is_right_of(e, read, other)) return other;
    }
    return NULL;
}

/* Pixels in memory that are gathered, with at most 8 bytes where their components lie. */
static bool fetch_of(emitter *e, const cpu_read *read, fetch *f)
{
    const cpu_edge *edge = &e->stage->edges.items[read->edge];
    if (edge->kind == READ_row || edge->memory < 0 || e->flat_lanes > 1) return false;
    *f = (fetch){ .e = e, .read = read, .s = emit_storage_of(e, edge), .rank = stage_at(e->pipe, edge->stage)->rank };
    f->pixel_bytes = f->s.bytes * (f->s.planes ? 1 : f->s.lanes);
    f->word_bytes = f->pixel_bytes <= 4 ? 4 : 8;
    bool few_bytes = f->s.bytes <= 4 && (f->pixel_bytes <= 8 || f->s.bytes == 4);      /* no components of 64 bits */
    return few_bytes && f->rank > 0 && emit_varies(e, read->load);
}

static bool is_wide(const fetch *f) { return f->pixel_bytes > 8; }

/* Two pixels of 4 bytes at most fit a word of 8; two of 12 are three such words, where one alone takes two. */
static bool takes_pairs(const fetch *f) { return !f->s.planes && (f->pixel_bytes <= 4 || f->pixel_bytes == 12); }

/* What the pixel, or two neighbours, are fetched by. */
static int most_bytes(const fetch *f) { return is_wide(f) ? 2 * f->pixel_bytes : takes_pairs(f) ? 8 : f->word_bytes; }

/* ---- the guard ----------------------------------------------------------------------------------------------------------- */

/* The first and last column of the rows. */
static void column_bounds(const fetch *f, LLVMValueRef *lo, LLVMValueRef *hi)
{
    emitter *e = f->e;
    const cpu_edge *edge = &e->stage->edges.items[f->read->edge];
    if (edge->kind == READ_row_gather && !edge->finds_rows) {
        *lo = emit_edge_field(e, f->read->edge, offsetof(haloi_rows, first_column), i32_type(e));
        *hi = emit_edge_field(e, f->read->edge, offsetof(haloi_rows, last_column), i32_type(e));
        return;
    }
    tensor_stage t = *stage_at(e->pipe, edge->stage);
    *lo = emit_scalar(e, t.lo[0], 0);
    *hi = emit_scalar(e, t.hi[0], 0);
}

static LLVMValueRef magnitude(emitter *e, LLVMValueRef v)
{
    LLVMValueRef real = LLVMBuildSIToFP(e->builder, v, LLVMDoubleTypeInContext(emit_context(e)), "");
    return emit_intrinsic(e, "llvm.fabs", &real, 1);
}

/* At least as far as any pixel on axis d lies from coordinate 0, in bytes. */
static LLVMValueRef farthest(const fetch *f, int d, LLVMValueRef lo, LLVMValueRef hi)
{
    emitter *e = f->e;
    LLVMValueRef a = magnitude(e, lo), b = magnitude(e, hi);
    LLVMValueRef most = LLVMBuildFAdd(e->builder, a, b, "");
    LLVMValueRef bytes = d == 0 ? LLVMConstReal(LLVMDoubleTypeInContext(emit_context(e)), f->pixel_bytes)
                                : magnitude(e, emit_view_field(e, f->read->edge, offsetof(haloi_view, stride) + 8 * (size_t)d, i64_type(e)));
    return LLVMBuildFMul(e->builder, most, bytes, "");
}

static LLVMValueRef fits(const fetch *f)
{
    emitter *e = f->e;
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef real = LLVMDoubleTypeInContext(emit_context(e));
    tensor_stage t = *stage_at(e->pipe, e->stage->edges.items[f->read->edge].stage);
    bool anywhere = e->stage->edges.items[f->read->edge].kind == READ_anywhere;
    LLVMValueRef lo, hi, bound[TENSOR_MAX_RANK][2];
    column_bounds(f, &lo, &hi);
    for (int d = 1; d < f->rank && anywhere; d++) {
        bound[d][0] = emit_scalar(e, t.lo[d], 0);
        bound[d][1] = emit_scalar(e, t.hi[d], 0);
        emit_view_field(e, f->read->edge, offsetof(haloi_view, stride) + 8 * (size_t)d, i64_type(e));
    }
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    int pixels = (most_bytes(f) + f->pixel_bytes - 1) / f->pixel_bytes;
    LLVMValueRef long_enough = LLVMBuildICmp(b, LLVMIntSGE, LLVMBuildSub(b, hi, lo, ""), emit_i32(e, pixels - 1), "");
    LLVMValueRef all = farthest(f, 0, lo, hi);
    for (int d = 1; d < f->rank && anywhere; d++) all = LLVMBuildFAdd(b, all, farthest(f, d, bound[d][0], bound[d][1]), "");
    LLVMValueRef near = LLVMBuildFCmp(b, LLVMRealOLT, all, LLVMConstReal(real, 2147483647.0 - 64), "");
    LLVMValueRef good = LLVMBuildAnd(b, long_enough, near, "fits");
    emit_hoist_end(e, back);
    return good;
}

static bool is_among(const ref_list *nodes, ref r)
{
    for (uint32_t k = 0; k < nodes->count; k++) if (nodes->items[k] == r) return true;
    return false;
}

LLVMValueRef emit_pixels_guard(emitter *e, const ref *bodies, uint32_t n)
{
    LLVMValueRef all = NULL;
    uint8_t *seen = ARENA_ARRAY(e->m->memory, uint8_t, e->stage->edges.count + 1);
    ref_list nodes = { 0 };
    reached_nodes(e->pipe, e->m->memory, bodies, n, &nodes);
    for (uint32_t k = 0; k < e->stage->loads.count; k++) {
        const cpu_read *read = &e->stage->loads.items[k];
        fetch f;
        if (seen[read->edge] || !is_among(&nodes, read->load) || !fetch_of(e, read, &f)) continue;
        seen[read->edge] = 1;
        LLVMValueRef good = fits(&f);
        LLVMBasicBlockRef back = emit_hoist_begin(e);
        all = all ? LLVMBuildAnd(e->builder, all, good, "") : good;
        emit_hoist_end(e, back);
    }
    return all;
}

/* ---- fetching -------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef splat_i32(emitter *e, int32_t v) { return emit_splat(e, emit_i32(e, v)); }

static LLVMValueRef times(emitter *e, LLVMValueRef v, int32_t factor)
{
    return factor == 1 ? v : LLVMBuildMul(e->builder, v, splat_i32(e, factor), "");
}

/* Byte offset of an index's row from coordinate 0 of the other axes. */
static LLVMValueRef row_offset(const fetch *f, const axis_index *axes)
{
    emitter *e = f->e;
    LLVMValueRef total = NULL;
    for (int d = 1; d < f->rank; d++) {
        LLVMValueRef stride = emit_view_field(e, f->read->edge, offsetof(haloi_view, stride) + 8 * (size_t)d, i64_type(e));
        LLVMBasicBlockRef back = emit_hoist_begin(e);
        stride = LLVMBuildTrunc(e->builder, stride, i32_type(e), "");
        emit_hoist_end(e, back);
        LLVMValueRef step = LLVMBuildMul(e->builder, axes[d].index, emit_splat(e, stride), "");
        total = total ? LLVMBuildAdd(e->builder, total, step, "") : step;
    }
    return total;
}

/* The last offset in a row where so many bytes may begin. */
static LLVMValueRef last_word(const fetch *f, int bytes)
{
    emitter *e = f->e;
    LLVMValueRef lo, hi;
    column_bounds(f, &lo, &hi);
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    LLVMValueRef end = LLVMBuildMul(e->builder, LLVMBuildAdd(e->builder, hi, emit_i32(e, 1), ""), emit_i32(e, f->pixel_bytes), "");
    LLVMValueRef last = LLVMBuildSub(e->builder, end, emit_i32(e, bytes), "");
    emit_hoist_end(e, back);
    return emit_splat(e, last);
}

/* Every second 32-bit half of words of 64. */
static LLVMValueRef halves(emitter *e, LLVMValueRef words, int upper)
{
    LLVMValueRef pairs = LLVMBuildBitCast(e->builder, words, LLVMVectorType(i32_type(e), 2 * (unsigned)e->lanes), ""), mask[64];
    for (int k = 0; k < e->lanes; k++) mask[k] = emit_i32(e, 2 * k + upper);
    return LLVMBuildShuffleVector(e->builder, pairs, LLVMGetPoison(LLVMTypeOf(pairs)), LLVMConstVector(mask, (unsigned)e->lanes), "");
}

/* A pixel's bytes, four a word; bordered: what is outside has its border value already. */
typedef struct pixel { LLVMValueRef words[4]; bool bordered; } pixel;

/* Of the pixel that begins `from` bytes into the word (NULL: at its start). */
static pixel pixel_at(const fetch *f, LLVMValueRef word, LLVMValueRef from)
{
    emitter *e = f->e;
    LLVMValueRef bits = from ? LLVMBuildShl(e->builder, from, splat_i32(e, 3), "") : NULL;
    if (f->word_bytes == 4) return (pixel){ { bits ? LLVMBuildLShr(e->builder, word, bits, "") : word }, false };
    if (bits) word = LLVMBuildLShr(e->builder, word, LLVMBuildZExt(e->builder, bits, LLVMTypeOf(word), ""), "");
    return (pixel){ { halves(e, word, 0), f->pixel_bytes > 4 ? halves(e, word, 1) : NULL }, false };
}

static LLVMValueRef component_of(const fetch *f, const pixel *p, int place)
{
    emitter *e = f->e;
    int bits = 8 * f->s.bytes, at = bits * place;
    LLVMValueRef half = p->words[at / 32];
    LLVMTypeRef t = LLVMVectorType(emit_memory_type(emit_context(e), f->s.kind), (unsigned)e->lanes);
    if (bits == 32) return LLVMBuildBitCast(e->builder, half, t, "");
    if (at % 32) half = LLVMBuildLShr(e->builder, half, splat_i32(e, at % 32), "");
    return LLVMBuildTrunc(e->builder, half, t, "");
}

/* Where the words of one instance are looked for: base, the offset of the row, and each load's offset in the row. */
typedef struct place { LLVMValueRef base, row; axis_index axes[2][TENSOR_MAX_RANK]; } place;

static place place_of(const fetch *f, int u, int row, int plane)
{
    emitter *e = f->e;
    place p = { 0 };
    bool rows = e->stage->edges.items[f->read->edge].kind == READ_row_gather;
    for (int k = 0; k < (f->next ? 2 : 1); k++) {
        const cpu_read *read = k ? f->next : f->read;
        if (rows) p.axes[k][0] = emit_column_index(e, read, u, row, true);
        else for (int d = 0; d < f->rank; d++) p.axes[k][d] = emit_axis_index(e, read->load, d, u, row, true);
    }
    if (rows) {
        p.base = emit_row_pointer(e, f->read, row, plane);
        return p;
    }
    p.base = emit_view_field(e, f->read->edge, offsetof(haloi_view, data), pointer_type(e));
    p.row = row_offset(f, p.axes[0]);
    if (!plane) return p;
    LLVMValueRef distance = emit_view_field(e, f->read->edge, offsetof(haloi_view, plane_bytes), i64_type(e));
    p.base = emit_byte_offset(e, p.base, LLVMBuildMul(e->builder, distance, emit_i64(e, plane), ""));
    return p;
}

/* The components of a constant border value as they lie in a word, or NULL. */
static LLVMValueRef outside_word(const fetch *f, ref load, ref value)
{
    emitter *e = f->e;
    LLVMTypeRef words = LLVMVectorType(i32_type(e), (unsigned)e->lanes);
    LLVMValueRef all = LLVMConstNull(words);
    if (node_type(e->pipe, load).kind != f->s.kind || f->s.bytes > 2 || f->pixel_bytes > 4 || f->s.planes) return NULL;
    for (int c = 0; c < f->s.lanes; c++) {
        LLVMValueRef v = emit_part(e, value, 0, 0, c, true);
        if (!LLVMIsConstant(v)) return NULL;
        v = LLVMBuildZExt(e->builder, emit_to_memory(e, v, f->s.kind), words, "");
        v = LLVMBuildShl(e->builder, v, splat_i32(e, 8 * f->s.bytes * component_place(&f->s, c)), "");
        all = LLVMBuildOr(e->builder, all, v, "");
    }
    return LLVMIsConstant(all) ? all : NULL;
}

/* One choice for a whole pixel instead of one for every component, where all axes have the same constant outside. */
static void put_border(const fetch *f, ref load, const axis_index *axes, pixel *p)
{
    emitter *e = f->e;
    ref value = 0;
    LLVMValueRef inside = NULL;
    for (int d = 0; d < f->rank; d++) {
        if (!axes[d].inside) continue;
        if (value && load_outside(e->pipe, load, d) != value) return;
        value = load_outside(e->pipe, load, d);
        inside = inside ? LLVMBuildAnd(e->builder, inside, axes[d].inside, "") : axes[d].inside;
    }
    LLVMValueRef word = value ? outside_word(f, load, value) : NULL;
    if (!word) return;
    p->words[0] = LLVMBuildSelect(e->builder, inside, p->words[0], word, "");
    p->bordered = true;
}

/* A word at an offset from the place's base, for every lane. */
static LLVMValueRef word_at(const fetch *f, const place *p, LLVMValueRef offset, int more, int bytes)
{
    emitter *e = f->e;
    LLVMValueRef at = p->row ? LLVMBuildAdd(e->builder, p->row, offset, "") : offset, base = emit_byte_offset(e, p->base, emit_i64(e, more));
    base = LLVMBuildGEP2(e->builder, LLVMInt8TypeInContext(emit_context(e)), base, &at, 1, "");
    return emit_gather(e, LLVMIntTypeInContext(emit_context(e), 8 * (unsigned)bytes), 1, base, LLVMConstNull(LLVMTypeOf(at)));
}

/* Two vectors' elements by number, b's after a's. */
static LLVMValueRef mixed(emitter *e, LLVMValueRef a, LLVMValueRef b, const int *from)
{
    LLVMValueRef mask[16];
    for (int k = 0; k < e->lanes; k++) mask[k] = emit_i32(e, from[k]);
    return LLVMBuildShuffleVector(e->builder, a, b, LLVMConstVector(mask, (unsigned)e->lanes), "");
}

/* Within each 128 bits: elements pick[0], pick[1] of a, then pick[2], pick[3] of b, in any order. */
static LLVMValueRef in_lanes(emitter *e, LLVMValueRef a, LLVMValueRef b, const int pick[4])
{
    int from[16];
    for (int k = 0; k < e->lanes; k++) from[k] = pick[k % 4] % 4 + k / 4 * 4 + (pick[k % 4] >= 4 ? e->lanes : 0);
    return mixed(e, a, b, from);
}

static LLVMValueRef load_24_bytes(emitter *e, LLVMValueRef at)
{
    LLVMContextRef c = emit_context(e);
    LLVMTypeRef t = LLVMVectorType(i32_type(e), 8), over[2] = { t, pointer_type(e) };
    LLVMValueRef mask[8];
    for (int k = 0; k < 8; k++) mask[k] = LLVMConstInt(LLVMInt1TypeInContext(c), k < 6, 0);
    LLVMValueRef args[4] = { at, emit_i32(e, 1), LLVMConstVector(mask, 8), LLVMConstNull(t) };
    unsigned id = LLVMLookupIntrinsicID("llvm.masked.load", 16);
    return LLVMBuildCall2(e->builder, LLVMIntrinsicGetType(c, id, over, 2), LLVMGetIntrinsicDeclaration(e->m->module, id, over, 2), args, 4, "");
}

/* The offsets of all lanes as numbers, through the stack: taking vectors apart costs more. */
static LLVMValueRef offsets_in_memory(emitter *e, LLVMValueRef offsets)
{
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    LLVMValueRef slot = LLVMBuildAlloca(e->builder, LLVMTypeOf(offsets), "offsets");
    emit_hoist_end(e, back);
    LLVMBuildStore(e->builder, offsets, slot);
    return slot;
}

/* The six words of two neighbours of 12 bytes: a load for each lane, then 8 rows of 8 words become 8 columns, of which 6 are wanted.
 * With 16 lanes a register holds rows j and j + 8. Half the time of gathering three words of 8 bytes (measured). */
static void fetch_rows(const fetch *f, const place *p, LLVMValueRef start, LLVMValueRef *words)
{
    static const int low[4] = { 0, 4, 1, 5 }, high[4] = { 2, 6, 3, 7 }, first[4] = { 0, 1, 4, 5 }, second[4] = { 2, 3, 6, 7 };
    emitter *e = f->e;
    LLVMBuilderRef b = e->builder;
    LLVMValueRef slot = offsets_in_memory(e, p->row ? LLVMBuildAdd(b, p->row, start, "") : start), rows[16], pairs[8], fours[8];
    for (int k = 0; k < e->lanes; k++) {
        LLVMValueRef offset = LLVMBuildSExt(b, emit_field(e, slot, 4 * (size_t)k, i32_type(e), ""), i64_type(e), "");
        rows[k] = load_24_bytes(e, emit_byte_offset(e, p->base, offset));
    }
    LLVMValueRef sequence[16];
    for (int k = 0; k < 16; k++) sequence[k] = emit_i32(e, k);
    for (int k = 0; k < 8 && e->lanes == 16; k++) rows[k] = LLVMBuildShuffleVector(b, rows[k], rows[k + 8], LLVMConstVector(sequence, 16), "");
    for (int k = 0; k < 8; k++) pairs[k] = in_lanes(e, rows[k / 2 * 2], rows[k / 2 * 2 + 1], k % 2 ? high : low);
    for (int k = 0; k < 8; k++) fours[k] = in_lanes(e, pairs[k / 4 * 4 + k % 4 / 2], pairs[k / 4 * 4 + k % 4 / 2 + 2], k % 2 ? second : first);
    for (int c = 0; c < 6; c++) {                  /* fours[c % 4] has rows 0 to 3 (and 8 to 11), fours[4 + c % 4] the others */
        int from[16];
        for (int k = 0; k < e->lanes; k++) from[k] = k / 8 * 8 + c / 4 * 4 + k % 4 + (k / 4 % 2 ? e->lanes : 0);
        words[c] = mixed(e, fours[c % 4], fours[4 + c % 4], from);
    }
}

static void fetch_words(const fetch *f, const place *p, LLVMValueRef start, LLVMValueRef *words)
{
    emitter *e = f->e;
    int bytes = f->next ? 2 * f->pixel_bytes : f->pixel_bytes;
    if (bytes == 24 && e->lanes >= 8 && e->m->schedule->target.vector_bytes >= 32) {
        fetch_rows(f, p, start, words);
        return;
    }
    for (int at = 0; at < bytes; at += 8) {
        LLVMValueRef v = word_at(f, p, start, at, bytes - at < 8 ? 4 : 8);
        words[at / 4] = bytes - at < 8 ? v : halves(e, v, 0);
        if (bytes - at >= 8) words[at / 4 + 1] = halves(e, v, 1);
    }
}

/* Pixels of 12 and 16 bytes; of two neighbours each is one half of the words. */
static void fetch_wide(const fetch *f, const place *p, pixel *out)
{
    emitter *e = f->e;
    LLVMBuilderRef b = e->builder;
    LLVMValueRef first = times(e, p->axes[0][0].index, f->pixel_bytes), start = first, words[6];
    if (f->next) {
        LLVMValueRef last = last_word(f, 2 * f->pixel_bytes);
        start = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, first, last, ""), first, last, "");
    }
    fetch_words(f, p, start, words);
    for (int k = 0; k < (f->next ? 2 : 1); k++) {
        LLVMValueRef offset = times(e, p->axes[k][0].index, f->pixel_bytes);
        LLVMValueRef is_second = f->next ? LLVMBuildICmp(b, LLVMIntNE, offset, start, "") : NULL;
        out[k].bordered = false;
        for (int j = 0; j < f->s.lanes; j++) out[k].words[j] = is_second ? LLVMBuildSelect(b, is_second, words[f->s.lanes + j], words[j], "") : words[j];
    }
}

/* The pixel of each load, in one word. */
static void fetch_pixels(const fetch *f, const place *p, pixel *out)
{
    emitter *e = f->e;
    LLVMBuilderRef b = e->builder;
    if (is_wide(f)) { fetch_wide(f, p, out); return; }
    LLVMValueRef first = times(e, p->axes[0][0].index, f->pixel_bytes), start = first, from[2] = { NULL };
    bool exact = f->word_bytes == f->pixel_bytes;
    if (!exact) {
        LLVMValueRef last = last_word(f, f->word_bytes);
        start = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, first, last, ""), first, last, "");
        from[0] = LLVMBuildSub(b, first, start, "");
        if (f->next) from[1] = LLVMBuildSub(b, times(e, p->axes[1][0].index, f->pixel_bytes), start, "");
    }
    LLVMValueRef v = word_at(f, p, start, 0, f->word_bytes);
    for (int k = 0; k < (f->next ? 2 : 1); k++) {
        out[k] = pixel_at(f, v, from[k]);
        put_border(f, k ? f->next->load : f->read->load, p->axes[k], &out[k]);
    }
}

static void instance(const fetch *f, int u, int row, LLVMValueRef *parts[2])
{
    emitter *e = f->e;
    pixel pixels[2];
    place p;
    int n = f->s.lanes;
    for (int c = 0; c < n; c++) {
        int which = component_place(&f->s, c);
        if (c == 0 || f->s.planes) {
            p = place_of(f, u, row, f->s.planes ? which : 0);
            fetch_pixels(f, &p, pixels);
        }
        for (int k = 0; k < (f->next ? 2 : 1); k++) {
            ref load = k ? f->next->load : f->read->load;
            LLVMValueRef v = component_of(f, &pixels[k], f->s.planes ? 0 : which);
            v = emit_cast(e, emit_from_memory(e, v, f->s.kind), f->s.kind, node_type(e->pipe, load).kind);
            bool anywhere = e->stage->edges.items[f->read->edge].kind == READ_anywhere;
            if (pixels[k].bordered) parts[k][(u * e->group + row) * n + c] = v;
            else parts[k][(u * e->group + row) * n + c] = emit_border_values(e, load, anywhere ? f->rank : 1, p.axes[k], v, u, row, c, true);
        }
    }
}

bool emit_pixels(emitter *e, const cpu_read *read, LLVMValueRef *parts)
{
    fetch f;
    if (e->lanes == 1 || !fetch_of(e, read, &f)) return false;
    int count = e->unroll * e->group * f.s.lanes;
    LLVMValueRef *others = ARENA_ARRAY(e->m->memory, LLVMValueRef, count);
    const cpu_read *right = takes_pairs(&f) ? neighbour(e, read, true) : NULL;
    const cpu_read *left = right || !takes_pairs(&f) ? NULL : neighbour(e, read, false);
    const cpu_read *other = right ? right : left;
    if (other && e->values[other->load].scope) other = NULL;             /* it has been fetched, in a loop around this one */
    if (other) {
        f.read = right ? read : left;
        f.next = right ? right : read;
        f.word_bytes = 8;
    }
    for (int u = 0; u < e->unroll; u++)
        for (int row = 0; row < e->group; row++) instance(&f, u, row, right ? (LLVMValueRef *[2]){ parts, others } : (LLVMValueRef *[2]){ other ? others : parts, parts });
    if (other) emit_remember(e, other->load, others, count, true);
    return true;
}
