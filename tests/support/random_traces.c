/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/random_traces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/recorder.h"

enum { PLAN_MAX = TRUE_PHASES_MAX };
#define VOLT_UNIT (1.0 / 8192) /* of MSR_PERF_STATUS bits 47:32 */

/* A stretch of one state in the order of time. */
struct step {
    enum phase_kind kind; /* steady, throttle or halt: slow is what the neighbors make of it */
    double duration;      /* us, nominal */
    struct core_state state;
};

struct plan {
    struct rng rng;
    struct recorder rec;
    struct step step[PLAN_MAX];
    size_t n;
    size_t runs, volt_runs;
    double begin;       /* of the recording, us */
    double jitter_us;   /* of durations, from repetition to repetition ... */
    bool paced;         /* ... or of the times at which phases begin: something paces the core */
    bool golden;        /* phases of the grid: golden ratio, else random */
    bool switched;      /* from and to are known: time 0 is a boundary */
    bool apart;         /* interruptions keep away from edges: too few repetitions to outvote them */
    double interrupted; /* share of the repetitions */
    bool volts_scattered, volts_sampled;
    double volts, volts_step, volts_at, volts_ramp, volts_noise;
    size_t twice_of; /* the step that `twice` of the repetitions wait for twice as long; PLAN_MAX = none */
    size_t twice;
    double drawn[PLAN_MAX], drawn_twice;
    double moved[PLAN_MAX]; /* added to the durations by split reads, over all repetitions */
    size_t drawn_n, drawn_twice_n, drawn_interrupted;
};

static const char *const names[TRACES_KINDS] = {"step-down", "two-steps",  "throttle-only", "nothing", "back-up",
                                                "many",      "volts-only", "shares-only",   "full",    "relax-bimodal"};

const char *trace_kind_name(enum trace_kind kind)
{
    return (unsigned)kind < TRACES_KINDS ? names[kind] : NULL;
}

/* ---- what the core does ---- */

static struct step *add_step(struct plan *p, enum phase_kind kind, double duration, struct core_state state)
{
    struct step *s = &p->step[p->n++];
    *s = (struct step){kind, duration, state};
    s->state.halt = kind == PHASE_HALT;
    return s;
}

/* A duration from lo to hi, but never so short that only four samples see it. */
static double lasting(struct plan *p, double lo, double hi)
{
    double least = 5.2 * p->rec.period_us * (1 + p->rec.jitter) + 3 * p->jitter_us;
    return fmax(least, rng_range(&p->rng, lo, hi));
}

static double halt_length(struct plan *p)
{
    return rng_range(&p->rng, 8, 12);
}

static double final_length(struct plan *p)
{
    return fmax(rng_range(&p->rng, 40, 110), rng_range(&p->rng, 24, 60) * p->rec.period_us);
}

static struct core_state at_level(struct core_state s, int level, double ratio)
{
    if (level)
        s.freq *= 1 - ratio;
    for (int k = 0; k < 3; k++)
        s.share[k] = k == level ? 1 : 0;
    return s;
}

static struct core_state throttled(struct core_state s, double ratio)
{
    s.ipc *= ratio;
    s.share[3] = 1;
    return s;
}

static double step_ratio(struct plan *p)
{
    return rng_log(&p->rng, 0.01, 0.25);
}

/* The state before time 0: with known kernels any IPC, else the same code. */
static struct core_state lead_in(struct plan *p, struct core_state first)
{
    struct core_state before = first;
    if (p->switched && rng_chance(&p->rng, 0.8))
        before.ipc = rng_range(&p->rng, 0.3, 4);
    add_step(p, PHASE_STEADY, -p->begin, before);
    return before;
}

static void maybe_halt(struct plan *p, bool halt)
{
    if (halt)
        add_step(p, PHASE_HALT, halt_length(p), (struct core_state){0});
}

static void plan_steps(struct plan *p, struct core_state s, int steps)
{
    bool halt = rng_chance(&p->rng, 0.6);
    lead_in(p, s);
    add_step(p, PHASE_STEADY, lasting(p, 5, 40), s);
    for (int level = 1; level <= steps; level++) {
        maybe_halt(p, halt);
        s = at_level(s, level, step_ratio(p));
        add_step(p, PHASE_STEADY, level < steps ? lasting(p, 8, 40) : final_length(p), s);
    }
}

