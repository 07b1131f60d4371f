/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/run_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/atomic_file.h"
#include "cli/messages.h"
#include "cli/run_identity.h"

static int out_of_memory(void)
{
    complain("out of memory");
    return FAILED;
}

static bool is_empty(const char *path)
{
    DIR *directory = opendir(path);
    bool empty = true;
    for (struct dirent *e; directory != NULL && (e = readdir(directory)) != NULL;) {
        empty = empty && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0);
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    return empty;
}

/* One run at a time. The lock goes with the process, however that ends. */
static int lock(struct run_directory *d)
{
    d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d->fd < 0) {
        complain("cannot open %s: %s", d->path, strerror(errno));
        return FAILED;
    }
    if (flock(d->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        complain("another run is at work in %s; wait for it, or --output DIR names another", d->path);
        return FAILED;
    }
    return DONE;
}

static int print_identity(FILE *stream, const void *identity)
{
    return json_dumpf(identity, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) != 0 || putc('\n', stream) == EOF ? -1
                                                                                                                   : 0;
}

/* Whether what is there may be gone on with. */
static int compare(const char *path, const char *file, const char *text, size_t length, const json_t *identity)
{
    char why[400];
    json_error_t error;
    json_t *there = json_loadb(text, length, 0, &error);
    if (there == NULL) {
        complain("%s:%d: %s; --output DIR names another directory", file, error.line, error.text);
        return BAD_USAGE;
    }
    int differs = run_identity_differs(identity, there, why, sizeof(why));
    json_decref(there);
    if (differs) {
        complain("%s belongs to another run: %s; repeat that run's options, or --output DIR names another directory",
                 path, why);
        return BAD_USAGE;
    }
    return DONE;
}

/* What a run that was killed had begun to write goes, everywhere below the directory of that run. */
static void sweep(const char *directory, unsigned depth)
{
    DIR *d = opendir(directory);
    (void)atomic_sweep(directory, NULL);
    for (struct dirent *e; depth > 0 && d != NULL && (e = readdir(d)) != NULL;) {
        char *inner = e->d_type == DT_DIR && e->d_name[0] != '.' ? file_in(directory, e->d_name, "") : NULL;
        if (inner != NULL) {
            sweep(inner, depth - 1);
        }
        free(inner);
    }
    if (d != NULL) {
        (void)closedir(d);
    }
}

static int begin(struct run_directory *d, bool resume, const char *file, const json_t *identity)
{
    size_t length = 0;
    errno = 0;
    bool irregular = access(file, F_OK) == 0 && !file_is_regular(file);
    char *text = irregular ? NULL : file_read(file, &length);
    if (irregular) {
        complain("%s is not a file; --output DIR names another directory", file);
        return BAD_USAGE;
    }
    if (text == NULL && errno != ENOENT) {
        complain("cannot read %s: %s", file, strerror(errno));
        return FAILED;
    }
    if (text == NULL) {
        (void)atomic_sweep(d->path, "run.json"); /* of a run that was killed as it began */
    }
    if (text == NULL && !is_empty(d->path)) {
        complain("%s is not empty and not of --all; --output DIR names another directory", d->path);
        return BAD_USAGE;
    }
    if (text == NULL) {
        return file_write(file, print_identity, identity);
    }
    int status = DONE;
    if (!resume) {
        complain("%s holds a run already; --resume goes on with it, or --output DIR names another directory", d->path);
        status = BAD_USAGE;
    } else {
        status = compare(d->path, file, text, length, identity);
    }
    if (status == DONE) {
        sweep(d->path, 2);
    }
    free(text);
    return status;
}

int run_directory_open(const char *path, bool resume, const struct options *o, const struct measuring *m,
                       struct run_directory *d)
{
    memset(d, 0, sizeof(*d));
    d->path = path;
    d->fd = -1;
    d->quiet = o->quiet;
    int status = directories_make(path, "--output", &d->directories);
    if (status != DONE) {
        return status;
    }
    json_t *identity = run_identity(o, m);
    char *file = file_in(path, "run", ".json");
    status = identity == NULL || file == NULL ? out_of_memory() : lock(d);
    if (status == DONE) {
        status = begin(d, resume, file, identity);
    }
    free(file);
    json_decref(identity);
    return status;
}

/* ---- cells ---- */

static char *cell_file(const struct run_directory *d, const struct table_kind *k, const struct cell *c)
{
    char *path = NULL;
    return asprintf(&path, "%s/cells/%s/%s.json", d->path, k->name, c->id) < 0 ? NULL : path;
}

static char *load(void *data, const struct table_kind *k, const struct cell *c)
{
    char *file = cell_file(data, k, c);
    char *text = file != NULL && file_is_regular(file) ? file_read(file, NULL) : NULL;
    free(file);
    return text;
}

static void refused(void *data, const struct table_kind *k, const struct cell *c, const char *why)
{
    const struct run_directory *d = data;
    char *file = cell_file(d, k, c);
    if (!d->quiet) {
        complain("%s: %s: this cell is measured again", file != NULL ? file : c->id, why);
    }
    free(file);
}

static int store(void *data, const struct table_kind *k, const struct cell *c, const char *json,
                 struct machine_error *err)
{
    struct run_directory *d = data;
    char *directory = NULL, *file = cell_file(d, k, c);
    int status = FAILED;
    if (file != NULL && asprintf(&directory, "%s/cells/%s", d->path, k->name) >= 0) {
        status = directories_make(directory, "--output", NULL);
    }
    if (status == DONE) {
        status = file_write(file, file_print_text, json);
    }
    free(directory);
    free(file);
    return status == DONE ? MACHINE_OK
                          : machine_fail(err, MACHINE_FAILED, "", "cell %s could not be kept", c->id);
}

struct tables_store run_directory_store(struct run_directory *d)
{
    return (struct tables_store){load, store, refused, d};
}

void run_directory_close(struct run_directory *d)
{
    directories_tidy(&d->directories);
    if (d->fd >= 0) {
        (void)close(d->fd);
    }
    d->fd = -1;
}
