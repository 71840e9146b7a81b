/* Binomial blur of 5 x 5 pixels. */
#include "bench/halide_gaussian.h"

struct Blur : SeparableBlur<Blur, float> {
    static std::vector<float> weights() { return {1 / 16.0f, 4 / 16.0f, 6 / 16.0f, 4 / 16.0f, 1 / 16.0f}; }
};
HALIDE_REGISTER_GENERATOR(Blur, gauss5_f32x3)
