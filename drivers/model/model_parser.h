/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parser of model files from the inside: lines (util/sourced_ini.h), sections (model_parse.c), values
 * (model_values.c), which keys there are (model_keys.c), and what must hold between them
 * (model_check.c).
 */
#pragma once

#include "drivers/model/model.h"
#include "util/sourced_ini.h"

enum { MODEL_LINE_MAX = SOURCED_INI_LINE_MAX, MODEL_SECTION_WORDS = 5, MODEL_KEY_SIZE = SOURCED_INI_KEY_MAX };

struct model_section;

struct model_parser {
    struct sourced_ini ini;
    struct model *model;
    const struct model_section *section; /* NULL before the first header */
    unsigned section_number, section_line;
    char header[MODEL_LINE_MAX]; /* of the section, without brackets */
    void *instance;              /* what the keys of the section are stored in */
};

/* Stores a value, which it may cut up. Returns 0, or non-zero after model_fail. */
typedef int model_store(struct model_parser *p, const char *key, char *value);

enum model_key_type {
    MODEL_KEY_NUMBER,
    MODEL_KEY_UINT,
    MODEL_KEY_TEXT,
    MODEL_KEY_EITHER,
    MODEL_KEY_CLASS,
    MODEL_KEY_CORES,
    MODEL_KEY_OWN
};

/* Two words, of false and of true, and how they are named where it is neither. */
struct model_either {
    const char *no, *yes, *both;
};

struct model_key {
    const char *name;
    enum model_key_type type;
    bool required;
    size_t offset;    /* in the section's instance */
    double lo, hi;    /* NUMBER, UINT: both ends allowed */
    model_store *own; /* OWN */
    const struct model_either *either;
};

struct model_section {
    const char *name;  /* first word of the header */
    const char *usage; /* of the header, for messages */
    size_t words[2];   /* of the header behind the name: at least, at most */
    bool required;
    const struct model_key *keys;
    size_t n_keys;
    const char *more;   /* how the keys that `other` takes look, for messages */
    model_store *other; /* keys that are not in the table; NULL = none */
    /* words[0] is the name, NULL behind the last one. Sets p->instance. Returns 0, or non-zero after model_fail. */
    int (*enter)(struct model_parser *p, char *words[]);
    int (*leave)(struct model_parser *p); /* after its last key; may be NULL */
};

extern const struct model_section model_sections[];
extern const size_t model_n_sections;

/* Rows of a table of keys. */
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define KEY(kind, name, required, type, field, lo, hi, either)                                                         \
    {                                                                                                                  \
        name, MODEL_KEY_##kind, required, offsetof(struct type, field), lo, hi, NULL, either                           \
    }
#define NUMBER(name, required, type, field, lo, hi) KEY(NUMBER, name, required, type, field, lo, hi, NULL)
#define UINT(name, required, type, field, lo, hi) KEY(UINT, name, required, type, field, lo, hi, NULL)
#define TEXT(name, required, type, field) KEY(TEXT, name, required, type, field, 0, 0, NULL)
#define YES_NO(name, required, type, field) KEY(EITHER, name, required, type, field, 0, 0, &model_yes_no)
#define EITHER(name, required, type, field, pair) KEY(EITHER, name, required, type, field, 0, 0, &(pair))
#define CLASS(name, required, type, field) KEY(CLASS, name, required, type, field, 0, 0, NULL)
#define CORES(name, required, type, field) KEY(CORES, name, required, type, field, 0, 0, NULL)
#define OWN(name, required, function)                                                                                  \
    {                                                                                                                  \
        name, MODEL_KEY_OWN, required, 0, 0, 0, function, NULL                                                         \
    }
extern const struct model_either model_yes_no;

/* Refuses what stands in a line: (line, key, format, ...) as sourced_ini_fail() takes them; returns non-zero. */
#define model_fail(p, ...) sourced_ini_fail(&(p)->ini, __VA_ARGS__)
/* The same of the present line. */
#define model_refuse(p, ...) model_fail(p, (p)->ini.line, __VA_ARGS__)
/* Whether a key was read in the present section. */
static inline bool model_was_seen(const struct model_parser *p, const char *key)
{
    return sourced_ini_has(&p->ini, p->section_number, key);
}

/* The line of a key of the section with this header, or of the header where the key is missing. */
#define model_line(p, header, key) sourced_ini_line(&(p)->ini, header, key)

/* Values: return 0, or non-zero after model_fail. Fractions like 1/4 are numbers too. */
int model_number(struct model_parser *p, const char *key, const char *text, double lo, double hi, double *out);
int model_uint(struct model_parser *p, const char *key, const char *text, unsigned lo, unsigned hi, unsigned *out);
int model_core_range(struct model_parser *p, const char *key, const char *text, struct model_range *out);
int model_class_name(struct model_parser *p, const char *key, const char *text, unsigned *out);
int model_name(struct model_parser *p, const char *key, const char *text, char *out, size_t size);
int model_width(struct model_parser *p, const char *key, const char *text, unsigned *out);
int model_weight(struct model_parser *p, const char *key, const char *text, enum kernel_weight *out);
int model_store_key(struct model_parser *p, const struct model_key *k, char *value);

/* What must hold between the values of a whole file. */
int model_check(struct model_parser *p);
