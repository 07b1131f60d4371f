/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/guest_traces.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "tests/support/random_numbers.h"

enum { REPETITIONS = 80, BURSTS_MAX = 64 };
#define BEGIN_US (-50.0)
#define END_US 150.0
#define SAMPLE_US 0.25
#define TIME_STEP_US 0.005
#define CHAIN_NOISE 0.012
#define CHAIN_SHARE 0.25
#define SCATTER 0.04 /* relative: of durations */
#define BACK_SCATTER 0.25
#define INTERRUPTIONS_PER_US 500e-6
/* The smallest cost of a finding, us of work: much more than that of cold code, which no control distinguishes here. */
#define LEAST_LOST_US 0.8

/* The machine on which one trace was recorded. */
struct guest {
    struct rng rng;
    const struct guest_truth *truth;
    double ghz, clock_step; /* the middle clock; relative distance of those between which it floats */
    double clock_stays;     /* repetitions, on average */
    double ipc;
    double busy_us, idle_us; /* of the sibling thread, on average; 0: there is none */
    double sibling_chain;    /* clock that the chain shows beside it, of the true one */
    double tick_us;          /* of the time stamps */
    double sample_us;        /* work of a sample: so long at full rate and the middle clock */
    double chain_share, scatter;
};

struct burst {
    double begin, end, rate;
};

struct repetition {
    double clock;                          /* GHz, before the switch */
    double cold_us, throttled_us, back_us; /* INFINITY: the clock stays low */
    double back_halt_us;
    bool idle;
    struct burst burst[BURSTS_MAX];
    int bursts;
    double lost_begin, lost_end; /* an interruption */
};

static const char *const names[GUEST_KINDS] = {"null", "throttle", "step", "modes", "halt",
                                               "ramp", "idle",     "dip",  "back"};

const char *guest_kind_name(enum guest_kind kind)
{
    return (unsigned)kind < GUEST_KINDS ? names[kind] : NULL;
}

/* ---- what happens ---- */

static void draw_throttling(struct rng *r, struct guest_truth *t, double lo_us, double hi_us, double mildest)
{
    do {
        t->d1_us = rng_log(r, lo_us, hi_us);
        t->ratio = rng_range(r, 0.2, mildest);
    } while (t->d1_us * (1 - t->ratio) < LEAST_LOST_US);
}

static void draw_truth(struct rng *r, enum guest_kind kind, uint64_t seed, struct guest_truth *t)
{
    *t = (struct guest_truth){.kind = kind, .seed = seed, .ratio = 1, .low = 1};
    t->d1_us = t->d1b_us = t->tau_us = t->back_us = NAN;
    t->cold_us = rng_range(r, 0.05, 0.4);
    if (kind == GUEST_THROTTLE || (kind == GUEST_STEP && rng_chance(r, 0.5)))
        draw_throttling(r, t, 1, 40, 0.85);
    else if (kind == GUEST_STEP)
        t->d1_us = rng_log(r, 2, 40);
    else if (kind == GUEST_MODES)
        draw_throttling(r, t, 1.2, 15, 0.6);
    else if (kind == GUEST_HALT)
        draw_throttling(r, t, 2, 30, 0.7);
    else if (kind == GUEST_IDLE || kind == GUEST_DIP || kind == GUEST_BACK)
        draw_throttling(r, t, 1.5, 5, 0.4);
    if (kind == GUEST_IDLE)
        t->idle = rng_range(r, 0.2, 0.6);
    if (kind == GUEST_DIP || kind == GUEST_BACK)
        t->back_us = rng_range(r, 35, 60);
    if (kind == GUEST_IDLE || kind == GUEST_DIP || kind == GUEST_BACK)
        t->low = rng_range(r, 0.86, kind == GUEST_IDLE ? 0.98 : 0.93);
    if (kind == GUEST_BACK)
        t->back_halt_us = rng_range(r, 0.8, 1.2);
    if (kind == GUEST_MODES)
        t->d1b_us = t->d1_us * rng_range(r, 1.8, 2.2);
    if (kind == GUEST_HALT)
        t->halt_us = rng_log(r, 0.5, 15);
    if (kind == GUEST_HALT || kind == GUEST_STEP)
        t->low = rng_range(r, 0.86, 0.98);
    if (kind == GUEST_RAMP) {
        t->ratio = rng_range(r, 0.2, 0.7);
        t->tau_us = rng_log(r, 2, 15);
    }
}

