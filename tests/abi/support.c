/* SPDX-License-Identifier: MIT
 * Pictures against unmapped pages, the interpreter's results, calls. Everything is shaped by the image types alone. */
#include "support.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "halo/halo.h"

enum { PAGE = 4096 };

const filter *find_filter(const char *name)
{
    for (size_t k = 0; k < N_FILTERS; k++)
        if (strcmp(FILTERS[k].name, name) == 0) return &FILTERS[k];
    fail_msg("no filter `%s`", name);
    return NULL;
}

/* ---- pictures ------------------------------------------------------------------------------------ */

/* Bytes that lie together. */
static int64_t pixel_bytes(const image_type *t) { return (int64_t)t->bytes * (t->layout == LAYOUT_planar ? 1 : t->lanes); }

int memory_rank(const image_type *type) { return type->rank + (type->layout == LAYOUT_planar ? 1 : 0); }

void pixel_extent(const picture *p, int32_t *extent)
{
    for (int d = 0; d < 5; d++) extent[d] = d < p->type.rank ? p->image.extent[d] : 1;
}

unsigned char *component_at(const picture *p, const int32_t *at, int lane)
{
    unsigned char *pixel = p->image.data;
    for (int d = 0; d < p->type.rank; d++) pixel += at[d] * p->image.stride[d];
    if (p->type.layout == LAYOUT_planar) return pixel + lane * p->image.stride[p->type.rank];
    if (p->type.layout == LAYOUT_bgra && lane != 1 && lane < 3) lane = 2 - lane;
    return pixel + lane * p->type.bytes;
}

/* The next coordinates inside `extent`; false behind the last. */
static bool next_pixel(int32_t *at, const int32_t *extent)
{
    for (int d = 0; d < 5; d++) {
        if (++at[d] < extent[d]) return true;
        at[d] = 0;
    }
    return false;
}

static bool rows_have_pages(placement where) { return where == PLACE_rows_end || where == PLACE_rows_begin; }

/* Bytes from row to row (of all dimensions but the first). */
static int64_t row_pitch(const image_type *t, int64_t row_bytes, placement where)
{
    if (rows_have_pages(where)) return (row_bytes + PAGE - 1) / PAGE * PAGE + PAGE;
    if (where == PLACE_wide_ends) return row_bytes + 5 * t->bytes;
    if (where == PLACE_upward) return row_bytes + 16 * t->bytes;
    return row_bytes;
}

static void mark_inside(picture *p)
{
    int32_t at[5] = { 0 }, extent[5];
    pixel_extent(p, extent);
    do for (int lane = 0; lane < p->type.lanes; lane++) memset(p->inside + (component_at(p, at, lane) - p->map), 2, (size_t)p->type.bytes);
    while (next_pixel(at, extent));
}

/* Unmapped are the first and the last page, and the page behind each row where rows have their own. */
static void unmap_pages(picture *p, placement where, int64_t pitch)
{
    for (size_t at = 0; at < p->map_bytes; at += PAGE) {
        size_t inner = at - PAGE;
        bool gap = at == 0 || at + PAGE == p->map_bytes || (rows_have_pages(where) && inner % (size_t)pitch == (size_t)pitch - PAGE);
        if (gap) assert_int_equal(mprotect(p->map + at, PAGE, PROT_NONE), 0);
        else memset(p->inside + at, 1, PAGE);
    }
}

