/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/outputs.h"

#include <stdlib.h>
#include <string.h>

#include "util/atomic_file.h"
#include "output/plot/gnuplot.h"
#include "output/plot/plot.h"
#include "output/plot/trace_chart.h"
#include "analysis/phases/phases.h"
#include "cli/messages.h"

/* Upper bounds for the room that is asked for beforehand; the plot's is what trace_chart.c keeps to. */
enum { CSV_SAMPLE_BYTES = 90, JSON_BYTES = 100000, PLOT_BYTES = 3500000, WHY_SIZE = 1000 };

static int outputs_out_of_memory(void)
{
    complain("out of memory");
    return FAILED;
}

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

/* The single file if one is named, else one in the directory if there is one. Returns 0, or -1: out of memory. */
static int choose_file(const char *named, const char *directory, const char *stem, const char *ending, char **out)
{
    *out = NULL;
    if (named != NULL)
        *out = strdup(named);
    else if (directory != NULL)
        *out = file_in(directory, stem, ending);
    else
        return 0;
    return *out != NULL ? 0 : -1;
}

int outputs_choose(const struct options *o, const char *stem, const char *directory, struct outputs *out)
{
    memset(out, 0, sizeof(*out));
    bool single = o->csv != NULL || o->json != NULL || o->plot != NULL;
    const char *into = o->output != NULL ? o->output : single ? NULL : directory;
    out->plot_asked = o->plot != NULL;
    out->plot_possible = plot_possible();
    if (choose_file(o->csv, into, stem, ".csv", &out->csv) != 0 ||
        choose_file(o->json, into, stem, ".json", &out->json) != 0 ||
        choose_file(o->plot, into, stem, ".svg", &out->plot) != 0)
        return outputs_out_of_memory();
    if (out->plot_asked && !out->plot_possible) {
        complain("--plot needs gnuplot, which is not in PATH; %s", gnuplot_remedy);
        return CANNOT;
    }
    int status = into != NULL ? directories_make(into, "--output", &out->directories) : DONE;
    const char *names[] = {out->csv, out->json, out->plot};
    static const char *const options[] = {"the trace", "the phases", "the plot"};
    return status == DONE ? files_differ(names, options, 3) : status;
}

static int check_file(const char *name, uint64_t bytes)
{
    char why[WHY_SIZE];
    if (name == NULL || file_is_stdout(name) || atomic_check(name, bytes, why, sizeof(why)) == 0)
        return DONE;
    complain("%s", why);
    return FAILED;
}

int outputs_check(struct outputs *out, uint64_t samples)
{
    uint64_t csv = samples * CSV_SAMPLE_BYTES, rest = out->csv != NULL ? csv : 0;
    int status = check_file(out->csv, csv);
    if (status == DONE) {
        /* they mostly share a file system: each is asked with room for those before it */
        status = check_file(out->json, rest += JSON_BYTES);
    }
    if (status == DONE && out->plot_possible)
        status = check_file(out->plot, rest + PLOT_BYTES);
    return status;
}

FILE *outputs_screen(const struct outputs *out)
{
    return file_is_stdout(out->csv) || file_is_stdout(out->json) ? stderr : stdout;
}

static int print_trace(FILE *stream, const void *trace)
{
    return trace_write_csv(stream, trace);
}

static int outputs_print_phases(FILE *stream, const void *phases)
{
    return file_print_json(stream, phases_to_json(phases));
}

static void outputs_tell(FILE *screen, bool *first, const char *name, const char *what)
{
    if (!file_is_stdout(name)) {
        fprintf(screen, "%-12s %s (%s)\n", *first ? "Written" : "", name, what);
        *first = false;
    }
}

static int outputs_write_plot(const struct outputs *out, const struct trace *t, const struct phases *p, FILE *screen,
                              bool *first)
{
    char why[WHY_SIZE];
    if (!out->plot_possible) {
        fprintf(screen, "%-12s no plot was drawn: gnuplot is not in PATH (%s)\n", *first ? "Written" : "",
                gnuplot_remedy);
        *first = false;
        return DONE;
    }
    struct chart chart;
    int status = trace_chart(t, p, &chart, why, sizeof(why));
    if (status == 0)
        status = plot_write(&chart, out->plot, why, sizeof(why));
    chart_free(&chart);
    if (status != 0) {
        if (!file_interrupted(out->plot))
            complain("no plot: %s", why);
        return FAILED;
    }
    outputs_tell(screen, first, out->plot, "plot");
    return DONE;
}

int outputs_write(const struct outputs *out, const struct trace *t, const struct phases *p, FILE *screen)
{
    bool first = true;
    if (out->csv != NULL) {
        if (file_interrupted(out->csv) || file_write(out->csv, print_trace, t) != DONE)
            return FAILED;
        outputs_tell(screen, &first, out->csv, "trace");
    }
    if (p == NULL)
        return DONE;
    if (out->json != NULL) {
        if (file_interrupted(out->json) || file_write(out->json, outputs_print_phases, p) != DONE)
            return FAILED;
        outputs_tell(screen, &first, out->json, "phases");
    }
    if (out->plot != NULL)
        return file_interrupted(out->plot) ? FAILED : outputs_write_plot(out, t, p, screen, &first);
    return DONE;
}

void outputs_free(struct outputs *out)
{
    directories_tidy(&out->directories);
    free(out->csv);
    free(out->json);
    free(out->plot);
    memset(out, 0, sizeof(*out));
}
