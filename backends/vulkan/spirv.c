/* SPDX-License-Identifier: MIT
 * The module as a whole: sections of words, ids, names, and putting the sections together. */
#include "backends/vulkan/spirv_internal.h"

#include <assert.h>
#include <string.h>

enum { SPIRV_VERSION = 0x00010300, GENERATOR = 0, MOST_OPERANDS = 65534 };

/* ---- words ----------------------------------------------------------------------------------------- */

static void put_words(spirv *m, spv_words *section, uint32_t n, const uint32_t *words)
{
    if (n == 0) return;
    list_grow(m->memory, section, sizeof *words, section->count + n);
    memcpy(section->items + section->count, words, n * sizeof *words);
    section->count += n;
}

static void put_word(spirv *m, spv_words *section, uint32_t word)
{
    put_words(m, section, 1, &word);
}

static uint32_t first_word(SpvOp op, uint32_t n_words)
{
    assert(n_words <= MOST_OPERANDS);
    return n_words << SpvWordCountShift | (uint32_t)op;
}

void spirv_put(spirv *m, spv_words *section, SpvOp op, int n, const uint32_t *operands)
{
    put_word(m, section, first_word(op, 1 + (uint32_t)n));
    put_words(m, section, (uint32_t)n, operands);
}

spv_id spirv_put_result(spirv *m, spv_words *section, SpvOp op, spv_id type, int n, const uint32_t *operands)
{
    spv_id id = spirv_new_id(m, type);
    uint32_t start[] = { first_word(op, 3 + (uint32_t)n), type, id };
    put_words(m, section, 3, start);
    put_words(m, section, (uint32_t)n, operands);
    return id;
}

/* Strings are bytes, low ones first, with at least one NUL. */
void spirv_put_string(spirv *m, spv_words *section, SpvOp op, int n, const uint32_t *operands, const char *string,
                      int n_after, const uint32_t *after)
{
    uint32_t length = (uint32_t)strlen(string), n_words = length / 4 + 1;
    put_word(m, section, first_word(op, 1 + (uint32_t)n + n_words + (uint32_t)n_after));
    put_words(m, section, (uint32_t)n, operands);
    for (uint32_t word = 0; word < n_words; word++) {
        uint32_t packed = 0;
        for (uint32_t k = 0; k < 4 && word * 4 + k < length; k++) packed |= (uint32_t)(unsigned char)string[word * 4 + k] << 8 * k;
        put_word(m, section, packed);
    }
    put_words(m, section, (uint32_t)n_after, after);
}

spv_id spirv_new_id(spirv *m, spv_id type)
{
    spv_about about = { .type = type };
    LIST_PUSH(m->memory, m->ids, about);
    return m->ids.count - 1;
}

spv_id spirv_type_of(const spirv *m, spv_id value)
{
    return m->ids.items[value].type;
}

void spirv_decorate(spirv *m, spv_id id, SpvDecoration decoration, int n, const uint32_t *operands)
{
    uint32_t start[] = { first_word(SpvOpDecorate, 3 + (uint32_t)n), id, (uint32_t)decoration };
    put_words(m, &m->decorations, 3, start);
    put_words(m, &m->decorations, (uint32_t)n, operands);
}

/* ---- what the module says of itself -------------------------------------------------------------------- */

void spirv_name(spirv *m, spv_id id, const char *format, ...)
{
    if (!m->debug) return;
    va_list args;
    va_start(args, format);
    const char *name = arena_vprintf(m->memory, format, args);
    va_end(args);
    spirv_put_string(m, &m->names, SpvOpName, 1, &id, name, 0, NULL);
}

static spv_id file_id(spirv *m, const char *file)
{
    for (uint32_t k = 0; k < m->files.count; k++) if (m->files.items[k].name == file) return m->files.items[k].id;
    spv_id id = spirv_new_id(m, 0);
    LIST_PUSH(m->memory, m->files, ((spv_file){ file, id }));
    spirv_put_string(m, &m->strings, SpvOpString, 1, &id, file, 0, NULL);
    return id;
}

void spirv_repeat_line(spirv *m)
{
    if (m->line_file) spirv_do(m, SpvOpLine, 3, (uint32_t[]){ m->line_file, m->line[0], m->line[1] });
}

