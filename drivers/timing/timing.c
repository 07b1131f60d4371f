/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timing machine: real hardware by time stamps alone. It needs no counters, no root and no driver. The core's
 * frequency comes from a dependent chain of adds (one a cycle) between two TSC reads after one sample in four; the
 * payload is counted in blocks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/native/native.h"
#include "drivers/native/trials.h"
#include "drivers/timing/timing.h"
#include "drivers/timing/timing_chains.h"

struct timing {
    struct native common;
    struct timing_clock clock;
    struct chain_choice choice;
    struct timing_lately lately; /* since prepare */
    struct timing_cost cost;     /* of a reading, by these */
    struct chain_raw *raw;       /* in the locked memory: native_room() and one more */
    uint64_t *words;             /* native_room() * stride */
};

static bool timing_steady(const struct timing *t)
{
    return t->choice.steady_from == 0;
}

static void timing_info(const struct machine *m, struct machine_info *out)
{
    const struct timing *t = m->state;
    double shortest = chain_adds(timing_steady(t) ? CHAIN_STEADY_SHORT : CHAIN_SHORT) + t->cost.cycles;

    native_info(&t->common, out);
    out->chain_cycles = (unsigned)shortest;
    out->chain_error = t->cost.error / shortest;
    if (t->clock.round > 1)
        out->tsc_step = (double)t->clock.round;
    out->source = "measured with time stamps: a dependent chain of adds against the TSC";
}

static const char *timing_lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    (void)m;
    if (remedy != NULL)
        *remedy = NULL;
    if (counter_of_chain(id))
        return NULL;
    if (remedy != NULL)
        *remedy =
            "use a machine that reads counters (--list machines shows why none works here), or --machine model:NAME";
    return "time stamps cannot count this: it needs performance counters";
}

/* ---- prepare and finish ---- */

static void timing_finish(struct machine *m)
{
    struct timing *t = m->state;

    native_finish(&t->common);
}

/* Measures the cost of a reading with a chain before anything is recorded, and notes how well a clock in steps
 * measures the frequency. 1 to 6 ms; the core then has nothing to forget, as adds are all that has run. */
static int timing_calibrate(struct timing *t, struct machine_error *err)
{
    /* chosen: one attempt in ten succeeds wherever anything can be measured; none takes more than 10 ms */
    enum { ATTEMPTS = 10, CALIBRATION_US = 10000 };
    char text[200];
    int failed = -1;

    for (int i = 0; i < ATTEMPTS && failed != 0; i++) {
        pinning_begin(&t->common.pinning, CALIBRATION_US);
        timing_record_chains(&t->choice, t->lately.chain, TIMING_LATELY);
        pinning_end(&t->common.pinning, CALIBRATION_US);
        timing_round(&t->clock, t->lately.chain, TIMING_LATELY);
        t->lately.n = TIMING_LATELY;
        failed = timing_follow(&t->lately, NULL, 0, timing_steady(t), t->clock.step, &t->cost);
    }
    if (failed != 0) {
        return machine_fail(err, MACHINE_FAILED, "stop other programs, or choose another CPU with --cpu",
                            "CPU %d is preempted too often to calibrate chains of adds", t->common.cpu);
    }
    if (timing_steps_text(t->clock.step, t->clock.hz, t->cost.ticks[0], text, sizeof text))
        native_note(&t->common, "%s", text);
    return MACHINE_OK;
}

static int timing_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct timing *t = m->state;
    size_t room = native_room(s), stride = 2 + s->n_counters;

    int status = native_prepare(&t->common, s, (room + 1) * sizeof *t->raw + room * stride * sizeof *t->words, err);
    if (status != MACHINE_OK)
        return status;
    t->raw = t->common.pinning.locked;
    t->words = (uint64_t *)(t->raw + room + 1);
    t->clock.hz = t->common.tsc.hz;
    t->clock.step = fmax(t->common.tsc_step, (double)t->clock.round);
    t->choice = timing_choose_chains(t->clock.step, t->clock.hz, s->period_us);
    status = timing_calibrate(t, err);
    if (status != MACHINE_OK)
        timing_finish(m);
    return status;
}

/* ---- one repetition ---- */

static void convert_all(const struct timing *t, const struct run_request *r, const struct sampling_log *log)
{
    size_t stride = 2 + t->common.setup.n_counters, done = 0;
    struct timing_sums sums = {0};
    uint64_t instructions = 0;

    for (size_t i = 0; i < r->n_segments; i++) {
        unsigned per_block = r->segments[i].payload.instructions;
        for (; done < log->last[i]; done++)
            timing_words(&t->raw[done], t->cost.cycles, instructions, per_block, t->common.counters,
                         t->common.setup.n_counters, &sums, t->words + done * stride);
        instructions += log->blocks[i] * per_block;
    }
}

static void sample_chains(struct native *s, const struct sampling *plan, struct sampling_log *log)
{
    const struct timing *t = (const struct timing *)s;

    timing_record(plan, &t->choice, t->raw, log);
}

static int timing_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct timing *t = m->state;
    struct sampling_log log;

    int status = native_run(&t->common, r, sample_chains, &log, t->words, out, err);
    if (status != MACHINE_OK)
        return status;
    timing_round(&t->clock, t->raw, log.n);
    out->zero_tsc -= t->clock.round > 1 ? out->zero_tsc % t->clock.round : 0;
    (void)timing_follow(&t->lately, t->raw, log.n, timing_steady(t), t->clock.step, &t->cost);
    convert_all(t, r, &log);
    return MACHINE_OK;
}

static int timing_trials(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                         struct machine_error *err)
{
    struct timing *t = m->state;

    return trials_run(&t->common, r, NULL, duration, seen, err);
}

/* ---- open and close ---- */

static const struct machine_ops timing_ops = {
    .info = timing_info,
    .lacks = timing_lacks,
    .prepare = timing_prepare,
    .run = timing_run,
    .finish = timing_finish,
    .close = native_close,
    .find_cores = native_find_cores,
    .core_kinds = native_core_kinds,
    .uncore = native_uncore,
    .speed_select = native_speed_select,
    .read_energy = native_read_energy,
    .trials = timing_trials,
    .first_use = native_first_use,
    .bursts = native_bursts,
    .switching = native_switching,
};

int timing_open_at(const char *sys, double step_ns, struct machine *out, struct machine_error *err)
{
    struct timing *t = calloc(1, sizeof *t);

    if (t == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    int status = native_open(&t->common, "timing", sys, NULL, err);
    if (status != MACHINE_OK) {
        free(t);
        return status;
    }
    t->clock.round = (uint64_t)llround(step_ns * 1e-9 * t->common.tsc.hz);
    t->choice = timing_choose_chains(1, t->common.tsc.hz, 1);
    *out = (struct machine){.ops = &timing_ops, .state = t};
    return MACHINE_OK;
}

int machine_open_timing(struct machine *out, struct machine_error *err)
{
    return timing_open_at("/sys", 0, out, err);
}
