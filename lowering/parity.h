/* SPDX-License-Identifier: MIT
 * What depends on a pixel's place only by whether its column and row are even: the mosaics of sensors, and enlarging by two. Such
 * pixels are made differently by turns; who knows the remainders knows which way. */
#ifndef HALO_LOWERING_PARITY_H
#define HALO_LOWERING_PARITY_H

#include "lowering/tensor.h"

/* Bit 0: columns, bit 1: rows. */
enum { PARITY_x = 1, PARITY_y = 2 };

/* Of a remainder by 2 of sums of coordinates: which coordinates count; 0 for anything else (and for a constant). */
int parity_coordinates(const tensor_pipe *p, ref r);

/* The remainder when those of the coordinates are known. `r` is one of which parity_coordinates says something. */
int parity_value(const tensor_pipe *p, ref r, int odd_x, int odd_y);

/* `r` is computed from such remainders, constants and what is the same everywhere, and from a remainder at least. */
bool is_of_parity(const tensor_pipe *p, ref r);

/* Which coordinates the choices (selects) of a body ask for the remainder of, and nothing else. */
int parity_choices(tensor_pipe *p, ref body);

#endif
