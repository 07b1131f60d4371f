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

#include "util/atomic_file.h"
#include "cli/messages.h"
#include "cli/run_identity.h"
#include "util/path.h"

/* DEPTH: of cells/TABLE/ below the directory */
enum { WHY_SIZE = 400, DEPTH = 2 };

/* A directory below an open one, for reading; NULL with errno. A link is not followed. */
static DIR *list(int from, const char *name)
{
    int fd = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (directory == NULL && fd >= 0)
        (void)close(fd);
    return directory;
}

static bool is_self_or_above(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool is_empty(int fd)
{
    DIR *directory = list(fd, ".");
    bool empty = true;
    for (struct dirent *e; directory != NULL && (e = readdir(directory)) != NULL;)
        empty = empty && is_self_or_above(e->d_name);
    if (directory != NULL)
        (void)closedir(directory);
    return empty;
}

/* One run at a time. The lock goes with the process, however that ends. */
static int lock(struct run_directory *d)
{
    char why[WHY_SIZE];
    int fd = path_open_directory(d->path, why, sizeof(why));
    if (fd < 0)
        return refuse(FAILED, "cannot open %s: %s", d->path, why);
    d->fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* fd may be good for passing it only */
    int error = errno;
    (void)close(fd);
    if (d->fd < 0)
        return refuse(FAILED, "cannot open %s: %s", d->path, strerror(error));
    if (flock(d->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return refuse(FAILED, "another run is using %s; wait for it, or choose another with --output DIR", d->path);
    return DONE;
}

static int print_identity(FILE *stream, const void *identity)
{
    return json_dumpf(identity, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) != 0 || putc('\n', stream) == EOF ? -1
                                                                                                                    : 0;
}

/* Whether what is there may be gone on with. */
static int run_directory_compare(const char *path, const char *file, const char *text, size_t length,
                                 const json_t *identity)
{
    char why[400];
    json_error_t error;
    json_t *there = json_loadb(text, length, 0, &error);
    if (there == NULL)
        return refuse(BAD_USAGE, "%s:%d: %s; choose another directory with --output DIR", file, error.line,
                      error.text[0] != '\0' ? error.text : "out of memory");
    int differs = run_identity_differs(identity, there, why, sizeof(why));
    json_decref(there);
    if (differs)
        return refuse(BAD_USAGE,
                      "%s belongs to another run: %s; continue with that run's version and options, or choose another "
                      "directory with --output DIR",
                      path, why);
    return DONE;
}

/*
 * What a run that was killed had begun to write goes, everywhere below the directory of that run. What stands in the
 * folders of its files and is no file (a link, a pipe) would be found out only after something had been measured.
 */
static int sweep(int fd, const char *path, unsigned depth)
{
    DIR *directory = list(fd, ".");
    int status = DONE;
    (void)atomic_sweep(fd, NULL);
    for (struct dirent *e; directory != NULL && status == DONE && (e = readdir(directory)) != NULL;) {
        struct stat s;
        bool known = !is_self_or_above(e->d_name) && fstatat(fd, e->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0;
        char *name = known ? file_in(path, e->d_name, "") : NULL;
        DIR *inner = name != NULL && S_ISDIR(s.st_mode) && depth > 0 ? list(fd, e->d_name) : NULL;
        if (inner != NULL) {
            status = sweep(dirfd(inner), name, depth - 1);
            (void)closedir(inner);
        } else if (name != NULL && depth < DEPTH && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)) {
            status = refuse(BAD_USAGE,
                            "%s is %s, not a file of a run; remove it, or choose another directory with --output DIR",
                            name,
                            S_ISLNK(s.st_mode)    ? "a symbolic link"
                            : S_ISFIFO(s.st_mode) ? "a pipe (FIFO)"
                                                  : "a device");
        }
        free(name);
    }
    if (directory != NULL)
        (void)closedir(directory);
    return status;
}

static int run_directory_begin(struct run_directory *d, bool resume, const char *file, const json_t *identity)
{
    char why[WHY_SIZE];
    size_t length = 0;
    char *text = file_read_found(file, &length, why, sizeof(why));
    if (text == NULL && errno != ENOENT)
        return refuse(BAD_USAGE, "cannot read %s: %s; choose another directory with --output DIR", file, why);
    if (text == NULL)
        (void)atomic_sweep(d->fd, "run.json"); /* of a run that was killed as it began */
    if (text == NULL && !is_empty(d->fd))
        return refuse(BAD_USAGE,
                      "%s is not empty and was not written by --all; choose another directory with --output DIR",
                      d->path);
    if (text == NULL)
        return file_write(file, print_identity, identity);
    int status = resume ? run_directory_compare(d->path, file, text, length, identity)
                        : refuse(BAD_USAGE,
                                 "%s already contains a run; continue it with --resume, or choose another directory "
                                 "with --output DIR",
                                 d->path);
    if (status == DONE)
        status = sweep(d->fd, d->path, DEPTH);
    free(text);
    return status;
}

/* A model that came through a pipe cannot be read a second time, and --resume could not tell it from another. */
static int check_model(const json_t *identity, const struct options *o)
{
    const json_t *machine = json_object_get(identity, "machine");
    if (!json_is_true(json_object_get(machine, "modelled")) || json_object_get(machine, "model_file_hash") != NULL)
        return DONE;
    return refuse(
        BAD_USAGE,
        "--all --machine %s: the model cannot be read a second time, so --resume could not recognise it; put it "
        "into a file",
        o->machine);
}

int run_directory_open(const char *path, bool resume, const struct options *o, const struct measuring *m,
                       struct run_directory *d)
{
    memset(d, 0, sizeof(*d));
    d->path = path;
    d->fd = -1;
    d->quiet = o->quiet;
    int status = directories_make(path, "--output", &d->directories);
    if (status != DONE)
        return status;
    json_t *identity = run_identity(o, m);
    char *file = file_in(path, "run", ".json");
    status = identity == NULL || file == NULL ? complain_out_of_memory() : check_model(identity, o);
    status = status == DONE ? lock(d) : status;
    if (status == DONE)
        status = run_directory_begin(d, resume, file, identity);
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

/* What cannot be read is as good as not there. */
static char *load(void *data, const struct table_kind *k, const struct cell *c)
{
    char why[WHY_SIZE];
    char *file = cell_file(data, k, c);
    char *text = file != NULL ? file_read_found(file, NULL, why, sizeof(why)) : NULL;
    free(file);
    return text;
}

static void refused(void *data, const struct table_kind *k, const struct cell *c, const char *why)
{
    const struct run_directory *d = data;
    char *file = cell_file(d, k, c);
    if (!d->quiet)
        complain("%s: %s: measuring this cell again", file != NULL ? file : c->id, why);
    free(file);
}

/* What is written by its name would be split over two places, or be lost. */
static bool is_there(const struct run_directory *d)
{
    struct stat named, held;
    return stat(d->path, &named) == 0 && fstat(d->fd, &held) == 0 && named.st_dev == held.st_dev &&
           named.st_ino == held.st_ino;
}

static const char *const gone = "was removed or renamed during the run";

int run_directory_check(const struct run_directory *d)
{
    if (is_there(d))
        return DONE;
    return refuse(FAILED, "%s %s", d->path, gone);
}

/* Where one cell cannot be kept, no other can: the run ends. */
static int store(void *data, const struct table_kind *k, const struct cell *c, const char *json,
                 struct machine_error *err)
{
    struct run_directory *d = data;
    char *directory = NULL, *file = cell_file(d, k, c), why[WHY_SIZE] = "out of memory";
    int status = FAILED;
    if (!is_there(d))
        snprintf(why, sizeof(why), "%s %s", d->path, gone);
    else if (file != NULL && asprintf(&directory, "%s/cells/%s", d->path, k->name) >= 0)
        status = directories_try_make(directory, NULL, why, sizeof(why));
    if (status == DONE)
        status = file_try_write(file, file_print_text, json, why, sizeof(why));
    free(directory);
    free(file);
    if (status != DONE) {
        d->failed = true;
        return machine_fail(err, MACHINE_FAILED, "once that is fixed, continue with --resume", "%s", why);
    }
    return MACHINE_OK;
}

struct tables_store run_directory_store(struct run_directory *d)
{
    return (struct tables_store){load, store, refused, d};
}

void run_directory_close(struct run_directory *d)
{
    directories_tidy(&d->directories);
    if (d->fd >= 0)
        (void)close(d->fd);
    d->fd = -1;
}
