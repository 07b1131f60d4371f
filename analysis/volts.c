/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The core voltage. Reading it disturbs, so recordings hold one reading a repetition at scattered times (Skylake-SP
 * dissertation, section 3.2.2): all readings in order of time make one recording, steps are found in it, and the
 * running median of 21 neighbours tells where a step begins and ends.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_movstat.h>

#include "analysis/findings.h"
#include "analysis/robust.h"
#include "analysis/segment.h"

enum { NEIGHBOURS = 21 };
#define STEP_V 0.0015     /* smaller steps are left alone: 12 units of the register */
#define STEP_Z 6.0
#define RAMP_US 40.0      /* steps the same way closer than this are one ramp */
#define MIXED_US 10.0     /* so near a step readings of repetitions before and after it mix: steps back are not real */
#define NEAR_EDGE_US 5.0  /* a step so near an edge of a phase belongs to that edge */

struct reading {
    double time_us;
    float volts;
};

static int by_time(const void *a, const void *b)
{
    const struct reading *x = a, *y = b;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    return x->volts < y->volts ? -1 : x->volts > y->volts;
}

int gather_volts(const struct trace *t, struct trace *out)
{
    trace_init(out);
    const float *volts = t->channel[TRACE_VOLTS];
    size_t n = 0;
    struct reading *reading = malloc((t->n + 1) * sizeof *reading);
    int bad = !reading || trace_add_channel(out, TRACE_VOLTS);
    for (size_t i = 0; volts && i < t->n && !bad; i++)
        if (!isnan(volts[i]))
            reading[n++] = (struct reading){t->time_us[i], volts[i]};
    if (n)
        qsort(reading, n, sizeof *reading, by_time);
    for (size_t i = 0; i < n && !bad; i++) {
        bad = trace_append(out, 0, reading[i].time_us);
        if (!bad)
            out->channel[TRACE_VOLTS][i] = reading[i].volts;
    }
    free(reading);
    return bad ? -1 : 0;
}

/* The running median; NULL: out of memory. */
static double *smooth(const struct trace *v, double sigma)
{
    /* readings that hardly scatter need no median, which would blur where a step begins */
    size_t width = sigma < STEP_V / 8 ? 1 : v->n >= 3 * NEIGHBOURS ? NEIGHBOURS : (v->n / 6) | 1;
    gsl_vector *x = gsl_vector_alloc(v->n), *y = gsl_vector_alloc(v->n);
    gsl_movstat_workspace *w = gsl_movstat_alloc(width);
    double *out = malloc(v->n * sizeof *out);
    if (x && y && w && out) {
        for (size_t i = 0; i < v->n; i++)
            gsl_vector_set(x, i, (double)v->channel[TRACE_VOLTS][i]);
        gsl_movstat_median(GSL_MOVSTAT_END_TRUNCATE, x, y, w);
        for (size_t i = 0; i < v->n; i++)
            out[i] = gsl_vector_get(y, i);
    } else {
        free(out);
        out = NULL;
    }
    gsl_vector_free(x);
    gsl_vector_free(y);
    gsl_movstat_free(w);
    return out;
}

static double plateau(const double *volts, size_t a, size_t b, double *scratch)
{
    memcpy(scratch, volts + a, (b - a) * sizeof *scratch);
    return median_of(scratch, b - a);
}

static int add_step(struct phases *out, struct volt_step s)
{
    struct volt_step *bigger = realloc(out->volt_steps, (out->n_volt_steps + 1) * sizeof *bigger);
    if (!bigger)
        return -1;
    out->volt_steps = bigger;
    out->volt_steps[out->n_volt_steps++] = s;
    return 0;
}

