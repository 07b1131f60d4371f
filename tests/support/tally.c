/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/tally.h"

#include <math.h>

enum { PLACES = 99991 }; /* so that golden_is(), to which a millionth is nothing, sees each */
#define FINE 1e4         /* what is much smaller than 1 / FINE is nothing, as what rounding leaves is */

void tally_add(struct tally *t, double x)
{
    t->n++;
    if (isfinite(x))
        t->sum += copysign(log1p(FINE * fabs(x)), x) * (1 + 0.125 * (double)(t->n % 13));
    else
        t->strange += t->n * (isnan(x) ? 1 : x > 0 ? 2 : 3);
}

void tally_estimate(struct tally *t, const struct estimate *e)
{
    tally_add(t, e->value);
    tally_add(t, e->lo);
    tally_add(t, e->hi);
}

void tally_text(struct tally *t, const char *text)
{
    enum { KINDS = 1009 }; /* few, so that any two differ by much */
    unsigned sum = 0;
    for (; *text; text++)
        sum = (31 * sum + (unsigned char)*text) % KINDS;
    tally_add(t, sum);
}

void tally_runs(struct tally *t, const struct runs *r)
{
    tally_add(t, r->period);
    tally_add(t, r->longest);
    tally_add(t, r->typical_lost);
    tally_add(t, r->typical_step);
    tally_add(t, (double)r->habit);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        tally_add(t, r->has[c] ? r->noise[c] : -1);
    for (size_t k = 0; k < r->n; k++)
        tally_add(t, (double)(r->run[k].first + 3 * r->run[k].n + 5 * r->run[k].first_gap + 7 * r->run[k].n_gaps));
    for (size_t i = 0; i < r->trace->n; i++)
        if (r->invalid[i])
            tally_add(t, (double)i);
    for (size_t k = 0; k < r->n_gaps; k++) {
        const struct gap *g = &r->gap[k];
        const double x[] = {(double)g->run, (double)g->sample, g->begin,       g->end,       g->lost,
                            g->clock,       g->rate,           g->freq_before, g->freq_after};
        for (size_t i = 0; i < sizeof x / sizeof *x; i++)
            tally_add(t, x[i]);
        tally_add(t, g->running + 2 * g->soft + 4 * g->moved + 8 * g->level_changes + 16 * runs_gap_is_halt(r, g));
        tally_add(t, r->by_begin ? (double)r->by_begin[k] : -1);
    }
}

void tally_segmentation(struct tally *t, const struct segmentation *o)
{
    const double of_all[] = {(double)o->n_pieces, (double)o->n_runs, o->begin, o->end, o->switch_us};
    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
        tally_add(t, of_all[i]);
    for (size_t p = 0; p < o->n_pieces; p++) {
        const struct piece *q = &o->piece[p];
        const double x[] = {(double)q->samples, (double)q->ramp_runs, q->spread_ghz, q->sooner_us,
                            q->halt + 2 * q->wanders};
        for (int c = 0; c < TRACE_CHANNELS; c++)
            tally_add(t, q->value[c]);
        for (size_t i = 0; i < sizeof x / sizeof *x; i++)
            tally_add(t, x[i]);
    }
    for (size_t e = 0; e + 1 < o->n_pieces; e++) {
        for (int c = 0; c < TRACE_CHANNELS; c++)
            tally_add(t, o->edge[e].change[c]);
        tally_add(t, o->edge[e].forced);
        for (size_t k = 0; k < o->n_runs; k++)
            tally_add(t, o->time[e * o->n_runs + k]);
    }
    for (size_t k = 0; k < o->n_runs; k++)
        tally_add(t, (double)o->run[k] + (o->other_ghz && o->other_ghz[k] ? 0.5 : 0));
}

static void tally_side(struct tally *t, const struct ramp_side *s)
{
    const struct estimate *const all[] = {&s->begin_us, &s->end_us, &s->from, &s->to, &s->tau_us};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tally_estimate(t, all[i]);
    tally_add(t, (double)s->runs);
}

static void tally_phase(struct tally *t, const struct phase *ph)
{
    const struct estimate *const all[] = {&ph->duration_us, &ph->freq_ghz, &ph->from_ghz, &ph->to_ghz, &ph->tau_us};
    const double x[] = {(double)ph->kind, ph->start_us, ph->freq_half_ghz,         ph->ipc,         ph->ipc_ratio,
                        ph->volts,        ph->level,    (double)ph->agreeing_runs, ph->clock_unsure};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        tally_add(t, x[i]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tally_estimate(t, all[i]);
    for (int i = 0; i < 4; i++)
        tally_add(t, ph->share[i]);
    for (size_t i = 0; i < ph->n_modes; i++) {
        tally_add(t, ph->modes[i].duration_us);
        tally_add(t, ph->modes[i].share);
    }
    tally_side(t, &ph->clock_ramp);
    tally_side(t, &ph->rate_ramp);
    tally_text(t, ph->why);
}

void tally_phases(struct tally *t, const struct phases *p)
{
    const double of_all[] = {(double)p->runs,         (double)p->runs_used,
                             (double)p->samples,      (double)p->samples_discarded,
                             (double)p->samples_lost, p->modelled + 2.0 * p->disturbed,
                             p->detectable_freq,      p->detectable_freq_us,
                             p->detectable_throttle,  p->detectable_throttle_us,
                             p->detectable_halt_us};
    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
        tally_add(t, of_all[i]);
    for (size_t i = 0; i < p->n_levels; i++) {
        tally_add(t, p->levels_ghz[i]);
        tally_estimate(t, &p->levels[i]);
    }
    for (size_t i = 0; i < p->n_phases; i++)
        tally_phase(t, &p->phases[i]);
    for (size_t i = 0; i < p->n_transitions; i++) {
        const struct transition *tr = &p->transitions[i];
        tally_add(t, tr->at_us);
        tally_estimate(t, &tr->latency_us);
        tally_add(t, tr->from_ghz);
        tally_add(t, tr->to_ghz);
        tally_add(t, (double)(tr->halts + 100 * tr->agreeing_runs));
    }
    for (size_t i = 0; i < p->n_volt_steps; i++) {
        const struct volt_step *v = &p->volt_steps[i];
        const double x[] = {v->begin_us, v->end_us, v->from_v, v->to_v, (double)v->agreeing_runs};
        for (size_t k = 0; k < sizeof x / sizeof *x; k++)
            tally_add(t, x[k]);
    }
    for (size_t i = 0; i < p->n_discarded; i++) {
        tally_add(t, p->discarded[i].run);
        tally_text(t, p->discarded[i].why);
    }
    for (size_t i = 0; i < p->n_warnings; i++)
        tally_text(t, p->warnings[i]);
}

void tally_write(FILE *out, const char *name, struct tally *t)
{
    fprintf(out, " %s %.4f/%zu", name, fmod(t->sum, 100) + 0.0, t->n);
    if (t->strange)
        fprintf(out, "+%zu", t->strange % PLACES);
    *t = (struct tally){0};
}
