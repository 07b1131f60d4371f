/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of frequencies for a person, as published ones are laid out: license levels by groups of active cores.
 * Kernels that differ from their level, and all of them where there are no steps, have rows of their own.
 */
#include "tables/frequency/frequency.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "tables/table/pivot.h"
#include "util/order.h"
#include "util/text_list.h"

/* The part of the table that is shown of one CPU. */
struct sheet {
    const struct table *t;
    int cpu;
    size_t n_columns;
    struct frequency_group column[TABLES_CORES_MAX]; /* numbers of active cores */
    size_t n_kernels;
    const char *kernel[FREQUENCY_KERNELS_MAX];
    int level[FREQUENCY_KERNELS_MAX]; /* of each kernel; -1: unknown, or not always the same */
};

/* The frequency of a kernel in a column: the mean of its rows, and the outermost of their limits; NaN: it has none. */
static struct estimate sheet_ghz(const struct sheet *s, size_t kernel, size_t column)
{
    struct estimate e = {0, INFINITY, -INFINITY};
    size_t n = 0;
    for (size_t row = 0; row < s->t->n_rows; row++) {
        double cores = table_number(s->t, row, "active_cores");
        if (!table_says(s->t, row, "kernel", s->kernel[kernel]) || !isfinite(table_number(s->t, row, "freq_ghz")) ||
            (int)table_number(s->t, row, "cpu") != s->cpu ||
            !(cores >= s->column[column].first && cores <= s->column[column].last))
            continue;
        struct estimate one = estimates_of_table(s->t, row, "freq_ghz");
        e.lo = isnan(one.lo) ? one.lo : fmin(one.lo, e.lo);
        e.hi = isnan(one.hi) ? one.hi : fmax(one.hi, e.hi);
        e.value += one.value;
        n++;
    }
    e.value = n ? e.value / (double)n : NAN;
    return e;
}

/* ---- what there is ---- */

static void take_kernel(struct sheet *s, size_t row)
{
    const char *name = table_text(s->t, row, "kernel");
    double number = table_number(s->t, row, "level");
    int level = number >= 0 && number < FREQUENCY_KERNELS_MAX ? (int)number : -1;
    size_t k = 0;
    while (k < s->n_kernels && strcmp(s->kernel[k], name) != 0)
        k++;
    if (k == FREQUENCY_KERNELS_MAX)
        return;
    if (k == s->n_kernels) {
        s->kernel[s->n_kernels++] = name;
        s->level[k] = level;
    }
    s->level[k] = s->level[k] == level ? level : -1;
}

static void sheet_look(const struct table *t, int cpu, struct sheet *s)
{
    double cores[TABLES_CORES_MAX];
    memset(s, 0, sizeof *s);
    s->t = t;
    s->cpu = cpu;
    for (size_t row = 0; row < t->n_rows; row++)
        if ((int)table_number(t, row, "cpu") == cpu && table_text(t, row, "kernel"))
            take_kernel(s, row);
    s->n_columns = table_numbers(t, "active_cores", cores, TABLES_CORES_MAX);
    for (size_t i = 0; i < s->n_columns; i++)
        s->column[i] = (struct frequency_group){(unsigned)cores[i], (unsigned)cores[i]};
    /* the groups that conclude() found, "1-2, 3-4, 5", instead of single numbers; none where there are no steps */
    struct frequency_group group;
    size_t n = 0;
    for (const char *p = frequency_setting(t, "groups", cpu); p && n < TABLES_CORES_MAX; p = *p ? p + 1 : NULL) {
        if (!(p = frequency_range_read(p, &group)))
            break;
        s->column[n++] = group;
    }
    s->n_columns = n ? n : s->n_columns;
}

/* ---- levels ---- */

/* The next level above one that any kernel has; -1: none. */
static int next_level(const struct sheet *s, int level)
{
    int next = -1;
    for (size_t k = 0; k < s->n_kernels; k++)
        if (s->level[k] > level && (next < 0 || s->level[k] < next))
            next = s->level[k];
    return next;
}

