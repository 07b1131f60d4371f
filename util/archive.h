/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Texts in one .tar.gz (POSIX.1-2008, pax, "ustar Interchange Format"; RFC 1952): regular files, of
 * nobody, without dates, so that the same contents make the same bytes. What is read may come from anybody.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { ARCHIVE_MEMBERS_MAX = 16, ARCHIVE_NAME_MAX = 100 };
/* The size of all files together, unpacked; a larger archive is refused. */
#define ARCHIVE_BYTES_MAX ((size_t)16 << 20)

#define ARCHIVE_SKIPPED "sysroot/"

struct archive_member {
    char name[ARCHIVE_NAME_MAX]; /* letters, digits, '-', '_' and '.'; '.' and '-' not first; as many as wanted */
    char *text;                  /* size bytes and a NUL, malloc'ed */
    size_t size;
    bool read_only; /* mode 0444, else 0644; an archive that is read does not say it */
};

/* Writes n files; names may have folders, with '/' between. Returns 0, or -1 with errno. */
int archive_write(FILE *out, const struct archive_member *members, size_t n);

/*
 * Reads to the end of the stream. Returns 0 and sets *n (archive_free), or -1 with one clause in `why`: no gzip, cut
 * off, damaged, too large, a folder, a link or another name than those above, a name that is there twice. What is
 * below ARCHIVE_SKIPPED is for others, and passed over.
 */
int archive_read(FILE *in, struct archive_member members[ARCHIVE_MEMBERS_MAX], size_t *n, char *why, size_t size);
/* The file of this name; NULL: there is none. */
const struct archive_member *archive_find(const struct archive_member *members, size_t n, const char *name);
void archive_free(struct archive_member *members, size_t n);
