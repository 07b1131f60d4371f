/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Levels: the distinct frequencies at which phases run. Phases are at one level if their frequencies are within what
 * clocks wander (spread spectrum, 0.25 %) or if their limits do not tell them apart.
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/findings.h"
#include "util/order.h"

/*
 * What each piece is.
 *
 * Throttling shows as IPC below that of the same code at full rate, which can only be the code that follows: a
 * throttled core runs the new code slowly from its first instruction on and then fully. So a piece is throttled if a
 * later piece of the same code runs at a higher IPC. What touches the beginning of the recording may have been any
 * other code, what is not followed by a full rate too (an idle loop before and after the payload), and throttling
 * longer than Intel's own bound of 500 us (optimization manual, quoted in the Skylake-SP dissertation, section 3.2.2)
 * has not been seen: those are not called throttled.
 */

#define FULL_RATE 0.94 /* of the full IPC; milder ratios are not distinguished from full rate */
#define THROTTLE_MAX_US 600
/* Below the least that processors throttle to by themselves or on demand: 1/16 (IA32_CLOCK_MODULATION with extended
 * steps of 6.25 %; Intel SDM, volume 3, "Software Controlled Clock Modulation"). */
#define THROTTLE_MIN_RATIO 0.05

/* The highest IPC of a later piece that runs the same code, after THROTTLE_MAX_US of running at most; NaN: there is
 * none. */
static double kinds_full_rate(const struct segmentation *o, size_t p)
{
    double full = NAN, ran_us = 0;
    for (size_t q = p + 1; q < o->n_pieces && ran_us <= THROTTLE_MAX_US; q++) {
        if (o->edge[q - 1].forced)
            break;
        if (o->piece[q].halt)
            continue;
        full = fmax(full, o->piece[q].value[TRACE_IPC]);
        double us = q + 1 < o->n_pieces ? segmentation_edge_time(o, q) - segmentation_edge_time(o, q - 1) : NAN;
        ran_us += isnan(us) ? 0 : us;
    }
    return full;
}

struct phase levels_new_phase(const struct piece *piece, enum phase_kind kind)
{
    struct phase ph = {.kind = kind,
                       .freq_ghz = {piece->value[TRACE_FREQ], NAN, NAN},
                       .ipc = piece->value[TRACE_IPC],
                       .ipc_ratio = NAN,
                       .volts = piece->value[TRACE_VOLTS],
                       .level = -1};
    for (int i = 0; i < 4; i++)
        ph.share[i] = piece->value[TRACE_LVL0 + i];
    return ph;
}

static void kinds_kind_of(const struct segmentation *o, size_t p, struct phase *out)
{
    const struct piece *piece = &o->piece[p];
    *out = levels_new_phase(piece, PHASE_STEADY);
    if (piece->halt) {
        out->kind = PHASE_HALT;
        return;
    }
    if (piece->wanders) {
        out->kind = PHASE_UNKNOWN;
        snprintf(out->why, sizeof out->why, "the frequency changes at a different time in each repetition");
        return;
    }
    double length = p + 1 < o->n_pieces && p ? segmentation_edge_time(o, p) - segmentation_edge_time(o, p - 1) : NAN;
    bool first = p == 0 || isnan(segmentation_edge_time(o, p - 1)), possible = !first && length <= THROTTLE_MAX_US;
    double full = kinds_full_rate(o, p);
    if (possible && out->ipc < FULL_RATE * full) {
        out->kind = PHASE_THROTTLE;
        out->ipc_ratio = out->ipc / full;
        if (out->ipc_ratio < THROTTLE_MIN_RATIO) {
            out->kind = PHASE_UNKNOWN;
            snprintf(out->why, sizeof out->why, "IPC falls to %.2g of what follows, lower than any known throttling",
                     out->ipc_ratio);
        }
    } else if (phases_counts_throttled(out) && !isnan(length)) {
        out->kind = PHASE_THROTTLE;
        out->ipc_ratio = out->ipc / full;
    }
}

/* A steady piece is not at full rate where the same code is faster later: slow for longer than known throttling. */
static void kinds_doubt_steady(const struct segmentation *o, size_t p, struct phase *out)
{
    double full = kinds_full_rate(o, p);
    if (p > 0 && !isnan(segmentation_edge_time(o, p - 1)) && out->ipc < FULL_RATE * full) {
        out->kind = PHASE_UNKNOWN;
        out->ipc_ratio = out->ipc / full;
        snprintf(out->why, sizeof out->why,
                 "IPC is %.2g of what follows, for longer than any known throttling: other code?", out->ipc_ratio);
    }
}

