/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --table NAME: one table, shown and written; --all: every table into one directory, resumable, with a report. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files.h"
#include "cli/jobs/jobs.h"
#include "cli/measuring.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/run_directory.h"
#include "cli/stop.h"
#include "output/report/report.h"
#include "output/validate/validate.h"
#include "tables/published/sku.h"
#include "tables/table/estimates.h"
#include "util/clock.h"

/* ---- --table ---- */

static int table_measure(const struct options *o, struct table *t)
{
    struct measuring m;
    int status = measuring_open(o, &m);
    if (status != DONE)
        return status;
    status = measuring_single_table(&m, o->table, t);
    if (status != DONE && stop_requested())
        complain("interrupted after %zu of %zu cells; nothing was written (--all keeps finished cells)", m.cells_done,
                 m.cells);
    return status;
}

int job_table(const struct options *o)
{
    struct outputs files;
    struct table t;
    int status = outputs_choose(o, &answers_table, o->table->name, DEFAULT_OUTPUT_DIRECTORY, &files);
    if (status == DONE)
        status = answers_check_table(&files);
    if (status == DONE)
        status = table_measure(o, &t);
    if (status == DONE) {
        status = answers_tell_table(&files, o->table, &t);
        if (status == DONE && t.n_rows == 0 && t.n_missing > 0)
            status = refuse(CANNOT, "table %s: none of it can be measured on this machine; the reasons are above",
                            o->table->name);
        table_free(&t);
    }
    outputs_free(&files);
    return status;
}

/* ---- --all ---- */

#define ALL_DIRECTORY "characterize-all"

