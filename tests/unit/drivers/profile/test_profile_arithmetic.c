/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiler's whole-number arithmetic, against doc/profiler.md and against floating point. */
#include "drivers/profile/profile_arithmetic.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "util/order.h"

enum { ROUNDS = 200000, KHZ_MOST = 16000000 };
#define TEST_FRACTION (1.0 / 32768)

static uint32_t draw_khz(struct rng *r)
{
    return (uint32_t)rng_log(r, 1, KHZ_MOST);
}

/* ---- eq. 4.3 ---- */

static double exact_speedup(double now, double next, double stall)
{
    return next / (stall * (next - now) + now);
}

TEST(test_speedup_is_equation_4_3)
{
    assert_int_equal(profile_speedup(2800000, 2800000, 12345), PROFILE_ONE);
    assert_int_equal(profile_speedup(1000000, 3000000, 0), 3 * PROFILE_ONE);
    assert_int_equal(profile_speedup(1000000, 3000000, PROFILE_ONE), PROFILE_ONE);
    assert_int_equal(profile_speedup(1000000, 3000000, PROFILE_ONE / 2), 3 * PROFILE_ONE / 2);
    assert_int_equal(profile_speedup(KHZ_MOST, KHZ_MOST, 0), PROFILE_ONE);
    struct rng r;
    rng_init(&r, 43, 1);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t now = (uint32_t)rng_range(&r, 400000, KHZ_MOST), next = (uint32_t)rng_range(&r, 400000, KHZ_MOST);
        uint32_t stall = (uint32_t)rng_int(&r, 0, PROFILE_ONE);
        assert_close((double)profile_speedup(now, next, stall) / PROFILE_ONE,
                     exact_speedup(now, next, (double)stall / PROFILE_ONE), TEST_FRACTION);
    }
}

TEST(test_speedup_of_what_cannot_be)
{
    assert_int_equal(profile_speedup(0, 1000, 0), 0);
    assert_int_equal(profile_speedup(1000, 0, 0), 0);
    assert_int_equal(profile_speedup(KHZ_MOST + 1, 1000, 0), 0);
    assert_int_equal(profile_speedup(1000, KHZ_MOST + 1, 0), 0);
    assert_int_equal(profile_speedup(1000, 2000, PROFILE_ONE + 1), 0);
}

/* ---- what counters say ---- */

static struct profile_counts counts(uint64_t cycles, uint64_t one, uint64_t two)
{
    return (struct profile_counts){.count = {cycles, 0, one, two}};
}

TEST(test_level_thresholds)
{
    /* more than seven eighths of the cycles; for level 0 that leaves less than one */
    static const struct {
        uint64_t one, two;
        uint32_t level;
    } cases[] = {
        {0, 0, 0},
        {99, 0, 0},
        {100, 0, PROFILE_NO_LEVEL},
        {700, 0, PROFILE_NO_LEVEL},
        {701, 0, 1},
        {800, 0, 1},
        {0, 700, PROFILE_NO_LEVEL},
        {0, 701, 2},
        {0, 800, 2},
        {50, 49, 0},
        {50, 50, PROFILE_NO_LEVEL},
        {99, 701, 2},
        {701, 99, 1},
        {400, 400, PROFILE_NO_LEVEL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct profile_counts d = counts(800, cases[i].one, cases[i].two);
        assert_int_equal(profile_level(&d), cases[i].level);
    }
    struct profile_counts none = counts(0, 0, 0), huge = counts(1ull << 32, 0, 0);
    assert_int_equal(profile_level(&none), PROFILE_NO_LEVEL);
    assert_int_equal(profile_level(&huge), PROFILE_NO_LEVEL);
    for (unsigned c = 0; c < PROFILE_COUNTERS; c++) {
        struct profile_counts d = counts(800, 0, 800);
        d.missing = 1u << c;
        bool needed = c == PROFILE_CYCLES || c == PROFILE_LEVEL1 || c == PROFILE_LEVEL2;
        assert_int_equal(profile_level(&d), needed ? PROFILE_NO_LEVEL : 2);
    }
}

TEST(test_frequency_from_cycles)
{
    struct rng r;
    rng_init(&r, 43, 2);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct profile_counts d = {.count = {(uint64_t)rng_log(&r, 100, 4e9), (uint64_t)rng_log(&r, 100, 4e9)}};
        uint32_t ref_khz = (uint32_t)rng_range(&r, 1e6, 4e6);
        double khz = (double)d.count[PROFILE_CYCLES] * ref_khz / (double)d.count[PROFILE_REF];
        uint32_t is = profile_khz(&d, ref_khz);
        if (khz > KHZ_MOST + 1)
            assert_int_equal(is, 0);
        else if (khz < KHZ_MOST - 1)
            assert_close(is, khz, 0.51);
    }
    struct profile_counts stopped = {.count = {1000, 0}}, d = {.count = {1000, 1000}};
    assert_int_equal(profile_khz(&stopped, 2100000), 0);
    d.missing = 1u << PROFILE_REF;
    assert_int_equal(profile_khz(&d, 2100000), 0);
    d.missing = 1u << PROFILE_STALL_LOADS;
    assert_int_equal(profile_khz(&d, 2100000), 2100000);
}

