/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of frequencies as published ones are laid out: license levels by groups of active cores. Kernels that
 * differ from their level, and all of them where there are no steps, have rows of their own.
 */
#include "tables/frequency/frequency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/frequency/core_ranges.h"
#include "tables/table/estimates.h"
#include "tables/kinds.h"

enum { WIDTH = 100, LABEL = 22, FIELD = 8, COLUMNS_AT_ONCE = (WIDTH - LABEL) / FIELD };

/* What is shown of one CPU. */
struct sheet {
    const struct table *t;
    int cpu;
    size_t n_columns;
    struct frequency_group column[TABLES_CORES_MAX]; /* numbers of active cores */
    size_t n_kernels;
    const char *kernel[FREQUENCY_KERNELS_MAX];
    int level[FREQUENCY_KERNELS_MAX]; /* of each kernel; -1: not told, or not always the same */
};

static bool in_column(const struct sheet *s, size_t row, size_t column)
{
    double cores = table_number(s->t, row, "active_cores");
    return cores >= s->column[column].first && cores <= s->column[column].last;
}

/* The mean over the rows of a kernel in a column of what another column of the table says; NaN: there are none. */
static double frequency_print_mean_of(const struct sheet *s, size_t kernel, size_t column, const char *what)
{
    double sum = 0;
    size_t n = 0;
    for (size_t row = 0; row < s->t->n_rows; row++) {
        const char *name = table_text(s->t, row, "kernel");
        double value = table_number(s->t, row, what);
        if (!name || !isfinite(value) || (int)table_number(s->t, row, "cpu") != s->cpu || !in_column(s, row, column) ||
            strcmp(name, s->kernel[kernel]) != 0)
            continue;
        sum += value;
        n++;
    }
    return n ? sum / (double)n : NAN;
}

/* ---- what there is ---- */

static void take_kernel(struct sheet *s, size_t row)
{
    const char *name = table_text(s->t, row, "kernel");
    double level = table_number(s->t, row, "level");
    size_t k = 0;
    while (k < s->n_kernels && strcmp(s->kernel[k], name) != 0)
        k++;
    if (k == FREQUENCY_KERNELS_MAX)
        return;
    if (k == s->n_kernels) {
        s->kernel[s->n_kernels++] = name;
        s->level[k] = isfinite(level) ? (int)level : -1;
    } else if (!isfinite(level) || s->level[k] != (int)level) {
        s->level[k] = -1;
    }
}

