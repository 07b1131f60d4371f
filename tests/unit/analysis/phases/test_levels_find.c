/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which frequencies of phases are one level, which level a phase is at, and which phases are slow. */
#include "analysis/phases/findings.h"
#include "tests/support/test.h"

enum { MOST = 6, RUNS = 2 };

/* A recording of these phases, all edges of which are steps of the frequency alone. */
struct recording {
    struct phase phase[MOST];
    struct piece piece[MOST];
    struct edge_kind edge[MOST];
    double time[MOST * RUNS];
    struct segmentation o;
    struct phases p;
};

/* Limits `half` on either side; 0: none are known. */
static struct phase phase(enum phase_kind kind, double ghz, double half, double us)
{
    struct phase ph = {.kind = kind, .freq_ghz = estimate_around(ghz, half > 0 ? half : NAN), .level = 9};
    ph.duration_us.value = us;
    return ph;
}

static void find(struct recording *r, size_t n, bool expect_merged)
{
    bool merged;
    r->o = (struct segmentation){.n_pieces = n, .piece = r->piece, .edge = r->edge, .n_runs = RUNS, .time = r->time};
    r->p = (struct phases){.phases = r->phase, .n_phases = n};
    for (size_t e = 0; e < n; e++) {
        r->piece[e].samples = 10;
        r->edge[e].change[TRACE_FREQ] = 1;
        for (size_t k = 0; k < RUNS; k++)
            r->time[e * RUNS + k] = 10 * (double)(e + 1);
    }
    assert_int_equal(levels_find(&r->o, &r->p, &merged), 0);
    assert_int_equal(merged, expect_merged);
}

static void expect_level(struct recording *r, size_t i, double ghz, double half)
{
    assert_true(i < r->p.n_levels);
    assert_close(r->p.levels_ghz[i], ghz, 1e-12);
    assert_close(r->p.levels[i].value, ghz, 1e-12);
    if (half > 0) {
        assert_close(r->p.levels[i].lo, ghz - half, 1e-12);
        assert_close(r->p.levels[i].hi, ghz + half, 1e-12);
    } else {
        assert_true(isnan(r->p.levels[i].lo) && isnan(r->p.levels[i].hi));
    }
}

static void forget(struct recording *r)
{
    free(r->p.levels_ghz);
    free(r->p.levels);
}

/* Clocks wander by 0.35 % of the level, the longest phase first; or limits allow more: of two phases 1.143573 times
 * the 95 % limits (2.241403, the normal quantile for 2.5 % in two, by 1.96). */
