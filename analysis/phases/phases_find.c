/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a trace to its phases.
 *
 * Method. (1) Repetitions are split; samples that hold lost time are found by cycle accounting (runs.c). (2) Each
 * repetition, and the medians over all of them on a common time line, are cut where a channel steps (change_points.c:
 * moving sums at many scales, backward elimination, at six standard errors and a least size); what the repetitions
 * have in common is the segmentation (segmentation.c, consensus.c), and interrupted repetitions are left out by name;
 * those that ran at another frequency throughout tell no frequency of the others (slow_runs.c). (3) Every
 * repetition places its own edges, without bias, by integrals over a few samples, and halts by accounting
 * (segmentation.c).
 * (4) Pieces get kinds and levels (levels.c); means over repetitions get Student's 95 % limits, durations that come in
 * modes are described by modes (times.c); the voltage is added (volts.c).
 *
 * Assumptions: states are constant and edges sharp against the sample period; noise is symmetric; repetitions are
 * independent. Cost: O(samples) time and about 50 bytes a sample beside the trace.
 */
#include "analysis/phases/phases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "analysis/phases/findings.h"
#include "analysis/phases/joined.h"
#include "analysis/phases/repetitions/neighbour.h"
#include "analysis/phases/tail/tail.h"
#include "analysis/pooled/pooled.h"
#include "analysis/stats/robust.h"
#include "util/error.h"

#define POWER_95 1.645 /* Phi^-1(0.95): what is sought must exceed the threshold by so much to be found in 95 of 100 */

static char *copy_meta(const struct trace *t, const char *key)
{
    const char *value = trace_get(t, key);
    return value && *value ? strdup(value) : NULL;
}

static bool is_modelled(const struct trace *t)
{
    const char *value = trace_get(t, "modelled"), *machine = trace_get(t, "machine");
    return (value && strcmp(value, "no")) || (machine && !strncmp(machine, "model:", 6));
}

/* Time 0 is the switch of kernels where the recording says which. */
static double switch_of(const struct phases *p)
{
    return p->from && p->to ? 0 : NAN;
}

enum { LASTING = 20, SHORT = 5 }; /* samples: of a step of the frequency, of a throttle */
enum { SAMPLES_LEAST = 10 };      /* of fewer, nobody knows what they scatter by */
enum { NULLS_LEAST = 3 };         /* repetitions */
#define NULL_SLACK_US 1.0         /* what begins so soon begins with the switch */

static size_t longest_run(const struct runs *r)
{
    size_t longest = 0;
    for (size_t k = 0; k < r->n; k++)
        longest = r->run[k].n > longest ? r->run[k].n : longest;
    return longest;
}

/*
 * What would have been found with 95 % power: a step of the frequency, throttling, a halt. From the noise of one sample
 * and the number of repetitions. Nothing that the recording is too short for.
 */
static void phases_find_limits(const struct runs *r, struct phases *out)
{
    double runs = fmax(1, (double)out->runs_used), median = out->runs_used > 1 ? ROBUST_MEDIAN_ERROR : 1;
    const struct change_rule *freq = segmentation_rule(TRACE_FREQ), *ipc = segmentation_rule(TRACE_IPC);
    double z = (freq->min_z + POWER_95) * median / sqrt(runs);
    size_t longest = longest_run(r); /* has room for what is sought, and for what it stands out from? */
    if (r->has[TRACE_FREQ] && longest >= 2 * LASTING) {
        out->detectable_freq = fmax(freq->min_effect, z * r->noise[TRACE_FREQ] * sqrt(2.0 / LASTING));
        out->detectable_freq_us = LASTING * r->period;
    }
    if (r->has[TRACE_IPC] && longest >= SHORT + LASTING) {
        out->detectable_throttle = exp(
            -fmax(ipc->min_effect, z * r->noise[TRACE_IPC] * sqrt(1.0 / SHORT + 1.0 / LASTING)));
        out->detectable_throttle_us = SHORT * r->period;
    }
    if (r->has[TRACE_FREQ] || r->has[TRACE_IPC])
        out->detectable_halt_us = r->period * fmax(1.5, 0.5 + (6 + POWER_95) * r->noise[TRACE_FREQ]);
}

#define FLOATS 0.02 /* relative: samples so near to the frequency are at it, beyond what readings scatter by */

