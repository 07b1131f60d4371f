/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line of progress on a terminal. */
#include "cli/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "util/clock.h"

/* Seconds between two updates: more often would only disturb what is measured. */
static const double UPDATE_SECONDS = 0.25;
enum { LINE_WIDTH = 70 };

void progress_begin(struct progress *p, bool quiet)
{
    p->shown = !quiet && isatty(STDERR_FILENO);
    p->begin = p->last = clock_seconds(CLOCK_MONOTONIC);
}

double progress_due(struct progress *p)
{
    double t = p->shown ? clock_seconds(CLOCK_MONOTONIC) : 0;
    if (!p->shown || t - p->last < UPDATE_SECONDS)
        return 0;
    p->last = t;
    return t - p->begin;
}

void progress_show(double left, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputc('\r', stderr);
    int length = vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (isfinite(left))
        length += left < 90     ? fprintf(stderr, ", %.0f s left", ceil(left) + 0.0) /* no "-0" */
                  : left < 5400 ? fprintf(stderr, ", %.0f min left", ceil(left / 60))
                                : fprintf(stderr, ", %.1f h left", left / 3600);
    fprintf(stderr, "%*s", length < LINE_WIDTH ? LINE_WIDTH - length : 0, "");
    fflush(stderr);
}

void progress_end(const struct progress *p)
{
    if (p->shown && p->last > p->begin) {
        fprintf(stderr, "\r%*s\r", LINE_WIDTH + 5, "");
        fflush(stderr);
    }
}
