/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Brackets A B A in random order: the ratio of two kernels' frequencies, free of drift. */
#include "probes/brackets.h"
#include "probes/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/brackets/brackets_limits.h"
#include "analysis/phases/repetitions/clock.h"
#include "analysis/phases/repetitions/steady.h"
#include "probes/sequence.h"
#include "util/splitmix64.h"

/* A recording, of as many brackets as fit: A B A C A ... */
#define RECORDING_US 100e3
/* Us that a machine runs at a time while code settles; the factor by which slots grow where they do not suffice. */
#define SETTLE_PIECE_US 5000.0
#define BEFORE_GROWS 4
#define SURELY 0.2 /* of what suffices: where A is slower now and then its upper limit is 1 */
#define BEFORE_MOST_US 40e3
#define SAMPLES_LEAST 0.25 /* of those that a slot has, or it says nothing */

struct bracket_rig {
    struct machine *m;
    struct brackets_setup own; /* of the caller's, with slots of the length that it takes */
    const struct brackets_setup *s;
    struct sequence sequence;
    size_t each; /* brackets of a recording, at most */
    struct trace trace;
    double *scratch;
    size_t room; /* of scratch, in samples */
    struct brackets_result *out;
    double after, n_after, alone; /* of this round: the sum of logarithms of A after others; how many; after A */
};

void brackets_defaults(struct brackets_setup *s, const struct payload *first, const struct payload *kernels, size_t n)
{
    memset(s, 0, sizeof *s);
    s->machine.cpu = -1;
    s->first = *first;
    s->kernels = kernels;
    s->n = n;
    s->settle_us = 20000;
    s->before_us = 2200;
    s->observe_us = 800;
    s->period_us = 20;
    s->least = s->most = 5;
}

static double slot_us(const struct brackets_setup *s)
{
    return s->before_us + s->observe_us;
}

static size_t brackets_each(const struct brackets_setup *s, double longest_us)
{
    const double most_us = longest_us > 0 ? fmin(longest_us, RECORDING_US) : RECORDING_US;
    const double fit = floor((most_us / slot_us(s) - 1) / 2), most = (SEQUENCE_SEGMENTS_MAX - 1) / 2;
    return (size_t)fmin(fmax(fit, 1), most);
}

double brackets_round_seconds(const struct brackets_setup *s)
{
    const size_t each = brackets_each(s, 0), recordings = (s->n + each - 1) / each;
    return 1e-6 * slot_us(s) * (double)(2 * s->n + recordings);
}

/* The longest recording that there may be, once slots have grown. */
static double brackets_longest_us(const struct brackets_setup *s, double longest_us)
{
    struct brackets_setup grown = *s;
    double most = 0;
    for (; grown.before_us <= BEFORE_MOST_US || grown.before_us == s->before_us; grown.before_us *= BEFORE_GROWS)
        most = fmax(most, slot_us(&grown) * (double)(2 * brackets_each(&grown, longest_us) + 1));
    return most;
}

/* ---- one recording ---- */

/* The samples that count of slot i: those that end within. */
static void slot_samples(const struct bracket_rig *g, size_t slot, double *from, double *to)
{
    *from = (double)slot * slot_us(g->s) + g->s->before_us;
    *to = *from + g->s->observe_us;
}

double brackets_ghz(const struct trace *t, double from_us, double to_us, size_t least, double *scratch)
{
    const struct clock_reading clock = clock_reading_of(t);
    size_t n = 0, samples = 0;
    for (size_t i = 0; i < t->n && t->channel[TRACE_FREQ]; i++) {
        if (!(t->time_us[i] > from_us && t->time_us[i] <= to_us))
            continue;
        samples++;
        if (isfinite(t->channel[TRACE_FREQ][i]))
            scratch[n++] = (double)t->channel[TRACE_FREQ][i];
    }
    return n > 0 && samples >= least ? clock_centre(&clock, TRACE_FREQ, scratch, n, scratch + n) : (double)NAN;
}

static double slot_ghz(const struct bracket_rig *g, size_t slot)
{
    double from, to;
    slot_samples(g, slot, &from, &to);
    const size_t least = (size_t)(SAMPLES_LEAST * g->s->observe_us / g->s->period_us);
    return brackets_ghz(&g->trace, from, to, least, g->scratch);
}