/* The frequency of a level in a column: the median of its kernels'. */
static double level_ghz(const struct sheet *s, int level, size_t column)
{
    double value[FREQUENCY_KERNELS_MAX];
    size_t n = 0;
    for (size_t k = 0; k < s->n_kernels; k++) {
        double ghz = s->level[k] == level ? sheet_ghz(s, k, column).value : NAN;
        if (!isnan(ghz))
            value[n++] = ghz;
    }
    return order_median(value, n);
}

/* True if a kernel runs at other frequencies than its level. */
static bool deviates(const struct sheet *s, size_t kernel)
{
    for (size_t c = 0; c < s->n_columns; c++) {
        double ghz = sheet_ghz(s, kernel, c).value, level = level_ghz(s, s->level[kernel], c);
        if (isfinite(ghz) && !estimates_frequency_same(ghz, NAN, level, NAN))
            return true;
    }
    return false;
}

/* ---- printing ---- */

static void put_head(struct pivot *p, const struct sheet *s)
{
    pivot_line(p, PIVOT_HEADING);
    pivot_word(p, "active cores");
    for (size_t c = 0; c < s->n_columns; c++)
        if (s->column[c].first == s->column[c].last)
            pivot_text(p, "%u", s->column[c].first);
        else
            pivot_text(p, "%u-%u", s->column[c].first, s->column[c].last);
}

static void put_levels(struct pivot *p, const struct sheet *s)
{
    for (int level = next_level(s, -1); level >= 0; level = next_level(s, level)) {
        pivot_line(p, PIVOT_ROW);
        pivot_text(p, "L%d, GHz", level);
        for (size_t c = 0; c < s->n_columns; c++)
            pivot_number(p, level_ghz(s, level, c), 3);
    }
}

static void put_kernels(struct pivot *p, const struct sheet *s)
{
    for (size_t k = 0; k < s->n_kernels; k++) {
        if (s->level[k] >= 0 && !deviates(s, k))
            continue;
        pivot_line(p, PIVOT_ROW);
        pivot_word(p, s->kernel[k]);
        for (size_t c = 0; c < s->n_columns; c++)
            pivot_number(p, sheet_ghz(s, k, c).value, 3);
    }
}

/* A row of limits; a column with several numbers of cores gets one where all of them have the same. */
static void put_rated(struct pivot *p, const struct sheet *s, const char *name, const char *limits)
{
    bool any = false;
    for (size_t c = 0; c < s->n_columns; c++)
        any = any || isfinite(frequency_ranges_value(limits, s->column[c].first));
    if (!any)
        return;
    pivot_line(p, PIVOT_ASIDE);
    pivot_text(p, "rated, %s", name);
    for (size_t c = 0; c < s->n_columns; c++) {
        double ghz = frequency_ranges_value(limits, s->column[c].first);
        for (unsigned n = s->column[c].first + 1; n <= s->column[c].last; n++)
            ghz = frequency_ranges_value(limits, n) == ghz ? ghz : (double)NAN;
        pivot_number(p, ghz, 1);
    }
}

static void put_rated_limits(struct pivot *p, const struct sheet *s)
{
    put_rated(p, s, "non-AVX", frequency_limits(s->t, s->cpu));
    for (size_t i = 0; i < s->t->n_settings; i++)
        if (frequency_limits_of(s->t, i))
            put_rated(p, s, frequency_limits_of(s->t, i), s->t->settings[i].value);
}

/* "L0 by license counters:  64add, 128or" */
static void print_members(FILE *out, bool colour, const struct sheet *s)
{
    struct pivot p;
    const char *source = NULL;
    for (size_t row = 0; row < s->t->n_rows && !source; row++)
        source = table_text(s->t, row, "level_source");
    pivot_init(&p, 1, NULL);
    for (int level = next_level(s, -1); level >= 0; level = next_level(s, level)) {
        pivot_line(&p, PIVOT_ROW);
        pivot_text(&p, "L%d by %s:", level,
                   source && *source == 'c' ? "license counters"
                   : source                 ? source
                                            : "frequency");
        pivot_word(&p, "");
        for (size_t k = 0, n = 0; k < s->n_kernels; k++)
            if (s->level[k] == level)
                pivot_more(&p, "%s%s", n++ ? ", " : "", s->kernel[k]);
    }
    pivot_print(out, colour, &p);
}

