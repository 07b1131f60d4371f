/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/model/model_core.h"

#include <math.h>

enum { FLOAT_STEPS = 2 };   /* a floating clock is at the frequency, or so many steps above it */
enum { WANDER_STEPS = 16 }; /* of the shorter time constant: in between the frequency stays */

/* ---- wandering and power limits: of the series ---- */

/*
 * One Ornstein-Uhlenbeck process over `us`, exactly: x becomes a x + sqrt(1 - a^2) sigma N(0, 1), a = exp(-us / tau)
 * (Gillespie, "Exact numerical simulation of the Ornstein-Uhlenbeck process and its integral", 1996).
 */
static void wander(struct model_core *c, double us)
{
    const struct model_wander *w = &c->model->world.wander;
    struct model_history *h = &c->history;
    for (size_t i = 0; i < MODEL_WANDERS; i++) {
        if (w->sigma[i] <= 0)
            continue;
        double a = model_decay(us / w->us[i]);
        h->wander[i] = a * h->wander[i] + sqrt(1 - a * a) * w->sigma[i] * model_random_normal(&h->random);
    }
}

static double wander_step_us(const struct model *m)
{
    double us = INFINITY;
    for (size_t i = 0; i < MODEL_WANDERS; i++)
        if (m->world.wander.sigma[i] > 0)
            us = fmin(us, m->world.wander.us[i]);
    return us / WANDER_STEPS;
}

static double step_wait_us(struct model_core *c)
{
    return c->model->world.wander.step_us * model_random_exponential(&c->history.random);
}

/* Up or down, and back from either side. */
static void step_clock(struct model_core *c)
{
    struct model_history *h = &c->history;
    int step = model_random_uniform(&h->random) < 0.5 ? -1 : 1;
    h->steps = h->steps + step < 0 || h->steps + step > FLOAT_STEPS ? h->steps - step : h->steps + step;
}

static void model_world_go_on(struct model_core *c, uint64_t seed, double gap_us)
{
    const struct model_world *w = &c->model->world;
    struct model_history *h = &c->history;
    if (!h->begun)
        model_random_init(&h->random, seed, 0, MODEL_STREAM_HISTORY);
    wander(c, h->begun ? gap_us : INFINITY);
    if (w->wander.step > 0) { /* how long it has been at a step does not matter: times to the next have no memory */
        double us = 0;
        while (h->begun && (us += step_wait_us(c)) < gap_us)
            step_clock(c);
        c->around.step_until = c->now + step_wait_us(c);
    }
    h->begun = true;
    c->around.limit = w->limit_share > 0 && model_random_uniform(&h->random) < w->limit_share ? w->limit_factor : 1;
    c->around.wander_until = c->now + wander_step_us(c->model);
}

double model_world_clock(const struct model_core *c)
{
    double moved = c->model->world.wander.step * c->history.steps;
    for (size_t i = 0; i < MODEL_WANDERS; i++)
        moved += c->history.wander[i];
    return (1 + moved) * c->around.limit * (c->own > 0 ? c->own : 1);
}

/* ---- the sibling ---- */

/*
 * Lengths of bouts or pauses that are as likely to be found running in each decade: their density falls with the square
 * of the length, between the shortest and the longest.
 */
struct lengths {
    double shortest, span, ratio; /* us; ln of the longest over the shortest; the shortest over the longest */
};

static struct lengths bout_lengths(const struct model_sibling *s, double mean_us)
{
    const double span = s->decades * 2.302585092994046, ratio = model_decay(span);
    return (struct lengths){mean_us * (1 - ratio) / span, span, ratio};
}

static double bout_us(struct model_core *c, bool runs)
{
    const struct model_sibling *s = &c->model->world.sibling;
    struct model_random *random = &c->streams[MODEL_STREAM_SIBLING];
    double us = s->period_us * (runs ? s->share : 1 - s->share);
    if (s->lockstep)
        return us;
    if (s->decades <= 0)
        return us * model_random_exponential(random);
    const struct lengths l = bout_lengths(s, us);
    return l.shortest / (1 - model_random_uniform(random) * (1 - l.ratio));
}

