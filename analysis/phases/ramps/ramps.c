/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ramps. A frequency that approaches its new value exponentially has no edges: cut into steady pieces it makes as many
 * levels as its noise allows, or none. So each stretch of steady phases in a row, with nothing but the frequency
 * changing in it, is described a second time, by one exponential (ramp_fit.c); the simpler account wins (Schwarz's
 * criterion: residuals against the number of parameters) of that, the pieces that were found, and sharp steps of each
 * repetition's own, since steps that repetitions make at different times average to a curve. A ramp must also be the
 * repetitions': most of them show it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/findings.h"
#include "analysis/phases/ramps/ramp_fit.h"
#include "analysis/phases/tail/tail.h"
#include "util/plain_text.h"

enum {
    BINS_LEAST = 30,
    COARSE = 40, /* parts of a stretch that are looked at first, at most */
    BINS_OF_PART = 3,
    REST_PERIODS = 20 /* a shorter rest of a stretch belongs to its ramp */
};
#define TAU_PERIODS 8.0  /* a shorter time constant is not distinguished from a step */
#define MOVES_SIGMAS 6.0 /* the range of so many means is 4.5 of their standard deviations by chance */

/* Whether the frequency moves at all: a fit costs some milliseconds, and recordings may have many steady phases. */
static bool ramps_moves(const struct runs *r, const struct tail *x, const struct tail_series *s)
{
    const double *y = s->curve[TAIL_FREQ];
    double least = INFINITY, most = -INFINITY;
    size_t parts = s->n_bins / BINS_OF_PART < COARSE ? s->n_bins / BINS_OF_PART : COARSE;
    for (size_t part = 0; part < parts; part++) {
        double sum = 0, n = 0;
        for (size_t i = s->n_bins * part / parts; i < s->n_bins * (part + 1) / parts; i++)
            if (!isnan(y[i])) {
                sum += y[i];
                n++;
            }
        least = n > 0 ? fmin(least, sum / n) : least;
        most = n > 0 ? fmax(most, sum / n) : most;
    }
    double noise = r->noise[TRACE_FREQ] / sqrt(fmax(1, (double)x->samples / (double)parts));
    return most - least > fmax(0.5 * CLOCK_STEP_LEAST, MOVES_SIGMAS * noise) * most;
}

/* Sums of squares about the ramp (*ramp), and about the pieces p to q that were found at common times. Returns how many
 * values they are of. */
static double squares_about(const struct tail_series *s, const struct ramp_fit *f, const struct phases *out, size_t p,
                            size_t q, double *ramp, double *pieces)
{
    double all = 0;
    *ramp = *pieces = 0;
    for (size_t i = p, b = 0; i <= q; i++) {
        const double to = i == q ? INFINITY : out->phases[i + 1].start_us;
        double sum = 0, squares = 0, n = 0;
        for (; b < s->n_bins && !(s->time[b] >= to); b++)
            for (size_t k = 0; k < s->n_runs; k++) {
                const double y = s->value[TAIL_FREQ][k * s->n_bins + b] - f->to.value;
                if (isnan(y))
                    continue;
                sum += y;
                squares += y * y;
                *ramp += pow(y + f->to.value - ramp_value(f, s->time[b]), 2);
                n++;
            }
        *pieces += n > 0 ? squares - sum * sum / n : 0;
        all += n;
    }
    return all;
}

/* Fits a ramp to the stretch of pieces p to q. *runs: how many repetitions show it; 0: there is none. -1: out of
 * memory. */
