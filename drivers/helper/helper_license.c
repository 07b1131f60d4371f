/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events of the part for the machine `helper`: names, and the test of the license events, run through the module as
 * measurements are, with raw events.
 */

#include "drivers/helper/helper_state.h"

#include <stdio.h>

enum { PERIOD_US = 500, COUNTED = 1 + EVENTS_LICENSES, READINGS = 64 };
static const enum counter_id counted[COUNTED] = {COUNTER_CYCLES, COUNTER_LVL0, COUNTER_LVL1, COUNTER_LVL2,
                                                 COUNTER_THROTTLE};

/* One kernel from its first instruction on, between silences. */
static int helper_license_count_kernel(struct machine *m, const struct payload *p, int k, size_t n,
                                       struct perf_license_counts *out, struct machine_error *err)
{
    const struct helper *h = m->state;
    /* the grid's points lie half a period behind the start: the last one ends what is counted */
    const struct segment one = {*p, PERF_LICENSE_WARM_US + PERF_LICENSE_COUNT_US + PERIOD_US, true};
    const struct run_request r = {.segments = &one, .n_segments = 1, .repetition = (unsigned)k};
    struct recording rec;

    native_relax();
    int status = m->ops->run(m, &r, &rec, err);
    if (status != MACHINE_OK)
        return status;
    if (rec.n < 3)
        return machine_fail(err, MACHINE_CANNOT, "", "the license-event test failed: no readings");
    const uint64_t *start = rec.words, *end = rec.words + (rec.n - 1) * rec.stride, *warm = start;
    while (warm < end && warm[0] - start[0] < helper_ticks(h, PERF_LICENSE_WARM_US))
        warm += rec.stride;
    for (size_t c = 0; c < 4; c++) {
        uint64_t count = recording_grown(warm[RECORDING_COUNTERS + c], end[RECORDING_COUNTERS + c]);
        if (count == COUNTER_MISSING) {
            char name[60];
            perf_counter_name(counted[c], 0, name, sizeof name);
            return machine_fail(err, MACHINE_CANNOT, perf_room_remedy(perf_room_watchdog(h->proc)),
                                "no hardware counter is free for %s", name);
        }
        *(c == 0 ? &out->cycles[k] : &out->level[k][c - 1]) = count;
    }
    out->throttle[k] = n == COUNTED ? recording_grown(start[RECORDING_COUNTERS + 4], end[RECORDING_COUNTERS + 4])
                                    : COUNTER_MISSING;
    out->has_throttle = out->has_throttle && out->throttle[k] != COUNTER_MISSING;
    return MACHINE_OK;
}

static int helper_license_count_all(struct machine *m, int cpu, size_t n, struct perf_license_counts *out,
                                    struct machine_error *err)
{
    const struct helper *h = m->state;
    struct counter_spec specs[COUNTED] = {{COUNTER_CYCLES, 0}};
    const struct machine_setup setup = {.cpu = cpu,
                                        .active_cores = 1,
                                        .period_us = PERIOD_US,
                                        .counters = specs,
                                        .n_counters = n,
                                        .max_samples = READINGS};

    for (size_t c = 1; c < n; c++) {
        specs[c] = (struct counter_spec){COUNTER_EVENT,
                                         part_events_code(&h->events, &(struct counter_spec){counted[c], 0})};
    }
    *out = (struct perf_license_counts){.has_throttle = n == COUNTED};
    int status = m->ops->prepare(m, &setup, err);
    for (int k = 0; k < PERF_LICENSE_KERNELS && status == MACHINE_OK; k++) {
        const struct payload p = kernel_named(perf_license_names[k]);
        out->ran[k] = (p.kernel->features & ~h->native.features) == 0;
        if (out->ran[k])
            status = helper_license_count_kernel(m, &p, k, n, out, err);
    }
    m->ops->finish(m);
    return status;
}

void helper_find_events(struct machine *m, int cpu, const char *data_dir)
{
    struct helper *h = m->state;
    struct perf_license_counts counts;
    struct machine_error err;
    struct perf_pmu pmu;
    const int before = h->native.cpu;

    perf_find_pmu(h->native.sys, cpu, &pmu);
    bool has = part_events_find(&h->events, &h->native, &pmu, data_dir);
    if (h->clock != HELPER_COUNTERS) {
        part_events_lack(&h->events, h->why_no_counters, helper_no_counters_remedy(h));
        return;
    }
    if (!has)
        return;
    const bool throttle = h->events.table.license[EVENTS_THROTTLE] >= 0;
    int status = helper_license_count_all(m, cpu, throttle ? COUNTED : COUNTED - 1, &counts, &err);
    if (throttle && (status != MACHINE_OK || !counts.has_throttle)) { /* it may be the one that is too many */
        status = helper_license_count_all(m, cpu, COUNTED - 1, &counts, &err);
        snprintf(counts.throttle_why, sizeof counts.throttle_why, "no hardware counter is free for throttled cycles");
        snprintf(counts.throttle_remedy, sizeof counts.throttle_remedy, "%s",
                 perf_room_remedy(perf_room_watchdog(h->proc)));
    }
    part_events_tested(&h->events, status, &err, &counts);
    /* as if nothing had been prepared */
    h->native.cpu = before;
    snprintf(h->native.notes, sizeof h->native.notes, "%s", h->native.machine_notes);
}

int helper_find_event(const struct machine *m, const char *name, uint64_t *code, struct machine_error *err)
{
    const struct helper *h = m->state;

    if (h->clock != HELPER_COUNTERS) {
        return machine_fail(err, MACHINE_CANNOT, helper_no_counters_remedy(h), "no events can be counted: %s",
                            h->why_no_counters);
    }
    return part_events_by_name(m, name, code, err);
}