picture picture_new(const image_type *type, const int32_t *extent, placement where)
{
    picture p = { .type = *type };
    int rank = memory_rank(type);
    int64_t rows = 1, row_bytes = pixel_bytes(type) * extent[0], pitch = row_pitch(type, row_bytes, where);
    for (int d = 0; d < 5; d++) p.image.extent[d] = d < type->rank ? extent[d] : d < rank ? type->lanes : 1;
    for (int d = 1; d < rank; d++) rows *= p.image.extent[d];
    int64_t used = pitch * (rows - 1) + row_bytes;
    int64_t pages = rows_have_pages(where) ? pitch * rows / PAGE : (used + PAGE - 1) / PAGE;
    p.map_bytes = (size_t)(pages + 2) * PAGE;
    p.map = mmap(NULL, p.map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p.map != MAP_FAILED);
    memset(p.map, POISON, p.map_bytes);
    p.inside = calloc(p.map_bytes, 1);
    unmap_pages(&p, where, pitch);
    unsigned char *first = p.map + PAGE;
    if (where == PLACE_rows_end) first += pitch - PAGE - row_bytes;
    else if (where != PLACE_begins && where != PLACE_rows_begin) first += pages * PAGE - used;
    int64_t stride = pixel_bytes(type);
    for (int d = 0; d < 5; d++) {
        p.image.stride[d] = d < rank ? stride : 0;
        stride = d == 0 ? pitch : stride * p.image.extent[d];
    }
    if (where == PLACE_upward && type->rank > 1) {
        first += p.image.stride[1] * (extent[1] - 1);
        p.image.stride[1] = -p.image.stride[1];
    }
    p.image.data = first;
    mark_inside(&p);
    return p;
}

void picture_free(picture *p)
{
    if (p->map) munmap(p->map, p->map_bytes);
    free(p->inside);
    *p = (picture){ 0 };
}

void picture_poison(picture *p)
{
    for (size_t k = 0; k < p->map_bytes; k++) if (p->inside[k]) p->map[k] = POISON;
}

