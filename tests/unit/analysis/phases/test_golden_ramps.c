/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No answer about ramps changes unnoticed: what is found where the frequency falls or rises by and by, at once or in a
 * few steps, in all repetitions or some, is tests/golden/phases.ramps.txt. After an intended change `make golden`
 * rewrites it, and the diff shows what changed.
 */
#include "analysis/phases/phases.h"
#include "tests/support/golden.h"
#include "tests/support/one_of.h"
#include "tests/support/phases_lines.h"
#include "tests/support/random_numbers.h"
#include "tests/support/tally.h"
#include "tests/support/test.h"

enum { RUNS = 12, BEFORE_US = 80, BEHIND_US = 200 };

/* From 0 us on, or later in each repetition by up to `late` us, from one frequency to another with a time constant, or
 * in so many steps, each of which lasts that long; throttled meanwhile or not. */
struct slope {
    double from, to, tau, period, noise, late;
    unsigned steps;
    bool throttled, instant;
    double stays;  /* the share of the repetitions in which the frequency stays */
    double other;  /* by so much, relative, each fourth repetition runs faster from beginning to end */
    double halt;   /* us, at the beginning of the slope */
    double lost;   /* us, interrupted somewhere in each repetition */
    uint32_t runs; /* repetitions; 0: RUNS */
    double volts;  /* the voltage steps by so much at the beginning; 0: it is not recorded */
};

static const struct slope slopes[] = {
    {.from = 2.8, .to = 2.1, .tau = 30, .period = 1, .noise = 0.002},
    {.from = 2.8, .to = 2.1, .tau = 8, .period = 1, .noise = 0.002},
    {.from = 2.8, .to = 2.1, .tau = 2, .period = 1, .noise = 0.002},
    {.from = 2.1, .to = 2.8, .tau = 12, .period = 1, .noise = 0.002, .late = 20},
    {.from = 2.8, .to = 2.5, .tau = 60, .period = 1, .noise = 0.004},
    {.from = 2.8, .to = 2.1, .tau = 4, .period = 1, .noise = 0.002, .steps = 3},
    {.from = 2.8, .to = 2.1, .tau = 15, .period = 1, .noise = 0.002, .steps = 2},
    {.from = 2.8, .to = 2.1, .tau = 1.5, .period = 1, .noise = 0.002, .late = 15, .steps = 4},
    {.from = 2.8, .to = 2.1, .tau = 6, .period = 1, .noise = 0.002, .throttled = true},
    {.from = 2.8, .to = 2.1, .tau = 20, .period = 2, .noise = 0.003, .late = 5, .throttled = true},
    {.from = 2.8, .to = 2.1, .tau = 10, .period = 1, .noise = 0.003, .instant = true},
    {.from = 2.8, .to = 2.0, .tau = 3, .period = 0.5, .noise = 0.002, .late = 3},
    {.from = 2.1, .to = 2.8, .tau = 3, .period = 1, .noise = 0.003, .late = 40, .steps = 5, .instant = true},
    {.from = 2.8, .to = 2.1, .tau = 45, .period = 2, .noise = 0.002, .steps = 6},
    /* steps at other times or in some repetitions only, with halts, interruptions and a voltage */
    {.from = 2.8, .to = 2.5, .tau = 1, .period = 1, .noise = 0.002, .late = 100, .steps = 1},
    {.from = 2.8, .to = 2.5, .tau = 1, .period = 1, .noise = 0.002, .steps = 1, .stays = 0.3},
    {.from = 2.8, .to = 2.5, .tau = 1, .period = 1, .noise = 0.002, .steps = 1, .stays = 0.7, .halt = 10},
    {.from = 2.8, .to = 2.5, .tau = 1, .period = 1, .noise = 0.002, .steps = 1, .other = 0.06},
    {.from = 2.8, .to = 2.5, .tau = 30, .period = 1, .noise = 0.002, .steps = 2, .halt = 9, .late = 4, .lost = 12},
    {.from = 2.5,
     .to = 2.8,
     .tau = 1,
     .period = 2,
     .noise = 0.003,
     .steps = 1,
     .halt = 11,
     .late = 60,
     .lost = 25,
     .stays = 0.2},
    {.from = 2.8, .to = 2.5, .tau = 20, .period = 1, .noise = 0.002, .steps = 2, .volts = -0.05},
    {.from = 2.8,
     .to = 2.5,
     .tau = 1,
     .period = 1,
     .noise = 0.002,
     .steps = 1,
     .late = 50,
     .volts = 0.03,
     .stays = 0.3},
    {.from = 2.8, .to = 2.5, .tau = 10, .period = 1, .noise = 0.002, .halt = 8, .volts = -0.02},
    {.from = 2.8,
     .to = 2.5,
     .tau = 12,
     .period = 1,
     .noise = 0.004,
     .steps = 1,
     .throttled = true,
     .halt = 9,
     .instant = true},
    {.from = 2.8,
     .to = 2.5,
     .tau = 12,
     .period = 1,
     .noise = 0.003,
     .steps = 2,
     .throttled = true,
     .other = -0.04,
     .lost = 6},
    /* without noise, and in few repetitions */
    {.from = 2.8, .to = 2.5, .tau = 1, .period = 1, .steps = 1},
    {.from = 2.8, .to = 2.5, .tau = 20, .period = 1, .steps = 2, .halt = 10, .volts = 0.02},
    {.from = 2.5, .to = 2.5, .tau = 15, .period = 1, .throttled = true},
    {.from = 2.8, .to = 2.5, .tau = 20, .period = 1, .noise = 0.002, .runs = 1, .steps = 2, .halt = 10},
    {.from = 2.8, .to = 2.5, .tau = 10, .period = 1, .noise = 0.002, .runs = 2},
    {.from = 2.8, .to = 2.5, .tau = 20, .period = 1, .noise = 0.002, .runs = 4, .steps = 2, .late = 3},
};

