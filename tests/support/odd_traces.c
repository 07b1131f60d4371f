/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/odd_traces.h"

#include <math.h>
#include <string.h>

#include "tests/support/recorder.h"

enum { PIECES_MAX = 8, STATES_MAX = 400, BOUTS_MAX = 3 };
#define CHAIN_CYCLES 500.0
#define VOLT_UNIT (1.0 / 8192) /* of MSR_PERF_STATUS bits 47:32 */

/* One state after the other, as most repetitions have them. */
struct odd_piece {
    double us;     /* how long */
    double tau_us; /* of the way to its frequency; 0: at once */
    double volts;
    struct core_state state;
};

struct odd_plan {
    struct rng rng;
    enum odd_kind kind;
    struct recorder rec;
    unsigned runs;
    double begin; /* us */
    struct odd_piece piece[PIECES_MAX];
    size_t n;
    double scatter; /* of the durations, relative, from repetition to repetition */
    double others;  /* share of the repetitions whose piece `other` lasts `longer` times as long */
    size_t other;
    double longer;
    double offset;       /* of the frequency of repetitions, relative: any up to this, or this in some of them */
    double offset_share; /* of these; 0: any */
    double interrupted;
    double bouts, factor, chain_factor, bout_us; /* share of repetitions that meet another thread, and how it slows */
    double clock_step_ns;                        /* of the clock that times a chain; 0: counters */
    double volt_noise, volt_ramp_us;
    unsigned volt_readings; /* scattered ones; 0: each sample has one */
};

static const char *const names[ODD_KINDS] = {"steps", "ramps", "chains", "bouts", "volts", "few"};

const char *odd_kind_name(enum odd_kind kind)
{
    return names[kind];
}

static void add(struct odd_plan *p, double us, bool halt, const struct core_state *s)
{
    struct odd_piece *q = &p->piece[p->n++];
    *q = (struct odd_piece){.us = us, .state = *s};
    q->state.halt = halt;
}

static void choose_pieces(struct odd_plan *p)
{
    struct rng *r = &p->rng;
    double period = p->rec.period_us, full = rng_range(r, 1.2, 4), ipc = rng_range(r, 0.5, 4);
    struct core_state s = {.freq = full, .ipc = ipc};
    bool switched = rng_chance(r, 0.7);
    p->begin = -period * rng_range(r, 8, p->kind == ODD_BOUTS ? 120 : 40);
    if (switched)
        s.ipc *= rng_range(r, 0.4, 2);
    add(p, -p->begin, false, &s);
    s.ipc = ipc;
    for (int i = rng_int(r, 1, 3); i > 0; i--) {
        if (rng_chance(r, 0.3) && p->n > 1)
            add(p, rng_log(r, 0.3, 12), true, &s);
        else {
            s.ipc = ipc * (rng_chance(r, 0.5) ? 1 : rng_log(r, 0.2, 1.1));
            if (rng_chance(r, 0.7))
                s.freq = rng_chance(r, 0.25) ? full : full * (1 - rng_log(r, 0.002, 0.3));
            add(p, period * rng_log(r, 0.7, 60), false, &s);
            if (p->kind == ODD_RAMPS || rng_chance(r, 0.1))
                p->piece[p->n - 1].tau_us = period * rng_log(r, 0.7, 40);
        }
    }
    s.ipc = ipc;
    s.freq = rng_chance(r, 0.3) ? full : s.freq * (1 - rng_log(r, 0.002, 0.2));
    add(p, period * rng_range(r, 15, 100), false, &s);
    if (p->kind == ODD_RAMPS) {
        p->piece[p->n - 1].tau_us = period * rng_log(r, 0.7, 40);
        p->piece[p->n - 1].us *= 2;
    }
    double volts = rng_range(r, 0.65, 1.2);
    for (size_t i = 0; i < p->n; i++) {
        volts += rng_chance(r, 0.6) ? rng_log(r, 0.0008, 0.04) * (rng_chance(r, 0.7) ? -1 : 1) : 0;
        p->piece[i].volts = volts;
    }
}

static void choose_recorder(struct odd_plan *p)
{
    struct rng *r = &p->rng;
    p->rec.period_us = rng_chance(r, 0.5) ? 1 : rng_log(r, 0.3, 4);
    p->rec.sampler = choose_sampler(r);
    p->rec.jitter = rng_chance(r, 0.5) ? 0 : rng_range(r, 0, 0.3);
    p->rec.freq_noise = rng_chance(r, 0.15) ? 0 : rng_log(r, 2e-4, 0.02);
    p->rec.ipc_noise = rng_chance(r, 0.15) ? 0 : rng_log(r, 0.001, 0.06);
    p->rec.missing = rng_chance(r, 0.7) ? 0 : rng_range(r, 0, 0.06);
    p->rec.outliers = rng_chance(r, 0.6) ? 0 : rng_range(r, 0, 0.02);
    p->rec.split = rng_chance(r, 0.5) ? 0 : rng_range(r, 0, 0.3);
    p->rec.kernel_mode = rng_chance(r, 0.5);
    p->rec.has[TRACE_FREQ] = rng_chance(r, 0.9);
    p->rec.has[TRACE_IPC] = !p->rec.has[TRACE_FREQ] || rng_chance(r, 0.8);
    p->runs = (unsigned)lround(rng_log(r, 4, 32));
}

