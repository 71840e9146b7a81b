/* What the plain C versions of the workloads share: where a row of a picture lies, and an index repeated at the edges. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench/plain_math.h"
#include "runtime/include/halo/abi.h"

/* Row y; of a picture in planes, of its component c. */
static inline void *plane_row(const halo_image *image, int y, int c)
{
    return (char *)image->data + y * image->stride[1] + c * image->stride[2];
}

static inline void *row_of(const halo_image *image, int y)
{
    return (char *)image->data + y * image->stride[1];
}

static inline int clamp_index(int i, int lo, int hi)
{
    return i < lo ? lo : i > hi ? hi : i;
}

#endif