static int fit_stretch(const struct runs *r, const struct phases *out, size_t p, size_t q, struct tail *x,
                       struct ramp_fit *f, size_t *runs)
{
    struct tail_series s;
    double ramp, pieces;
    int bad = tail_gather(r->trace, out, x, &s);
    if (!bad && x->n_runs && ramps_moves(r, x, &s))
        bad = tail_describe(&s, TAIL_FREQ, x);
    const struct tail_course *c = &x->course[TAIL_FREQ];
    *runs = 0;
    if (!bad && c->kind == TAIL_RAMP && c->tau.value >= TAU_PERIODS * r->period) {
        *f = (struct ramp_fit){.begin = c->begin, .from = c->from, .to = c->to, .tau = c->tau};
        double n = squares_about(&s, f, out, p, q, &ramp, &pieces), own = (double)x->n_runs;
        bool better = ramp_criterion(n, ramp, own + 3) + RAMP_CLEARLY <
                      ramp_criterion(n, pieces, own - 1 + 2 * (double)(q - p + 1) - 1);
        *runs = better ? c->runs : 0;
    }
    tail_free_series(&s);
    return bad;
}

/* ---- into the segmentation ---- */

static size_t make_parts(const struct runs *r, const struct segmentation *o, size_t p, size_t q, const struct tail *x,
                         const struct ramp_fit *f, size_t runs, struct ramp_part part[RAMP_PARTS])
{
    double rest = REST_PERIODS * r->period, over = f->begin.value + ramp_over_after(f);
    bool before = f->begin.value > x->begin + rest && f->begin.value > x->begin + f->begin.hi - f->begin.value;
    size_t n = 0;
    if (before)
        part[n++] = (struct ramp_part){.begin = x->begin, .piece = ramp_joined(o, p, q, f->from.value)};
    part[n] = (struct ramp_part){.begin = before ? f->begin.value : x->begin};
    part[n].piece = ramp_joined(o, p, q, ramp_value(f, 0.5 * (f->begin.value + fmin(over, x->end))));
    part[n++].piece.ramp_runs = runs;
    if (over < x->end - rest)
        part[n++] = (struct ramp_part){.begin = over, .piece = ramp_joined(o, p, q, f->to.value)};
    for (size_t i = 0; i < n; i++)
        part[i].phase = ramp_phase(&part[i].piece, part[i].piece.ramp_runs ? PHASE_RAMP : PHASE_STEADY);
    ramp_describe(r, f, 0, &part[before].phase);
    return n;
}

/* ---- which stretches ---- */

static bool eligible(const struct segmentation *o, const struct phases *out, size_t p)
{
    return phases_is_steady(&out->phases[p]) || (out->phases[p].kind == PHASE_UNKNOWN && o->piece[p].wanders);
}

/* The last of the phases from p on that are of its kind, with nothing but the frequency changing between them. */
static size_t stretch_end(const struct segmentation *o, const struct phases *out, size_t p)
{
    bool throttled = out->phases[p].kind == PHASE_THROTTLE;
    while (p + 1 < out->n_phases && segmentation_changes_only(&o->edge[p], TRACE_FREQ, TRACE_FREQ) &&
           (throttled ? out->phases[p + 1].kind == PHASE_THROTTLE : eligible(o, out, p + 1)))
        p++;
    return p;
}

/* Puts the ramp of pieces p to q into the segmentation. Each repetition's own beginning is sought where it is not at
 * the beginning of the stretch: waits scatter. */
static int put_ramp(const struct runs *r, struct segmentation *o, struct phases *out, size_t p, size_t q,
                    const struct tail *x, const struct ramp_fit *f, size_t runs, size_t *past)
{
    struct ramp_part part[RAMP_PARTS];
    size_t n = make_parts(r, o, p, q, x, f, runs, part);
    bool doubt = false;
    *past = 0;
    if (part[0].phase.kind == PHASE_STEADY) {
        struct ramp_part both[] = {part[0], {.begin = part[1].begin, .piece = ramp_joined(o, p, q, f->to.value)}};
        both[1].phase = ramp_phase(&both[1].piece, PHASE_STEADY);
        if (ramp_splice(o, out, p, q, both, 2, NULL) || times_find(r, o, out) ||
            short_ramps_find(r, o, out, p, p + 1, past, &doubt))
            return -1;
        q = p + 1;
    }
    if (*past)
        return 0;
    *past = p + n;
    return ramp_splice(o, out, p, q, part, n, NULL);
}

