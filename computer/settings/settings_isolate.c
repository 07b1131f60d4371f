/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part isolate: the measured CPU for this program alone.
 *
 * cgroup version 2: a partition `isolated` of that CPU, in which this process is; the kernel keeps everybody else out
 * (Linux, admin-guide/cgroup-v2.rst, "Cpuset Interface Files"). Version 1 has no such thing: other tasks that may run
 * anywhere are moved to a cpuset of the other CPUs; those that have chosen their CPUs themselves stay.
 */
#include "computer/settings/settings_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- numbers in files of a cgroup ---- */

enum { TASKS_TEXT_MAX = 1 << 20 };

/* Calls use() for each process or task of a file. Returns how many there were, or -1 with errno. */
static long each_task(const struct settings_roots *r, const char *file,
                      void (*use)(const struct settings_roots *r, int task, void *data), void *data)
{
    long n = 0;
    char *text = malloc(TASKS_TEXT_MAX), *rest = text, *line;

    if (text == NULL || settings_read_text(r, file, text, TASKS_TEXT_MAX) < 0) {
        int error = text != NULL ? errno : ENOMEM;
        free(text);
        errno = error;
        return -1;
    }
    while ((line = strsep(&rest, "\n")) != NULL) {
        int task = atoi(line);
        if (task <= 0)
            continue;
        n++;
        use(r, task, data);
    }
    free(text);
    return n;
}

static int write_task(const struct settings_roots *r, const char *file, int task)
{
    char number[16];
    snprintf(number, sizeof number, "%d", task);
    return settings_write_text(r, file, number);
}

/* ---- folders ---- */

/* The folder `path` is in, and *name of it. */
static int open_parent(const struct settings_roots *r, const char *path, const char **name)
{
    char parent[CHANGE_PATH_MAX];
    const char *slash = strrchr(path, '/');

    snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    *name = slash + 1;
    return settings_open_folder(r, parent);
}

static int make_folder(const struct settings_roots *r, const char *path)
{
    const char *name;
    int fd = open_parent(r, path, &name);
    int error = fd < 0 || mkdirat(fd, name, 0755) != 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    return error == EEXIST ? 0 : error; /* an empty one that has lost its journal; others have tasks: see below */
}

/* A cgroup is busy for a moment after its last task has left it. */
static int remove_folder(const struct settings_roots *r, const char *path)
{
    enum { ATTEMPTS = 40 };
    static const struct timespec pause = {.tv_nsec = 5000000};
    const char *name;
    int error = EBUSY;

    for (int i = 0; i < ATTEMPTS && error == EBUSY; i++) {
        int fd = open_parent(r, path, &name);
        error = fd < 0 || unlinkat(fd, name, AT_REMOVEDIR) != 0 ? errno : 0;
        if (fd >= 0)
            close(fd);
        if (error == EBUSY)
            (void)nanosleep(&pause, NULL);
    }
    return error == ENOENT ? 0 : error;
}

static int write_below(const struct settings_roots *r, const char *folder, const char *name, const char *value)
{
    char path[CHANGE_PATH_MAX + 40];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return settings_write_text(r, path, value);
}

/* ---- one of the three ---- */

int settings_isolate_read(const struct settings_roots *r, const struct change *c, char *out, size_t size)
{
    char text[400], words[402];

    if (c->kind == CHANGE_CONTROLLER) {
        if (settings_read_text(r, c->path, text, sizeof text) < 0)
            return errno;
        snprintf(words, sizeof words, " %s ", text);
        snprintf(out, size, "%d", strstr(words, " cpuset ") != NULL);
        return 0;
    }
    int fd = settings_open_folder(r, c->path);
    if (fd < 0 && errno != ENOENT)
        return errno;
    snprintf(out, size, "%s", fd >= 0 ? c->after : c->before);
    if (fd >= 0)
        close(fd);
    return 0;
}

struct moving {
    const char *to, *otherwise; /* files; otherwise: NULL, or where to when that is gone */
    const struct cpu_mask *all; /* only tasks that may run on all of these; NULL: whatever they may */
    struct cpu_mask allowed;
    long moved;
};

