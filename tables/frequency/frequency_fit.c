/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conclusions from all frequencies together: levels, groups, and the limits that the processor states beside them. */
#include "tables/frequency/frequency.h"

#include <gsl/gsl_cdf.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"
#include "util/order.h"
#include "util/text_list.h"

/* ---- values for ranges of active cores ---- */

enum { CORES_MAX = 65535 }; /* in a range: more than any processor has */

const char *frequency_range_read(const char *text, struct frequency_group *out)
{
    char *end;
    out->first = out->last = (unsigned)strtoul(text, &end, 10);
    if (end == text || out->first == 0)
        return NULL;
    if (*end == '-') {
        text = end + 1;
        out->last = (unsigned)strtoul(text, &end, 10);
    }
    bool possible = out->first <= out->last && out->last <= CORES_MAX;
    return end != text && possible ? end : NULL;
}

double frequency_ranges_value(const char *text, unsigned cores)
{
    struct frequency_group g;
    for (const char *p = text; p && (p = frequency_range_read(p, &g)) && *p == ':';) {
        char *end;
        double value = strtod(p + 1, &end);
        if (cores >= g.first && cores <= g.last)
            return trace_within(trace_channel_range(TRACE_FREQ), value) ? value : NAN;
        p = *end == ',' ? end + 1 : NULL;
    }
    return NAN;
}

/* ---- levels and groups of frequencies ---- */

/* A frequency is not steady whose 95 % limits are farther away than this, relative: twice FREQUENCY_SAME. */
#define FREQUENCY_UNSTEADY 0.009

/* One kernel at one number of active cores. */
struct point {
    size_t kernel; /* below FREQUENCY_KERNELS_MAX */
    unsigned cores;
    double ghz, half_width;   /* of the 95 % limits; NaN: not known */
    double ratio, ratio_half; /* to the first kernel, by brackets; likewise */
    size_t row;               /* the caller's own */
    double share[3];          /* of the cycles counted at license level 0, 1, 2; NaN: not counted */
    /* filled in by analyse() */
    int level;            /* -1: undecided */
    unsigned first, last; /* the numbers of active cores that share this frequency; 0: no steps */
};

/* The same measured twice, with others in between. */
struct again {
    double before, after; /* GHz */
    double before_half, after_half;
};

enum verdict {
    FREQUENCY_STEPS,  /* a few fixed frequencies */
    FREQUENCY_ALIKE,  /* one for everything */
    FREQUENCY_FLOATS, /* it moves by itself, as with power or with what others do: steps would be made up */
    FREQUENCY_NOTHING /* no frequency was measured */
};

struct levels {
    enum verdict verdict;
    char why[200];   /* FREQUENCY_FLOATS: what shows it */
    bool counted;    /* levels are from the license counters, otherwise from the frequencies */
    size_t n_levels; /* highest level that occurs, plus one */
    size_t n_groups;
    struct frequency_group *groups; /* in each, no kernel's frequency changes; free() */
};

/* Shares of the repeated measurements, and of all limits, that may be disturbed before a frequency is said to float. */
#define AGAIN_MOST 0.25
#define UNSTEADY_MOST 0.25
#define OF_MANY 2.5      /* times its limits two kernels must differ: many are compared, and one in 20 does by 1 */
#define ONE_LEVEL 0.0068 /* relative, up to which they are surely one: 1.5 times FREQUENCY_SAME */

static double or_zero(double x)
{
    return isnan(x) ? 0 : x;
}

static bool same(const struct point *a, const struct point *b)
{
    return estimates_frequency_same(a->ghz, a->half_width, b->ghz, b->half_width);
}

static int by_kernel_and_cores(const void *x, const void *y)
{
    const struct point *a = x, *b = y;
    if (a->kernel != b->kernel)
        return a->kernel < b->kernel ? -1 : 1;
    return (a->cores > b->cores) - (a->cores < b->cores);
}

/* The points of each kernel: kernel k has points[first[k]] up to points[first[k + 1]]. */
struct view {
    struct point *points;
    size_t n, first[FREQUENCY_KERNELS_MAX + 1];
};

