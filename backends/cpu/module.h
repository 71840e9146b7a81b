/* SPDX-License-Identifier: MIT
 * LLVM modules: row functions, the plan as constants, and the entries of a library. */
#ifndef HALO_BACKENDS_CPU_MODULE_H
#define HALO_BACKENDS_CPU_MODULE_H

#include "backends/common/object_symbols.h"
#include "backends/cpu/emit.h"
#include "backends/cpu/target.h"
#include "lowering/params.h"

/* The plan of a schedule as words (in the schedule's memory). Numbers functions in the order of plan_functions. */
typedef struct plan_words { int32_t *words; uint32_t count; uint32_t n_functions; } plan_words;
plan_words plan_write(cpu_schedule *s);

/* Emits all functions and constants of one schedule; `name` prefixes every symbol. Returns the haloi_code global (internal). */
LLVMValueRef module_emit_code(cpu_schedule *s, LLVMModuleRef module, const cpu_machine *machine, const char *name);

/* Runs what LLVM still has to clean. */
bool module_optimise(LLVMModuleRef module, const cpu_machine *machine, diags *d);

/* A library's entries for one pipe: NAME, NAME_part, NAME_needs, NAME_size, NAME_error, NAME_defaults. */
void module_emit_entries(LLVMModuleRef module, tensor_pipe *p, LLVMValueRef *codes, const int *levels, int n_codes);
/* Puts the driver's assembly into the module, its names local to the object. */
void module_add_driver(LLVMModuleRef module);

#endif
