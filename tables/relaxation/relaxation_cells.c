/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cells of the relaxation table. Each begins with a pilot of its own, which shows how long the wait is about: what
 * is measured then is cut to fit.
 */
#include "tables/relaxation/relaxation_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/relaxation/relaxation_rig.h"
#include "tables/relaxation/relaxation_fit.h"
#include "analysis/phases/repetitions/clock.h"
#include "analysis/stats/robust.h"
#include "analysis/stats/threshold.h"
#include "probes/sequence.h"
#include "util/order.h"

#define BELOW 0.9  /* of the wait: duty periods of toggling ... */
#define ABOVE 1.15 /* ... long enough for the halt and the rise to show */
#define ABOVE_LEAST_US 40.0
#define ABOVE_TAUS 1.5                    /* ... or a ramp, ... */
#define ABOVE_SIGMAS 9.0                  /* ... and for noise not to hide it: the five that a rise takes, and four */
#define ABOVE_MOST 0.8                    /* of the wait: less than another one */
#define SHORTEST_US 40.0                  /* of the waits that are measured: there must be samples before the rise */
#define BEFORE_US 60.0                    /* of either kernel, where such a wait is looked for */
#define ROOM_US (4 * RELAXATION_BURST_US) /* a shorter wait has no room for a burst in its middle */
#define AGREE 0.6
#define NEARLY_ALL 0.9
#define PILOT_WITHIN 0.15 /* of the wait, as modes of one and of two are told apart */
#define REMEDY "stop other programs, or choose another CPU with --cpu"
enum { PILOTS = 8, PILOT_TRIES = 3, AGREE_LEAST = 3 };

const char *const relaxation_rearming[] = {"512or", "256fma", "256or", "128or", "64add"};
const size_t relaxation_n_rearming = sizeof relaxation_rearming / sizeof relaxation_rearming[0];

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
    bool kept;        /* flat, below the frequency of the same code alone */
    size_t n, rose;   /* repetitions; those in which it rose */
    bool again;       /* may be tried again, with more repetitions */
    char why[300];
};

/* Whether one repetition at least was left alone, so that a rise would have shown. */
static int settled(const struct relaxation_rig *r, bool *yes)
{
    struct relaxation_rig pretended = *r;
    pretended.levels.fast = 2 * r->levels.slow;
    struct relaxation_rise *rise = relaxation_rig_rises(&pretended, RELAXATION_PILOT_US);
    *yes = false;
    for (size_t i = 0; rise && i < r->n; i++)
        *yes = *yes || !rise[i].interruptions;
    free(rise);
    return rise ? 0 : -1;
}

static void tell_early(const struct relaxation_rig *r, char *why, size_t size)
{
    snprintf(why, size, "the frequency rises within %.0f us, too early to time here; --transition %s:%s does",
             SHORTEST_US, r->cell->a.name, r->cell->b.name);
}

/* Why the repetitions do not tell a wait; "" if they do. Returns whether more of them might. */
static bool judge(const struct relaxation_rig *r, const struct relaxation_rise *rise, const struct relaxation_waits *w,
                  char *why, size_t size)
{
    size_t early = 0;
    for (size_t i = 0; i < r->n; i++)
        early += rise[i].at_us < SHORTEST_US;
    why[0] = '\0';
    /* a frequency that moves by itself is high at once in some repetitions: those do not count as short waits */
    bool short_wait = (double)early >= NEARLY_ALL * (double)r->n && (double)r->levels.rose >= NEARLY_ALL * (double)r->n;
    if (short_wait || (agree(w) && w->mode[0].wait_us.value < SHORTEST_US))
        tell_early(r, why, size);
    else if (!agree(w))
        snprintf(
            why, size,
            "the frequency rose in that share of n repetitions, but the undisturbed ones disagree on when; " REMEDY);
    return why[0] && !short_wait;
}

/* Whether some waits were half as long: where waits are often double, few repetitions may hide the single ones. */
static bool may_be_double(const struct relaxation_rise *rise, size_t n, double wait_us)
{
    size_t half = 0;
    for (size_t i = 0; i < n; i++)
        half += fabs(rise[i].at_us / wait_us - 0.5) < 0.5 * PILOT_WITHIN;
    return half > 0;
}

/* Whether a frequency that does not rise, or not at one time, had risen by the first samples already, as the wide code
 * itself shows: on some processors it does so within 3 us. Then the pilot says that, and has its frequencies. */
