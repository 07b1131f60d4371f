/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From finished tables to what the report prints: the head from their metadata, a part of each with its picture. */
#pragma once

#include "output/report/report.h"
#include "tables/table/chart.h"
#include "tables/table/tables.h"

enum { REPORT_COURSE_NOTES_MAX = 3000, REPORT_VERDICT_MAX = 2000, REPORT_NOTES_MAX = 24, REPORT_PAGES_MAX = 4 };

/* What a part refers to. */
struct report_texts {
    char *findings, *svg;
    char why[400], csv[80], json[80], text[80], plot[80];
};

struct report_contents {
    struct report_head head;
    size_t n;
    struct report_part parts[REPORT_PARTS_MAX];
    struct report_texts texts[REPORT_PARTS_MAX];
    const char *notes[REPORT_NOTES_MAX], *pages[REPORT_PAGES_MAX];
    char verdict[REPORT_VERDICT_MAX];
    char *course_svg, course_title[CHART_NAME_MAX], course_why[400], course_notes[REPORT_COURSE_NOTES_MAX];
    char note_text[REPORT_NOTES_MAX][700], command[2000];
};

/* The lines that a table's kind finds in it, malloc'ed; NULL: none. */
char *report_contents_findings(const struct table_kind *k, const struct table *t);

/*
 * The head of a report of n tables (n > 0), which must outlive it. `failures`: tables that could not be measured, a
 * sentence each, NULL ends them. `command`: what measures this again; may be NULL. NULL: out of memory.
 */
struct report_contents *report_contents_new(const struct table *tables, size_t n, const char *const *failures,
                                            const char *command);
/* Another page that stands beside the report, which links it; the name must outlive it. */
void report_contents_page(struct report_contents *c, const char *name);
/* One more table; draws its plot. Returns its part, or NULL: there are REPORT_PARTS_MAX. */
const struct report_part *report_contents_add(struct report_contents *c, const struct table_kind *k,
                                              const struct table *t);
void report_contents_free(struct report_contents *c);
