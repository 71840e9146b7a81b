/* SPDX-License-Identifier: MIT
 * Processors and LLVM's target machines. LLVM's C API doesn't tell what a processor's name implies, so processors.def does;
 * `native` asks the computer. Targets are initialised once per process, which is all the state LLVM needs. */
#include "backends/cpu/target.h"

#include <pthread.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

typedef struct processor { const char *name; int level, vector_bytes, fma, f16c, vbmi; } processor;

#define PROCESSOR(name, level, vector, fma, f16c, vbmi) { name, level, vector, fma, f16c, vbmi },
static const processor PROCESSORS[] = {
#include "backends/cpu/processors.def"
};
#undef PROCESSOR
enum { N_PROCESSORS = sizeof PROCESSORS / sizeof *PROCESSORS };

static void initialise(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
}

static void initialise_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialise);
}

static bool has(const char *features, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = features; (at = strstr(at, name)); at += n)
        if (at > features && at[-1] == '+' && (at[n] == ',' || at[n] == 0)) return true;
    return false;
}

static void describe_native(cpu_machine *m)
{
    bool v4 = has(m->features, "avx512f") && has(m->features, "avx512bw") && has(m->features, "avx512dq") && has(m->features, "avx512vl");
    bool v3 = has(m->features, "avx2") && has(m->features, "fma") && has(m->features, "f16c");
    m->target = (cpu_target){ v4 ? 64 : has(m->features, "avx2") ? 32 : 16, has(m->features, "fma"), has(m->features, "f16c"),
                               has(m->features, "sse4.1"), v4 && has(m->features, "avx512vbmi"), m->cpu };
    m->level = v4 ? 4 : v3 ? 3 : has(m->features, "sse4.2") ? 2 : 1;
}

static bool unknown_processor(diags *d, span where, const char *cpu)
{
    const char *names[N_PROCESSORS];
    for (int k = 0; k < N_PROCESSORS; k++) names[k] = PROCESSORS[k].name;
    diag_add(d, DIAG_E0560, where, "no processor is called `%s`", cpu);
    const char *near = nearest_name(cpu, names, N_PROCESSORS);
    if (near) diag_help(d, "did you mean `%s`?", near);
    text all = { 0 };
    for (int k = 0; k < N_PROCESSORS; k++) text_printf(&all, "%s%s", k ? ", " : "", names[k]);
    char *list = text_take(&all);
    if (list) diag_note(d, "known: native, %s", list);
    text_free(&(text){ .bytes = list });
    return false;
}

static bool describe_named(cpu_machine *m, diags *d, span where)
{
    for (int k = 0; k < N_PROCESSORS; k++) {
        const processor *p = &PROCESSORS[k];
        if (strcmp(p->name, m->cpu) != 0) continue;
        m->target = (cpu_target){ p->vector_bytes, p->fma, p->f16c, p->level >= 2, p->vbmi, m->cpu };
        m->level = p->level;
        return true;
    }
    return unknown_processor(d, where, m->cpu);
}

/* The driver stands in objects as assembly for x86_64 and ELF. */
static bool is_supported(const char *triple)
{
    static const char *const OTHER_OBJECTS[] = { "apple", "darwin", "macos", "windows", "win32", "mingw", "cygwin", "uefi" };
    for (size_t k = 0; k < sizeof OTHER_OBJECTS / sizeof *OTHER_OBJECTS; k++) if (strstr(triple, OTHER_OBJECTS[k])) return false;
    return strncmp(triple, "x86_64", 6) == 0;
}

static bool make_machine(cpu_machine *m, diags *d, span where)
{
    LLVMTargetRef target;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(m->triple, &target, &message)) {
        diag_add(d, DIAG_E0560, where, "no code can be made for `%s`: %s", m->triple, message ? message : "unknown");
        LLVMDisposeMessage(message);
        return false;
    }
    m->machine = LLVMCreateTargetMachine(target, m->triple, m->cpu, m->features, LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
    if (!m->machine) diag_add(d, DIAG_E0910, where, "LLVM makes no machine for `%s`", m->triple);
    return m->machine != NULL;
}

bool cpu_machine_make(const char *triple, const char *cpu, bool needs_fma, diags *d, span where, cpu_machine *out)
{
    initialise_once();
    bool native = strcmp(cpu, "native") == 0;
    *out = (cpu_machine){ .triple = triple ? LLVMNormalizeTargetTriple(triple) : LLVMGetDefaultTargetTriple() };
    if (!is_supported(out->triple)) {
        diag_add(d, DIAG_E0560, where, "code for `%s` isn't made yet: only x86_64 targets with ELF objects are", out->triple);
        diag_help(d, "leave --target away, or name one such as x86_64-unknown-linux-gnu");
        cpu_machine_free(out);
        return false;
    }
    out->cpu = native ? LLVMGetHostCPUName() : LLVMCreateMessage(cpu);
    out->features = native ? LLVMGetHostCPUFeatures() : LLVMCreateMessage("");
    bool good = true;
    if (native) describe_native(out);
    else good = describe_named(out, d, where);
    if (good && needs_fma && !out->target.fma) {
        diag_add(d, DIAG_E0560, where, "`%s` has no fused multiply-add, which the script's arithmetic is defined with", out->cpu);
        diag_help(d, "build with --no-fma or --strict, or for a newer processor: --cpu x86-64-v3");
        good = false;
    }
    good = good && make_machine(out, d, where);
    if (!good) cpu_machine_free(out);
    return good;
}

const char *cpu_native_name(arena *memory)
{
    char *name = LLVMGetHostCPUName();
    const char *copy = arena_string(memory, name, strlen(name));
    LLVMDisposeMessage(name);
    return copy;
}

void cpu_machine_free(cpu_machine *m)
{
    if (m->machine) LLVMDisposeTargetMachine(m->machine);
    if (m->triple) LLVMDisposeMessage(m->triple);
    if (m->cpu) LLVMDisposeMessage(m->cpu);
    if (m->features) LLVMDisposeMessage(m->features);
    *m = (cpu_machine){ 0 };
}