static void look(struct view *v, struct point *points, size_t n)
{
    size_t i = 0;
    qsort(points, n, sizeof *points, by_kernel_and_cores);
    v->points = points;
    v->n = n;
    for (size_t k = 0; k <= FREQUENCY_KERNELS_MAX; k++) {
        while (i < n && points[i].kernel < k)
            i++;
        v->first[k] = i;
    }
}

static bool measured(const struct view *v, size_t kernel)
{
    return v->first[kernel] < v->first[kernel + 1];
}

/* ---- two kernels side by side ---- */

struct comparison {
    size_t both;        /* numbers of cores: with both kernels */
    size_t apart, open; /* ... where they surely differ; where they may do so by an entire step */
    double relative;    /* by how much a is faster, summed over them */
    double squares;     /* ... of its half widths */
};

/* 1: two kernels are of one level; 0: of two; -1: undecided. */
static int one_level(const struct comparison *c)
{
    double mean = fabs(c->relative) / (double)c->both, half = sqrt(c->squares) / (double)c->both;
    if (!c->both)
        return 1;
    if (c->apart || mean > fmax(FREQUENCY_SAME, OF_MANY * half))
        return 0;
    return !c->open && mean + half < ONE_LEVEL ? 1 : -1;
}

static struct comparison compare(const struct view *v, size_t a, size_t b)
{
    struct comparison c = {0};
    size_t i = v->first[a], k = v->first[b];
    while (i < v->first[a + 1] && k < v->first[b + 1]) {
        const struct point *x = &v->points[i], *y = &v->points[k];
        if (x->cores != y->cores) {
            i += x->cores < y->cores;
            k += x->cores > y->cores;
            continue;
        }
        const double relative = x->ratio / y->ratio - 1;
        const double half = hypot(or_zero(x->ratio_half), or_zero(y->ratio_half)) / y->ratio;
        c.both++;
        c.apart += fabs(relative) > fmax(FREQUENCY_UNSTEADY, OF_MANY * half);
        c.open += fabs(relative) + half >= 2 * FREQUENCY_UNSTEADY;
        c.relative += relative;
        c.squares += half * half;
        i++;
        k++;
    }
    return c;
}

/* ---- whether it floats ---- */

static void floats(struct levels *out, size_t of, size_t all, const char *what)
{
    out->verdict = FREQUENCY_FLOATS;
    snprintf(out->why, sizeof out->why, "the frequency floats: %zu of %zu %s", of, all, what);
}

static void judge_again(const struct again *again, size_t n, struct levels *out)
{
    size_t moved = 0;
    for (size_t i = 0; i < n; i++)
        moved += !estimates_frequency_same(again[i].before, again[i].before_half, again[i].after, again[i].after_half);
    if ((double)moved > AGAIN_MOST * (double)n)
        floats(out, moved, n, "frequencies had changed on remeasurement");
}

static void judge_limits(const struct view *v, struct levels *out)
{
    size_t unsteady = 0;
    for (size_t i = 0; i < v->n; i++)
        unsteady += v->points[i].half_width > FREQUENCY_UNSTEADY * v->points[i].ghz;
    if ((double)unsteady > UNSTEADY_MOST * (double)v->n) { /* the limits do not show which of the two it is */
        out->verdict = FREQUENCY_FLOATS;
        snprintf(out->why, sizeof out->why,
                 "the frequency floats, or its readings are noisy: the limits of %zu of %zu frequencies are wider than "
                 "%g %%",
                 unsteady, v->n, 100 * FREQUENCY_UNSTEADY);
    }
}

static bool all_alike(const struct view *v)
{
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < i; k++)
            if (!same(&v->points[i], &v->points[k]))
                return false;
    return true;
}

static void judge(const struct view *v, const struct again *again, size_t n_again, struct levels *out)
{
    if (v->n == 0) {
        out->verdict = FREQUENCY_NOTHING;
        return;
    }
    judge_again(again, n_again, out);
    if (out->verdict == FREQUENCY_STEPS)
        judge_limits(v, out);
    if (out->verdict == FREQUENCY_STEPS && all_alike(v))
        out->verdict = FREQUENCY_ALIKE;
}

