/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A repetition on a modelled CPU: what the timing loop of real machines does, on the simulated core. A chunk of blocks
 * is run, then the clock is looked at; the first look at or after a deadline takes a reading.
 */
#include "drivers/model/model_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/native/growth.h"
#include "drivers/native/sampling.h"
#include "drivers/timing/chain_reading.h"

/* Looks at the clock a period where nothing is sampled. */
enum { POLLS_A_PERIOD = 20 };

/* Repetitions begin so far apart on the time stamp counter, so that no two of them share a value. */
static const double REPETITION_SECONDS = 100;

/* ---- readings of counters, or by chains of adds where it has none ---- */

static void dither_seed(struct model_dither *d, uint32_t seed)
{
    for (unsigned i = 0; i < 3; i++)
        d->state[i] = seed * (2654435761u + 2 * i);
}

static uint64_t next_wait(struct model_dither *d, uint32_t range)
{
    static const uint32_t step[3] = {0xd1b54a33u, 0xabc98389u, 0x8cb92ba8u};
    uint64_t n = 0;
    for (unsigned i = 0; i < 3; i++) {
        d->state[i] += step[i];
        n += (uint64_t)d->state[i] * range >> 32;
    }
    return n;
}

double model_step_ticks(const struct model *m)
{
    return fmax(1, m->tsc_step_ns * 1e-9 * m->tsc_hz);
}

/* With samples a quarter of this or longer, chains are the longest ones, as on native machines
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

static uint64_t tsc_at(const struct model_progress *p, double us, uint64_t least)
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
    /* a counter that has counted nothing reads 0, whatever the noise */
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
    uint64_t ended = tsc_at(p, p->core->now, before ? before[0] : 0);
    double wait = CHAIN_WAIT_ADDS + (double)next_wait(&p->dither, dither_of(&s->model));
    model_core_chain(p->core, wait, 0);
    uint64_t begin = tsc_at(p, p->core->now, ended);
    model_core_chain(p->core, adds + MODEL_CHAIN_COST + p->cost_off, wait);
    words[0] = tsc_at(p, p->core->now, begin + 1);
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
    words[0] = tsc_at(p, p->core->now, before[0] + 1);
    memcpy(words + 2, before + 2, p->state->setup.n_counters * sizeof *words);
}

/* The code that reads the clock and the counters: what slows the payload around it slows it as well, as throttling does
 * up to 70 to 80 instructions after wide ones (Downs, "Gathering Intel on Intel AVX-512 Transitions"). No wide
 * instructions are. */
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
static int take_reading(struct model_progress *p, struct machine_error *err)
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
    words[0] = tsc_at(p, p->core->now, first ? 0 : before[0] + 1);
    run_reading(p);
    for (size_t i = 0; i < s->setup.n_counters; i++)
        words[2 + i] = counter_value(p, &s->counters[i], first ? 0 : before[2 + i]);
    out->n++;
    return MACHINE_OK;
}

/* ---- bursts ---- */

enum { CHUNKS_PER_PIECE = 40 }; /* half a microsecond, as in drivers/native/bursts.c */

static uint64_t ticks_of(const struct model_core *c, double us)
{
    return (uint64_t)llround(us * c->model->tsc_hz * 1e-6);
}

/* Plain work until `until`, piece by piece: after each chunk of a piece the thread looks at the clock, if it runs. */
static int plain_work(struct model_core *c, const struct payload *p, double until, struct burst *out,
                      struct machine_error *err)
{
    int status = model_core_run(c, p, err);
    const double chunk = fmax(1, BURSTS_PIECE_US / CHUNKS_PER_PIECE * 1e3);
    double plain = 0, lost = 0, work = 0;
    while (status == MACHINE_OK && c->now < until) {
        double begin = c->now, end = until - begin > 1.5 * BURSTS_PIECE_US ? begin + BURSTS_PIECE_US : until;
        double done = model_core_advance(c, end, INFINITY);
        if (!model_core_executes(c))
            done += model_core_advance(c, INFINITY, chunk);
        bool interrupted = c->now - end > BURSTS_PATIENCE_US;
        *(interrupted ? &lost : &plain) += c->now - begin;
        work += interrupted ? 0 : done;
    }
    model_core_returned(c);
    out->plain = ticks_of(c, plain);
    out->lost = ticks_of(c, lost);
    out->instructions = (uint64_t)llround(work);
    return status;
}

