/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that are there complete or not at all: written without a name (or, where the file system has no nameless files,
 * under a temporary one) in the same directory, synced, then moved to their name. A nameless file is gone when the
 * process ends, however it ends. Where a path leads to is as util/path.h says: the directory is opened once, and
 * everything is done in it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct atomic_file {
    FILE *stream;    /* write here; closed by commit and abandon */
    char *path;      /* for messages */
    int directory;   /* in which it gets its name; -1: a descriptor was named */
    char name[256];  /* the name it gets there */
    char *temporary; /* its name until then; NULL: it has none */
    bool direct;     /* the target is a descriptor, a device or a pipe: written as it comes, nothing to move */
};

/*
 * Begins a file that will be named `path`. A regular file that is there is replaced; one that may not be written is
 * refused although its directory would allow the move. The new one gets its owner and permissions only where nobody
 * else can have put the old one there: it is this user's, under that name alone, or the directory is written by this
 * user alone. A symbolic link is refused. A descriptor (/dev/stdout, /dev/fd/N), a device (/dev/null) and a pipe that
 * has a reader are written directly.
 * Returns 0, or -1 with one line in `why` (it names the path); nothing is left after then.
 */
int atomic_open(struct atomic_file *f, const char *path, char *why, size_t why_size);

/*
 * Ends it: flushed, synced to the disk and given its name. Returns 0, or -1 with one line in `why`; then the old file,
 * if any, is untouched and nothing is left after.
 */
int atomic_commit(struct atomic_file *f, char *why, size_t why_size);

/* Ends it without a trace. */
void atomic_abandon(struct atomic_file *f);

/*
 * Tells beforehand whether `path` can be written and whether its file system has room for `bytes` (0: not checked).
 * Leaves nothing after, but keeps a pipe (FIFO) open to the end of the process: its reader would take it for the end
 * of the text. Returns 0, or -1 with one line in `why`.
 */
int atomic_check(const char *path, uint64_t bytes, char *why, size_t why_size);

/*
 * Removes the temporary names that processes left in an open directory when they were killed: those of `base`, or of
 * any file with NULL. Only for those in which nobody else is writing. Returns how many were removed.
 */
size_t atomic_sweep(int directory, const char *base);
