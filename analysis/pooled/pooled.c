/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From pooled states and the clock to phases: what each state is, how long it lasts, and what it leads to. */
#include "analysis/pooled/pooled.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/ramps/ramp_fit.h"
#include "analysis/pooled/durations.h"
#include "analysis/stats/robust.h"
#include "util/order.h"

#define FULL_RATE 0.94       /* of the rate that the clock allows: what is nearer is at full rate */
#define CLOCK_LIKE_RATE 0.03 /* a logarithm: a clock and a rate that change by nearly as much change together */
#define CLOCK_FALLS_MOST 0.6 /* of that before the switch: the most that is known are 1.9 of 2.8 GHz */
#define CLOCK_LEAST 0.5      /* of the rate: no license is known that lowers a clock so far, for a while */
#define BEYOND_CHAIN                                                                                                   \
    0.85 /* what slows the payload by so much more than the chain is no clock (a Granite Rapids: 512-bit
                              FMAs run at 0.25 of their rate for 2.7 us, chains at 0.5 to 0.95) */
#define THROTTLE_MAX_US 600 /* Intel's own bound is 500 us (optimization manual; dissertation, section 3.2.2) */

static bool tells_rates(const struct trace *t)
{
    for (size_t i = 0; t->channel[TRACE_IPC] && i < t->n; i++)
        if (!isnan(t->channel[TRACE_IPC][i]))
            return true;
    return false;
}

bool pooled_suits(const struct trace *t)
{
    struct clock_reading clock = clock_reading_of(t);
    /* with a period that grows, the end of a recording has other samples than its begin (tail/) */
    if (!trace_get(t, "from") || !trace_get(t, "to") || trace_get(t, "fine_us") || !tells_rates(t))
        return false;
    if (trace_count_runs(t) < POOLED_RUNS_LEAST)
        return clock.one_clock; /* nothing tells what those show */
    /* fixed work: chains come with few samples */
    return clock.instant || (t->channel[TRACE_FREQ] && trace_frequency_share(t) < 0.6);
}

static struct phase *append_phase(struct phases *out, enum phase_kind kind, double start, double end)
{
    struct phase *ph = &out->phases[out->n_phases++];
    *ph = (struct phase){.kind = kind,
                         .start_us = start,
                         .duration_us = {end - start, NAN, NAN},
                         .freq_ghz = {NAN, NAN, NAN},
                         .ipc = NAN,
                         .ipc_ratio = NAN,
                         .volts = NAN,
                         .share = {NAN, NAN, NAN, NAN},
                         .level = -1,
                         .from_ghz = {NAN, NAN, NAN},
                         .to_ghz = {NAN, NAN, NAN}};
    return ph;
}

/* Frequency and level of a phase at a clock of so much against that before the switch. */
static void set_clock(const struct pooled_answer *a, struct phase *ph, const struct estimate *log_step)
{
    const struct estimate *b = &a->c->before_ghz;
    double step = log_step ? log_step->value : 0, half = log_step ? estimate_half_known(log_step) : 0;
    ph->freq_ghz.value = b->value * exp(step);
    ph->freq_half_ghz = ph->freq_ghz.value * half;
    double wide = hypot(hypot(estimate_half_known(b) * exp(step), ph->freq_half_ghz),
                        ESTIMATE_Z95 * a->p->clock.error * ph->freq_ghz.value);
    ph->freq_ghz.lo = ph->freq_ghz.value - wide;
    ph->freq_ghz.hi = ph->freq_ghz.value + wide;
}

/* Payload instructions per cycle of the samples of a phase, with what is typical of it; per ns where they are reckoned
 * with one clock for all of a repetition. Of repetitions that have left the state before it (SIZE_MAX: there is none).
 * x: scratch. */
static double typical_ipc(const struct pooled_answer *a, double begin, double end, double rate, size_t before,
                          double *x)
{
    const struct pooled *p = a->p;
    size_t m = 0;
    for (size_t r = 0; r < p->n_runs; r++) {
        const struct pooled_run *run = &p->run[r];
        if (before < a->s->n && isnan(a->s->left[before * p->n_runs + r]))
            continue;
        double sum = 0;
        size_t n = 0;
        for (size_t i = trace_first_after(p->trace, run->first, run->past, begin); i < run->past; i++) {
            if (p->trace->time_us[i] > end)
                break;
            double own = begin < 0 ? 1 : pooled_sample_rate(p, i) / run->late / rate;
            if (p->trace->channel[TRACE_IPC][i] > 0 && fabs(log(own)) < 0.1) {
                sum += (double)p->trace->channel[TRACE_IPC][i];
                n++;
            }
        }
        const double own = run->mean_ghz > 0 ? run->mean_ghz * run->cycle_ns * a->c->before_ghz.value : 1;
        if (n && !isnan(own)) /* per ns of the clock that is reported: each repetition has one of its own */
            x[m++] = sum / (double)n * own;
    }
    return pooled_middle(x, m, NULL);
}

