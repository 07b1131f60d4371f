/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings of first uses after idle times, as CSV (doc/formats.md). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "trace/trace.h"

/* One point: the unit was idle for idle_us, then its first use took first_us. */
struct wake_row {
    double idle_us, first_us;
};

struct wake_csv {
    struct wake_row *row;
    size_t n;
    bool cut; /* the last line had no end, may have been cut, and was left out */
    char unit[48], cpu[160], machine[160], environment[400]; /* "": not given */
};

/* Returns true if the first line that is neither empty nor a comment names idle_us and first_us. */
bool wake_csv_is(const char *header_line);

/*
 * Reads one: columns idle_us (from 0) and first_us (above 0), in microseconds; `unit`, of which there is one; others
 * are ignored. Returns 0 (wake_csv_free), or -1 with *err: what is wrong, and where.
 */
int wake_csv_read(FILE *in, struct wake_csv *w, struct trace_error *err);
void wake_csv_free(struct wake_csv *w);
