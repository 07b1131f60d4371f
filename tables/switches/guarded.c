/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One switch, recorded from a first kernel that has come to rest at its own frequency until the second has. Neither is
 * given: on silicon a repetition begins where the one before ended, and a processor may throttle or wait for longer
 * than is recorded. So both kernels are seen alone first, for longer than any known wait (README, Limits), and the
 * recording is held against that.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/checks/cross_check.h"
#include "analysis/phases/checks/switch_cost.h"
#include "analysis/phases/repetitions/settling.h"
#include "analysis/phases/repetitions/slow_start.h"
#include "analysis/phases/phases.h"
#include "probes/granted_switch.h"
#include "probes/sequence.h"
#include "tables/switches/alone.h"
#include "tables/switches/guarded.h"
#include "tables/switches/later.h"
#include "util/text_list.h"

enum { STEADY_RUNS = 3, STEADY_TRIES = 9, ATTEMPTS = 8 };
#define STEADY_US 8000.0
#define STEADY_SAMPLED_US 40.0
#define DIRTY_US 200.0        /* of a first kernel that leaves upper halves in use: what follows is slow for good */
#define REPETITION_US 9900.0  /* so long a repetition all machines can do */
#define WARMUP_MOST_US 4900.0 /* with a recording of the greatest length again less than 10 ms */
#define OBSERVE_MOST_US 4900.0
#define BACK_US 100e3 /* of a first kernel that has run for so long a repetition need not be asked */
#define LONGER 4.0
/* Relative: by so much the second kernel's rate and frequency may change during a recording of a few hundred us, which
 * is then made longer, and of the longest of those that are short, which is then made much longer. */
#define RATE_MAY_MOVE 0.003
#define FREQ_MAY_MOVE 0.0015
#define FREQ_FAR 0.01 /* ... and so far the frequency may be from where it is in the long run */
#define RATE_MOVES 0.01
#define FREQ_MOVES 0.003
#define LONG_PERIOD_MOST_US 5.0 /* at the switch of a long recording: its fine part has 150 of them */
#define PERIOD_LEAST_US 0.5     /* shorter samples are mostly reading */
#define HELD_ROOM_US 500.0      /* of a repetition of probes/held.h besides its long stretches */

struct attempt {
    const struct guard *guard;
    struct kernel_alone from, to;
    unsigned number;
    bool slow;         /* something moves for longer than a few milliseconds */
    bool looked_later; /* ... which was asked for seconds, and is not */
    bool stopped;
};

static int guarded_on_progress(void *data, unsigned done, unsigned wanted)
{
    struct attempt *a = data;
    const struct guard *g = a->guard;
    a->stopped = a->stopped || (g->progress && g->progress(g->data, done, wanted));
    return a->stopped;
}

/* How long a repetition of the machine may last; 0: as long as anybody wants. */
static double longest_us(const struct machine *m)
{
    struct machine_info info;
    m->ops->info(m, &info);
    return info.longest_us;
}

/* ---- either kernel alone ---- */

/* So long a repetition all machines can do, but not a slow one, such as an emulated machine whose kernel helper masks
 * interrupts for 10 ms at most: the first half is a repetition of its own, and the core rests for microseconds. */
static int run_first_half(const struct sequence *q, const struct payload *p, double us, struct machine_error *err)
{
    const struct segment segment = {*p, us, false};
    const struct run_request request = {.segments = &segment, .n_segments = 1, .repetition = q->repetition};
    struct recording unused;
    return q->machine->ops->run(q->machine, &request, &unused, err);
}

/* Repetitions of one kernel, behind another where that is dirty; what could be seen of it is added to *seen. */
static int guarded_see(struct sequence *q, struct attempt *a, const struct payload *p, const struct payload *before,
                       double sampled_us, struct kernel_alone *seen, struct machine_error *err)
{
    double alone_us = fmax(0, fmin(STEADY_US, REPETITION_US - DIRTY_US - sampled_us));
    if (q->patient)
        alone_us = SLOWEST_US;
    size_t skip = before->dirty ? 0 : 1;
    double part_us = skip ? 0.5 * alone_us : alone_us; /* in one go where upper halves must stay in use */
    const struct segment segments[3] = {{*before, DIRTY_US, false}, {*p, part_us, false}, {*p, sampled_us, true}};
    int status = MACHINE_OK;
    unsigned kept = 0;
    for (unsigned k = 0; !status && !a->stopped && kept < STEADY_RUNS && k < STEADY_TRIES; k++) {
        bool valid = false;
        status = skip ? run_first_half(q, p, part_us, err) : MACHINE_OK;
        if (!status)
            status = alone_see(q, segments + skip, 3 - skip, 2 - skip, seen, &valid, err);
        kept += valid;
        guarded_on_progress(a, 0, 0);
    }
    return status;
}

