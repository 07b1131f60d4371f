/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/checks/cross_check.h"

#include <math.h>
#include <string.h>

#include "analysis/phases/repetitions/clock.h"
#include "analysis/phases/phases.h"
#include "analysis/phases/checks/switch_cost.h"
#include "analysis/phases/checks/withdraw.h"
#include "analysis/stats/robust.h"

enum { PLACES_MAX = 12 };
#define DOUBT_FACTOR 1.5   /* of the 95 % limits: of scattered waits three standard errors are no contradiction ... */
#define DOUBT_MOST_US 25.0 /* ... up to this */
/* A finding may begin so far apart in the two halves: WITHDRAW_NEAR_US, this share of its duration, or what limits
 * allow, whichever is most. */
#define NEAR_SHARE 0.25
#define SAME_RATIO 0.1  /* relative: rates of throttling nearer than this are one */
#define SIZE_FACTOR 2.0 /* steps of the frequency within this factor are one */
#define RANDOM 0.45     /* of the length: known throttling scatters by less than a third, bouts by all of it */
#define RANDOM_LEAST_US 1.0
#define HARDER 1.4142135623730951 /* what half of the repetitions show is so much larger than what all do */

/* ---- halves ---- */

/* Whether the repetition begin..end is one of those that halves are made of: it measured anything but a voltage. */
static bool counts_in(const struct trace *t, const struct phases *p, bool all, size_t begin, size_t end)
{
    return (all || !phases_discarded(p, t->run[begin])) && trace_measured(t, begin, end);
}

static size_t count_runs(const struct trace *t, const struct phases *p, bool all)
{
    size_t n = 0;
    for (size_t begin = 0, end; t->run && begin < t->n; begin = end) {
        end = trace_run_end(t, begin);
        n += counts_in(t, p, all, begin, end);
    }
    return n;
}

/* Repetitions number first..last of those that counts_in() counts, as a trace of its own. 0, or -1: out of memory. */
static int copy_runs(const struct trace *t, const struct phases *p, bool all, size_t first, size_t last,
                     struct trace *out)
{
    trace_init(out);
    int bad = trace_add_run(out);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (t->channel[c] && c != TRACE_VOLTS)
            bad |= trace_add_channel(out, (enum trace_channel)c);
    for (size_t i = 0; i < t->n_meta; i++)
        bad |= trace_set(out, t->meta[i].key, t->meta[i].value);
    size_t number = 0;
    for (size_t begin = 0, end; begin < t->n && !bad; begin = end) {
        end = trace_run_end(t, begin);
        if (!counts_in(t, p, all, begin, end))
            continue;
        bool inside = number >= first && number < last;
        number++;
        for (size_t i = begin; inside && i < end && !bad; i++) {
            bad = trace_append(out, t->run[i], t->time_us[i]);
            for (int c = 0; c < TRACE_CHANNELS && !bad; c++)
                if (out->channel[c])
                    out->channel[c][out->n - 1] = t->channel[c][i];
        }
    }
    return bad ? -1 : 0;
}

/* The phases of each half of the repetitions that *p is from, if these are enough. What cannot be analysed shows
 * nothing. 0, or -1: out of memory. */
static int find_halves(const struct trace *t, const struct phases *p, struct phases half[2])
{
    bool all = count_runs(t, p, false) < CROSS_CHECK_RUNS_LEAST;
    size_t runs = count_runs(t, p, all);
    memset(half, 0, 2 * sizeof *half);
    for (int h = 0; h < 2; h++) {
        struct trace part;
        char why[300];
        int bad = copy_runs(t, p, all, h ? runs / 2 : 0, h ? runs : runs / 2, &part);
        bad = bad || phases_find(&part, &half[h], why, sizeof why) == PHASES_NO_MEMORY;
        trace_free(&part);
        if (bad)
            return -1;
    }
    return 0;
}

/* ---- what stands ---- */

static bool ends_by(const struct phase *ph, double at)
{
    return ph->start_us + ph->duration_us.value <= at + WITHDRAW_SAME_US;
}

static double log_change(double from, double to)
{
    return log(to / from);
}

/* By how much the limits of what comes before allow the time `at` to be off, us. */
static double time_uncertainty(const struct phases *p, double at)
{
    double squares = 0;
    for (size_t i = 0; i < p->n_phases && ends_by(&p->phases[i], at); i++)
        squares += pow(estimate_half_known(&p->phases[i].duration_us), 2);
    return sqrt(squares);
}

