/* The parts of the measuring program: pictures, threads, contenders and the machine's limits. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/include/halo/abi.h"

/* --- pictures.c --- */

enum { MAX_PICTURES = 16, RANK = 5 };

typedef enum element { ELEMENT_u8, ELEMENT_i8, ELEMENT_u16, ELEMENT_i16, ELEMENT_u32, ELEMENT_i32, ELEMENT_f32 } element;

/* A picture without padding between its rows, so that everything but its margins can be seen as one line of elements. */
typedef struct picture {
    char    name[64], values[16];
    bool    output, planar;
    element element;
    int     components, rank;
    int32_t extent[RANK];
    size_t  bytes;
    uint8_t *block, *data;     /* data lies in block with a guard on either side */
} picture;

/* Reads "in:src:u8:3:interleaved:1536x2560:photo". False with a message on stderr. */
bool picture_parse(picture *p, const char *text);
/* The staggering by `number` keeps pictures from meeting at the same place of every page. */
bool picture_allocate(picture *p, int number);
void picture_fill(picture *p);
void picture_poison(picture *p);
bool picture_guards_hold(const picture *p);
halo_image picture_view(const picture *p);

/* How far the values of an output lie from those that are right. */
typedef struct difference {
    double  worst;             /* the largest difference, f32 relative to the larger of |right| and 1 */
    int64_t count;             /* elements beyond the tolerance */
    int64_t x, y, component;   /* of the worst of them */
    double  value, right;
} difference;

/* tolerance 0: the bits have to be equal. */
difference picture_compare(const picture *p, const uint8_t *right, double tolerance, int margin);

/* --- pool.c: the threads that Halo gets from its host, here --- */

typedef struct pool pool;
pool *pool_new(int threads);
void  pool_parallel_for(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context);

/* --- machine.c: what the roofline is made of --- */

double machine_copy_bandwidth(int threads);   /* GB/s read and written by a copy with streaming stores */
double machine_fma_peak(int threads);         /* GFLOP/s in f32 */

/* Seconds by the clock, or of this process on its processors, which others that use the machine don't lengthen. */
double now(void);
double used(void);

#endif
