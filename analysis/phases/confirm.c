/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/confirm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/findings.h"
#include "analysis/phases/held.h"
#include "analysis/stats/robust.h"

enum { PLACES_MAX = 12, PHASES_MOST = 20 };
#define SAME_TIME_US 0.5
#define DOUBT_FACTOR 1.5   /* of the 95 % limits: of scattered waits three standard errors are no contradiction ... */
#define DOUBT_MOST_US 25.0 /* ... up to this */
#define NEAR_US 5.0        /* so far apart a finding may begin in the two halves, or ... */
#define NEAR_SHARE 0.25    /* ... by this share of its duration, or what limits allow, whichever is most */
#define SAME_RATIO 0.1     /* relative: rates of throttling nearer than this are one */
#define SIZE_FACTOR 2.0    /* steps of the frequency within this factor are one */
#define RANDOM 0.45        /* of the length: known throttling scatters by less than a third, bouts by all of it */
#define RANDOM_LEAST_US 1.0
#define RECURS 0.05 /* relative: rates, and lengths beyond RECURS_US, are the same */
#define RECURS_US 1.0
#define FASTER 0.02      /* relative: no processor is so much faster while it throttles than before and after */
#define SAME_FREQ 0.0035 /* relative: clocks wander by so much (levels.c) */
#define HARDER 1.4142135623730951 /* what half of the repetitions show is so much larger than what all do */

/* ---- halves ---- */

/* Whether sample i begins a repetition that measured anything but a voltage. */
static bool begins_run(const struct trace *t, size_t i)
{
    bool first = i == 0 || t->run[i] != t->run[i - 1];
    if (!first)
        return false;
    for (size_t k = i; k < t->n && t->run[k] == t->run[i]; k++)
        for (int c = 0; c < TRACE_CHANNELS; c++)
            if (c != TRACE_VOLTS && t->channel[c] && !isnan(t->channel[c][k]))
                return true;
    return false;
}

/* Whether the repetition that sample i begins is one of those that halves are made of. */
static bool counts_in(const struct trace *t, const struct phases *p, bool all, size_t i)
{
    return begins_run(t, i) && (all || !phases_discarded(p, t->run[i]));
}

static size_t count_runs(const struct trace *t, const struct phases *p, bool all)
{
    size_t n = 0;
    for (size_t i = 0; t->run && i < t->n; i++)
        n += (i == 0 || t->run[i] != t->run[i - 1]) && counts_in(t, p, all, i);
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
    bool inside = false;
    for (size_t i = 0; i < t->n && !bad; i++) {
        if (i == 0 || t->run[i] != t->run[i - 1]) {
            bool counts = counts_in(t, p, all, i);
            inside = counts && number >= first && number < last;
            number += counts;
        }
        if (!inside)
            continue;
        bad = trace_append(out, t->run[i], t->time_us[i]);
        for (int c = 0; c < TRACE_CHANNELS && !bad; c++)
            if (t->channel[c] && c != TRACE_VOLTS)
                out->channel[c][out->n - 1] = t->channel[c][i];
    }
    return bad ? -1 : 0;
}

/* The phases of each half of the repetitions that *p is from, if these are enough. What cannot be analysed shows
 * nothing. 0, or -1: out of memory. */
static int find_halves(const struct trace *t, const struct phases *p, struct phases half[2])
{
    bool all = count_runs(t, p, false) < CONFIRM_RUNS_LEAST;
    size_t runs = count_runs(t, p, all);
    memset(half, 0, 2 * sizeof *half);
    for (int h = 0; h < 2; h++) {
        struct trace part;
        char why[300];
        int bad = copy_runs(t, p, all, h ? runs / 2 : 0, h ? runs : runs / 2, &part);
        if (!bad)
            (void)phases_find(&part, NULL, &half[h], why, sizeof why);
        trace_free(&part);
        if (bad)
            return -1;
    }
    return 0;
}

/* ---- what stands ---- */

static bool ends_by(const struct phase *ph, double at)
{
    return ph->start_us + ph->duration_us.value <= at + SAME_TIME_US;
}

static double confirm_change(double from, double to)
{
    return log(to / from);
}