static void draw_guest(struct guest *g)
{
    static const double steps[] = {0, 0.015, 0.05}, ticks[] = {0.0005, 0.01, 0.02};
    struct rng *r = &g->rng;
    g->ghz = rng_range(r, 2, 3.6);
    g->clock_step = rng_one_of(r, steps, 3);
    g->clock_stays = rng_range(r, 3, 12);
    g->ipc = rng_range(r, 0.9, 2.5);
    g->busy_us = rng_log(r, 6, 25);
    g->idle_us = g->busy_us * rng_range(r, 3, 12);
    if (rng_chance(r, 0.15))
        g->busy_us = 0;
    g->sibling_chain = rng_chance(r, 0.2) ? rng_range(r, 0.9, 0.98) : 1;
    g->tick_us = rng_one_of(r, ticks, 3);
    g->sample_us = SAMPLE_US;
    g->chain_share = CHAIN_SHARE;
    g->scatter = SCATTER;
}

static void draw_wild_guest(struct guest *g)
{
    static const double chains[] = {0, 0.1, 0.25, 0.5}, scatters[] = {0, 0.01, 0.04, 0.15};
    draw_guest(g);
    g->sample_us = rng_log(&g->rng, 0.1, 1);
    g->chain_share = rng_one_of(&g->rng, chains, 4);
    g->scatter = rng_one_of(&g->rng, scatters, 4);
}

static double exponential(struct rng *r, double mean)
{
    return -mean * log(1 - rng_unit(r));
}

static void draw_siblings(struct guest *g, struct repetition *p)
{
    p->bursts = 0;
    if (g->busy_us <= 0)
        return;
    bool busy = rng_chance(&g->rng, g->busy_us / (g->busy_us + g->idle_us));
    for (double at = BEGIN_US - 2; at < END_US + 20 && p->bursts < BURSTS_MAX; busy = !busy) {
        double until = at + exponential(&g->rng, busy ? g->busy_us : g->idle_us);
        if (busy)
            p->burst[p->bursts++] = (struct burst){at, until, rng_range(&g->rng, 0.55, 0.8)};
        at = until;
    }
}

static void draw_repetition(struct guest *g, int clock, struct repetition *p)
{
    const struct guest_truth *t = g->truth;
    struct rng *r = &g->rng;
    p->clock = g->ghz * (1 + g->clock_step * clock);
    p->cold_us = t->cold_us * rng_range(r, 0.8, 1.2);
    bool second = t->kind == GUEST_MODES && rng_chance(r, 0.5);
    p->throttled_us = (second ? t->d1b_us : t->d1_us) * (1 + g->scatter * rng_normal(r));
    p->idle = t->idle > 0 && rng_chance(r, t->idle);
    p->back_us = t->back_us > 0 ? t->back_us * exp(BACK_SCATTER * rng_normal(r)) : INFINITY;
    p->back_halt_us = t->back_halt_us > 0 && rng_chance(r, 0.75) ? t->back_halt_us : 0;
    draw_siblings(g, p);
    p->lost_begin = BEGIN_US + exponential(r, 1 / INTERRUPTIONS_PER_US);
    p->lost_end = p->lost_begin + rng_range(r, 3, 15);
}

/* ---- what is seen of it ---- */

static const struct burst *sibling_at(const struct repetition *p, double t)
{
    for (int i = 0; i < p->bursts; i++)
        if (t >= p->burst[i].begin && t < p->burst[i].end)
            return &p->burst[i];
    return NULL;
}

/* The core's clock, GHz. */
static double clock_at(const struct guest *g, const struct repetition *p, double t)
{
    bool low = t >= p->throttled_us + g->truth->halt_us && t < p->back_us && !p->idle;
    return p->clock * (low ? g->truth->low : 1);
}

/* Work a microsecond, of that at full rate and the middle clock. */
static double rate_at(const struct guest *g, const struct repetition *p, double t)
{
    const struct guest_truth *q = g->truth;
    bool halted = t >= p->throttled_us && t < p->throttled_us + q->halt_us, cold = t >= 0 && t < p->cold_us;
    halted = halted || (t >= p->back_us && t < p->back_us + p->back_halt_us);
    if (halted || cold || (t >= p->lost_begin && t < p->lost_end))
        return 0;
    const struct burst *beside = sibling_at(p, t);
    double rate = clock_at(g, p, t) / g->ghz * (beside ? beside->rate : 1);
    if (t >= 0 && q->kind == GUEST_RAMP)
        rate *= 1 - (1 - q->ratio) * exp(-t / q->tau_us);
    else if (t >= 0 && t < p->throttled_us && !p->idle)
        rate *= q->ratio;
    return rate;
}

