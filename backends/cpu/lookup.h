/* SPDX-License-Identifier: MIT
 * Look-ups in small tables by byte permutations: 64 entries a register, 64 indices at a time. */
#ifndef HALO_BACKENDS_CPU_LOOKUP_H
#define HALO_BACKENDS_CPU_LOOKUP_H

#include "backends/cpu/schedule.h"

enum { LOOKUP_REGISTER = 64, LOOKUP_MOST_ENTRIES = 1024 };

typedef struct lookup {
    int32_t lo;                /* the first entry's coordinate */
    int     entries, bytes;    /* of the table; of one entry */
    ref     byte_index;        /* the index before it was widened, when it is a u8 that counts from the first entry; else 0 */
} lookup;

/* False: gather it. Constant bounds, entries of one component; wide entries only in tables of 256 (each byte of them takes a look-up). */
bool lookup_of(const cpu_schedule *s, const cpu_stage *c, ref load, lookup *out);

/* Among the nodes of a body: is `index` nothing but a byte index widened, which look-ups don't compute? */
bool lookup_is_index_only(const cpu_schedule *s, const cpu_stage *c, const ref_list *nodes, ref index);

#endif