static int look_before(struct relaxation_rig *r, struct pilot *p, struct machine_error *err)
{
    const struct segment segments[3] = {{r->cell->a, RELAXATION_FROM_US, false},
                                        {r->cell->a, BEFORE_US, true},
                                        {r->cell->b, SHORTEST_US + BEFORE_US, true}};
    size_t rose = 0;
    int status = relaxation_rig_record(r, segments, 3, 2, PILOTS, 0, err);
    if (status != MACHINE_OK)
        return status;
    double *scratch = malloc(2 * (r->trace.n + r->n + 1) * sizeof *scratch);
    if (!scratch)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    double *before = scratch + 2 * r->trace.n, *after = before + r->n;
    for (size_t i = 0; i < r->n; i++) {
        const struct sights_span *s = &r->span[i];
        before[i] = clock_middle_between(&r->trace, TRACE_FREQ, s->first, s->last, -BEFORE_US, 0, scratch);
        after[i] = clock_middle_between(&r->trace, TRACE_FREQ, s->first, s->last, SHORTEST_US, INFINITY, scratch);
        rose += after[i] > before[i] * (1 + RELAXATION_STEP_LEAST);
    }
    if ((double)rose >= NEARLY_ALL * (double)r->n) {
        p->flat = p->again = false;
        p->n = r->n;
        p->rose = rose;
        r->levels.slow = order_median(before, r->n);
        r->levels.fast = order_median(after, r->n);
        tell_early(r, p->why, sizeof p->why);
    }
    free(scratch);
    return MACHINE_OK;
}

/* Looks at so many repetitions. */
static int look_once(struct relaxation_rig *r, size_t runs, struct pilot *p, struct machine_error *err)
{
    const struct segment segments[2] = {{r->cell->a, RELAXATION_FROM_US, false},
                                        {r->cell->b, RELAXATION_PILOT_US, true}};
    struct relaxation_waits waits;
    bool alone;
    *p = (struct pilot){.found = false};
    int status = relaxation_rig_record(r, segments, 2, 1, runs, 0, err);
    if (status != MACHINE_OK)
        return status;
    const char *why = relaxation_levels(&r->trace, r->span, r->n, 0, RELAXATION_PILOT_US, &r->levels);
    p->n = r->n;
    p->rose = r->levels.rose;
    if (why) {
        if (settled(r, &alone))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        p->flat = true;
        p->again = (!alone && !r->levels.slight) || r->levels.rose;
        snprintf(p->why, sizeof p->why, "%s", why);
        return MACHINE_OK;
    }
    struct relaxation_rise *rise = relaxation_rig_rises_by_ramp(r, RELAXATION_PILOT_US);
    double *scratch = malloc(r->n * sizeof *scratch); /* rises have been seen: there are some */
    bool bad = !rise || !scratch || relaxation_waits(rise, r->n, &waits);
    if (!bad) {
        p->again = judge(r, rise, &waits, p->why, sizeof p->why) ||
                   may_be_double(rise, r->n, waits.mode[0].wait_us.value) || waits.kept || /* few agree by chance */
                   (!r->levels.halts && !(r->levels.ramp.tau_us.value > 0)); /* noise hides how it rises */
        for (size_t i = 0; i < r->n; i++)
            scratch[i] = rise[i].noise;
        r->noise = order_median(scratch, r->n);
    }
    free(scratch);
    free(rise);
    if (bad)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    r->wait_us = waits.mode[0].wait_us.value;
    r->kept = waits.kept;
    p->found = !p->why[0];
    return MACHINE_OK;
}

/* Finds the levels and about how long the wait is. Long waits are often begun again: then it takes more repetitions. */
static int relaxation_cells_pilot(struct relaxation_rig *r, struct pilot *p, struct machine_error *err)
{
    int status = MACHINE_OK;
    p->again = true;
    for (int tries = 0; tries < PILOT_TRIES && p->again && status == MACHINE_OK; tries++)
        status = look_once(r, (size_t)PILOTS << tries, p, err);
    return status == MACHINE_OK && !p->found ? look_before(r, p, err) : status;
}

/* ---- the wait and its distribution ---- */

/* Whether the repetitions show the wait of the pilot, or either the double of the other. */
static bool as_in_pilot(const struct relaxation_rig *r, double wait_us)
{
    return fabs(wait_us / r->wait_us - 1) < PILOT_WITHIN || fabs(wait_us / r->wait_us / 2 - 1) < PILOT_WITHIN ||
           fabs(wait_us / r->wait_us * 2 - 1) < PILOT_WITHIN;
}

