/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How each repetition passes through the states: from left to right, at its own times, by the likelihood of its samples
 * (dynamic programming). A sample is that of its state, that of its state beside a busy sibling thread, or an outlier;
 * each costs no more than the last. Where a state is left within a sample, what was done in it tells when.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pooled/pooled.h"
#include "util/order.h"

#define SIGMA_LEAST 0.03 /* relative: of a sample's rate about its state's */
#define SIBLING_COST 2.0 /* of the logarithm of the likelihood */
#define OUTLIER_COST 6.0
#define HALT_COST 10.0 /* work in a halt: an outlier of the state beside it is more likely */
#define SKIP_COST 5.0  /* a repetition that does not show a state */
#define SIBLING_SPREAD 3.0
#define HALT_MOST 0.5    /* of the rate in the end: where no more is done than in the one sample that spans a state */
#define HALT_OF_SLOW 0.7 /* of the rate of a state beside it */
#define ONE_SAMPLE 1.4
#define SAME_STATE 0.08 /* relative: farther from its state's rate a sample is disturbed */

bool pooled_halts(const struct pooled *p, const struct pooled_states *s, size_t k)
{
    const struct pooled_state *q = &s->state[k];
    if (q->rate < POOLED_HALT_RATIO || !k || k + 1 == s->n)
        return q->rate < POOLED_HALT_RATIO;
    double length = q->length_us > 0 ? q->length_us : q->end_us - q->begin_us;
    return q->rate < fmin(HALT_MOST, fmin(q[-1].rate, q[1].rate)) && length * q->rate < ONE_SAMPLE * p->sample_us;
}

/* Samples slower than this may be those of state k, a halt: what little is done in one that spans it makes it less than
 * that of the states beside it. */
static double halted_below(const struct pooled_states *s, size_t k)
{
    double below = 1.5 * POOLED_HALT_RATIO;
    for (size_t i = k ? k - 1 : 0; i < s->n && i <= k + 1; i++)
        if (s->state[i].rate >= POOLED_HALT_RATIO)
            below = fmin(below, HALT_OF_SLOW * s->state[i].rate);
    return below;
}

static double pass_cost(const struct pooled *p, const struct pooled_states *s, size_t k, double rate)
{
    const double state = s->state[k].rate;
    if (isnan(rate))
        return 0;
    if (state < POOLED_HALT_RATIO)
        return rate < halted_below(s, k) ? 0 : HALT_COST;
    double sigma = fmax(SIGMA_LEAST, 1.5 * p->noise), z = log(fmax(rate, 1e-3) / state) / sigma;
    double cost = fmin(OUTLIER_COST, 0.5 * z * z);
    if (p->sibling_share > 0.005) {
        z = (z * sigma - log(p->sibling_factor)) / (SIBLING_SPREAD * sigma);
        cost = fmin(cost, SIBLING_COST + 0.5 * z * z);
    }
    return cost;
}

/* The sample with which each state but the last is left, into last[state] (one past it); SIZE_MAX: not shown. */
static void pass_through(const struct pooled *p, const struct pooled_states *s, size_t r, double *best,
                         unsigned char *from, size_t *last)
{
    const struct pooled_run *run = &p->run[r];
    size_t n = run->past - run->zero, states = s->n;
    for (size_t k = 0; k < states; k++)
        best[k] = SKIP_COST * (double)k;
    for (size_t i = 0; i < n; i++) {
        double rate = pooled_sample_rate(p, run->zero + i) / run->late, before[POOLED_STATES_MAX];
        memcpy(before, best, states * sizeof *best);
        for (size_t k = 0; k < states; k++) {
            size_t origin = k;
            double least = before[k];
            for (size_t j = 0; i && j < k; j++) {
                double cost = before[j] + SKIP_COST * (double)(k - j - 1);
                if (cost < least) {
                    least = cost;
                    origin = j;
                }
            }
            best[k] = least + pass_cost(p, s, k, rate);
            from[i * states + k] = (unsigned char)origin;
        }
    }
    size_t state = states - 1;
    for (size_t k = 0; k < states; k++)
        last[k] = SIZE_MAX;
    for (size_t i = n; i-- > 0;) {
        size_t origin = from[i * states + state];
        if (origin != state && i)
            last[origin] = i;
        state = i ? origin : state;
    }
}

