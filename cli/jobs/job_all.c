/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --all: every table into one directory, resumable, with a report. */
#include <stdlib.h>
#include <string.h>

#include "tables/table/estimates.h"
#include "output/report/report_contents.h"
#include "output/report/report_words.h"
#include "output/validate/validate.h"
#include "cli/answers.h"
#include "cli/jobs/jobs.h"
#include "cli/measuring.h"
#include "cli/messages.h"
#include "cli/progress.h"
#include "cli/report_page.h"
#include "cli/run_directory.h"
#include "cli/stop.h"
#include "tables/published/published.h"

#define ALL_DIRECTORY "characterize-all"

struct all {
    const char *path;
    struct measuring measuring;
    struct report_words words;
    struct run_directory directory;
    const struct table_kind *const *kinds;
    size_t n, done;
    struct table tables[MEASURING_TABLES_MAX]; /* those that were measured, `done` of them */
    const struct table_kind *measured[MEASURING_TABLES_MAX];
    char failure[MEASURING_TABLES_MAX][700]; /* tables that failed, and why: not for what the machine is */
    const char *failures[MEASURING_TABLES_MAX + 1];
    size_t n_failures;
    char interrupted[300]; /* the line where a signal ends the program */
};

/* DIR/tables/NAME.csv, .json and .txt */
static int write_table(const struct all *a, const struct table_kind *k, const struct table *t)
{
    char *directory = file_in(a->path, "tables", "");
    int status = directory == NULL ? FAILED : answers_write_all_forms(directory, k, t);
    free(directory);
    return status;
}

/* What the table frequency says of levels, which is measured first, goes into those that tell of their changes. */
static void note_levels(const struct all *a, struct table *t)
{
    for (size_t i = 0; i < a->done; i++)
        if (a->measured[i]->exported == EXPORT_FREQUENCIES && &a->tables[i] != t)
            estimates_note_levels(t, &a->tables[i]);
}

/* DONE also where the table failed, which is noted; else it was measured, but not written. */
static int measure_one(struct all *a, size_t i)
{
    const struct table_kind *k = a->kinds[i];
    const struct tables_store store = run_directory_store(&a->directory);
    struct table *t = &a->tables[a->done];
    double begin = progress_seconds();
    int status = measuring_table(&a->measuring, k, &store, t);
    if (status != DONE && a->directory.failed)
        return status;
    if (status != DONE) {
        char *text = a->failure[a->n_failures];
        snprintf(text, sizeof(a->failure[0]), "the table %s failed: %s", k->name, a->measuring.failure);
        a->failures[a->n_failures++] = text;
        return DONE;
    }
    a->measured[a->done++] = k;
    note_levels(a, t);
    status = write_table(a, k, t);
    if (status == DONE && !a->measuring.quiet) {
        printf("%-12s %6zu row%s", k->name, t->n_rows, t->n_rows == 1 ? " " : "s");
        if (t->n_missing > 0)
            printf(", %zu not measured", t->n_missing);
        printf(", %.1f s\n", progress_seconds() - begin);
        (void)fflush(stdout);
    }
    return status;
}

/* One table that fails does not keep the others from being measured; what cannot be written does. */
static int job_all_measure_all(struct all *a)
{
    for (size_t i = 0; i < a->n; i++) {
        int status = stop_asked() ? FAILED : measure_one(a, i);
        if (stop_asked())
            return refuse(FAILED, "interrupted in table %s; the finished cells are kept in %s: continue with --resume",
                          a->kinds[i]->name, a->path);
        if (status != DONE)
            return status;
    }
    return DONE;
}

/* ---- against what was published of this very processor ---- */

static void count_verdicts(FILE *out, const struct table *t)
{
    enum { NAMED = 4 };
    size_t deviate = validate_count(t, "deviates"), named = 0;
    fprintf(out,
            "Of %zu published figures, %zu agree with the measurement; %zu deviate, %zu undecided, %zu not measured.\n",
            t->n_rows - validate_count(t, "not published"), validate_count(t, "agrees"), deviate,
            validate_count(t, "undecided"), validate_count(t, "not measured"));
    for (size_t i = 0; i < t->n_rows && named < NAMED; i++) {
        const char *verdict = table_text(t, i, "verdict"), *figure = table_text(t, i, "figure");
        if (verdict != NULL && figure != NULL && strcmp(verdict, "deviates") == 0) {
            fprintf(out, "%s%s (published %.4g, measured %.4g)", named++ == 0 ? "Deviating: " : "; ", figure,
                    table_number(t, i, "published"), table_number(t, i, "measured"));
        }
    }
    if (named > 0)
        fprintf(out, "%s.\n", deviate > named ? "; and more" : "");
}

