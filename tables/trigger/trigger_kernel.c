/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A kernel: what it requests when it keeps running, and where that is something, how dense its instructions must be,
 * by bisection on one such instruction in N (demand is taken to grow with density), and how many it takes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stats/robust.h"
#include "tables/trigger/trigger.h"
#include "util/order.h"

/* PROBES_MAX: densities that are looked at. RARE: one in so many, which stands for next to none. */
enum { PROBES_MAX = 40, RARE = KERNEL_DENSITY_MAX };

/* Code of one density. */
struct probe {
    unsigned density; /* first, for order_unsigned() */
    struct trigger_look look;
    int demand; /* 0 nothing, 1 throttle only, 2.. levels or lower frequencies; -1: nobody can tell */
};

struct density {
    const struct tables_context *context;
    const struct cell *cell;
    bool only_lower;
    size_t n;
    struct probe probe[PROBES_MAX];
};

/* Ranks change as more is seen: all are drawn again. */
static void rank(struct density *d)
{
    struct value_mode mode[TRIGGER_GRADES_MAX];
    double logs[PROBES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->probe[i].look.lower)
            logs[n++] = log(d->probe[i].look.ratio.value);
    n = robust_modes(logs, n, TRIGGER_SAME_FREQUENCY, 1, mode, TRIGGER_GRADES_MAX);
    for (size_t i = 0; i < d->n; i++) {
        const struct trigger_look *l = &d->probe[i].look;
        d->probe[i].demand = l->unsure || (l->undecided && !l->lower) ? -1 : l->throttled;
        if (l->lower)
            d->probe[i].demand = 1 + (int)fmax(1, isnan(l->level) ? 0 : l->level + 0.5);
        for (size_t k = 0; k < n && l->lower && isnan(l->level); k++)
            d->probe[i].demand += mode[k].mean > log(l->ratio.value) + TRIGGER_SAME_FREQUENCY / 2;
    }
}

static struct probe *find_probe(struct density *d, unsigned density)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->probe[i].density == density)
            return &d->probe[i];
    return NULL;
}

/* Looks if a kernel that lowers no frequency is throttled; it is taken to be if sparser code of it is. */
static int look_for_throttling(struct density *d, const struct payload *plain, const struct payload *kernel,
                               struct probe *p, struct machine_error *err)
{
    const struct probe *rare = find_probe(d, RARE);
    p->look.throttled = rare && rare->demand == 1;
    return p->look.throttled ? MACHINE_OK : trigger_look_fall(d->context, d->cell, plain, kernel, &p->look, err);
}

static int density_look(struct density *d, unsigned density, struct machine_error *err)
{
    const struct payload plain = kernel_named(TRIGGER_PLAIN);
    struct probe *p = &d->probe[d->n];
    struct payload kernel = d->cell->a;
    char name[KERNEL_NAME_MAX + 16];
    if (find_probe(d, density) || d->n == PROBES_MAX)
        return MACHINE_OK;
    snprintf(name, sizeof name, "%s@1/%u", d->cell->a.kernel->name, density);
    if (density > 1)
        kernel_parse(name, &kernel, NULL, 0);
    if (tables_stop(d->context, fmin(0.5, (double)d->n / 24)))
        return machine_fail(err, MACHINE_FAILED, "", "interrupted");
    p->density = density;
    int status = trigger_look_steady(d->context, d->cell, &plain, &kernel, 1, &p->look, err);
    if (status == MACHINE_OK && (p->look.lower ? density == d->cell->a.density : !d->only_lower))
        status = look_for_throttling(d, &plain, &kernel, p, err);
    if (status != MACHINE_OK)
        return status;
    d->n++;
    rank(d);
    return MACHINE_OK;
}

/* The largest N at which `demand` is reached, between one that does and one that does not. */
static int bisect(struct density *d, int demand, unsigned dense, unsigned sparse, struct machine_error *err)
{
    while (sparse - dense > 1) {
        unsigned middle = (dense + sparse) / 2;
        int status = density_look(d, middle, err);
        if (status != MACHINE_OK)
            return status;
        const struct probe *p = find_probe(d, middle);
        if (!p || p->demand < 0)
            return MACHINE_OK;
        *(p->demand >= demand ? &dense : &sparse) = middle;
    }
    return MACHINE_OK;
}

