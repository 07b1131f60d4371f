/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON of ours: numbers and texts as our files have them, short enough to read, easy to diff. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Adds to an object; a NULL value means out of memory. Remembers the first failure in *failed. */
void json_lines_put(json_t *object, const char *key, json_t *value, bool *failed);
/* The same at the end of an array. */
void json_lines_push(json_t *array, json_t *value, bool *failed);

/* A new empty array under a key of an object, which owns it; NULL: out of memory. */
json_t *json_lines_array(json_t *object, const char *key, bool *failed);

/* Text of unknown origin made plain (plain_text.h); null of NULL. NULL: out of memory. */
json_t *json_lines_text(const char *text);
/* A number; null where it is not finite. */
json_t *json_lines_real(double x);
/* The same with so many significant digits. */
json_t *json_lines_rounded(double x, int digits);

/* One more key with such a value; text: also null of "". */
void json_lines_put_text(json_t *object, const char *key, const char *text, bool *failed);
void json_lines_put_real(json_t *object, const char *key, double x, bool *failed);
void json_lines_put_whole(json_t *object, const char *key, json_int_t n, bool *failed);

/*
 * An object as text, malloc'ed, ending in a newline: a line for each key, of a list of objects, and of the list
 * "rows", one for each element.
 * Real numbers have 15 digits: any decimal number of 15 survives a double. Takes over the reference. NULL: out of
 * memory, also where `failed` says so.
 */
char *json_lines_dump(json_t *root, bool failed);
