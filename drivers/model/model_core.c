/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated core in time: what runs, what is counted, what surrounds it, and which event comes next. Licenses:
 * model_license.c.
 */
#include "drivers/model/model_core.h"

#include <math.h>
#include <string.h>

/* ---- surroundings (doc/model-format.md, sections [sibling] to [limit]) ---- */

enum { FLOAT_STEPS = 2 };   /* a floating clock is at the frequency, or so many steps above it */
enum { WANDER_STEPS = 16 }; /* of the shorter time constant: in between the frequency stays */

/* ---- wandering and power limits: of the series ---- */

/*
 * One Ornstein-Uhlenbeck process over `us`, exactly: x becomes a x + sqrt(1 - a^2) sigma N(0, 1), a = exp(-us / tau)
 * (Gillespie, "Exact numerical simulation of the Ornstein-Uhlenbeck process and its integral", 1996).
 */
static void wander(struct model_core *c, double us)
{
    const struct model_wander *w = &c->model->scenario.wander;
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
        if (m->scenario.wander.sigma[i] > 0)
            us = fmin(us, m->scenario.wander.us[i]);
    return us / WANDER_STEPS;
}

static double step_wait_us(struct model_core *c)
{
    return c->model->scenario.wander.step_us * model_random_exponential(&c->history.random);
}

/* Up or down, and back from either side. */
static void step_clock(struct model_core *c)
{
    struct model_history *h = &c->history;
    int step = model_random_uniform(&h->random) < 0.5 ? -1 : 1;
    h->steps = h->steps + step < 0 || h->steps + step > FLOAT_STEPS ? h->steps - step : h->steps + step;
}

