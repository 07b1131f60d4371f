/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is found in the samples of repetitions that are made sample by sample, of lengths, clocks and rates that lie at
 * limits more often than any recording's do, is tests/golden/phases.repetitions.txt: lost time, steady
 * values, and phases. After an intended change, `make golden` rewrites it.
 */
#include "analysis/phases/findings.h"
#include "tests/support/golden.h"
#include "tests/support/one_of.h"
#include "tests/support/repetition_tallies.h"
#include "tests/support/test.h"

enum { LINES = 80, OF_EACH = 9 };

/* What there is more of. */
enum kind { ANY, BESIDE, SLOW_START, KINDS };

/* What all repetitions have in common. */
struct world {
    unsigned runs;
    int before, behind; /* samples of ordinary length */
    double period, ghz[2], ipc[2], noise;
    bool instant, counters;
    double uneven, lost, soft, missing; /* shares of samples */
    double halt_at, halt_us;            /* in all repetitions; 0 us: none */
    double slow, slow_for, slow_chain;  /* the rate of the first samples, for how many periods, what chains read */
    double bout, bout_from, bout_until,
        chain;     /* the rate beside another thread, in periods, and what chains read of it */
    double beside; /* share of the repetitions with a bout; 2: all of them at once */
    double waits, late, drift, other;
};

static void draw_world(struct rng *r, enum kind kind, struct world *w)
{
    double ghz = ONE_OF(r, 2.5, 2.5, 3, 0.8125), ipc = ONE_OF(r, 1, 2, 0.25);
    bool calm = rng_chance(r, 0.4);
    *w = (struct world){.runs = (unsigned)ONE_OF(r, 1, 2, 3, 4, 5, 8, 9, 10, 12, 16),
                        .before = (int)ONE_OF(r, 2, 3, 8, 12, 24),
                        .behind = rng_int(r, 4, 48),
                        .period = ONE_OF(r, 1, 1, 0.5, 2),
                        .ghz = {ghz, ghz * ONE_OF(r, 1, 1, 0.875, 0.96875, 0.9921875, 1.0625)},
                        .ipc = {ipc, ipc * ONE_OF(r, 1, 1, 0.5, 0.96875)},
                        .noise = calm ? 0 : ONE_OF(r, 0, 0.0009765625, 0.00390625, 0.03125),
                        .instant = rng_chance(r, 0.4),
                        .counters = rng_chance(r, 0.8),
                        .uneven = ONE_OF(r, 0, 0, 0.1, 0.4),
                        .lost = ONE_OF(r, 0, 0.02, 0.06),
                        .soft = ONE_OF(r, 0, 0, 0.03),
                        .missing = ONE_OF(r, 0, 0, 0.02),
                        .halt_at = ONE_OF(r, 0, 1.25, 5, 10.5),
                        .halt_us = ONE_OF(r, 0, 0, 0, 2, 6, 9),
                        .slow = ONE_OF(r, 1, 1, 0.25, 0.5, 0.90625, 0.8984375),
                        .slow_for = ONE_OF(r, 0.5, 1, 2, 3, 5, 6, 9),
                        .slow_chain = 1,
                        .bout = ONE_OF(r, 0.5, 0.75, 0.9375, 0.94140625, 0.953125),
                        .beside = ONE_OF(r, 0, 0, 0.1, 0.5, 0.9, 2),
                        .waits = ONE_OF(r, 0, 0, 0, 3, 12),
                        .late = ONE_OF(r, 0, 0, 0.125, 0.5),
                        .drift = ONE_OF(r, 0, 0, 0, 0.0009765625),
                        .other = ONE_OF(r, 0, 0, 0.25, 0.5)};
    if (kind == BESIDE) {
        w->runs = (unsigned)ONE_OF(r, 10, 12, 16);
        w->before = (int)ONE_OF(r, 10, 12, 24);
        w->bout = fmin(w->bout, 0.75);
        w->beside = fmax(w->beside, ONE_OF(r, 0.1, 0.5));
    }
    if (kind == SLOW_START) {
        w->runs += 4;
        w->behind += 24;
        w->slow = fmin(w->slow, 0.5);
        w->slow_chain = ONE_OF(r, 1, 0.890625, 0.75);
    }
    w->chain = ONE_OF(r, 1, w->bout, 0.5 * (1 + w->bout), 0.96875);
    w->bout_from = w->beside > 1 ? -w->before + rng_int(r, 0, 8) : 0;
    w->bout_until = w->bout_from + rng_int(r, 2, 12);
}