/* What is left of a bout or pause at a time that has nothing to do with it. */
static double rest_us(struct model_core *c, bool runs)
{
    const struct model_sibling *s = &c->model->world.sibling;
    struct model_random *random = &c->streams[MODEL_STREAM_SIBLING];
    if (s->lockstep || s->decades <= 0) /* they begin with the repetition, or have no memory */
        return bout_us(c, runs);
    const struct lengths l = bout_lengths(s, s->period_us * (runs ? s->share : 1 - s->share));
    double whole = l.shortest / model_decay(model_random_uniform(random) * l.span);
    return whole * model_random_uniform(random);
}

static void begin_sibling(struct model_core *c)
{
    const struct model_sibling *s = &c->model->world.sibling;
    c->around.sibling_until = INFINITY;
    c->around.sibling_runs = false;
    if (s->share <= 0)
        return;
    c->around.sibling_runs = s->lockstep || model_random_uniform(&c->streams[MODEL_STREAM_SIBLING]) < s->share;
    c->around.sibling_until = c->now + rest_us(c, c->around.sibling_runs);
}

/* ---- system management interrupts ---- */

static double smi_wait_us(struct model_core *c)
{
    double rate = c->model->world.smi_rate_hz;
    return rate > 0 ? 1e6 / rate * model_random_exponential(&c->streams[MODEL_STREAM_SMI]) : INFINITY;
}

static void begin_smi(struct model_core *c)
{
    const struct model_world *w = &c->model->world;
    double us = w->smi_min_us + (w->smi_max_us - w->smi_min_us) * model_random_uniform(&c->streams[MODEL_STREAM_SMI]);
    c->around.smi_end = c->now + us;
    c->around.smi_next = c->around.smi_end + smi_wait_us(c);
}

bool model_world_frozen(const struct model_core *c)
{
    return c->around.smi_end > c->now;
}

/* ---- all of them ---- */

void model_world_begin(struct model_core *c, uint64_t seed, double gap_us)
{
    c->around = (struct model_surroundings){.begin = c->now};
    c->around.smi_next = c->now + smi_wait_us(c);
    model_world_go_on(c, seed, gap_us);
    begin_sibling(c);
}

void model_world_switched(struct model_core *c)
{
    c->around.cold_until = c->now + c->model->world.cold_us;
}

double model_world_event(const struct model_core *c)
{
    const struct model_surroundings *s = &c->around;
    double t = fmin(fmin(s->sibling_until, s->wander_until), s->smi_next);
    if (c->model->world.wander.step > 0)
        t = fmin(t, s->step_until);
    if (s->smi_end > c->now)
        t = fmin(t, s->smi_end);
    return s->cold_until > c->now ? fmin(t, s->cold_until) : t;
}

void model_world_update(struct model_core *c)
{
    struct model_surroundings *s = &c->around;
    if (s->sibling_until <= c->now) {
        s->sibling_runs = !s->sibling_runs;
        s->sibling_until = s->sibling_until + bout_us(c, s->sibling_runs);
    }
    if (s->wander_until <= c->now) {
        wander(c, wander_step_us(c->model));
        s->wander_until += wander_step_us(c->model);
    }
    if (c->model->world.wander.step > 0 && s->step_until <= c->now) {
        step_clock(c);
        s->step_until = c->now + step_wait_us(c);
    }
    if (s->smi_next <= c->now)
        begin_smi(c);
}

double model_world_chain(const struct model_core *c)
{
    double factor = c->model->world.sibling.chain_factor;
    return c->around.sibling_runs && factor > 0 ? factor : 1;
}

double model_world_rate(const struct model_core *c)
{
    const struct model_world *w = &c->model->world;
    double rate = c->around.sibling_runs ? w->sibling.factor : 1;
    return c->around.cold_until > c->now ? rate * w->cold_factor : rate;
}
