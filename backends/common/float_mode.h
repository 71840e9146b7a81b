/* SPDX-License-Identifier: MIT
 * The floating-point mode of the thread at hand: rounding to nearest, no flush to zero, no traps, as the language has it. */
#ifndef HALO_BACKENDS_COMMON_FLOAT_MODE_H
#define HALO_BACKENDS_COMMON_FLOAT_MODE_H

#include <stdint.h>

/* The floating-point mode is ours while a task runs and the caller's again after it. */
#if defined(__x86_64__)
static inline uint32_t enter_float_mode(void)
{
    uint32_t mode, ours = 0x1f80;
    __asm__ volatile("stmxcsr %0" : "=m"(mode));
    __asm__ volatile("ldmxcsr %0" : : "m"(ours) : "memory");
    return mode;
}
static inline void leave_float_mode(uint32_t mode) { __asm__ volatile("ldmxcsr %0" : : "m"(mode) : "memory"); }
#elif defined(__aarch64__)
static inline uint32_t enter_float_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0) : "memory");
    return (uint32_t)mode;
}
static inline void leave_float_mode(uint32_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode) : "memory"); }
#endif

#endif
