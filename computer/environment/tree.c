/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files below a root folder that is not trusted, read to an upper limit and without leaving it. */
#include "computer/environment/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/list.h"
#include "util/plain_text.h"

/* Bounds for an untrusted tree, far above what a computer has: names in a folder, bytes of a file. */
enum { LINE_SIZE = 4096, NAMES_MAX = 65536 };
static const size_t WHOLE_MAX = (size_t)16 << 20;

struct tree_path tree_path(const char *format, ...)
{
    struct tree_path path;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path.text, sizeof path.text, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof path.text)
        path.text[0] = '\0';
    return path;
}

/* ---- opening ---- */

static int open_at(const struct tree *t, const char *path, int flags)
{
    flags |= O_CLOEXEC | (flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY); /* openat2 refuses what has no meaning */
    if (!t->inside)
        return openat(t->fd, path, flags);
    struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, t->fd, path, &how, sizeof how);
    /* before Linux 5.6, and where a container forbids the call, no link is followed at the end of the way */
    return fd >= 0 || (errno != ENOSYS && errno != EPERM) ? (int)fd : openat(t->fd, path, flags | O_NOFOLLOW);
}

int tree_open(const char *root, struct tree *t)
{
    t->inside = root[0] != '\0' && strcmp(root, "/") != 0;
    t->fd = open(t->inside ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return t->fd >= 0 ? 0 : -1;
}

bool tree_is_live(const struct tree *t)
{
    struct statfs s;
    int fd = open_at(t, "proc", O_PATH | O_DIRECTORY);
    bool live = fd >= 0 && fstatfs(fd, &s) == 0 && s.f_type == PROC_SUPER_MAGIC;
    if (fd >= 0)
        close(fd);
    return live;
}

int tree_below(const struct tree *t, const char *path, struct tree *out)
{
    out->inside = t->inside;
    out->fd = open_at(t, path, O_PATH | O_DIRECTORY);
    return out->fd >= 0 ? 0 : -1;
}

void tree_close(struct tree *t)
{
    close(t->fd);
}

/* Opens what is of one of two kinds. */
static int open_kind(const struct tree *t, const char *path, mode_t kind, mode_t other)
{
    struct stat s;
    int fd = open_at(t, path, O_RDONLY);
    if (fd < 0)
        return -1;
    int error = fstat(fd, &s) != 0                                              ? errno
                : S_ISDIR(s.st_mode)                                            ? EISDIR
                : (s.st_mode & S_IFMT) != kind && (s.st_mode & S_IFMT) != other ? ENXIO
                                                                                : 0;
    if (error == 0)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

int tree_file(const struct tree *t, const char *path)
{
    return open_kind(t, path, S_IFREG, S_IFREG);
}

int tree_readable(const struct tree *t, const char *path)
{
    int fd = open_kind(t, path, S_IFREG, S_IFCHR);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

bool tree_exists(const struct tree *t, const char *path)
{
    int fd = open_at(t, path, O_PATH);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

unsigned tree_mode(const struct tree *t, const char *path)
{
    struct stat s;
    int fd = open_at(t, path, O_PATH);
    unsigned mode = fd >= 0 && fstat(fd, &s) == 0 ? s.st_mode & 07777 : 0;
    if (fd >= 0)
        close(fd);
    return mode;
}

bool tree_link(const struct tree *t, const char *path, char *out, size_t size)
{
    ssize_t length = readlinkat(t->fd, path, out, size);
    out[length > 0 && (size_t)length < size ? length : 0] = '\0';
    return out[0] != '\0';
}

/* ---- reading ---- */

/* Reads until the end or `size`; the length, or -1 with errno. */
static ssize_t read_fully(int fd, char *out, size_t size)
{
    size_t used = 0;
    while (used < size) {
        ssize_t got = TEMP_FAILURE_RETRY(read(fd, out + used, size - used));
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

static int close_with(int fd, int error)
{
    close(fd);
    errno = error;
    return -1;
}

long tree_text(const struct tree *t, const char *path, char *out, size_t size)
{
    out[0] = '\0';
    int fd = tree_file(t, path);
    if (fd < 0)
        return -1;
    ssize_t length = read_fully(fd, out, size - 1);
    int error = length < 0 ? errno : memchr(out, '\0', (size_t)length) != NULL ? EBADMSG : 0;
    out[error == 0 ? length : 0] = '\0';
    if (error != 0)
        return close_with(fd, error);
    close(fd);
    return length;
}

/* As much again as there is: files of /proc have no size to request. */
static char *read_growing(int fd)
{
    size_t room = LINE_SIZE, used = 0;
    char *text = malloc(room + 1);
    while (text != NULL) {
        ssize_t got = read_fully(fd, text + used, room - used);
        int error = got < 0 ? errno : used + (size_t)got == WHOLE_MAX ? EFBIG : 0;
        used += got > 0 ? (size_t)got : 0;
        if (error == 0 && used < room) {
            text[used] = '\0';
            return text;
        }
        char *bigger = error == 0 ? realloc(text, (room *= 2) + 1) : NULL;
        if (bigger == NULL) {
            free(text);
            errno = error != 0 ? error : ENOMEM;
        }
        text = bigger;
    }
    return NULL;
}

char *tree_whole(const struct tree *t, const char *path)
{
    int fd = tree_file(t, path);
    if (fd < 0)
        return NULL;
    char *text = read_growing(fd);
    if (text == NULL)
        (void)close_with(fd, errno);
    else
        close(fd);
    return text;
}

int tree_line(const struct tree *t, const char *path, char *out, size_t size)
{
    char line[LINE_SIZE], plain[3 * LINE_SIZE]; /* U+FFFD takes three bytes */
    out[0] = '\0';
    if (tree_text(t, path, line, sizeof line) < 0)
        return errno;
    size_t length = strcspn(line, "\n");
    while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL)
        length--;
    line[length] = '\0';
    for (char *tab = strchr(line, '\t'); tab != NULL; tab = strchr(tab, '\t'))
        *tab = ' ';
    plain_text(line, plain, sizeof plain);
    if (strcmp(line, plain) != 0)
        return EBADMSG;
    plain_text(line, out, size);
    return 0;
}

long tree_number(const struct tree *t, const char *path, long otherwise)
{
    char text[64], *end = text;
    if (tree_line(t, path, text, sizeof text) != 0)
        return otherwise;
    errno = 0;
    long value = strtol(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 ? value : otherwise;
}

/* ---- folders ---- */

int tree_each(const struct tree *t, const char *path, void (*seen)(const char *name, void *data), void *data)
{
    int fd = open_at(t, path, O_RDONLY | O_DIRECTORY), left = NAMES_MAX;
    if (fd < 0)
        return errno;
    DIR *folder = fdopendir(fd);
    if (folder == NULL) {
        (void)close_with(fd, errno);
        return errno;
    }
    errno = 0;
    for (const struct dirent *e = readdir(folder); e != NULL && left > 0; e = readdir(folder))
        if (e->d_name[0] != '.') {
            seen(e->d_name, data);
            left--;
            errno = 0;
        }
    int error = errno;
    closedir(folder);
    return error;
}

struct wanted_names {
    struct tree_names *out;
    const char *prefix;
};

static void add_wanted_name(const char *name, void *data)
{
    const struct wanted_names *wanted = data;
    struct tree_names *out = wanted->out;
    if (strncmp(name, wanted->prefix, strlen(wanted->prefix)) != 0)
        return;
    char *copy = list_room(&out->name, out->n, sizeof *out->name) ? strdup(name) : NULL;
    if (copy != NULL)
        out->name[out->n++] = copy;
    else
        out->error = ENOMEM;
}

static int by_entry_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void tree_names(const struct tree *t, const char *path, const char *prefix, struct tree_names *out)
{
    struct wanted_names wanted = {out, prefix};
    *out = (struct tree_names){0};
    int error = tree_each(t, path, add_wanted_name, &wanted);
    if (out->error == 0)
        out->error = error;
    if (out->n > 0)
        qsort(out->name, out->n, sizeof *out->name, by_entry_name);
}

void tree_names_free(struct tree_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->name[i]);
    free(names->name);
    *names = (struct tree_names){0};
}