static void print_cpu(FILE *out, bool colour, bool several, const struct sheet *s)
{
    const char *steps = frequency_setting(s->t, "steps", s->cpu);
    struct pivot p;
    const char *core = frequency_core(s->t, s->cpu);
    if (several) {
        putc('\n', out);
        pivot_note(out, 2, "CPU %d%s%s%s", s->cpu, core ? " (" : "", core ? core : "", core ? ")" : "");
    }
    if (steps && strcmp(steps, "steps") != 0)
        pivot_note(out, 2, "%c%s", toupper((unsigned char)steps[0]), steps + 1);
    pivot_init(&p, 1, NULL);
    put_head(&p, s);
    put_levels(&p, s);
    put_kernels(&p, s);
    put_rated_limits(&p, s);
    pivot_print(out, colour, &p);
    print_members(out, colour, s);
}

void frequency_print(FILE *out, bool colour, const struct table *t)
{
    int cpus[CORE_KINDS_MAX];
    size_t n = frequency_cpus(t, cpus, CORE_KINDS_MAX);
    struct sheet *s = malloc(sizeof *s);
    for (size_t i = 0; s && i < n; i++) {
        sheet_look(t, cpus[i], s);
        print_cpu(out, colour, n > 1, s);
    }
    free(s);
}

/* ---- the plot ---- */

enum { EMPTY_MARKS = 5 }; /* five marks from here on are outlines */

/* The level of a kernel on the CPU of row `of`; -1: none is known. */
static int level_in_rows(const struct table *t, size_t of, const char *kernel)
{
    double level = NAN;
    for (size_t row = of; row < t->n_rows; row++)
        if (table_same(t, of, row, "cpu") && table_says(t, row, "kernel", kernel) && table_holds(t, row, "level"))
            level = table_number(t, row, "level");
    return level >= 0 && level < FREQUENCY_KERNELS_MAX ? (int)level : -1;
}

/* Kernels of one level share colour, mark and one entry of the legend, "level 1: 256fma, 512or". */
static void join_levels(const struct table *t, size_t of, struct chart_panel *p)
{
    struct chart_series *first[FREQUENCY_KERNELS_MAX] = {NULL};
    for (size_t i = 0; i < p->n_series; i++) {
        struct chart_series *s = &p->series[i];
        const int level = level_in_rows(t, of, s->name);
        char text[2 * CHART_NAME_MAX + 20];
        if (level < 0)
            continue;
        s->colour = s->mark = level;
        if (first[level])
            snprintf(text, sizeof text, "%s, %s", first[level]->name, s->name);
        else
            snprintf(text, sizeof text, "level %d: %s", level, s->name);
        s->in_legend = !first[level];
        first[level] = first[level] ? first[level] : s;
        snprintf(first[level]->name, sizeof first[level]->name, "%.*s", CHART_NAME_MAX - 1, text);
    }
}

/* Limits that the processor states: faint, empty marks, one for each number of cores. limits NULL: those in the rows,
 * which are of the kind of core that was measured. */
static void rated_series(const struct table *t, size_t of, struct chart *c, struct chart_panel *p, const char *name,
                         const char *limits, int number)
{
    struct chart_series *s = NULL;
    for (size_t row = of; row < t->n_rows; row++) {
        double x = table_number(t, row, "active_cores");
        double y = limits ? frequency_ranges_value(limits, (unsigned)x) : table_number(t, row, "turbo_limit_ghz");
        bool drawn = !table_same(t, of, row, "cpu") || !isfinite(y);
        for (size_t i = 0; s && i < s->n && !drawn; i++)
            drawn = s->points[i].x == x && s->points[i].y == y;
        if (drawn)
            continue;
        s = chart_series(c, p, name);
        if (!s)
            return;
        chart_add_point(c, s, x, y, NAN, NAN);
    }
    if (s) {
        s->line = false;
        s->colour = CHART_MUTED;
        s->mark = EMPTY_MARKS + number % 5; /* measured points show through it */
        s->faint = true;
    }
}