static void wait_rows(const struct relaxation_rig *r, const struct relaxation_waits *w)
{
    for (int k = 0; k < 2; k++) {
        const struct relaxation_mode *m = &w->mode[k];
        if (!m->n)
            continue;
        relaxation_add_row(r, "nothing", m->n, w->kept ? 0 : w->interrupted);
        if (w->kept)
            table_put_number(r->rows, "kept", (double)w->interrupted);
        table_put_number(r->rows, "mode", k + 1);
        relaxation_put_wait(r, m->wait_us);
        estimates_put(r->rows, "share", m->share);
        table_put_number(r->rows, "sd_us", m->sd_us);
        table_put_number(r->rows, "others", (double)(w->others + w->never));
    }
    size_t interrupts = w->rearmed + w->not_rearmed;
    if (!interrupts)
        return;
    struct estimate share = threshold_share(w->rearmed, interrupts);
    relaxation_add_row(r, "interrupt", interrupts, 0);
    table_put_text(r->rows, "what", "rearm");
    const char *verdict = relaxation_verdict(&share);
    if (!strcmp(verdict, "yes")) /* else these are few, and may be no restarts */
        relaxation_put_wait(r, w->after_interrupt_us);
    estimates_put(r->rows, "share", share);
    table_put_text(r->rows, "rearmed", verdict);
}

static int measure_wait(struct relaxation_rig *r, size_t runs, struct machine_error *err)
{
    double observe = relaxation_rig_observed(r);
    const struct segment segments[2] = {{r->cell->a, RELAXATION_FROM_US, false}, {r->cell->b, observe, true}};
    struct relaxation_waits waits;
    int status = relaxation_rig_record(r, segments, 2, 1, runs, 0.1, err);
    if (status != MACHINE_OK)
        return status;
    struct relaxation_rise *rise = relaxation_rig_rises_by_ramp(r, observe);
    bool bad = !rise || relaxation_waits(rise, r->n, &waits);
    free(rise);
    if (bad)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (!waits.mode[0].n)
        relaxation_add_missing(r, "nothing", "all %zu repetitions were disturbed before the frequency rose", r->n);
    else if (!agree(&waits))
        relaxation_add_missing(r, "nothing", "the frequency rises, but the repetitions disagree on when; " REMEDY);
    else if (!as_in_pilot(r, waits.mode[0].wait_us.value))
        relaxation_add_missing(
            r, "nothing",
            "the frequency rises after %.0f us here, but after %.0f us in the repetitions before; " REMEDY,
            waits.mode[0].wait_us.value, r->wait_us);
    else
        wait_rows(r, &waits);
    return MACHINE_OK;
}

/* ---- one cell ---- */

size_t relaxation_runs(const struct tables_options *o, unsigned kind)
{
    enum { RUNS = 200, BRIEF_RUNS = 60, REARM_RUNS = 24, TOGGLE_RUNS = 20, BRIEF_OTHERS = 8 };
    if (kind == RELAXATION_WAIT)
        return o->runs ? o->runs : o->brief ? BRIEF_RUNS : RUNS;
    return o->brief ? BRIEF_OTHERS : kind == RELAXATION_REARM ? REARM_RUNS : TOGGLE_RUNS;
}

static int after_pilot(struct relaxation_rig *r, const struct payload *by, struct machine_error *err)
{
    unsigned kind = r->cell->number[0];
    size_t runs = relaxation_runs(r->context->options, kind);
    if (kind == RELAXATION_WAIT)
        return measure_wait(r, runs, err);
    if (kind == RELAXATION_REARM && r->wait_us < ROOM_US) {
        relaxation_add_missing(
            r, by->name, "the wait is shorter than %.0f us, too short to run other code in the middle of it", ROOM_US);
        return MACHINE_OK;
    }
    if (kind == RELAXATION_REARM)
        return relaxation_measure_rearm(r, by, runs, err);
    int status = relaxation_measure_toggle(r, BELOW * r->wait_us, runs, err);
    double room = fmax(fmax((ABOVE - 1) * r->wait_us, ABOVE_LEAST_US), ABOVE_TAUS * r->levels.ramp.tau_us.value);
    double seen = relaxation_period(r->context->options) * pow(ABOVE_SIGMAS * r->noise, 2);
    room = fmax(room, fmin(seen, ABOVE_MOST * r->wait_us));
    return status == MACHINE_OK ? relaxation_measure_toggle(r, r->wait_us + room, runs, err) : status;
}

/* Registers left dirty may keep the core slow for as long as they are: whether a frequency that does not rise is below
 * that of the code alone. */