/* ---- levels ---- */

static int counted_level(const struct point *p)
{
    for (int level = 0; level < 3; level++)
        if (p->share[level] > 0.5)
            return level;
    return -1;
}

static bool take_counted_levels(const struct view *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (counted_level(&v->points[i]) < 0)
            return false;
    for (size_t i = 0; i < v->n; i++)
        v->points[i].level = counted_level(&v->points[i]);
    return v->n > 0;
}

/* The kernels that were measured, fastest first: by how many others they are faster than, at the same cores. */
static size_t rank_kernels(const struct view *v, size_t *order)
{
    double lead[FREQUENCY_KERNELS_MAX] = {0};
    size_t n = 0;
    for (size_t a = 0; a < FREQUENCY_KERNELS_MAX; a++) {
        if (!measured(v, a))
            continue;
        for (size_t b = 0; b < FREQUENCY_KERNELS_MAX; b++) {
            struct comparison c = compare(v, a, b);
            lead[a] += c.both ? c.relative / (double)c.both : 0;
        }
        size_t at = n++;
        for (; at > 0 && lead[order[at - 1]] < lead[a]; at--)
            order[at] = order[at - 1];
        order[at] = a;
    }
    return n;
}

/* Each kernel is compared with the first one of the level at hand, not with its neighbor: otherwise many small
 * differences would add up to none. */
static void levels_from_ratios(const struct view *v)
{
    size_t order[FREQUENCY_KERNELS_MAX];
    size_t n = rank_kernels(v, order), first = 0;
    int level = 0;
    for (size_t i = 0; i < n; i++) {
        struct comparison c = compare(v, order[first], order[i]);
        int same_level = one_level(&c);
        if (i == 0 && same_level < 0 && n > 1) { /* wide limits of its own: what the next one shows counts */
            struct comparison next = compare(v, order[0], order[1]);
            same_level = one_level(&next) < 0 ? -1 : 1;
        }
        if (same_level < 0)
            return; /* slower kernels may be of one level more */
        if (!same_level) {
            level++;
            first = i;
        }
        for (size_t p = v->first[order[i]]; p < v->first[order[i] + 1]; p++)
            v->points[p].level = level;
    }
}

static bool has_ratios(const struct view *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (!isfinite(v->points[i].ratio))
            return false;
    return true;
}

/* ---- groups of active cores ---- */

/* Sets first and last of a kernel's points. */
static void group_kernel(struct point *p, size_t n)
{
    size_t first = 0;
    double sum = 0;
    for (size_t i = 0; i <= n; i++) {
        double mean = i > first ? sum / (double)(i - first) : 0;
        if (i == n || (i > first && !estimates_frequency_same(mean, p[i - 1].half_width, p[i].ghz, p[i].half_width))) {
            for (size_t k = first; k < i; k++) {
                p[k].first = p[first].cores;
                p[k].last = p[i - 1].cores;
            }
            first = i;
            sum = 0;
        }
        if (i < n)
            sum += p[i].ghz;
    }
}

/* True if some kernel's group ends between two neighboring numbers of cores. */
static bool ends_between(const struct view *v, unsigned before, unsigned after)
{
    for (size_t i = 1; i < v->n; i++) {
        const struct point *a = &v->points[i - 1], *b = &v->points[i];
        if (a->kernel == b->kernel && a->cores <= before && b->cores >= after && a->last != b->last)
            return true;
    }
    return false;
}

static int common_groups(const struct view *v, struct levels *out)
{
    unsigned *cores = calloc(v->n, sizeof *cores);
    size_t n = 0;
    out->groups = calloc(v->n, sizeof *out->groups);
    if (!cores || !out->groups) {
        free(cores);
        return -1;
    }
    for (size_t i = 0; i < v->n; i++)
        cores[i] = v->points[i].cores;
    qsort(cores, v->n, sizeof *cores, order_unsigned);
    for (size_t i = 0; i < v->n; i++)
        if (n == 0 || cores[i] != cores[n - 1])
            cores[n++] = cores[i];
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || ends_between(v, cores[i - 1], cores[i]))
            out->groups[out->n_groups++].first = cores[i];
        out->groups[out->n_groups - 1].last = cores[i];
    }
    free(cores);
    return 0;
}