/* Of one repetition: its own times and factor. */
struct course {
    double wait, bout_from, bout_until, factor;
    bool late;
};

static struct course draw_course(struct rng *r, const struct world *w)
{
    struct course c = {.wait = w->waits * (double)rng_int(r, 0, 2),
                       .bout_from = w->bout_from,
                       .bout_until = w->bout_until,
                       .factor = rng_chance(r, w->other) ? ONE_OF(r, 0.96875, 0.9921875, 0.98) : 1,
                       .late = rng_chance(r, w->late)};
    if (w->beside < 2) {
        c.bout_from = rng_chance(r, w->beside) ? rng_int(r, -w->before, w->behind) : INFINITY;
        c.bout_until = c.bout_from + ONE_OF(r, 2, 3, 4, 12, 100);
    }
    return c;
}

/* What a sample that ends at `us` has: its clock and rate (GHz, instructions per ns), nothing lost. */
static void sample_of(struct rng *r, const struct world *w, const struct course *c, double us, double *ghz,
                      double *rate)
{
    double at = us / w->period;
    bool behind = us > 0;
    *ghz = w->ghz[behind && at > c->wait] * c->factor * (!behind && c->late ? 0.96875 : 1) *
           (1 + w->drift * fmax(0, at));
    *rate = *ghz * w->ipc[behind];
    if (at > 0 && at <= w->slow_for) {
        *rate *= w->slow;
        *ghz *= w->instant ? w->slow_chain : 1;
    }
    if (at > c->bout_from && at <= c->bout_until) {
        *rate *= w->bout;
        *ghz *= w->instant ? w->chain : 1;
    }
    *ghz *= 1 + w->noise * rng_int(r, -2, 2) / 4;
    *rate *= 1 + w->noise * rng_int(r, -2, 2) / 2;
}

static void add_sample(struct trace *t, unsigned run, double us, double ghz, double ipc)
{
    assert_int_equal(trace_append(t, run, us), 0);
    t->channel[TRACE_FREQ][t->n - 1] = (float)ghz;
    t->channel[TRACE_IPC][t->n - 1] = (float)ipc;
}

static void record(struct rng *r, const struct world *w, unsigned run, struct trace *t)
{
    struct course c = draw_course(r, w);
    double us = -w->period * (w->before + (rng_chance(r, 0.2) ? 0.5 : 0)), pending = 0;
    for (int i = 0; i < w->before + w->behind; i++) {
        double length = w->period * (rng_chance(r, w->uneven) ? ONE_OF(r, 0.75, 1.25, 1.5, 1.75, 2, 2.5) : 1), lost = 0;
        bool halted = w->halt_us > 0 && us < w->halt_at && us + length >= w->halt_at;
        double ghz, rate;
        if (halted)
            lost = w->halt_us;
        else if (rng_chance(r, w->lost))
            lost = w->period * ONE_OF(r, 0.5, 0.75, 1, 2, 6, 12);
        sample_of(r, w, &c, us + length, &ghz, &rate);
        double share = length / (length + lost), ipc = rate / ghz;
        us += length + lost;
        if (lost > 0 && !w->instant && (halted || w->counters)) {
            bool moved = rng_chance(r, 0.15) && t->n && t->run[t->n - 1] == run;
            if (moved) /* written one sample early */
                t->channel[TRACE_FREQ][t->n - 1] = (float)(ghz * ONE_OF(r, share, share, 0.8, 0.75, 0.8125, 0.84375));
            ghz *= moved ? ONE_OF(r, 1, 1, 0.9, 0.90625, 0.890625) : share;
        } else {
            ipc *= share;
        }
        if (pending > 0 && !w->instant)
            ghz *= pending;
        /* a clock read that fell into a halt cuts it in two */
        pending = lost > 0 && rng_chance(r, 0.15) ? share : 0;
        if (rng_chance(r, w->soft))
            ghz *= ONE_OF(r, 0.5, 0.75, 0.84375, 0.859375);
        add_sample(t, run, us, rng_chance(r, w->missing) ? NAN : ghz, rng_chance(r, w->missing) ? NAN : ipc);
    }
}

