/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/relaxation/relaxation_rig.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBSERVED 2.3 /* waits: twice one, and room to see the frequency after it */
#define OBSERVED_LEAST_US 60.0
#define GRID_PERIODS 0.05 /* of a wait: its beginning and its end are looked for some twenty times a sample */
enum { INVALID_MOST = 3 };

const char *const relaxation_what[] = {"wait", "rearm", "toggle"};

static int forget(struct relaxation_rig *r)
{
    trace_free(&r->trace);
    trace_init(&r->trace);
    r->n = 0;
    free(r->span);
    r->span = NULL;
    return sequence_trace(&r->sequence, &r->trace);
}

int relaxation_rig_record(struct relaxation_rig *r, const struct segment *segments, size_t n, size_t zero, size_t runs,
                          double done, struct machine_error *err)
{
    size_t tries = 0;
    if (forget(r) || !(r->span = malloc((runs + 1) * sizeof *r->span)))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (; r->n < runs && tries < INVALID_MOST * runs + 3; tries++) {
        struct sequence_run run;
        int status = sequence_record(&r->sequence, segments, n, zero, &r->trace, &run, err);
        if (status != MACHINE_OK)
            return status;
        if (tables_stop(r->context, done + (1 - done) * (double)r->n / (double)runs))
            return machine_fail(err, MACHINE_FAILED, "", "interrupted");
        if (run.invalid[0]) {
            r->invalid++;
            memcpy(r->invalid_why, run.invalid, sizeof r->invalid_why);
            continue;
        }
        r->span[r->n++] = sights_span(&r->trace, run.run);
    }
    if (r->n < runs / 2 + 1)
        return machine_fail(err, MACHINE_CANNOT, "stop other programs, or choose another CPU with --cpu",
                            "%zu of %zu repetitions were invalid: %.100s", tries - r->n, tries, r->invalid_why);
    return MACHINE_OK;
}

struct relaxation_rise *relaxation_rig_rises(const struct relaxation_rig *r, double to_us)
{
    struct relaxation_rise *rise = calloc(r->n + 1, sizeof *rise);
    for (size_t i = 0; rise && i < r->n; i++)
        if (relaxation_find(&r->trace, r->span[i], 0, to_us, &r->levels, &rise[i])) {
            free(rise);
            return NULL;
        }
    return rise;
}

struct relaxation_rise *relaxation_rig_rises_by_ramp(struct relaxation_rig *r, double to_us)
{
    r->levels.ramp.tau_us.value = 0;
    struct relaxation_rise *rise = relaxation_rig_rises(r, to_us);
    if (rise && relaxation_ramp(&r->trace, r->span, r->n, to_us, &r->levels, rise)) {
        free(rise);
        return NULL;
    }
    return rise;
}

double relaxation_rig_observed(const struct relaxation_rig *r)
{
    return OBSERVED * r->wait_us + OBSERVED_LEAST_US + r->levels.ramp.tau_us.value;
}

/* ---- rows ---- */

static void name_row(const struct relaxation_rig *r, const char *by)
{
    tables_put_cell(r->rows, r->cell);
    table_put_number(r->rows, "active_cores", r->cores);
    table_put_text(r->rows, "what", relaxation_what[r->cell->number[0]]);
    table_put_text(r->rows, "by", by);
}

void relaxation_add_row(const struct relaxation_rig *r, const char *by, size_t n, size_t discarded)
{
    table_add_row(r->rows);
    name_row(r, by);
    table_put_number(r->rows, "n", (double)n);
    table_put_number(r->rows, "discarded", (double)(discarded + r->invalid));
    estimates_put(r->rows, "slow_ghz", r->step.slow_ghz);
    estimates_put(r->rows, "plain_ghz", r->step.plain_ghz);
    table_put_number(r->rows, "fast_ghz", r->levels.fast);
    if (r->levels.ramp.tau_us.value > 0)
        estimates_put(r->rows, "tau_us", r->levels.ramp.tau_us);
}

/* A wait: each is found on the grid of the samples, and what that is off by is alike in all repetitions. So is what the
 * shape of a ramp is off by. */
void relaxation_put_wait(const struct relaxation_rig *r, struct estimate e)
{
    double grid = GRID_PERIODS * relaxation_period(r->context->options), ramp = r->levels.ramp.begin_half_us;
    table_put_limits(r->rows, "wait_us", e.value, e.value - hypot(e.value - e.lo, ramp) - grid,
                     e.value + hypot(e.hi - e.value, ramp) + grid);
}

void relaxation_add_missing(const struct relaxation_rig *r, const char *by, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    table_add_missing_v(r->rows, format, arguments);
    va_end(arguments);
    name_row(r, by);
    table_put_number(r->rows, "slow_ghz", r->levels.slow);
    table_put_number(r->rows, "fast_ghz", r->levels.fast);
}
