/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/random_model.h"

/* cmocka needs the four above first */
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { CLASSES_MAX = 5, GROUPS_MAX = 5, KINDS = 4 };
/* Kinds of wide code in the order of their demand. */
enum kind { LIGHT256, HEAVY256, LIGHT512, HEAVY512 };

/* The surroundings of the processor in a scenario; all 0 and false: none. */
struct surroundings {
    struct rng rng; /* of its own: what it draws leaves the processor as it is */
    bool no_counters, ramps, gradual_volts, core_counts, alone_boosts;
    bool three_alike; /* three classes share level 0, two of them a bit of its umask */
    double release_tau, step_ns;
};

struct draft {
    struct rng rng;
    struct surroundings scenario;
    char *out;
    size_t used;
    unsigned cores, n_levels, n_classes, level[CLASSES_MAX];
    bool wide;             /* has 512 bits */
    bool wild;             /* wherever the format allows, see wild_model() */
    unsigned needs[KINDS]; /* classes */
    double first_ratio, first_us;
};

__attribute__((format(printf, 2, 3))) static void put(struct draft *d, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(d->out + d->used, RANDOM_MODEL_TEXT - d->used, format, arguments);
    va_end(arguments);
    d->used += n > 0 ? (size_t)n : 0;
    if (d->used >= RANDOM_MODEL_TEXT)
        fail_msg("the text of a random model needs more room");
}

/* A line of a section; every figure has the same source. */
#define LINE(d, format, ...) put(d, format " # drawn at random\n", __VA_ARGS__)

static void draw_cpu(struct draft *d, uint64_t seed)
{
    struct rng *r = &d->rng;
    d->cores = (unsigned)rng_int(r, 2, 24);
    d->n_levels = (unsigned)(rng_chance(r, 0.15) ? 1 : rng_int(r, 2, 3));
    d->wide = d->n_levels == 3 || rng_chance(r, 0.8);
    put(d, "format = characterize-model/1\n[cpu]\n");
    LINE(d, "name = Random CPU %llu", (unsigned long long)seed);
    LINE(d, "family = %d", 6);
    LINE(d, "model = %d", 85);
    LINE(d, "stepping = %d", 4);
    LINE(d, "features = avx avx2 fma%s", d->wide ? " avx512f" : "");
    LINE(d, "tsc_hz = %d00000000", rng_int(r, 16, 32));
    LINE(d, "cores = %u", d->cores);
    LINE(d, "turbo_layout = %s", "groups");
}

/* One frequency for each level, each at least 3 % below the one before. */
static void put_ghz(struct draft *d, double top)
{
    for (unsigned i = 0; i < d->n_levels; i++) {
        put(d, " %.3f", top);
        top *= rng_range(&d->rng, 0.75, 0.96);
    }
    put(d, " # drawn at random\n");
}

static void draw_levels(struct draft *d)
{
    unsigned groups = (unsigned)rng_int(&d->rng, 1, d->cores < GROUPS_MAX ? (int)d->cores : GROUPS_MAX), first = 1;
    double top = rng_range(&d->rng, 3.2, 4.5);
    put(d, "[levels]\nbase_ghz =");
    put_ghz(d, 1.6);
    for (unsigned g = 0; g < groups; g++) {
        unsigned last = g + 1 == groups ? d->cores
                                        : (unsigned)rng_int(&d->rng, (int)first, (int)(d->cores - (groups - 1 - g)));
        put(d, "turbo_ghz.%u-%u =", first, last);
        put_ghz(d, top);
        top *= rng_range(&d->rng, 0.85, 0.96);
        first = last + 1;
    }
}

/* Which class each kind needs: no kind less than the one before, no class left out, the last class for the last. */
static void draw_needs(struct draft *d)
{
    unsigned kinds = d->wide ? KINDS : 2, class_ = 0;
    for (unsigned k = 0; k < kinds; k++) {
        unsigned left = kinds - 1 - k, missing = d->n_classes - 1 - class_;
        if (missing > left || (missing > 0 && rng_chance(&d->rng, 0.7)))
            class_++;
        d->needs[k] = class_;
    }
}

