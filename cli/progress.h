/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line that is rewritten while a measurement runs: repetitions done and time left. On a terminal only. */
#ifndef CHARACTERIZE_CLI_PROGRESS_H
#define CHARACTERIZE_CLI_PROGRESS_H

#include <stdbool.h>

struct progress {
    bool shown;         /* standard error is a terminal, and not --quiet */
    double begin, last; /* seconds, CLOCK_MONOTONIC */
    unsigned done;      /* repetitions, kept also when nothing is shown */
    unsigned wanted;
};

/* Seconds since some moment: CLOCK_MONOTONIC. */
double progress_seconds(void);

void progress_begin(struct progress *p, bool quiet);
void progress_step(struct progress *p, unsigned done, unsigned wanted);
/* Removes the line. */
void progress_end(struct progress *p);

#endif
