/* SPDX-License-Identifier: MIT
 * Rounding and f16 of values of every kind, whatever instructions the processor has for them: the bits of the interpreter. */
#include "support.h"

static const uint32_t SPECIAL[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x3effffff, 0x3f000000, 0x3f000001, 0xbf000000, 0x3f7fffff, 0x3f800000, 0x3fc00000,
    0x40200000, 0xc0200000, 0x4affffff, 0x4b000000, 0x4b000001, 0x4b7fffff, 0xcb000001, 0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x5f000000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc00001, 0x46ffff00, 0xc7000000, 0xc7000080, 0x38800000, 0x387fffff,
    0x33000000, 0x33000001, 0x33800000, 0x477fe000, 0x477fefff, 0x477ff000, 0x47800000, 0x38000000, 0x33c00000,
};

/* Exponents of all sizes, and mantissas whose last bits are often 0, 1 or a half. */
static uint32_t some_bits(uint32_t k)
{
    if (k < sizeof SPECIAL / sizeof *SPECIAL) return SPECIAL[k];
    uint32_t r = k * 2654435761u;
    r ^= r >> 15;
    r *= 2246822519u;
    r ^= r >> 13;
    uint32_t exponent = k & 1 ? 100 + r % 60 : r % 256, mantissa = (r >> 8) & 0x7fffff;
    if (k & 2) mantissa &= ~0u << (k % 23);
    return (r >> 31) << 31 | exponent << 23 | (mantissa & 0x7fffff);
}

static void check_bits(const char *name, uint32_t (*bits)(uint32_t k))
{
    call c;
    assert_true(call_begin(&c, find_filter(name), 256, 256, PLACE_ends));
    picture *in = &c.in[0];
    for (int32_t y = 0; y < 256; y++)
        for (int32_t x = 0; x < 256; x++) {
            uint32_t word = bits((uint32_t)(256 * y + x));
            memcpy(component_at(in, (int32_t[5]){ x, y }, 0), &word, (size_t)in->type.bytes);
        }
    call_expect(&c);
    say_where("numbers", &c, 0);
    call_check(&c, NULL);
    call_end(&c);
}

static uint32_t itself(uint32_t k) { return k; }

static void rounding(void **state) { (void)state; check_bits("rounding", some_bits); }
static void floats_to_halves(void **state) { (void)state; check_bits("to_half", some_bits); }
static void halves(void **state) { (void)state; check_bits("halves", itself); }

int main(void)
{
    catch_faults();
    static const struct CMUnitTest TESTS[] = { cmocka_unit_test(rounding), cmocka_unit_test(floats_to_halves), cmocka_unit_test(halves) };
    return cmocka_run_group_tests_name("numbers", TESTS, NULL, NULL);
}
