/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each piece is, and the levels.
 *
 * Throttling shows as IPC below that of the same code at full rate, which can only be the code that follows: a
 * throttled core runs the new code slowly from its first instruction on and then fully. So a piece is throttled if a
 * later piece of the same code runs at a higher IPC. What touches the beginning of the recording may have been any
 * other code, what is not followed by a full rate too (an idle loop before and after the payload), and throttling
 * longer than Intel's own bound of 500 us (optimization manual, quoted in the Skylake-SP dissertation, section 3.2.2)
 * has not been seen: those are not called throttled.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings.h"

#define FULL_RATE 0.94       /* of the full IPC; milder ratios are not distinguished from full rate */
#define THROTTLE_SHARE 0.5   /* of the cycles counted as throttled */
#define THROTTLE_MAX_US 600
#define THROTTLE_MIN_RATIO 0.1
#define SAME_LEVEL 0.0035    /* relative: frequencies closer than this are one level */

static double edge_middle(const struct outline *o, size_t e)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < o->n_runs; k++)
        if (!isnan(o->time[e * o->n_runs + k])) {
            sum += o->time[e * o->n_runs + k];
            n++;
        }
    return n ? sum / (double)n : NAN;
}

/* The highest IPC of a later piece that runs the same code; NaN if there is none. */
static double full_rate(const struct outline *o, size_t p)
{
    double full = NAN;
    for (size_t q = p + 1; q < o->n_pieces; q++) {
        if (o->edge[q - 1].forced)
            break;
        double ipc = o->piece[q].value[TRACE_IPC];
        if (o->piece[q].halt || isnan(ipc))
            continue;
        if (isnan(full) || ipc > full)
            full = ipc;
        if (edge_middle(o, q - 1) - edge_middle(o, p ? p - 1 : 0) > THROTTLE_MAX_US)
            break;
    }
    return full;
}

static bool first_of_recording(const struct outline *o, size_t p)
{
    return p == 0 || isnan(edge_middle(o, p - 1));
}

static void kind_of(const struct outline *o, size_t p, struct phase *out)
{
    const struct piece *piece = &o->piece[p];
    memset(out, 0, sizeof *out);
    out->freq_ghz = (struct estimate){piece->value[TRACE_FREQ], NAN, NAN};
    out->ipc = piece->value[TRACE_IPC];
    out->ipc_ratio = NAN;
    out->volts = piece->value[TRACE_VOLTS];
    for (int i = 0; i < 4; i++)
        out->share[i] = piece->value[TRACE_LVL0 + i];
    out->level = -1;
    out->kind = PHASE_STEADY;
    if (piece->halt) {
        out->kind = PHASE_HALT;
        return;
    }
    double length = p + 1 < o->n_pieces && p ? edge_middle(o, p) - edge_middle(o, p - 1) : NAN;
    double full = full_rate(o, p);
    bool possible = !first_of_recording(o, p) && length <= THROTTLE_MAX_US;
    if (possible && out->ipc < FULL_RATE * full) {
        out->kind = PHASE_THROTTLE;
        out->ipc_ratio = out->ipc / full;
        if (out->ipc_ratio < THROTTLE_MIN_RATIO) {
            out->kind = PHASE_UNKNOWN;
            snprintf(out->why, sizeof out->why, "IPC falls to %.2g of what follows: less than any known throttling",
                     out->ipc_ratio);
        }
    } else if (out->share[3] > THROTTLE_SHARE && !isnan(length)) {
        out->kind = PHASE_THROTTLE;
    }
}

/* Another IPC at the same frequency, and no throttling: other code, which is no phase of the processor. */
static bool only_other_code(const struct outline *o, size_t e, const struct phase *a, const struct phase *b)
{
    if (o->edge[e].forced || a->kind != PHASE_STEADY || b->kind != PHASE_STEADY)
        return false;
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (c != TRACE_IPC && o->edge[e].change[c])
            return false;
    return true;
}

struct level {
    double ghz, weight, variance;
};

static double sigma_of(const struct runs *r, const struct piece *p)
{
    return 1.2533 * r->noise[TRACE_FREQ] * p->value[TRACE_FREQ] / sqrt(fmax(1, (double)p->samples));
}

static int level_of(const struct level *l, size_t n, double ghz, double sigma)
{
    int best = -1;
    for (size_t i = 0; i < n; i++)
        if (best < 0 || fabs(l[i].ghz - ghz) < fabs(l[best].ghz - ghz))
            best = (int)i;
    if (best < 0)
        return -1;
    double bound = fmax(SAME_LEVEL * ghz, 3 * hypot(sigma, sqrt(l[best].variance)));
    /* what a short, noisy piece cannot tell apart must still not swallow a step that was found */
    return fabs(l[best].ghz - ghz) <= fmin(bound, 0.02 * ghz) ? best : -1;
}