/*
 * When what is at time `at` of the most frequent course may be: where a phase before it has durations of several modes,
 * each of them. Which one is the most frequent may differ from half to half. Returns how many, at least 1.
 */
static size_t times_by_mode(const struct phases *p, double at, double out[PLACES_MAX])
{
    size_t n = 0;
    out[n++] = at;
    for (size_t i = 0; i < p->n_phases; i++) {
        const struct phase *ph = &p->phases[i];
        if (!ends_by(ph, at))
            break;
        for (size_t k = 1; k < ph->n_modes && n < PLACES_MAX; k++)
            out[n++] = at + ph->modes[k].duration_us - ph->modes[0].duration_us;
    }
    return n;
}

/* Whether what is at `a` in the one may be what is at `b` in the other. */
static bool may_be_one(const struct phases *one, double a, const struct phases *other, double b, double duration)
{
    double x[PLACES_MAX], y[PLACES_MAX];
    size_t n = times_by_mode(one, a, x), m = times_by_mode(other, b, y);
    double doubt = fmin(DOUBT_FACTOR * hypot(time_uncertainty(one, a), time_uncertainty(other, b)), DOUBT_MOST_US);
    double slack = fmax(doubt, fmax(WITHDRAW_NEAR_US, NEAR_SHARE * duration));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            if (fabs(x[i] - y[k]) <= slack)
                return true;
    return false;
}

/* Whether the half shows a phase of this kind here. Slow phases may end at another time: that is what is scattered. */
static bool shows_phase(const struct phases *half, const struct phases *p, const struct phase *ph)
{
    for (size_t i = 0; i < half->n_phases; i++) {
        const struct phase *q = &half->phases[i];
        bool alike = !(fabs(log_change(q->ipc_ratio, ph->ipc_ratio)) > SAME_RATIO);
        if (q->kind == ph->kind && alike && may_be_one(half, q->start_us, p, ph->start_us, ph->duration_us.value))
            return true;
    }
    return false;
}

static bool shows_transition(const struct phases *half, const struct phases *p, const struct transition *tr)
{
    double size = log_change(tr->from_ghz, tr->to_ghz);
    for (size_t i = 0; i < half->n_transitions; i++) {
        const struct transition *u = &half->transitions[i];
        double own = log_change(u->from_ghz, u->to_ghz);
        bool same = isnan(size) || isnan(own) || (fabs(size) < CLOCK_WANDERS && fabs(own) < CLOCK_WANDERS) ||
                    (own * size > 0 && fabs(own) < SIZE_FACTOR * fabs(size) && fabs(size) < SIZE_FACTOR * fabs(own));
        if (same && may_be_one(half, u->at_us, p, tr->at_us, tr->latency_us.value))
            return true;
    }
    return false;
}

static void mean_and_spread(const double *x, size_t n, double *mean, double *spread)
{
    double lo = INFINITY, hi = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) {
        lo = fmin(lo, x[i]);
        hi = fmax(hi, x[i]);
        sum += x[i];
    }
    *mean = sum / (double)n;
    *spread = log(hi / lo);
}

/* Whether the kernels alone differ as the recording's two ends do. */
static bool ends_as_alone(const struct phases *p, const struct kernel_alone *from, const struct kernel_alone *to,
                          bool waits)
{
    double first = NAN, last = NAN;
    if (!from->n_ghz || !to->n_ghz)
        return true; /* the frequency was not measured */
    for (size_t i = 0; i < p->n_transitions; i++) {
        first = isnan(first) ? p->transitions[i].from_ghz : first;
        last = p->transitions[i].to_ghz;
    }
    double seen = log_change(first, last), ghz[2], spread[2];
    if (isnan(seen) || fabs(seen) < CLOCK_WANDERS)
        return true;
    mean_and_spread(from->ghz, from->n_ghz, &ghz[0], &spread[0]);
    mean_and_spread(to->ghz, to->n_ghz, &ghz[1], &spread[1]);
    double alone = log_change(ghz[0], ghz[1]), slack = fmax(0.5 * fabs(seen), spread[0] + spread[1]);
    if (waits && alone > seen) /* it is not back yet */
        return true;
    return fabs(seen - alone) <= slack && fabs(alone) > 0.25 * fabs(seen);
}

static bool has_findings(const struct phases *p)
{
    for (size_t k = 0; k < p->n_phases; k++)
        if (p->phases[k].kind != PHASE_STEADY && p->phases[k].kind != PHASE_UNKNOWN)
            return true;
    return p->n_transitions > 0;
}

