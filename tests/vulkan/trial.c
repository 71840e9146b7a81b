/* SPDX-License-Identifier: MIT
 * What a trial switches, and which of it a failure needs. */
#include "trial.h"

#include <stddef.h>

/* ---- choosing ------------------------------------------------------------------------------------------------ */

/* Tiles that no picture divides into, tiny ones, and those around the picture's size: one pixel less, as large, one more. */
static void choose_tile(const trial *t, random_source *r, trial_choices *c)
{
    static const int8_t sizes[][2] = { { 1, 1 }, { 3, 2 }, { 4, 4 }, { 2, 7 }, { 8, 8 }, { 16, 5 }, { 5, 1 }, { 32, 16 } };
    int what = random_below(r, 4);
    if (what == 0) return;
    const int8_t *size = sizes[random_below(r, sizeof sizes / sizeof *sizes)];
    c->tile_width = size[0];
    c->tile_height = size[1];
    if (what == 1 || t->pipe->n_inputs == 0) return;
    int extent[2] = { t->extents[0][0] - 1 + random_below(r, 3), t->extents[0][1] - 1 + random_below(r, 3) };
    if (extent[0] > 0) c->tile_width = extent[0];
    if (extent[1] > 0) c->tile_height = extent[1];
}

static int64_t tiles_of(const trial *t, const trial_choices *c)
{
    int64_t n = 1;
    for (int d = 0; d < TENSOR_MAX_RANK && t->pipe->n_inputs; d++) {
        int tile = d == 0 ? c->tile_width : d == 1 ? c->tile_height : 1;
        n *= t->extents[0][d] / (tile ? tile : 16) + 1;
    }
    return n;
}

trial_choices trial_choose(const trial *t)
{
    random_source r = { t->seed * 2 + 77 };
    trial_choices c = { 0 };
    for (int k = 0; k < 8; k++) random_bits(&r);
    choose_tile(t, &r, &c);
    c.no_fuse = random_below(&r, 6) == 0;
    c.force_border = random_below(&r, 4) == 0;
    c.least_limits = random_below(&r, 3) == 0;
    c.words = random_below(&r, 3) == 0;
    c.strides = random_below(&r, 2);
    c.layouts = random_below(&r, 3) == 0;
    c.parts = random_below(&r, 2) ? 0 : 1 + random_below(&r, TRIAL_MOST_PARTS);
    c.slices = random_below(&r, 3) ? 0 : 1 + random_below(&r, TRIAL_MOST_SLICES - 1);
    if (random_below(&r, 3) == 0 && tiles_of(t, &c) < 150) c.most_workgroups = 1 + random_below(&r, 3);
    return c;
}

/* ---- reporting ------------------------------------------------------------------------------------------------- */

static const struct { const char *name; size_t at; } SWITCHES[] = {
#define SWITCH(name) { #name, offsetof(trial_choices, name) }
    SWITCH(parts), SWITCH(slices), SWITCH(most_workgroups), SWITCH(strides), SWITCH(layouts), SWITCH(least_limits), SWITCH(words),
    SWITCH(no_fuse), SWITCH(force_border), SWITCH(tile_height), SWITCH(tile_width)
#undef SWITCH
};
enum { N_SWITCHES = sizeof SWITCHES / sizeof *SWITCHES };

static int *choice(trial_choices *c, int k) { return (int *)((char *)c + SWITCHES[k].at); }

void trial_print_choices(const trial_choices *choices, text *out)
{
    trial_choices c = *choices;
    for (int k = 0; k < N_SWITCHES; k++) if (*choice(&c, k)) text_printf(out, "%s %d  ", SWITCHES[k].name, *choice(&c, k));
    if (!out->count) text_string(out, "nothing switched");
}

trial_choices trial_blame(test_device *d, const trial *t, const trial_choices *choices)
{
    trial_choices least = *choices;
    for (int k = 0; k < N_SWITCHES; k++) {
        trial_choices fewer = least;
        text why = { 0 };
        *choice(&fewer, k) = 0;
        if (*choice(&least, k) && trial_run(d, t, &fewer, &why) == TRIAL_wrong) least = fewer;
        text_free(&why);
    }
    return least;
}
