/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timing machine: real hardware by time stamps alone. It needs no counters, no root and no driver. The core's
 * frequency comes from a dependent chain of adds (one a cycle) between two TSC reads after each stretch of payload;
 * the payload is counted in blocks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/native/native.h"
#include "drivers/native/trials.h"
#include "drivers/timing/timing.h"
#include "drivers/timing/timing_calibrate.h"
#include "drivers/timing/timing_witness.h"
#include "util/order.h"

enum { LATENCIES = 33, ROUNDS = 4, COARSE_ROUNDS = 32 }; /* of probes: a payload is known from so many */
#define LATENCY_OFF 0.15                                 /* cycles */
struct timing {
    struct native common;
    struct timing_clock clock;
    struct timing_chains chains[PLAN_STAGES];       /* the clock's, and those of periods that have grown */
    struct timing_cost cost[NATIVE_LANES_MAX];      /* of a reading after each of the common lanes' payloads, lately */
    double lowest_cost;                             /* cycles, since prepare */
    struct witness_memory memory[NATIVE_LANES_MAX]; /* likewise of the common lanes' payloads */
    double latency[LATENCIES];                      /* of a multiplication, as lately seen; on any CPU */
    size_t n_latencies;                             /* since prepare */
    struct timing_cost witnessed;                   /* likewise by witnesses; cycles 0: not yet */
    unsigned probed, shared;  /* repetitions with a cost; of them, those in which it was much higher than the lowest */
    double error;             /* of the frequency: the largest that the error of a cost makes; relative */
    size_t notes_length;      /* of what notes says without that */
    bool remarked;            /* what the steps of the clock do, since prepare */
    struct timing_raw *probe; /* in the locked memory, one behind the other: PLAN_PROBE_ROOM */
    struct timing_raw *witness; /* WITNESS_ROOM */
    struct timing_raw *raw;     /* max_samples */
    uint64_t *words;            /* max_samples * stride */
};

static void timing_info(const struct machine *m, struct machine_info *out)
{
    const struct timing *t = m->state;

    native_info(&t->common, out);
    out->chain_cycles = t->clock.chains.adds[0] + (t->common.n_lanes > 0 ? (unsigned)t->cost[0].cycles : 0);
    out->chain_error = t->error;
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

/* How well a clock in steps measures the frequency: what the steps do to a short chain (timing.h). Once it is known how
 * long that takes. */
static void remark_steps(struct timing *t)
{
    char text[200];

    if (t->remarked || !timing_steps_text(t->clock.step, t->clock.hz, t->cost[0].ticks[0], text, sizeof text))
        return;
    t->remarked = true;
    native_note(&t->common, "%s", text);
    t->notes_length = strlen(t->common.notes);
}

static int timing_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    struct timing *t = m->state;
    size_t stride = 2 + s->n_counters;
    size_t bytes = (PLAN_PROBE_ROOM + WITNESS_ROOM + s->max_samples) * sizeof *t->raw +
                   s->max_samples * stride * sizeof *t->words;

    int status = native_prepare(&t->common, s, bytes, err);
    if (status != MACHINE_OK)
        return status;
    t->probe = t->common.pinning.locked;
    t->witness = t->probe + PLAN_PROBE_ROOM;
    t->raw = t->witness + WITNESS_ROOM;
    t->words = (uint64_t *)(t->raw + s->max_samples);
    t->probed = t->shared = 0;
    t->n_latencies = 0;
    t->witnessed = (struct timing_cost){0};
    memset(t->memory, 0, sizeof t->memory);
    t->error = 0;
    t->clock.hz = t->common.tsc.hz;
    t->clock.step = fmax(t->common.tsc_step, (double)t->clock.round);
    t->clock.chains = timing_choose_chains(t->clock.step, t->clock.hz, s->period_us);
    t->chains[0] = t->clock.chains;
    t->chains[1] = timing_choose_chains(t->clock.step, t->clock.hz, INFINITY);
    t->common.probe_us = timing_probe_us(&t->clock.chains);
    t->notes_length = strlen(t->common.notes);
    t->remarked = false;
    return MACHINE_OK;
}

/* ---- one repetition ---- */

static size_t lane_of(const struct timing *t, const struct plan *plan, size_t stretch)
{
    return (size_t)(plan->stretch[stretch].lane - t->common.lanes);
}

