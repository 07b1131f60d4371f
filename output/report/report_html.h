/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report of a whole measurement as one page: report.html, with its style and its pictures inside, without scripts
 * and without anything fetched from elsewhere. Pure: it prints finished tables and the texts that it is given.
 */
#ifndef CHARACTERIZE_REPORT_HTML_H
#define CHARACTERIZE_REPORT_HTML_H

#include <stddef.h>
#include <stdio.h>

#include "output/report/report.h"
#include "output/report/report_words.h"

/*
 * Writes the page (data/report/page.html.in). Sections: the machine and how it was set, findings (the first line of
 * each table first, then second and third ones, REPORT_FINDINGS_MAX in all), each table, what could not be measured
 * (equal reasons together), how it was done, files. Returns 0, or -1 with one line in `why`: out of memory, or a
 * template with an unknown or a missing place; with none where the stream failed.
 */
int report_html(FILE *out, const struct report_words *w, const struct report_head *head,
                const struct report_part *parts, size_t n, char *why, size_t why_size);

#endif