static bool confirm_near(double a, double b, double slack)
{
    return fabs(a - b) <= slack;
}

/* By how much the limits of what comes before allow the time `at` to be off, us. */
static double doubt_of(const struct phases *p, double at)
{
    double squares = 0;
    for (size_t i = 0; i < p->n_phases && ends_by(&p->phases[i], at); i++) {
        double half = 0.5 * (p->phases[i].duration_us.hi - p->phases[i].duration_us.lo);
        squares += isnan(half) ? 0 : half * half;
    }
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
static bool confirm_same_place(const struct phases *one, double a, const struct phases *other, double b,
                               double duration)
{
    double x[PLACES_MAX], y[PLACES_MAX];
    size_t n = times_by_mode(one, a, x), m = times_by_mode(other, b, y);
    double doubt = fmin(DOUBT_FACTOR * hypot(doubt_of(one, a), doubt_of(other, b)), DOUBT_MOST_US);
    double slack = fmax(doubt, fmax(NEAR_US, NEAR_SHARE * duration));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            if (confirm_near(x[i], y[k], slack))
                return true;
    return false;
}

/* Whether the half shows a phase of this kind here. Slow phases may end at another time: that is what is scattered. */
static bool shows_phase(const struct phases *half, const struct phases *p, const struct phase *ph)
{
    for (size_t i = 0; i < half->n_phases; i++) {
        const struct phase *q = &half->phases[i];
        bool alike = !(fabs(confirm_change(q->ipc_ratio, ph->ipc_ratio)) > SAME_RATIO);
        if (q->kind == ph->kind && alike &&
            confirm_same_place(half, q->start_us, p, ph->start_us, ph->duration_us.value))
            return true;
    }
    return false;
}

static bool shows_transition(const struct phases *half, const struct phases *p, const struct transition *tr)
{
    double size = confirm_change(tr->from_ghz, tr->to_ghz);
    for (size_t i = 0; i < half->n_transitions; i++) {
        const struct transition *u = &half->transitions[i];
        double own = confirm_change(u->from_ghz, u->to_ghz);
        bool same = isnan(size) || isnan(own) || (fabs(size) < SAME_FREQ && fabs(own) < SAME_FREQ) ||
                    (own * size > 0 && fabs(own) < SIZE_FACTOR * fabs(size) && fabs(size) < SIZE_FACTOR * fabs(own));
        if (same && confirm_same_place(half, u->at_us, p, tr->at_us, tr->latency_us.value))
            return true;
    }
    return false;
}

static void confirm_range(const double *x, size_t n, double *mean, double *spread)
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
static bool ends_as_alone(const struct phases *p, const struct steady_seen *from, const struct steady_seen *to,
                          bool waits)
{
    double first = NAN, last = NAN;
    if (!from->n_ghz || !to->n_ghz)
        return true; /* the frequency was not measured */
    for (size_t i = 0; i < p->n_transitions; i++) {
        first = isnan(first) ? p->transitions[i].from_ghz : first;
        last = p->transitions[i].to_ghz;
    }
    double seen = confirm_change(first, last), ghz[2], spread[2];
    if (isnan(seen) || fabs(seen) < SAME_FREQ)
        return true;
    confirm_range(from->ghz, from->n_ghz, &ghz[0], &spread[0]);
    confirm_range(to->ghz, to->n_ghz, &ghz[1], &spread[1]);
    double alone = confirm_change(ghz[0], ghz[1]), slack = fmax(0.5 * fabs(seen), spread[0] + spread[1]);
    if (waits && alone > seen) /* it is not back yet */
        return true;
    return fabs(seen - alone) <= slack && fabs(alone) > 0.25 * fabs(seen);
}

/* ---- taking back ---- */

static void take_back_phase(struct phase *ph, const char *why)
{
    ph->kind = PHASE_UNKNOWN;
    ph->ipc_ratio = NAN;
    ph->tau_us.value = 0;
    snprintf(ph->why, sizeof ph->why, "%s", why);
}

/* The change at which a transition ends is no change: what comes after it is undecided, and nothing before it slow. */
static void take_back_transition(struct phases *p, size_t i, const char *why)
{
    const struct transition gone = p->transitions[i];
    double end = gone.at_us + (isnan(gone.latency_us.value) ? 0 : gone.latency_us.value);
    memmove(&p->transitions[i], &p->transitions[i + 1], (p->n_transitions - i - 1) * sizeof gone);
    p->n_transitions--;
    for (size_t k = 0; k < p->n_phases; k++) {
        struct phase *ph = &p->phases[k];
        if (k > 0 && ph->start_us >= end - NEAR_US / 2 && (ph->kind == PHASE_STEADY || ph->kind == PHASE_SLOW)) {
            take_back_phase(ph, why);
            break;
        }
    }
}

/* Slow is what a higher frequency follows, by a transition. */
static void settle_slow(struct phases *p)
{
    for (size_t k = 0; k < p->n_phases; k++) {
        struct phase *ph = &p->phases[k];
        bool rises = false;
        for (size_t i = 0; i < p->n_transitions; i++)
            rises |= p->transitions[i].to_ghz > p->transitions[i].from_ghz &&
                     confirm_near(p->transitions[i].at_us, ph->start_us + ph->duration_us.value, NEAR_US);
        if (ph->kind == PHASE_SLOW && !rises)
            ph->kind = PHASE_STEADY;
    }
}

/* Levels that only what is undecided runs at are none. */
static void drop_levels(struct phases *p)
{
    for (size_t l = 0; l < p->n_levels;) {
        bool used = false;
        for (size_t k = 0; k < p->n_phases; k++)
            used |= p->phases[k].level == (int)l && p->phases[k].kind != PHASE_UNKNOWN;
        if (used) {
            l++;
            continue;
        }
        p->n_levels--;
        memmove(&p->levels_ghz[l], &p->levels_ghz[l + 1], (p->n_levels - l) * sizeof *p->levels_ghz);
        memmove(&p->levels[l], &p->levels[l + 1], (p->n_levels - l) * sizeof *p->levels);
        for (size_t k = 0; k < p->n_phases; k++)
            if (p->phases[k].level == (int)l)
                p->phases[k].level = -1;
            else if (p->phases[k].level > (int)l)
                p->phases[k].level--;
    }
}

void phases_settle(struct phases *p)
{
    settle_slow(p);
    drop_levels(p);
}

void phases_collapse(struct phases *p, const char *why)
{
    size_t n = 0;
    bool behind = false;
    for (size_t i = 0; i < p->n_phases; i++) {
        double begin = p->phases[i].start_us, length = p->phases[i].duration_us.value;
        bool after = p->from && p->to && begin >= -SAME_TIME_US;
        if (!n || after != behind) {
            struct phase one = {.start_us = begin,
                                .freq_ghz = {NAN, NAN, NAN},
                                .freq_half_ghz = NAN,
                                .ipc = NAN,
                                .volts = NAN,
                                .share = {NAN, NAN, NAN, NAN},
                                .level = -1,
                                .agreeing_runs = p->runs_used};
            take_back_phase(&one, why);
            p->phases[n++] = one;
            behind = after;
        }
        p->phases[n - 1].duration_us = (struct estimate){begin + length - p->phases[n - 1].start_us, NAN, NAN};
    }
    p->n_phases = n;
    p->n_transitions = 0;
    drop_levels(p);
}

static bool claims(const struct phases *p)
{
    for (size_t k = 0; k < p->n_phases; k++)
        if (p->phases[k].kind != PHASE_STEADY && p->phases[k].kind != PHASE_UNKNOWN)
            return true;
    return p->n_transitions > 0;
}

/* Whether a throttle lasts so differently from repetition to repetition as no processor's does: the bouts of a thread
 * next door are of any length. */
static bool lasts_at_random(const struct phase *ph)
{
    double sd = (ph->duration_us.hi - ph->duration_us.value) / robust_half_width95(1, ph->agreeing_runs);
    return ph->kind == PHASE_THROTTLE && ph->n_modes < 2 && sd > RANDOM_LEAST_US + RANDOM * ph->duration_us.value;
}

/* A throttle with nothing else: the same frequency at full rate before it and after it. */
static bool is_lone(const struct phases *p, size_t i)
{
    const struct phase *ph = &p->phases[i];
    return ph->kind == PHASE_THROTTLE && i > 0 && i + 1 < p->n_phases && transitions_is_base(ph - 1) &&
           transitions_is_base(ph + 1) && ph[-1].level == ph[1].level;
}

/* Marks throttles at the rate of one that comes back: of one switch no processor throttles twice alike, without a
 * change of the frequency in between; a thread that keeps step with the repetitions does. */
static void find_recurring(const struct phases *p, bool *marked)
{
    for (size_t i = 0; i < p->n_phases; i++)
        for (size_t k = i + 1; k < p->n_phases && is_lone(p, i); k++) {
            double us = p->phases[i].duration_us.value, ratio = p->phases[i].ipc_ratio;
            bool again = is_lone(p, k) && fabs(p->phases[k].ipc_ratio - ratio) < RECURS * ratio &&
                         fabs(p->phases[k].duration_us.value - us) < RECURS_US + RECURS * us;
            for (size_t m = 0; again && m < p->n_phases; m++)
                marked[m] |= p->phases[m].kind == PHASE_THROTTLE &&
                             fabs(p->phases[m].ipc_ratio - ratio) < RECURS * ratio;
        }
}

/* What is no transition without the throttle that it begins with. */
static void drop_throttle(struct phases *p, const struct phase *ph)
{
    for (size_t i = p->n_transitions; i-- > 0;) {
        const struct transition *tr = &p->transitions[i];
        bool steps = tr->halts || !(fabs(confirm_change(tr->from_ghz, tr->to_ghz)) < SAME_FREQ);
        if (confirm_near(tr->at_us, ph->start_us, NEAR_US) && !steps) {
            memmove(&p->transitions[i], &p->transitions[i + 1], (p->n_transitions - i - 1) * sizeof *tr);
            p->n_transitions--;
        }
    }
}

/* Chains that a thread next door slows before and after, and not in between, where it slows the code. */
static bool is_faster(const struct phases *p, size_t i)
{
    const struct phase *ph = &p->phases[i];
    return is_lone(p, i) && ph->freq_ghz.value > (1 + FASTER) * fmax(ph[-1].freq_ghz.value, ph[1].freq_ghz.value);
}

/* 0, or -1: out of memory. */
static int take_back_bouts(struct phases *p)
{
    bool marked[PHASES_MOST] = {false};
    size_t gone = 0;
    find_recurring(p, marked);
    for (size_t i = 0; i < p->n_phases; i++) {
        bool faster = is_faster(p, i);
        gone += marked[i];
        if (!marked[i] && !faster)
            continue;
        take_back_phase(
            &p->phases[i],
            faster ? "code is slower and chains of adds are faster than before and after: another thread on the core?"
                   : "throttling like it comes back without a switch: another thread on the core that keeps step with "
                     "the repetitions?");
        drop_throttle(p, &p->phases[i]);
        phases_settle(p);
    }
    return gone ? phases_warn(p,
                              "%zu phases at one rate come and go without a switch, which no throttling is known to "
                              "do: another thread on the core that keeps step with the repetitions looks like that",
                              gone)
                : 0;
}

static const char at_random[] = "it lasts differently in each repetition: another thread on the core?";
static const char one_half[] = "not shown by the first and the last half of the repetitions alike";
static const char not_alone[] = "the two kernels running alone do not differ by it";

static size_t confirm_judge(const struct phases half[2], const struct steady_seen *from, const struct steady_seen *to,
                            bool waits, struct phases *p, const char **why)
{
    size_t gone = 0;
    const char *all = ends_as_alone(p, from, to, waits) ? NULL : not_alone;
    for (size_t i = p->n_transitions; i-- > 0;) {
        const struct transition *tr = &p->transitions[i];
        bool stands = shows_transition(&half[0], p, tr) && shows_transition(&half[1], p, tr);
        bool steps = !(fabs(confirm_change(tr->from_ghz, tr->to_ghz)) < SAME_FREQ);
        if (stands && !(all && steps))
            continue;
        *why = stands ? all : one_half;
        take_back_transition(p, i, *why);
        gone++;
    }
    for (size_t k = 0; k < p->n_phases; k++) {
        struct phase *ph = &p->phases[k];
        if (ph->kind != PHASE_STEADY && ph->kind != PHASE_SLOW && ph->kind != PHASE_UNKNOWN &&
            (lasts_at_random(ph) || !(shows_phase(&half[0], p, ph) && shows_phase(&half[1], p, ph)))) {
            *why = lasts_at_random(ph) ? at_random : one_half;
            take_back_phase(ph, *why);
            gone++;
        }
    }
    return gone;
}

int phases_confirm(const struct trace *t, const struct steady_seen *from, const struct steady_seen *to, bool waits,
                   struct phases *p)
{
    struct phases half[2];
    const char *why = NULL;
    if (count_runs(t, p, true) < CONFIRM_RUNS_LEAST)
        return claims(p)
                   ? phases_warn(p, "fewer than %d repetitions: what they show was not held against halves of them",
                                 CONFIRM_RUNS_LEAST)
                   : 0;
    if (p->n_phases > PHASES_MOST) {
        char text[160];
        snprintf(text, sizeof text,
                 "%zu phases: more than any switch is known to have; another thread on the core that keeps step with "
                 "the repetitions looks like that",
                 p->n_phases);
        phases_collapse(p, text);
    }
    if (take_back_bouts(p))
        return -1;
    p->detectable_freq *= HARDER;
    p->detectable_throttle = 1 - fmin(1, HARDER * (1 - p->detectable_throttle));
    if (!claims(p))
        return 0;
    int bad = find_halves(t, p, half);
    size_t gone = bad ? 0 : confirm_judge(half, from, to, waits, p, &why);
    if (gone) {
        phases_settle(p);
        bad = phases_warn(p, "%zu finding%s of all repetitions together taken back: %s", gone, gone == 1 ? "" : "s",
                          why);
    }
    phases_free(&half[0]);
    phases_free(&half[1]);
    return bad ? -1 : 0;
}

/* ---- metadata ---- */

int phases_warn_first(struct phases *p, const char *text)
{
    if (phases_warn(p, "%s", text))
        return -1;
    char *own = p->warnings[p->n_warnings - 1];
    memmove(p->warnings + 1, p->warnings, (p->n_warnings - 1) * sizeof own);
    p->warnings[0] = own;
    return 0;
}

static int note_values(struct trace *t, const char *key, const double *x, size_t n)
{
    char text[24 * SETTLING_SEEN_MAX] = "";
    for (size_t i = 0, used = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.9g", i ? " " : "", x[i]);
    return n ? trace_set(t, key, text) : 0;
}

static size_t values_of(const struct trace *t, const char *key, double x[SETTLING_SEEN_MAX])
{
    const char *text = trace_get(t, key);
    size_t n = 0;
    while (text && n < SETTLING_SEEN_MAX) {
        char *end;
        double value = strtod(text, &end);
        if (end == text || !(value > 0 && value < 100))
            break;
        x[n++] = value;
        text = end;
    }
    return n;
}

int confirm_note(struct trace *t, const struct steady_seen *from, const struct steady_seen *to, bool waits,
                 const char *unsettled)
{
    return note_values(t, "alone_from_ghz", from->ghz, from->n_ghz) |
                   note_values(t, "alone_to_ghz", to->ghz, to->n_ghz) |
                   trace_set(t, "guarded", waits ? "fall" : "yes") |
                   (unsettled[0] ? trace_set(t, "unsettled", unsettled) : 0)
               ? -1
               : 0;
}

int confirm_again(const struct trace *t, struct phases *p)
{
    const char *guarded = trace_get(t, "guarded"), *unsettled = trace_get(t, "unsettled");
    struct steady_seen from = {0}, to = {0};
    if (!guarded || !t->run)
        return 0;
    from.n_ghz = values_of(t, "alone_from_ghz", from.ghz);
    to.n_ghz = values_of(t, "alone_to_ghz", to.ghz);
    int bad = phases_confirm(t, &from, &to, !strcmp(guarded, "fall"), p) || held_again(t, p);
    return bad || (unsettled && phases_warn_first(p, unsettled)) ? -1 : 0;
}
