/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From finished tables to scheduler parameters: whose tables they are, levels, frequencies. schedule_pairs.c has what
 * stands between two kernels. */
#include "analysis/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/schedule_parts.h"

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
    char lo[80], hi[80];
    snprintf(lo, sizeof lo, "%s_lo", column);
    snprintf(hi, sizeof hi, "%s_hi", column);
    return schedule_round(table_number(t, row, column), table_number(t, row, lo), table_number(t, row, hi), unit);
}

static int as_whole(const struct table *t, size_t row, const char *column, int least, int most, int absent)
{
    double value = table_number(t, row, column);
    return value >= least && value <= most && value == floor(value) ? (int)value : absent;
}

unsigned schedule_cores_field(const struct table *t, size_t row)
{
    return (unsigned)as_whole(t, row, "active_cores", 1, UINT16_MAX, 0);
}

int schedule_level_field(const struct table *t, size_t row, const char *column)
{
    return as_whole(t, row, column, 0, SCHEDULE_LEVELS_MAX - 1, -1);
}

static int by_class(const void *a, const void *b)
{
    const struct schedule_class *x = a, *y = b;
    if (x->width != y->width)
        return x->width < y->width ? -1 : 1;
    return (int)x->heavy - (int)y->heavy;
}

size_t schedule_class_of(const struct schedule *s, const struct schedule_kernel *k)
{
    struct schedule_class key = {.width = k->width, .heavy = k->heavy};
    const struct schedule_class *found =
        s->n_classes ? bsearch(&key, s->classes, s->n_classes, sizeof key, by_class) : NULL;
    return found ? (size_t)(found - s->classes) : SIZE_MAX;
}

/* ---- whose tables ---- */

static bool same(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static int check_tables(const struct table *const *tables, size_t n, char *why, size_t why_size)
{
    static const char *const keys[] = {"cpu", "machine", "modelled"};
    for (size_t i = 0; i < n; i++) {
        if (tables[i]->failed || !tables[i]->name) {
            snprintf(why, why_size, "a table is not complete: memory ran out while it was made");
            return -1;
        }
        for (size_t j = 0; j < i; j++)
            if (strcmp(tables[i]->name, tables[j]->name) == 0) {
                snprintf(why, why_size, "the table %s comes twice", tables[i]->name);
                return -1;
            }
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const char *first = table_meta(tables[0], keys[k]), *other = table_meta(tables[i], keys[k]);
            if (same(first, other))
                continue;
            snprintf(why, why_size, "tables of different measurements: %s is '%.60s' in %s, '%.60s' in %s", keys[k],
                     first ? first : "", tables[0]->name, other ? other : "", tables[i]->name);
            return -1;
        }
    }
    return 0;
}

static bool put_text(char **to, const char *text)
{
    char *mine = text ? strdup(text) : NULL;
    if (text && !mine)
        return false;
    free(*to);
    *to = mine;
    return true;
}

static bool put_settings(struct schedule *s, const struct table *t)
{
    for (size_t i = 0; i < t->n_settings; i++) {
        struct schedule_setting *new = schedule_grow((void **)&s->settings, &s->n_settings, sizeof *new);
        if (!new || !put_text(&new->table, t->name) || !put_text(&new->key, t->settings[i].key) ||
            !put_text(&new->value, t->settings[i].value))
            return false;
    }
    return true;
}

static bool put_missing(struct schedule *s, const struct table *t)
{
    size_t first = s->n_missing;
    for (size_t i = 0; i < t->n_missing; i++) {
        size_t at = first;
        while (at < s->n_missing && !same(s->missing[at].why, t->missing[i].why))
            at++;
        if (at == s->n_missing) {
            struct schedule_missing *new = schedule_grow((void **)&s->missing, &s->n_missing, sizeof *new);
            if (!new || !put_text(&new->table, t->name) || !put_text(&new->why, t->missing[i].why))
                return false;
        }
        s->missing[at].count++;
    }
    return true;
}