TEST(test_stall_share)
{
    struct profile_counts d = {.count = {1000, 0, 0, 0, 200, 300}};
    assert_int_equal(profile_stall(&d), PROFILE_ONE / 2);
    d.missing = 1u << PROFILE_STALL_STORES;
    assert_int_equal(profile_stall(&d), PROFILE_ONE / 5);
    d = (struct profile_counts){.count = {1000, 0, 0, 0, 900, 300}};
    assert_int_equal(profile_stall(&d), PROFILE_ONE);
    d.count[PROFILE_CYCLES] = 0;
    assert_int_equal(profile_stall(&d), 0);
    struct rng r;
    rng_init(&r, 43, 3);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t cycles = (uint64_t)rng_log(&r, 100, 4e9);
        d = (struct profile_counts){.count = {cycles, 0, 0, 0, (uint64_t)(rng_unit(&r) * (double)cycles), 0}};
        assert_close((double)profile_stall(&d) / PROFILE_ONE, (double)d.count[PROFILE_STALL_LOADS] / (double)cycles,
                     TEST_FRACTION);
    }
}

TEST(test_stall_share_at_another_frequency)
{
    struct rng r;
    rng_init(&r, 45, 3);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t from = (uint32_t)rng_log(&r, 800e3, 6e6), to = (uint32_t)rng_log(&r, 800e3, 6e6);
        uint32_t stall = (uint32_t)rng_int(&r, 0, PROFILE_ONE);
        /* us of waiting and of computing, of each us at the first frequency */
        double waits = (double)stall / PROFILE_ONE, computes = (1 - waits) * from / to;
        assert_close((double)profile_stall_at(stall, from, to) / PROFILE_ONE, waits / (waits + computes),
                     TEST_FRACTION);
        assert_int_equal(profile_stall_at(stall, from, from), stall);
    }
    assert_int_equal(profile_stall_at(0, 1900000, 2800000), 0);
    assert_int_equal(profile_stall_at(PROFILE_ONE, 16000000, 1), PROFILE_ONE);
    assert_int_equal(profile_stall_at(0, 1, 16000000), 0);
    assert_int_equal(profile_stall_at(1234, 0, 2800000), 1234);
    assert_int_equal(profile_stall_at(1234, 1900000, 0), 1234);
    assert_int_equal(profile_stall_at(1234, 1900000, 16000001), 1234);
}

TEST(test_counters_that_wrapped)
{
    struct profile_counts from = {.count = {UINT64_MAX - 10, 5}, .missing = 1}, to = {.count = {20, 8}, .missing = 4};
    struct profile_counts d = profile_difference(&from, &to);
    assert_int_equal(d.count[PROFILE_CYCLES], 31);
    assert_int_equal(d.count[PROFILE_REF], 3);
    assert_int_equal(d.missing, 5);
}

/* ---- bins ---- */

/* The Xeon Gold 6130 (dissertation, table 3.1), and a level 1 that has no frequency of its own in the last bin. */
static const struct profile_setup bins = {
    .n_bins = 5,
    .bin = {{2, {3700000, 3600000, 3500000}},
            {4, {3500000, 3400000, 3100000}},
            {8, {3400000, 3100000, 2400000}},
            {12, {3100000, 2600000, 2100000}},
            {16, {2800000, 0, 1900000}}},
};

