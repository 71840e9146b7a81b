/* SPDX-License-Identifier: MIT
 * Which pixels of every fused stage a workgroup needs, as numbers that are the same for all its invocations: from the tile
 * backwards, through the index of every read and then through its border's map, which brings an interval to one that is no
 * longer (reach.c). Inside the picture the maps change nothing, so both kinds of region share these intervals. */
#include "backends/vulkan/emit.h"

/* ---- border maps --------------------------------------------------------------------------------------- */

static spv_id modulo(emitter *e, spv_id a, spv_id b) { return shader_op(e->m, e->zero, OP_mod, KIND_i32, (spv_id[]){ a, b }); }

/* (i - lo) modulo n without overflow of the difference. */
static spv_id distance_modulo(emitter *e, spv_id i, spv_id lo, spv_id n)
{
    spv_id apart = shader_sub(e, modulo(e, i, n), modulo(e, lo, n));
    return shader_choose(e, shader_less(e, apart, shader_i32(e, 0)), shader_add(e, apart, n), apart);
}

spv_id shader_border_map(emitter *e, border mode, spv_id i, spv_id lo, spv_id hi)
{
    if (mode == BORDER_none) return i;
    if (mode == BORDER_edge || mode == BORDER_value) return shader_min(e, shader_max(e, i, lo), hi);
    spv_id one = shader_i32(e, 1), n = shader_add(e, shader_sub(e, hi, lo), one);
    if (mode == BORDER_wrap) return shader_add(e, lo, distance_modulo(e, i, lo, n));
    spv_id period = shader_add(e, n, n);
    if (mode == BORDER_reflect101) period = shader_sub(e, period, shader_i32(e, 2));
    spv_id m = distance_modulo(e, i, lo, shader_max(e, period, one)), back = shader_sub(e, period, m);
    if (mode == BORDER_reflect) back = shader_sub(e, back, one);
    return shader_add(e, lo, shader_choose(e, shader_less(e, m, n), m, back));
}

/* ---- intervals -------------------------------------------------------------------------------------------- */

static spv_id index_of(emitter *e, const vulkan_reach *r, spv_id at, ref shift)
{
    spv_id i = r->p == 1 ? at : shader_mul(e, at, shader_i32(e, r->p));
    i = shader_add(e, i, shader_uniform(e, shift, 0));
    return r->q == 1 ? i : shader_op(e->m, e->zero, OP_floordiv, KIND_i32, (spv_id[]){ i, shader_i32(e, r->q) });
}

/* What is left of it inside of lo..hi; of nothing, an interval without pixels that lies where the first one did. */
static interval cut_off(emitter *e, interval r, spv_id lo, spv_id hi)
{
    interval out = { shader_max(e, r.lo, lo), shader_min(e, r.hi, hi) };
    spv_id none = shader_less(e, out.hi, out.lo);
    return (interval){ shader_choose(e, none, r.lo, out.lo), shader_choose(e, none, shader_sub(e, r.lo, shader_i32(e, 1)), out.hi) };
}

/* Mirrored: moved by whole periods so that it begins in the picture (then it may run over the high end, and again over the low one)
 * or in the mirror image behind it (then it runs backwards, perhaps over the low end). */
static interval reflected(emitter *e, border mode, interval r, spv_id lo, spv_id hi)
{
    spv_id one = shader_i32(e, 1), n = shader_add(e, shader_sub(e, hi, lo), one), period = shader_add(e, n, n);
    spv_id twice_hi = shader_add(e, hi, hi);
    if (mode == BORDER_reflect) twice_hi = shader_add(e, twice_hi, one);
    else period = shader_max(e, shader_sub(e, period, shader_i32(e, 2)), one);
    spv_id first = shader_add(e, lo, distance_modulo(e, r.lo, lo, period)), last = shader_add(e, first, shader_sub(e, r.hi, r.lo));
    spv_id end = shader_add(e, lo, period), over = shader_at_most(e, end, last);
    spv_id forward = shader_at_most(e, first, hi), within = shader_at_most(e, last, hi);
    spv_id back_lo = shader_choose(e, over, lo, shader_sub(e, twice_hi, last)), back_hi = shader_sub(e, twice_hi, first);
    interval in_picture = { shader_choose(e, within, first, shader_min(e, first, back_lo)), shader_min(e, last, hi) };
    spv_id again = shader_min(e, shader_sub(e, last, period), hi);
    interval in_mirror = { back_lo, shader_choose(e, over, shader_max(e, back_hi, again), back_hi) };
    return (interval){ shader_choose(e, forward, in_picture.lo, in_mirror.lo), shader_choose(e, forward, in_picture.hi, in_mirror.hi) };
}

