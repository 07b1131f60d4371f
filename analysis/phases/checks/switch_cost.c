/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/checks/switch_cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/phases/checks/withdraw.h"
#include "util/order.h"

enum { LAST_BINS = 3 };
enum { EVEN_BINS = 32 };
#define LONGER 1.1
#define AT_SWITCH 1.5 /* periods: what begins so near time 0 begins at the switch */
#define MOSTLY 0.4    /* of what is missing: caches are warmer where all is held than at a real switch */
#define ALL 0.75
#define BLURS 0.1        /* of the full rate: a ratio is wrong by so much where cold code is throttled, too ... */
#define BLURS_PART 0.2   /* ... which matters if it is so much of what is missing */
#define WARMS_UP_US 30.0 /* a slower time constant is no cold code's */
#define TAIL 0.33        /* of what is missing: no known throttling comes so near to the full rate */
#define BACK 0.03        /* of the full rate: so near to it the course must end */

double switch_cost_bin_us(double period_us, size_t k)
{
    double edge = period_us * (double)(k < EVEN_BINS ? k : EVEN_BINS), length = period_us;
    for (size_t i = EVEN_BINS; i < k; i++)
        edge += length *= LONGER;
    return edge;
}

/* ---- what is asked ---- */

static double freq_beside(const struct phases *p, size_t i, int step)
{
    for (size_t k = i + (size_t)step; k < p->n_phases; k += (size_t)step)
        if (!isnan(p->phases[k].freq_ghz.value))
            return p->phases[k].freq_ghz.value;
    return NAN;
}

/* A rate that soon comes back, at one frequency, as that of code does which becomes warm. */
static bool soon_back(const struct phase *ph)
{
    return phases_rate_ramps(ph) && ph->rate_ramp.from.value < ph->rate_ramp.to.value &&
           ph->rate_ramp.tau_us.value < WARMS_UP_US && !(ph->tau_us.value > 0) && !(ph->clock_ramp.tau_us.value > 0);
}

/* Slow without another frequency: throttling, or what is slower than that has ever been, or a halt that changes
 * nothing. */
static bool may_be_the_switch(const struct phases *p, size_t i)
{
    const struct phase *ph = &p->phases[i];
    if (soon_back(ph))
        return true;
    if (ph->kind == PHASE_THROTTLE || (ph->kind == PHASE_UNKNOWN && ph->ipc_ratio < 1))
        return true;
    return ph->kind == PHASE_HALT && !(fabs(log(freq_beside(p, i, 1) / freq_beside(p, i, -1))) > CLOCK_WANDERS);
}

/* The phases from the switch on until the first at full rate: first .. *end. */
static size_t from_switch(const struct phases *p, double period_us, size_t *end)
{
    size_t first = 0;
    while (first < p->n_phases && p->phases[first].start_us < -AT_SWITCH * period_us)
        first++;
    *end = first;
    if (first < p->n_phases && p->phases[first].start_us <= AT_SWITCH * period_us)
        while (*end < p->n_phases && !phases_is_steady(&p->phases[*end]) &&
               (p->phases[*end].kind != PHASE_RAMP || soon_back(&p->phases[*end])))
            ++*end;
    return first;
}

double switch_cost_until_us(const struct phases *p, double period_us)
{
    double until = 0;
    size_t end;
    for (size_t i = from_switch(p, period_us, &end); i < end; i++)
        if (may_be_the_switch(p, i))
            until = fmax(until, p->phases[i].start_us + p->phases[i].duration_us.value);
    return until;
}

/* ---- the course ---- */

/* Payload instructions of sample i, times an arbitrary unit. */
static double work_of(const struct trace *t, size_t i, double reading_us)
{
    double us = fmax(t->time_us[i] - t->time_us[i - 1] - reading_us, 0);
    return (double)t->channel[TRACE_IPC][i] * (double)t->channel[TRACE_FREQ][i] * us;
}

