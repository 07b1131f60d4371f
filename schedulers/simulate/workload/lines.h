/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A text file line by line, as fast as it comes, and what is wrong with one of its lines. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/error.h"

enum { SIM_LINE_MAX = 1 << 20 }; /* bytes */

struct sim_lines {
    const char *file; /* for messages */
    FILE *in;
    struct machine_error *err;
    char *line; /* the present one, without its end and with a NUL after it; may be written to */
    size_t length;
    uint64_t number; /* of the line, from 1; 0: none yet */
    bool json;       /* lines end at an escaped \n, too: they are in a string of JSON */
    /* its own */
    char *room, *at, *end;
    char closing; /* of JSON that began with {: the last character so far that is no blank */
};

/* Opens a file that the user has named. MACHINE_OK, or another status after filling *err, which is also for what fails
 * later. sim_lines_close in any case. */
int sim_lines_open(struct sim_lines *l, const char *file, struct machine_error *err);
void sim_lines_close(struct sim_lines *l);

/* The next line: 1; the end: 0; -1 after filling *err: it is longer than SIM_LINE_MAX, has a NUL byte or cannot be
 * read. */
int sim_lines_next(struct sim_lines *l);

/* The first line that is neither blank nor begins with '#', without its end, where it is among the first 2 MiB; nothing
 * is read thereby. NULL: there is none. Before the first sim_lines_next(). after: the end of such a line, or NULL. */
const char *sim_lines_peek(struct sim_lines *l, const char *after, size_t *length);

/* "FILE:LINE: text", or "FILE: text" where line is 0. Returns -1. */
__attribute__((format(printf, 3, 4))) int sim_lines_fail(struct sim_lines *l, uint64_t line, const char *format, ...);
/* Out of memory. Returns -1. */
int sim_lines_memory(struct sim_lines *l);

/* Text from a file for messages: one safe line, cut off after 40 bytes. */
enum { SIM_SHOWN_SIZE = 48 };
const char *sim_lines_shown(const char *text, char out[SIM_SHOWN_SIZE]);