static double phase_ipc(const struct pooled_answer *a, const struct phase *ph, double begin, double end, double rate,
                        size_t before, double *x)
{
    double ipc = typical_ipc(a, begin, end, rate, before, x);
    return a->p->run[0].mean_ghz > 0 ? ipc / ph->freq_ghz.value : ipc;
}

/* The clock, a logarithm, of state k, in which chains are slowed: where the core halts, it changes meanwhile, so that
 * ahead of all halts it is that before the switch, and after them that in the end. NaN: between two. */
static double clock_unseen(const struct pooled_answer *a, size_t k, double final)
{
    bool before = false, after = false;
    for (size_t i = 0; i < a->s->n; i++) {
        before |= i < k && pooled_halts(a->p, a->s, i);
        after |= i > k && pooled_halts(a->p, a->s, i);
    }
    return !after ? final : before ? NAN : 0;
}

/* What state k is, at the clock that it runs at: throttled, halted, or at full rate. */
static void kind_of_state(const struct pooled_answer *a, size_t k, struct phase *ph)
{
    const struct pooled_state *q = &a->s->state[k];
    const struct pooled_clock_state *now = pooled_clock_in(a->c, q->begin_us, q->end_us);
    const struct pooled_clock_state *last = a->c->n ? &a->c->state[a->c->n - 1] : NULL;
    double clock = now ? now->log_step.value : 0, final = last ? last->log_step.value : 0;
    if (pooled_halts(a->p, a->s, k)) {
        ph->kind = PHASE_HALT;
        return;
    }
    bool slow_chain = pooled_chains_longer(a, k) > 1;
    double ratio = q->rate / exp((slow_chain ? clock_unseen(a, k, final) : clock) - final);
    ph->kind = PHASE_STEADY;
    if (!slow_chain && a->c->n)
        set_clock(a, ph, now ? &now->log_step : NULL);
    ph->ipc_ratio = 1;
    /* a chain waits for one result at a time, and is throttled less than code that fills the core: what slows both
     * alike is a clock, if clocks fall so far */
    bool beyond = slow_chain && q->rate < BEYOND_CHAIN * exp(clock - final);
    if (slow_chain && !beyond && q->rate < exp(clock - final) / BEYOND_CHAIN && clock > log(CLOCK_FALLS_MOST)) {
        set_clock(a, ph, &now->log_step);
        ph->clock_unsure = true;
    } else if (isnan(ratio) || (slow_chain && !beyond && q->rate > CLOCK_LEAST)) {
        ph->kind = PHASE_UNKNOWN;
        ph->ipc_ratio = NAN;
        snprintf(ph->why, sizeof ph->why,
                 "the chain of adds is slower than before and after: a lower frequency, or something that also slows "
                 "the chain");
    } else if (ratio < FULL_RATE && k + 1 < a->s->n) {
        ph->kind = q->end_us - q->begin_us > THROTTLE_MAX_US ? PHASE_UNKNOWN : PHASE_THROTTLE;
        ph->ipc_ratio = ratio;
        if (ph->kind == PHASE_UNKNOWN)
            snprintf(ph->why, sizeof ph->why,
                     "the rate is %.2g of what follows, for longer than any known throttling: other code?", ratio);
    } else if (ratio > 1 / FULL_RATE && k + 1 < a->s->n) {
        ph->kind = PHASE_UNKNOWN;
        ph->ipc_ratio = ratio;
        snprintf(ph->why, sizeof ph->why, "the code slows down to %.2g of this rate, and the clock does not",
                 1 / ratio);
    }
}

/* The mean pooled rate between two times. */
static double mean_rate(const struct pooled *p, double from, double to)
{
    double sum = 0, us = 0;
    for (size_t k = 0; k < p->n; k++) {
        double d = fmin(to, p->border[k + 1]) - fmax(from, p->border[k]);
        sum += d > 0 ? d * p->rate[k] : 0;
        us += d > 0 ? d : 0;
    }
    return sum / us;
}

