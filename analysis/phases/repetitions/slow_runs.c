/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repetitions that ran at another frequency than most, from their beginning to their end: power limits and other
 * tenants of the processor do that. The figures are those of the majority; how many differed, and by how much, is a
 * warning, and where it is more than one in twenty the limits of the frequencies hold both.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/phases/findings.h"
#include "analysis/phases/repetitions/slow_runs.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

/* Standard deviations (MAD) beyond which a repetition is none of the others; the share of them that is reported. */
#define OTHER_SIGMAS 6.0
#define SHARE_TOLD 0.03
#define SHARE_HELD 0.05 /* more than that is within what 95 % limits must hold */
#define ONE_VALUE 0.01  /* relative: others that spread by more are reported as a range */

/* Repetitions on one side of the majority. */
struct others {
    size_t n;
    double mean, least, most;
};

static struct others other_clocks_collect(const double *x, size_t n, double bound, bool slower)
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
        if (phases_is_steady(&out->phases[p]) && isfinite(out->phases[p].freq_ghz.value))
            return out->phases[p].freq_ghz.value;
    return NAN;
}

static int tell_side(struct phases *out, const struct others *a, size_t n, bool slower)
{
    double ghz = example_ghz(out);
    char range[80];
    if (a->most - a->least > ONE_VALUE)
        snprintf(range, sizeof range, "%.3f to %.3f times", a->least, a->most);
    else
        snprintf(range, sizeof range, "%.3f times", a->mean);
    return phases_warn(out,
                       "%zu of %zu repetitions ran at a %s frequency from beginning to end: %s that of the others, "
                       "%.3f GHz instead of %.3f%s",
                       a->n, n, slower ? "lower" : "higher", range, ghz * a->mean, ghz,
                       (double)a->n > SHARE_HELD * (double)n ? "; the frequency limits cover both" : "");
}

/* The limits, moved by the factor of the others, are part of the new ones. */
static void hold(struct estimate *e, double factor)
{
    if (isnan(e->value))
        return;
    if (factor < 1)
        e->lo = fmax(0, isnan(e->lo) ? e->value * factor : e->lo - e->value * (1 - factor));
    else
        e->hi = isnan(e->hi) ? e->value * factor : e->hi + e->value * (factor - 1);
}

static void other_clocks_widen(struct phases *out, double factor)
{
    for (size_t p = 0; p < out->n_phases; p++) {
        hold(&out->phases[p].freq_ghz, factor);
        if (out->phases[p].tau_us.value > 0) {
            hold(&out->phases[p].from_ghz, factor);
            hold(&out->phases[p].to_ghz, factor);
        }
    }
    for (size_t l = 0; out->levels && l < out->n_levels; l++)
        hold(&out->levels[l], factor);
}

double slow_runs_bound(const double *relative, size_t n, double least, double *scratch)
{
    return fmax(least, OTHER_SIGMAS * order_mad_sigma(relative, n, 1, scratch));
}

int slow_runs_report(struct phases *out, const double *relative, size_t n, double bound)
{
    for (int slower = 1; slower >= 0; slower--) {
        struct others a = other_clocks_collect(relative, n, bound, slower);
        if (a.n < OTHER_CLOCKS_LEAST || (double)a.n < SHARE_TOLD * (double)n)
            continue;
        if (tell_side(out, &a, n, slower))
            return -1;
        if ((double)a.n > SHARE_HELD * (double)n)
            other_clocks_widen(out, slower ? a.least : a.most);
    }
    return 0;
}

/* Standard errors of a mean of samples that are noise. */
#define SAMPLE_SIGMAS 4.0
#define PART 0.25 /* of the recording: its beginning, and its end */

enum part { EARLY, LATE, BETWEEN, PARTS };

/* Means of the frequency relative to the phases', of the parts of a recording. */
struct course {
    double sum[PARTS];
    size_t n[PARTS];
};

static double part_of(const struct course *c, enum part part)
{
    return c->sum[part] / (double)c->n[part];
}

/* Of all parts together; NaN without samples. */
static double mean_of(const struct course *c)
{
    return (c->sum[EARLY] + c->sum[LATE] + c->sum[BETWEEN]) / (double)(c->n[EARLY] + c->n[LATE] + c->n[BETWEEN]);
}

/* Whether a sample lies within the phase, and within the piece of repetition k that the phase is. */
static bool lies_within(const struct runs *r, const struct segmentation *o, size_t p, size_t k, const struct phase *ph,
                        double begin, double end)
{
    double own_begin = segmentation_begin_in(o, p, k), own_end = segmentation_end_in(o, p, k);
    double from = fmax(ph->start_us, isnan(own_begin) ? ph->start_us : own_begin);
    double to = ph->start_us + ph->duration_us.value;
    to = fmin(to, isnan(own_end) ? to : own_end);
    return begin >= from + r->period && end <= to - r->period;
}

/* How repetition k goes, in steady and throttled phases. */
static struct course course_of(const struct runs *r, const struct segmentation *o, size_t k, const struct phases *out)
{
    const float *freq = r->trace->channel[TRACE_FREQ];
    const struct run_span *s = &r->run[o->run[k]];
    struct course c = {{0}, {0}};
    size_t p = 0;
    for (size_t i = s->first; i < s->first + s->n; i++) {
        double end = r->trace->time_us[i], begin = end - (double)r->dt[i];
        while (p + 1 < out->n_phases && begin >= out->phases[p + 1].start_us)
            p++;
        const struct phase *ph = &out->phases[p];
        bool settled = phases_is_steady(ph) || ph->kind == PHASE_THROTTLE;
        bool read = !r->invalid[i] && freq[i] > 0 && ph->freq_ghz.value > 0;
        if (!settled || !read || !lies_within(r, o, p, k, ph, begin, end))
            continue;
        double at = (end - o->begin) / (o->end - o->begin);
        enum part part = at <= PART ? EARLY : at > 1 - PART ? LATE : BETWEEN;
        c.sum[part] += (double)freq[i] / ph->freq_ghz.value;
        c.n[part]++;
    }
    return c;
}

