/* SPDX-License-Identifier: MIT
 * The driver: everything of a generated Vulkan library that is not a kernel. It makes pipelines for a device, checks a call, runs
 * the uniform program, and records dispatches into the host's command buffer. It never submits, waits, maps or takes device memory.
 *
 * It is compiled twice: into the compiler, and to assembly that stands in every generated object, so that an object depends on
 * nothing: all of Vulkan comes through the host's function loader. Hence no libc but malloc and free, and no statics. */
#define VK_NO_PROTOTYPES
#include "backends/common/float_mode.h"
#include "backends/vulkan/driver_create.h"
#include "backends/vulkan/driver_record.h"
#include "backends/vulkan/driver_regions.h"

/* ---- what lives between calls ------------------------------------------------------------------------------- */

const char *haloi_vulkan_missing(const haloi_vulkan_code *code, const halo_vulkan_device *about)
{
    vulkan_plan p;
    plan_open(code->plan, &p);
    return plan_missing(&p, about);
}

/* Handles that were never made are null, which Vulkan's destroying functions allow. */
void haloi_vulkan_destroy(haloi_vulkan *v)
{
    if (!v) return;
    const VkAllocationCallbacks *a = v->about.allocator;
    for (int k = 0; v->vk.DestroyPipeline && k < v->plan.header->n_kernels; k++) {
        v->vk.DestroyPipeline(v->device, v->kernels[k].pipeline, a);
        v->vk.DestroyPipelineLayout(v->device, v->kernels[k].layout, a);
        v->vk.DestroyDescriptorSetLayout(v->device, v->kernels[k].set_layout, a);
    }
    VkAllocationCallbacks callbacks = v->callbacks;       /* they live in what is given back */
    driver_give(a ? &callbacks : NULL, v);
}

