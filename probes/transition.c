/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One kernel, then another: N repetitions of a warm-up and a switch, sampled throughout (the method of the Skylake-SP
 * dissertation, section 3.2.2, and of "Gathering Intel on Intel AVX-512 Transitions"). The sample grid is shifted from
 * repetition to repetition, so that edges can be placed to a fraction of the period.
 */
#include "probes/transition.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Readings of the voltage at most: a second of them is enough for 1 mV. */
enum { VOLT_READINGS_MAX = 2000 };
/* Repetitions for one that is recorded beside them, but so many at least of either kernel alone: limits of a median
 * need six, and the first does not count. */
enum { NULLS_RARELY = 4, HELD_RARELY = 16, HELD_LEAST = 7 };
#define HELD_SHARE 0.4 /* of what a machine can run at a time: an emulated one takes longer than it is requested */
#define NULL_US 150.0  /* of the copy: longer than any code takes to come into the caches */
#define DIRTY_US 200.0 /* of a first kernel that leaves upper halves in use: what follows is slow for good */
/* With 500 ms after it this is less than what a real-time thread may run in a second (drivers/native/pinning.c). */
#define LONG_WARMUP_US 340e3

/* Ranks of the levels that can be requested: scalar and 128 bit, light 256, heavy 256 and light 512, heavy 512 and
 * tiles. */
static int demand(const struct payload *p)
{
    bool heavy = p->kernel->weight == KERNEL_HEAVY && p->density <= 2;
    if (p->kernel->width <= 128)
        return 0;
    if (p->kernel->width <= 256)
        return heavy ? 2 : 1;
    return heavy ? 3 : 2;
}

void transition_defaults(struct transition_setup *s, const struct payload *from, const struct payload *to)
{
    memset(s, 0, sizeof *s);
    s->from = *from;
    s->to = *to;
    s->runs = 100;
    s->warmup_us = 2500;
    s->before_us = 50;
    s->observe_us = s->usual_us = demand(from) > demand(to) ? 1500 : 150;
    s->period_us = 1;
    s->machine.cpu = -1;
}

void transition_observe(struct transition_setup *s, double observe_us, bool keep_runs, bool keep_warmup)
{
    /* Repetitions of a long recording, and periods that are fine in it. */
    enum { LONG_RUNS = 20, FINE_PERIODS = 150 };
    s->fine_us = 0;
    if (observe_us > TRANSITION_LONG_US) {
        double fine = fmax(fmin(s->usual_us, TRANSITION_LONG_US), FINE_PERIODS * s->period_us);
        s->fine_us = fine < observe_us ? fine : 0;
    }
    s->observe_us = observe_us;
    if (s->fine_us <= 0)
        return;
    s->no_volts = true;
    s->runs = keep_runs ? s->runs : LONG_RUNS;
    s->warmup_us = keep_warmup ? s->warmup_us : fmax(s->warmup_us, fmin(observe_us, LONG_WARMUP_US));
}

double transition_samples(const struct transition_setup *s)
{
    double grown_us = s->fine_us > 0 ? s->observe_us - s->fine_us : 0;
    return ceil((s->before_us + s->observe_us - grown_us) / s->period_us) +
           (grown_us > 0 ? repetitions_grown(s->period_us, grown_us) : 0);
}

/* One kernel alone: after the other where that leaves upper halves in use. */
struct held {
    struct segment segment[4];
    size_t n;
};

static struct held held_alone(const struct transition_setup *s, const struct payload *p, const struct payload *before,
                              double longest_us)
{
    double us = s->fine_us > 0 ? SLOWEST_US : TRANSITION_HELD_US;
    struct held h = {.n = 0};
    if (longest_us > 0)
        us = fmin(us, HELD_SHARE * longest_us);
    if (before->dirty)
        h.segment[h.n++] = (struct segment){*before, DIRTY_US, false};
    h.segment[h.n++] = (struct segment){*p, us, false};
    h.segment[h.n++] = (struct segment){*p, fmax(TRANSITION_HELD_SAMPLED_US, 20 * s->period_us), true};
    h.segment[h.n++] = (struct segment){s->to, NULL_US, false};
    return h;
}

/* A transition that is measured. */
struct course {
    const struct transition_setup *setup;
    unsigned done, volts; /* repetitions run; and how many are for the voltage */
    repetitions_progress *progress;
    void *data;
    bool stopped;
};

static int on_progress(void *data, unsigned done, unsigned wanted)
{
    struct course *c = data;
    (void)done; /* the repetitions of both kinds count, also those that are invalid */
    (void)wanted;
    c->done++;
    c->stopped = c->progress && c->progress(c->data, c->done, c->setup->runs + c->volts);
    return c->stopped;
}

