/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks, names and writes the files of one answer in all its forms. */
#include "cli/outputs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "output/plot/charts.h"
#include "output/plot/plot.h"
#include "output/report/report.h"
#include "output/text/phases_text.h"
#include "util/screen_text.h"

enum { WHY_SIZE = 1000 };

void outputs_stem(const char *from, const char *to, char *stem, size_t size)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@._+-";
    snprintf(stem, size, "%s%s%s", from, to != NULL ? "_" : "", to != NULL ? to : "");
    for (char *c = stem; *c != '\0'; c++)
        if (strchr(harmless, *c) == NULL)
            *c = '-';
    if (stem[0] == '.' || stem[0] == '-')
        stem[0] = '_'; /* neither hidden nor taken for an option */
}

int outputs_choose(const struct options *o, const struct outputs_kind *kind, const char *stem, const char *directory,
                   struct outputs *out)
{
    static const char *const endings[OUTPUT_FORMS] = {".csv", ".json", ".txt", ".svg"};
    const char *named[OUTPUT_FORMS] = {o->csv, o->json, NULL, o->plot}, *labels[OUTPUT_FORMS];
    bool single = o->csv != NULL || o->json != NULL || o->plot != NULL;
    const char *into = o->output != NULL ? o->output : single ? NULL : directory;
    *out = (struct outputs){.kind = kind, .plot_requested = o->plot != NULL, .plot_possible = plot_possible()};
    if (out->plot_requested && !out->plot_possible)
        return refuse(CANNOT, "--plot needs gnuplot, which is not in PATH; %s", plot_remedy);
    for (int i = 0; i < OUTPUT_FORMS; i++) {
        labels[i] = kind->form[i].label;
        if (labels[i] == NULL || (named[i] == NULL && into == NULL))
            continue;
        out->path[i] = named[i] != NULL ? strdup(named[i]) : file_in(into, stem, endings[i]);
        if (out->path[i] == NULL)
            return complain_out_of_memory();
    }
    int status = into != NULL ? directories_make(into, "--output", &out->directories) : DONE;
    return status == DONE ? files_differ((const char *const *)out->path, labels, OUTPUT_FORMS) : status;
}

int outputs_check(const struct outputs *out, const uint64_t bytes[OUTPUT_FORMS])
{
    int status = DONE;
    for (int i = 0; i < OUTPUT_FORMS && status == DONE; i++)
        if (i != OUTPUT_PLOT || out->plot_possible)
            status = file_check(out->path[i], bytes[i]);
    return status;
}

FILE *outputs_screen(const struct outputs *out)
{
    return file_is_stdout(out->path[OUTPUT_CSV]) || file_is_stdout(out->path[OUTPUT_JSON]) ? stderr : stdout;
}

/* A plot that was not requested and cannot be drawn is reported in `why`, and no failure. */
static int draw(const struct outputs *out, const void *data, char why[WHY_SIZE])
{
    const char *path = out->path[OUTPUT_PLOT];
    struct chart chart;
    why[0] = '\0';
    if (!out->plot_possible) {
        snprintf(why, WHY_SIZE, "gnuplot is not in PATH (%s)", plot_remedy);
        return DONE;
    }
    int status = out->kind->chart(data, &chart, why, WHY_SIZE);
    if (status == 0)
        status = plot_write(&chart, path, why, WHY_SIZE);
    chart_free(&chart);
    if (status != 0 && file_interrupted(path))
        return FAILED;
    bool failed = status == -2 || (status != 0 && (out->plot_requested || out->kind->always_drawn));
    return failed ? refuse(FAILED, "no plot: %s", why) : DONE;
}

int outputs_write(const struct outputs *out, const void *data, FILE *screen, const char *before)
{
    const char *heading = "Written";
    for (int i = 0; i < OUTPUT_FORMS; i++) {
        const char *path = out->path[i];
        char why[WHY_SIZE] = "";
        if (path == NULL)
            continue;
        if (file_interrupted(path) ||
            (i == OUTPUT_PLOT ? draw(out, data, why) : file_write(path, out->kind->form[i].print, data)) != DONE)
            return FAILED;
        if (file_is_stdout(path))
            continue;
        fputs(before, screen);
        if (why[0] != '\0')
            messages_print(screen, "%-12s no plot was drawn: %s", heading, why);
        else
            messages_print(screen, "%-12s %s (%s)", heading, path, out->kind->form[i].what);
        before = heading = "";
    }
    return DONE;
}

void outputs_free(struct outputs *out)
{
    directories_tidy(&out->directories);
    for (int i = 0; i < OUTPUT_FORMS; i++)
        free(out->path[i]);
    memset(out, 0, sizeof(*out));
}

/* Upper bounds for the room that is requested beforehand; the plot's is what trace_chart.c keeps to. */
enum { CSV_SAMPLE_BYTES = 90, JSON_BYTES = 100000, PLOT_BYTES = 3500000, TABLE_BYTES = 1000000 };

/* ---- a trace and its phases ---- */

struct answered_trace {
    const struct trace *trace;
    const struct phases *phases;
};

static int print_trace_csv(FILE *stream, const void *data)
{
    return trace_write_csv(stream, ((const struct answered_trace *)data)->trace);
}

static int print_phases_json(FILE *stream, const void *data)
{
    return file_print_json(stream, phases_to_json(((const struct answered_trace *)data)->phases));
}

static int draw_trace(const void *data, struct chart *c, char *why, size_t size)
{
    const struct answered_trace *a = data;
    return trace_chart(a->trace, a->phases, c, why, size);
}

