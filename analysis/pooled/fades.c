/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rates that approach their end exponentially: a row of states that rise (or fall) to what follows is one such approach
 * where that fits the pooled curve better than the steps do. How well its time constant is known, parts of the
 * repetitions tell, each left out in turn (delete-a-group jackknife).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "analysis/phases/ramps/ramp_fit.h"
#include "analysis/pooled/pooled.h"
#include "analysis/stats/golden.h"

/* Groups of repetitions whose scatter gives the limits; steps of the golden-section search. */
enum { GROUPS = 8, STEPS = 40 };
#define LEAST 0.08 /* relative: smaller changes are reported as steps */
/* Of it on average its first state is at least; less right after the switch: code that is not in the caches yet is
 * slower, too. */
#define BEGINS 0.8
#define BEGINS_COLD 0.5
#define COLD_US 0.6 /* what code costs that is not in the caches yet is no part of an approach */
#define COLD_SHARE 0.15
#define TAU_KNOWN 0.02 /* relative: how well a time constant is known at best */
#define KNOWN 0.5      /* relative: half of the limits of a time constant; one that is known less is none */
#define TAUS_LEAST 2.0 /* of an approach are recorded, or its end is not known */
#define EACH_STATE                                                                                                     \
    4.0 /* what a state more must gain in the sum of squares, in units of the least one: see fits_better */

/* The curve from moment a on, and what it approaches. */
struct fade {
    const double *rate, *border;
    size_t a, b;
    double to, begin;
    double from; /* fitted */
};

/* Minus the sum of squares about the best approach with this time constant (a logarithm); its start is linear. */
static double fade_fit(void *data, double log_tau)
{
    struct fade *f = data;
    double tau = exp(log_tau), xx = 0, xy = 0, sx = 0, sy = 0, n = 0, squares = 0;
    for (int round = 0; round < 2; round++) {
        for (size_t k = f->a; k < f->b; k++) {
            double d = f->border[k + 1] - f->border[k], t = 0.5 * (f->border[k + 1] + f->border[k]) - f->begin;
            double x = exp(-t / tau), y = f->rate[k];
            if (round) {
                double off = y - f->to - (f->from - f->to) * x;
                squares += d * off * off;
            } else {
                xx += d * x * x;
                xy += d * x * y;
                sx += d * x;
                sy += d * y;
                n += d;
            }
        }
        if (!round) {
            double slope = (n * xy - sx * sy) / (n * xx - sx * sx);
            f->to = (sy - slope * sx) / n;
            f->from = f->to + slope;
        }
    }
    return -squares;
}

static double fade_tau(struct fade *f, double *squares)
{
    double a = log(2 * (f->border[f->a + 1] - f->border[f->a])), b = log(f->border[f->b] - f->border[f->a]);
    *squares = -golden_highest(fade_fit, f, &a, &b, 1e-3, STEPS);
    fade_fit(f, 0.5 * (a + b));
    return exp(0.5 * (a + b));
}

/* Half of 95 % limits by the values without each group. */
static double jackknife_half(const double *value)
{
    double mean = 0, sum = 0;
    for (size_t g = 0; g < GROUPS; g++)
        mean += value[g] / GROUPS;
    for (size_t g = 0; g < GROUPS; g++)
        sum += (value[g] - mean) * (value[g] - mean);
    return gsl_cdf_tdist_Pinv(0.975, GROUPS - 1) * sqrt(sum * (GROUPS - 1) / GROUPS);
}

/* When an approach leaves the rate `before`. */
static double leaves(const struct fade *f, double tau, double before)
{
    return f->begin + tau * log((f->from - f->to) / (before - f->to));
}

/* The wait at whose rate an approach from state `first` on begins: where it leaves that, not where it has been seen to.
 * NULL: there is none. */
static struct pooled_state *wait_before(const struct fade *f, double tau, struct pooled_states *s, size_t first)
{
    struct pooled_state *wait = first ? &s->state[first - 1] : NULL;
    if (!wait || wait->tau_us > 0 || !(fabs(f->from / wait->rate - 1) < LEAST))
        return NULL;
    double left = leaves(f, tau, wait->rate);
    return left > wait->begin_us && left < s->state[first].end_us ? wait : NULL;
}

/* Half of the 95 % limits of the time constant, of the end, and of when it leaves a wait (NULL: there is none). 0, or
 * -1: out of memory. */
