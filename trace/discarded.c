/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/discarded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/order.h"

static const char key[] = "discarded";

/* A reason without the characters that separate entries. */
static void plain_reason(const char *why, char *out, size_t size)
{
    size_t n = 0;
    for (; why[n] != '\0' && n + 1 < size; n++) {
        bool separates = why[n] == ';' || why[n] == '=' || (unsigned char)why[n] < 0x20;
        out[n] = separates ? ',' : why[n];
    }
    out[n] = '\0';
}

/* Order by reason, then by run. */
static int by_reason(const void *a, const void *b)
{
    const struct discarded_run *x = a, *y = b;
    int order = strcmp(x->why, y->why);
    return order != 0 ? order : (x->run > y->run) - (x->run < y->run);
}

static void print_list(FILE *out, const struct discarded_run *sorted, size_t n)
{
    char reason[sizeof(sorted[0].why)];
    for (size_t i = 0; i < n; i++) {
        bool first = i == 0 || strcmp(sorted[i].why, sorted[i - 1].why) != 0;
        if (first) {
            plain_reason(sorted[i].why, reason, sizeof(reason));
            fprintf(out, "%s%s = %" PRIu32, i == 0 ? "" : "; ", reason, sorted[i].run);
        } else {
            fprintf(out, ",%" PRIu32, sorted[i].run);
        }
    }
}

int discarded_note(struct trace *t, const struct discarded_run *list, size_t n)
{
    if (n == 0)
        return 0;
    struct discarded_run *sorted = malloc(n * sizeof(*sorted));
    char *text = NULL;
    size_t size = 0;
    FILE *out = sorted == NULL ? NULL : open_memstream(&text, &size);
    if (out == NULL) {
        free(sorted);
        return -1;
    }
    memcpy(sorted, list, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), by_reason);
    print_list(out, sorted, n);
    free(sorted);
    int status = fclose(out) == 0 ? trace_set(t, key, text) : -1;
    free(text);
    return status;
}

/* "17,20" as run numbers. 0; 1: it is none; else what add returned. */
static int each_run(char *runs, const char *why, int (*add)(void *data, uint32_t run, const char *why), void *data)
{
    char *number;
    while ((number = strsep(&runs, ",")) != NULL) {
        char *end;
        errno = 0;
        unsigned long value = strtoul(number, &end, 10);
        if (end == number || *end != '\0' || errno != 0 || value > UINT32_MAX || number[0] == '-')
            return 1;
        int status = add(data, (uint32_t)value, why);
        if (status != 0)
            return status;
    }
    return 0;
}

int discarded_each(const struct trace *t, int (*add)(void *data, uint32_t run, const char *why),
                   int (*unreadable)(void *data, const char *entry), void *data)
{
    const char *list = trace_get(t, key);
    char *copy = list == NULL ? NULL : strdup(list), *rest = copy, *entry;
    int status = list != NULL && copy == NULL ? -1 : 0;
    while (status == 0 && (entry = strsep(&rest, ";")) != NULL) { /* "REASON = 17,20" */
        entry += strspn(entry, " ");
        char *equals = strstr(entry, " = ");
        if (entry[0] == '\0')
            continue;
        if (equals != NULL)
            *equals = '\0';
        status = equals == NULL ? 1 : each_run(equals + 3, entry, add, data);
        if (status == 1)
            status = unreadable(data, entry);
    }
    free(copy);
    return status;
}

/* The runs that a list names, to be freed, in order; NULL: out of memory. */
static uint32_t *runs_named(const char *list, size_t *n)
{
    uint32_t *runs = malloc((strlen(list) / 2 + 1) * sizeof(*runs)); /* each takes a digit and what is before it */
    *n = 0;
    for (const char *at = list; runs != NULL && (at = strstr(at, " = ")) != NULL;) {
        at += 2;
        do {
            char *end;
            runs[(*n)++] = (uint32_t)strtoul(at + 1, &end, 10);
            at = end;
        } while (*at == ',');
    }
    if (runs != NULL)
        qsort(runs, *n, sizeof(*runs), order_unsigned);
    return runs;
}

int discarded_contradicts(const struct trace *t, uint32_t *run)
{
    const char *list = trace_get(t, key);
    const uint32_t alone = 0; /* all samples are one repetition where there is no such column */
    size_t n = 0;
    uint32_t *named = list == NULL ? NULL : runs_named(list, &n);
    int wrong = list != NULL && named == NULL ? -1 : 0;
    for (size_t i = 0; i < n && wrong == 0; i++) {
        bool there = bsearch(&named[i], t->run != NULL ? t->run : &alone, t->run != NULL ? t->n : 1, sizeof(*named),
                             order_unsigned) != NULL;
        wrong = there ? 1 : i > 0 && named[i] == named[i - 1] ? 2 : 0;
        *run = named[i];
    }
    free(named);
    return wrong;
}
