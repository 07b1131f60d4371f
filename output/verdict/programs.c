/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that decide by lists of processors how wide their code is: reading data/verdict/programs.ini, and what a
 * verdict means for them. */
#include "output/verdict/programs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/data_file.h"
#include "util/sourced_ini.h"

static const struct data_kind lists = {"list of programs", "verdict", ".ini", NULL};
static const unsigned widths[PROGRAMS_WIDTHS] = {128, 256, 512};

/* ---- reading ---- */

struct reader {
    struct sourced_ini ini;
    struct programs *out;
    struct program *at; /* of the present section; NULL: before the first */
};

static int programs_section(struct reader *r)
{
    struct programs *all = r->out;
    char id[40], more;
    if (sscanf(r->ini.header, "program %39[a-z0-9-]%c", id, &more) != 1)
        return sourced_ini_fail(&r->ini, r->ini.line, NULL,
                                "[%s] is not a section of such a file; [program NAME] would work, in small letters, "
                                "digits and dashes",
                                r->ini.header);
    if (r->ini.header_before)
        return sourced_ini_fail(&r->ini, r->ini.line, NULL, "[%s] already stands in line %u", r->ini.header,
                                r->ini.header_before);
    if (all->n == PROGRAMS_MAX)
        return sourced_ini_fail(&r->ini, r->ini.line, NULL, "more than %d programs", PROGRAMS_MAX);
    r->at = &all->program[all->n++];
    memcpy(r->at->id, id, sizeof r->at->id);
    r->at->any = true;
    r->at->first = all->n_models;
    return MACHINE_OK;
}

static int programs_text(struct reader *r, const char *key, const char *value, char out[PROGRAMS_TEXT_MAX])
{
    if (strlen(value) >= PROGRAMS_TEXT_MAX)
        return sourced_ini_fail(&r->ini, r->ini.line, key, "longer than %d characters", PROGRAMS_TEXT_MAX - 1);
    memcpy(out, value, strlen(value) + 1);
    return MACHINE_OK;
}

static int programs_bits(struct reader *r, const char *key, const char *value, unsigned *out)
{
    for (size_t i = 0; i < PROGRAMS_WIDTHS; i++) {
        char text[8];
        snprintf(text, sizeof text, "%u", widths[i]);
        if (strcmp(value, text) == 0) {
            *out = widths[i];
            return MACHINE_OK;
        }
    }
    return sourced_ini_fail(&r->ini, r->ini.line, key, "'%s' is none of 128, 256, 512", value);
}

static int programs_code(struct reader *r, const char *key, const char *value)
{
    r->at->any = strcmp(value, "any") == 0;
    for (enum kernel_weight w = KERNEL_LIGHT; w <= KERNEL_HEAVY && !r->at->any; w++)
        if (strcmp(value, kernel_weight_name(w)) == 0) {
            r->at->code = w;
            return MACHINE_OK;
        }
    return r->at->any ? MACHINE_OK
                      : sourced_ini_fail(&r->ini, r->ini.line, key, "'%s' is none of heavy, light, any", value);
}

/* "06_55H" or "19_10H-19_1FH". */
static bool model_of(const char *key, struct programs_model *out)
{
    unsigned family;
    int used = 0, n = sscanf(key, "%2X_%2XH%n", &out->family, &out->first, &used);
    if (n != 2 || used == 0)
        return false;
    out->last = out->first;
    if (key[used] == '\0')
        return true;
    int more = 0;
    return sscanf(key + used, "-%2X_%2XH%n", &family, &out->last, &more) == 2 && more > 0 && !key[used + more] &&
           family == out->family && out->last > out->first;
}

static int add_model(struct reader *r, const char *key, const char *value)
{
    struct programs *all = r->out;
    struct programs_model *m = &all->model[all->n_models];
    if (all->n_models == PROGRAMS_MODELS_MAX)
        return sourced_ini_fail(&r->ini, r->ini.line, key, "more than %d models", PROGRAMS_MODELS_MAX);
    if (!model_of(key, m))
        return sourced_ini_fail(
            &r->ini, r->ini.line, key,
            "is neither name, about, code, set128, set256, set512, default nor a model like 06_55H or "
            "19_10H-19_1FH");
    for (size_t i = r->at->first; i < all->n_models; i++)
        if (all->model[i].family == m->family && m->first <= all->model[i].last && all->model[i].first <= m->last)
            return sourced_ini_fail(&r->ini, r->ini.line, key, "an earlier line of the program covers this model");
    int status = programs_bits(r, key, value, &m->bits);
    all->n_models += status == MACHINE_OK;
    r->at->n += status == MACHINE_OK;
    return status;
}

