/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/table_files.h"

#include <stdlib.h>
#include <string.h>

#include "util/atomic_file.h"
#include "output/plot/gnuplot.h"
#include "output/plot/plot.h"
#include "output/plot/table_chart.h"
#include "cli/messages.h"

enum { TABLE_BYTES = 1000000, WHY_SIZE = 1000 };

static int check(const char *name)
{
    char why[WHY_SIZE];
    if (name == NULL || file_is_stdout(name) || atomic_check(name, TABLE_BYTES, why, sizeof(why)) == 0)
        return DONE;
    complain("%s", why);
    return FAILED;
}

/* The file that is named, else one in the directory. Returns 0, or -1: out of memory. */
static int choose(const char *named, const char *directory, const char *name, const char *ending, char **out)
{
    *out = named != NULL ? strdup(named) : directory != NULL ? file_in(directory, name, ending) : NULL;
    return *out != NULL || (named == NULL && directory == NULL) ? 0 : -1;
}

int table_files_choose(const struct options *o, const char *name, const char *directory, struct table_files *f)
{
    bool single = o->csv != NULL || o->json != NULL || o->plot != NULL;
    const char *into = o->output != NULL ? o->output : single ? NULL : directory;
    memset(f, 0, sizeof(*f));
    f->plot_asked = o->plot != NULL;
    if (f->plot_asked && plot_possible() == 0) {
        complain("--plot needs gnuplot, which is not in PATH; %s", gnuplot_remedy);
        return CANNOT;
    }
    if (choose(o->csv, into, name, ".csv", &f->csv) != 0 || choose(o->json, into, name, ".json", &f->json) != 0 ||
        choose(NULL, into, name, ".txt", &f->text) != 0 || choose(o->plot, into, name, ".svg", &f->plot) != 0) {
        complain("out of memory");
        return FAILED;
    }
    if (into != NULL) {
        int status = directories_make(into, "--output", &f->directories);
        if (status != DONE)
            return status;
    }
    const char *names[] = {f->csv, f->json, f->text, f->plot};
    static const char *const options[] = {"the table as CSV", "as JSON", "as text", "the plot"};
    if (files_differ(names, options, 4) != DONE)
        return BAD_USAGE;
    int status = check(f->csv);
    status = status == DONE ? check(f->json) : status;
    status = status == DONE ? check(f->text) : status;
    return status == DONE ? check(f->plot) : status;
}

FILE *table_files_screen(const struct table_files *f)
{
    return file_is_stdout(f->csv) || file_is_stdout(f->json) ? stderr : stdout;
}

void table_show(FILE *out, bool colour, const struct table_kind *k, const struct table *t)
{
    table_print(out, colour, t, k != NULL ? k->title : NULL, k != NULL ? k->print : NULL);
    if (k != NULL && k->findings != NULL && t->n_rows > 0) {
        putc('\n', out);
        k->findings(out, t);
    }
}

struct shown {
    const struct table_kind *kind;
    const struct table *table;
};

static int print_csv(FILE *stream, const void *data)
{
    return table_write_csv(stream, ((const struct shown *)data)->table);
}

static int table_files_print_json(FILE *stream, const void *data)
{
    return file_print_json(stream, table_to_json(((const struct shown *)data)->table));
}

static int print_text(FILE *stream, const void *data)
{
    const struct shown *s = data;
    table_show(stream, false, s->kind, s->table);
    return ferror(stream) != 0 ? -1 : 0;
}

int table_write_form(const char *path, const struct table_kind *k, const struct table *t, const char *ending)
{
    const struct shown s = {k, t};
    return file_write(path,
                      strcmp(ending, ".csv") == 0    ? print_csv
                      : strcmp(ending, ".json") == 0 ? table_files_print_json
                                                     : print_text,
                      &s);
}

static int write_one(const char *name, const char *what, const char *ending, const struct table_kind *k,
                     const struct table *t, FILE *screen, bool *first)
{
    if (name == NULL)
        return DONE;
    if (file_interrupted(name))
        return FAILED;
    int status = table_write_form(name, k, t, ending);
    if (status == DONE && !file_is_stdout(name)) {
        fprintf(screen, "%s%-12s %s (%s)\n", *first ? "\n" : "", *first ? "Written" : "", name, what);
        *first = false;
    }
    return status;
}

/* A plot that was not requested and cannot be drawn is reported, but is no failure. */
static int table_files_write_plot(const struct table_files *f, const struct table_kind *k, const struct table *t,
                                  FILE *screen, bool first)
{
    char why[WHY_SIZE];
    struct chart chart;
    const char *heading = first ? "Written" : "";
    if (file_interrupted(f->plot))
        return FAILED;
    int status = table_chart(t, k->title, &chart, why, sizeof(why));
    if (status == 0)
        status = plot_write(&chart, f->plot, why, sizeof(why));
    chart_free(&chart);
    if (status == 0) {
        fprintf(screen, "%s%-12s %s (plot)\n", first ? "\n" : "", heading, f->plot);
        return DONE;
    }
    if (file_interrupted(f->plot))
        return FAILED;
    if (status == -2 || f->plot_asked) {
        complain("no plot: %s", why);
        return FAILED;
    }
    fprintf(screen, "%s%-12s no plot was drawn: %s\n", first ? "\n" : "", heading, why);
    return DONE;
}

int table_files_write(const struct table_files *f, const struct table_kind *k, const struct table *t, FILE *screen)
{
    bool first = true;
    int status = write_one(f->csv, "CSV", ".csv", k, t, screen, &first);
    status = status == DONE ? write_one(f->json, "JSON", ".json", k, t, screen, &first) : status;
    status = status == DONE ? write_one(f->text, "text", ".txt", k, t, screen, &first) : status;
    return status == DONE && f->plot != NULL ? table_files_write_plot(f, k, t, screen, first) : status;
}

void table_files_free(struct table_files *f)
{
    directories_tidy(&f->directories);
    free(f->csv);
    free(f->json);
    free(f->text);
    free(f->plot);
    memset(f, 0, sizeof(*f));
}
