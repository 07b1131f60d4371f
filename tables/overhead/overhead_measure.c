/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/overhead/overhead.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/blocks.h"
#include "analysis/stats/interruption.h"
#include "analysis/stats/robust.h"
#include "tables/table/reading_cost.h"
#include "util/order.h"

enum {
    PILOT = 16,      /* repetitions that tell whether the observation is long enough */
    DOUBLED = 3,     /* times that it may be doubled */
    MOVES_LEAST = 8, /* repetitions that can tell whether the frequency moves */
};
#define DRIFT_MOST 0.01    /* of the time: more is no settled level */
#define DRIFT_LEAST_US 0.3 /* ... and less than that is none */
#define LEVEL_REJECT 4.0   /* scaled MADs: frequencies farther from the median are of repetitions that did not settle */
#define LEVEL_WILD 0.1     /* relative: no frequency moves that far by itself and back */
#define STEADY 0.005       /* relative standard deviation of a level, over the repetitions: more is none */
#define LEVEL_SIGMAS 6.0   /* levels so far apart are told from one repetition: half the way is three */
#define COST_SAME_US 2.0   /* costs of some repetitions and of others that differ by less ... */
#define COST_SAME 0.1      /* ... or by less of the cost are the same */
#define LATE_MOST 0.01     /* of the repetitions may change in the second execution */
#define SIDE 0.8           /* quantile: repetitions on one side of the others */
#define MOST 0.9           /* quantile: most repetitions */
#define DOWN_SHARE 0.3     /* of the time of a cell */
#define UP_SIGMAS 6.0
#define UP_INTERRUPTED_MOST 0.05 /* of the repetitions: 1000 interrupts a second in 20 us are 2 % */

static const char far_away[] = "more than 100 us from the median";

void overhead_setups(const struct tables_context *x, const struct cell *c, struct overhead_setup *down,
                     struct overhead_setup *up)
{
    enum { RUNS = 200, RUNS_BRIEF = 24 };
    const struct tables_options *o = x->options;
    *down = (struct overhead_setup){
        .machine = tables_setup(x, "overhead", c),
        .first = c->a,
        .second = c->b,
        .runs = o->runs    ? o->runs
                : o->brief ? RUNS_BRIEF
                           : RUNS,
        /* on silicon a repetition begins where the one before it ended: the first kernel must have come back up, which
         * takes 670 us or twice that (5.2.2, footnote 3), or, by Intel's manual, about 2 ms */
        .warmup_us = o->warmup_us > 0 ? o->warmup_us : 2500,
        /* Intel's optimization manual: a license is granted within 500 us; both executions take longer than that */
        .observe_us = 1000,
        .period_us = 10,
        .before_us = 100,
    };
    *up = *down;
    up->first = c->b;
    up->second = c->a;
    up->before_us = 0;
    /* 1.5 ms in 5.2.2; two waits and what an interrupt adds to them */
    up->observe_us = o->observe_us > 0 ? o->observe_us : 2200;
    up->period_us = o->period_us > 0 ? o->period_us : 1; /* 5.2.2: less than 1 us */
}

static void overhead_measure_drop(struct overhead_costs *c, const char *why, unsigned n)
{
    for (size_t i = 0; i < c->n_dropped; i++)
        if (strcmp(c->dropped[i].why, why) == 0) {
            c->dropped[i].n += n;
            return;
        }
    if (n && c->n_dropped < OVERHEAD_REASONS_MAX)
        c->dropped[c->n_dropped++] = (struct overhead_dropped){why, n};
}

size_t overhead_n_dropped(const struct overhead_costs *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_dropped; i++)
        n += c->dropped[i].n;
    return n;
}

/* Repetitions as they come in. */
struct intake {
    const struct tables_context *x;
    struct overhead_costs *costs;
    unsigned runs;
    double part, share; /* progress: what is done of the cell, and what these repetitions are of it */
    double settle_us;   /* down: interruptions are looked for from then on */
    double least_gain;  /* up */
    /* down, each as long as costs->us: */
    double *high, *low, *drift, *quarter, *settled, *lost, *scratch;
    struct overhead_up *ups; /* up, likewise */
    bool stopped;
};

