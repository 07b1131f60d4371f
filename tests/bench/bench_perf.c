/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures the cost of a sample of the perf machine and of the kernel helper on this CPU, by the number of counters,
 * and how far the frequency that timing finds is from what the cycles say, in repetitions that take turns. Where one of
 * them cannot be used, or has no counters, it says why.
 *
 * The cost of a sample, as in bench_sampling: the payload gains so much more in samples at a period of 3 us than at one
 * of 1 us, which gives its rate; what is then missing in the short ones is the cost.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/machine.h"

enum { REPETITIONS = 60, SAMPLED_US = 300, WARMUP_US = 550, CHOICES = 8, COUNTERS = 7 };
static const double SHORT_US = 1, LONG_US = 3, FREQUENCY_AIM = 0.005;

/* Events that nearly every part has: C0H is INST_RETIRED.ANY_P on Intel's cores (intel/perfmon, every list) and
 * ex_ret_instr on AMD's (Linux, tools/perf/pmu-events, amdzen*). */
static const struct counter_spec specs[COUNTERS] = {
    {COUNTER_CYCLES, 0},     {COUNTER_REF_CYCLES, 0}, {COUNTER_INSTRUCTIONS, 0}, {COUNTER_EVENT, 0x00c0},
    {COUNTER_EVENT, 0x00c0}, {COUNTER_EVENT, 0x00c0}, {COUNTER_EVENT, 0x00c0},
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts. */
static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, ascending);
    return n > 0 ? v[n / 2] : NAN;
}

static int prepare(struct machine *m, double period_us, const struct counter_spec *c, size_t n,
                   struct machine_error *err)
{
    const struct machine_setup setup = {.cpu = -1,
                                        .active_cores = 1,
                                        .period_us = period_us,
                                        .counters = c,
                                        .n_counters = n,
                                        .max_samples = SAMPLED_US * 2};
    return m->ops->prepare(m, &setup, err);
}

static int record(struct machine *m, const struct payload *p, unsigned i, struct recording *rec,
                  struct machine_error *err)
{
    const struct segment segments[2] = {{*p, WARMUP_US, false}, {*p, SAMPLED_US, true}};
    const struct run_request request = {.segments = segments, .n_segments = 2, .zero_segment = 1, .repetition = i};
    return m->ops->run(m, &request, rec, err);
}

/* Means of the uninterrupted samples: ticks, instructions and cycles each, by the first counter; NaN when there are
 * none. */
struct means {
    double ticks, instructions, cycles;
};
static struct means average(const struct recording *rec, double period_ticks)
{
    struct means m = {0, 0, 0};
    double n = 0;

    for (size_t i = rec->zero_reading + 2; i + 1 < rec->n; i++) {
        const uint64_t *now = rec->words + i * rec->stride, *before = now - rec->stride;
        double ticks = (double)(now[0] - before[0]);
        if (ticks < period_ticks && now[2] != COUNTER_MISSING && before[2] != COUNTER_MISSING) {
            n++;
            m.ticks += ticks;
            m.instructions += (double)(now[1] - before[1]);
            m.cycles += (double)(now[2] - before[2]);
        }
    }
    return (struct means){m.ticks / n, m.instructions / n, m.cycles / n};
}

/* Means over the repetitions' medians at one period. */
static int measure(struct machine *m, const struct payload *p, double period_us, size_t n, double tsc_hz,
                   struct means *out, struct machine_error *err)
{
    double ticks[REPETITIONS], instructions[REPETITIONS], cycles[REPETITIONS];
    int status = prepare(m, period_us, specs, n, err);

    for (unsigned i = 0; i < REPETITIONS && status == MACHINE_OK; i++) {
        struct recording rec;
        status = record(m, p, i, &rec, err);
        if (status == MACHINE_OK) {
            struct means one = average(&rec, period_us * 1e-6 * tsc_hz);
            ticks[i] = one.ticks;
            instructions[i] = one.instructions;
            cycles[i] = one.cycles;
        }
    }
    if (status == MACHINE_OK) {
        *out = (struct means){median(ticks, REPETITIONS), median(instructions, REPETITIONS),
                              median(cycles, REPETITIONS)};
    }
    m->ops->finish(m);
    return status;
}

static int bench_cost(struct machine *m, const struct payload *p, size_t n, double tsc_hz, struct machine_error *err)
{
    struct means fast, slow;
    int status = measure(m, p, SHORT_US, n, tsc_hz, &fast, err);

    if (status == MACHINE_OK)
        status = measure(m, p, LONG_US, n, tsc_hz, &slow, err);
    if (status != MACHINE_OK) {
        printf("%zu counters: %s\n", n, err->text);
        return MACHINE_OK; /* fewer may fit */
    }
    double cycles_per_instruction = (slow.cycles - fast.cycles) / (slow.instructions - fast.instructions);
    double cost = (fast.cycles - fast.instructions * cycles_per_instruction) / fast.cycles * fast.ticks / tsc_hz * 1e9;
    printf("%zu counter%s sample %6.1f ns, payload %5.1f %%\n", n, n == 1 ? ": " : "s:", cost,
           100 * (1 - cost * 1e-9 / (fast.ticks / tsc_hz)));
    return MACHINE_OK;
}

