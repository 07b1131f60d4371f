/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a reading takes from the code that is measured. */
#pragma once

#include "drivers/machine.h"

/*
 * us that the code does not run for each reading of the TSC and the counters: the same code with readings far and near,
 * extrapolated to a section without work. `setup` as for a measurement of `code`; warmup_us of it run before. 0 where
 * the machine tells with each reading how long it took (chains), or where it cannot be told. MACHINE_OK, or fills *err
 * and returns its status. Between the machine's finish and prepare: it calls both.
 */
int reading_cost(struct machine *m, const struct machine_setup *setup, const struct payload *code, double warmup_us,
                 double *us, struct machine_error *err);