static int fade_halves(const struct pooled *p, const struct fade *f, const struct pooled_state *wait,
                       struct pooled_state *out)
{
    double *rate = malloc((p->n + p->n_runs + 1) * sizeof *rate), *x, tau[GROUPS], to[GROUPS], begin[GROUPS], unused;
    if (!rate)
        return -1;
    x = rate + p->n;
    for (size_t g = 0; g < GROUPS; g++) {
        struct fade own = *f;
        own.rate = rate;
        for (size_t k = f->a; k < f->b; k++) {
            size_t m = 0;
            for (size_t r = 0; r < p->n_runs; r++)
                if (r % GROUPS != g && !isnan(p->own[r * p->n + k]))
                    x[m++] = (double)p->own[r * p->n + k];
            rate[k] = pooled_usual(p, x, m, NULL);
        }
        tau[g] = fade_tau(&own, &unused);
        to[g] = own.to;
        begin[g] = wait ? leaves(&own, tau[g], wait->rate) : 0;
    }
    free(rate);
    out->tau_half_us = jackknife_half(tau) + TAU_KNOWN * out->tau_us;
    out->to_half = jackknife_half(to);
    out->begin_half_us = wait ? fmax(p->sample_us, jackknife_half(begin)) : 0;
    return 0;
}

static double step_squares(const struct pooled *p, const struct pooled_states *s, size_t first, size_t past,
                           const struct fade *f)
{
    double squares = 0;
    for (size_t k = f->a; k < f->b; k++) {
        double moment = 0.5 * (p->border[k] + p->border[k + 1]);
        size_t q = first;
        while (q < past && moment > s->state[q].end_us)
            q++;
        double rate = q < past ? s->state[q].rate : f->to;
        squares += (p->border[k + 1] - p->border[k]) * (p->rate[k] - rate) * (p->rate[k] - rate);
    }
    return squares;
}

/* What repetition r deviates from the pooled curve in moments a to b - 1, and from a step between two rates at the time
 * that fits it best: the first minus the second. */
static double beyond_step(const struct pooled *p, size_t r, size_t a, size_t b, double from, double to)
{
    double curve = 0, sum = 0, best = 0;
    for (size_t k = a; k < b; k++) {
        double own = (double)p->own[r * p->n + k], d = p->border[k + 1] - p->border[k];
        if (isnan(own))
            continue;
        curve += d * (fabs(own - p->rate[k]) - fabs(own - to));
        sum += d * (fabs(own - from) - fabs(own - to));
        best = fmin(best, sum);
    }
    return curve - best;
}

/* Whether the repetitions approach the end together: most are nearer to the pooled curve than to a step at a time of
 * their own. */
static bool together(const struct pooled *p, const struct pooled_states *s, size_t first, size_t past,
                     const struct fade *f)
{
    double beyond = 0;
    size_t b = f->a;
    while (b < p->n && p->border[b] < s->state[past].begin_us - 1e-9)
        b++;
    for (size_t r = 0; r < p->n_runs; r++)
        beyond += beyond_step(p, r, f->a, b, s->state[first].rate, f->to);
    return beyond < 0;
}

/* Whether the approach holds its first state, too, which else is a state of its own before it. */
static bool begins_with(const struct pooled *p, const struct pooled_states *s, size_t first, const struct fade *f,
                        double tau)
{
    const double begin = s->state[first].begin_us, end = s->state[first].end_us;
    /* right after the switch, as long as code may not be in the caches yet */
    const double cold = begin + (first ? 0 : fmin(COLD_US, 0.5 * (end - begin)));
    double own = 0, fitted = 0;
    for (size_t k = 0; k < f->b && p->border[k + 1] < end + 1e-9; k++) {
        if (p->border[k] < cold - 1e-9)
            continue;
        double d = p->border[k + 1] - p->border[k], t = 0.5 * (p->border[k] + p->border[k + 1]) - f->begin;
        own += d * p->rate[k];
        fitted += d * (f->to + (f->from - f->to) * exp(-t / tau));
    }
    const double least = first ? BEGINS : BEGINS_COLD;
    return !(own < least * fitted) && !(own * least > fitted); /* or it is too short to tell */
}

/* How many states from `first` on approach the one after them the same way; one alone does where what is before it has
 * not begun to. */