/* Whether the length of a throttle varies from repetition to repetition as no processor's does: the bouts of a sibling
 * hyper-thread have any length. */
static bool lasts_at_random(const struct phase *ph)
{
    double sd = (ph->duration_us.hi - ph->duration_us.value) / robust_half_width95(1, ph->agreeing_runs);
    return ph->kind == PHASE_THROTTLE && ph->n_modes < 2 && sd > RANDOM_LEAST_US + RANDOM * ph->duration_us.value;
}

static const char at_random[] = "its duration differs in each repetition: another thread on the core?";
static const char one_half[] = "not seen alike in the first and the last half of the repetitions";
static const char not_alone[] = "the two kernels do not differ by it when each runs alone";

static size_t withdraw_unconfirmed(const struct phases half[2], const struct kernel_alone *from,
                                   const struct kernel_alone *to, bool waits, struct phases *p, const char **why)
{
    size_t gone = 0;
    const char *all = ends_as_alone(p, from, to, waits) ? NULL : not_alone;
    for (size_t i = p->n_transitions; i-- > 0;) {
        const struct transition *tr = &p->transitions[i];
        bool stands = shows_transition(&half[0], p, tr) && shows_transition(&half[1], p, tr);
        bool steps = !(fabs(log_change(tr->from_ghz, tr->to_ghz)) < CLOCK_WANDERS);
        if (stands && !(all && steps))
            continue;
        *why = stands ? all : one_half;
        withdraw_transition(p, i, *why);
        gone++;
    }
    for (size_t k = 0; k < p->n_phases; k++) {
        struct phase *ph = &p->phases[k];
        if (!phases_is_steady(ph) && ph->kind != PHASE_UNKNOWN &&
            (lasts_at_random(ph) || !(shows_phase(&half[0], p, ph) && shows_phase(&half[1], p, ph)))) {
            *why = lasts_at_random(ph) ? at_random : one_half;
            withdraw_halt(p, ph);
            withdraw_phase(ph, *why);
            gone++;
        }
    }
    return gone;
}

int cross_check(const struct trace *t, const struct kernel_alone *from, const struct kernel_alone *to, bool waits,
                struct phases *p)
{
    struct phases half[2];
    const char *why = NULL;
    if (count_runs(t, p, true) < CROSS_CHECK_RUNS_LEAST)
        return has_findings(p)
                   ? phases_warn(p, "fewer than %d repetitions: findings were not cross-checked between the halves",
                                 CROSS_CHECK_RUNS_LEAST)
                   : 0;
    if (implausible_withdraw(p))
        return -1;
    p->detectable_freq *= HARDER;
    p->detectable_throttle = 1 - fmin(1, HARDER * (1 - p->detectable_throttle));
    if (!has_findings(p))
        return 0;
    int bad = find_halves(t, p, half);
    size_t gone = bad ? 0 : withdraw_unconfirmed(half, from, to, waits, p, &why);
    if (gone) {
        withdraw_orphans(p);
        bad = phases_warn(p, "%zu finding%s withdrawn after cross-checking: %s", gone, gone == 1 ? "" : "s", why);
    }
    phases_free(&half[0]);
    phases_free(&half[1]);
    return bad ? -1 : 0;
}

int cross_check_note(struct trace *t, const struct kernel_alone *from, const struct kernel_alone *to, bool waits,
                     const char *unsettled)
{
    return (from->n_ghz ? trace_set_numbers(t, "alone_from_ghz", from->ghz, from->n_ghz) : 0) |
                   (to->n_ghz ? trace_set_numbers(t, "alone_to_ghz", to->ghz, to->n_ghz) : 0) |
                   trace_set(t, "guarded", waits ? "fall" : "yes") |
                   (unsettled[0] ? trace_set(t, "unsettled", unsettled) : 0)
               ? -1
               : 0;
}

int cross_check_recorded(const struct trace *t, struct phases *p)
{
    const char *guarded = trace_get(t, "guarded"), *unsettled = trace_get(t, "unsettled");
    struct kernel_alone from = {0}, to = {0};
    if (!guarded || !t->run)
        return 0;
    from.n_ghz = trace_get_numbers(t, "alone_from_ghz", from.ghz, TRACE_ALONE_MAX);
    to.n_ghz = trace_get_numbers(t, "alone_to_ghz", to.ghz, TRACE_ALONE_MAX);
    int bad = cross_check(t, &from, &to, !strcmp(guarded, "fall"), p) || switch_cost_recorded(t, p);
    return bad || (unsettled && phases_warn_first(p, unsettled)) ? -1 : 0;
}