static void draw_classes(struct draft *d)
{
    /* bits of event 28H: three levels of two, two and one */
    static const unsigned umasks[MODEL_LEVELS_MAX][2] = {{0x02, 0x04}, {0x08, 0x10}, {0x20, 0}};
    unsigned most = d->wide ? CLASSES_MAX : 3;
    for (unsigned level = 0; level < d->n_levels; level++) {
        unsigned n = level < 2 && rng_chance(&d->rng, 0.6) ? 2 : 1;
        if (level == 0 && d->scenario.three_alike)
            n = 3;
        unsigned levels_left = d->n_levels - 1 - level;
        for (unsigned i = 0; i < n && d->n_classes + levels_left < most; i++) {
            put(d, "[class c%u]\n", d->n_classes);
            LINE(d, "level = %u", level);
            LINE(d, "umask = 0x%02x", d->scenario.no_counters ? 0 : umasks[level][i > 0]);
            if (d->n_classes > 0 && rng_chance(&d->rng, 0.2))
                LINE(d, "wait_double = %.2f", rng_range(&d->rng, 0.05, d->wild ? 0.4 : 0.2));
            d->level[d->n_classes++] = level;
        }
    }
    draw_needs(d);
}

static void put_demand(struct draft *d, unsigned width, bool heavy, unsigned class_, unsigned below)
{
    put(d, "[demand %u %s]\n", width, heavy ? "heavy" : "light");
    LINE(d, "class = c%u", class_);
    if (!heavy || below >= class_ || rng_chance(&d->rng, 0.2))
        return;
    LINE(d, "rate = %.2f", rng_range(&d->rng, 0.25, 0.8));
    if (rng_chance(&d->rng, 0.5)) {
        LINE(d, "count = %.0f", rng_log(&d->rng, d->wild ? 1000 : 60000, 100000));
        LINE(d, "count_sigma = %.3f", rng_range(&d->rng, 0, d->wild ? 0.2 : 0.05));
    }
    LINE(d, "below = c%u", below);
}

static void draw_demands(struct draft *d)
{
    const unsigned *n = d->needs;
    put_demand(d, 256, false, n[LIGHT256], 0);
    put_demand(d, 256, true, n[HEAVY256], n[LIGHT256]);
    if (!d->wide)
        return;
    put_demand(d, 512, false, n[LIGHT512], 0);
    put_demand(d, 512, true, n[HEAVY512], n[LIGHT512]);
    if (n[HEAVY512] > n[LIGHT512] && rng_chance(&d->rng, 0.6)) {
        put(d, "[mixture 256 heavy 512 light]\n");
        LINE(d, "class = c%u", n[HEAVY512]);
        LINE(d, "switches = %d", rng_int(&d->rng, 2, 4));
        LINE(d, "window_us = %d", rng_int(&d->rng, 15, 40));
    }
    if (rng_chance(&d->rng, 0.6)) {
        put(d, "[dirty 512]\n");
        LINE(d, "class = c%u", n[LIGHT512]);
    }
}

static void put_throttle(struct draft *d, unsigned step, double ratio, double us, bool varies)
{
    LINE(d, "step.%u = throttle %.3f %.2f", step, ratio, us);
    if (varies)
        LINE(d, "step.%u.cores.1-%u = throttle %.3f %.2f", step, d->cores / 2, ratio, us * 1.5);
}

static void put_grant(struct draft *d, unsigned step, unsigned class_)
{
    if (d->scenario.ramps)
        LINE(d, "step.%u = ramp c%u %.1f", step, class_, rng_log(&d->scenario.rng, 3, 100));
    else
        LINE(d, "step.%u = grant c%u", step, class_);
}

/* Throttled, granted, or granted by way of a class between, with a second throttled stretch or without. */
static void draw_transition(struct draft *d, unsigned from, unsigned to, bool varies)
{
    unsigned step = 1;
    put(d, "[transition c%u c%u]\n", from, to);
    if (d->first_us > 0)
        put_throttle(d, step++, d->first_ratio, d->first_us, varies);
    if (to - from > 1 && rng_chance(&d->rng, 0.5))
        put_grant(d, step++, from + 1);
    if (rng_chance(&d->rng, 0.5) && d->first_us > 0)
        put_throttle(d, step++,
                     d->wild ? rng_range(&d->rng, d->first_ratio, 0.95)
                             : rng_range(&d->rng, fmax(0.3, 1.2 * d->first_ratio), 0.65),
                     rng_range(&d->rng, d->wild ? 1.5 : 5, 30), false);
    put_grant(d, step, to);
}