/* Where a moment of state k on the pooled curve is in what is reported, of which the state is begin..end: repetitions
 * pass the states at times of their own (clock_course.c). What is left of a fade is no state of its own. */
static double moment_told(const struct pooled_answer *a, size_t k, double begin, double end, double at)
{
    const struct pooled_state *q = &a->s->state[k];
    if (k && q[-1].tau_us > 0)
        return at;
    double longer = k + 1 < a->s->n ? (end - begin) / (q->end_us - q->begin_us) : 1;
    return begin + (at - q->begin_us) * longer;
}

/* Stretches of full rate in which the clock steps are as many phases: of state k, which is reported as begin..end. */
static void add_steady(const struct pooled_answer *a, size_t k, double begin, double end, double *x)
{
    for (size_t i = 0; i == 0 || i < a->c->n; i++) {
        const struct pooled_clock_state *c = a->c->n ? &a->c->state[i] : NULL;
        double from = c ? fmax(begin, moment_told(a, k, begin, end, c->begin_us)) : begin;
        double to = c ? fmin(end, moment_told(a, k, begin, end, c->end_us)) : end;
        if (to - from < fmin(1, 0.5 * (end - begin)))
            continue;
        /* what is left of a neighbor's clock at either end is the scatter of its border */
        struct phase *last = a->out->n_phases ? &a->out->phases[a->out->n_phases - 1] : NULL;
        bool inner = last && last->start_us >= begin && last->kind == PHASE_STEADY;
        struct phase *ph = append_phase(a->out, PHASE_STEADY, inner ? from : begin, end);
        if (inner)
            last->duration_us.value = ph->start_us - last->start_us;
        ph->ipc_ratio = 1;
        ph->agreeing_runs = a->p->n_runs;
        if (c)
            set_clock(a, ph, &c->log_step);
        ph->ipc = phase_ipc(a, ph, from, to, mean_rate(a->p, from, to), k - 1, x);
    }
}

/* Neighbors of one kind at one clock are one phase; of levels, by their limits. */
static void merge_steady(struct phases *out)
{
    size_t n = 1;
    for (size_t k = 1; k < out->n_phases; k++) {
        struct phase *a = &out->phases[n - 1], *b = &out->phases[k];
        bool alike = k > 1 && a->kind == PHASE_STEADY && b->kind == PHASE_STEADY &&
                     (isnan(a->freq_ghz.value) || fabs(a->freq_ghz.value / b->freq_ghz.value - 1) < CLOCK_WANDERS);
        if (alike)
            a->duration_us = (struct estimate){b->start_us + b->duration_us.value - a->start_us, NAN, NAN};
        else
            out->phases[n++] = *b;
    }
    out->n_phases = n;
}

static int pooled_levels(const struct pooled_answer *a)
{
    struct phases *out = a->out;
    out->levels_ghz = malloc((out->n_phases + 1) * sizeof *out->levels_ghz);
    out->levels = malloc((out->n_phases + 1) * sizeof *out->levels);
    if (!out->levels_ghz || !out->levels)
        return -1;
    for (size_t k = 0; k < out->n_phases; k++) {
        struct phase *ph = &out->phases[k];
        if (isnan(ph->freq_ghz.value) || (!phases_is_steady(ph) && ph->kind != PHASE_THROTTLE))
            continue;
        size_t i = 0;
        while (i < out->n_levels && fabs(out->levels_ghz[i] / ph->freq_ghz.value - 1) > CLOCK_WANDERS)
            i++;
        if (i == out->n_levels) {
            out->levels[i] = ph->freq_ghz;
            out->levels_ghz[out->n_levels++] = ph->freq_ghz.value;
        }
    }
    for (size_t i = 1; i < out->n_levels; i++) /* highest first */
        for (size_t k = i; k && out->levels_ghz[k] > out->levels_ghz[k - 1]; k--) {
            struct estimate e = out->levels[k];
            out->levels[k] = out->levels[k - 1];
            out->levels[k - 1] = e;
            out->levels_ghz[k] = out->levels[k].value;
            out->levels_ghz[k - 1] = e.value;
        }
    for (size_t k = 0; k < out->n_phases; k++)
        for (size_t i = 0; i < out->n_levels; i++)
            if (fabs(out->levels_ghz[i] / out->phases[k].freq_ghz.value - 1) <= CLOCK_WANDERS)
                out->phases[k].level = (int)i;
    return 0;
}

