/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of the command line, lists of numbers and kernels, and bursts. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "cli/options/option_parts.h"
#include "drivers/events/event_code.h"

static const char out_of_range[] = "is out of range";

int option_bad_value(const struct option_row *p, const char *text, const char *wrong, const char *allowed)
{
    return refuse(BAD_USAGE, "--%s: '%s' %s; allowed: %s", p->name, text, wrong, allowed);
}

const char *option_whole(const char *text, uint64_t lo, uint64_t hi, uint64_t *out)
{
    if (text[0] == '\0')
        return "is empty";
    const char *digits = text[0] == '-' ? text + 1 : text;
    if (digits[0] == '\0' || strspn(digits, "0123456789") != strlen(digits))
        return "is not a whole number";
    errno = 0;
    unsigned long long value = strtoull(digits, NULL, 10);
    bool negative = digits != text && value != 0;
    if (errno == ERANGE || negative || value < lo || value > hi)
        return out_of_range;
    *out = value;
    return NULL;
}

const char *option_number(const char *text, double lo, double hi, double *out)
{
    char *end;
    if (text[0] == '\0')
        return "is empty";
    double value = strtod(text, &end);
    /* strtod() also takes blanks, hexadecimal, "nan" and "inf" */
    if (end == text || *end != '\0' || strspn(text, "+-.0123456789eE") != strlen(text))
        return "is not a number";
    if (!(value >= lo && value <= hi))
        return out_of_range;
    *out = value;
    return NULL;
}

const char *option_event_select(const char *text, uint64_t *out)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!hex)
        return option_whole(text, 0, EVENT_SELECT_MAX_AMD, out);
    size_t digits = strspn(text + 2, "0123456789abcdefABCDEF");
    if (digits == 0 || digits > 3 || text[2 + digits] != '\0')
        return "is not a number of up to three hexadecimal digits";
    *out = strtoull(text + 2, NULL, 16);
    return NULL;
}

enum { ELEMENT_MAX = 100 };

/* Cuts the next element off. Returns the rest, NULL at the end; of one that is too long nothing valid is left. */
static const char *next_element(const char *text, char element[ELEMENT_MAX])
{
    size_t length = strcspn(text, ","), kept = length < ELEMENT_MAX - 1 ? length : ELEMENT_MAX - 1;
    memcpy(element, text, kept);
    element[kept] = '\0';
    if (kept < length)
        memcpy(element + kept - 3, "...", 3);
    return text[length] == ',' ? text + length + 1 : NULL;
}

static int option_add_number(const char *option, unsigned value, bool all_allowed, unsigned *out, size_t max, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        if (out[i] == value)
            return value == 0 && all_allowed
                       ? refuse(BAD_USAGE, "--%s: all (or 0, which means the same) is given twice", option)
                       : refuse(BAD_USAGE, "--%s: %u is given twice", option, value);
    if (*n == max)
        return refuse(BAD_USAGE, "--%s: more than %zu numbers", option, max);
    out[(*n)++] = value;
    return 0;
}

/* first-last, or one number. Returns what is wrong with it, or NULL. */
static const char *option_read_range(char *element, unsigned lo, unsigned hi, uint64_t *first, uint64_t *last)
{
    char *dash = strchr(element, '-');
    if (dash != NULL && dash != element && dash[1] == '\0')
        return "has no number after the dash";
    if (dash != NULL && dash != element)
        *dash = '\0';
    const char *wrong = option_whole(element, lo, hi, first);
    *last = *first;
    if (wrong == NULL && dash != NULL && dash != element) {
        wrong = option_whole(dash + 1, lo, hi, last);
        *dash = '-';
    }
    return wrong != NULL ? wrong : *first > *last ? "ends before it begins" : NULL;
}