static void choose(struct odd_plan *p)
{
    struct rng *r = &p->rng;
    choose_recorder(p);
    p->scatter = rng_chance(r, 0.5) ? 0 : rng_log(r, 0.003, 0.5);
    p->others = rng_chance(r, 0.5) ? 0 : rng_range(r, 0, 0.6);
    p->longer = rng_chance(r, 0.3) ? 0 : rng_log(r, 0.3, 4);
    p->offset = rng_chance(r, 0.6) ? 0 : rng_log(r, 5e-4, 0.02);
    p->offset_share = rng_chance(r, 0.5) ? 0 : rng_range(r, 0, 0.6);
    p->interrupted = rng_chance(r, 0.6) ? 0 : rng_range(r, 0, 0.7);
    if (p->kind == ODD_CHAINS || (p->kind == ODD_RAMPS && rng_chance(r, 0.4)) ||
        (p->kind == ODD_BOUTS && rng_chance(r, 0.6)))
        p->clock_step_ns = rng_chance(r, 0.5) ? 1 : rng_log(r, 0.3, 40);
    if (p->kind == ODD_BOUTS) {
        p->rec.has[TRACE_FREQ] = p->rec.has[TRACE_IPC] = true;
        p->rec.ipc_noise = fmin(p->rec.ipc_noise, 0.02);
        p->runs = p->runs < 10 ? p->runs + 10 : p->runs;
        p->bouts = rng_range(r, 0.1, 1);
        p->factor = rng_range(r, 0.4, 0.97);
        p->chain_factor = p->clock_step_ns > 0 ? rng_range(r, p->factor, 1) : 1;
        p->bout_us = p->rec.period_us * rng_log(r, 0.8, 80);
    }
    if (p->kind == ODD_FEW) {
        p->runs = (unsigned)rng_int(r, 1, 5);
        p->interrupted = rng_range(r, 0, 0.8);
    }
    p->volt_noise = rng_chance(r, 0.2) ? 0 : rng_range(r, 0, 0.0012);
    p->volt_ramp_us = rng_chance(r, 0.5) ? 0 : rng_log(r, 1, 40);
    p->volt_readings = rng_chance(r, 0.3) ? 0 : (unsigned)lround(rng_log(r, 20, 400));
    choose_pieces(p);
    p->other = (size_t)rng_int(r, 1, (int)p->n - 2); /* not the last one, which a halt may come before */
}

/* The states of one repetition; *end: of the last of them. */
static size_t draw_states(struct odd_plan *p, struct core_state state[STATES_MAX], double *end)
{
    struct rng *r = &p->rng;
    bool other = rng_chance(r, p->others);
    double own = 1, at = p->begin, freq = p->piece[0].state.freq;
    size_t n = 0;
    if (p->offset_share > 0)
        own += rng_chance(r, p->offset_share) ? p->offset : 0;
    else
        own += p->offset * rng_range(r, -1, 1);
    for (size_t i = 0; i < p->n; i++) {
        const struct odd_piece *q = &p->piece[i];
        double us = q->us * (i ? fmax(0.1, 1 + p->scatter * rng_normal(r)) : 1);
        us *= other && i == p->other ? p->longer : 1;
        if (us <= 0)
            continue;
        double step = q->tau_us > 0 ? fmax(0.2 * q->tau_us, 0.25 * p->rec.period_us) : us;
        for (double t = 0; t < us && n < STATES_MAX - 2 * BOUTS_MAX; t += step) {
            struct core_state *s = &state[n++];
            *s = q->state;
            if (q->tau_us > 0 && t + step > 7 * q->tau_us)
                step = us;
            else if (q->tau_us > 0)
                s->freq += (freq - s->freq) * exp(-(t + 0.5 * step) / q->tau_us);
            s->freq *= own;
            s->begin = i ? at + t : at - 1000;
        }
        freq = q->state.halt ? freq : q->state.freq;
        at += us;
    }
    *end = at;
    return n;
}

