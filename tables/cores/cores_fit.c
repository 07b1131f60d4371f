/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which cores are unlike the others: passes joined, throttling, groups; and the findings. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/cores/cores.h"
#include "tables/table/estimates.h"
#include "util/order.h"
#include "util/text_list.h"

size_t cores_row_of(const struct table *t, const char *kernel, size_t row)
{
    while (row < t->n_rows && !table_says(t, row, "kernel", kernel))
        row++;
    return row;
}

const char *cores_next_kernel(const struct table *t, size_t *row)
{
    for (; *row < t->n_rows; ++*row) {
        const char *kernel = table_text(t, *row, "kernel");
        if (kernel && cores_row_of(t, kernel, 0) == *row)
            return kernel;
    }
    return NULL;
}

/* Code throttles that loses this part of its rate at first: a switch alone costs half of that on an Emerald Rapids. */
#define THROTTLED 0.1

enum { JOINED = 2 };
static const char *const joined[JOINED] = {"freq_ghz", "first_rate"};

/* All passes of a row. */
struct cores_passes {
    double value[JOINED][CORES_PASSES_MOST];
    size_t n[JOINED];
};

static void cores_read_passes(const struct table *t, size_t row, struct cores_passes *p)
{
    char key[TABLES_CELL_ID_MAX + 24];
    for (size_t i = 0; i < JOINED; i++) {
        double first = table_number(t, row, joined[i]);
        p->value[i][0] = first;
        p->n[i] = isfinite(first);
    }
    for (unsigned pass = 1; pass < CORES_PASSES_MOST; pass++) {
        snprintf(key, sizeof key, CORES_AGAIN, pass, (int)table_number(t, row, "cpu"), table_text(t, row, "kernel"));
        const char *text = table_detail(t, key);
        json_t *j = text ? json_loads(text, 0, NULL) : NULL;
        for (size_t i = 0; i < JOINED; i++) {
            const json_t *value = json_array_get(json_object_get(j, joined[i]), 0);
            if (json_is_number(value) && p->n[i])
                p->value[i][p->n[i]++] = json_number_value(value);
        }
        json_decref(j);
    }
}

/* By how much, relative, single measurements of one core differ from their mean: half of the width of 95 % limits, over
 * all rows. NaN: nothing was measured twice. */
static void cores_repeatability(const struct table *t, double half[JOINED])
{
    double squares[JOINED] = {0}, freedom[JOINED] = {0};
    for (size_t row = 0; row < t->n_rows; row++) {
        struct cores_passes p;
        cores_read_passes(t, row, &p);
        for (size_t i = 0; i < JOINED; i++) {
            if (p.n[i] < 2)
                continue;
            double mean = gsl_stats_mean(p.value[i], 1, p.n[i]);
            double sd = gsl_stats_sd_m(p.value[i], 1, p.n[i], mean) / mean;
            squares[i] += sd * sd * (double)(p.n[i] - 1);
            freedom[i] += (double)(p.n[i] - 1);
        }
    }
    for (size_t i = 0; i < JOINED; i++)
        half[i] = freedom[i] > 0 ? gsl_cdf_tdist_Pinv(0.975, freedom[i]) * sqrt(squares[i] / freedom[i]) : NAN;
}

/* Limits so far from the value tell nothing. */
static void cores_put_limits(struct table *t, size_t row, const char *column, double value, double off)
{
    estimates_set(t, row, column, estimate_around(value, off < 0.5 * value ? off : NAN));
}

static void cores_join(struct table *t, size_t row, const double half[JOINED])
{
    struct cores_passes p;
    cores_read_passes(t, row, &p);
    for (size_t i = 0; i < JOINED; i++) {
        struct estimate e = estimates_of_table(t, row, joined[i]);
        double mean = p.n[i] ? gsl_stats_mean(p.value[i], 1, p.n[i]) : NAN;
        double off = p.n[i] > 1 && estimates_known(&e) ? fmax(half[i] * mean, estimate_half(&e)) : NAN;
        cores_put_limits(t, row, joined[i], mean, off);
    }
    struct estimate all = estimates_of_table(t, row, "freq_all_ghz");
    cores_put_limits(t, row, "freq_all_ghz", all.value,
                     estimates_known(&all) ? fmax(half[0] * all.value, estimate_half(&all)) : NAN);
    struct estimate first = estimates_of_table(t, row, "first_rate");
    if (first.hi < 1 - THROTTLED || first.lo > 1 - THROTTLED)
        table_set_text(t, row, "throttle", first.hi < 1 - THROTTLED ? "yes" : "no");
}

/* A core's frequency, to be ordered from the fastest. */
struct core_speed {
    struct estimate ghz; /* first, for order_double_descending() */
    size_t row;
};

