/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sequences of kernels that the experiments of a cell record, and what starts a wait again. */
#include "tables/relaxation/relaxation_rig.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "analysis/stats/threshold.h"
#include "tables/relaxation/relaxation_fit.h"

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

#define LATE_US 1.5  /* a switch of kernels so late was delayed by something */
#define READ_US 0.05 /* a reading takes less */
#define REJECT 6.0
#define LEFT_MOST 2.0 /* of what a ramp usually leaves: when most of them leave more, they are no such ramp */
enum { REARM_MORE = 4 /* times the repetitions, where fewer do not decide */ };

/* ---- what starts it again ---- */

static int anew_of(const struct relaxation_rig *r, const struct relaxation_rise *rise)
{
    return rise->interruptions && !r->kept ? -1 : relaxation_rearmed(rise->at_us, 0.5 * r->wait_us, r->wait_us);
}

/* Returns false, without a row, where the repetitions do not decide and more of them may. */
static bool rearm_row(const struct relaxation_rig *r, const struct relaxation_rise *rise, const char *by, bool last)
{
    size_t yes = 0, no = 0, twice = 0, other = 0;
    double *x = calloc(r->n + 1, sizeof *x);
    for (size_t i = 0; x && i < r->n; i++) {
        int anew = anew_of(r, &rise[i]);
        yes += anew == 1;
        no += anew == 0 && rise[i].at_us < r->wait_us;
        twice += anew == 0 && !(rise[i].at_us < r->wait_us);
        other += anew < 0;
    }
    /* A double wait hides that another began again within it: it counts only where single ones went on as well. */
    if (no)
        no += twice;
    else
        other += twice;
    struct estimate share = threshold_share(yes, yes + no);
    const char *verdict = relaxation_verdict(&share);
    bool decided = strcmp(verdict, "undecided") != 0, mostly = strcmp(verdict, "yes") == 0;
    size_t m = 0, others = 0;
    for (size_t i = 0; x && decided && i < r->n; i++)
        if (anew_of(r, &rise[i]) == (mostly ? 1 : 0) && rise[i].at_us < 1.25 * r->wait_us) {
            others += rise[i].left > LEFT_MOST;
            x[m++] = rise[i].at_us;
        }
    m = 2 * others > m ? 0 : m; /* a burst that needs less lets the frequency rise halfway, and later again */
    if (!decided && !last) {
        free(x);
        return false;
    }
    if (!yes && !no) {
        relaxation_add_missing(
            r, by, "none of the rises in %zu repetitions fits either a restarted wait or a continued one", r->n);
    } else {
        relaxation_add_row(r, by, yes + no, other);
        relaxation_put_wait(r, robust_mean(x ? x : &r->wait_us, m, REJECT, 0.5, NULL));
        estimates_put(r->rows, "share", share);
        table_put_text(r->rows, "rearmed", verdict);
    }
    free(x);
    return true;
}

int relaxation_measure_rearm(struct relaxation_rig *r, const struct payload *by, size_t runs, struct machine_error *err)
{
    double observe = relaxation_rig_observed(r);
    const struct segment segments[4] = {{r->cell->a, RELAXATION_FROM_US, false},
                                        {r->cell->b, fmax(0.5 * r->wait_us - RELAXATION_BURST_US, 1), false},
                                        {*by, RELAXATION_BURST_US, false},
                                        {r->cell->b, observe, true}};
    int status = MACHINE_OK;
    bool done = false;
    for (size_t more = 1; !done && more <= REARM_MORE && status == MACHINE_OK; more *= 2) {
        status = relaxation_rig_record(r, segments, 4, 3, more * runs, 0.2, err);
        struct relaxation_rise *rise = status == MACHINE_OK ? relaxation_rig_rises(r, observe) : NULL;
        if (status == MACHINE_OK && !rise)
            status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
        if (rise)
            done = rearm_row(r, rise, by->name, 2 * more > REARM_MORE);
        free(rise);
    }
    return status;
}

/* ---- toggling ---- */

/* Waits of all toggles; slope: by how much each of a repetition with three or more is longer than the one before. */
struct toggles {
    size_t n, rose, interrupted;
    double *wait;  /* of those that rose */
    double *slope; /* of those repetitions */
    size_t n_slopes;
};

/*
 * Where, `length_us` after `begin`, the next kernel began: at a switch of kernels a reading is taken. A machine may
 * count the segment's time from its planned start or from its actual one; a switch that came late (a halt) is taken for
 * planned. *planned goes along: each switch is a little late, and many of them are not one that is.
 */