static int see_both(struct attempt *a, const struct transition_setup *s, struct machine_error *err)
{
    struct sequence q;
    struct machine_setup m = s->machine;
    bool chains = a->guard->machine->ops->lacks(a->guard->machine, COUNTER_CYCLES, NULL);
    double sampled_us = fmax(chains ? ALONE_CHAINS_US : STEADY_SAMPLED_US, 4 * s->period_us);
    m.period_us = s->period_us;
    int status = sequence_begin(&q, a->guard->machine, &m, sampled_us, err);
    if (status)
        return status;
    q.patient = s->fine_us > 0;
    q.repetition = a->number++ * 2 * STEADY_TRIES; /* no two the same in a model */
    status = guarded_see(&q, a, &s->to, &s->from, sampled_us, &a->to, err);
    if (!status)
        status = guarded_see(&q, a, &s->from, &s->from, sampled_us, &a->from, err);
    sequence_end(&q);
    return status;
}

/* ---- the switch ---- */

/* Marks repetitions that the core had not come back for: *late. Where most are, the kernels are seen once more, since
 * the machine may have changed its mind. */
static int mark_late(struct attempt *a, const struct switches_seen *seen, bool *off, int *late,
                     struct machine_error *err)
{
    unsigned runs = seen->setup.runs;
    for (unsigned look = 0; look < 2; look++) {
        int status = look ? see_both(a, &seen->setup, err) : MACHINE_OK;
        if (status)
            return status;
        *late = settling_mark_late(&seen->result.trace, &a->from, &a->to, off, runs);
        if (*late < 0)
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        if (2 * (unsigned)*late <= runs)
            break;
    }
    return a->stopped ? machine_fail(err, MACHINE_FAILED, "", "interrupted") : MACHINE_OK;
}

/* Discards them. */
static int drop_late(struct attempt *a, struct switches_seen *seen, int *late, struct machine_error *err)
{
    bool *off = calloc(seen->setup.runs + 1, sizeof *off);
    if (!off)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    int status = mark_late(a, seen, off, late, err);
    for (unsigned run = 0; !status && *late && run < seen->setup.runs; run++)
        if (off[run] && repetitions_drop(&seen->result, run, "not back at its own frequency at the switch"))
            status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    free(off);
    return status;
}

static int nothing_left(const struct switches_seen *seen, const char *why, int late, struct machine_error *err)
{
    const struct repetitions *r = &seen->result;
    return machine_fail(err, MACHINE_CANNOT,
                        late > 0 ? "repeat with a longer --warmup" : "repeat on a quieter machine or with more --runs",
                        "%s: of %u repetitions, %zu were disturbed%s%s", why, seen->setup.runs, r->n_invalid,
                        r->n_invalid ? ", the first: " : "", r->n_invalid ? r->invalid[0].why : "");
}

/* Records it once. *late: repetitions that did not begin as they should. */
static int guarded_record(struct attempt *a, struct switches_seen *seen, int *late, struct machine_error *err)
{
    char why[300];
    *late = 0;
    bool back = seen->setup.fine_us > 0 && seen->setup.warmup_us >= BACK_US;
    int status = transition_run(a->guard->machine, &seen->setup, guarded_on_progress, a, &seen->result, err);
    if (status)
        return status;
    if (a->stopped)
        status = machine_fail(err, MACHINE_FAILED, "", "interrupted");
    else if (!back)
        status = drop_late(a, seen, late, err);
    if (!status && phases_find(&seen->result.trace, &seen->phases, why, sizeof why))
        status = nothing_left(seen, why, *late, err);
    if (status)
        repetitions_free(&seen->result);
    return status;
}