static int on_enough(void *context, const struct repetitions *so_far)
{
    const struct transition_setup *s = ((struct course *)context)->setup;
    return s->enough(s->data, so_far);
}

static int transition_note(struct machine *m, void *context, struct repetitions *out, struct machine_error *err)
{
    const struct transition_setup *s = ((struct course *)context)->setup;
    struct trace *t = &out->trace;
    (void)m;
    int bad = trace_set(t, "from", s->from.name) | trace_set(t, "to", s->to.name) |
              trace_set_number(t, "period_us", s->period_us) | trace_set_number(t, "warmup_us", s->warmup_us) |
              trace_set_number(t, "observe_us", s->observe_us) | trace_set_number(t, "repetitions", s->runs) |
              (s->fine_us > 0 ? trace_set_number(t, "fine_us", s->fine_us) : 0);
    return bad ? machine_fail(err, MACHINE_FAILED, "", "out of memory") : MACHINE_OK;
}

static unsigned how_many_volts(const struct machine *m, const struct transition_setup *s)
{
    if (s->no_volts || !m->ops->read_register)
        return 0;
    if (s->volt_readings)
        return s->volt_readings;
    double n = 2 * (s->before_us + s->observe_us) / s->period_us;
    return n > VOLT_READINGS_MAX ? VOLT_READINGS_MAX : n < 1 ? 1 : (unsigned)n;
}

static int add_volts(struct machine *m, void *context, struct repetitions *out, struct machine_error *err)
{
    struct course *c = context;
    const struct transition_setup *s = c->setup;
    int status = MACHINE_OK;
    if (c->stopped)
        return status;
    if (c->volts)
        status = core_voltage_read(m, s, c->volts, on_progress, c, out, err);
    else if (s->fine_us > 0)
        snprintf(out->volts_missing, sizeof out->volts_missing,
                 "each reading takes a repetition, which is too long for recordings of more than %.0f ms",
                 TRANSITION_LONG_US / 1e3);
    else if (!s->no_volts)
        snprintf(out->volts_missing, sizeof out->volts_missing, "this machine reads no registers");
    if (!status && out->volts_missing[0] && trace_set(&out->trace, "volts_missing", out->volts_missing))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return status;
}

int transition_run(struct machine *m, const struct transition_setup *s, repetitions_progress *progress, void *data,
                   struct repetitions *out, struct machine_error *err)
{
    const struct segment segments[3] = {{s->from, s->warmup_us, false},
                                        {s->from, s->before_us + repetitions_run_in_us(s->period_us), true},
                                        {s->to, s->observe_us, true}};
    struct course c = {.setup = s, .volts = how_many_volts(m, s), .progress = progress, .data = data};
    struct repetitions_plan plan = {.machine = s->machine,
                                    .licenses = true,
                                    .events = s->events,
                                    .n_events = s->n_events,
                                    .segments = segments,
                                    .n_segments = 3,
                                    .zero_segment = 2,
                                    .wanted = s->runs,
                                    .attempts = s->runs,
                                    .from_us = -s->before_us,
                                    .fine_us = s->fine_us,
                                    .progress = on_progress,
                                    .data = &c,
                                    .first = transition_note,
                                    .last = add_volts,
                                    .context = &c};
    /* whatever is recorded, the second kernel has run before what is recorded next */
    const struct segment null[4] = {
        segments[0], segments[1], {kernel_copy(&s->from), fmin(s->observe_us, NULL_US), true}, {s->to, NULL_US, false}};
    struct machine_info info;
    m->ops->info(m, &info);
    const struct held from = held_alone(s, &s->from, &s->from, info.longest_us),
                      to = held_alone(s, &s->to, &s->from, info.longest_us);
    plan.machine.period_us = s->period_us;
    if (s->beside) {
        bool chains = m->ops->lacks(m, COUNTER_CYCLES, NULL);
        unsigned fewer = s->runs / HELD_LEAST, rarely = fewer < 1 ? 1 : fewer < HELD_RARELY ? fewer : HELD_RARELY;
        plan.n_beside = 3;
        plan.beside[TRANSITION_NULL] = (struct repetitions_beside){null, 4, 2, chains ? 1 : NULLS_RARELY};
        plan.beside[TRANSITION_HELD_FROM] = (struct repetitions_beside){from.segment, from.n, from.n - 2, rarely};
        plan.beside[TRANSITION_HELD_TO] = (struct repetitions_beside){to.segment, to.n, to.n - 2, rarely};
        plan.budget_us = s->budget_us;
        plan.enough = s->enough ? on_enough : NULL;
    }
    return repetitions_run(m, &plan, out, err);
}
