/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ratios of frequencies, measured in brackets, and the classes that they fall into. */
#include "tables/classes/class_ratios.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/steady.h"
#include "util/order.h"

/* A run of a cell is done when half of the width of each ratio's limits is below this: half of FREQUENCY_SAME. */
#define ENOUGH (FREQUENCY_SAME / 2)
/* Rounds of brackets, and the time of a run, s, as of the table frequency: more than a median needs for limits. */
enum { ROUNDS_LEAST = 10, ROUNDS_LEAST_BRIEF = 6, ROUNDS_MOST = 600 };
static const double SECONDS = 3, SECONDS_BRIEF = 1;

void classes_set_up(const struct tables_context *x, const char *table, const struct cell *c,
                    const struct payload *kernels, size_t n, struct brackets_setup *s)
{
    const struct tables_options *o = x->options;
    static const struct payload none;
    const struct payload plain = kernel_named(CLASSES_PLAIN);
    brackets_defaults(s, n > 0 ? &plain : &none, kernels, n);
    bracket_cells_take_options(x, table, c, s);
    s->least = o->runs ? o->runs : o->brief ? ROUNDS_LEAST_BRIEF : ROUNDS_LEAST;
    s->most = o->runs ? o->runs : ROUNDS_MOST;
    s->seconds = o->seconds > 0 ? o->seconds : o->brief ? SECONDS_BRIEF : SECONDS;
    s->enough = ENOUGH;
}

/* The license level at which most of the samples are; NaN: it is not counted. Returns 0, or -1: out of memory. */
static int level_of(const struct trace *t, double *level)
{
    *level = NAN;
    for (enum trace_channel c = TRACE_LVL0; c <= TRACE_LVL2; c++) {
        struct steady_value share;
        if (steady_mean(t, c, 1, &share))
            return -1;
        if (share.mean.value > 0.5)
            *level = c - TRACE_LVL0;
    }
    return 0;
}

static int read_kernel(const struct brackets_result *r, size_t k, const struct payload *p, struct classes_seen *out)
{
    struct steady_value ghz;
    *out = (struct classes_seen){.density = p->density, .ratio = brackets_ratio_of(r, k), .seconds = r->seconds};
    if (steady_frequency(&r->seen[k], FREQUENCY_SAME / 2, &ghz) || level_of(&r->seen[k], &out->level))
        return -1;
    out->used = ghz.used;
    out->discarded = r->rounds - ghz.used;
    return 0;
}

int classes_run(const struct tables_context *x, const struct brackets_setup *s, struct classes_seen *out,
                struct machine_error *err)
{
    struct brackets_result r;
    int status = bracket_cells_run(x, s, &r, err);
    if (status)
        return status;
    for (size_t k = 0; k < s->n && status == MACHINE_OK; k++)
        if (read_kernel(&r, k, &s->kernels[k], &out[k]))
            status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    brackets_free(&r);
    return status;
}

bool classes_slower(const struct estimate *a, const struct estimate *b)
{
    return estimates_above(b, a) && b->value - a->value > FREQUENCY_SAME * b->value;
}

/* A row by its ratio, the fastest first. */
struct class_row {
    struct estimate ratio; /* first, for order_double_descending() */
    size_t row;
};

int classes_assign(struct table *t)
{
    size_t n = 0;
    unsigned class = 0;
    struct class_row *list = malloc((t->n_rows + 1) * sizeof *list);
    if (!list)
        return -1;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate ratio = estimates_of_table(t, row, "ratio");
        if (estimates_known(&ratio))
            list[n++] = (struct class_row){ratio, row};
    }
    qsort(list, n, sizeof *list, order_double_descending);
    for (size_t i = 0; i < n; i++) {
        class += i > 0 && classes_slower(&list[i].ratio, &list[i - 1].ratio);
        table_set_number(t, list[i].row, "class", class);
    }
    free(list);
    return 0;
}

size_t classes_widest(const struct table *t, double *half)
{
    size_t n = 0;
    *half = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        const struct estimate ratio = estimates_of_table(t, row, "ratio");
        n += estimates_known(&ratio);
        *half = estimates_known(&ratio) ? fmax(*half, estimate_half(&ratio)) : *half;
    }
    return n;
}