struct all {
    const char *path;
    struct measuring measuring;
    struct html_words words;
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

/* DONE also where the table failed, which is noted; else it was measured, but not written. */
static int measure_one(struct all *a, size_t i)
{
    const struct table_kind *k = a->kinds[i];
    const struct tables_store store = run_directory_store(&a->directory);
    struct table *t = &a->tables[a->done];
    double begin = clock_seconds(CLOCK_MONOTONIC);
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
    /* the table frequency is measured first; what it says of levels goes into the tables about their changes */
    for (size_t m = 0; m < a->done; m++)
        if (a->measured[m]->exported == EXPORT_FREQUENCIES && &a->tables[m] != t)
            estimates_note_levels(t, &a->tables[m]);
    status = write_table(a, k, t);
    if (status == DONE && !a->measuring.quiet) {
        printf("%-12s %6zu row%s", k->name, t->n_rows, t->n_rows == 1 ? " " : "s");
        if (t->n_missing > 0)
            printf(", %zu not measured", t->n_missing);
        printf(", %.1f s\n", clock_seconds(CLOCK_MONOTONIC) - begin);
        (void)fflush(stdout);
    }
    return status;
}

/* One table that fails does not keep the others from being measured; what cannot be written does. */
static int all_measure_all(struct all *a)
{
    for (size_t i = 0; i < a->n; i++) {
        int status = stop_requested() ? FAILED : measure_one(a, i);
        if (stop_requested())
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
    size_t deviate = validate_count(t, "deviates"), named = 0, findings = findings_each(t, NULL, NULL);
    if (t->n_rows > 0)
        fprintf(out,
                "Of %zu figures, published or stated by the processor, %zu agree with the measurement; %zu deviate, "
                "%zu undecided, %zu not measured; ",
                t->n_rows - validate_count(t, "not published"), validate_count(t, "agrees"), deviate,
                validate_count(t, "undecided"), validate_count(t, "not measured"));
    else
        fprintf(out, "No figures of this processor are known; ");
    fprintf(out, "%zu finding%s.\n", findings, findings == 1 ? "" : "s");
    for (size_t i = 0; i < t->n_rows && named < NAMED; i++) {
        const char *verdict = table_text(t, i, "verdict"), *figure = table_text(t, i, "figure");
        if (verdict != NULL && figure != NULL && strcmp(verdict, "deviates") == 0) {
            fprintf(out, "%s%s (published %.4g, measured %.4g)", named++ == 0 ? "Deviating: " : "; ", figure,
                    table_number(t, i, "published"), table_number(t, i, "measured"));
        }
    }
    if (named > 0)
        fprintf(out, "%s.\n", deviate > named ? "; and more" : "");
    validate_print_findings(out, t);
}

/* A part of the report like the tables, but measured by none. */
static const struct table_kind verdicts_kind = {
    .name = "validate",
    .title = VALIDATE_TITLE,
    .print = validate_print_rows,
    .findings = count_verdicts,
};

/* The figures of this processor, as far as any are known, become one more table. DONE, or FAILED after a line. */
static int all_compare(struct all *a)
{
    struct sku sku;
    struct machine_error error;
    const struct table *list[MEASURING_TABLES_MAX];
    struct table *t = &a->tables[a->done];
    if (a->done == 0 || a->done >= MEASURING_TABLES_MAX)
        return DONE;
    int found = tables_find_sku(table_meta(&a->tables[0], "cpu"), NULL, &sku, &error);
    if (found != MACHINE_OK && found != MACHINE_CANNOT)
        return complain_of_machine("published figures", &error);
    if (found == MACHINE_CANNOT) /* the processor's own statements and findings need none */
        sku = (struct sku){.n_figures = 0};
    for (size_t i = 0; i < a->done; i++)
        list[i] = &a->tables[i];
    int compared = validate_tables(&sku, list, a->done, t);
    sku_free(&sku);
    if (compared == 0 && t->n_rows == 0 && findings_each(t, NULL, NULL) == 0) {
        table_free(t);
        return DONE;
    }
    a->measured[a->done++] = &verdicts_kind;
    return compared == 0 ? write_table(a, &verdicts_kind, t) : complain_out_of_memory();
}

/* ---- the report: the command that it shows ---- */

/* The command that measures this again, malloc'ed: the requested options, except where to write and to resume. NULL:
 * out of memory. */
static char *command_text(const struct options *o, const char *machine)
{
    static const char *const shown[] = {
        "kernels",         "active-cores", "cpus",     "cpu",   "runs",  "period", "warmup", "observe",
        "fixed-frequency", "companion",    "siblings", "brief", "turbo", "event",  "seed"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    fprintf(out, "characterize --all --machine %s", machine != NULL ? machine : "auto");
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        for (size_t k = 0; k < o->n_given; k++)
            if (strcmp(o->given[k].name, shown[i]) == 0)
                fprintf(out, " --%s%s%s", shown[i], o->given[k].text != NULL ? " " : "",
                        o->given[k].text != NULL ? o->given[k].text : "");
    return fclose(out) == 0 ? text : NULL;
}

/* ---- the report: its files ---- */

static int write_svg(const char *directory, const char *name, const char *svg)
{
    char *plots = file_in(directory, "plots", "");
    char *file = plots != NULL ? file_in(plots, name, ".svg") : NULL;
    int status = file != NULL ? directories_make(plots, "--output", NULL) : FAILED;
    if (status == DONE)
        status = file_write(file, file_print_text, svg);
    free(plots);
    free(file);
    return status;
}

struct page {
    const struct html_words *words;
    const struct report_contents *contents;
    char why[200];
};

static int print_page(FILE *out, const void *data)
{
    struct page *p = *(struct page *const *)data;
    return report_contents_html(out, p->words, p->contents, p->why, sizeof(p->why));
}

static int write_page(const char *directory, const struct html_words *words, const struct report_contents *contents)
{
    struct page page = {.words = words, .contents = contents}, *data = &page;
    char *file = file_in(directory, "report", ".html"), why[400] = "out of memory";
    int status = file != NULL ? file_try_write(file, print_page, &data, why, sizeof(why)) : FAILED;
    if (status != DONE)
        complain("%s%s", page.why[0] != '\0' ? "no report: " : "", page.why[0] != '\0' ? page.why : why);
    free(file);
    return status;
}

/* Pages of other jobs that were written to the same directory. */
static void link_pages(const char *directory, struct report_contents *contents)
{
    static const char *const pages[] = {"profile.html", "simulation.html"};
    for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
        char *file = file_in(directory, pages[i], "");
        if (file != NULL && access(file, R_OK) == 0)
            report_contents_page(contents, pages[i]);
        free(file);
    }
}

/* DIR/plots/NAME.svg of each table and DIR/report.html. DONE, or an exit status after a line; interrupted when
 * stop_requested(). */
static int write_report(const struct all *a, const struct options *o)
{
    if (a->done == 0)
        return refuse(FAILED, "no report: no table was measured");
    char *command = command_text(o, table_meta(&a->tables[0], "machine"));
    struct report_contents *contents = command != NULL ? report_contents_new(a->tables, a->done, a->failures, command)
                                                       : NULL;
    int status = contents != NULL ? DONE : refuse(FAILED, "no report: out of memory");
    if (contents != NULL)
        link_pages(a->path, contents);
    for (size_t i = 0; i < a->done && status == DONE; i++) {
        const struct report_part *part = stop_requested()
                                             ? NULL
                                             : report_contents_add(contents, a->measured[i], &a->tables[i]);
        status = part == NULL ? FAILED : DONE;
        if (part != NULL && part->svg != NULL)
            status = write_svg(a->path, a->measured[i]->name, part->svg);
    }
    if (status == DONE)
        status = write_page(a->path, &a->words, contents);
    report_contents_free(contents);
    free(command);
    return status;
}

/* The report, and on the screen what it begins with. */
static int all_conclude(struct all *a, const struct options *o)
{
    size_t n_rows = 0;
    for (size_t i = 0; i < a->done; i++)
        n_rows += a->tables[i].n_rows;
    int compared = all_compare(a);
    if (compared == FAILED)
        return compared; /* it could not be written: neither can the report */
    int status = write_report(a, o);
    if (stop_requested())
        return refuse(FAILED, "interrupted while writing the report; --resume writes it");
    if (status != DONE)
        return status;
    if (!a->measuring.quiet)
        putchar('\n');
    for (size_t i = 0; i < a->done; i++)
        answers_tell_findings(stdout, a->measured[i], &a->tables[i], 1);
    if (!a->measuring.quiet) {
        putchar('\n');
        messages_print(stdout, "Written      %s/report.html, with tables and plots next to it", a->path);
    }
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
    int status = html_words_read(&a->words, why, sizeof(why)) == 0 ? DONE : refuse(FAILED, "%s", why);
    if (status == DONE)
        status = measuring_open(o, &a->measuring);
    if (status == DONE) {
        /* planned first: a refusal then leaves no directory that would have to be resumed */
        status = measuring_plan(&a->measuring, a->kinds, a->n);
        if (status == DONE)
            status = run_directory_open(a->path, o->resume, o, &a->measuring, &a->directory);
        if (status == DONE) {
            snprintf(a->interrupted, sizeof(a->interrupted),
                     "interrupted; the finished cells are kept in %.200s: continue with --resume", a->path);
            stop_says(a->interrupted);
            status = all_measure_all(a);
        }
        int closed = measuring_close(&a->measuring);
        status = status == DONE ? closed : status;
        if (status == DONE)
            status = all_conclude(a, o);
        if (status == DONE)
            status = run_directory_check(&a->directory);
        run_directory_close(&a->directory);
    }
    for (size_t i = 0; i < a->done; i++)
        table_free(&a->tables[i]);
    stop_says(NULL);
    html_words_free(&a->words);
    free(a);
    return status;
}
