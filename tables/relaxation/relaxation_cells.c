/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cells of the relaxation table. Each begins with a pilot of its own, which shows how long the wait is about: what
 * is measured then is cut to fit.
 */
#include "tables/relaxation/relaxation.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/relaxation/relaxation_fit.h"
#include "analysis/stats/robust.h"
#include "analysis/stats/threshold.h"
#include "probes/sequence.h"

#define OBSERVED 2.3 /* waits: twice one, and room to see the frequency after it */
#define OBSERVED_LEAST_US 60.0
#define BELOW 0.9  /* of the wait: duty periods of toggling ... */
#define ABOVE 1.15 /* ... long enough for the halt and the rise to show */
#define ABOVE_LEAST_US 40.0
#define ABOVE_TAUS 1.5                    /* ... or a ramp, ... */
#define ABOVE_SIGMAS 9.0                  /* ... and for noise not to hide it: the five that a rise takes, and four */
#define ABOVE_MOST 0.8                    /* of the wait: less than another one */
#define SHORTEST_US 40.0                  /* of the waits that are measured: there must be samples before the rise */
#define ROOM_US (4 * RELAXATION_BURST_US) /* a shorter wait has no room for a burst in its middle */
#define LATE_US 1.5                       /* a switch of kernels so late was delayed by something */
#define READ_US 0.05                      /* a reading takes less */
#define GRID_PERIODS 0.05 /* of a wait: its beginning and its end are looked for some twenty times a sample */
#define REJECT 6.0
#define AGREE 0.6
#define NEARLY_ALL 0.9
#define LEFT_MOST 2.0     /* of what a ramp usually leaves: when most of them leave more, they are no such ramp */
#define PILOT_WITHIN 0.15 /* of the wait, as modes of one and of two are told apart */
#define REMEDY "stop other programs, or choose another CPU with --cpu"
enum {
    PILOTS = 8,
    PILOT_TRIES = 3,
    AGREE_LEAST = 3,
    TOGGLES = 7,
    INVALID_MOST = 3,
    REARM_MORE = 4 /* times the repetitions, where fewer do not decide */
};

const char *const relaxation_rearming[] = {"512or", "256fma", "256or", "128or", "64add"};
const size_t relaxation_n_rearming = sizeof relaxation_rearming / sizeof relaxation_rearming[0];

struct rig {
    const struct tables_context *context;
    const struct cell *cell;
    struct table *rows;
    unsigned cores; /* active */
    struct sequence sequence;
    struct trace trace;
    size_t n;                  /* repetitions in the trace */
    struct trigger_span *span; /* of each */
    size_t invalid;            /* by what the machine itself could tell */
    char invalid_why[120];
    struct relaxation_levels levels;
    struct relaxation_step step; /* by which the core is slower after the wide code than without it */
    double wait_us;              /* by the pilot */
    double noise;                /* by the pilot: of a sample, in steps from slow to fast */
    bool kept;                   /* by the pilot: hardly any wait is left alone, and the others agree nevertheless */
};

static int relaxation_cells_out_of_memory(struct machine_error *err)
{
    return machine_fail(err, MACHINE_FAILED, "", "out of memory");
}

static int relaxation_cells_forget(struct rig *r)
{
    trace_free(&r->trace);
    trace_init(&r->trace);
    r->n = 0;
    free(r->span);
    r->span = NULL;
    return sequence_trace(&r->sequence, &r->trace);
}

/* So many repetitions that count; those of before are forgotten. */
static int relaxation_cells_record(struct rig *r, const struct segment *segments, size_t n, size_t zero, size_t runs,
                                   double done, struct machine_error *err)
{
    size_t tries = 0;
    if (relaxation_cells_forget(r) || !(r->span = malloc((runs + 1) * sizeof *r->span)))
        return relaxation_cells_out_of_memory(err);
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
        r->span[r->n++] = trigger_span(&r->trace, run.run);
    }
    if (r->n < runs / 2 + 1)
        return machine_fail(err, MACHINE_CANNOT, "stop other programs, or choose another CPU with --cpu",
                            "%zu of %zu repetitions were invalid: %.100s", tries - r->n, tries, r->invalid_why);
    return MACHINE_OK;
}

