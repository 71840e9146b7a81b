/* SPDX-License-Identifier: MIT
 * The driver: everything of a generated function that is not a row of pixels. It checks the call, asks the pipe's setup for
 * its slots, sizes line buffers, takes scratch from the host, deals strips to the host's workers and reports.
 *
 * It is compiled twice: into the compiler (for code loaded at run time), and to assembly that stands in every generated
 * object, so that an object depends on nothing. Hence no libc but malloc and free, no statics, no wide structs
 * copied by value. */
#include "backends/cpu/driver_strips.h"
#include "backends/cpu/driver_checks.h"

void *malloc(size_t bytes);
void  free(void *memory);

/* ---- memory ---------------------------------------------------------------------------------------- */

static void *take(const halo_exec *exec, int64_t bytes)
{
    if (bytes < 0 || (uint64_t)bytes > SIZE_MAX / 2) return NULL;
    size_t size = (size_t)(bytes < 64 ? 64 : bytes);
    if (exec && exec->allocate) return exec->allocate(exec->user, size, 64);
    char *raw = malloc(size + 128);
    if (!raw) return NULL;
    char *aligned = (char *)(((uintptr_t)raw + 128) & ~(uintptr_t)63);
    ((void **)(void *)aligned)[-1] = raw;
    return aligned;
}

static void give(const halo_exec *exec, void *memory)
{
    if (!memory) return;
    if (exec && exec->allocate) {
        if (exec->release) exec->release(exec->user, memory);
        return;
    }
    free(((void **)memory)[-1]);
}

/* ---- one call -------------------------------------------------------------------------------------- */

typedef struct call {
    driver_run  run;
    const halo_image *const *inputs;
    const halo_image *const *outputs;
    int32_t    *slots, *dims, *streams;
    region     *regions;               /* one per memory */
    stage_need *needs;
    int32_t    *line_slots;
    haloi_view *views;
    void      **owned;                 /* one per memory: scratch, or a dense copy of a host's image */
    void       *arena;
} call;

static void call_end(call *c)
{
    if (c->owned)
        for (int k = 0; k < c->run.plan.header->n_memories; k++) give(c->run.exec, c->owned[k]);
    give(c->run.exec, c->arena);
}

static int64_t round64(int64_t n) { return (n + 63) / 64 * 64; }

static void *cut(char **at, int64_t bytes)
{
    void *here = *at;
    *at += round64(bytes);
    return here;
}

static int call_begin(call *c, const haloi_code *code, const halo_exec *exec)
{
    plan_view v = plan_open(code->plan);
    const plan_header *h = v.header;
    c->run.plan = v;
    c->run.code = code;
    c->run.exec = exec;
    c->run.no_overlap = c->run.stop = c->run.reporting = 0;
    c->run.work_done = c->run.work_total = 0;
    c->run.reported = 0;
    c->owned = NULL;
    int64_t bytes = round64(4ll * h->n_slots) + round64(4ll * h->n_dims) + round64(4ll * h->n_memories) + round64((int64_t)sizeof(region) * h->n_memories)
        + round64((int64_t)sizeof(stage_need) * h->n_stages) + round64(4ll * h->n_stages)
        + round64((int64_t)sizeof(haloi_view) * h->n_memories) + round64((int64_t)sizeof(void *) * h->n_memories);
    char *at = c->arena = take(exec, bytes);
    if (!at) return HALO_ERROR_MEMORY;
    c->slots = cut(&at, 4ll * h->n_slots);
    c->dims = cut(&at, 4ll * h->n_dims);
    c->streams = cut(&at, 4ll * h->n_memories);
    c->regions = cut(&at, (int64_t)sizeof(region) * h->n_memories);
    c->needs = cut(&at, (int64_t)sizeof(stage_need) * h->n_stages);
    c->line_slots = cut(&at, 4ll * h->n_stages);
    c->views = cut(&at, (int64_t)sizeof(haloi_view) * h->n_memories);
    c->owned = cut(&at, (int64_t)sizeof(void *) * h->n_memories);
    for (int k = 0; k < h->n_memories; k++) c->owned[k] = NULL;
    c->run.slots = c->slots;
    c->run.dims = c->dims;
    c->run.views = c->views;
    c->run.streams = c->streams;
    return HALO_OK;
}

