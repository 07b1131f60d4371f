/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --profile without the kernel module: shares of license levels by perf, or what can be said without any levels. */
#pragma once

#include "cli/options/options.h"
#include "cli/job_files.h"
#include "util/error.h"

/* Checks that perf can count license levels here. MACHINE_OK, or fills *err and returns its status. */
int sharing_possible(struct machine_error *err);
/* Counts, shows and writes. DONE, or an exit status after a line. */
int sharing_run(const struct options *o, const struct job_files *f);

/* Without levels: measures the current frequency by time stamps, and says on `screen` what that leaves open.
 * `why` is said in the end; returns its status. */
int sharing_tell_frequency(FILE *screen, const struct machine_error *why);
