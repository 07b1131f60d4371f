/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time that a switch loses, summed over the states in which it is lost. */
#include "analysis/pooled/lost.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/phases/joined.h"
#include "analysis/pooled/pooled.h"

#define RESOLUTION_US 0.05 /* what is not averaged away */
#define KINDS_APART_US 1.0
#define BEYOND_NOISE 4.0 /* of one sample: a rate that rises by more does so after a halt, or as throttling ends */

/* Of one repetition between two times; what it has not recorded is as in the others. A sample is read once the core
 * runs again: after a halt that is at the rate of the next one, not at that of the whole sample. */
static double of_run(const struct pooled *p, size_t r, double from_us, double until_us)
{
    const struct pooled_run *run = &p->run[r];
    double lost = 0;
    for (size_t k = 0; k < p->n && p->border[k] < until_us; k++) {
        double own = (double)p->own[r * p->n + k];
        double us = fmin(p->border[k + 1], until_us) - fmax(p->border[k], from_us);
        lost += (1 - (isnan(own) ? p->rate[k] : own)) * fmax(us, 0);
    }
    for (size_t i = trace_first_after(p->trace, run->zero, run->past, from_us);
         i + 1 < run->past && p->trace->time_us[i] < until_us; i++) {
        double gain = (pooled_sample_rate(p, i + 1) - pooled_sample_rate(p, i)) / run->late;
        if (gain > BEYOND_NOISE * p->noise)
            lost -= gain * pooled_sample_reading(p, i);
    }
    return lost;
}

/* The mean of the repetitions, without what is far from most of them: the middle half; `kinds`: they may be of
 * two kinds, each by itself then. x: n, and scratch of 3 n more. */
static struct estimate on_average(double *x, size_t n, bool kinds)
{
    struct value_mode mode[2];
    double error, lost = pooled_middle(x, n, &error); /* which sorts them */
    if (kinds && pooled_two_lengths(x, n, KINDS_APART_US, POOLED_LENGTHS_APART, mode, x + n)) {
        double a = mode[0].mean, b = mode[1].mean, share = (double)mode[1].n / (double)n;
        lost = a + share * (b - a);
        error = hypot(error, fabs(b - a) * sqrt(share * (1 - share) / (double)n));
    }
    return estimate_around(lost, hypot(ESTIMATE_Z95 * error, RESOLUTION_US));
}

/* The part of the rate that is left in the end beside another thread which comes and goes: what the switch takes, it
 * takes of that. x: one a repetition. */
static double left_in_the_end(const struct pooled *p, double *x)
{
    const double end = p->border[p->n], from = POOLED_LATE * end;
    for (size_t r = 0; r < p->n_runs; r++)
        x[r] = of_run(p, r, from, end) / (end - from);
    return 1 - fmax(0, pooled_middle(x, p->n_runs, NULL));
}

/* Of a switch in a trace. */
struct lost {
    struct estimate us;
    double left; /* in the end: see above */
};

/* Where cycles are counted, of samples of a period: rates of short ones are off by what the steps of a clock make of
 * them. */
static int lost_within(const struct trace *t, double until_us, bool kinds, struct lost *out)
{
    struct pooled p;
    struct joined joined = {.own = false};
    double *x = NULL;
    *out = (struct lost){{NAN, NAN, NAN}, 1};
    bool counted = !clock_reading_of(t).instant;
    if (counted && joined_samples(t, &joined))
        return -1;
    int bad = pooled_prepare(counted ? &joined.trace : t, &p);
    if (!bad && p.n_runs >= POOLED_RUNS_LEAST && p.n) {
        x = malloc(4 * p.n_runs * sizeof *x);
        for (size_t r = 0; x && r < p.n_runs; r++)
            x[r] = of_run(&p, r, 0, until_us);
        bad = x ? 0 : -1;
        if (x) {
            out->us = on_average(x, p.n_runs, kinds);
            out->left = left_in_the_end(&p, x);
        }
    }
    free(x);
    pooled_free(&p);
    joined_free(&joined);
    return bad;
}

int lost_beyond(const struct trace *t, const struct trace *null, double until_us, bool kinds, struct estimate *out)
{
    struct lost own, code = {{NAN, NAN, NAN}, 1};
    const struct trace named = joined_described_by(null, t);
    int bad = lost_within(t, until_us, kinds, &own);
    if (!bad && null)
        bad = lost_within(&named, until_us, false, &code);
    *out = own.us;
    if (!isnan(code.us.value)) /* which holds what the other thread takes all the time */
        *out = estimate_around((own.us.value - code.us.value) / own.left,
                               hypot(estimate_half(&own.us), estimate_half(&code.us)) / own.left);
    return bad;
}
