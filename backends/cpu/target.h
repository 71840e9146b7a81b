/* SPDX-License-Identifier: MIT
 * Processors: what a name means for vectors, and LLVM's machine for it. */
#ifndef HALO_BACKENDS_CPU_TARGET_H
#define HALO_BACKENDS_CPU_TARGET_H

#include <llvm-c/TargetMachine.h>

#include "backends/cpu/schedule.h"

typedef struct cpu_machine {
    LLVMTargetMachineRef machine;
    char      *triple, *cpu, *features;      /* LLVM's; freed with the machine */
    cpu_target target;
    int        level;                        /* x86-64-vN, 0 for other architectures: what the entry asks the processor for */
} cpu_machine;

/* cpu "native" is this computer. False with an error in `d` (unknown names, no FMA without strict). */
bool cpu_machine_make(const char *triple, const char *cpu, bool needs_fma, diags *d, span where, cpu_machine *out);
void cpu_machine_free(cpu_machine *m);

#endif
