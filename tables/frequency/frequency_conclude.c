/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from all frequencies together: levels, groups, and the limits that the processor states beside them. */
#include "tables/frequency/frequency.h"

#include <gsl/gsl_cdf.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/text_list.h"

size_t frequency_cpus(const struct table *t, int *cpus, size_t max)
{
    size_t n = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        int cpu = (int)table_number(t, row, "cpu");
        size_t i = 0;
        while (i < n && cpus[i] != cpu)
            i++;
        if (i == n && n < max)
            cpus[n++] = cpu;
    }
    return n;
}

static void setting_name(const struct table *t, const char *key, int cpu, char *out, size_t size)
{
    int cpus[2];
    if (frequency_cpus(t, cpus, 2) > 1)
        snprintf(out, size, "%s of CPU %d", key, cpu);
    else
        snprintf(out, size, "%s", key);
}

const char *frequency_setting(const struct table *t, const char *key, int cpu)
{
    char name[60];
    setting_name(t, key, cpu, name, sizeof name);
    return table_setting(t, name);
}

static void set_setting(struct table *t, const char *key, int cpu, const char *value)
{
    char name[60];
    setting_name(t, key, cpu, name, sizeof name);
    table_set_setting(t, name, value);
}

/* ---- what was measured on one CPU ---- */

struct seen {
    size_t n, n_again, n_kernels;
    struct frequency_point *points; /* room for all rows */
    struct frequency_again *again;  /* room for all details */
    const char *kernels[FREQUENCY_KERNELS_MAX];
};

/* The number of a kernel; FREQUENCY_KERNELS_MAX where there is no room for another one. */
static size_t frequency_conclude_kernel_number(struct seen *s, const char *name)
{
    size_t k = 0;
    while (k < s->n_kernels && strcmp(s->kernels[k], name) != 0)
        k++;
    if (k == s->n_kernels && k < FREQUENCY_KERNELS_MAX)
        s->kernels[s->n_kernels++] = name;
    return k;
}

static double frequency_conclude_half_width(const struct table *t, size_t row)
{
    return (table_number(t, row, "freq_ghz_hi") - table_number(t, row, "freq_ghz_lo")) / 2;
}

static void take_row(const struct table *t, size_t row, struct seen *s)
{
    const char *kernel = table_text(t, row, "kernel");
    double ghz = table_number(t, row, "freq_ghz");
    size_t k = kernel ? frequency_conclude_kernel_number(s, kernel) : FREQUENCY_KERNELS_MAX;
    if (k == FREQUENCY_KERNELS_MAX || !isfinite(ghz))
        return;
    s->points[s->n++] = (struct frequency_point){
        .kernel = k,
        .cores = (unsigned)table_number(t, row, "active_cores"),
        .ghz = ghz,
        .half_width = frequency_conclude_half_width(t, row),
        .row = row,
        .share = {table_number(t, row, "lvl0"), table_number(t, row, "lvl1"), table_number(t, row, "lvl2")}};
}

/* The row of a cell; n_rows: there is none. */
static size_t find_row(const struct table *t, int cpu, const char *kernel, unsigned cores)
{
    size_t row = 0;
    while (row < t->n_rows && !(table_says(t, row, "kernel", kernel) && (int)table_number(t, row, "cpu") == cpu &&
                                table_number(t, row, "active_cores") == cores))
        row++;
    return row;
}

/* A frequency that was measured again beside the row that it repeats. */
static void take_again(const struct table *t, const struct table_pair *detail, int cpu, struct seen *s)
{
    const char *kernel = NULL;
    int of, cores;
    double ghz, half;
    if (strncmp(detail->key, FREQUENCY_AGAIN, strlen(FREQUENCY_AGAIN)) != 0)
        return;
    json_t *json = json_loads(detail->value, 0, NULL);
    if (json_unpack(json, "{s:i, s:s, s:i, s:F, s:F}", "cpu", &of, "kernel", &kernel, "active_cores", &cores,
                    "freq_ghz", &ghz, "half_width", &half) == 0 &&
        of == cpu) {
        size_t row = find_row(t, cpu, kernel, (unsigned)cores);
        if (row < t->n_rows && isfinite(table_number(t, row, "freq_ghz")))
            s->again[s->n_again++] = (struct frequency_again){table_number(t, row, "freq_ghz"), ghz,
                                                              frequency_conclude_half_width(t, row), half};
    }
    json_decref(json);
}

double frequency_moved(const struct table *t, int cpu)
{
    double squares = 0, most = 0;
    struct seen s = {.again = calloc(t->n_details + 1, sizeof *s.again)};
    for (size_t i = 0; s.again && i < t->n_details; i++)
        take_again(t, &t->details[i], cpu, &s);
    for (size_t i = 0; i < s.n_again; i++) {
        const double moved = fabs(s.again[i].after / s.again[i].before - 1);
        squares += moved * moved;
        most = fmax(most, moved);
    }
    const size_t n = s.n_again;
    free(s.again);
    return n ? fmax(most, sqrt(squares / (double)n) * gsl_cdf_tdist_Pinv(0.975, (double)n)) : 0;
}

