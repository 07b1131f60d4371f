/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report of a complete measurement as one page, report.html: pure, from finished tables. Without scripts it shows
 * the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "output/document/html.h"
#include "tables/table/table.h"
#include "tables/table/tables.h"

/* ---- the page: report_html.c ---- */

/* Findings at the top, in all. */
enum { REPORT_FINDINGS_MAX = 10 };
enum { REPORT_FILES_MAX = 4 };

/* Facts about the entire measurement. All texts may be NULL. */
struct report_head {
    const char *cpu;     /* the processor's name: the title */
    const char *machine; /* "timing", "model:xeon-gold-6130" */
    const char *source;  /* its means of counting, in words */
    bool modelled;
    const char *date, *version, *seed, *command;
    /* to be known before trusting a figure: a virtual machine, noise, cells that were discarded */
    const char *const *notes;
    size_t n_notes;
    /* files of the directory that belong to no table, as names relative to the page */
    const char *const *files;
    size_t n_files;
    bool incomplete; /* a requested table failed and has no part: the notes say which */
    /* other pages beside this one, which its contents link: profile.html */
    const char *const *pages;
    size_t n_pages;
    /* the widest switch: its picture, of plot_svg(), with its name; or why there is none */
    const char *course_svg, *course_title, *course_why;
    const char *course_notes; /* lines: what its figures do not show; may be NULL */
    const char *verdict;      /* lines: whether wide code pays (output/verdict); NULL or "": the tables do not say */
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

/*
 * Writes the page (data/report/page.html.in). Sections: the verdict, findings (the first line of each table first, then
 * second and third ones, REPORT_FINDINGS_MAX in all), the widest switch, each table, the machine and how it was set,
 * what could not be measured (equal reasons together), how it was done, words, files. Returns 0, or -1 with one line in
 * `why`: out of memory, or a template with an unknown or a missing place; with none where the stream failed.
 */
int report_html(FILE *out, const struct html_words *w, const struct report_head *head, const struct report_part *parts,
                size_t n, char *why, size_t why_size);
/* Returns true if a text cites a source: its letter as a word of its own, with a section ("G 3.2.2") or alone ("K)",
 * "K,"). */
bool report_cites(const char *text, char letter);

/* ---- from finished tables to what it shows: report.c ---- */

/* The lines that a table's kind finds in it, malloc'ed; NULL: none. */
char *report_findings(const struct table_kind *k, const struct table *t);

/* The switch that the report shows before its tables: the widest one that was measured. */
struct report_course {
    const char *phases; /* a phases file, of the table */
    unsigned cores;     /* active ones */
    size_t table;       /* whose it is */
};
/*
 * Chooses, of the switches to wider or heavier code in the tables' details, the one to the widest and heaviest kernel
 * from the narrowest and lightest, with most active cores, and if possible one in which something happens. False: there
 * is none.
 */
bool report_course_choose(const struct table *tables, size_t n, struct report_course *out);
/* Notes on what its figures do not show, a line each: that the table has no levels, and the warnings of its phases. */
void report_course_notes(const struct table *tables, const struct report_course *course, char *out, size_t size);

struct report_contents;
/*
 * The head of a report of n tables (n > 0), which must outlive it. `failures`: tables that could not be measured, a
 * sentence each, NULL ends them. `command`: what measures this again; may be NULL. NULL: out of memory.
 */
struct report_contents *report_contents_new(const struct table *tables, size_t n, const char *const *failures,
                                            const char *command);
/* Another page that stands beside the report, which links it; the name must outlive it. */
void report_contents_page(struct report_contents *c, const char *name);
/* One more table; draws its plot. Returns its part, or NULL: there are too many. */
const struct report_part *report_contents_add(struct report_contents *c, const struct table_kind *k,
                                              const struct table *t);
/* As report_html(). */
int report_contents_html(FILE *out, const struct html_words *w, const struct report_contents *c, char *why,
                         size_t why_size);
void report_contents_free(struct report_contents *c);
