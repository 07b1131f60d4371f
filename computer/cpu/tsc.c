/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time-stamp counter as a clock. */
#include "computer/cpu/tsc.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/order.h"

bool tsc_usable(const struct cpu_leaves *l, const char *clocksource, char *note, size_t size)
{
    bool guest = l->version.ecx >> 31 & 1;
    note[0] = '\0';
    if (!(l->version.edx >> 4 & 1)) { /* CPUID 1 EDX[4] */
        snprintf(note, size, "this CPU has no time-stamp counter");
        return false;
    }
    if (l->power.edx >> 8 & 1) { /* CPUID 80000007H EDX[8]: it runs at a constant rate in all states (vol. 3B) */
        if (strcmp(clocksource, "hpet") == 0 || strcmp(clocksource, "acpi_pm") == 0) {
            snprintf(
                note, size,
                "the kernel's clock source is %s although the TSC is invariant: it may have found the TSC unstable",
                clocksource);
        }
        return true;
    }
    if (guest && strcmp(clocksource, "tsc") == 0) {
        snprintf(note, size,
                 "the hypervisor does not declare the TSC invariant, but the kernel uses it as its clock source");
        return true;
    }
    snprintf(note, size,
             "the time-stamp counter is not invariant (CPUID 80000007H EDX[8] = 0, the kernel's clock is %s)",
             clocksource[0] != '\0' ? clocksource : "unknown");
    return false;
}

static double plausible(double hz)
{
    return hz >= 1e8 && hz <= 2e10 ? hz : 0;
}

static double crystal_hz(const struct cpu_leaves *l, const char **origin)
{
    struct cpu_identity id;
    cpu_identify(l, &id);
    if (l->tsc.ecx != 0) {
        *origin = "CPUID 15H";
        return l->tsc.ecx;
    }
    if (id.intel && id.family == 6 && id.model == 0x5f) {
        *origin = "CPUID 15H, crystal 25 MHz by model";
        return 25e6;
    }
    *origin = "CPUID 15H and 16H";
    return (l->frequency.eax & 0xffff) * 1e6 * l->tsc.eax / l->tsc.ebx;
}

double tsc_declared_hz(const struct cpu_leaves *l, const char **origin)
{
    *origin = "";
    if (l->tsc.eax != 0 && l->tsc.ebx != 0) {
        double hz = plausible(crystal_hz(l, origin) * l->tsc.ebx / l->tsc.eax);
        if (hz > 0)
            return hz;
    }
    double hz = plausible(l->hv_timing.eax * 1e3);
    *origin = hz > 0 ? "CPUID 40000010H" : "";
    return hz;
}

int tsc_fit(const struct tsc_point *p, size_t n, double *hz, double *error)
{
    const size_t stride = sizeof *p / sizeof(double);
    double offset, offsets, both, variance, rest, span = n < 3 ? 0 : p[n - 1].seconds - p[0].seconds;
    if (!(span > 0))
        return -1;
    gsl_fit_linear(&p->seconds, stride, &p->ticks, stride, n, &offset, hz, &offsets, &both, &variance, &rest);
    double bracket = (p[0].width + p[n - 1].width) / 2 / span;
    *error = (2 * sqrt(variance) + bracket) / *hz;
    return *hz > 0 ? 0 : -1;
}

/* The closest of many simultaneous readings: the others were interrupted or missed a cache. */
static int read_point(uint64_t origin, time_t second, struct tsc_point *out)
{
    out->width = INFINITY;
    for (int i = 0; i < 50; i++) {
        struct timespec now;
        uint64_t before = tsc_now();
        if (clock_gettime(CLOCK_MONOTONIC_RAW, &now) != 0)
            return -1;
        uint64_t after = tsc_now();
        double width = (double)(after - before);
        if (width < out->width) {
            out->width = width;
            out->ticks = (double)(before - origin) + width / 2;
            out->seconds = (double)(now.tv_sec - second) + 1e-9 * (double)now.tv_nsec;
        }
    }
    return 0;
}

