/* SPDX-License-Identifier: MIT
 * Types and constants. SPIR-V forbids two equal types that aren't aggregates, so they are looked up by their words; constants
 * by their bits, so that -0 and every NaN are themselves. What carries decorations is never shared. */
#include "backends/vulkan/spirv_internal.h"

#include <assert.h>
#include <string.h>

enum { FIRST_CAPACITY = 256, MOST_KEY_WORDS = 9 };      /* an image's type is the longest */

/* ---- equal words, equal id ------------------------------------------------------------------------------ */

static uint32_t hash_words(uint32_t hash, int n, const uint32_t *words)
{
    for (int k = 0; k < n; k++) {
        hash = (hash ^ words[k]) * 0x9e3779b1u;
        hash ^= hash >> 15;
    }
    return hash;
}

/* Where it is or would be. */
static spv_interned *find_slot(spirv *m, uint32_t hash, uint32_t n, const uint32_t *key)
{
    for (uint32_t at = hash;; at++) {
        spv_interned *slot = &m->interned[at & (m->interned_capacity - 1)];
        if (!slot->id) return slot;
        if (slot->hash == hash && slot->n == n && memcmp(m->keys.items + slot->first, key, n * sizeof *key) == 0) return slot;
    }
}

static void grow_interned(spirv *m)
{
    if (m->n_interned * 2 < m->interned_capacity) return;
    spv_interned *old = m->interned;
    uint32_t n_old = m->interned_capacity;
    m->interned_capacity = n_old ? n_old * 2 : FIRST_CAPACITY;
    m->interned = ARENA_ARRAY(m->memory, spv_interned, m->interned_capacity);
    for (uint32_t k = 0; k < n_old; k++)
        if (old[k].id) *find_slot(m, old[k].hash, old[k].n, m->keys.items + old[k].first) = old[k];
}

static spv_id put_global(spirv *m, SpvOp op, spv_id type, int n, const uint32_t *operands)
{
    if (type) return spirv_put_result(m, &m->globals, op, type, n, operands);
    spv_id id = spirv_new_id(m, 0);
    uint32_t words[MOST_KEY_WORDS] = { id };
    assert(n < MOST_KEY_WORDS);
    for (int k = 0; k < n; k++) words[1 + k] = operands[k];
    spirv_put(m, &m->globals, op, 1 + n, words);
    return id;
}

spv_id spirv_interned(spirv *m, SpvOp op, spv_id type, int n, const uint32_t *operands)
{
    uint32_t key[MOST_KEY_WORDS] = { (uint32_t)op, type }, n_key = 2 + (uint32_t)n;
    assert(n_key <= MOST_KEY_WORDS);
    for (int k = 0; k < n; k++) key[2 + k] = operands[k];
    grow_interned(m);
    uint32_t hash = hash_words(0, (int)n_key, key);
    spv_interned *slot = find_slot(m, hash, n_key, key);
    if (slot->id) return slot->id;
    *slot = (spv_interned){ hash, m->keys.count, n_key, put_global(m, op, type, n, operands) };
    m->n_interned++;
    for (uint32_t k = 0; k < n_key; k++) LIST_PUSH(m->memory, m->keys, key[k]);
    return slot->id;
}

/* ---- types ------------------------------------------------------------------------------------------------ */

spv_id spirv_type_void(spirv *m)
{
    return spirv_interned(m, SpvOpTypeVoid, 0, 0, NULL);
}

spv_id spirv_type_bool(spirv *m)
{
    return spirv_interned(m, SpvOpTypeBool, 0, 0, NULL);
}

spv_id spirv_type_u32(spirv *m)
{
    return spirv_interned(m, SpvOpTypeInt, 0, 2, (uint32_t[]){ 32, 0 });
}

spv_id spirv_type_u64(spirv *m)
{
    spirv_capability(m, SpvCapabilityInt64);
    return spirv_interned(m, SpvOpTypeInt, 0, 2, (uint32_t[]){ 64, 0 });
}

spv_id spirv_type_f32(spirv *m)
{
    return spirv_interned(m, SpvOpTypeFloat, 0, 1, (uint32_t[]){ 32 });
}

spv_id spirv_type_vector(spirv *m, spv_id element, int n)
{
    spv_id id = spirv_interned(m, SpvOpTypeVector, 0, 2, (uint32_t[]){ element, (uint32_t)n });
    m->ids.items[id].inside = element;
    return id;
}

spv_id spirv_type_pointer(spirv *m, SpvStorageClass storage, spv_id to)
{
    spv_id id = spirv_interned(m, SpvOpTypePointer, 0, 2, (uint32_t[]){ (uint32_t)storage, to });
    m->ids.items[id].inside = to;
    return id;
}

/* ---- constants ----------------------------------------------------------------------------------------------- */

static spv_id constant(spirv *m, SpvOp op, spv_id type, int n, uint32_t bits)
{
    spv_id id = spirv_interned(m, op, type, n, &bits);
    m->ids.items[id].is_constant = true;
    m->ids.items[id].bits = bits;
    return id;
}

spv_id spirv_u32(spirv *m, uint32_t value)
{
    return constant(m, SpvOpConstant, spirv_type_u32(m), 1, value);
}

spv_id spirv_u64(spirv *m, uint64_t value)
{
    return spirv_interned(m, SpvOpConstant, spirv_type_u64(m), 2, (uint32_t[]){ (uint32_t)value, (uint32_t)(value >> 32) });
}

spv_id spirv_f32(spirv *m, uint32_t bits)
{
    return constant(m, SpvOpConstant, spirv_type_f32(m), 1, bits);
}

spv_id spirv_bool(spirv *m, bool value)
{
    return constant(m, value ? SpvOpConstantTrue : SpvOpConstantFalse, spirv_type_bool(m), 0, value);
}

bool spirv_is_constant(const spirv *m, spv_id value, uint32_t *bits)
{
    *bits = m->ids.items[value].bits;
    return m->ids.items[value].is_constant;
}

spv_id spirv_spec(spirv *m, uint32_t spec_id, uint32_t otherwise)
{
    for (uint32_t k = 0; k < m->specs.count; k++)
        if (m->specs.items[k].spec_id == spec_id) return m->specs.items[k].id;
    spv_id id = spirv_put_result(m, &m->globals, SpvOpSpecConstant, spirv_type_u32(m), 1, &otherwise);
    spirv_decorate(m, id, SpvDecorationSpecId, 1, &spec_id);
    spv_spec_constant spec = { spec_id, id };
    LIST_PUSH(m->memory, m->specs, spec);
    return id;
}