TEST(frequencies_within_limits_are_one_level)
{
    static const struct {
        double apart, half[2];
        bool one;
    } cases[] = {
        {0.01049, {0, 0}, true},         {0.01051, {0, 0}, false},         {0.0571, {0.03, 0.04}, true},
        {0.0573, {0.03, 0.04}, false},   {0.0342, {0, 0.03}, true},        {0.0344, {0, 0.03}, false},
        {0.01049, {0.001, 0.002}, true}, {0.01051, {0.001, 0.002}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct recording r = {.o = {0}};
            double other = 3 + sign * cases[i].apart;
            r.phase[0] = phase(PHASE_STEADY, 3, cases[i].half[0], 30);
            r.phase[1] = phase(PHASE_STEADY, other, cases[i].half[1], 10);
            find(&r, 2, cases[i].one);
            assert_int_equal(r.p.n_levels, cases[i].one ? 1 : 2);
            if (cases[i].one) {
                expect_level(&r, 0, (3 * 30 + other * 10) / 40, cases[i].half[0]);
            } else {
                size_t first = sign < 0 ? 0 : 1;
                expect_level(&r, first, 3, cases[i].half[0]);
                expect_level(&r, 1 - first, other, cases[i].half[1]);
                assert_int_equal(r.phase[0].level, (int)first);
                assert_int_equal(r.phase[1].level, 1 - (int)first);
                assert_int_equal(r.phase[0].kind, sign < 0 ? PHASE_STEADY : PHASE_SLOW); /* what rises is slow */
                assert_int_equal(r.phase[1].kind, PHASE_STEADY);
            }
            forget(&r);
        }
}

/* The mean of its phases by their lengths; the nearest one takes a phase. Phases that throttle count where nothing else
 * is known; halts, ramps and what is unknown do not. */
TEST(a_level_is_the_mean_of_its_phases)
{
    struct recording r = {.o = {0}};
    r.phase[0] = phase(PHASE_STEADY, 3.003, 0, 20);
    r.phase[1] = phase(PHASE_HALT, 3.4, 0, 500);
    r.phase[2] = phase(PHASE_STEADY, 3, 0, 100);
    r.phase[3] = phase(PHASE_UNKNOWN, 2.5, 0, 1000);
    r.phase[4] = phase(PHASE_STEADY, 3.006, 0, 50);
    r.phase[5] = phase(PHASE_STEADY, 2, 0.01, 10);
    find(&r, 6, false);
    assert_int_equal(r.p.n_levels, 2);
    expect_level(&r, 0, (300 + 150.3 + 60.06) / 170, 0);
    expect_level(&r, 1, 2, 0.01);
    const int levels[] = {0, -1, 0, 1, 0, 1}; /* 2.5 is nearer to 2 than to 3.003 */
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(r.phase[i].level, levels[i]);
    forget(&r);
}

TEST(what_was_seen_throttled_gives_way)
{
    for (int steady = 0; steady < 2; steady++) {
        struct recording r = {.o = {0}};
        r.phase[0] = phase(PHASE_THROTTLE, 3, 0.001, 100);
        r.phase[1] = phase(PHASE_HALT, NAN, 0, 1);
        r.phase[2] = phase(steady ? PHASE_STEADY : PHASE_THROTTLE, 3.008, 0.002, 50);
        r.phase[3] = phase(PHASE_HALT, NAN, 0, 1);
        r.phase[4] = phase(PHASE_THROTTLE, 3.006, 0.003, 10);
        r.phase[5] = phase(PHASE_THROTTLE, 2.4, 0.001, 40);
        r.phase[5].tau_us.value = 5; /* it is on the way */
        find(&r, 6, false);
        assert_int_equal(r.p.n_levels, 1);
        if (steady)
            expect_level(&r, 0, 3.008, 0.002);
        else
            expect_level(&r, 0, (300 + 150.4 + 30.06) / 160, 0.001);
        assert_int_equal(r.phase[5].level, -1);
        assert_int_equal(r.phase[1].level, -1);
        assert_int_equal(r.phase[4].level, 0);
        forget(&r);
    }
}

/* Slow is what a higher frequency follows, through a halt or a ramp, too; no longer slow is what none follows. */
TEST(what_rises_at_its_end_is_slow)
{
    struct recording r = {.o = {0}};
    r.phase[0] = phase(PHASE_STEADY, 2, 0, 30);
    r.phase[1] = phase(PHASE_HALT, NAN, 0, 10);
    r.phase[2] = phase(PHASE_RAMP, 2.2, 0, 10);
    r.phase[3] = phase(PHASE_STEADY, 3, 0, 30);
    r.phase[4] = phase(PHASE_SLOW, 2.5, 0, 30);
    r.phase[5] = phase(PHASE_SLOW, 2, 0, 30);
    find(&r, 6, false);
    assert_int_equal(r.p.n_levels, 3);
    assert_int_equal(r.phase[0].kind, PHASE_SLOW);
    assert_int_equal(r.phase[2].level, -1);
    assert_int_equal(r.phase[3].kind, PHASE_STEADY);
    assert_int_equal(r.phase[4].kind, PHASE_STEADY);
    assert_int_equal(r.phase[5].kind, PHASE_STEADY);
    forget(&r);
}

TEST(without_a_clock_licenses_name_the_level)
{
    struct recording r = {.o = {0}};
    for (size_t i = 0; i < 4; i++) {
        r.phase[i] = phase(PHASE_STEADY, NAN, 0, 10);
        r.phase[i].share[i] = i ? 0.51 : 0.5; /* the last one counts throttled cycles */
    }
    r.phase[3].share[0] = 0.6;
    find(&r, 4, false);
    const int levels[] = {-1, 1, 2, 0};
    assert_int_equal(r.p.n_levels, 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(r.phase[i].level, levels[i]);
        assert_int_equal(r.phase[i].kind, PHASE_STEADY); /* they do not tell frequencies */
    }
    forget(&r);
}

/*
 * Neighbours at one level become one where nothing but the frequency or the rate steps. If limits tell them apart (of
 * two: 1.143573 * hypot(0.001, 0.001) = 1.617 MHz), it is known to move by so much; or by more, if it did before.
 */
TEST(neighbours_at_one_level_become_one)
{
    static const struct {
        double step, spread[2], expected;
    } cases[] = {
        {0.0016, {0, 0}, 0},        {0.0017, {0, 0}, 0.0017},     {-0.0017, {0, 0}, 0.0017},
        {0.008, {0.009, 0}, 0.009}, {0.008, {0.009, 0.01}, 0.01}, {0.008, {0.003, 0.002}, 0.008},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recording r = {.o = {0}};
        r.phase[0] = phase(PHASE_STEADY, 3, 0.001, 30);
        r.phase[1] = phase(PHASE_STEADY, 3 + cases[i].step, 0.001, 10);
        r.piece[0].spread_ghz = cases[i].spread[0];
        r.piece[1].spread_ghz = cases[i].spread[1];
        find(&r, 2, true);
        assert_int_equal(r.p.n_phases, 1);
        assert_int_equal(r.o.n_pieces, 1);
        assert_close(r.piece[0].spread_ghz, cases[i].expected, 1e-12);
        forget(&r);
    }
}

TEST(what_follows_moves_up)
{
    static const double ghz[] = {3, 3, 2.5, 2};
    struct recording r = {.o = {0}};
    for (size_t i = 0; i < 4; i++)
        r.phase[i] = phase(PHASE_STEADY, ghz[i], 0, 10 + (double)i);
    find(&r, 4, true);
    assert_int_equal(r.p.n_phases, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_close(r.phase[i].freq_ghz.value, ghz[i + (i > 0)], 0);
        assert_close(r.phase[i].duration_us.value, 10 + (double)(i + (i > 0)), 0);
        assert_int_equal(r.phase[i].level, (int)i);
    }
    forget(&r);
}

TEST(what_else_steps_keeps_them_apart)
{
    for (int c = -1; c < TRACE_CHANNELS; c++) {
        struct recording r = {.o = {0}};
        for (size_t i = 0; i < 3; i++)
            r.phase[i] = phase(PHASE_STEADY, i ? 3 : 2, 0, 10 + (double)i);
        if (c < 0)
            r.edge[1].forced = true;
        else
            r.edge[1].change[c] = 1;
        bool merged = c == TRACE_FREQ || c == TRACE_IPC;
        find(&r, 3, merged);
        assert_int_equal(r.p.n_phases, merged ? 2 : 3);
        assert_int_equal(r.o.n_pieces, merged ? 2 : 3);
        assert_close(r.phase[1].duration_us.value, 11, 0); /* the second of them went */
        forget(&r);
    }
}