/* Slow: steady, and what it leads to is faster. */
static void name_slow(struct phases *out)
{
    for (size_t k = 0; k + 1 < out->n_phases; k++) {
        size_t next = k + 1;
        while (next + 1 < out->n_phases && !phases_is_steady(&out->phases[next]))
            next++;
        if (out->phases[k].kind == PHASE_STEADY && k > 0 && out->phases[k].level > out->phases[next].level &&
            out->phases[next].level >= 0)
            out->phases[k].kind = PHASE_SLOW;
    }
}

static int pooled_transitions(const struct pooled_answer *a)
{
    struct phases *out = a->out;
    for (size_t i = 0; i + 1 < out->n_phases;) {
        size_t j = i + 1;
        unsigned halts = 0;
        bool undecided = false;
        struct estimate latency = {0, 0, 0};
        double half = 0;
        size_t agreeing = a->p->n_runs;
        for (; j + 1 < out->n_phases && !phases_is_steady(&out->phases[j]); j++) {
            const struct phase *ph = &out->phases[j];
            halts += ph->kind == PHASE_HALT;
            undecided |= ph->kind == PHASE_UNKNOWN;
            latency.value += ph->duration_us.value;
            half = hypot(half, estimate_half_known(&ph->duration_us));
            agreeing = ph->agreeing_runs < agreeing ? ph->agreeing_runs : agreeing;
        }
        const struct phase *from = &out->phases[i], *to = &out->phases[j];
        bool same = j == i + 1 && from->level == to->level;
        if (!same && !undecided && phases_is_steady(from) && phases_is_steady(to)) {
            latency.lo = fmax(0, latency.value - half);
            latency.hi = latency.value + (j > i + 1 ? half : fmax(POOLED_RESOLUTION, out->detectable_halt_us));
            struct transition t = {out->phases[i + 1].start_us, latency, from->freq_ghz.value,
                                   to->freq_ghz.value,          halts,   agreeing};
            if (phases_add_transition(out, t))
                return -1;
        }
        i = j;
    }
    return 0;
}

/* What would have been found: a step of the clock, throttling for a microsecond, a halt. */
static void pooled_limits(const struct pooled_answer *a)
{
    const struct pooled *p = a->p;
    struct phases *out = a->out;
    double worst = 0, step = 0;
    for (size_t k = 0; k < p->n; k++)
        worst = fmax(worst, p->error[k] / p->rate[k]);
    for (size_t k = 0; k < a->c->n; k++)
        step = fmax(step, estimate_half_known(&a->c->state[k].log_step));
    if (a->c->n) {
        out->detectable_freq = fmax(POOLED_STEP_LEAST, 2.2 * step);
        out->detectable_freq_us = fmax(20, 0.25 * p->after_us);
    }
    /* as long as five samples, and more than what cold code may explain */
    out->detectable_throttle_us = fmax(5 * p->sample_us, 1);
    double share = fmax(fmax(0.05, 6 * hypot(worst, 0.01)), 1.2 * a->s->floor_lost_us / out->detectable_throttle_us);
    while (share > 0.6) {
        out->detectable_throttle_us *= 2;
        share *= 0.5;
    }
    out->detectable_throttle = 1 - fmax(share, 0.08);
    out->detectable_halt_us = fmax(a->s->floor_lost_us + 2 * p->sample_us, p->sample_us / POOLED_HALT_RATIO);
}

/* What slowed them is not known: after a chain of adds, tiles have to wake; memory has others' loads in it. */
static int warn_of_slowed(const struct pooled_answer *a)
{
    a->out->disturbed = a->p->sibling_share > 0.02;
    if (!a->out->disturbed)
        return 0;
    return phases_warn(a->out,
                       "%.0f %% of the samples ran at %.2f of their rate (another thread on the core, memory that "
                       "others use, or units that sleep during the chains of adds); the middle half of the repetitions "
                       "tells each rate",
                       100 * a->p->sibling_share, a->p->sibling_factor);
}

