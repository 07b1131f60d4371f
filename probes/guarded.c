/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One switch, recorded from a first kernel that has come to rest until the second has. Neither is given: on silicon a
 * repetition begins where the one before ended, and a processor may throttle or wait for longer than is recorded. So
 * both kernels are seen alone in turn with the repetitions, and the recording is held against that, round by round.
 *
 * One stop rule: repetitions go on until their limits are narrow, or the time is over. A recording that does not begin
 * or end as the kernels alone do is made again with a longer warm-up or for longer, as long as there is time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/phases.h"
#include "analysis/pooled/ends.h"
#include "probes/guarded.h"
#include "util/text_list.h"

enum { ATTEMPTS = 6 };
#define BUDGET_US 3e6 /* of the machine's time, for one recording */
#define WARMUP_MOST_US                                                                                                 \
    4900.0 /* with a recording of the greatest length again less than 10 ms, which all machines can */
#define OBSERVE_MOST_US 4900.0
#define LONGER 4.0
#define LONG_PERIOD_MOST_US 5.0 /* at the switch of a long recording: its fine part has 150 of them */
#define PERIOD_LEAST_US 0.5
#define COARSE_SAMPLES 5.0 /* a first phase of fewer is recorded again with half the period */
#define IPC_OFF 0.01
#define END_US 20.0 /* of a recording's end that is compared; at least so many samples: */
#define END_SAMPLES 8.0
#define NARROW_US 0.1     /* half the width of limits that are narrow enough, us ... */
#define NARROW_SHARE 0.03 /* ... or of the duration, or of a frequency: */
#define NARROW_STEP 0.003

struct attempt {
    const struct guard *guard;
    struct switches_seen *seen;
    bool stopped;
    bool looked; /* the phases are those of all that was recorded */
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

/* How long a repetition of the machine may last; 0: as long as anybody wants. */
static double longest_us(const struct machine *m)
{
    struct machine_info info;
    m->ops->info(m, &info);
    return info.longest_us;
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

/* What the null shows, for whoever analyzes the trace without it. 0, or -1: out of memory. */
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
        switches_free(seen);
    return status;
}

/* ---- what is held against it ---- */

struct judged {
    bool late, open; /* it did not begin as the first kernel alone runs, or not end as the second does */
    bool moves;      /* its end may not be the second kernel's: worth to be looked at for longer */
    char why[160];
};

static int judge(const struct attempt *a, struct judged *out, struct machine_error *err)
{
    const struct switches_seen *seen = a->seen;
    const struct repetitions *r = &seen->result;
    double end = seen->setup.observe_us, span = fmax(END_US, END_SAMPLES * seen->setup.period_us);
    struct ends from, to;
    memset(out, 0, sizeof *out);
    if (seen->setup.fine_us > 0)
        span = fmax(span, 0.2 * end);
    if (ends_compare(&r->trace, -span, 0, &r->beside[TRANSITION_HELD_FROM], &from) ||
        ends_compare(&r->trace, end - span, INFINITY, &r->beside[TRANSITION_HELD_TO], &to))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    out->late = from.clock.hi < -ENDS_OFF;
    bool wanted = !a->guard->fall_only || to.above > to.below;
    bool moves = ends_mostly_differ(&to) && wanted, clock = ends_differ(&to.clock, ENDS_OFF) && moves;
    bool ipc = seen->setup.fine_us <= 0 && ends_differ(&to.ipc, IPC_OFF); /* long samples hold fewer readings */
    out->open = clock || ipc;
    out->moves = moves || seen->phases.phases[seen->phases.n_phases - 1].kind == PHASE_RAMP;
    if (clock)
        snprintf(out->why, sizeof out->why, "still at %.3f GHz, against %.3f GHz in the long run", to.ghz,
                 to.ghz * exp(-to.clock.value));
    else if (ipc)
        snprintf(out->why, sizeof out->why, "the code still ran at %.2f of its rate in the long run",
                 exp(to.ipc.value));
    return MACHINE_OK;
}

static bool starts_coarsely(const struct attempt *a)
{
    const struct switches_seen *seen = a->seen;
    const struct phases *p = &seen->phases;
    if (a->guard->period_given || seen->setup.period_us / 2 < PERIOD_LEAST_US || seen->setup.fine_us > 0)
        return false;
    for (size_t i = 1; i + 1 < p->n_phases; i++)
        if ((p->phases[i].kind == PHASE_THROTTLE || p->phases[i].kind == PHASE_UNKNOWN) &&
            fabs(p->phases[i].start_us) < 1)
            return p->phases[i].duration_us.value < COARSE_SAMPLES * seen->setup.period_us;
    return false;
}

/* Whether another attempt has a chance, and its setup. */
static bool try_again(const struct attempt *a, const struct judged *j, struct transition_setup *s)
{
    const struct guard *g = a->guard;
    bool again = false, longer = (j->open || j->moves) && !g->observe_given;
    if (j->late && !g->warmup_given && s->warmup_us < WARMUP_MOST_US) {
        s->warmup_us = fmin(2 * s->warmup_us, WARMUP_MOST_US);
        again = true;
    }
    if (longer && s->observe_us < OBSERVE_MOST_US) {
        s->observe_us = fmin(LONGER * s->observe_us, OBSERVE_MOST_US);
        again = true;
    } else if (j->open && !g->observe_given && s->fine_us <= 0 && !g->uniform && longest_us(g->machine) <= 0) {
        transition_observe(s, SLOWEST_US, g->runs_given, g->warmup_given);
        again = true;
    } else if (starts_coarsely(a)) {
        s->period_us /= 2;
        again = true;
    }
    return again;
}

/* Why the recording must not be believed; it becomes the first warning, so that it stands wherever the phases stand. */
static int tell_unsettled(struct switches_seen *seen, const struct judged *j, bool limited)
{
    if (j->open)
        snprintf(seen->unsettled, sizeof seen->unsettled,
                 "not over when the recording ended at %.0f us: %.110s; repeat with a longer --observe%s",
                 seen->setup.observe_us, j->why, limited ? " and --machine timing, which may record for longer" : "");
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
    struct attempt a = {.guard = g, .seen = out};
    struct judged j = {false, false, ""};
    memset(out, 0, sizeof *out);
    out->setup = *s;
    int status = prepare_long(g, &out->setup, err);
    for (unsigned k = 1; !status; k++) {
        status = guarded_record(&a, err);
        if (!status)
            status = judge(&a, &j, err);
        if (status || k == ATTEMPTS || !try_again(&a, &j, &out->setup))
            break;
        switches_free(out);
    }
    if (!status && ((j.open || j.late) ? tell_unsettled(out, &j, longest_us(g->machine) > 0)
                                       : out->setup.period_us < s->period_us && note_finer(out)))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    if (status)
        switches_free(out);
    out->discarded = status ? 0 : out->result.n_invalid + out->phases.n_discarded;
    return status;
}
