/* SPDX-License-Identifier: MIT
 * Instructions of the function, its variables, and structured control flow. */
#include "backends/vulkan/spirv_internal.h"

#include <assert.h>

/* ---- instructions --------------------------------------------------------------------------------------- */

/* What a driver could fuse or reorder. */
static bool contracts(SpvOp op)
{
    switch (op) {
    case SpvOpFAdd: case SpvOpFSub: case SpvOpFMul: case SpvOpFDiv: case SpvOpFRem: case SpvOpFMod: case SpvOpFNegate:
    case SpvOpVectorTimesScalar: case SpvOpDot: return true;
    default: return false;
    }
}

spv_id spirv_op(spirv *m, SpvOp op, spv_id type, int n, const spv_id *operands)
{
    spv_id id = spirv_put_result(m, &m->body, op, type, n, operands);
    if (contracts(op)) spirv_decorate(m, id, SpvDecorationNoContraction, 0, NULL);
    return id;
}

spv_id spirv_op1(spirv *m, SpvOp op, spv_id type, spv_id a)
{
    return spirv_op(m, op, type, 1, &a);
}

spv_id spirv_op2(spirv *m, SpvOp op, spv_id type, spv_id a, spv_id b)
{
    return spirv_op(m, op, type, 2, (spv_id[]){ a, b });
}

spv_id spirv_op3(spirv *m, SpvOp op, spv_id type, spv_id a, spv_id b, spv_id c)
{
    return spirv_op(m, op, type, 3, (spv_id[]){ a, b, c });
}

static spv_id glsl_set(spirv *m)
{
    if (!m->glsl) m->glsl = spirv_new_id(m, 0);
    return m->glsl;
}

spv_id spirv_ext1(spirv *m, enum GLSLstd450 op, spv_id type, spv_id a)
{
    return spirv_op(m, SpvOpExtInst, type, 3, (spv_id[]){ glsl_set(m), (uint32_t)op, a });
}

spv_id spirv_ext2(spirv *m, enum GLSLstd450 op, spv_id type, spv_id a, spv_id b)
{
    return spirv_op(m, SpvOpExtInst, type, 4, (spv_id[]){ glsl_set(m), (uint32_t)op, a, b });
}

void spirv_do(spirv *m, SpvOp op, int n, const spv_id *operands)
{
    spirv_put(m, &m->body, op, n, operands);
}

/* ---- variables -------------------------------------------------------------------------------------------- */

/* Those of a function stand in its first block, wherever they are asked for. */
spv_id spirv_variable(spirv *m, spv_id type, const char *name)
{
    uint32_t storage = SpvStorageClassFunction;
    spv_id id = spirv_put_result(m, &m->first_block, SpvOpVariable, spirv_type_pointer(m, SpvStorageClassFunction, type), 1,
        &storage);
    spirv_name(m, id, "%s", name);
    return id;
}

spv_id spirv_load(spirv *m, spv_id variable)
{
    return spirv_op1(m, SpvOpLoad, m->ids.items[spirv_type_of(m, variable)].inside, variable);
}

void spirv_store(spirv *m, spv_id variable, spv_id value)
{
    spirv_do(m, SpvOpStore, 2, (spv_id[]){ variable, value });
}

/* ---- control flow ------------------------------------------------------------------------------------------- */

static void branch(spirv *m, spv_id to)
{
    spirv_do(m, SpvOpBranch, 1, &to);
}

static void label(spirv *m, spv_id id)
{
    spirv_do(m, SpvOpLabel, 1, &id);
    spirv_repeat_line(m);
}

void spirv_if(spirv *m, spv_if *s, spv_id condition)
{
    spv_id then = spirv_new_id(m, 0);
    *s = (spv_if){ spirv_new_id(m, 0), spirv_new_id(m, 0), false };
    spirv_do(m, SpvOpSelectionMerge, 2, (uint32_t[]){ s->merge, SpvSelectionControlMaskNone });
    spirv_do(m, SpvOpBranchConditional, 3, (spv_id[]){ condition, then, s->otherwise });
    label(m, then);
}

void spirv_else(spirv *m, spv_if *s)
{
    assert(!s->has_else);
    s->has_else = true;
    branch(m, s->merge);
    label(m, s->otherwise);
}

/* Left out, it is an empty block. */
void spirv_end_if(spirv *m, spv_if *s)
{
    if (!s->has_else) spirv_else(m, s);
    branch(m, s->merge);
    label(m, s->merge);
}

/* The header holds nothing but the merge instruction, so that the condition may have control flow of its own. */
void spirv_loop_begin(spirv *m, spv_loop *s, bool unroll)
{
    spv_id condition = spirv_new_id(m, 0);
    *s = (spv_loop){ spirv_new_id(m, 0), spirv_new_id(m, 0), spirv_new_id(m, 0), spirv_new_id(m, 0), unroll };
    branch(m, s->header);
    label(m, s->header);
    spirv_do(m, SpvOpLoopMerge, 3, (uint32_t[]){ s->merge, s->next,
        unroll ? SpvLoopControlUnrollMask : SpvLoopControlDontUnrollMask });
    branch(m, condition);
    label(m, condition);
}

void spirv_loop_while(spirv *m, spv_loop *s, spv_id condition)
{
    spirv_do(m, SpvOpBranchConditional, 3, (spv_id[]){ condition, s->body, s->merge });
    label(m, s->body);
}

void spirv_loop_next(spirv *m, spv_loop *s)
{
    branch(m, s->next);
    label(m, s->next);
}

void spirv_loop_end(spirv *m, spv_loop *s)
{
    branch(m, s->header);
    label(m, s->merge);
}
