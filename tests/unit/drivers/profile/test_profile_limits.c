/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The profiler's arithmetic at each of its limits, just below and just above: all combinations of a few values, held in
 * tests/golden/machine/profile.*, in a letter or number each.
 */
#include <inttypes.h>

#include "drivers/profile/profile_arithmetic.h"
#include "tests/support/golden.h"
#include "tests/support/test.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof *(ARRAY))

static void differences_and_frequencies(FILE *out)
{
    const struct profile_counts from = {.count = {10, 20, 30, 40, 50, 60}, .missing = 1 << PROFILE_REF};
    const struct profile_counts to = {.count = {11, 22, 33, 44, 55, 66}, .missing = 1 << PROFILE_LEVEL2};
    struct profile_counts d = profile_difference(&from, &to);
    fprintf(out, "difference:");
    for (unsigned i = 0; i < PROFILE_COUNTERS; i++)
        fprintf(out, " %" PRIu64, (uint64_t)d.count[i]);
    fprintf(out, ", missing %#x\n", (unsigned)d.missing);
    static const uint64_t cycles[] = {0, 1, 3, 1000, 0xffffffff, 0x100000000};
    static const uint64_t refs[] = {0, 1, 2, 999, 0xfffffffe, 0x300000000};
    for (unsigned missing = 0; missing < 8; missing++)
        for (size_t i = 0; i < LENGTH(cycles); i++) {
            fprintf(out, "khz, missing %u, %" PRIu64 ":", missing, cycles[i]);
            for (size_t k = 0; k < LENGTH(refs); k++) {
                d = (struct profile_counts){.count = {cycles[i], refs[k]}, .missing = missing};
                fprintf(out, " %u %u %u", profile_khz(&d, 2100000), profile_khz(&d, 16000), profile_khz(&d, 7));
            }
            fputc('\n', out);
        }
    for (uint32_t khz = 15999999; khz < 16000002; khz++) {
        d = (struct profile_counts){.count = {500, 500}};
        fprintf(out, "%u kHz: %u\n", khz, profile_khz(&d, khz));
    }
}

/* Of so many cycles: each number of them at levels 1 and 2. */
static void levels(FILE *out)
{
    static const uint64_t cycles[] = {0, 1, 8, 17};
    for (unsigned missing = 0; missing < 32; missing++) {
        for (size_t i = 0; i < LENGTH(cycles); i++)
            for (uint64_t one = 0; one <= cycles[i]; one += missing == 0 ? 1 : 7) {
                fprintf(out, "level, missing %u, %" PRIu64 " of %" PRIu64 ": ", missing, one, cycles[i]);
                for (uint64_t two = 0; two <= cycles[i]; two++) {
                    struct profile_counts d = {.count = {cycles[i], 0, one, two}, .missing = missing};
                    uint32_t level = profile_level(&d);
                    fputc(level == PROFILE_NO_LEVEL ? '-' : (char)('0' + level), out);
                }
                fputc('\n', out);
            }
    }
    for (unsigned which = 0; which < 3; which++) {
        struct profile_counts d = {.count = {10, 0, 0, 0}};
        static const unsigned counters[] = {PROFILE_CYCLES, PROFILE_LEVEL1, PROFILE_LEVEL2};
        d.count[counters[which]] = 0xffffffff;
        fprintf(out, "many: %u", profile_level(&d));
        d.count[counters[which]]++;
        fprintf(out, ", more: %u\n", profile_level(&d));
    }
}

static void stalls(FILE *out)
{
    static const uint64_t cycles[] = {0, 1, 7, 0xffffffff, 0x100000000};
    static const uint64_t loads[] = {0, 1, 3, 0xfffffff0, 0xffffffff, 0x100000000};
    for (unsigned missing = 0; missing < 64; missing += 16)
        for (size_t i = 0; i < LENGTH(cycles); i++) {
            fprintf(out, "stall, missing %u, of %" PRIu64 ":", missing, cycles[i]);
            for (size_t k = 0; k < LENGTH(loads); k++)
                for (uint64_t stores = 0; stores < 12; stores += 4) {
                    struct profile_counts d = {.count = {cycles[i], 0, 0, 0, loads[k], stores}, .missing = missing};
                    fprintf(out, " %u", profile_stall(&d));
                }
            fputc('\n', out);
        }
    static const uint32_t khz[] = {0, 1, 3, 2400000, 15999999, 16000000, 16000001};
    static const uint32_t shares[] = {0, 1, 100, 32768, 65535, 65536, 65537};
    for (size_t s = 0; s < LENGTH(shares); s++)
        for (size_t i = 0; i < LENGTH(khz); i++) {
            fprintf(out, "at, speedup: %u, %u kHz:", shares[s], khz[i]);
            for (size_t k = 0; k < LENGTH(khz); k++)
                fprintf(out, " %u %u", profile_stall_at(shares[s], khz[i], khz[k]),
                        profile_speedup(khz[i], khz[k], shares[s]));
            fputc('\n', out);
        }
}