/* Another IPC at the same frequency, and no throttling: other code, which is no phase of the processor. */
static bool only_other_code(const struct segmentation *o, size_t e, const struct phase *a, const struct phase *b)
{
    return a->kind == PHASE_STEADY && b->kind == PHASE_STEADY &&
           segmentation_changes_only(&o->edge[e], TRACE_IPC, TRACE_IPC);
}

int levels_find_kinds(struct segmentation *o, struct phases *out)
{
    out->phases = calloc(o->n_pieces + 1, sizeof *out->phases);
    if (!out->phases)
        return -1;
    for (size_t p = 0; p < o->n_pieces; p++)
        kinds_kind_of(o, p, &out->phases[p]);
    for (size_t e = 0; e + 1 < o->n_pieces;) {
        if (!only_other_code(o, e, &out->phases[e], &out->phases[e + 1])) {
            e++;
            continue;
        }
        segmentation_forget_edge(o, e);
        memmove(&out->phases[e + 1], &out->phases[e + 2], (o->n_pieces - e - 1) * sizeof *out->phases);
        kinds_kind_of(o, e, &out->phases[e]);
        out->phases[e].kind = PHASE_STEADY;
        out->phases[e].ipc_ratio = NAN;
    }
    out->n_phases = o->n_pieces;
    for (size_t p = 0; p < out->n_phases; p++)
        if (phases_is_steady(&out->phases[p]) && !isnan(out->phases[p].ipc)) {
            out->phases[p].ipc_ratio = 1;
            kinds_doubt_steady(o, p, &out->phases[p]);
        }
    return 0;
}

struct level {
    double ghz; /* by which they are ordered */
    double weight, half;
    bool steady;
};

static int nearest(const struct level *l, size_t n, double ghz)
{
    int best = -1;
    for (size_t i = 0; i < n; i++)
        if (best < 0 || fabs(l[i].ghz - ghz) < fabs(l[best].ghz - ghz))
            best = (int)i;
    return best;
}

/*
 * How many 95 % limits make one phase in 5 % of all recordings stray beyond them: Bonferroni's correction for as many
 * comparisons as there are phases.
 */
static double limits_for(size_t phases)
{
    return gsl_cdf_ugaussian_Qinv(0.025 / (double)(phases ? phases : 1)) / ESTIMATE_Z95;
}

/* The level that a phase cannot be distinguished from, or -1; `limits` widens the phases' own. */
static int level_of(const struct level *l, size_t n, const struct phase *p, double limits)
{
    int i = nearest(l, n, p->freq_ghz.value);
    if (i < 0)
        return -1;
    double bound = fmax(CLOCK_WANDERS * l[i].ghz, limits * hypot(estimate_half_known(&p->freq_ghz), l[i].half));
    return fabs(l[i].ghz - p->freq_ghz.value) <= bound ? i : -1;
}

static void join(struct level *l, const struct phase *p, double length)
{
    if (phases_is_steady(p) && !l->steady) /* what was seen throttled only gives way to what was seen at full rate */
        *l = (struct level){p->freq_ghz.value, length, estimate_half_known(&p->freq_ghz), true};
    else if (phases_is_steady(p) == l->steady) {
        l->ghz += (p->freq_ghz.value - l->ghz) * length / (l->weight + length);
        l->weight += length;
    }
}

static int publish(const struct level *l, size_t n, struct phases *out)
{
    free(out->levels_ghz);
    free(out->levels);
    out->n_levels = 0;
    out->levels_ghz = malloc((n + 1) * sizeof *out->levels_ghz);
    out->levels = malloc((n + 1) * sizeof *out->levels);
    if (!out->levels_ghz || !out->levels)
        return -1;
    for (size_t i = 0; i < n; i++) {
        double half = l[i].half > 0 ? l[i].half : NAN;
        out->levels_ghz[i] = l[i].ghz;
        out->levels[i] = estimate_around(l[i].ghz, half);
    }
    out->n_levels = n;
    return 0;
}

/* Throttled or not: its frequency is on the way. */
static bool on_ramp(const struct phase *p)
{
    return p->kind == PHASE_RAMP || p->tau_us.value > 0;
}

/* Without a clock the license counters name the level. */
static void from_shares(struct phases *out)
{
    for (size_t p = 0; p < out->n_phases; p++)
        for (int i = 0; i < 3; i++)
            if (out->phases[p].share[i] > 0.5)
                out->phases[p].level = i;
}

/* Slow: steady, and the frequency rises at its end. */
static void find_slow(struct phases *out)
{
    for (size_t p = 0; p < out->n_phases; p++) {
        size_t q = p + 1;
        struct phase *a = &out->phases[p];
        if (a->kind == PHASE_SLOW)
            a->kind = PHASE_STEADY;
        while (q + 1 < out->n_phases && (out->phases[q].kind == PHASE_HALT || out->phases[q].kind == PHASE_RAMP))
            q++;
        if (q < out->n_phases && a->kind == PHASE_STEADY && a->level >= 0 && out->phases[q].level >= 0 &&
            out->phases[q].level < a->level && out->n_levels)
            a->kind = PHASE_SLOW;
    }
}

