/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's messages, one line each: on standard error, except for the names of files. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

/* Exit statuses (doc/formats.md, man page). */
enum exit_status { DONE = 0, FAILED = 1, BAD_USAGE = 2, CANNOT = 3, DEVIATES = 4 };

/* Formatted, as one line whatever names it quotes. */
void messages_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The program at hand, as lines name it: characterize also where it was called to do the job of another program. */
void messages_begin(const char *program);
const char *messages_program(void);

/* "PROGRAM: TEXT", as one line whatever names and file contents it quotes; returns `status`. */
int refuse(enum exit_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, where that is not the end of it. */
#define complain(...) ((void)refuse(FAILED, __VA_ARGS__))
int complain_out_of_memory(void); /* FAILED */
/* How many lines these have written; a signal handler may ask. */
int messages_reported(void);

/* The same followed by a remedy, if there is one. */
void complain_with_remedy(const char *text, const char *remedy);

/* The same of what a machine has refused, `about` in front of it unless it is "". Returns the exit status. */
int complain_of_machine(const char *about, const struct machine_error *e);

/* True if a stream takes colour: a terminal that can, and NO_COLOR (no-color.org) not set or empty. */
bool messages_colour(FILE *out);

/* One line that is rewritten while a measurement runs: what is done and the time left. On a terminal only. */
struct progress {
    bool shown;         /* standard error is a terminal, and not --quiet */
    double begin, last; /* seconds, CLOCK_MONOTONIC */
};

void progress_begin(struct progress *p, bool quiet);
/* Seconds since then where it is time for another line, which is to be shown now; else 0. */
double progress_due(struct progress *p);
/* The line, with the seconds left; NaN: nobody knows. */
void progress_show(double left, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Removes the line. */
void progress_end(const struct progress *p);