const struct outputs_kind answers_trace = {.form = {[OUTPUT_CSV] = {"the trace", "trace", print_trace_csv},
                                                    [OUTPUT_JSON] = {"the phases", "phases", print_phases_json},
                                                    [OUTPUT_PLOT] = {"the plot", "plot", NULL}},
                                           .chart = draw_trace,
                                           .always_drawn = true};

int answers_check_trace(const struct outputs *out, uint64_t samples)
{
    /* they mostly share a file system: each is checked with room for those before it */
    uint64_t csv = samples * CSV_SAMPLE_BYTES, before = out->path[OUTPUT_CSV] != NULL ? csv : 0;
    const uint64_t bytes[OUTPUT_FORMS] = {
        [OUTPUT_CSV] = csv, [OUTPUT_JSON] = before + JSON_BYTES, [OUTPUT_PLOT] = before + JSON_BYTES + PLOT_BYTES};
    return outputs_check(out, bytes);
}

int answers_tell_trace(const struct outputs *out, const struct trace *t, const struct phases *p, const char *missing)
{
    const struct answered_trace a = {t, p};
    FILE *screen = outputs_screen(out);
    phases_text_print(screen, messages_colour(screen), t, p, missing);
    return outputs_write(out, &a, screen, "");
}

/* ---- first uses after idle times ---- */

static int print_stages_json(FILE *stream, const void *data)
{
    const struct answered_wake *a = data;
    return file_print_json(stream, wake_to_json(a->stages, a->source));
}

static int draw_wake(const void *data, struct chart *c, char *why, size_t size)
{
    const struct answered_wake *a = data;
    return chart_first_uses(a->points, a->n, a->stages, a->source, c, why, size);
}

const struct outputs_kind answers_wake = {
    .form = {[OUTPUT_JSON] = {"the stages", "stages", print_stages_json}, [OUTPUT_PLOT] = {"the plot", "plot", NULL}},
    .chart = draw_wake,
    .always_drawn = true};

int answers_tell_wake(const struct outputs *out, const struct answered_wake *a)
{
    FILE *screen = outputs_screen(out);
    phases_text_print_stages(screen, a->stages, a->source);
    return outputs_write(out, a, screen, "\n");
}

/* ---- a table ---- */

struct answered_table {
    const struct table_kind *kind;
    const struct table *table;
};

static int print_table_csv(FILE *stream, const void *data)
{
    return table_write_csv(stream, ((const struct answered_table *)data)->table);
}

static int print_table_json(FILE *stream, const void *data)
{
    return file_print_json(stream, table_to_json(((const struct answered_table *)data)->table));
}

/* The table as its kind prints it, and its findings. */
static void show_table(FILE *out, bool colour, const struct table_kind *k, const struct table *t)
{
    tables_print(out, colour, k, t);
    if (k->findings != NULL && t->n_rows > 0) {
        putc('\n', out);
        answers_tell_findings(out, k, t, SIZE_MAX);
    }
}

static int print_table_text(FILE *stream, const void *data)
{
    const struct answered_table *a = data;
    show_table(stream, false, a->kind, a->table);
    return ferror(stream) != 0 ? -1 : 0;
}

static int draw_table(const void *data, struct chart *c, char *why, size_t size)
{
    const struct answered_table *a = data;
    return table_chart(a->table, a->kind->title, c, why, size);
}

#define TABLE_FORMS                                                                                                    \
    [OUTPUT_CSV] = {"the table as CSV", "CSV", print_table_csv},                                                       \
    [OUTPUT_JSON] = {"as JSON", "JSON", print_table_json}, [OUTPUT_TEXT] = {"as text", "text", print_table_text}

const struct outputs_kind answers_table = {.form = {TABLE_FORMS, [OUTPUT_PLOT] = {"the plot", "plot", NULL}},
                                           .chart = draw_table};
const struct outputs_kind answers_rows = {.form = {TABLE_FORMS}};

int answers_check_table(const struct outputs *out)
{
    return outputs_check(out, (const uint64_t[OUTPUT_FORMS]){TABLE_BYTES, TABLE_BYTES, TABLE_BYTES, TABLE_BYTES});
}

void answers_tell_findings(FILE *out, const struct table_kind *k, const struct table *t, size_t most)
{
    char *findings = report_findings(k, t), *rest = findings, *line;
    for (size_t n = 0; n < most && rest != NULL && *rest != '\0' && (line = strsep(&rest, "\n")) != NULL; n++) {
        screen_text_words(out, line, 0, 2, screen_text_record_width(out));
        putc('\n', out);
    }
    free(findings);
}

int answers_tell_table(const struct outputs *out, const struct table_kind *k, const struct table *t)
{
    FILE *screen = outputs_screen(out);
    const struct answered_table a = {k, t};
    show_table(screen, messages_colour(screen), k, t);
    const int status = outputs_write(out, &a, screen, "\n");
    (void)fflush(screen); /* a refusal that follows says that the reasons are above */
    return status;
}

int answers_write_all_forms(const char *directory, const struct table_kind *k, const struct table *t)
{
    static const char *const endings[] = {[OUTPUT_CSV] = ".csv", [OUTPUT_JSON] = ".json", [OUTPUT_TEXT] = ".txt"};
    const struct answered_table a = {k, t};
    int status = directories_make(directory, "--output", NULL);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]) && status == DONE; i++) {
        char *path = file_in(directory, k->name, endings[i]);
        status = path == NULL ? FAILED : file_write(path, answers_table.form[i].print, &a);
        free(path);
    }
    return status;
}
