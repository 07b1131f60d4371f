/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/model/model_machine.h"

#include <math.h>
#include <string.h>

#include "drivers/timing/chain_reading.h"

double model_step_ticks(const struct model *m)
{
    return fmax(1, m->tsc_step_ns * 1e-9 * m->tsc_hz);
}

/* Where samples are a quarter of this or longer, chains are the longest ones, as on native machines
 * (drivers/timing/timing_chains.c). */
#define STEADY_PERIOD_US 15.0

unsigned model_chain_adds(double period_us, bool is_long)
{
    if (period_us >= STEADY_PERIOD_US)
        return is_long ? CHAIN_STEADY_LONG_ADDS : CHAIN_STEADY_SHORT_ADDS;
    return is_long ? CHAIN_LONG_ADDS : CHAIN_SHORT_ADDS;
}

/* The wait before a chain is three numbers of cycles below this: by a clock that scatters, too. */
static uint32_t dither_of(const struct model *m)
{
    const double usual_ghz = 3;
    double step_ns = fmax(model_step_ticks(m) / m->tsc_hz * 1e9, m->clock_jitter_ns);
    return (uint32_t)ceil(1.5 * step_ns * usual_ghz);
}

uint64_t model_tsc_at(const struct model_progress *p, double us, uint64_t least)
{
    const struct model *m = &p->state->model;
    if (m->clock_jitter_ns > 0)
        us += m->clock_jitter_ns * 1e-3 * model_random_normal(&p->core->streams[MODEL_STREAM_CLOCK]);
    double ticks = floor(us * m->tsc_hz * 1e-6 + p->tsc_phase);
    uint64_t tsc = p->tsc_start + (ticks > 0 ? (uint64_t)ticks : 0);
    if (m->tsc_step_ns > 0) /* of the counter itself, not of this repetition */
        tsc = (uint64_t)(floor((double)tsc / model_step_ticks(m)) * model_step_ticks(m));
    return tsc > least ? tsc : least;
}

/* Cycles by the umask bits of event 28H; 40H counts throttling, 01H and 80H nothing. */
static double license_cycles(const struct model *m, const struct model_totals *t, unsigned umask)
{
    double cycles = umask & 0x40 && m->counts_throttle ? t->throttle_cycles : 0;
    for (size_t i = 0; i < m->n_classes; i++)
        if (m->classes[i].umask & umask)
            cycles += t->class_cycles[i];
    return cycles;
}

static double level_cycles(const struct model *m, const struct model_totals *t, unsigned level)
{
    double cycles = 0;
    for (size_t i = 0; i < m->n_classes; i++)
        if (m->classes[i].level == level)
            cycles += t->class_cycles[i];
    return cycles;
}

static uint64_t counter_value(struct model_progress *p, const struct counter_spec *spec, uint64_t least)
{
    const struct model *m = &p->state->model;
    const struct model_totals *t = &p->core->totals;
    double value = 0, noise = m->noise_cycles;
    switch (spec->id) {
    case COUNTER_CYCLES:
        value = t->cycles;
        break;
    case COUNTER_REF_CYCLES:
        value = t->ref_us * m->tsc_hz * 1e-6;
        break;
    case COUNTER_INSTRUCTIONS:
        value = (double)p->instructions + (double)p->blocks * m->loop_instructions + t->other_instructions;
        noise = 0;
        break;
    case COUNTER_LVL0:
    case COUNTER_LVL1:
    case COUNTER_LVL2:
        value = level_cycles(m, t, (unsigned)(spec->id - COUNTER_LVL0));
        break;
    case COUNTER_THROTTLE:
        value = t->throttle_cycles;
        break;
    default:
        value = license_cycles(m, t, spec->event >> 8 & 0xff);
        break;
    }
    /* what has counted nothing reads 0, whatever the noise */
    if (noise > 0 && value > 0)
        value += noise * model_random_normal(&p->core->streams[MODEL_STREAM_COUNTERS]);
    uint64_t count = value > 0 ? (uint64_t)value : 0;
    return count > least ? count : least;
}

