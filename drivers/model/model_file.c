/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads model files: sections and keys by model_keys.c, then what must hold between values by model_check.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/model/model_keys.h"
#include "util/data_file.h"
#include "util/text_list.h"

static int leave_section(struct parser *p)
{
    const struct section *s = p->section;
    if (!s)
        return 0;
    for (const struct key *k = NULL; (k = model_next_key(s, k));)
        if (k->required && k->name[0] && !sourced_ini_has(&p->ini, p->section_number, k->name))
            return sourced_ini_fail(&p->ini, p->section_line, k->name,
                                    "missing in section [%s]; add '%s = VALUE  # source'", p->header, k->name);
    return 0;
}

static const struct section *find_section(struct parser *p, const char *name)
{
    char known[200] = "";
    size_t n;
    const struct section *sections = model_sections(&n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(sections[i].name, name) == 0)
            return &sections[i];
        text_list_add(known, sizeof known, " ", "%s", sections[i].name);
    }
    refuse(p, name, "no such section; known sections: %s", known);
    return NULL;
}

static int read_header(struct parser *p)
{
    struct sourced_ini *ini = &p->ini;
    char text[TEXT_SIZE], *words[HEADER_WORDS + 1] = {NULL};
    if (leave_section(p) != 0)
        return -1;
    snprintf(text, sizeof text, "%s", ini->header);
    size_t n = sourced_ini_words(text, words, HEADER_WORDS);
    const struct section *s = find_section(p, words[0]);
    if (!s)
        return -1;
    if (n > HEADER_WORDS)
        return refuse(p, words[0], "too many words in the header; it is written %s", s->usage);
    if (ini->header_before)
        return sourced_ini_twice(ini, ini->header, ini->header_before);
    memcpy(p->header, ini->header, sizeof p->header);
    p->section = s;
    p->section_line = ini->line;
    p->section_number = ini->section;
    if (n < 1 + s->words[0] || n > 1 + s->words[1])
        return refuse(p, p->header, "this header is written %s", s->usage);
    p->instance = s->array.size > 0 ? model_key_add(p, p->header, &s->array) : p->model;
    if (!p->instance)
        return -1;
    size_t word = 1;
    for (const struct key *k = NULL; (k = model_next_key(s, k));)
        if (!k->name[0] && model_key_store(p, p->header, k, words[word++]) != 0)
            return -1;
    return s->enter ? s->enter(p, words) : 0;
}

static int read_value(struct parser *p)
{
    char *key, *value;
    if (sourced_ini_pair(&p->ini, &key, &value) != MACHINE_OK || sourced_ini_once(&p->ini, key) != MACHINE_OK)
        return -1;
    const struct section *s = p->section;
    for (const struct key *k = NULL; (k = model_next_key(s, k));)
        if (strcmp(k->name, key) == 0)
            return model_key_store(p, key, k, value);
    const char *dot = s->more ? strchr(s->more, '.') : NULL;
    if (s->other && (!dot || strncmp(key, s->more, (size_t)(dot + 1 - s->more)) == 0))
        return s->other(p, key, value);
    return model_key_unknown(p, key);
}

/* Checks that need the complete file. */
static int finish(struct parser *p)
{
    size_t n;
    const struct section *sections = model_sections(&n);
    if (leave_section(p) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (sections[i].required && !sourced_ini_has(&p->ini, 0, sections[i].name))
            return refuse(p, sections[i].name, "section [%s] is missing", sections[i].name);
    return model_check(p->model, &p->ini);
}

static int read_all(struct parser *p)
{
    for (;;) {
        switch (sourced_ini_next(&p->ini)) {
        case SOURCED_INI_WRONG:
            return -1;
        case SOURCED_INI_END:
            return finish(p);
        case SOURCED_INI_SECTION:
            if (read_header(p) != 0)
                return -1;
            break;
        case SOURCED_INI_LINE:
            if (read_value(p) != 0)
                return -1;
        }
    }
}

int model_parse(const char *text, size_t length, const char *name, struct model *out, struct machine_error *err)
{
    struct parser *p = calloc(1, sizeof *p);
    if (!p)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory while reading %.160s", name);
    memset(err, 0, sizeof *err);
    memset(out, 0, sizeof *out);
    snprintf(out->file, sizeof out->file, "%s", name);
    p->model = out;
    sourced_ini_begin(&p->ini, text, length, name, "characterize-model/1", true, err);
    int failed = read_all(p);
    free(p);
    return failed ? (int)err->status : MACHINE_OK;
}

/* ---- where model files are ---- */

static const struct data_kind models = {"model", "models", ".model", "doc/model-format.md"};

int model_list(const char *data_dir, char ***names, size_t *n)
{
    return data_file_list(data_dir, &models, names, n);
}

void model_list_free(char **names, size_t n)
{
    data_file_list_free(names, n);
}

char *model_text(const char *name_or_file, const char *data_dir, size_t *length)
{
    char path[DATA_FILE_PATH_SIZE];
    struct machine_error ignored;
    return data_file_read(name_or_file, data_dir, &models, path, length, &ignored);
}

int model_load(const char *name_or_file, const char *data_dir, struct model *out, struct machine_error *err)
{
    char path[DATA_FILE_PATH_SIZE];
    size_t length = 0;
    char *text = data_file_read(name_or_file, data_dir, &models, path, &length, err);
    if (!text)
        return (int)err->status;
    int status = model_parse(text, length, path, out, err);
    free(text);
    return status;
}
