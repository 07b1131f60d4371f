/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of phases and levels that hold all the frequencies that were taken for one. */
#include "analysis/phases/findings.h"
#include "tests/support/test.h"

static void expect(const struct estimate *e, double lo, double hi)
{
    assert_close(e->lo, lo, 1e-9);
    assert_close(e->hi, hi, 1e-9);
}

/*
 * Four phases: limits for four are wider by 2.4977 / 1.96. Level 0 is 3 GHz give or take 10 MHz, level 1 is 2.7: of
 * its phases one is apart by itself, one was put together of two, and one is a halt, which has no level.
 */
TEST(limits_hold_what_was_taken_for_one)
{
    enum { PHASES = 4 };
    struct piece piece[PHASES] = {{.spread_ghz = 0}, {.spread_ghz = 0}, {.spread_ghz = 0.03}, {.spread_ghz = 0}};
    const struct segmentation o = {.n_pieces = PHASES, .piece = piece};
    for (int far = 0; far < 2; far++) {
        double first = 3 + (far ? 1.01 : 0.99) * 2.49771 / 1.959964 * hypot(0.01, 0.01);
        struct phase phase[PHASES] = {
            {.kind = PHASE_STEADY, .level = 0, .freq_ghz = {first, first - 0.01, first + 0.01}},
            {.kind = PHASE_HALT, .level = 0, .freq_ghz = {3.5, 3.4, 3.6}},
            {.kind = PHASE_STEADY, .level = 1, .freq_ghz = {2.7, 2.69, 2.71}},
            {.kind = PHASE_STEADY, .level = -1, .freq_ghz = {2, 1.9, 2.1}},
        };
        struct estimate levels[2] = {{3, 2.99, 3.05}, {2.7, 2.68, 2.72}}; /* the narrower side counts */
        struct phases p = {.phases = phase, .n_phases = PHASES, .levels = levels, .n_levels = 2};
        levels_hold(&o, &p);
        expect(&phase[0].freq_ghz, first - 0.01, first + 0.01);
        expect(&phase[1].freq_ghz, 3.4, 3.6);
        expect(&phase[2].freq_ghz, 2.66, 2.74);
        expect(&phase[3].freq_ghz, 1.9, 2.1);
        expect(&levels[0], 2.99, 3.05);
        expect(&levels[1], 2.66, 2.74);
        /* a level of narrow limits takes those of a phase that is apart */
        levels[0] = (struct estimate){3, 2.99, 3.01};
        levels_hold(&o, &p);
        expect(&levels[0], 2.99, far ? first + 0.01 : 3.01);
    }
}