static void draw_transitions(struct draft *d)
{
    struct rng *r = &d->rng;
    bool varies = rng_chance(r, 0.5);
    d->first_ratio = rng_range(r, 0.2, 0.5);
    d->first_us = rng_range(r, 6, 30);
    if (d->wild) {
        d->first_ratio = rng_range(r, 0.2, 0.95);
        d->first_us = rng_chance(r, 0.15) ? 0 : rng_log(r, 1.5, 40);
    }
    for (unsigned from = 0; from < d->n_classes; from++)
        for (unsigned to = from + 1; to < d->n_classes; to++)
            draw_transition(d, from, to, varies);
    put(d, "[timing]\n");
    double halt = rng_chance(r, 0.15) ? 0 : rng_range(r, 4, 18);
    LINE(d, "halt_us = %.2f", halt);
    LINE(d, "halt_sigma_us = %.2f", halt / 50);
    LINE(d, "throttle_sigma_us = %.2f", rng_range(r, 0.1, 0.4));
    LINE(d, "wait_us = %.1f", d->wild ? rng_log(r, 120, 2000) : rng_range(r, 300, 900));
    LINE(d, "wait_sigma_us = %.1f", rng_range(r, 0, d->wild ? 15 : 4));
    LINE(d, "throttle_distance = %d", d->wild && rng_chance(r, 0.2) ? 0 : rng_int(r, 30, 150));
    if (d->scenario.release_tau > 0)
        LINE(d, "release_tau_us = %.2f", d->scenario.release_tau);
}

static void draw_voltage(struct draft *d)
{
    double ghz = 0.8, volts = rng_range(&d->rng, 0.6, 0.75);
    put(d, "[voltage]\n");
    for (int i = 1; i <= 5; i++) {
        LINE(d, "point.%d = %.2f %.4f", i, ghz, volts);
        ghz += rng_range(&d->rng, 0.7, 1.1);
        volts += rng_range(&d->rng, 0.03, 0.12);
    }
    LINE(d, "noise_volts = %.4f", rng_range(&d->rng, 0.0002, 0.001));
    if (d->scenario.gradual_volts) {
        LINE(d, "ramp_us = %.1f", rng_log(&d->scenario.rng, 1, 30));
        LINE(d, "read_delay_us = %.2f", rng_range(&d->scenario.rng, 0, 3));
    }
    if (d->n_classes > 1 && rng_chance(&d->rng, 0.5)) {
        put(d, "[boost c0 c%u]\n", d->n_classes - 1);
        LINE(d, "cores = 1-%u", d->cores);
        LINE(d, "volts = %.3f", rng_range(&d->rng, 0.005, 0.03));
        LINE(d, "at = %s", rng_chance(&d->rng, 0.5) ? "start" : "end");
    }
}

static void draw_rates(struct draft *d)
{
    static const char *const kernels[] = {"64fma",  "128fma", "256fma", "512fma", "64or",   "128or",  "256or", "512or",
                                          "128add", "256add", "512add", "64mul",  "128mul", "256mul", "512mul"};
    put(d, "[ipc]\n");
    LINE(d, "issue_width = %d", rng_int(&d->rng, 4, 6));
    LINE(d, "loop_instructions = %d", 2);
    LINE(d, "64add = %d 1", 4);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        LINE(d, "%s = %d %d", kernels[i], rng_int(&d->rng, 2, 3), rng_int(&d->rng, 1, 5));
    LINE(d, "256perm = %d 3", 1);
    LINE(d, "512perm = %d 3", 1);
    LINE(d, "chain = %d 1", 1);
    LINE(d, "pause = 1/%d 140", 140);
}

static void draw_power(struct draft *d)
{
    static const char *const kinds[] = {"64.light",  "64.heavy",  "128.light", "128.heavy",
                                        "256.light", "256.heavy", "512.light", "512.heavy"};
    double nj = rng_range(&d->rng, 0.05, 0.2);
    put(d, "[power]\n");
    LINE(d, "idle_watts = %.1f", rng_range(&d->rng, 5, 60));
    LINE(d, "cycle_nj = %.2f", rng_range(&d->rng, 0.2, 1));
    LINE(d, "companion_boosts = %s", d->scenario.alone_boosts ? "no" : "yes");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        LINE(d, "nj.%s = %.4f", kinds[i], nj);
        nj *= rng_range(&d->rng, 1.1, 1.5);
    }
}