static size_t approach(const struct pooled_states *s, size_t first)
{
    const struct pooled_state *q = &s->state[first];
    size_t past = first + 1;
    bool up = q[1].rate > q->rate, begins = first && (q->rate > q[-1].rate) == up && q[-1].rate > POOLED_HALT_RATIO;
    while (past + 1 < s->n && s->state[past].rate > POOLED_HALT_RATIO &&
           (s->state[past + 1].rate > s->state[past].rate) == up)
        past++;
    return q->rate > POOLED_HALT_RATIO && (past > first + 1 || begins) ? past - first : 0;
}

double pooled_fade_us(const struct pooled_states *s, size_t k)
{
    const struct pooled_state *q = &s->state[k];
    double to = k + 1 < s->n ? s->state[k + 1].rate : 1;
    return q->tau_us * log(fabs(q->rate / to - 1) / RAMP_ARRIVED);
}

/* The approach from state `first` to `past` until `until_us`: its time constant, us, and the squares that it leaves. */
static double fit_from(const struct pooled *p, const struct pooled_states *s, size_t first, size_t past,
                       double until_us, struct fade *f, double *squares)
{
    double length = s->state[past].begin_us - s->state[first].begin_us;
    *f = (struct fade){p->rate, p->border, 0, p->n, s->state[past].rate, 0, 0};
    while (f->a + 1 < p->n && p->border[f->a] < s->state[first].begin_us - 1e-9)
        f->a++;
    while (f->b > f->a + 2 && p->border[f->b] > until_us)
        f->b--;
    f->begin = p->border[f->a];
    while (f->a + 8 < f->b && p->border[f->a] < f->begin + fmin(COLD_US, COLD_SHARE * length))
        f->a++;
    return fade_tau(f, squares);
}

/* Whether the curve is described better where its first state is a wait, and the approach begins after it. */
static bool waits_first(const struct pooled *p, const struct pooled_states *s, size_t first, size_t past,
                        double until_us, const struct fade *f, double squares)
{
    struct fade later;
    double rest, us = 0, sum = 0, all = 0;
    fit_from(p, s, first + 1, past, until_us, &later, &rest);
    for (size_t k = f->a; k < f->b && p->border[k + 1] < s->state[first].end_us + 1e-9; k++) {
        double d = p->border[k + 1] - p->border[k];
        us += d;
        sum += d * p->rate[k];
        all += d * p->rate[k] * p->rate[k];
    }
    return us > 2 * COLD_US && EACH_STATE * (all - sum * sum / us + rest) < squares;
}

int pooled_find_fades(const struct pooled *p, struct pooled_states *s)
{
    for (size_t first = 0; first + 1 < s->n; first++) {
        size_t n = approach(s, first), past = first + n;
        if (!n)
            continue;
        struct fade f;
        double squares, until = 5 * s->state[past].begin_us - 4 * s->state[first].begin_us;
        double tau = fit_from(p, s, first, past, until, &f, &squares), steps = step_squares(p, s, first, past, &f);
        if (n > 1 && waits_first(p, s, first, past, until, &f, squares))
            continue;
        if (s->state[past].end_us - f.begin < TAUS_LEAST * tau) /* too short to tell what it approaches */
            continue;
        if (squares > steps * (n > 2   ? EACH_STATE
                               : n > 1 ? 1
                                       : 1 / EACH_STATE) ||
            !begins_with(p, s, first, &f, tau) || f.from < POOLED_HALT_RATIO || fabs(f.from / f.to - 1) < LEAST ||
            !together(p, s, first, past, &f))
            continue;
        struct pooled_state fade = s->state[first], *wait = wait_before(&f, tau, s, first);
        if (n == 1 && !wait) /* one rate on the way to another is none */
            continue;
        fade.end_us = s->state[past].begin_us;
        fade.rate = f.from;
        fade.tau_us = tau;
        fade.to = f.to;
        if (fade_halves(p, &f, wait, &fade))
            return -1;
        if (fade.tau_half_us > KNOWN * tau) /* a drift */
            continue;
        if (wait) {
            fade.rate = wait->rate;
            fade.begin_us = wait->end_us = leaves(&f, tau, wait->rate);
        }
        s->state[first] = fade;
        memmove(&s->state[first + 1], &s->state[past], (s->n - past) * sizeof *s->state);
        s->n -= n - 1;
    }
    return 0;
}
