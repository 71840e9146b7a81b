#include "bench/plain_lanczos.h"

void plain(const halo_image *images) { plain_lanczos(&images[0], &images[1]); }
