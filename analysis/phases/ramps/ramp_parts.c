/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/ramps/ramp_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DISTORTED 2.718 /* after one time constant 1/e of the step is left: an error counts e times as much there */

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
    double tau = fmax(RAMP_TAU_SURE, hypot(log(f->tau.hi / f->tau.value), DISTORTED * doubt * f->to.value / step));
    ramp->from_ghz = ramp_widened(&f->from, hypot(half, doubt * f->from.value));
    ramp->to_ghz = ramp_widened(&f->to, hypot(half, doubt * f->to.value));
    ramp->tau_us = (struct estimate){f->tau.value, f->tau.value * exp(-tau), f->tau.value * exp(tau)};
}

typedef char *any_list __attribute__((may_alias)); /* the list's own type is not char * */

/* Puts `come` elements, all zero, in the place of `gone` ones from `at` on in a list of n. 0, or -1: out of memory, and
 * the list is as it was. list: the address of the pointer to it. */
static int replace_in(void *list, size_t size, size_t n, size_t at, size_t gone, size_t come)
{
    any_list *old = list;
    char *new = calloc(n - gone + come + 1, size);
    if (!new)
        return -1;
    memcpy(new, *old, at * size);
    memcpy(new + (at + come) * size, *old + (at + gone) * size, (n - at - gone) * size);
    free(*old);
    *old = new;
    return 0;
}

int ramp_splice(struct segmentation *o, struct phases *out, size_t p, size_t q, const struct ramp_part *part, size_t n,
                const double *own)
{
    size_t gone = q - p + 1, edges = o->n_pieces - 1, runs = o->n_runs;
    if (replace_in(&o->piece, sizeof *o->piece, o->n_pieces, p, gone, n) ||
        replace_in(&out->phases, sizeof *out->phases, o->n_pieces, p, gone, n) ||
        replace_in(&o->edge, sizeof *o->edge, edges, p, gone - 1, n - 1) ||
        replace_in(&o->time, runs * sizeof *o->time, edges, p, gone - 1, n - 1))
        return -1;
    for (size_t i = 0; i < n; i++) {
        o->piece[p + i] = part[i].piece;
        out->phases[p + i] = part[i].phase;
        if (!i)
            continue;
        bool up = part[i].piece.value[TRACE_FREQ] > part[i - 1].piece.value[TRACE_FREQ];
        o->edge[p + i - 1].change[TRACE_FREQ] = up ? 1 : -1;
        for (size_t k = 0; k < runs; k++)
            o->time[(p + i - 1) * runs + k] = own ? own[i * runs + k] : part[i].begin;
    }
    o->n_pieces = out->n_phases = o->n_pieces - gone + n;
    return 0;
}
