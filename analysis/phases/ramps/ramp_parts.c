/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/ramps/ramp_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DISTORTED 2.718 /* after one time constant 1/e of the step is left: an error counts e times as much there */

/* A piece with the values of all of them; the frequency is `ghz`. */
struct piece ramp_joined(const struct segmentation *o, size_t p, size_t q, double ghz)
{
    struct piece all = {.samples = 0};
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        double sum = 0, weight = 0;
        for (size_t i = p; i <= q; i++)
            if (!isnan(o->piece[i].value[c])) {
                sum += o->piece[i].value[c] * (double)(o->piece[i].samples + 1);
                weight += (double)(o->piece[i].samples + 1);
            }
        all.value[c] = weight > 0 ? sum / weight : NAN;
    }
    for (size_t i = p; i <= q; i++)
        all.samples += o->piece[i].samples;
    all.value[TRACE_FREQ] = ghz;
    return all;
}

struct phase ramp_phase(const struct piece *piece, enum phase_kind kind)
{
    struct phase ph = kinds_phase(piece, kind);
    ph.ipc_ratio = isnan(ph.ipc) ? NAN : 1;
    return ph;
}

/* An estimate whose limits know of another error of half width `half`. */
static struct estimate ramp_widened(const struct estimate *e, double half)
{
    return estimate_around(e->value, hypot(half, e->hi - e->value));
}

double ramp_over_after(const struct ramp_fit *f)
{
    return f->tau.value * log(fmax(fabs(f->from.value - f->to.value) / (RAMP_ARRIVED * f->to.value), 1));
}

void ramp_describe(const struct runs *r, const struct ramp_fit *f, double half, struct phase *ramp)
{
    double doubt = ESTIMATE_Z95 * clock_uncertainty(&r->clock); /* relative, another one at each frequency on the way */
    double step = fabs(f->from.value - f->to.value);
    double tau = hypot(log(f->tau.hi / f->tau.value), DISTORTED * doubt * f->to.value / step);
    ramp->from_ghz = ramp_widened(&f->from, hypot(half, doubt * f->from.value));
    ramp->to_ghz = ramp_widened(&f->to, hypot(half, doubt * f->to.value));
    ramp->tau_us = (struct estimate){f->tau.value, f->tau.value * exp(-tau), f->tau.value * exp(tau)};
}

int ramp_splice(struct segmentation *o, struct phases *out, size_t p, size_t q, const struct ramp_part *part, size_t n,
                const double *own)
{
    size_t pieces = o->n_pieces - (q - p + 1) + n, after = o->n_pieces - q - 1, runs = o->n_runs;
    struct piece *piece = calloc(pieces + 1, sizeof *piece);
    struct edge_kind *edge = calloc(pieces + 1, sizeof *edge);
    double *time = calloc(pieces * runs + 1, sizeof *time);
    struct phase *phase = calloc(pieces + 1, sizeof *phase);
    if (!piece || !edge || !time || !phase) {
        free(piece);
        free(edge);
        free(time);
        free(phase);
        return -1;
    }
    memcpy(piece, o->piece, p * sizeof *piece);
    memcpy(phase, out->phases, p * sizeof *phase);
    memcpy(edge, o->edge, p * sizeof *edge); /* the last of them leads into the stretch */
    memcpy(time, o->time, p * runs * sizeof *time);
    for (size_t i = 0; i < n; i++) {
        piece[p + i] = part[i].piece;
        phase[p + i] = part[i].phase;
        if (!i)
            continue;
        bool up = part[i].piece.value[TRACE_FREQ] > part[i - 1].piece.value[TRACE_FREQ];
        edge[p + i - 1].change[TRACE_FREQ] = up ? 1 : -1;
        for (size_t k = 0; k < runs; k++)
            time[(p + i - 1) * runs + k] = own ? own[i * runs + k] : part[i].begin;
    }
    memcpy(piece + p + n, o->piece + q + 1, after * sizeof *piece);
    memcpy(phase + p + n, out->phases + q + 1, after * sizeof *phase);
    if (after) {
        memcpy(edge + p + n - 1, o->edge + q, after * sizeof *edge);
        memcpy(time + (p + n - 1) * runs, o->time + q * runs, after * runs * sizeof *time);
    }
    free(o->piece);
    free(o->edge);
    free(o->time);
    free(out->phases);
    o->piece = piece;
    o->edge = edge;
    o->time = time;
    out->phases = phase;
    o->n_pieces = out->n_phases = pieces;
    return 0;
}
