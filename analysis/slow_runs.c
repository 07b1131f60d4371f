/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repetitions that ran at another frequency than most, from their beginning to their end: power limits and other
 * tenants of the processor do that. The figures are those of the majority; how many differed, and by how much, is a
 * warning, and where it is more than one in twenty the limits of the frequencies hold both.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/findings.h"
#include "analysis/robust.h"

enum { RUNS_LEAST = 10, OTHERS_LEAST = 2 };
#define OTHER 0.004     /* relative: as for a step of the frequency */
#define OTHER_SIGMAS 6.0
#define SAMPLE_SIGMAS 4.0
#define PART 0.25 /* of the recording: its beginning, and its end */
#define SHARE_TOLD 0.03
#define SHARE_HELD 0.05 /* more than that is within what 95 % limits must hold */
#define ONE_VALUE 0.01  /* relative: others that spread by more are told as a range */

/* Means of the frequency relative to the phases', of the first and of the last part of a recording. */
struct course {
    double sum[2];
    size_t n[2];
};

static void add_sample(struct course *c, bool later, double relative, bool instant)
{
    c->sum[later] += instant ? 1 / relative : relative; /* of chains by the mean time of a cycle (clock.h) */
    c->n[later]++;
}

static double part_of(const struct course *c, bool later, bool instant)
{
    double mean = c->sum[later] / (double)c->n[later];
    return instant ? 1 / mean : mean;
}

/*
 * Frequency of a repetition, relative to the phases', over its samples in steady and throttled phases: from beginning
 * to end, so that of its first and its last part the one nearer to the phases' counts, and 1 where they lie on either
 * side. A repetition whose higher frequency comes back sooner than that of others is none of these.
 */
static double relative_frequency(const struct runs *r, const struct outline *o, size_t k, const struct phases *out,
                                 size_t *fewest)
{
    const float *freq = r->trace->channel[TRACE_FREQ];
    const struct run_span *s = &r->run[o->run[k]];
    struct course c = {{0, 0}, {0, 0}};
    bool instant = r->clock.instant;
    size_t p = 0;
    for (size_t i = s->first; i < s->first + s->n; i++) {
        double end = r->trace->time_us[i], begin = end - (double)r->dt[i];
        while (p + 1 < out->n_phases && begin >= out->phases[p + 1].start_us)
            p++;
        const struct phase *ph = &out->phases[p];
        bool settled = is_base(ph) || ph->kind == PHASE_THROTTLE;
        bool within = begin >= ph->start_us + r->period && end <= ph->start_us + ph->duration_us.value - r->period;
        if (!settled || !within || r->spoilt[i] || !(freq[i] > 0) || !(ph->freq_ghz.value > 0))
            continue;
        double at = (end - o->begin) / (o->end - o->begin);
        if (at <= PART || at > 1 - PART)
            add_sample(&c, at > PART, (double)freq[i] / ph->freq_ghz.value, instant);
    }
    if (!c.n[0] || !c.n[1])
        return c.n[0] || c.n[1] ? part_of(&c, c.n[1] > 0, instant) : NAN;
    size_t fewer = c.n[0] < c.n[1] ? c.n[0] : c.n[1];
    *fewest = fewer < *fewest ? fewer : *fewest;
    double early = part_of(&c, false, instant), late = part_of(&c, true, instant);
    if ((early - 1) * (late - 1) <= 0)
        return 1;
    return fabs(early - 1) < fabs(late - 1) ? early : late;
}

/* Repetitions on one side of the majority. */
struct others {
    size_t n;
    double mean, least, most;
};

static struct others collect(const double *x, size_t n, double bound, bool slower)
{
    struct others a = {0, 0, INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++) {
        if (slower ? x[i] >= 1 - bound : x[i] <= 1 + bound)
            continue;
        a.mean += x[i];
        a.least = fmin(a.least, x[i]);
        a.most = fmax(a.most, x[i]);
        a.n++;
    }
    a.mean /= fmax(1, (double)a.n);
    return a;
}

/* The first phase's frequency stands for all in what is said. */
static double example_ghz(const struct phases *out)
{
    for (size_t p = 0; p < out->n_phases; p++)
        if (is_base(&out->phases[p]) && isfinite(out->phases[p].freq_ghz.value))
            return out->phases[p].freq_ghz.value;
    return NAN;
}

static int tell(struct phases *out, const struct others *a, size_t n, bool slower)
{
    double ghz = example_ghz(out);
    char range[80];
    if (a->most - a->least > ONE_VALUE)
        snprintf(range, sizeof range, "%.3f to %.3f times", a->least, a->most);
    else
        snprintf(range, sizeof range, "%.3f times", a->mean);
    return warn(out, "%zu of %zu repetitions ran at a %s frequency from beginning to end: %s that of the others, "
                "%.3f GHz instead of %.3f%s", a->n, n, slower ? "lower" : "higher", range, ghz * a->mean, ghz,
                (double)a->n > SHARE_HELD * (double)n ? "; the limits of frequencies hold both" : "");
}

/* The limits, moved by the factor of the others, are part of the new ones. */
static void hold(struct estimate *e, double factor)
{
    if (isnan(e->value))
        return;
    if (factor < 1)
        e->lo = isnan(e->lo) ? e->value * factor : e->lo - e->value * (1 - factor);
    else
        e->hi = isnan(e->hi) ? e->value * factor : e->hi + e->value * (factor - 1);
}

static void widen(struct phases *out, double factor)
{
    for (size_t p = 0; p < out->n_phases; p++) {
        hold(&out->phases[p].freq_ghz, factor);
        if (out->phases[p].kind == PHASE_RAMP) {
            hold(&out->phases[p].from_ghz, factor);
            hold(&out->phases[p].to_ghz, factor);
        }
    }
    for (size_t l = 0; out->levels && l < out->n_levels; l++)
        hold(&out->levels[l], factor);
}

int find_slow_runs(const struct runs *r, const struct outline *o, struct phases *out)
{
    for (size_t p = 0; p < out->n_phases; p++)
        out->phases[p].freq_half_ghz = 0.5 * (out->phases[p].freq_ghz.hi - out->phases[p].freq_ghz.lo);
    if (!r->has[TRACE_FREQ] || o->n_runs < RUNS_LEAST)
        return 0;
    double *x = malloc(2 * o->n_runs * sizeof *x);
    size_t n = 0, fewest = SIZE_MAX;
    if (!x)
        return -1;
    for (size_t k = 0; k < o->n_runs; k++) {
        double f = relative_frequency(r, o, k, out, &fewest);
        if (!isnan(f) && !phases_discarded(out, r->run[o->run[k]].number))
            x[n++] = f;
    }
    double bound = fmax(OTHER, OTHER_SIGMAS * mad_sigma(x, n, 1, x + o->n_runs));
    if (fewest < SIZE_MAX) /* those at 1 hide how much the others scatter */
        bound = fmax(bound, SAMPLE_SIGMAS * r->noise[TRACE_FREQ] / sqrt((double)fewest));
    int bad = 0;
    for (int slower = 1; slower >= 0 && !bad; slower--) {
        struct others a = collect(x, n, bound, slower);
        if (a.n < OTHERS_LEAST || (double)a.n < SHARE_TOLD * (double)n)
            continue;
        bad = tell(out, &a, n, slower);
        if ((double)a.n > SHARE_HELD * (double)n)
            widen(out, slower ? a.least : a.most);
    }
    free(x);
    return bad;
}
