/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rate of the TSC by CPUID and by readings of clocks, and which of them is believed. No clock is read. */
#include "computer/cpu/tsc.h"
#include "tests/support/test.h"

static struct cpu_leaves intel(uint32_t signature)
{
    struct cpu_leaves l = {.basic = {0x20, 0x756e6547, 0x6c65746e, 0x49656e69}, .version = {signature, 0, 0, 1u << 4}};
    return l;
}

static void declares(const struct cpu_leaves *l, double hz, const char *origin)
{
    const char *from;
    double got = tsc_declared_hz(l, &from);

    assert_float_equal(got / 1e6, hz / 1e6, 1e-6);
    assert_string_equal(from, origin);
}

TEST(test_leaf_15h_with_its_crystal)
{
    struct cpu_leaves l = intel(0x000806f8); /* Sapphire Rapids: 25 MHz * 160 / 2 */
    l.tsc = (struct cpuid_regs){2, 160, 25000000, 0};
    declares(&l, 2e9, "CPUID 15H");
    l.tsc = (struct cpuid_regs){2, 302, 19200000, 0};
    declares(&l, 19.2e6 * 151, "CPUID 15H");
}

TEST(test_leaf_15h_without_crystal_needs_16h)
{
    struct cpu_leaves l = intel(0x00050654);
    l.tsc = (struct cpuid_regs){2, 168, 0, 0};
    declares(&l, 0, "");
    l.frequency.eax = 0xabcd0000 | 2100; /* the upper half is reserved */
    declares(&l, 2.1e9, "CPUID 15H and 16H");
}

TEST(test_denverton_has_25_mhz)
{
    struct cpu_leaves l = intel(0x000506f1);
    l.tsc = (struct cpuid_regs){3, 252, 0, 0};
    declares(&l, 2.1e9, "CPUID 15H, crystal 25 MHz by model");
    memcpy(&l.basic.ebx, "Auth", 4); /* the same numbers of another maker mean nothing */
    declares(&l, 0, "");
}

TEST(test_absent_leaves_declare_nothing)
{
    struct cpu_leaves l = intel(0x000306c3);
    declares(&l, 0, "");
    l.tsc = (struct cpuid_regs){0, 168, 24000000, 0}; /* a denominator of 0 */
    declares(&l, 0, "");
    l.tsc = (struct cpuid_regs){2, 0, 24000000, 0};
    declares(&l, 0, "");
    /* an Ivy Bridge's answer above its highest leaf: 0.1 MHz */
    l.tsc = (struct cpuid_regs){7, 0x340, 0x340, 0};
    declares(&l, 0, "");
}

TEST(test_hypervisor_leaf_is_used_last)
{
    struct cpu_leaves l = intel(0x00050654);
    l.hv_timing.eax = 2095079;
    declares(&l, 2095.079e6, "CPUID 40000010H");
    l.tsc = (struct cpuid_regs){2, 168, 25000000, 0};
    declares(&l, 2.1e9, "CPUID 15H");
    l.tsc = (struct cpuid_regs){0};
    l.hv_timing.eax = 5;
    declares(&l, 0, "");
}

TEST(test_usable_when_invariant)
{
    char note[160];
    struct cpu_leaves l = intel(0x00050654);
    l.power.edx = 1u << 8;
    assert_true(tsc_usable(&l, "tsc", note, sizeof note));
    assert_string_equal(note, "");
    assert_true(tsc_usable(&l, "hpet", note, sizeof note));
    assert_non_null(strstr(note, "hpet"));
    l.version.edx = 0;
    assert_false(tsc_usable(&l, "tsc", note, sizeof note));
    assert_non_null(strstr(note, "no time-stamp counter"));
}

TEST(test_not_invariant_is_refused_but_for_guests_that_keep_time_by_it)
{
    char note[160];
    struct cpu_leaves l = intel(0x00050654);
    assert_false(tsc_usable(&l, "tsc", note, sizeof note));
    assert_non_null(strstr(note, "not invariant"));
    l.version.ecx = 1u << 31;
    assert_true(tsc_usable(&l, "tsc", note, sizeof note));
    assert_non_null(strstr(note, "hypervisor"));
    assert_false(tsc_usable(&l, "kvm-clock", note, sizeof note));
    assert_non_null(strstr(note, "kvm-clock"));
    assert_false(tsc_usable(&l, "", note, sizeof note));
    assert_non_null(strstr(note, "unknown"));
}

