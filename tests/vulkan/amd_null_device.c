/* SPDX-License-Identifier: MIT
 * What a real GPU's compiler makes of the kernels: all pipes of some scripts, in both modules, compiled by Mesa's AMD driver on its
 * null device, which compiles as for a card of the family that RADV_FORCE_FAMILY names, and runs nothing. Registers that are spilled
 * into memory, or arrays that live there, are failures; so is a module that SPIRV-Tools finds invalid.
 *
 *     vulkan_amd_null_device DRIVER FAMILY [--verbose] [--spills] [--scalars N] [--force-border] [--no-fuse] SCRIPT...
 *
 * The pipelines are made by Halo's own driver for the limits of that device. What it does is watched by standing between it and
 * Vulkan. --spills: all scripts must spill, which shows that it would be seen. --scalars: so many scalar registers may be spilled;
 * they go to lanes of vector registers, not to memory, and older families have few of them. --force-border, --no-fuse: to compare. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/program.h"
#include "tests/vulkan/support_spirv.h"

enum { MOST_STATISTICS = 32 };

/* Of one kernel, in the words of the driver's statistics (VK_KHR_pipeline_executable_properties). */
#define STATISTICS(X)                                                                                       \
    X(vgprs, "VGPRs") X(sgprs, "SGPRs") X(spilled_vgprs, "Spilled VGPRs") X(spilled_sgprs, "Spilled SGPRs") \
    X(scratch, "Scratch size") X(lds, "LDS size") X(waves, "Subgroups per SIMD") X(code, "Code size")                     \
    X(cycles, "Inverse Throughput")

typedef struct statistics {
#define X(name, text) uint64_t name;
    STATISTICS(X)
#undef X
    double ms;                                 /* what making the pipeline took */
} statistics;

typedef struct gate {
    bool             verbose, wants_spills;
    uint64_t         most_scalars;
    halo_options     options;
    VkInstance       instance;
    VkPhysicalDevice physical;
    VkDevice         device;
    halo_vulkan_device about;
    PFN_vkGetPipelineExecutableStatisticsKHR get_statistics;
    PFN_vkCreateComputePipelines create;
    /* The module at hand. */
    const char      *script, *pipe, *module;
    const vulkan_module *code;
    const haloi_vulkan  *made;
    int              kernel;
    statistics      *kernels;
    int              n_failures, n_modules;
} gate;

/* ---- between Halo's driver and Vulkan ------------------------------------------------------------------------- */

/* Its functions have no place for a context. */
static gate *watching;

static void read_statistics(const gate *g, VkPipeline pipeline, statistics *out)
{
    VkPipelineExecutableInfoKHR which = { .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = pipeline };
    VkPipelineExecutableStatisticKHR all[MOST_STATISTICS];
    uint32_t n = MOST_STATISTICS;
    for (uint32_t k = 0; k < n; k++) all[k] = (VkPipelineExecutableStatisticKHR){ .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR };
    g->get_statistics(g->device, &which, &n, all);
#define X(field, text)                                                                              \
    out->field = UINT64_MAX;                                                                        \
    for (uint32_t k = 0; k < n; k++) if (strcasecmp(all[k].name, text) == 0) out->field = all[k].value.u64;
    STATISTICS(X)
#undef X
}