/* Sizes and parameters: extents to dims, setup's checks, slots. */
static int call_setup(call *c, const halo_image *const *inputs, const void *params, int32_t *failed)
{
    const plan_header *h = c->run.plan.header;
    for (int k = 0; k < h->n_inputs; k++) if (!inputs[k]) return HALO_ERROR_NULL;
    if (!params) params = c->run.code->defaults;
    if (h->has_params && !params) return HALO_ERROR_NULL;
    c->inputs = inputs;
    c->run.params = params;
    for (int k = 0; k < h->n_dims; k++) {
        c->dims[k] = inputs[c->run.plan.dims[2 * k]]->extent[c->run.plan.dims[2 * k + 1]];
        if (c->dims[k] < 0 || c->dims[k] > 1 << 28) return HALO_ERROR_SIZE;
    }
    haloi_frame frame;
    frame.slots = c->slots;
    frame.params = params;
    frame.dims = c->dims;
    uint32_t mode = enter_float_mode();
    int32_t bad = c->run.code->setup(&frame, c->slots);
    leave_float_mode(mode);
    if (bad == 0) return check_reach(&c->run.plan, c->slots);
    if (failed) *failed = bad > 0 ? bad - 1 : bad;
    return bad > 0 ? HALO_ERROR_SIZE : HALO_ERROR_PARAMETER;
}

static const plan_memory *output_memory(const plan_view *plan, int which)
{
    for (int k = 0; k < plan->header->n_memories; k++)
        if (plan->memories[k].role == PLAN_ROLE_output && plan->memories[k].which == which) return &plan->memories[k];
    return NULL;
}

/* What is asked of the outputs, into regions[]; everything else is not asked for yet. */
static int want_outputs(call *c, const halo_part *part)
{
    const plan_view *plan = &c->run.plan;
    for (int k = 0; k < plan->header->n_memories; k++) {
        const plan_memory *m = &plan->memories[k];
        region_clear(&c->regions[k]);
        if (m->role != PLAN_ROLE_output) continue;
        region_bounds(&c->regions[k], c->slots, m->lo, m->hi);
        if (image_is_empty(m, c->slots)) return HALO_ERROR_SIZE;
        for (int d = 0; part && d < m->rank; d++) {
            span32 whole = c->regions[k].axis[d];
            int64_t first = (int64_t)whole.lo + part->start[d], last = first + part->extent[d] - 1;
            if (part->start[d] < 0 || part->extent[d] < 1 || last > whole.hi) return HALO_ERROR_SIZE;
            c->regions[k].axis[d] = (span32){ (int32_t)first, (int32_t)last };
        }
    }
    plan_needs(plan, c->slots, c->needs, c->regions);
    return HALO_OK;
}

static const halo_image *host_image(const call *c, const plan_memory *m)
{
    return m->role == PLAN_ROLE_input ? c->inputs[m->which] : c->outputs[m->which];
}

static int check_images(call *c)
{
    const plan_header *h = c->run.plan.header;
    for (int k = 0; k < h->n_outputs; k++) if (!c->outputs[k]) return HALO_ERROR_NULL;
    for (int k = 0; k < h->n_memories; k++) {
        const plan_memory *m = &c->run.plan.memories[k];
        if (m->role == PLAN_ROLE_scratch) continue;
        const halo_image *image = host_image(c, m);
        int code = check_extents(m, c->slots, image);
        if (code) return code;
        if (!image->data && !image_is_empty(m, c->slots)) return HALO_ERROR_NULL;
        code = check_strides(m, c->slots, image);
        if (code) return code;
    }
    return HALO_OK;
}

static int check_overlaps(call *c)
{
    const plan_view *plan = &c->run.plan;
    for (int o = 0; o < plan->header->n_memories; o++) {
        const plan_memory *out = &plan->memories[o];
        footprint a, b;
        if (out->role != PLAN_ROLE_output) continue;
        if (!footprint_of(out, c->slots, host_image(c, out), &c->regions[o], &a)) continue;
        for (int k = 0; k < plan->header->n_memories; k++) {
            const plan_memory *m = &plan->memories[k];
            if (k == o || m->role == PLAN_ROLE_scratch || (m->role == PLAN_ROLE_output && k < o)) continue;
            if (!footprint_of(m, c->slots, host_image(c, m), &c->regions[k], &b)) continue;
            if (!footprints_meet(&a, &b)) continue;
            if (m->role != PLAN_ROLE_input || out->may_alias != m->which || !same_memory(out, host_image(c, out), host_image(c, m)))
                return HALO_ERROR_OVERLAP;
            c->run.no_overlap = 1;
        }
    }
    return HALO_OK;
}

/* ---- memories ---------------------------------------------------------------------------------------- */

