/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answers that are shown and written: a trace with its phases, and a table. */
#pragma once

#include "analysis/phases/phases.h"
#include "analysis/wake/wake.h"
#include "cli/outputs.h"
#include "tables/table/tables.h"
#include "trace/trace.h"

extern const struct outputs_kind answers_trace, answers_wake, answers_table;

/* outputs_check() for a trace of so many samples, and for a table. */
int answers_check_trace(const struct outputs *out, uint64_t samples);
int answers_check_table(const struct outputs *out);

/* Shows the phases and writes the files. `missing`: what was not measured, and why. DONE, or FAILED after a line. */
int answers_tell_trace(const struct outputs *out, const struct trace *t, const struct phases *p, const char *missing);

/* A recording of first uses after idle times, to be shown and written in the same way. */
struct answered_wake {
    const struct wake_point *points;
    size_t n;
    const struct wake_stages *stages;
    const struct wake_source *source;
};
int answers_tell_wake(const struct outputs *out, const struct answered_wake *a);

/* The first `most` findings of a table, one a line, on a terminal as many lines as they take. */
void answers_tell_findings(FILE *out, const struct table_kind *k, const struct table *t, size_t most);
/* The table as its kind prints it. */
void answers_show_table(FILE *out, bool colour, const struct table_kind *k, const struct table *t);
/* Writes the files and lists them on `screen`. k may be NULL where none is text or plot. DONE, or FAILED. */
int answers_write_table(const struct outputs *out, const struct table_kind *k, const struct table *t, FILE *screen);
/* DIRECTORY/NAME.csv, .json and .txt of it, and the directory. DONE, or an exit status after a line. */
int answers_write_all_forms(const char *directory, const struct table_kind *k, const struct table *t);