/* Why the recording must not be believed; it becomes the first warning, so that it stands wherever the phases stand. */
static int tell_unsettled(struct switches_seen *seen, const struct settling *end, int late, bool limited)
{
    if (!end->settled)
        snprintf(seen->unsettled, sizeof seen->unsettled,
                 "not over when the recording ended at %.0f us: %.110s; repeat with a longer --observe%s",
                 seen->setup.observe_us, end->why, limited ? " and --machine timing, which may record for longer" : "");
    else
        snprintf(seen->unsettled, sizeof seen->unsettled,
                 "in %d of %u repetitions the core was not back at its own frequency at the switch, after %.0f "
                 "us of the first kernel; repeat with a longer --warmup",
                 late, seen->setup.runs, seen->setup.warmup_us);
    return phases_warn_first(&seen->phases, seen->unsettled);
}

/* What may be the switch itself is held against one at which everything is held. */
static int judge_held(struct attempt *a, struct switches_seen *seen, struct machine_error *err)
{
    const struct transition_setup *s = &seen->setup;
    double until_us = switch_cost_until_us(&seen->phases, s->period_us);
    double settle_us = fmin(fmax(s->warmup_us, s->observe_us), REPETITION_US - HELD_ROOM_US - 1.2 * until_us);
    struct granted_switch granted;
    struct switch_cost cost;
    if (!(until_us > 0))
        return MACHINE_OK;
    int status = granted_switch_record(a->guard->machine, s, fmax(settle_us, 0), until_us, guarded_on_progress, a,
                                       &granted, err);
    if (status)
        return status;
    /* by way of the metadata, so that the recording gives the same answer */
    bool bad = !a->stopped && (switch_cost_measure(&granted.trace, s->period_us, granted.shown_us, granted.full_from_us,
                                                   granted.full_to_us, &cost) ||
                               switch_cost_note(&seen->result.trace, &cost) ||
                               switch_cost_recorded(&seen->result.trace, &seen->phases));
    trace_free(&granted.trace);
    if (bad)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return a->stopped ? machine_fail(err, MACHINE_FAILED, "", "interrupted") : MACHINE_OK;
}

/* What stands of it, and into the trace what was asked of it for that. */
static int guarded_conclude(struct attempt *a, struct switches_seen *seen, const struct settling *end, bool unsettled,
                            int late, struct machine_error *err)
{
    bool waits = a->guard->fall_only;
    /* of seconds each, during which a clock floats by as much as it steps, either kernel alone tells nothing */
    if (seen->setup.fine_us > 0)
        a->from = a->to = (struct kernel_alone){0};
    bool bad = cross_check(&seen->result.trace, &a->from, &a->to, waits, &seen->phases);
    int status = bad ? MACHINE_OK : judge_held(a, seen, err);
    if (status)
        return status;
    bad = bad || (unsettled && tell_unsettled(seen, end, late, longest_us(a->guard->machine) > 0)) ||
          cross_check_note(&seen->result.trace, &a->from, &a->to, waits, seen->unsettled);
    return bad ? machine_fail(err, MACHINE_FAILED, "", "out of memory") : MACHINE_OK;
}

/* Whether another attempt has a chance, and its setup. */
static bool try_longer(const struct attempt *a, struct transition_setup *s, bool too_late, bool settled)
{
    bool longer = false;
    if (too_late && !a->guard->warmup_given && s->warmup_us < WARMUP_MOST_US) {
        s->warmup_us = fmin(2 * s->warmup_us, WARMUP_MOST_US);
        longer = true;
    }
    if (!settled && !a->guard->observe_given && !a->slow && s->observe_us < OBSERVE_MOST_US) {
        s->observe_us = fmin(LONGER * s->observe_us, OBSERVE_MOST_US);
        longer = true;
    }
    if (!settled && !longer && !a->guard->observe_given && s->fine_us <= 0 && !a->guard->uniform &&
        !longest_us(a->guard->machine)) {
        transition_observe(s, SLOWEST_US, a->guard->runs_given, a->guard->warmup_given);
        longer = true;
    }
    return longer;
}

