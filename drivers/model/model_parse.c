/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of a model file, which keys they must have, and where such files are. */
#include "drivers/model/model_parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/data_file.h"
#include "util/text_list.h"

static int leave_section(struct model_parser *p)
{
    const struct model_section *s = p->section;
    if (!s)
        return 0;
    for (size_t i = 0; i < s->n_keys; i++)
        if (s->keys[i].required && !model_was_seen(p, s->keys[i].name))
            return model_fail(p, p->section_line, s->keys[i].name,
                              "missing in section [%s]; add '%s = VALUE  # source'", p->header, s->keys[i].name);
    return s->leave ? s->leave(p) : 0;
}

static const struct model_section *find_section(const char *name)
{
    for (size_t i = 0; i < model_n_sections; i++)
        if (strcmp(model_sections[i].name, name) == 0)
            return &model_sections[i];
    return NULL;
}

static int unknown_section(struct model_parser *p, const char *name)
{
    char known[200] = "";
    for (size_t i = 0; i < model_n_sections; i++)
        text_list_add(known, sizeof known, " ", "%s", model_sections[i].name);
    return model_refuse(p, name, "no such section; known sections: %s", known);
}

static int model_parse_read_header(struct model_parser *p)
{
    struct sourced_ini *ini = &p->ini;
    char text[MODEL_LINE_MAX], *words[MODEL_SECTION_WORDS + 1] = {NULL};
    if (leave_section(p) != 0)
        return -1;
    snprintf(text, sizeof text, "%s", ini->header);
    size_t n = sourced_ini_words(text, words, MODEL_SECTION_WORDS);
    const struct model_section *s = find_section(words[0]);
    if (!s)
        return unknown_section(p, words[0]);
    if (n > MODEL_SECTION_WORDS)
        return model_fail(p, ini->line, words[0], "too many words in the header; it is written %s", s->usage);
    if (ini->header_before)
        return sourced_ini_twice(ini, ini->header, ini->header_before);
    memcpy(p->header, ini->header, sizeof p->header);
    p->section = s;
    p->section_line = ini->line;
    p->section_number = ini->section;
    p->instance = p->model;
    if (n < 1 + s->words[0] || n > 1 + s->words[1])
        return model_fail(p, ini->line, p->header, "this header is written %s", s->usage);
    return s->enter ? s->enter(p, words) : 0;
}

static int unknown_key(struct model_parser *p, const char *key)
{
    const struct model_section *s = p->section;
    char known[260] = "";
    for (size_t i = 0; i < s->n_keys; i++)
        text_list_add(known, sizeof known, " ", "%s", s->keys[i].name);
    if (s->more)
        text_list_add(known, sizeof known, " ", "%s", s->more);
    return model_refuse(p, key, "no such key in section [%s]; known keys: %s", s->name, known);
}

static int model_parse_read_value(struct model_parser *p)
{
    char *key, *value;
    if (sourced_ini_pair(&p->ini, &key, &value) != MACHINE_OK || sourced_ini_once(&p->ini, key) != MACHINE_OK)
        return -1;
    const struct model_section *s = p->section;
    for (size_t i = 0; i < s->n_keys; i++)
        if (strcmp(s->keys[i].name, key) == 0)
            return model_store_key(p, &s->keys[i], value);
    if (s->other)
        return s->other(p, key, value);
    return unknown_key(p, key);
}

/* What only the whole file can tell. */
static int check_sections(struct model_parser *p)
{
    if (leave_section(p) != 0)
        return -1;
    for (size_t i = 0; i < model_n_sections; i++)
        if (model_sections[i].required && !sourced_ini_has(&p->ini, 0, model_sections[i].name))
            return model_refuse(p, model_sections[i].name, "section [%s] is missing", model_sections[i].name);
    return 0;
}

static int model_parse_parse(struct model_parser *p)
{
    for (;;) {
        enum sourced_ini_item item = sourced_ini_next(&p->ini);
        if (item == SOURCED_INI_WRONG)
            return -1;
        if (item == SOURCED_INI_END)
            return check_sections(p) != 0 ? -1 : model_check(p);
        if ((item == SOURCED_INI_SECTION ? model_parse_read_header(p) : model_parse_read_value(p)) != 0)
            return -1;
    }
}

int model_parse(const char *text, size_t length, const char *name, struct model *out, struct machine_error *err)
{
    struct model_parser *p = calloc(1, sizeof *p);
    if (!p)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory while reading %.160s", name);
    memset(err, 0, sizeof *err);
    memset(out, 0, sizeof *out);
    snprintf(out->file, sizeof out->file, "%s", name);
    p->model = out;
    sourced_ini_begin(&p->ini, text, length, name, "characterize-model/1", true, err);
    int failed = model_parse_parse(p);
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