void spirv_line(spirv *m, const char *file, uint32_t line, uint32_t column)
{
    if (!m->debug) return;
    bool ends = m->line_file && line == 0;
    m->line_file = line ? file_id(m, file) : 0;
    m->line[0] = line;
    m->line[1] = column;
    if (ends) spirv_do(m, SpvOpNoLine, 0, NULL);
    spirv_repeat_line(m);
}

void spirv_capability(spirv *m, SpvCapability capability)
{
    for (uint32_t k = 0; k < m->capabilities.count; k += 2)
        if (m->capabilities.items[k + 1] == (uint32_t)capability) return;
    uint32_t operand = (uint32_t)capability;
    spirv_put(m, &m->capabilities, SpvOpCapability, 1, &operand);
}

void spirv_extension(spirv *m, const char *name)
{
    for (uint32_t k = 0; k < m->extension_names.count; k++)
        if (strcmp(m->extension_names.items[k], name) == 0) return;
    LIST_PUSH(m->memory, m->extension_names, name);
    spirv_put_string(m, &m->extensions, SpvOpExtension, 0, NULL, name, 0, NULL);
}

spirv *spirv_new(arena *memory, bool debug)
{
    spirv *m = ARENA_NEW(memory, spirv);
    m->memory = memory;
    m->debug = debug;
    spirv_new_id(m, 0);                                      /* id 0 is none */
    spirv_capability(m, SpvCapabilityShader);
    m->main = spirv_new_id(m, spirv_type_void(m));
    m->main_label = spirv_new_id(m, 0);
    spirv_name(m, m->main, "main");
    return m;
}

/* ---- putting it together ------------------------------------------------------------------------------- */

static void put_section(spirv *m, spv_words *module, const spv_words *section)
{
    put_words(m, module, section->count, section->items);
}

/* The interface of SPIR-V 1.3 lists inputs and outputs alone, not buffers. */
static void put_entry_point(spirv *m, spv_words *module)
{
    uint32_t start[] = { SpvExecutionModelGLCompute, m->main };
    spv_words inputs = { 0 };
    for (uint32_t k = 0; k < m->inputs.count; k++) put_word(m, &inputs, m->inputs.items[k].variable);
    spirv_put_string(m, module, SpvOpEntryPoint, 2, start, "main", (int)inputs.count, inputs.items);
    /* A constant decorated WorkgroupSize comes before this, but drivers and tools want both. */
    uint32_t size[] = { m->main, SpvExecutionModeLocalSize, m->workgroup_size ? m->workgroup_otherwise : 1, 1, 1 };
    spirv_put(m, module, SpvOpExecutionMode, SPIRV_COUNT(size), size);
}

static void put_preamble(spirv *m, spv_words *module)
{
    put_section(m, module, &m->capabilities);
    put_section(m, module, &m->extensions);
    if (m->glsl) spirv_put_string(m, module, SpvOpExtInstImport, 1, &m->glsl, "GLSL.std.450", 0, NULL);
    uint32_t model[] = { SpvAddressingModelLogical, SpvMemoryModelGLSL450 };
    spirv_put(m, module, SpvOpMemoryModel, 2, model);
    put_entry_point(m, module);
}

static void put_function(spirv *m, spv_words *module, spv_id function_type)
{
    uint32_t start[] = { spirv_type_void(m), m->main, SpvFunctionControlMaskNone, function_type };
    spirv_put(m, module, SpvOpFunction, 4, start);
    spirv_put(m, module, SpvOpLabel, 1, &m->main_label);
    put_section(m, module, &m->first_block);
    put_section(m, module, &m->loads);
    put_section(m, module, &m->body);
    spirv_put(m, module, SpvOpReturn, 0, NULL);
    spirv_put(m, module, SpvOpFunctionEnd, 0, NULL);
}

const uint32_t *spirv_finish(spirv *m, uint32_t *n_words)
{
    spirv_finish_push(m);
    spirv_finish_buffers(m);
    spv_id void_type = spirv_type_void(m), function_type = spirv_interned(m, SpvOpTypeFunction, 0, 1, &void_type);
    spv_words module = { 0 };
    uint32_t header[] = { SpvMagicNumber, SPIRV_VERSION, GENERATOR, m->ids.count, 0 };
    put_words(m, &module, SPIRV_COUNT(header), header);
    put_preamble(m, &module);
    put_section(m, &module, &m->strings);
    put_section(m, &module, &m->names);
    put_section(m, &module, &m->decorations);
    put_section(m, &module, &m->globals);
    put_function(m, &module, function_type);
    *n_words = module.count;
    return module.items;
}