static void plan_throttle(struct plan *p, struct core_state s)
{
    double ratio = rng_range(&p->rng, 0.2, 0.9);
    lead_in(p, s);
    add_step(p, PHASE_THROTTLE, lasting(p, 5, 40), throttled(s, ratio));
    if (ratio < 0.7 && rng_chance(&p->rng, 0.25))
        add_step(p, PHASE_THROTTLE, lasting(p, 5, 40), throttled(s, rng_range(&p->rng, ratio / 0.8, 0.9)));
    add_step(p, PHASE_STEADY, final_length(p), s);
}

static void plan_full(struct plan *p, struct core_state s)
{
    lead_in(p, s);
    add_step(p, PHASE_THROTTLE, lasting(p, 9, 40), throttled(s, rng_range(&p->rng, 0.2, 0.4)));
    maybe_halt(p, true);
    s = at_level(s, 1, step_ratio(p));
    add_step(p, PHASE_THROTTLE, lasting(p, 9, 40), throttled(s, rng_range(&p->rng, 0.45, 0.75)));
    maybe_halt(p, true);
    s = at_level(s, 2, step_ratio(p));
    add_step(p, PHASE_STEADY, final_length(p), s);
}

static void plan_up(struct plan *p, struct core_state s, bool relax)
{
    struct core_state low = at_level(s, 1, step_ratio(p));
    lead_in(p, low);
    add_step(p, PHASE_STEADY, relax ? rng_range(&p->rng, 650, 690) : rng_range(&p->rng, 100, 700), low);
    if (relax) {
        p->twice = (size_t)lround(rng_range(&p->rng, 0.05, 0.4) * (double)p->runs);
        p->twice_of = p->n - 1;
    }
    maybe_halt(p, relax || rng_chance(&p->rng, 0.8));
    add_step(p, PHASE_STEADY, final_length(p), s);
}

static void plan_many(struct plan *p, struct core_state s)
{
    int transitions = rng_int(&p->rng, 3, 20);
    struct core_state low = at_level(s, 1, fmax(step_ratio(p), 6 * p->rec.freq_noise));
    bool slow = rng_chance(&p->rng, 0.3), throttle = p->rec.has[TRACE_IPC] && rng_chance(&p->rng, 0.5);
    double down = rng_range(&p->rng, 30, 1000), up = rng_range(&p->rng, 100, 700), t_throttle = lasting(p, 6, 40);
    double ratio = rng_range(&p->rng, 0.2, 0.75), halt = halt_length(p);
    add_step(p, PHASE_STEADY, lasting(p, 30, 200), slow ? low : s);
    for (int i = 0; i < transitions; i++, slow = !slow) {
        if (!slow && throttle)
            add_step(p, PHASE_THROTTLE, t_throttle, throttled(s, ratio));
        add_step(p, PHASE_HALT, halt, (struct core_state){0});
        add_step(p, PHASE_STEADY, i + 1 == transitions ? final_length(p) : fmax(slow ? down : up, lasting(p, 0, 0)),
                 slow ? s : low);
    }
}

static void plan_shares(struct plan *p, struct core_state s)
{
    int steps = rng_int(&p->rng, 1, 2);
    double share = rng_range(&p->rng, 0.6, 1);
    lead_in(p, s);
    add_step(p, PHASE_STEADY, lasting(p, 5, 40), s);
    for (int level = 1; level <= steps; level++) {
        s = at_level(s, level, 0);
        for (int k = 0; k < 3; k++)
            s.share[k] = k == level ? share : k == level - 1 ? 1 - share : 0;
        add_step(p, PHASE_STEADY, level < steps ? lasting(p, 8, 40) : final_length(p), s);
    }
}

static void plan_nothing(struct plan *p, struct core_state s)
{
    lead_in(p, s);
    add_step(p, PHASE_STEADY, fmax(100, 40 * p->rec.period_us), s);
}

