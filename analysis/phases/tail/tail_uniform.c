/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradual changes of rate in recordings whose samples are all alike. */
#include <math.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/phases/tail/tail.h"
#include "util/order.h"

/* Bins at either end whose mean is the rate there. */
enum { EDGE_BINS = 4 };
#define TAU_LEAST 5.0 /* periods, and us: faster than that, it may be cold code, or a throttle with a blurred end */
#define CHANGES 0.02  /* relative: less is no ramp (tail_course.c), and not worth the search */

static bool can_be_ramp(const struct phase *ph, double ghz)
{
    bool kind = phases_is_steady(ph) || ph->kind == PHASE_THROTTLE || ph->kind == PHASE_UNKNOWN;
    return kind && !(fabs(log(ph->freq_ghz.value / ghz)) > CLOCK_WANDERS);
}

/* The first of the phases from which on, until the end, nothing but the rate changes, and which the second kernel runs
 * in; n_phases: there is none. */
static size_t first_of_region(const struct phases *p)
{
    size_t i = p->n_phases;
    double ghz = i ? p->phases[i - 1].freq_ghz.value : NAN;
    while (i > 0 && p->phases[i - 1].start_us >= -TAIL_NEAR_US && can_be_ramp(&p->phases[i - 1], ghz))
        i--;
    return i;
}

static double middle_of_bins(const struct tail_series *s, size_t from, size_t to)
{
    double x[EDGE_BINS];
    size_t n = 0;
    for (size_t b = from; b < to && n < EDGE_BINS; b++)
        if (!isnan(s->curve[TAIL_RATE][b]))
            x[n++] = s->curve[TAIL_RATE][b];
    return order_median(x, n);
}

/* Looks for a ramp of the rate from phase i on; *found: there is one. 0, or -1: out of memory. */
static int seek_from(const struct trace *t, const struct phases *p, size_t i, struct tail *x, bool *found)
{
    struct tail_series s;
    const struct phase *last = &p->phases[p->n_phases - 1];
    double start = p->phases[i].start_us;
    *found = false;
    *x = (struct tail){.begin = start, .after = start, .end = tail_usual_end(t, p), .uniform = true};
    x->instant = clock_reading_of(t).instant;
    if (isnan(x->end))
        return -1;
    if (!(x->end > x->begin))
        return 0;
    int bad = tail_gather(t, p, x, &s);
    if (!bad && s.n_bins > EDGE_BINS &&
        fabs(log(middle_of_bins(&s, 0, s.n_bins) / middle_of_bins(&s, s.n_bins - EDGE_BINS, s.n_bins))) > CHANGES)
        bad = tail_describe(&s, TAIL_RATE, x);
    x->course[TAIL_FREQ] = (struct tail_course){.kind = TAIL_CONSTANT,
                                                .from = last->freq_ghz,
                                                .to = last->freq_ghz,
                                                .half = last->freq_half_ghz / last->freq_ghz.value,
                                                .runs = x->n_runs};
    *found = x->course[TAIL_RATE].kind == TAIL_RAMP &&
             x->course[TAIL_RATE].tau.value > TAU_LEAST * fmax(1, tail_period_us(t));
    tail_free_series(&s);
    return bad;
}

/* In the place of the phases from i on. 0, or -1: out of memory. */
static int put_rate_ramp(struct phases *p, size_t i, struct tail *x)
{
    const struct tail_course *rate = &x->course[TAIL_RATE];
    struct phase whole = p->phases[p->n_phases - 1]; /* its rate is the full one */
    double end = whole.start_us + whole.duration_us.value;
    whole.start_us = p->phases[i].start_us;
    whole.duration_us = estimate_around(end - whole.start_us, estimate_half_known(&whole.duration_us));
    whole.kind = PHASE_STEADY;
    p->phases[i] = whole;
    p->n_phases = i + 1;
    if (tail_join(x, p))
        return -1;
    struct phase *before = &p->phases[i];
    if (i + 1 < p->n_phases && before[1].kind == PHASE_RAMP) { /* what runs until it begins */
        before->ipc = rate->from.value;
        before->ipc_ratio = rate->from.value / rate->to.value;
        before->kind = before->ipc_ratio < TAIL_THROTTLED ? PHASE_THROTTLE : PHASE_STEADY;
    }
    return 0;
}

/* The rate beside a clock that ramps: the other side of that phase. */
static void put_beside(struct phase *ph, const struct tail *x)
{
    const struct tail_course *rate = &x->course[TAIL_RATE];
    double end = ph->start_us + ph->duration_us.value, half = estimate_half_known(&ph->duration_us);
    ph->clock_ramp = (struct ramp_side){.begin_us = estimate_around(ph->start_us, 0),
                                        .end_us = estimate_around(end, half),
                                        .from = ph->from_ghz,
                                        .to = ph->to_ghz,
                                        .tau_us = ph->tau_us,
                                        .runs = ph->agreeing_runs};
    ph->rate_ramp = tail_side(rate, true);
    ph->ipc = tail_mean(rate, ph->start_us, end);
    ph->ipc_ratio = ph->ipc / rate->to.value;
}

int tail_uniform_find(const struct trace *t, struct phases *out)
{
    struct tail x;
    bool found = false;
    size_t i = first_of_region(out);
    struct phase *clock = i > 0 && i < out->n_phases ? &out->phases[i - 1] : NULL;
    if (clock && clock->kind == PHASE_RAMP && clock->start_us >= -TAIL_NEAR_US && clock->tau_us.value > 0) {
        int bad = seek_from(t, out, i - 1, &x, &found);
        double over = clock->start_us + clock->duration_us.value;
        if (!bad && found && tail_side(&x.course[TAIL_RATE], true).end_us.value < over)
            put_beside(clock, &x);
        return bad;
    }
    for (; i < out->n_phases; i++) {
        if (seek_from(t, out, i, &x, &found))
            return -1;
        if (found)
            return put_rate_ramp(out, i, &x);
    }
    return 0;
}
