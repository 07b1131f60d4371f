/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds what is remarkable about a measurement. */
#include "output/validate/validate.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tables/cores/cores.h"
#include "tables/frequency/frequency.h"
#include "tables/table/estimates.h"
#include "util/json_lines.h"
#include "util/text_list.h"

#define HALF_STEP_GHZ (CLOCK_STEP_GHZ / 2) /* by which counters and clock may differ */
/* Bytes of a finding and of a list in it; groups of cores and license levels, at most. */
enum { TEXT_MAX = 400, LIST_MAX = 200, GROUPS_MAX = 64, LEVELS_MAX = 8 };

static const char *const kind_names[FINDING_KINDS] = {
    "counts nothing", "not as documented", "no level",      "core differs",
    "no transition",  "level and clock",   "contradiction",
};

/* Where findings go. */
struct findings {
    json_t *list;
    bool failed;
};

__attribute__((format(printf, 4, 5))) static void find(struct findings *f, enum finding_kind kind, const char *table,
                                                       const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_t *o = json_object();
    json_lines_put_text(o, "kind", kind_names[kind], &f->failed);
    json_lines_put_text(o, "table", table, &f->failed);
    json_lines_put_text(o, "text", text, &f->failed);
    json_lines_push(f->list, o, &f->failed);
}

/* ---- umasks ---- */

static bool first_of_its_umask(const struct table *t, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (table_same(t, i, row, "event") && table_same(t, i, row, "umask"))
            return false;
    return true;
}

/* One finding for all umasks of the event of `row` that nobody documents and that count nothing, at the first. */
static void find_silent(struct findings *f, const struct table *t, size_t row)
{
    char list[LIST_MAX] = "";
    size_t n = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        if (!table_same(t, i, row, "event") || !first_of_its_umask(t, i) || !table_says(t, i, "reading", "nothing") ||
            !table_says(t, i, "documented", "not documented"))
            continue;
        if (n++ == 0 && i != row)
            return;
        text_list_add(list, sizeof list, ", ", "%02XH", (unsigned)table_number(t, i, "umask"));
    }
    if (n)
        find(f, FINDING_COUNTS_NOTHING, t->name, "umask%s %s of event %02XH count%s nothing here", n > 1 ? "s" : "",
             list, (unsigned)table_number(t, row, "event"), n > 1 ? "" : "s");
}

static void find_umasks(struct findings *f, const struct table *t)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *documented = table_text(t, row, "documented"), *disagrees = table_text(t, row, "disagrees");
        bool named = documented && strcmp(documented, "not documented") != 0;
        unsigned umask = (unsigned)table_number(t, row, "umask"), event = (unsigned)table_number(t, row, "event");
        if (!first_of_its_umask(t, row))
            continue;
        if (!named)
            find_silent(f, t, row);
        else if (table_says(t, row, "reading", "nothing"))
            find(f, FINDING_COUNTS_NOTHING, t->name, "umask %02XH of event %02XH counts nothing here (documented: %s)",
                 umask, event, documented);
        else if (disagrees && *disagrees && strcmp(disagrees, "no") != 0)
            find(f, FINDING_UNDOCUMENTED, t->name, "umask %02XH of event %02XH: %s (documented: %s)", umask, event,
                 disagrees, documented);
    }
}

/* ---- levels ---- */

/* Code that has a level of its own on some processor: heavy 256-bit code, all that is wider. */
static bool may_request(const char *name)
{
    struct payload p;
    return name && kernel_parse(name, &p, NULL, 0) == 0 &&
           (p.kernel->width > 256 || (p.kernel->width == 256 && p.kernel->weight == KERNEL_HEAVY));
}

/* The level of a kernel in all its rows of table frequency; -1: unknown, or not one. */
static int level_of(const struct table *t, const char *kernel)
{
    double level = NAN;
    for (size_t row = 0; row < t->n_rows; row++) {
        double here = table_number(t, row, "level");
        if (!table_says(t, row, "kernel", kernel) || isnan(here))
            continue;
        if (!isnan(level) && here != level)
            return -1;
        level = here;
    }
    return isnan(level) ? -1 : (int)level;
}

