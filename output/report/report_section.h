/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One table in the report: heading, findings, picture, rows, settings, files (data/report/table.html.in). */
#ifndef CHARACTERIZE_REPORT_SECTION_H
#define CHARACTERIZE_REPORT_SECTION_H

#include <stddef.h>
#include <stdio.h>

#include "output/report/report.h"
#include "output/report/report_words.h"

const char *report_section_title(const struct report_part *p);
/* How it was measured; NULL: nobody says. */
const char *report_section_method(const struct report_part *p);

/* The section number `number` of the page. Returns 0, or -1 with one line in `why`. */
int report_section(FILE *out, const struct report_words *w, const struct report_part *p, size_t number, char *why,
                   size_t why_size);

#endif