static int wide_work(struct model_core *c, const struct bursts_request *r, struct burst *out, struct machine_error *err)
{
    double begin = c->now;
    int status = r->count > 0 ? model_core_run(c, &r->wide, err) : MACHINE_OK;
    if (status == MACHINE_OK && r->count > 0) {
        model_core_advance(c, INFINITY, (double)r->count);
        model_core_returned(c);
    }
    out->wide = ticks_of(c, c->now - begin);
    return status;
}

static int run_bursts(struct model_core *c, const struct bursts_request *r, struct burst *out,
                      struct machine_error *err)
{
    struct burst unseen;
    int status = plain_work(c, &r->plain, c->now + r->before_us, &unseen, err);
    double next = c->now;
    for (unsigned i = 0; i < r->skipped + r->bursts && status == MACHINE_OK; i++) {
        struct burst b = {0};
        status = wide_work(c, r, &b, err);
        next = fmax(next + r->every_us, c->now);
        if (status == MACHINE_OK && r->every_us > 0)
            status = plain_work(c, &r->plain, next, &b, err);
        if (i >= r->skipped)
            out[i - r->skipped] = b;
    }
    return status;
}

/* ---- a simulated core that has run one payload for long ---- */

static double nominal_ghz(const struct model *m, const struct model_need *need, unsigned cores, double fixed_ghz)
{
    double ghz = model_ghz(m, m->classes[need->later].level, cores);
    return fixed_ghz > 0 ? fmin(ghz, fixed_ghz) : ghz;
}

static double steady_volts(const struct model *m, const struct payload *p, unsigned cores, double fixed_ghz)
{
    static const double settled_us = 1e5; /* beyond all transitions and nearly all ramps */
    struct model_need need;
    struct model_core *c = calloc(1, sizeof *c);
    struct machine_error ignored;
    double volts = NAN;
    if (c && model_need(m, p, &need, &ignored) == MACHINE_OK) {
        volts = model_volts(m, nominal_ghz(m, &need, cores, fixed_ghz));
        model_core_start(c, m, cores, 0, 0);
        c->fixed_ghz = fixed_ghz;
        if (m->corunners_boosted && model_core_run(c, p, &ignored) == MACHINE_OK) {
            model_core_advance(c, settled_us, INFINITY);
            volts = model_core_volts(c);
        }
    }
    free(c);
    return volts;
}

double model_steady_watts(const struct model *m, const struct payload *p, unsigned cores, double fixed_ghz,
                          double volts)
{
    struct model_need need;
    struct machine_error ignored;
    if (model_need(m, p, &need, &ignored) != MACHINE_OK)
        return NAN;
    unsigned level = m->classes[need.later].level;
    double ghz = model_ghz(m, level, cores), hz = model_mean_ghz(m, level, cores) * 1e9;
    if (fixed_ghz > 0 && ghz > fixed_ghz)
        hz *= fixed_ghz / ghz;
    return model_power_joules(m, hz, hz * need.ipc, model_power_instruction(m, p), volts);
}

/* ---- running ---- */

/* Runs chunks until the first look at the clock at or after `deadline`; one chunk at least. */
static void run_until(struct model_progress *p, double deadline)
{
    double done = model_core_advance(p->core, deadline, INFINITY);
    double chunks = ceil(done / p->chunk_work - 1e-9);
    /* a chunk that ended exactly when a halt began was looked at before it: nobody looks at a clock while halted */
    bool begins_later = chunks * p->chunk_work - done < 1e-9 * p->chunk_work && !model_core_executes(p->core);
    if (chunks < 1 || begins_later)
        chunks += 1;
    double rest = chunks * p->chunk_work - done;
    if (rest > 0)
        model_core_advance(p->core, INFINITY, rest);
    p->blocks += (uint64_t)chunks * p->chunk_blocks;
    p->instructions += (uint64_t)chunks * (uint64_t)p->chunk_work;
    model_core_returned(p->core);
}

