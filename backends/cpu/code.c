/* SPDX-License-Identifier: MIT
 * Machine code: one path for objects and for code that is loaded. A module becomes an object in memory; loading hands that
 * object to ORC and finds the pipe's haloi_code; the driver is the one compiled into this library. */
#include "backends/cpu/module.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <stdlib.h>
#include <string.h>

struct cpu_code { LLVMOrcLLJITRef jit; const haloi_code *code; int n_inputs, n_outputs; };

static span pipe_span(const tensor_pipe *p) { return p->where; }

bool module_verify(LLVMModuleRef module, diags *d)
{
    char *message = NULL;
    bool bad = LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
    if (bad) diag_add(d, DIAG_E0910, (span){ 0 }, "%s", message ? message : "unsound module");
    LLVMDisposeMessage(message);
    return !bad;
}

static LLVMModuleRef new_module(LLVMContextRef context, const cpu_machine *machine, const char *name)
{
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext(name, context);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine->machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMSetTarget(module, machine->triple);
    LLVMDisposeTargetData(layout);
    return module;
}

static LLVMMemoryBufferRef emit_buffer(LLVMModuleRef module, const cpu_machine *machine, LLVMCodeGenFileType type, diags *d)
{
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine->machine, module, type, &message, &buffer)) {
        diag_add(d, DIAG_E0910, (span){ 0 }, "%s", message ? message : "no code");
        LLVMDisposeMessage(message);
        return NULL;
    }
    return buffer;
}

/* ---- one pipe, for this process or to be looked at ----------------------------------------------------------------------- */

typedef struct single { LLVMContextRef context; cpu_machine machine; LLVMModuleRef module; arena *memory; cpu_schedule *schedule; } single;

static void single_end(single *s)
{
    if (s->module) LLVMDisposeModule(s->module);
    if (s->context) LLVMContextDispose(s->context);
    cpu_machine_free(&s->machine);
    arena_free(s->memory);
}

static bool single_begin(single *s, tensor_pipe *p, const cpu_options *options, diags *d)
{
    *s = (single){ 0 };
    const char *cpu = options->n_cpus > 0 ? options->cpus[0] : "native";
    if (!cpu_machine_make(options->triple, cpu, !rounds_products(p), d, pipe_span(p), &s->machine)) return false;
    s->memory = arena_scratch(p->memory);
    s->schedule = cpu_schedule_make(p, options, s->machine.target, s->memory);
    tuning_check(s->schedule, d);
    return true;
}

static bool single_module(single *s, diags *d)
{
    s->context = LLVMContextCreate();
    s->module = new_module(s->context, &s->machine, s->schedule->pipe->name);
    LLVMValueRef code = module_emit_code(s->schedule, s->module, &s->machine, "pipe");
    LLVMSetLinkage(code, LLVMExternalLinkage);
    LLVMSetValueName2(code, "haloi_pipe_code", 15);
    return module_verify(s->module, d) && module_optimise(s->module, &s->machine, d);
}

static bool load_object(LLVMMemoryBufferRef object, cpu_code *out, diags *d)
{
    LLVMErrorRef error = LLVMOrcCreateLLJIT(&out->jit, NULL);
    LLVMOrcExecutorAddress at = 0;
    if (error) LLVMDisposeMemoryBuffer(object);
    if (!error) error = LLVMOrcLLJITAddObjectFile(out->jit, LLVMOrcLLJITGetMainJITDylib(out->jit), object);
    if (!error) error = LLVMOrcLLJITLookup(out->jit, &at, "haloi_pipe_code");
    if (!error) { out->code = (const haloi_code *)(uintptr_t)at; return true; }
    char *message = LLVMGetErrorMessage(error);
    diag_add(d, DIAG_E0910, (span){ 0 }, "%s", message);
    LLVMDisposeErrorMessage(message);
    return false;
}

/* Code for a named processor is only loaded where it can run. */
static bool runs_here(tensor_pipe *p, const cpu_options *options, diags *d)
{
    cpu_machine named, here;
    if (options->n_cpus == 0 || strcmp(options->cpus[0], "native") == 0) return true;
    if (!cpu_machine_make(options->triple, options->cpus[0], !rounds_products(p), d, pipe_span(p), &named)) return false;
    bool good = cpu_machine_make(options->triple, "native", false, d, pipe_span(p), &here);
    if (good && (named.level > here.level || (named.target.byte_permutes && !here.target.byte_permutes))) {
        diag_add(d, DIAG_E0560, pipe_span(p), "this machine's processor, `%s`, can't run code for `%s`", here.cpu, named.cpu);
        good = false;
    }
    cpu_machine_free(&named);
    cpu_machine_free(&here);
    return good;
}

