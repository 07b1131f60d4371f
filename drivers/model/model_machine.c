/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine of a modelled CPU: what the timing loop of real machines does, on the simulated core. A chunk of blocks
 * is run, then the clock is looked at; the first look at or after a deadline takes a reading.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/bursts.h"
#include "drivers/events/events.h"
#include "drivers/model/model_machine.h"
#include "drivers/model/model_trials.h"
#include "computer/msr/msr_decode.h"
#include "drivers/native/growth.h"
#include "drivers/native/sampling.h"

/* Looks at the clock a period where nothing is sampled. */
enum { POLLS_A_PERIOD = 20 };

/* A reading takes some time, even if the model gives none. */
static const double READ_LEAST_US = 1e-3;

/* Repetitions begin so far apart on the time stamp counter, so that no two of them share a value. */
static const double REPETITION_SECONDS = 100;

/* ---- what the machine tells about itself ---- */

static void model_info(const struct machine *m, struct machine_info *out)
{
    const struct model_state *s = m->state;
    *out = (struct machine_info){
        .name = s->name,
        .source = s->source,
        .cpu = s->cpu,
        .modelled = true,
        .tsc_hz = s->model.tsc_hz,
        .tsc_origin = "model file",
        .tsc_error = 0,
        .tsc_step = s->prepared ? model_step_ticks(&s->model) : 0,
        .cpu_number = s->prepared ? s->setup.cpu : 0,
        .active_cores = s->prepared ? s->active : s->model.cores,
        .cores = s->model.cores,
        .usable_cores = s->model.cores,
        .features = s->model.features,
        .intel = s->model.family == 6,
        .family = s->model.family,
        .model = s->model.model,
        .caches = s->prepared ? model_caches : (struct cpu_caches){0},
        .notes = s->notes,
    };
    if (s->model.no_counters)
        out->chain_cycles = model_chain_adds(s->setup.period_us, false) + MODEL_CHAIN_COST;
}

static const char *model_lacks(const struct machine *machine, enum counter_id id, const char **remedy)
{
    const struct model *m = &((const struct model_state *)machine->state)->model;
    const char *unused;
    *(remedy ? remedy : &unused) = NULL;
    if (id >= COUNTER_IDS)
        return "no such counter";
    if (m->no_counters)
        return counter_of_chain(id) ? NULL
                                    : "the modelled CPU has no performance counters (according to its model file)";
    if (counter_of_chain(id)) {
        *(remedy ? remedy : &unused) = "read COUNTER_CYCLES";
        return "the modelled CPU counts cycles; the dependent chain is for machines that cannot";
    }
    if (id == COUNTER_THROTTLE)
        return m->counts_throttle ? NULL
                                  : "the modelled CPU has no throttle event (28H/40H, according to its model file)";
    return id <= COUNTER_INSTRUCTIONS || m->counts_licenses
               ? NULL
               : "the modelled CPU has no license events (28H, according to its model file)";
}

/* ---- prepare, finish ---- */

static int check_counters(struct model_state *s, const struct machine *m, const struct machine_setup *setup,
                          struct machine_error *err)
{
    if (setup->n_counters > MACHINE_COUNTERS_MAX)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%zu counters requested; the limit is %d", setup->n_counters,
                            MACHINE_COUNTERS_MAX);
    for (size_t i = 0; i < setup->n_counters; i++) {
        const struct counter_spec *c = &setup->counters[i];
        const char *remedy = NULL, *why = model_lacks(m, c->id, &remedy);
        if (why)
            return machine_fail(err, MACHINE_CANNOT,
                                remedy ? remedy : "choose another model, or do without this counter", "%s", why);
        if (c->id == COUNTER_EVENT && event_code_select(c->event) != 0x28)
            return machine_fail(err, MACHINE_CANNOT, "the only raw event that models count is 28H, with any umask",
                                "the modelled CPU does not count event %02XH/%02XH", event_code_select(c->event),
                                event_code_umask(c->event));
        if (c->id == COUNTER_EVENT && c->event >> 16 != 0)
            return machine_fail(err, MACHINE_CANNOT, "leave the bits above the umask 0",
                                "the modelled CPU has no cmask, edge or inversion (event code %" PRIX64 "H)", c->event);
        s->counters[i] = *c;
    }
    return MACHINE_OK;
}

