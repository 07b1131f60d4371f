/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One kernel, then another: N repetitions of a warm-up and a switch, sampled throughout (the method of the Skylake-SP
 * dissertation, section 3.2.2, and of "Gathering Intel on Intel AVX-512 Transitions"). The sample grid is shifted from
 * repetition to repetition, so that edges can be placed to a fraction of the period.
 */
#include "probes/transition.h"

#include <stdio.h>
#include <string.h>

enum { VOLT_READINGS_MAX = 2000 };

/* Ranks of what can be requested: scalar and 128 bit, light 256, heavy 256 and light 512, heavy 512 and tiles. */
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
    s->observe_us = demand(from) > demand(to) ? 1500 : 150;
    s->period_us = 1;
    s->machine.cpu = -1;
}

/* A transition that is measured. */
struct course {
    const struct transition_setup *setup;
    unsigned done, volts; /* repetitions run; and how many are for the voltage */
    repetitions_progress *progress;
    void *data;
    bool stopped;
};

static int transition_on_progress(void *data, unsigned done, unsigned wanted)
{
    struct course *c = data;
    (void)done; /* the repetitions of both kinds count, also those that are invalid */
    (void)wanted;
    c->done++;
    c->stopped = c->progress && c->progress(c->data, c->done, c->setup->runs + c->volts);
    return c->stopped;
}

static int transition_note(struct machine *m, void *context, struct repetitions *out, struct machine_error *err)
{
    const struct transition_setup *s = ((struct course *)context)->setup;
    struct trace *t = &out->trace;
    (void)m;
    int bad = trace_set(t, "from", s->from.name) | trace_set(t, "to", s->to.name) |
              trace_set_number(t, "period_us", s->period_us) | trace_set_number(t, "warmup_us", s->warmup_us) |
              trace_set_number(t, "observe_us", s->observe_us) | trace_set_number(t, "repetitions", s->runs);
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
        status = core_voltage_read(m, s, c->volts, transition_on_progress, c, out, err);
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
                                    .shifted = true,
                                    .from_us = -s->before_us,
                                    .progress = transition_on_progress,
                                    .data = &c,
                                    .first = transition_note,
                                    .last = add_volts,
                                    .context = &c};
    plan.machine.period_us = s->period_us;
    return repetitions_run(m, &plan, out, err);
}