static void convert_all(const struct timing *t, const struct run_request *r, const struct plan *plan,
                        const struct timing_log *log)
{
    size_t stride = 2 + t->common.setup.n_counters;
    uint64_t instructions = 0;
    struct timing_sums sums = {0};
    size_t done = 0;

    for (size_t i = 0; i < r->n_segments; i++) {
        unsigned per_block = r->segments[i].payload.instructions;
        /* the reading that opens the recording has no blocks of this stretch in it and belongs to no other */
        for (; done < log->at.last[i]; done++)
            timing_words(&t->raw[done], &t->chains[plan_stage_of(&log->at, done)], t->cost[lane_of(t, plan, i)].cycles,
                         instructions, per_block, t->common.counters, t->common.setup.n_counters, &sums,
                         t->words + done * stride);
        instructions += log->at.blocks[i] * per_block;
    }
}

/* The other hyper-thread cannot be seen, but it slows the reads of the TSC, by a quarter on a Sapphire Rapids. How well
 * the cost is known, on a coarse clock not very well from one repetition, is not taken for that. */
static void remark_shared(struct timing *t, const struct timing_cost *seen)
{
    t->lowest_cost = t->probed == 0 ? seen->cycles : fmin(t->lowest_cost, seen->cycles + 2 * seen->error);
    t->probed++;
    t->shared += seen->cycles > fmax(1.12 * t->lowest_cost, t->lowest_cost + 5 * seen->error);
    if (t->shared > 0) {
        t->common.notes[t->notes_length] = '\0';
        native_note(
            &t->common,
            "in %u of %u repetitions something else ran on the same core (its SMT sibling): frequency and IPC are "
            "less accurate there",
            t->shared, t->probed);
    }
}

/* Readings after one payload tell what they cost there. */
static void update_cost(struct timing *t, size_t lane, const struct timing_raw *r, size_t n, bool remark)
{
    struct timing_cost seen, *known = &t->cost[lane];

    if (timing_chain_cost(r, n, &t->clock.chains, t->clock.step, &seen) == 0) {
        timing_cost_follow(known, &seen);
        t->error = fmax(t->error, known->error / (t->clock.chains.adds[0] + known->cycles));
        if (remark)
            remark_shared(t, &seen);
    }
}

/* Of a multiplication: the median of what was seen lately, which no neighbour decides. 0: it is no whole number. */
static double known_latency(struct timing *t, const struct witness_means *m)
{
    double seen = witness_latency(m), sorted[LATENCIES];

    if (!isnan(seen))
        t->latency[t->n_latencies++ % LATENCIES] = seen;
    size_t n = t->n_latencies < LATENCIES ? t->n_latencies : LATENCIES;
    memcpy(sorted, t->latency, n * sizeof *sorted);
    double latency = n > 0 ? order_median(sorted, n) : 0;
    return fabs(latency - round(latency)) < LATENCY_OFF ? round(latency) : 0;
}

/* Cycles a tick by witnesses behind a payload, and to what they are known, relative. False: there are too few. */
static bool ask_witnesses(struct timing *t, size_t lane, const struct timing_log *log, double *rate, double *error)
{
    struct witness_means m = witness_means(log->witness, log->n_witness, t->clock.step);
    double pace = witness_pace(log->probe, log->at.n_probe);

    *rate = witness_rate(&m, known_latency(t, &m));
    *error = m.error / m.ticks[WITNESS_ADDS];
    if (isnan(*rate) || isnan(pace))
        return false;
    witness_remember(&t->memory[lane], pace, *rate);
    *rate = witness_believed(&t->memory[lane], pace, *rate);
    return true;
}

/* The cost of a reading by witnesses of this repetition, behind the payload of that lane. It does not depend on the
 * payload (timing_calibrate.h), so that all of the repetition is converted with it. False: there are too few. */
static bool see_witnesses(struct timing *t, size_t lane, const struct timing_log *log)
{
    struct timing_cost seen, alone;
    double rate, error;

    if (!ask_witnesses(t, lane, log, &rate, &error) ||
        witness_cost(log->probe, log->at.n_probe, &t->clock.chains, t->clock.step, rate, error, &seen) != 0)
        return false;
    if (t->witnessed.cycles > 0)
        timing_cost_follow(&t->witnessed, &seen);
    else
        t->witnessed = seen;
    for (size_t i = 0; i < t->common.n_lanes; i++)
        t->cost[i] = t->witnessed;
    t->error = fmax(t->error, t->witnessed.error / (t->clock.chains.adds[0] + t->witnessed.cycles));
    if (timing_chain_cost(log->probe, log->at.n_probe, &t->clock.chains, t->clock.step, &alone) == 0)
        remark_shared(t, &alone);
    return true;
}

/* The stretch that the probes are of, the last one before a sampled one; the plan's n: none. */
static size_t probed_stretch(const struct plan *plan)
{
    size_t probed = plan->n;

    for (size_t i = 0; i + 1 < plan->n; i++)
        if (!plan->stretch[i].sampled && plan->stretch[i + 1].sampled)
            probed = i;
    return probed;
}

