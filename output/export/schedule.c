/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns finished tables into scheduler parameters: classes of code, the counts that request a level, frequencies,
 * events, and whose tables they are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/export/schedule_parts.h"
#include "tables/table/estimates.h"
#include "util/error.h"

/* ---- classes, their levels, and triggers ---- */

/* A class for every kernel in a column of a table that stands for one. */
static bool put_classes(struct schedule *s, const struct table *t, const char *column)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        struct schedule_kernel k;
        if (schedule_kernel_of(table_text(t, row, column), &k) && !schedule_add_class(s, &k))
            return false;
    }
    return true;
}

static void raise_number(struct schedule_number *to, int32_t value)
{
    if (!to->present || value > to->value)
        *to = (struct schedule_number){.present = true, .value = value};
}

/* The level of a class: of its plain kernels at full rate the highest that any was seen at. */
static void put_levels(struct schedule *s, const struct table *t)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *name = table_text(t, row, "kernel");
        int level = schedule_level_field(t, row, "level");
        struct schedule_kernel k;
        if (level < 0 || !schedule_kernel_of(name, &k))
            continue;
        s->n_levels = (unsigned)level + 1 > s->n_levels ? (unsigned)level + 1 : s->n_levels;
        struct schedule_class *c = &s->classes[schedule_class_of(s, &k)];
        if ((k.plain || k.memory) && k.density == 1)
            raise_number(k.memory ? &c->level_mem : &c->level, level);
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

/* Keeps, of the kernels of a class that differ, the highest level, and the smallest count that requests it. */
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

static struct estimate mhz_of(const struct schedule_number *n)
{
    const double hz = 1e-3 * n->value, lo = n->has_limits ? 1e-3 * n->lo : NAN, hi = n->has_limits ? 1e-3 * n->hi : NAN;
    return n->present ? (struct estimate){hz, lo, hi} : (struct estimate){NAN, NAN, NAN};
}

/*
 * The level of a row. Where no counter tells levels apart, each table numbers those that it has seen: the frequency
 * says which one of table frequency it is, if it is that of a single other level.
 */
static int row_level(const struct schedule *s, const struct table *t, size_t row)
{
    const int level = schedule_level_field(t, row, "level"), cpu = s->n_points ? s->points[0].cpu : -1;
    const struct estimate ghz = estimates_of_table(t, row, "freq_ghz");
    int found = -1;
    for (size_t i = 0; i < s->n_points && level >= 0; i++) {
        const struct schedule_point *p = &s->points[i];
        for (int l = 0; l < SCHEDULE_LEVELS_MAX && p->cpu == cpu && p->active_cores == schedule_cores_field(t, row);
             l++) {
            const struct estimate of_level = mhz_of(&p->mhz[l]);
            if (!estimates_frequencies_agree(&ghz, &of_level))
                continue;
            if (found >= 0 || l == level)
                return level;
            found = l;
        }
    }
    return found >= 0 ? found : level;
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
    /* a level stated by a trigger means nothing where no frequency belongs to it */
    return s->classes[schedule_class_of(s, k)].level.present ? NULL : "table frequency shows no level for such code";
}

static bool put_trigger_rows(struct schedule *s, const struct table *t, const struct table *frequency)
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
        int level = row_level(s, t, row);
        struct schedule_number count = schedule_field(t, row, "count", 1);
        if (level == 0) /* the count that triggers throttling at the same frequency */
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

/* Drops contradictions: where the two tables contradict each other, there is no telling which one is right, and neither
 * level is exported. */
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

/* Rows of the table trigger, of classes whose level is known already; contradictions remove both. `frequency`: that
 * table, NULL where it was not measured. */
static bool put_triggers(struct schedule *s, const struct table *t, const struct table *frequency)
{
    if (!put_trigger_rows(s, t, frequency))
        return false;
    schedule_sort(s->triggers, s->n_triggers, sizeof *s->triggers, by_trigger);
    return settle_contradictions(s, t->name);
}

/* ---- frequencies by CPU, number of active cores and level, and the turbo levels that they make up ---- */

