/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From finished tables to scheduler parameters: whose tables they are, levels, frequencies. schedule_pairs.c has what
 * stands between two kernels. */
#include "output/export/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/export/schedule_parts.h"
#include "tables/table/estimates.h"
#include "tables/table/tables.h"

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

/* ---- whose tables ---- */

static bool schedule_put_text(char **to, const char *text)
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
        if (!new || !schedule_put_text(&new->table, t->name) || !schedule_put_text(&new->key, t->settings[i].key) ||
            !schedule_put_text(&new->value, t->settings[i].value))
            return false;
    }
    return true;
}

bool schedule_note_missing(struct schedule *s, const char *table, const char *why)
{
    size_t at = 0;
    while (at < s->n_missing && (strcmp(s->missing[at].table, table) != 0 || strcmp(s->missing[at].why, why) != 0))
        at++;
    if (at == s->n_missing) {
        struct schedule_missing new = {.table = strdup(table), .why = strdup(why)};
        struct schedule_missing *place = new.table &&new.why
                                             ? schedule_grow((void **)&s->missing, &s->n_missing, sizeof *place)
                                             : NULL;
        if (!place) {
            free(new.table);
            free(new.why);
            return false;
        }
        *place = new;
    }
    s->missing[at].count++;
    return true;
}

bool schedule_leave_out(struct schedule *s, const char *table, const char *why)
{
    if (!s->first_left_out[0])
        snprintf(s->first_left_out, sizeof s->first_left_out, "%s: %s", table, why);
    s->n_left_out++;
    if (!schedule_note_missing(s, table, why))
        return false;
    for (size_t i = 0; i < s->n_missing; i++)
        if (strcmp(s->missing[i].table, table) == 0 && strcmp(s->missing[i].why, why) == 0)
            s->missing[i].left_out = true;
    return true;
}

bool schedule_ignore(struct schedule *s, const struct table *t, const char *why)
{
    s->n_ignored++;
    return schedule_leave_out(s, t->name, why);
}

static bool put_missing(struct schedule *s, const struct table *t)
{
    for (size_t i = 0; i < t->n_missing; i++)
        if (!schedule_note_missing(s, t->name, t->missing[i].why ? t->missing[i].why : "no reason was told"))
            return false;
    return t->n_rows || t->n_missing || schedule_leave_out(s, t->name, "the table has no rows");
}

static bool put_provenance(struct schedule *s, const struct table *const *tables, size_t n)
{
    bool done = schedule_put_text(&s->cpu, table_meta(tables[0], "cpu")) &&
                schedule_put_text(&s->machine, table_meta(tables[0], "machine")) &&
                schedule_put_text(&s->source, table_meta(tables[0], "source")) &&
                schedule_put_text(&s->version, table_meta(tables[0], "version"));
    s->modelled = table_modelled(tables[0]);
    for (size_t i = 0; i < n && done; i++) {
        /* ISO 8601 in UTC: as text in order */
        const char *date = table_meta(tables[i], "date");
        if (date && (!s->date_first || strcmp(date, s->date_first) < 0))
            done = schedule_put_text(&s->date_first, date);
        if (date && done && (!s->date_last || strcmp(date, s->date_last) > 0))
            done = schedule_put_text(&s->date_last, date);
        done = done && put_settings(s, tables[i]) && put_missing(s, tables[i]);
    }
    return done;
}

/* ---- frequencies ---- */

