/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time and the instructions that one sample takes from the code that is measured. */
#include "probes/sample_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/order.h"

#define SETTLE_US 200.0 /* most of what a kernel does at first */
#define SAMPLED_US 500.0
#define FAST 0.1 /* of all groups: a busy sibling thread and a lower clock, which come and go, make others slower */
enum { SMALL, LARGE, SIZES, PAIRS = 9, GROUP = 24, GROUPS_MOST = 500 };
static const double periods_us[SIZES] = {1, 4};

/* Groups of samples of a pair of recordings, which follow each other within 2 ms, as the clock may change: the mean
 * time of each, in cycles, or ticks where none are counted. */
struct sample_groups {
    int word, chain;
    size_t n[SIZES];
    double mean[SIZES][GROUPS_MOST];
    double instructions[SIZES]; /* of a sample */
    double all, ticks;          /* of all recordings whose ends were counted, in either unit */
};

/* Adds the samples of a recording: those without a chain, and not after one. */
static void sample_cost_take(struct sample_groups *g, const struct recording *r, int size)
{
    double sum = 0;
    unsigned n = 0;
    if (r->n < 2)
        return;
    const uint64_t *first = recording_at(r, 0), *last = recording_at(r, r->n - 1);
    g->instructions[size] = recording_difference(recording_at(r, 1), first, RECORDING_INSTRUCTIONS);
    double all = recording_difference(last, first, g->word);
    g->all += isnan(all) ? 0 : all;
    g->ticks += isnan(all) ? 0 : recording_difference(last, first, RECORDING_TSC);
    for (size_t k = 2; k < r->n && g->n[size] < GROUPS_MOST; k++) {
        const uint64_t *now = recording_at(r, k), *before = now - r->stride;
        double own = recording_difference(now, before, g->word);
        if (isnan(own) || recording_difference(now, before - r->stride, g->chain) > 0)
            continue;
        sum += own;
        if (++n < GROUP)
            continue;
        g->mean[size][g->n[size]++] = sum / GROUP;
        sum = n = 0;
    }
}

/* The cost of a sample without its work; zeros where it cannot be determined. */
static struct sample_cost without_work(struct sample_groups *g, double tsc_hz)
{
    double fast[SIZES];
    if (!g->n[SMALL] || !g->n[LARGE])
        return (struct sample_cost){0, 0};
    for (int i = 0; i < SIZES; i++)
        fast[i] = order_nth_smallest(g->mean[i], g->n[i], (size_t)(FAST * (double)g->n[i]));
    /* of an instruction, and of a sample without any */
    const double work = (fast[LARGE] - fast[SMALL]) / (g->instructions[LARGE] - g->instructions[SMALL]);
    const double rest = fast[SMALL] - work * g->instructions[SMALL];
    if (!(rest > 0 && work > 0 && g->all > 0))
        return (struct sample_cost){0, 0};
    return (struct sample_cost){rest * g->ticks / g->all / tsc_hz * 1e6, rest / work};
}

/* A recording of one size; `number`: of the repetition. Prepares the machine where the size is another one than of the
 * recording before. */
static int record_size(struct machine *m, struct machine_setup *setup, const struct payload *code, int size,
                       uint64_t number, struct sample_groups *g, struct machine_error *err)
{
    int status = MACHINE_OK;
    const struct segment segments[] = {{*code, SETTLE_US, false}, {*code, SAMPLED_US, true}};
    const struct run_request request = {
        .segments = segments, .n_segments = 2, .zero_segment = 1, .repetition = SAMPLE_COST_REPETITION + number};
    struct recording r;
    if (setup->period_us != periods_us[size]) {
        setup->period_us = periods_us[size];
        setup->max_samples = (size_t)(2 * SAMPLED_US / setup->period_us);
        status = m->ops->prepare(m, setup, err);
    }
    if (!status)
        status = m->ops->run(m, &request, &r, err);
    if (!status)
        sample_cost_take(g, &r, size);
    return status;
}

static int sample_cost_measure(struct machine *m, const struct machine_setup *setup, const struct payload *code,
                               struct sample_cost *out, struct machine_error *err)
{
    struct machine_setup own = *setup;
    struct machine_info info;
    double us[PAIRS], instructions[PAIRS];
    size_t n = 0;
    struct sample_groups *g = malloc(sizeof *g);
    int status = MACHINE_OK;
    if (!g)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    m->ops->info(m, &info);
    own.active_cores = 1;
    own.siblings = false;
    own.period_us = 0;
    own.seed = 0; /* cells have seeds of their own, and share remembered costs */
    own.cpus = NULL;
    own.n_cpus = 0;
    const int cycles = recording_word(setup->counters, setup->n_counters, COUNTER_CYCLES);
    for (int pair = 0; pair < PAIRS && !status; pair++) {
        *g = (struct sample_groups){.word = cycles < 0 ? RECORDING_TSC : cycles,
                                    .chain = recording_word(setup->counters, setup->n_counters, COUNTER_CHAIN_CYCLES)};
        for (int i = 0; i < SIZES && !status; i++)
            status = record_size(m, &own, code, i ^ (pair % 2), (uint64_t)(pair * SIZES + i), g, err);
        const struct sample_cost cost = status ? (struct sample_cost){0, 0} : without_work(g, info.tsc_hz);
        us[n] = cost.us;
        instructions[n] = cost.instructions;
        n += cost.us > 0;
    }
    *out = n ? (struct sample_cost){order_median(us, n), order_median(instructions, n)} : (struct sample_cost){0, 0};
    m->ops->finish(m);
    free(g);
    return status;
}

static bool same_counters(const struct machine_cost *c, const struct machine_setup *setup)
{
    bool same = c->n_counters == setup->n_counters;
    for (size_t i = 0; same && i < c->n_counters; i++)
        same = c->counters[i].id == setup->counters[i].id && c->counters[i].event == setup->counters[i].event;
    return same;
}

int sample_cost_of(struct machine *m, const struct machine_setup *setup, const struct payload *code,
                   struct sample_cost *out, struct machine_error *err)
{
    int cpu = setup->cpu < 0 && setup->n_cpus ? setup->cpus[0] : setup->cpu;
    struct machine_setup own = *setup;
    own.cpu = cpu;
    for (size_t i = 0; i < MACHINE_COSTS_MAX; i++) {
        const struct machine_cost *c = &m->cost[i];
        if (c->run == code->run && c->kernel == code->kernel && c->dirty == code->dirty && c->cpu == cpu &&
            c->fixed_ghz == setup->fixed_ghz && same_counters(c, setup)) {
            *out = c->cost;
            return MACHINE_OK;
        }
    }
    *out = (struct sample_cost){0, 0};
    int status = sample_cost_measure(m, &own, code, out, err);
    if (!status) {
        struct machine_cost *c = &m->cost[m->next_cost++ % MACHINE_COSTS_MAX];
        *c = (struct machine_cost){.run = code->run,
                                   .kernel = code->kernel,
                                   .dirty = code->dirty,
                                   .cpu = cpu,
                                   .fixed_ghz = setup->fixed_ghz,
                                   .n_counters = setup->n_counters,
                                   .cost = *out};
        memcpy(c->counters, setup->counters, setup->n_counters * sizeof *c->counters);
    }
    return status;
}