static int64_t dense_view(const plan_memory *m, const region *part, haloi_view *view, char *base)
{
    int64_t pixel = image_pixel_bytes(m), step = pixel, origin = 0;
    for (int d = 0; d < 5; d++) {
        view->stride[d] = step;
        origin += step * part->axis[d].lo;
        step *= max64(span_count(part->axis[d]), 1);
        if (d == 0) step = round64(step);
    }
    view->plane_bytes = m->planar ? step : m->component_bytes;
    view->data = base ? base - origin : NULL;       /* NULL: only measured */
    return m->planar ? step * m->lanes : step;
}

static void host_view(const plan_memory *m, const int32_t *slots, const halo_image *image, haloi_view *view)
{
    view->data = image->data;
    for (int d = 0; d < 5; d++) {
        view->stride[d] = d < m->rank ? image->stride[d] : 0;
        view->data -= view->stride[d] * slots[m->lo[d]];
    }
    view->plane_bytes = m->planar ? image->stride[m->rank] : m->component_bytes;
}

/* Copies the wanted part between two views, pixel by pixel: only for pictures whose rows are not dense. */
static void copy_part(const plan_memory *m, const region *part, const haloi_view *from, const haloi_view *to)
{
    int64_t i[5], planes = m->planar ? m->lanes : 1;
    int32_t bytes = (int32_t)image_pixel_bytes(m);
    for (i[4] = part->axis[4].lo; i[4] <= part->axis[4].hi; i[4]++)
    for (i[3] = part->axis[3].lo; i[3] <= part->axis[3].hi; i[3]++)
    for (i[2] = part->axis[2].lo; i[2] <= part->axis[2].hi; i[2]++)
    for (i[1] = part->axis[1].lo; i[1] <= part->axis[1].hi; i[1]++)
    for (int64_t plane = 0; plane < planes; plane++) {
        const char *a = from->data + plane * from->plane_bytes;
        char *b = to->data + plane * to->plane_bytes;
        for (int d = 1; d < 5; d++) { a += i[d] * from->stride[d]; b += i[d] * to->stride[d]; }
        for (int64_t x = part->axis[0].lo; x <= part->axis[0].hi; x++)
            copy_pixel(b + x * to->stride[0], a + x * from->stride[0], bytes);
    }
}

static int is_dense(const plan_memory *m, const halo_image *image, const region *part)
{
    return image->stride[0] == image_pixel_bytes(m) || span_count(part->axis[0]) <= 1;
}

static int view_memories(call *c)
{
    const plan_view *plan = &c->run.plan;
    for (int k = 0; k < plan->header->n_memories; k++) {
        const plan_memory *m = &plan->memories[k];
        const halo_image *image = m->role == PLAN_ROLE_scratch ? NULL : host_image(c, m);
        if (image) host_view(m, c->slots, image, &c->views[k]);
        if (image && is_dense(m, image, &c->regions[k])) { c->views[k].stride[0] = image_pixel_bytes(m); continue; }
        haloi_view dense, *host = &c->views[k];
        int64_t bytes = dense_view(m, &c->regions[k], &dense, NULL);
        if (bytes < 0 || bytes > INT64_MAX / 4) return HALO_ERROR_MEMORY;
        c->owned[k] = take(c->run.exec, bytes);
        if (!c->owned[k]) return HALO_ERROR_MEMORY;
        dense_view(m, &c->regions[k], &dense, c->owned[k]);
        if (m->role == PLAN_ROLE_input) copy_part(m, &c->regions[k], host, &dense);
        host->data = dense.data;
        host->plane_bytes = dense.plane_bytes;
        for (int d = 0; d < 5; d++) host->stride[d] = dense.stride[d];
    }
    return HALO_OK;
}

static void return_outputs(call *c)
{
    const plan_view *plan = &c->run.plan;
    for (int k = 0; k < plan->header->n_memories; k++) {
        const plan_memory *m = &plan->memories[k];
        if (m->role != PLAN_ROLE_output || !c->owned[k]) continue;
        haloi_view host;
        host_view(m, c->slots, host_image(c, m), &host);
        copy_part(m, &c->regions[k], &c->views[k], &host);
    }
}

/* ---- sections ----------------------------------------------------------------------------------------- */

static int32_t worker_count(const call *c, int64_t n_tasks)
{
    const halo_exec *exec = c->run.exec;
    int64_t n = exec && exec->parallel_for ? (exec->workers > 0 ? exec->workers : 8) : 1;
    return (int32_t)max64(1, min64(n, n_tasks));
}

