/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/answers.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "output/plot/charts.h"
#include "output/report/report_contents.h"
#include "output/text/phases_text.h"
#include "util/screen_text.h"

/* Upper bounds for the room that is asked for beforehand; the plot's is what trace_chart.c keeps to. */
enum { CSV_SAMPLE_BYTES = 90, JSON_BYTES = 100000, PLOT_BYTES = 3500000, TABLE_BYTES = 1000000 };

/* ---- a trace and its phases ---- */

struct answered_trace {
    const struct trace *trace;
    const struct phases *phases;
};

static int answers_trace_csv(FILE *stream, const void *data)
{
    return trace_write_csv(stream, ((const struct answered_trace *)data)->trace);
}

static int answers_phases_json(FILE *stream, const void *data)
{
    return file_print_json(stream, phases_to_json(((const struct answered_trace *)data)->phases));
}

static int answers_trace_chart(const void *data, struct chart *c, char *why, size_t size)
{
    const struct answered_trace *a = data;
    return trace_chart(a->trace, a->phases, c, why, size);
}

const struct outputs_kind answers_trace = {.form = {[OUTPUT_CSV] = {"the trace", "trace", answers_trace_csv},
                                                    [OUTPUT_JSON] = {"the phases", "phases", answers_phases_json},
                                                    [OUTPUT_PLOT] = {"the plot", "plot", NULL}},
                                           .chart = answers_trace_chart,
                                           .always_drawn = true};

int answers_check_trace(const struct outputs *out, uint64_t samples)
{
    /* they mostly share a file system: each is asked with room for those before it */
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

static int answers_wake_json(FILE *stream, const void *data)
{
    const struct answered_wake *a = data;
    return file_print_json(stream, wake_to_json(a->stages, a->source));
}

static int answers_wake_chart(const void *data, struct chart *c, char *why, size_t size)
{
    const struct answered_wake *a = data;
    return wake_chart(a->points, a->n, a->stages, a->source, c, why, size);
}

const struct outputs_kind answers_wake = {
    .form = {[OUTPUT_JSON] = {"the stages", "stages", answers_wake_json}, [OUTPUT_PLOT] = {"the plot", "plot", NULL}},
    .chart = answers_wake_chart,
    .always_drawn = true};

int answers_tell_wake(const struct outputs *out, const struct answered_wake *a)
{
    FILE *screen = outputs_screen(out);
    wake_text_print(screen, a->stages, a->source);
    return outputs_write(out, a, screen, "\n");
}

/* ---- a table ---- */

struct answered_table {
    const struct table_kind *kind;
    const struct table *table;
};

static int answers_table_csv(FILE *stream, const void *data)
{
    return table_write_csv(stream, ((const struct answered_table *)data)->table);
}

static int answers_table_json(FILE *stream, const void *data)
{
    return file_print_json(stream, table_to_json(((const struct answered_table *)data)->table));
}

static int answers_table_text(FILE *stream, const void *data)
{
    const struct answered_table *a = data;
    answers_show_table(stream, false, a->kind, a->table);
    return ferror(stream) != 0 ? -1 : 0;
}

static int answers_table_chart(const void *data, struct chart *c, char *why, size_t size)
{
    const struct answered_table *a = data;
    return table_chart(a->table, a->kind->title, c, why, size);
}

const struct outputs_kind answers_table = {.form = {[OUTPUT_CSV] = {"the table as CSV", "CSV", answers_table_csv},
                                                    [OUTPUT_JSON] = {"as JSON", "JSON", answers_table_json},
                                                    [OUTPUT_TEXT] = {"as text", "text", answers_table_text},
                                                    [OUTPUT_PLOT] = {"the plot", "plot", NULL}},
                                           .chart = answers_table_chart};

int answers_check_table(const struct outputs *out)
{
    return outputs_check(out, (const uint64_t[OUTPUT_FORMS]){TABLE_BYTES, TABLE_BYTES, TABLE_BYTES, TABLE_BYTES});
}

void answers_tell_findings(FILE *out, const struct table_kind *k, const struct table *t, size_t most)
{
    char *findings = report_contents_findings(k, t), *rest = findings, *line;
    for (size_t n = 0; n < most && rest != NULL && *rest != '\0' && (line = strsep(&rest, "\n")) != NULL; n++) {
        screen_text_words(out, line, 0, 2, screen_text_record_width(out));
        putc('\n', out);
    }
    free(findings);
}

void answers_show_table(FILE *out, bool colour, const struct table_kind *k, const struct table *t)
{
    tables_print(out, colour, k, t);
    if (k->findings != NULL && t->n_rows > 0) {
        putc('\n', out);
        answers_tell_findings(out, k, t, SIZE_MAX);
    }
}

int answers_write_table(const struct outputs *out, const struct table_kind *k, const struct table *t, FILE *screen)
{
    const struct answered_table a = {k, t};
    return outputs_write(out, &a, screen, "\n");
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