/* All that is said of a clock, whole. */
TEST(test_what_is_said_of_the_tsc)
{
    static const struct {
        bool present, invariant, guest;
        const char *clocksource;
        bool usable;
        const char *note;
    } cases[] = {
        {true, true, false, "kvm-clock", true, ""},
        {true, true, true, "", true, ""},
        {true, true, false, "acpi_pm", true,
         "the kernel's clock source is acpi_pm although the TSC is invariant: it may have found the TSC unstable"},
        {true, true, false, "hpet", true,
         "the kernel's clock source is hpet although the TSC is invariant: it may have found the TSC unstable"},
        {true, false, true, "tsc", true,
         "the hypervisor does not declare the TSC invariant, but the kernel uses it as its clock source"},
        {true, false, true, "hpet", false,
         "the time-stamp counter is not invariant (CPUID 80000007H EDX[8] = 0, the kernel's clock is hpet)"},
        {true, false, false, "tsc", false,
         "the time-stamp counter is not invariant (CPUID 80000007H EDX[8] = 0, the kernel's clock is tsc)"},
        {true, false, false, "", false,
         "the time-stamp counter is not invariant (CPUID 80000007H EDX[8] = 0, the kernel's clock is unknown)"},
        {false, true, false, "tsc", false, "this CPU has no time-stamp counter"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* all other bits are set, or none is */
        for (unsigned others = 0; others < 2; others++) {
            char note[160] = "x";
            struct cpu_leaves l = intel(0x00050654);
            unsigned all = others ? ~0u : 0;
            l.version.edx = (all & ~(1u << 4)) | (unsigned)cases[i].present << 4;
            l.power.edx = (all & ~(1u << 8)) | (unsigned)cases[i].invariant << 8;
            l.version.ecx = (all & ~(1u << 31)) | (unsigned)cases[i].guest << 31;
            assert_int_equal(tsc_usable(&l, cases[i].clocksource, note, sizeof note), cases[i].usable);
            assert_string_equal(note, cases[i].note);
        }
    }
}

/* 100 MHz to 20 GHz are believed; what is beyond is as if it were not known. */
TEST(test_rates_that_are_believed)
{
    struct cpu_leaves l = intel(0x00050654);
    static const struct {
        uint32_t khz;
        double hz;
    } cases[] = {{99999, 0}, {100000, 1e8}, {20000000, 2e10}, {20000001, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        l.hv_timing.eax = cases[i].khz;
        declares(&l, cases[i].hz, cases[i].hz > 0 ? "CPUID 40000010H" : "");
    }
    l.hv_timing.eax = 2000000;
    l.tsc = (struct cpuid_regs){1, 4, 24999999, 0}; /* 99999996 Hz */
    declares(&l, 2e9, "CPUID 40000010H");
    l.tsc.ecx = 25000000;
    declares(&l, 1e8, "CPUID 15H");
    l.tsc = (struct cpuid_regs){1, 1, 1, 0};
    l.hv_timing.eax = 0;
    declares(&l, 0, "");
}

/* Twice the standard error of the slope, and half the brackets at both ends, over the slope. */
TEST(test_fit_error_is_what_it_says)
{
    const struct tsc_point p[3] = {{100, 0, 6}, {2300, 1, 1000}, {4100, 2, 10}};
    double hz, error;
    assert_int_equal(tsc_fit(p, 3, &hz, &error), 0);
    /* the slope is 2000; residuals -66 2/3, 133 1/3, -66 2/3; one degree of freedom; squares of times from 1 s: 2 */
    double squares = (2 * 200.0 * 200 + 400.0 * 400) / 9;
    assert_float_equal(hz, 2000, 1e-9);
    assert_float_equal(error, (2 * sqrt(squares / 1 / 2) + (6 + 10) / 2.0 / 2) / 2000, 1e-12);
}

TEST(test_fit_of_an_exact_line)
{
    struct tsc_point p[10];
    double hz, error;
    for (int i = 0; i < 10; i++) {
        double s = 1000 + 0.01 * i;
        p[i] = (struct tsc_point){5e13 + 2.1e9 * s, s, 60};
    }
    assert_int_equal(tsc_fit(p, 10, &hz, &error), 0);
    assert_float_equal(hz / 2.1e9, 1, 1e-9);
    /* the brackets alone: 60 ticks in 0.09 s at 2.1 GHz */
    assert_float_equal(error * 1e7, 60 / (0.09 * 2.1e9) * 1e7, 0.05);
}

TEST(test_fit_error_covers_noise)
{
    struct tsc_point p[24];
    uint32_t random = 1;
    int outside = 0;
    for (int trial = 0; trial < 1000; trial++) {
        double hz, error;
        for (int i = 0; i < 24; i++) {
            random = random * 1664525 + 1013904223;
            double noise = (random >> 8) / 16777216.0 - 0.5;
            p[i] = (struct tsc_point){2e9 * 0.0025 * i + 20000 * noise, 0.0025 * i, 0};
        }
        assert_int_equal(tsc_fit(p, 24, &hz, &error), 0);
        outside += fabs(hz / 2e9 - 1) > error;
    }
    /* two standard errors: 4.6 % of a normal distribution lie outside, 5.8 % of Student's with 22 degrees of freedom */
    assert_in_range(outside, 20, 90);
}

TEST(test_fit_refuses_what_is_no_line)
{
    double hz, error;
    const struct tsc_point same[3] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}};
    const struct tsc_point back[3] = {{3, 1, 1}, {2, 2, 1}, {1, 3, 1}};
    assert_int_equal(tsc_fit(same, 3, &hz, &error), -1);
    assert_int_equal(tsc_fit(back, 3, &hz, &error), -1);
    assert_int_equal(tsc_fit(back, 2, &hz, &error), -1);
}