/* A worker's lines may outgrow the second cache: rows are walked in order, so that what the third one holds comes in time, while
 * blocks repeat their halos (measured: a chain of 32 stencils with 1.4 MB of lines is 1.1 times as fast in whole rows, non-local
 * means with 49 planes 1.4 times as slow). Beyond the limit columns are cut into blocks whose lines stay in the second cache. */
enum { LINE_LIMIT_BYTES = 3 << 20, LINE_BUDGET_BYTES = 768 * 1024 };

static int64_t measure_lines(section_run *r, call *c, int32_t block_width)
{
    int64_t most = 0;
    int64_t n_blocks = (span_count(r->x) + block_width - 1) / block_width;
    for (int64_t b = 0; b < n_blocks; b++) {
        if (b > 2 && b < n_blocks - 3) continue;          /* the ones in the middle are alike */
        span32 x = { (int32_t)(r->x.lo + b * block_width), (int32_t)min64(r->x.hi, r->x.lo + (b + 1) * (int64_t)block_width - 1) };
        task_needs(r, x, r->y, c->needs);
        most = max64(most, place_lines(r->stages, r->section->n_stages, c->needs, r->line_slots, (line *)r->scratch, NULL));
    }
    return most;
}

static int32_t choose_block(section_run *r, call *c)
{
    const plan_header *h = c->run.plan.header;
    int64_t width = span_count(r->x);
    int32_t asked = h->tile_width > 0 ? h->tile_width : r->section->tile_width;
    if (asked > 0) return (int32_t)min64(width, asked);
    if (width < 512) return (int32_t)width;
    int64_t whole = measure_lines(r, c, (int32_t)width);
    if (whole <= LINE_LIMIT_BYTES) return (int32_t)width;
    int64_t n_blocks = (whole + LINE_BUDGET_BYTES - 1) / LINE_BUDGET_BYTES;
    int64_t block = (width + n_blocks - 1) / n_blocks;
    task_needs(r, (span32){ r->x.lo, r->x.lo }, r->y, c->needs);
    int64_t reach = 1;
    for (int k = 0; k < r->section->n_stages; k++) reach = max64(reach, span_count(c->needs[k].ends));
    block = max64(max64(block, 16 * reach), 256);      /* what blocks make twice is a sixteenth at most */
    return (int32_t)min64(width, (block + 63) / 64 * 64);
}

static int32_t choose_strip(const section_run *r, const call *c, int32_t workers, int64_t halo)
{
    const plan_header *h = c->run.plan.header;
    int64_t height = span_count(r->y);
    int32_t asked = h->tile_rows > 0 ? h->tile_rows : r->section->tile_rows;
    if (asked > 0) return (int32_t)min64(height, asked);
    if (workers <= 1) return (int32_t)height;
    int64_t least = max64(16, 8 * halo);
    int64_t wanted = (height + 4 * workers - 1) / (4 * workers);
    int64_t rounds = max64(1, height / max64(wanted, least) / workers);       /* so many strips for every worker, all alike */
    int64_t even = (height + rounds * workers - 1) / (rounds * workers);
    return (int32_t)min64(height, (even + r->batch - 1) / r->batch * r->batch);
}

/* The section's tasks run dry: nothing is made, but who reads which row of a line, and how far ahead the line is by then, is
 * all there. So a line keeps what its readers need, whatever their borders, speeds and domains, and no more. */
static void plan_lines(call *c, section_run *r)
{
    worker w;
    w.section = r;
    w.needs = c->needs;
    w.lines = (line *)(void *)r->scratch;
    w.dry = c->line_slots;
    for (int k = 0; k < r->section->n_stages; k++) c->line_slots[k] = r->stages[k].group;
    for (int64_t task = 0; task < (int64_t)r->n_strips * r->n_blocks; task++) run_task(&w, task);
}

/* The most rows of a stage that one row of the sinks takes: about what a strip makes again at its start. */
static int64_t rows_around(call *c, const section_run *r)
{
    int32_t middle = r->y.lo + (int32_t)(span_count(r->y) / 2);
    int64_t most = 0;
    task_needs(r, r->x, (span32){ middle, middle }, c->needs);
    for (int k = 0; k < r->section->n_stages - r->section->n_sinks; k++) most = max64(most, span_count(c->needs[k].y));
    return most;
}