static double ghz_at(const struct slope *s, double us)
{
    if (us < 0)
        return s->from;
    double left = s->steps ? 1 - fmin(s->steps, 1 + floor(us / s->tau)) / s->steps : exp(-us / s->tau);
    return s->to + (s->from - s->to) * left;
}

/* A sample that is due in a halt or an interruption is taken at its end, and its means are of the rest of it. */
static void add_repetition(const struct slope *s, struct rng *rng, uint32_t run, struct trace *t)
{
    const double begin = s->late * rng_unit(rng), factor = 1 + (run % 4 == 1 ? s->other : 0);
    const double lost_at = rng_range(rng, -BEFORE_US / 2.0, BEHIND_US / 2.0);
    const bool stays = rng_chance(rng, s->stays);
    double end = -BEFORE_US + s->period * rng_unit(rng);
    for (double begun = end - s->period; end < BEHIND_US; begun = end, end += s->period) {
        double off = 0, ghz = 0, us = end - begin, length = end - begun;
        if (!stays && begun < begin && end >= begin)
            off += s->halt;
        if (begun < lost_at && end >= lost_at)
            off += s->lost;
        for (int i = 0; i < 8; i++)
            ghz += (stays ? s->from : ghz_at(s, s->instant ? us : us - length * (i + 0.5) / 8)) * factor / 8;
        end += off;
        if (!s->instant)
            ghz *= length / (length + off);
        bool slow = s->throttled && us > 0 && us < 2 * s->tau;
        assert_int_equal(trace_append(t, run, end), 0);
        t->channel[TRACE_FREQ][t->n - 1] = (float)(ghz * (1 + s->noise * rng_normal(rng)));
        t->channel[TRACE_IPC][t->n - 1] = (float)((slow ? 0.25 : 1) * (1 + s->noise * rng_normal(rng)));
        if (s->volts != 0)
            t->channel[TRACE_VOLTS][t->n - 1] = (float)(0.8 + (us > 0 && !stays ? s->volts : 0) +
                                                        0.002 * rng_normal(rng));
    }
}

static void make_slope(const struct slope *s, uint64_t seed, struct trace *t)
{
    struct rng rng;
    rng_init(&rng, seed, 77);
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    if (s->instant)
        assert_int_equal(trace_set(t, "frequency", "instantaneous") | trace_set_number(t, "clock_step_ns", 1) |
                             trace_set_number(t, "chain_cycles", 500) | trace_set_number(t, "reading_us", 0.2),
                         0);
    if (s->volts != 0)
        assert_int_equal(trace_add_channel(t, TRACE_VOLTS), 0);
    for (uint32_t run = 0; run < (s->runs ? s->runs : RUNS); run++)
        add_repetition(s, &rng, run, t);
}

TEST(slopes_are_told_as_they_were)
{
    struct golden g;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
        struct trace t;
        struct phases p;
        char why[300];
        make_slope(&slopes[i], i + 1, &t);
        fprintf(out, "# %zu\n", i + 1);
        if (phases_find(&t, &p, why, sizeof why))
            fail_msg("%s", why);
        phases_lines_write(out, &p);
        phases_free(&p);
        trace_free(&t);
    }
    golden_expect(&g, "phases", "ramps.txt", true);
}

/* Few values, so that ramps, steps and drifts are as long as an analysis just tells apart, or just not. */
static struct slope random_slope(struct rng *r)
{
    struct slope s = {.from = ONE_OF(r, 2.5, 2.75, 0.75),
                      .tau = ONE_OF(r, 0.5, 1, 2, 3, 4, 8, 9, 16, 30, 60),
                      .period = ONE_OF(r, 1, 1, 2),
                      .noise = ONE_OF(r, 0, 0.0005, 0.001, 0.002, 0.004),
                      .late = ONE_OF(r, 0, 0, 3, 12),
                      .steps = (unsigned)ONE_OF(r, 0, 0, 0, 1, 2, 3),
                      .throttled = rng_chance(r, 0.3),
                      .instant = rng_chance(r, 0.3),
                      .stays = ONE_OF(r, 0, 0, 0.3, 0.6),
                      .other = ONE_OF(r, 0, 0, 0.03125),
                      .halt = ONE_OF(r, 0, 0, 8),
                      .lost = ONE_OF(r, 0, 0, 0, 6),
                      .runs = (uint32_t)ONE_OF(r, 1, 2, 3, 4, 5, 6)};
    s.to = s.from * ONE_OF(r, 0.75, 0.9375, 0.96875, 0.984375, 0.9921875, 1, 1.0078125, 1.125);
    return s;
}

TEST(random_slopes_are_told_as_they_were)
{
    enum { LINES = 60, OF_EACH = 3 };
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 78);
    for (uint64_t line = 1; line <= LINES; line++) {
        struct tally sum = {0};
        for (uint64_t i = 0; i < OF_EACH; i++) {
            struct slope s = random_slope(&r);
            struct trace t;
            struct phases p;
            char why[300];
            make_slope(&s, 1000 + OF_EACH * line + i, &t);
            if (phases_find(&t, &p, why, sizeof why))
                fail_msg("%s", why);
            tally_phases(&sum, &p);
            phases_free(&p);
            trace_free(&t);
        }
        fprintf(out, "%u", (unsigned)line);
        tally_write(out, "found", &sum);
        fputc('\n', out);
    }
    golden_expect(&g, "phases", "ramps-random.txt", true);
}
