/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cells of the relaxation table. Each begins with a pilot of its own, the switch from wide to plain code, whose
 * states tell whether there is a wait, and how long it is about: what is measured then is cut to fit.
 */
#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/repetitions/steady.h"
#include "analysis/stats/robust.h"
#include "analysis/stats/threshold.h"
#include "probes/sequence.h"
#include "tables/relaxation/relaxation.h"
#include "tables/switches/switches.h"
#include "util/order.h"

/* The shortest wait that is measured, us: there must be samples before the rise. */
#define SHORTEST_US 40.0
/* The pilot's recording, us; guarded_switch() goes on for longer where the core does not come to rest within. */
#define PILOT_US 1500.0
/* Duty periods of toggling, in waits: too short for the rise ... */
#define BELOW 0.9
/* ... and long enough for the halt and the rise to show: at least so many us longer than the wait, ... */
#define ABOVE 1.15
#define ABOVE_LEAST_US 40.0
/* ... time constants of a ramp, after which it is nearly over, ... */
#define ABOVE_TAUS 4.0
/* ... and samples for noise not to hide it (squares of the five standard deviations that a rise takes, and four), but
 * less than another wait. */
#define ABOVE_SIGMAS 9.0
#define ABOVE_MOST 0.8
/* A shorter wait has no room for a burst in its middle. */
#define ROOM_US (4 * RELAXATION_BURST_US)
/* Relative: a smaller rise is lost in the noise of a single repetition. Levels of real parts differ by 2.5 %. */
#define STEP_LEAST 0.01
/* Of the repetitions that nothing interrupted, so many wait once or twice the same time: else the frequency changes for
 * other reasons. */
#define AGREE 0.6
/* Relative: a wait is that of the pilot, as modes of one and of two are told apart. */
#define PILOT_WITHIN 0.15
/* A recording, in waits: twice one, and room to see the frequency after it. */
#define OBSERVED 2.3
#define OBSERVED_LEAST_US 60.0
/* Of a sampling period: a wait's beginning and its end are looked for some twenty times a sample. */
#define GRID_PERIODS 0.05
/* Of a ramp's time constant: the best split lies 0.16 of it after its beginning (relaxation_rise.c), more in noise; the
 * beginnings in all repetitions may be off by so much alike, as scored on ramps of 90 us in noise. */
#define RAMP_UNSURE 0.2
/* A switch of kernels so late was delayed by something, us; a reading takes less than the second. */
#define LATE_US 1.5
#define READ_US 0.05
/* Scaled MADs: a wait farther from the median is wild. */
#define REJECT 6.0
#define REMEDY "stop other programs, or choose another CPU with --cpu"
/* TOGGLES: stretches of plain code of a toggling cell. REARM_MORE: times the repetitions, where fewer do not decide. */
enum { PILOT_RUNS = 100, AGREE_LEAST = 3, INVALID_MOST = 3, TOGGLES = 7, REARM_MORE = 4, STAIRS = 3, BURSTS_MAX = 6 };

/* A cell being measured. */
struct rig {
    const struct tables_context *context;
    const struct cell *cell;
    struct table *rows;
    enum relaxation_kind kind; /* of the experiment that is made */
    unsigned cores;            /* active */
    struct sequence sequence;
    struct trace trace;
    size_t n;                 /* repetitions in the trace */
    struct sights_span *span; /* of each */
    size_t invalid;           /* by what the machine itself could tell */
    char invalid_why[FROM_RECORDING_WHY_MAX];
    /* by the pilot: */
    struct relaxation_levels levels;
    struct estimate slow_ghz, plain_ghz, tau_us;
    double wait_us;
    double noise_us; /* by the waits: samples of so long tell the step from none by one standard deviation */
    bool kept;       /* hardly any wait is left alone, and the others agree nevertheless */
};

/* What the pilot has found, and if there is no wait to measure, why. */
struct pilot {
    bool found, flat;               /* flat: the frequency does not change */
    size_t n, rose;                 /* repetitions; those in which it rose */
    struct estimate wait_us, share; /* of the state before the rise, and of its first mode; NaN: there is none */
    char why[400];
};

/* ---- repetitions ---- */

