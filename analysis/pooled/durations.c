/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long states last: as the repetitions show it, with what samples and chains leave open of their ends. */
#include "analysis/pooled/durations.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "analysis/stats/robust.h"
#include "util/order.h"

#define UNIFORM_95 0.475 /* of a width: half of the 95 % limits of a uniform distribution */
#define SLOW_CHAIN 0.03  /* relative: a chain so much slower than before and after may have been throttled, too */
#define UNSEEN_KNOWN 0.5 /* of pooled_unseen_chain(): to so much it is known */
#define REJECT 5.0
#define MODES_SHARE 0.25 /* of a duration: modes are at least so far apart */

/* Whether a busy sibling thread is beside none of the samples about those that a border may be in. */
static bool is_left_alone(const struct pooled *p, size_t r, double border)
{
    const struct pooled_run *run = &p->run[r];
    size_t at = trace_first_after(p->trace, run->zero, run->past, border);
    for (size_t i = at > run->zero + 3 ? at - 3 : run->zero + 1; i < at + 4 && i < run->past; i++)
        if (p->beside[i] && (i + 1 < at || i > at + 1))
            return false;
    return true;
}

/* When each repetition shows state k, for how long, but for those beside a busy sibling, if most are not. */
static size_t own_durations(const struct pooled_answer *a, size_t k, double *x, size_t *all)
{
    const struct pooled *p = a->p;
    size_t m = 0;
    for (int noisy = 0; noisy < 2; noisy++) {
        m = *all = 0;
        for (size_t r = 0; r < p->n_runs; r++) {
            double begin = k ? a->s->left[(k - 1) * p->n_runs + r] : 0, end = a->s->left[k * p->n_runs + r];
            if (isnan(begin) || isnan(end))
                continue;
            ++*all;
            if (noisy || (is_left_alone(p, r, end) && (!k || is_left_alone(p, r, begin))))
                x[m++] = end - begin;
        }
        if (2 * m >= *all)
            break;
    }
    return m;
}

/*
 * Of the work of a sample that spans a halt half is done on either side, on average, if repetitions scatter by a sample
 * or more; else it may be another part in all of them. By so much the end of state k is unknown, where samples are at
 * the rate of state `at`, us. (Of a phase that scatters normally e^(-2 (pi sigma)^2) is common to all; sigma in
 * samples.)
 */
static double halt_placed(const struct pooled_answer *a, size_t k, size_t at)
{
    double sample = a->p->sample_us / a->s->state[at].rate, sigma = a->s->state[k].scatter_us / sample;
    return a->p->dense ? 0 : UNIFORM_95 * sample * exp(-2 * M_PI * M_PI * sigma * sigma);
}

const struct pooled_clock_state *pooled_clock_in(const struct pooled_clock *c, double begin, double end)
{
    const struct pooled_clock_state *best = NULL;
    double most = 0;
    for (size_t k = 0; k < c->n; k++) {
        double common = fmin(end, c->state[k].end_us) - fmax(begin, c->state[k].begin_us);
        if (common > most) {
            most = common;
            best = &c->state[k];
        }
    }
    return best;
}

double pooled_chains_longer(const struct pooled_answer *a, size_t k)
{
    const struct pooled_state *q = &a->s->state[k];
    const struct pooled_clock_state *now = pooled_clock_in(a->c, q->begin_us, q->end_us);
    const struct pooled_clock_state *last = a->c->n ? &a->c->state[a->c->n - 1] : NULL;
    bool slowed = now && now != last && now->log_step.value < fmin(0, last->log_step.value) - SLOW_CHAIN;
    return slowed ? exp(last->log_step.value - now->log_step.value) : 1;
}

/* By how much state k, which slows chains, is longer and a halt after it shorter than where chains are not slowed:
 * what those take that tell nothing (states.c), us. */