/* The cuts first..last are one ramp between the plateaus from..cut and cut..to. */
static int describe_step(const struct trace *v, const double *volts, size_t from, size_t first, size_t last, size_t to,
                         double *scratch, struct phases *out)
{
    double low = plateau(volts, from, first, scratch), high = plateau(volts, last, to, scratch), step = high - low;
    size_t begin = first, end = last ? last : 1;
    if (fabs(step) < STEP_V)
        return 0;
    while (begin > from && (volts[begin - 1] - low) / step > 0.1)
        begin--;
    while (begin < last && (volts[begin] - low) / step <= 0.1)
        begin++;
    while (end < to - 1 && (volts[end] - low) / step < 0.9)
        end++;
    while (end > begin && (volts[end - 1] - low) / step >= 0.9)
        end--;
    return add_step(out, (struct volt_step){v->time_us[begin], v->time_us[end], low, high, to - from});
}

static int find_steps(const struct trace *v, struct phases *out)
{
    const struct segment_rule rule = {false, STEP_V, STEP_Z, 3};
    struct cut *cut = NULL;
    double sigma;
    size_t n = segment_channel(v->channel[TRACE_VOLTS], NULL, 0, v->n, &rule, &cut, &sigma);
    if (n == SIZE_MAX)
        return -1;
    double *volts = n ? smooth(v, sigma) : NULL, *scratch = n ? malloc(v->n * sizeof *scratch) : NULL;
    int bad = n && (!volts || !scratch);
    for (size_t i = 0, from = 0; i < n && !bad; i++) {
        size_t j = i;
        while (j + 1 < n && v->time_us[cut[j + 1].at] - v->time_us[cut[j].at] <
                                (cut[j].effect * cut[j + 1].effect > 0 ? RAMP_US : MIXED_US))
            j++;
        bad = describe_step(v, volts, from, cut[i].at, cut[j].at, j + 1 < n ? cut[j + 1].at : v->n, scratch, out);
        from = cut[j].at;
        i = j;
    }
    free(volts);
    free(scratch);
    free(cut);
    return bad ? -1 : 0;
}

/* Where steps of the voltage fall into a phase that is steady otherwise, the phase is two. */
static int split_phases(struct phases *out)
{
    for (size_t i = 0; i < out->n_volt_steps; i++) {
        double at = 0.5 * (out->volt_steps[i].begin_us + out->volt_steps[i].end_us);
        for (size_t p = 0; p < out->n_phases; p++) {
            struct phase *ph = &out->phases[p];
            double end = ph->start_us + ph->duration_us.value;
            if ((ph->kind != PHASE_STEADY && ph->kind != PHASE_SLOW) || at < ph->start_us + NEAR_EDGE_US ||
                at > end - NEAR_EDGE_US)
                continue;
            struct phase *bigger = realloc(out->phases, (out->n_phases + 1) * sizeof *bigger);
            if (!bigger)
                return -1;
            out->phases = bigger;
            memmove(&bigger[p + 1], &bigger[p], (out->n_phases - p) * sizeof *bigger);
            out->n_phases++;
            bigger[p].kind = PHASE_STEADY; /* the frequency does not rise at its end */
            bigger[p].n_modes = 0;
            bigger[p].duration_us = (struct estimate){at - bigger[p].start_us, NAN, NAN};
            bigger[p + 1].start_us = at;
            bigger[p + 1].duration_us = (struct estimate){end - at, NAN, NAN};
            break;
        }
    }
    return 0;
}

int find_volts(const struct trace *t, struct phases *out)
{
    struct trace v;
    if (!t->channel[TRACE_VOLTS])
        return 0;
    int bad = gather_volts(t, &v);
    if (!bad && v.n >= 12)
        bad = find_steps(&v, out) || split_phases(out);
    double *scratch = malloc((v.n + 1) * sizeof *scratch);
    bad |= !scratch;
    for (size_t p = 0, i = 0; p < out->n_phases && !bad; p++) {
        size_t m = 0;
        while (i < v.n && v.time_us[i] < out->phases[p].start_us)
            i++;
        for (size_t k = i; k < v.n && v.time_us[k] <= out->phases[p].start_us + out->phases[p].duration_us.value; k++)
            scratch[m++] = (double)v.channel[TRACE_VOLTS][k];
        out->phases[p].volts = m ? median_of(scratch, m) : NAN;
    }
    free(scratch);
    trace_free(&v);
    return bad ? -1 : 0;
}
