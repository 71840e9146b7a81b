/* SPDX-License-Identifier: MIT
 * halo.h on a Vulkan device: opening one, runs with any strides, parts, several at a time, cancelling, and the file of compiled
 * pipelines. Expected values come from machine code of the same pipe under strict, or from the rule of a pipe. */
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* A window, a table that depends on a parameter, and a table over the whole picture: tiles, scratch, several dispatches. */
static const char script[] =
    "pipe filter(src: image u8x3, sigma: f32 = 1.2 in 0.1..3, low: u8 = 3) -> (out: image u8x3, total: i32[_])\n"
    "{\n"
    "    soft = conv(pad(src, reflect), gaussian(sigma))\n"
    "    total[x in 0..<src.width] = sum(y in 0..<src.height: i32(src[x, y].g))\n"
    "    return u8(max(soft * 1.5, low)), total\n"
    "}\n";

static size_t complaints;

static void complain(void *user, const char *text)
{
    (void)user;
    complaints++;
    fprintf(stderr, "validation: %s\n", text);
}

static halo_device *opened(halo_device_options options)
{
    halo_message error;
    halo_device *device = halo_device_open(&options, &error);
    if (!device)
        fail_msg("%s", error.text);
    return device;
}

static halo_program *compiled(const char *text, halo_device *device)
{
    halo_options options = {.engine = device ? HALO_ENGINE_VULKAN : HALO_ENGINE_CPU, .device = device, .strict = 1};
    halo_program *program = halo_compile_text("test.pipe", text, strlen(text), &options);
    assert_non_null(program);
    if (!halo_program_ok(program))
        fail_msg("%s", halo_program_messages(program));
    return program;
}

/* ---- pictures between guard bytes ------------------------------------------------------------------ */

enum { GUARD = 0xa5 };
typedef struct canvas { uint8_t *bytes; size_t n; halo_image image; } canvas;

/* Rows `pad` bytes apart; `flipped`: the last row first. */
static canvas canvas_new(int32_t width, int32_t height, int32_t pixel_bytes, int32_t pad, bool flipped)
{
    ptrdiff_t row = (ptrdiff_t)width * pixel_bytes + pad;
    canvas c = {.n = (size_t)(row * height + 2 * 16)};
    c.bytes = malloc(c.n);
    assert_non_null(c.bytes);
    memset(c.bytes, GUARD, c.n);
    c.image = (halo_image){c.bytes + 16 + (flipped ? row * (height - 1) : 0), {width, height, 1, 1, 1},
                           {pixel_bytes, flipped ? -row : row, 0, 0, 0}};
    return c;
}

static uint8_t *pixel(const canvas *c, int32_t x, int32_t y)
{
    return (uint8_t *)c->image.data + x * c->image.stride[0] + y * c->image.stride[1];
}

static void fill(canvas *c, uint32_t seed)
{
    for (int32_t y = 0; y < c->image.extent[1]; y++)
        for (int32_t x = 0; x < c->image.extent[0]; x++)
            for (ptrdiff_t k = 0; k < c->image.stride[0]; k++)
                pixel(c, x, y)[k] = (uint8_t)next_random(&seed);
}

static bool is_inside(const halo_part *part, int32_t x, int32_t y)
{
    return !part || (x >= part->start[0] && x < part->start[0] + part->extent[0] &&
                     y >= part->start[1] && y < part->start[1] + part->extent[1]);
}