/*
 * When a repetition goes from one rate to the next, near the border in front of sample last[k]: of the time of the
 * samples about it, the part that their work leaves to the first rate. That has no bias, wherever in a sample the
 * border is, as long as shares of single samples may be as far below 0 and above 1 as their noise takes them. Of the
 * work of a sample that spans a whole halt half is done on either side; where samples end after a time, not after a
 * piece of work (dense), all is done ahead of it.
 */
static double leave(const struct pooled *p, size_t r, const size_t *last, const struct pooled_states *s, size_t k)
{
    const struct pooled_run *run = &p->run[r];
    bool halts = pooled_halts(p, s, k), halted = pooled_halts(p, s, k + 1);
    size_t h = halts ? k : k + 1, at = last[k];
    bool spans = (halts || halted) && last[h] == (h ? last[h - 1] : 0) + 1;
    double before = halts ? 0 : s->state[k].rate, after = halted ? 0 : s->state[k + 1].rate;
    size_t i = run->zero + at, whole = halts ? i - 1 : i;
    size_t first = spans ? whole : i - (at > 0), past = spans ? whole + 1 : i + 1;
    double edge = fmax(0, pooled_sample_begin(p, r, first)) + (spans && halted ? pooled_unseen_chain(p, before, 1) : 0);
    for (size_t j = first; j < past; j++) {
        double begin = pooled_sample_begin(p, r, j), end = p->trace->time_us[j];
        double rate = pooled_sample_rate(p, j) / run->late;
        if (begin < 0 && run->early > 0) /* what was done ahead of the switch is none of it */
            rate = (rate * (end - begin) + run->early / run->late * begin) / end;
        rate *= !spans ? 1 : !p->dense ? 0.5 : halted ? 1 : 0;
        double share = isnan(rate) ? (j < i ? 1 : 0) : (rate - after) / (before - after);
        double beyond = j == run->zero ? 0 : 3 * p->noise * fmax(before, after) / fabs(before - after);
        double reading = pooled_sample_reading(p, j), payload = end - fmax(0, begin) - reading;
        edge += fmax(-beyond, fmin(1 + beyond, share)) * payload + (j < i && !spans ? reading : 0);
    }
    return edge;
}

/* When a repetition leaves state k; NaN: it does not show it. Where a wait goes over into an approach, as all do. */
static double left_at(const struct pooled *p, size_t r, const size_t *last, const struct pooled_states *s, size_t k)
{
    if (s->state[k + 1].begin_half_us > 0)
        return s->state[k].end_us;
    return last[k] == SIZE_MAX ? NAN : leave(p, r, last, s, k);
}

/* The rate of a repetition between two times, of the samples that lie within and are near the state's rate: others are
 * beside a busy sibling. NaN: none does. */
static double rate_between(const struct pooled *p, size_t r, double begin, double end, double state)
{
    double near = fmax(SAME_STATE, 3 * p->noise);
    const struct pooled_run *run = &p->run[r];
    double work = 0, time = 0;
    for (size_t i = trace_first_after(p->trace, run->zero, run->past, begin);
         i < run->past && p->trace->time_us[i] <= end; i++) {
        double from = pooled_sample_begin(p, r, i), rate = pooled_sample_rate(p, i) / run->late;
        if (from < begin || !(fabs(log(rate / state)) < near))
            continue;
        work += rate * (p->trace->time_us[i] - from);
        time += p->trace->time_us[i] - from;
    }
    return work / time;
}

