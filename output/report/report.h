/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report is made of. */
#ifndef CHARACTERIZE_REPORT_H
#define CHARACTERIZE_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "tables/table/table.h"

/* Findings at the top, in all. */
enum { REPORT_FINDINGS_MAX = 10 };

/* Rows of a table that are shown before the reader opens the others, and rows in the page, which are all printed:
 * of a longer table the page names the file. */
enum { REPORT_ROWS_SHOWN = 16, REPORT_ROWS_MAX = 1000 };

enum { REPORT_FILES_MAX = 4, REPORT_PARTS_MAX = 32 };

/* What is true of the whole measurement. All texts may be NULL. */
struct report_head {
    const char *cpu;     /* the processor's name: the title */
    const char *machine; /* "timing", "model:xeon-gold-6130" */
    const char *source;  /* what it counts with, in words */
    bool modelled;
    const char *date, *version, *seed, *command;
    /* what the reader should know before trusting a figure: a virtual machine, noise, cells that were discarded */
    const char *const *notes;
    size_t n_notes;
    /* files of the directory that belong to no table, as names relative to the page */
    const char *const *files;
    size_t n_files;
    bool incomplete; /* a requested table failed and has no part: the notes say which */
};

/* One table and what goes with it. All but `table` may be NULL. */
struct report_part {
    const struct table *table;
    const char *title;
    const char *findings;                /* lines, the most important first */
    const char *svg;                     /* of plot_svg(), or NULL and */
    const char *svg_why;                 /* why there is no plot */
    const char *files[REPORT_FILES_MAX]; /* names relative to the page; NULL ends them */
};

#endif
