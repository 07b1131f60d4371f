/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the experiments on energy and bursts make of what a machine tells, number by number: of random
 * recordings, with all combinations of counters, with cores that were stopped, clocks in steps, and readings of any
 * number; of bursts of random durations. Held in tests/golden/probes.stretches and .bursts, which
 * `make golden` rewrites.
 */
#include <inttypes.h>

#include "probes/bursts.h"
#include "probes/energy.h"
#include "tests/support/golden.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { READINGS_MOST = 9, STRIDE_MOST = 2 + 5, TSC_HZ = 2000000000 };

/* ---- random recordings ---- */

/* A reading every 500 ticks or so, a chain of 30 to 40; now and then something else runs for long. */
static uint64_t random_growth(struct rng *r, enum counter_id id, double ticks, double chain)
{
    switch (id) {
    case COUNTER_CYCLES:
        return (uint64_t)(ticks * rng_range(r, 0.9, 1.1));
    case COUNTER_REF_CYCLES:
        return (uint64_t)(ticks * 0.95);
    case COUNTER_CHAIN_TICKS:
        return (uint64_t)(chain * (rng_chance(r, 0.15) ? rng_range(r, 2, 5) : 1));
    case COUNTER_CHAIN_CYCLES:
        return (uint64_t)(chain * 1.25 * CHAIN_CYCLE_UNIT);
    default:
        return (uint64_t)(chain + (rng_chance(r, 0.2) ? 1500 : 20));
    }
}

static void random_recording(struct rng *r, const struct counter_spec *counters, size_t n_counters, size_t n,
                             uint64_t words[READINGS_MOST * STRIDE_MOST], struct recording *out)
{
    *out = (struct recording){.n = n, .stride = 2 + n_counters, .capacity = READINGS_MOST, .words = words};
    for (size_t i = 0; i < n; i++) {
        uint64_t *now = words + i * out->stride, *before = now - out->stride;
        double ticks = rng_range(r, 450, 550) + (rng_chance(r, 0.1) ? 600000 : 0), chain = rng_range(r, 30, 40);
        now[0] = (i ? before[0] : 1000000) + (uint64_t)ticks;
        now[1] = (i ? before[1] : 0) + (uint64_t)(ticks * (rng_chance(r, 0.2) ? 1.2 : 2));
        for (size_t k = 0; k < n_counters; k++)
            now[2 + k] = (i ? before[2 + k] : 5) + random_growth(r, counters[k].id, ticks, chain);
    }
    out->zero_reading = (size_t)rng_int(r, 0, (int)n);
    out->zero_tsc = words[0] + 300;
}

static const struct counter_spec counter_sets[][5] = {
    {{COUNTER_CYCLES, 0}},
    {{COUNTER_REF_CYCLES, 0}, {COUNTER_CYCLES, 0}},
    {{COUNTER_CHAIN_TICKS, 0}, {COUNTER_CHAIN_CYCLES, 0}},
    {{COUNTER_CHAIN_TICKS, 0}, {COUNTER_CHAIN_CYCLES, 0}, {COUNTER_READ_TICKS, 0}},
    {{COUNTER_READ_TICKS, 0}, {COUNTER_CHAIN_CYCLES, 0}, {COUNTER_CHAIN_TICKS, 0}, {COUNTER_CYCLES, 0}},
    {{COUNTER_CHAIN_TICKS, 0}},
    {{COUNTER_REF_CYCLES, 0}},
};
static const size_t set_sizes[] = {1, 2, 2, 3, 4, 1, 1};
enum { SETS = sizeof set_sizes / sizeof *set_sizes };

/* ---- stretches of energy ---- */

static struct {
    struct rng random;
    size_t set;
    unsigned refused; /* so many runs, for their length */
    struct energy_reading energy;
    uint64_t words[READINGS_MOST * STRIDE_MOST];
    FILE *out;
} drawn;

static const char *drawn_lacks(const struct machine *m, enum counter_id id, const char **remedy)
{
    (void)m;
    (void)remedy;
    for (size_t i = 0; i < set_sizes[drawn.set]; i++)
        if (counter_sets[drawn.set][i].id == id)
            return NULL;
    return "not counted";
}