/* The sums over the rows of one CPU, number of cores and level. */
struct frequency_sum {
    double value, lo, hi;
    size_t n;
};
struct frequency_sums {
    int cpu;
    unsigned active_cores;
    struct frequency_sum ghz[SCHEDULE_LEVELS_MAX], ratio[SCHEDULE_LEVELS_MAX];
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

static void add_row(struct frequency_sum *sum, const struct estimate *e)
{
    sum->lo = sum->n ? fmin(sum->lo, e->lo) : e->lo;
    sum->hi = sum->n ? fmax(sum->hi, e->hi) : e->hi;
    sum->value += e->value;
    sum->n++;
}

/* The frequency of a row. Where it floats, that of the first kernel at this number of cores times the ratio, so that it
 * is no accident of moments which level is the faster one. */
static struct estimate row_ghz(const struct table *t, size_t row, bool relative)
{
    const double ratio = table_number(t, row, "ratio");
    struct estimate e = estimates_of_table(t, row, "freq_ghz");
    for (size_t first = 0; relative && first <= row; first++)
        if (table_number(t, first, "cpu") == table_number(t, row, "cpu") &&
            table_number(t, first, "active_cores") == table_number(t, row, "active_cores")) {
            const struct estimate of = estimates_of_table(t, first, "freq_ghz");
            return first == row ? e : (struct estimate){of.value * ratio, of.lo * ratio, of.hi * ratio};
        }
    return e;
}

static bool sum_rows(struct schedule *s, const struct table *t, struct frequency_sums **sums, size_t *n)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        unsigned cores = schedule_cores_field(t, row);
        int cpu = schedule_whole_field(t, row, "cpu", 0, UINT16_MAX, -1);
        int level = schedule_level_field(t, row, "level");
        const bool relative = estimates_relative(t, cpu);
        const struct estimate e = row_ghz(t, row, relative), ratio = estimates_of_table(t, row, "ratio");
        const double ghz = e.value;
        char steps[SUPPORT_WHY_MAX];
        const char *why = cpu < 0                           ? "cpu is not in 0 to 65535"
                          : !cores                          ? SCHEDULE_NO_CORES
                          : estimates_floats(t, cpu, steps) ? steps
                          : level < 0 ? "level is missing or not in 0 to 7: these frequencies belong to no level"
                          : !(ghz * 1e3 >= SCHEDULE_MHZ_MIN && ghz * 1e3 <= SCHEDULE_MHZ_MAX)
                              ? "freq_ghz is missing or not in 0.25 to 16 GHz"
                          : !estimates_known(&e) ? "freq_ghz has no limits; more --runs would help"
                                                 : NULL;
        if (why) {
            if (!schedule_ignore(s, t, why))
                return false;
            continue;
        }
        struct frequency_sums *at = sums_of(sums, n, cpu, cores);
        if (!at)
            return false;
        add_row(&at->ghz[level], &e);
        if (relative)
            add_row(&at->ratio[level], &ratio);
        s->relative = s->relative || relative;
    }
    return true;
}

static int by_point(const void *a, const void *b)
{
    const struct schedule_point *x = a, *y = b;
    return schedule_order((long[]){x->cpu, x->active_cores}, (long[]){y->cpu, y->active_cores}, 2);
}

static struct schedule_number sum_mean(const struct frequency_sum *sum, double unit)
{
    return sum->n ? schedule_round(sum->value / (double)sum->n, sum->lo, sum->hi, unit) : (struct schedule_number){0};
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
            p->mhz[l] = sum_mean(&sums[i].ghz[l], 1e3);
            p->ratio_ppm[l] = sum_mean(&sums[i].ratio[l], 1e6);
        }
    }
    free(sums);
    schedule_sort(s->points, s->n_points, sizeof *s->points, by_point);
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