static int descending(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    return x->ghz > y->ghz ? -1 : x->ghz < y->ghz;
}

struct order {
    size_t piece, samples;
};

static int longest_first(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return x->piece < y->piece ? -1 : 1;
}

/* Distinct frequencies: the longest pieces found levels, shorter ones join the level they cannot be told from. */
static int find_levels(const struct runs *r, const struct outline *o, struct phases *out)
{
    struct level *l = calloc(o->n_pieces + 1, sizeof *l);
    struct order *order = malloc((o->n_pieces + 1) * sizeof *order);
    size_t n = 0, m = 0;
    if (!l || !order) {
        free(l);
        free(order);
        return -1;
    }
    for (size_t p = 0; p < o->n_pieces; p++)
        if (!o->piece[p].halt && !isnan(o->piece[p].value[TRACE_FREQ]) && out->phases[p].kind != PHASE_UNKNOWN)
            order[m++] = (struct order){p, o->piece[p].samples};
    qsort(order, m, sizeof *order, longest_first);
    for (size_t k = 0; k < m; k++) {
        const struct piece *piece = &o->piece[order[k].piece];
        double ghz = piece->value[TRACE_FREQ], sigma = sigma_of(r, piece), weight = (double)piece->samples;
        int i = level_of(l, n, ghz, sigma);
        if (i < 0) {
            l[n++] = (struct level){ghz, weight, sigma * sigma};
            continue;
        }
        l[i].ghz += (ghz - l[i].ghz) * weight / (l[i].weight + weight);
        l[i].weight += weight;
        l[i].variance = 1 / (1 / fmax(l[i].variance, 1e-18) + 1 / fmax(sigma * sigma, 1e-18));
    }
    free(order);
    qsort(l, n, sizeof *l, descending);
    out->levels_ghz = malloc((n + 1) * sizeof *out->levels_ghz);
    out->levels = malloc((n + 1) * sizeof *out->levels);
    int bad = !out->levels_ghz || !out->levels;
    for (size_t i = 0; i < n && !bad; i++) {
        out->levels_ghz[i] = l[i].ghz;
        out->levels[i] = (struct estimate){l[i].ghz, NAN, NAN};
    }
    out->n_levels = bad ? 0 : n;
    for (size_t p = 0; p < o->n_pieces && !bad; p++) {
        double ghz = o->piece[p].value[TRACE_FREQ];
        int best = -1;
        for (size_t i = 0; i < n && !o->piece[p].halt && !isnan(ghz); i++)
            if (best < 0 || fabs(l[i].ghz - ghz) < fabs(l[best].ghz - ghz))
                best = (int)i;
        out->phases[p].level = best;
    }
    free(l);
    return bad ? -1 : 0;
}

/* Without a clock the licence counters name the level. */
static void levels_from_shares(struct phases *out)
{
    for (size_t p = 0; p < out->n_phases; p++)
        for (int i = 0; i < 3; i++)
            if (out->phases[p].share[i] > 0.5)
                out->phases[p].level = i;
}

static void find_slow(struct phases *out)
{
    for (size_t p = 0; p + 1 < out->n_phases; p++) {
        size_t q = p + 1;
        while (q + 1 < out->n_phases && out->phases[q].kind == PHASE_HALT)
            q++;
        struct phase *a = &out->phases[p];
        const struct phase *b = &out->phases[q];
        if (a->kind == PHASE_STEADY && a->level >= 0 && b->level >= 0 && b->level < a->level && out->n_levels)
            a->kind = PHASE_SLOW;
    }
}

int find_kinds(const struct runs *r, struct outline *o, struct phases *out)
{
    out->phases = calloc(o->n_pieces + 1, sizeof *out->phases);
    if (!out->phases)
        return -1;
    for (size_t p = 0; p < o->n_pieces; p++)
        kind_of(o, p, &out->phases[p]);
    for (size_t e = 0; e + 1 < o->n_pieces;) {
        if (!only_other_code(o, e, &out->phases[e], &out->phases[e + 1])) {
            e++;
            continue;
        }
        outline_forget_edge(o, e);
        memmove(&out->phases[e + 1], &out->phases[e + 2], (o->n_pieces - e - 1) * sizeof *out->phases);
        kind_of(o, e, &out->phases[e]);
        out->phases[e].kind = PHASE_STEADY;
        out->phases[e].ipc_ratio = NAN;
    }
    out->n_phases = o->n_pieces;
    if (find_levels(r, o, out))
        return -1;
    if (!r->has[TRACE_FREQ])
        levels_from_shares(out);
    find_slow(out);
    for (size_t p = 0; p < out->n_phases; p++)
        if ((out->phases[p].kind == PHASE_STEADY || out->phases[p].kind == PHASE_SLOW) && !isnan(out->phases[p].ipc))
            out->phases[p].ipc_ratio = 1;
    return 0;
}
