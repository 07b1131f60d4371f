/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the machine of a modelled CPU, and its parts. Inside drivers/model/. */
#pragma once

#include "drivers/model/model.h"
#include "drivers/model/model_core.h"
#include "drivers/rated_limits.h"

struct model_state {
    struct machine_ops ops;
    struct model model;
    char name[MODEL_TEXT_MAX], cpu[MODEL_TEXT_MAX + 64], source[400], notes[120];
    char data_dir[400]; /* where tables of events are; "" = the built-in default */
    bool prepared;
    struct machine_setup setup;
    struct counter_spec counters[MACHINE_COUNTERS_MAX];
    unsigned active;
    uint64_t *words;
    size_t capacity;        /* readings */
    struct model_core core; /* after the last run, as it stands then */
    bool has_run;
    uint64_t repetition;
    uint64_t register_tsc;        /* of the last reading of a register */
    struct energy_reading energy; /* since prepare */
    double corunner_volts;        /* of each of the other active cores; NaN: not known yet */
};

/* Each number fills its range evenly, and all three their cube (the additive recurrence of Roberts, "The
 * unreasonable effectiveness of quasirandom sequences", with 1.2207...). */
struct model_dither {
    uint32_t state[3];
};

/* One repetition in progress. */
struct model_progress {
    struct model_state *state;
    struct model_core *core;
    const struct run_request *request;
    struct recording *out;
    uint64_t tsc_start;
    double tsc_phase; /* ticks: where in a step of the TSC the repetition begins */
    uint64_t instructions, blocks;
    bool zero_passed;
    double zero_us;    /* of time 0 */
    double chunk_work; /* instructions of a chunk */
    unsigned chunk_blocks, block_instructions;
    unsigned doubled; /* samples have become twice as long so many times */
    unsigned turn;    /* of the next chain */
    struct model_dither dither;
    double cost_off; /* cycles that chains take longer than is believed, in this repetition */
    uint64_t chain_ticks, chain_cycles, read_ticks; /* so far */
};

/* ---- model_run.c ---- */

/* Cycles that reading the TSC adds to a chain, as seen on Zen 4; the modelled machine knows it. */
enum { MODEL_CHAIN_COST = 68 };
/* The step of its TSC, ticks, and the chains that it reads with at a period. */
double model_step_ticks(const struct model *m);
unsigned model_chain_adds(double period_us, bool is_long);

/* The core begins a repetition with so many active ones. */
void model_start_core(struct model_state *s, unsigned cores, uint64_t repetition);
/* The TSC at the core's time 0: a core whose state is carried over goes on in its own time. */
uint64_t model_tsc_origin(const struct model_state *s, uint64_t repetition);

/* As in machine_ops. */
int model_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err);
int model_bursts(struct machine *m, const struct bursts_request *r, struct burst *out, const char **disturbed,
                 struct machine_error *err);

/*
 * Watts of one core that has run a payload for long, with so many active cores, none faster than fixed_ghz (0: no such
 * bound), at `volts`. NaN where the file does not say it, or cannot run it.
 */
double model_steady_watts(const struct model *m, const struct payload *p, unsigned cores, double fixed_ghz,
                          double volts);

/*
 * ---- trials (machine_ops.trials): how long each takes is known beforehand, so that a table that was measured on it
 * can be compared with the truth. None of it is in model files: the figures are assumed. ----
 */

/* Cycles that an interrupt takes, and how far apart they are: 250 a second, as CONFIG_HZ of many distributions. */
enum { MODEL_INTERRUPT_CYCLES = 3000, MODEL_INTERRUPT_EVERY_US = 4000 };
/* Trials until the predictor has learnt; each before that takes a thousandth more than the one after it. */
enum { MODEL_TRIALS_TO_LEARN = 5 };
/* The share that a trial of WORKLOAD_BRANCH takes longer with the predictor filled or cleared; filled, it scatters. */
#define MODEL_SPOILT 0.002
#define MODEL_SPOILT_SIGMA 0.0002
#define MODEL_CLEARED 0.0025
/* Relative scatter of the duration of loads from the caches but the first, and from memory. */
#define MODEL_L2_SIGMA 2e-5
#define MODEL_L3_SIGMA 2e-4
#define MODEL_MEMORY_SIGMA 4e-4

/* Cycles of a load that waits for the one before it, from L1, L2, L3 and memory. */
enum { MODEL_L1_CYCLES = 5, MODEL_L2_CYCLES = 14, MODEL_L3_CYCLES = 68, MODEL_MEMORY_CYCLES = 260 };
/* A trial of WORKLOAD_BRANCH has a branch in so many cycles, and mispredicts one in so many of them even when warm;
 * what it takes longer otherwise is so many cycles for each further one. */
enum { MODEL_BRANCH_CYCLES = 4, MODEL_MISPREDICTED_ONE_IN = 1600, MODEL_MISPREDICTED_CYCLES = 20 };
/* After idling a core runs at the first of these shares of its frequency, and every so often at the next one, as V's
 * figure 5-1 has it. */
enum { MODEL_RAMP_STEPS = 4, MODEL_RAMP_EVERY_US = 8000 };
extern const double model_ramp_shares[MODEL_RAMP_STEPS];

/* Bytes of the caches of a Xeon Gold 6130 (16 cores share 22 MB), and of 96 GB of memory. */
extern const struct cpu_caches model_caches;

/* Cycles of an undisturbed trial of so many microseconds, warm. */
double model_trial_cycles(const struct machine *m, double trial_us);

int model_trials(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                 struct machine_error *err);

/* Single times scatter by so much, relative, and an interrupt lengthens this share of them, by 5 to 25 us (assumed). */
#define MODEL_TIME_NOISE 0.02
#define MODEL_TIME_OUTLIERS 0.02

/* model_switching.c: as machine_ops.switching: the figures of [switching] on top of this (us; assumed), which is what
 * system calls take without. MACHINE_CANNOT: the model has no such section, or one core and is to migrate. */
#define MODEL_SWITCHING_BASE_US 0.5
int model_switching(struct machine *m, const struct switching_request *r, struct switching_seen *out,
                    struct machine_error *err);

/* As machine_ops.first_use: the stages of [wake WIDTH]; where the model has none, units never sleep. */
enum { MODEL_FIRST_READ_NS = 25 };
