/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures the time that a sample takes from the measured code: its reading, and everything that the sampling loop does
 * in between. */
#pragma once

#include "drivers/machine.h"
#include "trace/from_recording.h"

/* The least number of the repetitions that tell it, after those of any experiment: repetitions of a model lie one
 * after the other. */
enum { SAMPLE_COST_REPETITION = 1000000 };

/*
 * Measures the part of a sample's time that does not grow with its size, from samples of two sizes; 0 where it cannot
 * be determined. Measured with one active core, and once for each code, CPU, fixed frequency and set of counters: it
 * is then remembered with the machine, so that the order of requests to a machine does not matter. `setup` as for a
 * measurement of `code`, its counters included. MACHINE_OK, or fills *err and returns its status. Between the machine's
 * finish and prepare: it calls both.
 */
int sample_cost_of(struct machine *m, const struct machine_setup *setup, const struct payload *code,
                   struct sample_cost *out, struct machine_error *err);
