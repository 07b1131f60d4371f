/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduler parameters of classes of code: their levels, and what it takes to request one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "output/export/schedule_parts.h"
#include "tables/table/estimates.h"

bool schedule_kernel_of(const char *name, struct schedule_kernel *out)
{
    struct payload p;
    char why[200];
    if (!name || kernel_parse(name, &p, why, sizeof why) != 0 || strcmp(p.kernel->name, "pause") == 0)
        return false;
    *out = (struct schedule_kernel){.width = p.kernel->width,
                                    .heavy = p.kernel->weight == KERNEL_HEAVY,
                                    .plain = !p.kernel->latency_bound && !p.kernel->chained_adds && !p.dirty,
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

bool schedule_put_classes(struct schedule *s, const struct table *t, const char *column)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *name = table_text(t, row, column);
        struct schedule_kernel k;
        if (!schedule_kernel_of(name, &k) || schedule_class_of(s, &k) != SIZE_MAX)
            continue;
        const struct schedule_class new = {.width = k.width, .heavy = k.heavy};
        if (!schedule_add((void **)&s->classes, &s->n_classes, sizeof new, &new))
            return false;
        qsort(s->classes, s->n_classes, sizeof *s->classes, by_class);
    }
    return true;
}

static void raise_number(struct schedule_number *to, int32_t value)
{
    if (!to->present || value > to->value)
        *to = (struct schedule_number){.present = true, .value = value};
}

void schedule_put_levels(struct schedule *s, const struct table *t)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *name = table_text(t, row, "kernel");
        int level = schedule_level_field(t, row, "level");
        struct schedule_kernel k;
        if (level < 0 || !schedule_kernel_of(name, &k))
            continue;
        s->n_levels = (unsigned)level + 1 > s->n_levels ? (unsigned)level + 1 : s->n_levels;
        if (k.plain && k.density == 1)
            raise_number(&s->classes[schedule_class_of(s, &k)].level, level);
    }
}

/* 1 in N: from a column that has N, the share 1/N or the text 1/N; else from the kernel's name. 0: not said. */
static unsigned density_of(const struct table *t, size_t row, const struct schedule_kernel *k)
{
    const char *text = table_text(t, row, "density");
    double value = table_number(t, row, "density");
    if (text) {
        char *end;
        const char *slash = strchr(text, '/');
        double parts = strtod(slash ? slash + 1 : text, &end);
        value = slash || *end == '\0' ? parts : NAN;
    }
    if (isfinite(value) && value > 0 && value <= 1)
        value = 1 / value;
    if (isfinite(value) && value >= 1 && value <= UINT16_MAX)
        return (unsigned)lround(value);
    return text || table_has(t, "density") ? 0 : k->density;
}

static struct schedule_trigger *trigger_of(struct schedule *s, size_t class_index, unsigned density)
{
    for (size_t i = 0; i < s->n_triggers; i++)
        if (s->triggers[i].class_index == class_index && s->triggers[i].density == density)
            return &s->triggers[i];
    struct schedule_trigger *new = schedule_grow((void **)&s->triggers, &s->n_triggers, sizeof *new);
    if (new) {
        new->class_index = class_index;
        new->density = density;
    }
    return new;
}

static int by_trigger(const void *a, const void *b)
{
    const struct schedule_trigger *x = a, *y = b;
    return schedule_order((long[]){x->class_index, x->density}, (long[]){y->class_index, y->density}, 2);
}

/* Of kernels of a class that differ: the highest level, and the smallest count that requests it. */
static void put_trigger(struct schedule_trigger *at, int level, struct schedule_number count)
{
    if (level > (at->level.present ? at->level.value : -1)) {
        at->level = (struct schedule_number){.present = true, .value = level};
        at->count = count;
    } else if (level == at->level.value && count.present && (!at->count.present || count.value < at->count.value)) {
        at->count = count;
    }
}

/* Counts and densities of one kernel, not what mixtures of several request. */
static bool is_trigger(const struct table *t, size_t row)
{
    const char *what = table_text(t, row, "what");
    return !what || strcmp(what, "count") == 0 || strcmp(what, "density") == 0;
}

/* Why a row tells no trigger; NULL: it does. */
static const char *unusable(const struct schedule *s, const struct table *t, size_t row, bool known,
                            const struct schedule_kernel *k, unsigned density)
{
    if (!known || !k->plain)
        return SCHEDULE_NO_CLASS;
    if (!density)
        return "density is not one in 1 to 65535";
    if (schedule_level_field(t, row, "level") < 0)
        return "level is missing or not in 0 to 7";
    /* what a trigger calls a level means nothing where no frequency belongs to it */
    return s->classes[schedule_class_of(s, k)].level.present ? NULL : "table frequency shows no level for such code";
}

static bool schedule_classes_put_rows(struct schedule *s, const struct table *t, const struct table *frequency)
{
    const char *cpu = table_setting(t, "measured_cpu");
    char steps[SUPPORT_WHY_MAX];
    bool floats = frequency && estimates_floats(frequency, cpu ? atoi(cpu) : -1, steps);
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *name = table_text(t, row, "kernel");
        struct schedule_kernel k;
        if (!is_trigger(t, row))
            continue;
        bool known = schedule_kernel_of(name, &k);
        unsigned density = known ? density_of(t, row, &k) : 0;
        const char *why = unusable(s, t, row, known, &k, density);
        if (why && known && floats && schedule_level_field(t, row, "level") < 0)
            why = steps;
        if (why) {
            if (!schedule_ignore(s, t, why))
                return false;
            continue;
        }
        int level = schedule_level_field(t, row, "level");
        struct schedule_number count = schedule_field(t, row, "count", 1);
        if (level == 0) /* what it takes to be throttled at the same frequency */
            count.present = false;
        struct schedule_trigger *at = trigger_of(s, schedule_class_of(s, &k), density);
        if (!at)
            return false;
        put_trigger(at, level, count);
    }
    return true;
}

/* At full rate the level of its class, sparser no higher one. */
static bool contradicts(const struct schedule *s, const struct schedule_trigger *t)
{
    int32_t own = s->classes[t->class_index].level.value;
    return t->density == 1 ? t->level.value != own : t->level.value > own;
}

static void drop_triggers(struct schedule *s, size_t class_index)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_triggers; i++)
        if (s->triggers[i].class_index != class_index)
            s->triggers[kept++] = s->triggers[i];
    s->n_triggers = kept;
}

/* Where the two tables contradict each other, there is no telling which one is right: neither level is exported. */
static bool settle_contradictions(struct schedule *s, const char *table)
{
    for (size_t i = 0; i < s->n_triggers;) {
        struct schedule_class *c = &s->classes[s->triggers[i].class_index];
        char why[200];
        if (!contradicts(s, &s->triggers[i])) {
            i++;
            continue;
        }
        snprintf(
            why, sizeof why,
            "%u-bit %s code, one in %u: level %d here, level %d at full rate in table frequency; neither is exported",
            c->width, c->heavy ? "heavy" : "light", s->triggers[i].density, (int)s->triggers[i].level.value,
            (int)c->level.value);
        if (!schedule_leave_out(s, table, why))
            return false;
        c->level = (struct schedule_number){0};
        drop_triggers(s, s->triggers[i].class_index);
        i = 0;
    }
    return true;
}

bool schedule_put_triggers(struct schedule *s, const struct table *t, const struct table *frequency)
{
    if (!schedule_classes_put_rows(s, t, frequency))
        return false;
    schedule_sort(s->triggers, s->n_triggers, sizeof *s->triggers, by_trigger);
    return settle_contradictions(s, t->name);
}
