/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plots and report.html of a finished run. */
#ifndef CHARACTERIZE_CLI_REPORT_PAGE_H
#define CHARACTERIZE_CLI_REPORT_PAGE_H

#include "cli/options/options.h"
#include "output/report/report_words.h"
#include "tables/table/table.h"
#include "tables/table/tables.h"

/* What goes into the report. */
struct report_page_tables {
    size_t n;
    const struct table_kind *const *kinds; /* n of them */
    const struct table *tables;            /* n of them */
    const char *const *failures;           /* tables that could not be measured, a sentence each; NULL ends them */
};

/*
 * Writes DIR/plots/NAME.svg of each table and DIR/report.html. DONE, or an exit status after a line; interrupted when
 * stop_asked().
 */
int report_page_write(const char *directory, const struct options *o, const struct report_words *words,
                      const struct report_page_tables *t);

#endif
