/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether the core is slower right after the wide code than plain code that nothing wide came before. A frequency that
 * moves by itself rises sooner or later after any code; only a frequency that was lower before is a wait.
 */
#include <math.h>
#include <stdio.h>

#include "analysis/stats/blocks.h"
#include "analysis/stats/robust.h"
#include "analysis/stats/threshold.h"
#include "tables/relaxation/relaxation_parts.h"
#include "tables/relaxation/relaxation_rig.h"
#include "tables/switches/switches.h"
#include "tables/table/sights.h"

/*
 * Whether there is a wait at all, where cycles are not counted: noise passes for rises then, repetition by repetition.
 * The switch itself, pooled and held against its null and against either kernel alone, tells.
 */

enum { LOOK_RUNS = 40 };
#define LOOK_US 1500.0 /* guarded_switch() goes on for longer where the core does not come to rest within */

/* The wait: the phases of the second kernel until the frequency rises, the first of which has its modes. */
static void look_at_wait(const struct phases *p, const struct transition_summary *s, struct relaxation_seen *out)
{
    const size_t first = transition_first_phase_after_switch(p);
    const struct phase *slow = first < p->n_phases ? &p->phases[first] : NULL;
    if (!slow || slow->kind != PHASE_SLOW || !estimates_known(&slow->duration_us))
        return;
    out->wait_us = slow->duration_us;
    out->n = slow->agreeing_runs;
    out->share = threshold_share(
        (size_t)lround((slow->n_modes ? slow->modes[0].share : 1) * (double)slow->agreeing_runs), slow->agreeing_runs);
    out->slow_ghz = slow->freq_ghz;
    out->fast_ghz = s->to_ghz;
}

int relaxation_look(const struct relaxation_rig *r, struct relaxation_seen *out, struct machine_error *err)
{
    static const struct estimate unknown = {NAN, NAN, NAN};
    const struct machine *m = r->context->machine;
    struct cell cell = *r->cell;
    struct switches_seen seen;
    struct transition_summary s;
    *out = (struct relaxation_seen){.wait_us = unknown};
    if (!m->ops->lacks(m, COUNTER_CYCLES, NULL))
        return MACHINE_OK;
    cell.active_cores = r->cores;
    int status = switches_look(r->context, "relaxation", &cell, &cell.a, &cell.b, LOOK_RUNS, LOOK_US, false, &seen,
                               err);
    if (status != MACHINE_OK)
        return status;
    transition_summarize(&seen.result.trace, &seen.phases, &s);
    out->none = !seen.unsettled[0] && s.kind != SWITCH_FREQUENCY && s.kind != SWITCH_UNDECIDED;
    if (out->none && isfinite(seen.phases.detectable_freq))
        snprintf(out->why, sizeof out->why,
                 "the frequency is the same before and after the switch; a step of %.0f %% would have been found",
                 ceil(100 * seen.phases.detectable_freq));
    else if (out->none)
        snprintf(out->why, sizeof out->why, "the frequency is the same before and after the switch");
    else if (!seen.unsettled[0] && s.kind == SWITCH_FREQUENCY)
        look_at_wait(&seen.phases, &s, out);
    guarded_free(&seen);
    return MACHINE_OK;
}

void relaxation_put_seen(struct relaxation_rig *r, const struct relaxation_seen *seen)
{
    r->step = (struct relaxation_step){seen->slow_ghz, seen->fast_ghz};
    r->levels.fast = seen->fast_ghz.value;
    relaxation_add_row(r, "nothing", seen->n, 0);
    table_put_number(r->rows, "mode", 1);
    relaxation_put_wait(r, seen->wait_us);
    estimates_put(r->rows, "share", seen->share);
}