static bool told_to_stop(struct intake *t, unsigned run)
{
    t->stopped = tables_stop(t->x, t->part + t->share * (run + 1) / t->runs);
    return t->stopped;
}

static int take_down(void *data, unsigned run, const struct work_curve *curve, const char *invalid)
{
    struct intake *t = data;
    struct overhead_costs *c = t->costs;
    struct overhead_down d;
    const char *why = invalid ? invalid : overhead_down(curve, t->settle_us, &d);
    if (why) {
        overhead_measure_drop(c, why, 1);
    } else {
        t->settled[c->n] = d.settled_us;
        t->high[c->n] = d.high_ghz;
        t->low[c->n] = d.low_ghz;
        t->drift[c->n] = d.drift_us;
        t->quarter[c->n] = d.quarter_us;
        t->lost[c->n] = d.lost_us;
        c->us[c->n++] = d.us;
    }
    return told_to_stop(t, run);
}

static int take_up(void *data, unsigned run, const struct work_curve *curve, const char *invalid)
{
    struct intake *t = data;
    struct overhead_costs *c = t->costs;
    struct overhead_up u;
    const char *why = invalid ? invalid : overhead_up(curve, t->least_gain, &u);
    if (why)
        overhead_measure_drop(c, why, 1);
    else
        t->ups[c->n++] = u;
    return told_to_stop(t, run);
}

/* Takes `runs` repetitions, after forgetting those before. */
static int overhead_measure_repeat(struct overhead_setup *s, unsigned runs, overhead_sink *sink, struct intake *t,
                                   struct machine_error *err)
{
    t->costs->n = t->costs->n_dropped = 0;
    t->costs->observe_us = s->observe_us;
    s->runs = runs;
    int status = overhead_run(t->x->machine, s, sink, t, err);
    return status == MACHINE_OK && t->stopped ? machine_fail(err, MACHINE_FAILED, "", "interrupted") : status;
}

static double quantile(const struct intake *t, const double *x, double part)
{
    size_t n = t->costs->n;
    memcpy(t->scratch, x, n * sizeof *x);
    return n ? order_nth_smallest(t->scratch, n, (size_t)((double)(n - 1) * part + 0.5)) : NAN;
}

/* How much the rate may change in the second execution unnoticed. */
static double drift_most(const struct intake *t)
{
    return fmax(DRIFT_LEAST_US, DRIFT_MOST * quantile(t, t->quarter, 0.5));
}

/* Repetitions that changed in the second execution: they count for the change of sign alone, and bend the mean. */
static size_t n_late(const struct intake *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->costs->n; i++)
        n += isfinite(t->settled[i]) && t->settled[i] > t->costs->observe_us / 2;
    return n;
}

/*
 * Whether some repetitions are not settled when the second execution begins. Interruptions and a noisy clock make the
 * drift larger in either direction, a change that is not over makes it larger in one.
 */
static bool seems_unsettled(const struct intake *t)
{
    double skew = quantile(t, t->drift, SIDE) + quantile(t, t->drift, 1 - SIDE);
    return fabs(skew) > 2 * drift_most(t) || n_late(t) > 0;
}

/* Most did not come back up. */
static bool mostly_low(const struct intake *t)
{
    return t->costs->n <= overhead_n_dropped(t->costs);
}

/* A few repetitions, observed for longer until that is long enough. */
static int overhead_measure_pilot(struct overhead_setup *s, overhead_sink *sink,
                                  bool (*too_short)(const struct intake *), struct intake *t, struct machine_error *err)
{
    for (unsigned doubled = 0; doubled <= DOUBLED; doubled++) {
        int status = overhead_measure_repeat(s, t->runs < PILOT ? t->runs : PILOT, sink, t, err);
        if (status || !too_short(t))
            return status;
        if (doubled < DOUBLED)
            s->observe_us *= 2;
    }
    return MACHINE_OK;
}

