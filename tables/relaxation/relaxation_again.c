/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/relaxation/relaxation_rig.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "analysis/stats/threshold.h"
#include "tables/relaxation/relaxation_fit.h"

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

static int look_at_run(const struct relaxation_rig *r, size_t run, double duty_us, struct toggles *t)
{
    double number[RELAXATION_TOGGLES], wait[RELAXATION_TOGGLES];
    double begin = 0, planned = 0;
    size_t m = 0;
    for (int k = 0; k < RELAXATION_TOGGLES; k++) {
        struct relaxation_rise rise;
        if (k > 0) {
            begin = switch_time(r, run, begin, duty_us, &planned);
            begin = switch_time(r, run, begin, RELAXATION_AGAIN_US, &planned);
        }
        if (relaxation_find(&r->trace, r->span[run], begin, begin + duty_us, &r->levels, &rise))
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
