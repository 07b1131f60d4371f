/* SPDX-License-Identifier: GPL-3.0-or-later */
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
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/findings.h"

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

struct phase kinds_phase(const struct piece *piece, enum phase_kind kind)
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
    *out = kinds_phase(piece, PHASE_STEADY);
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

int kinds_find(struct segmentation *o, struct phases *out)
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