/* What all sinks want together, in the first one's coordinates: each may be wanted in another part. */
static void sinks_extent(const call *c, section_run *r)
{
    int n = r->section->n_stages;
    const plan_stage *driver = &r->stages[n - r->section->n_sinks];
    span32 *axes[5] = { &r->x, &r->y, &r->outer[0], &r->outer[1], &r->outer[2] };
    for (int d = 0; d < 5; d++) {
        *axes[d] = EMPTY_SPAN;
        for (int k = n - r->section->n_sinks; k < n; k++) {
            int32_t shift = c->slots[r->stages[k].lo[d]] - c->slots[driver->lo[d]];
            span32 s = c->regions[r->stages[k].memory].axis[d];
            if (!span_is_empty(s)) *axes[d] = span_union(*axes[d], (span32){ s.lo - shift, s.hi - shift });
        }
    }
}

/* Strips and blocks; returns the bytes of a worker's lines, or -1. */
static int64_t choose_tasks(call *c, section_run *r)
{
    r->scratch = take(c->run.exec, (int64_t)sizeof(line) * r->section->n_stages);
    if (!r->scratch) return -1;
    r->strip_rows = choose_strip(r, c, worker_count(c, INT32_MAX), rows_around(c, r));
    r->n_strips = (int32_t)((span_count(r->y) + r->strip_rows - 1) / r->strip_rows);
    r->block_width = (int32_t)span_count(r->x);
    r->n_blocks = 1;
    plan_lines(c, r);
    r->block_width = choose_block(r, c);
    r->n_blocks = (int32_t)((span_count(r->x) + r->block_width - 1) / r->block_width);
    if (r->n_blocks > 1) plan_lines(c, r);      /* a block may not take every stage, which others then wait for less */
    int64_t lines = measure_lines(r, c, r->block_width);
    give(c->run.exec, r->scratch);
    return lines;
}

static int run_section(call *c, const plan_section *section)
{
    section_run r;
    r.run = &c->run;
    r.section = section;
    r.stages = &c->run.plan.stages[section->first_stage];
    r.regions = c->regions;
    r.line_slots = c->line_slots;
    r.next_task = 0;
    sinks_extent(c, &r);
    r.n_tasks = span_count(r.outer[0]) * span_count(r.outer[1]) * span_count(r.outer[2]);
    if (span_is_empty(r.x) || span_is_empty(r.y) || r.n_tasks == 0) return HALO_OK;
    choose_streams(&c->run.plan, section, c->slots, c->regions, worker_count(c, INT32_MAX), c->streams);
    r.batch = 1;
    for (int k = 0; k < section->n_stages; k++) if (r.stages[k].group > r.batch) r.batch = r.stages[k].group;
    int64_t lines = choose_tasks(c, &r);
    if (lines < 0) return HALO_ERROR_MEMORY;
    r.n_tasks *= (int64_t)r.n_strips * r.n_blocks;
    int32_t workers = worker_count(c, r.n_tasks);
    r.line_offset_bytes = tables_bytes(&r);
    r.worker_bytes = r.line_offset_bytes + round64(lines);
    if (r.worker_bytes < 0 || r.worker_bytes > INT64_MAX / 2 / workers) return HALO_ERROR_MEMORY;
    r.scratch = take(c->run.exec, r.worker_bytes * workers);
    if (!r.scratch) return HALO_ERROR_MEMORY;
    if (workers > 1) c->run.exec->parallel_for(c->run.exec->user, workers, section_task, &r);
    else section_task(&r, 0);
    give(c->run.exec, r.scratch);
    return c->run.stop ? HALO_CANCELLED : HALO_OK;
}

/* Operations of the whole call, so that progress has a denominator; strips' repeated rows are not counted. */
static void count_work(call *c)
{
    const plan_view *plan = &c->run.plan;
    int64_t total = 0;
    for (int k = 0; k < plan->header->n_sections; k++) {
        const plan_section *section = &plan->sections[k];
        const region *wanted = &c->regions[plan->stages[section->first_stage + section->n_stages - section->n_sinks].memory];
        int64_t pixels = 1;
        for (int d = 0; d < 5; d++) pixels *= span_count(wanted->axis[d]);
        for (int j = 0; j < section->n_stages; j++) total += pixels * c->slots[plan->stages[section->first_stage + j].cost];
    }
    c->run.work_total = total;
}

static int call_sections(call *c)
{
    const plan_view *plan = &c->run.plan;
    int code = view_memories(c);
    count_work(c);
    for (int k = 0; k < plan->header->n_sections && code == HALO_OK; k++) code = run_section(c, &plan->sections[k]);
    if (code != HALO_OK) return code;
    return_outputs(c);
    if (c->run.exec && c->run.exec->progress) c->run.exec->progress(c->run.exec->user, 1.0f);
    return HALO_OK;
}