/* A table whose frequencies are 1 % and 4 % apart, some of them equal, some the level's below. */
static void bins(FILE *out)
{
    static const struct profile_setup table = {
        .n_bins = 5,
        .bin = {
            {2, {10000, 9900, 8000}}, {4, {9900, 0, 8000}}, {8, {9900, 0, 0}}, {12, {9600, 9000, 8000}}, {16, {9600}}}};
    static const unsigned n_bins[] = {0, 1, 3, 5}, cores[] = {0, 1, 2, 3, 4, 9, 16, 17};
    for (size_t n = 0; n < LENGTH(n_bins); n++) {
        struct profile_setup s = table;
        s.n_bins = n_bins[n];
        for (uint32_t level = 0; level < 4; level++) {
            fprintf(out, "%u bins, level %u:", s.n_bins, level);
            for (uint32_t bin = 0; bin < 7; bin++)
                fprintf(out, " %u", profile_table_khz(&s, bin, level));
            fputc('\n', out);
            for (size_t c = 0; c < LENGTH(cores); c++) {
                fprintf(out, " %u cores: ", cores[c]);
                for (uint32_t khz = 7600; khz < 10500; khz += khz % 100 == 99 || khz % 100 == 0 ? 1 : 49) {
                    bool limited;
                    uint32_t bin = profile_find_bin(&s, level, khz, cores[c], &limited);
                    fputc(bin == PROFILE_NO_BIN ? (limited ? '!' : '-') : (char)((limited ? 'A' : 'a') + bin), out);
                }
                fputc('\n', out);
            }
        }
    }
    /* exactly 4 % above the highest, and below the lowest; none; more than there can be */
    static const uint32_t khz[] = {0, 1, 9215, 9216, 9217, 10399, 10400, 10401, 15999999, 16000000, 16000001};
    for (size_t i = 0; i < LENGTH(khz); i++) {
        bool limited;
        uint32_t bin = profile_find_bin(&table, 0, khz[i], 0, &limited);
        fprintf(out, "%u kHz: bin %d, limited %d\n", khz[i], (int)bin, limited);
    }
    struct profile_setup fast = table;
    fast.bin[0].khz[0] = 16000000;
    for (uint32_t at = 15999999; at < 16000002; at++) {
        bool limited;
        fprintf(out, "%u kHz, fast: %d\n", at, (int)profile_find_bin(&fast, 0, at, 0, &limited));
    }
}

static struct profile_setup valid_setup(void)
{
    return (struct profile_setup){.flags = PROFILE_SOURCES,
                                  .mean_us = 1000000,
                                  .pause_us = 1000,
                                  .window_us = 100,
                                  .ref_khz = 2100000,
                                  .n_bins = 2,
                                  .bin = {{4, {3000000, 2500000, 2000000}}, {8, {2800000, 0, 0}}}};
}