static int try_stretch(const struct runs *r, struct segmentation *o, struct phases *out, size_t p, size_t q,
                       size_t *past)
{
    double begin = out->phases[p].start_us, end = q + 1 < out->n_phases ? out->phases[q + 1].start_us : o->end;
    struct tail x = {.begin = begin, .after = begin, .end = end, .uniform = true, .instant = r->clock.instant};
    struct ramp_fit f;
    size_t runs = 0;
    *past = 0;
    if (!(end - begin > BINS_LEAST * r->period) || !o->n_runs)
        return 0;
    x.invalid = r->invalid;
    int bad = fit_stretch(r, out, p, q, &x, &f, &runs);
    return !bad && runs ? put_ramp(r, o, out, p, q, &x, &f, runs, past) : bad;
}

/* What is steady after a ramp still holds the last of its approach: the mean of that is known, and taken off. */
static void take_off_rests(struct phases *out)
{
    for (size_t p = 0; p + 1 < out->n_phases; p++) {
        const struct phase *ramp = &out->phases[p];
        struct estimate *ghz = &out->phases[p + 1].freq_ghz;
        double tau = ramp->tau_us.value, us = out->phases[p + 1].duration_us.value;
        if (ramp->kind != PHASE_RAMP || !phases_is_steady(&out->phases[p + 1]) || !(us > 0))
            continue;
        double left = (ramp->from_ghz.value - ramp->to_ghz.value) * exp(-ramp->duration_us.value / tau);
        double rest = left * ramp_decay_integral(us, tau) / us;
        *ghz = (struct estimate){ghz->value - rest, ghz->lo - rest, ghz->hi - rest};
    }
}

/* Its end is where the time constant puts it, and known as well as that. */
static int tell_ramps(const struct segmentation *o, struct phases *out)
{
    for (size_t p = 0; p < out->n_phases; p++) {
        struct phase *ph = &out->phases[p];
        if (ph->kind != PHASE_RAMP)
            continue;
        double us = ph->duration_us.value, tau = ph->tau_us.value;
        bool whole = p + 1 < out->n_phases && phases_is_steady(&out->phases[p + 1]);
        ph->agreeing_runs = o->piece[p].ramp_runs;
        ph->freq_ghz = phases_ramp_mean(ph);
        ph->freq_half_ghz = estimate_half(&ph->freq_ghz);
        if (whole)
            ph->duration_us = (struct estimate){us, us * ph->tau_us.lo / tau, us * ph->tau_us.hi / tau};
        else if (p + 1 == out->n_phases &&
                 phases_warn(out,
                             "the frequency still changes where the ramp from %s ends (time constant %s); a "
                             "longer --observe would resolve it better",
                             plain_time(ph->start_us, 1).text, plain_time(tau, 0).text))
            return -1;
    }
    return 0;
}

int ramps_find(const struct runs *r, struct segmentation *o, struct phases *out)
{
    bool any = false;
    int bad = 0;
    for (size_t p = 0; r->has[TRACE_FREQ] && p < out->n_phases && !bad;) {
        size_t past = 0, q = p;
        bool base = eligible(o, out, p);
        if (base || out->phases[p].kind == PHASE_THROTTLE) {
            q = stretch_end(o, out, p);
            bad = short_ramps_find(r, o, out, p, q, &past, &any);
        }
        if (base && !past && !bad)
            bad = try_stretch(r, o, out, p, q, &past);
        any = any || past;
        p = past ? past : q + 1;
    }
    for (bool again = any; again && !bad;) {
        bad = times_find(r, o, out);
        take_off_rests(out);
        bad = bad || levels_find(o, out, &again);
    }
    return bad || (any && tell_ramps(o, out)) ? -1 : 0;
}
