/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings of the modelled machine: of counters, or by chains of adds where it has none (private to the model). */
#ifndef CHARACTERIZE_DRIVERS_MODEL_READING_H
#define CHARACTERIZE_DRIVERS_MODEL_READING_H

#include "drivers/model/model.h"
#include "drivers/model/model_core.h"
#include "drivers/timing/timing_calibrate.h"

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
    double zero_us;    /* of time 0: planned, then as it was */
    double chunk_work; /* instructions of a chunk */
    unsigned chunk_blocks;
    unsigned turn; /* of the next chain */
    struct chain_dither dither;
    uint64_t chain_ticks, chain_cycles, read_ticks; /* so far */
};

/* Cycles that reading the TSC adds to a chain, as seen on Zen 4; the modelled machine knows it. */
enum { MODEL_CHAIN_COST = 68 };

/* The step of its TSC, ticks, and the chains that it reads with. */
double model_step_ticks(const struct model *m);
struct timing_chains model_chains(const struct model *m);

/* The TSC at a time of the core (us), no less than `least`. */
uint64_t model_tsc_at(const struct model_progress *p, double us, uint64_t least);

/* Adds a reading to the recording. MACHINE_OK, or MACHINE_FAILED: there is no room for it. */
int model_take_reading(struct model_progress *p, struct machine_error *err);

#endif
