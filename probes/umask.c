/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A kernel runs steadily (probes/steady.h), and at its two switches, from another kernel and back to it. Each
 * repetition of a switch begins again with a warm-up, as in the transition experiment.
 */
#include "probes/umask.h"

#include <math.h>
#include <string.h>

enum { ATTEMPTS = 4 }; /* for each repetition wanted, the first included */
/* The first kernel runs for so short a while that nothing is taken back of what the second requests: waits of 500 to
 * 1000 us are known (README, Limits); and for so long that a reading lies in it. */
#define AWAY_US 3.0
/* Periods at least that another kernel runs before the one that is counted. */
#define AWAY_PERIODS 2.0

void umask_defaults(struct umask_setup *s, const struct payload *kernel, const struct payload *base)
{
    static const double observe[UMASK_WHENS] = {2000, 150, 1500}, period[UMASK_WHENS] = {20, 1, 5};
    memset(s, 0, sizeof *s);
    s->kernel = *kernel;
    s->base = *base;
    s->machine.cpu = -1;
    s->runs = 20;
    s->warmup_us = 3000;
    memcpy(s->observe_us, observe, sizeof observe);
    memcpy(s->period_us, period, sizeof period);
}

/* Progress of all experiments together. */
struct counted {
    const struct umask_setup *setup;
    unsigned before, all;
    bool stopped;
};

static int report(void *data, unsigned done, unsigned wanted)
{
    struct counted *c = data;
    (void)wanted;
    if (c->setup->progress && c->setup->progress(c->setup->data, c->before + done, c->all))
        c->stopped = true;
    return c->stopped;
}

static int steady(struct machine *m, const struct umask_setup *s, struct counted *c, struct repetitions *out,
                  struct machine_error *err)
{
    struct steady_setup setup;
    steady_defaults(&setup, &s->kernel);
    setup.machine = s->machine;
    setup.runs = s->runs;
    setup.settle_us = setup.before_us = s->warmup_us;
    setup.observe_us = s->observe_us[UMASK_STEADY];
    setup.period_us = s->period_us[UMASK_STEADY];
    setup.licenses = false;
    memcpy(setup.events, s->events, sizeof setup.events);
    setup.n_events = s->n_events;
    setup.progress = report;
    setup.data = c;
    return steady_run(m, &setup, out, err);
}

/* The repetitions of one switch. */
static int record_switch(struct machine *m, const struct umask_setup *s, unsigned what, struct counted *c,
                         struct repetitions *out, struct machine_error *err)
{
    enum umask_when when = what == UMASK_TO_BASE ? UMASK_TO_BASE : UMASK_FROM_BASE;
    const struct payload *first = what == UMASK_FROM_BASE ? &s->base : &s->kernel;
    const struct payload *from = what == UMASK_TO_BASE ? &s->kernel : &s->base;
    const struct payload *to = when == UMASK_FROM_BASE ? &s->kernel : &s->base;
    const double period_us = s->period_us[when];
    double run_in = what == UMASK_HELD ? fmax(AWAY_US, AWAY_PERIODS * period_us) : repetitions_run_in_us(period_us);
    const struct segment segments[3] = {
        {*first, s->warmup_us, false}, {*from, run_in, true}, {*to, s->observe_us[when], true}};
    struct repetitions_plan plan = {
        .machine = s->machine,
        .events = s->events,
        .n_events = s->n_events,
        .segments = segments,
        .n_segments = 3,
        .zero_segment = 2,
        .wanted = s->runs,
        .attempts = ATTEMPTS * s->runs,
        /* from the sample on that ends at time 0, for the time at which the next one begins */
        .from_us = -0.1,
        .progress = report,
        .data = c};
    plan.machine.period_us = period_us;
    return repetitions_run(m, &plan, out, err);
}

int umask_run(struct machine *m, const struct umask_setup *s, struct repetitions out[UMASK_EXPERIMENTS],
              struct machine_error *err)
{
    bool switches = strcmp(s->kernel.name, s->base.name) != 0;
    struct counted c = {.setup = s, .all = s->runs * (switches ? UMASK_EXPERIMENTS : 1)};
    memset(out, 0, UMASK_EXPERIMENTS * sizeof *out);
    for (int w = 0; w < UMASK_EXPERIMENTS; w++)
        trace_init(&out[w].trace);
    int status = steady(m, s, &c, &out[UMASK_STEADY], err);
    for (unsigned w = UMASK_FROM_BASE; w < UMASK_EXPERIMENTS && !status && switches && !c.stopped; w++) {
        c.before += s->runs;
        status = record_switch(m, s, w, &c, &out[w], err);
    }
    for (int w = 0; w < UMASK_EXPERIMENTS && status; w++)
        repetitions_free(&out[w]);
    return status;
}