static int append_sample(struct guest *g, const struct repetition *p, uint32_t run, double end, double *last,
                         struct trace *t)
{
    double stamp = g->tick_us * floor(end / g->tick_us), clock = clock_at(g, p, end);
    double work = g->sample_us * g->ghz * g->ipc; /* thousands of instructions */
    if (stamp <= *last || trace_append(t, run, stamp))
        return -1;
    t->channel[TRACE_IPC][t->n - 1] = (float)(work / ((stamp - *last) * clock));
    if (rng_chance(&g->rng, g->chain_share)) {
        double shown = clock * (sibling_at(p, end) ? g->sibling_chain : 1);
        t->channel[TRACE_FREQ][t->n - 1] = (float)(shown * (1 + CHAIN_NOISE * rng_normal(&g->rng)));
    }
    *last = stamp;
    return 0;
}

static int record_repetition(struct guest *g, const struct repetition *p, uint32_t run, struct trace *t)
{
    double begin = BEGIN_US - rng_range(&g->rng, 0, 1), last = g->tick_us * floor(begin / g->tick_us), done = 0;
    for (long step = 0;; step++) {
        double at = begin + TIME_STEP_US * (double)step, rate = rate_at(g, p, at + TIME_STEP_US / 2);
        double more = rate * TIME_STEP_US;
        if (done + more < g->sample_us) {
            done += more;
            continue;
        }
        double end = at + (g->sample_us - done) / rate;
        done += more - g->sample_us;
        if (append_sample(g, p, run, end, &last, t))
            return -1;
        if (end > END_US)
            return 0;
    }
}

static int record_guest(struct guest *g, struct trace *t)
{
    trace_init(t);
    if (trace_add_run(t) || trace_add_channel(t, TRACE_FREQ) || trace_add_channel(t, TRACE_IPC) ||
        trace_set(t, "from", "a") || trace_set(t, "to", "b"))
        return -1;
    int clock = rng_int(&g->rng, -2, 2);
    for (uint32_t run = 0; run < REPETITIONS; run++) {
        struct repetition p;
        if (rng_chance(&g->rng, 1 / g->clock_stays))
            clock = rng_int(&g->rng, -2, 2);
        draw_repetition(g, clock, &p);
        if (record_repetition(g, &p, run, t))
            return -1;
    }
    return 0;
}

static int draw_trace(enum guest_kind kind, uint64_t seed, bool wild, struct trace *t, struct guest_truth *truth)
{
    struct guest g = {.truth = truth};
    rng_init(&g.rng, seed, (wild ? 3000 : 2000) + (uint64_t)kind);
    draw_truth(&g.rng, kind, seed, truth);
    (wild ? draw_wild_guest : draw_guest)(&g);
    snprintf(truth->about, sizeof truth->about,
             "ratio %.2f, until %.2f or %.2f us, halt %.2f us, step %.3f until %.1f us, none in %.2f, ramp %.1f us, "
             "cold %.2f us; %.2f GHz +- %.1f %%, "
             "sibling %.0f of %.0f us, ticks of %.4g us, samples of %.2f us, chains in %.2f",
             truth->ratio, truth->d1_us, truth->d1b_us, truth->halt_us, truth->low, truth->back_us, truth->idle,
             truth->tau_us, truth->cold_us, g.ghz, 100 * g.clock_step, g.busy_us, g.busy_us + g.idle_us, g.tick_us,
             g.sample_us, g.chain_share);
    if (!record_guest(&g, t))
        return 0;
    trace_free(t);
    return -1;
}

int guest_trace(enum guest_kind kind, uint64_t seed, struct trace *t, struct guest_truth *truth)
{
    return draw_trace(kind, seed, false, t, truth);
}

int guest_trace_wild(enum guest_kind kind, uint64_t seed, struct trace *t, struct guest_truth *truth)
{
    return draw_trace(kind, seed, true, t, truth);
}