/* From lo to hi. Returns 0, or BAD_USAGE after a line that names the option and the element. */
static int option_numbers(const char *option, const char *text, unsigned lo, unsigned hi, bool all_allowed,
                          unsigned *out, size_t max, size_t *n)
{
    char element[ELEMENT_MAX], shown[ELEMENT_MAX];
    *n = 0;
    for (const char *rest = text; rest != NULL;) {
        rest = next_element(rest, element);
        memcpy(shown, element, sizeof(shown));
        if (all_allowed && strcmp(element, "all") == 0) {
            if (option_add_number(option, 0, true, out, max, n) != 0)
                return -1;
            continue;
        }
        uint64_t first, last;
        const char *wrong = option_read_range(element, lo, hi, &first, &last);
        if (wrong != NULL)
            return refuse(BAD_USAGE, "--%s: '%s' %s; allowed: %u to %u%s, separated by commas, ranges as 4-7", option,
                          shown, wrong, lo, hi, all_allowed ? " or all" : "");
        for (uint64_t value = first; value <= last; value++)
            if (option_add_number(option, (unsigned)value, all_allowed, out, max, n) != 0)
                return -1;
    }
    return 0;
}

int option_take_cores(const struct option_row *p, const char *text, struct options *o)
{
    return option_numbers(p->name, text, 0, 4096, true, o->tables.active, TABLES_CORES_MAX, &o->tables.n_active);
}

int option_take_cpus(const struct option_row *p, const char *text, struct options *o)
{
    return option_numbers(p->name, text, 0, 8191, false, o->cpus, TABLES_CORES_MAX, &o->n_cpus);
}

int option_take_kernels(const struct option_row *p, const char *text, struct options *o)
{
    char element[ELEMENT_MAX], why[400];
    struct payload *out = o->tables.kernels;
    size_t *n = &o->tables.n_kernels;
    *n = 0;
    for (const char *rest = text; rest != NULL;) {
        rest = next_element(rest, element);
        if (*n == TABLES_KERNELS_MAX)
            return refuse(BAD_USAGE, "--%s: more than %d kernels", p->name, TABLES_KERNELS_MAX);
        if (option_kernel(o, element, &out[*n], why, sizeof(why)) != 0)
            return refuse(BAD_USAGE, "--%s: %s", p->name, why);
        for (size_t i = 0; i < *n; i++)
            if (strcmp(out[i].name, out[*n].name) == 0)
                return refuse(BAD_USAGE, "--%s: %s is given twice", p->name, out[i].name);
        (*n)++;
    }
    return 0;
}

/* ---- --burst: a number of instructions, and the time from one burst to the next ---- */

struct burst_unit {
    const char *name;
    double factor;
};

static const struct burst_unit times[] = {{"", 1}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}};
enum { TIMES = sizeof times / sizeof *times };

/* A number and its unit, all of the text, times the unit's factor. Returns whether it is one from lo to hi. */
static bool with_unit(const char *text, const struct burst_unit *units, size_t n, double lo, double hi, double *out)
{
    char number[40];
    size_t length = strspn(text, "+-.0123456789eE");
    if (length == 0 || length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    for (size_t i = 0; i < n; i++)
        if (strcmp(text + length, units[i].name) == 0)
            return option_number(number, lo / units[i].factor, hi / units[i].factor, out) == NULL &&
                   (*out *= units[i].factor, true);
    return false;
}

const char *option_time(const char *text, double lo, double hi, double *out)
{
    if (with_unit(text, times, TIMES, lo, hi, out))
        return NULL;
    return with_unit(text, times, TIMES, -INFINITY, INFINITY, out) ? out_of_range
           : text[0] == '\0'                                       ? "is empty"
                                                                   : "is not a number";
}

int option_take_burst(const struct option_row *p, const char *text, struct options *o)
{
    struct tables_options *out = &o->tables;
    static const struct burst_unit counts[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}};
    const char *comma = strchr(text, ',');
    char count[40] = "";
    if (comma == NULL && with_unit(text, times, TIMES, 1, 1e6, &o->verdict.burst_us))
        return 0;
    if (comma != NULL && (size_t)(comma - text) < sizeof count)
        memcpy(count, text, (size_t)(comma - text));
    if (comma == NULL || !with_unit(count, counts, 3, 1, 1e9, &out->burst_count) ||
        out->burst_count != floor(out->burst_count) ||
        !with_unit(comma + 1, times, TIMES, 1, 1e6, &out->burst_every_us))
        return refuse(BAD_USAGE,
                      "--%s: '%s' is not of the form N,T: instructions (1 to 1e9, also 10k) every T (1 to 1000000 "
                      "microseconds, also 10us, 1ms, 0.1s), as in 1000,1ms; with --verdict T alone, as in 100us",
                      p->name, text);
    return 0;
}