/* Whether the recording is too coarse for what follows the switch at once. */
static int try_finer(const struct attempt *a, const struct switches_seen *seen, bool *finer, struct machine_error *err)
{
    double period_us = seen->setup.period_us;
    *finer = false;
    if (a->guard->period_given || period_us / 2 < PERIOD_LEAST_US)
        return MACHINE_OK;
    if (slow_start_too_short(&seen->result.trace, period_us, finer))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return MACHINE_OK;
}

/* 0, or -1: out of memory. */
static int note_finer(struct switches_seen *seen)
{
    char text[1200] = "";
    const char *notes = trace_get(&seen->result.trace, "notes");
    if (notes)
        text_list_add(text, sizeof text, "; ", "%s", notes);
    text_list_add(text, sizeof text, "; ",
                  "sampled every %g us, since the second kernel starts slowly for a few microseconds",
                  seen->setup.period_us);
    return trace_set(&seen->result.trace, "notes", text);
}

/*
 * Whether the second kernel still gets slower or faster: by a ramp, or by so little that it is none yet (not asked of
 * short recordings that somebody has chosen). A frequency that rises is none of those of a recording that awaits no
 * higher one. *far: it ends surely elsewhere than in the long run. Both with why.
 */
static int still_moves(const struct attempt *a, const struct switches_seen *seen, struct settling *out, bool *moves,
                       bool *far)
{
    const struct phases *p = &seen->phases;
    const struct phase *last = p->n_phases ? &p->phases[p->n_phases - 1] : NULL;
    bool falls_only = a->guard->fall_only, whole = seen->setup.observe_us >= OBSERVE_MOST_US;
    bool short_wanted = a->guard->observe_given && !whole, is_long = seen->setup.fine_us > 0;
    struct settling_drift drift;
    *moves = last && last->kind == PHASE_RAMP && !(falls_only && last->to_ghz.value > last->from_ghz.value);
    *far = false;
    snprintf(out->why, sizeof out->why, "a ramp went on");
    if (*moves || short_wanted)
        return 0;
    if (settling_find_drift(&seen->result.trace, p, &a->from, &a->to, &drift))
        return -1;
    bool rate = !is_long && fabs(drift.rate) > (whole ? RATE_MOVES : RATE_MAY_MOVE);
    bool freq = !is_long && fabs(drift.freq) > (whole ? FREQ_MOVES : FREQ_MAY_MOVE) && !(falls_only && drift.freq > 0);
    *moves = rate || freq;
    *far = (!whole || is_long) && fabs(drift.off) > FREQ_FAR && !(falls_only && drift.off < 0);
    if (*moves)
        snprintf(out->why, sizeof out->why, "the %s still changed, by %+.1f %% at last", rate ? "rate" : "frequency",
                 100 * (rate ? drift.rate : drift.freq));
    else if (*far)
        snprintf(out->why, sizeof out->why, "still at %.3f GHz, against %.3f GHz in the long run", drift.ghz,
                 drift.alone_ghz);
    return 0;
}

/* Whether the recording is settled; where it seems not to be, the kernels are seen once more: it may be that the
 * machine has changed its mind. */
static int guarded_judge(struct attempt *a, const struct switches_seen *seen, struct settling *out,
                         struct machine_error *err)
{
    bool moves, far;
    struct settling first = {0};
    for (unsigned look = 0; look < 2; look++) { /* it may be that the machine has changed its mind */
        int status = look ? see_both(a, &seen->setup, err) : MACHINE_OK;
        if (status)
            return status;
        if (still_moves(a, seen, &first, &moves, &far))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        if (moves || !far)
            break;
    }
    *out = first;
    out->settled = !moves && !far;
    for (unsigned look = 0; look < 2 && !moves && !far && seen->setup.fine_us <= 0; look++) {
        int status = look ? see_both(a, &seen->setup, err) : MACHINE_OK;
        if (status)
            return status;
        if (settling_judge(&seen->result.trace, &seen->phases, &a->to, a->guard->fall_only, out))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        if (out->settled)
            break;
    }
    return a->stopped ? machine_fail(err, MACHINE_FAILED, "", "interrupted") : MACHINE_OK;
}

