/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other programs, started without a shell. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Starts the program `path` with its standard streams on in, out and err (descriptors not below 3), no signal blocked,
 * SIGPIPE and SIGXFSZ not ignored (what else is, under nohup, stays so), in a process group of its own if requested. It
 * ends with the thread that started it, also where that is killed (PR_SET_PDEATHSIG). Returns 0 and
 * *pid, which must be waited for, or an error number.
 */
int child_start(const char *path, char *const argv[], char *const environment[], int in, int out, int err,
                bool own_group, pid_t *pid);

/*
 * Turns a forked child into the program, as child_start() has it: makes system calls only, as other threads may have
 * held any lock. Signals are blocked until then. streams NULL: the caller's own; parent 0: it may outlive it. Returns
 * only where it failed, with errno.
 */
void child_become(const char *path, char *const argv[], char *const environment[], const int *streams, bool own_group,
                  pid_t parent);
