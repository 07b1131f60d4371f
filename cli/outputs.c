/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/atomic_file.h"
#include "analysis/gnuplot.h"
#include "analysis/plot.h"
#include "cli/messages.h"
#include "cli/stop.h"

/* Upper bounds for the room that is asked for beforehand; the plot's is what plot_script.c keeps to. */
enum { CSV_SAMPLE_BYTES = 90, JSON_BYTES = 100000, PLOT_BYTES = 3500000, WHY_SIZE = 1000 };

static bool to_stdout(const char *name)
{
    return name != NULL && strcmp(name, "-") == 0;
}

static int out_of_memory(void)
{
    complain("out of memory");
    return FAILED;
}

void outputs_stem(const char *from, const char *to, char *stem, size_t size)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@._+-";
    snprintf(stem, size, "%s%s%s", from, to != NULL ? "_" : "", to != NULL ? to : "");
    for (char *c = stem; *c != '\0'; c++) {
        if (strchr(harmless, *c) == NULL) {
            *c = '-';
        }
    }
    if (stem[0] == '.' || stem[0] == '-') {
        stem[0] = '_'; /* neither hidden nor taken for an option */
    }
}

static char *in_directory(const char *directory, const char *stem, const char *ending)
{
    char *name = NULL;
    const char *slash = directory[strlen(directory) - 1] == '/' ? "" : "/";
    return asprintf(&name, "%s%s%s%s", directory, slash, stem, ending) < 0 ? NULL : name;
}

/* The single file if one is named, else one in the directory if there is one. Returns 0, or -1: out of memory. */
static int choose_file(const char *named, const char *directory, const char *stem, const char *ending, char **out)
{
    *out = NULL;
    if (named != NULL) {
        *out = strdup(named);
    } else if (directory != NULL) {
        *out = in_directory(directory, stem, ending);
    } else {
        return 0;
    }
    return *out != NULL ? 0 : -1;
}

/* Makes a directory with those above it, and remembers what it made. */
static int make_directories(struct outputs *out, const char *directory)
{
    char path[4096];
    if (strlen(directory) >= sizeof(path)) {
        complain("--output: the name is too long");
        return BAD_USAGE;
    }
    for (size_t i = 1; i <= strlen(directory); i++) {
        if (directory[i] != '/' && directory[i] != '\0') {
            continue;
        }
        memcpy(path, directory, i);
        path[i] = '\0';
        if (mkdir(path, 0777) == 0) {
            if (out->n_created < sizeof(out->created) / sizeof(out->created[0])) {
                out->created[out->n_created++] = strdup(path);
            }
        } else if (errno != EEXIST) {
            complain("cannot make the directory %s: %s; --output DIR names another", path, strerror(errno));
            return FAILED;
        }
    }
    struct stat s;
    if (stat(directory, &s) != 0 || !S_ISDIR(s.st_mode)) {
        complain("cannot write into %s: %s; --output DIR names another", directory, strerror(ENOTDIR));
        return FAILED;
    }
    return DONE;
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
        choose_file(o->plot, into, stem, ".svg", &out->plot) != 0) {
        return out_of_memory();
    }
    if (out->plot_asked && !out->plot_possible) {
        complain("--plot needs gnuplot, which is not in PATH; %s", gnuplot_remedy);
        return CANNOT;
    }
    return into != NULL ? make_directories(out, into) : DONE;
}

static int check_file(const char *name, uint64_t bytes)
{
    char why[WHY_SIZE];
    if (name == NULL || to_stdout(name) || atomic_check(name, bytes, why, sizeof(why)) == 0) {
        return DONE;
    }
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
    if (status == DONE && out->plot_possible) {
        status = check_file(out->plot, rest + PLOT_BYTES);
    }
    return status;
}

FILE *outputs_screen(const struct outputs *out)
{
    return to_stdout(out->csv) || to_stdout(out->json) ? stderr : stdout;
}

/* The two forms of text, to any stream. Return 0, or -1 with errno. */
static int print_trace(FILE *stream, const struct trace *t, const struct phases *p)
{
    (void)p;
    return trace_write_csv(stream, t);
}

static int print_phases(FILE *stream, const struct trace *t, const struct phases *p)
{
    (void)t;
    char *json = phases_to_json(p);
    if (json == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int status = fputs(json, stream) == EOF ? -1 : 0;
    free(json);
    return status;
}

typedef int print_function(FILE *stream, const struct trace *t, const struct phases *p);

static int write_text(const char *name, print_function *print, const struct trace *t, const struct phases *p)
{
    char why[WHY_SIZE];
    struct atomic_file file;
    if (to_stdout(name)) {
        if (print(stdout, t, p) == 0 && fflush(stdout) == 0) {
            return DONE;
        }
        complain("cannot write to standard output: %s", strerror(errno));
        return FAILED;
    }
    if (atomic_open(&file, name, why, sizeof(why)) != 0) {
        complain("%s", why);
        return FAILED;
    }
    errno = 0;
    if (print(file.stream, t, p) != 0) {
        complain("cannot write %s: %s", name, strerror(errno != 0 ? errno : EIO));
        atomic_abandon(&file);
        return FAILED;
    }
    if (atomic_commit(&file, why, sizeof(why)) != 0) {
        complain("%s", why);
        return FAILED;
    }
    return DONE;
}

static void tell(FILE *screen, bool *first, const char *name, const char *what)
{
    if (!to_stdout(name)) {
        fprintf(screen, "%-12s %s (%s)\n", *first ? "Written" : "", name, what);
        *first = false;
    }
}

/* Before each file: whether the user has had enough. */
static bool interrupted(const char *name)
{
    if (stop_asked()) {
        complain("interrupted: %s was not written", name);
        return true;
    }
    return false;
}

static int write_plot(const struct outputs *out, const struct trace *t, const struct phases *p, FILE *screen,
                      bool *first)
{
    char why[WHY_SIZE];
    if (!out->plot_possible) {
        fprintf(screen, "%-12s no plot was drawn: gnuplot is not in PATH (%s)\n", *first ? "Written" : "",
                gnuplot_remedy);
        *first = false;
        return DONE;
    }
    if (plot_write(t, p, out->plot, why, sizeof(why)) != 0) {
        if (!interrupted(out->plot)) {
            complain("no plot: %s", why);
        }
        return FAILED;
    }
    tell(screen, first, out->plot, "plot");
    return DONE;
}

int outputs_write(const struct outputs *out, const struct trace *t, const struct phases *p, FILE *screen)
{
    bool first = true;
    if (out->csv != NULL) {
        if (interrupted(out->csv) || write_text(out->csv, print_trace, t, p) != DONE) {
            return FAILED;
        }
        tell(screen, &first, out->csv, "trace");
    }
    if (p == NULL) {
        return DONE;
    }
    if (out->json != NULL) {
        if (interrupted(out->json) || write_text(out->json, print_phases, t, p) != DONE) {
            return FAILED;
        }
        tell(screen, &first, out->json, "phases");
    }
    if (out->plot != NULL) {
        return interrupted(out->plot) ? FAILED : write_plot(out, t, p, screen, &first);
    }
    return DONE;
}

void outputs_free(struct outputs *out)
{
    while (out->n_created > 0) {
        char *made = out->created[--out->n_created];
        if (made != NULL) {
            (void)rmdir(made); /* refuses, as it should, when something is in it */
        }
        free(made);
    }
    free(out->csv);
    free(out->json);
    free(out->plot);
    memset(out, 0, sizeof(*out));
}