static int check_cpu(const struct model_state *s, int cpu, struct machine_error *err)
{
    unsigned cores = s->model.cores;
    if (cpu < 0 || cpu >= (int)cores)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "no CPU %d: the modelled %s has CPUs 0 to %u", cpu,
                            s->model.cpu_name, cores - 1);
    return MACHINE_OK;
}

/* A modelled core has one logical CPU: siblings change nothing, and no two CPUs share a core. */
static int check_cpus(const struct model_state *s, const struct machine_setup *setup, struct machine_error *err)
{
    bool listed[MODEL_CORES_MAX] = {false};
    int status = setup->cpu == -1 ? MACHINE_OK : check_cpu(s, setup->cpu, err);
    for (size_t i = 0; i < setup->n_cpus && status == MACHINE_OK; i++) {
        status = check_cpu(s, setup->cpus[i], err);
        if (status == MACHINE_OK && listed[setup->cpus[i]])
            status = machine_fail(err, MACHINE_BAD_INPUT, "", "CPU %d is listed twice", setup->cpus[i]);
        if (status == MACHINE_OK)
            listed[setup->cpus[i]] = true;
    }
    return status;
}

/* Of kinds a model tells nothing. */
static size_t model_core_kinds(const struct machine *m, bool every, struct core_kind *out, size_t max)
{
    const struct model *model = &((const struct model_state *)m->state)->model;
    size_t n = !every ? 0 : model->cores < max ? model->cores : max;
    for (size_t i = 0; i < n; i++) {
        const struct model_unlike *unlike = model_unlike_of(model, (int)i);
        out[i].cpu = (int)i;
        snprintf(out[i].label, sizeof out[i].label, "%.59s", unlike ? unlike->label : "");
    }
    return n;
}

/* All that there are, or that are listed. */
static unsigned cores_in_use(const struct model_state *s, const struct machine_setup *setup)
{
    bool extra = setup->cpu >= 0;
    for (size_t i = 0; i < setup->n_cpus; i++)
        extra = extra && setup->cpus[i] != setup->cpu;
    return setup->n_cpus > 0 ? (unsigned)setup->n_cpus + extra : s->model.cores;
}

static int model_machine_check_setup(const struct model_state *s, const struct machine_setup *setup,
                                     struct machine_error *err)
{
    int status = check_cpus(s, setup, err);
    if (status != MACHINE_OK)
        return status;
    if (!(setup->fixed_ghz >= 0 && setup->fixed_ghz <= 10))
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "a fixed frequency of %g GHz: up to 10 GHz would work, or 0 for none", setup->fixed_ghz);
    if (setup->active_cores > cores_in_use(s, setup))
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%u active cores: the modelled %s has %u%s",
                            setup->active_cores, s->model.cpu_name, cores_in_use(s, setup),
                            setup->n_cpus > 0 ? " of those listed" : "");
    if (!(setup->period_us >= 0.05 && setup->period_us <= 1e6))
        return machine_fail(err, MACHINE_BAD_INPUT, "", "a sampling period of %g us: 0.05 to 1000000 would work",
                            setup->period_us);
    return MACHINE_OK;
}

static void model_finish(struct machine *m)
{
    struct model_state *s = m->state;
    free(s->words);
    s->words = NULL;
    s->capacity = 0;
    s->energy = (struct energy_reading){0, 0};
    s->prepared = false;
}

