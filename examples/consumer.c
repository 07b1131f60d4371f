/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shows how a scheduler uses an exported header: at the end of a time slice it reads the counters (cycles at each
 * license level, time) and computes the frequency at which the task would have run on its own. The tasks that slowed
 * the core owe it the time that it lost.
 *
 *     ./characterize --table frequency --machine model:xeon-gold-6130 --output DIR
 *     ./characterize --export header characterize_export.h ...
 *     cc -I. -o consumer examples/consumer.c && ./consumer 0 2800000 0 1200000 1600000 0
 *
 * Arguments: CPU, cycles at level 0, 1, 2, nanoseconds, level of the task (0: scalar and 128 bits, 1: AVX2).
 * Compiles as C89 and C11, hosted and freestanding; with -DCONSUMER_NO_MAIN, it contains only what a kernel would use.
 */
#ifndef EXPORTED_HEADER
#define EXPORTED_HEADER "characterize_export.h"
#endif
#include EXPORTED_HEADER

#if CHARACTERIZE_EXPORT_VERSION != 1
#error "this was written for version 1 of the exported header (doc/export-format.md)"
#endif

/* The scheduler's record of a time slice. */
struct slice_verdict {
    uint32_t ideal_khz;
    uint32_t measured_khz;
    int known; /* 0: the header lacks a required frequency; then there is nothing to compensate */
};

struct slice_verdict judge_slice(unsigned cpu, const uint64_t cycles[CHARACTERIZE_LEVELS], uint64_t ns, unsigned level);
int worth_going_up(unsigned from, unsigned to, unsigned active_cores, int32_t quiet_ns);

struct slice_verdict judge_slice(unsigned cpu, const uint64_t cycles[CHARACTERIZE_LEVELS], uint64_t ns, unsigned level)
{
    struct slice_verdict v = {0, 0, 0};
#if CHARACTERIZE_N_TURBOS > 0
    struct characterize_slice s;
    struct characterize_ideal ideal;
    uint64_t all = 0;
    unsigned l;
    for (l = 0; l < CHARACTERIZE_LEVELS; l++) {
        s.cycles[l] = cycles[l];
        all += cycles[l];
    }
    s.ns = ns;
    if (characterize_ideal_khz(cpu, &s, level, &ideal)) {
        v.known = 1;
        v.ideal_khz = ideal.khz;
        v.measured_khz = characterize_mean_khz(all, ns << 22);
    }
#else
    (void)cpu, (void)cycles, (void)ns, (void)level;
#endif
    return v;
}

/* Returns 1 if code that stays at level `from` for this long gains from a change up from `to`, 0 if not, -1 if that is
 * unknown because the break-even time was not measured. */
int worth_going_up(unsigned from, unsigned to, unsigned active_cores, int32_t quiet_ns)
{
    int32_t breakeven_ns;
    if (!characterize_breakeven_ns(from, to, active_cores, &breakeven_ns))
        return -1;
    return quiet_ns > breakeven_ns;
}

#ifndef CONSUMER_NO_MAIN
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    uint64_t cycles[CHARACTERIZE_LEVELS] = {0};
    struct slice_verdict v;
    int l;
    if (argc != 7) {
        fprintf(stderr, "usage: consumer CPU CYCLES-L0 CYCLES-L1 CYCLES-L2 NS TASK-LEVEL\n");
        return 2;
    }
    for (l = 0; l < 3; l++) {
        uint64_t counted = (uint64_t)strtod(argv[2 + l], NULL);
        if (l < CHARACTERIZE_LEVELS) {
            cycles[l] = counted;
        } else if (counted > 0) { /* ignoring them would make the slice look slower than it was */
            printf("ideal frequency unknown: there are cycles at level %d, but the header has no such level\n", l);
            return 1;
        }
    }
    v = judge_slice((unsigned)atoi(argv[1]), cycles, (uint64_t)strtod(argv[5], NULL), (unsigned)atoi(argv[6]));
#if CHARACTERIZE_MODELLED
    printf("modelled, not measured: ");
#endif
    if (!v.known) {
        printf("ideal frequency unknown: a required value was not measured\n");
        return 1;
    }
    printf("measured %lu kHz, ideal %lu kHz\n", (unsigned long)v.measured_khz, (unsigned long)v.ideal_khz);
    return 0;
}
#endif