/* Another thread from `begin` to `end`. */
static size_t slow_down(const struct odd_plan *p, struct core_state *state, size_t n, double begin, double end)
{
    for (int side = 0; side < 2; side++) {
        double at = side ? end : begin;
        size_t i = n - 1;
        while (i > 0 && state[i].begin > at)
            i--;
        memmove(&state[i + 1], &state[i], (n - i) * sizeof *state);
        state[i + 1].begin = at;
        n++;
    }
    for (size_t i = 0; i < n; i++)
        if (state[i].begin >= begin && state[i].begin < end) {
            state[i].freq *= p->chain_factor;
            state[i].ipc *= p->factor / p->chain_factor;
        }
    return n;
}

static int record_one(struct odd_plan *p, uint32_t run, struct trace *t)
{
    struct rng *r = &p->rng;
    struct core_state state[STATES_MAX];
    struct interruption in = {INFINITY, INFINITY};
    double end;
    size_t n = draw_states(p, state, &end);
    if (rng_chance(r, p->bouts))
        for (int i = rng_int(r, 1, BOUTS_MAX); i > 0; i--) {
            double at = rng_range(r, p->begin, end);
            n = slow_down(p, state, n, at, at + p->bout_us * rng_range(r, 0.5, 1.5));
        }
    if (rng_chance(r, p->interrupted)) {
        in.begin = rng_range(r, p->begin, end);
        in.end = in.begin + rng_log(r, 0.5, 60);
    }
    return record_run(r, &p->rec, state, n, p->begin, end, rng_unit(r) * p->rec.period_us, in, run, t);
}

/* The chain takes so many whole steps of the clock, or one more. */
static void time_chains(struct odd_plan *p, struct trace *t)
{
    float *freq = t->channel[TRACE_FREQ];
    for (size_t i = 0; freq && i < t->n; i++)
        if (freq[i] > 0) {
            double steps = floor(CHAIN_CYCLES / (double)freq[i] / p->clock_step_ns + rng_unit(&p->rng));
            freq[i] = (float)(CHAIN_CYCLES / (fmax(steps, 1) * p->clock_step_ns));
        }
}

static int note_chains(const struct odd_plan *p, struct trace *t)
{
    return trace_set(t, "frequency", "instantaneous") | trace_set_number(t, "clock_step_ns", p->clock_step_ns) |
           trace_set_number(t, "chain_cycles", CHAIN_CYCLES) | trace_set_number(t, "reading_us", 0.2);
}

static float volts_at(struct odd_plan *p, double us)
{
    double at = p->begin, volts = p->piece[0].volts;
    for (size_t i = 0; i < p->n; at += p->piece[i++].us) {
        double done = p->volt_ramp_us > 0 ? fmin(1, (us - at) / p->volt_ramp_us) : 1;
        if (us >= at)
            volts += (p->piece[i].volts - volts) * done;
    }
    volts += p->volt_noise * rng_normal(&p->rng);
    return (float)(floor(volts / VOLT_UNIT + 0.5) * VOLT_UNIT);
}

static int read_volts(struct odd_plan *p, struct trace *t)
{
    double length = 0;
    for (size_t i = 0; i < p->n; i++)
        length += p->piece[i].us;
    if (trace_add_channel(t, TRACE_VOLTS))
        return -1;
    for (size_t i = 0; !p->volt_readings && i < t->n; i++)
        t->channel[TRACE_VOLTS][i] = volts_at(p, t->time_us[i]);
    for (unsigned k = 0; k < p->volt_readings; k++) {
        double at = p->begin + rng_unit(&p->rng) * length;
        if (trace_append(t, p->runs + k, at))
            return -1;
        t->channel[TRACE_VOLTS][t->n - 1] = volts_at(p, at);
    }
    return rng_chance(&p->rng, 0.3) ? trace_set_number(t, "volts_late_us", rng_range(&p->rng, 0, 20)) : 0;
}

int odd_trace(enum odd_kind kind, uint64_t seed, struct trace *t)
{
    struct odd_plan p = {.kind = kind};
    rng_init(&p.rng, seed, 400 + (uint64_t)kind);
    choose(&p);
    trace_init(t);
    int bad = trace_add_run(t);
    for (int c = 0; c < TRACE_CHANNELS && !bad; c++)
        bad = p.rec.has[c] && trace_add_channel(t, (enum trace_channel)c);
    if (!bad && rng_chance(&p.rng, 0.85))
        bad = trace_set(t, "from", "a") | trace_set(t, "to", "b");
    for (unsigned run = 0; run < p.runs && !bad; run++)
        bad = record_one(&p, run, t);
    if (!bad && p.clock_step_ns > 0) {
        time_chains(&p, t);
        bad = note_chains(&p, t);
    }
    if (!bad && (kind == ODD_VOLTS || rng_chance(&p.rng, 0.1)))
        bad = read_volts(&p, t);
    if (!bad && p.rec.sampler == SAMPLER_PROMPT && rng_chance(&p.rng, 0.3))
        bad = trace_set(t, "sampler", "resumes at once");
    return bad ? -1 : 0;
}
