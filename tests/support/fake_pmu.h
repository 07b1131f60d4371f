/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A made PMU for the perf machine: pages, counts that follow the TSC, and whatever the kernel may do to the pages while
 * they are read. There is one, as there is one RDPMC.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "computer/cpu/cpu.h"
#include "drivers/perf/perf.h"

enum { FAKE_EVENTS = 32 };
struct fake_event {
    bool open, mapped;
    int cpu;
    struct perf_event_attr attr;
    struct perf_event_mmap_page page;
};
struct fake_pmu {
    /* set by the test; fake_pmu_reset() gives a Skylake-SP that works */
    unsigned programmable; /* counters for other events than the fixed ones */
    unsigned width;        /* of all counters, bits */
    bool rdpmc_allowed;
    bool map_fails;
    int (*refuse)(const struct perf_event_attr *attr); /* an error number below 0, or 0; may be NULL */
    unsigned level_of[3];                              /* license level of scalar code, 256 bits, 512 bits */
    void (*at_rdpmc)(unsigned call);                   /* called in each RDPMC; may be NULL */

    /* seen by the PMU */
    struct fake_event event[FAKE_EVENTS];
    unsigned opened, closed, calls;
    bool misread; /* RDPMC of a number that no event has: on silicon another's count, or a fault */

    unsigned level;
    uint64_t level_since, level_cycles[3], throttled;
};
extern struct fake_pmu fake_pmu;
/* perf_sample.c with this PMU's RDPMC. */
extern const struct perf_samplers fake_samplers;

void fake_pmu_reset(void);
/* A system with this PMU on a Skylake-SP; *leaves is filled and must live as long as the machine is opened. */
void fake_pmu_system(struct perf_system *out, struct cpu_leaves *leaves);
/* Makes another CPU of the leaves: vendor by its name, display family, model, stepping. */
void fake_pmu_identity(struct cpu_leaves *l, const char *vendor, unsigned family, unsigned model, unsigned stepping);
/* The open event with this config; NULL = none. */
struct fake_event *fake_pmu_find(uint64_t config);
/* Cycles for so many ticks: the made core runs at 5/4 of the TSC. */
uint64_t fake_pmu_cycles(uint64_t ticks);
uint64_t fake_pmu_rdpmc(uint32_t counter);
