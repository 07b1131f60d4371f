/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths from outside, opened so that no other user decides where they lead, and so that nothing waits in open(2).
 *
 * A directory may belong to somebody who is not meant to decide what this process writes or reads: root is instructed
 * to write into a user's folder. On the way to a file a symbolic link is therefore followed only where root or the
 * effective user owns both the link and the directory that it lies in (stricter than proc_sys_fs(5),
 * protected_symlinks); at the end of the way it never is, except for a file that the user has named for reading. Each
 * step is made from the open directory before it: what is exchanged meanwhile leads nowhere else.
 *
 * All functions but the first return 0 (or a descriptor), or -1 with errno and one clause in `why`, without the path.
 */
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

/*
 * N where the path names a descriptor of this process, as shells hand them over: /dev/stdin, /dev/stdout, /dev/stderr,
 * /dev/fd/N, /proc/self/fd/N. -1: it names something else.
 */
int path_descriptor(const char *path);

/* A copy of descriptor number `fd`, not below 3. for_writing: what it must have been opened for. */
int path_copy_descriptor(int fd, int for_writing, char *why, size_t size);

/* The directory of this name, for *at() calls. */
int path_open_directory(const char *path, char *why, size_t size);

/* The directory in which `path` lies, and the name it has there ("." for "/"); a '/' at the end counts for nothing. */
int path_open_parent(const char *path, char name[NAME_MAX + 1], char *why, size_t size);

/*
 * Opens for writing what is there: a regular file (not truncated), a device that is not a block device, or a pipe
 * (FIFO) that this user or root has made in a directory of either, and that a program reads, for which it waits up to
 * a second. *s is what was opened. ENOENT: nothing is there. ELOOP: a symbolic link.
 */
int path_open_existing(int directory, const char *name, struct stat *s, char *why, size_t size);

/*
 * Opens for reading what the user has named: a file, also by way of links (for root: those that are followed on the way
 * to a directory, too); a descriptor as above; a character device; or a pipe (FIFO) into which a program writes, for
 * which it waits up to a second. Not a directory. For root, and below, not a file with a second name (hard link) that
 * somebody else may have made.
 */
int path_read_named(const char *path, FILE **in, char *why, size_t size);

/* The same of what the program itself finds in a folder of data: a file, also by way of links, and nothing else. */
int path_read_listed(const char *path, FILE **in, char *why, size_t size);

/* Opens for reading what the program itself looks for in a directory: a regular file, no link. ENOENT: not there. */
int path_read_found(const char *path, FILE **in, char *why, size_t size);
