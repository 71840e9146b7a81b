/* SPDX-License-Identifier: MIT
 * A Vulkan library as an object file for the host's processor: plans and SPIR-V as constants, the driver's assembly, and entries
 * that gather their arguments into arrays and call the driver. No code here is worth a newer processor than the plainest. */
#include "backends/common/object_symbols.h"
#include "backends/cpu/target.h"
#include "backends/vulkan/vulkan.h"

#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>

#include "lowering/params.h"

extern const unsigned char haloi_vulkan_driver_assembly[];
extern const size_t haloi_vulkan_driver_assembly_size;

/* What is being made, and the pipe at hand. */
typedef struct object_maker {
    LLVMContextRef context;
    LLVMModuleRef  module;
    LLVMBuilderRef builder;
    LLVMTypeRef    pointer, i32, nothing;
    arena         *memory;
    tensor_pipe   *pipe;
    LLVMValueRef   code;              /* the pipe's haloi_vulkan_code */
} object_maker;

/* ---- constants --------------------------------------------------------------------------------------------- */

static LLVMValueRef constant(object_maker *m, LLVMValueRef value, const char *what)
{
    LLVMValueRef g = LLVMAddGlobal(m->module, LLVMTypeOf(value), arena_printf(m->memory, "%s.vulkan.%s", m->pipe->name, what));
    LLVMSetInitializer(g, value);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMInternalLinkage);
    LLVMSetAlignment(g, 8);
    return g;
}

static LLVMValueRef bytes_constant(object_maker *m, const void *bytes, size_t n, const char *what)
{
    if (!bytes) return LLVMConstNull(m->pointer);
    return constant(m, LLVMConstStringInContext2(m->context, bytes, n, 1), what);
}

static void make_code(object_maker *m, const vulkan_module *compiled)
{
    const haloi_vulkan_code *code = &compiled->code;
    LLVMValueRef parts[3] = {
        bytes_constant(m, code->plan, 4 * (size_t)compiled->n_plan_words, "plan"),
        bytes_constant(m, code->spirv, 4 * (size_t)compiled->n_spirv_words, "spirv"),
        bytes_constant(m, code->defaults, params_layout(m->pipe, NULL), "defaults"),
    };
    m->code = constant(m, LLVMConstStructInContext(m->context, parts, 3, 0), "code");
}

/* The header's NAME_defaults. The library for the processor has it too, and both may be linked into one program. */
static void make_defaults(object_maker *m, const char *bytes, size_t n)
{
    if (n == 0) return;
    LLVMValueRef all = LLVMConstStringInContext2(m->context, bytes, n, 1);
    LLVMValueRef g = LLVMAddGlobal(m->module, LLVMTypeOf(all), arena_printf(m->memory, "%s_defaults", m->pipe->name));
    LLVMSetInitializer(g, all);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMWeakODRLinkage);
    LLVMSetAlignment(g, 8);
}

/* ---- entries ------------------------------------------------------------------------------------------------- */

static LLVMValueRef begin_entry(object_maker *m, const char *suffix, LLVMTypeRef result, int n_arguments)
{
    LLVMTypeRef *types = ARENA_ARRAY(m->memory, LLVMTypeRef, (size_t)n_arguments + 1);
    for (int k = 0; k < n_arguments; k++) types[k] = m->pointer;
    char *name = arena_printf(m->memory, "%s_vulkan_%s", m->pipe->name, suffix);
    LLVMValueRef f = LLVMAddFunction(m->module, name, LLVMFunctionType(result, types, (unsigned)n_arguments, 0));
    LLVMPositionBuilderAtEnd(m->builder, LLVMAppendBasicBlockInContext(m->context, f, "entry"));
    return f;
}

/* An array on the stack of the arguments [first, first + count). */
static LLVMValueRef gather(object_maker *m, LLVMValueRef f, int first, int count)
{
    LLVMValueRef array = LLVMBuildAlloca(m->builder, LLVMArrayType2(m->pointer, (uint64_t)(count ? count : 1)), "");
    for (int k = 0; k < count; k++) {
        LLVMValueRef index = LLVMConstInt(m->i32, (unsigned)k, 0), at = LLVMBuildGEP2(m->builder, m->pointer, array, &index, 1, "");
        LLVMBuildStore(m->builder, LLVMGetParam(f, (unsigned)(first + k)), at);
    }
    return array;
}