/* Equal inside of the part; outside, and between the rows, nothing was touched. */
static void check_canvas(const canvas *got, const canvas *right, const halo_part *part)
{
    int32_t width = got->image.extent[0], height = got->image.extent[1], n = (int32_t)got->image.stride[0];
    size_t untouched = 0, inside = 0;
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            bool in = is_inside(part, x, y);
            inside += in;
            for (int32_t k = 0; k < n; k++) {
                int wanted = in ? pixel(right, x, y)[k] : GUARD;
                if (pixel(got, x, y)[k] != wanted)
                    fail_msg("pixel %d, %d component byte %d is %d, not %d", x, y, k, pixel(got, x, y)[k], wanted);
            }
        }
    size_t pixels = inside * (size_t)n;
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            for (int32_t k = 0; k < n && is_inside(part, x, y); k++)
                pixel((canvas *)got, x, y)[k] = GUARD;
    for (size_t i = 0; i < got->n; i++)
        untouched += got->bytes[i] == GUARD;
    assert_int_equal(untouched, got->n);
    assert_true(pixels > 0);
}

typedef struct trial { canvas in, out[2]; } trial;

static trial trial_new(int32_t width, int32_t height, int32_t pad, bool flipped, uint32_t seed)
{
    trial t = {canvas_new(width, height, 3, pad, flipped), {canvas_new(width, height, 3, pad ? pad + 2 : 0, !flipped && pad),
                                                            canvas_new(width, 1, 4, 0, false)}};
    fill(&t.in, seed);
    return t;
}

static void trial_free(trial *t)
{
    free(t->in.bytes);
    free(t->out[0].bytes);
    free(t->out[1].bytes);
}

static void run_trial(halo_program *program, trial *t, const halo_part *part)
{
    halo_message error;
    halo_image outputs[2] = {t->out[0].image, t->out[1].image};
    if (halo_run(halo_program_pipe(program, 0), &t->in.image, NULL, outputs, part, NULL, &error) != HALO_OK)
        fail_msg("%s", error.text);
}

static void compare(halo_program *vulkan, halo_program *cpu, int32_t width, int32_t height, int32_t pad, bool flipped,
                    uint32_t seed)
{
    trial got = trial_new(width, height, pad, flipped, seed), right = trial_new(width, height, pad, flipped, seed);
    run_trial(vulkan, &got, NULL);
    run_trial(cpu, &right, NULL);
    check_canvas(&got.out[0], &right.out[0], NULL);
    check_canvas(&got.out[1], &right.out[1], NULL);
    trial_free(&got);
    trial_free(&right);
}

/* ---- devices --------------------------------------------------------------------------------------- */

static void test_devices(void **state)
{
    (void)state;
    halo_message error;
    halo_devices *devices = halo_devices_new(&error);
    assert_non_null(devices);
    size_t n = halo_devices_count(devices);
    assert_true(n > 0);
    assert_null(halo_devices_at(devices, n));
    const halo_device_info *info = halo_devices_at(devices, 0);
    assert_true(info->name[0] && info->driver[0] && info->api[0] >= 1 && info->invocations >= 128 && info->shared_bytes >= 16384);
    halo_device *device = opened((halo_device_options){.name = "0"});
    assert_string_equal(halo_device_about(device)->name, info->name);
    halo_device_close(device);
    device = opened((halo_device_options){.name = info->name, .no_storage_8bit = 1, .no_storage_16bit = 1, .most_invocations = 128,
                                          .most_shared_bytes = 16384, .most_workgroups = 7});
    const halo_device_info *masked = halo_device_about(device);
    assert_true(!masked->storage_8bit && !masked->storage_16bit && masked->invocations == 128 && masked->shared_bytes == 16384 &&
                masked->workgroups == 7);
    halo_device_close(device);
    assert_null(halo_device_open(&(halo_device_options){.name = "no such device"}, &error));
    assert_non_null(strstr(error.text, "no such device"));
    assert_non_null(strstr(error.text, info->name));
    assert_null(halo_device_open(&(halo_device_options){.name = "99"}, &error));
    halo_devices_free(devices);
}

static void test_no_device_given(void **state)
{
    (void)state;
    halo_options options = {.engine = HALO_ENGINE_VULKAN};
    halo_program *program = halo_compile_text("test.pipe", script, strlen(script), &options);
    assert_false(halo_program_ok(program));
    assert_string_equal(halo_program_diagnostic(program, 0).code, "E0554");
    halo_program_free(program);
}