/*
 * A frequency that most samples of a single recording are not at describes none of them: the clock floats. Its limits
 * then hold the middle 80 % of the samples. 0, or -1: out of memory.
 */
static int doubt_floating(const struct runs *r, struct segmentation *o, struct phases *out)
{
    const struct run_span *run = r->run;
    const float *freq = r->trace->channel[TRACE_FREQ];
    if (r->n != 1 || !r->has[TRACE_FREQ] || r->clock.instant)
        return 0;
    double *x = malloc(run->n * sizeof *x);
    for (size_t k = 0; x && k < out->n_phases; k++) {
        struct phase *ph = &out->phases[k];
        const double near = FLOATS + 3 * clock_noise(&r->clock), end = ph->start_us + ph->duration_us.value;
        size_t n = 0, at = 0;
        for (size_t i = trace_first_after(r->trace, run->first, run->first + run->n, ph->start_us);
             i < run->first + run->n && r->trace->time_us[i] <= end + 0.5 * r->period; i++)
            if (freq[i] > 0 && !r->invalid[i]) {
                x[n++] = (double)freq[i];
                at += fabs((double)freq[i] / ph->freq_ghz.value - 1) < near;
            }
        if (!phases_is_steady(ph) || !n || 2 * at >= n)
            continue;
        gsl_sort(x, 1, n);
        ph->kind = PHASE_UNKNOWN;
        o->piece[k].spread_ghz = fmax(ph->freq_ghz.value - x[n / 10], x[n - 1 - n / 10] - ph->freq_ghz.value);
        snprintf(ph->why, sizeof ph->why, "the frequency floats: hardly any sample is at a steady one");
    }
    free(x);
    return x ? 0 : -1;
}

static int find_uniform(const struct trace *t, struct phases *out, char *why, size_t why_size);

static int no_runs(const struct trace *t, struct phases *out, char *why, size_t size)
{
    struct trace volts;
    if (!t->channel[TRACE_VOLTS])
        return error_line(why, size, "the trace has no measured values");
    int bad = volts_gather(t, &volts) ? PHASES_NO_MEMORY : 0;
    if (!bad && volts.n < 3) {
        snprintf(why, size, "the trace has only %zu voltage readings and no other values: too few to analyze", volts.n);
        bad = -1;
    } else if (!bad) {
        bad = find_uniform(&volts, out, why, size);
        out->runs = out->runs_used = trace_count_runs(t);
    }
    trace_free(&volts);
    return bad;
}

static void phases_describe(const struct trace *t, struct phases *out)
{
    free(out->from); /* set already where the trace is scattered readings gathered */
    free(out->to);
    free(out->environment);
    out->cpu = copy_meta(t, "cpu");
    out->machine = copy_meta(t, "machine");
    out->from = copy_meta(t, "from");
    out->to = copy_meta(t, "to");
    out->environment = copy_meta(t, "environment");
    out->modelled = is_modelled(t);
    if (!trace_samples_discarded(trace_get(t, trace_discarded_key), &out->samples_discarded, &out->samples)) {
        out->samples_discarded = 0;
        out->samples = t->n;
    }
    out->detectable_freq = out->detectable_throttle = out->detectable_halt_us = NAN;
    out->detectable_freq_us = out->detectable_throttle_us = out->null_lost_us = NAN;
    out->null_cold_us = 0;
}

/* Where cycles are counted, looks for another thread on the core; where there is one, the repetitions are prepared
 * again without what it disturbed. *masked: the trace that they then refer to. */
static int leave_out_neighbour(const struct trace *t, struct runs *r, struct trace *masked, struct neighbour *n,
                               struct phases *out)
{
    if (r->clock.instant)
        return 0;
    if (neighbour_find(r, switch_of(out), n) || neighbour_warn(n, r, out))
        return -1;
    if (!n->ipc)
        return 0;
    *masked = *t;
    masked->channel[TRACE_IPC] = n->ipc;
    runs_free(r);
    int bad = runs_prepare(masked, r);
    r->disturbed = out->disturbed = true;
    return bad;
}