/* A chain of adds between two readings of the clock, after a wait that differs. */
static void read_chain(struct model_progress *p, uint64_t *words, const uint64_t *before)
{
    struct model_state *s = p->state;
    bool is_long = p->turn++ % 2 == 0;
    unsigned adds = model_chain_adds(ldexp(s->setup.period_us, (int)p->doubled), is_long);
    uint64_t ended = model_tsc_at(p, p->core->now, before ? before[0] : 0);
    double wait = CHAIN_WAIT_ADDS + (double)model_next_wait(&p->dither, dither_of(&s->model));
    model_core_chain(p->core, wait, 0);
    uint64_t begin = model_tsc_at(p, p->core->now, ended);
    model_core_chain(p->core, adds + MODEL_CHAIN_COST + p->cost_off, wait);
    words[0] = model_tsc_at(p, p->core->now, begin + 1);
    p->chain_ticks += words[0] - begin;
    p->chain_cycles += (uint64_t)(adds + MODEL_CHAIN_COST) * CHAIN_CYCLE_UNIT;
    p->read_ticks += words[0] - ended;
    for (size_t i = 0; i < s->setup.n_counters; i++)
        words[2 + i] = s->counters[i].id == COUNTER_CHAIN_TICKS    ? p->chain_ticks
                       : s->counters[i].id == COUNTER_CHAIN_CYCLES ? p->chain_cycles
                                                                   : p->read_ticks;
}

/* One sample in four is followed by a chain, at random. */
static bool chain_is_due(struct model_progress *p)
{
    return model_random_uniform(&p->core->streams[MODEL_STREAM_CLOCK]) < 0.25;
}

/* The others have a time stamp alone; what their chains have counted stays as it was. */
static void read_stamp(struct model_progress *p, uint64_t *words, const uint64_t *before)
{
    words[0] = model_tsc_at(p, p->core->now, before[0] + 1);
    memcpy(words + 2, before + 2, p->state->setup.n_counters * sizeof *words);
}

/* What is run to read the clock and the counters: what slows the payload around it slows it as well, as throttling does
 * up to 75 instructions behind wide ones (dissertation on Skylake-SP, section 5.2.1). No wide instructions are. */
static void run_reading(struct model_progress *p)
{
    struct model_core *c = p->core;
    const double cycles = p->state->model.split_read_ns * 1e-9 * p->state->model.tsc_hz;
    const double counted = c->need.counted_ipc;
    c->need.counted_ipc = 0;
    if (c->payload && c->need.ipc > 0 && cycles > 0)
        model_core_advance(c, INFINITY, cycles * c->need.ipc);
    else
        model_core_chain(c, cycles, 0);
    c->need.counted_ipc = counted;
}

/* The clock is read first, the counters a little later: a halt may fall between the two. */
int model_take_reading(struct model_progress *p, struct machine_error *err)
{
    struct model_state *s = p->state;
    struct recording *out = p->out;
    if (out->n == out->capacity)
        return machine_fail(err, MACHINE_FAILED, "raise max_samples or the period",
                            "more than %zu samples in one repetition", s->setup.max_samples);
    bool first = out->n == 0;
    uint64_t *words = out->words + out->n * out->stride;
    const uint64_t *before = first ? words : words - out->stride;
    words[1] = p->instructions;
    if (s->model.no_counters) {
        run_reading(p);
        if (!first && !chain_is_due(p))
            read_stamp(p, words, before);
        else
            read_chain(p, words, first ? NULL : before);
        out->n++;
        return MACHINE_OK;
    }
    words[0] = model_tsc_at(p, p->core->now, first ? 0 : before[0] + 1);
    run_reading(p);
    for (size_t i = 0; i < s->setup.n_counters; i++)
        words[2 + i] = counter_value(p, &s->counters[i], first ? 0 : before[2 + i]);
    out->n++;
    return MACHINE_OK;
}
