/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Made samples of fixed work, disturbed by a clock that moves, by time that is stolen, by both and by neither. */
#include "analysis/stats/disturbance.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

/* What disturbs: pieces of stolen time, a second and in us; how far the clock falls, for 3 ms each; jitter of a
 * reading. */
struct world {
    double rate_hz, piece_us, depth, jitter_us;
    double long_part; /* of the pieces: they last 4 ms, as another task does */
};

static double at_us, next_piece_us, next_clock_us, slower;

static double take(const struct world *w, double work_us, struct rng *r)
{
    const double begun = at_us;
    double left = work_us;
    while (at_us >= next_clock_us) {
        slower = 1 + w->depth * rng_unit(r);
        next_clock_us += rng_range(r, 1000, 5000);
    }
    at_us += left * slower + w->jitter_us * fabs(rng_normal(r));
    while (w->rate_hz > 0 && next_piece_us < at_us) {
        if (next_piece_us >= begun)
            at_us += rng_chance(r, w->long_part) ? 4000 : w->piece_us * rng_range(r, 0.8, 1.4);
        next_piece_us -= log(1 - rng_unit(r)) * 1e6 / w->rate_hz;
    }
    return at_us - begun;
}

static void make(const struct world *w, uint64_t seed, struct disturbance_slices *out)
{
    static const double lengths[DISTURBANCE_LENGTHS] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
    struct rng r;
    rng_init(&r, seed, 0);
    at_us = next_piece_us = next_clock_us = 0;
    for (out->rounds = 0; out->rounds < DISTURBANCE_ROUNDS; out->rounds++)
        for (size_t i = 0; i < DISTURBANCE_LENGTHS; i++) {
            double end = at_us + 5000, *fastest = &out->fastest[i][out->rounds],
                   *slowest = &out->slowest[i][out->rounds];
            *fastest = INFINITY;
            *slowest = 0;
            while (at_us < end) {
                double us = take(w, 0.8 * lengths[i], &r);
                *fastest = fmin(*fastest, us);
                *slowest = fmax(*slowest, us);
            }
        }
}

static void expect(const struct world *w, enum disturbance_kind kind, double lo, double hi)
{
    enum { SEEDS = 40 };
    unsigned as_expected = 0, n = rng_fewer_sanitized(SEEDS);
    struct disturbance_slices s;
    struct disturbance d;
    for (unsigned seed = 0; seed < n; seed++) {
        make(w, seed, &s);
        disturbance_find(&s, &d);
        as_expected += d.kind == kind;
        if (d.kind == kind && kind != DISTURBANCE_UNDECIDED)
            assert_true(d.slope.value >= lo && d.slope.value <= hi && d.slope.lo < d.slope.value);
        assert_int_equal(d.why[0] != '\0', d.kind == DISTURBANCE_UNDECIDED);
        assert_int_equal(isnan(d.each_us), d.kind != DISTURBANCE_STOLEN && d.kind != DISTURBANCE_BOTH);
        assert_int_equal(isnan(d.part), d.kind != DISTURBANCE_CLOCK && d.kind != DISTURBANCE_BOTH);
    }
    if (as_expected < 19 * n / 20)
        fail_msg("%u of %u", as_expected, n);
}

TEST(a_clock_that_moves)
{
    expect(&(struct world){.depth = 0.1, .jitter_us = 0.02}, DISTURBANCE_CLOCK, 0.9, 1.1);
    expect(&(struct world){.depth = 0.01, .jitter_us = 0.02}, DISTURBANCE_CLOCK, 0.8, 1.1);
}

TEST(stolen_time)
{
    expect(&(struct world){.rate_hz = 250, .piece_us = 20, .jitter_us = 0.02}, DISTURBANCE_STOLEN, -0.1, 0.1);
    expect(&(struct world){.rate_hz = 1000, .piece_us = 2, .jitter_us = 0.02}, DISTURBANCE_STOLEN, -0.1, 0.15);
    expect(&(struct world){.rate_hz = 100, .piece_us = 3000, .jitter_us = 0.02}, DISTURBANCE_STOLEN, -0.2, 0.2);
}

/* Interrupts and another task: whatever the slope is by chance, it is no clock. */
TEST(pieces_of_two_lengths)
{
    const struct world w = {.rate_hz = 280, .piece_us = 20, .jitter_us = 0.02, .long_part = 0.15};
    struct disturbance_slices s;
    struct disturbance d;
    unsigned stolen = 0, clock = 0, n = rng_fewer_sanitized(100);
    for (unsigned seed = 0; seed < n; seed++) {
        make(&w, seed, &s);
        disturbance_find(&s, &d);
        clock += d.kind == DISTURBANCE_CLOCK || d.kind == DISTURBANCE_BOTH;
        stolen += d.kind == DISTURBANCE_STOLEN;
    }
    if (stolen < n / 2 || clock > n / 20)
        fail_msg("%u and %u of %u", stolen, clock, n);
}

TEST(both)
{
    expect(&(struct world){.rate_hz = 250, .piece_us = 20, .depth = 0.25, .jitter_us = 0.02}, DISTURBANCE_BOTH, 0, 0.6);
    expect(&(struct world){.rate_hz = 300, .piece_us = 5, .depth = 0.1, .jitter_us = 0.02}, DISTURBANCE_BOTH, 0.2, 0.8);
}

TEST(neither)
{
    expect(&(struct world){.jitter_us = 0.02}, DISTURBANCE_UNDECIDED, 0, 0);
    struct disturbance_slices none = {.rounds = 2};
    struct disturbance d;
    disturbance_find(&none, &d);
    assert_int_equal(d.kind, DISTURBANCE_UNDECIDED);
    assert_non_null(strstr(d.why, "too long"));
}