/* Neighbors with the frequencies of the first one of them become one turbo level; none where the frequency floats. */
static bool put_turbos(struct schedule *s)
{
    for (size_t i = 0, n = 0; i < s->n_points && !s->relative; i += n) {
        const struct schedule_point *p = &s->points[i];
        for (n = 1; i + n < s->n_points && p[n].cpu == p->cpu && same_frequencies(p, p + n); n++)
            ;
        struct schedule_turbo *new = schedule_grow((void **)&s->turbos, &s->n_turbos, sizeof *new);
        if (!new)
            return false;
        *new = (struct schedule_turbo){.cpu = p->cpu, .cores_lo = p->active_cores, .cores_hi = p[n - 1].active_cores};
        for (size_t l = 0; l < SCHEDULE_LEVELS_MAX; l++)
            new->mhz[l] = mean_of(p, n, l);
    }
    return true;
}

/* ---- whose tables ---- */

static bool put_settings(struct schedule *s, const struct table *t)
{
    bool done = true;
    for (size_t i = 0; i < t->n_settings && done; i++) {
        const struct schedule_setting new = {t->name, t->settings[i].key, t->settings[i].value};
        done = schedule_add((void **)&s->settings, &s->n_settings, sizeof new, &new);
    }
    const struct schedule_setting of_computer = {t->name, "environment", table_meta(t, "environment")};
    if (done && of_computer.value)
        done = schedule_add((void **)&s->settings, &s->n_settings, sizeof of_computer, &of_computer);
    return done;
}

static bool put_missing(struct schedule *s, const struct table *t)
{
    for (size_t i = 0; i < t->n_missing; i++)
        if (!schedule_note_missing(s, t->name, t->missing[i].why ? t->missing[i].why : "no reason was given"))
            return false;
    return t->n_rows || t->n_missing || schedule_leave_out(s, t->name, "the table has no rows");
}

static bool put_provenance(struct schedule *s, const struct table *const *tables, size_t n)
{
    bool done = true;
    s->cpu = table_meta(tables[0], "cpu");
    schedule_put_signature(s);
    s->machine = table_meta(tables[0], "machine");
    s->source = table_meta(tables[0], "source");
    s->version = table_meta(tables[0], "version");
    s->modelled = table_modelled(tables[0]);
    for (size_t i = 0; i < n && done; i++) {
        /* ISO 8601 in UTC: as text in order */
        const char *date = table_meta(tables[i], "date");
        if (date && (!s->date_first || strcmp(date, s->date_first) < 0))
            s->date_first = date;
        if (date && (!s->date_last || strcmp(date, s->date_last) > 0))
            s->date_last = date;
        done = put_settings(s, tables[i]) && put_missing(s, tables[i]);
    }
    return done;
}

/* ---- all of it ---- */

/* The table that a part is read of; NULL: it is not among them. */
static const struct table *source_of(const struct table *const *tables, size_t n, enum tables_export part)
{
    const struct table_kind *k = tables_exported(part);
    for (size_t i = 0; i < n; i++)
        if (strcmp(tables[i]->name, k->name) == 0)
            return tables[i];
    return NULL;
}

/* Each missing source is reported. */
static bool note_absent_tables(struct schedule *s, const struct table *const *tables, size_t n)
{
    char why[80];
    for (enum tables_export part = EXPORT_NOTHING + 1; part < TABLES_EXPORTS; part++) {
        const char *name = tables_exported(part)->name;
        snprintf(why, sizeof why, "the table %s was not measured", name);
        if (!source_of(tables, n, part) && !schedule_note_missing(s, name, why))
            return false;
    }
    return true;
}

static unsigned cores_of(const struct table *frequency)
{
    const char *text = table_setting(frequency, "cores");
    long cores = text ? strtol(text, NULL, 10) : 0;
    return cores > 0 && cores <= UINT16_MAX ? (unsigned)cores : 0;
}