/* Of samples that are all alike. */
static int find_uniform(const struct trace *t, struct phases *out, char *why, size_t why_size)
{
    struct trace masked;
    struct neighbour neighbour = {0};
    struct runs r;
    struct segmentation segmentation = {0};
    memset(out, 0, sizeof *out);
    snprintf(why, why_size, "out of memory");
    int bad = runs_prepare(t, &r);
    if (!bad && !r.n) {
        runs_free(&r);
        bad = no_runs(t, out, why, why_size);
        if (bad)
            phases_free(out);
        else
            phases_describe(t, out);
        return bad;
    }
    if (!bad && t->n < SAMPLES_LEAST) {
        runs_free(&r);
        snprintf(why, why_size, "the trace has only %zu sample%s: too few to analyze; %d would do", t->n,
                 t->n == 1 ? "" : "s", SAMPLES_LEAST);
        return -1;
    }
    phases_describe(t, out);
    out->runs = r.n;
    bad = bad || leave_out_neighbour(t, &r, &masked, &neighbour, out) ||
          consensus_find(&r, switch_of(out), &segmentation, out);
    out->runs_used = r.n - out->n_discarded;
    bad = bad || levels_find_kinds(&segmentation, out);
    neighbour_withdraw(&neighbour, out);
    bool again = true;
    bad = bad || times_find(&r, &segmentation, out) || slow_runs_mark(&r, &segmentation, out, &again);
    bad = bad || doubt_floating(&r, &segmentation, out);
    for (again = true; again && !bad;)
        bad = times_find(&r, &segmentation, out) || levels_find(&segmentation, out, &again);
    if (!bad) {
        levels_hold(&segmentation, out);
        phases_find_limits(&r, out);
    }
    bad = bad || ramps_find(&r, &segmentation, out) || slow_runs_find(&r, &segmentation, out) ||
          times_transitions(&r, &segmentation, out) || volts_find(t, out);
    if (!bad)
        phases_leave_out_timeless(out);
    segmentation_free(&segmentation);
    runs_free(&r);
    neighbour_free(&neighbour);
    if (bad)
        phases_free(out);
    else
        *why = '\0';
    return bad ? PHASES_NO_MEMORY : 0;
}

/* Of many short repetitions of one switch, pooled. 1: they are too few. */
static int find_pooled(const struct trace *t, const struct trace *null, struct phases *out)
{
    memset(out, 0, sizeof *out);
    phases_describe(t, out);
    int bad = pooled_find(t, null, out);
    if (!bad)
        bad = volts_find(t, out);
    if (!bad)
        phases_leave_out_timeless(out);
    if (bad)
        phases_free(out);
    return bad < 0 ? PHASES_NO_MEMORY : bad;
}

/* ---- what a switch of code does ---- */

/* Rates of the first kernel and its copy, analyzed like the switch itself. */
struct null_shows {
    double cold_us; /* from the switch on they are slow for so long; 0: they are not */
    bool moves;     /* they change later on, too, as no switch of code makes them */
};

/* By the null, or without one as the trace tells it. 0, or -1: out of memory. */
static int null_look(const struct trace *t, const struct trace *null, struct null_shows *out)
{
    const double noted = trace_number(t, "null_cold_us");
    char why[200];
    struct phases p;
    *out = (struct null_shows){!null && noted > 0 ? noted : 0, false};
    if (!null || trace_count_runs(null) < NULLS_LEAST)
        return 0;
    int found = find_uniform(null, &p, why, sizeof why);
    if (found)
        return found == PHASES_NO_MEMORY ? -1 : 0;
    for (size_t i = 0; i < p.n_phases; i++) {
        const struct phase *ph = &p.phases[i];
        if (ph->start_us + ph->duration_us.value / 2 < 0 || !(ph->ipc_ratio < 1))
            continue;
        out->moves |= ph->start_us > out->cold_us + NULL_SLACK_US;
        if (!out->moves)
            out->cold_us = ph->start_us + fmax(ph->duration_us.value, ph->duration_us.hi);
    }
    phases_free(&p);
    return 0;
}

/* *warm: the trace without the rates of the samples that hold cold code. 0, or -1: out of memory. */
static int null_leave_out(const struct trace *t, const struct null_shows *s, struct trace *warm)
{
    *warm = *t;
    if (!(s->cold_us > 0) || !t->channel[TRACE_IPC])
        return 0;
    float *ipc = warm->channel[TRACE_IPC] = malloc((t->n + 1) * sizeof *ipc);
    if (!ipc)
        return -1;
    memcpy(ipc, t->channel[TRACE_IPC], t->n * sizeof *ipc);
    for (size_t i = 1; i < t->n; i++)
        if (t->time_us[i] > 0 && t->time_us[i - 1] < s->cold_us)
            ipc[i] = NAN;
    return 0;
}

