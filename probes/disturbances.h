/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures what disturbs a CPU: samples of a chain of adds in lengths of 1 us to 1 ms. */
#pragma once

#include "analysis/stats/disturbance.h"
#include "util/error.h"

/*
 * Runs on this CPU for 0.42 s, at most 0.5 s, at the caller's priority, and then goes back to where it was. Returns
 * MACHINE_OK, or fills *err: MACHINE_CANNOT where the CPU may not be used or its TSC is no clock.
 */
int disturbances_measure(int cpu, struct disturbance_slices *out, struct machine_error *err);