static int keep_samples(struct bracket_rig *g, size_t slot, struct trace *to_trace)
{
    const struct trace *t = &g->trace;
    double from, to;
    slot_samples(g, slot, &from, &to);
    size_t first = trace_first_after(t, 0, t->n, from), past = trace_first_after(t, first, t->n, to);
    float own = 1; /* by chains, IPC is reckoned with the clock of all slots together (trace/from_recording.h) */
    if (t->channel[TRACE_FREQ] && clock_reading_of(t).instant) {
        double all = clock_mean_of_chains(t, 0, t->n, g->scratch);
        double here = clock_mean_of_chains(t, first, past, g->scratch);
        own = all > 0 && here > 0 ? (float)(all / here) : 1;
    }
    for (size_t i = first; i < past; i++) {
        if (trace_append(to_trace, g->out->rounds, t->time_us[i] - from))
            return -1;
        for (int c = 0; c < TRACE_CHANNELS; c++)
            if (t->channel[c])
                to_trace->channel[c][to_trace->n - 1] = t->channel[c][i] * (c == TRACE_IPC ? own : 1);
    }
    return 0;
}

static bool is_null(const struct brackets_setup *s, size_t kernel)
{
    return strcmp(s->kernels[kernel].name, s->first.name) == 0;
}

static int brackets_read(struct bracket_rig *g, const size_t *kernels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double a1 = slot_ghz(g, 2 * i), b = slot_ghz(g, 2 * i + 1), a2 = slot_ghz(g, 2 * i + 2);
        g->out->logs[kernels[i] * g->out->most + g->out->rounds] = bracket_log(a1, b, a2);
        if (is_null(g->s, kernels[i])) {
            g->alone = log(a2);
        } else if (a2 > 0) {
            g->after += log(a2);
            g->n_after++;
        }
        if (keep_samples(g, 2 * i + 1, &g->out->seen[kernels[i]]))
            return -1;
    }
    return 0;
}

static int brackets_record(struct bracket_rig *g, const size_t *kernels, size_t n, struct machine_error *err)
{
    struct segment segments[SEQUENCE_SEGMENTS_MAX];
    struct sequence_run run;
    for (size_t i = 0; i < 2 * n + 1; i++)
        segments[i] = (struct segment){i % 2 ? g->s->kernels[kernels[i / 2]] : g->s->first, slot_us(g->s), true};
    g->trace.n = 0;
    int status = sequence_record(&g->sequence, segments, 2 * n + 1, 0, &g->trace, &run, err);
    if (status)
        return status;
    g->out->seconds += 1e-6 * (run.invalid[0] ? (double)(2 * n + 1) * slot_us(g->s) : g->trace.time_us[g->trace.n - 1]);
    if (run.invalid[0]) {
        if (!g->out->n_invalid++)
            snprintf(g->out->why, sizeof g->out->why, "%s", run.invalid);
        return MACHINE_OK;
    }
    if (g->trace.n > g->room) {
        double *more = realloc(g->scratch, 2 * g->trace.n * sizeof *more);
        if (!more)
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        g->scratch = more;
        g->room = g->trace.n;
    }
    return brackets_read(g, kernels, n) ? machine_fail(err, MACHINE_FAILED, "", "out of memory") : MACHINE_OK;
}

/* ---- rounds ---- */

static int brackets_round(struct bracket_rig *g, struct machine_error *err)
{
    size_t order[BRACKETS_KERNELS_MAX];
    int status = MACHINE_OK;
    splitmix64_order(order, g->s->n, splitmix64(g->s->machine.seed + g->out->rounds * SPLITMIX64_STEP));
    g->after = g->n_after = 0;
    g->alone = NAN;
    for (size_t i = 0; i < g->s->n; i++)
        g->out->logs[i * g->out->most + g->out->rounds] = NAN;
    for (size_t i = 0; i < g->s->n && !status; i += g->each)
        status = brackets_record(g, order + i, g->s->n - i < g->each ? g->s->n - i : g->each, err);
    g->out->carry[g->out->rounds++] = g->after / g->n_after - g->alone;
    return status;
}

static bool suffice(const struct brackets_setup *s, const struct brackets_result *r)
{
    const struct stop_rule rule = {s->least, s->most, s->seconds, s->enough};
    double widest = 0;
    for (size_t k = 0; k < s->n && r->rounds >= s->least; k++) {
        const struct estimate e = brackets_ratio_of(r, k);
        const double half = estimate_half(&e);
        widest = half <= widest ? widest : half; /* NaN is widest */
    }
    return stop_here(&rule, r->rounds, r->seconds, widest);
}

/* Returns true if A is slower right after another kernel: the level granted for that one outlasts the part of a slot
 * that is not counted. */