static void forget(struct rig *r)
{
    trace_free(&r->trace);
    trace_init(&r->trace);
    free(r->span);
    r->span = NULL;
    r->n = 0;
}

/* So many repetitions that count; those of before are forgotten. `done`: the part of the cell that is over (0..1). */
static int record(struct rig *r, const struct segment *segments, size_t n, size_t zero, size_t runs, double done,
                  struct machine_error *err)
{
    size_t tries = 0;
    forget(r);
    if (sequence_trace(&r->sequence, &r->trace) || !(r->span = malloc((runs + 1) * sizeof *r->span)))
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
        return machine_fail(err, MACHINE_CANNOT, REMEDY, "%zu of %zu repetitions were invalid: %.100s", tries - r->n,
                            tries, r->invalid_why);
    return MACHINE_OK;
}

/* The rises in all repetitions until to_us; malloc'ed, or NULL. */
static struct relaxation_rise *rises(const struct rig *r, double to_us)
{
    struct relaxation_rise *rise = calloc(r->n + 1, sizeof *rise);
    for (size_t i = 0; rise && i < r->n; i++)
        if (relaxation_find(&r->trace, r->span[i], 0, to_us, &r->levels, &rise[i])) {
            free(rise);
            return NULL;
        }
    return rise;
}

/* How long a repetition is recorded: two waits, and the rise. */
static double observed(const struct rig *r)
{
    return OBSERVED * r->wait_us + OBSERVED_LEAST_US + r->levels.tau_us;
}

/* ---- rows ---- */

static void name_row(const struct rig *r, const char *by)
{
    static const char *const what[] = {"wait", "rearm", "toggle"}; /* as in the table */
    tables_put_cell(r->rows, r->cell);
    table_put_number(r->rows, "active_cores", r->cores);
    table_put_text(r->rows, "what", what[r->kind]);
    table_put_text(r->rows, "by", by);
}

/* A row with its keys, counts and frequencies. */
static void add_row(const struct rig *r, const char *by, size_t n, size_t discarded)
{
    table_add_row(r->rows);
    name_row(r, by);
    table_put_number(r->rows, "n", (double)n);
    table_put_number(r->rows, "discarded", (double)(discarded + r->invalid));
    estimates_put(r->rows, "slow_ghz", r->slow_ghz);
    estimates_put(r->rows, "plain_ghz", r->plain_ghz);
    table_put_number(r->rows, "fast_ghz", r->levels.fast);
    if (r->levels.tau_us > 0)
        estimates_put(r->rows, "tau_us", r->tau_us);
}

/* A wait: each is found on the grid of the samples, and what that is off by is alike in all repetitions. So is what the
 * beginning of a ramp is off by. */
static void put_wait(const struct rig *r, struct estimate e)
{
    double grid = GRID_PERIODS * relaxation_period(r->context->options), ramp = RAMP_UNSURE * r->levels.tau_us;
    table_put_limits(r->rows, "wait_us", e.value, e.value - hypot(e.value - e.lo, ramp) - grid,
                     e.value + hypot(e.hi - e.value, ramp) + grid);
}

__attribute__((format(printf, 3, 4))) static void add_missing(const struct rig *r, const char *by, const char *format,
                                                              ...)
{
    va_list arguments;
    va_start(arguments, format);
    table_add_missing_v(r->rows, format, arguments);
    va_end(arguments);
    name_row(r, by);
    table_put_number(r->rows, "slow_ghz", r->levels.slow);
    table_put_number(r->rows, "fast_ghz", r->levels.fast);
}

/* ---- the pilot ---- */

static bool agree(const struct relaxation_waits *w)
{
    size_t all = w->mode[0].n + w->mode[1].n + w->others + w->never;
    return w->close >= AGREE_LEAST && (double)w->close >= AGREE * (double)all;
}

/* The state before the rise, and what follows it. */
static const struct phase *slow_state(const struct phases *p)
{
    for (size_t i = transition_first_phase_after_switch(p); i + 1 < p->n_phases; i++)
        if (p->phases[i].kind == PHASE_SLOW)
            return &p->phases[i];
    return NULL;
}