static void finish_panel(const struct table *t, size_t of, struct chart *c, struct chart_panel *p)
{
    char name[100];
    int number = 0;
    if (c->n_panels > 1)
        snprintf(p->title, sizeof p->title, "CPU %.0f", table_number(t, of, "cpu"));
    else
        p->title[0] = '\0';
    join_levels(t, of, p);
    rated_series(t, of, c, p, "rated, non-AVX", NULL, number++);
    for (size_t i = 0; i < t->n_settings; i++)
        if (frequency_limits_of(t, i)) {
            snprintf(name, sizeof name, "rated, %.60s", frequency_limits_of(t, i));
            rated_series(t, of, c, p, name, t->settings[i].value, number++);
        }
}

void frequency_plot(const struct table *t, struct chart *c)
{
    size_t panel = 0; /* the pictures have made one for each CPU */
    for (size_t of = 0; of < t->n_rows && panel < c->n_panels; of++) {
        size_t before = 0;
        while (before < of && !table_same(t, before, of, "cpu"))
            before++;
        if (before == of && (!table_has(t, "cpu") || table_holds(t, of, "cpu")))
            finish_panel(t, of, c, &c->panels[panel++]);
    }
}

/* ---- findings ---- */

/* The fastest (sign 1) or slowest (-1) kernel in a column; of those that are the same, the first one. n_kernels:
 * nothing was measured there. */
static size_t extreme_of(const struct sheet *s, size_t column, double sign)
{
    size_t best = s->n_kernels;
    struct estimate most = {NAN, NAN, NAN};
    for (size_t k = 0; k < s->n_kernels; k++) {
        struct estimate e = sheet_ghz(s, k, column);
        if (isnan(e.value) ||
            (best < s->n_kernels && (sign * e.value <= sign * most.value || estimates_frequencies_agree(&e, &most))))
            continue;
        most = e;
        best = k;
    }
    return best;
}

/* The span of all kernels of a column, by their limits. */
static struct estimate span_of(const struct sheet *s, size_t column)
{
    struct estimate span = sheet_ghz(s, 0, column);
    for (size_t k = 0; k < s->n_kernels; k++) {
        struct estimate e = sheet_ghz(s, k, column);
        if (isnan(e.value))
            continue;
        span.value = isnan(span.value) ? e.value : span.value;
        span.lo = isnan(span.lo) || e.lo < span.lo ? e.lo : span.lo;
        span.hi = isnan(span.hi) || e.hi > span.hi ? e.hi : span.hi;
    }
    return span;
}

/* Returns whether kernels differ there. */
static bool print_column_cost(FILE *out, const struct sheet *s, size_t column)
{
    const size_t fast = extreme_of(s, column, 1), slow = extreme_of(s, column, -1);
    size_t n = 0;
    char text[2][ESTIMATE_TEXT_MAX];
    if (fast == s->n_kernels)
        return false;
    struct estimate high = sheet_ghz(s, fast, column), low = sheet_ghz(s, slow, column), span = span_of(s, column);
    bool differ = fast != slow && estimates_above(&high, &low);
    for (size_t k = 0; k < s->n_kernels; k++)
        n += isfinite(sheet_ghz(s, k, column).value);
    fprintf(out, "With %s, ", estimates_cores_text(s->column[column].last, text[0]));
    if (n == 1)
        fprintf(out, "%s runs at %s GHz.\n", s->kernel[fast], estimates_text(&high, 3, text[0]));
    else if (!differ) {
        if (n == 2)
            fputs("both", out);
        else
            fprintf(out, "all %zu", n);
        fprintf(out, " kernels%s run at %s GHz.\n", n < s->n_kernels ? " that were measured" : "",
                estimates_text(&span, 3, text[0]));
    } else
        fprintf(out, "%s runs at %s GHz, %s at %s GHz: %.0f %% less.\n", s->kernel[slow],
                estimates_text(&low, 3, text[0]), s->kernel[fast], estimates_text(&high, 3, text[1]),
                100 * (1 - low.value / high.value));
    return differ;
}

/* The share that kernels have of the first one's frequency, with most cores active: of those of a slower level, or
 * slower at an undecided one; or within what all have the same. */