bool picture_outside_is_poison(const picture *p)
{
    for (size_t k = 0; k < p->map_bytes; k++)
        if (p->inside[k] == 1 && p->map[k] != POISON) {
            print_message("%s: a byte %td bytes from pixel (0, 0) was written\n", p->type.name, p->map + k - (unsigned char *)p->image.data);
            return false;
        }
    return true;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void random_component(const image_type *t, unsigned char *to, uint32_t *state)
{
    uint32_t r = next_random(state);
    if (strcmp(t->kind, "f32") == 0) {
        float v = (float)(r & 0xffff) / 16384.0f - 1.0f;
        memcpy(to, &v, 4);
    } else if (strcmp(t->kind, "f16") == 0) {
        uint16_t v = (uint16_t)(0x3000 + (r & 0xfff));
        memcpy(to, &v, 2);
    } else if (strcmp(t->kind, "bool") == 0) {
        *to = r & 1;
    } else {
        for (int b = 0; b < t->bytes; b++, r >>= 8) to[b] = (unsigned char)r;
    }
}

void picture_fill(picture *p, uint32_t seed)
{
    int32_t at[5] = { 0 }, extent[5];
    uint32_t state = seed * 2654435761u + 12345u;
    pixel_extent(p, extent);
    do for (int lane = 0; lane < p->type.lanes; lane++) random_component(&p->type, component_at(p, at, lane), &state);
    while (next_pixel(at, extent));
}

void picture_copy(picture *to, const picture *from)
{
    int32_t at[5] = { 0 }, extent[5];
    pixel_extent(to, extent);
    do for (int lane = 0; lane < to->type.lanes; lane++) memcpy(component_at(to, at, lane), component_at(from, at, lane), (size_t)to->type.bytes);
    while (next_pixel(at, extent));
}

static bool same_component(const image_type *t, const unsigned char *a, const unsigned char *b)
{
    if (memcmp(a, b, (size_t)t->bytes) == 0) return true;
    uint32_t x = 0, y = 0;
    memcpy(&x, a, (size_t)t->bytes);
    memcpy(&y, b, (size_t)t->bytes);
    if (strcmp(t->kind, "f32") == 0) return (x & 0x7fffffff) > 0x7f800000 && (y & 0x7fffffff) > 0x7f800000;
    if (strcmp(t->kind, "f16") == 0) return (x & 0x7fff) > 0x7c00 && (y & 0x7fff) > 0x7c00;
    return false;
}

bool picture_equal_in(const picture *a, const picture *b, const halo_part *part)
{
    int32_t step[5] = { 0 };
    do {
        int32_t at[5];
        for (int d = 0; d < 5; d++) at[d] = part->start[d] + step[d];
        for (int lane = 0; lane < a->type.lanes; lane++) {
            if (same_component(&a->type, component_at(a, at, lane), component_at(b, at, lane))) continue;
            print_message("%s differs at (%d, %d, %d), component %d\n", a->type.name, at[0], at[1], at[2], lane);
            return false;
        }
    } while (next_pixel(step, part->extent));
    return true;
}

bool picture_equal(const picture *a, const picture *b)
{
    halo_part all = { 0 };
    int32_t extent[5];
    pixel_extent(a, all.extent);
    pixel_extent(b, extent);
    if (memcmp(all.extent, extent, sizeof extent) != 0) return false;
    return picture_equal_in(a, b, &all);
}

void picture_protect_outside(picture *p, const halo_part *part)
{
    unsigned char *wanted = calloc(p->map_bytes / PAGE, 1);
    int32_t step[5] = { 0 };
    bool some = true;
    for (int d = 0; d < 5; d++) if (part->extent[d] < 1) some = false;
    if (some)
        do {
            int32_t at[5];
            for (int d = 0; d < 5; d++) at[d] = part->start[d] + step[d];
            for (int lane = 0; lane < p->type.lanes; lane++) {
                ptrdiff_t first = component_at(p, at, lane) - p->map;
                wanted[first / PAGE] = wanted[(first + p->type.bytes - 1) / PAGE] = 1;
            }
        } while (next_pixel(step, part->extent));
    for (size_t page = 0; page < p->map_bytes / PAGE; page++)
        if (!wanted[page]) assert_int_equal(mprotect(p->map + page * PAGE, PAGE, PROT_NONE), 0);
    free(wanted);
}

/* ---- the interpreter --------------------------------------------------------------------------------- */

/* A program a script, for the whole test; freed when the process ends. */
static const halo_pipe *interpreted(const filter *f)
{
    static struct { const char *script; halo_program *program; } programs[32];
    int k = 0;
    while (programs[k].script && strcmp(programs[k].script, f->script) != 0) k++;
    assert_in_range(k, 0, 31);
    if (!programs[k].script) {
        programs[k].script = f->script;
        programs[k].program = halo_compile_file(f->script, &(halo_options){ .engine = HALO_ENGINE_INTERPRETER, .strict = FILTERS_ARE_STRICT });
    }
    halo_program *program = programs[k].program;
    if (!halo_program_ok(program)) fail_msg("%s", halo_program_messages(program));
    const halo_pipe *pipe = halo_program_find_pipe(program, f->name);
    assert_non_null(pipe);
    return pipe;
}

/* The interpreter knows interleaved pictures alone. */
static image_type plain(const image_type *type)
{
    image_type p = *type;
    p.layout = LAYOUT_interleaved;
    return p;
}

/* ---- calls ------------------------------------------------------------------------------------------- */

void input_extents(const image_type *type, int32_t width, int32_t height, int32_t *extent)
{
    for (int d = 0; d < 5; d++) {
        const char *declared = d < type->rank ? type->extents[d] : "1";
        if (d < type->rank && strcmp(type->extents[0], "N") == 0) extent[d] = 5;
        else if (strcmp(declared, "D") == 0) extent[d] = 3;
        else if (declared[0] >= '0' && declared[0] <= '9') extent[d] = atoi(declared);
        else extent[d] = d == 0 ? width : height;
    }
}

static void point_images(call *c)
{
    for (int k = 0; k < MOST_IMAGES; k++) {
        c->in_images[k] = &c->in[k].image;
        c->out_images[k] = &c->out[k].image;
    }
}

/* The interpreter's extents and pixels for what `in` holds at the moment. */
static int interpret_sizes(const call *c, halo_image *in, halo_image *out, halo_arguments **arguments)
{
    halo_message message = { "" };
    *arguments = halo_arguments_new(interpreted(c->filter));
    if (c->params) assert_int_equal(halo_arguments_set_struct(*arguments, c->params, &message), HALO_OK);
    for (int k = 0; k < c->filter->n_inputs; k++) in[k] = c->in[k].image;
    memset(out, 0, sizeof *out * MOST_IMAGES);
    return halo_size(interpreted(c->filter), in, *arguments, out, &message);
}

void call_expect(call *c)
{
    halo_image in[MOST_IMAGES], out[MOST_IMAGES];
    picture dense[MOST_IMAGES] = { 0 };
    halo_arguments *arguments;
    halo_message message = { "" };
    assert_int_equal(interpret_sizes(c, in, out, &arguments), HALO_OK);
    for (int k = 0; k < c->filter->n_inputs; k++) {
        image_type type = plain(&c->in[k].type);
        dense[k] = picture_new(&type, c->in[k].image.extent, PLACE_ends);
        picture_copy(&dense[k], &c->in[k]);
        in[k] = dense[k].image;
    }
    for (int k = 0; k < c->filter->n_outputs; k++) {
        picture_free(&c->expected[k]);
        image_type type = plain(&c->filter->outputs[k]);
        c->expected[k] = picture_new(&type, out[k].extent, PLACE_ends);
        out[k] = c->expected[k].image;
    }
    if (halo_run(interpreted(c->filter), in, arguments, out, NULL, NULL, &message) != HALO_OK) fail_msg("%s: %s", c->filter->name, message.text);
    for (int k = 0; k < c->filter->n_inputs; k++) picture_free(&dense[k]);
    halo_arguments_free(arguments);
}

bool call_begin_with(call *c, const filter *f, int32_t width, int32_t height, placement where, const void *params)
{
    *c = (call){ .filter = f, .params = params };
    point_images(c);
    halo_image in[MOST_IMAGES], out[MOST_IMAGES], stated[MOST_IMAGES] = { 0 }, *stated_images[MOST_IMAGES];
    for (int k = 0; k < f->n_inputs; k++) {
        int32_t extent[5];
        input_extents(&f->inputs[k], width, height, extent);
        c->in[k] = picture_new(&f->inputs[k], extent, where);
        picture_fill(&c->in[k], (uint32_t)(width * 131 + height * 7 + k));
    }
    for (int k = 0; k < MOST_IMAGES; k++) stated_images[k] = &stated[k];
    halo_arguments *arguments;
    int code = interpret_sizes(c, in, out, &arguments);
    halo_arguments_free(arguments);
    assert_int_equal(f->size(c->in_images, params, stated_images), code);
    if (code != HALO_OK) { call_end(c); return false; }
    for (int k = 0; k < f->n_outputs; k++) {
        c->out[k] = picture_new(&f->outputs[k], out[k].extent, where);
        assert_memory_equal(stated[k].extent, c->out[k].image.extent, sizeof stated[k].extent);
    }
    call_expect(c);
    return true;
}

bool call_begin(call *c, const filter *f, int32_t width, int32_t height, placement where)
{
    return call_begin_with(c, f, width, height, where, NULL);
}

void call_move(call *to, const call *from, placement where)
{
    *to = *from;
    point_images(to);
    for (int k = 0; k < to->filter->n_inputs; k++) {
        to->in[k] = picture_new(&from->in[k].type, from->in[k].image.extent, where);
        picture_copy(&to->in[k], &from->in[k]);
    }
    for (int k = 0; k < to->filter->n_outputs; k++) {
        to->out[k] = picture_new(&from->out[k].type, from->out[k].image.extent, where);
        to->expected[k].map = NULL;          /* stays with `from` */
        to->expected[k].inside = NULL;
    }
}

void call_end(call *c)
{
    for (int k = 0; k < MOST_IMAGES; k++) {
        picture_free(&c->in[k]);
        picture_free(&c->out[k]);
        picture_free(&c->expected[k]);
    }
}

int call_run(call *c, const halo_part *part, const halo_exec *exec)
{
    return c->filter->run(c->in_images, c->params, c->out_images, part, exec);
}

void call_check(call *c, const halo_exec *exec)
{
    for (int k = 0; k < c->filter->n_outputs; k++) picture_poison(&c->out[k]);
    int code = call_run(c, NULL, exec);
    if (code != HALO_OK) fail_msg("%s: %s", c->filter->name, c->filter->error(code));
    for (int k = 0; k < c->filter->n_outputs; k++) {
        assert_true(picture_equal(&c->out[k], &c->expected[k]));
        assert_true(picture_outside_is_poison(&c->out[k]));
    }
    for (int k = 0; k < c->filter->n_inputs; k++) assert_true(picture_outside_is_poison(&c->in[k]));
}

/* ---- faults ------------------------------------------------------------------------------------------- */

static char place[256] = "?";

void say_where(const char *test, const call *c, int variant)
{
    const halo_image *image = c->filter->n_inputs ? &c->in[0].image : &c->out[0].image;
    snprintf(place, sizeof place, "%s: %s, %d x %d, variant %d\n", test, c->filter->name, image->extent[0], image->extent[1], variant);
}

static void fault(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)info;
    (void)context;
    static const char WORDS[] = "memory outside of a picture was touched: ";
    ssize_t written = write(1, WORDS, sizeof WORDS - 1);
    written = write(1, place, strlen(place));
    (void)written;
    _exit(1);
}

