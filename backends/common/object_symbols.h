/* SPDX-License-Identifier: MIT
 * What an object file asks of its host. */
#ifndef HALO_BACKENDS_COMMON_OBJECT_SYMBOLS_H
#define HALO_BACKENDS_COMMON_OBJECT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first symbol that an object wants of its host beyond malloc, free and the memory functions; NULL when there is none. */
const char *object_foreign_symbol(const char *bytes, size_t n_bytes);

#endif