static void find_no_level(struct findings *f, const struct table *t)
{
    char list[LIST_MAX] = "";
    size_t n = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *kernel = table_text(t, row, "kernel");
        if (!may_request(kernel) || table_find(t, "kernel", kernel) != row || level_of(t, kernel) != 0)
            continue;
        text_list_add(list, sizeof list, ", ", "%s", kernel);
        n++;
    }
    if (n)
        find(f, FINDING_NO_LEVEL, t->name, "%s request%s no level", list, n > 1 ? "" : "s");
}

/* Frequencies of the rows that counters put on two levels, or on one, wherever the rest is the same. */
struct level_pairs {
    size_t n, same;    /* pairs of rows, and those at one frequency */
    double farthest;   /* GHz */
    size_t one, other; /* rows of that pair */
};

static struct level_pairs compare_levels(const struct table *t, double a, double b)
{
    struct level_pairs p = {.farthest = -1};
    for (size_t i = 0; i < t->n_rows; i++) {
        for (size_t k = 0; k < t->n_rows; k++) {
            struct estimate e = estimates_of_table(t, i, "freq_ghz"), g = estimates_of_table(t, k, "freq_ghz");
            if ((a == b && k <= i) || table_number(t, i, "level") != a || table_number(t, k, "level") != b ||
                !table_says(t, i, "level_source", "counters") || !table_same(t, i, k, "cpu") ||
                !table_same(t, i, k, "active_cores") || !estimates_known(&e) || !estimates_known(&g))
                continue;
            double apart = fabs(e.value - g.value);
            bool surely = estimates_above(&e, &g) || estimates_above(&g, &e);
            p.n++;
            p.same += !surely || apart < HALF_STEP_GHZ;
            if (surely && apart > p.farthest) {
                p.farthest = apart;
                p.one = i;
                p.other = k;
            }
        }
    }
    return p;
}

/* Returns true if two kernels surely differ the same way with most of the numbers of active cores with which both ran:
 * a difference that a power limit or a moving clock makes once is no level. */
static bool mostly_apart(const struct table *t, size_t one, size_t other)
{
    size_t both = 0, above = 0, below = 0;
    for (size_t i = 0; i < t->n_rows; i++)
        for (size_t k = 0; k < t->n_rows; k++) {
            struct estimate e = estimates_of_table(t, i, "freq_ghz"), g = estimates_of_table(t, k, "freq_ghz");
            if (!table_same(t, i, one, "kernel") || !table_same(t, k, other, "kernel") ||
                !table_same(t, i, k, "active_cores") || !table_same(t, i, one, "cpu") || !table_same(t, k, one, "cpu"))
                continue;
            both++;
            above += estimates_above(&e, &g) && e.value - g.value >= HALF_STEP_GHZ;
            below += estimates_above(&g, &e) && g.value - e.value >= HALF_STEP_GHZ;
        }
    return 2 * above > both || 2 * below > both;
}

static void find_levels_and_clock(struct findings *f, const struct table *t)
{
    double levels[LEVELS_MAX];
    char why[SUPPORT_WHY_MAX];
    if (estimates_floats(t, -1, why))
        return;
    size_t n = table_numbers(t, "level", levels, LEVELS_MAX);
    char cores[ESTIMATE_TEXT_MAX];
    for (size_t i = 0; i < n; i++) {
        struct level_pairs own = compare_levels(t, levels[i], levels[i]);
        if (own.farthest >= HALF_STEP_GHZ && mostly_apart(t, own.one, own.other))
            find(f, FINDING_LEVEL_AND_CLOCK, t->name,
                 "counters put %s and %s on one level, %.0f; the clock runs at %.3f and %.3f GHz, with %s",
                 table_text(t, own.one, "kernel"), table_text(t, own.other, "kernel"), levels[i],
                 table_number(t, own.one, "freq_ghz"), table_number(t, own.other, "freq_ghz"),
                 estimates_cores_of(t, own.one, cores));
        struct level_pairs next = i + 1 < n ? compare_levels(t, levels[i], levels[i + 1]) : (struct level_pairs){0};
        if (next.n && next.same == next.n)
            find(f, FINDING_LEVEL_AND_CLOCK, t->name,
                 "counters tell levels %.0f and %.0f apart; the clock runs alike at both, with every number of active "
                 "cores measured",
                 levels[i], levels[i + 1]);
    }
}

