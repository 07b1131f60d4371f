/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The time-stamp counter as a clock.
 */
#include "drivers/cpu/tsc.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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
    enum { POINTS = 24 };
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
    double difference = declared_hz > 0 ? fabs(declared_hz / measured_hz - 1) : 0;
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
