/* SPDX-License-Identifier: MIT
 * A library's entries for one pipe: small functions that gather their arguments into arrays and call the driver, with the
 * code for the best processor at hand. And the driver itself: its assembly, made when Halo was built. */
#include "backends/cpu/module.h"

#include <string.h>

extern const unsigned char haloi_driver_assembly[];
extern const size_t haloi_driver_assembly_size;

typedef struct entry_maker {
    LLVMContextRef context;
    LLVMModuleRef  module;
    LLVMBuilderRef builder;
    tensor_pipe   *pipe;
    LLVMValueRef  *codes;
    const int     *levels;
    int            n_codes;
    LLVMTypeRef    pointer, i32;
} entry_maker;

static LLVMValueRef driver_function(entry_maker *m, const char *name, LLVMTypeRef type)
{
    LLVMValueRef f = LLVMGetNamedFunction(m->module, name);
    if (f) return f;
    f = LLVMAddFunction(m->module, name, type);
    LLVMSetVisibility(f, LLVMHiddenVisibility);
    return f;
}

static LLVMValueRef begin_entry(entry_maker *m, const char *suffix, int n_arguments)
{
    LLVMTypeRef arguments[160];
    for (int k = 0; k < n_arguments; k++) arguments[k] = m->pointer;
    char *name = arena_printf(m->pipe->memory, "%s%s", m->pipe->name, suffix);
    LLVMValueRef f = LLVMAddFunction(m->module, name, LLVMFunctionType(m->i32, arguments, (unsigned)n_arguments, 0));
    LLVMPositionBuilderAtEnd(m->builder, LLVMAppendBasicBlockInContext(m->context, f, "entry"));
    return f;
}

/* An array on the stack of the arguments [first, first + count). */
static LLVMValueRef gather_arguments(entry_maker *m, LLVMValueRef f, int first, int count)
{
    LLVMTypeRef t = LLVMArrayType2(m->pointer, (uint64_t)(count ? count : 1));
    LLVMValueRef array = LLVMBuildAlloca(m->builder, t, "");
    for (int k = 0; k < count; k++) {
        LLVMValueRef index = LLVMConstInt(m->i32, (unsigned)k, 0);
        LLVMValueRef at = LLVMBuildGEP2(m->builder, m->pointer, array, &index, 1, "");
        LLVMBuildStore(m->builder, LLVMGetParam(f, (unsigned)(first + k)), at);
    }
    return array;
}

/* The code of the last processor in the list that this computer can run. */
static LLVMValueRef choose_code(entry_maker *m)
{
    if (m->n_codes == 1) return m->codes[0];
    LLVMTypeRef type = LLVMFunctionType(m->i32, NULL, 0, 0);
    LLVMValueRef level = LLVMBuildCall2(m->builder, type, driver_function(m, "haloi_processor_level", type), NULL, 0, "level");
    LLVMValueRef code = m->codes[0];
    for (int k = 1; k < m->n_codes; k++) {
        LLVMValueRef enough = LLVMBuildICmp(m->builder, LLVMIntSGE, level, LLVMConstInt(m->i32, (unsigned)m->levels[k], 0), "");
        code = LLVMBuildSelect(m->builder, enough, m->codes[k], code, "");
    }
    return code;
}

static void call_driver(entry_maker *m, const char *name, LLVMValueRef *arguments, unsigned count)
{
    LLVMTypeRef types[8];
    for (unsigned k = 0; k < count; k++) types[k] = m->pointer;
    LLVMTypeRef type = LLVMFunctionType(m->i32, types, count, 0);
    LLVMValueRef result = LLVMBuildCall2(m->builder, type, driver_function(m, name, type), arguments, count, "");
    LLVMBuildRet(m->builder, result);
}

