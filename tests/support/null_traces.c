/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/null_traces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/recorder.h"

#define VOLT_UNIT (1.0 / 8192)

/* A core without events, its recorder, and what a kind of noise adds. */
struct quiet {
    struct rng rng;
    enum null_kind kind;
    struct recorder rec;
    struct core_state before, after; /* of time 0 */
    double begin, end;
    size_t runs, volt_runs;
    bool switched;
    double heavy_freq, heavy_ipc; /* scale of Student's t, relative */
    double spread_period_us;
    double drift; /* relative, from begin to end */
    bool drift_bent, drift_differs;
    double ticks; /* of the TSC that the chain takes */
    bool instantaneous;
    double interrupted;
};

static const char *const names[NULL_KINDS] = {"white",     "outliers",    "heavy",   "spread", "drift",
                                              "quantised", "interrupted", "missing", "offsets"};

const char *null_kind_name(enum null_kind kind)
{
    return (unsigned)kind < NULL_KINDS ? names[kind] : NULL;
}

static void choose_kind(struct quiet *q)
{
    struct rng *r = &q->rng;
    if (q->kind == NULL_OUTLIERS)
        q->rec.outliers = rng_range(r, 0.001, 0.01);
    q->heavy_freq = q->kind == NULL_HEAVY ? rng_log(r, 1e-4, 0.005) : 0;
    q->heavy_ipc = q->kind == NULL_HEAVY ? rng_range(r, 0.002, 0.03) : 0;
    q->spread_period_us = rng_range(r, 5, 60);
    q->drift = rng_range(r, -0.003, 0.003);
    q->drift_bent = rng_chance(r, 0.5);
    q->drift_differs = rng_chance(r, 0.3);
    /* 120 to 200 cycles at 2..4 GHz, in ticks of 1.9..2.6 GHz: one more or less is 0.7 to 3 % */
    q->ticks = rng_log(r, 35, 140) + rng_unit(r);
    q->instantaneous = q->kind == NULL_QUANTISED && rng_chance(r, 0.5);
    q->interrupted = q->kind == NULL_INTERRUPTED ? rng_log(r, 0.06, 0.6) : 0;
    if (q->kind == NULL_MISSING)
        q->rec.missing = rng_range(r, 0.005, 0.1);
    if (q->kind == NULL_QUANTISED)
        q->rec.freq_noise = 0; /* before it is measured in ticks */
}

static void choose_columns(struct quiet *q)
{
    double u = rng_unit(&q->rng);
    q->rec.has[TRACE_FREQ] = u < 0.85 || q->kind >= NULL_SPREAD; /* the others are noises of the frequency */
    q->rec.has[TRACE_IPC] = u > 0.25;
    for (int c = TRACE_LVL0; c <= TRACE_THROTTLE; c++)
        q->rec.has[c] = u > 0.4 && u < 0.55;
    q->volt_runs = u > 0.5 && u < 0.65 ? (size_t)rng_int(&q->rng, 60, 300) : 0;
}

static void choose(struct quiet *q, enum null_kind kind, uint64_t seed)
{
    struct rng *r = &q->rng;
    memset(q, 0, sizeof *q);
    rng_init(r, seed, 1000 + (uint64_t)kind);
    q->kind = kind;
    q->rec.period_us = rng_chance(r, 0.7) ? 1 : rng_log(r, 0.3, 10);
    q->rec.sampler = choose_sampler(r);
    q->rec.jitter = rng_chance(r, 0.5) ? 0 : rng_range(r, 0, 0.05);
    q->rec.freq_noise = rng_chance(r, 0.1) ? 0 : rng_log(r, 1e-4, 0.01);
    q->rec.ipc_noise = rng_chance(r, 0.1) ? 0 : rng_range(r, 0.002, 0.06);
    q->rec.share_noise = rng_range(r, 0, 0.03);
    q->rec.kernel_mode = rng_chance(r, 0.5);
    q->runs = (size_t)lround(rng_log(r, 1, 400));
    q->switched = rng_chance(r, 0.5);
    q->begin = -rng_range(r, 15, 60) * q->rec.period_us;
    q->end = rng_range(r, 25, 140) * q->rec.period_us;
    q->after = (struct core_state){.freq = rng_range(r, 1.2, 5), .ipc = rng_range(r, 0.3, 4), .share = {1, 0, 0, 0}};
    q->before = q->after;
    if (q->switched)
        q->before.ipc = rng_range(r, 0.3, 4);
    choose_columns(q);
    choose_kind(q);
}

/* How a clock that is not quite steady changes the frequency at time t; `own` is drawn once a repetition. */
static double wobble(struct quiet *q, double t, double own)
{
    double part = (t - q->begin) / (q->end - q->begin);
    switch (q->kind) {
    case NULL_SPREAD:
        return 1 + 0.002 * sin(2 * M_PI * (t / q->spread_period_us + own));
    case NULL_DRIFT:
        if (q->drift_bent)
            part = 4 * part * (1 - part);
        return 1 + q->drift * part * (q->drift_differs ? 2 * own - 1 : 1);
    case NULL_HEAVY:
        return 1 + fmax(-0.5, fmin(0.5, q->heavy_freq * rng_student3(&q->rng)));
    case NULL_OFFSETS:
        return 1 + 0.003 * (2 * own - 1);
    default:
        return 1;
    }
}

/* The frequency as whole ticks tell it: n cycles take `ticks` of them at the frequency f0. */
static double in_ticks(struct quiet *q, double freq, double f0)
{
    double ticks = floor(q->ticks * f0 / freq + rng_unit(&q->rng));
    return f0 * q->ticks / ticks;
}