void catch_faults(void)
{
    struct sigaction action = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* ---- threads ------------------------------------------------------------------------------------------- */

void backward(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context)
{
    (void)user;
    while (count > 0) task(context, --count);
}

typedef struct thread_job { void (*task)(void *context, int32_t index); void *context; int32_t index; char *entry; } thread_job;

static void *run_job(void *data)
{
    thread_job *job = data;
    job->entry = (char *)__builtin_frame_address(0);
    job->task(job->context, job->index);
    return NULL;
}

/* glibc wants 16 KiB for itself at least. */
enum { TASK_STACK = 64 * 1024, THREAD_STACK = 16 * 1024, STACK_LIMIT = 16 * 1024 };

/* Bytes that a task has written below its entry, on a stack that was POISON. */
static size_t stack_used(const char *stack, const thread_job *job)
{
    const char *lowest = stack;
    while (lowest < job->entry && (unsigned char)*lowest == POISON) lowest++;
    return (size_t)(job->entry - lowest);
}

void on_small_stacks(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context)
{
    (void)user;
    pthread_t threads[64];
    thread_job jobs[64];
    char *stacks[64];
    size_t bytes = PAGE + TASK_STACK + THREAD_STACK;
    assert_in_range(count, 1, 64);
    for (int32_t k = 0; k < count; k++) {
        jobs[k] = (thread_job){ task, context, k, NULL };
        stacks[k] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(stacks[k], POISON, bytes);
        assert_int_equal(mprotect(stacks[k], PAGE, PROT_NONE), 0);
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        assert_int_equal(pthread_attr_setstack(&attributes, stacks[k] + PAGE, bytes - PAGE), 0);
        assert_int_equal(pthread_create(&threads[k], &attributes, run_job, &jobs[k]), 0);
        pthread_attr_destroy(&attributes);
    }
    for (int32_t k = 0; k < count; k++) {
        pthread_join(threads[k], NULL);
        size_t used = stack_used(stacks[k] + PAGE, &jobs[k]);
        if (used > STACK_LIMIT) fail_msg("a task used %zu bytes of stack: %s", used, place);
        munmap(stacks[k], bytes);
    }
}
