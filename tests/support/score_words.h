/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the programs that score the analysis on drawn traces: their words, and the trace they write. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

/* A word of a program's own: a flag, or, with `value`, one that takes the next word. */
struct score_option {
    const char *word;
    bool *given;
    const char **value;
};

struct score_words {
    const char *usage;        /* of the program, without the kinds */
    const char *(*name)(int); /* of kind 0, 1, ... */
    int kinds;
    const struct score_option *options;
    size_t n_options;
    int chosen;      /* kind; -1: all */
    uint64_t first;  /* seed; 1 */
    size_t count;    /* as it is before */
    const char *csv; /* --csv: the one trace goes there, "-": to standard output; NULL: not given */
};

/* KIND|all [FIRST_SEED [COUNT]] and the options; 0, or -1: the usage was reported on standard error. */
int score_words_read(struct score_words *w, int argc, char **argv);
/* Exit status. */
int score_write_csv(const struct trace *t, const char *path);
/* CPU time of the thread, s. */
double score_seconds(void);
