/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of a model file: numbers, ranges, words. */
#include "drivers/model/model_values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define refuse(ini, ...) sourced_ini_fail(ini, (ini)->line, __VA_ARGS__)

/* Decimal notation only: strtod alone would take "nan", "inf" and hexadecimal. Returns the end, or NULL. */
static const char *plain_number(const char *text, double *out)
{
    char *end;
    if ((!isdigit((unsigned char)text[0]) && text[0] != '-' && text[0] != '.') ||
        strspn(text, "0123456789+-.eE/") != strlen(text))
        return NULL;
    errno = 0;
    *out = strtod(text, &end);
    return end == text || errno == ERANGE ? NULL : end;
}

/* Fractions like 1/4 are numbers too. */
int model_number(struct sourced_ini *ini, const char *key, const char *text, double lo, double hi, double *out)
{
    double value, divisor;
    const char *end = plain_number(text, &value);
    if (end && *end == '/') {
        end = plain_number(end + 1, &divisor);
        value = end && divisor > 0 ? value / divisor : NAN;
    }
    if (!end || *end || !isfinite(value))
        return refuse(ini, key, "'%.40s' is not a number; write a decimal number or a fraction like 1/4", text);
    if (value < lo || value > hi)
        return refuse(ini, key, "%.40s is out of range; %g to %g would work", text, lo, hi);
    *out = value;
    return 0;
}

/* So many numbers, at most three, each within its limits. `form`: how they are written, for messages. */
int model_numbers(struct sourced_ini *ini, const char *key, const char *value, const char *form, size_t n,
                  const double limits[][2], double out[])
{
    char text[SOURCED_INI_LINE_MAX], *words[4];
    snprintf(text, sizeof text, "%s", value);
    if (sourced_ini_words(text, words, 3) != n)
        return refuse(ini, key, "'%.40s' is not of the form '%s'", value, form);
    for (size_t i = 0; i < n; i++)
        if (model_number(ini, key, words[i], limits[i][0], limits[i][1], &out[i]) != 0)
            return -1;
    return 0;
}

int model_uint(struct sourced_ini *ini, const char *key, const char *text, unsigned lo, unsigned hi, unsigned *out)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, hex ? 16 : 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno == ERANGE)
        return refuse(ini, key, "'%.40s' is not a whole number; %u to %u would work", text, lo, hi);
    if (value < lo || value > hi)
        return refuse(ini, key, "%.40s is out of range; %u to %u would work", text, lo, hi);
    *out = (unsigned)value;
    return 0;
}

int model_core_range(struct sourced_ini *ini, const char *key, const char *text, struct model_range *out)
{
    char low[16];
    const char *dash = strchr(text, '-');
    size_t n = dash ? (size_t)(dash - text) : strlen(text);
    if (n == 0 || n >= sizeof low)
        return refuse(ini, key, "'%.40s' is not a range of active cores; write 4 or 1-4", text);
    snprintf(low, sizeof low, "%.*s", (int)n, text);
    if (model_uint(ini, key, low, 1, MODEL_CORES_MAX, &out->lo) != 0)
        return -1;
    out->hi = out->lo;
    if (dash && model_uint(ini, key, dash + 1, 1, MODEL_CORES_MAX, &out->hi) != 0)
        return -1;
    if (out->hi < out->lo)
        return refuse(ini, key, "the range %.40s runs backwards; write %u-%u", text, out->hi, out->lo);
    return 0;
}

/* The place of a word in a list that ends with NULL; -1 after refusing it. `what`: "a weight; light or heavy". */
int model_one_of(struct sourced_ini *ini, const char *key, const char *word, const char *const *known, const char *what)
{
    for (int i = 0; known[i]; i++)
        if (strcmp(known[i], word) == 0)
            return i;
    refuse(ini, key, "'%.40s' is not %s would work", word, what);
    return -1;
}

int model_width(struct sourced_ini *ini, const char *key, const char *text, unsigned *out)
{
    /* written in one way only: what is given twice is recognized by its text */
    static const char *const widths[] = {"64", "128", "256", "512", "8192", NULL};
    int i = model_one_of(ini, key, text, widths, "a register width; 64, 128, 256, 512 or 8192");
    *out = i < 0 ? 0 : (unsigned)atoi(widths[i]);
    return i < 0 ? -1 : 0;
}

int model_weight(struct sourced_ini *ini, const char *key, const char *text, enum kernel_weight *out)
{
    static const char *const weights[] = {"light", "heavy", NULL};
    int i = model_one_of(ini, key, text, weights, "a weight; light or heavy");
    *out = i == 1 ? KERNEL_HEAVY : KERNEL_LIGHT;
    return i < 0 ? -1 : 0;
}