static int calibrate_over(double seconds, double *hz, double *error)
{
    enum { POINTS = 24 }; /* enough for a standard error of the slope; more would not make the time shorter */
    struct tsc_point p[POINTS];
    struct timespec pause = {.tv_nsec = (long)(seconds / (POINTS - 1) * 1e9)};
    struct timespec begin;
    if (clock_gettime(CLOCK_MONOTONIC_RAW, &begin) != 0)
        return -1;
    uint64_t origin = tsc_now();
    for (int i = 0; i < POINTS; i++) {
        if (read_point(origin, begin.tv_sec, &p[i]) != 0)
            return -1;
        if (i + 1 < POINTS)
            clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    return tsc_fit(p, POINTS, hz, error);
}

int tsc_calibrate(double *hz, double *error)
{
    /* 0.02 % is wanted of the result; a tenth of it must come out here, or more time is spent */
    const double wanted = 2e-5;
    for (double seconds = 0.06; seconds < 1; seconds *= 4) {
        if (calibrate_over(seconds, hz, error) != 0)
            return -1;
        if (*error <= wanted)
            break;
    }
    return 0;
}

void tsc_decide(double declared_hz, const char *declared_origin, double measured_hz, double measured_error,
                struct tsc_rate *out)
{
    out->note[0] = '\0';
    double difference = fabs(declared_hz / measured_hz - 1);
    if (declared_hz > 0 && difference <= TSC_TOLERANCE) {
        out->hz = declared_hz;
        out->error = difference + measured_error;
        out->origin = declared_origin;
        return;
    }
    out->hz = measured_hz;
    out->error = measured_error;
    out->origin = "calibrated against CLOCK_MONOTONIC_RAW";
    if (declared_hz > 0) {
        out->origin = "calibrated against CLOCK_MONOTONIC_RAW, because CPUID disagrees";
        snprintf(out->note, sizeof out->note, "%s declares a TSC of %.1f MHz, but it runs at %.3f MHz", declared_origin,
                 declared_hz / 1e6, measured_hz / 1e6);
    }
}

/*
 * ---- its step ----
 *
 * Where the time-stamp counter is scaled, by the processor or for a guest, a step need not be a whole number of ticks:
 * at 22.5 ticks readings are 22 and 23 apart. So steps are tried, from the largest on, whole ones first.
 */

/* Readings farther apart say nothing of a step, and there would be too many candidates to try. */
enum { DISTANCES_MAX = 512, LEAST_FRACTIONAL = 8, FARTHEST = 100000 };
/* Of the distances so many must be multiples of the step: a reading in a hundred may be anything. */
static const double FITTING = 0.99;

/* Returns true if the distances are multiples of `step`, within `slack` ticks. A single multiple proves nothing: there
 * must be two different ones, each in at least one distance of a hundred. */
static bool step_fits(const double *distance, size_t n, double step, double slack)
{
    size_t misfits = 0, most = (size_t)((1 - FITTING) * (double)n), of_first = 0;
    double first = round(distance[n / 2] / step);
    for (size_t i = 0; i < n; i++) {
        double multiple = round(distance[i] / step);
        misfits += fabs(distance[i] - multiple * step) > slack;
        of_first += multiple == first;
        if (misfits > most)
            return false;
    }
    return n - of_first > most;
}

/* Distances of successive readings, without those of more than four times the median: something came between. Sorted.
 * Returns how many; 0 where the TSC went backwards. */
static size_t distances(const uint64_t *readings, size_t n, double *out)
{
    size_t count = 0, every = (n - 1 + DISTANCES_MAX - 1) / DISTANCES_MAX;
    for (size_t i = 1; i < n; i++)
        if (readings[i] < readings[i - 1])
            return 0;
    for (size_t i = 1; i < n; i += every) {
        uint64_t distance = readings[i] - readings[i - 1];
        if (distance > 0 && distance <= FARTHEST)
            out[count++] = (double)distance;
    }
    qsort(out, count, sizeof *out, order_double);
    while (count > 0 && out[count - 1] > 4 * out[count / 2])
        count--;
    return count;
}

/*
 * A step that is no whole number: every distance lies less than a tick from a multiple of it. Those that fit are an
 * interval around it, of which the middle is taken. 1: there is none.
 */
static double fractional_step(const double *distance, size_t n)
{
    /* a ratio so close to 1 that the largest distance moves, between trials, by less than a third of a tick */
    double longest = distance[n - 1], ratio = 1 - 0.3 / longest, first = 0;
    for (double step = longest; step >= LEAST_FRACTIONAL; step *= ratio) {
        bool fit = step_fits(distance, n, step, 1);
        if (fit && first <= 0)
            first = step;
        if (!fit && first > 0)
            return (first + step / ratio) / 2;
    }
    return 1;
}

double tsc_step(const uint64_t *readings, size_t n)
{
    double distance[DISTANCES_MAX];
    size_t count = n < TSC_STEP_READINGS ? 0 : distances(readings, n, distance);
    if (count < TSC_STEP_READINGS / 2 || distance[count / 100] >= distance[count - 1 - count / 100])
        return 0;
    double longest = distance[count - 1];
    for (double step = floor(longest); step > 1; step--)
        if (step_fits(distance, count, step, 0))
            return step;
    return fractional_step(distance, count);
}

double tsc_measure_step(void)
{
    enum { READINGS = 2048, DELAYS = 61 }; /* a prime number of delays, so that none is in step with the clock */
    uint64_t readings[READINGS];
    for (size_t i = 0; i < READINGS; i++) {
        /* adds that depend on each other: the distances vary by steps of a cycle */
        uint64_t sum = 0;
        for (size_t k = 0; k < i * 7 % DELAYS; k++)
            __asm__ volatile("add %1, %0" : "+r"(sum) : "r"(k));
        readings[i] = tsc_now();
    }
    return tsc_step(readings, READINGS);
}
