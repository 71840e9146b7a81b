/* SPDX-License-Identifier: MIT
 * The plain data shared by generated libraries and their hosts. The text between the guards stands, word for word, in every
 * generated header, so this file and any number of generated headers can be included together. */
#ifndef HALO_ABI_H
#define HALO_ABI_H
#include <stddef.h>
#include <stdint.h>
#ifndef HALO_ABI_1
#define HALO_ABI_1

/* A picture or array in the host's memory. The library never frees or keeps it. */
typedef struct halo_image {
    void     *data;        /* the pixel at (0, 0, ...) */
    int32_t   extent[5];   /* width, height, ... in pixels; 1 beyond the rank */
    ptrdiff_t stride[5];   /* bytes from one pixel to the next along each dimension; may be negative */
} halo_image;

/* A rectangle of an output, in pixels from the output's first. */
typedef struct halo_part { int32_t start[5], extent[5]; } halo_part;

/* How the host wants a call to run. Every member may be NULL or 0; the whole may be NULL: one thread, malloc. */
typedef struct halo_exec {
    /* Calls task(context, i) once for every i in 0..<count, in any order, at once if it likes; returns when all are done.
     * The library calls it once per dispatch, count <= workers; tasks take strips from a shared counter and never wait
     * for one another. */
    void  (*parallel_for)(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context);
    int32_t workers;                             /* tasks that can run at a time; 0 means 8 */
    /* On the calling thread only, before and after parallel_for. All that grows with a picture or a parameter comes from
     * here; a task's stack stays under 16 KiB. NULL from allocate ends the call with HALO_ERROR_MEMORY. */
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    void  (*release)(void *user, void *memory);
    int   (*cancelled)(void *user);              /* asked when a task starts, then about once per millisecond of work */
    void  (*progress)(void *user, float done);   /* never falls; the last call is 1.0, by the calling thread, only on HALO_OK */
    void   *user;
} halo_exec;

enum { HALO_OK = 0, HALO_ERROR_NULL, HALO_ERROR_SIZE, HALO_ERROR_STRIDE, HALO_ERROR_OVERLAP,
       HALO_ERROR_PARAMETER, HALO_ERROR_MEMORY, HALO_CANCELLED };

#endif
#endif
