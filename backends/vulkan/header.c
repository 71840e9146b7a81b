/* SPDX-License-Identifier: MIT
 * The C header of a generated Vulkan library: C99 and C++, includes nothing but Vulkan's own, and can stand beside other generated
 * headers, the one for the processor of the same pipe too. All that a host has to know stands in it. */
#include "backends/common/header_text.h"
#include "backends/vulkan/images.h"
#include "backends/vulkan/vulkan.h"

/* Word for word what runtime/include/halo/abi.h and vulkan_abi.h have between their guards (a test compares them). */
static const char ABI_TEXT[] =
#include "halo_abi_text.h"
;
static const char VULKAN_ABI_TEXT[] =
#include "halo_vulkan_abi_text.h"
;

static const char *const HOW_TO[] = {
    "/* How a host uses these functions, for a pipe called NAME.",
    " *",
    " * Device. Vulkan 1.1 and a queue family with compute. Tell NAME_vulkan_create what was enabled and the device's limits;",
    " * it takes the host's function loader, so nothing here links Vulkan, and owns a descriptor set layout, a pipeline layout",
    " * and a pipeline per kernel, until NAME_vulkan_destroy: not before all command buffers that have its commands are done",
    " * with. The device, and the functions of an allocator, have to outlive it; the rest of halo_vulkan_device is copied. The",
    " * pipeline cache may be null.",
    " *",
    " * Recording. NAME_vulkan_record writes commands into a command buffer that is being recorded, outside of a render pass.",
    " * It never submits, waits, maps, or takes device memory; host memory only while the call lasts, from the allocator if",
    " * there is one. It fails before it has recorded anything: all is checked first, descriptor sets are allocated first.",
    " * Afterwards these are as the last kernel had them: the bound compute pipeline, compute descriptor set 0, push constants",
    " * of the compute stage. Whatever images and params point at may go when it returns; buffers, views, scratch and the",
    " * pool's sets have to stay until the commands are done. Record as often as you like into one command buffer.",
    " *",
    " * Resources. NAME_vulkan_needs says how large a scratch buffer one recording takes, with which usage and alignment of",
    " * its offset (a buffer without anything else's contents: they are lost), and how many descriptor sets of which kinds it",
    " * takes from the pool. Sets are never freed one by one: reset the pool when the commands are done. Two recordings may",
    " * share scratch only when a barrier as below stands between them.",
    " *",
    " * Barriers stand between the kernels of a recording where they need each other, and nowhere else. The host's business",
    " * are those before (what was written last to inputs and scratch, what read the outputs last) and after: `needs` has the",
    " * stages and accesses of first use and last write. First use of inputs: SHADER_READ, of outputs: SHADER_WRITE, in",
    " * COMPUTE_SHADER; of scratch also TRANSFER and TRANSFER_WRITE, when first_stages has TRANSFER. A VkMemoryBarrier with",
    " * those masks does for all of them.",
    " *",
    " * Buffers of inputs and outputs: usage STORAGE_BUFFER. Offsets are as fine as components are; the library binds from the",
    " * aligned place before, of `part` no more than it takes. An output overlaps no input and no other output (their pixels,",
    " * not their bytes from first to last: parts side by side of one picture are apart). Outside of an output's pixels",
    " * nothing is written; see padded_rows for the one exception, on devices without 8 and 16-bit storage, which store by",
    " * 32-bit words: there rows of u8, i8, bool, u16, i16 and f16 outputs begin at multiples of 4 bytes (and parts of them",
    " * too), pixels lie side by side, and the last word that is read of an input lies inside its buffer's bytes.",
    " *",
    " * Images instead, where the list of a pipe's images says so, with a format: usage STORAGE or SAMPLED (without a",
    " * sampler), in the layouts that halo_vulkan_image names; changing those is the host's business, in its barriers. u8 and",
    " * u16 are fractions of 255 and 65535 there, to the bit. Of three components the fourth isn't read, and 1 is written to",
    " * it.",
    " *",
    " * Long runs. NAME_vulkan_record_part takes a part of the outputs (NULL: all), and a slice of the workgroups that `needs`",
    " * counts for that part (NULL: all). Slices are submitted in order, on one queue, with the same images, params, part and",
    " * scratch; each brings the barrier that it needs against the ones before, and takes at most the sets of a whole",
    " * recording. So a host stays below a watchdog's limit, shows progress, and gives up between two of them.",
    " *",
    " * Threads. All functions may be called from any number of threads at a time, on one NAME_vulkan too; each with a command",
    " * buffer and a pool of its own, as Vulkan has it. Only destroy wants it alone.",
    " *",
    " * Errors. HALO_OK or a code: NAME_vulkan_error is its text, NAME_vulkan_missing the feature or limit behind",
    " * HALO_VULKAN_ERROR_FEATURE, NULL when there is everything. */",
};

