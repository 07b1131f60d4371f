/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parser of model files from the inside: lines (util/sourced_ini.h), sections (model_parse.c), values (model_values.c), which keys
 * there are (model_keys.c, model_keys_world.c), and what must hold between them (model_check.c).
 */
#ifndef CHARACTERIZE_DRIVERS_MODEL_PARSER_H
#define CHARACTERIZE_DRIVERS_MODEL_PARSER_H

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

/* Stores a value. Returns 0, or non-zero after model_fail. */
typedef int model_store(struct model_parser *p, const char *key, const char *value);

enum model_key_type {
    MODEL_KEY_NUMBER,
    MODEL_KEY_UINT,
    MODEL_KEY_TEXT,
    MODEL_KEY_YES_NO,
    MODEL_KEY_CLASS,
    MODEL_KEY_OWN
};

struct model_key {
    const char *name;
    enum model_key_type type;
    bool required;
    size_t offset;    /* in the section's instance */
    double lo, hi;    /* NUMBER, UINT: both ends allowed */
    model_store *own; /* OWN */
};

struct model_section {
    const char *name;  /* first word of the header */
    const char *usage; /* of the header, for messages */
    bool required;
    const struct model_key *keys;
    size_t n_keys;
    const char *more;   /* how the keys that `other` takes look, for messages */
    model_store *other; /* keys that are not in the table; NULL = none */
    /* words[0] is the name. Sets p->instance and p->header's meaning. Returns 0, or non-zero after model_fail. */
    int (*enter)(struct model_parser *p, char *words[], size_t n_words);
    int (*leave)(struct model_parser *p); /* after its last key; may be NULL */
};

extern const struct model_section model_sections[];
extern const size_t model_n_sections;

/* Rows of a table of keys. */
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NUMBER(name, required, type, field, lo, hi)                                                                    \
    {                                                                                                                  \
        name, MODEL_KEY_NUMBER, required, offsetof(struct type, field), lo, hi, NULL                                   \
    }
#define UINT(name, required, type, field, lo, hi)                                                                      \
    {                                                                                                                  \
        name, MODEL_KEY_UINT, required, offsetof(struct type, field), lo, hi, NULL                                     \
    }
#define TEXT(name, required, type, field)                                                                              \
    {                                                                                                                  \
        name, MODEL_KEY_TEXT, required, offsetof(struct type, field), 0, 0, NULL                                       \
    }
#define YES_NO(name, required, type, field)                                                                            \
    {                                                                                                                  \
        name, MODEL_KEY_YES_NO, required, offsetof(struct type, field), 0, 0, NULL                                     \
    }
#define CLASS(name, required, type, field)                                                                             \
    {                                                                                                                  \
        name, MODEL_KEY_CLASS, required, offsetof(struct type, field), 0, 0, NULL                                      \
    }
#define OWN(name, required, function)                                                                                  \
    {                                                                                                                  \
        name, MODEL_KEY_OWN, required, 0, 0, 0, function                                                               \
    }

/* What an ordinary processor does beside changing its license: model_keys_world.c. */
enum {
    MODEL_SMI_KEYS = 3,
    MODEL_COLD_KEYS = 2,
    MODEL_SIBLING_KEYS = 5,
    MODEL_WANDER_KEYS = 4,
    MODEL_LIMIT_KEYS = 2,
    MODEL_REPETITION_KEYS = 2
};
extern const struct model_key model_smi_keys[MODEL_SMI_KEYS], model_cold_keys[MODEL_COLD_KEYS],
    model_sibling_keys[MODEL_SIBLING_KEYS], model_wander_keys[MODEL_WANDER_KEYS], model_limit_keys[MODEL_LIMIT_KEYS],
    model_repetition_keys[MODEL_REPETITION_KEYS];
int model_leave_smi(struct model_parser *p);
int model_leave_wander(struct model_parser *p);

/* Refuses what stands in a line: (line, key, format, ...) as sourced_ini_fail() takes them; returns non-zero. */
#define model_fail(p, ...) sourced_ini_fail(&(p)->ini, __VA_ARGS__)
/* Whether a key was read in the present section. */
static inline bool model_was_seen(const struct model_parser *p, const char *key)
{
    return sourced_ini_has(&p->ini, p->section_number, key);
}

/* Values: return 0, or non-zero after model_fail. Fractions like 1/4 are numbers too. */
int model_number(struct model_parser *p, const char *key, const char *text, double lo, double hi, double *out);
int model_uint(struct model_parser *p, const char *key, const char *text, unsigned lo, unsigned hi, unsigned *out);
int model_core_range(struct model_parser *p, const char *key, const char *text, struct model_range *out);
int model_class_name(struct model_parser *p, const char *key, const char *text, unsigned *out);
int model_name(struct model_parser *p, const char *key, const char *text, char *out, size_t size);
int model_width(struct model_parser *p, const char *key, const char *text, unsigned *out);
int model_weight(struct model_parser *p, const char *key, const char *text, enum kernel_weight *out);
int model_store_key(struct model_parser *p, const struct model_key *k, const char *value);

/* What must hold between the values of a whole file. */
int model_check(struct model_parser *p);

#endif
