/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/sample_cost.h"

#include <math.h>
#include <stdlib.h>

#include "util/order.h"

#define PERIOD_US 1.0
#define SETTLE_US 200.0  /* most of what a kernel does at first */
#define SAMPLED_US 500.0 /* from 256 times the period on samples are four times as long (drivers/native/sampling.h) */
#define FAST 0.1 /* of all groups: a busy sibling thread and a lower clock, which come and go, make others slower */
enum { RECORDINGS = 16, LARGE = 4, GROUP = 24, GROUPS_MOST = 1000, ROOM = 700 };

/* What groups of samples take, the mean of each: small samples, and large ones. In cycles, or ticks where none are
 * counted. */
struct sample_groups {
    int word, chain;
    size_t n[2];
    double mean[2][GROUPS_MOST];
    double instructions; /* of a small sample */
    double all, ticks;   /* of all recordings whose ends were counted, in either unit */
};

/* Those of a recording: of samples without a chain, and not behind one. */
static void groups_take(struct sample_groups *g, const struct recording *r, bool large)
{
    double wanted = g->instructions * (large ? LARGE : 1), sum = 0;
    unsigned n = 0;
    for (size_t k = 2; k < r->n && g->n[large] < GROUPS_MOST; k++) {
        const uint64_t *now = recording_at(r, k), *before = now - r->stride;
        double own = recording_difference(now, before, g->word);
        if (isnan(own) || recording_difference(now, before, RECORDING_INSTRUCTIONS) != wanted ||
            recording_difference(now, before - r->stride, g->chain) > 0)
            continue;
        sum += own;
        if (++n < GROUP)
            continue;
        g->mean[large][g->n[large]++] = sum / GROUP;
        sum = n = 0;
    }
}

static void sample_cost_take(struct sample_groups *g, const struct recording *r)
{
    if (r->n < 2)
        return;
    const uint64_t *first = recording_at(r, 0), *last = recording_at(r, r->n - 1);
    g->instructions = recording_difference(recording_at(r, 1), first, RECORDING_INSTRUCTIONS);
    double all = recording_difference(last, first, g->word);
    g->all += isnan(all) ? 0 : all;
    g->ticks += isnan(all) ? 0 : recording_difference(last, first, RECORDING_TSC);
    groups_take(g, r, false);
    groups_take(g, r, true);
}

/* What is left of a sample without work; nothing where it cannot be told. */
static struct sample_cost without_work(struct sample_groups *g, double tsc_hz)
{
    double fast[2];
    if (!g->n[0] || !g->n[1])
        return (struct sample_cost){0, 0};
    for (int i = 0; i < 2; i++)
        fast[i] = order_nth_smallest(g->mean[i], g->n[i], (size_t)(FAST * (double)g->n[i]));
    double work = (fast[1] - fast[0]) / (LARGE - 1), rest = fast[0] - work; /* of a small one */
    if (!(rest > 0 && work > 0 && g->all > 0))
        return (struct sample_cost){0, 0};
    return (struct sample_cost){rest * g->ticks / g->all / tsc_hz * 1e6, rest / work * g->instructions};
}

static int record_doubling(struct machine *m, const struct payload *code, struct sample_groups *g,
                           struct machine_error *err)
{
    const struct segment segments[] = {{*code, SETTLE_US, false}, {*code, SAMPLED_US, true}};
    int status = MACHINE_OK;
    for (unsigned i = 0; i < RECORDINGS && !status; i++) {
        struct run_request request = {.segments = segments,
                                      .n_segments = 2,
                                      .zero_segment = 1,
                                      .fine_us = PERIOD_US,
                                      .repetition = SAMPLE_COST_REPETITION + i};
        struct recording r;
        status = m->ops->run(m, &request, &r, err);
        if (!status)
            sample_cost_take(g, &r);
    }
    return status;
}

static int sample_cost_measure(struct machine *m, const struct machine_setup *setup, const struct payload *code,
                               struct sample_cost *out, struct machine_error *err)
{
    struct machine_setup own = *setup;
    struct machine_info info;
    struct sample_groups *g = calloc(1, sizeof *g);
    if (!g)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    own.period_us = PERIOD_US;
    own.max_samples = ROOM;
    own.active_cores = 1;
    own.siblings = false;
    own.seed = 0; /* cells have seeds of their own, and share what is remembered */
    own.cpus = NULL;
    own.n_cpus = 0;
    g->chain = recording_word(setup->counters, setup->n_counters, COUNTER_CHAIN_CYCLES);
    g->word = recording_word(setup->counters, setup->n_counters, COUNTER_CYCLES);
    g->word = g->word < 0 ? RECORDING_TSC : g->word;
    int status = m->ops->prepare(m, &own, err);
    if (!status)
        status = record_doubling(m, code, g, err);
    m->ops->info(m, &info);
    if (!status)
        *out = without_work(g, info.tsc_hz);
    m->ops->finish(m);
    free(g);
    return status;
}

int sample_cost_of(struct machine *m, const struct machine_setup *setup, const struct payload *code,
                   struct sample_cost *out, struct machine_error *err)
{
    int cpu = setup->cpu < 0 && setup->n_cpus ? setup->cpus[0] : setup->cpu;
    struct machine_setup own = *setup;
    own.cpu = cpu;
    for (size_t i = 0; i < MACHINE_COSTS_MAX; i++) {
        const struct machine_cost *c = &m->cost[i];
        if (c->run == code->run && c->dirty == code->dirty && c->cpu == cpu && c->fixed_ghz == setup->fixed_ghz &&
            c->n_counters == setup->n_counters) {
            *out = c->cost;
            return MACHINE_OK;
        }
    }
    *out = (struct sample_cost){0, 0};
    int status = sample_cost_measure(m, &own, code, out, err);
    if (!status)
        m->cost[m->next_cost++ % MACHINE_COSTS_MAX] = (struct machine_cost){code->run,        code->dirty,       cpu,
                                                                            setup->fixed_ghz, setup->n_counters, *out};
    return status;
}
