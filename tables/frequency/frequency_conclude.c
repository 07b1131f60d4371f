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

const char *frequency_ratio_to(const struct table *t)
{
    const char *to = table_setting(t, FREQUENCY_RATIO_TO);
    return to ? to : "the first kernel";
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

static const struct estimate none = {NAN, NAN, NAN};

static void take_row(const struct table *t, size_t row, struct seen *s)
{
    const char *kernel = table_text(t, row, "kernel");
    const struct estimate ghz = estimates_of_table(t, row, "freq_ghz"), ratio = estimates_of_table(t, row, "ratio");
    size_t k = kernel ? frequency_conclude_kernel_number(s, kernel) : FREQUENCY_KERNELS_MAX;
    if (k == FREQUENCY_KERNELS_MAX || !isfinite(ghz.value))
        return;
    s->points[s->n++] = (struct frequency_point){
        .kernel = k,
        .cores = (unsigned)table_number(t, row, "active_cores"),
        .ghz = ghz.value,
        .half_width = estimate_half(&ghz),
        .ratio = ratio.value,
        .ratio_half = estimate_half(&ratio),
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

/* A frequency that was measured again beside the row that it repeats. Returns 0, or -1: out of memory. */
static int take_again(const struct table *t, const struct table_pair *detail, int cpu, struct seen *s)
{
    const char *kernel = NULL;
    int of, cores;
    double ghz, half;
    json_error_t why;
    if (strncmp(detail->key, FREQUENCY_AGAIN, strlen(FREQUENCY_AGAIN)) != 0)
        return 0;
    json_t *json = json_loads(detail->value, 0, &why);
    if (!json)
        return why.text[0] ? 0 : -1; /* jansson has words for bad text, none for missing memory */
    int bad = json_unpack_ex(json, &why, 0, "{s:i, s:s, s:i, s:F, s:F}", "cpu", &of, "kernel", &kernel, "active_cores",
                             &cores, "freq_ghz", &ghz, "half_width", &half);
    if (!bad && of == cpu) {
        size_t row = find_row(t, cpu, kernel, (unsigned)cores);
        const struct estimate before = row < t->n_rows ? estimates_of_table(t, row, "freq_ghz") : none;
        if (isfinite(before.value))
            s->again[s->n_again++] = (struct frequency_again){before.value, ghz, estimate_half(&before), half};
    }
    json_decref(json);
    return bad && json_error_code(&why) == json_error_out_of_memory ? -1 : 0;
}

static int take_all_again(const struct table *t, int cpu, struct seen *s)
{
    s->again = calloc(t->n_details + 1, sizeof *s->again);
    for (size_t i = 0; s->again && i < t->n_details; i++)
        if (take_again(t, &t->details[i], cpu, s))
            return -1;
    return s->again ? 0 : -1;
}

static double moved_by(const struct frequency_again *again, size_t n)
{
    double squares = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        const double moved = fabs(again[i].after / again[i].before - 1);
        squares += moved * moved;
        most = fmax(most, moved);
    }
    return n ? fmax(most, sqrt(squares / (double)n) * gsl_cdf_tdist_Pinv(0.975, (double)n)) : 0;
}

double frequency_moved(const struct table *t, int cpu)
{
    struct seen s = {0};
    const double moved = take_all_again(t, cpu, &s) ? NAN : moved_by(s.again, s.n_again);
    free(s.again);
    return moved;
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
        table_set_text(t, p->row, "level_source", l->counted ? "counters" : "ratio");
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
    char text[400] = "steps";
    if (l->verdict == FREQUENCY_ALIKE)
        snprintf(text, sizeof text, "%s",
                 l->n_levels > 1 ? "one frequency, as far as can be told; the levels are those of the license counters"
                                 : "one frequency for everything");
    if (l->verdict == FREQUENCY_FLOATS && !l->counted && l->n_levels > 0)
        snprintf(text, sizeof text, "levels by the ratio to %s around them; %s", frequency_ratio_to(t), l->why);
    else if (l->verdict == FREQUENCY_FLOATS)
        snprintf(text, sizeof text, "no steps, %s", l->why);
    if (l->verdict != FREQUENCY_NOTHING)
        set_setting(t, "steps", cpu, text);
    put_groups(t, cpu, l);
}

static void take_rows(const struct table *t, int cpu, struct seen *s)
{
    for (size_t row = 0; row < t->n_rows; row++)
        if ((int)table_number(t, row, "cpu") == cpu)
            take_row(t, row, s);
}

/* Limits no narrower than so much of a value. */
static void frequency_widen(struct table *t, size_t row, const char *column, double by)
{
    struct estimate e = estimates_of_table(t, row, column);
    if (!estimates_known(&e))
        return;
    e.lo = fmin(e.lo, e.value - by * fabs(e.value));
    e.hi = fmax(e.hi, e.value + by * fabs(e.value));
    estimates_set(t, row, column, e);
}

/*
 * Where the frequency floats, the limits of some rounds hold for the seconds in which they were made: on a Granite
 * Rapids guest 3.493 [3.488, 3.499] GHz were 3.394 [3.393, 3.395] a minute later. So they become as wide as it moves
 * from one measurement to the next (two of them differ by sqrt(2) as much as either from the mean).
 */
static void widen_floating(struct table *t, int cpu, double between)
{
    char percent[40];
    snprintf(percent, sizeof percent, "%.3g", 100 * between);
    set_setting(t, FREQUENCY_MOVES, cpu, percent);
    for (size_t row = 0; row < t->n_rows; row++) {
        if ((int)table_number(t, row, "cpu") != cpu)
            continue;
        frequency_widen(t, row, "freq_ghz", between * M_SQRT1_2);
        frequency_widen(t, row, "ipc", between * M_SQRT1_2); /* who moves the clock is on the core, too, now and then */
    }
}

static int conclude_cpu(struct table *t, int cpu)
{
    struct seen s = {0};
    struct frequency_levels levels;
    s.points = calloc(t->n_rows + 1, sizeof *s.points);
    int bad = !s.points || take_all_again(t, cpu, &s) ? -1 : 0;
    if (!bad) {
        take_rows(t, cpu, &s);
        bad = frequency_analyse(s.points, s.n, s.again, s.n_again, &levels);
    }
    if (!bad) {
        for (size_t i = 0; i < s.n; i++)
            put_point(t, &s.points[i], &levels);
        put_verdict(t, cpu, &levels);
        if (levels.verdict == FREQUENCY_FLOATS)
            widen_floating(t, cpu, moved_by(s.again, s.n_again));
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
    int cpus[CORE_KINDS_MAX];
    size_t n = frequency_cpus(t, cpus, CORE_KINDS_MAX);
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
