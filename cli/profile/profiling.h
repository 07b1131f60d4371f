/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile while it is taken: records are added up, named and shown until its time is over. */
#pragma once

#include "cli/options/options.h"
#include "drivers/profile/profile_command.h"
#include "drivers/profile/profile_source.h"
#include "profiler/names.h"
#include "profiler/profile.h"
#include "profiler/stacks.h"

struct profiling {
    const struct options *o;
    struct profile_source source;
    bool open;
    struct profile_source_info info;
    struct profile_setup setup;
    struct profile_terms terms;
    struct profile_head head;        /* of every result */
    struct profile_command *command; /* NULL: none */
    bool live;                       /* to be shown */
    struct profile_totals *totals;
    struct profile_names *names;
    struct profile_stacks *stacks; /* NULL: none are taken */
};

/* Starts the source and the command, and takes records until one of the ends. DONE, or an exit status after a line. */
int profiling_run(struct profiling *p);
/* The result so far; profile_result_free. DONE, or FAILED after a line. */
int profiling_result(const struct profiling *p, struct profile_result *out);
/* Closes the source and frees. A command that runs goes on. */
void profiling_free(struct profiling *p);

/* ---- what becomes of the command when its profile is over; NULL: there is none ---- */

/* After a signal that ended the profile: passes it on, unless the terminal has sent it to the command as well, and
 * gives it a moment to end, so that its last words do not fall into the results. */
void profiling_stop_command(struct profile_command *c);
/* After the results: one that goes on is waited for, unless a signal says otherwise, and how it ended is said if
 * it did not end well. */
void profiling_await_command(struct profile_command *c);
