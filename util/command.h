/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other programs: found in PATH, run without a shell for a bounded time, and what they print. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

enum { COMMAND_TEXT_MAX = 65536 };

struct command_output {
    char out[COMMAND_TEXT_MAX], err[COMMAND_TEXT_MAX]; /* NUL-terminated; what is more is thrown away */
};

/* Returns whether a program of this name (no path) is in PATH, and where; in its absolute folders alone: what lies
 * in the current one is not meant. */
bool command_installed(const char *name);
bool command_find(const char *name, char *path, size_t size);
/* The path of a command as a shell takes its name: looked up in PATH unless it holds a slash. MACHINE_OK, or
 * MACHINE_BAD_INPUT and *err. */
int command_locate(const char *name, char *path, size_t size, struct machine_error *err);

/*
 * Runs argv[0], looked up in PATH, with the arguments after it up to NULL, no input, the locale C, and at most
 * `seconds`. Returns 0 where it ended with status 0, or -1 with one clause in `why`: not installed, ended by a signal
 * or the time limit, its exit status and the first line of what it said.
 */
int command_run(const char *const *argv, double seconds, struct command_output *out, char *why, size_t size);