/* The rises in one window of all repetitions; malloc'ed, or NULL. */
static struct relaxation_rise *rises(const struct rig *r, double from_us, double to_us)
{
    struct relaxation_rise *rise = calloc(r->n + 1, sizeof *rise);
    for (size_t i = 0; rise && i < r->n; i++)
        if (relaxation_find(&r->trace, r->span[i], from_us, to_us, &r->levels, &rise[i])) {
            free(rise);
            return NULL;
        }
    return rise;
}

/* The same where the frequency may rise as a ramp, of which these repetitions tell the shape. */
static struct relaxation_rise *rises_by_ramp(struct rig *r, double to_us)
{
    r->levels.ramp.tau_us.value = 0;
    struct relaxation_rise *rise = rises(r, 0, to_us);
    if (rise && relaxation_ramp(&r->trace, r->span, r->n, 0, to_us, &r->levels, rise)) {
        free(rise);
        return NULL;
    }
    return rise;
}

/* How long a repetition is recorded: two waits, and the rise. */
static double observed(const struct rig *r)
{
    return OBSERVED * r->wait_us + OBSERVED_LEAST_US + r->levels.ramp.tau_us.value;
}

/* ---- rows ---- */

static const char *what_of(const struct cell *c)
{
    static const char *const what[] = {"wait", "rearm", "toggle"};

    return what[c->number[0]];
}

static void name_row(const struct rig *r, const char *by)
{
    table_put_text(r->rows, "from", r->cell->a.name);
    table_put_text(r->rows, "to", r->cell->b.name);
    table_put_number(r->rows, "active_cores", r->cores);
    table_put_text(r->rows, "what", what_of(r->cell));
    table_put_text(r->rows, "by", by);
}

static void relaxation_cells_put_estimate(const struct rig *r, const char *column, struct estimate e)
{
    bool time = strcmp(column, "wait_us") == 0; /* which is never negative */
    table_put_limits(r->rows, column, e.value, time && e.lo < 0 ? 0 : e.lo, e.hi);
}

static void relaxation_cells_add_row(const struct rig *r, const char *by, size_t n, size_t discarded)
{
    table_add_row(r->rows);
    name_row(r, by);
    table_put_number(r->rows, "n", (double)n);
    table_put_number(r->rows, "discarded", (double)(discarded + r->invalid));
    relaxation_cells_put_estimate(r, "slow_ghz", r->step.slow_ghz);
    relaxation_cells_put_estimate(r, "plain_ghz", r->step.plain_ghz);
    table_put_number(r->rows, "fast_ghz", r->levels.fast);
    if (r->levels.ramp.tau_us.value > 0)
        relaxation_cells_put_estimate(r, "tau_us", r->levels.ramp.tau_us);
}

/* A wait: each is found on the grid of the samples, and what that is off by is alike in all repetitions. So is what the
 * shape of a ramp is off by. */
static void put_wait(const struct rig *r, struct estimate e)
{
    double grid = GRID_PERIODS * relaxation_period(r->context->options), ramp = r->levels.ramp.begin_half_us;
    table_put_limits(r->rows, "wait_us", e.value, e.value - hypot(e.value - e.lo, ramp) - grid,
                     e.value + hypot(e.hi - e.value, ramp) + grid);
}