static int model_prepare(struct machine *m, const struct machine_setup *setup, struct machine_error *err)
{
    struct model_state *s = m->state;
    model_finish(m);
    int status = model_machine_check_setup(s, setup, err);
    if (status == MACHINE_OK)
        status = check_counters(s, m, setup, err);
    if (status != MACHINE_OK)
        return status;
    s->setup = *setup;
    s->setup.counters = s->counters;
    s->setup.cpus = NULL; /* the caller's */
    if (setup->cpu < 0)   /* all cores are alike: this is but a name */
        s->setup.cpu = setup->n_cpus > 0 ? setup->cpus[0] : 0;
    s->active = setup->active_cores ? setup->active_cores : cores_in_use(s, setup);
    /* a recording of n samples has n + 1 readings */
    s->capacity = SAMPLING_ROOM_A_PERIOD * setup->max_samples + 1;
    if (setup->max_samples < SIZE_MAX / 16 / SAMPLING_ROOM_A_PERIOD / sizeof *s->words)
        s->words = malloc(s->capacity * (2 + setup->n_counters) * sizeof *s->words);
    if (!s->words)
        return machine_fail(err, MACHINE_FAILED, "observe for a shorter time", "out of memory for %zu samples",
                            setup->max_samples);
    s->prepared = true;
    s->corunner_volts = NAN;
    return MACHINE_OK;
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

/* As native machines measure it before: at the clock at which the payload keeps running. */
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

/* What is done before the first instruction of a segment: the reading at its start, and time 0. */
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
        out->zero_tsc = model_tsc_at(p, p->core->now, 0);
    if (!seg->sampled)
        return MACHINE_OK;
    bool goes_on = out->n > 0; /* the sample before has just ended */
    int status = goes_on ? MACHINE_OK : model_take_reading(p, err);
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
    return model_take_reading(p, err);
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

static void start_core(struct model_state *s, unsigned cores, uint64_t repetition)
{
    model_core_next(&s->core, &s->model, cores, s->setup.seed, repetition);
    s->core.fixed_ghz = s->setup.fixed_ghz;
    const struct model_unlike *unlike = model_unlike_of(&s->model, s->setup.cpu);
    s->core.own = unlike ? unlike->factor : 1;
}

/* The TSC at the core's time 0: a core whose state is carried over goes on in its own time. */
static uint64_t tsc_origin(const struct model_state *s, uint64_t repetition)
{
    return (uint64_t)(s->model.tsc_hz * REPETITION_SECONDS) * (s->model.world.carries ? 1 : repetition + 1);
}

/* The other active cores have run the co-runner all the while. */
static void model_machine_count_energy(struct model_state *s)
{
    const struct model *m = &s->model;
    const struct payload corunner = s->setup.corunner.kernel ? s->setup.corunner : kernel_named("64add");
    double seconds = (s->core.now - s->core.around.begin) * 1e-6, watts = m->idle_watts;
    if (isnan(s->corunner_volts))
        s->corunner_volts = model_steady_volts(m, &corunner, s->active, s->setup.fixed_ghz);
    if (s->active > 1)
        watts += (s->active - 1) * model_steady_watts(m, &corunner, s->active, s->setup.fixed_ghz, s->corunner_volts);
    s->energy.joules += s->core.totals.joules + watts * seconds;
    s->energy.seconds += seconds;
}

/* A neighbour on the core's sibling slows readings of the clock, and wakes after it was found out what they cost. */
static double cost_off(const struct model_state *s, uint64_t repetition)
{
    enum { COST_STREAM = 78 };
    struct model_random random;
    model_random_init(&random, s->setup.seed, repetition, COST_STREAM);
    return s->model.chain_cost_sigma * model_random_normal(&random);
}

static int model_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct model_state *s = m->state;
    int status = check_request(s, r, err);
    if (status != MACHINE_OK)
        return status;
    *out = (struct recording){
        .stride = 2 + s->setup.n_counters, .capacity = s->capacity, .words = s->words, .zero_reading = SIZE_MAX};
    struct model_progress p = {.state = s, .core = &s->core, .request = r, .out = out};
    p.tsc_start = tsc_origin(s, r->repetition);
    p.turn = (unsigned)r->repetition;
    model_dither_seed(&p.dither, (uint32_t)(r->repetition + 1));
    p.cost_off = cost_off(s, r->repetition);
    s->repetition = r->repetition;
    start_core(s, s->active, r->repetition);
    if (s->model.tsc_step_ns > 0)
        p.tsc_phase = model_step_ticks(&s->model) * model_random_uniform(&s->core.streams[MODEL_STREAM_CLOCK]);
    for (size_t i = 0; i < r->n_segments && status == MACHINE_OK; i++)
        status = run_segment(&p, i, err);
    if (out->zero_reading == SIZE_MAX) /* time 0 was not sampled */
        out->zero_reading = out->n;
    s->core.payload = NULL; /* it belongs to the caller */
    s->has_run = status == MACHINE_OK;
    model_machine_count_energy(s);
    out->involuntary_switches = s->core.off_cpu;
    return status;
}