static void plan_core(struct plan *p, enum trace_kind kind)
{
    struct core_state s = {.freq = rng_range(&p->rng, 1.2, 5), .ipc = rng_range(&p->rng, 0.3, 4), .share = {1}};
    if (kind == TRACES_STEP_DOWN || kind == TRACES_TWO_STEPS)
        plan_steps(p, s, kind == TRACES_TWO_STEPS ? 2 : 1);
    else if (kind == TRACES_THROTTLE)
        plan_throttle(p, s);
    else if (kind == TRACES_FULL)
        plan_full(p, s);
    else if (kind == TRACES_MANY)
        plan_many(p, s);
    else if (kind == TRACES_SHARES)
        plan_shares(p, s);
    else if (kind == TRACES_BACK_UP || kind == TRACES_RELAX)
        plan_up(p, s, kind == TRACES_RELAX);
    else
        plan_nothing(p, s);
}

/* ---- who records it ---- */

static void choose_columns(struct plan *p, enum trace_kind kind)
{
    bool *has = p->rec.has, frequency_counts = kind != TRACES_THROTTLE;
    double u = rng_unit(&p->rng);
    has[TRACE_FREQ] = has[TRACE_IPC] = true;
    bool shares = kind == TRACES_SHARES;
    if (kind == TRACES_SHARES) {
        has[TRACE_FREQ] = u < 0.6;
        has[TRACE_IPC] = u < 0.3;
    } else if (kind == TRACES_VOLTS) {
        has[TRACE_FREQ] = u < 0.5; /* and else the voltage alone */
        has[TRACE_IPC] = u < 0.35;
        p->volts_scattered = u < 0.75;
        p->volts_sampled = !p->volts_scattered;
    } else if (u < 0.2 && frequency_counts) {
        has[TRACE_IPC] = false;
    } else if (u < 0.35 &&
               (kind == TRACES_THROTTLE || kind == TRACES_FULL || kind == TRACES_STEP_DOWN || kind == TRACES_NOTHING)) {
        has[TRACE_FREQ] = false;
    } else if (u > 0.7) {
        shares = rng_chance(&p->rng, 0.5);
        p->volts_scattered = rng_chance(&p->rng, 0.5) && kind != TRACES_MANY && kind != TRACES_RELAX;
    }
    for (int c = TRACE_LVL0; shares && c <= TRACE_THROTTLE; c++)
        has[c] = true;
}

static void choose_noise(struct plan *p, enum trace_kind kind)
{
    struct rng *r = &p->rng;
    p->rec.freq_noise = rng_chance(r, 0.15) ? 0 : rng_log(r, 2e-4, 0.01);
    p->rec.ipc_noise = rng_chance(r, 0.15) ? 0 : rng_range(r, 0.002, 0.06);
    if (kind == TRACES_MANY) { /* no repetitions to average over: single samples must show a state */
        p->rec.freq_noise = fmin(p->rec.freq_noise, 0.005);
        p->rec.ipc_noise = fmin(p->rec.ipc_noise, 0.04);
    }
    p->rec.share_noise = rng_range(r, 0, 0.03);
    p->rec.missing = rng_chance(r, 0.4) ? 0 : rng_range(r, 0, 0.03);
    p->rec.outliers = rng_chance(r, 0.3) ? 0 : rng_range(r, 0, 0.01);
    p->rec.split = rng_chance(r, 0.3) ? 0 : rng_range(r, 0.01, 0.05);
    p->rec.jitter = rng_chance(r, 0.5) ? 0 : rng_range(r, 0, 0.05);
    p->rec.kernel_mode = rng_chance(r, 0.5);
    p->interrupted = rng_chance(r, 0.3) ? 0 : 0.06;
    p->jitter_us = rng_chance(r, 0.3) ? 0 : rng_range(r, 0, 0.3);
}

