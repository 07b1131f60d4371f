/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What becomes of findings at random, of values that tie and lie at limits more often than any recording's do, when
 * they are joined to the long part of a recording, is that of tests/golden/. After an intended change, `make golden`
 * rewrites these.
 */
#include "analysis/phases/findings.h"
#include "analysis/phases/tail/tail.h"
#include "tests/support/golden.h"
#include "tests/support/one_of.h"
#include "tests/support/tally.h"
#include "tests/support/test.h"

enum { LINES = 100, OF_EACH = 72, PHASES_MAX = 24, CHANGES_MAX = 4, LEVELS = 3 };

static const double level_ghz[LEVELS] = {3, 2.75, 2.5};

static struct estimate draw_limits(struct rng *r, double value)
{
    double below = ONE_OF(r, 0, 0.0009765625, 0.0078125, 0.125, NAN), above = rng_chance(r, 0.2) ? 0.25 : below;
    return (struct estimate){value, value - below, value + above};
}

static struct ramp_side draw_side(struct rng *r, double at)
{
    double from = ONE_OF(r, 0.5, 0.75, 1, 1.25);
    return (struct ramp_side){.begin_us = draw_limits(r, at),
                              .end_us = draw_limits(r, at + 40),
                              .from = draw_limits(r, from),
                              .to = draw_limits(r, 1),
                              .tau_us = draw_limits(r, ONE_OF(r, 5, 10, 29, 30, 31)),
                              .runs = (size_t)rng_int(r, 1, 9)};
}

static void draw_phase(struct rng *r, double at, struct phase *ph)
{
    int level = rng_int(r, -1, LEVELS - 1);
    bool alike = rng_chance(r, 0.5); /* throttling that comes back */
    *ph = (struct phase){.kind = alike ? (rng_chance(r, 0.5) ? PHASE_THROTTLE : PHASE_STEADY)
                                       : (enum phase_kind)rng_int(r, 0, PHASE_UNKNOWN),
                         .start_us = at,
                         .level = alike ? 0 : level,
                         .ipc = ONE_OF(r, 1, 0.5, 0.9375, 1.0625, NAN),
                         .ipc_ratio = ONE_OF(r, 1, 0.5, 0.5, 0.525, 0.9375, 0.25, 1.0625, NAN),
                         .volts = ONE_OF(r, NAN, 1),
                         .freq_half_ghz = ONE_OF(r, 0.0009765625, 0.0078125),
                         .agreeing_runs = (size_t)rng_int(r, 1, 12)};
    ph->duration_us = draw_limits(r, ONE_OF(r, 0.5, 1, 1.5, 2.5, 3, 3.5, 5, 10, 10, 11, 20, 40));
    ph->freq_ghz = draw_limits(r, ph->level < 0 || rng_chance(r, 0.1) ? ONE_OF(r, NAN, 2.9921875, 3.0625, 2.484375)
                                                                      : level_ghz[ph->level]);
    for (int i = 0; i < 4; i++)
        ph->share[i] = ONE_OF(r, NAN, 0, 0.5, 0.53125, 1);
    if (rng_chance(r, 0.2))
        ph->n_modes = (size_t)rng_int(r, 1, 3);
    for (size_t i = 0; i < ph->n_modes; i++)
        ph->modes[i] = (struct phase_mode){ph->duration_us.value * (1 + (double)i), 0.5};
    if (ph->kind == PHASE_RAMP && rng_chance(r, 0.7))
        ph->rate_ramp = draw_side(r, at);
    if (ph->kind == PHASE_RAMP && rng_chance(r, 0.3))
        ph->clock_ramp = draw_side(r, at);
}

/* To be freed with phases_free(). */
static void draw_phases(struct rng *r, struct phases *p)
{
    double at = ONE_OF(r, -20, -10, -1.5, -1, 0);
    *p = (struct phases){.runs = 12,
                         .runs_used = 10,
                         .n_phases = (size_t)(rng_chance(r, 0.1) ? rng_int(r, 19, 22) : rng_int(r, 0, 7)),
                         .n_levels = LEVELS,
                         .detectable_freq = 0.01};
    p->from = rng_chance(r, 0.8) ? strdup("a") : NULL;
    p->to = p->from ? strdup("b") : NULL;
    p->phases = calloc(PHASES_MAX, sizeof *p->phases);
    p->levels = calloc(LEVELS, sizeof *p->levels);
    p->levels_ghz = calloc(LEVELS, sizeof *p->levels_ghz);
    assert_true(p->phases && p->levels && p->levels_ghz);
    for (int l = 0; l < LEVELS; l++) {
        p->levels_ghz[l] = level_ghz[l];
        p->levels[l] = estimate_around(level_ghz[l], 0.0078125);
    }
    for (size_t i = 0; i < PHASES_MAX; i++) { /* those behind the last nobody may look at */
        draw_phase(r, at, &p->phases[i]);
        at += p->phases[i].duration_us.value;
    }
    for (int i = p->n_phases ? rng_int(r, 0, CHANGES_MAX) : 0; i > 0; i--) {
        const struct phase *ph = &p->phases[rng_int(r, 0, (int)p->n_phases - 1)];
        struct transition tr = {.at_us = ph->start_us + ONE_OF(r, 0, 0, 0, 2.5, 5, 5.5),
                                .latency_us = draw_limits(r, ONE_OF(r, 0, 1, 5, 10, 11, 20, NAN)),
                                .from_ghz = ONE_OF(r, 3, 2.75, 2.9921875, NAN),
                                .to_ghz = ONE_OF(r, 3, 2.75, 2.5),
                                .halts = (unsigned)rng_int(r, 0, 2),
                                .agreeing_runs = (size_t)rng_int(r, 1, 12)};
        assert_int_equal(phases_add_transition(p, tr), 0);
    }
}

