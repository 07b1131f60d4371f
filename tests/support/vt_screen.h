/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The screen of a terminal (ECMA-48 and xterm's additions, as far as terminfo's xterm, vt100, linux and screen use
 * them). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { VT_LINES_MAX = 100, VT_COLUMNS_MAX = 300, VT_CELL = 5, VT_ARGUMENTS = 8 };

struct vt_cell {
    char text[VT_CELL]; /* a character in UTF-8; "": the right half of a wide one */
    bool bold, reverse;
    int colour; /* 0 to 7; -1: none */
};

struct vt_screen {
    int lines, columns;
    struct vt_cell cell[VT_LINES_MAX][VT_COLUMNS_MAX];
    struct vt_cell pen;
    int line, column, top, bottom; /* the cursor; the lines that scroll */
    int saved_line, saved_column;
    bool alternate; /* the other screen is shown: what was on this one comes back later */
    bool hidden;    /* the cursor */
    bool line_drawing, application_keys;
    unsigned long strange; /* sequences that are not known here */
    /* a sequence that has begun */
    int state;
    int argument[VT_ARGUMENTS], n_arguments;
    char private, utf8[VT_CELL];
    int utf8_has, utf8_needs;
};

void vt_init(struct vt_screen *v, int lines, int columns);
/* Another size: what fits stays. */
void vt_resize(struct vt_screen *v, int lines, int columns);
void vt_feed(struct vt_screen *v, const char *bytes, size_t n);
/* A line without the blanks at its end, valid until the next call. */
const char *vt_line(const struct vt_screen *v, int line);
/* The first line from `from` that contains a text; -1: none does. */
int vt_find(const struct vt_screen *v, int from, const char *text);
