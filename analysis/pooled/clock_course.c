/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The clock after the switch, of that before it in the same repetition: drift and each repetition's own clock cancel.
 * Chains are few and each tells little, so they are pooled over stretches first; a step counts if the repetitions' own
 * differences bear it out.
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/slow_runs.h"
#include "analysis/phases/repetitions/steady.h"
#include "analysis/pooled/pooled.h"
#include "analysis/stats/blocks.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

/* Stretches into which the time after a switch is cut, at most. */
enum { STRETCHES_MOST = 64 };
#define STRETCH_US 4.0 /* the first are so long, and later ones a share of the time since the switch */
#define STRETCH_GROWS 6.0
/* Squared standard errors that another step of the clock must explain; us after the switch in which code is cold. */
#define PENALTY 25.0
#define COLD_US 0.6
#define COLD_RATE 0.9 /* of the rate of its state */
#define SURE 3.3      /* standard errors of the repetitions' own steps: 1 in 1000 */

/* When repetition r is where most are at `at`, us: each passes the states at times of its own. A gradual change has no
 * border that a single repetition shows, but lasts as long in all. */
static double own_time(const struct pooled *p, const struct pooled_states *s, size_t r, double at)
{
    double own = 0, common = 0;
    for (size_t k = 0; k + 1 < s->n; k++) {
        double left = s->left[k * p->n_runs + r], end = s->state[k].end_us;
        if (isnan(left) || !(end > common))
            continue;
        if (s->state[k].tau_us > 0)
            left = own + end - common;
        if (at <= end)
            return own + (at - common) / (end - common) * (left - own);
        own = left;
        common = end;
    }
    return own + at - common;
}

/* Whether repetition r shows no end of a state that most have left by then: it may not have come so far. */
static bool stays_behind(const struct pooled *p, const struct pooled_states *s, size_t r, double at)
{
    for (size_t k = 0; k + 1 < s->n; k++)
        if (isnan(s->left[k * p->n_runs + r]) && s->state[k].end_us <= at + 1e-9)
            return true;
    return false;
}

/* The mean time of a cycle of repetition r between two times, relative to that before the switch: minus its logarithm.
 * Of samples beyond the switch alone. NaN: no chain, or it stays after. x: scratch of twice the samples. */
static double pooled_own_clock(const struct pooled *p, const struct pooled_states *s, size_t r, double from, double to,
                               double *x)
{
    const struct pooled_run *run = &p->run[r];
    const float *freq = p->trace->channel[TRACE_FREQ];
    const double until = own_time(p, s, r, to);
    size_t m = 0, i = trace_first_after(p->trace, run->zero, run->past, own_time(p, s, r, from));
    for (; i < run->past && p->trace->time_us[i] <= until; i++)
        if (freq[i] > 0 && !p->beside[i])
            x[m++] = (double)freq[i];
    if (!m || isnan(run->cycle_ns) || stays_behind(p, s, r, from))
        return NAN;
    return log(clock_centre(&p->clock, TRACE_FREQ, x, m, x + m) * run->cycle_ns);
}

/*
 * The logarithm of a clock by those of n repetitions: their median with its limits, and its standard error. Few chains
 * by a clock in steps have one of a few values, and so has their median: only the mean time of a cycle is right then
 * (clock.h). That is where repetitions scatter as one to twenty such chains do: by 0.41 of a step, of each chain
 * (clock_noise). Reorders x; scratch of n.
 */
static struct estimate clock_of_all(const struct pooled *p, double *x, size_t n, double *scratch, double *error)
{
    struct estimate e = robust_median(x, n);
    const double sigma = order_mad_sigma(x, n, e.value, scratch), step = p->clock.quantum;
    *error = ROBUST_MEDIAN_ERROR * sigma / sqrt((double)n);
    if (n && isnan(e.lo)) { /* a few repetitions: no better known than by one chain, by Student's distribution */
        *error = fmax(*error, clock_noise(&p->clock));
        e = estimate_around(e.value, gsl_cdf_tdist_Pinv(0.975, n > 1 ? (double)n - 1 : 1) * *error);
    }
    if (!(sigma > step / 12 && sigma < 0.6 * step))
        return e;
    for (size_t i = 0; i < n; i++)
        x[i] = exp(-x[i]);
    double shift = -log(robust_centre(x, n, scratch)) - e.value;
    return (struct estimate){e.value + shift, e.lo + shift, e.hi + shift};
}