__attribute__((format(printf, 3, 4))) static void add_missing(const struct rig *r, const char *by, const char *format,
                                                              ...)
{
    char why[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    table_add_missing(r->rows, why);
    name_row(r, by);
    table_put_number(r->rows, "slow_ghz", r->levels.slow);
    table_put_number(r->rows, "fast_ghz", r->levels.fast);
}

/* Three in five of the repetitions that nothing interrupted waited once or twice the same time: else the frequency
 * changes for other reasons. */
static bool agree(const struct relaxation_waits *w)
{
    size_t all = w->mode[0].n + w->mode[1].n + w->others + w->never;
    return w->close >= AGREE_LEAST && (double)w->close >= AGREE * (double)all;
}

/* ---- the pilot ---- */

/* What the pilot has found, and if there is no wait to measure, why. */
struct pilot {
    bool found, flat; /* flat: the frequency does not rise, or by too little */
    size_t n, rose;   /* repetitions; those in which it rose */
    bool again;       /* may be tried anew, with more repetitions */
    char why[300];
};

/* Whether one repetition at least was left alone, so that a rise would have shown. */
static int relaxation_cells_settled(const struct rig *r, bool *yes)
{
    struct rig pretended = *r;
    pretended.levels.fast = 2 * r->levels.slow;
    struct relaxation_rise *rise = rises(&pretended, 0, RELAXATION_PILOT_US);
    *yes = false;
    for (size_t i = 0; rise && i < r->n; i++)
        *yes = *yes || !rise[i].interruptions;
    free(rise);
    return rise ? 0 : -1;
}

/* Why the repetitions do not tell a wait; "" if they do. Returns whether more of them might. */
static bool relaxation_cells_judge(const struct rig *r, const struct relaxation_rise *rise,
                                   const struct relaxation_waits *w, char *why, size_t size)
{
    size_t early = 0;
    for (size_t i = 0; i < r->n; i++)
        early += rise[i].at_us < SHORTEST_US;
    why[0] = '\0';
    /* a frequency that moves by itself is high at once in some repetitions: those do not count as short waits */
    bool short_wait = (double)early >= NEARLY_ALL * (double)r->n && (double)r->levels.rose >= NEARLY_ALL * (double)r->n;
    if (short_wait || (agree(w) && w->mode[0].wait_us.value < SHORTEST_US))
        snprintf(why, size, "the frequency rises within %.0f us, too early to time", SHORTEST_US);
    else if (!agree(w))
        snprintf(
            why, size,
            "the frequency rose in that share of n repetitions, but the undisturbed ones disagree on when; " REMEDY);
    return why[0] && !short_wait;
}

static double usual_noise(const struct relaxation_rise *rise, size_t n, double *scratch)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = rise[i].noise;
    return robust_median(scratch, n);
}

/* Whether some waits were half as long: where waits are often double, few repetitions may hide the single ones. */
static bool may_be_double(const struct relaxation_rise *rise, size_t n, double wait_us)
{
    size_t half = 0;
    for (size_t i = 0; i < n; i++)
        half += fabs(rise[i].at_us / wait_us - 0.5) < 0.5 * PILOT_WITHIN;
    return half > 0;
}

/* Looks at so many repetitions. */
static int look_once(struct rig *r, size_t runs, struct pilot *p, struct machine_error *err)
{
    const struct segment segments[2] = {{r->cell->a, RELAXATION_FROM_US, false},
                                        {r->cell->b, RELAXATION_PILOT_US, true}};
    struct relaxation_waits waits;
    bool alone;
    *p = (struct pilot){.found = false};
    int status = relaxation_cells_record(r, segments, 2, 1, runs, 0, err);
    if (status != MACHINE_OK)
        return status;
    const char *why = relaxation_levels(&r->trace, r->span, r->n, 0, RELAXATION_PILOT_US, &r->levels);
    p->n = r->n;
    p->rose = r->levels.rose;
    if (why) {
        if (relaxation_cells_settled(r, &alone))
            return relaxation_cells_out_of_memory(err);
        p->flat = true;
        p->again = (!alone && !r->levels.slight) || r->levels.rose;
        snprintf(p->why, sizeof p->why, "%s", why);
        return MACHINE_OK;
    }
    struct relaxation_rise *rise = rises_by_ramp(r, RELAXATION_PILOT_US);
    double *scratch = malloc((r->n + 1) * sizeof *scratch);
    bool bad = !rise || !scratch || relaxation_waits(rise, r->n, &waits);
    if (!bad) {
        p->again = relaxation_cells_judge(r, rise, &waits, p->why, sizeof p->why) ||
                   may_be_double(rise, r->n, waits.mode[0].wait_us.value) || waits.kept; /* few agree by chance */
        r->noise = usual_noise(rise, r->n, scratch);
    }
    free(scratch);
    free(rise);
    if (bad)
        return relaxation_cells_out_of_memory(err);
    r->wait_us = waits.mode[0].wait_us.value;
    r->kept = waits.kept;
    p->found = !p->why[0];
    return MACHINE_OK;
}

