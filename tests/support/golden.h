/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results that are held as files in tests/golden/, in which a diff shows what changed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Returns true if a text is that of the file MODEL.WHAT; otherwise the first line that differs is printed. With
 * GOLDEN=write the file is written instead. Numbers may differ by a millionth, as compilers and C libraries round
 * differently; those with a fraction, where `rounded`, also by one unit of their last digit.
 */
bool golden_is(const char *model, const char *what, const char *text, bool rounded);

/* A text that a test writes to be compared. */
struct golden {
    FILE *out;
    char *text;
    size_t size;
};

/* Begins one: where to write. The test fails if there is no memory. */
FILE *golden_begin(struct golden *g);

/* Ends it: golden_is() of what was written; the test fails if it is not. */
void golden_expect(struct golden *g, const char *model, const char *what, bool rounded);