/* Throttling may have begun until the code was warm; what the null shows, too, is none. 0, or -1: out of memory. */
static int null_answer(const struct null_shows *s, struct phases *out)
{
    bool late = false;
    out->null_cold_us = s->cold_us;
    out->n_transitions = s->moves ? 0 : out->n_transitions;
    out->detectable_throttle_us += s->cold_us;
    for (size_t i = 0; i < out->n_phases; i++) {
        struct phase *ph = &out->phases[i];
        if (ph->kind != PHASE_THROTTLE && !phases_rate_ramps(ph))
            continue;
        if (s->moves) {
            ph->kind = PHASE_UNKNOWN;
            snprintf(ph->why, sizeof ph->why,
                     "a switch of code alone changes rates, too: another thread keeps step with the repetitions");
        } else if (s->cold_us > 0 && ph->start_us < s->cold_us && !phases_counts_throttled(ph)) {
            ph->duration_us.lo = fmax(0, ph->duration_us.lo - s->cold_us);
            late = true;
        }
    }
    return late ? phases_warn(out,
                              "a switch of code alone slows the kernel for %.1f us (cold code), whose rates are not "
                              "used: throttling at the switch may have begun that much later",
                              s->cold_us)
                : 0;
}

/* Of samples that are all alike, or of fine ones at the switch and coarser ones after. */
static int find_counted(const struct trace *t, struct phases *out, char *why, size_t why_size)
{
    double fine_us = tail_begins(t);
    struct trace fine;
    struct tail tail;
    if (isnan(fine_us)) {
        int found = find_uniform(t, out, why, why_size);
        if (found || !tail_uniform_find(t, out))
            return found;
        snprintf(why, why_size, "out of memory");
        phases_free(out);
        return PHASES_NO_MEMORY;
    }
    snprintf(why, why_size, "out of memory");
    if (tail_fine_part(t, fine_us, &fine)) {
        memset(out, 0, sizeof *out);
        return PHASES_NO_MEMORY;
    }
    int status = find_uniform(&fine, out, why, why_size);
    joined_part_free(&fine);
    if (status)
        return status;
    if (!out->samples_discarded)
        out->samples = t->n;
    bool bad = tail_find(t, out, &tail);
    tail_doubt_rates(t, out);
    if (bad || tail_join(&tail, out)) {
        snprintf(why, why_size, "out of memory");
        phases_free(out);
        return PHASES_NO_MEMORY;
    }
    return 0;
}

int phases_find(const struct trace *t, struct phases *out, char *why, size_t why_size)
{
    return phases_find_beside(t, NULL, out, why, why_size);
}

/* Where cycles are counted: the switch is held against its null. 0, or -1: out of memory; else as find_counted(). */
static int find_beside_null(const struct trace *t, const struct trace *null, struct phases *out, char *why,
                            size_t why_size)
{
    struct null_shows shows;
    struct trace warm;
    if (null_look(t, null, &shows) || null_leave_out(t, &shows, &warm))
        return PHASES_NO_MEMORY;
    int found = find_counted(&warm, out, why, why_size);
    if (warm.channel[TRACE_IPC] != t->channel[TRACE_IPC])
        free(warm.channel[TRACE_IPC]);
    if (found || !null_answer(&shows, out))
        return found;
    phases_free(out);
    return PHASES_NO_MEMORY;
}

int phases_find_beside(const struct trace *t, const struct trace *null, struct phases *out, char *why, size_t why_size)
{
    if (pooled_suits(t)) {
        int found = find_pooled(t, null, out);
        snprintf(why, why_size, "%s", found ? "out of memory" : "");
        if (found <= 0)
            return found;
    }
    const struct trace named = joined_described_by(null, t);
    struct joined joined, joined_null = {.own = false};
    int found = PHASES_NO_MEMORY;
    memset(out, 0, sizeof *out);
    if (!joined_samples(t, &joined) && (!null || !joined_samples(&named, &joined_null)))
        found = find_beside_null(&joined.trace, null ? &joined_null.trace : NULL, out, why, why_size);
    if (found == PHASES_NO_MEMORY)
        snprintf(why, why_size, "out of memory");
    if (!found && joined.own && !out->samples_discarded)
        out->samples = t->n;
    joined_free(&joined);
    joined_free(&joined_null);
    return found;
}
