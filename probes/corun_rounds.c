/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of work beside background code, and what they say of its cost. */
#include "probes/corun_rounds.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/stats/robust.h"
#include "probes/stop.h"
#include "util/clock.h"
#include "util/splitmix64.h"

struct rounds {
    const struct corun_setup *s;
    size_t n; /* of what it runs beside: codes, the null and nothing */
    struct corun_seen (*seen)[CORUN_CODES_MAX];
    double begun, modelled_s, *scratch; /* as many as rounds */
    uint64_t runs;
};

static int run_beside(struct rounds *r, size_t which, struct corun_seen *out, struct machine_error *err)
{
    const struct corun_setup *s = r->s;
    struct corun_background b = {.on_us = s->on_us, .every_us = s->every_us, .seed = s->seed, .repetition = r->runs++};
    const size_t i = which >= CORUN_WIDE ? which - CORUN_NULL : 0;
    if (which != CORUN_NOTHING && s->codes != NULL)
        b.code = s->codes[i];
    else if (which != CORUN_NOTHING)
        b.fixed_ghz = s->clocks[i];
    const int status = s->work->run(s->work->data, &b, out, err);
    r->modelled_s += out->time_s;
    return status;
}

static double elapsed(const struct rounds *r)
{
    return r->s->work->modelled ? r->modelled_s : clock_seconds(CLOCK_MONOTONIC) - r->begun;
}

static bool stopped(const struct rounds *r, unsigned round)
{
    const struct corun_setup *s = r->s;
    const double by_rounds = (double)round / s->least, by_time = elapsed(r) / s->seconds;
    return s->progress != NULL && s->progress(s->data, fmin(fmin(by_rounds, by_time), 1)) != 0;
}

static int one_round(struct rounds *r, unsigned round, struct machine_error *err)
{
    size_t order[CORUN_CODES_MAX];
    splitmix64_order(order, r->n, splitmix64(r->s->seed + round * SPLITMIX64_STEP));
    for (size_t i = 0; i < r->n; i++) {
        const int status = run_beside(r, order[i], &r->seen[round][order[i]], err);
        if (status != MACHINE_OK)
            return status;
        if (stopped(r, round))
            return machine_fail(err, MACHINE_FAILED, "", "stopped");
    }
    return MACHINE_OK;
}

/* ---- what they say ---- */

typedef double seen_part(const struct corun_seen *s);
static double part_time(const struct corun_seen *s)
{
    return s->time_s;
}
static double part_cpu(const struct corun_seen *s)
{
    return s->cpu_s;
}
static double part_ghz(const struct corun_seen *s)
{
    return s->ghz;
}

/* What a run is compared with: of wide code the geometric mean of both runs beside narrow code; NaN: with nothing. */
static double base_of(const struct corun_seen *seen, size_t which, seen_part *part)
{
    const double narrow = part(&seen[CORUN_NARROW]);
    switch (which) {
    case CORUN_NOTHING:
        return NAN;
    case CORUN_NARROW:
        return part(&seen[CORUN_NOTHING]);
    case CORUN_NULL:
        return narrow;
    default:
        return sqrt(narrow * part(&seen[CORUN_NULL]));
    }
}

/* A ratio within a round, less 1. */
static double cost_of(const struct corun_seen *seen, size_t which, seen_part *part)
{
    return part(&seen[which]) / base_of(seen, which, part) - 1;
}

/*
 * The stall share of a round: where a share of the cycles at frequency f does not follow the clock, and f rises by
 * 1 + c, the time changes by the factor (1 + share c) / (1 + c) (G equation 4.3, whose change of performance is the
 * inverse).
 */
static double stall_of(const struct corun_seen *seen, size_t which, __attribute__((unused)) seen_part *part)
{
    const double clock = cost_of(seen, which, part_ghz);
    return ((1 + cost_of(seen, which, part_cpu)) * (1 + clock) - 1) / clock;
}

static double alone(const struct corun_seen *seen, size_t which, seen_part *part)
{
    return part(&seen[which]);
}