TEST(test_table_with_holes)
{
    assert_int_equal(profile_table_khz(&bins, 2, 1), 3100000);
    assert_int_equal(profile_table_khz(&bins, 4, 1), 2800000);
    assert_int_equal(profile_table_khz(&bins, 4, 2), 1900000);
    assert_int_equal(profile_table_khz(&bins, 5, 0), 0);
    assert_int_equal(profile_table_khz(&bins, PROFILE_NO_BIN, 0), 0);
    assert_int_equal(profile_table_khz(&bins, 0, PROFILE_LEVELS), 0);
    struct profile_setup hollow = bins;
    hollow.bin[0].khz[1] = hollow.bin[0].khz[2] = 0;
    assert_int_equal(profile_table_khz(&hollow, 0, 2), 3700000);
}

static void finds(uint32_t level, uint32_t khz, uint32_t cores, uint32_t bin, bool is_limited)
{
    bool limited;
    uint32_t found = profile_find_bin(&bins, level, khz, cores, &limited);
    if (found != bin || limited != is_limited)
        fail_msg("level %u at %u kHz with %u cores: bin %u%s", level, khz, cores, found,
                 limited ? "" : ", not limited");
}

TEST(test_bin_by_frequency)
{
    for (uint32_t bin = 0; bin < bins.n_bins; bin++)
        for (uint32_t level = 0; level < PROFILE_LEVELS; level++)
            for (int off = -1; off <= 1; off++)
                finds(level, (uint32_t)((int)profile_table_khz(&bins, bin, level) + off * 5000), 0, bin, true);
    /* of two bins the nearer; of two that are equally near, within 1 %, the one for so many cores */
    finds(2, 2260000, 4, 2, true);
    finds(2, 2240000, 16, 3, true);
    finds(2, 2250000, 8, 2, true);
    finds(2, 2250000, 9, 3, true);
    finds(2, 2250000, 1, 2, true);  /* fewer than in any of them */
    finds(2, 2250000, 16, 3, true); /* more than in any of them */
    finds(2, 2250000, 0, 2, true);
    /* 4 % above all, or below */
    finds(0, 3848000, 1, 0, true);
    finds(0, 3848001, 1, PROFILE_NO_BIN, false);
    finds(2, 1824000, 16, 4, true);
    finds(2, 1823999, 16, 4, false);
    finds(2, 1000, 16, 4, false);
    finds(0, 0, 1, PROFILE_NO_BIN, false);
    finds(PROFILE_LEVELS, 2000000, 1, PROFILE_NO_BIN, false);
    finds(PROFILE_NO_LEVEL, 2000000, 1, PROFILE_NO_BIN, false);
}

TEST(test_bin_without_a_table)
{
    static const struct profile_setup none;
    bool limited = true;
    assert_int_equal(profile_find_bin(&none, 0, 2000000, 1, &limited), PROFILE_NO_BIN);
    assert_false(limited);
}