/* ---- entries ------------------------------------------------------------------------------------------- */

int haloi_run(const haloi_code *code, const halo_image *const *inputs, const void *params, const halo_image *const *outputs,
              const halo_part *part, const halo_exec *exec, int32_t *failed)
{
    call c;
    int result = call_begin(&c, code, exec);
    c.outputs = outputs;
    if (result == HALO_OK) result = call_setup(&c, inputs, params, failed);
    if (result == HALO_OK) result = check_images(&c);
    if (result == HALO_OK) result = want_outputs(&c, part);
    if (result == HALO_OK) result = check_overlaps(&c);
    if (result == HALO_OK) result = call_sections(&c);
    call_end(&c);
    return result;
}

int haloi_size(const haloi_code *code, const halo_image *const *inputs, const void *params, halo_image *const *outputs, int32_t *failed)
{
    call c;
    int result = call_begin(&c, code, NULL);
    if (result == HALO_OK) result = call_setup(&c, inputs, params, failed);
    for (int k = 0; k < c.run.plan.header->n_outputs && result == HALO_OK; k++) {
        const plan_memory *m = output_memory(&c.run.plan, k);
        if (!outputs[k]) result = HALO_ERROR_NULL;
        else if (image_is_empty(m, c.slots)) result = HALO_ERROR_SIZE;
        for (int d = 0; d < 5 && result == HALO_OK; d++) outputs[k]->extent[d] = d < image_rank(m) ? (int32_t)image_extent(m, c.slots, d) : 1;
    }
    call_end(&c);
    return result;
}

int haloi_needs(const haloi_code *code, const halo_image *const *inputs, const void *params, const halo_part *part,
                halo_part *const *needs, int32_t *failed)
{
    call c;
    int result = call_begin(&c, code, NULL);
    if (result == HALO_OK) result = call_setup(&c, inputs, params, failed);
    if (result == HALO_OK) result = want_outputs(&c, part);
    for (int k = 0; k < c.run.plan.header->n_memories && result == HALO_OK; k++) {
        const plan_memory *m = &c.run.plan.memories[k];
        if (m->role != PLAN_ROLE_input) continue;
        halo_part *need = needs[m->which];
        if (!need) { result = HALO_ERROR_NULL; continue; }
        for (int d = 0; d < 5; d++) {
            span32 s = c.regions[k].axis[d];
            need->start[d] = span_is_empty(s) || d >= m->rank ? 0 : s.lo;
            need->extent[d] = d >= m->rank ? 1 : (int32_t)span_count(s);
        }
    }
    call_end(&c);
    return result;
}

const char *haloi_error(int code)
{
    switch (code) {
    case HALO_OK:              return "no error";
    case HALO_ERROR_NULL:      return "a required pointer is null";
    case HALO_ERROR_SIZE:      return "an image's extents don't fit the pipe, each other, or the part asked for";
    case HALO_ERROR_STRIDE:    return "data or a stride is not a multiple of the component's size, or an output's pixels overlap";
    case HALO_ERROR_OVERLAP:   return "an output overlaps another image";
    case HALO_ERROR_PARAMETER: return "a parameter is outside its range";
    case HALO_ERROR_MEMORY:    return "an allocation failed";
    case HALO_CANCELLED:       return "cancelled";
    default:                   return "unknown error";
    }
}

/* x86-64-vN of this computer: what the entry of a library with several bodies asks. */
int32_t haloi_processor_level(void)
{
#if defined(__x86_64__)
    uint32_t a, b, c, d, low, high;
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0), "c"(0));
    if (a < 7) return 1;
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(1), "c"(0));
    const uint32_t v2 = 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23;      /* sse3 ssse3 cx16 sse4.1 sse4.2 popcnt */
    const uint32_t v3 = 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29;               /* fma movbe osxsave avx f16c */
    if ((c & v2) != v2) return 1;
    if ((c & v3) != v3) return 2;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
    const uint32_t v3b = 1u << 3 | 1u << 5 | 1u << 8;                                       /* bmi1 avx2 bmi2 */
    if ((b & v3b) != v3b || (low & 6) != 6) return 2;
    const uint32_t v4 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;               /* avx512 f dq cd bw vl */
    return (b & v4) == v4 && (low & 0xe6) == 0xe6 ? 4 : 3;
#else
    return 0;
#endif
}
