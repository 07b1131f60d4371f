/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What becomes of phases at random and of voltages at random beside them, whose steps, halts, gaps and mixtures lie at
 * edges of phases more often than any recording's do, is tests/golden/phases.volts.txt. After an intended change,
 * `make golden` rewrites it.
 */
#include "analysis/phases/findings.h"
#include "tests/support/golden.h"
#include "tests/support/one_of.h"
#include "tests/support/tally.h"
#include "tests/support/test.h"

enum { LINES = 160, OF_EACH = 4, PHASES_MAX = 6, LEVELS = 3 };
#define UNIT_V (1.0 / 8192)

/* What the voltage does at an edge of phases, or beside it. */
struct change {
    double begin, end, volts;
    bool scatters; /* each repetition has a time of its own for it, up to `end` */
};

struct world {
    double begin, end, spacing, noise, volts;
    struct change change[PHASES_MAX];
    size_t n;
    double silent; /* share of the readings that nobody makes in halts */
    struct phases p;
};

static struct estimate draw_limits(struct rng *r, double value)
{
    double half = ONE_OF(r, 0, 0, 0.5, 2);
    return (struct estimate){value, fmax(0, value - half), value + half};
}

static void draw_phase(struct rng *r, bool first, bool after_halt, struct phase *ph)
{
    double us = ONE_OF(r, 3, 8, 20, 40, 60, 100);
    *ph = (struct phase){.kind = (enum phase_kind)(first || after_halt ? ONE_OF(r, PHASE_STEADY, PHASE_THROTTLE)
                                                                       : rng_int(r, PHASE_STEADY, PHASE_UNKNOWN)),
                         .level = rng_chance(r, 0.1) ? -1 : rng_int(r, 0, LEVELS - 1),
                         .ipc = 1,
                         .volts = NAN,
                         .agreeing_runs = (size_t)ONE_OF(r, 0, 4, 16)};
    if (ph->kind == PHASE_HALT)
        us = ONE_OF(r, 1.5, 2, 4, 10, 20);
    ph->duration_us = draw_limits(r, us);
    ph->n_modes = rng_chance(r, 0.25) ? 2 : 0;
    ph->modes[0] = (struct phase_mode){us * ONE_OF(r, 1, 1, 1, 0.75), 0.75};
    ph->modes[1] = (struct phase_mode){us * ONE_OF(r, 0.5, 1.25, 2), 0.25};
}

static void draw_world(struct rng *r, struct world *w)
{
    struct phases *p = &w->p;
    size_t n = (size_t)rng_int(r, 1, PHASES_MAX);
    *w = (struct world){.spacing = ONE_OF(r, 0.25, 0.5, 0.5, 1, 1, 2),
                        .noise = ONE_OF(r, 0, 0, UNIT_V, 3 * UNIT_V),
                        .volts = ONE_OF(r, 0.875, 1),
                        .silent = ONE_OF(r, 0, 0.2, 0.4, 1)};
    w->p = (struct phases){.phases = calloc(n + 1, sizeof *p->phases),
                           .n_phases = n,
                           .n_levels = rng_chance(r, 0.3) ? 0 : LEVELS,
                           .runs_used = 16};
    assert_non_null(p->phases);
    double at = w->begin = ONE_OF(r, -40, -20), volts = w->volts;
    for (size_t i = 0; i < n; i++) {
        struct phase *ph = &p->phases[i];
        draw_phase(r, i == 0, i > 0 && ph[-1].kind == PHASE_HALT, ph);
        ph->start_us = at;
        if (rng_chance(r, 0.75)) {
            double begin = at + ONE_OF(r, 0, 0, 0, 1, -1, 4, 5, 8, 20, 40);
            volts += UNIT_V * ONE_OF(r, 64, 16, 16, -16, -64, 13, 12, 4);
            w->change[w->n++] = (struct change){begin, begin + ONE_OF(r, 0, 0, 0, 6, 12, 30), volts,
                                                rng_chance(r, 0.2)};
        }
        at += ph->duration_us.value;
    }
    if (rng_chance(r, 0.3))
        p->phases[0].ipc = NAN;
    w->end = at;
}