cpu_code *cpu_load(tensor_pipe *p, const cpu_options *options, diags *d)
{
    single s;
    if (!runs_here(p, options, d)) return NULL;
    if (!single_begin(&s, p, options, d)) return NULL;
    cpu_code *out = calloc(1, sizeof *out);
    LLVMMemoryBufferRef object = out && single_module(&s, d) ? emit_buffer(s.module, &s.machine, LLVMObjectFile, d) : NULL;
    if (object) {
        out->n_inputs = (int)p->n_inputs;
        out->n_outputs = (int)p->outputs.count;
    }
    bool good = object && load_object(object, out, d);
    single_end(&s);
    if (!good) { cpu_unload(out); return NULL; }
    return out;
}

void cpu_unload(cpu_code *code)
{
    if (!code) return;
    if (code->jit) LLVMConsumeError(LLVMOrcDisposeLLJIT(code->jit));
    free(code);
}

const haloi_code *cpu_code_entry(const cpu_code *code) { return code->code; }

bool single_text(tensor_pipe *p, const cpu_options *options, bool assembly, text *out, diags *d)
{
    single s;
    if (!single_begin(&s, p, options, d)) return false;
    bool good = single_module(&s, d);
    if (good && assembly) {
        LLVMMemoryBufferRef buffer = emit_buffer(s.module, &s.machine, LLVMAssemblyFile, d);
        good = buffer != NULL;
        if (good) { text_add(out, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)); LLVMDisposeMemoryBuffer(buffer); }
    } else if (good) {
        char *all = LLVMPrintModuleToString(s.module);
        text_string(out, all);
        LLVMDisposeMessage(all);
    }
    single_end(&s);
    return good;
}

/* ---- running ------------------------------------------------------------------------------------------------------------------ */

enum { MAX_IMAGES = 64 };

static bool pointers_to(const halo_image *images, int count, const halo_image **out)
{
    if (count > MAX_IMAGES) return false;
    for (int k = 0; k < count; k++) out[k] = &images[k];
    return true;
}

int cpu_run(const cpu_code *code, const halo_image *inputs, const void *params, const halo_image *outputs, const halo_part *part,
            const halo_exec *exec, int32_t *failed)
{
    const halo_image *in[MAX_IMAGES], *out[MAX_IMAGES];
    if (failed) *failed = -1;
    if (!pointers_to(inputs, code->n_inputs, in) || !pointers_to(outputs, code->n_outputs, out)) return HALO_ERROR_SIZE;
    return haloi_run(code->code, in, params, out, part, exec, failed);
}

int cpu_size(const cpu_code *code, const halo_image *inputs, const void *params, halo_image *outputs, int32_t *failed)
{
    const halo_image *in[MAX_IMAGES];
    halo_image *out[MAX_IMAGES];
    if (failed) *failed = -1;
    if (!pointers_to(inputs, code->n_inputs, in) || code->n_outputs > MAX_IMAGES) return HALO_ERROR_SIZE;
    for (int k = 0; k < code->n_outputs; k++) out[k] = &outputs[k];
    return haloi_size(code->code, in, params, out, failed);
}

int cpu_needs(const cpu_code *code, const halo_image *inputs, const void *params, const halo_part *part, halo_part *needs, int32_t *failed)
{
    const halo_image *in[MAX_IMAGES];
    halo_part *out[MAX_IMAGES];
    if (failed) *failed = -1;
    if (!pointers_to(inputs, code->n_inputs, in)) return HALO_ERROR_SIZE;
    for (int k = 0; k < code->n_inputs; k++) out[k] = &needs[k];
    return haloi_needs(code->code, in, params, part, out, failed);
}

/* ---- objects ------------------------------------------------------------------------------------------------------------------- */

enum { MAX_CPUS = 8 };

typedef struct library { LLVMContextRef context; LLVMModuleRef module; cpu_machine machines[MAX_CPUS]; int n_machines; arena *memory; } library;