/* ---- runs -------------------------------------------------------------------------------------------- */

/* Devices as they are, and as they might be; buffers are reused from size to size. */
static void test_strides_and_sizes(void **state)
{
    (void)state;
    static const halo_device_options devices[] = {
        {.validation = complain}, {.staging = 1, .validation = complain},
        {.no_storage_8bit = 1, .no_storage_16bit = 1, .staging = 1, .validation = complain},
        {.most_shared_bytes = 16384, .most_invocations = 128, .most_workgroups = 2, .validation = complain}};
    static const struct { int32_t width, height, pad; bool flipped; } sizes[] = {
        {67, 43, 0, false}, {1, 1, 0, false}, {5, 70, 1, true}, {33, 17, 7, false}, {128, 3, 2, true}};
    halo_program *cpu = compiled(script, NULL);
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        halo_device *device = opened(devices[d]);
        halo_program *vulkan = compiled(script, device);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            compare(vulkan, cpu, sizes[i].width, sizes[i].height, sizes[i].pad, sizes[i].flipped, (uint32_t)(d * 100 + i));
        halo_program_free(vulkan);
        halo_device_close(device);
    }
    halo_program_free(cpu);
    assert_int_equal(complaints, 0);
}

/* One output, so that a part is a part of all there is. */
static const char window[] = "pipe window(src: image u8x3) -> image u8x3\n{\n"
                             "    return u8(conv(pad(src, wrap), [[1, 2, 1], [2, 4, 2], [1, 2, 1]] / 16))\n}\n";

/* What halo_needs leaves out has no part in the result. A window of 3 by 3 takes a pixel more on each side. */
static void spoil_outside(canvas *in, halo_program *vulkan, const halo_part *part)
{
    halo_part needs;
    halo_message error;
    assert_int_equal(halo_needs(halo_program_pipe(vulkan, 0), &in->image, NULL, part, &needs, &error), HALO_OK);
    for (int d = 0; d < 2; d++)
        if (part->start[d] > 0 && part->start[d] + part->extent[d] < in->image.extent[d])
            assert_true(needs.start[d] == part->start[d] - 1 && needs.extent[d] == part->extent[d] + 2);
    for (int32_t y = 0; y < in->image.extent[1]; y++)
        for (int32_t x = 0; x < in->image.extent[0]; x++)
            if (!is_inside(&needs, x, y))
                memset(pixel(in, x, y), 0x5c, (size_t)in->image.stride[0]);
}

static void test_parts(void **state)
{
    (void)state;
    static const halo_part parts[] = {{{0, 0}, {70, 41}}, {{3, 2}, {5, 9}}, {{0, 40}, {70, 1}},
                                      {{69, 0}, {1, 41}}, {{31, 7}, {33, 30}}, {{1, 1}, {1, 1}}};
    halo_program *cpu = compiled(window, NULL);
    for (int staging = 0; staging < 2; staging++) {
        halo_device *device = opened((halo_device_options){.staging = staging});
        halo_program *vulkan = compiled(window, device);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            trial got = trial_new(70, 41, 3, false, (uint32_t)i), right = trial_new(70, 41, 3, false, (uint32_t)i);
            spoil_outside(&got.in, vulkan, &parts[i]);
            run_trial(vulkan, &got, &parts[i]);
            run_trial(cpu, &right, NULL);
            check_canvas(&got.out[0], &right.out[0], &parts[i]);
            trial_free(&got);
            trial_free(&right);
        }
        halo_program_free(vulkan);
        halo_device_close(device);
    }
    halo_program_free(cpu);
}

typedef struct listener { int asked, stop_at, told; float last; } listener;

static int is_cancelled(void *user)
{
    listener *l = user;
    return ++l->asked == l->stop_at;
}

static void hear(void *user, float done)
{
    listener *l = user;
    assert_true(done >= l->last && done <= 1);
    l->last = done;
    l->told++;
}