static bool put_provenance(struct schedule *s, const struct table *const *tables, size_t n)
{
    bool done = put_text(&s->cpu, table_meta(tables[0], "cpu")) &&
                put_text(&s->machine, table_meta(tables[0], "machine")) &&
                put_text(&s->source, table_meta(tables[0], "source")) &&
                put_text(&s->version, table_meta(tables[0], "version"));
    s->modelled = table_modelled(tables[0]);
    for (size_t i = 0; i < n && done; i++) {
        /* ISO 8601 in UTC: as text in order */
        const char *date = table_meta(tables[i], "date");
        if (date && (!s->date_first || strcmp(date, s->date_first) < 0))
            done = put_text(&s->date_first, date);
        if (date && done && (!s->date_last || strcmp(date, s->date_last) > 0))
            done = put_text(&s->date_last, date);
        done = done && put_settings(s, tables[i]) && put_missing(s, tables[i]);
    }
    return done;
}

/* ---- classes and levels ---- */

/* A class for every kernel of a table that stands for one. */
static bool put_classes(struct schedule *s, const struct table *t, const char *column, schedule_classifier *classify)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *name = table_text(t, row, column);
        struct schedule_kernel k;
        if (!name || !classify(name, &k) || schedule_class_of(s, &k) != SIZE_MAX)
            continue;
        struct schedule_class *new = schedule_grow((void **)&s->classes, &s->n_classes, sizeof *new);
        if (!new)
            return false;
        *new = (struct schedule_class){.width = k.width, .heavy = k.heavy};
        qsort(s->classes, s->n_classes, sizeof *s->classes, by_class);
    }
    return true;
}

static void raise_number(struct schedule_number *to, int32_t value)
{
    if (!to->present || value > to->value)
        *to = (struct schedule_number){.present = true, .value = value};
}

/* The level of a class is that of its plain kernels at full rate; the highest that any of them was seen at. */
static void level_from_frequency(struct schedule *s, const struct table *t, schedule_classifier *classify)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *name = table_text(t, row, "kernel");
        int level = schedule_level_field(t, row, "level");
        struct schedule_kernel k;
        if (!name || level < 0 || !classify(name, &k))
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
    if (x->class_index != y->class_index)
        return x->class_index < y->class_index ? -1 : 1;
    return (x->density > y->density) - (x->density < y->density);
}

/* Of kernels of a class that differ: the highest level, and the smallest count that asks for it. */
static void put_trigger(struct schedule *s, struct schedule_trigger *at, int level, struct schedule_number count)
{
    if (level > (at->level.present ? at->level.value : -1)) {
        at->level = (struct schedule_number){.present = true, .value = level};
        at->count = count;
    } else if (level == at->level.value && count.present && (!at->count.present || count.value < at->count.value)) {
        at->count = count;
    }
    s->n_levels = (unsigned)level + 1 > s->n_levels ? (unsigned)level + 1 : s->n_levels;
    if (at->density == 1)
        raise_number(&s->classes[at->class_index].level, level);
}

/* Counts and densities of one kernel, not what mixtures of several ask for. */
static bool is_trigger(const struct table *t, size_t row)
{
    const char *what = table_text(t, row, "what");
    return !what || strcmp(what, "count") == 0 || strcmp(what, "density") == 0;
}

static bool put_triggers(struct schedule *s, const struct table *t, schedule_classifier *classify)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *name = table_text(t, row, "kernel");
        struct schedule_kernel k;
        unsigned density = name && classify(name, &k) && k.plain ? density_of(t, row, &k) : 0;
        struct schedule_number count = schedule_field(t, row, "count", 1);
        int level = schedule_level_field(t, row, "level");
        if (!is_trigger(t, row))
            continue;
        if (!density || level < 0) {
            s->n_ignored++;
            continue;
        }
        if (level == 0) /* what it takes to be throttled at the same frequency */
            count.present = false;
        struct schedule_trigger *at = trigger_of(s, schedule_class_of(s, &k), density);
        if (!at)
            return false;
        put_trigger(s, at, level, count);
    }
    if (s->n_triggers)
        qsort(s->triggers, s->n_triggers, sizeof *s->triggers, by_trigger);
    return true;
}

/* ---- frequencies ---- */

/* What the rows of one CPU, number of cores and level add up to. */
struct frequency_sum {
    double ghz, lo, hi;
    size_t n;
    bool no_limits;
};
struct frequency_sums {
    int cpu;
    unsigned active_cores;
    struct frequency_sum level[SCHEDULE_LEVELS_MAX];
};

static struct frequency_sums *sums_of(struct frequency_sums **sums, size_t *n, int cpu, unsigned cores)
{
    for (size_t i = *n; i-- > 0;) /* rows of a CPU stand together */
        if ((*sums)[i].cpu == cpu && (*sums)[i].active_cores == cores)
            return &(*sums)[i];
    struct frequency_sums *new = schedule_grow((void **)sums, n, sizeof *new);
    if (new) {
        new->cpu = cpu;
        new->active_cores = cores;
    }
    return new;
}

