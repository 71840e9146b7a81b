/* SPDX-License-Identifier: MIT
 * A static library around one object file. */
#ifndef HALO_CLI_ARCHIVE_H
#define HALO_CLI_ARCHIVE_H

#include "cli/cli.h"

/* The archive's bytes, for free(); NULL when the object isn't 64-bit little-endian ELF. */
void *archive_of_object(const void *object, size_t n_bytes, size_t *n_archive_bytes);

#endif
