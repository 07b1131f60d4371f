/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of fixed work in several lengths that take turns; the fastest and the slowest of each slice are kept. */
#include "probes/disturbances.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "computer/cpu/cpu.h"
#include "computer/cpu/tsc.h"
#include "kernels/kernels.h"
#include "util/clock.h"

#define SETTLE_S 0.02 /* the clock rises from idle */
#define SLICE_S 0.005 /* half of the slices have a tick where there are a hundred a second */
#define MOST_S 0.5

/* Chains of 2400 adds: 0.6 to 1 us at 4 to 2.4 GHz. */
static const unsigned lengths[DISTURBANCE_LENGTHS] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};

/* The ticks of so many chains. */
static uint64_t take_sample(unsigned chains)
{
    uint64_t begin, next, end = kernel_chain_steady_short(&begin);
    while (--chains > 0)
        end = kernel_chain_steady_short(&next);
    return end - begin;
}

static void take_slice(unsigned chains, double seconds, double *fastest, double *slowest)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (double begun = clock_seconds(CLOCK_MONOTONIC); clock_seconds(CLOCK_MONOTONIC) - begun < seconds;) {
        uint64_t ticks = take_sample(chains);
        least = ticks < least ? ticks : least;
        most = ticks > most ? ticks : most;
    }
    *fastest = (double)least;
    *slowest = (double)most;
}

/* Returns whether it was complete before that time. */
static bool take_round(struct disturbance_slices *out, size_t r, double until)
{
    for (size_t i = 0; i < DISTURBANCE_LENGTHS; i++) {
        take_slice(lengths[i], SLICE_S, &out->fastest[i][r], &out->slowest[i][r]);
        if (clock_seconds(CLOCK_MONOTONIC) > until)
            return false;
    }
    return true;
}

static void take_rounds(struct disturbance_slices *out)
{
    double fastest, slowest, begun = clock_seconds(CLOCK_MONOTONIC);
    uint64_t ticks = tsc_now();
    take_slice(1, SETTLE_S, &fastest, &slowest);
    out->rounds = 0;
    while (out->rounds < DISTURBANCE_ROUNDS && take_round(out, out->rounds, begun + MOST_S))
        out->rounds++;
    double us = 1e6 * (clock_seconds(CLOCK_MONOTONIC) - begun) / (double)(tsc_now() - ticks);
    for (size_t i = 0; i < DISTURBANCE_LENGTHS; i++)
        for (size_t r = 0; r < out->rounds; r++) {
            out->fastest[i][r] *= us;
            out->slowest[i][r] *= us;
        }
}

int disturbances_measure(int cpu, struct disturbance_slices *out, struct machine_error *err)
{
    struct cpu_mask before;
    struct cpu_leaves leaves;
    char clocksource[40] = "", note[120];
    cpu_read_leaves(&leaves);
    cpu_read_text("/sys", clocksource, sizeof clocksource,
                  "devices/system/clocksource/clocksource0/current_clocksource");
    if (!tsc_usable(&leaves, clocksource, note, sizeof note))
        return machine_fail(err, MACHINE_CANNOT, "", "%s", note);
    if (cpu_pin(cpu, &before) != 0)
        return machine_fail(err, MACHINE_CANNOT, "", "CPU %d may not be used: %s", cpu, strerror(errno));
    take_rounds(out);
    (void)cpu_set_affinity(&before);
    return MACHINE_OK;
}