/* Finds the levels and about how long the wait is. Long waits are often begun anew: then it takes more repetitions. */
static int relaxation_cells_pilot(struct rig *r, struct pilot *p, struct machine_error *err)
{
    int status = MACHINE_OK;
    p->again = true;
    for (int tries = 0; tries < PILOT_TRIES && p->again && status == MACHINE_OK; tries++)
        status = look_once(r, (size_t)PILOTS << tries, p, err);
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
        relaxation_cells_add_row(r, "nothing", m->n, w->kept ? 0 : w->interrupted);
        if (w->kept)
            table_put_number(r->rows, "kept", (double)w->interrupted);
        table_put_number(r->rows, "mode", k + 1);
        put_wait(r, m->wait_us);
        relaxation_cells_put_estimate(r, "share", m->share);
        table_put_number(r->rows, "sd_us", m->sd_us);
        table_put_number(r->rows, "others", (double)(w->others + w->never));
    }
    size_t interrupts = w->rearmed + w->not_rearmed;
    if (!interrupts)
        return;
    struct estimate share = threshold_share(w->rearmed, interrupts);
    relaxation_cells_add_row(r, "interrupt", interrupts, 0);
    table_put_text(r->rows, "what", "rearm");
    put_wait(r, w->after_interrupt_us);
    relaxation_cells_put_estimate(r, "share", share);
    table_put_text(r->rows, "rearmed", relaxation_verdict(&share));
}

static int measure_wait(struct rig *r, size_t runs, struct machine_error *err)
{
    double observe = observed(r);
    const struct segment segments[2] = {{r->cell->a, RELAXATION_FROM_US, false}, {r->cell->b, observe, true}};
    struct relaxation_waits waits;
    int status = relaxation_cells_record(r, segments, 2, 1, runs, 0.1, err);
    if (status != MACHINE_OK)
        return status;
    struct relaxation_rise *rise = rises_by_ramp(r, observe);
    bool bad = !rise || relaxation_waits(rise, r->n, &waits);
    free(rise);
    if (bad)
        return relaxation_cells_out_of_memory(err);
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

/* ---- what starts it anew ---- */

static int anew_of(const struct rig *r, const struct relaxation_rise *rise)
{
    return rise->interruptions && !r->kept ? -1 : relaxation_rearmed(rise->at_us, 0.5 * r->wait_us, r->wait_us);
}

/* Returns false, without a row, where the repetitions do not decide and more of them may. */
static bool rearm_row(const struct rig *r, const struct relaxation_rise *rise, const char *by, bool last)
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
    /* A double wait hides that another began anew within it: it counts only where single ones went on as well. */
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
        add_missing(r, by, "none of the rises in %zu repetitions fits either a restarted wait or a continued one",
                    r->n);
    } else {
        relaxation_cells_add_row(r, by, yes + no, other);
        put_wait(r, robust_mean(x ? x : &r->wait_us, m, REJECT, 0.5, NULL));
        relaxation_cells_put_estimate(r, "share", share);
        table_put_text(r->rows, "rearmed", verdict);
    }
    free(x);
    return true;
}

