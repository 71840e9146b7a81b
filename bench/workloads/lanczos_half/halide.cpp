#include "bench/halide_lanczos.h"

class LanczosHalf : public Lanczos<LanczosHalf, false> {};

HALIDE_REGISTER_GENERATOR(LanczosHalf, lanczos_half)