/*
 * How the frequency rises after the state before: as a ramp, or, where the states are STAIRS or more steps of one, with
 * the time constant that has the same area, since a ramp misses (fast - slow) tau in all. tau 0: at once.
 */
static void read_rise(const struct phases *ph, const struct phase *slow, struct rig *r)
{
    const struct phase *last = &ph->phases[ph->n_phases - 1];
    double fast = last->freq_ghz.value, missing = 0;
    size_t steps = 0;
    r->tau_us = (struct estimate){0, NAN, NAN};
    for (const struct phase *p = slow + 1; p < last; p++) {
        missing += p->duration_us.value * (fast - p->freq_ghz.value);
        steps += p->kind == PHASE_SLOW;
    }
    if (slow[1].kind == PHASE_RAMP && slow[1].tau_us.value > 0) {
        r->tau_us = slow[1].tau_us;
        fast = slow[1].to_ghz.value;
    } else if (steps >= STAIRS && isfinite(missing))
        r->tau_us.value = missing / (fast - slow->freq_ghz.value);
    r->levels = (struct relaxation_levels){slow->freq_ghz.value, fast, r->tau_us.value};
}

/* Takes over the states and the repetitions of the switch. 0, or -1: out of memory. */
static int take_states(struct rig *r, struct switches_seen *seen, const struct phase *slow, struct pilot *p)
{
    struct steady_value plain;
    if (steady_frequency(&seen->result.beside[TRANSITION_HELD_TO], FREQUENCY_SAME / 2, &plain))
        return -1;
    r->slow_ghz = slow->freq_ghz;
    r->plain_ghz = plain.mean;
    read_rise(&seen->phases, slow, r);
    if (r->context->machine->ops->lacks(r->context->machine, COUNTER_CYCLES, NULL)) /* noise may hide single rises */
        p->wait_us = slow->duration_us;
    p->share = threshold_share((size_t)lround((slow->n_modes ? slow->modes[0].share : 1) * (double)slow->agreeing_runs),
                               slow->agreeing_runs);
    p->n = slow->agreeing_runs;
    forget(r);
    r->trace = seen->result.trace;
    trace_init(&seen->result.trace);
    r->span = malloc((trace_count_runs(&r->trace) + 1) * sizeof *r->span);
    for (size_t i = 0; r->span && i < r->trace.n; i = r->span[r->n - 1].last)
        r->span[r->n++] = (struct sights_span){i, trace_run_end(&r->trace, i)};
    return r->span ? 0 : -1;
}

/* About how long the wait is, by single repetitions. 0, or -1: out of memory. */
static int look_at_rises(struct rig *r, const struct switches_seen *seen, struct pilot *p)
{
    struct relaxation_waits w;
    struct relaxation_rise *rise = rises(r, seen->setup.observe_us);
    bool bad = !rise || relaxation_waits(rise, r->n, &w);
    for (size_t i = 0; i < r->n && !bad; i++)
        p->rose += !isnan(rise[i].at_us);
    free(rise);
    if (bad)
        return -1;
    r->wait_us = w.mode[0].wait_us.value;
    r->kept = w.kept;
    p->found = agree(&w);
    p->n = r->n;
    snprintf(p->why, sizeof p->why,
             "the frequency rose in that share of n repetitions, but the undisturbed ones disagree on when; " REMEDY);
    return 0;
}