/* What was done in from..to by the samples begin..end of one repetition, evenly within each; NaN: not all is known. */
static double work_between(const struct trace *t, size_t begin, size_t end, double reading_us, double from, double to)
{
    double work = 0, known = 0;
    for (size_t i = begin + 1; i < end; i++) {
        double lo = fmax(from, t->time_us[i - 1]), hi = fmin(to, t->time_us[i]);
        double length = t->time_us[i] - t->time_us[i - 1], done = work_of(t, i, reading_us);
        if (!(hi > lo) || isnan(done))
            continue;
        work += done * (hi - lo) / length;
        known += hi - lo;
    }
    return known > 0.999 * (to - from) ? work : NAN;
}

int switch_cost_measure(const struct trace *t, double period_us, double until_us, double from_us, double to_us,
                        struct switch_cost *out)
{
    double reading_us = clock_reading_of(t).reading_us, *x = calloc(t->n + 1, sizeof *x);
    *out = (struct switch_cost){.period_us = period_us};
    if (!x)
        return -1;
    while (out->n < SWITCH_COST_BINS_MAX && switch_cost_bin_us(period_us, out->n) < until_us && t->n) {
        double lo = switch_cost_bin_us(period_us, out->n), hi = switch_cost_bin_us(period_us, out->n + 1);
        size_t n = 0;
        for (size_t begin = 0, end; begin < t->n; begin = end) {
            end = trace_run_end(t, begin);
            double full = work_between(t, begin, end, reading_us, from_us, to_us) / (to_us - from_us);
            double rate = work_between(t, begin, end, reading_us, lo, hi) / (hi - lo) / full;
            if (isfinite(rate))
                x[n++] = rate;
        }
        out->rate[out->n++] = n ? order_median(x, n) : NAN;
    }
    free(x);
    return 0;
}

/* The mean rate over a phase; what it does not cover of the course is left out. NaN: nothing is known of it. */
static double held_rate(const struct switch_cost *c, const struct phase *ph)
{
    double from = fmax(ph->start_us, 0), to = ph->start_us + ph->duration_us.value, sum = 0, known = 0;
    for (size_t k = 0; k < c->n; k++) {
        double lo = fmax(from, switch_cost_bin_us(c->period_us, k)),
               hi = fmin(to, switch_cost_bin_us(c->period_us, k + 1));
        if (!(hi > lo) || isnan(c->rate[k]))
            continue;
        sum += c->rate[k] * (hi - lo);
        known += hi - lo;
    }
    return known > 0 ? sum / known : NAN;
}

/* ---- judgement ---- */

static void take_back(struct phase *ph, double held, enum switch_explains share)
{
    static const char *const words[] = {
        [EXPLAINS_PART] = "in part it is", [EXPLAINS_MOST] = "most of it is", [EXPLAINS_ALL] = "it is"};
    withdraw_phase(ph, "");
    ph->switch_explains = share;
    if (share == EXPLAINS_NOTHING)
        snprintf(ph->why, sizeof ph->why, "the cost of the switch itself could not be measured");
    else
        snprintf(ph->why, sizeof ph->why,
                 "%s the switch itself (cold code): %.2f of the full rate even if the level is already held",
                 words[share], held);
}

/* What is missing from the full rate. */
static double missing_of(const struct phases *p, const struct phase *ph)
{
    if (ph->kind == PHASE_HALT)
        return 1;
    return 1 - (isnan(ph->ipc_ratio) ? ph->ipc / p->phases[p->n_phases - 1].ipc : ph->ipc_ratio);
}

/* What the switch itself is of a phase that it may be: `held` of the full rate is left at a switch where all is held.
 * False: nothing to speak of. */
static bool share_of_switch(const struct phases *p, const struct phase *ph, double held, enum switch_explains *share)
{
    double missing = missing_of(p, ph), explained = 1 - held;
    bool counted = ph->kind == PHASE_THROTTLE && phases_counts_throttled(ph);
    *share = EXPLAINS_NOTHING;
    if (isnan(held))
        return !counted;
    *share = counted || explained < MOSTLY * missing ? EXPLAINS_PART
             : explained < ALL * missing             ? EXPLAINS_MOST
                                                     : EXPLAINS_ALL;
    return *share > EXPLAINS_PART || (explained > BLURS && explained > BLURS_PART * missing);
}