/* Interrupts of any kind, and counters and clocks as bad as they come. */
static void draw_wild_rest(struct draft *d)
{
    struct rng *r = &d->rng;
    bool throttle = rng_chance(r, 0.8), counted = !d->scenario.no_counters;
    put(d, "[pmu]\n");
    LINE(d, "licences = %s", counted ? "yes" : "no");
    LINE(d, "throttle = %s", counted && throttle ? "yes" : "no");
    LINE(d, "counts = %s", rng_chance(r, 0.5) ? "user" : "all");
    LINE(d, "noise_cycles = %d", rng_int(r, 0, 6));
    if (!counted)
        LINE(d, "counters = %s", "no");
    else if (d->scenario.core_counts)
        LINE(d, "licences_of_core = %s", "yes");
    put(d, "[clock]\n");
    if (d->scenario.step_ns > 0)
        LINE(d, "tsc_step_ns = %.0f", d->scenario.step_ns);
    LINE(d, "jitter_ns = %.1f", (d->scenario.no_counters ? 0.2 : 1) * rng_range(r, 0, 25));
    LINE(d, "split_read_ns = %d", rng_int(r, 0, 60));
    LINE(d, "spread = %.4f", rng_chance(r, 0.3) ? rng_range(r, 0.001, 0.006) : 0);
    LINE(d, "spread_period_us = %.1f", rng_range(r, 25, 40));
    LINE(d, "frequency_noise = %.4f", rng_range(r, 0, 0.002));
    put(d, "[interrupt timer]\n");
    LINE(d, "rate_hz = %.0f", rng_log(r, 100, 1000));
    LINE(d, "min_us = %d", 1);
    LINE(d, "max_us = %d", rng_int(r, 3, 20));
    LINE(d, "rearm = %d", rng_chance(r, 0.5));
    LINE(d, "taken_off = %d", 0);
    if (rng_chance(r, 0.5)) {
        put(d, "[interrupt smi]\n");
        LINE(d, "rate_hz = %.1f", rng_range(r, 0.5, 8));
        LINE(d, "min_us = %d", 40);
        LINE(d, "max_us = %d", rng_int(r, 60, 200));
        LINE(d, "rearm = %d", 0);
        LINE(d, "taken_off = %d", 0);
    }
}

static void draw_rest(struct draft *d)
{
    struct rng *r = &d->rng;
    put(d, "[pmu]\n");
    LINE(d, "licences = %s", "yes");
    LINE(d, "throttle = %s", "yes");
    LINE(d, "counts = %s", "user");
    LINE(d, "noise_cycles = %d", rng_int(r, 0, 2));
    put(d, "[clock]\n");
    LINE(d, "jitter_ns = %.1f", rng_range(r, 0, 2));
    LINE(d, "split_read_ns = %d", rng_int(r, 0, 30));
    LINE(d, "spread = %.4f", rng_chance(r, 0.3) ? rng_range(r, 0.001, 0.006) : 0);
    LINE(d, "spread_period_us = %.1f", rng_range(r, 30, 33));
    LINE(d, "frequency_noise = %.4f", rng_range(r, 0, 0.001));
    put(d, "[interrupt timer]\n");
    LINE(d, "rate_hz = %d", rng_chance(r, 0.5) ? 250 : 100);
    LINE(d, "min_us = %d", 2);
    LINE(d, "max_us = %d", rng_int(r, 4, 10));
    LINE(d, "rearm = %d", 1);
    LINE(d, "taken_off = %d", 0);
}

/* Draws the other sections of a scenario's model. */
static void draw_scenario(struct draft *d, uint64_t seed)
{
    static const double steps_ns[] = {1, 10, 25};
    struct surroundings *w = &d->scenario;
    rng_init(&w->rng, seed, 0x776f726c64u);
    w->no_counters = rng_chance(&w->rng, 0.25);
    double step = steps_ns[rng_int(&w->rng, 0, 2)];
    w->step_ns = w->no_counters || rng_chance(&w->rng, 0.2) ? step : 0;
    double tau = rng_log(&w->rng, 1, 300);
    w->release_tau = rng_chance(&w->rng, 0.25) ? tau : 0;
    w->ramps = rng_chance(&w->rng, 0.15);
    w->gradual_volts = rng_chance(&w->rng, 0.25);
    w->core_counts = rng_chance(&w->rng, 0.2);
    w->alone_boosts = rng_chance(&w->rng, 0.5);
    w->three_alike = rng_chance(&w->rng, 0.15);
}

