/* SPDX-License-Identifier: MIT
 * Nothing is read or written outside of a picture's extents, wherever it lies and whatever its size; every pixel is the
 * interpreter's. */
#include "support.h"

static const int32_t SIZES[][2] = {
    { 1, 1 }, { 1, 2 }, { 2, 1 }, { 3, 2 }, { 1, 19 }, { 23, 1 }, { 5, 4 }, { 8, 8 }, { 15, 3 }, { 16, 17 }, { 17, 5 }, { 31, 6 }, { 33, 2 },
    { 64, 9 }, { 65, 11 }, { 70, 50 },
};

static void every_placement(void **state)
{
    const filter *f = *state;
    for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
        call first, moved;
        if (!call_begin(&first, f, SIZES[s][0], SIZES[s][1], PLACE_ends)) continue;
        for (placement where = 0; where < PLACE_COUNT; where++) {
            call_move(&moved, &first, where);
            say_where("pages", &moved, (int)where);
            call_check(&moved, NULL);
            call_end(&moved);
        }
        call_end(&first);
    }
}

int main(void)
{
    catch_faults();
    assert_in_range(N_FILTERS, 1, MOST_FILTERS);
    struct CMUnitTest tests[MOST_FILTERS];
    size_t n = 0;
    for (; n < N_FILTERS; n++)
        tests[n] = (struct CMUnitTest){ FILTERS[n].name, every_placement, NULL, NULL, (void *)(uintptr_t)&FILTERS[n] };
    return _cmocka_run_group_tests("pages", tests, n, NULL, NULL);
}