static void copy_phases(const struct phases *p, struct phases *out)
{
    *out = *p;
    out->from = p->from ? strdup("a") : NULL;
    out->to = p->to ? strdup("b") : NULL;
    out->phases = calloc(PHASES_MAX, sizeof *out->phases);
    out->levels = calloc(LEVELS, sizeof *out->levels);
    out->levels_ghz = calloc(LEVELS, sizeof *out->levels_ghz);
    out->transitions = NULL;
    out->n_transitions = 0;
    assert_true(out->phases && out->levels && out->levels_ghz);
    memcpy(out->phases, p->phases, PHASES_MAX * sizeof *p->phases);
    memcpy(out->levels, p->levels, LEVELS * sizeof *p->levels);
    memcpy(out->levels_ghz, p->levels_ghz, LEVELS * sizeof *p->levels_ghz);
    for (size_t i = 0; i < p->n_transitions; i++)
        assert_int_equal(phases_add_transition(out, p->transitions[i]), 0);
}

/* ---- what is done to them ---- */

struct sums {
    struct tally ratios, tail;
};

static void add_ratios(const struct phases *p, struct sums *sums)
{
    for (size_t i = 0; i < p->n_phases; i++) {
        struct estimate ratio = phases_ramp_ratio(&p->phases[i]);
        if (phases_rate_ramps(&p->phases[i]))
            tally_estimate(&sums->ratios, &ratio);
    }
}

static struct tail_course draw_course(struct rng *r, double begin, double to)
{
    struct tail_course c = {.kind = (enum tail_kind)rng_int(r, 0, TAIL_MOVES),
                            .to = draw_limits(r, to),
                            .half = ONE_OF(r, 0, 0.0009765625),
                            .runs = (size_t)rng_int(r, 1, 9)};
    c.from = c.kind == TAIL_CONSTANT ? c.to : draw_limits(r, to * ONE_OF(r, 0.5, 0.875, 0.96875, 1.25));
    if (c.kind == TAIL_RAMP || c.kind == TAIL_STEP)
        c.begin = draw_limits(r, begin);
    if (c.kind == TAIL_RAMP)
        c.tau = draw_limits(r, ONE_OF(r, 10, 100));
    if (c.kind == TAIL_MISSING)
        c.from = c.to = (struct estimate){NAN, NAN, NAN};
    return c;
}

/* Joined to a long part that begins where they end, or before. */
static void add_tail(struct rng *r, const struct phases *p, struct sums *sums)
{
    struct phases q;
    copy_phases(p, &q);
    const struct phase *last = q.n_phases ? &q.phases[q.n_phases - 1] : NULL;
    double begin = last ? fmax(1, last->start_us + last->duration_us.value) : 1;
    struct tail x = {.begin = begin,
                     .end = begin + ONE_OF(r, 50, 1000),
                     .after = fmax(0, begin - ONE_OF(r, 0, 1, 10, 20)),
                     .n_runs = (size_t)ONE_OF(r, 0, 4, 4, 4),
                     .samples = 100,
                     .lost = 3,
                     .instant = rng_chance(r, 0.5),
                     .uniform = rng_chance(r, 0.2)};
    double at = ONE_OF(r, x.after, begin, begin + 10, begin + 20);
    x.course[TAIL_FREQ] = draw_course(r, at, ONE_OF(r, 3, 2.75, 2.5, 2.9921875));
    x.course[TAIL_RATE] = draw_course(r, ONE_OF(r, at, begin + 30), ONE_OF(r, 1, 0.5));
    x.clock_from = x.after;
    assert_int_equal(tail_join(&x, &q), 0);
    for (int c = 0; c < TAIL_COURSES; c++)
        for (int relative = 0; relative < 2; relative++) {
            struct ramp_side side = tail_side(&x.course[c], relative);
            tally_estimate(&sums->tail, &side.end_us);
            tally_add(&sums->tail, tail_mean(&x.course[c], begin - 5, begin + ONE_OF(r, -5, 5, 50)));
        }
    tally_phases(&sums->tail, &q);
    phases_free(&q);
}

TEST(findings_at_random)
{
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 520);
    for (int line = 1; line <= LINES; line++) {
        struct sums sums = {.tail = {0}};
        for (int i = 0; i < OF_EACH; i++) {
            struct phases p;
            draw_phases(&r, &p);
            add_ratios(&p, &sums);
            add_tail(&r, &p, &sums);
            phases_free(&p);
        }
        fprintf(out, "%d", line);
        tally_write(out, "ratios", &sums.ratios);
        tally_write(out, "tail", &sums.tail);
        fputc('\n', out);
    }
    golden_expect(&g, "phases", "findings.txt", true);
}