/* A part of the report like the tables, but measured by none. */
static const struct table_kind verdicts_kind = {
    .name = "validate",
    .title = VALIDATE_TITLE,
    .print = validate_print_rows,
    .findings = count_verdicts,
};

/* The published figures of this processor, if there are any, become one more table. DONE, or FAILED after a line. */
static int job_all_compare(struct all *a)
{
    struct sku sku;
    struct machine_error error;
    const struct table *list[MEASURING_TABLES_MAX];
    struct table *t = &a->tables[a->done];
    if (a->done == 0 || a->done >= MEASURING_TABLES_MAX)
        return DONE;
    int found = tables_find_sku(table_meta(&a->tables[0], "cpu"), NULL, &sku, &error);
    if (found != MACHINE_OK)
        return found == MACHINE_CANNOT ? DONE : complain_of_machine("published figures", &error);
    for (size_t i = 0; i < a->done; i++)
        list[i] = &a->tables[i];
    int compared = validate_tables(&sku, list, a->done, t);
    a->measured[a->done++] = &verdicts_kind;
    int status = compared == 0 ? write_table(a, &verdicts_kind, t) : complain_out_of_memory();
    sku_free(&sku);
    return status;
}

/* The report, and on the screen what it begins with. */
static int job_all_conclude(struct all *a, const struct options *o)
{
    size_t n_rows = 0;
    for (size_t i = 0; i < a->done; i++)
        n_rows += a->tables[i].n_rows;
    int compared = job_all_compare(a);
    if (compared == FAILED)
        return compared; /* it could not be written: neither can the report */
    const struct report_page_tables contents = {a->done, a->measured, a->tables, a->failures};
    int status = report_page_write(a->path, o, &a->words, &contents);
    if (stop_asked())
        return refuse(FAILED, "interrupted while writing the report; --resume writes it");
    if (status != DONE)
        return status;
    if (!a->measuring.quiet)
        putchar('\n');
    for (size_t i = 0; i < a->done; i++) {
        char *findings = report_contents_findings(a->measured[i], &a->tables[i]);
        if (findings != NULL)
            printf("%.*s\n", (int)strcspn(findings, "\n"), findings);
        free(findings);
    }
    if (!a->measuring.quiet)
        printf("\nWritten      %s/report.html, with tables and plots next to it\n", a->path);
    if (a->n_failures > 0)
        return FAILED;
    if (compared == DONE && n_rows == 0)
        return refuse(CANNOT,
                      "no table can be measured on this machine, not even in part; %s/report.html gives the reasons",
                      a->path);
    return compared;
}

int job_all(const struct options *o)
{
    struct all *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return complain_out_of_memory();
    a->path = o->output != NULL ? o->output : ALL_DIRECTORY;
    a->kinds = tables_all(&a->n);
    a->directory.fd = -1;
    char why[600];
    /* read first: what is missing for the report must not be found out after hours */
    int status = report_words_read(&a->words, why, sizeof(why)) == 0 ? DONE : refuse(FAILED, "%s", why);
    if (status == DONE)
        status = measuring_open(o, &a->measuring);
    if (status == DONE) {
        /* planned first: what is refused then leaves no directory behind that would have to be resumed */
        status = measuring_plan(&a->measuring, a->kinds, a->n);
        if (status == DONE)
            status = run_directory_open(a->path, o->resume, o, &a->measuring, &a->directory);
        if (status == DONE) {
            snprintf(a->interrupted, sizeof(a->interrupted),
                     "interrupted; the finished cells are kept in %.200s: continue with --resume", a->path);
            stop_says(a->interrupted);
            status = job_all_measure_all(a);
        }
        int closed = measuring_close(&a->measuring);
        status = status == DONE ? closed : status;
        if (status == DONE)
            status = job_all_conclude(a, o);
        if (status == DONE)
            status = run_directory_check(&a->directory);
        run_directory_close(&a->directory);
    }
    for (size_t i = 0; i < a->done; i++)
        table_free(&a->tables[i]);
    stop_says(NULL);
    report_words_free(&a->words);
    free(a);
    return status;
}