/* A device that binds less than a picture runs it in bands; what needs the whole picture at one place it can't run. */
static const char rows[] = "pipe rows(src: image u8x3) -> image u8x3\n{\n"
                           "    return u8(conv(pad(src, reflect), [[1, 2, 1], [2, 4, 2], [1, 2, 1]] / 16))\n}\n";

static void test_bands(void **state)
{
    (void)state;
    halo_program *cpu = compiled(rows, NULL);
    for (int staging = 0; staging < 2; staging++) {
        halo_device *device = opened((halo_device_options){.most_buffer_bytes = 2500, .staging = staging, .validation = complain});
        halo_program *vulkan = compiled(rows, device), *all = compiled(script, device);
        compare(vulkan, cpu, 70, 41, 3, false, 9);
        compare(vulkan, cpu, 16, 200, 0, true, 10);
        compare(vulkan, cpu, 11, 5, 0, false, 11);           /* this one fits */
        trial got = trial_new(70, 41, 0, false, 9), right = trial_new(70, 41, 0, false, 9);
        listener l = {0};
        halo_exec exec = {.progress = hear, .user = &l};
        halo_message error;
        halo_pipe *pipe = halo_program_pipe(vulkan, 0);
        assert_int_equal(halo_run(pipe, &got.in.image, NULL, &got.out[0].image, NULL, &exec, &error), HALO_OK);
        run_trial(cpu, &right, NULL);
        check_canvas(&got.out[0], &right.out[0], NULL);
        assert_true(l.told >= 8500 / 2500 && l.last == 1);
        halo_image outputs[2] = {got.out[0].image, got.out[1].image};
        assert_true(halo_run(halo_program_pipe(all, 0), &got.in.image, NULL, outputs, NULL, NULL, &error) >= 100);
        assert_non_null(strstr(error.text, "--on cpu"));
        trial_free(&got);
        trial_free(&right);
        halo_program_free(vulkan);
        halo_program_free(all);
        halo_device_close(device);
    }
    halo_program_free(cpu);
    assert_int_equal(complaints, 0);
}

typedef struct worker { halo_program *vulkan, *cpu; uint32_t seed; } worker;