static double switch_time(const struct relaxation_rig *r, size_t run, double begin, double length_us, double *planned)
{
    double expected = begin + length_us, from = fmin(expected, *planned + length_us);
    if (expected <= *planned + length_us + LATE_US)
        from = expected;
    size_t i = r->span[run].first;
    while (i < r->span[run].last && r->trace.time_us[i] <= from - READ_US)
        i++;
    double at = i < r->span[run].last ? r->trace.time_us[i] : from;
    *planned += length_us;
    if (at < *planned + LATE_US)
        *planned = at;
    return at;
}

/* Takes the values of what ran from one time to another off: other code does more or less in a cycle. */
static void leave_out(struct relaxation_rig *r, size_t run, double from_us, double to_us)
{
    for (size_t i = r->span[run].first; i < r->span[run].last; i++)
        if (r->trace.time_us[i] > from_us && r->trace.time_us[i] <= to_us)
            r->trace.channel[TRACE_IPC][i] = r->trace.channel[TRACE_FREQ][i] = NAN;
}

static int look_at_run(struct relaxation_rig *r, size_t run, double duty_us, struct toggles *t)
{
    double number[RELAXATION_TOGGLES], wait[RELAXATION_TOGGLES], begin[RELAXATION_TOGGLES] = {0}, planned = 0;
    size_t m = 0;
    for (int k = 1; k < RELAXATION_TOGGLES; k++) {
        double wide = switch_time(r, run, begin[k - 1], duty_us, &planned);
        begin[k] = switch_time(r, run, wide, RELAXATION_AGAIN_US, &planned);
        leave_out(r, run, wide, begin[k]);
    }
    for (int k = 0; k < RELAXATION_TOGGLES; k++) {
        struct relaxation_rise rise;
        if (relaxation_find(&r->trace, r->span[run], begin[k], begin[k] + duty_us, &r->levels, &rise))
            return -1;
        if (rise.interruptions && !r->kept) {
            t->interrupted++;
            continue;
        }
        t->n++;
        if (isnan(rise.at_us))
            continue;
        t->wait[t->rose++] = rise.at_us;
        number[m] = k;
        wait[m++] = rise.at_us;
    }
    double first, cov00, cov01, cov11, squares;
    if (m >= 3) {
        gsl_fit_linear(number, 1, wait, 1, m, &first, &t->slope[t->n_slopes], &cov00, &cov01, &cov11, &squares);
        t->n_slopes++;
    }
    return 0;
}

static void toggle_row(const struct relaxation_rig *r, const struct toggles *t, double duty_us)
{
    char by[60];
    snprintf(by, sizeof by, "every %.0f us", duty_us + RELAXATION_AGAIN_US);
    if (!t->n) {
        relaxation_add_missing(r, by, "every wait was interrupted");
        return;
    }
    struct estimate rose = threshold_share(t->rose, t->n), stayed = threshold_share(t->n - t->rose, t->n);
    relaxation_add_row(r, by, t->n, t->interrupted);
    table_put_number(r->rows, "duty_us", duty_us);
    estimates_put(r->rows, "share", rose);
    relaxation_put_wait(r, robust_mean(t->wait, t->rose, REJECT, 0.5, NULL));
    estimates_put(r->rows, "trend_us", robust_mean(t->slope, t->n_slopes, REJECT, 0.5, NULL));
    table_put_text(r->rows, "rearmed", relaxation_verdict(&stayed));
}

int relaxation_measure_toggle(struct relaxation_rig *r, double duty_us, size_t runs, struct machine_error *err)
{
    struct segment segments[1 + 2 * RELAXATION_TOGGLES] = {{r->cell->a, RELAXATION_FROM_US, false}};
    struct toggles t = {.wait = calloc(runs * RELAXATION_TOGGLES + 1, sizeof(double)),
                        .slope = calloc(runs + 1, sizeof(double))};
    size_t n = 1;
    for (int k = 0; k < RELAXATION_TOGGLES; k++) {
        segments[n++] = (struct segment){r->cell->b, duty_us, true};
        if (k + 1 < RELAXATION_TOGGLES)
            segments[n++] = (struct segment){r->cell->a, RELAXATION_AGAIN_US, true};
    }
    int status = t.wait && t.slope ? relaxation_rig_record(r, segments, n, 1, runs, 0.3, err)
                                   : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (size_t i = 0; i < r->n && status == MACHINE_OK; i++)
        if (look_at_run(r, i, duty_us, &t))
            status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (status == MACHINE_OK)
        toggle_row(r, &t, duty_us);
    free(t.wait);
    free(t.slope);
    return status;
}
