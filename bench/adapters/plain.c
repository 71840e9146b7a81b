/* The plain C loop nest as a contender. */
#include <omp.h>

#include "runtime/include/halo/abi.h"

void plain(const halo_image *images);

void contender_prepare(int threads)
{
    omp_set_num_threads(threads);
}

int contender_run(const halo_image *images, const halo_exec *exec)
{
    (void)exec;
    plain(images);
    return 0;
}
