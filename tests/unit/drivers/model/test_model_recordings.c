/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the modelled machine records does not change unnoticed: every counter of every sample, and then its registers
 * and its energy, for switches of all kinds, numbers of cores, disturbances, ramps and clocks. The counts are held in
 * tests/golden/machine/, which `make golden` rewrites.
 */
#include <inttypes.h>

#include "tests/support/clock_models.h"
#include "tests/support/golden.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

enum { SEGMENTS_MOST = 8 };

struct series {
    const char *name, *model;
    void (*change)(struct model *m);
    /* KERNEL:US in turn, US with * where it is sampled; before the one that begins at time 0 there is an = */
    const char *code;
    unsigned cores, repetitions;
    double period_us, fixed_ghz;
    int cpu;
};

/* ---- models ---- */

static int class_of(const struct model *m, const char *name)
{
    int i = model_class_index(m, name);
    assert_true(i >= 0);
    return i;
}

/* Nothing of it scatters the rest: the streams of random numbers are separate. */
static void noises(struct model *m)
{
    m->noise_cycles = 7;
    m->clock_jitter_ns = 12;
    m->split_read_ns = 40;
    m->spread = 0.01;
    m->frequency_noise = 0.002;
    m->volts_noise = 0.004;
    m->throttle_sigma_us = 2;
    m->halt_sigma_us = 1;
    m->wait_sigma_us = 9;
}

static void neighbours(struct model *m)
{
    m->n_interrupts = 2;
    m->interrupts[0] = (struct model_interrupt){.rate_hz = 9000, .min_us = 2, .max_us = 6};
    m->interrupts[1] = (struct model_interrupt){
        .rate_hz = 2000, .min_us = 10, .max_us = 30, .rearm = 0.5, .taken_off = 0.3};
    m->world.sibling = (struct model_sibling){
        .share = 0.2, .period_us = 90, .factor = 0.7, .chain_factor = 0.85, .lockstep = false};
    m->world.smi_rate_hz = 3000;
    m->world.smi_min_us = 5;
    m->world.smi_max_us = 20;
}

static void lockstep(struct model *m)
{
    m->n_interrupts = 0;
    m->world.sibling = (struct model_sibling){.share = 0.3, .period_us = 47, .factor = 0.6, .lockstep = true};
    m->world.cold_us = 4;
    m->world.cold_factor = 0.5;
}

/* From repetition to repetition. */
static void wandering(struct model *m)
{
    m->world.wander = (struct model_wander){.sigma = {0.02, 0.01}, .us = {5000, 200}};
    m->world.limit_share = 0.5;
    m->world.limit_factor = 0.9;
    m->world.carries = true;
    m->world.gap_us = 300;
}

static void in_the_kernel(struct model *m)
{
    neighbours(m);
    m->world.smi_rate_hz = 0;
    m->counts_kernel_mode = false;
    m->licenses_of_core = true;
}

static void kernel_counted(struct model *m)
{
    in_the_kernel(m);
    m->counts_kernel_mode = true;
    m->licenses_of_core = false;
}

static void ramping(struct model *m)
{
    m->halt_us = m->halt_sigma_us = 0;
    m->release_tau_us = 30;
    for (unsigned from = 0; from < m->n_classes; from++)
        for (unsigned to = from + 1; to < m->n_classes; to++)
            for (size_t k = 0; k < m->transitions[from][to].n_steps; k++)
                if (m->transitions[from][to].steps[k].kind == MODEL_STEP_GRANT)
                    m->transitions[from][to].steps[k].tau_us = 25;
}

/* Throttling that fades while the grants proceed, to each level at a rate of its own. */
static void fading(struct model *m)
{
    for (unsigned from = 0; from < m->n_classes; from++)
        for (unsigned to = from + 1; to < m->n_classes; to++) {
            struct model_transition *t = &m->transitions[from][to];
            assert_true(t->n_steps < MODEL_STEPS_MAX);
            memmove(&t->steps[1], &t->steps[0], t->n_steps++ * sizeof *t->steps);
            t->steps[0] = (struct model_step){
                .kind = MODEL_STEP_FADE, .ratio = 0.4 + 0.1 * to, .tau_us = 20 + 9 * from};
        }
}