static int search(struct density *d, struct machine_error *err)
{
    int status = density_look(d, RARE, err);
    if (status != MACHINE_OK || find_probe(d, RARE)->demand < 0)
        return status;
    for (int demand = find_probe(d, RARE)->demand + 1; demand <= find_probe(d, 1)->demand && status == MACHINE_OK;
         demand++) {
        unsigned dense = 1, sparse = RARE;
        for (size_t i = 0; i < d->n; i++) { /* results of earlier bisections */
            const struct probe *p = &d->probe[i];
            if (p->demand >= demand && p->density > dense)
                dense = p->density;
            if (p->demand >= 0 && p->demand < demand && p->density < sparse)
                sparse = p->density;
        }
        if (dense < sparse)
            status = bisect(d, demand, dense, sparse, err);
    }
    return status;
}

static void density_row(const struct density *d, const struct probe *p, const char *what, struct table *rows)
{
    const struct trigger_row r = trigger_row_of(&p->look, what, p->density);
    trigger_put_row(d->cell, rows, &r);
}

/* The threshold: what the sparsest code that asks does in a cycle, and the densest that does not, which is the lower
 * limit of what is needed. */
static void write_limits(struct density *d, struct table *rows)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct probe *p = &d->probe[i], *next = i + 1 < d->n ? p + 1 : NULL;
        if (p->demand <= 0 || (next && (next->demand < 0 || next->demand >= p->demand)))
            continue;
        if (next && next->density != p->density + 1)
            continue;
        density_row(d, p, "density limit", rows);
        table_put_limits(rows, "rate_per_cycle", p->look.rate, next ? next->look.rate : NAN, p->look.rate);
    }
}

static void write_rows(struct density *d, struct table *rows)
{
    qsort(d->probe, d->n, sizeof *d->probe, order_unsigned);
    for (size_t i = 0; i < d->n; i++) {
        density_row(d, &d->probe[i], "density", rows);
        table_put_number(rows, "rate_per_cycle", d->probe[i].look.rate);
    }
    if (d->n > 1)
        write_limits(d, rows);
}

/* The row of a kernel of which nothing is lower: how many instructions it takes until it is throttled, if it is. */
static void count_row(const struct density *d, struct table *rows)
{
    const struct trigger_look *look = &d->probe[0].look;
    const struct trigger_row r = trigger_row_of(look, "count", d->cell->a.density);
    trigger_put_row(d->cell, rows, &r);
    if (look->throttled)
        table_put_limits(rows, "count", look->instructions.value, look->instructions.lo, look->instructions.hi);
}

static int density_measure(struct density *d, bool *enough, struct table *rows, struct machine_error *err)
{
    const struct payload plain = kernel_named(TRIGGER_PLAIN);
    int status = density_look(d, d->cell->a.density, err);
    if (status != MACHINE_OK)
        return status;
    struct trigger_look dense = d->probe[0].look; /* probes are sorted later */
    *enough = dense.lower || dense.unsure || !isnan(dense.level);
    if (d->only_lower && !dense.lower)
        return MACHINE_OK;
    if (!dense.lower)
        count_row(d, rows);
    else if ((status = trigger_look_rise(d->context, d->cell, &plain, &d->cell->a, &dense, err)) == MACHINE_OK)
        status = trigger_count(d->context, d->cell, &dense, rows, err);
    if (status == MACHINE_CANNOT) {
        trigger_put_missing(d->cell, rows, "count", d->cell->a.density, "%s; %s", err->text, err->remedy);
        status = MACHINE_OK;
    }
    if (status == MACHINE_OK && d->cell->a.density == 1 && d->cell->a.kernel->has_density) {
        if (d->probe[0].demand > 0)
            status = search(d, err);
        if (status == MACHINE_OK)
            write_rows(d, rows);
    }
    return status;
}

int trigger_kernel(const struct tables_context *x, const struct cell *c, bool only_lower, bool *enough,
                   struct table *rows, struct machine_error *err)
{
    struct density *d = calloc(1, sizeof *d);
    if (!d)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    d->context = x;
    d->cell = c;
    d->only_lower = only_lower;
    int status = density_measure(d, enough, rows, err);
    free(d);
    return status;
}
