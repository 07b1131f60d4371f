/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line that is rewritten while a measurement runs: what is done and the time left. On a terminal only. */
#pragma once

#include <stdbool.h>

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