/*
 * Finds levels and groups of n points, which it reorders by kernel, then by cores. Returns 0, or -1: out of memory.
 *
 * Levels: where every point has a share above one half of one level, that one. Otherwise from the ratios, which a
 * clock that floats does not disturb: two kernels are of one level when their ratios are the same at all numbers of
 * active cores at which both were measured, so that a kernel has one level, whatever the number of cores; levels are
 * numbered from 0 in falling order. Where the limits of one kernel leave open whether it has a level of its own, it and
 * the slower ones have none. Since many are compared, two differ whose differences are on average larger than
 * FREQUENCY_SAME and 2.5 times their limits, or one of them larger than FREQUENCY_UNSTEADY and that; they are one where
 * the average stays within 1.5 FREQUENCY_SAME by its limits. What the first kernel's own limits are is the null's.
 *
 * A frequency floats when more than a quarter of the measurements taken again do not give the same, or when more than a
 * quarter are not steady themselves (their rounds differ, FREQUENCY_UNSTEADY). On a processor with fixed steps none of
 * this happens but by disturbance.
 *
 * Groups: neighboring numbers of active cores at which a kernel's frequency is the same as the mean of those before
 * them in the group; over all kernels the groups end where that of any kernel does.
 */
static int analyse(struct point *points, size_t n, const struct again *again, size_t n_again, struct levels *out)
{
    struct view v;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < n; i++) {
        points[i].level = -1;
        points[i].first = points[i].last = 0;
    }
    look(&v, points, n);
    judge(&v, again, n_again, out);
    bool steps = out->verdict == FREQUENCY_STEPS || out->verdict == FREQUENCY_ALIKE;
    out->counted = take_counted_levels(&v);
    if (!out->counted && has_ratios(&v))
        levels_from_ratios(&v);
    for (size_t i = 0; i < n; i++)
        if (points[i].level >= (int)out->n_levels)
            out->n_levels = (size_t)points[i].level + 1;
    if (!steps)
        return 0;
    for (size_t k = 0; k < FREQUENCY_KERNELS_MAX; k++)
        if (measured(&v, k))
            group_kernel(points + v.first[k], v.first[k + 1] - v.first[k]);
    return common_groups(&v, out);
}

/* ---- settings ---- */

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
    struct point *points; /* room for all rows */
    struct again *again;  /* room for all details */
    const char *kernels[FREQUENCY_KERNELS_MAX];
};

