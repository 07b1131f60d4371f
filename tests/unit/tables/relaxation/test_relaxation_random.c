/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Levels, ramps, rises and waits of small recordings drawn at random, of few distinct values, so that equal ones, gaps
 * and readings at limits come about. Held in tests/golden/relaxation.random; after an intended change `make golden`
 * rewrites it.
 */
#include "tables/relaxation/relaxation_fit.h"
#include "tests/support/golden.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { RUNS_MOST = 6, RECORDINGS = 200, LISTS = 200, RISES_MOST = 30 };

/* ---- recordings ---- */

/* What all repetitions of a recording have in common. */
struct drawn {
    double slow, fast, rise, scatter, tau, noise, rate_noise, halt, to;
    double odd;            /* how many samples in one are cut short, lost in part, or not measured */
    bool instant, by_rate; /* by_rate: frequencies are those of a clock that scatters, rates are not */
};

static void append(struct trace *t, unsigned run, double time_us, double ghz, double ipc)
{
    assert_int_equal(trace_append(t, run, time_us), 0);
    t->channel[TRACE_FREQ][t->n - 1] = (float)ghz;
    t->channel[TRACE_IPC][t->n - 1] = (float)ipc;
}

static void draw_run(struct rng *r, const struct drawn *d, unsigned run, struct trace *t)
{
    const double rise = d->rise + d->scatter * (2 * rng_unit(r) - 1);
    const double own = rng_chance(r, 0.1) ? 0.99 : 1;
    bool halted = d->halt <= 0 || rng_chance(r, 0.2);
    append(t, run, 0, d->slow, 2);
    for (double time = 0; time < d->to;) {
        const bool odd = rng_chance(r, d->odd);
        const int how = odd ? rng_int(r, 0, 4) : -1;
        double length = how == 0 ? 0.5 : how == 1 ? 4 : 2, lost = how == 2 ? 1.5 : how == 3 ? 5 : 0;
        if (!halted && time + length > rise) {
            halted = true;
            lost = d->halt;
        }
        length += lost > 1.5 ? lost : 0;
        time += length;
        const double past = time - rise, part = past <= 0 ? 0 : d->tau > 0 ? 1 - exp(-past / d->tau) : 1;
        const double off = 1 + d->noise * rng_int(r, -2, 2), ghz = own * (d->slow + (d->fast - d->slow) * part) * off;
        append(t, run, time, how == 4 ? NAN : ghz,
               2 * (1 - lost / length) * (1 + d->rate_noise * rng_int(r, -2, 2)) / (d->by_rate ? off : 1));
    }
}

static void draw_recording(struct rng *r, struct drawn *d, unsigned runs, struct trace *t)
{
    d->slow = 2.4;
    d->fast = d->slow * rng_one_of(r, (const double[]){1.1, 1.2, 1.02, 1.005, 1.2, 1.2, 1.1}, 7);
    d->tau = rng_one_of(r, (const double[]){0, 10, 30, 20, 1}, 5);
    d->noise = rng_one_of(r, (const double[]){0, 0.0005, 0.005, 0.02}, 4);
    d->rate_noise = rng_one_of(r, (const double[]){0, 0.001, 0.01}, 3);
    d->halt = d->tau > 1 && rng_chance(r, 0.8) ? 0 : rng_one_of(r, (const double[]){0, 0, 0.3, 0.5, 10}, 5);
    d->rise = rng_one_of(r, (const double[]){10, 60, 150, 200, 290}, 5);
    d->scatter = rng_one_of(r, (const double[]){0, 3, 3, 40}, 4);
    d->to = rng_one_of(r, (const double[]){120, 300, 300, 400}, 4);
    d->odd = rng_one_of(r, (const double[]){0, 0.02, 0.1, 0}, 4);
    d->instant = rng_chance(r, 0.3);
    d->by_rate = rng_chance(r, 0.4);
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ) | trace_add_channel(t, TRACE_IPC), 0);
    if (d->instant)
        assert_int_equal(trace_set(t, "frequency", "instantaneous"), 0);
    for (unsigned run = 0; run < runs; run++)
        draw_run(r, d, run, t);
}

static void write_ramp(FILE *out, const struct relaxation_ramp *ramp)
{
    fprintf(out, "; %s%s", ramp->by_rate ? "by rate" : "by frequency", ramp->instant ? ", instant" : "");
    golden_put(out, "tau", ramp->tau_us.value);
    golden_put(out, "lo", ramp->tau_us.lo);
    golden_put(out, "hi", ramp->tau_us.hi);
    golden_put(out, "half", ramp->begin_half_us);
    golden_put(out, "gain", ramp->gain);
    golden_put(out, "noise", ramp->noise);
    golden_put(out, "left", ramp->left);
}