static int model_machine_bursts(struct machine *m, const struct bursts_request *r, struct burst *out,
                                const char **disturbed, struct machine_error *err)
{
    struct model_state *s = m->state;
    if (!s->prepared)
        return machine_fail(err, MACHINE_FAILED, "", "bursts without prepare");
    int status = bursts_check(r, err);
    if (status != MACHINE_OK)
        return status;
    s->repetition = r->repetition;
    start_core(s, s->active, r->repetition);
    status = model_bursts(&s->core, r, out, err);
    s->core.payload = NULL; /* it belongs to the caller */
    s->has_run = status == MACHINE_OK;
    model_machine_count_energy(s);
    *disturbed = s->core.off_cpu ? recording_disturbed(&(struct recording){.involuntary_switches = 1}) : NULL;
    return status;
}

/* 606H and 611H: energy in units of 2^-14 J, as of Skylake-SP (Intel SDM volume 4), in 32 bits. */
static bool model_machine_energy_register(const struct model_state *s, uint32_t reg, uint64_t *value)
{
    const unsigned unit = 14;
    if (!s->model.has_power || isnan(s->energy.joules) || (reg != MSR_RAPL_UNIT && reg != MSR_PACKAGE_ENERGY))
        return false;
    *value = reg == MSR_RAPL_UNIT ? unit << 8 : (uint64_t)ldexp(s->energy.joules, unit) & UINT32_MAX;
    return true;
}

static int model_register(struct machine *m, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    struct model_state *s = m->state;
    if (!s->has_run) /* an idle core, at the highest level */
        start_core(s, s->prepared ? s->active : s->model.cores, 0);
    s->has_run = true;
    if (model_machine_energy_register(s, reg, value))
        return MACHINE_OK;
    if (s->model.stamps_volts) { /* nobody reads while the core stands still */
        model_core_idle(&s->core, fmax(s->model.read_delay_us, READ_LEAST_US));
        s->register_tsc = tsc_origin(s, s->repetition) + (uint64_t)(s->core.now * s->model.tsc_hz * 1e-6);
    }
    return model_register_read(&s->core, reg, value, err);
}

static int model_energy(struct machine *machine, struct energy_reading *out, const char **source,
                        struct machine_error *err)
{
    const struct model_state *s = machine->state;
    if (!s->model.has_power)
        return machine_fail(err, MACHINE_CANNOT,
                            "add a section [power] to its model file, or choose a model that has one (xeon-gold-6130)",
                            "the power of the modelled %s is unknown: its model file has no section [power]",
                            s->model.cpu_name);
    if (isnan(s->energy.joules))
        return machine_fail(err, MACHINE_CANNOT, "add nj.WIDTH.WEIGHT to section [power] of its model file",
                            "the model file of %s lacks the energy of the instructions that ran", s->model.cpu_name);
    if (source)
        *source = "modelled: section [power] of the model file";
    *out = s->energy;
    return MACHINE_OK;
}

