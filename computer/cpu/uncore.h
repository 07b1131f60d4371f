/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of the uncore: of what the cores of a die share, its mesh or ring and the last-level cache. */
#pragma once

#include "util/error.h"

/*
 * *ghz: its present frequency, GHz, for the die of `cpu`, as the driver intel_uncore_frequency reports it below `sys`
 * ("/sys", or a folder laid out like it): current_freq_khz of package_NN_die_NN, or of the uncoreNN of that package
 * that clocks cores or caches (Linux, Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst). It follows a
 * demand after 0.5 to 10 ms. MACHINE_OK; or MACHINE_CANNOT: why not, and the remedy in *err.
 */
int cpu_uncore_ghz(const char *sys, int cpu, double *ghz, struct machine_error *err);
