/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Levels: the distinct frequencies at which phases run. Phases are at one level if their frequencies are within what
 * clocks wander (spread spectrum, 0.25 %) or if their limits do not tell them apart.
 */
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "analysis/phases/findings.h"
#include "util/order.h"

struct level {
    double ghz; /* by which they are ordered */
    double weight, half;
    bool steady;
};

static int levels_nearest(const struct level *l, size_t n, double ghz)
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

/* The level that a phase cannot be told from, or -1; `limits` widens the phases' own. */
static int level_of(const struct level *l, size_t n, const struct phase *p, double limits)
{
    int i = levels_nearest(l, n, p->freq_ghz.value);
    if (i < 0)
        return -1;
    double bound = fmax(CLOCK_WANDERS * l[i].ghz, limits * hypot(estimate_half_known(&p->freq_ghz), l[i].half));
    return fabs(l[i].ghz - p->freq_ghz.value) <= bound ? i : -1;
}

static void levels_join(struct level *l, const struct phase *p, double length)
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
static void levels_from_shares(struct phases *out)
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
            levels_join(&l[i], ph, -order[k].key);
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
                                   : levels_nearest(l, n, out->phases[p].freq_ghz.value);
    free(l);
    free(order);
    if (bad)
        return -1;
    if (!n)
        levels_from_shares(out);
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