static VKAPI_ATTR VkResult VKAPI_CALL create_and_look(VkDevice device, VkPipelineCache cache, uint32_t n, const VkComputePipelineCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator, VkPipeline *pipeline)
{
    VkComputePipelineCreateInfo with = *info;
    with.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
    double start = vulkan_now_ms();
    VkResult result = n == 1 ? watching->create(device, cache, 1, &with, allocator, pipeline) : VK_ERROR_UNKNOWN;
    statistics *made = &watching->kernels[watching->kernel];
    made->ms = vulkan_now_ms() - start;
    if (result != VK_SUCCESS) return result;
    read_statistics(watching, *pipeline, made);
    watching->kernel++;
    return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_function(VkDevice device, const char *name)
{
    return strcmp(name, "vkCreateComputePipelines") == 0 ? (PFN_vkVoidFunction)create_and_look : vkGetDeviceProcAddr(device, name);
}

/* ---- the device ----------------------------------------------------------------------------------------------------- */

static bool open_device(gate *g)
{
    VkApplicationInfo application = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1 };
    VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application };
    uint32_t n = 1;
    if (vkCreateInstance(&info, NULL, &g->instance) != VK_SUCCESS || vkEnumeratePhysicalDevices(g->instance, &n, &g->physical) < 0 || n == 0) return false;
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, .pipelineExecutableInfo = VK_TRUE };
    VkPhysicalDevice8BitStorageFeatures bytes = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES, .pNext = &statistics,
                                                  .storageBuffer8BitAccess = VK_TRUE };
    VkPhysicalDevice16BitStorageFeatures halves = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, .pNext = &bytes,
                                                    .storageBuffer16BitAccess = VK_TRUE };
    VkPhysicalDeviceFeatures features = { .shaderInt64 = VK_TRUE };
    float priority = 1;
    VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority };
    const char *extensions[] = { VK_KHR_8BIT_STORAGE_EXTENSION_NAME, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME };
    VkDeviceCreateInfo device = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &halves, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue,
                                  .enabledExtensionCount = 2, .ppEnabledExtensionNames = extensions, .pEnabledFeatures = &features };
    if (vkCreateDevice(g->physical, &device, NULL, &g->device) != VK_SUCCESS) return false;
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(g->physical, &properties);
    g->about = (halo_vulkan_device){ .limits = properties.limits, .shader_int64 = VK_TRUE };
    g->get_statistics = (PFN_vkGetPipelineExecutableStatisticsKHR)vkGetDeviceProcAddr(g->device, "vkGetPipelineExecutableStatisticsKHR");
    g->create = (PFN_vkCreateComputePipelines)vkGetDeviceProcAddr(g->device, "vkCreateComputePipelines");
    printf("%s\n", properties.deviceName);
    return g->get_statistics && g->create;
}

static void close_device(gate *g)
{
    if (g->device) vkDestroyDevice(g->device, NULL);
    if (g->instance) vkDestroyInstance(g->instance, NULL);
}

/* ---- kernels ---------------------------------------------------------------------------------------------------------- */

static void found(gate *g, int kernel, const char *what)
{
    printf("FAILED %s: pipe %s, kernel %d, %s: %s\n", g->script, g->pipe, kernel, g->module, what);
    g->n_failures++;
}

static void print_header(void)
{
    printf("%-24s %-13s %4s %8s %6s %6s %6s %6s %6s %6s %8s %6s\n", "pipe.kernel", "module", "inv.", "tile", "words", "VGPRs", "SGPRs", "LDS", "waves", "bytes",
           "cycles", "ms");
}

static void judge_kernel(gate *g, int kernel, uint32_t n_words)
{
    const statistics *s = &g->kernels[kernel];
    int32_t shape[4];
    char name[64], tile[32], what[160];
    haloi_vulkan_shape(g->made, kernel, shape);
    snprintf(name, sizeof name, "%s.%d", g->pipe, kernel);
    snprintf(tile, sizeof tile, "%dx%d", shape[0], shape[1]);
    if (g->verbose)
        printf("%-24s %-13s %4d %8s %6u %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %8" PRIu64 " %6.1f\n", name, g->module, shape[2], tile, n_words,
               s->vgprs, s->sgprs, s->lds, s->waves, s->code, s->cycles, s->ms);
    bool spills = s->spilled_vgprs || s->spilled_sgprs > g->most_scalars || s->scratch;
    snprintf(what, sizeof what, "%" PRIu64 " vector and %" PRIu64 " scalar registers are spilled, %" PRIu64
             " bytes of memory a wave (tile %s, %d invocations, %" PRIu64 " VGPRs)", s->spilled_vgprs, s->spilled_sgprs, s->scratch, tile, shape[2], s->vgprs);
    if (spills != g->wants_spills) found(g, kernel, spills ? what : "spills nothing, but has to");
}

static void check_valid(gate *g, arena *memory, int kernel, const uint32_t *words, uint32_t n_words)
{
    const char *why = spirv_problem(memory, words, n_words);
    if (why) found(g, kernel, why);
}

