/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trials in cycles (machine_ops.trials). The counter is the CPU's, not the thread's, and counts in the kernel: what
 * comes between is what the trials are to show, and a counter of the thread stands still meanwhile. Where the kernel
 * does not permit it (perf_event_paranoid above 0, without CAP_PERFMON), it is time stamps.
 */
#include "drivers/native/trials.h"
#include "drivers/perf/perf.h"

struct perf_trials_clock {
    const struct perf_samplers *samplers;
    struct perf_reader reader;
};

static uint64_t cpu_cycles(void *context)
{
    struct perf_trials_clock *c = context;
    uint64_t words[3];

    c->samplers->read(&c->reader, words);
    return words[2];
}

/* Opens it and sees whether it counts: a chain of adds takes about a cycle each. */
static bool open_clock(const struct perf_system *system, const struct perf_pmu *pmu, int cpu, struct perf_counter *out,
                       struct perf_trials_clock *clock)
{
    struct perf_event_attr attr;
    struct machine_error ignored;
    uint64_t begin;

    if (system->open_cpu == NULL)
        return false;
    perf_fill_attr(pmu, COUNTER_CYCLES, 0, &attr);
    attr.exclude_kernel = 0;
    *out = (struct perf_counter){.fd = system->open_cpu(&attr, cpu)};
    if (out->fd < 0)
        return false;
    out->page = system->map(out->fd);
    if (out->page == NULL) {
        system->close(out->fd);
        return false;
    }
    *clock = (struct perf_trials_clock){.samplers = system->samplers, .reader = {.n = 1}};
    clock->reader.slot[0].page = out->page;
    for (int attempt = 0; attempt < 3; attempt++) { /* the first reading tells how long it was off until now */
        uint64_t before = cpu_cycles(clock);
        kernel_chain_long(&begin);
        uint64_t cycles = cpu_cycles(clock) - before;
        if (before != COUNTER_MISSING && cycles >= CHAIN_LONG_ADDS / 2 && cycles < 100 * CHAIN_LONG_ADDS &&
            perf_counter_check(system, out, COUNTER_CYCLES, 0, 1, &ignored) == MACHINE_OK)
            return true;
    }
    perf_counter_close(system, out);
    return false;
}

int perf_trials(const struct perf_system *system, const struct perf_pmu *pmu, struct native *common,
                const struct trials_request *r, double *duration, struct trials_seen *seen, struct machine_error *err)
{
    struct perf_counter counter;
    struct perf_trials_clock clock;
    const struct trials_clock reader = {cpu_cycles, &clock};

    if (!common->prepared || !open_clock(system, pmu, common->cpu, &counter, &clock))
        return trials_run(common, r, NULL, duration, seen, err);
    int status = trials_run(common, r, &reader, duration, seen, err);
    perf_counter_close(system, &counter);
    return status;
}