/* The voltage takes its time, is boosted while a transition is under way, and is read with a stamp. */
static void voltages(struct model *m)
{
    m->volts_ramp_us = 60;
    m->stamps_volts = true;
    m->read_delay_us = 2.5;
    m->corunners_boosted = true;
    m->boosts[m->n_boosts++] = (struct model_boost){
        .from = 0, .to = (unsigned)class_of(m, "heavy512"), .cores = {1, 4}, .volts = 0.08};
    m->boosts[m->n_boosts++] = (struct model_boost){
        .from = 0, .to = (unsigned)class_of(m, "heavy256"), .cores = {3, 16}, .volts = 0.03, .at_end = true};
}

static void chains(struct model *m)
{
    clock_model(m, CLOCK_HALT, 0);
    m->clock_jitter_ns = 5;
    m->chain_cost_sigma = 3;
}

static void coarse_chains(struct model *m)
{
    clock_model(m, CLOCK_THROTTLE, 10);
    m->world.sibling = (struct model_sibling){.share = 0.3, .period_us = 60, .factor = 0.7, .chain_factor = 0.8};
}

static void waits_for_long(struct model *m)
{
    m->n_interrupts = 1;
    m->interrupts[0] = (struct model_interrupt){.rate_hz = 2500, .min_us = 1, .max_us = 1, .rearm = 1};
    for (size_t i = 0; i < m->n_classes; i++)
        m->classes[i].wait_double = 0.5;
}

static void unlike(struct model *m)
{
    m->unlike[m->n_unlike++] = (struct model_unlike){.cpus = {3, 5}, .factor = 0.9, .label = "slow"};
}

static void throttles_all(struct model *m)
{
    m->throttle_distance = 0;
}

