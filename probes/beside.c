/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Brackets of slots in which the neighbors run something else: what a kernel loses beside them. */
#include "probes/beside.h"
#include "probes/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/brackets/brackets_limits.h"
#include "probes/brackets.h"
#include "probes/sequence.h"
#include "util/clock.h"
#include "util/splitmix64.h"

/* A neighbor comes to run steadily while the machine prepares itself, which it does in about so long. */
#define PREPARE_US 25e3
/* Of the samples that a slot should have. */
#define SAMPLES_LEAST 0.25

struct beside_rig {
    struct machine *m;
    const struct beside_setup *s;
    double *logs[2]; /* of each round: beside the neighbor, and the null */
    double seconds;
    unsigned slots;
};

void beside_defaults(struct beside_setup *s, const struct payload *kernel, const struct payload *neighbor)
{
    memset(s, 0, sizeof *s);
    s->machine.cpu = -1;
    s->kernel = *kernel;
    s->neighbor = *neighbor;
    s->before_us = s->observe_us = 5000;
    s->period_us = 20;
    s->least = 6;
    s->most = 100;
    s->seconds = 3;
    s->enough = 0.0025;
}

/* *ghz: NaN where the slot was disturbed. */
static int beside_slot(struct beside_rig *g, bool neighbor, double *ghz, struct machine_error *err)
{
    const struct beside_setup *s = g->s;
    const struct segment segments[] = {{s->kernel, s->before_us, false}, {s->kernel, s->observe_us, true}};
    struct machine_setup setup = s->machine;
    struct sequence sequence;
    struct sequence_run run;
    struct trace t;
    setup.period_us = s->period_us;
    setup.seed = splitmix64(s->machine.seed + g->slots++ * SPLITMIX64_STEP);
    if (neighbor)
        setup.corunner = s->neighbor;
    *ghz = NAN;
    int status = sequence_begin(&sequence, g->m, &setup, s->observe_us, err);
    if (status)
        return status;
    sequence.patient = sequence.tolerant = true;
    trace_init(&t);
    status = sequence_trace(&sequence, &t) ? machine_fail(err, MACHINE_FAILED, "", "out of memory")
                                           : sequence_record(&sequence, segments, 2, 1, &t, &run, err);
    sequence_end(&sequence);
    double *scratch = malloc((2 * t.n + 1) * sizeof *scratch);
    if (!status && !scratch)
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (!status && !run.invalid[0])
        *ghz = brackets_ghz(&t, 0, INFINITY, (size_t)(SAMPLES_LEAST * s->observe_us / s->period_us), scratch);
    free(scratch);
    trace_free(&t);
    g->seconds += 1e-6 * (PREPARE_US + s->before_us + s->observe_us);
    return status;
}

/* Two brackets that share a slot, in random order; *last: that slot, of this round and the next one. */
static int beside_round(struct beside_rig *g, unsigned round, double *last, struct machine_error *err)
{
    const size_t first = splitmix64(g->s->machine.seed + round) % 2;
    int status = MACHINE_OK;
    for (size_t i = 0; i < 2 && !status; i++) {
        const size_t which = i ? 1 - first : first;
        double middle, after;
        status = beside_slot(g, which == 0, &middle, err);
        if (!status)
            status = beside_slot(g, false, &after, err);
        if (status)
            return status;
        g->logs[which][round] = bracket_log(*last, middle, after);
        *last = after;
    }
    return status;
}

static int beside_rounds(struct beside_rig *g, struct beside_result *out, struct machine_error *err)
{
    const struct beside_setup *s = g->s;
    const double begun = clock_seconds(CLOCK_MONOTONIC);
    double last, *scratch = malloc(s->most * sizeof *scratch);
    int status = scratch ? beside_slot(g, false, &last, err) : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    const struct stop_rule rule = {s->least, s->most, s->seconds, s->enough};
    while (!status && out->rounds < s->most) {
        status = beside_round(g, out->rounds, &last, err);
        if (status)
            break;
        out->rounds++;
        out->ratio = brackets_ratio(g->logs[0], out->rounds, scratch);
        out->null = brackets_ratio(g->logs[1], out->rounds, scratch);
        const double ratio = estimate_half(&out->ratio), null = estimate_half(&out->null);
        out->seconds = machine_elapsed(g->m, begun, g->seconds);
        if ((s->progress && s->progress(s->data, out->rounds, s->most)) ||
            stop_here(&rule, out->rounds, out->seconds, ratio <= null ? null : ratio))
            break;
    }
    free(scratch);
    return status;
}

int beside_run(struct machine *m, const struct beside_setup *s, struct beside_result *out, struct machine_error *err)
{
    double *logs = calloc(2 * (size_t)s->most, sizeof *logs);
    struct beside_rig g = {.m = m, .s = s, .logs = {logs, logs ? logs + s->most : NULL}};
    *out = (struct beside_result){.ratio = {NAN, NAN, NAN}, .null = {NAN, NAN, NAN}};
    const int status = logs ? beside_rounds(&g, out, err) : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    free(logs);
    return status;
}