/* The rates of the states anew: in each repetition between its own borders, then pooled. x: scratch. */
static void relearn(const struct pooled *p, struct pooled_states *s, double *x)
{
    for (size_t k = 0; k + 1 < s->n; k++) {
        size_t m = 0;
        for (size_t r = 0; r < p->n_runs; r++) {
            /* the first sample holds what code costs that is not in the caches yet */
            double begin = k ? s->left[(k - 1) * p->n_runs + r] : p->trace->time_us[p->run[r].zero] - 1e-9;
            double end = s->left[k * p->n_runs + r];
            double own = begin < end ? rate_between(p, r, begin, end, s->state[k].rate) : NAN;
            if (!isnan(own))
                x[m++] = own;
        }
        if (m > p->n_runs / 3 && s->state[k].rate >= POOLED_HALT_RATIO && !(s->state[k].tau_us > 0))
            s->state[k].rate = pooled_middle(x, m, NULL);
    }
}

void pooled_mark_beside(struct pooled *p, const struct pooled_states *s)
{
    double near = fmax(SAME_STATE, 3 * p->noise), late = POOLED_LATE * p->after_us, all = 0, slowed = 0;
    for (size_t r = 0; r < p->n_runs; r++) {
        const struct pooled_run *run = &p->run[r];
        for (size_t i = run->first; i < run->zero; i++)
            p->beside[i] = run->early > 0 && fabs(log(pooled_sample_rate(p, i) / run->early)) > near;
        size_t k = 0;
        for (size_t i = run->zero; i < run->past; i++) {
            while (k + 1 < s->n && !(s->left[k * p->n_runs + r] >= p->trace->time_us[i]))
                k++;
            double own = pooled_sample_rate(p, i) / run->late / s->state[k].rate;
            p->beside[i] = !(s->state[k].tau_us > 0) && !(fabs(log(own)) < near);
            all += p->trace->time_us[i] > late;
            slowed += p->trace->time_us[i] > late && p->beside[i] && own < 1 && own > POOLED_SIBLING_LEAST;
        }
    }
    p->sibling_share = fmin(p->sibling_share, slowed / fmax(1, all)); /* the others wait for longer than most */
}

/* x: scratch of two for each repetition. */
static void take_lengths(const struct pooled *p, struct pooled_states *s, double *x)
{
    for (size_t k = 0; k < s->n; k++) {
        size_t m = 0;
        for (size_t r = 0; r < p->n_runs && k + 1 < s->n; r++)
            if (!isnan(s->left[k * p->n_runs + r]))
                x[m++] = s->left[k * p->n_runs + r];
        double middle = order_median(x, m);
        s->state[k].scatter_us = m > 1 ? order_mad_sigma(x, m, middle, x + p->n_runs) : 0;
        if (2 * m > p->n_runs) { /* where it is on the pooled curve does not matter where repetitions scatter */
            s->state[k].end_us = middle;
            s->state[k + 1].begin_us = fmax(middle, s->state[k].begin_us);
        }
        m = 0;
        for (size_t r = 0; r < p->n_runs && k + 1 < s->n; r++) {
            double d = s->left[k * p->n_runs + r] - (k ? s->left[(k - 1) * p->n_runs + r] : 0);
            if (!isnan(d))
                x[m++] = d;
        }
        s->state[k].length_us = k + 1 < s->n && m ? order_median(x, m) : s->state[k].end_us - s->state[k].begin_us;
    }
}

int pooled_pass(const struct pooled *p, struct pooled_states *s)
{
    size_t last[POOLED_STATES_MAX];
    double best[POOLED_STATES_MAX];
    unsigned char *from = malloc(p->longest * s->n + 1);
    double *x = malloc((2 * p->n_runs + 1) * sizeof *x);
    free(s->left);
    s->left = malloc((s->n * p->n_runs + 1) * sizeof *s->left);
    int bad = !from || !x || !s->left;
    for (unsigned round = 0; round < 2 && !bad; round++) {
        for (size_t r = 0; r < p->n_runs; r++) {
            pass_through(p, s, r, best, from, last);
            for (size_t k = 0; k + 1 < s->n; k++)
                s->left[k * p->n_runs + r] = left_at(p, r, last, s, k);
        }
        if (!round)
            relearn(p, s, x);
    }
    if (!bad)
        take_lengths(p, s, x);
    free(from);
    free(x);
    return bad ? -1 : 0;
}
