/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine of a modelled CPU: what it has, and all that it answers but repetitions (model_run.c). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/events/events.h"
#include "drivers/model/model_machine.h"
#include "computer/msr/msr_decode.h"
#include "drivers/native/sampling.h"

/* A reading takes some time, even if the model gives none. */
static const double READ_LEAST_US = 1e-3;

/* ---- the machine's description of itself ---- */

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

/* A model has no kinds of cores. */
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

static int check_setup(const struct model_state *s, const struct machine_setup *setup, struct machine_error *err)
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
    int status = check_setup(s, setup, err);
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

/* ---- registers and energy ---- */

/* Bytes of 1ADH and 1AEH, and the units of ratios and of the voltage in 198H (Intel SDM volume 4). */
enum { GROUPS = 8 };
static const double BUS_GHZ = 0.1, VOLTS_UNIT = 0x1p-13;

static uint64_t ratio(double ghz)
{
    return (uint64_t)lround(ghz / BUS_GHZ) & 0xff;
}

static uint64_t perf_status(struct model_core *c)
{
    double volts = model_core_volts(c);
    if (c->model->volts_noise > 0)
        volts += c->model->volts_noise * model_random_normal(&c->streams[MODEL_STREAM_VOLTAGE]);
    return (uint64_t)lround(volts / VOLTS_UNIT) << 32 | ratio(model_core_ghz(c)) << 8;
}

/* Groups beyond the last row repeat it, as the real register does. */
static uint64_t by_group(const struct model *m, bool counts)
{
    uint64_t value = 0;
    for (size_t i = 0; i < GROUPS; i++) {
        const struct model_turbo *t = &m->turbo[i < m->n_turbo ? i : m->n_turbo - 1];
        value |= (counts ? t->cores.hi & 0xff : ratio(t->ghz[0])) << (8 * i);
    }
    return value;
}

static uint64_t by_core(const struct model *m)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < GROUPS && i < m->cores; i++)
        value |= ratio(model_ghz(m, 0, i + 1)) << (8 * i);
    return value;
}

static int no_register(const struct model *m, uint32_t reg, const char *why, struct machine_error *err)
{
    return machine_fail(err, MACHINE_CANNOT,
                        "models have 198H, CEH, 1ADH and 1AEH, with a section [power] also 606H and 611H",
                        "the modelled %s has no such MSR: %XH%s", m->cpu_name, reg, why);
}

static int read_core_register(struct model_core *c, uint32_t reg, uint64_t *value, struct machine_error *err)
{
    const struct model *m = c->model;
    bool groups = m->turbo_layout == MODEL_TURBO_GROUPS;
    if ((reg == MSR_TURBO_RATIOS || reg == MSR_TURBO_RATIOS_1) && groups && m->n_turbo > GROUPS)
        return no_register(m, reg, " (its turbo table has more than 8 rows)", err);
    if (reg == MSR_PERF_STATUS)
        *value = perf_status(c);
    else if (reg == MSR_PLATFORM_INFO)
        *value = ratio(m->base_ghz[0]) << 8;
    else if (reg == MSR_TURBO_RATIOS && groups)
        *value = by_group(m, false);
    else if (reg == MSR_TURBO_RATIOS && m->turbo_layout == MODEL_TURBO_CORES)
        *value = by_core(m);
    else if (reg == MSR_TURBO_RATIOS_1 && groups)
        *value = by_group(m, true);
    else
        return no_register(m, reg, "", err);
    return MACHINE_OK;
}

static int model_speed_select(struct machine *machine, struct rated_limits *out, struct machine_error *err)
{
    const struct model *m = &((const struct model_state *)machine->state)->model;
    if (!m->speed_select || m->n_turbo > MSR_TURBO_ROWS_MAX)
        return machine_fail(err, MACHINE_CANNOT, "speed_select = yes in section [cpu] of its model file",
                            "the modelled %s has no Speed Select", m->cpu_name);
    const bool five = m->n_levels > RATED_BASES; /* the fourth has no base frequency of its own then */
    for (size_t level = 0; level < m->n_levels; level++) {
        struct rated_table *t = &out->tables[level];
        snprintf(t->name, sizeof t->name, "%s", five ? rated_class_names[level] : rated_base_name(level));
        for (t->n = 0; t->n < m->n_turbo; t->n++)
            t->rows[t->n] = (struct msr_turbo_row){m->turbo[t->n].cores.lo, m->turbo[t->n].cores.hi,
                                                   m->turbo[t->n].ghz[level]};
        if (!five || level != RATED_BASES - 1)
            out->base_ghz[level - (level >= RATED_BASES)] = m->base_ghz[level];
        if (m->low_ghz[0] > 0)
            out->high[level] = *t;
        out->low_ghz[level] = m->low_ghz[level];
    }
    out->by_priority = m->low_ghz[0] > 0;
    snprintf(out->source, sizeof out->source, "modelled Speed Select");
    return MACHINE_OK;
}

