#include "bench/halide_lanczos.h"

class LanczosDouble : public Lanczos<LanczosDouble, true> {};

HALIDE_REGISTER_GENERATOR(LanczosDouble, lanczos_double)
