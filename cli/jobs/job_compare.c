/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --compare DIR DIR...: measurements against each other. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/files.h"
#include "cli/jobs/jobs.h"
#include "cli/measuring.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/stop.h"
#include "output/compare/compare.h"
#include "output/plot/plot.h"
#include "tables/table/tables.h"

enum { COMPARE_BYTES = 1000000 };

/* The comparison, for the printers of files. */
struct compared {
    struct comparison *comparison;
    struct table table;
};

static const struct table *table_of(const void *data)
{
    return &((const struct compared *)data)->table;
}

static int compare_print_csv(FILE *stream, const void *data)
{
    return table_write_csv(stream, table_of(data));
}

static int compare_print_json(FILE *stream, const void *data)
{
    return file_print_json(stream, table_to_json(table_of(data)));
}

static int compare_print_text(FILE *stream, const void *data)
{
    compare_print(stream, false, table_of(data));
    return ferror(stream) ? -1 : 0;
}

static int compare_chart(const void *data, struct chart *c, char *why, size_t size)
{
    compare_plot(((const struct compared *)data)->comparison, c);
    return plot_worth(c, "nothing differs that could be drawn", why, size);
}

static const struct outputs_kind compare_files = {
    .form = {[OUTPUT_CSV] = {"the cells", "CSV", compare_print_csv},
             [OUTPUT_JSON] = {"the comparison", "JSON", compare_print_json},
             [OUTPUT_TEXT] = {"the text", "text", compare_print_text},
             [OUTPUT_PLOT] = {"the plot", "plot", NULL}},
    .chart = compare_chart};

static const char *directory_of(const struct options *o, size_t i)
{
    return i == 0 ? o->job_argument : o->others[i - 1];
}

/* Mistyped names are found before anything is read. */
static int check_each(const struct options *o, struct stat *seen)
{
    if (o->n_others == 0)
        return refuse(BAD_USAGE, "--compare needs two directories or more, as --all makes them: --compare %s OTHER",
                      o->job_argument);
    for (size_t i = 0; i <= o->n_others; i++) {
        struct stat s;
        if (stat(directory_of(o, i), &s) != 0)
            return refuse(BAD_USAGE, "--compare: %s: %s", directory_of(o, i), strerror(errno));
        if (!S_ISDIR(s.st_mode))
            return refuse(BAD_USAGE, "--compare: %s is no directory; name those that --all --output DIR made",
                          directory_of(o, i));
        for (size_t k = 0; k < i; k++)
            if (seen[k].st_ino == s.st_ino && seen[k].st_dev == s.st_dev)
                return refuse(BAD_USAGE, "--compare: %s is given twice%s%s", directory_of(o, i),
                              strcmp(directory_of(o, k), directory_of(o, i)) == 0 ? "" : ", also as ",
                              strcmp(directory_of(o, k), directory_of(o, i)) == 0 ? "" : directory_of(o, k));
        seen[i] = s;
    }
    return DONE;
}

/* DIR/tables/NAME.csv, if it is there. 1: it was; 0: it was not; -1: it cannot be read, after a line. */
static int take_table_of(struct comparison *c, const char *directory, const char *name)
{
    char *path = NULL, why[600];
    if (asprintf(&path, "%s/tables/%s.csv", directory, name) < 0)
        return -1;
    size_t length = 0;
    char *text = file_read_found(path, &length, why, sizeof(why));
    int taken = text != NULL;
    if (text == NULL && errno != ENOENT) {
        complain("%s: cannot be read: %s", path, why);
        taken = -1;
    } else if (text != NULL && strlen(text) != length) {
        complain("%s: holds a NUL byte: no table", path);
        taken = -1;
    } else if (text != NULL && compare_take(c, name, text, path, why, sizeof(why)) != 0) {
        complain("%s", why);
        taken = -1;
    }
    free(text);
    free(path);
    return taken;
}

/* A directory of which nothing can be taken, or not all, is left out with a line: among a thousand there are some. */
static int take_directory(struct comparison *c, const char *directory, size_t *left_out)
{
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    int taken = 0, one = 0;
    if (compare_add(c, directory) < 0)
        return complain_out_of_memory();
    for (size_t i = 0; i < n && one >= 0; i++) {
        one = take_table_of(c, directory, kinds[i]->name);
        taken += one > 0;
    }
    if (one >= 0 && taken > 0)
        return DONE;
    if (one >= 0 && measuring_holds_tables(directory, "csv"))
        complain("%s: tables lie in it, not in %s/tables; name the directory above", directory, directory);
    else if (one >= 0)
        complain("%s: no tables in %s/tables; --all --output %s --resume measures them", directory, directory,
                 directory);
    compare_drop(c);
    ++*left_out;
    return DONE;
}

static int check_directories(const struct options *o)
{
    struct stat *seen = calloc(o->n_others + 1, sizeof(*seen));
    int status = seen != NULL ? check_each(o, seen) : complain_out_of_memory();
    free(seen);
    return status;
}

static int take_all(const struct options *o, struct comparison *c)
{
    size_t left_out = 0;
    for (size_t i = 0; i <= o->n_others; i++) {
        int status = stop_requested() ? refuse(FAILED, "interrupted")
                                      : take_directory(c, directory_of(o, i), &left_out);
        if (status != DONE)
            return status;
    }
    if (left_out > 0)
        complain("%zu of %zu directories left out", left_out, o->n_others + 1);
    if (compare_measurements(c) < 2)
        return refuse(CANNOT, "--compare: fewer than two of the directories hold tables");
    return DONE;
}

static int conclude(const struct outputs *files, struct compared *x)
{
    if (compare_conclude(x->comparison, &x->table) != 0)
        return complain_out_of_memory();
    if (x->table.n_rows == 0)
        return refuse(CANNOT,
                      "--compare: no two of the directories have a value in common; measure the same tables with "
                      "the same --kernels and --active-cores");
    FILE *screen = outputs_screen(files);
    compare_print(screen, messages_colour(screen), &x->table);
    return outputs_write(files, x, screen, "\n");
}

int job_compare(const struct options *o)
{
    static const uint64_t bytes[OUTPUT_FORMS] = {[OUTPUT_CSV] = COMPARE_BYTES, [OUTPUT_JSON] = COMPARE_BYTES};
    struct outputs files = {0};
    struct compared x = {.comparison = compare_new()};
    int status = x.comparison != NULL ? check_directories(o) : complain_out_of_memory();
    if (status == DONE)
        status = outputs_choose(o, &compare_files, "compare", NULL, &files);
    if (status == DONE)
        status = outputs_check(&files, bytes);
    if (status == DONE)
        status = take_all(o, x.comparison);
    if (status == DONE)
        status = conclude(&files, &x);
    table_free(&x.table);
    compare_free(x.comparison);
    outputs_free(&files);
    return status;
}
