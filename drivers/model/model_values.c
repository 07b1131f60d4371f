/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of a model file: numbers, ranges, names. */
#include "drivers/model/model_parser.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/text_list.h"

/* Decimal notation only: strtod alone would take "nan", "inf" and hexadecimal. Returns the end, or NULL. */
static const char *plain_number(const char *text, double *out)
{
    if (!isdigit((unsigned char)text[0]) && text[0] != '-' && text[0] != '.')
        return NULL;
    if (strspn(text, "0123456789+-.eE/") != strlen(text))
        return NULL;
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return end == text || errno == ERANGE ? NULL : end;
}

int model_number(struct model_parser *p, const char *key, const char *text, double lo, double hi, double *out)
{
    double value, divisor;
    const char *end = plain_number(text, &value);
    if (end && *end == '/') {
        end = plain_number(end + 1, &divisor);
        value = end && divisor > 0 ? value / divisor : NAN;
    }
    if (!end || *end || !isfinite(value))
        return model_refuse(p, key, "'%.40s' is not a number; write a decimal number or a fraction like 1/4", text);
    if (value < lo || value > hi)
        return model_refuse(p, key, "%.40s is out of range; %g to %g would work", text, lo, hi);
    *out = value;
    return 0;
}

int model_uint(struct model_parser *p, const char *key, const char *text, unsigned lo, unsigned hi, unsigned *out)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, hex ? 16 : 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno == ERANGE)
        return model_refuse(p, key, "'%.40s' is not a whole number; %u to %u would work", text, lo, hi);
    if (value < lo || value > hi)
        return model_refuse(p, key, "%.40s is out of range; %u to %u would work", text, lo, hi);
    *out = (unsigned)value;
    return 0;
}

int model_core_range(struct model_parser *p, const char *key, const char *text, struct model_range *out)
{
    char low[16];
    const char *dash = strchr(text, '-');
    size_t n = dash ? (size_t)(dash - text) : strlen(text);
    if (n == 0 || n >= sizeof low)
        return model_refuse(p, key, "'%.40s' is not a range of active cores; write 4 or 1-4", text);
    memcpy(low, text, n);
    low[n] = '\0';
    if (model_uint(p, key, low, 1, MODEL_CORES_MAX, &out->lo) != 0)
        return -1;
    out->hi = out->lo;
    if (dash && model_uint(p, key, dash + 1, 1, MODEL_CORES_MAX, &out->hi) != 0)
        return -1;
    if (out->hi < out->lo)
        return model_refuse(p, key, "the range %.40s runs backwards; write %u-%u", text, out->hi, out->lo);
    return 0;
}

int model_class_name(struct model_parser *p, const char *key, const char *text, unsigned *out)
{
    int i = model_class_index(p->model, text);
    if (i < 0) {
        char known[200] = "";
        for (size_t k = 0; k < p->model->n_classes; k++)
            text_list_add(known, sizeof known, " ", "%s", p->model->classes[k].name);
        return model_refuse(p, key, "no class '%.40s' above this line; classes so far: %s", text,
                            known[0] ? known : "none");
    }
    *out = (unsigned)i;
    return 0;
}

int model_name(struct model_parser *p, const char *key, const char *text, char *out, size_t size)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_')
            return model_refuse(p, key, "'%.40s' is not a name; letters, digits and _ would work", text);
    if (n == 0 || n >= size)
        return model_refuse(p, key, "'%.40s' is too long for a name; at most %zu characters", text, size - 1);
    memcpy(out, text, n + 1);
    return 0;
}

int model_width(struct model_parser *p, const char *key, const char *text, unsigned *out)
{
    /* written in one way only: what is given twice is recognized by its text */
    static const char *const widths[] = {"64", "128", "256", "512", "8192"};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (strcmp(widths[i], text) == 0) {
            *out = (unsigned)atoi(text);
            return 0;
        }
    return model_refuse(p, key, "%.40s is not a register width; 64, 128, 256, 512 or 8192 would work", text);
}

int model_weight(struct model_parser *p, const char *key, const char *text, enum kernel_weight *out)
{
    if (strcmp(text, "light") == 0)
        *out = KERNEL_LIGHT;
    else if (strcmp(text, "heavy") == 0)
        *out = KERNEL_HEAVY;
    else
        return model_refuse(p, key, "'%.40s' is not a weight; light or heavy would work", text);
    return 0;
}

static int store_text(struct model_parser *p, const char *key, const char *value, char *out)
{
    size_t n = strlen(value);
    if (n >= MODEL_TEXT_MAX)
        return model_refuse(p, key, "longer than %d characters", MODEL_TEXT_MAX - 1);
    memcpy(out, value, n + 1);
    return 0;
}

const struct model_either model_yes_no = {"no", "yes", "yes nor no"};

static int store_either(struct model_parser *p, const char *key, const char *value, const struct model_either *e,
                        bool *out)
{
    *out = strcmp(value, e->yes) == 0;
    if (!*out && strcmp(value, e->no) != 0)
        return model_refuse(p, key, "'%.40s' is neither %s", value, e->both);
    return 0;
}

int model_store_key(struct model_parser *p, const struct model_key *k, char *value)
{
    void *at = (char *)p->instance + k->offset;
    switch (k->type) {
    case MODEL_KEY_NUMBER:
        return model_number(p, k->name, value, k->lo, k->hi, at);
    case MODEL_KEY_UINT:
        return model_uint(p, k->name, value, (unsigned)k->lo, (unsigned)k->hi, at);
    case MODEL_KEY_TEXT:
        return store_text(p, k->name, value, at);
    case MODEL_KEY_EITHER:
        return store_either(p, k->name, value, k->either, at);
    case MODEL_KEY_CLASS:
        return model_class_name(p, k->name, value, at);
    case MODEL_KEY_CORES:
        return model_core_range(p, k->name, value, at);
    case MODEL_KEY_OWN:
        break;
    }
    return k->own(p, k->name, value);
}