/* Why the states tell no wait; "": they do. */
static void judge(const struct rig *r, const struct switches_seen *seen, const struct transition_summary *s,
                  const struct phase *slow, struct pilot *p)
{
    const struct phases *ph = &seen->phases;
    bool none = !seen->unsettled[0] && s->kind != SWITCH_FREQUENCY && s->kind != SWITCH_UNDECIDED;
    p->why[0] = '\0';
    p->flat = none;
    if (none && isfinite(ph->detectable_freq))
        snprintf(p->why, sizeof p->why,
                 "the frequency is the same before and after the switch; a step of %.0f %% would have been found",
                 ceil(100 * ph->detectable_freq));
    else if (none)
        snprintf(p->why, sizeof p->why, "the frequency is the same before and after the switch");
    else if (seen->unsettled[0])
        snprintf(p->why, sizeof p->why, "%s", seen->unsettled);
    else if (!slow && s->kind == SWITCH_UNDECIDED)
        snprintf(p->why, sizeof p->why, "%s", s->phases[0] ? s->phases : "the repetitions do not decide");
    else if (slow && !(slow->start_us + slow->duration_us.value < RELAXATION_LONGEST_US))
        snprintf(p->why, sizeof p->why, "the frequency rises after %.0f us; --transition %s:%s measures that",
                 slow->start_us + slow->duration_us.value, r->cell->a.name, r->cell->b.name);
    else if (slow && !(ph->phases[ph->n_phases - 1].freq_ghz.value > slow->freq_ghz.value * (1 + STEP_LEAST)))
        snprintf(p->why, sizeof p->why,
                 "the frequency rises by less than 1 %%, too little to time it in each repetition");
    else if (!slow || slow->start_us + slow->duration_us.value < SHORTEST_US)
        snprintf(p->why, sizeof p->why,
                 "the frequency rises within %.0f us, too early to time here; --transition "
                 "%s:%s does",
                 SHORTEST_US, r->cell->a.name, r->cell->b.name);
}

/* Whether there is a wait, between which states, and about how long. */
static int run_pilot(struct rig *r, struct pilot *p, struct machine_error *err)
{
    static const struct estimate unknown = {NAN, NAN, NAN};
    struct cell cell = *r->cell;
    struct switches_seen seen;
    struct transition_summary s;
    cell.active_cores = r->cores;
    *p = (struct pilot){.wait_us = unknown};
    int status = switches_look(r->context, "relaxation", &cell, &cell.a, &cell.b, PILOT_RUNS, PILOT_US, false, &seen,
                               err);
    if (status != MACHINE_OK)
        return status;
    transition_summarize(&seen.result.trace, &seen.phases, &s);
    const struct phase *slow = slow_state(&seen.phases);
    judge(r, &seen, &s, slow, p);
    if (!p->why[0] && (take_states(r, &seen, slow, p) || look_at_rises(r, &seen, p)))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    switches_free(&seen);
    return status;
}

/* ---- the wait and its distribution ---- */

/* Whether the repetitions show the wait of the pilot, or either the double of the other. */
static bool as_in_pilot(const struct rig *r, double wait_us)
{
    return fabs(wait_us / r->wait_us - 1) < PILOT_WITHIN || fabs(wait_us / r->wait_us / 2 - 1) < PILOT_WITHIN ||
           fabs(wait_us / r->wait_us * 2 - 1) < PILOT_WITHIN;
}

static void wait_rows(const struct rig *r, const struct relaxation_waits *w)
{
    for (int k = 0; k < 2; k++) {
        const struct relaxation_mode *m = &w->mode[k];
        if (!m->n)
            continue;
        add_row(r, "nothing", m->n, w->kept ? 0 : w->interrupted);
        if (w->kept)
            table_put_number(r->rows, "kept", (double)w->interrupted);
        table_put_number(r->rows, "mode", k + 1);
        put_wait(r, m->wait_us);
        estimates_put(r->rows, "share", m->share);
        table_put_number(r->rows, "sd_us", m->sd_us);
        table_put_number(r->rows, "others", (double)(w->others + w->never));
    }
    size_t interrupts = w->rearmed + w->not_rearmed;
    if (!interrupts)
        return;
    struct estimate share = threshold_share(w->rearmed, interrupts);
    add_row(r, "interrupt", interrupts, 0);
    table_put_text(r->rows, "what", "rearm");
    put_wait(r, w->after_interrupt_us);
    estimates_put(r->rows, "share", share);
    table_put_text(r->rows, "rearmed", relaxation_verdict(&share));
}

