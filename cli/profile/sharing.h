/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --profile without the kernel module: shares of license levels by perf, or what can be said without any levels. */
#pragma once

#include "cli/options/options.h"
#include "cli/job_files.h"
#include "drivers/profile/profile_command.h"
#include "util/error.h"

/* Checks that perf can count license levels here. MACHINE_OK, or fills *err and returns its status. */
int sharing_possible(struct machine_error *err);
/* Counts, shows and writes. DONE, or an exit status after a line. */
int sharing_run(const struct options *o, const struct job_files *f);

/* Without levels: measures the current frequency by time stamps, and says on `screen` what that leaves open.
 * `why` is said in the end; returns its status. */
int sharing_tell_frequency(FILE *screen, const struct machine_error *why);

/* ---- what becomes of the command when its profile is over; NULL: there is none ---- */

/* After a signal that ended the profile: passes it on, unless the terminal has sent it to the command as well, and
 * gives it a moment to end, so that its last words do not fall into the results. */
void command_stop(struct profile_command *c);
/* After the results: one that goes on is waited for, unless a signal says otherwise, and how it ended is said if
 * it did not end well. */
void command_await(struct profile_command *c);
