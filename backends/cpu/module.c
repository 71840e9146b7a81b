/* SPDX-License-Identifier: MIT
 * From a schedule to an LLVM module: row functions, setup, and the constants that tie them together for the driver. */
#include "backends/cpu/module.h"

#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

static void set_target(LLVMModuleRef module, LLVMValueRef f, const cpu_machine *machine)
{
    LLVMContextRef c = LLVMGetModuleContext(module);
    const char *pairs[][2] = { { "target-cpu", machine->cpu }, { "target-features", machine->features },
                               { "prefer-vector-width", machine->target.vector_bytes == 64 ? "512" : "256" } };
    for (int k = 0; k < 3; k++) {
        if (!*pairs[k][1]) continue;
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateStringAttribute(c, pairs[k][0], (unsigned)strlen(pairs[k][0]), pairs[k][1], (unsigned)strlen(pairs[k][1])));
    }
}

static LLVMValueRef constant_global(LLVMModuleRef module, LLVMValueRef value, const char *name)
{
    LLVMValueRef g = LLVMAddGlobal(module, LLVMTypeOf(value), name);
    LLVMSetInitializer(g, value);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMInternalLinkage);
    return g;
}

static LLVMValueRef words_global(cpu_schedule *s, LLVMModuleRef module, const plan_words *w, const char *name)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
    LLVMValueRef *all = ARENA_ARRAY(s->memory, LLVMValueRef, w->count);
    for (uint32_t k = 0; k < w->count; k++) all[k] = LLVMConstInt(i32, (uint32_t)w->words[k], 0);
    LLVMValueRef g = constant_global(module, LLVMConstArray2(i32, all, w->count), name);
    LLVMSetAlignment(g, 8);
    return g;
}

/* The functions in the order in which plan_write numbers them. */
static uint32_t emit_functions(emit_module *m, const cpu_machine *machine, const char *name, LLVMValueRef *out)
{
    cpu_schedule *s = m->schedule;
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->sections.count; k++)
        for (uint32_t j = 0; j < s->sections.items[k].stages.count; j++) {
            cpu_stage *c = section_stage(&s->sections.items[k], (int)j);
            char *base = arena_printf(m->memory, "%s.%s", name, stage_at(s->pipe, c->stage)->name);
            out[n++] = emit_row_function(m, c, 1, base);
            if (c->group > 1) out[n++] = emit_row_function(m, c, c->group, arena_printf(m->memory, "%s.rows%d", base, c->group));
            if (c->value_x) out[n++] = emit_fill_function(m, c, c->value_x, arena_printf(m->memory, "%s.fill_x", base));
            if (c->value_y) out[n++] = emit_fill_function(m, c, c->value_y, arena_printf(m->memory, "%s.fill_y", base));
        }
    for (uint32_t k = 0; k < n; k++) set_target(m->module, out[k], machine);
    return n;
}

/* The bytes of the default parameters, or a null pointer when some parameter has none. */
static LLVMValueRef defaults_constant(cpu_schedule *s, LLVMModuleRef module, const char *name)
{
    LLVMContextRef c = LLVMGetModuleContext(module);
    const tensor_pipe *p = s->pipe;
    if (p->params.count == 0) return LLVMConstNull(LLVMPointerTypeInContext(c, 0));
    size_t n = params_layout(p, NULL);
    char *bytes = arena_alloc(s->memory, n + 1);
    if (!params_pack_defaults(p, bytes)) return LLVMConstNull(LLVMPointerTypeInContext(c, 0));
    LLVMValueRef g = constant_global(module, LLVMConstStringInContext(c, bytes, (unsigned)n, 1), name);
    LLVMSetAlignment(g, 8);
    return g;
}

LLVMValueRef module_emit_code(cpu_schedule *s, LLVMModuleRef module, const cpu_machine *machine, const char *name)
{
    LLVMContextRef c = LLVMGetModuleContext(module);
    int32_t *offsets = ARENA_ARRAY(s->memory, int32_t, s->pipe->params.count + 1);
    params_layout(s->pipe, offsets);
    emit_module m = { .schedule = s, .memory = s->memory, .context = c, .module = module, .param_offsets = offsets,
                      .n_tables = s->pipe->stages.count, .tables = ARENA_ARRAY(s->memory, LLVMValueRef, s->pipe->stages.count) };
    plan_words w = plan_write(s);
    LLVMValueRef *functions = ARENA_ARRAY(s->memory, LLVMValueRef, w.n_functions + 1);
    uint32_t n = emit_functions(&m, machine, name, functions);
    LLVMValueRef setup = emit_setup_function(&m, arena_printf(s->memory, "%s.setup", name));
    set_target(module, setup, machine);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(c, 0);
    LLVMValueRef parts[4] = {
        words_global(s, module, &w, arena_printf(s->memory, "%s.plan", name)),
        constant_global(module, LLVMConstArray2(pointer, functions, n), arena_printf(s->memory, "%s.functions", name)),
        setup,
        defaults_constant(s, module, arena_printf(s->memory, "%s.defaults", name)),
    };
    return constant_global(module, LLVMConstStructInContext(c, parts, 4, 0), arena_printf(s->memory, "%s.code", name));
}

/* One pass: equal loads of neighbouring rows become one. What is emitted is clean otherwise; instcombine took a quarter of the
 * compile time and gained nothing on any example (measured). */
bool module_optimise(LLVMModuleRef module, const cpu_machine *machine, diags *d)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, "function(early-cse)", machine->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return true;
    char *message = LLVMGetErrorMessage(error);
    diag_add(d, DIAG_E0910, (span){ 0 }, "%s", message);
    LLVMDisposeErrorMessage(message);
    return false;
}
