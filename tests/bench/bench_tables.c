/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long each table takes: all of it on the model of a 16-core server, where the simulation and the analysis are what
 * is timed, and with brief settings on this processor by time stamps, where the measurement is. Beside it, what the
 * table itself expects of silicon with the same settings, and that as a ratio.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tables/table/tables.h"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double expected(const struct table_kind *k, struct machine *m, const struct tables_options *o, size_t *n)
{
    struct cells cells;
    struct machine_error error;
    double sum = 0;
    *n = 0;
    if (tables_plan(k, m, o, &cells, &error) != MACHINE_OK)
        return 0;
    for (size_t i = 0; i < cells.n; i++)
        sum += cells.cell[i].seconds;
    *n = cells.n;
    tables_free_cells(&cells);
    return sum;
}

static void time_table(const struct table_kind *k, struct machine *m, const struct tables_options *o, double *total)
{
    struct table t;
    struct machine_error error;
    size_t cells;
    double native = expected(k, m, o, &cells), begin = seconds();
    memset(&error, 0, sizeof(error));
    if (tables_measure(k, m, o, NULL, NULL, &t, &error) != MACHINE_OK) {
        printf("  %-12s failed: %s\n", k->name, error.text);
        return;
    }
    double took = seconds() - begin;
    *total += took;
    printf("  %-12s %5zu cells %6zu rows %8.2f s", k->name, cells, t.n_rows, took);
    if (native > 0)
        printf("   %6.2f of the %.1f s expected of silicon", took / native, native);
    putchar('\n');
    (void)fflush(stdout);
    table_free(&t);
}

static void time_all(const char *spec, bool brief)
{
    struct machine machine;
    struct machine_error error;
    struct tables_options options;
    char report[1000];
    double total = 0;
    size_t n;
    const struct table_kind *const *kinds = tables_all(&n);
    memset(&error, 0, sizeof(error));
    printf("tables on %s%s\n", spec, brief ? ", brief" : "");
    if (machine_open(spec, NULL, &machine, report, sizeof(report), &error) != MACHINE_OK) {
        printf("  not timed: %s\n", error.text);
        return;
    }
    tables_options_default(&options);
    options.brief = brief;
    for (size_t i = 0; i < n; i++)
        time_table(kinds[i], &machine, &options, &total);
    printf("  %-12s %30s %8.2f s\n", "all", "", total);
    machine.ops->close(&machine);
}

int main(void)
{
    time_all("model:xeon-gold-6130", false);
    time_all("timing", true);
    return 0;
}