static void make_trace(struct rng *r, const struct world *w, struct trace *t)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    for (unsigned run = 0; run < w->runs; run++)
        record(r, w, rng_chance(r, 0.05) ? run + 40 : run, t);
    int bad = 0;
    if (w->instant)
        bad |= trace_set(t, "frequency", "instantaneous") | trace_set_number(t, "chain_cycles", 512) |
               trace_set_number(t, "reading_us", ONE_OF(r, 0.125, 0.375)) |
               trace_set_number(t, "frequency_error", ONE_OF(r, 0, 0.002));
    if (w->instant || rng_chance(r, 0.2))
        bad |= trace_set_number(t, "clock_step_ns", ONE_OF(r, 1, 4, 16));
    if (rng_chance(r, 0.2))
        bad |= trace_set(t, "sampler", rng_chance(r, 0.5) ? "resumes at once" : "waits");
    assert_int_equal(bad, 0);
}

struct sums {
    struct tally runs, steady, common, found;
};

/* What repetitions that differ have in common. */
static void add_common(struct rng *r, struct runs *runs, struct tally *sum)
{
    struct segmentation o;
    struct phases told = {0};
    assert_int_equal(consensus_find(runs, rng_chance(r, 0.9) ? 0 : NAN, &o, &told), 0);
    tally_segmentation(sum, &o);
    tally_phases(sum, &told);
    segmentation_free(&o);
    phases_free(&told);
}

static void add_all(struct rng *r, const struct trace *t, bool common, struct sums *sums)
{
    struct runs runs;
    assert_int_equal(runs_prepare(t, &runs), 0);
    tally_runs(&sums->runs, &runs);
    for (size_t i = 0; i < t->n; i++) {
        tally_add(&sums->runs, (double)runs.dt[i]);
        tally_add(&sums->runs, runs_straddles(&runs, i, 0));
    }
    tally_steady(&sums->steady, t);
    if (common)
        add_common(r, &runs, &sums->common);
    runs_free(&runs);
}

/* What all stages make of it. */
static void add_found(struct rng *r, struct trace *t, struct tally *sum)
{
    struct phases p;
    char why[300];
    if (rng_chance(r, 0.9))
        assert_int_equal(trace_set(t, "from", "a"), 0);
    if (rng_chance(r, 0.9))
        assert_int_equal(trace_set(t, "to", "b"), 0);
    if (phases_find(t, &p, why, sizeof why)) {
        tally_text(sum, why);
        return;
    }
    tally_phases(sum, &p);
    phases_free(&p);
}

TEST(repetitions_at_random)
{
    struct golden g;
    struct rng r;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    rng_init(&r, 1, 580);
    for (int line = 1; line <= LINES; line++) {
        struct sums sums = {.runs = {0}};
        for (int i = 0; i < OF_EACH; i++) {
            struct trace t;
            struct world w;
            draw_world(&r, (enum kind)(i % KINDS), &w);
            make_trace(&r, &w, &t);
            add_all(&r, &t, i >= KINDS, &sums);
            if (i < KINDS)
                add_found(&r, &t, &sums.found);
            trace_free(&t);
        }
        fprintf(out, "%d", line);
        tally_write(out, "runs", &sums.runs);
        tally_write(out, "steady", &sums.steady);
        tally_write(out, "common", &sums.common);
        tally_write(out, "found", &sums.found);
        fputc('\n', out);
    }
    golden_expect(&g, "phases", "repetitions.txt", true);
}