static void write_rise(FILE *out, const struct relaxation_rise *rise)
{
    fprintf(out, "\n   ");
    golden_put(out, "at", rise->at_us);
    fprintf(out, " %zu", rise->interruptions);
    golden_put(out, "first", rise->first_us);
    golden_put(out, "last", rise->last_us);
    golden_put(out, "noise", rise->noise);
    golden_put(out, "left", rise->left);
}

static void write_recording(FILE *out, struct rng *r, unsigned number)
{
    const unsigned runs = (unsigned)rng_int(r, 2, RUNS_MOST);
    struct relaxation_levels levels;
    struct relaxation_rise rise[RUNS_MOST];
    struct sights_span span[RUNS_MOST];
    struct drawn d;
    struct trace t;
    draw_recording(r, &d, runs, &t);
    for (unsigned run = 0; run < runs; run++)
        span[run] = sights_span(&t, run);
    const double from = rng_chance(r, 0.3) ? 6 : 0, until = rng_chance(r, 0.3) ? d.to - 20 : d.to;
    const char *why = relaxation_levels(&t, span, runs, from, until, &levels);
    fprintf(out, "%u:", number);
    golden_put(out, "slow", levels.slow);
    golden_put(out, "fast", levels.fast);
    fprintf(out, " %zu rose%s%s%s", levels.rose, levels.slight ? ", slightly" : "", why ? "; " : "", why ? why : "");
    for (unsigned run = 0; run < runs && !why; run++)
        assert_int_equal(relaxation_find(&t, span[run], from, until, &levels, &rise[run]), 0);
    if (!why) {
        assert_int_equal(relaxation_ramp(&t, span, runs, until, &levels, rise), 0);
        write_ramp(out, &levels.ramp);
        golden_put(out, "; leads to", levels.fast);
    }
    for (unsigned run = 0; run < runs && !why; run++) {
        write_rise(out, &rise[run]);
        if (levels.ramp.tau_us.value > 0) {
            assert_int_equal(relaxation_find(&t, span[run], from, until, &levels, &rise[run]), 0);
            write_rise(out, &rise[run]);
        }
    }
    fprintf(out, "\n");
    trace_free(&t);
}

/* ---- lists of rises ---- */

/* Times near one wait and two, at the limits of being near, and far off. */
static struct relaxation_rise draw_rise(struct rng *r, double scatter, double interrupted)
{
    const double times[] = {600, 600, 600, 600, 1200, 1200, 690, 1110, 510, 900, 19.999, 20, 60, NAN};
    struct relaxation_rise rise = {rng_one_of(r, times, 14) + scatter * rng_int(r, -2, 2), 0, NAN, NAN, NAN, NAN};
    if (rng_chance(r, interrupted)) {
        const double last[] = {180, 180.5, 300, 420, 419.5, 719, 720, 721, 900};
        rise.interruptions = (size_t)rng_int(r, 1, 2);
        rise.last_us = rng_one_of(r, last, 9);
        rise.first_us = rise.interruptions > 1 ? rng_one_of(r, last, 9) : rise.last_us;
        if (rng_chance(r, 0.5))
            rise.at_us = rise.last_us + rng_one_of(r, (const double[]){600, 602, 1200, 690}, 4);
    }
    return rise;
}

static void write_list(FILE *out, struct rng *r, unsigned number)
{
    struct relaxation_rise rise[RISES_MOST];
    struct relaxation_waits w;
    const size_t n = (size_t)rng_int(r, 0, rng_chance(r, 0.3) ? 6 : RISES_MOST);
    const double scatter = rng_one_of(r, (const double[]){0, 1, 2, 10, 40}, 5);
    const double interrupted = rng_one_of(r, (const double[]){0, 0.2, 0.8, 0.9}, 4);
    for (size_t i = 0; i < n; i++)
        rise[i] = draw_rise(r, scatter, interrupted);
    assert_int_equal(relaxation_waits(rise, n, &w), 0);
    fprintf(out, "waits %u of %zu:", number, n);
    for (int k = 0; k < 2; k++) {
        fprintf(out, " %zu", w.mode[k].n);
        golden_put_estimate(out, "after", &w.mode[k].wait_us);
        golden_put_estimate(out, "share", &w.mode[k].share);
        golden_put(out, "sd", w.mode[k].sd_us);
    }
    fprintf(out, "; %zu others, %zu close, %zu at once, %zu interrupted%s, %zu never, %zu anew, %zu not", w.others,
            w.close, w.at_once, w.interrupted, w.kept ? " and kept" : "", w.never, w.rearmed, w.not_rearmed);
    golden_put_estimate(out, "; after one", &w.after_interrupt_us);
    fprintf(out, "\n");
}

TEST(what_is_found_in_random_recordings_stays)
{
    struct golden g;
    struct rng r;
    FILE *out = golden_begin(&g);
    rng_init(&r, 5, 0);
    for (unsigned i = 1; i <= RECORDINGS; i++)
        write_recording(out, &r, i);
    for (unsigned i = 1; i <= LISTS; i++)
        write_list(out, &r, i);
    golden_expect(&g, "relaxation", "random", false);
}