/* Three bins that look alike at level 2: only the cores tell them apart. */
TEST(test_bins_that_look_alike)
{
    static const struct profile_setup alike = {
        .n_bins = 3, .bin = {{4, {3000000, 0, 2000000}}, {8, {2800000, 0, 2000000}}, {16, {2600000, 0, 2000000}}}};
    static const uint32_t bin_of[] = {1, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    bool limited;
    for (uint32_t cores = 0; cores < sizeof(bin_of) / sizeof(bin_of[0]); cores++)
        assert_int_equal(profile_find_bin(&alike, 2, 2001000, cores, &limited), bin_of[cores]);
}

/* Whatever the table: the bin that is found is within reach of the nearest, and the best for the cores among those. */
TEST(test_bin_of_random_tables)
{
    struct rng r;
    rng_init(&r, 43, 4);
    for (unsigned round = 0; round < ROUNDS / 10; round++) {
        struct profile_setup s = {.n_bins = (uint32_t)rng_int(&r, 1, rng_chance(&r, 0.1) ? PROFILE_BINS_MAX : 6)};
        uint32_t cores = 0, level = (uint32_t)rng_int(&r, 0, 2), active = (uint32_t)rng_int(&r, 0, 80);
        for (uint32_t i = 0; i < s.n_bins; i++) {
            s.bin[i].cores = cores += (uint32_t)rng_int(&r, 1, 4);
            for (unsigned k = 0; k < PROFILE_LEVELS; k++)
                s.bin[i].khz[k] = k > 0 && rng_chance(&r, 0.2) ? 0 : (uint32_t)rng_int(&r, 15, 37) * 100000;
        }
        uint32_t khz = (uint32_t)rng_range(&r, 1.3e6, 3.9e6), highest = 0, lowest = UINT32_MAX;
        double nearest = INFINITY;
        for (uint32_t i = 0; i < s.n_bins; i++) {
            uint32_t here = profile_table_khz(&s, i, level);
            highest = here > highest ? here : highest;
            lowest = here < lowest ? here : lowest;
            nearest = fmin(nearest, fabs((double)here - khz));
        }
        bool limited;
        uint32_t bin = profile_find_bin(&s, level, khz, active, &limited);
        if (bin == PROFILE_NO_BIN) {
            assert_true(khz > highest * 1.04);
            continue;
        }
        assert_true(khz <= highest * 1.04);
        assert_int_equal(limited, khz >= lowest * 0.96);
        assert_true(fabs((double)profile_table_khz(&s, bin, level) - khz) <= nearest + 0.01 * khz);
        for (uint32_t i = 0; i < s.n_bins && active > 0; i++)
            if (fabs((double)profile_table_khz(&s, i, level) - khz) <= nearest + 0.01 * khz - 1) {
                bool reached = s.bin[bin].cores >= active, could = s.bin[i].cores >= active;
                assert_false(reached ? could && i < bin : i > bin);
            }
    }
}

/* ---- intervals ---- */

TEST(test_intervals_are_even)
{
    enum { N = 20000 };
    static double x[N];
    struct profile_setup s = {.seed = 7, .mean_us = 20000};
    double sum = 0, lag = 0;
    for (uint64_t k = 0; k < N; k++) {
        x[k] = (double)profile_interval_ns(&s, k) / 1e3 / s.mean_us - 0.5;
        assert_true(x[k] >= 0 && x[k] < 1);
        assert_int_equal(profile_interval_ns(&s, k), profile_interval_ns(&s, k));
        sum += x[k];
        lag += k > 0 ? (x[k] - 0.5) * (x[k - 1] - 0.5) : 0;
    }
    /* five standard errors */
    assert_close(sum / N, 0.5, 5 * sqrt(1.0 / 12 / N));
    assert_close(lag / N, 0, 5 * 1.0 / 12 / sqrt(N));
    /* Kolmogorov-Smirnov, one in 10^6 */
    qsort(x, N, sizeof(x[0]), order_double);
    for (unsigned k = 0; k < N; k++)
        assert_close(x[k], (k + 0.5) / N, 2.7 / sqrt(N));
    struct profile_setup other = s;
    other.seed = 8;
    unsigned same = 0;
    for (uint64_t k = 0; k < N; k++)
        same += profile_interval_ns(&s, k) == profile_interval_ns(&other, k);
    assert_true(same < 5);
}

TEST(test_longest_interval)
{
    struct profile_setup s = {.seed = 1, .mean_us = PROFILE_MEAN_US_MAX};
    for (uint64_t k = 0; k < 1000; k++) {
        uint64_t ns = profile_interval_ns(&s, UINT64_MAX - k);
        assert_in_range(ns, PROFILE_MEAN_US_MAX * 500ull, PROFILE_MEAN_US_MAX * 1500ull);
    }
}

/* ---- duty and limits of a setup ---- */

TEST(test_duty)
{
    /* section 4.5.3: 1 / 16 * 700 us / 20 ms = 0.22 % */
    struct profile_setup s = {.mean_us = 20000, .pause_us = 700};
    assert_int_equal(profile_duty_ppm(&s, 16), 2187);
    assert_int_equal(profile_duty_ppm(&s, 1), 35000);
    assert_int_equal(profile_duty_ppm(&s, 0), 1000000);
    s.mean_us = 0;
    assert_int_equal(profile_duty_ppm(&s, 16), 1000000);
    s.mean_us = 1;
    assert_int_equal(profile_duty_ppm(&s, 1), 1000000);
}

static struct profile_setup valid_setup(void)
{
    struct profile_setup s = bins;
    s.mean_us = 20000;
    s.pause_us = 700;
    s.window_us = 70;
    s.ref_khz = 2100000;
    return s;
}

TEST(test_setups_that_are_refused)
{
    struct profile_setup good = valid_setup(), s;
    assert_true(profile_setup_valid(&good, 16));
#define REFUSED(change, cores)                                                                                         \
    do {                                                                                                               \
        s = good;                                                                                                      \
        change;                                                                                                        \
        if (profile_setup_valid(&s, cores))                                                                            \
            fail_msg("valid: %s", #change);                                                                            \
    } while (0)
    REFUSED(s.flags = PROFILE_FLAGS + 1, 16);
    REFUSED(s.mean_us = PROFILE_MEAN_US_MIN - 1, 16);
    REFUSED(s.mean_us = PROFILE_MEAN_US_MAX + 1, 16);
    REFUSED(s.pause_us = PROFILE_PAUSE_US_MIN - 1, 16);
    REFUSED(s.pause_us = PROFILE_PAUSE_US_MAX + 1, 16);
    REFUSED(s.window_us = PROFILE_WINDOW_US_MIN - 1, 16);
    REFUSED(s.window_us = PROFILE_WINDOW_US_MAX + 1, 16);
    REFUSED(s.ref_khz = 0, 16);
    REFUSED(s.ref_khz = KHZ_MOST + 1, 16);
    REFUSED(s.n_bins = PROFILE_BINS_MAX + 1, 16);
    REFUSED(s.bin[3].khz[0] = 0, 16);
    REFUSED(s.bin[3].khz[2] = KHZ_MOST + 1, 16);
    REFUSED(s.bin[3].cores = 8, 16);
    REFUSED(s.bin[0].cores = 0, 16);
    REFUSED((void)s, 0);
    REFUSED(s.mean_us = 13999, 1);
#undef REFUSED
    s = good;
    s.mean_us = 14000;
    assert_true(profile_setup_valid(&s, 1));
    s.flags = PROFILE_REHEARSAL;
    s.ref_khz = s.n_bins = 0;
    assert_true(profile_setup_valid(&s, 1));
}

/* Whatever numbers come, nothing overflows (make sanitize) and fractions stay fractions. */
TEST(test_random_numbers_harm_nothing)
{
    struct rng r;
    rng_init(&r, 43, 5);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct profile_counts d;
        struct profile_setup s = valid_setup();
        bool limited;
        for (unsigned c = 0; c < PROFILE_COUNTERS; c++)
            d.count[c] = rng_bits(&r) >> rng_int(&r, 0, 63);
        d.missing = rng_chance(&r, 0.5) ? 0 : (uint32_t)rng_bits(&r);
        s.n_bins = (uint32_t)rng_bits(&r) >> rng_int(&r, 0, 31);
        for (unsigned c = 0; c < PROFILE_BINS_MAX; c++)
            s.bin[c].khz[rng_int(&r, 0, 2)] = (uint32_t)rng_bits(&r);
        uint32_t level = profile_level(&d), khz = profile_khz(&d, draw_khz(&r));
        assert_true(level < PROFILE_LEVELS || level == PROFILE_NO_LEVEL);
        assert_true(khz <= KHZ_MOST && profile_stall(&d) <= PROFILE_ONE);
        uint32_t bin = profile_find_bin(&s, level, (uint32_t)rng_bits(&r) >> rng_int(&r, 0, 31), (uint32_t)rng_bits(&r),
                                        &limited);
        assert_true(bin == PROFILE_NO_BIN || (bin < s.n_bins && bin < PROFILE_BINS_MAX));
        (void)profile_setup_valid(&s, (uint32_t)rng_bits(&r) >> rng_int(&r, 0, 31));
    }
}