static void add_row(struct frequency_sum *sum, const struct table *t, size_t row)
{
    double lo = table_number(t, row, "freq_ghz_lo"), hi = table_number(t, row, "freq_ghz_hi");
    sum->no_limits = sum->no_limits || !isfinite(lo) || !isfinite(hi);
    sum->lo = sum->n ? fmin(sum->lo, lo) : lo;
    sum->hi = sum->n ? fmax(sum->hi, hi) : hi;
    sum->ghz += table_number(t, row, "freq_ghz");
    sum->n++;
}

static bool sum_rows(struct schedule *s, const struct table *t, struct frequency_sums **sums, size_t *n)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        unsigned cores = schedule_cores_field(t, row);
        int cpu = as_whole(t, row, "cpu", 0, UINT16_MAX, -1);
        int level = schedule_level_field(t, row, "level");
        double ghz = table_number(t, row, "freq_ghz");
        if (cpu < 0 || !cores || level < 0 || !(ghz * 1e3 >= SCHEDULE_MHZ_MIN && ghz * 1e3 <= SCHEDULE_MHZ_MAX)) {
            s->n_ignored++;
            continue;
        }
        struct frequency_sums *at = sums_of(sums, n, cpu, cores);
        if (!at)
            return false;
        add_row(&at->level[level], t, row);
    }
    return true;
}

static int by_point(const void *a, const void *b)
{
    const struct schedule_point *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return (x->active_cores > y->active_cores) - (x->active_cores < y->active_cores);
}

/* The frequency of a level is the mean of its kernels; the limits are the outermost of theirs. */
static bool put_points(struct schedule *s, const struct table *t)
{
    struct frequency_sums *sums = NULL;
    size_t n = 0;
    bool done = sum_rows(s, t, &sums, &n);
    for (size_t i = 0; i < n && done; i++) {
        struct schedule_point *p = schedule_grow((void **)&s->points, &s->n_points, sizeof *p);
        if (!p) {
            done = false;
            break;
        }
        *p = (struct schedule_point){.cpu = sums[i].cpu, .active_cores = sums[i].active_cores};
        for (size_t l = 0; l < SCHEDULE_LEVELS_MAX; l++) {
            const struct frequency_sum *sum = &sums[i].level[l];
            if (sum->n)
                p->mhz[l] = schedule_round(sum->ghz / (double)sum->n, sum->no_limits ? NAN : sum->lo,
                                           sum->no_limits ? NAN : sum->hi, 1e3);
        }
    }
    free(sums);
    if (s->n_points)
        qsort(s->points, s->n_points, sizeof *s->points, by_point);
    return done;
}

static bool same_frequencies(const struct schedule_point *a, const struct schedule_point *b)
{
    for (size_t l = 0; l < SCHEDULE_LEVELS_MAX; l++)
        if (a->mhz[l].present != b->mhz[l].present ||
            labs((long)a->mhz[l].value - (long)b->mhz[l].value) >= SCHEDULE_SAME_MHZ)
            return false;
    return true;
}

static struct schedule_number mean_of(const struct schedule_point *p, size_t n, size_t level)
{
    double sum = 0, lo = INFINITY, hi = -INFINITY;
    bool limits = true;
    for (size_t i = 0; i < n; i++) {
        const struct schedule_number *f = &p[i].mhz[level];
        if (!f->present)
            return (struct schedule_number){0};
        sum += f->value;
        limits = limits && f->has_limits;
        lo = fmin(lo, f->lo);
        hi = fmax(hi, f->hi);
    }
    return schedule_round(sum / (double)n, limits ? lo : NAN, limits ? hi : NAN, 1);
}

/* Neighbours with the frequencies of the first one of them become one turbo level. */
static bool put_turbos(struct schedule *s)
{
    for (size_t i = 0, n = 0; i < s->n_points; i += n) {
        const struct schedule_point *p = &s->points[i];
        for (n = 1; i + n < s->n_points && p[n].cpu == p->cpu && same_frequencies(p, p + n); n++)
            ;
        struct schedule_turbo *new = schedule_grow((void **)&s->turbos, &s->n_turbos, sizeof *new);
        if (!new)
            return false;
        *new = (struct schedule_turbo){.cpu = p->cpu, .cores_lo = p->active_cores,
                                       .cores_hi = p[n - 1].active_cores};
        for (size_t l = 0; l < SCHEDULE_LEVELS_MAX; l++)
            new->mhz[l] = mean_of(p, n, l);
    }
    return true;
}