/* scratch: as long as c->us. */
static void summarise(struct overhead_costs *c, double far_us, const char *why, double *scratch)
{
    struct blocks blocks;
    memcpy(scratch, c->us, c->n * sizeof *scratch); /* in order of time */
    overhead_spread(c->us, c->n, far_us, &c->spread, &c->first);
    blocks_cut(scratch, c->n, c->spread.median, far_us, &blocks);
    blocks_widen(&blocks, &c->spread.mean);
    overhead_measure_drop(c, why, (unsigned)c->spread.far);
}

/*
 * Up, an interrupt in the section of the change only ever adds to it, and nothing makes up for that. They are few,
 * since the section is short: what lies apart from all but a few is one.
 */
static void summarise_up(struct overhead_costs *c, double *scratch)
{
    memcpy(scratch, c->us, c->n * sizeof *scratch);
    double middle = order_median(scratch, c->n), apart = UP_SIGMAS * order_mad_sigma(c->us, c->n, middle, scratch);
    size_t n = 0;
    apart = fmax(apart, INTERRUPTION_US);
    for (size_t i = 0; i < c->n; i++)
        n += fabs(c->us[i] - middle) > apart;
    if (n > 0 && (double)n <= UP_INTERRUPTED_MOST * (double)c->n)
        summarise(c, apart, "interrupted while the frequency changed", scratch);
    else
        summarise(c, OVERHEAD_FAR_US, far_away, scratch);
}

/* Keeps the repetitions whose value is below the bound. */
static void keep_below(struct intake *t, const double *value, double bound, const char *why)
{
    struct overhead_costs *c = t->costs;
    size_t kept = 0;
    for (size_t i = 0; i < c->n; i++)
        if (value[i] < bound) {
            t->high[kept] = t->high[i];
            t->low[kept] = t->low[i];
            t->drift[kept] = t->drift[i];
            c->us[kept++] = c->us[i];
        }
    overhead_measure_drop(c, why, (unsigned)(c->n - kept));
    c->n = kept;
}

/* Leaves out the repetitions that were interrupted, and those that began before the core was back at its level. */
static void sift(struct intake *t, const struct overhead_cell *cell)
{
    struct overhead_costs *c = t->costs;
    /* what most repetitions lose is not due to interruptions */
    if (quantile(t, t->lost, 0.5) < INTERRUPTION_US)
        keep_below(t, t->lost, INTERRUPTION_US, "interrupted");
    /* a repetition by itself must tell the two levels apart */
    double sigma = order_mad_sigma(t->high, c->n, cell->high_ghz.value, t->scratch);
    if (!cell->levels_differ || cell->high_ghz.value - cell->low_ghz.value < LEVEL_SIGMAS * sigma)
        return;
    for (size_t i = 0; i < c->n; i++)
        t->scratch[i] = -t->high[i];
    keep_below(t, t->scratch, -(cell->high_ghz.value + cell->low_ghz.value) / 2,
               "not back at the high level before the switch");
}

/* A frequency over the repetitions, with limits that hold how it moves from some to others. */
static struct estimate overhead_measure_mean_ghz(const struct intake *t, const double *ghz)
{
    size_t n = t->costs->n;
    double middle = quantile(t, ghz, 0.5), far = LEVEL_REJECT * order_mad_sigma(ghz, n, middle, t->scratch);
    struct estimate e = robust_mean(ghz, n, LEVEL_REJECT, 0, NULL);
    struct blocks blocks;
    blocks_cut(ghz, n, middle, far, &blocks);
    blocks_widen(&blocks, &e);
    return e;
}

/*
 * Whether the frequency moves by itself: then the first execution differs from the second for other reasons than the
 * change, now this way and now that, for longer than the repetitions take. Fills out->moves if so. To be asked before
 * repetitions are left out: those in which it moves look as if they were interrupted.
 */