/* ---- transitions ---- */

/* The highest level that the SKU's figures name, or the processor itself; 0: they name none. */
static double levels_listed(const struct sku *sku, const struct table *frequency)
{
    double most = 0;
    for (size_t i = 0; i < sku->n_figures; i++)
        if (sku->figures[i].published && strcmp(sku->figures[i].column, "level") == 0)
            most = fmax(most, sku->figures[i].hi);
    if (frequency && most == 0)
        for (size_t i = 0; i < frequency->n_settings; i++)
            most += frequency_limits_of(frequency, i) != NULL &&
                    frequency_ranges_value(frequency->settings[i].value, 1) > 0;
    return most;
}

static void find_no_transition(struct findings *f, const struct sku *sku, const struct table *t,
                               const struct table *frequency)
{
    double listed = levels_listed(sku, frequency);
    size_t between = t->n_rows; /* a pair of kernels that are at different levels */
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
        if (!table_says(t, row, "kind", "none") && !table_says(t, row, "kind", "throttle only"))
            return;
        if (frequency && from && to && between == t->n_rows) {
            int a = level_of(frequency, from), b = level_of(frequency, to);
            between = a >= 0 && b >= 0 && a != b ? row : between;
        }
    }
    if (between < t->n_rows)
        find(f, FINDING_NO_TRANSITION, t->name,
             "no transition in any of %zu rows, though table frequency has %s at level %d and %s at level %d",
             t->n_rows, table_text(t, between, "from"), level_of(frequency, table_text(t, between, "from")),
             table_text(t, between, "to"), level_of(frequency, table_text(t, between, "to")));
    else if (t->n_rows && listed > 0)
        find(f, FINDING_NO_TRANSITION, t->name, "no transition in any of %zu rows, where %.0f levels are listed",
             t->n_rows, listed + 1);
}

/* ---- cores ---- */

/* CPUs of a group of a kernel, and the mean of their frequencies. */
struct core_group {
    size_t n;
    double sum;
    char list[LIST_MAX];
};

/* CPUs that are unlike the others: while running these kernels. */
struct odd_cores {
    size_t n, others;
    double least, most; /* by how many MHz; below 0: slower */
    char list[LIST_MAX], kernels[LIST_MAX];
};

struct all_odd {
    size_t n;
    struct odd_cores of[GROUPS_MAX];
};

/* The same CPUs, faster or slower, are said once, whatever they run. */
static void add_odd(struct all_odd *all, const struct core_group *g, double mhz, size_t others, const char *kernel)
{
    size_t i = 0;
    while (i < all->n && (strcmp(all->of[i].list, g->list) != 0 || (all->of[i].most > 0) != (mhz > 0)))
        i++;
    if (i == GROUPS_MAX)
        return;
    struct odd_cores *o = &all->of[i];
    if (i == all->n) {
        all->n++;
        *o = (struct odd_cores){.n = g->n, .others = others, .least = mhz, .most = mhz};
        memcpy(o->list, g->list, sizeof o->list);
    }
    o->others = others < o->others ? others : o->others;
    o->least = fabs(mhz) < fabs(o->least) ? mhz : o->least;
    o->most = fabs(mhz) > fabs(o->most) ? mhz : o->most;
    text_list_add(o->kernels, sizeof o->kernels, ", ", "%s", kernel);
}