#define GOLD "xeon-gold-6130"
static const struct series all_series[] = {
    {"light256", GOLD, NULL, "128fma:300 =256or:120* 64add:30*", 5, 1, 10, 0, -1},
    {"heavy256", GOLD, NULL, "128fma:300 =256fma:180* 64add:30*", 1, 1, 10, 0, -1},
    {"light512", GOLD, NULL, "128fma:300 =512add:100* 64add:30*", 2, 1, 10, 0, -1},
    {"heavy512", GOLD, NULL, "128fma:300 64add:20* =512fma:120* 64add:30*", 0, 1, 10, 0, -1},
    {"heavy512-3", GOLD, noises, "128fma:30* =512fma:150*", 3, 2, 10, 0, -1},
    {"raised", GOLD, NULL, "64add:300 =256or:12* 256fma:25* 512or:10* 512fma:120*", 9, 1, 10, 0, -1},
    {"raised-late", GOLD, NULL, "64add:300 =256fma:90* 512fma:60* 256fma:60*", 13, 1, 10, 0, -1},
    {"released", GOLD, NULL, "64add:9 =512fma:200 64add:640 64add:60*", 16, 2, 5, 0, -1},
    {"released-by-one", GOLD, NULL, "64add:9 =512fma:200 256fma:640 256fma:60* 64add:640 64add:60*", 8, 1, 10, 0, -1},
    {"density", GOLD, NULL, "64add:99 =256fma@1/2:60* 512fma@1/4:60* 512fma@1/64:60* 512or-chain@1/8:40*", 4, 1, 10, 0,
     -1},
    {"latency", GOLD, NULL, "64add-lat:99 =512fma-lat:60* 128mul-lat:30* 64mul:30* pause:30*", 4, 1, 10, 0, -1},
    {"dirty", GOLD, NULL, "64add:99 =512add-dirty:60* 64add:40* 256or-dirty:20* 512or:20* 64add:20*", 4, 1, 10, 0, -1},
    {"mixture", GOLD, NULL, "64add:99 =128fma:5* 256add:5* 128fma:5* 256add:5* 128fma:5* 256add:120*", 12, 1, 5, 0, -1},
    {"mixture-512", GOLD, NULL, "64add:99 =512add:60* 256fma:15* 512add:3* 256fma:5* 512add:5* 256fma:90*", 12, 1, 8, 0,
     -1},
    {"fixed", GOLD, NULL, "64add:99 =512fma:120*", 2, 1, 10, 2.2, -1},
    {"unlike", GOLD, unlike, "64add:99 =512fma:120*", 2, 1, 10, 0, 4},
    {"like", GOLD, unlike, "64add:99 =512fma:60*", 2, 1, 10, 0, 6},
    {"throttles-all", GOLD, throttles_all, "64add:99 =256fma@1/64:40* 64add:40*", 2, 1, 10, 0, -1},
    {"not-sampled", GOLD, NULL, "64add:20* =512fma:120", 7, 1, 10, 0, -1},
    {"short-period", GOLD, NULL, "64add:99 =512fma:3*", 7, 1, 0.15, 0, -1},
    {"zero-duration", GOLD, NULL, "64add:0 =512fma:0* 64add:30*", 7, 1, 4, 0, -1},
    {"neighbours", GOLD, neighbours, "64add:99 =512fma:250*", 7, 3, 15, 0, -1},
    {"lockstep", GOLD, lockstep, "64add:99 =128fma:90* 128mul:90*", 7, 1, 6, 0, -1},
    {"wandering", GOLD, wandering, "64add:99 =128fma:90* 512fma:120*", 7, 4, 20, 0, -1},
    {"in-the-kernel", GOLD, in_the_kernel, "64add:99 =512fma:250*", 7, 1, 15, 0, -1},
    {"kernel-counted", GOLD, kernel_counted, "64add:99 =512fma:250*", 7, 1, 15, 0, -1},
    {"waits-for-long", GOLD, waits_for_long, "512or:300 =64add:1500*", 7, 3, 150, 0, -1},
    {"ramping", GOLD, ramping, "64add:99 =512fma:150* 64add:560 64add:150*", 16, 1, 15, 0, -1},
    {"ramping-256", GOLD, ramping, "64add:99 =256fma:120* 512fma:70* 128fma:20*", 10, 1, 8, 0, -1},
    {"fading", GOLD, fading, "64add:99 =512fma:150* 64add:700 256or:20* 256fma:150*", 3, 2, 10, 0, -1},
    {"fading-256", GOLD, fading, "64add:99 =256or:60* 512or:90* 64add:40*", 3, 1, 10, 0, -1},
    {"voltages", GOLD, voltages, "64add:99 =512fma:70*", 3, 1, 10, 0, -1},
    {"voltages-all", GOLD, voltages, "64add:99 =256fma:200*", 6, 1, 20, 0, -1},
    {"voltages-rise", GOLD, voltages, "512fma:200 =64add:690* 64add:60*", 4, 1, 50, 0, -1},
    {"voltages-called-off", GOLD, voltages, "512fma:200 =64add:690* 512fma:90*", 4, 1, 50, 0, -1},
    {"chains", GOLD, chains, "64add:99 =512fma:60*", 2, 2, 5, 0, -1},
    {"coarse-chains", GOLD, coarse_chains, "64add:99 =512fma:60*", 2, 2, 5, 0, -1},
    {"w-2104", "xeon-w-2104", NULL, "64add:99 =512fma:120* 64add:40*", 2, 1, 10, 0, -1},
    {"i9-7940x", "core-i9-7940x", NULL, "64add:99 =512fma:120* 64add:40*", 3, 1, 10, 0, -1},
    {"i7-6700hq", "core-i7-6700hq", NULL, "64add:99 =256fma:90* 64add:40*", 3, 1, 10, 0, -1},
    {"i5-1035g4", "core-i5-1035g4", NULL, "64add:99 =512fma:90* 64add:40*", 3, 1, 10, 0, -1},
    {"i9-11900k", "core-i9-11900k", NULL, "64add:99 =512fma:60* 64add:40*", 5, 1, 10, 0, -1},
    {"grows", "xeon-gold-6130", NULL, "64add:99 64add:11* fine:15.3 =512fma:120*", 2, 2, 2, 0, -1},
    {"grows to its end", "xeon-gold-6130", NULL, "64add:99 fine:600 =64mul:16000*", 2, 1, 200, 0, -1},
    {"grows no more", "xeon-gold-6130", NULL, "64add:99 fine:500 =64mul:4000*", 2, 1, 300, 0, -1},
    {"no-licence", "generic-no-licence", NULL, "64add:99 =512fma:60*", 1, 1, 10, 0, -1},
};

/* ---- running ---- */

static struct payload payloads[SEGMENTS_MOST];

static void parse_code(const char *code, struct segment segments[SEGMENTS_MOST], struct run_request *r)
{
    char text[200], *rest = NULL;
    assert_true(strlen(code) < sizeof text);
    strcpy(text, code);
    *r = (struct run_request){.segments = segments};
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (strncmp(word, "fine:", 5) == 0) { /* the period grows from then on */
            r->fine_us = strtod(word + 5, NULL);
            continue;
        }
        size_t i = r->n_segments++;
        assert_true(i < SEGMENTS_MOST);
        char *colon = strchr(word, ':'), *end;
        if (*word == '=')
            r->zero_segment = i;
        *colon = '\0';
        payloads[i] = rig_payload(word + (*word == '='));
        segments[i] = (struct segment){.payload = payloads[i], .duration_us = strtod(colon + 1, &end)};
        segments[i].sampled = *end == '*';
    }
}

