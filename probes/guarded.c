/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One switch, recorded from a first kernel that has come to rest until the second has. Neither is given: on silicon a
 * repetition begins where the one before ended, and a processor may throttle or wait for longer than is recorded. So
 * both kernels are seen alone in turn with the repetitions, and the recording is compared with that, round by round.
 *
 * One stop rule: repetitions go on until their limits are narrow, or the time is over (limits_narrow()); a recording is
 * extended until it begins and ends as the kernels alone do and shows its first phase, or its bounds are reached
 * (extend()).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/phases.h"
#include "analysis/pooled/ends.h"
#include "probes/guarded.h"
#include "util/text_list.h"

/* The machine's time for one recording, us. */
#define BUDGET_US 3e6
/* The longest warm-up and recording of fine samples, us: together less than the 10 ms that all machines can do. */
#define WARMUP_MOST_US 4900.0
#define OBSERVE_MOST_US 4900.0
/* A recording that is not over in the end grows by this. */
#define LONGER 4.0
/* At the switch of a long recording, us: its fine part has 150 of them. */
#define LONG_PERIOD_MOST_US 5.0
#define PERIOD_LEAST_US 0.5
/* A first phase of fewer samples is recorded again with half the period. */
#define COARSE_SAMPLES 5.0
/* A logarithm: by so much the rate in the end may be off the second kernel's alone. */
#define IPC_OFF 0.01
/* A recording's end that is compared: us, and at least so many samples; of a long one its last fifth. */
#define END_US 20.0
#define END_SAMPLES 8.0
#define END_SHARE 0.2
/* Half the width of limits that suffice: of a duration us, or part of it; of a frequency part of it. */
#define NARROW_US 0.1
#define NARROW_SHARE 0.03
#define NARROW_STEP 0.003

struct attempt {
    const struct guard *guard;
    struct switches_seen *seen;
    double longest_us; /* a repetition of the machine may last so long; 0: as long as anybody wants */
    bool stopped;
    bool looked;     /* the phases are those of all that was recorded */
    bool late, open; /* it did not begin as the first kernel alone runs, or not end as the second does */
    bool moves;      /* its end may not be the second kernel's: worth a longer recording */
    char why[300];
};

static int on_progress(void *data, unsigned done, unsigned wanted)
{
    struct attempt *a = data;
    const struct guard *g = a->guard;
    a->looked = false;
    a->stopped = a->stopped || (g->progress && g->progress(g->data, done, wanted));
    return a->stopped;
}

/* ---- how much is enough ---- */

static bool limits_narrow(const struct phases *p)
{
    for (size_t i = 0; i < p->n_phases; i++) {
        const struct phase *ph = &p->phases[i];
        double half = estimate_half(&ph->duration_us);
        if (ph->kind == PHASE_UNKNOWN)
            return false;
        if (ph->start_us >= 0 && half > fmax(NARROW_US, NARROW_SHARE * ph->duration_us.value))
            return false;
        if (ph->start_us >= 0 && phases_is_steady(ph) && ph->freq_half_ghz > NARROW_STEP * ph->freq_ghz.value)
            return false;
    }
    return true;
}

/* Looks at what there is so far. */
static int guarded_look(void *data, const struct repetitions *so_far)
{
    struct attempt *a = data;
    phases_free(&a->seen->phases);
    int status = phases_find_beside(&so_far->trace, &so_far->beside[TRANSITION_NULL], &a->seen->phases, a->why,
                                    sizeof a->why);
    a->looked = true;
    return status == PHASES_NO_MEMORY ? -1 : !status && limits_narrow(&a->seen->phases);
}

/* ---- the switch ---- */

static int nothing_left(const struct switches_seen *seen, const char *why, struct machine_error *err)
{
    const struct repetitions *r = &seen->result;
    return machine_fail(err, MACHINE_CANNOT, "repeat on a quieter machine or with more --runs",
                        "%s: of %u repetitions, %zu were disturbed%s%s", why, seen->setup.runs, r->n_invalid,
                        r->n_invalid ? ", the first: " : "", r->n_invalid ? r->invalid[0].why : "");
}