int haloi_vulkan_create(const haloi_vulkan_code *code, VkDevice device, PFN_vkGetDeviceProcAddr loader,
                        const halo_vulkan_device *about, VkPipelineCache cache, haloi_vulkan **out)
{
    if (!out) return HALO_ERROR_NULL;
    *out = NULL;
    if (!device || !loader || !about) return HALO_ERROR_NULL;
    if (haloi_vulkan_missing(code, about)) return HALO_VULKAN_ERROR_FEATURE;
    vulkan_plan p;
    plan_open(code->plan, &p);
    haloi_vulkan *v = driver_take(about->allocator, sizeof *v + sizeof(device_kernel) * (size_t)p.header->n_kernels,
                                  VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
    if (!v) return HALO_ERROR_MEMORY;
    v->plan = p;
    v->code = code;
    v->device = device;
    v->about = *about;
    if (about->allocator) {
        v->callbacks = *about->allocator;
        v->about.allocator = &v->callbacks;
    }
    int result = load_functions(v, loader) ? make_kernels(v, cache) : HALO_VULKAN_ERROR_DEVICE;
    if (result == HALO_OK) *out = v;
    else haloi_vulkan_destroy(v);
    return result;
}

/* ---- one call -------------------------------------------------------------------------------------------- */

static void *cut(char **at, size_t bytes)
{
    void *here = *at;
    *at += (bytes + 15) / 16 * 16;
    return here;
}

static const VkAllocationCallbacks *allocator_of(const haloi_vulkan *v) { return v ? v->about.allocator : NULL; }

/* Memory for the arrays of a call, in one piece; NULL when there is none. */
static void *call_begin(call *c, const haloi_vulkan *v, const int32_t *words)
{
    plan_open(words, &c->plan);
    const vplan_header *h = c->plan.header;
    size_t n_memories = (size_t)h->n_memories, n_kernels = (size_t)h->n_kernels;
    size_t n_values = (size_t)h->n_instructions, n_dims = (size_t)h->n_dims;
    size_t bytes = 4 * n_dims + sizeof(value) * n_values + (sizeof(region) + 8) * n_memories + sizeof(region) * n_kernels + 5 * 16;
    void *all = driver_take(allocator_of(v), bytes, VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
    char *at = all;
    if (!all) return NULL;
    c->v = v;
    c->resources = NULL;
    c->outputs = NULL;
    c->dims = cut(&at, 4 * n_dims);
    c->values = cut(&at, sizeof(value) * n_values);
    c->regions = cut(&at, sizeof(region) * n_memories);
    c->rectangles = cut(&at, sizeof(region) * n_kernels);
    c->scratch = cut(&at, 8 * n_memories);
    return all;
}

/* 0, or -1 - the number of the parameter. */
static int32_t check_parameters(const call *c, const void *params)
{
    for (int k = 0; k < c->plan.header->n_params; k++) {
        const vplan_param *p = &c->plan.params[k];
        for (int lane = 0; p->has_range && lane < p->lanes; lane++)
            if (!value_in_range(p, value_of_parameter(p, params, lane))) return -1 - k;
    }
    return 0;
}

static int evaluate(call *c, const void *params, int32_t *failed)
{
    const vplan_header *h = c->plan.header;
    value_source from = { c->plan.params, params, c->dims };
    int32_t bad = check_parameters(c, params);
    if (bad) {
        if (failed) *failed = bad;
        return HALO_ERROR_PARAMETER;
    }
    uint32_t mode = enter_float_mode();
    for (int k = 0; k < h->n_instructions; k++) c->values[k] = value_of_instruction(&c->plan.instructions[k], &from, c->values);
    leave_float_mode(mode);
    for (int k = 0; k < h->n_checks; k++) {
        if (c->values[c->plan.checks[k].value].i) continue;
        if (failed) *failed = k;
        return c->plan.checks[k].is_parameter ? HALO_ERROR_PARAMETER : HALO_ERROR_SIZE;
    }
    return HALO_OK;
}

/* Sizes and parameters to values. */
static int call_setup(call *c, const haloi_vulkan_code *code, const halo_vulkan_image *const *inputs, const void *params,
                      int32_t *failed)
{
    const vplan_header *h = c->plan.header;
    for (int k = 0; k < h->n_inputs; k++) if (!inputs[k]) return HALO_ERROR_NULL;
    if (!params) params = code->defaults;
    if (h->n_params > 0 && !params) return HALO_ERROR_NULL;
    c->inputs = inputs;
    for (int k = 0; k < h->n_dims; k++) {
        c->dims[k] = inputs[c->plan.dims[2 * k]]->extent[c->plan.dims[2 * k + 1]];
        if (c->dims[k] < 0 || c->dims[k] > 1 << 28) return HALO_ERROR_SIZE;
    }
    return evaluate(c, params, failed);
}

/* ---- sizes and needs ---------------------------------------------------------------------------------------- */

static int size_outputs(const call *c, halo_vulkan_image *const *outputs)
{
    for (int k = 0; k < c->plan.header->n_memories; k++) {
        const vplan_memory *m = &c->plan.memories[k];
        region whole;
        if (m->role != VPLAN_ROLE_output) continue;
        if (!outputs[m->which]) return HALO_ERROR_NULL;
        region_whole(c, m, &whole);
        if (region_is_empty(&whole)) return HALO_ERROR_SIZE;
        for (int d = 0; d < 5; d++) outputs[m->which]->extent[d] = (int32_t)image_extent(c, m, d);
    }
    return HALO_OK;
}

int haloi_vulkan_size(const haloi_vulkan_code *code, const halo_vulkan_image *const *inputs, const void *params,
                      halo_vulkan_image *const *outputs, int32_t *failed)
{
    call c;
    void *memory = call_begin(&c, NULL, code->plan);
    if (!memory) return HALO_ERROR_MEMORY;
    int result = call_setup(&c, code, inputs, params, failed);
    if (result == HALO_OK) result = size_outputs(&c, outputs);
    driver_give(NULL, memory);
    return result;
}

/* -1: more than can be counted. */
static int64_t all_workgroups(const call *c)
{
    int64_t all = 0;
    for (int k = 0; k < c->plan.header->n_kernels; k++) {
        tile_grid g = grid_of(c, k);
        int64_t n = grid_workgroups(&g);
        if (n < 0 || all > INT64_MAX / 2 - n) return -1;
        all += n;
    }
    return all;
}

static void count_descriptors(const call *c, halo_vulkan_needs *needs)
{
    for (int k = 0; k < c->plan.header->n_kernels; k++) {
        const vplan_kernel *kernel = &c->plan.kernels[k];
        if (region_is_empty(&c->rectangles[k])) continue;
        needs->sets++;
        for (int j = 0; j < kernel->n_bindings; j++) {
            VkDescriptorType type = descriptor_type(&c->plan, c->plan.bindings[kernel->first_binding + j].memory);
            needs->storage_buffers += type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
            needs->storage_images += type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
            needs->sampled_images += type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
        }
    }
}

static void add_image_usage(const call *c, halo_vulkan_needs *needs)
{
    for (int k = 0; k < c->plan.header->n_memories; k++) {
        const vplan_memory *m = &c->plan.memories[k];
        VkImageUsageFlags *usage = m->role == VPLAN_ROLE_input ? &needs->input_image_usage : &needs->output_image_usage;
        if (m->layout == VPLAN_LAYOUT_image) *usage |= VK_IMAGE_USAGE_STORAGE_BIT;
        if (m->layout == VPLAN_LAYOUT_sampled) *usage |= VK_IMAGE_USAGE_SAMPLED_BIT;
    }
}

static int fill_needs(const call *c, halo_vulkan_needs *needs)
{
    int64_t workgroups = all_workgroups(c);
    if (workgroups < 0) return HALO_ERROR_SIZE;
    *needs = (halo_vulkan_needs){ .workgroups = (uint64_t)workgroups };
    needs->scratch_bytes = (VkDeviceSize)c->scratch_bytes;
    needs->scratch_alignment = (VkDeviceSize)scratch_alignment(c);
    needs->scratch_usage = needs->input_usage = needs->output_usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    needs->first_stages = needs->last_stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    needs->first_accesses = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    needs->last_accesses = VK_ACCESS_SHADER_WRITE_BIT;
    if (c->argument_words > 0) {
        needs->scratch_usage |= VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        needs->first_stages |= VK_PIPELINE_STAGE_TRANSFER_BIT;
        needs->first_accesses |= VK_ACCESS_TRANSFER_WRITE_BIT;
    }
    add_image_usage(c, needs);
    count_descriptors(c, needs);
    return HALO_OK;
}

int haloi_vulkan_needs(const haloi_vulkan *v, const halo_vulkan_image *const *inputs, const void *params, const halo_part *part,
                       halo_vulkan_needs *needs, int32_t *failed)
{
    call c;
    if (!v || !needs) return HALO_ERROR_NULL;
    void *memory = call_begin(&c, v, v->code->plan);
    if (!memory) return HALO_ERROR_MEMORY;
    int result = call_setup(&c, v->code, inputs, params, failed);
    if (result == HALO_OK) result = want_outputs(&c, part);
    if (result == HALO_OK) result = place_scratch(&c);
    if (result == HALO_OK) result = fill_needs(&c, needs);
    driver_give(allocator_of(v), memory);
    return result;
}

static void part_of_input(const call *c, int memory, halo_part *part)
{
    const vplan_memory *m = &c->plan.memories[memory];
    int is_empty = region_is_empty(&c->regions[memory]);
    for (int d = 0; d < 5; d++) {
        span32 s = c->regions[memory].axis[d];
        part->start[d] = is_empty || d >= m->rank ? 0 : s.lo;
        part->extent[d] = is_empty ? 0 : d >= m->rank ? 1 : (int32_t)span_count(s);
    }
}

int haloi_vulkan_inputs(const haloi_vulkan *v, const halo_vulkan_image *const *inputs, const void *params, const halo_part *part,
                        halo_part *const *parts, int32_t *failed)
{
    call c;
    if (!v) return HALO_ERROR_NULL;
    for (int k = 0; k < v->plan.header->n_inputs; k++) if (!parts[k]) return HALO_ERROR_NULL;
    void *memory = call_begin(&c, v, v->code->plan);
    if (!memory) return HALO_ERROR_MEMORY;
    int result = call_setup(&c, v->code, inputs, params, failed);
    if (result == HALO_OK) result = want_outputs(&c, part);
    for (int k = 0; k < c.plan.header->n_memories && result == HALO_OK; k++)
        if (c.plan.memories[k].role == VPLAN_ROLE_input) part_of_input(&c, k, parts[c.plan.memories[k].which]);
    driver_give(allocator_of(v), memory);
    return result;
}

/* ---- checks of a recording ------------------------------------------------------------------------------------ */

static int check_images(const call *c)
{
    const vplan_header *h = c->plan.header;
    for (int k = 0; k < h->n_outputs; k++) if (!c->outputs[k]) return HALO_ERROR_NULL;
    for (int k = 0; k < h->n_memories; k++) {
        const vplan_memory *m = &c->plan.memories[k];
        if (m->role == VPLAN_ROLE_scratch) continue;
        int code = check_image(c, m, &c->regions[k]);
        if (code == HALO_OK && stored_by_words(c, k) && !is_view(m)) code = check_words(c, m, &c->regions[k]);
        if (code) return code;
    }
    return check_overlaps(c);
}

static int check_scratch(const call *c)
{
    if (c->scratch_bytes == 0) return HALO_OK;
    VkDeviceSize alignment = (VkDeviceSize)scratch_alignment(c);
    if (!c->resources->scratch || c->resources->scratch_offset % alignment) return HALO_VULKAN_ERROR_SCRATCH;
    return check_scratch_apart(c);
}

static int check_kernels(const call *c)
{
    uint32_t most = c->v->about.most_loop_iterations;
    for (int k = 0; k < c->plan.header->n_kernels; k++) {
        const vplan_kernel *kernel = &c->plan.kernels[k];
        if (region_is_empty(&c->rectangles[k])) continue;
        if (most && loop_rounds(c, kernel, &c->v->kernels[k].shape) > most) return HALO_VULKAN_ERROR_LOOPS;
        for (int j = 0; j < kernel->n_bindings; j++) {
            int32_t memory = c->plan.bindings[kernel->first_binding + j].memory;
            bound b;
            if (memory >= 0 && is_view(&c->plan.memories[memory])) continue;
            int code = bind_memory(c, memory, c->v->kernels[k].shape.by_words, &b);
            if (code) return code;
        }
    }
    return HALO_OK;
}

static int check_call(call *c)
{
    int result = check_images(c);
    if (result == HALO_OK) result = check_scratch(c);
    if (result == HALO_OK) result = check_kernels(c);
    return result;
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

/* Memory of a recording: where every kernel's workgroups begin, sets, slots. */
static void *recorder_begin(recorder *r, const call *c)
{
    size_t n = (size_t)c->plan.header->n_kernels, n_slots = (size_t)(c->argument_words - c->plan.header->n_table_words);
    size_t bytes = 8 * (n + 1) + (sizeof *r->sets + sizeof *r->made + sizeof *r->layouts) * n + 4 * n_slots + 5 * 16;
    void *all = driver_take(allocator_of(c->v), bytes, VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
    char *at = all;
    if (!all) return NULL;
    r->c = c;
    r->begins = cut(&at, 8 * (n + 1));
    r->sets = cut(&at, sizeof *r->sets * n);
    r->made = cut(&at, sizeof *r->made * n);
    r->layouts = cut(&at, sizeof *r->layouts * n);
    r->slots = cut(&at, 4 * n_slots);
    for (size_t k = 0; k < n; k++) {
        tile_grid g = grid_of(c, (int)k);
        r->begins[k + 1] = r->begins[k] + grid_workgroups(&g);
    }
    return all;
}

/* In one call, before anything is recorded: when it fails, the command buffer is as it was. */
static int allocate_sets(recorder *r)
{
    const haloi_vulkan *v = r->c->v;
    uint32_t n = 0;
    int n_kernels = r->c->plan.header->n_kernels;
    for (int k = 0; k < n_kernels; k++) if (slice_has(r, k)) r->layouts[n++] = v->kernels[k].set_layout;
    if (n == 0) return HALO_OK;
    VkDescriptorSetAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                         .descriptorPool = r->c->resources->pool, .descriptorSetCount = n,
                                         .pSetLayouts = r->layouts };
    if (v->vk.AllocateDescriptorSets(v->device, &info, r->made) != VK_SUCCESS) return HALO_VULKAN_ERROR_DEVICE;
    n = 0;
    for (int k = 0; k < n_kernels; k++) {
        if (!slice_has(r, k)) continue;
        r->sets[k] = r->made[n++];
        write_set(r->c, k, r->sets[k]);
    }
    return HALO_OK;
}

static int record(call *c, VkCommandBuffer commands, const halo_vulkan_slice *slice)
{
    recorder r = { .commands = commands, .last = -1 };
    if (all_workgroups(c) < 0) return HALO_ERROR_SIZE;
    void *memory = recorder_begin(&r, c);
    if (!memory) return HALO_ERROR_MEMORY;
    int64_t all = r.begins[c->plan.header->n_kernels];
    r.first = slice ? (int64_t)(slice->first < (uint64_t)all ? slice->first : (uint64_t)all) : 0;
    r.end = slice && slice->count < (uint64_t)(all - r.first) ? r.first + (int64_t)slice->count : all;
    r.earlier = r.first > 0;
    int result = allocate_sets(&r);
    if (result == HALO_OK) {
        fill_slots(c, r.slots);
        if (r.first == 0 && r.end > 0) record_arguments(&r);
        record_kernels(&r);
    }
    driver_give(allocator_of(c->v), memory);
    return result;
}

int haloi_vulkan_record(const haloi_vulkan *v, VkCommandBuffer commands, const halo_vulkan_image *const *inputs, const void *params,
                        const halo_vulkan_image *const *outputs, const halo_part *part, const halo_vulkan_slice *slice,
                        const halo_vulkan_resources *resources, int32_t *failed)
{
    call c;
    if (!v || !commands || !resources) return HALO_ERROR_NULL;
    void *memory = call_begin(&c, v, v->code->plan);
    if (!memory) return HALO_ERROR_MEMORY;
    c.outputs = outputs;
    c.resources = resources;
    int result = call_setup(&c, v->code, inputs, params, failed);
    if (result == HALO_OK) result = want_outputs(&c, part);
    if (result == HALO_OK) result = place_scratch(&c);
    if (result == HALO_OK) result = check_call(&c);
    if (result == HALO_OK) result = record(&c, commands, slice);
    driver_give(allocator_of(v), memory);
    return result;
}

/* ---- the rest ------------------------------------------------------------------------------------------------------ */

void haloi_vulkan_shape(const haloi_vulkan *v, int32_t which, int32_t shape[4])
{
    const kernel_shape *s = &v->kernels[which].shape;
    shape[0] = s->tile[0];
    shape[1] = s->tile[1];
    shape[2] = s->invocations;
    shape[3] = s->shared_words;
}

const char *haloi_vulkan_error(int code)
{
    switch (code) {
    case HALO_OK:                    return "no error";
    case HALO_ERROR_NULL:            return "a required pointer or handle is null";
    case HALO_ERROR_SIZE:            return "an image's extents don't fit the pipe, each other, or the part asked for";
    case HALO_ERROR_STRIDE:          return "an offset or stride is no multiple of the component's size, or an output's pixels overlap";
    case HALO_ERROR_OVERLAP:         return "an output overlaps another image, or scratch";
    case HALO_ERROR_PARAMETER:       return "a parameter is outside its range";
    case HALO_ERROR_MEMORY:          return "an allocation failed";
    case HALO_VULKAN_ERROR_DEVICE:   return "a Vulkan function failed: out of memory, device lost, or descriptor pool exhausted";
    case HALO_VULKAN_ERROR_FEATURE:  return "the device lacks a feature or limit that the pipe needs";
    case HALO_VULKAN_ERROR_RANGE:    return "what is taken of an image is more than maxStorageBufferRange or 2^31 components";
    case HALO_VULKAN_ERROR_BUFFER:   return "an image doesn't lie inside its buffer's bytes";
    case HALO_VULKAN_ERROR_WORDS:    return "without 8 and 16-bit storage, an output's rows must begin and end at 32-bit words";
    case HALO_VULKAN_ERROR_LOOPS:    return "the parameters and sizes ask for more loop iterations than the driver runs";
    case HALO_VULKAN_ERROR_SCRATCH:  return "the scratch buffer is missing or its offset not aligned as asked";
    default:                         return "unknown error";
    }
}