static void *work(void *user)
{
    worker *w = user;
    for (uint32_t i = 0; i < 6; i++)
        compare(w->vulkan, w->cpu, (int32_t)(20 + w->seed * 9 + i), 31, (int32_t)(i % 3), false, w->seed * 16 + i);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { N = 4 };
    halo_device *device = opened((halo_device_options){0});
    halo_program *vulkan = compiled(script, device), *cpu = compiled(script, NULL);
    pthread_t threads[N];
    worker workers[N];
    for (uint32_t i = 0; i < N; i++) {
        workers[i] = (worker){vulkan, cpu, i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    halo_program_free(vulkan);
    halo_program_free(cpu);
    halo_device_close(device);
}

/* Three under way; inputs and `exec` are gone once a run has begun; the last is ended first. */
static void test_several_under_way(void **state)
{
    (void)state;
    enum { N = 3 };
    halo_device *device = opened((halo_device_options){0});
    halo_program *vulkan = compiled(script, device), *cpu = compiled(script, NULL);
    trial got[N], right[N];
    halo_task *tasks[N];
    halo_message error;
    for (uint32_t i = 0; i < N; i++) {
        got[i] = trial_new(40 + (int32_t)i, 29, 1, false, i);
        right[i] = trial_new(40 + (int32_t)i, 29, 1, false, i);
        run_trial(cpu, &right[i], NULL);
        halo_image outputs[2] = {got[i].out[0].image, got[i].out[1].image};
        halo_pipe *pipe = halo_program_pipe(vulkan, 0);
        halo_exec exec = {.workers = 1};
        assert_int_equal(halo_run_begin(pipe, &got[i].in.image, NULL, outputs, NULL, &exec, &tasks[i], &error), HALO_OK);
        memset(&exec, GUARD, sizeof exec);
        memset(got[i].in.bytes, 0, got[i].in.n);
    }
    for (int i = N - 1; i >= 0; i--) {
        halo_times times;
        assert_int_equal(halo_run_end(tasks[i], &times, &error), HALO_OK);
        assert_true(times.pipelines > 0 && (times.device > 0 || !halo_device_about(device)->timestamps));
        check_canvas(&got[i].out[0], &right[i].out[0], NULL);
        check_canvas(&got[i].out[1], &right[i].out[1], NULL);
        trial_free(&got[i]);
        trial_free(&right[i]);
    }
    /* On other engines all is done at once. */
    trial t = trial_new(9, 9, 0, false, 1);
    halo_image outputs[2] = {t.out[0].image, t.out[1].image};
    assert_int_equal(halo_run_begin(halo_program_pipe(cpu, 0), &t.in.image, NULL, outputs, NULL, NULL, &tasks[0], &error), HALO_OK);
    assert_int_equal(halo_run_end(tasks[0], NULL, &error), HALO_OK);
    trial_free(&t);
    halo_program_free(vulkan);
    halo_program_free(cpu);
    halo_device_close(device);
}

static void test_cancelling(void **state)
{
    (void)state;
    halo_device *device = opened((halo_device_options){.most_shared_bytes = 16384, .most_invocations = 128});
    halo_program *vulkan = compiled(script, device), *cpu = compiled(script, NULL);
    trial got = trial_new(200, 180, 0, false, 5), right = trial_new(200, 180, 0, false, 5);
    halo_image outputs[2] = {got.out[0].image, got.out[1].image};
    halo_message error;
    listener l = {.stop_at = 2};
    halo_exec exec = {.cancelled = is_cancelled, .progress = hear, .user = &l};
    assert_int_equal(halo_run(halo_program_pipe(vulkan, 0), &got.in.image, NULL, outputs, NULL, &exec, &error), HALO_CANCELLED);
    assert_true(l.asked == 2 && l.last < 1);
    l = (listener){0};
    assert_int_equal(halo_run(halo_program_pipe(vulkan, 0), &got.in.image, NULL, outputs, NULL, &exec, &error), HALO_OK);
    assert_true(l.asked > 2 && l.told == l.asked && l.last == 1);
    run_trial(cpu, &right, NULL);
    check_canvas(&got.out[0], &right.out[0], NULL);
    check_canvas(&got.out[1], &right.out[1], NULL);
    trial_free(&got);
    trial_free(&right);
    halo_program_free(vulkan);
    halo_program_free(cpu);
    halo_device_close(device);
}

/* ---- what doesn't fit ---------------------------------------------------------------------------------- */

static void test_messages(void **state)
{
    (void)state;
    static const char text[] = "pipe cut(src: image u8, w: i32 = 2) -> image u8 { return crop(src, 1, 0, w, 1) }\n";
    halo_device *device = opened((halo_device_options){0});
    halo_program *vulkan = compiled(text, device), *cpu = compiled(text, NULL);
    uint8_t in[4] = {1, 2, 3, 4}, out[4];
    halo_image src = {in, {4, 1, 1, 1, 1}, {1, 4}}, result = {out, {2, 1, 1, 1, 1}, {1, 4}};
    halo_message error, right;
    assert_int_equal(halo_run(halo_program_pipe(vulkan, 0), &src, NULL, &result, NULL, NULL, &error), HALO_OK);
    assert_true(out[0] == 2 && out[1] == 3);
    src.extent[0] = 2;                       /* the check of the script fails, in the same words */
    assert_int_equal(halo_run(halo_program_pipe(vulkan, 0), &src, NULL, &result, NULL, NULL, &error), HALO_ERROR_SIZE);
    assert_int_equal(halo_run(halo_program_pipe(cpu, 0), &src, NULL, &result, NULL, NULL, &right), HALO_ERROR_SIZE);
    assert_string_equal(error.text, right.text);
    src.extent[0] = 4;
    result.extent[0] = 3;
    assert_int_equal(halo_run(halo_program_pipe(vulkan, 0), &src, NULL, &result, NULL, NULL, &error), HALO_ERROR_SIZE);
    assert_string_equal(error.text, "output `out` has to be 2 x 1, not 3 x 1");
    halo_program_free(vulkan);
    halo_program_free(cpu);
    halo_device_close(device);
}

/* ---- the file of compiled pipelines ---------------------------------------------------------------------- */

static size_t files_in(const char *folder, char *path, size_t room)
{
    size_t n = 0;
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        if (entry->d_name[0] != '.') {
            snprintf(path, room, "%s/%.200s", folder, entry->d_name);
            n++;
        }
    if (listing)
        closedir(listing);
    return n;
}

static void use_cache(const char *folder)
{
    halo_device *device = opened((halo_device_options){.cache_folder = folder});
    halo_program *vulkan = compiled(window, device), *cpu = compiled(window, NULL);
    trial got = trial_new(20, 20, 0, false, 3), right = trial_new(20, 20, 0, false, 3);
    run_trial(vulkan, &got, NULL);
    run_trial(cpu, &right, NULL);
    check_canvas(&got.out[0], &right.out[0], NULL);
    trial_free(&got);
    trial_free(&right);
    halo_program_free(vulkan);
    halo_program_free(cpu);
    halo_device_close(device);
}

static void test_cache(void **state)
{
    (void)state;
    char base[] = "halo-cache-XXXXXX", folder[64], path[300];
    halo_message error;
    size_t n;
    assert_non_null(mkdtemp(base));
    snprintf(folder, sizeof folder, "%s/deep/halo", base);
    use_cache(folder);
    assert_int_equal(files_in(folder, path, sizeof path), 1);
    uint8_t *whole = halo_read_file(path, &n, &error);
    assert_non_null(whole);
    use_cache(folder);                                       /* read back */
    static const char garbage[] = "HALOVK1 is how it begins, and then comes something else, longer than the head of a cache";
    for (int kind = 0; kind < 4; kind++) {                   /* cut, changed, another's, nothing */
        uint8_t *changed = malloc(n);
        memcpy(changed, whole, n);
        changed[n - 1] ^= 1;
        const void *bytes = kind == 2 ? (const void *)garbage : changed;
        size_t n_changed = kind == 0 ? n - 1 : kind == 1 ? n : kind == 2 ? sizeof garbage : 0;
        assert_int_equal(halo_write_file(path, bytes, n_changed, &error), HALO_OK);
        free(changed);
        use_cache(folder);
        size_t again_n;
        uint8_t *again = halo_read_file(path, &again_n, &error);
        assert_non_null(again);
        assert_true(again_n == n && memcmp(again, whole, 8) == 0);      /* whole once more */
        halo_free(again);
    }
    halo_free(whole);
    unlink(path);
    rmdir(folder);
    *strrchr(folder, '/') = '\0';
    rmdir(folder);
    assert_int_equal(rmdir(base), 0);
    use_cache("/dev/null/halo");                              /* a folder that can't be made */
}

int main(void)
{
    halo_message error;
    halo_devices *devices = halo_devices_new(&error);
    if (halo_devices_count(devices) == 0) {
        fprintf(stderr, "*** no Vulkan device: the tests of HALO_ENGINE_VULKAN are SKIPPED (%s)\n",
                devices ? "none listed" : error.text);
        halo_devices_free(devices);
        return 77;
    }
    halo_devices_free(devices);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices), cmocka_unit_test(test_no_device_given), cmocka_unit_test(test_strides_and_sizes),
        cmocka_unit_test(test_parts), cmocka_unit_test(test_bands),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_several_under_way),
        cmocka_unit_test(test_cancelling), cmocka_unit_test(test_messages), cmocka_unit_test(test_cache)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