/* The clock between two times over all repetitions; error: a standard error of it. x: scratch of one a repetition. */
static struct estimate pooled_clock_between(const struct pooled *p, const struct pooled_states *s, double from,
                                            double to, double *x, double *scratch, double *error)
{
    size_t m = 0;
    for (size_t r = 0; r < p->n_runs; r++) {
        double own = pooled_own_clock(p, s, r, from, to, scratch);
        if (!isnan(own))
            x[m++] = own;
    }
    struct estimate e = clock_of_all(p, x, m, scratch, error);
    *error = m ? *error : NAN;
    return e;
}

/* How surely and by how much the clock steps at `at`: repetition by repetition. */
static struct estimate own_step(const struct pooled *p, const struct pooled_states *s, double from, double at,
                                double to, double *x, double *scratch, double *error)
{
    size_t m = 0;
    for (size_t r = 0; r < p->n_runs; r++) {
        double before = from < 0 ? 0 : pooled_own_clock(p, s, r, from, at, scratch);
        double after = pooled_own_clock(p, s, r, at, to, scratch);
        if (!isnan(before) && !isnan(after))
            x[m++] = after - before;
    }
    struct estimate e = clock_of_all(p, x, m, scratch, error);
    *error = m ? *error : INFINITY;
    return e;
}

/* Until when code that was not in the caches yet runs below the rate of its state, which is no state (states.c): of its
 * samples the fast ones pass for that state's, those that the time of their chain has shortened. */
static double cold_until(const struct pooled *p, const struct pooled_states *s)
{
    size_t k = 0;
    while (k < p->n && p->border[k] < s->floor_us && p->rate[k] < COLD_RATE * s->state[0].rate)
        k++;
    return s->state[0].tau_us > 0 || p->border[k] < COLD_US ? 0 : p->border[k];
}

/* When a gradual change is over, us; of another state, its end. */
static double state_over(const struct pooled *p, const struct pooled_states *s, size_t k)
{
    double end = k + 1 < s->n ? s->state[k + 1].end_us : p->border[p->n];
    return s->state[k].tau_us > 0 ? fmin(s->state[k].begin_us + pooled_fade_us(s, k), end) : s->state[k].end_us;
}

/* Stretches that end where states do, and where they would become long. A gradual change is one, until it is over: the
 * clock that it ends at must not hold what is left of its way. */
static size_t clock_stretches(const struct pooled *p, const struct pooled_states *s, double *border)
{
    size_t n = 0;
    border[0] = cold_until(p, s);
    for (size_t k = 0; k < s->n; k++) {
        double end = k + 1 == s->n ? p->border[p->n] : state_over(p, s, k);
        while (!(s->state[k].tau_us > 0)) {
            double length = fmax(STRETCH_US, border[n] / STRETCH_GROWS);
            if (n + s->n + 2 >= STRETCHES_MOST || end - border[n] < 1.5 * length)
                break;
            border[n + 1] = border[n] + length;
            n++;
        }
        if (end > border[n])
            border[++n] = end;
    }
    return n;
}

/* Where between two times the pooled rate steps as the clock does, but not within a gradual change; `at` where it does
 * not show. */
static double place_step(const struct pooled *p, const struct pooled_states *s, double from, double at, double to,
                         double step)
{
    size_t a = 0, b = p->n;
    for (size_t k = 0; k < s->n; k++) {
        bool before = s->state[k].begin_us < at - 1e-9;
        if (s->state[k].tau_us > 0 && before)
            from = fmax(from, fmin(at, state_over(p, s, k)));
        else if (s->state[k].tau_us > 0)
            to = fmin(to, fmax(at, s->state[k].begin_us));
    }
    while (a + 1 < p->n && p->border[a] < fmax(from, COLD_US) - 1e-9)
        a++;
    while (b > a + 1 && p->border[b] > to + 1e-9)
        b--;
    double all = 0, before = 0, best = 0;
    size_t n = b - a, where = n;
    for (size_t k = a; k < b; k++)
        all += log(fmax(0.05, p->rate[k]));
    for (size_t k = 1; k < n; k++) {
        before += log(fmax(0.05, p->rate[a + k - 1]));
        double d = (all - before) / (double)(n - k) - before / (double)k;
        double gain = d * d * (double)k * (double)(n - k);
        if (gain > best && d * step > 0 && fabs(d / step - 1) < 0.5) {
            best = gain;
            where = k;
        }
    }
    return where < n ? p->border[a + where] : at;
}

/* Whether the core halts at `at`: a clock that changes about then changes meanwhile. */
static bool halts_at(const struct pooled *p, const struct pooled_states *s, double at)
{
    for (size_t k = 0; k < s->n; k++)
        if (pooled_halts(p, s, k) && at > s->state[k].begin_us - 1e-9 && at < s->state[k].end_us + 1e-9)
            return true;
    return false;
}