static void print_ratios(FILE *out, const struct table *t, const struct sheet *s)
{
    char text[1000] = "", one[ESTIMATE_TEXT_MAX];
    unsigned cores = s->n_columns ? s->column[s->n_columns - 1].last : 0;
    double low = INFINITY, high = -INFINITY;
    bool open = false;
    for (size_t row = 0; row < t->n_rows; row++) {
        const struct estimate ratio = estimates_of_table(t, row, "ratio");
        if ((int)table_number(t, row, "cpu") != s->cpu || table_number(t, row, "active_cores") != cores)
            continue;
        low = fmin(low, ratio.lo);
        high = fmax(high, ratio.hi);
        const bool unknown = !table_holds(t, row, "level");
        open |= unknown;
        if ((unknown ? ratio.hi < 1 : table_number(t, row, "level") > 0) && strlen(text) + 100 < sizeof text)
            text_list_add(text, sizeof text, ", ", "%s at %s", table_text(t, row, "kernel"),
                          estimates_text(&ratio, 3, one));
    }
    if (text[0])
        fprintf(out, "With %s, of the frequency of %s: %s.\n", estimates_cores_text(cores, one), frequency_ratio_to(t),
                text);
    else if (high > 0)
        fprintf(out, "With %s, no kernel %s the frequency: all run at %.3f to %.3f of that of %s.\n",
                estimates_cores_text(cores, one), open ? "is shown to lower" : "lowers", low, high,
                frequency_ratio_to(t));
}

/* With most cores active; where that makes no difference, also with fewer if it does there. */
static void print_cost(FILE *out, const struct sheet *s)
{
    if (!s->n_columns || print_column_cost(out, s, s->n_columns - 1))
        return;
    for (size_t c = 0; c + 1 < s->n_columns; c++)
        if (extreme_of(s, c, 1) != extreme_of(s, c, -1)) {
            print_column_cost(out, s, c);
            return;
        }
}

/* Warns where the frequency moves by itself: two kernels that were measured one after the other cannot be compared. */
static void print_span(FILE *out, const struct sheet *s)
{
    double low = INFINITY, high = 0;
    for (size_t k = 0; k < s->n_kernels; k++)
        for (size_t c = 0; c < s->n_columns; c++) {
            struct estimate e = sheet_ghz(s, k, c);
            low = fmin(low, e.value);
            high = fmax(high, e.value);
        }
    if (high > 0)
        fprintf(out,
                "Frequencies from %.2f to %.2f GHz were seen; the data do not show that the "
                "kernels cause the difference.\n",
                low, high);
}

static void print_kinds(FILE *out, const struct table *t, const int *cpus, size_t n, struct sheet *s)
{
    size_t said = 0;
    for (size_t i = 0; i < n && i < 4; i++) {
        char text[ESTIMATE_TEXT_MAX];
        sheet_look(t, cpus[i], s);
        if (!s->n_columns || !s->n_kernels)
            continue;
        struct estimate ghz = sheet_ghz(s, 0, 0);
        const char *core = frequency_core(t, cpus[i]);
        bool known = core && *core;
        fprintf(out, "%sCPU %d%s%s%s %s GHz", said++ ? ", " : "Running the first kernel alone: ", cpus[i],
                known ? " (" : "", known ? core : "", known ? ")" : "", estimates_text(&ghz, 3, text));
    }
    if (said)
        fputs(".\n", out);
}

void frequency_findings(FILE *out, const struct table *t)
{
    int cpus[CORE_KINDS_MAX];
    size_t n = frequency_cpus(t, cpus, CORE_KINDS_MAX);
    struct sheet *s = n ? malloc(sizeof *s) : NULL;
    if (!s)
        return;
    sheet_look(t, cpus[0], s);
    const char *steps = frequency_setting(t, "steps", cpus[0]), *groups = frequency_setting(t, "groups", cpus[0]);
    if (steps && steps[0] == 'n')
        print_span(out, s);
    else if (steps && steps[0] == 'l')
        print_ratios(out, t, s);
    else
        print_cost(out, s);
    if (steps && strcmp(steps, "steps") == 0 && groups)
        fprintf(out, "Groups of active cores that share a frequency: %s.\n", groups);
    else if (steps)
        fprintf(out, "%c%s.\n", toupper((unsigned char)steps[0]), steps + 1);
    if (n > 1)
        print_kinds(out, t, cpus, n, s);
    free(s);
}