/* The number of a kernel; FREQUENCY_KERNELS_MAX where there is no room for another one. */
static size_t kernel_number(struct seen *s, const char *name)
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
    size_t k = kernel ? kernel_number(s, kernel) : FREQUENCY_KERNELS_MAX;
    if (k == FREQUENCY_KERNELS_MAX || !isfinite(ghz.value))
        return;
    s->points[s->n++] = (struct point){
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
            s->again[s->n_again++] = (struct again){before.value, ghz, estimate_half(&before), half};
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

static double moved_by(const struct again *again, size_t n)
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

static void put_point(struct table *t, const struct point *p, const struct levels *l)
{
    char group[40];
    if (p->level >= 0) {
        table_set_number(t, p->row, "level", p->level);
        table_set_text(t, p->row, "level_source", l->counted ? "counters" : "ratio");
    }
    group_text(p->first, p->last, group, sizeof group);
    table_set_text(t, p->row, "group", p->first ? group : "no steps");
}

static void put_groups(struct table *t, int cpu, const struct levels *l)
{
    char text[1000] = "", group[40];
    for (size_t i = 0; i < l->n_groups && strlen(text) + 30 < sizeof text; i++) {
        group_text(l->groups[i].first, l->groups[i].last, group, sizeof group);
        text_list_add(text, sizeof text, ", ", "%s", group);
    }
    set_setting(t, "groups", cpu, text[0] ? text : "no steps");
}

static void put_verdict(struct table *t, int cpu, const struct levels *l)
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
static void widen(struct table *t, size_t row, const char *column, double by)
{
    struct estimate e = estimates_of_table(t, row, column);
    if (!estimates_known(&e))
        return;
    e.lo = fmin(e.lo, e.value - by * fabs(e.value));
    e.hi = fmax(e.hi, e.value + by * fabs(e.value));
    estimates_set(t, row, column, e);
}

/*
 * Widens limits where the frequency floats: those of some rounds hold only for the seconds in which they were made: on
 * a Granite Rapids guest 3.493 [3.488, 3.499] GHz were 3.394 [3.393, 3.395] a minute later. So they become as wide as
 * it moves from one measurement to the next (two of them differ by sqrt(2) as much as either from the mean).
 */
static void widen_floating(struct table *t, int cpu, double between)
{
    char percent[40];
    snprintf(percent, sizeof percent, "%.3g", 100 * between);
    set_setting(t, FREQUENCY_MOVES, cpu, percent);
    for (size_t row = 0; row < t->n_rows; row++) {
        if ((int)table_number(t, row, "cpu") != cpu)
            continue;
        widen(t, row, "freq_ghz", between * M_SQRT1_2);
        widen(t, row, "ipc", between * M_SQRT1_2); /* who moves the clock is on the core, too, now and then */
    }
}

static int conclude_cpu(struct table *t, int cpu)
{
    struct seen s = {0};
    struct levels levels;
    s.points = calloc(t->n_rows + 1, sizeof *s.points);
    int bad = !s.points || take_all_again(t, cpu, &s) ? -1 : 0;
    if (!bad) {
        take_rows(t, cpu, &s);
        bad = analyse(s.points, s.n, s.again, s.n_again, &levels);
    }
    if (!bad) {
        for (size_t i = 0; i < s.n; i++)
            put_point(t, &s.points[i], &levels);
        put_verdict(t, cpu, &levels);
        if (levels.verdict == FREQUENCY_FLOATS)
            widen_floating(t, cpu, moved_by(s.again, s.n_again));
        free(levels.groups);
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

/*
 * The priority of a CPU where turbo is by priority, which no read-only command states: code without AVX that is surely
 * above the clip of low priority by half a step is of high priority; a CPU is of low priority if such code runs at the
 * clip whatever the number of active cores, of several. NULL: neither.
 */
static const char *priority_of(const struct table *t, int cpu)
{
    const char *on = table_setting(t, BY_PRIORITY), *low = table_setting(t, LOW_PRIORITY);
    const double half_step = CLOCK_STEP_GHZ / 2;
    size_t above = 0, at = 0, all = 0;
    double clip;
    if (!on || strcmp(on, "on") != 0 || !low || sscanf(low, "non-AVX %lf", &clip) != 1)
        return NULL;
    for (size_t row = 0; row < t->n_rows; row++) {
        struct estimate ghz = estimates_of_table(t, row, "freq_ghz");
        if ((int)table_number(t, row, "cpu") != cpu || table_number(t, row, "level") != 0 || !estimates_known(&ghz))
            continue;
        all++;
        above += ghz.lo > clip + half_step;
        at += ghz.lo > clip - half_step && ghz.hi < clip + half_step;
    }
    return above > 0 ? "high" : all > 1 && at == all ? "low" : NULL;
}

static void put_what_is_known(struct table *t)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        int cpu = (int)table_number(t, row, "cpu");
        const char *core = frequency_core(t, cpu), *priority = priority_of(t, cpu);
        if (core && *core)
            table_set_text(t, row, "core", core);
        if (priority)
            table_set_text(t, row, "priority", priority);
        table_set_number(
            t, row, "turbo_limit_ghz",
            frequency_ranges_value(frequency_limits(t, cpu), (unsigned)table_number(t, row, "active_cores")));
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