static void emit_run(entry_maker *m, bool part)
{
    int n_in = (int)m->pipe->n_inputs, n_params = m->pipe->params.count > 0, n_out = (int)m->pipe->outputs.count;
    LLVMValueRef f = begin_entry(m, part ? "_part" : "", n_in + n_params + n_out + part + 1), null = LLVMConstNull(m->pointer);
    LLVMValueRef inputs = gather_arguments(m, f, 0, n_in), outputs = gather_arguments(m, f, n_in + n_params, n_out);
    int at = n_in + n_params + n_out;
    LLVMValueRef arguments[7] = { choose_code(m), inputs, n_params ? LLVMGetParam(f, (unsigned)n_in) : null, outputs,
                                  part ? LLVMGetParam(f, (unsigned)at) : null, LLVMGetParam(f, (unsigned)(at + part)), null };
    call_driver(m, "haloi_run", arguments, 7);
}

static void emit_size(entry_maker *m)
{
    int n_in = (int)m->pipe->n_inputs, n_params = m->pipe->params.count > 0, n_out = (int)m->pipe->outputs.count;
    LLVMValueRef f = begin_entry(m, "_size", n_in + n_params + n_out), null = LLVMConstNull(m->pointer);
    LLVMValueRef inputs = gather_arguments(m, f, 0, n_in), outputs = gather_arguments(m, f, n_in + n_params, n_out);
    LLVMValueRef arguments[5] = { m->codes[0], inputs, n_params ? LLVMGetParam(f, (unsigned)n_in) : null, outputs, null };
    call_driver(m, "haloi_size", arguments, 5);
}

static void emit_needs(entry_maker *m)
{
    int n_in = (int)m->pipe->n_inputs, n_params = m->pipe->params.count > 0;
    LLVMValueRef f = begin_entry(m, "_needs", n_in + n_params + 1 + n_in), null = LLVMConstNull(m->pointer);
    LLVMValueRef inputs = gather_arguments(m, f, 0, n_in), needs = gather_arguments(m, f, n_in + n_params + 1, n_in);
    LLVMValueRef arguments[6] = { m->codes[0], inputs, n_params ? LLVMGetParam(f, (unsigned)n_in) : null,
                                  LLVMGetParam(f, (unsigned)(n_in + n_params)), needs, null };
    call_driver(m, "haloi_needs", arguments, 6);
}

static void emit_error(entry_maker *m)
{
    LLVMTypeRef type = LLVMFunctionType(m->pointer, &m->i32, 1, 0);
    char *name = arena_printf(m->pipe->memory, "%s_error", m->pipe->name);
    LLVMValueRef f = LLVMAddFunction(m->module, name, type), code = LLVMGetParam(f, 0);
    LLVMPositionBuilderAtEnd(m->builder, LLVMAppendBasicBlockInContext(m->context, f, "entry"));
    LLVMBuildRet(m->builder, LLVMBuildCall2(m->builder, type, driver_function(m, "haloi_error", type), &code, 1, ""));
}

/* The header's NAME_defaults: parameters without a default are 0 there. */
static void emit_defaults(entry_maker *m)
{
    tensor_pipe *p = m->pipe;
    if (p->params.count == 0) return;
    size_t n = params_layout(p, NULL);
    char *bytes = arena_alloc(p->memory, n + 1);
    params_pack_defaults(p, bytes);
    LLVMValueRef all = LLVMConstStringInContext(m->context, bytes, (unsigned)n, 1);
    LLVMValueRef g = LLVMAddGlobal(m->module, LLVMTypeOf(all), arena_printf(p->memory, "%s_defaults", p->name));
    LLVMSetInitializer(g, all);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetAlignment(g, 8);
}

void module_emit_entries(LLVMModuleRef module, tensor_pipe *p, LLVMValueRef *codes, const int *levels, int n_codes)
{
    LLVMContextRef c = LLVMGetModuleContext(module);
    entry_maker m = { c, module, LLVMCreateBuilderInContext(c), p, codes, levels, n_codes, LLVMPointerTypeInContext(c, 0), LLVMInt32TypeInContext(c) };
    emit_run(&m, false);
    emit_run(&m, true);
    emit_size(&m);
    emit_needs(&m);
    emit_error(&m);
    emit_defaults(&m);
    LLVMDisposeBuilder(m.builder);
}

void module_add_driver(LLVMModuleRef module)
{
    LLVMAppendModuleInlineAsm(module, (const char *)haloi_driver_assembly, haloi_driver_assembly_size);
}