static void judge_frequency(const struct intake *t, struct overhead_cell *out)
{
    size_t n = t->costs->n;
    struct blocks low;
    if (n < MOVES_LEAST)
        return;
    double ghz = quantile(t, t->low, 0.5), sigma = order_mad_sigma(t->low, n, ghz, t->scratch);
    blocks_cut(t->low, n, ghz, LEVEL_WILD * ghz, &low);
    if (sigma > STEADY * ghz)
        snprintf(out->moves, sizeof out->moves, "it differs by %.1f %% from repetition to repetition",
                 100 * sigma / ghz);
    else if (blocks_disagree(&low, OVERHEAD_SAME_LEVEL * ghz))
        snprintf(out->moves, sizeof out->moves,
                 "it is %.3f GHz in some repetitions and %.3f GHz in those before or after", low.least, low.most);
}

/* The same from what it does to the costs. quiet: the drift is not that of interruptions. */
static void judge_costs(const struct intake *t, bool quiet, struct overhead_cell *out)
{
    const struct overhead_costs *c = t->costs;
    struct blocks cost, high;
    if (c->n < MOVES_LEAST || out->moves[0])
        return;
    double us = quantile(t, c->us, 0.5), ghz = quantile(t, t->high, 0.5);
    double sigma = order_mad_sigma(t->high, c->n, ghz, t->scratch);
    blocks_cut(t->high, c->n, ghz, LEVEL_WILD * ghz, &high);
    blocks_cut(c->us, c->n, us, OVERHEAD_FAR_US, &cost);
    for (size_t i = 0; i < c->n; i++)
        t->scratch[i] = fabs(t->drift[i]);
    double drift = order_median(t->scratch, c->n);
    /* before the switch it is seen for a shorter time than after it */
    if (sigma > OVERHEAD_SAME_LEVEL * ghz)
        snprintf(out->moves, sizeof out->moves, "before the switch it differs by %.1f %% from repetition to repetition",
                 100 * sigma / ghz);
    else if (blocks_disagree(&high, OVERHEAD_SAME_LEVEL * ghz))
        snprintf(out->moves, sizeof out->moves,
                 "before the switch it is %.3f GHz in some repetitions and %.3f GHz in others", high.least, high.most);
    else if (quiet && drift > drift_most(t))
        snprintf(out->moves, sizeof out->moves, "the rate still varies by %.1f %% long after the switch",
                 100 * drift / quantile(t, t->quarter, 0.5));
    else if (blocks_disagree(&cost, fmax(COST_SAME_US, COST_SAME * fabs(us))))
        snprintf(out->moves, sizeof out->moves,
                 "the cost is %.1f us in some repetitions and %.1f us in those before or after", cost.least, cost.most);
}

static int measure_down(struct overhead_setup *s, struct intake *t, struct overhead_cell *out,
                        struct machine_error *err)
{
    t->costs = &out->down;
    t->share = DOWN_SHARE;
    t->settle_us = INFINITY;
    int status = overhead_measure_pilot(s, take_down, seems_unsettled, t, err);
    if (status)
        return status;
    /* later than most settled, but for those that something else kept from it */
    t->settle_us = quantile(t, t->settled, MOST) + 2 * s->period_us;
    status = overhead_measure_repeat(s, t->runs, take_down, t, err);
    if (status == MACHINE_OK && (double)n_late(t) > LATE_MOST * (double)t->costs->n) {
        s->observe_us *= 2; /* too few for the pilot to see one */
        t->settle_us = quantile(t, t->settled, 1) + 2 * s->period_us;
        status = overhead_measure_repeat(s, t->runs, take_down, t, err);
    }
    if (status)
        return status;
    out->drift_us = quantile(t, t->drift, 0.5);
    out->unsettled = fabs(out->drift_us) > drift_most(t);
    out->high_ghz = overhead_measure_mean_ghz(t, t->high);
    out->low_ghz = overhead_measure_mean_ghz(t, t->low);
    /* both are of one repetition: what the frequency does from one to the next is no step */
    for (size_t i = 0; i < t->costs->n; i++)
        t->scratch[i] = t->high[i] - t->low[i];
    out->step_ghz = robust_mean(t->scratch, t->costs->n, LEVEL_REJECT, 0, NULL);
    struct estimate rise = {-out->step_ghz.value, -out->step_ghz.hi, -out->step_ghz.lo};
    out->levels_differ = overhead_levels_differ(&out->high_ghz, &out->step_ghz);
    out->second_faster = overhead_levels_differ(&out->high_ghz, &rise);
    bool quiet = quantile(t, t->lost, 0.5) < INTERRUPTION_US;
    judge_frequency(t, out);
    sift(t, out);
    judge_costs(t, quiet, out);
    summarise(t->costs, OVERHEAD_FAR_US, far_away, t->scratch);
    out->down_gains = !overhead_is_cost(&t->costs->spread.mean);
    return MACHINE_OK;
}

