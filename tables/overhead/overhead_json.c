/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies behind the figures of a cell: distributions, and repetitions that were left out. */
#include <math.h>

#include <jansson.h>

#include "tables/overhead/overhead.h"

#define BIN_US 0.5

/* Three decimals, and no -0.0. */
static json_t *real(double x)
{
    enum { DECIMALS = 1000 };
    return isfinite(x) ? json_real(round(x * DECIMALS) / DECIMALS + 0.0) : json_null();
}

/* Counts of what was kept, in bins of BIN_US from a multiple of it. */
static json_t *histogram(const struct overhead_costs *c)
{
    json_t *counts = json_array();
    const double *us = c->us + c->first;
    double first = c->spread.n ? floor(us[0] / BIN_US) : 0;
    for (size_t i = 0, bin = 0; i < c->spread.n; bin++) {
        size_t n = 0;
        while (i < c->spread.n && us[i] < (first + (double)bin + 1) * BIN_US) {
            i++;
            n++;
        }
        json_array_append_new(counts, json_integer((json_int_t)n));
    }
    return json_pack("{s:f,s:o,s:o}", "bin_us", BIN_US, "first_us", real(first * BIN_US), "counts", counts);
}

static json_t *direction(const struct overhead_costs *c)
{
    json_t *dropped = json_array();
    for (size_t i = 0; i < c->n_dropped; i++)
        json_array_append_new(dropped, json_pack("{s:s,s:i}", "why", c->dropped[i].why, "n", (int)c->dropped[i].n));
    return json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "n", (json_int_t)c->spread.n, "observe_us",
                     real(c->observe_us), "mean_us", real(c->spread.mean.value), "median_us", real(c->spread.median),
                     "p5_us", real(c->spread.p5), "p95_us", real(c->spread.p95), "histogram", histogram(c), "discarded",
                     dropped);
}

char *overhead_cell_json(const struct overhead_cell *c)
{
    json_t *cell = json_pack("{s:o,s:o}", "down", direction(&c->down), "drift_us", real(c->drift_us));
    if (cell && c->levels_differ && !c->moves[0])
        json_object_set_new(cell, "up", direction(&c->up));
    char *text = cell ? json_dumps(cell, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(cell);
    return text;
}