static void choose_recorder(struct plan *p, enum trace_kind kind)
{
    struct rng *r = &p->rng;
    choose_noise(p, kind);
    bool large = kind == TRACES_RELAX || kind == TRACES_BACK_UP;
    p->rec.period_us = rng_chance(r, 0.65) ? 1 : rng_log(r, large ? 0.7 : 0.3, kind == TRACES_MANY ? 3 : 10);
    p->rec.sampler = choose_sampler(r);
    p->golden = rng_chance(r, 0.2);
    p->runs = (size_t)lround(rng_log(r, 20, large ? 120 : 400));
    if (kind == TRACES_MANY)
        p->runs = rng_chance(r, 0.5) ? 1 : (size_t)rng_int(r, 2, 5);
    p->apart = p->paced = kind == TRACES_MANY;
    p->switched = kind != TRACES_MANY && rng_chance(r, 0.5);
    p->begin = kind == TRACES_MANY ? 0 : -fmax(rng_range(r, 20, 60), 7 * p->rec.period_us);
    choose_columns(p, kind);
    p->volt_runs = p->volts_scattered ? (size_t)lround(rng_log(r, 120, 600)) : 0;
    if (p->volts_sampled) {
        p->runs = rng_chance(r, 0.5) ? 1 : p->runs;
        p->interrupted = p->runs > 1 ? p->interrupted : 0; /* it could hide the step */
    }
}

static double total(const struct plan *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += p->step[i].duration;
    return sum;
}

static void choose_volts(struct plan *p, enum trace_kind kind)
{
    struct rng *r = &p->rng;
    double step = rng_log(r, 0.004, 0.06) * (rng_chance(r, 0.7) ? 1 : -1), span = total(p);
    p->volts = rng_range(r, 0.65, 1.2);
    p->volts_noise = rng_chance(r, 0.2) ? 0 : rng_range(r, 0, 0.0015);
    p->volts_at = p->begin + p->step[0].duration + p->step[1].duration; /* where the first change ends */
    if (kind == TRACES_VOLTS) {
        p->volts_step = step;
        do
            p->volts_at = p->begin + span * rng_range(r, 0.3, 0.8);
        while (p->switched && fabs(p->volts_at) < 12); /* else it would belong to the switch */
        p->volts_ramp = rng_chance(r, 0.3) ? rng_range(r, 2, 10) : 0;
    } else if (kind == TRACES_FULL && rng_chance(r, 0.5)) {
        p->volts_step = step;
        p->volts_at = 0; /* a boost as throttling starts */
    }
}

/* ---- recording ---- */

/* The states of one repetition; *end is when its recording ends. */
static void draw_states(struct plan *p, struct core_state *state, double *end, bool *twice)
{
    double at = p->begin;
    *twice = false;
    for (size_t i = 0; i < p->n; i++) {
        double d = p->step[i].duration;
        if (i == p->twice_of) {
            double left = (double)(p->twice - p->drawn_twice_n), runs = (double)(p->runs - p->drawn_n);
            *twice = rng_chance(&p->rng, left / runs);
            d *= *twice ? 2 : 1;
        }
        double shift = p->jitter_us * rng_normal(&p->rng);
        bool fixed = !i || i + 1 == p->n; /* time 0, from which the others are counted; the end of the recording */
        state[i] = p->step[i].state;
        state[i].begin = i ? at + (p->paced ? shift : 0) : at - 1000; /* the first was there before the recording */
        at += p->paced || fixed ? d : fmax(d + shift, 0.1);
    }
    *end = at;
}

static bool near_edge(const struct plan *p, const struct core_state *state, double a, double b)
{
    double margin = 12 * p->rec.period_us;
    for (size_t i = 1; i < p->n; i++)
        if (state[i].begin > a - margin && state[i].begin < b + margin)
            return true;
    return false;
}

/*
 * An interruption before time 0 makes the recording longer at its beginning (time 0 is when the second kernel runs);
 * later ones hide what the core does meanwhile.
 */
static struct interruption draw_interruption(struct plan *p, const struct core_state *state, double *begin, double end)
{
    struct interruption in = {INFINITY, INFINITY};
    if (!rng_chance(&p->rng, p->interrupted))
        return in;
    double length = rng_log(&p->rng, 2, 3000);
    for (int tries = 0; tries < 20; tries++) {
        double at = rng_range(&p->rng, *begin, end);
        if (p->apart && near_edge(p, state, at, at + length))
            continue;
        if (at < 0 && !p->apart) {
            *begin -= length;
            return (struct interruption){at - length, at};
        }
        return (struct interruption){at, at + length};
    }
    return in;
}

