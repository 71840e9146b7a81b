/* What the generated adapters of Halide's pipelines share: its view of a picture, and its threads. */
#include <HalideRuntime.h>
#include <stdio.h>
#include <string.h>

#include "runtime/include/halo/abi.h"

typedef struct kind {
    struct halide_type_t type;
    int rank, components, planar;
} kind;

static void say(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "halide: %s\n", text);
}

void contender_prepare(int threads)
{
    halide_set_error_handler(say);
    halide_set_num_threads(threads);
}

/* Strides count elements; components are the dimension after the last, but if there is only one. */
static inline void view(halide_buffer_t *buffer, halide_dimension_t *dimensions, const halo_image *image, const kind *k)
{
    ptrdiff_t bytes = k->type.bits / 8;
    memset(buffer, 0, sizeof *buffer);
    memset(dimensions, 0, sizeof(halide_dimension_t) * 6);
    for (int d = 0; d < k->rank; d++)
        dimensions[d] = (halide_dimension_t){0, image->extent[d], (int32_t)(image->stride[d] / bytes), 0};
    if (k->components > 1)
        dimensions[k->rank] = (halide_dimension_t){0, k->components, k->planar ? (int32_t)(image->stride[k->rank] / bytes) : 1, 0};
    buffer->host = image->data;
    buffer->type = k->type;
    buffer->dimensions = k->rank + (k->components > 1);
    buffer->dim = dimensions;
}