static void add_odd_of(struct all_odd *all, const struct table *t, const char *kernel)
{
    struct core_group groups[GROUPS_MAX] = {0};
    size_t most = 0;
    for (size_t row = cores_row_of(t, kernel, 0); row < t->n_rows; row = cores_row_of(t, kernel, row + 1)) {
        double group = table_number(t, row, "group");
        if (!(group >= 1 && group < GROUPS_MAX))
            continue;
        struct core_group *g = &groups[(size_t)group];
        g->n++;
        g->sum += table_number(t, row, "freq_ghz");
        text_list_add(g->list, sizeof g->list, ", ", "%.0f", table_number(t, row, "cpu"));
        most = g->n > groups[most].n ? (size_t)group : most;
    }
    for (size_t i = 1; i < GROUPS_MAX; i++)
        if (groups[i].n && i != most)
            add_odd(all, &groups[i],
                    1000 * (groups[i].sum / (double)groups[i].n - groups[most].sum / (double)groups[most].n),
                    groups[most].n, kernel);
}

static void find_cores(struct findings *f, const struct table *t)
{
    struct all_odd *all = calloc(1, sizeof *all);
    size_t row = 0;
    f->failed = f->failed || !all;
    for (const char *kernel; all && (kernel = cores_next_kernel(t, &row)) != NULL; row++)
        add_odd_of(all, t, kernel);
    for (size_t i = 0; all && i < all->n; i++) {
        const struct odd_cores *o = &all->of[i];
        char by[60];
        if (lround(o->least) == lround(o->most))
            snprintf(by, sizeof by, "%.0f", fabs(o->least));
        else
            snprintf(by, sizeof by, "%.0f to %.0f", fabs(o->least), fabs(o->most));
        find(f, FINDING_CORE_DIFFERS, t->name, "CPU%s %s: %s MHz %s than the %zu most alike, while running %s",
             o->n > 1 ? "s" : "", o->list, by, o->most > 0 ? "faster" : "slower", o->others, o->kernels);
    }
    free(all);
}

/* ---- all ---- */

static const struct table *table_named(const struct table *const *tables, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (tables[i]->name && strcmp(tables[i]->name, name) == 0)
            return tables[i];
    return NULL;
}

void findings_note(const struct sku *sku, const struct table *const *tables, size_t n, struct table *verdicts)
{
    struct findings f = {.list = json_array()};
    const struct table *frequency = table_named(tables, n, "frequency"), *umask = table_named(tables, n, "umask");
    const struct table *transitions = table_named(tables, n, "transitions"), *cores = table_named(tables, n, "cores");
    for (size_t i = 0; i < sku->n_figures; i++)
        if (sku->figures[i].contradicts[0])
            find(&f, FINDING_CONTRADICTION, sku->figures[i].table, "%.80s %s: %s", sku->figures[i].where,
                 sku->figures[i].column, sku->figures[i].contradicts);
    if (umask)
        find_umasks(&f, umask);
    if (frequency) {
        find_no_level(&f, frequency);
        find_levels_and_clock(&f, frequency);
    }
    if (transitions)
        find_no_transition(&f, sku, transitions, frequency);
    if (cores)
        find_cores(&f, cores);
    if (f.failed || !f.list || json_array_size(f.list) == 0) {
        verdicts->failed = verdicts->failed || f.failed || !f.list;
        json_decref(f.list);
        return;
    }
    table_set_detail_json(verdicts, "findings", f.list, 9);
}

size_t findings_each(const struct table *verdicts, void (*tell)(void *data, const char *kind, const char *text),
                     void *data)
{
    const char *detail = table_detail(verdicts, "findings");
    json_t *list = detail ? json_loads(detail, 0, NULL) : NULL;
    size_t n = 0, i;
    json_t *o;
    json_array_foreach(list, i, o)
    {
        const char *kind = json_string_value(json_object_get(o, "kind"));
        const char *text = json_string_value(json_object_get(o, "text"));
        if (!kind || !text)
            continue;
        n++;
        if (tell)
            tell(data, kind, text);
    }
    json_decref(list);
    return n;
}
