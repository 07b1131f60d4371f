/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/outputs.h"

#include <stdlib.h>
#include <string.h>

#include "output/plot/plot.h"
#include "cli/messages.h"

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
    *out = (struct outputs){.kind = kind, .plot_asked = o->plot != NULL, .plot_possible = plot_possible()};
    if (out->plot_asked && !out->plot_possible)
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

/* A plot that was not asked for and cannot be drawn is told of in `why`, and no failure. */
static int outputs_draw(const struct outputs *out, const void *data, char why[WHY_SIZE])
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
    bool failed = status == -2 || (status != 0 && (out->plot_asked || out->kind->always_drawn));
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
        if (file_interrupted(path) || (i == OUTPUT_PLOT ? outputs_draw(out, data, why)
                                                        : file_write(path, out->kind->form[i].print, data)) != DONE)
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