/* Whether a recording that is settled is so in the long run, too. */
static int judge_later(struct attempt *a, const struct switches_seen *seen, struct settling *out,
                       struct machine_error *err)
{
    if (!out->settled || a->looked_later || seen->setup.fine_us > 0 || a->guard->uniform ||
        longest_us(a->guard->machine) > 0)
        return MACHINE_OK;
    const struct later later = {a->guard->machine, &seen->setup,        a->guard->fall_only,
                                a->number,         guarded_on_progress, a};
    int status = later_moves(&later, &a->slow, &a->looked_later, out->why, sizeof out->why, err);
    if (status)
        return status;
    out->settled = !a->slow;
    return a->stopped ? machine_fail(err, MACHINE_FAILED, "", "interrupted") : MACHINE_OK;
}

/* A long recording that was asked for, where the machine can make it. */
static int prepare_long(const struct guard *g, struct transition_setup *s, struct machine_error *err)
{
    double longest = longest_us(g->machine), all = s->warmup_us + s->before_us + s->observe_us;
    if (longest > 0 && all > longest && s->observe_us > TRANSITION_LONG_US)
        return machine_fail(err, MACHINE_CANNOT, "observe for less time, or use --machine perf or --machine timing",
                            "a repetition of %.0f us: this machine masks interrupts meanwhile, for %.0f us at most",
                            all, longest);
    if (s->observe_us > TRANSITION_LONG_US && !g->uniform && s->period_us > LONG_PERIOD_MOST_US)
        return machine_fail(err, MACHINE_BAD_INPUT, "leave --period out",
                            "a sampling period of %g us: of a recording of more than %g ms it is that at the switch, "
                            "at most %g us, and grows by itself",
                            s->period_us, TRANSITION_LONG_US / 1e3, LONG_PERIOD_MOST_US);
    if (longest <= 0 && !g->uniform)
        transition_observe(s, s->observe_us, g->runs_given, g->warmup_given);
    return MACHINE_OK;
}

void switches_free(struct switches_seen *s)
{
    repetitions_free(&s->result);
    phases_free(&s->phases);
}

int guarded_switch(const struct guard *g, const struct transition_setup *s, struct switches_seen *out,
                   struct machine_error *err)
{
    struct attempt a = {.guard = g};
    struct settling end;
    int late = 0, status;
    memset(out, 0, sizeof *out);
    out->setup = *s;
    status = prepare_long(g, &out->setup, err);
    if (!status)
        status = see_both(&a, &out->setup, err);
    for (unsigned k = 1; !status; k++) {
        status = a.stopped ? machine_fail(err, MACHINE_FAILED, "", "interrupted") : guarded_record(&a, out, &late, err);
        bool none_left = status == MACHINE_CANNOT && late > 0;
        if (none_left && k < ATTEMPTS && try_longer(&a, &out->setup, true, true)) {
            status = see_both(&a, &out->setup, err);
            continue;
        }
        if (status)
            break;
        status = guarded_judge(&a, out, &end, err);
        bool too_late = 2 * (unsigned)late > out->setup.runs, finer = false, looked_before = a.looked_later;
        if (!status)
            status = try_finer(&a, out, &finer, err);
        if (!status && finer) {
            out->setup.period_us /= 2;
            switches_free(out);
            continue;
        }
        if (!status)
            status = judge_later(&a, out, &end, err);
        if (!status && k < ATTEMPTS && end.settled && a.looked_later && !looked_before) {
            /* the clock of such a machine is elsewhere by now */
            switches_free(out);
            continue;
        }
        if (!status && k < ATTEMPTS && try_longer(&a, &out->setup, too_late, end.settled)) {
            if (out->setup.fine_us > 0) /* what a few milliseconds of either kernel have shown is not enough */
                a.from = a.to = (struct kernel_alone){0};
            if (too_late || out->setup.fine_us > 0)
                status = see_both(&a, &out->setup, err);
            switches_free(out);
            continue;
        }
        if (!status)
            status = guarded_conclude(&a, out, &end, !end.settled || too_late, late, err);
        if (!status && out->setup.period_us < s->period_us && note_finer(out))
            status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
        if (status)
            switches_free(out);
        break;
    }
    out->discarded = status ? 0 : out->result.n_invalid + out->phases.n_discarded;
    return status;
}
