/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the machine of a modelled CPU, and its parts. Inside drivers/model/. */
#pragma once

#include "drivers/model/model.h"
#include "drivers/model/model_waits.h"
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

/* ---- model_reading.c: readings of counters, or by chains of adds where it has none ---- */

/* Cycles that reading the TSC adds to a chain, as seen on Zen 4; the modelled machine knows it. */
enum { MODEL_CHAIN_COST = 68 };

/* The step of its TSC, ticks, and the chains that it reads with at a period. */
double model_step_ticks(const struct model *m);
unsigned model_chain_adds(double period_us, bool is_long);

/* The TSC at a time of the core (us), no less than `least`. */
uint64_t model_tsc_at(const struct model_progress *p, double us, uint64_t least);

/* Adds a reading to the recording. MACHINE_OK, or MACHINE_FAILED: there is no room for it. */
int model_take_reading(struct model_progress *p, struct machine_error *err);

/* ---- model_bursts.c ---- */

/* machine_ops.bursts on a core that has been started; request: checked, and of payloads that the model can run. */
int model_bursts(struct model_core *c, const struct bursts_request *r, struct burst *out, struct machine_error *err);

/* ---- model_registers.c ---- */

/*
 * Reads a register as the core stands: 198H (ratio in 15:8, voltage in 47:32 in units of 2^-13 V, with the noise of the
 * model file), CEH (base ratio in 15:8), 1ADH and 1AEH (turbo ratios and core counts), after Intel's SDM volume 4.
 * MACHINE_OK, or MACHINE_CANNOT for any other.
 */
int model_register_read(struct model_core *c, uint32_t reg, uint64_t *value, struct machine_error *err);

/* As machine_ops.speed_select: the turbo limits of each level, where the model file says that they are stated. */
int model_speed_select(struct machine *machine, struct rated_limits *out, struct machine_error *err);

/* ---- model_steady.c: a simulated core that has run one payload for long ---- */

/*
 * Watts of one core that has run a payload for long, with so many active cores, none faster than fixed_ghz (0: no such
 * bound), at `volts`. NaN where the file does not tell it, or cannot run it.
 */
double model_steady_watts(const struct model *m, const struct payload *p, unsigned cores, double fixed_ghz,
                          double volts);
/* The voltage of such a core; with its boosts where the model file says so. NaN as above. */
double model_steady_volts(const struct model *m, const struct payload *p, unsigned cores, double fixed_ghz);