static int record_one(struct plan *p, uint32_t run, struct trace *t)
{
    struct core_state state[PLAN_MAX], intended[PLAN_MAX];
    double begin = p->begin, end;
    bool twice;
    draw_states(p, state, &end, &twice);
    memcpy(intended, state, p->n * sizeof *state);
    if (p->twice_of < p->n && !twice) /* all recordings last alike */
        end += p->step[p->twice_of].duration;
    struct interruption in = draw_interruption(p, state, &begin, end);
    state[0].begin = fmin(state[0].begin, begin);
    p->drawn_interrupted += in.end < INFINITY;
    double share = p->golden ? fmod((double)run * 0.6180339887498949, 1) : rng_unit(&p->rng);
    if (record_run(&p->rng, &p->rec, state, p->n, begin, end, share * p->rec.period_us, in, run, t))
        return -1;
    for (size_t i = 0; i + 1 < p->n; i++) { /* as the split reads left them */
        double d = state[i + 1].begin - (i ? state[i].begin : p->begin);
        p->moved[i] += state[i + 1].begin - intended[i + 1].begin - (i ? state[i].begin - intended[i].begin : 0);
        if (i == p->twice_of && twice)
            p->drawn_twice += d;
        else
            p->drawn[i] += d;
    }
    p->drawn_n++;
    p->drawn_twice_n += twice;
    return 0;
}

static double volts_at(struct plan *p, double t)
{
    double part = p->volts_ramp > 0 ? (t - p->volts_at) / p->volts_ramp + 0.5 : t >= p->volts_at;
    double v = p->volts + p->volts_step * fmin(1, fmax(0, part)) + p->volts_noise * rng_normal(&p->rng);
    return VOLT_UNIT * round(v / VOLT_UNIT);
}

static int record_volts(struct plan *p, struct trace *t)
{
    double end = p->begin + total(p);
    if (p->volts_sampled) {
        for (size_t i = 0; i < t->n; i++)
            if (!rng_chance(&p->rng, p->rec.missing))
                t->channel[TRACE_VOLTS][i] = (float)volts_at(p, t->time_us[i]);
        return 0;
    }
    for (size_t k = 0; k < p->volt_runs; k++) {
        double at = rng_range(&p->rng, p->begin + 1, end);
        if (trace_append(t, (uint32_t)(p->runs + k), at))
            return -1;
        t->channel[TRACE_VOLTS][t->n - 1] = (float)volts_at(p, at);
    }
    return 0;
}

static bool anything_sampled(const struct plan *p)
{
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (p->rec.has[c])
            return true;
    return p->volts_sampled;
}

static int record(struct plan *p, struct trace *t)
{
    trace_init(t);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (p->rec.has[c] && trace_add_channel(t, (enum trace_channel)c))
            return -1;
    if ((p->volts_scattered || p->volts_sampled) && trace_add_channel(t, TRACE_VOLTS))
        return -1;
    if (p->runs + p->volt_runs > 1 && trace_add_run(t))
        return -1;
    if (p->switched && (trace_set(t, "from", "128fma") || trace_set(t, "to", "512fma")))
        return -1;
    if (!anything_sampled(p))
        p->runs = 0;
    for (size_t k = 0; k < p->runs; k++)
        if (record_one(p, (uint32_t)k, t))
            return -1;
    if (record_volts(p, t))
        return -1;
    bool tells = p->rec.sampler == SAMPLER_PROMPT && rng_chance(&p->rng, 0.3);
    return tells ? trace_set(t, "sampler", "resumes at once") : 0;
}

/* ---- what can be known ---- */

static bool visible(const struct plan *p, const struct step *a, const struct step *b)
{
    const bool *has = p->rec.has;
    if (a->kind == PHASE_HALT || b->kind == PHASE_HALT)
        return true;
    bool differs = has[TRACE_FREQ] && a->state.freq != b->state.freq;
    differs |= has[TRACE_IPC] && a->state.ipc != b->state.ipc;
    for (int k = 0; k < 4; k++)
        differs |= has[TRACE_LVL0 + k] && a->state.share[k] != b->state.share[k];
    return differs;
}