static bool sure_step(const struct estimate *e, double error)
{
    return fabs(e->value) > fmax(POOLED_STEP_LEAST, SURE * error) && (e->lo > 0 || e->hi < 0);
}

static int cut_clock(const struct pooled *p, const struct pooled_states *s, const double *border, size_t n,
                     struct pooled_clock *out, double *x, double *scratch)
{
    double y[STRETCHES_MOST], w[STRETCHES_MOST], error;
    size_t cut[STRETCHES_MOST + 1];
    for (size_t k = 0; k < n; k++) {
        struct estimate e = pooled_clock_between(p, s, border[k], border[k + 1], x, scratch, &error);
        bool told = !isnan(error);
        y[k] = told ? e.value : 0;
        w[k] = told ? 1 / (error * error + 0.25 * CLOCK_STEP_LEAST * CLOCK_STEP_LEAST) : 0;
    }
    size_t pieces = pooled_cut(y, w, n, 1, PENALTY, cut);
    if (!pieces)
        return -1;
    out->n = 0;
    double begin = border[0];
    for (size_t k = 0; k < pieces && out->n < POOLED_STATES_MAX; k++) {
        double end = border[cut[k + 1]], reach = k ? border[cut[k] - 1] : 0,
               previous = out->n ? out->state[out->n - 1].begin_us : -1;
        struct estimate e = own_step(p, s, previous, begin, end, x, scratch, &error);
        bool sure = sure_step(&e, error);
        if (out->n && !sure) /* the same as before: one stretch */
            out->state[out->n - 1].end_us = end;
        else {
            if (out->n && !halts_at(p, s, begin))
                begin = place_step(p, s, reach, begin, border[cut[k] + 1], e.value);
            if (out->n)
                out->state[out->n - 1].end_us = begin;
            out->state[out->n++] = (struct pooled_clock_state){begin, end, {0, 0, 0}};
        }
        begin = end;
    }
    for (size_t k = 0; k < out->n; k++) {
        struct pooled_clock_state *q = &out->state[k];
        q->log_step = pooled_clock_between(p, s, q->begin_us, q->end_us, x, scratch, &error);
        if (!k && !sure_step(&q->log_step, error)) /* the same as before the switch, as far as is known */
            q->log_step = (struct estimate){0, fmin(0, q->log_step.lo), fmax(0, q->log_step.hi)};
    }
    return 0;
}

/* The rate after state k of that before its end, a logarithm; a halt in between is passed over: *end is its end. */
static double rate_step(const struct pooled *p, const struct pooled_states *s, size_t k, double *end)
{
    bool halts = k + 2 < s->n && pooled_halts(p, s, k + 1);
    *end = s->state[halts ? k + 1 : k].end_us;
    return log(s->state[halts ? k + 2 : k + 1].rate / s->state[k].rate);
}

/*
 * A clock that changes near the border of two states changes there, or while the core halts: chains are few, and where
 * they are slowed, too, the end of that is the end of the state. Near is what stretches of chains leave open, where the
 * rate steps as the clock does.
 */
static void snap_to_states(const struct pooled *p, const struct pooled_states *s, struct pooled_clock *c)
{
    for (size_t i = 1; i < c->n; i++) {
        double at = c->state[i].begin_us, least = INFINITY;
        double step = c->state[i].log_step.value - c->state[i - 1].log_step.value;
        for (size_t k = 0; k + 1 < s->n; k++) {
            double border, rate = rate_step(p, s, k, &border);
            double d = fmax(0, fmax(s->state[k].end_us - at, at - border)); /* it changes while the core halts */
            bool alike = rate * step > 0 && fabs(rate / step - 1) < 0.5;
            if (s->state[k].tau_us > 0)
                continue;
            double reach = (alike ? fmax(1.5 * STRETCH_US, at / STRETCH_GROWS) : 1.5 * STRETCH_US) +
                           3 * s->state[k].scatter_us;
            if (d < reach && d < least && border > c->state[i - 1].begin_us &&
                !(i + 1 < c->n && border >= c->state[i + 1].begin_us)) {
                least = d;
                c->state[i].begin_us = c->state[i - 1].end_us = border;
            }
        }
    }
}

/* The least IPC before the switch of a repetition that no busy sibling thread slows, which slows chains, too. x:
 * scratch of one a repetition. */
static double least_ipc(const struct pooled *p, double *x)
{
    size_t m = 0;
    for (size_t r = 0; r < p->n_runs; r++)
        if (p->run[r].cycle_ns > 0 && p->run[r].early_ipc > 0)
            x[m++] = p->run[r].early_ipc;
    return steady_least_ipc(x, m);
}

