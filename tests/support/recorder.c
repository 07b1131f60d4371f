/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/recorder.h"

#include <math.h>

#define AWAKE_MIN_US 0.002 /* from the end of a halt to a prompt reading */
#define AWAKE_MAX_US 0.01
#define READ_US 0.055 /* one reading takes so long (seen in recordings of a W-2104) */
#define SHORTEST 0.1  /* periods: the loop does not read again sooner */
#define WILD 0.3      /* an outlier is off by up to so much */

struct counts {
    double cycles, instructions, share[4];
};

struct session {
    struct rng *rng;
    const struct recorder *rec;
    struct core_state *state;
    size_t n;
    size_t at; /* the state that holds the last reading */
    struct interruption in;
    size_t taken; /* samples, of those that the grid requests */
};

enum sampler choose_sampler(struct rng *r)
{
    double u = rng_unit(r);
    return u < 0.42 ? SAMPLER_PROMPT : u < 0.84 ? SAMPLER_GRID : SAMPLER_CATCH_UP;
}

const char *sampler_name(enum sampler s)
{
    return s == SAMPLER_PROMPT ? "prompt" : s == SAMPLER_GRID ? "grid" : "catching up";
}

static double state_end(const struct session *s, size_t i)
{
    return i + 1 < s->n ? s->state[i + 1].begin : INFINITY;
}

static double overlap(double a, double b, double c, double d)
{
    return fmax(0, fmin(b, d) - fmax(a, c));
}

/* Returns what the counters gain from `from` to `to`; s->at holds `from` and moves on. */
static struct counts count(struct session *s, double from, double to)
{
    struct counts c = {0};
    while (state_end(s, s->at) <= from)
        s->at++;
    for (size_t i = s->at; i < s->n && s->state[i].begin < to; i++) {
        const struct core_state *q = &s->state[i];
        double a = fmax(from, q->begin), b = fmin(to, state_end(s, i));
        if (q->halt || b <= a)
            continue;
        double lost = overlap(a, b, s->in.begin, s->in.end), runs = b - a - lost;
        double cycles = q->freq * (s->rec->kernel_mode ? b - a : runs);
        c.cycles += cycles;
        c.instructions += q->freq * q->ipc * runs;
        for (int k = 0; k < 4; k++)
            c.share[k] += cycles * q->share[k];
    }
    return c;
}

/* When the program runs again, if it does not at time t; t if it does. */
static double runs_again(const struct session *s, double t)
{
    for (bool again = true; again;) {
        again = false;
        if (t >= s->in.begin && t < s->in.end) {
            t = s->in.end;
            again = true;
        }
        for (size_t i = s->at; i < s->n && s->state[i].begin <= t; i++)
            if (s->state[i].halt && t < state_end(s, i)) {
                t = state_end(s, i);
                again = true;
            }
    }
    return t;
}

/* The halt that begins after `last` and makes the sample wait that is due at `due`; n = none. */
static size_t halt_at(const struct session *s, double last, double due)
{
    if (s->in.begin < due && s->in.end > last)
        return s->n;
    for (size_t i = s->at; i < s->n && s->state[i].begin <= due; i++)
        if (s->state[i].halt && s->state[i].begin > last && due < state_end(s, i))
            return i;
    return s->n;
}

static float field(struct session *s, double value)
{
    return rng_chance(s->rng, s->rec->missing) ? NAN : (float)value;
}

static void fill(struct session *s, struct trace *t, const struct counts *c, double elapsed)
{
    const struct recorder *rec = s->rec;
    size_t i = t->n - 1;
    double freq = c->cycles / elapsed * (1 + rec->freq_noise * rng_normal(s->rng));
    double ipc = c->cycles > 0 ? c->instructions / c->cycles * (1 + rec->ipc_noise * rng_normal(s->rng)) : (double)NAN;
    if (rng_chance(s->rng, rec->outliers)) {
        double factor = 1 + rng_range(s->rng, -WILD, WILD);
        if (rng_chance(s->rng, 0.5))
            freq *= factor;
        else
            ipc *= factor;
    }
    if (rec->has[TRACE_FREQ])
        t->channel[TRACE_FREQ][i] = field(s, freq);
    if (rec->has[TRACE_IPC])
        t->channel[TRACE_IPC][i] = field(s, fmax(0, ipc));
    for (int k = 0; k < 4; k++)
        if (rec->has[TRACE_LVL0 + k]) {
            double share = c->cycles > 0 ? c->share[k] / c->cycles : (double)NAN;
            share += rec->share_noise * rng_normal(s->rng);
            t->channel[TRACE_LVL0 + k][i] = field(s, fmin(1, fmax(0, share)));
        }
}

/* When the sample due at `due` is really taken. */
static double taken_at(struct session *s, double due, double grid)
{
    double t = runs_again(s, due);
    if (t <= due)
        return due;
    if (s->rec->sampler != SAMPLER_GRID)
        return t + s->rec->late_us + rng_range(s->rng, AWAKE_MIN_US, AWAKE_MAX_US + s->rec->late_us);
    for (;;) {
        double point = grid + ceil((t - grid) / s->rec->period_us) * s->rec->period_us;
        t = runs_again(s, point);
        if (t <= point)
            return point;
    }
}

static double next_due(struct session *s, double last, double grid)
{
    double period = s->rec->period_us;
    if (s->rec->sampler == SAMPLER_CATCH_UP) {
        double own = grid + (double)++s->taken * period + period * s->rec->jitter * rng_range(s->rng, -1, 1);
        return fmax(own, last + READ_US);
    }
    double point = grid + ceil((last + 0.5 * period * s->rec->jitter - grid) / period + 1e-6) * period;
    double due = point + period * s->rec->jitter * rng_range(s->rng, -1, 1);
    return due < last + SHORTEST * period ? due + period : due;
}

int record_run(struct rng *r, const struct recorder *rec, struct core_state *states, size_t n, double begin, double end,
               double phase, struct interruption in, uint32_t run, struct trace *t)
{
    struct session s = {r, rec, states, n, 0, in, 0};
    double grid = begin + phase, stamp = grid, read = grid; /* the clock was read at `stamp`, the counters at `read` */
    while (stamp < end) {
        double due = next_due(&s, fmax(stamp, read), grid), next = taken_at(&s, due, grid), next_read = next;
        size_t halt = halt_at(&s, fmax(stamp, read), due);
        if (halt < n && rng_chance(r, rec->split)) {
            /* the halt comes between the two readings */
            double shift = due - states[halt].begin;
            states[halt].begin += shift;
            if (halt + 1 < n)
                states[halt + 1].begin += shift;
            next = due;
            next_read = runs_again(&s, due);
        }
        struct counts c = count(&s, read, next_read);
        if (trace_append(t, run, next))
            return -1;
        fill(&s, t, &c, next_read - read);
        stamp = next;
        read = next_read;
    }
    return 0;
}