static void move_task(const struct settings_roots *r, int task, void *data)
{
    struct moving *m = data;
    int process = 0;
    bool kernel;

    if (m->all != NULL && (!settings_task_allowed(r, task, &m->allowed, &process, &kernel) || process == getpid() ||
                           CPU_EQUAL_S(sizeof m->allowed, m->allowed.set, m->all->set) == 0))
        return;
    int error = write_task(r, m->to, task);
    if (error == ENOENT && m->otherwise != NULL)
        error = write_task(r, m->otherwise, task);
    m->moved += error == 0;
}

static int make_partition(const struct settings_roots *r, const struct change *c)
{
    char path[CHANGE_PATH_MAX + 40], state[200];

    int error = write_below(r, c->path, "cpuset.cpus", c->after);
    if (error == 0)
        error = write_below(r, c->path, "cpuset.cpus.partition", "isolated");
    snprintf(path, sizeof path, "%s/cpuset.cpus.partition", c->path);
    if (error == 0 && settings_read_text(r, path, state, sizeof state) < 0)
        error = errno;
    if (error == 0 && strcmp(state, "isolated") != 0)
        error = ENOTSUP; /* "isolated invalid (...)" */
    return error != 0 ? error : write_below(r, c->path, "cgroup.procs", "0");
}

/* Tasks that are born meanwhile are found by another pass. */
static int make_shield(const struct settings_roots *r, const struct change *c)
{
    enum { PASSES = 5 };
    char path[CHANGE_PATH_MAX + 40], text[CHANGE_VALUE_MAX];
    struct cpu_mask all;
    struct moving moving = {.to = path, .all = &all};

    if (settings_read_text(r, SETTINGS_CPUSET "/cpuset.mems", text, sizeof text) < 0)
        return errno;
    int error = write_below(r, c->path, "cpuset.mems", text);
    if (error == 0)
        error = write_below(r, c->path, "cpuset.cpus", c->after);
    if (error == 0 && (settings_read_text(r, SETTINGS_CPUSET "/cpuset.cpus", text, sizeof text) < 0 ||
                       cpu_mask_parse(text, &all) != 0))
        error = EBADMSG;
    snprintf(path, sizeof path, "%s/tasks", c->path);
    for (int pass = 0; pass < PASSES && error == 0; pass++) {
        long before = moving.moved;
        if (each_task(r, SETTINGS_CPUSET "/tasks", move_task, &moving) < 0)
            error = errno;
        if (moving.moved == before)
            break;
    }
    return error == 0 && moving.moved == 0 ? ENOTSUP : error;
}

int settings_isolate_make(const struct settings_roots *r, const struct change *c)
{
    int error = make_folder(r, c->path);

    if (error == 0)
        error = c->kind == CHANGE_PARTITION ? make_partition(r, c) : make_shield(r, c);
    if (error != 0)
        (void)settings_isolate_undo(r, c);
    return error;
}

int settings_isolate_undo(const struct settings_roots *r, const struct change *c)
{
    enum { PASSES = 50 };
    bool partition = c->kind == CHANGE_PARTITION;
    char from[CHANGE_PATH_MAX + 40], to[2 * CHANGE_PATH_MAX], root[CHANGE_PATH_MAX];
    struct moving moving = {.to = to, .otherwise = root};
    int folder = (int)(strrchr(c->path, '/') - c->path);
    const char *file = partition ? "cgroup.procs" : "tasks";
    bool home = !partition || strcmp(c->before, "/") == 0;

    snprintf(from, sizeof from, "%s/%s", c->path, file);
    snprintf(root, sizeof root, "%.*s/%s", folder, c->path, file);
    snprintf(to, sizeof to, "%.*s%.*s/%s", folder, c->path, CHANGE_PATH_MAX, home ? "" : c->before, file);
    for (int pass = 0; pass < PASSES && each_task(r, from, move_task, &moving) > 0; pass++)
        if (moving.moved == 0)
            break;
    return remove_folder(r, c->path);
}