static bool brackets_carry(const struct bracket_rig *g)
{
    const struct estimate e = brackets_ratio(g->out->carry, g->out->rounds, g->out->scratch);
    return e.hi < 1 || (e.value < 1 - g->s->enough && e.hi < 1 + SURELY * g->s->enough);
}

/* Begins again with longer slots, where they do not suffice and a recording may last so long. */
static void lengthen(struct bracket_rig *g, double longest_us)
{
    const double before = BEFORE_GROWS * g->own.before_us;
    if (before > BEFORE_MOST_US || (longest_us > 0 && 3 * (before + g->own.observe_us) > longest_us) ||
        !brackets_carry(g))
        return;
    g->own.before_us = before;
    g->each = brackets_each(&g->own, longest_us);
    g->out->rounds = 0;
    for (size_t k = 0; k < g->own.n; k++)
        g->out->seen[k].n = 0;
}

static int settle(struct bracket_rig *g, struct machine_error *err)
{
    int status = MACHINE_OK;
    for (double left = g->s->settle_us; left > 0 && !status; left -= SETTLE_PIECE_US) {
        const struct segment segment = {g->s->first, fmin(left, SETTLE_PIECE_US), false};
        const struct run_request request = {.segments = &segment, .n_segments = 1};
        struct recording unused;
        status = g->m->ops->run(g->m, &request, &unused, err);
    }
    return status;
}

static int brackets_all(struct bracket_rig *g, struct machine_error *err)
{
    struct machine_info info;
    int bad = sequence_trace(&g->sequence, &g->trace);
    for (size_t k = 0; k < g->s->n; k++)
        bad |= sequence_trace(&g->sequence, &g->out->seen[k]);
    int status = bad ? machine_fail(err, MACHINE_FAILED, "", "out of memory") : settle(g, err);
    g->m->ops->info(g->m, &info);
    while (!status && !suffice(g->s, g->out)) {
        status = brackets_round(g, err);
        if (!status && g->out->rounds == g->s->least)
            lengthen(g, info.longest_us);
        if (g->s->progress && g->s->progress(g->s->data, g->out->rounds, g->s->most))
            break;
    }
    g->out->uncore_ghz = machine_uncore_ghz(g->m);
    g->m->ops->info(g->m, &info);
    for (size_t k = 0; k < g->s->n && !status; k++)
        if (repetitions_note_clock(&g->out->seen[k], &info) || steady_leave_out_slowed(&g->out->seen[k]))
            status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return status;
}

int brackets_run(struct machine *m, const struct brackets_setup *s, struct brackets_result *out,
                 struct machine_error *err)
{
    struct machine_info info;
    struct machine_setup setup = s->machine;
    memset(out, 0, sizeof *out);
    if (s->observe_us < s->period_us)
        return machine_fail(err, MACHINE_CANNOT, "use a longer --observe or a shorter --period",
                            "no sample fits: %g us are observed with a sampling period of %g us", s->observe_us,
                            s->period_us);
    m->ops->info(m, &info);
    struct bracket_rig g = {.m = m, .own = *s, .s = &g.own, .out = out, .each = brackets_each(s, info.longest_us)};
    *out = (struct brackets_result){.n = s->n, .most = s->most};
    out->logs = calloc(s->n * s->most, sizeof *out->logs);
    out->carry = calloc(s->most, sizeof *out->carry);
    out->scratch = calloc(s->most, sizeof *out->scratch);
    out->seen = calloc(s->n, sizeof *out->seen);
    if (!out->logs || !out->carry || !out->scratch || !out->seen) {
        brackets_free(out);
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    }
    for (size_t k = 0; k < s->n; k++)
        trace_init(&out->seen[k]);
    trace_init(&g.trace);
    setup.period_us = s->period_us;
    int status = sequence_begin(&g.sequence, m, &setup, brackets_longest_us(s, info.longest_us), err);
    if (!status) {
        g.sequence.patient = g.sequence.tolerant = true;
        status = brackets_all(&g, err);
        sequence_end(&g.sequence);
    }
    trace_free(&g.trace);
    free(g.scratch);
    if (status)
        brackets_free(out);
    return status;
}

void brackets_free(struct brackets_result *r)
{
    for (size_t k = 0; r->seen && k < r->n; k++)
        trace_free(&r->seen[k]);
    free(r->seen);
    free(r->logs);
    free(r->carry);
    free(r->scratch);
    memset(r, 0, sizeof *r);
}

struct estimate brackets_ratio_of(const struct brackets_result *r, size_t k)
{
    return brackets_ratio(r->logs + k * r->most, r->rounds, r->scratch);
}