/* 606H and 611H: energy in units of 2^-14 J, as of Skylake-SP (Intel SDM volume 4), in 32 bits. */
static bool energy_register(const struct model_state *s, uint32_t reg, uint64_t *value)
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
        model_start_core(s, s->prepared ? s->active : s->model.cores, 0);
    s->has_run = true;
    if (energy_register(s, reg, value))
        return MACHINE_OK;
    if (s->model.stamps_volts) { /* nobody reads while the core stands still */
        model_core_idle(&s->core, fmax(s->model.read_delay_us, READ_LEAST_US));
        s->register_tsc = model_tsc_origin(s, s->repetition) + (uint64_t)(s->core.now * s->model.tsc_hz * 1e-6);
    }
    return read_core_register(&s->core, reg, value, err);
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

/* ---- trials ---- */

/* The helper's limit of a masked trial; cycles of a round of the workloads, about; the random numbers' stream; and
 * trials between two calls of stop(). */
enum { MASKED_MOST_US = 5000, ROUND_CYCLES = 15, TRIALS_STREAM = 77, STOP_EVERY = 1000 };

const struct cpu_caches model_caches = {
    .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 22 << 20, .share = (22 << 20) / 16, .memory = UINT64_C(96) << 30};

double model_trial_cycles(const struct machine *m, double trial_us)
{
    const struct model_state *s = m->state;
    return ceil(trial_us * 1000 * model_ghz(&s->model, 0, 1));
}

const double model_ramp_shares[MODEL_RAMP_STEPS] = {0.4, 0.6, 0.8, 1};

/* Cycles of a round. */
static double round_cycles(const struct trials_request *r)
{
    if (r->workload != WORKLOAD_CHASE)
        return ROUND_CYCLES;
    return WORKLOAD_LOADS * (r->bytes <= model_caches.l1   ? MODEL_L1_CYCLES
                             : r->bytes <= model_caches.l2 ? MODEL_L2_CYCLES
                             : r->bytes <= model_caches.l3 ? MODEL_L3_CYCLES
                                                           : MODEL_MEMORY_CYCLES);
}

/* So long after it began to work after idling, us. */
static double ramp_share(double us)
{
    return model_ramp_shares[(size_t)fmin(MODEL_RAMP_STEPS - 1, us / MODEL_RAMP_EVERY_US)];
}

/* The share by which a trial takes longer than a warm one. */
static double longer(const struct trials_request *r, unsigned i, struct model_random *random)
{
    if (r->workload == WORKLOAD_BRANCH && r->before == TRIALS_SPOIL)
        return MODEL_SPOILT + MODEL_SPOILT_SIGMA * model_random_normal(random);
    if (r->workload == WORKLOAD_BRANCH && r->before == TRIALS_IBPB)
        return MODEL_CLEARED;
    if (r->workload == WORKLOAD_BRANCH && i < MODEL_TRIALS_TO_LEARN)
        return (MODEL_TRIALS_TO_LEARN - i) / 1000.0;
    if ((r->workload != WORKLOAD_LOAD && r->workload != WORKLOAD_CHASE) || r->bytes <= model_caches.l1)
        return 0;
    return model_random_normal(random) * (r->bytes <= model_caches.l2   ? MODEL_L2_SIGMA
                                          : r->bytes <= model_caches.l3 ? MODEL_L3_SIGMA
                                                                        : MODEL_MEMORY_SIGMA);
}