/* What the rows of one CPU, number of cores and level add up to. */
struct frequency_sum {
    double ghz, lo, hi;
    size_t n;
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

static void schedule_add_row(struct frequency_sum *sum, const struct table *t, size_t row)
{
    double lo = table_number(t, row, "freq_ghz_lo"), hi = table_number(t, row, "freq_ghz_hi");
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
        char steps[SUPPORT_WHY_MAX];
        const char *why = cpu < 0                           ? "cpu is not in 0 to 65535"
                          : !cores                          ? SCHEDULE_NO_CORES
                          : estimates_floats(t, cpu, steps) ? steps
                          : level < 0 ? "level is not there, or not in 0 to 7: these frequencies belong to no level"
                          : !(ghz * 1e3 >= SCHEDULE_MHZ_MIN && ghz * 1e3 <= SCHEDULE_MHZ_MAX)
                              ? "freq_ghz is not there, or not in 0.25 to 16 GHz"
                          : !isfinite(table_number(t, row, "freq_ghz_lo")) ||
                                  !isfinite(table_number(t, row, "freq_ghz_hi"))
                              ? "freq_ghz has no limits; more --runs would help"
                              : NULL;
        if (why) {
            if (!schedule_ignore(s, t, why))
                return false;
            continue;
        }
        struct frequency_sums *at = sums_of(sums, n, cpu, cores);
        if (!at)
            return false;
        schedule_add_row(&at->level[level], t, row);
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
                p->mhz[l] = schedule_round(sum->ghz / (double)sum->n, sum->lo, sum->hi, 1e3);
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

static struct schedule_number schedule_mean_of(const struct schedule_point *p, size_t n, size_t level)
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
        *new = (struct schedule_turbo){.cpu = p->cpu, .cores_lo = p->active_cores, .cores_hi = p[n - 1].active_cores};
        for (size_t l = 0; l < SCHEDULE_LEVELS_MAX; l++)
            new->mhz[l] = schedule_mean_of(p, n, l);
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

/* The table that a part is read of; NULL: it is not among them. */
static const struct table *source_of(const struct table *const *tables, size_t n, enum tables_export part)
{
    const struct table_kind *k = tables_exported(part);
    for (size_t i = 0; i < n; i++)
        if (strcmp(tables[i]->name, k->name) == 0)
            return tables[i];
    return NULL;
}

/* Each source that is not there is told. */
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

static bool put_all(struct schedule *s, const struct table *const *tables, size_t n, schedule_classifier *classify)
{
    static const enum tables_export pairs[] = {EXPORT_COSTS, EXPORT_WAITS, EXPORT_THROTTLING};
    const struct table *frequency = source_of(tables, n, EXPORT_FREQUENCIES),
                       *trigger = source_of(tables, n, EXPORT_TRIGGERS);
    const struct table *umask = source_of(tables, n, EXPORT_LEVEL_EVENTS);
    bool done = put_provenance(s, tables, n) &&
                (!frequency || schedule_put_classes(s, frequency, "kernel", classify)) &&
                (!trigger || schedule_put_classes(s, trigger, "kernel", classify));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && done; i++) {
        const struct table *t = source_of(tables, n, pairs[i]);
        done = !t || (schedule_put_classes(s, t, "from", classify) && schedule_put_classes(s, t, "to", classify));
    }
    if (done && frequency) {
        s->cores = cores_of(frequency);
        schedule_put_levels(s, frequency, classify);
        done = put_points(s, frequency) && put_turbos(s);
    }
    done = done && (!trigger || schedule_put_triggers(s, trigger, frequency, classify));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && done; i++) {
        const struct table *t = source_of(tables, n, pairs[i]);
        done = !t || schedule_put_pairs(s, t, pairs[i], frequency, classify);
    }
    done = done && schedule_put_level_pairs(s);
    if (done && umask)
        schedule_put_events(s, umask, classify);
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

/* What of it is not there, and why: section by section. */
static void tell_nothing(const struct schedule *s, const struct table *const *tables, size_t n, char *why, size_t size)
{
    static const char *const sections[] = {[EXPORT_FREQUENCIES] = "levels and frequencies",
                                           [EXPORT_TRIGGERS] = "triggers",
                                           [EXPORT_COSTS] = "costs",
                                           [EXPORT_WAITS] = "waits",
                                           [EXPORT_THROTTLING] = "throttling"};
    const struct table *frequency = source_of(tables, n, EXPORT_FREQUENCIES);
    char none[SUPPORT_WHY_MAX];
    bool levels = !frequency || estimates_levels(frequency, -1, none);
    snprintf(why, size, "nothing that a scheduler could use was measured");
    for (enum tables_export part = EXPORT_FREQUENCIES; part <= EXPORT_THROTTLING; part++) {
        const struct table *t = source_of(tables, n, part);
        const struct schedule_missing *m = main_reason(s, tables_exported(part)->name);
        bool found_nothing = t && t->n_rows && !(m && m->left_out);
        bool of_levels = t && part != EXPORT_THROTTLING; /* without levels, whatever else is missing */
        size_t used = strlen(why);
        snprintf(why + used, size - used, "; %s: %.250s", sections[part],
                 of_levels && !levels  ? none
                 : found_nothing || !m ? "none was found"
                                       : m->why);
    }
}

int schedule_from_tables(const struct table *const *tables, size_t n, schedule_classifier *classify,
                         struct schedule *out, char *why, size_t why_size)
{
    memset(out, 0, sizeof *out);
    if (n == 0) {
        snprintf(why, why_size, "no tables: measure at least the table frequency");
        return -1;
    }
    if (schedule_check_tables(tables, n, why, why_size) != 0 || schedule_check_rows(tables, n, why, why_size) != 0)
        return -1;
    if (!put_all(out, tables, n, classify)) {
        schedule_free(out);
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    if (out->n_points || out->n_triggers || out->n_costs || out->n_relaxations || out->n_throttles)
        return 0;
    tell_nothing(out, tables, n, why, why_size);
    schedule_free(out);
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
    void *arrays[] = {s->settings,    s->classes,     s->triggers,          s->points,    s->turbos, s->costs,
                      s->level_costs, s->relaxations, s->level_relaxations, s->throttles, s->missing};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    memset(s, 0, sizeof *s);
}
