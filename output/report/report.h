/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report of a whole measurement as one page: report.html, with its style, its script and its pictures inside, and
 * without anything fetched from elsewhere; without scripts it shows the same. Pure: it prints finished tables and
 * the texts that it is given.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tables/table/table.h"
#include "util/template.h"

/* ---- report_words.c: the words and the look of the report, read from the data folder: data/report/ ---- */

struct report_words {
    struct template_file page, table;   /* of a table: of its section */
    struct template_file style, script; /* CSS; what sorts tables */
    /* words.json; headings of columns by name, publications by letter, words that the report explains */
    json_t *all, *columns, *sources, *glossary;
};

/* Returns 0, or -1 with one line in `why`: which file is not there or cannot be used, and what would work. */
int report_words_read(struct report_words *w, char *why, size_t why_size);
void report_words_free(struct report_words *w);

/* The heading of a column without its unit, into `out`: "frequency" of freq_ghz. */
void report_words_column(const struct report_words *w, const struct table_column *c, char *out, size_t size);

/* Whether a text cites a source: its letter as a word of its own, with a section ("G 3.2.2") or alone ("K)", "K,"). */
bool report_words_cites(const char *text, char letter);

/* ---- report_html.c ---- */

/* Findings at the top, in all. */
enum { REPORT_FINDINGS_MAX = 10 };

/* Rows of a table that are shown before the reader opens the others, and rows in the page, which are all printed:
 * of a longer table the page names the file; and rows on paper, as data/report/style.css has them. */
enum { REPORT_ROWS_SHOWN = 16, REPORT_ROWS_MAX = 1000, REPORT_ROWS_PAPER = 8 };

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
    /* other pages beside this one, which its contents link: profile.html */
    const char *const *pages;
    size_t n_pages;
    /* the widest switch: its picture, of plot_svg(), with its name; or why there is none */
    const char *course_svg, *course_title, *course_why;
    const char *course_notes; /* lines: what its figures do not show; may be NULL */
    const char *verdict;      /* lines: whether wide code pays (output/verdict); NULL or "": the tables do not tell */
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
int report_html(FILE *out, const struct report_words *w, const struct report_head *head,
                const struct report_part *parts, size_t n, char *why, size_t why_size);