typedef struct image_words { const vulkan_options *options; arena *memory; } image_words;

static const char *layout_name(const void *user, uint32_t position, type t)
{
    const image_words *w = user;
    int32_t layout = w->options->layouts ? w->options->layouts[position] : VPLAN_LAYOUT_interleaved;
    if (layout == VPLAN_LAYOUT_image || layout == VPLAN_LAYOUT_sampled)
        return arena_printf(w->memory, "a %s image, %s", layout == VPLAN_LAYOUT_image ? "storage" : "sampled",
                            vulkan_format_of(t)->name);
    if (t.lanes == 1 || layout == VPLAN_LAYOUT_interleaved) return "";
    return layout == VPLAN_LAYOUT_planar ? "components in planes: the dimension after the last" : "blue first";
}

static void head(text *out, const tensor_pipe *p, const vulkan_options *options)
{
    header_introduction(out, p, layout_name, &(image_words){ options, p->memory });
    text_printf(out, " */\ntypedef struct %s_vulkan %s_vulkan;\n\n", p->name, p->name);
}

static void functions(text *out, const tensor_pipe *p)
{
    const char *name = p->name;
    text all = { 0 };
    text_printf(out, "int %s_vulkan_create(VkDevice device, PFN_vkGetDeviceProcAddr loader, const halo_vulkan_device *about,\n"
                     "    VkPipelineCache cache, %s_vulkan **made);\nvoid %s_vulkan_destroy(%s_vulkan *made);      /* NULL is fine */\n",
                name, name, name, name);
    text_printf(out, "const char *%s_vulkan_missing(const halo_vulkan_device *about);\n", name);
    text_string(out, "/* Fills the extents that the outputs must have; of the inputs only extents are looked at. */\n");
    text_printf(out, "int %s_vulkan_size(", name);
    header_arguments(&all, p, "const halo_vulkan_image *", "halo_vulkan_image *");
    text_add(out, all.bytes + 2, all.count - 2);
    text_free(&all);
    text_string(out, ");\n/* Of the inputs only extents are looked at; `part` NULL: all. */\n");
    text_printf(out, "int %s_vulkan_needs(const %s_vulkan *made", name, name);
    header_arguments(out, p, "const halo_vulkan_image *", NULL);
    text_string(out, ",\n    const halo_part *part, halo_vulkan_needs *needs);\n");
    if (p->n_inputs) {
        text_printf(out, "/* Which part of each input a part of the outputs takes; extent 0: none. */\n"
                         "int %s_vulkan_inputs(const %s_vulkan *made", name, name);
        header_arguments(out, p, "const halo_vulkan_image *", NULL);
        text_string(out, ",\n    const halo_part *part");
        header_inputs(out, p, ", halo_part *%s_part");
        text_string(out, ");\n");
    }
    text_printf(out, "int %s_vulkan_record(const %s_vulkan *made, VkCommandBuffer commands", name, name);
    header_arguments(out, p, "const halo_vulkan_image *", "const halo_vulkan_image *");
    text_string(out, ",\n    const halo_vulkan_resources *resources);\n");
    text_printf(out, "int %s_vulkan_record_part(const %s_vulkan *made, VkCommandBuffer commands", name, name);
    header_arguments(out, p, "const halo_vulkan_image *", "const halo_vulkan_image *");
    text_printf(out, ",\n    const halo_part *part, const halo_vulkan_slice *slice, const halo_vulkan_resources *resources);\n"
                     "const char *%s_vulkan_error(int code);\n\n", name);
}

void vulkan_header(tensor_pipe **pipes, uint32_t n_pipes, const vulkan_options *options, const char *file_name, text *out)
{
    text_string(out, "/* Made by halo. */\n#ifndef ");
    header_guard(out, file_name);
    text_string(out, "\n#define ");
    header_guard(out, file_name);
    text_string(out, "\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <vulkan/vulkan_core.h>\n");
    text_string(out, ABI_TEXT);
    text_string(out, "\n");
    text_string(out, VULKAN_ABI_TEXT);
    text_string(out, "\n");
    for (size_t k = 0; k < sizeof HOW_TO / sizeof *HOW_TO; k++) text_printf(out, "%s\n", HOW_TO[k]);
    text_string(out, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (uint32_t k = 0; k < n_pipes; k++) {
        head(out, pipes[k], options);
        functions(out, pipes[k]);
    }
    text_string(out, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
