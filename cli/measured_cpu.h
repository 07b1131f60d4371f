/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU that a command line has measured. */
#pragma once

#include "cli/options/options.h"
#include "util/error.h"

/* As the machine will choose it (computer/cpu/cpu.h, cpu_choose_measured). `sys`: "/sys", or that of --sysroot. Returns
 * as cpu_choose(). */
int measured_cpu(const struct options *o, const char *sys, int *cpu, struct machine_error *err);