static void drawn_info(const struct machine *m, struct machine_info *out)
{
    (void)m;
    *out = (struct machine_info){.name = "drawn", .tsc_hz = TSC_HZ, .active_cores = 4};
    out->energy_cores = drawn.set % 2 ? 3 : 0;
}

static int drawn_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err)
{
    (void)m;
    (void)err;
    fprintf(drawn.out, "prepared for %s, period %g, %zu counters, room for %zu\n",
            s->corunner.kernel ? s->corunner.name : "nothing", s->period_us, s->n_counters, s->max_samples);
    return MACHINE_OK;
}

static void drawn_finish(struct machine *m)
{
    (void)m;
}

static int drawn_run(struct machine *m, const struct run_request *r, struct recording *out, struct machine_error *err)
{
    struct counter_spec asked[4];
    size_t n = 0;
    static const enum counter_id order[] = {COUNTER_CYCLES, COUNTER_REF_CYCLES, COUNTER_CHAIN_TICKS,
                                            COUNTER_CHAIN_CYCLES};
    for (size_t i = 0; i < 4; i++)
        if (!drawn_lacks(m, order[i], NULL))
            asked[n++] = (struct counter_spec){order[i], 0};
    fprintf(drawn.out, "run %zu of %s for %.6g us%s, repetition %" PRIu64 "\n", r->n_segments,
            r->segments[0].payload.name, r->segments[0].duration_us, r->segments[0].sampled ? ", sampled" : "",
            (uint64_t)r->repetition);
    if (drawn.refused > 0 && r->segments[0].duration_us > 5000) {
        drawn.refused--;
        return machine_fail(err, MACHINE_BAD_INPUT, "", "too long");
    }
    random_recording(&drawn.random, asked, n, (size_t)rng_int(&drawn.random, 1, READINGS_MOST), drawn.words, out);
    return MACHINE_OK;
}

static int drawn_energy(struct machine *m, struct energy_reading *out, const char **source, struct machine_error *err)
{
    (void)m;
    (void)err;
    drawn.energy.joules += rng_range(&drawn.random, 0.5, 2);
    drawn.energy.seconds += rng_range(&drawn.random, 0.00005, 0.0005);
    *out = drawn.energy;
    if (source)
        *source = "a counter of random steps";
    return MACHINE_OK;
}

static void write_stretch(FILE *out, const char *name, const struct energy_stretch *s)
{
    fprintf(out,
            "%s: %.9g J in %.9g s, ran %.9g, recorded %.9g; %.9g operations, %.9g cycles in %.9g s; lost %.9g, other "
            "%.9g, at the start %.9g\n",
            name, s->joules, s->seconds, s->run_seconds, s->recorded_seconds, s->operations, s->cycles,
            s->cycle_seconds, s->lost_seconds, s->other_seconds, s->start_seconds);
}

TEST(stretches_of_random_recordings)
{
    static const struct machine_ops ops = {.info = drawn_info,
                                           .lacks = drawn_lacks,
                                           .prepare = drawn_prepare,
                                           .run = drawn_run,
                                           .finish = drawn_finish,
                                           .read_energy = drawn_energy};
    struct machine machine = {.ops = &ops};
    struct golden g;
    FILE *out = golden_begin(&g);
    drawn.out = out;
    rng_init(&drawn.random, 9, 2);
    for (drawn.set = 0; drawn.set < SETS; drawn.set++) {
        struct payload kernel = kernel_named("64mul");
        struct energy_setup s;
        struct energy_result result;
        struct machine_error err;
        energy_defaults(&s, &kernel);
        s.runs = 3;
        s.settle_us = drawn.set % 3 ? 1000 : 5500;
        s.duration_us = drawn.set % 2 ? 12500 : 1000;
        s.period_us = 0.25;
        s.reading_us = drawn.set < 2 ? 0.1 : 0;
        drawn.refused = (unsigned)drawn.set / 2;
        fprintf(out, "\n# set %zu\n", drawn.set);
        if (energy_run(&machine, &s, &result, &err) != MACHINE_OK)
            fail_msg("%s", err.text);
        fprintf(out, "%zu pairs from %s; %u of %u cores\n", result.n, result.source, result.counted_cores,
                result.active_cores);
        for (size_t i = 0; i < result.n; i++) {
            write_stretch(out, "idle", &result.pairs[i].idle);
            write_stretch(out, "kernel", &result.pairs[i].kernel);
        }
        energy_result_free(&result);
    }
    golden_expect(&g, "probes", "stretches", false);
}