static size_t dropped_as(const struct overhead_costs *c, const char *why)
{
    for (size_t i = 0; i < c->n_dropped; i++)
        if (strcmp(c->dropped[i].why, why) == 0)
            return c->dropped[i].n;
    return 0;
}

static int measure_up(struct overhead_setup *s, struct intake *t, struct overhead_cell *out, struct machine_error *err)
{
    t->costs = &out->up;
    t->part = DOWN_SHARE;
    t->share = 1 - DOWN_SHARE;
    t->least_gain = (out->high_ghz.value / out->low_ghz.value - 1) / 2;
    int status = overhead_measure_pilot(s, take_up, mostly_low, t, err);
    if (status == MACHINE_OK)
        status = overhead_measure_repeat(s, t->runs, take_up, t, err);
    if (status != MACHINE_OK)
        return status;
    overhead_up_choose(t->ups, out->up.n, out->up.us);
    size_t gradual = dropped_as(&out->up, overhead_gradual), none = dropped_as(&out->up, overhead_no_rise);
    out->up_gradual = gradual > none;
    /* where most do not rise at one place, what rose in the others was something else, or noise */
    if (gradual + none >= out->up.n)
        out->up.n = 0;
    summarise_up(&out->up, t->scratch);
    out->up_gains = !overhead_is_cost(&out->up.spread.mean);
    return MACHINE_OK;
}

static int measure_both(const struct cell *c, struct overhead_setup *down, struct overhead_setup *up, struct intake *t,
                        struct overhead_cell *out, struct machine_error *err)
{
    int status = reading_cost(t->x->machine, &down->machine, &c->a, down->warmup_us, &down->reading_us, err);
    up->reading_us = down->reading_us;
    if (status == MACHINE_OK)
        status = measure_down(down, t, out, err);
    return status == MACHINE_OK && out->levels_differ && !out->moves[0] ? measure_up(up, t, out, err) : status;
}

int overhead_cell_measure(const struct tables_context *x, const struct cell *c, struct overhead_cell *out,
                          struct machine_error *err)
{
    enum { NUMBERS = 7 };
    struct overhead_setup down, up;
    overhead_setups(x, c, &down, &up);
    struct intake t = {.x = x, .runs = down.runs, .ups = malloc(down.runs * sizeof *t.ups)};
    double **arrays[NUMBERS] = {&t.high, &t.low, &t.drift, &t.quarter, &t.settled, &t.lost, &t.scratch};
    double *numbers = malloc(NUMBERS * (size_t)down.runs * sizeof *numbers);
    for (size_t i = 0; numbers && i < NUMBERS; i++)
        *arrays[i] = numbers + i * down.runs;
    memset(out, 0, sizeof *out);
    out->down.us = malloc(down.runs * sizeof *out->down.us);
    out->up.us = malloc(down.runs * sizeof *out->up.us);
    overhead_spread(out->up.us, 0, OVERHEAD_FAR_US, &out->up.spread, NULL);
    int status = t.ups && numbers && out->down.us && out->up.us
                     ? measure_both(c, &down, &up, &t, out, err)
                     : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    free(numbers);
    free(t.ups);
    return status;
}

void overhead_cell_free(struct overhead_cell *c)
{
    free(c->down.us);
    free(c->up.us);
    memset(c, 0, sizeof *c);
}