static int never_returns(struct relaxation_rig *r, struct pilot *p, struct machine_error *err)
{
    char ignored[300];
    int status = relaxation_compare(&r->sequence, r->context, r->cell, RELAXATION_PILOT_US, &r->step, err);
    if (status != MACHINE_OK || !relaxation_is_slower(&r->step, ignored, sizeof ignored))
        return status;
    p->kept = true;
    snprintf(p->why, sizeof p->why, "%s left dirty keep the core below the frequency of the same code alone",
             r->cell->a.kernel->width > 512 ? "tiles" : "upper halves");
    return MACHINE_OK;
}

/* The cell with so many active cores; *p says whether there was anything to measure. */
static int with_cores(struct relaxation_rig *r, unsigned cores, const struct payload *by, struct pilot *p,
                      struct machine_error *err)
{
    struct machine_setup setup = tables_setup(r->context, "relaxation", r->cell);
    struct relaxation_seen seen;
    setup.period_us = relaxation_period(r->context->options);
    setup.active_cores = r->cores = cores;
    int status = relaxation_look(r, &seen, err);
    const bool dirty = r->cell->a.dirty; /* the switch alone does not tell that it keeps the core slow */
    *p = (struct pilot){.flat = true};
    snprintf(p->why, sizeof p->why, "%s", seen.why);
    if (status != MACHINE_OK || (seen.none && !dirty))
        return status;
    /* the longest recording: toggling, with a wait as long as the pilot can find */
    status = sequence_begin(&r->sequence, r->context->machine, &setup,
                            RELAXATION_TOGGLES * (ABOVE * RELAXATION_PILOT_US + RELAXATION_AGAIN_US), err);
    if (status != MACHINE_OK)
        return status;
    if (!seen.none)
        status = relaxation_cells_pilot(r, p, err);
    if (status == MACHINE_OK && p->flat && !p->rose && dirty)
        status = never_returns(r, p, err);
    if (status == MACHINE_OK && p->found)
        status = relaxation_compare(&r->sequence, r->context, r->cell, r->wait_us, &r->step, err);
    if (status == MACHINE_OK && p->found && !relaxation_is_slower(&r->step, p->why, sizeof p->why)) {
        p->found = false;
        p->flat = true;
    }
    if (status == MACHINE_OK && p->found)
        status = after_pilot(r, by, err);
    sequence_end(&r->sequence);
    if (status == MACHINE_OK && !p->found && r->cell->number[0] == RELAXATION_WAIT && estimates_known(&seen.wait_us)) {
        p->found = true;
        relaxation_put_seen(r, &seen);
    }
    return status;
}

/* How often it rose stands in columns: like reasons are then told once. */
static void no_wait(const struct relaxation_rig *r, const char *by, const struct pilot *p, const char *otherwise)
{
    if (p->kept) {
        relaxation_add_missing(r, by, "not returned within %.0f us: %s", RELAXATION_PILOT_US, p->why);
        estimates_put(r->rows, "slow_ghz", r->step.slow_ghz);
        estimates_put(r->rows, "plain_ghz", r->step.plain_ghz);
        return;
    }
    relaxation_add_missing(r, by, "no wait was seen within %.0f ms: %s%s", RELAXATION_PILOT_US / 1000, p->why,
                           otherwise);
    if (p->flat && !p->rose)
        return;
    table_put_number(r->rows, "share", (double)p->rose / (double)p->n);
    table_put_number(r->rows, "n", (double)p->n);
}

/*
 * Some processors are as fast with all cores active whatever they run, and lower their frequency only where few are:
 * where nobody chose the number of cores a single one is tried then.
 */
static int measure_cell(struct relaxation_rig *r, const struct payload *by, struct machine_error *err)
{
    const unsigned cores = r->cell->active_cores;
    const char *of = r->cell->number[0] == RELAXATION_REARM ? by->name : "nothing";
    bool chosen = r->context->options->n_active > 0;
    struct pilot first = {.found = false}, one = {.found = false};
    int status = with_cores(r, cores, by, &first, err);
    if (status != MACHINE_OK || first.found)
        return status;
    struct relaxation_levels levels = r->levels;
    if (first.flat && !first.kept && cores > 1 && !chosen)
        status = with_cores(r, 1, by, &one, err);
    if (status != MACHINE_OK)
        return status;
    if (!one.found && *one.why && !one.flat)
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
    struct relaxation_rig r = {.context = x, .cell = c, .rows = rows, .levels = {.slow = NAN, .fast = NAN}};
    struct payload by = c->a;
    if (c->number[1] < relaxation_n_rearming)
        kernel_parse(relaxation_rearming[c->number[1]], &by, NULL, 0);
    trace_init(&r.trace);
    int status = measure_cell(&r, &by, err);
    trace_free(&r.trace);
    free(r.span);
    return status;
}