/*
 * Frequency of a repetition, relative to the phases', from beginning to end, so that of its first and its last part the
 * one nearer to the phases' counts, and 1 where they lie on either side. A repetition whose higher frequency comes back
 * sooner than that of others is none of these.
 */
static double relative_frequency(const struct runs *r, const struct segmentation *o, size_t k, const struct phases *out,
                                 size_t *fewest)
{
    const struct course c = course_of(r, o, k, out);
    if (!c.n[EARLY] || !c.n[LATE])
        return c.n[EARLY] || c.n[LATE] ? part_of(&c, c.n[LATE] ? LATE : EARLY) : NAN;
    size_t fewer = c.n[EARLY] < c.n[LATE] ? c.n[EARLY] : c.n[LATE];
    *fewest = fewer < *fewest ? fewer : *fewest;
    double early = part_of(&c, EARLY), late = part_of(&c, LATE);
    if ((early - 1) * (late - 1) <= 0)
        return 1;
    return fabs(early - 1) < fabs(late - 1) ? early : late;
}

/* ---- two kinds of repetitions ---- */

/* The ratio of those that are marked to those that are not, in one part of the recordings: of medians, since waits of
 * two lengths make other values of a few. scratch: of n. */
static double ratio_in(const struct course *c, const bool *other, size_t n, enum part part, double *scratch)
{
    double middle[2];
    for (int kind = 0; kind < 2; kind++) {
        size_t m = 0;
        for (size_t k = 0; k < n; k++)
            if (other[k] == (kind == 1))
                scratch[m++] = part_of(&c[k], part);
        middle[kind] = order_median(scratch, m);
    }
    return middle[1] / middle[0];
}

/* Cuts the repetitions in two by x, of 2 n values, if these are two kinds that differ alike in both parts of the
 * recordings. */
static bool cut_in_two(const struct course *c, double *x, size_t n, bool *other)
{
    struct value_mode mode[2];
    if (robust_two_modes(x, n, CLOCK_STEP_LEAST, OTHER_CLOCKS_LEAST, mode) < 2)
        return false;
    for (size_t k = 0; k < n; k++)
        other[k] = !(x[k] >= mode[0].lo && x[k] <= mode[0].hi);
    double all = log(mode[1].mean / mode[0].mean);
    for (enum part part = EARLY; part <= LATE; part++) {
        double own = log(ratio_in(c, other, n, part, x + n));
        if (!clock_same_factor(all, own))
            return false;
    }
    return true;
}

int slow_runs_mark(const struct runs *r, struct segmentation *o, const struct phases *out, bool *marked)
{
    *marked = false;
    if (!r->has[TRACE_FREQ] || o->n_runs < OTHER_CLOCKS_RUNS_LEAST)
        return 0;
    struct course *c = malloc(o->n_runs * sizeof *c);
    double *x = malloc(2 * o->n_runs * sizeof *x);
    bool *other = calloc(o->n_runs, sizeof *other);
    int bad = !c || !x || !other ? -1 : 0;
    for (int early = 0; early < 2 && !bad && !*marked; early++) { /* late, waits of two lengths may hide it */
        for (size_t k = 0; k < o->n_runs; k++) {
            c[k] = course_of(r, o, k, out);
            x[k] = early ? part_of(&c[k], EARLY) : mean_of(&c[k]);
        }
        *marked = cut_in_two(c, x, o->n_runs, other);
    }
    if (*marked) {
        free(o->other_ghz);
        o->other_ghz = other;
    } else {
        free(other);
    }
    free(c);
    free(x);
    return bad;
}

/* Half of the difference between the two kinds of repetitions, relative to the phases' frequencies. */
static double half_way(const struct runs *r, const struct segmentation *o, const struct phases *out)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < o->n_runs; k++) {
        const struct course c = course_of(r, o, k, out);
        double x = mean_of(&c);
        if (o->other_ghz[k] && !isnan(x)) {
            sum += x - 1;
            n++;
        }
    }
    return n ? 0.5 * fabs(sum / (double)n) : CLOCK_STEP_LEAST;
}

int slow_runs_find(const struct runs *r, const struct segmentation *o, struct phases *out)
{
    for (size_t p = 0; p < out->n_phases; p++)
        out->phases[p].freq_half_ghz = estimate_half(&out->phases[p].freq_ghz);
    if (!r->has[TRACE_FREQ] || o->n_runs < OTHER_CLOCKS_RUNS_LEAST)
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
    double bound = slow_runs_bound(x, n, CLOCK_STEP_LEAST, x + o->n_runs);
    if (o->other_ghz)
        bound = half_way(r, o, out);
    else if (fewest < SIZE_MAX) /* those at 1 hide how much the others scatter */
        bound = fmax(bound, SAMPLE_SIGMAS * r->noise[TRACE_FREQ] / sqrt((double)fewest));
    int bad = slow_runs_report(out, x, n, bound);
    free(x);
    return bad;
}