/* ---- bursts ---- */

static int drawn_bursts(struct machine *m, const struct bursts_request *r, struct burst *out, const char **disturbed,
                        struct machine_error *err)
{
    (void)m;
    (void)err;
    fprintf(drawn.out, "%" PRIu64 ": %" PRIu64 " of %s in %s every %g us, %g us before, %u skipped, %u\n",
            (uint64_t)r->repetition, r->count, r->wide.name, r->plain.name, r->every_us, r->before_us, r->skipped,
            r->bursts);
    *disturbed = rng_chance(&drawn.random, 0.2) ? "by something" : NULL;
    for (unsigned i = 0; i < r->bursts; i++) {
        bool late = rng_chance(&drawn.random, 0.1);
        double plain = rng_range(&drawn.random, 90, 110);
        out[i] = (struct burst){.wide = (uint64_t)((double)r->count * rng_range(&drawn.random, 1, 1.3)) +
                                        (late ? 9000000 : 40),
                                .plain = (uint64_t)(plain * 2000),
                                .lost = rng_chance(&drawn.random, 0.1) ? 60000 : 0,
                                .instructions = (uint64_t)(plain * (r->count > 0 ? 5000 : 6000))};
    }
    return MACHINE_OK;
}

static int stop_after_five(void *data, unsigned done, unsigned wanted)
{
    (void)data;
    fprintf(drawn.out, "%u of %u\n", done, wanted);
    return done >= 5;
}

static void write_bursts_of(FILE *out, struct machine *machine, unsigned variants, unsigned rounds, bool stops)
{
    static const char *const names[] = {"64add", "256fma", "512fma", "64mul"};
    struct bursts_setup s = {.plain = kernel_named("64or"), .variants = variants, .rounds = rounds};
    struct bursts_result r;
    struct machine_error err;
    s.every_us = 100;
    s.before_us = 30;
    s.skipped = 2;
    s.bursts = 7;
    s.progress = stops ? stop_after_five : NULL;
    for (unsigned v = 0; v < variants; v++) {
        s.wide[v] = kernel_named(names[v]);
        s.count[v] = 3000 * v;
    }
    fprintf(out, "\n# %u variants, %u rounds\n", variants, rounds);
    if (bursts_run(machine, &s, &r, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    fprintf(out, "%u rounds, %u discarded, %lu interrupted\n", r.n, r.discarded, r.interrupted);
    for (unsigned v = 0; v < BURSTS_VARIANTS_MAX; v++)
        assert_int_equal(r.loss[v] != NULL, v < variants);
    for (unsigned v = 1; v < variants; v++)
        for (unsigned i = 0; i < r.n; i++)
            fprintf(out, "%u.%u: loss %.9g, cold %.9g us, cost %.9g us, warm %.9g us\n", v, i, r.loss[v][i],
                    r.cold_us[v][i], r.cost_us[v][i], isnan(r.warm_us[v][i]) ? -1 : r.warm_us[v][i]);
    bursts_result_free(&r);
}

TEST(bursts_of_random_durations)
{
    static const struct machine_ops ops = {
        .info = drawn_info, .prepare = drawn_prepare, .finish = drawn_finish, .bursts = drawn_bursts};
    struct machine machine = {.ops = &ops};
    struct golden g;
    FILE *out = golden_begin(&g);
    drawn.out = out;
    drawn.set = 0;
    rng_init(&drawn.random, 12, 3);
    write_bursts_of(out, &machine, 2, 3, false);
    write_bursts_of(out, &machine, 3, 11, true);
    write_bursts_of(out, &machine, 4, 10, false);
    golden_expect(&g, "probes", "bursts", false);
}
