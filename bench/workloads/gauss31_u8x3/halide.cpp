/* A Gaussian of 31 taps, sigma 5. */
#include "bench/halide_gaussian.h"

struct Blur : SeparableBlur<Blur, uint8_t> {
    static std::vector<float> weights() { return gaussian_weights(15, 5); }
};
HALIDE_REGISTER_GENERATOR(Blur, gauss31_u8x3)
