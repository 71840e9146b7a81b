/* SPDX-License-Identifier: MIT
 * Checks that the sizes of a pipe stay within 32 bits; see size_checks.c. */
#ifndef HALO_FRONTEND_SIZE_CHECKS_H
#define HALO_FRONTEND_SIZE_CHECKS_H

#include "frontend/builder.h"

/* To be called once a pipe has all of its stages and checks. */
void check_sizes(builder *b);

#endif