static void update_costs(struct timing *t, const struct plan *plan, const struct timing_log *log)
{
    size_t probed = probed_stretch(plan);

    if (probed < plan->n && see_witnesses(t, lane_of(t, plan, probed), log))
        return;
    for (size_t i = 0; i < plan->n; i++) {
        if (i == probed)
            update_cost(t, lane_of(t, plan, i), log->probe, log->at.n_probe, true);
        /* without the reading that opens the recording: there was no payload before it */
        size_t first = log->at.first[i] > 0 ? log->at.first[i] : 1;
        size_t last = log->at.last[i] < log->at.long_from ? log->at.last[i] : log->at.long_from;
        if (plan->stretch[i].sampled && last > first)
            update_cost(t, lane_of(t, plan, i), log->raw + first, last - first, false);
    }
}

/*
 * Measures a payload before it is sampled: 2 ms to reach its steady state, then its rate, then rounds of probes, which
 * tell what a reading costs and begin the memory of witnesses. Takes about 5 ms, with a coarse clock 20. Returns 0, or
 * -1 where the readings make no sense (the CPU was taken away all the time).
 */
static int timing_measure_lane(void *context, const struct payload *p, struct pace_lane *lane)
{
    struct timing *t = context;
    const size_t number = (size_t)(lane - t->common.lanes);
    const double tick_per_us = t->clock.hz * 1e-6, probe_us = t->common.probe_us;
    const size_t rounds = timing_chains_coarse(&t->clock.chains) && probe_us <= 1 ? COARSE_ROUNDS : ROUNDS;
    const uint64_t period = (uint64_t)llround(fmin(t->common.setup.period_us, probe_us) * tick_per_us);
    struct timing_raw *all = calloc(rounds * PLAN_PROBE_ROOM, sizeof *all);
    size_t n = 0;

    if (all == NULL)
        return -1;
    t->memory[number].n = 0;
    native_lane_measure(p, t->clock.hz, t->common.setup.period_us, lane);
    /* longer periods change nothing in the cost of a reading: what precedes it is the same */
    uint64_t early = lane->early, blocks;
    double rate, error;
    lane->early = 0;
    for (size_t i = 0; i < rounds; i++) {
        struct timing_log log = {.probe = t->probe, .witness = t->witness, .chains = &t->clock.chains};
        struct pace_grid grid = {.period = period, .now = tsc_now()};
        grid.next = grid.now + period;
        log.at.n_probe = timing_sample_probes(&log, PLAN_PROBE_ROOM, lane, &grid, grid.now + PLAN_PROBES * period,
                                              &blocks);
        timing_round(&t->clock, log.probe, log.at.n_probe);
        timing_round(&t->clock, log.witness, log.n_witness);
        (void)ask_witnesses(t, number, &log, &rate, &error);
        memcpy(all + n, log.probe, log.at.n_probe * sizeof *all);
        n += log.at.n_probe;
    }
    lane->early = early;
    int status = timing_chain_cost(all, n, &t->clock.chains, t->clock.step, &t->cost[number]);
    free(all);
    return status;
}

static int timing_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct timing *t = m->state;
    struct plan plan;
    struct native_watch watch;

    memset(out, 0, sizeof *out);
    int status = native_plan(&t->common, r, t->clock.chains.turns, timing_measure_lane, t, &plan, err);
    if (status != MACHINE_OK)
        return status;
    remark_steps(t);
    struct timing_log log = {.raw = t->raw, .probe = t->probe, .witness = t->witness, .chains = t->chains};
    native_begin(&t->common, r, &watch);
    timing_record(&plan, &log);
    native_end(&t->common, &watch, &log.at, t->words, out);
    timing_round(&t->clock, log.probe, log.at.n_probe);
    timing_round(&t->clock, log.witness, log.n_witness);
    timing_round(&t->clock, log.raw, log.at.n);
    out->zero_tsc -= t->clock.round > 1 ? out->zero_tsc % t->clock.round : 0;
    update_costs(t, &plan, &log);
    convert_all(t, r, &plan, &log);
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
    .core_kinds = native_core_kinds,
    .speed_select = native_speed_select,
    .read_energy = native_read_energy,
    .trials = timing_trials,
    .first_use = native_first_use,
    .bursts = native_bursts,
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
    t->clock.chains = timing_choose_chains(1, t->common.tsc.hz, 1);
    *out = (struct machine){.ops = &timing_ops, .state = t};
    return MACHINE_OK;
}

int machine_open_timing(struct machine *out, struct machine_error *err)
{
    return timing_open_at("/sys", 0, out, err);
}
