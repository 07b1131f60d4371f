/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repetitions that were invalid while they were recorded, in the metadata of a trace. */
#include "trace/discarded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/list.h"
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

struct discarded_list discarded_of(const struct trace *t)
{
    const char *list = trace_get(t, key);
    return (struct discarded_list){.at = list != NULL ? list : ""};
}

int discarded_next(struct discarded_list *l)
{
    if (l->why == NULL || *l->at != ',') { /* an entry begins: "REASON = 17,20" */
        l->why = l->at += strspn(l->at, "; ");
        if (*l->at == '\0')
            return 0;
        const char *end = l->at + strcspn(l->at, ";"), *equals = memmem(l->at, (size_t)(end - l->at), " = ", 3);
        l->why_length = (int)((equals != NULL ? equals : end) - l->at);
        l->at = equals != NULL ? equals + 2 : end;
        if (equals == NULL)
            return -1;
    }
    const char *digits = l->at + 1 + strspn(l->at + 1, " ");
    char *end;
    errno = 0;
    unsigned long value = strtoul(digits, &end, 10);
    bool good = *digits >= '0' && *digits <= '9' && errno == 0 && value <= UINT32_MAX && strchr(",;", *end) != NULL;
    l->run = (uint32_t)value;
    l->at = good ? end : digits + strcspn(digits, ";");
    return good ? 1 : -1;
}

int discarded_contradicts(const struct trace *t, uint32_t *run)
{
    struct discarded_list l = discarded_of(t);
    const uint32_t alone = 0; /* all samples are one repetition where there is no such column */
    uint32_t *named = NULL;
    size_t n = 0;
    int wrong = 0;
    while (wrong == 0 && discarded_next(&l) > 0) {
        wrong = list_room(&named, n, sizeof(*named)) ? 0 : -1;
        if (wrong == 0)
            named[n++] = l.run;
    }
    if (n > 0)
        qsort(named, n, sizeof(*named), order_unsigned);
    for (size_t i = 0; i < n && wrong == 0; i++) {
        bool there = bsearch(&named[i], t->run != NULL ? t->run : &alone, t->run != NULL ? t->n : 1, sizeof(*named),
                             order_unsigned) != NULL;
        wrong = there ? 1 : i > 0 && named[i] == named[i - 1] ? 2 : 0;
        *run = named[i];
    }
    free(named);
    return wrong;
}