/* One number after the other, at its limits and beyond. */
static void setups(FILE *out)
{
    static const struct {
        const char *what;
        size_t at;
        uint32_t values[6];
    } numbers[] = {
#define AT(FIELD) #FIELD, offsetof(struct profile_setup, FIELD)
        {AT(flags), {0, 1, 6, 7, 8, 15}},
        {AT(mean_us),
         {0, PROFILE_MEAN_US_MIN - 1, PROFILE_MEAN_US_MIN, PROFILE_MEAN_US_MAX, PROFILE_MEAN_US_MAX + 1, 2000}},
        {AT(pause_us),
         {0, PROFILE_PAUSE_US_MIN - 1, PROFILE_PAUSE_US_MIN, PROFILE_PAUSE_US_MAX, PROFILE_PAUSE_US_MAX + 1, 4000}},
        {AT(window_us),
         {0, PROFILE_WINDOW_US_MIN - 1, PROFILE_WINDOW_US_MIN, PROFILE_WINDOW_US_MAX, PROFILE_WINDOW_US_MAX + 1, 99}},
        {AT(ref_khz), {0, 1, 15999999, 16000000, 16000001, 99}},
        {AT(n_bins), {0, 1, 2, 3, PROFILE_BINS_MAX, PROFILE_BINS_MAX + 1}},
        {AT(bin[0].cores), {0, 1, 4, 7, 8, 9}},
        {AT(bin[1].cores), {0, 3, 4, 5, 8, 9}},
        {AT(bin[0].khz[0]), {0, 1, 15999999, 16000000, 16000001, 99}},
        {AT(bin[1].khz[0]), {0, 1, 15999999, 16000000, 16000001, 99}},
        {AT(bin[1].khz[2]), {0, 1, 15999999, 16000000, 16000001, 99}},
#undef AT
    };
    for (size_t i = 0; i < LENGTH(numbers); i++) {
        fprintf(out, "%s:", numbers[i].what);
        for (int k = 0; k < 6; k++) {
            struct profile_setup s = valid_setup();
            memcpy((char *)&s + numbers[i].at, &numbers[i].values[k], sizeof numbers[i].values[k]);
            fprintf(out, " %u=%d", numbers[i].values[k], profile_setup_valid(&s, 16));
        }
        fputc('\n', out);
    }
    struct profile_setup s = valid_setup();
    s.ref_khz = 0;
    s.flags = PROFILE_REHEARSAL;
    fprintf(out, "a rehearsal without a reference: %d\n", profile_setup_valid(&s, 16));
    s = valid_setup();
    s.n_bins = PROFILE_BINS_MAX;
    for (uint32_t i = 0; i < PROFILE_BINS_MAX; i++)
        s.bin[i] = (struct profile_bin){i + 1, {1000, 1000, 1000}};
    fprintf(out, "as many bins as fit: %d, %u\n", profile_setup_valid(&s, 16),
            profile_table_khz(&s, PROFILE_BINS_MAX - 1, 2));
    s.n_bins = PROFILE_BINS_MAX + 1;
    bool limited;
    fprintf(out, "and one more: %u, %d\n", profile_table_khz(&s, PROFILE_BINS_MAX, 0),
            (int)profile_find_bin(&s, 0, 1000, PROFILE_BINS_MAX, &limited));
    for (uint32_t cores = 0; cores < 4; cores++)
        for (uint32_t mean = 0; mean < 40000; mean += 10000) {
            s = valid_setup();
            s.mean_us = mean + mean / 5000;
            s.pause_us = 1001;
            fprintf(out, "%u cores, %u us: %u ppm, %d\n", cores, s.mean_us, profile_duty_ppm(&s, cores),
                    profile_setup_valid(&s, cores));
        }
    s = valid_setup();
    for (uint32_t mean = 19999; mean < 20002; mean++) { /* just 5 % of a core, and more */
        s.mean_us = mean;
        s.pause_us = 1000;
        fprintf(out, "%u us: %u ppm, %d\n", mean, profile_duty_ppm(&s, 1), profile_setup_valid(&s, 1));
    }
    for (uint64_t k = 0; k < 20; k++) {
        s.mean_us = 10000 + 3 * (uint32_t)k;
        s.seed = k / 3;
        fprintf(out, "interval %" PRIu64 ": %" PRIu64 " ns\n", k, (uint64_t)profile_interval_ns(&s, k));
    }
}

#define HELD_AS(WHAT, FUNCTION)                                                                                        \
    TEST(test_##FUNCTION)                                                                                              \
    {                                                                                                                  \
        struct golden g;                                                                                               \
        FUNCTION(golden_begin(&g));                                                                                    \
        golden_expect(&g, "machine/profile", WHAT, false);                                                             \
    }
HELD_AS("frequencies", differences_and_frequencies)
HELD_AS("levels", levels)
HELD_AS("stalls", stalls)
HELD_AS("bins", bins)
HELD_AS("setups", setups)
