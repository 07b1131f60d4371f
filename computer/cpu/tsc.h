/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time-stamp counter: whether it can serve as a clock, and how fast it ticks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "computer/cpu/cpu.h"

/* Reads the TSC after all earlier instructions have finished and before any later one starts. */
static inline uint64_t tsc_now(void)
{
    uint32_t lo, hi;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(lo), "=d"(hi) : : "memory");
    return (uint64_t)hi << 32 | lo;
}

/*
 * Decides if the TSC may be used as a clock. `clocksource` is the kernel's current one ("tsc", "kvm-clock", "hpet"; may
 * be empty). Hypervisors often hide the invariant bit; a guest kernel that has settled on the TSC is then taken as
 * evidence (the bit: Intel SDM vol. 3B, "Invariant TSC"). Returns true, with a remark or "" in `note`; or false with
 * the reason there.
 */
bool tsc_usable(const struct cpu_leaves *l, const char *clocksource, char *note, size_t size);

/*
 * The frequency that CPUID declares, in Hz, or 0 where it declares none that makes sense. *origin is set to the leaves
 * it comes from. In this order:
 *   15H: ECX * EBX / EAX (Intel SDM vol. 2A, CPUID leaf 15H; vol. 3B, "Determining the Processor Base Frequency");
 *   15H with ECX = 0: Denverton has a crystal of 25 MHz, others give it as base frequency (16H) * EAX / EBX, so that
 *   the TSC runs at the base frequency (Linux, arch/x86/kernel/tsc.c, native_calibrate_tsc());
 *   40000010H: EAX kHz (the timing leaf that VMware defined and KVM user space adopted).
 */
double tsc_declared_hz(const struct cpu_leaves *l, const char **origin);

/* A TSC and a clock reading taken at the same time, as far as `width` (ticks around the clock reading) tells. */
struct tsc_point {
    double ticks;
    double seconds;
    double width;
};
/*
 * The TSC's frequency by regression. *error is relative: twice the standard error of the slope and what the widths of
 * the brackets at both ends could do to it. Needs three points or more over a time that is not 0; else returns -1.
 */
int tsc_fit(const struct tsc_point *p, size_t n, double *hz, double *error);

/*
 * Measures the frequency against CLOCK_MONOTONIC_RAW; takes 60 ms, up to about 1 s where the clock reads slowly. The
 * error is relative to that clock: it does not include the deviation of the crystal behind it. Returns 0, or -1 when
 * the clock does not work.
 */
int tsc_calibrate(double *hz, double *error);

/*
 * The step in which the TSC advances, in ticks, from n readings in the order in which they were taken: 26 where it
 * moves on every 10 ns at 2.6 GHz, 22.5 at 2.25 GHz, 1 where no coarser step shows. Needs at least TSC_STEP_READINGS of
 * them at distances that vary by more than a step, below 100000 ticks; returns 0 where they do not say, or where the
 * TSC has gone back.
 */
enum { TSC_STEP_READINGS = 100 };
double tsc_step(const uint64_t *readings, size_t n);
/* The same of readings that it takes now, on the CPU that it runs on; less than a millisecond. */
double tsc_measure_step(void);

struct tsc_rate {
    double hz;
    double error;       /* relative */
    const char *origin; /* static text */
    char note[120];     /* the disagreement, or "" */
};
/* CPUID and the calibration may differ so much before CPUID is disbelieved. */
#define TSC_TOLERANCE 1e-3
/* Decides between what CPUID declares (0 = nothing) and what was measured. */
void tsc_decide(double declared_hz, const char *declared_origin, double measured_hz, double measured_error,
                struct tsc_rate *out);
