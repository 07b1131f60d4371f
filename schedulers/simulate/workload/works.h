/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks as work, from rows of CPUs: what each did, and that it was blocked while it was away. */
#pragma once

#include "schedulers/simulate/workload.h"

/*
 * Fills in `works` from the rows of all CPUs, which it reads once and rewinds. MACHINE_OK, MACHINE_BAD_INPUT (a task
 * runs on two CPUs at once: it is several threads of one name) or MACHINE_FAILED after filling *err.
 */
int sim_works_build(struct sim_workload *w, struct machine_error *err);