/* ---- what is written into the table ---- */

static void group_text(unsigned first, unsigned last, char *out, size_t size)
{
    if (first == last)
        snprintf(out, size, "%u", first);
    else
        snprintf(out, size, "%u-%u", first, last);
}

static void put_point(struct table *t, const struct frequency_point *p, const struct frequency_levels *l)
{
    char group[40];
    if (p->level >= 0) {
        table_set_number(t, p->row, "level", p->level);
        table_set_text(t, p->row, "level_source", l->counted ? "counters" : "frequency");
    }
    group_text(p->first, p->last, group, sizeof group);
    table_set_text(t, p->row, "group", p->first ? group : "no steps");
}

static void put_groups(struct table *t, int cpu, const struct frequency_levels *l)
{
    char text[1000] = "", group[40];
    for (size_t i = 0; i < l->n_groups && strlen(text) + 30 < sizeof text; i++) {
        group_text(l->groups[i].first, l->groups[i].last, group, sizeof group);
        text_list_add(text, sizeof text, ", ", "%s", group);
    }
    set_setting(t, "groups", cpu, text[0] ? text : "no steps");
}

static void put_verdict(struct table *t, int cpu, const struct frequency_levels *l)
{
    char text[300] = "steps";
    if (l->verdict == FREQUENCY_ALIKE)
        snprintf(text, sizeof text, "%s",
                 l->n_levels > 1 ? "one frequency, as far as can be told; the levels are those of the license counters"
                                 : "one frequency for everything");
    if (l->verdict == FREQUENCY_FLOATS)
        snprintf(text, sizeof text, "no steps, %s", l->why);
    if (l->verdict != FREQUENCY_NOTHING)
        set_setting(t, "steps", cpu, text);
    put_groups(t, cpu, l);
}

static int conclude_cpu(struct table *t, int cpu)
{
    struct seen s = {0};
    struct frequency_levels levels;
    s.points = calloc(t->n_rows + 1, sizeof *s.points);
    s.again = calloc(t->n_details + 1, sizeof *s.again);
    int bad = !s.points || !s.again ? -1 : 0;
    for (size_t row = 0; !bad && row < t->n_rows; row++)
        if ((int)table_number(t, row, "cpu") == cpu)
            take_row(t, row, &s);
    for (size_t i = 0; !bad && i < t->n_details; i++)
        take_again(t, &t->details[i], cpu, &s);
    if (!bad)
        bad = frequency_analyse(s.points, s.n, s.again, s.n_again, &levels);
    if (!bad) {
        for (size_t i = 0; i < s.n; i++)
            put_point(t, &s.points[i], &levels);
        put_verdict(t, cpu, &levels);
        frequency_levels_free(&levels);
    }
    free(s.points);
    free(s.again);
    return bad;
}

const char *frequency_core(const struct table *t, int cpu)
{
    char key[40];
    snprintf(key, sizeof key, FREQUENCY_CORE, cpu);
    return table_setting(t, key);
}

/* 1ADH is of the P cores where there are two kinds; low-power E cores are neither register. */
const char *frequency_limits(const struct table *t, int cpu)
{
    const char *core = frequency_core(t, cpu);
    if (core && strncmp(core, "LP-E", 4) == 0)
        return NULL;
    return table_setting(t, core && core[0] == 'E' ? TURBO_LIMITS_OF "E cores" : TURBO_LIMITS);
}

static void put_what_is_known(struct table *t)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        int cpu = (int)table_number(t, row, "cpu");
        const char *core = frequency_core(t, cpu);
        if (core && *core)
            table_set_text(t, row, "core", core);
        table_set_number(t, row, "turbo_limit_ghz",
                         core_ranges_value(frequency_limits(t, cpu), (unsigned)table_number(t, row, "active_cores")));
    }
}

int frequency_conclude(struct table *t)
{
    int cpus[MACHINE_CORE_KINDS_MAX];
    size_t n = frequency_cpus(t, cpus, MACHINE_CORE_KINDS_MAX);
    for (size_t i = 0; i < n; i++)
        if (conclude_cpu(t, cpus[i]))
            return -1;
    put_what_is_known(t);
    return t->failed ? -1 : 0;
}

const char *frequency_limits_of(const struct table *t, size_t i)
{
    static const char of[] = TURBO_LIMITS_OF;
    const char *key = t->settings[i].key;
    return strncmp(key, of, sizeof of - 1) == 0 && strcmp(key, TURBO_LIMITS_OF "E cores") != 0 ? key + sizeof of - 1
                                                                                               : NULL;
}