static struct true_phase true_of(const struct plan *p, size_t i, double start)
{
    const struct step *s = &p->step[i];
    bool sampled = anything_sampled(p);
    struct true_phase f = {s->kind, start, s->duration, s->duration, NAN, NAN, NAN, 0, false};
    double n = (double)(p->drawn_n - (i == p->twice_of ? p->drawn_twice_n : 0));
    if (sampled && n > 0 && i + 1 < p->n)
        f.drawn_us = p->drawn[i] / n;
    if (sampled && i + 1 < p->n)
        f.duration_us += p->moved[i] / (double)p->drawn_n;
    if (p->runs == 1)
        f.duration_us = f.drawn_us;
    if (p->rec.has[TRACE_FREQ] && s->kind != PHASE_HALT)
        f.freq_ghz = s->state.freq;
    if (s->kind == PHASE_THROTTLE && !p->rec.has[TRACE_IPC])
        f.kind = PHASE_STEADY;
    else if (s->kind == PHASE_THROTTLE)
        f.ipc_ratio = s->state.ipc / p->step[p->n - 1].state.ipc;
    f.optional = s->kind == PHASE_HALT && s->duration < 2 * p->rec.period_us;
    if (i == p->twice_of && p->drawn_twice_n) {
        f.second_us = 2 * s->duration;
        f.second_share = (double)p->drawn_twice_n / (double)p->drawn_n;
    }
    return f;
}

/* Two stretches that look alike are one phase. */
static void join(struct true_phase *a, const struct true_phase *b)
{
    a->duration_us += b->duration_us;
    a->drawn_us += b->drawn_us;
    a->second_us = isnan(b->second_us) ? NAN : a->duration_us - b->duration_us + b->second_us;
    a->second_share = b->second_share;
}

static void find_slow(struct truth *truth)
{
    for (size_t i = 0; i + 1 < truth->n_phases; i++) {
        size_t j = i + 1;
        while (j + 1 < truth->n_phases && truth->phase[j].kind == PHASE_HALT)
            j++;
        if (truth->phase[i].kind == PHASE_STEADY && truth->phase[j].freq_ghz > truth->phase[i].freq_ghz)
            truth->phase[i].kind = PHASE_SLOW;
    }
}

static void levels_find(struct truth *truth)
{
    for (size_t i = 0; i < truth->n_phases; i++) {
        double ghz = truth->phase[i].freq_ghz;
        bool known = isnan(ghz);
        for (size_t k = 0; k < truth->n_levels; k++)
            known |= truth->level_ghz[k] == ghz;
        if (known)
            continue;
        size_t k = truth->n_levels++;
        for (; k && truth->level_ghz[k - 1] < ghz; k--)
            truth->level_ghz[k] = truth->level_ghz[k - 1];
        truth->level_ghz[k] = ghz;
    }
}

/* A step of the voltage alone divides the phase in which it happens. */
static void split_at_volts(const struct plan *p, struct truth *truth)
{
    for (size_t i = 0; i < truth->n_phases; i++) {
        struct true_phase *f = &truth->phase[i];
        if (p->volts_at <= f->start_us || p->volts_at >= f->start_us + f->duration_us)
            continue;
        memmove(f + 1, f, (truth->n_phases++ - i) * sizeof *f);
        f[1].start_us = p->volts_at;
        f[1].duration_us = f[1].drawn_us = f->start_us + f->duration_us - p->volts_at;
        f->duration_us = f->drawn_us = p->volts_at - f->start_us;
        return;
    }
}