/* Whether the clock differs, before a state and in the end, as the rate of a gradual change does. */
static bool clock_fades(const struct pooled_answer *a, const struct pooled_state *q, double to)
{
    if (!a->c->n)
        return false;
    const struct pooled_clock_state *before = pooled_clock_in(a->c, 0, q->begin_us), *last = &a->c->state[a->c->n - 1];
    double step = (before ? before->log_step.value : 0) - last->log_step.value, rate = log(q->rate / to);
    return fabs(step - rate) < fmax(CLOCK_LIKE_RATE, 0.3 * fabs(rate)) && fabs(step) > CLOCK_LIKE_RATE / 2;
}

/* A rate, or a clock, that approaches its end exponentially, until it is within 0.1 % of it. */
static void put_fade(const struct pooled_answer *a, size_t k, struct phase *ph)
{
    const struct pooled_state *q = &a->s->state[k];
    double to = k + 1 < a->s->n ? a->s->state[k + 1].rate : 1, begin = ph->start_us;
    double us = fmin(pooled_fade_us(a->s, k), a->p->border[a->p->n] - begin);
    bool clock = clock_fades(a, q, to);
    struct estimate tau = estimate_around(q->tau_us, q->tau_half_us);
    ph->kind = PHASE_RAMP;
    ph->why[0] = '\0';
    ph->ipc_ratio = clock ? 1 : 1 + (q->rate / to - 1) * ramp_decay_integral(us, q->tau_us) / us; /* the mean */
    ph->duration_us = estimate_around(us, us * estimate_half(&tau) / q->tau_us);
    struct ramp_side side = {.begin_us = estimate_around(begin, fmax(POOLED_RESOLUTION, q->begin_half_us)),
                             .end_us = estimate_around(begin + us, estimate_half(&ph->duration_us)),
                             .from = {q->rate / to, NAN, NAN},
                             .to = {1, NAN, NAN},
                             .tau_us = tau,
                             .runs = a->p->n_runs};
    const struct estimate none = {NAN, NAN, NAN};
    ph->rate_ramp = ph->clock_ramp = (struct ramp_side){
        .begin_us = none, .end_us = none, .from = none, .to = none, .tau_us = {0, NAN, NAN}};
    ph->agreeing_runs = a->p->n_runs;
    if (clock) {
        /* the last chains tell a mean on the way to the end */
        const struct pooled_clock_state *last = &a->c->state[a->c->n - 1];
        double mean = mean_rate(a->p, last->begin_us, last->end_us);
        struct estimate end = estimate_around(last->log_step.value + log(q->to / mean),
                                              hypot(estimate_half_known(&last->log_step), q->to_half / q->to));
        set_clock(a, ph, &end);
        ph->to_ghz = ph->freq_ghz;
        const struct pooled_clock_state *before = pooled_clock_in(a->c, 0, q->begin_us);
        set_clock(a, ph, before ? &before->log_step : NULL);
        ph->from_ghz = ph->freq_ghz;
        ph->tau_us = tau;
        ph->freq_ghz = phases_ramp_mean(ph);
        ph->freq_half_ghz = estimate_half(&ph->freq_ghz);
    } else {
        ph->rate_ramp = side;
        if (a->c->n)
            ph->from_ghz = ph->to_ghz = ph->freq_ghz;
    }
}

static int pooled_answer(const struct pooled_answer *a)
{
    struct phases *out = a->out;
    double *x = malloc(3 * (a->p->n_runs + 1) * sizeof *x);
    out->phases = calloc(2 * POOLED_STATES_MAX + 2, sizeof *out->phases);
    if (!x || !out->phases) {
        free(x);
        return -1;
    }
    struct phase *ph = append_phase(out, PHASE_STEADY, -a->p->before_us, 0);
    ph->ipc_ratio = 1;
    ph->agreeing_runs = a->p->n_runs;
    if (a->c->n)
        set_clock(a, ph, NULL);
    ph->ipc = phase_ipc(a, ph, -a->p->before_us, -1e-9, 1, SIZE_MAX, x);
    double start = 0;
    for (size_t k = 0; k < a->s->n; k++) {
        const struct pooled_state *q = &a->s->state[k];
        struct phase state = *append_phase(out, PHASE_STEADY, start, q->end_us);
        kind_of_state(a, k, &state);
        bool last = k + 1 == a->s->n;
        if (!last && pooled_state_duration(a, k, &state, x)) {
            free(x);
            return -1;
        }
        double end = last ? a->p->border[a->p->n] : fmin(start + state.duration_us.value, a->p->border[a->p->n]);
        out->n_phases--;
        if (q->tau_us > 0) {
            put_fade(a, k, &state);
            end = start + state.duration_us.value;
            out->phases[out->n_phases++] = state;
        } else if (state.kind == PHASE_STEADY && (last || !state.clock_unsure)) {
            size_t first = out->n_phases;
            add_steady(a, k, start, end, x);
            struct phase *one = &out->phases[first];
            if (out->n_phases == first + 1 && !last) /* its end is an edge of the repetitions */
                one->duration_us = state.duration_us, one->n_modes = state.n_modes,
                memcpy(one->modes, state.modes, sizeof one->modes), one->agreeing_runs = state.agreeing_runs;
        } else {
            /* at one clock: where the chains' border lies elsewhere than the payload's, that is their scatter */
            state.ipc = state.kind == PHASE_HALT ? NAN : phase_ipc(a, &state, start, end, q->rate, k - 1, x);
            out->phases[out->n_phases++] = state;
        }
        start = end;
    }
    free(x);
    merge_steady(out);
    pooled_limits(a);
    if (pooled_levels(a))
        return -1;
    name_slow(out);
    return pooled_transitions(a) || warn_of_slowed(a) || pooled_tell_other_clocks(a->p, a->s, a->c, out) ? -1 : 0;
}