static void scenario_go_on(struct model_core *c, uint64_t seed, double gap_us)
{
    const struct model_scenario *w = &c->model->scenario;
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

double model_scenario_clock(const struct model_core *c)
{
    double moved = c->model->scenario.wander.step * c->history.steps;
    for (size_t i = 0; i < MODEL_WANDERS; i++)
        moved += c->history.wander[i];
    return (1 + moved) * c->around.limit * (c->own > 0 ? c->own : 1);
}

/* ---- the sibling ---- */

/*
 * Lengths of bursts or pauses that are as likely to be found running in each decade: their density falls with the
 * square of the length, between the shortest and the longest.
 */
struct lengths {
    double shortest, span, ratio; /* us; ln of the longest over the shortest; the shortest over the longest */
};

static struct lengths burst_lengths(const struct model_sibling *s, double mean_us)
{
    const double span = s->decades * 2.302585092994046, ratio = model_decay(span);
    return (struct lengths){mean_us * (1 - ratio) / span, span, ratio};
}

static double burst_us(struct model_core *c, bool runs)
{
    const struct model_sibling *s = &c->model->scenario.sibling;
    struct model_random *random = &c->streams[MODEL_STREAM_SIBLING];
    double us = s->period_us * (runs ? s->share : 1 - s->share);
    if (s->lockstep)
        return us;
    if (s->decades <= 0)
        return us * model_random_exponential(random);
    const struct lengths l = burst_lengths(s, us);
    return l.shortest / (1 - model_random_uniform(random) * (1 - l.ratio));
}

/* The rest of a burst or pause at a time that has nothing to do with it. */
static double rest_us(struct model_core *c, bool runs)
{
    const struct model_sibling *s = &c->model->scenario.sibling;
    struct model_random *random = &c->streams[MODEL_STREAM_SIBLING];
    if (s->lockstep || s->decades <= 0) /* they begin with the repetition, or have no memory */
        return burst_us(c, runs);
    const struct lengths l = burst_lengths(s, s->period_us * (runs ? s->share : 1 - s->share));
    double whole = l.shortest / model_decay(model_random_uniform(random) * l.span);
    return whole * model_random_uniform(random);
}

static void begin_sibling(struct model_core *c)
{
    const struct model_sibling *s = &c->model->scenario.sibling;
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
    double rate = c->model->scenario.smi_rate_hz;
    return rate > 0 ? 1e6 / rate * model_random_exponential(&c->streams[MODEL_STREAM_SMI]) : INFINITY;
}

static void begin_smi(struct model_core *c)
{
    const struct model_scenario *w = &c->model->scenario;
    double us = w->smi_min_us + (w->smi_max_us - w->smi_min_us) * model_random_uniform(&c->streams[MODEL_STREAM_SMI]);
    c->around.smi_end = c->now + us;
    c->around.smi_next = c->around.smi_end + smi_wait_us(c);
}

static bool scenario_frozen(const struct model_core *c)
{
    return c->around.smi_end > c->now;
}

/* ---- all of them ---- */

static void scenario_begin(struct model_core *c, uint64_t seed, double gap_us)
{
    c->around = (struct model_surroundings){.begin = c->now};
    c->around.smi_next = c->now + smi_wait_us(c);
    scenario_go_on(c, seed, gap_us);
    begin_sibling(c);
}

static void scenario_switched(struct model_core *c)
{
    c->around.cold_until = c->now + c->model->scenario.cold_us;
}

static double scenario_event(const struct model_core *c)
{
    const struct model_surroundings *s = &c->around;
    double t = fmin(fmin(s->sibling_until, s->wander_until), s->smi_next);
    if (c->model->scenario.wander.step > 0)
        t = fmin(t, s->step_until);
    if (s->smi_end > c->now)
        t = fmin(t, s->smi_end);
    return s->cold_until > c->now ? fmin(t, s->cold_until) : t;
}

static void scenario_update(struct model_core *c)
{
    struct model_surroundings *s = &c->around;
    if (s->sibling_until <= c->now) {
        s->sibling_runs = !s->sibling_runs;
        s->sibling_until = s->sibling_until + burst_us(c, s->sibling_runs);
    }
    if (s->wander_until <= c->now) {
        wander(c, wander_step_us(c->model));
        s->wander_until += wander_step_us(c->model);
    }
    if (c->model->scenario.wander.step > 0 && s->step_until <= c->now) {
        step_clock(c);
        s->step_until = c->now + step_wait_us(c);
    }
    if (s->smi_next <= c->now)
        begin_smi(c);
}

static double scenario_chain(const struct model_core *c)
{
    double factor = c->model->scenario.sibling.chain_factor;
    return c->around.sibling_runs && factor > 0 ? factor : 1;
}

static double scenario_rate(const struct model_core *c)
{
    const struct model_scenario *w = &c->model->scenario;
    double rate = c->around.sibling_runs ? w->sibling.factor : 1;
    return c->around.cold_until > c->now ? rate * w->cold_factor : rate;
}

/* ---- a repetition begins ---- */

enum { CLOCK_STEPS = 32 }; /* of one spread-spectrum period */

static void seed_streams(struct model_core *c, uint64_t seed, uint64_t repetition)
{
    for (size_t i = 0; i < MODEL_STREAMS; i++)
        model_random_init(&c->streams[i], seed, repetition, i);
}

static void start_at_rest(struct model_core *c, const struct model *m, unsigned cores, uint64_t seed,
                          uint64_t repetition, const struct model_history *history)
{
    *c = (struct model_core){.model = m, .cores = cores, .history = *history};
    seed_streams(c, seed, repetition);
    for (size_t i = 0; i < m->n_interrupts; i++)
        c->interrupt_next[i] = m->interrupts[i].rate_hz > 0
                                   ? 1e6 / m->interrupts[i].rate_hz *
                                         model_random_exponential(&c->streams[MODEL_STREAM_INTERRUPTS])
                                   : INFINITY;
    c->spread_phase = model_random_uniform(&c->streams[MODEL_STREAM_FREQUENCY]);
    model_core_fine(c, false);
    scenario_begin(c, seed, m->scenario.gap_us);
}

void model_core_start(struct model_core *c, const struct model *m, unsigned cores, uint64_t seed, uint64_t repetition)
{
    start_at_rest(c, m, cores, seed, repetition, &(struct model_history){0});
}

/* Between repetitions the thread runs the operating system: scalar code, which needs nothing and every model has. */
static void spend_gap(struct model_core *c, double us)
{
    const struct payload system = kernel_named("64add");
    struct machine_error never;
    if (us <= 0)
        return;
    if (model_core_run(c, &system, &never) == MACHINE_OK)
        model_core_advance(c, c->now + us, INFINITY);
    c->payload = NULL; /* whatever runs next is other code */
}

void model_core_next(struct model_core *c, const struct model *m, unsigned cores, uint64_t seed, uint64_t repetition)
{
    struct model_history history = c->history;
    if (!c->model || !m->scenario.carries) {
        start_at_rest(c, m, cores, seed, repetition, &history);
        return;
    }
    c->cores = cores;
    model_core_fine(c, false);
    spend_gap(c, m->scenario.gap_us);
    memset(&c->totals, 0, sizeof c->totals);
    c->off_cpu = 0;
    seed_streams(c, seed, repetition);
    scenario_begin(c, seed, 0); /* the gap has been lived through */
}

/* ---- the core clock ---- */

/*
 * Spread-spectrum clocking: a triangle from the nominal frequency down to `spread` below it and back, in equal steps
 * whose mean is exact, so that the long mean is nominal * (1 - spread / 2).
 */
static void next_clock_step(struct model_core *c)
{
    const struct model *m = c->model;
    double period = m->spread_period_us;
    double position = c->now / period + c->spread_phase;
    double number = floor((position - floor(position)) * CLOCK_STEPS + 1e-6);
    double along = (number + 0.5) / CLOCK_STEPS;
    double depth = along < 0.5 ? 2 * along : 2 * (1 - along);
    double noise = m->frequency_noise > 0
                       ? m->frequency_noise * model_random_normal(&c->streams[MODEL_STREAM_FREQUENCY])
                       : 0;
    c->clock_factor = (1 - m->spread * depth) * (1 + noise);
    double steps = floor(position * CLOCK_STEPS + 1e-6) + 1;
    c->clock_until = (steps / CLOCK_STEPS - c->spread_phase) * period;
    if (c->clock_until <= c->now) /* a late time is not exact enough for the side of a step's end on which it lies */
        c->clock_until += period / CLOCK_STEPS;
}

void model_core_fine(struct model_core *c, bool fine)
{
    const struct model *m = c->model;
    c->fine = fine && (m->spread > 0 || m->frequency_noise > 0);
    c->clock_factor = 1 - m->spread / 2;
    c->clock_until = INFINITY;
    if (c->fine)
        next_clock_step(c);
}

/* ---- what runs ---- */

static bool model_core_interrupted(const struct model_core *c)
{
    return c->interrupt_end > c->now;
}

/* The effect of the throttling in force, if any, on the payload. */
static struct model_throttle throttling(const struct model_core *c)
{
    double fade = model_ramp_fade(c), ratio = fade * (c->pending ? c->transition_throttle_ratio : 1);
    if ((!c->pending && fade == 1) || c->halted || !c->payload)
        return (struct model_throttle){1, 0};
    return model_throttle(c->model, c->payload, c->needed > c->held || fade < 1, ratio);
}

/* Core cycles per microsecond. */
static double cycle_rate(const struct model_core *c)
{
    return c->halted || scenario_frozen(c) ? 0 : model_core_ghz(c) * 1e3 * c->clock_factor * model_scenario_clock(c);
}

static double sooner(double t, double other)
{
    return other < t ? other : t;
}

/* The next change except for the core clock's next step. */
static double other_event(const struct model_core *c)
{
    double t = sooner(sooner(sooner(INFINITY, model_license_event(c)), model_ramp_event(c)), scenario_event(c));
    for (size_t i = 0; i < c->model->n_interrupts; i++)
        t = sooner(t, c->interrupt_next[i]);
    return model_core_interrupted(c) ? sooner(t, c->interrupt_end) : t;
}

static double next_event(const struct model_core *c)
{
    return sooner(other_event(c), c->clock_until);
}

static void begin_interrupt(struct model_core *c, size_t number)
{
    const struct model_interrupt *i = &c->model->interrupts[number];
    struct model_random *r = &c->streams[MODEL_STREAM_INTERRUPTS];
    double us = i->min_us + (i->max_us - i->min_us) * model_random_uniform(r);
    bool rearm = model_random_uniform(r) < i->rearm;
    bool off = model_random_uniform(r) < i->taken_off;
    c->interrupt_end = fmax(c->interrupt_end, c->now) + us;
    c->interrupt_next[number] = c->now + us + 1e6 / i->rate_hz * model_random_exponential(r);
    c->off_cpu += off;
    if (rearm)
        model_license_rearm(c);
}

static void handle_events(struct model_core *c)
{
    for (size_t i = 0; i < c->model->n_interrupts; i++)
        if (c->interrupt_next[i] <= c->now)
            begin_interrupt(c, i);
    if (c->fine && c->clock_until <= c->now)
        next_clock_step(c);
    scenario_update(c);
    model_ramp_update(c);
    model_license_update(c);
}

/* The payload's instructions per core cycle. */
static double retired_per_cycle(const struct model_core *c, double throttle_factor)
{
    return model_core_interrupted(c) ? 0 : c->need.ipc * throttle_factor * scenario_rate(c);
}

double model_core_event(const struct model_core *c)
{
    double counted = 0;
    if (c->payload && c->count_left > 0)
        counted = retired_per_cycle(c, throttling(c).factor) * cycle_rate(c) * c->need.counted_ipc / c->need.ipc;
    return counted > 0 ? fmin(next_event(c), c->now + c->count_left / counted) : next_event(c);
}

/* All that stays constant from one event to the next while the core clock goes on in its steps. */
struct pace {
    double event;      /* the next except for those steps */
    double mhz, clock; /* cycles per microsecond except for the clock's factor of the moment: before and after it */
    double per_cycle;  /* payload instructions */
    double throttled;  /* share of the cycles */
    bool stands, counts, busy; /* no time for counters; they count; an interrupt handler runs */
    double volts;              /* NaN: they change meanwhile */
};

static struct pace pace_of(const struct model_core *c, bool payload_runs)
{
    struct model_throttle throttle = throttling(c);
    struct pace p = {.event = other_event(c), .stands = c->halted || scenario_frozen(c)};
    p.mhz = model_core_ghz(c) * 1e3;
    p.clock = model_scenario_clock(c);
    p.per_cycle = payload_runs ? retired_per_cycle(c, throttle.factor) : 0;
    p.throttled = throttle.share;
    p.busy = model_core_interrupted(c);
    p.counts = !p.busy || c->model->counts_kernel_mode;
    p.volts = c->model->has_power && !(c->now < c->ramps.volts_end) ? model_core_volts(c) : NAN;
    return p;
}

static void count_time(struct model_core *c, const struct pace *p, double us, double cycles)
{
    struct model_totals *t = &c->totals;
    if (p->stands)
        return;
    if (p->counts || c->model->licenses_of_core) {
        t->class_cycles[c->held] += cycles;
        t->throttle_cycles += cycles * p->throttled;
    }
    if (!p->counts)
        return;
    t->cycles += cycles;
    t->ref_us += us;
    /* an interrupt handler retires about one instruction per cycle; only its order of magnitude matters */
    if (p->busy)
        t->other_instructions += cycles;
}

/* Nothing is switched while the clock stands still: there are no cycles then. */
static void count_energy(struct model_core *c, const struct pace *p, double cycles, double instructions)
{
    if (c->model->has_power)
        c->totals.joules += model_power_joules(c->model, cycles, instructions, c->nj,
                                               isnan(p->volts) ? model_core_volts(c) : p->volts);
}

/* One stretch of constant state. *done grows by the payload instructions retired in it, to `work` at most. Returns
 * whether the pace is still the same after it. */
static bool stretch(struct model_core *c, const struct pace *p, double until, double work, double *done)
{
    double cycles = p->stands ? 0 : p->mhz * c->clock_factor * p->clock;
    double rate = p->per_cycle * cycles, left = work - *done;
    double counted = rate * c->need.counted_ipc / c->need.ipc;
    double event = sooner(p->event, c->clock_until), end = sooner(until, event);
    bool worked = false, counted_out = false;
    if (rate > 0 && c->now + left / rate <= end) {
        end = c->now + left / rate;
        worked = true;
    }
    if (counted > 0 && c->count_left > 0 && c->now + c->count_left / counted <= end) {
        counted_out = true;
        worked = worked && c->now + c->count_left / counted >= end;
        end = c->now + c->count_left / counted;
    }
    double us = end - c->now;
    count_time(c, p, us, us * cycles);
    count_energy(c, p, us * cycles, us * rate);
    c->now = end;
    *done += worked ? left : rate * us;
    if (counted_out) {
        c->count_left = 0;
        model_license_need_changed(c);
    } else if (c->count_left > 0) {
        c->count_left -= counted * us;
    }
    if (counted_out || !(end < p->event)) {
        handle_events(c);
        return false;
    }
    if (c->fine && c->clock_until <= c->now)
        next_clock_step(c);
    return true;
}

double model_core_advance(struct model_core *c, double until, double work)
{
    double done = 0;
    while (c->now < until && done < work) {
        struct pace p = pace_of(c, true);
        while (stretch(c, &p, until, work, &done) && c->now < until && done < work)
            ;
    }
    return done;
}

/* The thread executes something else than the payload, until the time `until` or the next event. */
static void pass(struct model_core *c, double until)
{
    struct pace p = pace_of(c, false);
    double nothing = 0;
    stretch(c, &p, until, INFINITY, &nothing);
}

bool model_core_executes(const struct model_core *c)
{
    return !c->halted && !model_core_interrupted(c) && !scenario_frozen(c);
}

void model_core_idle(struct model_core *c, double us)
{
    while (us > 1e-9) { /* less than that is rounding */
        bool executes = model_core_executes(c);
        double begin = c->now;
        if (executes && !(begin + us > begin)) /* less than the resolution of a late time */
            break;
        pass(c, executes ? begin + us : INFINITY);
        if (executes)
            us -= c->now - begin;
    }
}

void model_core_chain(struct model_core *c, double cycles, double after)
{
    double near = c->model->throttle_distance > 0 ? c->model->throttle_distance - after : INFINITY;
    double done = 0;
    while (cycles - done > 1e-6) { /* less than that is rounding */
        bool pending = c->pending && c->needed > c->held;
        double ratio = model_ramp_fade(c) * (pending ? c->transition_throttle_ratio : 1);
        bool throttled = (pending || ratio < 1) && !c->halted && near - done > 1e-6;
        double left = fmin(cycles, throttled ? near : INFINITY) - done, begin = c->now;
        double rate = model_core_executes(c) ? cycle_rate(c) * scenario_chain(c) * (throttled ? ratio : 1) : 0;
        double until = rate > 0 ? begin + left / rate : INFINITY;
        if (!(until > begin)) /* less than the resolution of a late time */
            break;
        pass(c, until);
        done += rate * (c->now - begin);
    }
}

int model_core_run(struct model_core *c, const struct payload *p, struct machine_error *err)
{
    struct model_need need;
    int status = model_need(c->model, p, &need, err);
    if (status != MACHINE_OK)
        return status;
    bool goes_on = c->payload && strcmp(c->payload->name, p->name) == 0;
    bool elsewhere = goes_on && c->payload->run != p->run; /* its copy: another address, and nothing else */
    c->payload = p;
    c->need = need;
    c->nj = model_power_instruction(c->model, p);
    if (elsewhere)
        scenario_switched(c);
    if (goes_on) /* a boundary between segments is none to the core: what has been counted stays counted */
        return MACHINE_OK;
    double scatter = 1;
    if (need.count_sigma > 0)
        scatter += need.count_sigma * model_random_normal(&c->streams[MODEL_STREAM_COUNTS]);
    c->count_left = need.later > need.first ? need.count * scatter : 0;
    scenario_switched(c);
    model_license_payload(c);
    return MACHINE_OK;
}

void model_core_returned(struct model_core *c)
{
    unsigned width = c->payload->kernel->width, *dirty = c->dirty_width;
    const unsigned upper = dirty[0], tiles = dirty[1];
    if (width < 256)
        return;
    if (width > 512) { /* amx cleans upper halves, dirty or not */
        dirty[0] = 0;
        dirty[1] = c->payload->dirty ? width : 0;
    } else {
        dirty[0] = c->payload->dirty ? (width > upper ? width : upper) : 0;
    }
    if (dirty[0] != upper || dirty[1] != tiles)
        model_license_need_changed(c);
}

double model_core_volts(const struct model_core *c)
{
    const struct model *m = c->model;
    double volts = model_ramp_base_volts(c);
    for (size_t i = 0; i < m->n_boosts; i++)
        if (c->boosted[i])
            volts += m->boosts[i].volts;
    return volts;
}