/*
 * Where it ends: 1 if that is the full rate, in the last bin or, since each is noisy where the clock goes in steps, by
 * the last few together. What is faster at the end had another thread beside it before, and is the full rate. NaN where
 * it is slower: these switches requested more than is held, as two kernels may that alternate, and say nothing of what
 * a switch itself costs.
 */
static double ends_at(const struct switch_cost *c)
{
    double x[LAST_BINS];
    size_t m = 0;
    for (size_t k = c->n; k > 0 && m < LAST_BINS; k--)
        if (!isnan(c->rate[k - 1]))
            x[m++] = c->rate[k - 1];
    if (!m)
        return NAN;
    double last = x[0], median = order_median(x, m);
    return fabs(last - 1) < BACK || fabs(median - 1) < BACK ? 1 : median > 1 ? median : NAN;
}

/* Whether it is slow for no other reason than the phase right before it, which the switch itself explains: code that
 * another thread on the core keeps out of the caches gets faster bit by bit. (Seen on Emerald Rapids: 0.27 of the full
 * rate for 2 us, then 0.81 for 8 us, of kernels that request the same.) */
static bool warms_up(const struct phases *p, size_t i)
{
    const struct phase *ph = &p->phases[i], *before = i ? ph - 1 : NULL;
    return before && before->kind == PHASE_UNKNOWN && before->switch_explains >= EXPLAINS_MOST &&
           ph->kind == PHASE_THROTTLE && !phases_counts_throttled(ph) &&
           missing_of(p, ph) < TAIL * missing_of(p, before) &&
           !(fabs(log(ph->freq_ghz.value / before->freq_ghz.value)) > CLOCK_WANDERS);
}

int switch_cost_judge(const struct switch_cost *c, struct phases *p)
{
    size_t end, gone = 0;
    double full = ends_at(c);
    if (switch_cost_until_us(p, c->period_us) > 0 && isnan(full))
        return phases_warn(
            p, "slow phases at the switch could not be distinguished from cold code: with the second kernel's "
               "level already held, the code did not return to the full rate");
    for (size_t i = from_switch(p, c->period_us, &end); i < end; i++) {
        struct phase *ph = &p->phases[i];
        double held = held_rate(c, ph) / full;
        enum switch_explains share;
        bool explained = may_be_the_switch(p, i) && share_of_switch(p, ph, held, &share);
        if (!explained && warms_up(p, i)) {
            withdraw_phase(ph, "it may be the end of what precedes: cold code that gets faster bit by bit");
            ph->switch_explains = EXPLAINS_MOST;
            gone++;
        }
        if (!explained)
            continue;
        withdraw_halt(p, ph);
        take_back(ph, held, share);
        gone++;
    }
    if (!gone)
        return 0;
    withdraw_orphans(p);
    return phases_warn(p,
                       "%zu finding%s at the switch withdrawn: the second kernel starts as slowly, or partly so, when "
                       "its level is already held",
                       gone, gone == 1 ? "" : "s");
}

/* ---- metadata ---- */

int switch_cost_note(struct trace *t, const struct switch_cost *c)
{
    double rate[SWITCH_COST_BINS_MAX];
    for (size_t k = 0; k < c->n; k++)
        rate[k] = isnan(c->rate[k]) ? NAN : fmin(99, c->rate[k]);
    return trace_set_numbers(t, "held_rates", rate, c->n);
}

int switch_cost_recorded(const struct trace *t, struct phases *p)
{
    const char *period = trace_get(t, "period_us");
    struct switch_cost c = {.period_us = period ? strtod(period, NULL) : 0};
    if (!trace_get(t, "held_rates") || !(c.period_us > 0 && isfinite(c.period_us)))
        return 0;
    c.n = trace_get_numbers(t, "held_rates", c.rate, SWITCH_COST_BINS_MAX);
    return switch_cost_judge(&c, p);
}