/* Sizes chunks as native machines do: at the clock at which the payload keeps running. */
static void size_chunk(struct model_progress *p, const struct segment *seg)
{
    const struct model_core *c = p->core;
    double per_us = c->need.ipc * model_core_class_ghz(c, c->need.later) * 1e3;
    double us = p->state->setup.period_us / (seg->sampled ? SAMPLING_A_PERIOD : POLLS_A_PERIOD);
    double blocks = round(per_us * us / seg->payload.instructions);
    p->block_instructions = seg->payload.instructions;
    p->chunk_blocks = blocks < 1 ? 1 : (unsigned)fmin(blocks, 1e6);
    p->chunk_work = (double)p->chunk_blocks * seg->payload.instructions;
}

/* Before the first instruction of a segment: the reading at its start, and time 0. */
static int begin_segment(struct model_progress *p, size_t number, struct machine_error *err)
{
    const struct segment *seg = &p->request->segments[number];
    struct recording *out = p->out;
    model_core_fine(p->core, seg->sampled);
    bool is_zero = number == p->request->zero_segment;
    if (is_zero) {
        p->zero_passed = true;
        p->zero_us = p->core->now;
        out->zero_reading = seg->sampled ? out->n : SIZE_MAX;
    }
    if (is_zero && !seg->sampled)
        out->zero_tsc = tsc_at(p, p->core->now, 0);
    if (!seg->sampled)
        return MACHINE_OK;
    bool goes_on = out->n > 0; /* the sample before has just ended */
    int status = goes_on ? MACHINE_OK : take_reading(p, err);
    if (goes_on && is_zero)
        out->zero_reading--;
    if (status == MACHINE_OK && is_zero)
        out->zero_tsc = out->words[out->zero_reading * out->stride];
    return status;
}

static void run_blocks(struct model_progress *p, uint64_t blocks)
{
    const uint64_t instructions = blocks * p->block_instructions;
    model_core_advance(p->core, INFINITY, (double)instructions);
    p->blocks += blocks;
    p->instructions += instructions;
    model_core_returned(p->core);
}

/* A sample: a chunk, or a power of two of them where samples grow; `left` blocks at most. */
static int run_sample(struct model_progress *p, uint64_t left, struct machine_error *err)
{
    struct model_core *c = p->core;
    const double usual = p->state->setup.period_us / SAMPLING_A_PERIOD,
                 grown = c->now - p->zero_us - p->request->fine_us;
    const double most = fmax(GROWTH_MOST_US, p->state->setup.period_us);
    if (p->zero_passed && p->request->fine_us > 0 && ldexp(usual, (int)p->doubled + 1) <= most &&
        grown >= ldexp(usual, (int)p->doubled + SAMPLING_GROWTH_BITS))
        p->doubled++;
    uint64_t blocks = (uint64_t)p->chunk_blocks << p->doubled;
    blocks = blocks < left ? blocks : left;
    run_blocks(p, blocks);
    return take_reading(p, err);
}

static int run_segment(struct model_progress *p, size_t number, struct machine_error *err)
{
    const struct segment *seg = &p->request->segments[number];
    struct model_core *c = p->core;
    int status = begin_segment(p, number, err);
    if (status == MACHINE_OK)
        status = model_core_run(c, &seg->payload, err);
    if (status != MACHINE_OK)
        return status;
    size_chunk(p, seg);
    const double end = c->now + seg->duration_us;
    const uint64_t last = p->blocks + seg->blocks;
    if (!seg->sampled && seg->blocks)
        run_blocks(p, seg->blocks);
    else if (!seg->sampled && c->now < end)
        run_until(p, end);
    while (status == MACHINE_OK && seg->sampled && (seg->blocks ? p->blocks < last : c->now < end))
        status = run_sample(p, seg->blocks ? last - p->blocks : UINT64_MAX, err);
    return status;
}

static int check_request(const struct model_state *s, const struct run_request *r, struct machine_error *err)
{
    if (!s->prepared)
        return machine_fail(err, MACHINE_FAILED, "", "run without prepare");
    if (r->n_segments == 0 || r->zero_segment >= r->n_segments)
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "a repetition of %zu segments cannot have time 0 in segment %zu", r->n_segments,
                            r->zero_segment);
    for (size_t i = 0; i < r->n_segments; i++) {
        const struct segment *seg = &r->segments[i];
        if (!seg->payload.kernel || seg->payload.instructions == 0)
            return machine_fail(err, MACHINE_BAD_INPUT, "", "segment %zu has no payload", i);
        if (!(seg->duration_us >= 0 && seg->duration_us <= 1e9))
            return machine_fail(err, MACHINE_BAD_INPUT, "", "segment %zu of %g us: 0 to 1e9 would work", i,
                                seg->duration_us);
    }
    return MACHINE_OK;
}