static int measure_wait(struct rig *r, size_t runs, struct machine_error *err)
{
    const double observe = observed(r);
    const struct segment segments[2] = {{r->cell->a, RELAXATION_FROM_US, false}, {r->cell->b, observe, true}};
    struct relaxation_waits waits;
    int status = record(r, segments, 2, 1, runs, 0.1, err);
    if (status != MACHINE_OK)
        return status;
    struct relaxation_rise *rise = rises(r, observe);
    double *noise = malloc((r->n + 1) * sizeof *noise);
    bool bad = !rise || !noise || relaxation_waits(rise, r->n, &waits);
    for (size_t i = 0; i < r->n && !bad; i++)
        noise[i] = rise[i].noise;
    r->noise_us = bad ? NAN : relaxation_period(r->context->options) * pow(order_median(noise, r->n), 2);
    free(noise);
    free(rise);
    if (bad)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (!waits.mode[0].n)
        add_missing(r, "nothing", "all %zu repetitions were disturbed before the frequency rose", r->n);
    else if (!agree(&waits))
        add_missing(r, "nothing", "the frequency rises, but the repetitions disagree on when; " REMEDY);
    else if (!as_in_pilot(r, waits.mode[0].wait_us.value))
        add_missing(r, "nothing",
                    "the frequency rises after %.0f us here, but after %.0f us in the repetitions before; " REMEDY,
                    waits.mode[0].wait_us.value, r->wait_us);
    else
        wait_rows(r, &waits);
    return MACHINE_OK;
}

/* ---- what restarts it: other code in the middle of it, or the wide code itself ---- */

static int restarted_in(const struct rig *r, const struct relaxation_rise *rise)
{
    return rise->interruptions && !r->kept ? -1 : relaxation_rearmed(rise->at_us, 0.5 * r->wait_us, r->wait_us);
}

/* Returns false, without a row, where the repetitions do not decide and more of them may. */
static bool rearm_row(const struct rig *r, const struct relaxation_rise *rise, const char *by, bool last)
{
    size_t yes = 0, no = 0, twice = 0, other = 0;
    double *x = calloc(r->n + 1, sizeof *x);
    for (size_t i = 0; x && i < r->n; i++) {
        int restarted = restarted_in(r, &rise[i]);
        yes += restarted == 1;
        no += restarted == 0 && rise[i].at_us < r->wait_us;
        twice += restarted == 0 && !(rise[i].at_us < r->wait_us);
        other += restarted < 0;
    }
    /* A double wait hides that another restarted within it: it counts only where single ones went on as well. */
    if (no)
        no += twice;
    else
        other += twice;
    struct estimate share = threshold_share(yes, yes + no);
    const char *verdict = relaxation_verdict(&share);
    bool decided = strcmp(verdict, "undecided") != 0, mostly = strcmp(verdict, "yes") == 0;
    size_t m = 0;
    for (size_t i = 0; x && decided && i < r->n; i++)
        if (restarted_in(r, &rise[i]) == (mostly ? 1 : 0) && rise[i].at_us < 1.25 * r->wait_us)
            x[m++] = rise[i].at_us;
    if (!decided && !last) {
        free(x);
        return false;
    }
    if (!yes && !no) {
        add_missing(r, by, "none of the rises in %zu repetitions fits either a restarted wait or a continued one",
                    r->n);
    } else {
        add_row(r, by, yes + no, other);
        put_wait(r, robust_mean(x ? x : &r->wait_us, m, REJECT, 0.5, NULL));
        estimates_put(r->rows, "share", share);
        table_put_text(r->rows, "rearmed", verdict);
    }
    free(x);
    return true;
}