static int rearming_kernel(const struct cell *c, struct payload *out)
{
    char why[200];
    if (c->number[1] < relaxation_n_rearming)
        return kernel_parse(relaxation_rearming[c->number[1]], out, why, sizeof why);
    *out = c->a;
    return 0;
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
        status = relaxation_cells_record(r, segments, 4, 3, more * runs, 0.2, err);
        struct relaxation_rise *rise = status == MACHINE_OK ? rises(r, 0, observe) : NULL;
        if (status == MACHINE_OK && !rise)
            status = relaxation_cells_out_of_memory(err);
        if (rise)
            done = rearm_row(r, rise, by->name, 2 * more > REARM_MORE);
        free(rise);
    }
    return status;
}

/* ---- toggling ---- */

/* Waits of all toggles of one repetition; *slope: how they change from one to the next, NaN with less than three. */
struct toggles {
    size_t n, rose, interrupted;
    double *wait;  /* of those that rose */
    double *slope; /* of the repetitions */
    size_t n_slopes;
};

static double slope_of(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xy = 0, xx = 0;
    if (n < 3)
        return NAN;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xy += (x[i] - mx) * (y[i] - my);
        xx += (x[i] - mx) * (x[i] - mx);
    }
    return xy / xx;
}

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
    double slope = slope_of(number, wait, m);
    if (!isnan(slope))
        t->slope[t->n_slopes++] = slope;
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
    relaxation_cells_add_row(r, by, t->n, t->interrupted);
    table_put_number(r->rows, "duty_us", duty_us);
    relaxation_cells_put_estimate(r, "share", rose);
    put_wait(r, robust_mean(t->wait, t->rose, REJECT, 0.5, NULL));
    relaxation_cells_put_estimate(r, "trend_us", robust_mean(t->slope, t->n_slopes, REJECT, 0.5, NULL));
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
    int status = t.wait && t.slope ? relaxation_cells_record(r, segments, n, 1, runs, 0.3, err)
                                   : relaxation_cells_out_of_memory(err);
    for (size_t i = 0; i < r->n && status == MACHINE_OK; i++)
        if (look_at_run(r, i, duty_us, &t))
            status = relaxation_cells_out_of_memory(err);
    if (status == MACHINE_OK)
        toggle_row(r, &t, duty_us);
    free(t.wait);
    free(t.slope);
    return status;
}

/* ---- one cell ---- */

size_t relaxation_runs(const struct tables_options *o, unsigned kind)
{
    enum { RUNS = 200, BRIEF_RUNS = 60, REARM_RUNS = 24, TOGGLE_RUNS = 20, BRIEF_OTHERS = 8 };
    if (kind == RELAXATION_WAIT)
        return o->runs ? o->runs : o->brief ? BRIEF_RUNS : RUNS;
    return o->brief ? BRIEF_OTHERS : kind == RELAXATION_REARM ? REARM_RUNS : TOGGLE_RUNS;
}

double relaxation_period(const struct tables_options *o)
{
    return o->period_us > 0 ? o->period_us : RELAXATION_PERIOD_US;
}

static int after_pilot(struct rig *r, const struct payload *by, struct machine_error *err)
{
    unsigned kind = r->cell->number[0];
    size_t runs = relaxation_runs(r->context->options, kind);
    if (kind == RELAXATION_WAIT)
        return measure_wait(r, runs, err);
    if (kind == RELAXATION_REARM && r->wait_us < ROOM_US) {
        add_missing(r, by->name, "the wait is shorter than %.0f us, too short to run other code in the middle of it",
                    ROOM_US);
        return MACHINE_OK;
    }
    if (kind == RELAXATION_REARM)
        return measure_rearm(r, by, runs, err);
    int status = measure_toggle(r, BELOW * r->wait_us, runs, err);
    double room = fmax(fmax((ABOVE - 1) * r->wait_us, ABOVE_LEAST_US), ABOVE_TAUS * r->levels.ramp.tau_us.value);
    double seen = relaxation_period(r->context->options) * pow(ABOVE_SIGMAS * r->noise, 2);
    room = fmax(room, fmin(seen, ABOVE_MOST * r->wait_us));
    return status == MACHINE_OK ? measure_toggle(r, r->wait_us + room, runs, err) : status;
}

