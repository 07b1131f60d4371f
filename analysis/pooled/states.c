/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The states after the switch: pieces of the pooled curve of the rate. A piece is a state where the repetitions
 * themselves run at its rate; one whose rate is but the mean of those that are still in the state before and those that
 * are already in the next is none, and how long the state before lasts in each repetition (states.c) tells what it was.
 */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pooled/pooled.h"
#include "util/order.h"

/*
 * How each repetition passes through the states: from left to right, at its own times, by the likelihood of its samples
 * (dynamic programming). A sample is that of its state, that of its state beside a busy sibling thread, or an outlier;
 * each costs no more than the last. Where a state is left within a sample, what was done in it tells when.
 */

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

/* The sample with which each state but the last is left, into last[state] (one past it); SIZE_MAX: not shown. Returns
 * what passing costs. */
static double pass_through(const struct pooled *p, const struct pooled_states *s, size_t r, double *best,
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
    return best[states - 1];
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

/* The rates of the states again: in each repetition between its own borders, then pooled. x: scratch. */
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

/* Marks the samples that are not at the rate of their state: p->beside; those in the end are p->sibling_share. */
static void pooled_mark_beside(struct pooled *p, const struct pooled_states *s)
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

/* states.c: fills `left`, and the states' rates again. 0, or -1: out of memory. */
static int pooled_pass(const struct pooled *p, struct pooled_states *s)
{
    size_t last[POOLED_STATES_MAX];
    double best[POOLED_STATES_MAX];
    unsigned char *from = malloc(p->longest * s->n + 1);
    double *x = malloc((2 * p->n_runs + 1) * sizeof *x);
    free(s->left);
    free(s->cost);
    s->left = malloc((s->n * p->n_runs + 1) * sizeof *s->left);
    s->cost = malloc((p->n_runs + 1) * sizeof *s->cost);
    int bad = !from || !x || !s->left || !s->cost;
    for (unsigned round = 0; round < 2 && !bad; round++) {
        for (size_t r = 0; r < p->n_runs; r++) {
            s->cost[r] = pass_through(p, s, r, best, from, last);
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

enum { STATE_VALUES = 50000 }; /* that tell a state's rate */
#define PENALTY 25.0     /* for a piece, in units of twice the logarithm of the likelihood: three sigma, 700 places */
#define PROFILE 0.02     /* relative: how well a state's rate is known to be constant */
#define RATE_LEAST 0.03  /* slower is as good as halted */
#define SUPPORT 0.2      /* of the repetitions that run at a state's rate meanwhile */
#define USUAL 0.1        /* relative: how near to it */
#define LOW 0.5          /* of the rate on either side: in a slower sample time was lost */
#define HALT_SAMPLES 2.0 /* so much of it, in samples, is a halt ... */
#define MOST 0.6         /* ... where most repetitions lose as much ... */
#define ALIKE 0.25       /* ... relative; others are interruptions */
#define REACH_US 40.0    /* how far from the border of two states it may lie */
#define HALTED 0.02
#define EMPTY 0.3        /* samples */
#define OWN_PART 0.4     /* of the way to its neighbors' rates: nearer ones are its own */
#define EDGE_SAMPLES 1.6 /* a piece that is no longer than so many samples is the scatter of an edge */
/* Lost time that code explains that is not in the caches yet, where no null tells what that costs: */
#define UNKNOWN_COLD_US 0.5
#define KNOWN_COLD_US 0.3 /* ... and where one does, of another kernel: the least; it need not cost the same */

/* A stretch of the pooled curve: moments a to b - 1, but for what is near its ends where it is long. */
static void inner_moments(const struct pooled *p, const struct pooled_state *s, size_t *a, size_t *b)
{
    bool inner = s->end_us - s->begin_us > 4 * p->sample_us;
    double edge = inner ? 0.5 * p->sample_us : 0;
    *a = 0;
    *b = p->n;
    while (*a + 1 < p->n && p->border[*a] < s->begin_us + edge - 1e-9)
        ++*a;
    while (*b > *a + 1 && p->border[*b] > s->end_us - edge + 1e-9)
        --*b;
}

/*
 * The rate of a state: the most frequent one of the repetitions in its stretch, and what is near it. Returns how many
 * of them are near it, or beside a busy sibling; of the mean of two states that is none. x: scratch.
 */
static double state_update(const struct pooled *p, struct pooled_states *all, size_t k, double *x)
{
    struct pooled_state *s = &all->state[k];
    double gap = INFINITY; /* to its neighbors, whose rates must not count as its own */
    for (size_t i = k ? k - 1 : 0; i < all->n && i <= k + 1; i++)
        if (i != k)
            gap = fmin(gap, fabs(log(fmax(all->state[i].rate, RATE_LEAST) / fmax(s->rate, RATE_LEAST))));
    double width = fmax(2 * p->noise, fmin(fmax(USUAL, 2.5 * p->noise), OWN_PART * gap));
    size_t a, b, m = 0, near = 0;
    inner_moments(p, s, &a, &b);
    size_t step = (b - a) * p->n_runs / STATE_VALUES + 1;
    for (size_t i = a; i < b; i++)
        for (size_t r = i % step; r < p->n_runs; r += step)
            if (!isnan(p->own[r * p->n + i]))
                x[m++] = log(fmax((double)p->own[r * p->n + i], RATE_LEAST));
    if (!m)
        return 0;
    gsl_sort(x, 1, m);
    double sum = 0;
    size_t best = 0;
    for (size_t i = 0, past = 0; i < m; i++) { /* the densest stretch: time stamps come in steps, which have no mode */
        while (past < m && x[past] <= x[i] + 2 * width)
            past++;
        if (past - i > near) {
            near = past - i;
            best = i;
        }
    }
    for (size_t i = best; i < best + near; i++)
        sum += x[i];
    s->rate = exp(sum / (double)near);
    if (s->rate < POOLED_HALT_RATIO)
        for (near = 0; near < m && exp(x[near]) < 1.5 * POOLED_HALT_RATIO;)
            near++;
    return (double)near / (double)m;
}

/* Takes state k out; the time goes to its neighbors, half to each where it has two and not all goes to the next. */
static void remove_state(struct pooled_states *s, size_t k, bool to_next)
{
    double middle = 0.5 * (s->state[k].begin_us + s->state[k].end_us);
    bool first = k == 0, last = k + 1 == s->n;
    if (!last)
        s->state[k + 1].begin_us = first || to_next ? s->state[k].begin_us : middle;
    if (!first)
        s->state[k - 1].end_us = last ? s->state[k].end_us : to_next ? s->state[k].begin_us : middle;
    memmove(&s->state[k], &s->state[k + 1], (s->n - k - 1) * sizeof *s->state);
    s->n--;
}

/* Whether two neighbors are one; an approach is a state of its own, whatever it begins at. */
static bool same_state(const struct pooled_state *a, const struct pooled_state *b)
{
    bool alike = fabs(log(a->rate / b->rate)) < POOLED_SAME_RATE ||
                 (a->rate < POOLED_HALT_RATIO && b->rate < POOLED_HALT_RATIO);
    return alike && !(a->tau_us > 0) && !(b->tau_us > 0);
}

static void merge_states(const struct pooled *p, struct pooled_states *s, double *x)
{
    for (size_t k = 0; k + 1 < s->n;)
        if (same_state(&s->state[k], &s->state[k + 1])) {
            s->state[k].end_us = s->state[k + 1].end_us;
            memmove(&s->state[k + 1], &s->state[k + 2], (s->n - k - 2) * sizeof *s->state);
            s->n--;
            state_update(p, s, k, x);
            k = k ? k - 1 : 0;
        } else {
            k++;
        }
}

/* Whether state k is the scatter of an edge between its neighbors. */
static bool is_edge(const struct pooled *p, const struct pooled_states *s, size_t k)
{
    const struct pooled_state *q = &s->state[k];
    return k && k + 1 < s->n && (q->rate - q[-1].rate) * (q->rate - q[1].rate) < 0 &&
           q->end_us - q->begin_us < EDGE_SAMPLES * p->sample_us / q->rate;
}

/* Takes out what is no state, one at a time, the least supported first. x: scratch. */
static void keep_states(const struct pooled *p, struct pooled_states *s, double *x)
{
    for (;;) {
        double least = SUPPORT;
        merge_states(p, s, x);
        size_t worst = s->n;
        for (size_t k = 0; k + 1 < s->n; k++) {
            struct pooled_state *q = &s->state[k];
            if (q->tau_us > 0)
                continue;
            double has = is_edge(p, s, k) ? 0 : state_update(p, s, k, x);
            if (has < least) {
                least = has;
                worst = k;
            }
        }
        if (worst == s->n)
            return;
        remove_state(s, worst, false);
    }
}

double pooled_lost(const struct pooled *p)
{
    double lost = 0;
    for (size_t k = 0; k < p->n && p->border[k + 1] <= POOLED_COLD_UNTIL_US + 1e-9; k++)
        lost += (1 - p->rate[k]) * (p->border[k + 1] - p->border[k]);
    return lost;
}

double pooled_cold_lost(double null_lost_us)
{
    return isnan(null_lost_us) ? UNKNOWN_COLD_US : fmax(KNOWN_COLD_US, 1.5 * null_lost_us);
}

/* What the null loses, or what nulls are known to lose; the first states that it explains are none. */
static void forget_cold_code(const struct pooled *p, double null_lost_us, struct pooled_states *s)
{
    s->floor_us = POOLED_COLD_UNTIL_US;
    s->floor_lost_us = pooled_cold_lost(null_lost_us);
    while (s->n > 1) {
        const struct pooled_state *q = s->state;
        double lost = (1 - q->rate / s->state[1].rate) * (q->end_us - q->begin_us);
        if (q->tau_us > 0 || q->end_us > s->floor_us + p->sample_us || lost > s->floor_lost_us ||
            q->rate > s->state[1].rate)
            return;
        remove_state(s, 0, true);
    }
}

/* The time that a repetition loses in slow samples in a row near its border of two states; 0: none to speak
 * of. `least`: the lower rate of the two. */
static double own_halt(const struct pooled *p, size_t r, double from, double to, double least)
{
    const struct pooled_run *run = &p->run[r];
    double most = 0, before = 0;
    for (size_t i = trace_first_after(p->trace, run->zero + 1, run->past, from); i < run->past; i++) {
        double begin = pooled_sample_begin(p, r, i), rate = pooled_sample_rate(p, i) / run->late / least, lost = 0;
        if (begin > to)
            break;
        if (rate < LOW)
            lost = before + (1 - rate) * (p->trace->time_us[i] - begin);
        most = fmax(most, lost);
        before = lost;
    }
    return most;
}

/* The median of what the repetitions lose in single samples near border e; 0: not most of them, or not alike. */
static double common_halt(const struct pooled *p, const struct pooled_states *s, size_t e, double *x)
{
    double reach = 0.5 *
                   fmin(s->state[e].end_us - s->state[e].begin_us, s->state[e + 1].end_us - s->state[e + 1].begin_us);
    size_t m = 0, all = 0;
    for (size_t r = 0; r < p->n_runs; r++) {
        double at = s->left[e * p->n_runs + r];
        if (isnan(at))
            continue;
        all++;
        double lost = own_halt(p, r, fmax(0, at - fmin(reach, REACH_US)), at + fmin(reach, REACH_US),
                               fmin(s->state[e].rate, s->state[e + 1].rate));
        if (lost > HALT_SAMPLES * p->sample_us)
            x[m++] = lost;
    }
    double middle = order_median(x, m);
    bool most = all > p->n_runs / 2 && (double)m > MOST * (double)all;
    return most && order_mad_sigma(x, m, middle, x + p->n_runs) < ALIKE * middle ? middle : 0;
}

/* states.c: halts that each repetition shows at a time of its own, so that none is on the pooled curve: the curve is
 * pooled again about each repetition's own border of two states. *found: the states are more. 0, or -1: out of
 * memory. */
static int pooled_find_between(const struct pooled *p, struct pooled_states *s, bool *found)
{
    double *x = malloc((2 * p->n_runs + 1) * sizeof *x);
    *found = false;
    if (!x)
        return -1;
    for (size_t e = 0; e + 1 < s->n && s->n < POOLED_STATES_MAX && !*found; e++) {
        bool halted = s->state[e].rate < POOLED_HALT_RATIO || s->state[e + 1].rate < POOLED_HALT_RATIO;
        double lost = halted || s->state[e].tau_us > 0 ? 0 : common_halt(p, s, e, x);
        if (!(lost > 0))
            continue;
        double begin = s->state[e].end_us;
        memmove(&s->state[e + 2], &s->state[e + 1], (s->n - e - 1) * sizeof *s->state);
        s->state[e + 1] = (struct pooled_state){.begin_us = begin, .end_us = begin + lost, .rate = HALTED};
        s->state[e + 2].begin_us = fmin(begin + lost, s->state[e + 2].end_us);
        s->n++;
        *found = true;
    }
    free(x);
    return 0;
}

/* Neighbors that have turned out to run at one rate. */
static bool forget_twin(struct pooled_states *s)
{
    for (size_t k = 0; k + 1 < s->n; k++)
        if (same_state(&s->state[k], &s->state[k + 1])) {
            remove_state(s, k, true);
            return true;
        }
    return false;
}

/* States that hardly any repetition shows for a sample's length were the scatter of others. */
static bool forget_empty(const struct pooled *p, struct pooled_states *s)
{
    for (size_t k = 0; k + 1 < s->n; k++)
        if (s->state[k].length_us < EMPTY * p->sample_us && !(s->state[k].tau_us > 0)) {
            remove_state(s, k, true);
            return true;
        }
    return false;
}

/* Whether most repetitions pass as well without state k. from: scratch of a byte for each sample and state. */
static bool goes_without(const struct pooled *p, const struct pooled_states *s, size_t k, unsigned char *from)
{
    struct pooled_states without = *s;
    size_t last[POOLED_STATES_MAX], helped = 0;
    double best[POOLED_STATES_MAX];
    remove_state(&without, k, true);
    for (size_t r = 0; r < p->n_runs; r++)
        helped += pass_through(p, &without, r, best, from, last) - s->cost[r] > SKIP_COST;
    return 2 * helped < p->n_runs;
}

/* A state between the rates of its neighbors that hardly helps most repetitions: those that are still in one of them
 * and those that are already in the other made it, where each goes at a time of its own. *found: it is taken out. 0, or
 * -1: out of memory. */
static int forget_mixture(const struct pooled *p, struct pooled_states *s, bool *found)
{
    unsigned char *from = malloc(p->longest * s->n + 1);
    *found = false;
    for (size_t k = 1; from && k + 1 < s->n && !*found; k++) {
        const struct pooled_state *q = &s->state[k];
        *found = !(q->tau_us > 0) && (q->rate - q[-1].rate) * (q->rate - q[1].rate) < 0 && goes_without(p, s, k, from);
        if (*found)
            remove_state(s, k, true);
    }
    free(from);
    return from ? 0 : -1;
}

/* The standard error of a moment's rate in the end, where nothing but the sibling thread changes it; relative. */
static double late_error(const struct pooled *p)
{
    double sum = 0, n = 0;
    for (size_t k = 0; k < p->n; k++)
        if (p->border[k] > POOLED_LATE * p->border[p->n]) {
            sum += p->error[k] / fmax(RATE_LEAST, p->rate[k]);
            n++;
        }
    return n > 0 ? sum / n : 0;
}

/* All rates are reported of that in the end. Where it begins late in a recording, what came before was taken for it. */
static void end_at_one(struct pooled *p, struct pooled_states *s)
{
    double last = s->state[s->n - 1].rate;
    s->state[s->n - 1].rate = 1;
    if (fabs(log(last)) < USUAL)
        return;
    for (size_t k = 0; k + 1 < s->n; k++)
        s->state[k].rate /= last;
    for (size_t r = 0; r < p->n_runs; r++)
        p->run[r].late *= last;
    for (size_t k = 0; k < p->n; k++) {
        p->rate[k] /= last;
        p->error[k] /= last;
    }
    for (size_t i = 0; i < p->n * p->n_runs; i++)
        p->own[i] /= (float)last;
}

int pooled_find_states(struct pooled *p, double null_lost_us, struct pooled_states *out)
{
    memset(out, 0, sizeof *out);
    double *y = malloc(2 * (p->n + 1) * sizeof *y), *w;
    size_t *cut = malloc((p->n + 2) * sizeof *cut);
    if (!y || !cut) {
        free(y);
        free(cut);
        return -1;
    }
    w = y + p->n + 1;
    double beside = late_error(p); /* a busy sibling stays for longer than a sample: so long moments err alike */
    for (size_t k = 0; k < p->n; k++) {
        double rate = fmax(RATE_LEAST, p->rate[k]), moment = p->border[k + 1] - p->border[k];
        double alike = sqrt(fmax(0, p->sibling_us / fmax(p->length[k], p->sample_us) - 1));
        double sigma = hypot(PROFILE, fmax(p->error[k], p->noise / sqrt((double)p->n_runs)) / rate);
        sigma = hypot(sigma, beside * alike);
        y[k] = log(rate);
        w[k] = fmin(1, moment / fmax(p->length[k], moment)) / (sigma * sigma);
    }
    size_t n = pooled_cut(y, w, p->n, 1, PENALTY, cut);
    out->n = n < POOLED_STATES_MAX ? n : POOLED_STATES_MAX;
    for (size_t k = 0; k < out->n; k++) {
        size_t b = k + 1 == out->n ? p->n : cut[k + 1];
        double sum = 0;
        for (size_t i = cut[k]; i < b; i++)
            sum += p->rate[i] * (p->border[i + 1] - p->border[i]);
        out->state[k] = (struct pooled_state){.begin_us = p->border[cut[k]], .end_us = p->border[b]};
        out->state[k].rate = sum / (p->border[b] - p->border[cut[k]]);
    }
    free(y);
    free(cut);
    double *x = malloc((STATE_VALUES + p->n + 1) * 2 * sizeof *x);
    if (!n || !x) {
        free(x);
        return -1;
    }
    /* by the pooled curve's own rates: a gradual change has no states but its begin and its end */
    int bad = pooled_find_fades(p, out);
    for (size_t k = 0; k < out->n; k++)
        if (!(out->state[k].tau_us > 0))
            state_update(p, out, k, x);
    keep_states(p, out, x);
    end_at_one(p, out);
    free(x);
    if (bad)
        return -1;
    forget_cold_code(p, null_lost_us, out);
    /* first all that may be, then less and less: what is taken out is not looked for again */
    for (bool more = true; more;)
        if (pooled_pass(p, out) || pooled_find_between(p, out, &more))
            return -1;
    for (bool found = true; found;) {
        found = forget_empty(p, out) || forget_twin(out);
        if ((!found && forget_mixture(p, out, &found)) || (found && pooled_pass(p, out)))
            return -1;
    }
    pooled_mark_beside(p, out);
    return pooled_clocks_before(p);
}

void pooled_states_free(struct pooled_states *s)
{
    free(s->left);
    free(s->cost);
    memset(s, 0, sizeof *s);
}