static int measure_rearm(struct rig *r, const struct payload *by, size_t runs, struct machine_error *err)
{
    double observe = observed(r);
    const struct segment segments[4] = {{r->cell->a, RELAXATION_FROM_US, false},
                                        {r->cell->b, fmax(0.5 * r->wait_us - RELAXATION_BURST_US, 1), false},
                                        {*by, RELAXATION_BURST_US, false},
                                        {r->cell->b, observe, true}};
    int status = MACHINE_OK;
    bool done = false;
    for (size_t more = 1; !done && more <= REARM_MORE && status == MACHINE_OK; more *= 2) {
        status = record(r, segments, 4, 3, more * runs, 0.2, err);
        struct relaxation_rise *rise = status == MACHINE_OK ? rises(r, observe) : NULL;
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
static double switch_time(const struct rig *r, size_t run, double begin, double length_us, double *planned)
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

static int look_at_run(const struct rig *r, size_t run, double duty_us, struct toggles *t)
{
    double number[TOGGLES], wait[TOGGLES];
    double begin = 0, planned = 0;
    size_t m = 0;
    for (int k = 0; k < TOGGLES; k++) {
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

static void toggle_row(const struct rig *r, const struct toggles *t, double duty_us)
{
    char by[60];
    snprintf(by, sizeof by, "every %.0f us", duty_us + RELAXATION_AGAIN_US);
    if (!t->n) {
        add_missing(r, by, "every wait was interrupted");
        return;
    }
    struct estimate rose = threshold_share(t->rose, t->n), stayed = threshold_share(t->n - t->rose, t->n);
    add_row(r, by, t->n, t->interrupted);
    table_put_number(r->rows, "duty_us", duty_us);
    estimates_put(r->rows, "share", rose);
    put_wait(r, robust_mean(t->wait, t->rose, REJECT, 0.5, NULL));
    estimates_put(r->rows, "trend_us", robust_mean(t->slope, t->n_slopes, REJECT, 0.5, NULL));
    table_put_text(r->rows, "rearmed", relaxation_verdict(&stayed));
}

static int measure_toggle(struct rig *r, double duty_us, size_t runs, struct machine_error *err)
{
    struct segment segments[1 + 2 * TOGGLES] = {{r->cell->a, RELAXATION_FROM_US, false}};
    struct toggles t = {.wait = calloc(runs * TOGGLES + 1, sizeof(double)), .slope = calloc(runs + 1, sizeof(double))};
    size_t n = 1;
    for (int k = 0; k < TOGGLES; k++) {
        segments[n++] = (struct segment){r->cell->b, duty_us, true};
        if (k + 1 < TOGGLES)
            segments[n++] = (struct segment){r->cell->a, RELAXATION_AGAIN_US, true};
    }
    int status = t.wait && t.slope ? record(r, segments, n, 1, runs, 0.3, err)
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

/* ---- one cell: all experiments with one pair ---- */

/* What runs in the waiting time, in turn: `from` itself last. Returns how many. */
static size_t bursts_of(const struct rig *r, struct payload out[BURSTS_MAX])
{
    static const char *const names[BURSTS_MAX - 1] = {"512or", "256fma", "256or", "128or", "64add"};
    const struct cell *c = r->cell;
    size_t n = 0;
    for (size_t i = 0; i < (r->context->options->brief ? 1 : BURSTS_MAX - 1); i++)
        if (tables_can_run(r->context, names[i], &out[n]) && strcmp(out[n].name, c->a.name) != 0 &&
            strcmp(out[n].name, c->b.name) != 0)
            n++;
    out[n++] = c->a;
    return n;
}

static int rearm(struct rig *r, const struct payload *by, struct machine_error *err)
{
    if (r->wait_us < ROOM_US) {
        add_missing(r, by->name, "the wait is shorter than %.0f us, too short to run other code in the middle of it",
                    ROOM_US);
        return MACHINE_OK;
    }
    return measure_rearm(r, by, relaxation_runs(r->context->options, RELAXATION_REARM), err);
}

static int toggle(struct rig *r, struct machine_error *err)
{
    size_t runs = relaxation_runs(r->context->options, RELAXATION_TOGGLE);
    double room = fmax(fmax((ABOVE - 1) * r->wait_us, ABOVE_LEAST_US), ABOVE_TAUS * r->levels.tau_us);
    room = fmax(room, fmin(pow(ABOVE_SIGMAS, 2) * r->noise_us, ABOVE_MOST * r->wait_us));
    int status = measure_toggle(r, BELOW * r->wait_us, runs, err);
    return status == MACHINE_OK ? measure_toggle(r, r->wait_us + room, runs, err) : status;
}

/* An experiment that this machine cannot do leaves the others. */
static int unless_impossible(const struct rig *r, const char *by, int status, const struct machine_error *err)
{
    if (status != MACHINE_CANNOT)
        return status;
    add_missing(r, by, "%s; %s", err->text, err->remedy);
    return MACHINE_OK;
}

static int measure_all(struct rig *r, struct machine_error *err)
{
    struct payload by[BURSTS_MAX];
    size_t n = bursts_of(r, by);
    r->kind = RELAXATION_WAIT;
    int status = measure_wait(r, relaxation_runs(r->context->options, RELAXATION_WAIT), err);
    status = unless_impossible(r, "nothing", status, err);
    r->kind = RELAXATION_REARM;
    for (size_t i = 0; i < n && status == MACHINE_OK; i++)
        status = unless_impossible(r, by[i].name, rearm(r, &by[i], err), err);
    r->kind = RELAXATION_TOGGLE;
    return status == MACHINE_OK ? unless_impossible(r, "nothing", toggle(r, err), err) : status;
}

/* The pair with so many active cores; *p says whether there was anything to measure. */
static int with_cores(struct rig *r, unsigned cores, struct pilot *p, struct machine_error *err)
{
    struct machine_setup setup = tables_setup(r->context, "relaxation", r->cell);
    setup.period_us = relaxation_period(r->context->options);
    setup.active_cores = r->cores = cores;
    int status = run_pilot(r, p, err);
    if (status != MACHINE_OK || !p->found)
        return status;
    status = sequence_begin(&r->sequence, r->context->machine, &setup,
                            TOGGLES * ((1 + ABOVE_MOST) * r->wait_us + ABOVE_LEAST_US + RELAXATION_AGAIN_US +
                                       ABOVE_TAUS * r->levels.tau_us),
                            err);
    if (status == MACHINE_OK) {
        status = measure_all(r, err);
        sequence_end(&r->sequence);
    }
    return status;
}

/* All rows are missing. How often it rose stands in columns: like reasons are then reported once. */
static void no_wait(struct rig *r, const struct pilot *p, const char *otherwise)
{
    struct payload by[BURSTS_MAX];
    size_t n = bursts_of(r, by);
    for (size_t i = 0; i < n + 2; i++) {
        r->kind = i == 0 ? RELAXATION_WAIT : i <= n ? RELAXATION_REARM : RELAXATION_TOGGLE;
        if (r->kind == RELAXATION_WAIT && estimates_known(&p->wait_us)) {
            /* by the states alone, where single repetitions do not tell it */
            add_row(r, "nothing", p->n, 0);
            table_put_number(r->rows, "mode", 1);
            put_wait(r, p->wait_us);
            estimates_put(r->rows, "share", p->share);
            continue;
        }
        add_missing(r, r->kind == RELAXATION_REARM ? by[i - 1].name : "nothing",
                    "no wait was seen within %.0f ms: %s%s", RELAXATION_LONGEST_US / 1000, p->why, otherwise);
        if (p->flat && !p->rose)
            continue;
        table_put_number(r->rows, "share", p->n ? (double)p->rose / (double)p->n : NAN);
        table_put_number(r->rows, "n", (double)p->n);
    }
}

/*
 * Some processors are as fast with all cores active whatever they run, and lower their frequency only where few are:
 * where nobody chose the number of cores a single one is tried then.
 */
static int measure_cell(struct rig *r, struct machine_error *err)
{
    const unsigned cores = r->cell->active_cores;
    bool chosen = r->context->options->n_active > 0;
    struct pilot first = {.found = false}, one = {.found = false};
    int status = with_cores(r, cores, &first, err);
    if (status != MACHINE_OK || first.found)
        return status;
    struct relaxation_levels levels = r->levels;
    if (first.flat && cores > 1 && !chosen)
        status = with_cores(r, 1, &one, err);
    if (status != MACHINE_OK)
        return status;
    if (!one.found && *one.why && !one.flat)
        no_wait(r, &one, "");
    r->cores = cores;
    r->levels = levels;
    no_wait(r, &first,
            one.found                           ? "; with 1 active core there is one"
            : one.flat                          ? "; the same with 1 active core"
            : first.flat && cores > 1 && chosen ? "; fewer active cores may show one (--active-cores 1)"
                                                : "");
    return MACHINE_OK;
}

int relaxation_measure(const struct tables_context *x, const struct cell *c, struct table *rows,
                       struct machine_error *err)
{
    struct rig r = {.context = x, .cell = c, .rows = rows, .levels = {.slow = NAN, .fast = NAN}};
    trace_init(&r.trace);
    int status = measure_cell(&r, err);
    forget(&r);
    return status;
}
