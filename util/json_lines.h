/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON of ours: numbers and texts as our files have them, short enough to read, easy to diff. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

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

/* ---- members of structs, listed once and put into objects one by one, or read back ---- */

enum json_member_kind {
    MEMBER_CHARS,    /* char[]: text; null of "" */
    MEMBER_STRING,   /* const char *: text; null of NULL and of ""; not read back */
    MEMBER_BOOL,     /* bool */
    MEMBER_INT,      /* int */
    MEMBER_UNSIGNED, /* unsigned */
    MEMBER_SIZE,     /* size_t */
    MEMBER_REAL,     /* double; null where it is not finite */
    MEMBER_OWN,      /* as its function puts it; not read back */
};

struct json_member {
    const char *key;
    enum json_member_kind kind;
    size_t offset, size;
    double lo, hi; /* of numbers that are read: what is accepted */
    void (*put)(json_t *o, const char *key, const void *member, bool *failed);
};

/* A member whose key is its name; one with another key; a number that is read, within lo and hi; one of MEMBER_OWN. */
#define JSON_MEMBER(S, M, KIND) JSON_MEMBER_AS(#M, S, M, KIND)
/* clang-format off */
#define JSON_MEMBER_AS(KEY, S, M, KIND) {KEY, KIND, offsetof(struct S, M), sizeof(((struct S *)NULL)->M), 0, 0, NULL}
#define JSON_MEMBER_WITHIN(S, M, KIND, LO, HI) \
    {#M, KIND, offsetof(struct S, M), sizeof(((struct S *)NULL)->M), LO, HI, NULL}
#define JSON_MEMBER_OWN(KEY, S, M, PUT) \
    {KEY, MEMBER_OWN, offsetof(struct S, M), sizeof(((struct S *)NULL)->M), 0, 0, PUT}
/* clang-format on */
/* A list of them and how many it has, as the functions below take them. */
#define JSON_MEMBERS(LIST) LIST, sizeof(LIST) / sizeof *(LIST)
/* Puts n members of a struct into an object, texts made plain (plain_text.h). Remembers a failure in *failed. */
void json_members_put(json_t *o, const struct json_member *m, size_t n, const void *from, bool *failed);
/* A new object of them. */
json_t *json_members(const struct json_member *m, size_t n, const void *from, bool *failed);
/*
 * Reads them back: text, made plain, or null; true or false; numbers in their range. Returns 0, or -1 with one line in
 * `why`: which key is not what it should be; what was read before it is in the struct.
 */
int json_members_read(const json_t *from, const struct json_member *m, size_t n, void *out, char *why, size_t size);