/* Notes the null's results in the trace, for whoever analyzes it without the null. Returns 0, or -1: out of memory. */
static int note_null(const struct phases *p, struct trace *t)
{
    if (p->null_cold_us > 0 && trace_set_number(t, "null_cold_us", p->null_cold_us))
        return -1;
    return isnan(p->null_lost_us) ? 0 : trace_set_number(t, "null_lost_us", fmax(0, p->null_lost_us));
}

static int guarded_record(struct attempt *a, struct machine_error *err)
{
    struct switches_seen *seen = a->seen;
    seen->setup.beside = true;
    seen->setup.budget_us = a->guard->runs_given || seen->setup.fine_us > 0 ? 0 : BUDGET_US;
    seen->setup.enough = seen->setup.budget_us > 0 ? guarded_look : NULL;
    seen->setup.data = a;
    a->looked = false;
    int status = transition_run(a->guard->machine, &seen->setup, on_progress, a, &seen->result, err);
    if (!status && a->stopped)
        status = machine_fail(err, MACHINE_FAILED, "", "interrupted");
    if (!status && !a->looked && guarded_look(a, &seen->result) < 0)
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (!status && note_null(&seen->phases, &seen->result.trace))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (!status && !seen->phases.n_phases)
        status = nothing_left(seen, a->why, err);
    if (status)
        guarded_free(seen);
    return status;
}

/* ---- the recordings that it is compared with ---- */

/* Decides if the recording began and ended as either kernel runs alone. Returns 0, or -1: out of memory. */
static int judge(struct attempt *a)
{
    const struct switches_seen *seen = a->seen;
    const struct repetitions *r = &seen->result;
    const struct phase *last = &seen->phases.phases[seen->phases.n_phases - 1];
    double end = seen->setup.observe_us, span = fmax(END_US, END_SAMPLES * seen->setup.period_us);
    struct ends from, to;
    if (seen->setup.fine_us > 0)
        span = fmax(span, END_SHARE * end);
    if (ends_compare(&r->trace, -span, 0, &r->beside[TRANSITION_HELD_FROM], &from) ||
        ends_compare(&r->trace, end - span, INFINITY, &r->beside[TRANSITION_HELD_TO], &to))
        return -1;
    bool wanted = !a->guard->fall_only || to.above > to.below;
    bool moves = ends_mostly_differ(&to) && wanted, clock = ends_differ(&to.clock, ENDS_OFF) && moves;
    bool ipc = seen->setup.fine_us <= 0 && ends_differ(&to.ipc, IPC_OFF); /* long samples hold fewer readings */
    a->late = from.clock.hi < -ENDS_OFF;
    a->open = clock || ipc;
    a->moves = moves || last->kind == PHASE_RAMP;
    if (clock)
        snprintf(a->why, sizeof a->why, "still at %.3f GHz, against %.3f GHz in the long run", to.ghz,
                 to.ghz * exp(-to.clock.value));
    else if (ipc)
        snprintf(a->why, sizeof a->why, "the code still ran at %.2f of its rate in the long run", exp(to.ipc.value));
    return 0;
}

static bool starts_coarsely(const struct switches_seen *seen)
{
    const struct phases *p = &seen->phases;
    for (size_t i = 1; i + 1 < p->n_phases; i++)
        if ((p->phases[i].kind == PHASE_THROTTLE || p->phases[i].kind == PHASE_UNKNOWN) &&
            fabs(p->phases[i].start_us) < 1)
            return p->phases[i].duration_us.value < COARSE_SAMPLES * seen->setup.period_us;
    return false;
}

/*
 * The other half of the stop rule: a recording that is too short at either end, or too coarse, is made again with more
 * of that, where nobody has chosen it. Each of the three has a bound, and so have the attempts. Returns whether it is.
 */