static void add_noise(struct quiet *q, struct trace *t, size_t first)
{
    float *freq = t->channel[TRACE_FREQ], *ipc = t->channel[TRACE_IPC];
    double own = rng_unit(&q->rng);
    for (size_t i = first; i < t->n; i++) {
        double factor = wobble(q, t->time_us[i] - 0.5 * q->rec.period_us, own);
        if (freq && q->kind == NULL_QUANTISED) {
            /* the payload's rate is counted well: the error of the frequency is that of the IPC */
            factor = in_ticks(q, (double)freq[i], q->after.freq) / (double)freq[i];
            if (ipc)
                ipc[i] = (float)((double)ipc[i] / factor);
        }
        if (freq)
            freq[i] = (float)((double)freq[i] * factor);
        if (ipc && q->kind == NULL_HEAVY)
            ipc[i] *= (float)(1 + fmax(-0.9, fmin(3, q->heavy_ipc * rng_student3(&q->rng))));
    }
}

static int record(struct quiet *q, uint32_t run, struct trace *t)
{
    struct core_state states[2] = {q->before, q->after};
    double begin = q->begin;
    struct interruption in = {INFINITY, INFINITY};
    if (rng_chance(&q->rng, q->interrupted)) {
        in.begin = rng_range(&q->rng, q->begin, q->end);
        in.end = in.begin + rng_log(&q->rng, 2, 3000);
        if (in.begin < 0) { /* time 0 is when the second kernel runs: the recording begins earlier */
            double length = in.end - in.begin;
            in = (struct interruption){in.begin - length, in.begin};
            begin -= length;
        }
    }
    states[0].begin = begin - 100;
    size_t first = t->n;
    if (record_run(&q->rng, &q->rec, states, 2, begin, q->end, rng_unit(&q->rng) * q->rec.period_us, in, run, t))
        return -1;
    add_noise(q, t, first);
    return 0;
}

static int record_volts(struct quiet *q, struct trace *t)
{
    double volts = rng_range(&q->rng, 0.65, 1.2), noise = rng_range(&q->rng, 0, 0.0015);
    for (size_t k = 0; k < q->volt_runs; k++) {
        if (trace_append(t, (uint32_t)(q->runs + k), rng_range(&q->rng, q->begin, q->end)))
            return -1;
        double v = volts + noise * rng_normal(&q->rng);
        t->channel[TRACE_VOLTS][t->n - 1] = (float)(VOLT_UNIT * round(v / VOLT_UNIT));
    }
    return 0;
}

static int record_all(struct quiet *q, struct trace *t)
{
    trace_init(t);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (q->rec.has[c] && trace_add_channel(t, (enum trace_channel)c))
            return -1;
    if (q->volt_runs && trace_add_channel(t, TRACE_VOLTS))
        return -1;
    if (q->runs + q->volt_runs > 1 && trace_add_run(t))
        return -1;
    if (q->switched && (trace_set(t, "from", "128fma") || trace_set(t, "to", "128or")))
        return -1;
    if (q->instantaneous && trace_set(t, "frequency", "instantaneous"))
        return -1;
    for (size_t k = 0; k < q->runs; k++)
        if (record(q, (uint32_t)k, t))
            return -1;
    return record_volts(q, t);
}

static void tell(const struct quiet *q, struct null_about *about)
{
    const bool *has = q->rec.has;
    about->switched = q->switched;
    about->runs = q->runs;
    snprintf(about->text, sizeof about->text,
             "columns%s%s%s%s, %zu runs%s, %.0f..%.0f us by %.3g, %s, jitter %.1f %%, noise f %.3f %% ipc %.1f %%, "
             "outliers %.2f %%, missing %.1f %%, interrupted %.0f %% (%s), drift %.2f %%%s, ticks %.1f%s",
             has[TRACE_FREQ] ? " freq" : "", has[TRACE_IPC] ? " ipc" : "", has[TRACE_LVL0] ? " shares" : "",
             q->volt_runs ? " volts" : "", q->runs, q->switched ? " switched at 0" : "", q->begin, q->end,
             q->rec.period_us, sampler_name(q->rec.sampler), 100 * q->rec.jitter, 100 * q->rec.freq_noise,
             100 * q->rec.ipc_noise, 100 * q->rec.outliers, 100 * q->rec.missing, 100 * q->interrupted,
             q->rec.kernel_mode ? "cycles go on" : "no cycles", 100 * q->drift, q->drift_differs ? " differing" : "",
             q->ticks, q->instantaneous ? " instantaneous" : "");
}

int null_trace(enum null_kind kind, uint64_t seed, struct trace *t, struct null_about *about)
{
    struct quiet q;
    choose(&q, kind, seed);
    tell(&q, about);
    if (!record_all(&q, t))
        return 0;
    trace_free(t);
    return -1;
}

bool false_finding(const struct phases *p, bool switched, char *what, size_t size)
{
    *what = '\0';
    if (p->n_phases != 1 + (size_t)switched)
        snprintf(what, size, "%zu phases", p->n_phases);
    for (size_t i = 0; i < p->n_phases && !*what; i++)
        if (p->phases[i].kind != PHASE_STEADY)
            snprintf(what, size, "phase %zu is %s", i, phases_kind_name(p->phases[i].kind));
    if (!*what && p->n_transitions)
        snprintf(what, size, "%zu transitions", p->n_transitions);
    if (!*what && p->n_volt_steps)
        snprintf(what, size, "%zu steps of the voltage", p->n_volt_steps);
    if (!*what && p->n_levels > 1)
        snprintf(what, size, "%zu levels", p->n_levels);
    return *what != '\0';
}