static double slowed_chains(const struct pooled_answer *a, size_t k)
{
    if (!pooled_halts(a->p, a->s, k + 1))
        return 0;
    const double rate = a->s->state[k].rate;
    return pooled_unseen_chain(a->p, rate, pooled_chains_longer(a, k)) - pooled_unseen_chain(a->p, rate, 1);
}

/* What is left open of where state k ends, by what chains take in the samples about its end, us. */
static double chains_placed(const struct pooled_answer *a, size_t k)
{
    const double longer = fmax(pooled_chains_longer(a, k), pooled_chains_longer(a, k + 1)) - 1;
    const bool halted = pooled_halts(a->p, a->s, k + 1);
    return hypot(longer * a->p->chains_us,
                 halted ? UNSEEN_KNOWN * pooled_unseen_chain(a->p, a->s->state[k].rate, 1) : 0);
}

/* By how much more the mean duration of a state is unknown than repetitions differ, us. */
static double duration_placed(const struct pooled_answer *a, size_t k)
{
    const struct pooled_states *s = a->s;
    const struct pooled *p = a->p;
    double half = p->dense ? POOLED_RESOLUTION : p->tick_us;
    if (p->sibling_share > 0) /* a busy sibling slows the samples that borders are in, too */
        half = hypot(half, p->sibling_share * (1 / p->sibling_factor - 1) * p->sample_us);
    if (k + 1 < s->n)
        half = hypot(half, hypot(s->state[k + 1].begin_half_us, chains_placed(a, k)));
    if (k)
        half = hypot(half, chains_placed(a, k - 1));
    if (k && k + 1 < s->n && pooled_halts(p, s, k))
        return hypot(half, halt_placed(a, k - 1, k - 1) - halt_placed(a, k, k + 1));
    if (k && pooled_halts(p, s, k - 1))
        half = hypot(half, halt_placed(a, k - 1, k));
    if (k + 1 < s->n && pooled_halts(p, s, k + 1))
        half = hypot(half, halt_placed(a, k, k));
    return half;
}

int pooled_state_duration(const struct pooled_answer *a, size_t k, struct phase *ph, double *x)
{
    const struct pooled *p = a->p;
    size_t all, m = own_durations(a, k, x, &all);
    struct value_mode mode[2];
    double *copy = x + p->n_runs;
    memcpy(copy, x, m * sizeof *x);
    double middle = order_median(copy, m), sample = p->sample_us / fmax(0.2, a->s->state[k].rate);
    gsl_sort(x, 1, m);
    size_t n = pooled_two_lengths(x, m, fmax(MODES_SHARE * middle, 0.6 * sample), POOLED_LENGTHS_APART, mode,
                                  x + p->n_runs),
           kept = m;
    if (n == 2) {
        ph->n_modes = 2;
        for (size_t i = 0; i < 2; i++)
            ph->modes[i] = (struct phase_mode){mode[i].mean, (double)mode[i].n / (double)m};
        kept = 0;
        for (size_t i = 0; i < m; i++)
            if (x[i] >= mode[0].lo && x[i] <= mode[0].hi)
                x[kept++] = x[i];
    }
    ph->duration_us = robust_mean(x, kept, REJECT, 0.5 * sample, &ph->agreeing_runs);
    ph->agreeing_runs = n == 2 ? all : ph->agreeing_runs + all - m;
    double half = hypot(estimate_half_known(&ph->duration_us), duration_placed(a, k));
    if (isnan(ph->duration_us.value) && kept)
        return -1; /* out of memory */
    if (!kept)
        ph->duration_us.value = a->s->state[k].end_us - a->s->state[k].begin_us;
    const double longer = slowed_chains(a, k), shorter = k && pooled_halts(p, a->s, k) ? slowed_chains(a, k - 1) : 0;
    ph->duration_us.value += longer - shorter;
    half = hypot(half, 0.5 * (longer + shorter));
    ph->duration_us.lo = fmax(0, ph->duration_us.value - half);
    ph->duration_us.hi = ph->duration_us.value + half;
    return 0;
}