static void library_end(library *l)
{
    if (l->module) LLVMDisposeModule(l->module);
    if (l->context) LLVMContextDispose(l->context);
    for (int k = 0; k < l->n_machines; k++) cpu_machine_free(&l->machines[k]);
    arena_free(l->memory);
}

static bool library_machines(library *l, tensor_pipe *p, const cpu_options *options, diags *d)
{
    static const char *const PLAIN[] = { "x86-64-v3" };
    const char *const *cpus = options->n_cpus > 0 ? options->cpus : PLAIN;
    int n = options->n_cpus > 0 ? options->n_cpus : 1;
    if (n > MAX_CPUS) { diag_add(d, DIAG_E0560, pipe_span(p), "at most %d processors go into one library", MAX_CPUS); return false; }
    for (int k = 0; k < n; k++) {
        if (!cpu_machine_make(options->triple, cpus[k], !rounds_products(p), d, pipe_span(p), &l->machines[k])) return false;
        l->n_machines++;
        if (k && l->machines[k].level < l->machines[k - 1].level) {
            diag_add(d, DIAG_E0560, pipe_span(p), "`%s` is plainer than `%s` before it", cpus[k], cpus[k - 1]);
            diag_help(d, "name the plainest processor first");
            return false;
        }
    }
    return true;
}

static bool library_pipe(library *l, tensor_pipe *p, const cpu_options *options, diags *d)
{
    LLVMValueRef codes[MAX_CPUS];
    int levels[MAX_CPUS];
    for (int k = 0; k < l->n_machines; k++) {
        cpu_schedule *s = cpu_schedule_make(p, options, l->machines[k].target, l->memory);
        tuning_check(s, d);
        char *name = l->n_machines > 1 ? arena_printf(l->memory, "%s.%s", p->name, l->machines[k].cpu) : arena_printf(l->memory, "%s.cpu", p->name);
        codes[k] = module_emit_code(s, l->module, &l->machines[k], name);
        levels[k] = l->machines[k].level;
    }
    module_emit_entries(l->module, p, codes, levels, l->n_machines);
    return true;
}

static bool library_make(library *l, tensor_pipe **pipes, uint32_t n_pipes, const cpu_options *options, diags *d)
{
    *l = (library){ .memory = arena_scratch(pipes[0]->memory) };
    if (!library_machines(l, pipes[0], options, d)) return false;
    l->context = LLVMContextCreate();
    l->module = new_module(l->context, &l->machines[0], "halo");
    for (uint32_t k = 0; k < n_pipes; k++) if (!library_pipe(l, pipes[k], options, d)) return false;
    module_add_driver(l->module);
    return module_verify(l->module, d) && module_optimise(l->module, &l->machines[0], d);
}

static bool needs_nothing(LLVMMemoryBufferRef object, const tensor_pipe *p, diags *d)
{
    const char *foreign = object_foreign_symbol(LLVMGetBufferStart(object), LLVMGetBufferSize(object));
    if (foreign) diag_add(d, DIAG_E0910, pipe_span(p), "the library would call `%s`, which hosts may not have", foreign);
    return foreign == NULL;
}

bool cpu_library_text(tensor_pipe **pipes, uint32_t n_pipes, const cpu_options *options, cpu_text what, text *out, diags *d)
{
    library l;
    bool good = library_make(&l, pipes, n_pipes, options, d);
    if (good && what == CPU_TEXT_llvm) {
        char *all = LLVMPrintModuleToString(l.module);
        text_string(out, all);
        LLVMDisposeMessage(all);
    } else if (good) {
        LLVMMemoryBufferRef b = emit_buffer(l.module, &l.machines[0], what == CPU_TEXT_asm ? LLVMAssemblyFile : LLVMObjectFile, d);
        good = b != NULL && (what == CPU_TEXT_asm || needs_nothing(b, pipes[0], d));
        if (good) text_add(out, LLVMGetBufferStart(b), LLVMGetBufferSize(b));
        if (b) LLVMDisposeMemoryBuffer(b);
    }
    library_end(&l);
    return good;
}

bool cpu_object(tensor_pipe **pipes, uint32_t n_pipes, const cpu_options *options, text *object, diags *d)
{
    return cpu_library_text(pipes, n_pipes, options, CPU_TEXT_kernel, object, d);
}
