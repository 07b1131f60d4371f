/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trials on a modelled core (machine_ops.trials): how long each takes is known beforehand, so that a table that was
 * measured on it can be held against the truth. None of it is in model files: the figures are assumed.
 */
#pragma once

#include "drivers/machine.h"

/* Cycles that an interrupt takes, and how far apart they are: 250 a second, as CONFIG_HZ of many distributions. */
enum { MODEL_INTERRUPT_CYCLES = 3000, MODEL_INTERRUPT_EVERY_US = 4000 };
/* Trials until the predictor has learnt; each before that takes a thousandth more than the one after it. */
enum { MODEL_TRIALS_TO_LEARN = 5 };
/* The share that a trial of WORKLOAD_BRANCH takes longer with the predictor filled or cleared; filled, it scatters. */
#define MODEL_SPOILT 0.002
#define MODEL_SPOILT_SIGMA 0.0002
#define MODEL_CLEARED 0.0025
/* By how much loads from the caches but the first, and from memory, scatter: shares of the duration. */
#define MODEL_L2_SIGMA 2e-5
#define MODEL_L3_SIGMA 2e-4
#define MODEL_MEMORY_SIGMA 4e-4

/* Bytes of the caches of a Xeon Gold 6130 (16 cores share 22 MB), and of 96 GB of memory. */
extern const struct cpu_caches model_caches;

/* Cycles of an undisturbed trial of so many microseconds, warm. */
double model_trial_cycles(const struct machine *m, double trial_us);

int model_trials(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                 struct machine_error *err);

/* As machine_ops.first_use: the stages of [wake WIDTH]; where the model has none, units never sleep. */
enum { MODEL_FIRST_READ_NS = 25 };
int model_first_use(struct machine *m, const struct first_use_request *r, struct first_use_seen *out,
                    struct machine_error *err);