static void find_volts_truth(const struct plan *p, struct truth *truth)
{
    struct true_volts *v = &truth->volts;
    v->recorded = p->volts_scattered || p->volts_sampled;
    v->steps = v->recorded && p->volts_step != 0;
    v->at_us = p->volts_at;
    v->ramp_us = p->volts_ramp;
    v->from_v = p->volts;
    v->to_v = p->volts + p->volts_step;
    double spacing = p->volts_sampled ? p->rec.period_us / (double)p->runs : total(p) / (double)p->volt_runs;
    double noise = fmax(p->volts_noise, VOLT_UNIT) / fabs(p->volts_step);
    v->tolerance_us = fmax(1.5, p->volts_sampled ? 1.5 * p->rec.period_us : 0) + spacing * (3 + 12 * noise * noise);
    double readings = fmax(1, fmin(p->volts_at - p->begin, p->begin + total(p) - p->volts_at) / spacing);
    v->level_v = 0.5 * VOLT_UNIT + 5 * 1.2533 * p->volts_noise / sqrt(readings);
    v->blur_us = noise > 0.1 ? 11 * spacing : 0;
}

static void find_truth(const struct plan *p, struct truth *truth)
{
    double start = p->begin;
    for (size_t i = 0; i < p->n; i++) {
        struct true_phase f = true_of(p, i, start);
        bool boundary = !i || (p->switched && i == 1) || visible(p, &p->step[i - 1], &p->step[i]);
        if (i > 1 && truth->phase[truth->n_phases - 1].optional && !visible(p, &p->step[i - 2], &p->step[i]))
            f.optional = true;
        if (boundary)
            truth->phase[truth->n_phases++] = f;
        else
            join(&truth->phase[truth->n_phases - 1], &f);
        start += f.drawn_us;
    }
    find_slow(truth);
    levels_find(truth);
    find_volts_truth(p, truth);
    if (truth->kind == TRACES_VOLTS)
        split_at_volts(p, truth);
    truth->runs = p->runs;
    truth->interrupted = p->drawn_interrupted;
    truth->period_us = p->rec.period_us;
}

static void tell(const struct plan *p, struct truth *truth)
{
    const struct recorder *r = &p->rec;
    const bool *has = r->has;
    snprintf(truth->about, sizeof truth->about,
             "columns%s%s%s%s, %zu runs%s, period %.3g us, %s%s, jitter %.1f %%, noise f %.2f %% ipc %.1f %% shares "
             "%.1f %% volts %.2f mV, missing %.1f %%, outliers %.2f %%, split %.1f %%, interrupted %.0f %% (%s), "
             "durations +-%.2f us",
             has[TRACE_FREQ] ? " freq" : "", has[TRACE_IPC] ? " ipc" : "", has[TRACE_LVL0] ? " shares" : "",
             p->volts_scattered ? " volts (scattered)"
             : p->volts_sampled ? " volts"
                                : "",
             p->runs, p->switched ? " switched at 0" : "", r->period_us, sampler_name(r->sampler),
             p->golden ? " golden" : "", 100 * r->jitter, 100 * r->freq_noise, 100 * r->ipc_noise, 100 * r->share_noise,
             1000 * p->volts_noise, 100 * r->missing, 100 * r->outliers, 100 * r->split, 100 * p->interrupted,
             r->kernel_mode ? "cycles go on" : "no cycles", p->jitter_us);
}

int random_trace_late(enum trace_kind kind, uint64_t seed, double late_us, struct trace *t, struct truth *truth)
{
    struct plan *p = calloc(1, sizeof *p);
    memset(truth, 0, sizeof *truth);
    truth->kind = kind;
    truth->seed = seed;
    if (!p)
        return -1;
    rng_init(&p->rng, seed, (uint64_t)kind + 1);
    p->twice_of = PLAN_MAX;
    choose_recorder(p, kind);
    if (late_us > 0) {
        p->rec.sampler = SAMPLER_PROMPT;
        p->rec.late_us = late_us;
        p->rec.has[TRACE_FREQ] = p->rec.has[TRACE_IPC] = true;
    }
    plan_core(p, kind);
    choose_volts(p, kind);
    int bad = record(p, t);
    if (bad) {
        trace_free(t);
    } else {
        find_truth(p, truth);
        tell(p, truth);
    }
    free(p);
    return bad;
}

int random_trace(enum trace_kind kind, uint64_t seed, struct trace *t, struct truth *truth)
{
    return random_trace_late(kind, seed, 0, t, truth);
}