/* The table of events of the modelled CPU, to be freed; NULL: *err says why not. */
static struct events_table *events_of(const struct machine *machine, struct machine_error *err)
{
    const struct model_state *s = machine->state;
    const struct model *m = &s->model;
    struct cpu_identity id = {
        .vendor = "GenuineIntel", .family = m->family, .model = m->model, .stepping = m->stepping};
    struct events_table *table = malloc(sizeof *table);
    snprintf(id.signature, sizeof id.signature, "%02X_%02XH-%u", m->family, m->model, m->stepping);
    if (!table) {
        machine_fail(err, MACHINE_FAILED, "", "out of memory");
    } else if (events_find(s->data_dir[0] ? s->data_dir : NULL, &id, "cpu", table, err) != MACHINE_OK) {
        free(table);
        table = NULL;
    }
    return table;
}

static int model_find_event(const struct machine *machine, const char *name, uint64_t *code, struct machine_error *err)
{
    struct events_table *table = events_of(machine, err);
    if (!table && err->status == MACHINE_CANNOT)
        snprintf(err->remedy, sizeof err->remedy, "give its code: --event 0x28:0x08");
    if (!table)
        return (int)err->status;
    const struct events_entry *e = events_by_name(table, name, err);
    *code = e ? e->code : 0;
    free(table);
    return e ? MACHINE_OK : (int)err->status;
}

static int model_named_events(const struct machine *machine, uint32_t select, struct machine_event *out, size_t max,
                              size_t *n, struct machine_error *err)
{
    struct events_table *table = events_of(machine, err);
    *n = table ? events_by_select(table, select, out, max) : 0;
    free(table);
    return table ? MACHINE_OK : (int)err->status;
}

static void model_close(struct machine *m)
{
    if (!m->state)
        return;
    model_finish(m);
    free(m->state);
    m->state = NULL;
    m->ops = NULL;
}

static uint64_t model_register_tsc(const struct machine *m)
{
    return ((const struct model_state *)m->state)->register_tsc;
}

static const struct machine_ops model_ops = {
    .info = model_info,
    .lacks = model_lacks,
    .prepare = model_prepare,
    .run = model_run,
    .finish = model_finish,
    .close = model_close,
    .read_register = model_register,
    .find_event = model_find_event,
    .named_events = model_named_events,
    .core_kinds = model_core_kinds,
    .read_energy = model_energy,
    .speed_select = model_speed_select,
    .trials = model_trials,
    .first_use = model_first_use,
    .bursts = model_machine_bursts,
};

int machine_open_parsed_model(const struct model *m, const char *name, struct machine *out, struct machine_error *err)
{
    struct model_state *s = calloc(1, sizeof *s);
    if (!s)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory for the model %.60s", name);
    s->model = *m;
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(s->cpu, sizeof s->cpu, "%s (%02X_%02XH, stepping %u)", m->cpu_name, m->family, m->model, m->stepping);
    const char *slash = strrchr(m->file, '/');
    snprintf(s->source, sizeof s->source, "modelled, not measured: a simulated core with the parameters of %s",
             slash ? slash + 1 : m->file);
    snprintf(s->notes, sizeof s->notes, "values marked 'assumed' in the model file are unpublished estimates");
    s->ops = model_ops;
    if (m->stamps_volts)
        s->ops.register_tsc = model_register_tsc;
    *out = (struct machine){.ops = &s->ops, .state = s};
    return MACHINE_OK;
}

int machine_open_model(const char *name_or_file, const char *data_dir, struct machine *out, struct machine_error *err)
{
    struct model *m = malloc(sizeof *m);
    if (!m)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory for the model %.60s", name_or_file);
    int status = model_load(name_or_file, data_dir, m, err);
    if (status == MACHINE_OK) {
        char name[MODEL_TEXT_MAX];
        snprintf(name, sizeof name, "model:%.80s", name_or_file);
        status = machine_open_parsed_model(m, name, out, err);
    }
    if (status == MACHINE_OK && data_dir) {
        struct model_state *s = out->state;
        snprintf(s->data_dir, sizeof s->data_dir, "%s", data_dir);
    }
    free(m);
    return status;
}