/* Both machines are prepared on the same CPU and take turns. */
static int bench_frequency(struct machine *m, const char *name, const struct payload *p, double tsc_hz,
                           struct machine_error *err)
{
    static const struct counter_spec chain[2] = {{COUNTER_CHAIN_CYCLES, 0}, {COUNTER_CHAIN_TICKS, 0}};
    struct machine timing;
    double ratio[REPETITIONS], ghz[REPETITIONS];
    size_t n = 0;
    int status = machine_open_timing(&timing, err);

    if (status != MACHINE_OK)
        return status;
    status = prepare(m, SHORT_US, specs, 1, err);
    if (status == MACHINE_OK)
        status = prepare(&timing, SHORT_US, chain, 2, err);
    for (unsigned i = 0; i < REPETITIONS && status == MACHINE_OK; i++) {
        struct recording rec;
        double cycles = 0, ticks = 0;
        status = record(m, p, i, &rec, err);
        struct means counted = status == MACHINE_OK ? average(&rec, SHORT_US * 1e-6 * tsc_hz) : (struct means){0};
        status = status == MACHINE_OK ? record(&timing, p, i, &rec, err) : status;
        for (size_t k = 1; k < rec.n && status == MACHINE_OK; k++) {
            const uint64_t *now = rec.words + k * rec.stride, *before = now - rec.stride;
            if ((double)(now[0] - before[0]) < SHORT_US * 1e-6 * tsc_hz) {
                cycles += (double)(now[2] - before[2]) / CHAIN_CYCLE_UNIT;
                ticks += (double)(now[3] - before[3]);
            }
        }
        if (ticks > 0 && counted.ticks > 0) {
            ghz[n] = counted.cycles / counted.ticks * tsc_hz * 1e-9;
            ratio[n++] = cycles / ticks / (counted.cycles / counted.ticks) - 1;
        }
    }
    timing.ops->close(&timing); /* in this order: each restores the affinity that it found */
    m->ops->finish(m);
    if (status == MACHINE_OK && n > 0) {
        double off = median(ratio, n);
        printf("%s: %s %.4f GHz; timing differs by %+.3f %% (aim: within %g %%: %s)\n", p->name, name, median(ghz, n),
               off * 100, FREQUENCY_AIM * 100, fabs(off) <= FREQUENCY_AIM ? "met" : "MISSED");
    }
    return status;
}

static int bench(struct machine *m, struct machine_error *err)
{
    static const size_t numbers[] = {1, 3, 5, COUNTERS};
    const char *remedy = NULL, *why = m->ops->lacks(m, COUNTER_EVENT, &remedy);
    struct machine_info info;
    struct payload p;

    m->ops->info(m, &info);
    if (why != NULL) {
        printf("%s machine: cannot be measured here: %s; remedy: %s\n", info.name, why, remedy != NULL ? remedy : "");
        return MACHINE_OK;
    }
    if (kernel_parse("64add", &p, err->text, sizeof err->text) != 0)
        return MACHINE_FAILED;
    printf("%s machine, %s, TSC %.3f MHz; %d repetitions of %d us each\n%s%s%s", info.name, info.cpu, info.tsc_hz / 1e6,
           REPETITIONS, SAMPLED_US, info.notes[0] ? "notes: " : "", info.notes, info.notes[0] ? "\n" : "");
    int status = MACHINE_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == MACHINE_OK; i++)
        status = bench_cost(m, &p, numbers[i], info.tsc_hz, err);
    return status == MACHINE_OK ? bench_frequency(m, info.name, &p, info.tsc_hz, err) : status;
}

static int bench_named(const char *name, int (*open)(struct machine *out, struct machine_error *err))
{
    struct machine_choice c[CHOICES];
    struct machine m;
    struct machine_error err = {0};
    size_t n = machine_choices(c, CHOICES);

    for (size_t i = 0; i < n; i++) {
        if (strcmp(c[i].name, name) == 0 && !c[i].usable) {
            printf("%s machine: cannot be measured here: %s; remedy: %s\n", name, c[i].why, c[i].remedy);
            return MACHINE_OK;
        }
    }
    int status = open(&m, &err);
    if (status == MACHINE_OK) {
        status = bench(&m, &err);
        m.ops->close(&m);
    }
    if (status != MACHINE_OK)
        fprintf(stderr, "bench_perf: %s: %s%s%s\n", name, err.text, err.remedy[0] ? "; " : "", err.remedy);
    return status;
}

int main(void)
{
    int perf = bench_named("perf", machine_open_perf), helper = bench_named("helper", machine_open_helper);

    return perf != MACHINE_OK ? perf : helper;
}