static size_t choose_counters(struct machine *m, struct counter_spec *out)
{
    static const struct counter_spec wanted[] = {
        {COUNTER_CYCLES, 0},       {COUNTER_REF_CYCLES, 0}, {COUNTER_INSTRUCTIONS, 0}, {COUNTER_CHAIN_TICKS, 0},
        {COUNTER_CHAIN_CYCLES, 0}, {COUNTER_READ_TICKS, 0}, {COUNTER_LVL0, 0},         {COUNTER_LVL1, 0},
        {COUNTER_LVL2, 0},         {COUNTER_THROTTLE, 0},   {COUNTER_EVENT, 0x0428},   {COUNTER_EVENT, 0x5028},
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!m->ops->lacks(m, wanted[i].id, NULL))
            out[n++] = wanted[i];
    return n;
}

/* By how much each word grew; the first reading against time 0. */
static void write_recording(FILE *out, const struct recording *r)
{
    fprintf(out, "%zu readings, time 0 at %zu", r->n, r->zero_reading);
    if (r->involuntary_switches)
        fprintf(out, ", taken off %u times", r->involuntary_switches);
    fputc('\n', out);
    for (size_t i = 0; i < r->n; i++) {
        const uint64_t *now = recording_at(r, i);
        fprintf(out, "%" PRId64, (int64_t)(now[0] - (i ? recording_at(r, i - 1)[0] : r->zero_tsc)));
        for (size_t k = 1; k < r->stride; k++)
            fprintf(out, " %" PRIu64, now[k] - (i ? recording_at(r, i - 1)[k] : 0));
        fputc('\n', out);
    }
}

static void write_registers(FILE *out, struct machine *m, const struct recording *r)
{
    static const uint32_t registers[] = {0x198, 0xce, 0x1ad, 0x1ae, 0x606, 0x611};
    struct machine_error err;
    struct energy_reading energy;
    uint64_t value;
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
        if (m->ops->read_register(m, registers[i], &value, &err) == MACHINE_OK)
            fprintf(out, " %X=%" PRIX64, registers[i], value);
    if (m->ops->register_tsc)
        fprintf(out, " at %" PRId64, (int64_t)(m->ops->register_tsc(m) - r->zero_tsc));
    if (m->ops->read_energy(m, &energy, NULL, &err) == MACHINE_OK)
        fprintf(out, " %.9f J %.9f s", energy.joules, energy.seconds);
    fputc('\n', out);
}

static void write_series(FILE *out, const struct series *s)
{
    static struct model model;
    struct machine machine;
    struct machine_error err;
    struct counter_spec counters[MACHINE_COUNTERS_MAX];
    struct segment segments[SEGMENTS_MOST];
    struct run_request request;
    struct recording recording;
    rig_load(s->model, &model);
    if (s->change)
        s->change(&model);
    if (machine_open_parsed_model(&model, "model:test", &machine, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    struct machine_setup setup = {.cpu = s->cpu, .active_cores = s->cores, .period_us = s->period_us, .seed = 11};
    setup.fixed_ghz = s->fixed_ghz;
    setup.max_samples = 1000;
    setup.counters = counters;
    setup.n_counters = choose_counters(&machine, counters);
    if (machine.ops->prepare(&machine, &setup, &err) != MACHINE_OK)
        fail_msg("%s: %s", s->name, err.text);
    parse_code(s->code, segments, &request);
    for (unsigned i = 0; i < s->repetitions; i++) {
        request.repetition = i;
        if (machine.ops->run(&machine, &request, &recording, &err) != MACHINE_OK)
            fail_msg("%s: %s", s->name, err.text);
        fprintf(out, "\n%s: %s\n", s->name, s->code);
        write_recording(out, &recording);
        write_registers(out, &machine, &recording);
    }
    machine.ops->finish(&machine);
    machine.ops->close(&machine);
}

TEST(recordings)
{
    struct golden g;
    FILE *out = golden_begin(&g);
    fputs("# by how much each word of each reading grew: TSC, payload instructions, counters\n", out);
    for (size_t i = 0; i < sizeof all_series / sizeof *all_series; i++)
        write_series(out, &all_series[i]);
    golden_expect(&g, "machine/recordings", "txt", false);
}