static double volts_of(struct rng *r, const struct world *w, double us)
{
    double volts = w->volts;
    for (size_t i = 0; i < w->n; i++) {
        const struct change *c = &w->change[i];
        double from = i ? w->change[i - 1].volts : w->volts, length = c->end - c->begin;
        double done = c->scatters ? us >= c->begin + 2 * length * rng_unit(r) : (us - c->begin) / fmax(length, 1e-6);
        volts += (c->volts - from) * fmin(fmax(done, 0), 1);
    }
    volts += w->noise * rng_int(r, -1, 1);
    return floor(volts / UNIT_V + 0.5) * UNIT_V;
}

static bool is_halted(const struct world *w, double us)
{
    for (size_t p = 0; p < w->p.n_phases; p++) {
        const struct phase *ph = &w->p.phases[p];
        if (ph->kind == PHASE_HALT && us > ph->start_us && us < ph->start_us + ph->duration_us.value)
            return true;
    }
    return false;
}

/* In no order; `times` readings at a time, of repetitions of their own. */
static void read_world(struct rng *r, const struct world *w, unsigned times, struct trace *t)
{
    unsigned n = (unsigned)((w->end - w->begin) / w->spacing) * times, runs = (unsigned)ONE_OF(r, 2, 3, 5);
    double missing = ONE_OF(r, 0, 0, 0.05), wild = ONE_OF(r, 0, 0, 0.02);
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_VOLTS), 0);
    for (unsigned i = 0; i < n; i++) {
        double us = w->begin + w->spacing / times * (double)(i * 7919u % n);
        if (is_halted(w, us) && rng_chance(r, w->silent))
            continue;
        assert_int_equal(trace_append(t, times > 1 ? i * runs / n : i, us), 0);
        t->channel[TRACE_VOLTS][t->n - 1] = rng_chance(r, missing) ? NAN
                                            : rng_chance(r, wild)  ? 0.5f
                                                                   : (float)volts_of(r, w, us);
    }
    if (rng_chance(r, 0.4))
        assert_int_equal(trace_set_number(t, "volts_late_us", ONE_OF(r, 0, 2, 6, 20)), 0);
    if (rng_chance(r, 0.3))
        assert_int_equal(trace_set(t, "from", "a") | trace_set(t, "to", "b"), 0);
}

static void add_gathered(struct tally *sum, const struct trace *t)
{
    struct trace v;
    assert_int_equal(volts_gather(t, &v), 0);
    for (size_t i = 0; i < v.n; i++) {
        tally_add(sum, v.time_us[i]);
        tally_add(sum, (double)v.channel[TRACE_VOLTS][i]);
    }
    tally_text(sum, trace_get(&v, "from") ? trace_get(&v, "from") : "");
    tally_text(sum, trace_get(&v, "to") ? trace_get(&v, "to") : "");
    trace_free(&v);
}

TEST(voltages_at_random)
{
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 560);
    for (int line = 1; line <= LINES; line++) {
        struct tally gathered = {0}, found = {0};
        for (int i = 0; i < OF_EACH; i++) {
            struct trace t;
            struct world w;
            draw_world(&r, &w);
            /* so many that a few of them become one */
            read_world(&r, &w, line % 8 ? 1 : 40, &t);
            add_gathered(&gathered, &t);
            assert_int_equal(volts_find(&t, &w.p), 0);
            w.p.n_levels = 0; /* their number was all there was of them */
            tally_phases(&found, &w.p);
            phases_free(&w.p);
            trace_free(&t);
        }
        fprintf(out, "%d", line);
        tally_write(out, "gathered", &gathered);
        tally_write(out, "found", &found);
        fputc('\n', out);
    }
    golden_expect(&g, "phases", "volts.txt", true);
}