static bool extend(const struct attempt *a)
{
    const struct guard *g = a->guard;
    struct transition_setup *s = &a->seen->setup;
    const double warmup = s->warmup_us, observe = s->observe_us, period = s->period_us;
    if (a->late && !g->warmup_given)
        s->warmup_us = fmax(warmup, fmin(2 * warmup, WARMUP_MOST_US));
    if ((a->open || a->moves) && !g->observe_given && observe < OBSERVE_MOST_US)
        s->observe_us = fmin(LONGER * observe, OBSERVE_MOST_US);
    else if (a->open && !g->observe_given && s->fine_us <= 0 && !g->uniform && a->longest_us <= 0)
        transition_observe(s, SLOWEST_US, g->runs_given, g->warmup_given);
    else if (!g->period_given && period / 2 >= PERIOD_LEAST_US && s->fine_us <= 0 && starts_coarsely(a->seen))
        s->period_us = period / 2;
    return s->warmup_us > warmup || s->observe_us > observe || s->period_us < period;
}

/* ---- warnings ---- */

/* Why the recording must not be believed; it becomes the first warning, so that it stands wherever the phases stand. */
static int tell_unsettled(const struct attempt *a)
{
    struct switches_seen *seen = a->seen;
    if (a->open)
        snprintf(seen->unsettled, sizeof seen->unsettled,
                 "not over when the recording ended at %.0f us: %.110s; repeat with a longer --observe%s",
                 seen->setup.observe_us, a->why,
                 a->longest_us > 0 ? " and --machine timing, which may record for longer" : "");
    else
        snprintf(seen->unsettled, sizeof seen->unsettled,
                 "the core was not back at its own frequency at the switch, after %.0f us of the first kernel; repeat "
                 "with a longer --warmup",
                 seen->setup.warmup_us);
    return trace_set(&seen->result.trace, "unsettled", seen->unsettled) ||
           phases_warn_first(&seen->phases, seen->unsettled);
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

/* ---- all of it ---- */

/* A long recording that was requested, where the machine can make it. */
static int prepare_long(const struct attempt *a, struct machine_error *err)
{
    struct transition_setup *s = &a->seen->setup;
    double all = s->warmup_us + s->before_us + s->observe_us;
    if (a->longest_us > 0 && all > a->longest_us && s->observe_us > TRANSITION_LONG_US)
        return machine_fail(err, MACHINE_CANNOT, "observe for less time, or use --machine perf or --machine timing",
                            "a repetition of %.0f us: this machine masks interrupts meanwhile, for %.0f us at most",
                            all, a->longest_us);
    if (s->observe_us > TRANSITION_LONG_US && !a->guard->uniform && s->period_us > LONG_PERIOD_MOST_US)
        return machine_fail(err, MACHINE_BAD_INPUT, "leave --period out",
                            "a sampling period of %g us: of a recording of more than %g ms it is that at the switch, "
                            "at most %g us, and grows by itself",
                            s->period_us, TRANSITION_LONG_US / 1e3, LONG_PERIOD_MOST_US);
    if (a->longest_us <= 0 && !a->guard->uniform)
        transition_observe(s, s->observe_us, a->guard->runs_given, a->guard->warmup_given);
    return MACHINE_OK;
}

void guarded_free(struct switches_seen *s)
{
    repetitions_free(&s->result);
    phases_free(&s->phases);
}

int guarded_switch(const struct guard *g, const struct transition_setup *s, struct switches_seen *out,
                   struct machine_error *err)
{
    struct machine_info info;
    g->machine->ops->info(g->machine, &info);
    struct attempt a = {.guard = g, .seen = out, .longest_us = info.longest_us};
    memset(out, 0, sizeof *out);
    out->setup = *s;
    int bad = 0, status = prepare_long(&a, err);
    bool again = !status;
    while (again) {
        guarded_free(out);
        status = guarded_record(&a, err);
        bad = status ? 0 : judge(&a);
        again = !status && !bad && extend(&a);
    }
    if (!status && !bad && (a.open || a.late))
        bad = tell_unsettled(&a);
    else if (!status && !bad && out->setup.period_us < s->period_us)
        bad = note_finer(out);
    if (bad)
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (status)
        guarded_free(out);
    out->discarded = status ? 0 : out->result.n_invalid + out->phases.n_discarded;
    return status;
}