static void check_module(gate *g, halo_program *program, bool by_words)
{
    const vplan_header *h = (const vplan_header *)g->code->code.plan;
    const vplan_kernel *kernels = (const vplan_kernel *)((const vplan_memory *)(h + 1) + h->n_memories);
    haloi_vulkan *made = NULL;
    static const char *const names[2][2] = { { "strict", "strict, words" }, { "no-fma", "no-fma, words" } };
    g->module = names[g->options.no_fma][by_words];
    g->kernels = ARENA_ARRAY(program->memory, statistics, h->n_kernels);
    g->kernel = 0;
    g->about.storage_8bit = g->about.storage_16bit = !by_words;
    int code = haloi_vulkan_create(&g->code->code, g->device, find_function, &g->about, VK_NULL_HANDLE, &made);
    if (code != HALO_OK) {
        found(g, g->kernel, haloi_vulkan_error(code));
        return;
    }
    g->made = made;
    for (int k = 0; k < h->n_kernels; k++) {
        const vplan_kernel *own = &kernels[k];
        const uint32_t *words = g->code->code.spirv + (by_words ? own->first_word_code : own->first_code);
        uint32_t n_words = (uint32_t)(by_words ? own->n_word_code_words : own->n_code_words);
        if (by_words && own->first_word_code == own->first_code) continue;       /* nothing narrow: seen before */
        check_valid(g, program->memory, k, words, n_words);
        judge_kernel(g, k, n_words);
        g->n_modules++;
    }
    haloi_vulkan_destroy(made);
}

/* The way of `halo run --on vulkan`. */
static void check_pipes(halo_program *program, void *user)
{
    gate *g = user;
    for (uint32_t k = 0; k < program->n_pipes; k++) {
        vulkan_options options;
        tensor_pipe *ir = program_lower(program, k);
        if (!ir || !program_run_passes(program, &ir, NULL, "native")) return;
        if (!program_vulkan_options(program, ir, &options)) return;
        g->pipe = ir->name;
        g->code = vulkan_compile(ir, &options, program->memory, &program->messages);
        if (!g->code) return;
        check_module(g, program, false);
        check_module(g, program, true);
    }
}

static void check_script(gate *g, const char *path, int no_fma)
{
    g->options.no_fma = no_fma;
    halo_program *program = halo_compile_file(path, &g->options);
    g->script = path;
    if (!program || !program_guard(program, check_pipes, g) || !halo_program_ok(program)) {
        char *why = program ? halo_program_messages(program) : NULL;
        printf("FAILED %s: %s\n", path, why ? why : "out of memory");
        halo_free(why);
        g->n_failures++;
    }
    halo_program_free(program);
}

int main(int n, char **words)
{
    gate g = { .options = { .engine = HALO_ENGINE_NONE, .for_vulkan = 1 } };
    int at = 3;
    if (n < 4) return fprintf(stderr, "vulkan_amd_null_device DRIVER FAMILY [--verbose] [--spills] [--scalars N] [--force-border] [--no-fuse] SCRIPT...\n"), 2;
    setenv("VK_ICD_FILENAMES", words[1], 1);
    setenv("RADV_FORCE_FAMILY", words[2], 1);
    setenv("MESA_SHADER_CACHE_DISABLE", "1", 1);
    for (; at < n && strncmp(words[at], "--", 2) == 0; at++) {
        g.verbose |= strcmp(words[at], "--verbose") == 0;
        g.wants_spills |= strcmp(words[at], "--spills") == 0;
        g.options.force_border |= strcmp(words[at], "--force-border") == 0;
        g.options.no_fuse |= strcmp(words[at], "--no-fuse") == 0;
        if (strcmp(words[at], "--scalars") == 0 && at + 1 < n) g.most_scalars = strtoull(words[++at], NULL, 10);
    }
    watching = &g;
    if (!open_device(&g)) {
        printf("FAILED: %s doesn't open a null device %s\n", words[1], words[2]);
        return 1;
    }
    if (g.verbose) print_header();
    for (; at < n; at++) {
        check_script(&g, words[at], 0);
        check_script(&g, words[at], 1);
    }
    close_device(&g);
    printf("%d modules, %d failures\n", g.n_modules, g.n_failures);
    return g.n_failures > 0 || g.n_modules == 0;
}