/* The cell with so many active cores; *p says whether there was anything to measure. */
static int with_cores(struct rig *r, unsigned cores, const struct payload *by, struct pilot *p,
                      struct machine_error *err)
{
    struct machine_setup setup = tables_setup(r->context, "relaxation", r->cell);
    setup.period_us = relaxation_period(r->context->options);
    setup.active_cores = r->cores = cores;
    /* the longest recording: toggling, with a wait as long as the pilot can find */
    int status = sequence_begin(&r->sequence, r->context->machine, &setup,
                                TOGGLES * (ABOVE * RELAXATION_PILOT_US + RELAXATION_AGAIN_US), err);
    if (status != MACHINE_OK)
        return status;
    status = relaxation_cells_pilot(r, p, err);
    if (status == MACHINE_OK && p->found)
        status = relaxation_compare(&r->sequence, r->context, r->cell, r->wait_us, &r->step, err);
    if (status == MACHINE_OK && p->found && !relaxation_is_slower(&r->step, p->why, sizeof p->why)) {
        p->found = false;
        p->flat = true;
    }
    if (status == MACHINE_OK && p->found)
        status = after_pilot(r, by, err);
    sequence_end(&r->sequence);
    return status;
}

/* How often it rose stands in columns: like reasons are then told once. */
static void no_wait(const struct rig *r, const char *by, const struct pilot *p, const char *otherwise)
{
    add_missing(r, by, "no wait was seen within %.0f ms: %s%s", RELAXATION_PILOT_US / 1000, p->why, otherwise);
    if (p->flat && !p->rose)
        return;
    table_put_number(r->rows, "share", (double)p->rose / (double)p->n);
    table_put_number(r->rows, "n", (double)p->n);
}

/*
 * Some processors are as fast with all cores active whatever they run, and lower their frequency only where few are:
 * where nobody chose the number of cores a single one is tried then.
 */
static int relaxation_cells_measure_cell(struct rig *r, const struct payload *by, struct machine_error *err)
{
    const unsigned cores = r->cell->active_cores;
    const char *of = r->cell->number[0] == RELAXATION_REARM ? by->name : "nothing";
    bool chosen = r->context->options->n_active > 0;
    struct pilot first = {.found = false}, one = {.found = false};
    int status = with_cores(r, cores, by, &first, err);
    if (status != MACHINE_OK || first.found)
        return status;
    struct relaxation_levels levels = r->levels;
    if (first.flat && cores > 1 && !chosen)
        status = with_cores(r, 1, by, &one, err);
    if (status != MACHINE_OK)
        return status;
    if (!one.found && one.why[0] && !one.flat)
        no_wait(r, of, &one, "");
    r->cores = cores;
    r->levels = levels;
    no_wait(r, of, &first,
            one.found                           ? "; with 1 active core there is one"
            : one.flat                          ? "; the same with 1 active core"
            : first.flat && cores > 1 && chosen ? "; fewer active cores may show one (--active-cores 1)"
                                                : "");
    return MACHINE_OK;
}

int relaxation_measure(const struct tables_context *x, const struct cell *c, struct table *rows,
                       struct machine_error *err)
{
    struct rig r = {.context = x, .cell = c, .rows = rows};
    struct payload by;
    if (rearming_kernel(c, &by))
        return machine_fail(err, MACHINE_FAILED, "", "cell %s has no kernel", c->id);
    trace_init(&r.trace);
    int status = relaxation_cells_measure_cell(&r, &by, err);
    trace_free(&r.trace);
    free(r.span);
    return status;
}