static void cores_group(struct table *t, const char *kernel, struct core_speed *list)
{
    size_t n = 0;
    unsigned group = 1;
    for (size_t row = cores_row_of(t, kernel, 0); row < t->n_rows; row = cores_row_of(t, kernel, row + 1)) {
        struct estimate ghz = estimates_of_table(t, row, "freq_ghz");
        if (estimates_known(&ghz))
            list[n++] = (struct core_speed){ghz, row};
    }
    qsort(list, n, sizeof *list, order_double_descending);
    for (size_t i = 0; i < n; i++) {
        group += i > 0 && !estimates_frequencies_agree(&list[i].ghz, &list[i - 1].ghz);
        table_set_number(t, list[i].row, "group", group);
    }
}

int cores_conclude(struct table *t)
{
    struct core_speed *list = malloc((t->n_rows + 1) * sizeof *list);
    if (!list)
        return -1;
    double half[JOINED];
    cores_repeatability(t, half);
    for (size_t i = 0; i < t->n_rows; i++)
        cores_join(t, i, half);
    size_t row = 0;
    for (const char *kernel; (kernel = cores_next_kernel(t, &row)) != NULL; row++)
        cores_group(t, kernel, list);
    for (row = 0; row < t->n_rows; row++) {
        char key[40];
        snprintf(key, sizeof key, "core of CPU %.0f", table_number(t, row, "cpu"));
        const char *label = table_setting(t, key);
        if (label)
            table_set_text(t, row, "core", label);
    }
    free(list);
    return 0;
}

unsigned cores_groups(const struct table *t, const char *kernel)
{
    double most = 0;
    for (size_t row = cores_row_of(t, kernel, 0); row < t->n_rows; row = cores_row_of(t, kernel, row + 1))
        most = fmax(most, table_number(t, row, "group"));
    return (unsigned)most;
}

/* ---- findings ---- */

/* The CPUs of a group of a kernel, "0-3, 5", and the mean of their frequencies. Returns how many. */
static size_t cores_in_group(const struct table *t, const char *kernel, unsigned group, char *cpus, size_t size,
                             double *ghz)
{
    size_t n = 0;
    int first = -2, last = -2;
    *ghz = 0;
    cpus[0] = '\0';
    for (size_t row = cores_row_of(t, kernel, 0);; row = cores_row_of(t, kernel, row + 1)) {
        bool end = row >= t->n_rows;
        if (!end && table_number(t, row, "group") != group)
            continue;
        int cpu = end ? -1 : (int)table_number(t, row, "cpu");
        if (first >= 0 && cpu != last + 1) {
            text_list_add(cpus, size, ", ", first == last ? "%d" : "%d-%d", first, last);
            first = -2;
        }
        if (end)
            break;
        first = first < 0 ? cpu : first;
        last = cpu;
        *ghz += table_number(t, row, "freq_ghz");
        n++;
    }
    *ghz /= n ? (double)n : 1;
    return n;
}

static void tell_core_groups(FILE *out, const struct table *t, const char *kernel, unsigned groups)
{
    fprintf(out, "Running %s alone, cores differ:", kernel);
    for (unsigned g = 1; g <= groups && g <= 6; g++) {
        char cpus[200];
        double ghz;
        cores_in_group(t, kernel, g, cpus, sizeof cpus, &ghz);
        fprintf(out, "%s CPU %s %.2f GHz", g > 1 ? ";" : "", cpus, ghz);
    }
    fprintf(out, "%s.\n", groups > 6 ? "; and slower ones" : "");
}

static void tell_throttled(FILE *out, const struct table *t)
{
    char kernels[200] = "";
    size_t row = 0;
    for (const char *kernel; (kernel = cores_next_kernel(t, &row)) != NULL; row++) {
        size_t n = 0, of = 0;
        for (size_t i = row; i < t->n_rows; i = cores_row_of(t, kernel, i + 1)) {
            n += table_says(t, i, "throttle", "yes");
            of += table_text(t, i, "throttle") != NULL;
        }
        if (n)
            text_list_add(kernels, sizeof kernels, ", ", "%s on %zu of %zu cores", kernel, n, of);
    }
    if (kernels[0])
        fprintf(out, "Throttled at first, of the cores for which this is known: %s.\n", kernels);
}

void cores_findings(FILE *out, const struct table *t)
{
    size_t row = 0, told = 0, compared = 0;
    const char *kernel;
    for (size_t i = 0; i < t->n_rows; i++)
        compared += isfinite(table_number(t, i, "group")) && table_same(t, i, 0, "kernel");
    for (; told < 2 && (kernel = cores_next_kernel(t, &row)) != NULL; row++) {
        unsigned groups = cores_groups(t, kernel);
        if (groups > 1) {
            tell_core_groups(out, t, kernel, groups);
            told++;
        }
    }
    if (!told && compared > 1)
        fprintf(out, "No core is faster than another beyond their 95 %% limits.\n");
    tell_throttled(out, t);
}