static int by_first(const void *a, const void *b)
{
    const struct frequency_group *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void take_cores(struct sheet *s, unsigned cores)
{
    size_t i = 0;
    while (i < s->n_columns && s->column[i].first != cores)
        i++;
    if (i == s->n_columns && i < TABLES_CORES_MAX)
        s->column[s->n_columns++] = (struct frequency_group){cores, cores};
}

/* The groups that conclude() found: "1-2, 3-4, 5"; none where there are no steps. */
static size_t read_groups(const char *text, struct frequency_group *out, size_t max)
{
    size_t n = 0;
    for (const char *p = text; p && n < max && (p = core_range_read(p, &out[n])); p = *p ? p + 1 : NULL)
        n++;
    return n;
}

static void frequency_print_look(const struct table *t, int cpu, struct sheet *s)
{
    memset(s, 0, sizeof *s);
    s->t = t;
    s->cpu = cpu;
    for (size_t row = 0; row < t->n_rows; row++)
        if ((int)table_number(t, row, "cpu") == cpu && table_text(t, row, "kernel")) {
            take_kernel(s, row);
            take_cores(s, (unsigned)table_number(t, row, "active_cores"));
        }
    qsort(s->column, s->n_columns, sizeof *s->column, by_first);
    struct frequency_group groups[TABLES_CORES_MAX];
    size_t n = read_groups(frequency_setting(t, "groups", cpu), groups, TABLES_CORES_MAX);
    if (n) {
        memcpy(s->column, groups, n * sizeof *groups);
        s->n_columns = n;
    }
}

/* ---- levels ---- */

/* The frequency of a level in a column: the median of its kernels'. */
static double frequency_print_level_ghz(const struct sheet *s, int level, size_t column)
{
    double value[FREQUENCY_KERNELS_MAX];
    size_t n = 0;
    for (size_t k = 0; k < s->n_kernels; k++) {
        double ghz = s->level[k] == level ? frequency_print_mean_of(s, k, column, "freq_ghz") : NAN;
        size_t at = n;
        if (isnan(ghz))
            continue;
        for (; at > 0 && value[at - 1] > ghz; at--)
            value[at] = value[at - 1];
        value[at] = ghz;
        n++;
    }
    return n ? (value[(n - 1) / 2] + value[n / 2]) / 2 : NAN;
}

/* Whether a kernel runs at other frequencies than its level. */
static bool deviates(const struct sheet *s, size_t kernel)
{
    for (size_t c = 0; c < s->n_columns; c++) {
        double ghz = frequency_print_mean_of(s, kernel, c, "freq_ghz"),
               level = frequency_print_level_ghz(s, s->level[kernel], c);
        if (isfinite(ghz) && !frequency_same(ghz, NAN, level, NAN))
            return true;
    }
    return false;
}

/* ---- printing ---- */

static void frequency_print_value(FILE *out, double ghz, int decimals)
{
    if (isnan(ghz))
        fprintf(out, "%*s", FIELD, "-");
    else
        fprintf(out, "%*.*f", FIELD, decimals, ghz);
}

static void frequency_print_head(FILE *out, const struct sheet *s, size_t from, size_t to)
{
    char text[40];
    fprintf(out, "%-*s", LABEL, "active cores");
    for (size_t c = from; c < to; c++) {
        if (s->column[c].first == s->column[c].last)
            snprintf(text, sizeof text, "%u", s->column[c].first);
        else
            snprintf(text, sizeof text, "%u-%u", s->column[c].first, s->column[c].last);
        fprintf(out, "%*s", FIELD, text);
    }
    putc('\n', out);
}

static void frequency_print_levels(FILE *out, const struct sheet *s, size_t from, size_t to)
{
    for (int level = 0; level < 3 || level < (int)s->n_kernels; level++) {
        char label[20];
        bool any = false;
        for (size_t k = 0; k < s->n_kernels; k++)
            any = any || s->level[k] == level;
        if (!any)
            continue;
        snprintf(label, sizeof label, "L%d, GHz", level);
        fprintf(out, "%-*s", LABEL, label);
        for (size_t c = from; c < to; c++)
            frequency_print_value(out, frequency_print_level_ghz(s, level, c), 3);
        putc('\n', out);
    }
}

static void print_kernels(FILE *out, const struct sheet *s, size_t from, size_t to)
{
    for (size_t k = 0; k < s->n_kernels; k++) {
        if (s->level[k] >= 0 && !deviates(s, k))
            continue;
        fprintf(out, "%-*.*s", LABEL, LABEL - 1, s->kernel[k]);
        for (size_t c = from; c < to; c++)
            frequency_print_value(out, frequency_print_mean_of(s, k, c, "freq_ghz"), 3);
        putc('\n', out);
    }
}

/* One line of limits; a column with several numbers of cores gets one where all of them have the same. */
static void print_rated(FILE *out, const struct sheet *s, size_t from, size_t to, const char *name, const char *limits)
{
    char label[2 * LABEL];
    bool any = false;
    for (size_t c = from; c < to; c++)
        any = any || isfinite(core_ranges_value(limits, s->column[c].first));
    if (!any)
        return;
    snprintf(label, sizeof label, "rated, %s", name);
    fprintf(out, "%-*.*s", LABEL, LABEL - 1, label);
    for (size_t c = from; c < to; c++) {
        double ghz = core_ranges_value(limits, s->column[c].first);
        for (unsigned n = s->column[c].first + 1; n <= s->column[c].last; n++)
            ghz = core_ranges_value(limits, n) == ghz ? ghz : (double)NAN;
        frequency_print_value(out, ghz, 1);
    }
    putc('\n', out);
}

static void frequency_print_limits(FILE *out, const struct sheet *s, size_t from, size_t to)
{
    static const char of[] = TURBO_LIMITS_OF;
    print_rated(out, s, from, to, "non-AVX", frequency_limits(s->t, s->cpu));
    for (size_t i = 0; i < s->t->n_settings; i++)
        if (strncmp(s->t->settings[i].key, of, sizeof of - 1) == 0)
            print_rated(out, s, from, to, s->t->settings[i].key + sizeof of - 1, s->t->settings[i].value);
}

/* "L0 (license counters): 64add, 128or" */
static void print_members(FILE *out, const struct sheet *s)
{
    const char *source = NULL;
    for (size_t row = 0; row < s->t->n_rows && !source; row++)
        source = table_text(s->t, row, "level_source");
    for (int level = 0; level < 3 || level < (int)s->n_kernels; level++) {
        size_t column = 0, n = 0;
        for (size_t k = 0; k < s->n_kernels; k++) {
            if (s->level[k] != level)
                continue;
            if (n == 0)
                column = (size_t)fprintf(out, "L%d by %s:", level,
                                         source && *source == 'c' ? "license counters" : "frequency");
            else
                column += (size_t)fprintf(out, ",");
            if (column + strlen(s->kernel[k]) + 2 > WIDTH)
                column = (size_t)fprintf(out, "\n  ") - 1;
            column += (size_t)fprintf(out, " %s", s->kernel[k]);
            n++;
        }
        if (n)
            putc('\n', out);
    }
}

static void print_cpu(FILE *out, bool several, struct sheet *s)
{
    const char *steps = frequency_setting(s->t, "steps", s->cpu);
    char key[40];
    snprintf(key, sizeof key, "core of CPU %d", s->cpu);
    const char *core = table_setting(s->t, key);
    if (several)
        fprintf(out, "\nCPU %d%s%s%s\n", s->cpu, core ? " (" : "", core ? core : "", core ? ")" : "");
    if (steps && strcmp(steps, "steps") != 0)
        fprintf(out, "%c%s\n", steps[0] == 'n' ? 'N' : 'O', steps + 1);
    for (size_t from = 0; from < s->n_columns; from += COLUMNS_AT_ONCE) {
        size_t to = from + COLUMNS_AT_ONCE < s->n_columns ? from + COLUMNS_AT_ONCE : s->n_columns;
        if (from)
            putc('\n', out);
        frequency_print_head(out, s, from, to);
        frequency_print_levels(out, s, from, to);
        print_kernels(out, s, from, to);
        frequency_print_limits(out, s, from, to);
    }
    print_members(out, s);
}

void frequency_print(FILE *out, bool colour, const struct table *t)
{
    int cpus[MACHINE_CORE_KINDS_MAX];
    size_t n = frequency_cpus(t, cpus, MACHINE_CORE_KINDS_MAX);
    struct sheet *s = malloc(sizeof *s);
    table_print_head(out, colour, t, table_frequency.title);
    for (size_t i = 0; s && i < n; i++) {
        frequency_print_look(t, cpus[i], s);
        print_cpu(out, n > 1, s);
    }
    free(s);
    table_print_missing(out, colour, t);
}

/* ---- findings ---- */

/* The frequency of a kernel in a column: the mean of its rows, and the outermost of their limits. */
static struct estimate frequency_print_ghz_of(const struct sheet *s, size_t kernel, size_t column)
{
    struct estimate e = {frequency_print_mean_of(s, kernel, column, "freq_ghz"), INFINITY, -INFINITY};
    for (size_t row = 0; row < s->t->n_rows; row++) {
        struct estimate one = estimates_of_table(s->t, row, "freq_ghz");
        if (!table_says(s->t, row, "kernel", s->kernel[kernel]) || !isfinite(one.value) ||
            (int)table_number(s->t, row, "cpu") != s->cpu || !in_column(s, row, column))
            continue;
        e.lo = isnan(one.lo) ? one.lo : fmin(one.lo, e.lo);
        e.hi = isnan(one.hi) ? one.hi : fmax(one.hi, e.hi);
    }
    return e;
}

/* The fastest and the slowest kernel in a column; false: nothing was measured there. */
static bool frequency_print_extremes(const struct sheet *s, size_t column, size_t *fastest, size_t *slowest)
{
    struct estimate high = {-INFINITY, NAN, NAN}, low = {INFINITY, NAN, NAN};
    for (size_t k = 0; k < s->n_kernels; k++) {
        struct estimate e = frequency_print_ghz_of(s, k, column);
        if (isnan(e.value))
            continue;
        /* what is the same is not told apart: the first one named stands for it */
        if (isinf(high.value) || (e.value > high.value && !estimates_frequencies_agree(&e, &high))) {
            high = e;
            *fastest = k;
        }
        if (isinf(low.value) || (e.value < low.value && !estimates_frequencies_agree(&e, &low))) {
            low = e;
            *slowest = k;
        }
    }
    return isfinite(high.value);
}

/* What all kernels of a column lie within, by their limits. */
static struct estimate span_of(const struct sheet *s, size_t column)
{
    struct estimate span = frequency_print_ghz_of(s, 0, column);
    for (size_t k = 0; k < s->n_kernels; k++) {
        struct estimate e = frequency_print_ghz_of(s, k, column);
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
    size_t fast = 0, slow = 0, n = 0;
    char text[2][ESTIMATE_TEXT_MAX];
    if (!frequency_print_extremes(s, column, &fast, &slow))
        return false;
    unsigned cores = s->column[column].last;
    struct estimate high = frequency_print_ghz_of(s, fast, column), low = frequency_print_ghz_of(s, slow, column),
                    span = span_of(s, column);
    bool differ = fast != slow && estimates_above(&high, &low);
    for (size_t k = 0; k < s->n_kernels; k++)
        n += isfinite(frequency_print_mean_of(s, k, column, "freq_ghz"));
    fprintf(out, "With %u active core%s, ", cores, cores == 1 ? "" : "s");
    if (n == 1)
        fprintf(out, "%s runs at %s GHz.\n", s->kernel[fast], estimates_text(&high, 3, text[0]));
    else if (!differ)
        fprintf(out, "all %zu kernels%s run at %s GHz.\n", n, n < s->n_kernels ? " that were measured" : "",
                estimates_text(&span, 3, text[0]));
    else
        fprintf(out, "%s runs at %s GHz, %s at %s GHz: %.0f %% less.\n", s->kernel[slow],
                estimates_text(&low, 3, text[0]), s->kernel[fast], estimates_text(&high, 3, text[1]),
                100 * (1 - low.value / high.value));
    return differ;
}

/* With most cores active; where that makes no difference, also with fewer if it does there. */
static void print_cost(FILE *out, const struct sheet *s)
{
    if (!s->n_columns || print_column_cost(out, s, s->n_columns - 1))
        return;
    for (size_t c = 0, fast = 0, slow = 0; c + 1 < s->n_columns; c++)
        if (frequency_print_extremes(s, c, &fast, &slow) && fast != slow) {
            print_column_cost(out, s, c);
            return;
        }
}

/* Where the frequency moves by itself, two kernels that were measured one after the other cannot be compared. */
static void print_span(FILE *out, const struct sheet *s)
{
    double low = INFINITY, high = 0;
    for (size_t k = 0; k < s->n_kernels; k++)
        for (size_t c = 0; c < s->n_columns; c++) {
            struct estimate e = frequency_print_ghz_of(s, k, c);
            low = fmin(low, isfinite(e.lo) ? e.lo : e.value);
            high = fmax(high, isfinite(e.hi) ? e.hi : e.value);
        }
    if (high > 0)
        fprintf(out,
                "Frequencies ranged from %.2f to %.2f GHz (outermost 95 %% limits); nothing shows that the kernels "
                "caused this.\n",
                low, high);
}

static void print_kinds(FILE *out, const struct table *t, const int *cpus, size_t n, struct sheet *s)
{
    for (size_t i = 0; i < n && i < 4; i++) {
        char key[40], text[ESTIMATE_TEXT_MAX];
        frequency_print_look(t, cpus[i], s);
        snprintf(key, sizeof key, "core of CPU %d", cpus[i]);
        if (!s->n_columns || !s->n_kernels)
            continue;
        struct estimate ghz = frequency_print_ghz_of(s, 0, 0);
        fprintf(out, "%sCPU %d (%s) %s GHz", i ? ", " : "Running the first kernel alone: ", cpus[i],
                table_setting(t, key) ? table_setting(t, key) : "", estimates_text(&ghz, 3, text));
    }
    fputs(".\n", out);
}

void frequency_findings(FILE *out, const struct table *t)
{
    int cpus[MACHINE_CORE_KINDS_MAX];
    size_t n = frequency_cpus(t, cpus, MACHINE_CORE_KINDS_MAX);
    struct sheet *s = n ? malloc(sizeof *s) : NULL;
    if (!s)
        return;
    frequency_print_look(t, cpus[0], s);
    const char *steps = frequency_setting(t, "steps", cpus[0]), *groups = frequency_setting(t, "groups", cpus[0]);
    if (steps && steps[0] == 'n')
        print_span(out, s);
    else
        print_cost(out, s);
    if (steps && strcmp(steps, "steps") == 0 && groups)
        fprintf(out, "Groups of active cores that share a frequency: %s.\n", groups);
    else if (steps)
        fprintf(out, "%c%s.\n", steps[0] == 'n' ? 'N' : 'O', steps + 1);
    if (n > 1)
        print_kinds(out, t, cpus, n, s);
    free(s);
}