/* Whether limits over repetitions tell two frequencies apart. */
static bool apart(double a_ghz, double a_half, double b_ghz, double b_half, double limits)
{
    return fabs(a_ghz - b_ghz) > limits * hypot(a_half, b_half);
}

/* Steps that the limits over repetitions do not bear out, or that are too small. */
static bool merge_one(struct segmentation *o, struct phases *out)
{
    for (size_t e = 0; e + 1 < o->n_pieces; e++) {
        const struct phase *a = &out->phases[e], *b = a + 1;
        if (!phases_is_steady(a) || !phases_is_steady(b) || a->level != b->level || a->level < 0 || !out->n_levels ||
            !segmentation_changes_only(&o->edge[e], TRACE_FREQ, TRACE_IPC))
            continue;
        if (apart(a->freq_ghz.value, estimate_half_known(&a->freq_ghz), b->freq_ghz.value,
                  estimate_half_known(&b->freq_ghz), limits_for(out->n_phases)))
            o->piece[e].spread_ghz = fmax(fmax(o->piece[e].spread_ghz, o->piece[e + 1].spread_ghz),
                                          fabs(a->freq_ghz.value - b->freq_ghz.value));
        segmentation_forget_edge(o, e);
        for (size_t p = e + 1; p + 1 < out->n_phases; p++)
            out->phases[p] = out->phases[p + 1];
        out->n_phases--;
        return true;
    }
    return false;
}

int levels_find(struct segmentation *o, struct phases *out, bool *merged)
{
    struct level *l = calloc(out->n_phases + 1, sizeof *l);
    struct order_key *order = malloc((out->n_phases + 1) * sizeof *order); /* the longest first */
    size_t n = 0, m = 0;
    double limits = limits_for(out->n_phases);
    *merged = false;
    if (!l || !order) {
        free(l);
        free(order);
        return -1;
    }
    for (size_t p = 0; p < out->n_phases; p++) {
        const struct phase *ph = &out->phases[p];
        if (ph->kind != PHASE_HALT && !on_ramp(ph) && ph->kind != PHASE_UNKNOWN && !isnan(ph->freq_ghz.value))
            order[m++] = (struct order_key){-fmax(ph->duration_us.value, 1e-3), p};
    }
    if (m)
        qsort(order, m, sizeof *order, order_by_key);
    for (size_t k = 0; k < m; k++) {
        const struct phase *ph = &out->phases[order[k].index];
        int i = level_of(l, n, ph, limits);
        if (i >= 0)
            join(&l[i], ph, -order[k].key);
        else
            l[n++] = (struct level){ph->freq_ghz.value, -order[k].key, estimate_half_known(&ph->freq_ghz),
                                    phases_is_steady(ph)};
    }
    if (n)
        qsort(l, n, sizeof *l, order_double_descending);
    int bad = publish(l, n, out);
    for (size_t p = 0; p < out->n_phases && !bad; p++)
        out->phases[p].level = out->phases[p].kind == PHASE_HALT || on_ramp(&out->phases[p]) ||
                                       isnan(out->phases[p].freq_ghz.value)
                                   ? -1
                                   : nearest(l, n, out->phases[p].freq_ghz.value);
    free(l);
    free(order);
    if (bad)
        return -1;
    if (!n)
        from_shares(out);
    find_slow(out);
    *merged = merge_one(o, out);
    return 0;
}

void levels_hold(const struct segmentation *o, struct phases *out)
{
    double limits = limits_for(out->n_phases);
    for (size_t p = 0; p < out->n_phases; p++) {
        struct phase *ph = &out->phases[p];
        double half = estimate_half_known(&ph->freq_ghz);
        ph->freq_ghz.lo -= o->piece[p].spread_ghz;
        ph->freq_ghz.hi += o->piece[p].spread_ghz;
        bool holds = phases_is_steady(ph) || ph->kind == PHASE_THROTTLE;
        if (!holds || ph->level < 0 || (size_t)ph->level >= out->n_levels)
            continue;
        struct estimate *level = &out->levels[ph->level];
        double own = fmin(level->hi - level->value, level->value - level->lo); /* one side may be wider by now */
        if (o->piece[p].spread_ghz > 0 || apart(ph->freq_ghz.value, half, level->value, own, limits)) {
            level->lo = fmin(level->lo, ph->freq_ghz.lo);
            level->hi = fmax(level->hi, ph->freq_ghz.hi);
        }
    }
}