static int programs_line(struct reader *r)
{
    char *key, *value;
    if (sourced_ini_pair(&r->ini, &key, &value) != MACHINE_OK || sourced_ini_once(&r->ini, key) != MACHINE_OK)
        return MACHINE_BAD_INPUT;
    for (size_t i = 0; i < PROGRAMS_WIDTHS; i++) {
        char set[12];
        snprintf(set, sizeof set, "set%u", widths[i]);
        if (strcmp(key, set) == 0)
            return programs_text(r, key, value, r->at->set[i]);
    }
    if (strcmp(key, "name") == 0)
        return programs_text(r, key, value, r->at->name);
    if (strcmp(key, "about") == 0)
        return programs_text(r, key, value, r->at->about);
    if (strcmp(key, "code") == 0)
        return programs_code(r, key, value);
    if (strcmp(key, "default") == 0)
        return programs_bits(r, key, value, &r->at->otherwise);
    return add_model(r, key, value);
}

int programs_parse(const char *text, size_t length, const char *file, struct programs *out, struct machine_error *err)
{
    struct reader *r = calloc(1, sizeof *r);
    int status = r ? MACHINE_OK : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    memset(out, 0, sizeof *out);
    if (!r)
        return status;
    r->out = out;
    sourced_ini_begin(&r->ini, text, length, file, "characterize-programs/1", true, err);
    for (bool more = true; more && status == MACHINE_OK;) {
        enum sourced_ini_item item = sourced_ini_next(&r->ini);
        more = item != SOURCED_INI_END;
        status = item == SOURCED_INI_WRONG     ? MACHINE_BAD_INPUT
                 : item == SOURCED_INI_SECTION ? programs_section(r)
                 : item == SOURCED_INI_LINE    ? programs_line(r)
                                               : MACHINE_OK;
    }
    for (size_t i = 0; i < out->n && status == MACHINE_OK; i++)
        if (!out->program[i].name[0]) {
            char header[60];
            snprintf(header, sizeof header, "program %s", out->program[i].id);
            status = sourced_ini_fail(&r->ini, sourced_ini_line(&r->ini, header, "name"), "name", "is missing");
        }
    free(r);
    return status;
}

int programs_load(const char *data_dir, struct programs *out, struct machine_error *err)
{
    char path[DATA_FILE_PATH_SIZE];
    size_t length = 0;
    memset(out, 0, sizeof *out);
    char *text = data_file_read("programs", data_dir, &lists, path, &length, err);
    if (!text)
        return (int)err->status;
    int status = programs_parse(text, length, path, out, err);
    free(text);
    return status;
}

/* ---- what they say ---- */

/* The displayed family and model in the name of a processor. */
static bool signature_of(const char *cpu, unsigned *family, unsigned *model)
{
    for (const char *at = cpu; at && *at; at++) {
        int used = 0;
        bool begins = at == cpu || !isalnum((unsigned char)at[-1]);
        if (begins && sscanf(at, "%2X_%2XH%n", family, model, &used) == 2 && used > 0)
            return true;
    }
    return false;
}

unsigned programs_bits_on(const struct programs *all, const struct program *p, const char *cpu)
{
    unsigned family, model;
    if (!signature_of(cpu, &family, &model))
        return 0;
    for (size_t i = p->first; i < p->first + p->n; i++)
        if (all->model[i].family == family && model >= all->model[i].first && model <= all->model[i].last)
            return all->model[i].bits;
    return p->otherwise;
}

struct programs_advice programs_compare(const struct programs_answer *a, const struct program *p)
{
    struct programs_advice t = {.code = p->any ? a->usual : p->code, .set = ""};
    t.bits = a->bits[t.code];
    for (size_t i = 0; i < PROGRAMS_WIDTHS; i++)
        if (widths[i] == t.bits)
            t.set = p->set[i];
    /* lists are of processors with 512-bit code: none of them speaks of others */
    t.uses = a->wide ? programs_bits_on(a->all, p, a->cpu) : 0;
    t.verdict = t.uses == 0                                     ? PROGRAM_UNKNOWN
                : (t.uses & (t.bits | a->as_good[t.code])) != 0 ? PROGRAM_AGREES
                                                                : PROGRAM_DIFFERS;
    return t;
}
