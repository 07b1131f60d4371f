/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/plain_traces.h"

#include <math.h>

#include "tests/support/one_of.h"
#include "tests/support/recorder.h"

enum { PIECES_MAX = 10 };

struct plain_piece {
    double periods, volts;
    struct core_state state;
};

struct plain_plan {
    struct rng rng;
    struct recorder rec;
    unsigned runs;
    double begin;
    size_t n;
    struct plain_piece piece[PIECES_MAX];
    double others, interrupted; /* shares of the repetitions */
    double ticks;               /* share of the samples that read the next tick */
    bool instant, volts, by_turns;
};

static void plain_choose(struct plain_plan *p)
{
    struct rng *r = &p->rng;
    double volts = 1, ipc = ONE_OF(r, 1, 2), ghz = ONE_OF(r, 2, 2.5, 3);
    p->rec = (struct recorder){.period_us = ONE_OF(r, 1, 1, 0.5, 2),
                               .sampler = choose_sampler(r),
                               .kernel_mode = rng_chance(r, 0.5),
                               .missing = ONE_OF(r, 0, 0, 0, 0.02),
                               .outliers = ONE_OF(r, 0, 0, 0, 0.02),
                               .split = ONE_OF(r, 0, 0, 0.3)};
    p->rec.has[TRACE_FREQ] = rng_chance(r, 0.9);
    p->rec.has[TRACE_IPC] = !p->rec.has[TRACE_FREQ] || rng_chance(r, 0.85);
    for (int c = TRACE_LVL0; c <= TRACE_THROTTLE; c++)
        p->rec.has[c] = rng_chance(r, 0.15);
    p->runs = (unsigned)ONE_OF(r, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 12, 20);
    p->begin = -p->rec.period_us * rng_int(r, 2, p->runs > 9 ? 24 : 12);
    p->others = ONE_OF(r, 0, 0, 0.2, 0.5);
    p->interrupted = ONE_OF(r, 0, 0, 0.1, 0.5);
    p->ticks = ONE_OF(r, 0, 0, 0, 0.1, 0.4);
    p->by_turns = rng_chance(r, 0.2);
    p->instant = rng_chance(r, 0.3);
    p->volts = rng_chance(r, 0.15);
    p->n = (size_t)rng_int(r, 2, rng_chance(r, 0.2) ? PIECES_MAX : 5);
    for (size_t i = 0; i < p->n; i++) {
        struct plain_piece *q = &p->piece[i];
        bool halt = i && i + 1 < p->n && !q[-1].state.halt && rng_chance(r, 0.3);
        q->periods = i == 0 ? -p->begin / p->rec.period_us : ONE_OF(r, 1, 2, 3, 4, 6, 12, 20, 40);
        q->periods += rng_chance(r, 0.2) ? 0.5 : 0;
        if (halt)
            q->periods = ONE_OF(r, 0.5, 1, 1.5, 2, 3, 8);
        if (i + 1 == p->n)
            q->periods = rng_int(r, 8, 60);
        if (i && !halt && rng_chance(r, 0.6))
            ghz = ONE_OF(r, 2, 2.5, 3, 2.40625, 2.515625, 2.9375);
        if (i && rng_chance(r, 0.5))
            volts = ONE_OF(r, 1, 0.96875, 0.984375, 0.998);
        q->volts = volts;
        q->state = (struct core_state){.halt = halt, .freq = ghz, .ipc = i && rng_chance(r, 0.4) ? ipc / 2 : ipc};
        for (int k = 0; k < 4; k++)
            q->state.share[k] = ONE_OF(r, 0, 0, 0.5, 1);
    }
}

static int plain_record(struct plain_plan *p, unsigned run, struct trace *t)
{
    struct rng *r = &p->rng;
    struct core_state state[PIECES_MAX];
    struct interruption in = {INFINITY, INFINITY};
    double at = p->begin, period = p->rec.period_us;
    size_t other = rng_chance(r, p->others) ? (size_t)rng_int(r, 1, (int)p->n - 1) : p->n;
    for (size_t i = 0; i < p->n; i++) {
        double more = i == other ? ONE_OF(r, 1, 2, 4, 8, 16) : 0;
        state[i] = p->piece[i].state;
        state[i].begin = i ? at : at - 100 * period;
        state[i].freq *= other < p->n && p->by_turns ? 0.96875 : 1;
        at += (p->piece[i].periods + more) * period;
    }
    if (rng_chance(r, p->interrupted)) {
        in.begin = p->begin + period * rng_int(r, 1, 30);
        in.end = in.begin + period * ONE_OF(r, 1, 2, 5, 20);
    }
    double phase = rng_chance(r, 0.2) ? 0.5 * period : 0;
    return record_run(r, &p->rec, state, p->n, p->begin, at, phase, in, run, t);
}