int model_trials(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                 struct machine_error *err)
{
    const struct model_state *s = m->state;
    double cycles = model_trial_cycles(m, r->trial_us);
    const double us_per_cycle = r->trial_us / cycles, rounds = ceil(cycles / round_cycles(r));
    struct model_random random;
    double now = 0, due;

    if (!s->prepared || r->trials == 0 || !(r->trial_us > 0))
        return machine_fail(err, MACHINE_FAILED, "", "the modelled CPU was not prepared, or is to run no trial");
    if (r->masked && r->trial_us > MASKED_MOST_US)
        return machine_fail(err, MACHINE_BAD_INPUT, "use a shorter --observe",
                            "with interrupts masked a trial takes %d us at most", MASKED_MOST_US);
    model_random_init(&random, s->setup.seed, 0, TRIALS_STREAM);
    *seen = (struct trials_seen){.cycles = r->idle_ms == 0, .resolution = 1, .rounds = (uint64_t)rounds};
    if (r->workload == WORKLOAD_CHASE)
        cycles = rounds * round_cycles(r);
    due = MODEL_INTERRUPT_EVERY_US * model_random_uniform(&random);
    for (unsigned i = 0; i < r->trials; i++) {
        const double more = rint(cycles * longer(r, i, &random)), slower = r->idle_ms > 0 ? ramp_share(now) : 1;
        if (r->branches)
            r->branches[i] = (struct trial_branches){
                (uint64_t)(cycles / MODEL_BRANCH_CYCLES),
                (uint64_t)(cycles / MODEL_BRANCH_CYCLES / MODEL_MISPREDICTED_ONE_IN +
                           more / MODEL_MISPREDICTED_CYCLES)};
        duration[i] = (cycles + more) / slower;
        now += duration[i] * us_per_cycle;
        for (; now > due; due += MODEL_INTERRUPT_EVERY_US) {
            if (r->masked)
                continue;
            duration[i] += MODEL_INTERRUPT_CYCLES;
            now += MODEL_INTERRUPT_CYCLES * us_per_cycle;
            seen->between.interrupts++;
        }
        if (r->idle_ms > 0)
            duration[i] *= us_per_cycle * 1000;
        if (i % STOP_EVERY == 0 && r->stop && r->stop(r->data))
            return machine_fail(err, MACHINE_FAILED, "", "stopped");
    }
    return MACHINE_OK;
}

/* ---- first uses ---- */

enum { FIRST_USE_STREAM = 79 };
#define FULL_RATE 0.99

/* How long the core is throttled or halted from the first instruction on, after so much scalar code, us: the license
 * may have lapsed. Undisturbed. NaN: for longer than is observed. 0 of code of which the model has no rate. */
static double licensed_after(const struct model_state *s, const struct first_use_request *r)
{
    const struct payload scalar = kernel_named("64add"), *const runs[] = {&r->warm, &scalar, &r->warm};
    const double lasts_us[] = {r->warm_us, r->idle_us, 0};
    struct machine_error unused;
    struct model_core c;
    model_core_start(&c, &s->model, s->active, s->setup.seed, r->repetition);
    for (size_t i = 0; i < s->model.n_interrupts; i++)
        c.interrupt_next[i] = INFINITY;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        if (model_core_run(&c, runs[i], &unused) != MACHINE_OK)
            return 0;
        model_core_advance(&c, c.now + lasts_us[i], INFINITY);
    }
    const double begin = c.now, end = begin + r->observe_us;
    double us = 0;
    bool slow = false;
    while (c.now < end) {
        slow = c.pending || c.halted || model_ramp_fade(&c) < FULL_RATE;
        model_core_advance(&c, fmin(model_core_event(&c), end), INFINITY);
        us = slow ? c.now - begin : us;
    }
    return slow ? NAN : us;
}

static int model_first_use(struct machine *m, const struct first_use_request *r, struct first_use_seen *out,
                           struct machine_error *err)
{
    const struct model_state *s = m->state;
    struct model_wake_stage in = {0, 0, 0};
    struct model_random random;

    if (!s->prepared || !r->warm.kernel)
        return machine_fail(err, MACHINE_FAILED, "", "the modelled CPU was not prepared");
    for (size_t i = 0; i < s->model.n_wakes; i++)
        for (size_t k = 0; s->model.wakes[i].width == r->warm.kernel->width && k < s->model.wakes[i].n; k++)
            if (r->idle_us >= s->model.wakes[i].stage[k].idle_us)
                in = s->model.wakes[i].stage[k];
    const double licensed_us = licensed_after(s, r);
    model_random_init(&random, s->setup.seed, r->repetition, FIRST_USE_STREAM);
    double read = MODEL_FIRST_READ_NS * 1e-3, step = model_step_ticks(&s->model) / s->model.tsc_hz * 1e6;
    double first = (read + in.first_us) * exp(MODEL_TIME_NOISE * model_random_normal(&random));
    if (model_random_uniform(&random) < MODEL_TIME_OUTLIERS)
        first += 5 + 20 * model_random_uniform(&random);
    double full = in.full_rate_us * exp(MODEL_TIME_NOISE * model_random_normal(&random));
    *out = (struct first_use_seen){.idle_us = r->idle_us,
                                   .first_us = step * fmax(1, rint(first / step)),
                                   .full_rate_us = isnan(licensed_us) ? NAN : fmax(fmax(first, licensed_us), full),
                                   .read_us = read};
    return MACHINE_OK;
}

/* ---- open and close ---- */

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
    .bursts = model_bursts,
    .switching = model_switching,
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
