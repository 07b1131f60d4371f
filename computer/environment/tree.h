/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files below a root folder that is not trusted: read to an upper limit, never waited for, never a device, and below
 * another root than "/" no link leads out of it. Paths are relative to the root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree {
    int fd;
    bool inside; /* another root than "/" */
};

/* Opens the folder, "" for "/"; 0, or -1 with errno. */
int tree_open(const char *root, struct tree *t);
/* Returns whether its proc is what a kernel shows (of this computer, or of a container), and no copy. */
bool tree_is_live(const struct tree *t);
/* A folder in it as the root of its own. */
int tree_below(const struct tree *t, const char *path, struct tree *out);
void tree_close(struct tree *t);

/* A descriptor of a regular file, to read; -1 with errno: EISDIR, ENXIO (neither file nor folder), ELOOP, ... */
int tree_file(const struct tree *t, const char *path);
/* 0 where a character device or a regular file can be opened to read; else errno. */
int tree_readable(const struct tree *t, const char *path);
bool tree_exists(const struct tree *t, const char *path);
/* The permissions; 0: not there. */
unsigned tree_mode(const struct tree *t, const char *path);
/* Reads the target of a symbolic link, as it stands there; false: none that fits. */
bool tree_link(const struct tree *t, const char *path, char *out, size_t size);

/* A path, as printf makes it, "" where it is too long: to be used in place. */
struct tree_path {
    char text[512];
};
__attribute__((format(printf, 1, 2))) struct tree_path tree_path(const char *format, ...);

/* The first size - 1 bytes of a file, a NUL after them. The length, or -1 with errno. A text has no NUL: EBADMSG. */
long tree_text(const struct tree *t, const char *path, char *out, size_t size);
/* The entire file, free() it; NULL with errno: EFBIG where it is longer than 16 MiB. */
char *tree_whole(const struct tree *t, const char *path);
/* The first line as plain text, without spaces at its end; 0 or an error number. Control characters: EBADMSG. */
int tree_line(const struct tree *t, const char *path, char *out, size_t size);
/* A whole number; `otherwise` where there is none. */
long tree_number(const struct tree *t, const char *path, long otherwise);

/* Names in a folder, in order. */
struct tree_names {
    char **name;
    size_t n;
    int error; /* of reading the folder */
};
/* Lists the names that begin with `prefix`, at most 65536; tree_names_free. */
void tree_names(const struct tree *t, const char *path, const char *prefix, struct tree_names *out);
void tree_names_free(struct tree_names *names);
/* The same without an order and without memory: calls seen(name, data) for each; an error number of the folder. */
int tree_each(const struct tree *t, const char *path, void (*seen)(const char *name, void *data), void *data);
