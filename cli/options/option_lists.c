/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options/option_lists.h"

#include <stdint.h>
#include <string.h>

#include "cli/messages.h"
#include "cli/options/values.h"

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

static int option_lists_add_number(const char *option, unsigned value, bool all_allowed, unsigned *out, size_t max,
                                   size_t *n)
{
    for (size_t i = 0; i < *n; i++) {
        if (out[i] == value) {
            if (value == 0 && all_allowed)
                complain("%s: all (or 0, which means the same) is given twice", option);
            else
                complain("%s: %u is given twice", option, value);
            return -1;
        }
    }
    if (*n == max) {
        complain("%s: more than %zu numbers", option, max);
        return -1;
    }
    out[(*n)++] = value;
    return 0;
}

/* first-last, or one number. Returns what is wrong with it, or NULL. */
static const char *option_lists_read_range(char *element, unsigned lo, unsigned hi, uint64_t *first, uint64_t *last)
{
    char *dash = strchr(element, '-');
    if (dash != NULL && dash != element && dash[1] == '\0')
        return "has no number after the dash";
    if (dash != NULL && dash != element)
        *dash = '\0';
    const char *wrong = value_whole(element, lo, hi, first);
    *last = *first;
    if (wrong == NULL && dash != NULL && dash != element) {
        wrong = value_whole(dash + 1, lo, hi, last);
        *dash = '-';
    }
    return wrong != NULL ? wrong : *first > *last ? "ends before it begins" : NULL;
}

int option_list_numbers(const char *option, const char *text, unsigned lo, unsigned hi, bool all_allowed, unsigned *out,
                        size_t max, size_t *n)
{
    char element[ELEMENT_MAX], shown[ELEMENT_MAX];
    *n = 0;
    for (const char *rest = text; rest != NULL;) {
        rest = next_element(rest, element);
        memcpy(shown, element, sizeof(shown));
        if (all_allowed && strcmp(element, "all") == 0) {
            if (option_lists_add_number(option, 0, true, out, max, n) != 0)
                return -1;
            continue;
        }
        uint64_t first, last;
        const char *wrong = option_lists_read_range(element, lo, hi, &first, &last);
        if (wrong != NULL) {
            complain("%s: '%s' %s; allowed: %u to %u%s, separated by commas, ranges as 4-7", option, shown, wrong, lo,
                     hi, all_allowed ? " or all" : "");
            return -1;
        }
        for (uint64_t value = first; value <= last; value++)
            if (option_lists_add_number(option, (unsigned)value, all_allowed, out, max, n) != 0)
                return -1;
    }
    return 0;
}

int option_list_kernels(const char *option, const char *text, struct payload *out, size_t max, size_t *n)
{
    char element[ELEMENT_MAX], why[400];
    *n = 0;
    for (const char *rest = text; rest != NULL;) {
        rest = next_element(rest, element);
        if (*n == max) {
            complain("%s: more than %zu kernels", option, max);
            return -1;
        }
        if (kernel_parse(element, &out[*n], why, sizeof(why)) != 0) {
            complain("%s: %s", option, why);
            return -1;
        }
        for (size_t i = 0; i < *n; i++) {
            if (strcmp(out[i].name, out[*n].name) == 0) {
                complain("%s: %s is given twice", option, out[i].name);
                return -1;
            }
        }
        (*n)++;
    }
    return 0;
}
