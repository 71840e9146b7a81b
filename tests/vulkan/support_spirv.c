/* SPDX-License-Identifier: MIT */
#include "support_spirv.h"

#define kDefaultMaxIdBound support_max_id_bound      /* the header defines it, and show.c of the backend includes it too */
#include <spirv-tools/libspirv.h>

const char *spirv_text(arena *memory, const uint32_t *words, uint32_t n_words)
{
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
    spv_text text = NULL;
    spv_diagnostic problem = NULL;
    spv_result_t result = spvBinaryToText(context, words, n_words, SPV_BINARY_TO_TEXT_OPTION_NO_HEADER, &text, &problem);
    const char *copy = result == SPV_SUCCESS ? arena_string(memory, text->str, text->length) : "(not even words)";
    spvTextDestroy(text);
    spvDiagnosticDestroy(problem);
    spvContextDestroy(context);
    return copy;
}

const char *spirv_problem(arena *memory, const uint32_t *words, uint32_t n_words)
{
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
    spv_diagnostic problem = NULL;
    const char *why = NULL;
    if (spvValidateBinary(context, words, n_words, &problem) != SPV_SUCCESS)
        why = arena_printf(memory, "%s\n%s", problem ? problem->error : "invalid", spirv_text(memory, words, n_words));
    spvDiagnosticDestroy(problem);
    spvContextDestroy(context);
    return why;
}

const char *spirv_finish_valid(arena *memory, spirv *m)
{
    uint32_t n_words;
    const uint32_t *words = spirv_finish(m, &n_words);
    const char *why = spirv_problem(memory, words, n_words);
    if (why) fail_msg("%s", why);
    return spirv_text(memory, words, n_words);
}