size_t schedule_points_of(const struct schedule *s, int cpu, size_t *first)
{
    size_t n = 0;
    *first = 0;
    while (*first < s->n_points && s->points[*first].cpu != cpu)
        (*first)++;
    while (*first + n < s->n_points && s->points[*first + n].cpu == cpu)
        n++;
    return n;
}

size_t schedule_turbos_of(const struct schedule *s, int cpu, size_t *first)
{
    size_t n = 0;
    *first = 0;
    while (*first < s->n_turbos && s->turbos[*first].cpu != cpu)
        (*first)++;
    while (*first + n < s->n_turbos && s->turbos[*first + n].cpu == cpu)
        n++;
    return n;
}

int schedule_cpu(const struct schedule *s, size_t i)
{
    int cpu = -1;
    size_t at = 0, seen = 0;
    for (; at < s->n_points; at++) {
        if (s->points[at].cpu == cpu)
            continue;
        cpu = s->points[at].cpu;
        if (seen++ == i)
            return cpu;
    }
    return -1;
}

/* ---- all of it ---- */

static const struct table *find(const struct table *const *tables, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(tables[i]->name, name) == 0)
            return tables[i];
    return NULL;
}

static bool put_all(struct schedule *s, const struct table *const *tables, size_t n, schedule_classifier *classify)
{
    static const char *const pair_tables[] = {"overhead", "relaxation", "throttle"};
    const struct table *frequency = find(tables, n, "frequency"), *trigger = find(tables, n, "trigger");
    const struct table *umask = find(tables, n, "umask");
    bool done = put_provenance(s, tables, n) && (!frequency || put_classes(s, frequency, "kernel", classify)) &&
                (!trigger || put_classes(s, trigger, "kernel", classify));
    for (size_t i = 0; i < sizeof pair_tables / sizeof *pair_tables && done; i++) {
        const struct table *t = find(tables, n, pair_tables[i]);
        done = !t || (put_classes(s, t, "from", classify) && put_classes(s, t, "to", classify));
    }
    if (done && frequency) {
        level_from_frequency(s, frequency, classify);
        done = put_points(s, frequency) && put_turbos(s);
    }
    done = done && (!trigger || put_triggers(s, trigger, classify));
    for (size_t i = 0; i < sizeof pair_tables / sizeof *pair_tables && done; i++) {
        const struct table *t = find(tables, n, pair_tables[i]);
        done = !t || schedule_put_pairs(s, t, classify);
    }
    done = done && schedule_put_level_pairs(s);
    if (done && umask)
        schedule_put_events(s, umask, classify);
    return done;
}

int schedule_from_tables(const struct table *const *tables, size_t n, schedule_classifier *classify,
                         struct schedule *out, char *why, size_t why_size)
{
    memset(out, 0, sizeof *out);
    if (n == 0) {
        snprintf(why, why_size, "no tables: measure at least the table frequency");
        return -1;
    }
    if (check_tables(tables, n, why, why_size) != 0)
        return -1;
    if (!put_all(out, tables, n, classify)) {
        schedule_free(out);
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    if (out->n_points || out->n_triggers || out->n_costs || out->n_relaxations || out->n_throttles)
        return 0;
    schedule_free(out);
    snprintf(why, why_size, "nothing that a scheduler could use was measured; the tables frequency, trigger, overhead, "
             "relaxation and throttle hold it");
    return -1;
}

void schedule_free(struct schedule *s)
{
    char *texts[] = {s->cpu, s->machine, s->source, s->version, s->date_first, s->date_last};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    for (size_t i = 0; i < s->n_settings; i++) {
        free(s->settings[i].table);
        free(s->settings[i].key);
        free(s->settings[i].value);
    }
    for (size_t i = 0; i < s->n_missing; i++) {
        free(s->missing[i].table);
        free(s->missing[i].why);
    }
    void *arrays[] = {s->settings, s->classes, s->triggers, s->points, s->turbos, s->costs, s->level_costs,
                      s->relaxations, s->level_relaxations, s->throttles, s->missing};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    memset(s, 0, sizeof *s);
}
