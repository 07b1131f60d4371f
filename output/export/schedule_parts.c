/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the readers of the single tables: numbers of rows, classes of code, growing arrays, what is left out. */
#include "output/export/schedule_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tables/table/estimates.h"

void *schedule_grow(void **array, size_t *n, size_t size)
{
    unsigned char *bigger = realloc(*array, (*n + 1) * size);
    if (!bigger)
        return NULL;
    *array = bigger;
    void *added = bigger + *n * size;
    memset(added, 0, size);
    (*n)++;
    return added;
}

bool schedule_add(void **array, size_t *n, size_t size, const void *element)
{
    void *added = schedule_grow(array, n, size);
    if (added)
        memcpy(added, element, size);
    return added != NULL;
}

int schedule_order(const long *a, const long *b, size_t n)
{
    size_t i = 0;
    while (i + 1 < n && a[i] == b[i])
        i++;
    return (a[i] > b[i]) - (a[i] < b[i]);
}

void schedule_sort(void *list, size_t n, size_t size, int (*order)(const void *, const void *))
{
    if (n)
        qsort(list, n, size, order);
}

void schedule_free(struct schedule *s)
{
    for (size_t i = 0; i < s->n_missing; i++)
        free(s->missing[i].why);
    void *arrays[] = {s->settings,    s->classes,     s->triggers,          s->points,    s->turbos,  s->costs,
                      s->level_costs, s->relaxations, s->level_relaxations, s->throttles, s->missing, s->cpus};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    memset(s, 0, sizeof *s);
}

struct schedule_number schedule_round(double value, double lo, double hi, double unit)
{
    struct schedule_number out = {0};
    if (!isfinite(value) || fabs(value * unit) > (double)INT32_MAX - 1)
        return out;
    out.present = true;
    out.value = (int32_t)lround(value * unit);
    if (!isfinite(lo) || !isfinite(hi) || fabs(lo * unit) > (double)INT32_MAX - 1 ||
        fabs(hi * unit) > (double)INT32_MAX - 1)
        return out;
    out.has_limits = true;
    out.lo = (int32_t)floor(lo * unit);
    out.hi = (int32_t)ceil(hi * unit);
    return out;
}

struct schedule_number schedule_field(const struct table *t, size_t row, const char *column, double unit)
{
    struct estimate e = estimates_of_table(t, row, column);
    return schedule_round(e.value, e.lo, e.hi, unit);
}

int schedule_whole_field(const struct table *t, size_t row, const char *column, int least, int most, int absent)
{
    double value = table_number(t, row, column);
    return value >= least && value <= most && value == floor(value) ? (int)value : absent;
}

unsigned schedule_cores_field(const struct table *t, size_t row)
{
    return (unsigned)schedule_whole_field(t, row, "active_cores", 1, UINT16_MAX, 0);
}

int schedule_level_field(const struct table *t, size_t row, const char *column)
{
    return schedule_whole_field(t, row, column, 0, SCHEDULE_LEVELS_MAX - 1, -1);
}

/* One more entry with this reason; NULL: out of memory. */
static struct schedule_missing *schedule_missing_entry(struct schedule *s, const char *table, const char *why)
{
    struct schedule_missing *m = s->missing;
    while (m < s->missing + s->n_missing && (strcmp(m->table, table) != 0 || strcmp(m->why, why) != 0))
        m++;
    if (m == s->missing + s->n_missing) {
        m = schedule_grow((void **)&s->missing, &s->n_missing, sizeof *m);
        if (!m)
            return NULL;
        m->table = table;
        m->why = strdup(why);
    }
    m->count++;
    return m->why ? m : NULL;
}

bool schedule_note_missing(struct schedule *s, const char *table, const char *why)
{
    return schedule_missing_entry(s, table, why) != NULL;
}

bool schedule_leave_out(struct schedule *s, const char *table, const char *why)
{
    if (!s->first_left_out[0])
        snprintf(s->first_left_out, sizeof s->first_left_out, "%s: %s", table, why);
    s->n_left_out++;
    struct schedule_missing *m = schedule_missing_entry(s, table, why);
    if (m)
        m->left_out = true;
    return m != NULL;
}

bool schedule_ignore(struct schedule *s, const struct table *t, const char *why)
{
    s->n_ignored++;
    return schedule_leave_out(s, t->name, why);
}

/* ---- classes of code ---- */

bool schedule_kernel_of(const char *name, struct schedule_kernel *out)
{
    struct payload p;
    char why[200];
    if (!name || kernel_parse(name, &p, why, sizeof why) != 0 || strcmp(p.kernel->name, "pause") == 0)
        return false;
    const bool memory = strstr(p.kernel->name, "load") ||
                        (strchr(p.kernel->name, '@') && !strstr(p.kernel->name, "@z"));
    const bool clean = !p.kernel->latency_bound && !p.kernel->chained_adds && !p.dirty;
    *out = (struct schedule_kernel){.width = p.kernel->width,
                                    .heavy = p.kernel->weight == KERNEL_HEAVY,
                                    .plain = clean && !memory,
                                    .memory = clean && memory,
                                    .density = p.density};
    return true;
}

static int by_class(const void *a, const void *b)
{
    const struct schedule_class *x = a, *y = b;
    return schedule_order((long[]){x->width, x->heavy}, (long[]){y->width, y->heavy}, 2);
}

size_t schedule_class_of(const struct schedule *s, const struct schedule_kernel *k)
{
    struct schedule_class key = {.width = k->width, .heavy = k->heavy};
    const struct schedule_class *found = s->n_classes ? bsearch(&key, s->classes, s->n_classes, sizeof key, by_class)
                                                      : NULL;
    return found ? (size_t)(found - s->classes) : SIZE_MAX;
}

bool schedule_add_class(struct schedule *s, const struct schedule_kernel *k)
{
    const struct schedule_class new = {.width = k->width, .heavy = k->heavy};
    if (schedule_class_of(s, k) != SIZE_MAX)
        return true;
    if (!schedule_add((void **)&s->classes, &s->n_classes, sizeof new, &new))
        return false;
    qsort(s->classes, s->n_classes, sizeof *s->classes, by_class);
    return true;
}