static bool put_all(struct schedule *s, const struct table *const *tables, size_t n)
{
    static const enum tables_export pairs[] = {EXPORT_COSTS, EXPORT_WAITS, EXPORT_THROTTLING};
    const struct table *frequency = source_of(tables, n, EXPORT_FREQUENCIES),
                       *trigger = source_of(tables, n, EXPORT_TRIGGERS);
    const struct table *umask = source_of(tables, n, EXPORT_LEVEL_EVENTS),
                       *switching = source_of(tables, n, EXPORT_SWITCHING);
    bool done = put_provenance(s, tables, n) && (!frequency || put_classes(s, frequency, "kernel")) &&
                (!trigger || put_classes(s, trigger, "kernel"));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && done; i++) {
        const struct table *t = source_of(tables, n, pairs[i]);
        done = !t || (put_classes(s, t, "from") && put_classes(s, t, "to"));
    }
    if (done && frequency) {
        s->cores = cores_of(frequency);
        put_levels(s, frequency);
        done = put_points(s, frequency) && put_turbos(s) && schedule_put_cpus(s, frequency);
    }
    done = done && (!trigger || put_triggers(s, trigger, frequency));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && done; i++) {
        const struct table *t = source_of(tables, n, pairs[i]);
        done = !t || schedule_put_pairs(s, t, pairs[i], frequency);
    }
    done = done && schedule_put_level_pairs(s);
    if (done && umask)
        schedule_put_events(s, umask);
    done = done && (!switching || schedule_put_switching(s, switching));
    return done && note_absent_tables(s, tables, n);
}

/* The reason that most entries of a table have: of what was measured and cannot be used, else of what was not measured;
 * what a kernel needs of the processor only where there is no other. NULL: there is none. */
static const struct schedule_missing *main_reason(const struct schedule *s, const char *table)
{
    const struct schedule_missing *best = NULL;
    int best_rank = 0;
    for (size_t i = 0; i < s->n_missing; i++) {
        const struct schedule_missing *m = &s->missing[i];
        int rank = m->left_out ? 3 : strncmp(m->why, "needs ", 6) != 0 ? 2 : 1;
        if (strcmp(m->table, table) != 0 || rank < best_rank || (rank == best_rank && m->count <= best->count))
            continue;
        best = m;
        best_rank = rank;
    }
    return best;
}

/* Says section by section what is missing, and why. */
static void tell_nothing(const struct schedule *s, const struct table *const *tables, size_t n, char *why, size_t size)
{
    static const char *const sections[] = {[EXPORT_FREQUENCIES] = "levels and frequencies",
                                           [EXPORT_TRIGGERS] = "triggers",
                                           [EXPORT_COSTS] = "costs",
                                           [EXPORT_WAITS] = "waits",
                                           [EXPORT_THROTTLING] = "throttling",
                                           [EXPORT_SWITCHING] = "switching costs"};
    const struct table *frequency = source_of(tables, n, EXPORT_FREQUENCIES);
    char none[SUPPORT_WHY_MAX];
    bool levels = !frequency || estimates_levels(frequency, -1, none);
    snprintf(why, size, "nothing that a scheduler could use was measured");
    for (enum tables_export part = EXPORT_FREQUENCIES; part < TABLES_EXPORTS; part++) {
        if (!sections[part]) /* events mean nothing without levels */
            continue;
        const struct table *t = source_of(tables, n, part);
        const struct schedule_missing *m = main_reason(s, tables_exported(part)->name);
        bool found_nothing = t && t->n_rows && !(m && m->left_out);
        bool of_levels = t && part != EXPORT_THROTTLING &&
                         part != EXPORT_SWITCHING; /* without levels, whatever else is missing */
        size_t used = strlen(why);
        snprintf(why + used, size - used, "; %s: %.250s", sections[part],
                 of_levels && !levels  ? none
                 : found_nothing || !m ? "none was found"
                                       : m->why);
    }
}

int schedule_from_tables(const struct table *const *tables, size_t n, struct schedule *out, char *why, size_t why_size)
{
    memset(out, 0, sizeof *out);
    if (n == 0)
        return error_line(why, why_size, "no tables: measure at least the table frequency");
    if (schedule_check_tables(tables, n, why, why_size) != 0 || schedule_check_rows(tables, n, why, why_size) != 0)
        return -1;
    if (!put_all(out, tables, n)) {
        schedule_free(out);
        return error_line(why, why_size, "out of memory");
    }
    bool switching = false;
    for (size_t i = 0; i < SWITCHING_KINDS; i++)
        switching = switching || out->switching_ns[i].present;
    if (out->n_points || out->n_triggers || out->n_costs || out->n_relaxations || out->n_throttles || switching)
        return 0;
    tell_nothing(out, tables, n, why, why_size);
    schedule_free(out);
    return -1;
}