static void call_driver(object_maker *m, const char *suffix, LLVMTypeRef result, LLVMValueRef *arguments, unsigned count)
{
    LLVMTypeRef types[16];
    for (unsigned k = 0; k < count; k++) types[k] = LLVMTypeOf(arguments[k]);
    char *name = arena_printf(m->memory, "haloi_vulkan_%s", suffix);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
    LLVMValueRef f = LLVMGetNamedFunction(m->module, name);
    if (!f) f = LLVMAddFunction(m->module, name, type);
    LLVMSetVisibility(f, LLVMHiddenVisibility);
    LLVMValueRef value = LLVMBuildCall2(m->builder, type, f, arguments, count, "");
    if (result == m->nothing) LLVMBuildRetVoid(m->builder);
    else LLVMBuildRet(m->builder, value);
}

/* create and missing know the code; all others find it in what create made. */
static void make_simple_entries(object_maker *m)
{
    LLVMValueRef f = begin_entry(m, "create", m->i32, 5), arguments[6] = { m->code };
    for (unsigned k = 0; k < 5; k++) arguments[k + 1] = LLVMGetParam(f, k);
    call_driver(m, "create", m->i32, arguments, 6);
    f = begin_entry(m, "destroy", m->nothing, 1);
    arguments[0] = LLVMGetParam(f, 0);
    call_driver(m, "destroy", m->nothing, arguments, 1);
    f = begin_entry(m, "missing", m->pointer, 1);
    arguments[0] = m->code;
    arguments[1] = LLVMGetParam(f, 0);
    call_driver(m, "missing", m->pointer, arguments, 2);
    LLVMTypeRef type = LLVMFunctionType(m->pointer, &m->i32, 1, 0);
    f = LLVMAddFunction(m->module, arena_printf(m->memory, "%s_vulkan_error", m->pipe->name), type);
    LLVMPositionBuilderAtEnd(m->builder, LLVMAppendBasicBlockInContext(m->context, f, "entry"));
    arguments[0] = LLVMGetParam(f, 0);
    call_driver(m, "error", m->pointer, arguments, 1);
}

/* Where a pipe's pictures and params stand among an entry's arguments, from `first` on. */
typedef struct pictures { LLVMValueRef inputs, params, outputs; int end; } pictures;

static pictures gather_pictures(object_maker *m, LLVMValueRef f, int first, bool with_outputs)
{
    int n_in = (int)m->pipe->n_inputs, n_params = m->pipe->params.count > 0, n_out = with_outputs ? (int)m->pipe->outputs.count : 0;
    pictures p = { .inputs = gather(m, f, first, n_in) };
    if (with_outputs) p.outputs = gather(m, f, first + n_in + n_params, n_out);
    p.params = n_params ? LLVMGetParam(f, (unsigned)(first + n_in)) : LLVMConstNull(m->pointer);
    p.end = first + n_in + n_params + n_out;
    return p;
}

static int count_pictures(const object_maker *m, bool with_outputs)
{
    return (int)m->pipe->n_inputs + (m->pipe->params.count > 0) + (with_outputs ? (int)m->pipe->outputs.count : 0);
}

static void make_size_and_needs(object_maker *m)
{
    LLVMValueRef null = LLVMConstNull(m->pointer), f = begin_entry(m, "size", m->i32, count_pictures(m, true));
    pictures p = gather_pictures(m, f, 0, true);
    LLVMValueRef size[5] = { m->code, p.inputs, p.params, p.outputs, null };
    call_driver(m, "size", m->i32, size, 5);
    f = begin_entry(m, "needs", m->i32, 1 + count_pictures(m, false) + 2);
    p = gather_pictures(m, f, 1, false);
    LLVMValueRef needs[6] = { LLVMGetParam(f, 0), p.inputs, p.params, LLVMGetParam(f, (unsigned)p.end),
                              LLVMGetParam(f, (unsigned)p.end + 1), null };
    call_driver(m, "needs", m->i32, needs, 6);
}

static void make_inputs(object_maker *m)
{
    int n_in = (int)m->pipe->n_inputs;
    if (n_in == 0) return;
    LLVMValueRef f = begin_entry(m, "inputs", m->i32, 1 + count_pictures(m, false) + 1 + n_in);
    pictures p = gather_pictures(m, f, 1, false);
    LLVMValueRef arguments[6] = { LLVMGetParam(f, 0), p.inputs, p.params, LLVMGetParam(f, (unsigned)p.end), gather(m, f, p.end + 1, n_in),
                                  LLVMConstNull(m->pointer) };
    call_driver(m, "inputs", m->i32, arguments, 6);
}

