/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of a model file: each section and key once, with its type, its limits and where its value is kept (private
 * to the reading of model files, model_file.c). */
#pragma once

#include "drivers/model/model_values.h"

enum { TEXT_SIZE = SOURCED_INI_LINE_MAX, HEADER_WORDS = 5 };

/* A file that is being read. */
struct parser {
    struct sourced_ini ini;
    struct model *model;
    const struct section *section; /* NULL before the first header */
    unsigned section_number, section_line;
    char header[TEXT_SIZE]; /* of the section, without brackets */
    void *instance;         /* where the keys of the section are stored */
};

/* Refuses what stands in the present line: (key, format, ...) as sourced_ini_fail() takes them; returns non-zero. */
#define refuse(p, ...) sourced_ini_fail(&(p)->ini, (p)->ini.line, __VA_ARGS__)

/* Stores a value, which it may cut up. Returns 0, or non-zero after fail(). */
typedef int store_fn(struct parser *p, const char *key, char *value);

/* Two words, of false and of true, and how they are named where it is neither. */
struct either {
    const char *no, *yes, *both;
};

enum type { IS_NUMBER, IS_UINT, IS_TEXT, IS_NAME, IS_EITHER, IS_CLASS, IS_CORES, IS_WIDTH, IS_WEIGHT, IS_OWN };
struct key {
    const char *section, *name;
    enum type type;
    bool required;
    size_t at;     /* in the section's instance */
    double lo, hi; /* NUMBER, UINT: both ends allowed */
    const struct either *either;
    store_fn *own;
};

/* An array of the model that grows by an element, which knows its line. */
struct array {
    size_t first, count, size, line;
    unsigned most;
    const char *what;
};

struct section {
    const char *name;  /* first word of the header */
    const char *usage; /* of the header, for messages */
    size_t words[2];   /* of the header after the name: at least, at most */
    bool required;
    struct array array; /* its header and keys are stored in a new element of it; size 0: in the model itself */
    const char *more;   /* how keys that `other` takes look, for messages; they begin as this does up to its dot */
    store_fn *other;
    /* After the header's words have been stored; words[0] is the name, NULL after the last one. Returns 0, or non-zero
     * after fail(). */
    int (*enter)(struct parser *p, char *words[]);
};

/* All of them; *n is set. */
const struct section *model_sections(size_t *n);
/*
 * The keys of a section, one after the other: the first after `k`, NULL: the first of all. NULL: there are no more. The
 * name of those that stand in the header of their section is "", in the order of its words.
 */
const struct key *model_next_key(const struct section *s, const struct key *k);

/* Stores the value of a key, or a word of the header, in the section's instance; one more element of an array, zeroed,
 * with its line. Returns 0, the element; non-zero, NULL after refusing it. */
int model_key_store(struct parser *p, const char *key, const struct key *k, char *value);
void *model_key_add(struct parser *p, const char *key, const struct array *a);
/* Refuses a key that the section does not have. */
int model_key_unknown(struct parser *p, const char *key);