#define SETTLE_US 5.0 /* the first samples run the sampling loop in */
#define WINDOW_US 100.0
#define EARLY 0.8             /* of the wait */
#define BEFORE 2.2            /* waits, of which some last twice as long: what the repetition before has left is over */
#define BEFORE_MOST_US 9000.0 /* with the rest less than the 10 ms of the kernel helper */
#define REJECT 5.0
enum { PAIRS = 24, BRIEF_PAIRS = 12, TRIES = 4 };

/* The frequency of plain code in a window after `before`; NaN: something interrupted all tries. */
static int relaxation_plain_one(struct sequence *q, const struct payload *before, double before_us,
                                const struct payload *plain, double window_us, double *ghz, struct machine_error *err)
{
    const struct segment segments[2] = {{*before, before_us, false}, {*plain, window_us, true}};
    *ghz = NAN;
    for (int tries = 0; tries < TRIES && isnan(*ghz); tries++) {
        struct sequence_run run;
        struct sight sight;
        struct trace t;
        trace_init(&t);
        if (sequence_trace(q, &t)) {
            trace_free(&t);
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        }
        int status = sequence_record(q, segments, 2, 1, &t, &run, err);
        if (status == MACHINE_OK && !run.invalid[0] &&
            !sights_look(&t, sights_span(&t, run.run), SETTLE_US, window_us, &sight))
            *ghz = sight.freq;
        trace_free(&t);
        if (status != MACHINE_OK)
            return status;
    }
    return MACHINE_OK;
}

/* What moves slowly is alike in neighbours: limits are those of blocks of them where these are wider. */
static struct estimate mean_of(const double *ghz, size_t n)
{
    struct estimate e = robust_mean(ghz, n, REJECT, 0, NULL);
    blocks_widen(ghz, n, e.value, INFINITY, &e);
    return e;
}

int relaxation_compare(struct sequence *q, const struct tables_context *x, const struct cell *c, double wait_us,
                       struct relaxation_step *out, struct machine_error *err)
{
    double slow[PAIRS], plain[PAIRS], window = fmin(WINDOW_US, EARLY * wait_us) + relaxation_period(x->options);
    double before = fmin(fmax(BEFORE * wait_us, RELAXATION_FROM_US), BEFORE_MOST_US);
    size_t n = 0, pairs = x->options->brief ? BRIEF_PAIRS : PAIRS;
    for (size_t i = 0; i < pairs; i++) {
        for (size_t k = 0; k < 2; k++) { /* in turns, so that what drifts is in both */
            bool wide = (i + k) % 2 == 0;
            int status = relaxation_plain_one(q, wide ? &c->a : &c->b, wide ? RELAXATION_FROM_US : before, &c->b,
                                              window, wide ? &slow[n] : &plain[n], err);
            if (status != MACHINE_OK)
                return status;
        }
        if (tables_stop(x, 0.1))
            return machine_fail(err, MACHINE_FAILED, "", "interrupted");
        n += !isnan(slow[n]) && !isnan(plain[n]);
    }
    out->slow_ghz = mean_of(slow, n);
    out->plain_ghz = mean_of(plain, n);
    return MACHINE_OK;
}

bool relaxation_is_slower(const struct relaxation_step *s, char *why, size_t size)
{
    char slow[ESTIMATE_TEXT_MAX], plain[ESTIMATE_TEXT_MAX];
    if (estimates_above(&s->plain_ghz, &s->slow_ghz) && s->plain_ghz.value > s->slow_ghz.value * (1 + FREQUENCY_SAME))
        return true;
    if (!estimates_known(&s->plain_ghz) || !estimates_known(&s->slow_ghz)) {
        snprintf(why, size,
                 "the frequency before the rise could not be compared with that of the same code alone: nearly all "
                 "repetitions were interrupted; stop other programs, or choose another CPU with --cpu");
        return false;
    }
    snprintf(why, size,
             "the frequency before the rise, %s GHz, is indistinguishable from that of the same code alone, %s GHz, so "
             "the rise does not end a wait",
             estimates_text(&s->slow_ghz, 3, slow), estimates_text(&s->plain_ghz, 3, plain));
    return false;
}