static void make_record(object_maker *m, bool part)
{
    LLVMValueRef null = LLVMConstNull(m->pointer);
    LLVMValueRef f = begin_entry(m, part ? "record_part" : "record", m->i32, 2 + count_pictures(m, true) + (part ? 3 : 1));
    pictures p = gather_pictures(m, f, 2, true);
    unsigned at = (unsigned)p.end;
    LLVMValueRef arguments[9] = { LLVMGetParam(f, 0), LLVMGetParam(f, 1), p.inputs, p.params, p.outputs,
                                  part ? LLVMGetParam(f, at) : null, part ? LLVMGetParam(f, at + 1) : null,
                                  LLVMGetParam(f, part ? at + 2 : at), null };
    call_driver(m, "record", m->i32, arguments, 9);
}

/* ---- the object -------------------------------------------------------------------------------------------------- */

/* Parameters without a default are 0 in the header's struct. */
static void make_pipe(object_maker *m, const vulkan_module *compiled)
{
    size_t n = params_layout(m->pipe, NULL);
    char *bytes = arena_alloc(m->memory, n + 1);
    params_pack_defaults(m->pipe, bytes);
    make_code(m, compiled);
    make_defaults(m, bytes, m->pipe->params.count ? n : 0);
    make_simple_entries(m);
    make_size_and_needs(m);
    make_inputs(m);
    make_record(m, false);
    make_record(m, true);
}

static bool emit_object(object_maker *m, const cpu_machine *machine, text *object, diags *d)
{
    char *message = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    bool good = !LLVMVerifyModule(m->module, LLVMReturnStatusAction, &message);
    if (message && !*message) { LLVMDisposeMessage(message); message = NULL; }
    good = good && !LLVMTargetMachineEmitToMemoryBuffer(machine->machine, m->module, LLVMObjectFile, &message, &buffer);
    if (!good) diag_add(d, DIAG_E0910, (span){ 0 }, "%s", message ? message : "LLVM made no object");
    if (message) LLVMDisposeMessage(message);
    if (!good) return false;
    const char *foreign = object_foreign_symbol(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    if (foreign) diag_add(d, DIAG_E0910, (span){ 0 }, "the library would call `%s`, which hosts may not have", foreign);
    else text_add(object, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    return foreign == NULL;
}

static bool make_pipes(object_maker *m, tensor_pipe **pipes, uint32_t n_pipes, const vulkan_options *options, diags *d)
{
    for (uint32_t k = 0; k < n_pipes; k++) {
        const vulkan_module *compiled = vulkan_compile(pipes[k], options, m->memory, d);
        if (!compiled) return false;
        m->pipe = pipes[k];
        make_pipe(m, compiled);
    }
    LLVMAppendModuleInlineAsm(m->module, (const char *)haloi_vulkan_driver_assembly, haloi_vulkan_driver_assembly_size);
    return true;
}

bool vulkan_object(tensor_pipe **pipes, uint32_t n_pipes, const vulkan_options *options, text *object, diags *d)
{
    cpu_machine machine;
    if (!cpu_machine_make(options->triple, "x86-64", false, d, (span){ 0 }, &machine)) return false;
    LLVMContextRef context = LLVMContextCreate();
    object_maker m = { .context = context, .module = LLVMModuleCreateWithNameInContext("halo", context),
                       .builder = LLVMCreateBuilderInContext(context),
                       .pointer = LLVMPointerTypeInContext(context, 0), .i32 = LLVMInt32TypeInContext(context),
                       .nothing = LLVMVoidTypeInContext(context), .memory = arena_scratch(pipes[0]->memory) };
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine.machine);
    LLVMSetModuleDataLayout(m.module, layout);
    LLVMSetTarget(m.module, machine.triple);
    LLVMDisposeTargetData(layout);
    bool good = make_pipes(&m, pipes, n_pipes, options, d) && emit_object(&m, &machine, object, d);
    LLVMDisposeBuilder(m.builder);
    LLVMDisposeModule(m.module);
    LLVMContextDispose(context);
    cpu_machine_free(&machine);
    arena_free(m.memory);
    return good;
}