static interval map_interval(emitter *e, border mode, interval r, spv_id lo, spv_id hi)
{
    if (mode == BORDER_none) return r;
    if (mode == BORDER_value) return cut_off(e, r, lo, hi);
    if (mode == BORDER_reflect || mode == BORDER_reflect101) return reflected(e, mode, r, lo, hi);
    return (interval){ shader_border_map(e, BORDER_edge, r.lo, lo, hi), shader_border_map(e, BORDER_edge, r.hi, lo, hi) };
}

static void add_need(emitter *e, const vulkan_reach *r)
{
    interval reader = e->regions[r->reader][r->axis], *all = r->producer >= 0 ? &e->regions[r->producer][r->axis] : NULL;
    if (!all && r->border == BORDER_none) return;
    interval need = { index_of(e, r, reader.lo, r->lo), index_of(e, r, reader.hi, r->hi) };
    if (r->border != BORDER_none) {
        spv_id lo = shader_bound(e, r->stage, r->axis, false), hi = shader_bound(e, r->stage, r->axis, true);
        spv_id inside = shader_both(e, shader_at_most(e, lo, need.lo), shader_at_most(e, need.hi, hi));
        e->inside[r->axis] = e->inside[r->axis] ? shader_both(e, e->inside[r->axis], inside) : inside;
        if (all) need = map_interval(e, (border)r->border, need, lo, hi);
    }
    if (!all) return;
    *all = all->lo ? (interval){ shader_min(e, all->lo, need.lo), shader_max(e, all->hi, need.hi) } : need;
}

/* Whether some reader may need no pixel along an axis: pictures have values outside, parameters say how far a read reaches. */
static bool may_be_empty(const emitter *e, int stage, int axis)
{
    for (uint32_t i = 0; i < e->k->reaches.count; i++) {
        const vulkan_reach *r = &e->k->reaches.items[i];
        int64_t lo, hi;
        if (r->producer != stage || r->axis != axis) continue;
        if (r->border == BORDER_value || !node_is_const(e->pipe, r->lo, &lo) || !node_is_const(e->pipe, r->hi, &hi)) return true;
    }
    return false;
}

/* Between an interval and an empty one lie pixels that nobody reads. Outside of the stage they can't even be made: what they read may
 * lie outside of its memory. */
static void keep_inside(emitter *e, int stage)
{
    uint32_t number = e->k->stages.items[stage].stage;
    for (int axis = 0; axis < 2 && axis < stage_at(e->pipe, number)->rank; axis++) {
        interval *all = &e->regions[stage][axis];
        if (all->lo && may_be_empty(e, stage, axis))
            *all = cut_off(e, *all, shader_bound(e, number, axis, false), shader_bound(e, number, axis, true));
    }
}

void shader_regions(emitter *e, interval tile[2])
{
    int n = (int)e->k->stages.count;
    for (int j = n - 1; j >= 0; j--) {
        if (e->k->stages.items[j].sink) { e->regions[j][0] = tile[0]; e->regions[j][1] = tile[1]; }
        else keep_inside(e, j);
        for (uint32_t i = 0; i < e->k->reaches.count; i++)
            if (e->k->reaches.items[i].reader == j) add_need(e, &e->k->reaches.items[i]);
    }
}