TEST(test_cpuid_is_believed_within_a_thousandth)
{
    struct tsc_rate r;
    tsc_decide(2.1e9, "CPUID 15H", 2.1e9 * 1.0004, 1e-5, &r);
    assert_float_equal(r.hz, 2.1e9, 1);
    assert_string_equal(r.origin, "CPUID 15H");
    assert_float_equal(r.error, 0.00041, 2e-6); /* the disagreement is part of the error */
    assert_string_equal(r.note, "");
}

TEST(test_measurement_wins_where_cpuid_is_wrong_or_silent)
{
    struct tsc_rate r;
    tsc_decide(2e9, "CPUID 15H and 16H", 1.992e9, 1e-5, &r);
    assert_float_equal(r.hz, 1.992e9, 1);
    assert_float_equal(r.error, 1e-5, 1e-9);
    assert_non_null(strstr(r.origin, "calibrated"));
    assert_non_null(strstr(r.origin, "disagrees"));
    assert_non_null(strstr(r.note, "2000.0 MHz"));
    tsc_decide(0, "", 2.6e9, 2e-6, &r);
    assert_string_equal(r.origin, "calibrated against CLOCK_MONOTONIC_RAW");
    assert_float_equal(r.hz, 2.6e9, 1);
    assert_string_equal(r.note, "");
}

/* Readings of a clock that runs evenly and is rounded down to steps, at distances that vary; one in 300 is
 * disturbed. */
static double step_seen(double step, double distance, double spread, uint64_t seed)
{
    uint64_t readings[1000];
    double now = 1e9 + (double)(seed * 977);

    for (size_t i = 0; i < 1000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double part = (double)(seed >> 11) * 0x1p-53;
        now += distance + spread * part + (i % 300 == 299 ? 9000 * part : 0);
        readings[i] = (uint64_t)floor(floor(now / step) * step);
    }
    return tsc_step(readings, 1000);
}

TEST(test_step)
{
    static const double whole[] = {1, 2, 3, 7, 10, 20, 25, 26, 65, 100};
    static const double fractional[] = {22.5, 36.66, 52.5};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
            assert_float_equal(step_seen(whole[i], 60, 300, seed), whole[i], 1e-9);
            assert_float_equal(step_seen(whole[i], 2600, 200, seed), whole[i], 1e-9);
        }
        for (size_t i = 0; i < sizeof fractional / sizeof *fractional; i++) {
            assert_float_equal(step_seen(fractional[i], 60, 300, seed) / fractional[i], 1, 0.01);
            assert_float_equal(step_seen(fractional[i], 2600, 200, seed) / fractional[i], 1, 0.02);
        }
    }
}

TEST(test_step_that_readings_do_not_tell)
{
    uint64_t readings[1000];

    for (size_t i = 0; i < 1000; i++)
        readings[i] = 500 + 26 * i; /* 26, or 13, or 1: all distances are alike */
    assert_float_equal(tsc_step(readings, 1000), 0, 0);
    assert_float_equal(step_seen(260, 60, 10, 1), 0, 0); /* by a step or not at all */
    for (size_t i = 0; i < 1000; i++)
        readings[i] = 500 + 26 * (3 * i + i % 3);
    assert_float_equal(tsc_step(readings, 1000), 26, 0);
    assert_float_equal(tsc_step(readings, TSC_STEP_READINGS), 26, 0);
    assert_float_equal(tsc_step(readings, TSC_STEP_READINGS - 1), 0, 0);
    readings[700] = 400; /* it went back */
    assert_float_equal(tsc_step(readings, 1000), 0, 0);
}
