/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one reader of files in which every figure says where it comes from: models, tables of events, published figures.
 *
 *     format = NAME             the first line that is no comment
 *     [section]                 # comment
 *     key = value               # source
 *
 * It knows lines, sections, sources and what was given twice; which sections and keys there are its callers know. All
 * that is refused is reported as FILE:LINE: KEY: what is wrong, what would work.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

enum { SOURCED_INI_LINE_MAX = 600, SOURCED_INI_KEY_MAX = 64, SOURCED_INI_SEEN_MAX = 1024 };

/* An entry that was given, to find what is given twice and what is missing. */
struct sourced_ini_seen {
    unsigned section; /* 0: a header itself */
    unsigned line;
    char key[SOURCED_INI_KEY_MAX];
};

struct sourced_ini {
    /* of the present line */
    unsigned line; /* from 1; 0: none yet */
    char *text;    /* the text before the source, without blanks around it */
    char *source;
    /* of the present section */
    char header[SOURCED_INI_LINE_MAX]; /* its words with one blank between them; "" before the first one */
    unsigned header_line;
    unsigned header_before; /* the line in which a section of this name began before; 0: none did */
    unsigned section;       /* its number, the same for all of this name; 0: before the first one */
    /* its own */
    const char *file, *format;
    bool ascii;
    struct machine_error *err;
    const char *at, *end;
    bool format_seen;
    char room[SOURCED_INI_LINE_MAX];
    size_t n_seen;
    struct sourced_ini_seen seen[SOURCED_INI_SEEN_MAX];
};

/*
 * Begins to read `length` bytes at `text`, which stay the caller's. `file`: its name, for messages; `format`: the name
 * that its first line must give. With `ascii` all but comments must be ASCII without control characters; else a file
 * may hold anything but NUL. *err is filled by what fails later.
 */
void sourced_ini_begin(struct sourced_ini *r, const char *text, size_t length, const char *file, const char *format,
                       bool ascii, struct machine_error *err);

/* The next section (its header) or line (text and source), or the end; SOURCED_INI_WRONG after filling *err. */
enum sourced_ini_item { SOURCED_INI_END, SOURCED_INI_SECTION, SOURCED_INI_LINE, SOURCED_INI_WRONG };
enum sourced_ini_item sourced_ini_next(struct sourced_ini *r);

/* Splits the line into key and value, neither of them empty. MACHINE_OK, or MACHINE_BAD_INPUT after filling *err. */
int sourced_ini_pair(struct sourced_ini *r, char **key, char **value);

/* Remembers a key of the present section; refuses it where it was given before, as sourced_ini_twice() does. */
int sourced_ini_once(struct sourced_ini *r, const char *key);
int sourced_ini_twice(struct sourced_ini *r, const char *key, unsigned first_line);
/* The line in which it was remembered in the section with this number; 0: it was not. */
unsigned sourced_ini_has(const struct sourced_ini *r, unsigned section, const char *key);
/* The same of the section with this header; of a key that it lacks, the line of the header; 0: no such section. */
unsigned sourced_ini_line(const struct sourced_ini *r, const char *header, const char *key);

/*
 * Fills *err with "FILE:LINE: KEY: text", what is quoted in it made safe for a terminal, and returns MACHINE_BAD_INPUT.
 * line 0: it is about the file as a whole; key NULL: about no key.
 */
int sourced_ini_fail(struct sourced_ini *r, unsigned line, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Cuts blanks off at both ends, in place. */
char *sourced_ini_trim(char *text);
/* Splits at blanks, in place; returns the number of words, at most max, or max + 1 when there are more. */
size_t sourced_ini_words(char *text, char *words[], size_t max);