/* What a switch of code costs, by the null (with too few repetitions: none), or as the trace tells it. *lost_us: NaN
 * where neither does. *moves: the null has states of its own, which no switch of code has. 0, or -1: out of memory. */
static int null_loss(const struct trace *t, struct pooled *null, double *lost_us, bool *moves)
{
    struct pooled_states s = {0};
    *lost_us = trace_number(t, "null_lost_us");
    *moves = false;
    if (null->n_runs < POOLED_RUNS_LEAST || !null->n)
        return 0;
    *lost_us = pooled_lost(null);
    int bad = pooled_find_states(null, *lost_us, &s);
    *moves = !bad && s.n > 1;
    pooled_states_free(&s);
    return bad;
}

/* Nothing that is seen can be distinguished from something else. */
static int tell_nothing(const struct pooled *p, const char *why, struct phases *out)
{
    out->phases = calloc(2, sizeof *out->phases);
    if (!out->phases)
        return -1;
    append_phase(out, PHASE_UNKNOWN, -p->before_us, 0);
    append_phase(out, PHASE_UNKNOWN, 0, p->after_us);
    for (size_t k = 0; k < 2; k++)
        snprintf(out->phases[k].why, sizeof out->phases[k].why, "%s", why);
    return 0;
}

/* The phases of prepared repetitions, with their null. 0, or -1: out of memory. */
static int find_in(struct pooled *p, struct pooled *null, struct phases *out)
{
    struct pooled_states s = {0};
    struct pooled_clock c = {0};
    bool moves = false;
    const bool nulls = null->n_runs >= POOLED_RUNS_LEAST && null->n;
    int bad = null_loss(p->trace, null, &out->null_lost_us, &moves) ||
              (!moves && pooled_keep_switching(p, nulls ? null : NULL, pooled_cold_lost(out->null_lost_us), out)) ||
              pooled_find_states(p, out->null_lost_us, &s) || pooled_find_clock(p, &s, &c);
    if (!bad) {
        const struct pooled_answer a = {p, &s, &c, out};
        out->runs = p->n_recorded;
        out->runs_used = p->n_runs;
        bad = moves ? tell_nothing(p,
                                   "a switch of code alone shows changes, too: another thread keeps step with "
                                   "the repetitions",
                                   out)
                    : pooled_answer(&a);
    }
    pooled_states_free(&s);
    return bad;
}

int pooled_find(const struct trace *t, const struct trace *null, struct phases *out)
{
    struct pooled p, beside = {0};
    int bad = pooled_prepare(t, &p);
    bool few = !bad && (p.n_runs < POOLED_RUNS_LEAST || !p.n);
    if (!bad && !few) {
        bad = (null && pooled_prepare(null, &beside)) || find_in(&p, &beside, out);
    } else if (!bad && p.n_recorded > 0 && p.clock.one_clock) {
        out->runs = p.n_recorded;
        out->runs_used = p.n_runs;
        bad = tell_nothing(&p, "without cycle counts it takes three whole repetitions or more; eight tell more", out);
        few = false;
    }
    pooled_free(&p);
    pooled_free(&beside);
    return bad ? -1 : few;
}
