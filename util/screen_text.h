/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words on a screen: how wide it is, and lines that are broken where it ends. */
#pragma once

#include <stdio.h>

enum { SCREEN_WIDTH = 100, SCREEN_WIDTH_LEAST = 60 };

/*
 * The columns of what a stream goes to: of a terminal its own; COLUMNS in the environment goes before, for terminals
 * and for standard output and standard error wherever those lead. At least SCREEN_WIDTH_LEAST; SCREEN_WIDTH of anything
 * else, so that a file does not depend on where it was written.
 */
unsigned screen_text_width(FILE *out);

/* The same for lists of one record a line, which programs read: what is no terminal has no width. */
unsigned screen_text_record_width(FILE *out);

/* The columns that so many bytes of UTF-8 take: one a character. */
unsigned screen_text_columns(const char *text, size_t bytes);

/*
 * Words, separated by blanks, in lines of `width` columns: the first begins in column `column`, where the cursor is,
 * others at `indent`. A word that is longer than a line is not broken. No line end follows.
 */
void screen_text_words(FILE *out, const char *text, unsigned column, unsigned indent, unsigned width);

/* The last field of such a record, which begins in column `column`, and the end of its line; further lines begin below
 * it, where there is room for a few words. */
void screen_text_field(FILE *out, unsigned column, const char *text);
