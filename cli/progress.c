/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds between two updates: more often would only disturb what is measured. */
static const double UPDATE_SECONDS = 0.25;

double progress_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_begin(struct progress *p, bool quiet)
{
    memset(p, 0, sizeof(*p));
    p->shown = !quiet && isatty(STDERR_FILENO);
    p->begin = p->last = progress_seconds();
}

void progress_step(struct progress *p, unsigned done, unsigned wanted)
{
    p->done = done;
    p->wanted = wanted;
    double t = p->shown ? progress_seconds() : 0;
    if (!p->shown || t - p->last < UPDATE_SECONDS || done == 0)
        return;
    p->last = t;
    double left = (t - p->begin) / done * (wanted - done);
    char line[100];
    int length = left < 90 ? snprintf(line, sizeof(line), "%u of %u repetitions, %.0f s left", done, wanted, ceil(left))
                           : snprintf(line, sizeof(line), "%u of %u repetitions, %.0f min left", done, wanted,
                                      ceil(left / 60));
    fprintf(stderr, "\r%s%*s", line, length < 60 ? 60 - length : 0, "");
    fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->shown && p->last > p->begin) {
        fprintf(stderr, "\r%70s\r", "");
        fflush(stderr);
    }
    p->shown = false;
}