/* The median over the rounds. */
static struct estimate median_of(const struct rounds *r, unsigned rounds, size_t which, seen_part *part,
                                 double (*of)(const struct corun_seen *seen, size_t which, seen_part *part))
{
    size_t n = 0;
    for (unsigned i = 0; i < rounds; i++) {
        const double x = of(r->seen[i], which, part);
        if (isfinite(x))
            r->scratch[n++] = x;
    }
    return robust_median(r->scratch, n);
}

/* Half of the width of the widest limits of a cost of CPU time; NaN: one has none. */
static double widest_half(const struct rounds *r, unsigned rounds)
{
    double widest = 0;
    for (size_t i = CORUN_NARROW; i < r->n; i++) {
        const struct estimate cost = median_of(r, rounds, i, part_cpu, cost_of);
        if (!(estimate_half(&cost) <= widest))
            widest = estimate_half(&cost);
    }
    return widest;
}

/* NaN where the clocks are not those that were to be fixed. */
static struct estimate stall_at(const struct rounds *r, unsigned rounds, size_t which)
{
    static const double LEAST = 0.01; /* the smallest step, 100 MHz of 5.5 GHz, is nearly twice as large */
    const struct estimate clock = median_of(r, rounds, which, part_ghz, cost_of);
    if (which < CORUN_WIDE || r->s->codes != NULL)
        return (struct estimate){NAN, NAN, NAN};
    const double wanted = r->s->clocks[which - CORUN_NULL] / r->s->clocks[0];
    return fabs(wanted - 1) >= LEAST && fabs((1 + clock.value) / wanted - 1) < LEAST
               ? median_of(r, rounds, which, part_cpu, stall_of)
               : (struct estimate){NAN, NAN, NAN};
}

static void conclude(const struct rounds *r, struct corun_result *out)
{
    for (size_t i = 0; i < r->n; i++)
        out->of[i] = (struct corun_cost){.time_s = median_of(r, out->rounds, i, part_time, alone),
                                         .cpu_s = median_of(r, out->rounds, i, part_cpu, alone),
                                         .ghz = median_of(r, out->rounds, i, part_ghz, alone),
                                         .time_cost = median_of(r, out->rounds, i, part_time, cost_of),
                                         .cpu_cost = median_of(r, out->rounds, i, part_cpu, cost_of),
                                         .stall = stall_at(r, out->rounds, i)};
    out->seconds = elapsed(r);
}

/* A first run took so long: refuses what would take much longer than it may. */
static int check_patience(const struct rounds *r, double run_s, struct machine_error *err)
{
    const struct corun_setup *s = r->s;
    const double all_s = run_s * (double)r->n * s->least;
    if (all_s <= s->patience * s->seconds)
        return MACHINE_OK;
    return machine_fail(err, MACHINE_BAD_INPUT, "use a shorter command, a longer --seconds, or --runs",
                        "a run takes %.3g s, so %u rounds of %zu runs take %.0f s, not %.3g", run_s, s->least, r->n,
                        all_s, s->seconds);
}

int corun_rounds(const struct corun_setup *s, struct corun_result *out, struct machine_error *err)
{
    struct rounds all = {.s = s,
                         .n = s->n_codes + 2,
                         .seen = calloc(s->most, sizeof *all.seen),
                         .scratch = calloc(s->most, sizeof *all.scratch)};
    struct rounds *r = &all;
    struct corun_seen warm_up;
    *out = (struct corun_result){.rounds = 0};
    if (r->seen == NULL || r->scratch == NULL) {
        free(r->seen);
        free(r->scratch);
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    const struct stop_rule rule = {s->least, s->most, s->seconds, s->enough};
    r->begun = clock_seconds(CLOCK_MONOTONIC);
    int status = run_beside(r, CORUN_NARROW, &warm_up, err);
    if (status == MACHINE_OK)
        status = check_patience(r, warm_up.time_s, err);
    double half = INFINITY;
    while (status == MACHINE_OK && !stop_here(&rule, out->rounds, elapsed(r), half)) {
        status = one_round(r, out->rounds, err);
        out->rounds += status == MACHINE_OK;
        half = widest_half(r, out->rounds);
    }
    if (status == MACHINE_OK)
        conclude(r, out);
    free(r->seen);
    free(r->scratch);
    return status;
}
