/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far a mistyped name is from one that exists. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { EDIT_NAME_MAX = 64 };

/*
 * Edits that turn the first `length` characters of a into b: insert, delete, replace, swap neighbors; letter case is
 * ignored (optimal string alignment; Damerau, CACM 7(3), 1964). Of b no more than EDIT_NAME_MAX - 1 characters count.
 */
unsigned edit_distance(const char *a, size_t length, const char *b);
/* Returns whether b is fewer than *least edits away, which then is that many: a step of the search for the nearest
 * name. */
bool edit_nearer(const char *a, size_t length, const char *b, unsigned *least);
/* Edits from which on it is a guess that a name of `length` characters was meant. */
unsigned edit_guess(size_t length);
