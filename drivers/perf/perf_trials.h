/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "drivers/native/trials.h"
#include "drivers/perf/perf.h"

/* machine_ops.trials of the perf machine, for the CPU prepared for: in cycles of that CPU, or by time stamps. */
int perf_trials(const struct perf_system *system, const struct perf_pmu *pmu, struct native *common,
                const struct trials_request *r, double *duration, struct trials_seen *seen, struct machine_error *err);
