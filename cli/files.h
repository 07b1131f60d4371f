/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that jobs write, with one line said about what does not work. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Writes to any stream. Returns 0, or -1 with errno. */
typedef int file_printer(FILE *stream, const void *data);

/* "-" is standard output, and so are /dev/stdout and its other names. */
bool file_is_stdout(const char *name);
/*
 * Checks that outputs (NULL: none) go to different places, however they are spelled; `options` are their names. DONE,
 * or BAD_USAGE after a line: one would overwrite the other.
 */
int files_differ(const char *const *names, const char *const *options, size_t n);
/* Writes a file completely or not at all; "-" is standard output. DONE, or FAILED after a line. */
int file_write(const char *name, file_printer *print, const void *data);
/* The same, but the line goes to `why`. */
int file_try_write(const char *name, file_printer *print, const void *data, char *why, size_t size);
/*
 * Checks that it replaces nothing that the run reads, can be written and that there is room for `bytes`; always true of
 * NULL and standard output. DONE, or an exit status after a line.
 */
int file_check(const char *name, uint64_t bytes);
/* Before a file is written: whether the user has had enough, after a line that names it. */
bool file_interrupted(const char *name);
/* A printer for text: `data` is a NUL-terminated string. */
int file_print_text(FILE *stream, const void *data);
/* JSON that was just made, which is freed; NULL: out of memory. 0, or -1 with errno. */
int file_print_json(FILE *stream, char *json);
/* All of a stream, which is closed, NUL-terminated, malloc'ed; NULL with errno, EFBIG beyond 16 MiB. *length may be
 * NULL. */
char *file_read(FILE *in, size_t *length);
/* All of a file that the program looks for in a directory (path_read_found): NULL with errno and a clause in `why`. */
char *file_read_found(const char *name, size_t *length, char *why, size_t size);

/* DIRECTORY/NAME ENDING; NULL: out of memory. */
char *file_in(const char *directory, const char *name, const char *ending);