static void draw_neighbour(struct draft *d)
{
    struct rng *r = &d->scenario.rng;
    put(d, "[sibling]\n");
    LINE(d, "share = %.2f", rng_range(r, 0.05, 0.6));
    LINE(d, "period_us = %.0f", rng_log(r, 20, 2000));
    LINE(d, "factor = %.2f", rng_range(r, 0.5, 0.9));
    LINE(d, "chain_factor = %.2f", rng_chance(r, 0.5) ? 1 : rng_range(r, 0.7, 1));
    LINE(d, "lockstep = %s", rng_chance(r, 0.3) ? "yes" : "no");
}

static void draw_drift(struct draft *d)
{
    struct rng *r = &d->scenario.rng;
    put(d, "[wander]\n");
    LINE(d, "slow_sigma = %.5f", rng_range(r, 0.0003, 0.005));
    LINE(d, "slow_us = %.0f", rng_log(r, 1e5, 1e8));
    if (rng_chance(r, 0.5))
        return;
    LINE(d, "fast_sigma = %.5f", rng_range(r, 0.0003, 0.003));
    LINE(d, "fast_us = %.0f", rng_log(r, 500, 1e5));
}

/* The sections of a scenario. */
static void draw_surroundings(struct draft *d)
{
    struct rng *r = &d->scenario.rng;
    if (rng_chance(r, 0.2))
        draw_neighbour(d);
    if (rng_chance(r, 0.2))
        draw_drift(d);
    if (rng_chance(r, 0.15)) {
        put(d, "[limit]\n");
        LINE(d, "share = %.2f", rng_range(r, 0.1, 0.45));
        LINE(d, "factor = %.3f", rng_range(r, 0.93, 0.96));
    }
    if (rng_chance(r, 0.2)) {
        put(d, "[smi]\n");
        LINE(d, "rate_hz = %.1f", rng_log(r, 0.5, 20));
        LINE(d, "min_us = %d", 30);
        LINE(d, "max_us = %d", rng_int(r, 60, 300));
    }
    if (rng_chance(r, 0.15)) {
        put(d, "[cold]\n");
        LINE(d, "us = %.1f", rng_range(r, 0.5, 8));
        LINE(d, "factor = %.2f", rng_range(r, 0.3, 0.9));
    }
    if (rng_chance(r, 0.25)) {
        put(d, "[repetition]\n");
        LINE(d, "carry = %s", "yes");
        LINE(d, "gap_us = %.0f", rng_log(r, 10, 20000));
    }
}

enum model_kind { RANDOM, WILD, SCENARIO };

static void draw(char out[RANDOM_MODEL_TEXT], uint64_t seed, enum model_kind kind)
{
    struct draft d = {0};
    bool wild = kind != RANDOM;
    d.out = out;
    d.wild = wild;
    rng_init(&d.rng, seed, wild ? 0x77696c64u : 0x6d6f64656cu); /* streams of their own: "wild", "model" */
    if (kind == SCENARIO)
        draw_scenario(&d, seed);
    draw_cpu(&d, seed);
    draw_levels(&d);
    draw_classes(&d);
    draw_demands(&d);
    if (d.n_classes > 1)
        draw_transitions(&d);
    draw_voltage(&d);
    draw_rates(&d);
    if (!wild) {
        draw_rest(&d);
        return;
    }
    draw_power(&d);
    draw_wild_rest(&d);
    if (kind == SCENARIO)
        draw_surroundings(&d);
}

static void parse(const char *text, uint64_t seed, struct model *out)
{
    char name[40];
    struct machine_error err;
    snprintf(name, sizeof name, "random-%llu.model", (unsigned long long)seed);
    if (model_parse(text, strlen(text), name, out, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

void random_model_text(char out[RANDOM_MODEL_TEXT], uint64_t seed)
{
    draw(out, seed, RANDOM);
}

void wild_model_text(char out[RANDOM_MODEL_TEXT], uint64_t seed)
{
    draw(out, seed, WILD);
}

void scenario_model_text(char out[RANDOM_MODEL_TEXT], uint64_t seed)
{
    draw(out, seed, SCENARIO);
}

void random_model(struct model *out, uint64_t seed)
{
    char text[RANDOM_MODEL_TEXT];
    random_model_text(text, seed);
    parse(text, seed, out);
}

void wild_model(struct model *out, uint64_t seed)
{
    char text[RANDOM_MODEL_TEXT];
    wild_model_text(text, seed);
    parse(text, seed, out);
}

void scenario_model(struct model *out, uint64_t seed)
{
    char text[RANDOM_MODEL_TEXT];
    scenario_model_text(text, seed);
    parse(text, seed, out);
}
