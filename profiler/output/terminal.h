/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal on standard input and output, as whoever draws on it with curses has it. It gets back its modes and its
 * screen however the process ends, SIGKILL and a failed assertion included: a process of its own waits for that, which
 * holds nothing but the terminal. Ctrl-C and Ctrl-Z stay signals.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Keys that are no characters. */
enum terminal_key_code {
    TERMINAL_KEY_UP = 0x110000, /* beyond Unicode */
    TERMINAL_KEY_DOWN,
    TERMINAL_KEY_PAGE_UP,
    TERMINAL_KEY_PAGE_DOWN,
    TERMINAL_KEY_FIRST,
    TERMINAL_KEY_LAST,
    TERMINAL_KEY_LEFT,
    TERMINAL_KEY_RIGHT,
};

/* Pairs of colours, for COLOR_PAIR(). */
enum terminal_pair { TERMINAL_PLAIN, TERMINAL_YELLOW, TERMINAL_RED };

struct terminal;

/*
 * Takes it. 0, or -1 with one clause in `why`: either is no terminal, TERM is not set, unknown or cannot move the
 * cursor, the process runs in the background; nothing was written then. Until terminal_end() SIGTSTP is blocked in the
 * calling thread, which must be the one that draws.
 */
int terminal_begin(struct terminal **out, char *why, size_t size);
/* Gives it back. NULL is allowed. */
void terminal_end(struct terminal *t);

/* Keys are read and cells drawn between these two; the first stops the process where Ctrl-Z was pressed. */
void terminal_turn_begin(struct terminal *t);
void terminal_turn_end(struct terminal *t);
/* The next key, a character of ASCII or enum terminal_key_code; 0: another one; -1: none is waiting. */
int terminal_key(void);
/* False: it takes nothing now. */
bool terminal_ready(void);
/* Colours are to be had, and wanted. */
bool terminal_colour(const struct terminal *t);

/* A text (UTF-8) in `width` cells from a column of a line, what is left of them blank; to the right on request. */
void terminal_put_cells(int line, int column, int width, bool right, const char *text);
/* The same from the first to the last column, with attributes of curses. */
void terminal_put_line(int line, unsigned attributes, const char *text);