void model_start_core(struct model_state *s, unsigned cores, uint64_t repetition)
{
    model_core_next(&s->core, &s->model, cores, s->setup.seed, repetition);
    s->core.fixed_ghz = s->setup.fixed_ghz;
    const struct model_unlike *unlike = model_unlike_of(&s->model, s->setup.cpu);
    s->core.own = unlike ? unlike->factor : 1;
}

/* The TSC at the core's time 0: a core whose state is carried over goes on in its own time. */
uint64_t model_tsc_origin(const struct model_state *s, uint64_t repetition)
{
    return (uint64_t)(s->model.tsc_hz * REPETITION_SECONDS) * (s->model.scenario.carries ? 1 : repetition + 1);
}

/* The other active cores have run the co-runner all the while. */
static void count_energy(struct model_state *s)
{
    const struct model *m = &s->model;
    const struct payload corunner = s->setup.corunner.kernel ? s->setup.corunner : kernel_named("64add");
    double seconds = (s->core.now - s->core.around.begin) * 1e-6, watts = m->idle_watts;
    if (isnan(s->corunner_volts))
        s->corunner_volts = steady_volts(m, &corunner, s->active, s->setup.fixed_ghz);
    if (s->active > 1)
        watts += (s->active - 1) * model_steady_watts(m, &corunner, s->active, s->setup.fixed_ghz, s->corunner_volts);
    s->energy.joules += s->core.totals.joules + watts * seconds;
    s->energy.seconds += seconds;
}

/* A busy sibling thread slows readings of the clock, and wakes after it was found out what they cost. */
static double cost_off(const struct model_state *s, uint64_t repetition)
{
    enum { COST_STREAM = 78 };
    struct model_random random;
    model_random_init(&random, s->setup.seed, repetition, COST_STREAM);
    return s->model.chain_cost_sigma * model_random_normal(&random);
}

int model_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct model_state *s = m->state;
    int status = check_request(s, r, err);
    if (status != MACHINE_OK)
        return status;
    *out = (struct recording){
        .stride = 2 + s->setup.n_counters, .capacity = s->capacity, .words = s->words, .zero_reading = SIZE_MAX};
    struct model_progress p = {.state = s, .core = &s->core, .request = r, .out = out};
    p.tsc_start = model_tsc_origin(s, r->repetition);
    p.turn = (unsigned)r->repetition;
    dither_seed(&p.dither, (uint32_t)(r->repetition + 1));
    p.cost_off = cost_off(s, r->repetition);
    s->repetition = r->repetition;
    model_start_core(s, s->active, r->repetition);
    if (s->model.tsc_step_ns > 0)
        p.tsc_phase = model_step_ticks(&s->model) * model_random_uniform(&s->core.streams[MODEL_STREAM_CLOCK]);
    for (size_t i = 0; i < r->n_segments && status == MACHINE_OK; i++)
        status = run_segment(&p, i, err);
    if (out->zero_reading == SIZE_MAX) /* time 0 was not sampled */
        out->zero_reading = out->n;
    s->core.payload = NULL; /* it belongs to the caller */
    s->has_run = status == MACHINE_OK;
    count_energy(s);
    out->involuntary_switches = s->core.off_cpu;
    return status;
}

int model_bursts(struct machine *m, const struct bursts_request *r, struct burst *out, const char **disturbed,
                 struct machine_error *err)
{
    struct model_state *s = m->state;
    if (!s->prepared)
        return machine_fail(err, MACHINE_FAILED, "", "bursts without prepare");
    int status = machine_bursts_check(r, err);
    if (status != MACHINE_OK)
        return status;
    s->repetition = r->repetition;
    model_start_core(s, s->active, r->repetition);
    status = run_bursts(&s->core, r, out, err);
    s->core.payload = NULL; /* it belongs to the caller */
    s->has_run = status == MACHINE_OK;
    count_energy(s);
    *disturbed = s->core.off_cpu ? recording_disturbed(&(struct recording){.involuntary_switches = 1}) : NULL;
    return status;
}
