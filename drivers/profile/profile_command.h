/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program that runs while a profile is taken: it waits until the profile has begun, and tasks are known by
 * whether they descend from it. It keeps this process's standard streams, terminal, process group, and which signals
 * are ignored; there is no shell in between.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "drivers/profile/profile_types.h"
#include "util/error.h"

struct profile_command;

/*
 * Forks; the program is not executed before profile_command_go(). MACHINE_OK, or MACHINE_BAD_INPUT: there is no such
 * program, or it is not executable. This process adopts orphans from then on (PR_SET_CHILD_SUBREAPER), so that
 * descendants can be shown by their parents.
 */
int profile_command_start(char *const argv[], struct profile_command **out, struct machine_error *err);
/* MACHINE_OK, or MACHINE_FAILED: it cannot be executed. */
int profile_command_go(struct profile_command *c, struct machine_error *err);

pid_t profile_command_pid(const struct profile_command *c);

/* True: it has ended; never waits. `orphans`: those that it left are reaped on the way; there must be no other
 * children then. */
bool profile_command_ended(struct profile_command *c, bool orphans);
/* Its end, if it did not end well, as a clause: "ended with status 3", "was ended by signal 9 (Killed)"; NULL: well,
 * or not at all. */
const char *profile_command_failure(const struct profile_command *c);

/*
 * Looks up whether a task descends from the program, unless that is known. Those that have ended before they are looked
 * up are not found. `proc`: "/proc", or a folder laid out like it. False: out of memory.
 */
bool profile_command_note(struct profile_command *c, const char *proc, const struct profile_task *t);
/* The profile so far. */
bool profile_command_owns(const struct profile_command *c, __u32 pid, __u64 start_ns);

/* A program that was not begun is ended; one that runs goes on. NULL is allowed. */
void profile_command_free(struct profile_command *c);