/* The frequencies before the switch. Returns how many. */
static size_t clocks_before(const struct pooled *p, double least, double *x)
{
    size_t m = 0;
    for (size_t r = 0; r < p->n_runs; r++)
        if (p->run[r].cycle_ns > 0 && p->run[r].early_ipc >= least)
            x[m++] = 1 / p->run[r].cycle_ns;
    return m;
}

int pooled_find_clock(const struct pooled *p, const struct pooled_states *s, struct pooled_clock *out)
{
    double border[STRETCHES_MOST + 1];
    memset(out, 0, sizeof *out);
    out->before_ghz = (struct estimate){NAN, NAN, NAN};
    if (!p->trace->channel[TRACE_FREQ])
        return 0;
    double *x = malloc((p->n_runs + 3 * (p->longest > p->n_runs ? p->longest : p->n_runs)) * sizeof *x);
    if (!x)
        return -1;
    out->least_ipc = least_ipc(p, x);
    size_t m = clocks_before(p, out->least_ipc, x);
    int bad = 0;
    if (m >= POOLED_RUNS_LEAST) {
        /* a clock that wanders slowly is alike in neighbors */
        const struct value_mode *kind = out->kind;
        double *copy = memcpy(x + p->n_runs, x, m * sizeof *x), far = INFINITY;
        size_t first = 0, all = m;
        gsl_sort(copy, 1, m);
        out->n_kinds = pooled_two_lengths(copy, m, POOLED_STEP_LEAST * copy[m / 2], POOLED_LENGTHS_APART, out->kind,
                                          copy + m);
        if (out->n_kinds) { /* that of most */
            first = kind[0].mean < kind[1].mean ? 0 : m - kind[0].n;
            all = kind[0].n;
            far = 0.5 * fabs(kind[1].mean - kind[0].mean);
        }
        out->before_ghz = robust_median(copy + first, all);
        blocks_widen(x, m, out->before_ghz.value, far, &out->before_ghz);
        size_t n = clock_stretches(p, s, border);
        bad = cut_clock(p, s, border, n, out, x, x + p->n_runs);
        snap_to_states(p, s, out);
        out->state[0].begin_us = 0;
    }
    free(x);
    return bad;
}

/* Repetitions whose clock is another than that of most, before the switch and after it: the clock's own steps are those
 * within a repetition. */

/* Whether those that differ in the beginning do so in the end, too. ghz: the clock of each repetition before the
 * switch, NaN: not known. late: of one a repetition. */
static bool differ_throughout(const struct pooled *p, const struct pooled_states *s, const struct pooled_clock *c,
                              const double *ghz, double *late, double *scratch)
{
    const struct pooled_clock_state *last = &c->state[c->n - 1];
    const struct value_mode *kind = c->kind;
    size_t m = 0;
    for (size_t r = 0; r < p->n_runs; r++) {
        double step = pooled_own_clock(p, s, r, last->begin_us, last->end_us, scratch) - last->log_step.value;
        if (ghz[r] >= kind[1].lo && ghz[r] <= kind[1].hi && !isnan(step))
            late[m++] = step;
    }
    double early = log(kind[1].mean / kind[0].mean);
    return m && clock_same_factor(early, early + order_median(late, m));
}

int pooled_tell_other_clocks(const struct pooled *p, const struct pooled_states *s, const struct pooled_clock *c,
                             struct phases *out)
{
    const size_t n = p->n_runs;
    if (!c->n || n < OTHER_CLOCKS_RUNS_LEAST)
        return 0;
    double *ghz = malloc((3 * n + 2 * (p->longest > n ? p->longest : n) + 1) * sizeof *ghz);
    if (!ghz)
        return -1;
    double *relative = ghz + n, *scratch = relative + n;
    size_t m = 0;
    for (size_t r = 0; r < n; r++) {
        ghz[r] = p->run[r].early_ipc >= c->least_ipc ? 1 / p->run[r].cycle_ns : NAN;
        if (!isnan(ghz[r]))
            relative[m++] = ghz[r] / c->before_ghz.value;
    }
    double bound = c->n_kinds ? 0.5 * fabs(c->kind[1].mean - c->kind[0].mean) / c->before_ghz.value
                              : slow_runs_bound(relative, m, POOLED_STEP_LEAST, scratch);
    int bad = 0;
    if (!c->n_kinds || differ_throughout(p, s, c, ghz, scratch, scratch + n))
        bad = slow_runs_report(out, relative, m, bound);
    free(ghz);
    return bad;
}
