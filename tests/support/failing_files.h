/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The system's functions for files in the place of the C library's, for a test that includes this once: one call in
 * turn fails, and those that succeed leave nonsense in errno. The C library's own streams go on as they are. Entries
 * of folders come by their names, so that the same call fails on all file systems.
 */
#pragma once

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    unsigned calls, fails_at; /* from 1 on; 0: none fails */
    const char *failed;       /* the name of the function that did; NULL: none */
    bool off;                 /* what is called does not count, as of the test itself */
} failing_files;

static bool fails_now(const char *name)
{
    if (failing_files.off || ++failing_files.calls != failing_files.fails_at)
        return false;
    failing_files.failed = name;
    errno = EIO;
    return true;
}

static long succeeded(long result)
{
    if (result >= 0 && !failing_files.off)
        errno = EUCLEAN;
    return result;
}

#define FAILING(NAME, ...) (fails_now(#NAME) ? -1 : succeeded(syscall(SYS_##NAME, __VA_ARGS__)))

static mode_t mode_of(int flags, va_list args)
{
    return (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return (int)FAILING(openat, folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return (int)FAILING(openat, AT_FDCWD, path, flags, mode);
}

ssize_t read(int fd, void *out, size_t size)
{
    return FAILING(read, fd, out, size);
}

ssize_t pread(int fd, void *out, size_t size, off_t at)
{
    return FAILING(pread64, fd, out, size, at);
}

ssize_t write(int fd, const void *text, size_t size)
{
    return FAILING(write, fd, text, size);
}

ssize_t pwrite(int fd, const void *text, size_t size, off_t at)
{
    return FAILING(pwrite64, fd, text, size, at);
}

int fstat(int fd, struct stat *out)
{
    return (int)FAILING(fstat, fd, out);
}

int ftruncate(int fd, off_t size)
{
    return (int)FAILING(ftruncate, fd, size);
}

/* Nothing is to outlive the test. */
int fsync(int fd)
{
    (void)fd;
    return fails_now("fsync") ? -1 : (int)succeeded(0);
}

off_t lseek(int fd, off_t offset, int from)
{
    return FAILING(lseek, fd, offset, from);
}

int unlink(const char *path)
{
    return (int)FAILING(unlink, path);
}

int unlinkat(int folder, const char *path, int flags)
{
    return (int)FAILING(unlinkat, folder, path, flags);
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    return (int)FAILING(mkdirat, folder, path, mode);
}

int flock(int fd, int operation)
{
    return (int)FAILING(flock, fd, operation);
}

/* ---- folders ---- */

enum { ENTRIES_MOST = 64, FOLDERS_MOST = 4 };
static struct {
    DIR *of;
    struct dirent entry[ENTRIES_MOST];
    size_t n, next;
} folders[FOLDERS_MOST];

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct dirent *)a)->d_name, ((const struct dirent *)b)->d_name);
}

static void *in_library(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        abort();
    return found;
}

struct dirent *readdir(DIR *of)
{
    struct dirent *(*next)(DIR *), *one;
    void *found = in_library("readdir");
    size_t i = 0;
    memcpy(&next, &found, sizeof next);
    while (i < FOLDERS_MOST && folders[i].of != of)
        i++;
    if (i == FOLDERS_MOST) {
        for (i = 0; folders[i].of != NULL; i++)
            if (i + 1 == FOLDERS_MOST)
                abort();
        folders[i].of = of;
        folders[i].n = folders[i].next = 0;
        while (folders[i].n < ENTRIES_MOST && (one = next(of)) != NULL)
            folders[i].entry[folders[i].n++] = *one;
        qsort(folders[i].entry, folders[i].n, sizeof *folders[i].entry, by_name);
    }
    return folders[i].next < folders[i].n ? &folders[i].entry[folders[i].next++] : NULL;
}

int closedir(DIR *of)
{
    int (*end)(DIR *);
    void *found = in_library("closedir");
    memcpy(&end, &found, sizeof end);
    for (size_t i = 0; i < FOLDERS_MOST; i++)
        if (folders[i].of == of)
            folders[i].of = NULL;
    return end(of);
}