/* The next tick now and then, or by turns. */
static void plain_tick(struct plain_plan *p, struct trace *t)
{
    for (size_t i = 0; i < t->n; i++)
        for (int c = TRACE_FREQ; c <= TRACE_IPC; c++)
            if (t->channel[c] && (p->ticks > 0 && p->by_turns ? i % 2 != 0 : rng_chance(&p->rng, p->ticks)))
                t->channel[c][i] *= 1.015625f;
}

/* Some samples end a quarter of a period sooner or later. */
static void plain_retime(struct plain_plan *p, struct trace *t)
{
    for (size_t i = 1; i + 1 < t->n; i++) {
        double at = t->time_us[i] + p->rec.period_us * ONE_OF(&p->rng, 0, 0, 0, 0.25, -0.25);
        if (t->run[i - 1] == t->run[i + 1] && at > t->time_us[i - 1] && at < t->time_us[i + 1])
            t->time_us[i] = at;
    }
}

/* A sample behind the last one, which nobody may look at. */
static int plain_decoy(struct trace *t)
{
    if (!t->n)
        return 0;
    if (trace_append(t, t->run[t->n - 1], t->time_us[t->n - 1] + 16))
        return -1;
    t->n--;
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (t->channel[c])
            t->channel[c][t->n] = 0.75f;
    return 0;
}

static int plain_note(struct plain_plan *p, struct trace *t)
{
    struct rng *r = &p->rng;
    int bad = rng_chance(r, 0.85) ? trace_set(t, "from", "a") | trace_set(t, "to", "b") : 0;
    if (p->instant)
        bad |= trace_set(t, "frequency", "instantaneous") | trace_set_number(t, "chain_cycles", 512) |
               trace_set_number(t, "reading_us", 0.25);
    if (p->instant || rng_chance(r, 0.2))
        bad |= trace_set_number(t, "clock_step_ns", ONE_OF(r, 1, 1, 4, 10));
    if (rng_chance(r, 0.2))
        bad |= trace_set(t, "sampler", rng_chance(r, 0.5) ? "resumes at once" : "waits");
    if (rng_chance(r, 0.1))
        bad |= trace_set(t, "modelled", rng_chance(r, 0.5) ? "yes" : "no");
    if (rng_chance(r, 0.1))
        bad |= trace_set_number(t, "frequency_error", 0.002);
    return bad;
}

static int plain_volts(struct plain_plan *p, struct trace *t)
{
    if (trace_add_channel(t, TRACE_VOLTS))
        return -1;
    size_t n = t->n;
    for (size_t k = 0; k < n / 2; k++) {
        double at = p->begin, when = p->begin + p->rec.period_us * 0.5 * (double)k;
        size_t i = 0;
        while (i + 1 < p->n && when >= at + p->piece[i].periods * p->rec.period_us)
            at += p->piece[i++].periods * p->rec.period_us;
        if (trace_append(t, p->runs + (unsigned)k, when))
            return -1;
        t->channel[TRACE_VOLTS][t->n - 1] = (float)p->piece[i].volts;
    }
    return 0;
}

int plain_trace(uint64_t seed, struct trace *t)
{
    struct plain_plan p = {.runs = 0};
    rng_init(&p.rng, seed, 500);
    plain_choose(&p);
    trace_init(t);
    int bad = trace_add_run(t);
    for (int c = 0; c < TRACE_CHANNELS && !bad; c++)
        bad = p.rec.has[c] && trace_add_channel(t, (enum trace_channel)c);
    for (unsigned run = 0; run < p.runs && !bad; run++)
        bad = plain_record(&p, run, t);
    if (!bad && rng_chance(&p.rng, 0.25))
        plain_retime(&p, t);
    if (!bad && p.ticks > 0)
        plain_tick(&p, t);
    bad = bad || plain_note(&p, t) || (p.volts && plain_volts(&p, t)) || plain_decoy(t);
    return bad ? -1 : 0;
}
