/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of an export that the profiler uses: bins, the pause, waits, costs. */
#include "drivers/profile/profile_arithmetic.h"
#include "profiler/profile.h"
#include "schedulers/simulate/params.h"
#include "tests/support/folder.h"
#include "tests/support/random_export.h"
#include "tests/support/test.h"

enum { EXPORTS = 1000, TEXT_MAX = 400000 };

struct terms_of {
    struct profile_terms terms;
    struct profile_setup setup;
    char cpu[128];
};

static struct terms_of terms_of_file(const char *path)
{
    struct machine_error err;
    struct terms_of t = {.setup = {.seed = 9, .mean_us = 20000, .window_us = 70, .ref_khz = 2100000, .n_bins = 99}};
    if (profile_terms_read(path, &t.terms, &t.setup, t.cpu, sizeof(t.cpu), &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    return t;
}

static struct terms_of terms_of_text(const char *text)
{
    char folder[FOLDER_PATH_MAX], path[FOLDER_PATH_MAX + 20];
    folder_make(folder);
    folder_put(folder, "export.json", text);
    snprintf(path, sizeof(path), "%s/export.json", folder);
    struct terms_of t = terms_of_file(path);
    folder_remove(folder);
    return t;
}

TEST(test_xeon_gold_6130)
{
    static const struct profile_bin expected[] = {{2, {3700000, 3600000, 3500000}},
                                                  {4, {3500000, 3400000, 3100000}},
                                                  {8, {3400000, 3100000, 2400000}},
                                                  {12, {3100000, 2600000, 2100000}},
                                                  {16, {2800000, 2400000, 1900000}}};
    struct terms_of t = terms_of_file("tests/support/xeon-gold-6130.export.json");
    assert_string_equal(t.cpu, "Intel Xeon Gold 6130 CPU @ 2.10GHz (06_55H, stepping 4)");
    assert_int_equal(t.setup.n_bins, 5);
    assert_memory_equal(t.setup.bin, expected, sizeof(expected));
    /* one wait in eight is double: 1340.141 us, and 30 us more */
    assert_close(t.terms.wait_us, 1340.141, 1e-6);
    assert_int_equal(t.setup.pause_us, 1371);
    /* the mean over bins of 2, 4, 8, 12 (which has none of its own: as with 16) and 16 cores, down and up */
    assert_close(t.terms.change_us[1], (41.866 + 34.801 + 33.494 + 2 * 32.409) / 5 + 10.007, 0.001);
    assert_close(t.terms.change_us[2], (51.634 + 43.259 + 39.882 + 2 * 40.033) / 5 + 9.995, 0.001);
    assert_true(t.terms.breakeven_us[1] > 250 && t.terms.breakeven_us[1] < 300);
    assert_true(t.terms.breakeven_us[2] > 150 && t.terms.breakeven_us[2] < t.terms.breakeven_us[1]);
    /* settings that are not the export's stay */
    assert_int_equal(t.setup.seed, 9);
    assert_int_equal(t.setup.mean_us, 20000);
    assert_true(profile_setup_valid(&t.setup, 16));
}

#define HEAD                                                                                                           \
    "{\"format\": \"characterize-export/1\", \"cpu\": \"part\", \"source\": \"a test\", \"modelled\": false, "         \
    "\"version\": \"1\", "

TEST(test_export_that_says_little)
{
    struct terms_of t = terms_of_text(HEAD "\"levels\": 1, \"classes\": [], \"frequencies\": [{\"cpu\": 0, "
                                           "\"active_cores\": 4, \"level\": 0, \"mhz\": 3000}]}");
    static const struct profile_bin expected = {4, {3000000, 0, 0}};
    assert_int_equal(t.setup.n_bins, 1);
    assert_memory_equal(t.setup.bin, &expected, sizeof(expected));
    assert_true(isnan(t.terms.wait_us) && isnan(t.terms.change_us[1]) && isnan(t.terms.breakeven_us[2]));
    assert_int_equal(t.setup.pause_us, 700);
}

static void text_with_wait(double wait_us, char *text, size_t size)
{
    snprintf(text, size,
             HEAD "\"levels\": 2, \"classes\": [], \"frequencies\": ["
                  "{\"cpu\": 0, \"active_cores\": 1, \"level\": 0, \"mhz\": 3000}, "
                  "{\"cpu\": 0, \"active_cores\": 1, \"level\": 1, \"mhz\": 2500}], \"level_relaxations\": ["
                  "{\"from\": 1, \"to\": 0, \"mode\": 1, \"wait_ns\": %.0f}]}",
             wait_us * 1000);
}

TEST(test_pause_has_its_limits)
{
    static const struct {
        double wait_us;
        uint32_t pause_us;
    } cases[] = {{669.2, 700}, {670, 700}, {670.1, 701}, {2, PROFILE_PAUSE_US_MIN}, {1470, PROFILE_PAUSE_US_MAX}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1000];
        text_with_wait(cases[i].wait_us, text, sizeof(text));
        struct terms_of t = terms_of_text(text);
        assert_int_equal(t.setup.pause_us, cases[i].pause_us);
        assert_close(t.terms.wait_us, cases[i].wait_us, 1e-3);
    }
}

/* A shorter pause would lose just those samples that are slowed. */
TEST(test_waits_that_no_pause_outlasts)
{
    static const struct {
        double wait_us;
        const char *says;
    } cases[] = {{0, "held for 0 us"},
                 {1470.1, "at most 1500 us are permitted"},
                 {2000, "held for up to 2000 us"},
                 {1e6, "held for up to 1000000 us"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1000], folder[FOLDER_PATH_MAX], path[FOLDER_PATH_MAX + 20];
        struct terms_of t = {.setup = {.seed = 9}};
        struct machine_error err;
        text_with_wait(cases[i].wait_us, text, sizeof(text));
        folder_make(folder);
        folder_put(folder, "export.json", text);
        snprintf(path, sizeof(path), "%s/export.json", folder);
        assert_int_equal(profile_terms_read(path, &t.terms, &t.setup, t.cpu, sizeof(t.cpu), &err), MACHINE_BAD_INPUT);
        folder_remove(folder);
        if (strstr(err.text, cases[i].says) == NULL || strstr(err.text, "export.json: ") == NULL)
            fail_msg("%g us: '%s' does not say '%s'", cases[i].wait_us, err.text, cases[i].says);
    }
}

/* Neighbors that differ least become one where there are too many; every number of cores keeps a near frequency. */
TEST(test_more_bins_than_there_is_room)
{
    enum { CORES = 200 };
    char *text = malloc(TEXT_MAX);
    int n = snprintf(text, TEXT_MAX, HEAD "\"levels\": 2, \"classes\": [], \"frequencies\": [");
    for (int i = 1; i <= CORES; i++)
        n += snprintf(text + n, TEXT_MAX - (size_t)n,
                      "{\"cpu\": 0, \"active_cores\": %d, \"level\": 0, \"mhz\": %d}, "
                      "{\"cpu\": 0, \"active_cores\": %d, \"level\": 1, \"mhz\": %d}%s",
                      i, 4000 - 5 * i - (i > 100 ? 500 : 0), i, 3500 - 5 * i - (i > 100 ? 500 : 0),
                      i < CORES ? ", " : "]}");
    struct terms_of t = terms_of_text(text);
    free(text);
    assert_int_equal(t.setup.n_bins, PROFILE_BINS_MAX);
    assert_int_equal(t.setup.bin[PROFILE_BINS_MAX - 1].cores, CORES);
    assert_true(profile_setup_valid(&t.setup, 16));
    bool step = false;
    for (uint32_t i = 0, cores = 1; i < PROFILE_BINS_MAX; i++)
        for (; cores <= t.setup.bin[i].cores; cores++) {
            double khz = 1000.0 * (4000 - 5 * (int)cores - (cores > 100 ? 500 : 0));
            /* 200 in 64: four of them, 20 MHz apart, or a few more */
            assert_close(t.setup.bin[i].khz[0], khz, 20000);
            assert_close(t.setup.bin[i].khz[1], khz - 500000, 20000);
            step = step || t.setup.bin[i].cores == 100;
        }
    /* the largest step of all is kept */
    assert_true(step);
}

TEST(test_random_exports)
{
    char folder[FOLDER_PATH_MAX], path[FOLDER_PATH_MAX + 20];
    unsigned n_read = 0, n_refused = 0;
    folder_make(folder);
    snprintf(path, sizeof(path), "%s/export.json", folder);
    for (uint64_t seed = 0; seed < rng_rounds(EXPORTS); seed++) {
        struct rng r;
        struct machine_error err;
        struct terms_of t = {.setup = {.mean_us = 20000, .window_us = 70, .ref_khz = 2100000}};
        struct sim_params *p;
        rng_init(&r, seed, 130);
        random_export_write(path, &r, (unsigned)rng_int(&r, 1, 6), rng_chance(&r, 0.5));
        int status = sim_params_read(path, &p, &err);
        int read = profile_terms_read(path, &t.terms, &t.setup, t.cpu, sizeof(t.cpu), &err);
        if (status != MACHINE_OK) {
            assert_int_equal(read, status);
            continue;
        }
        if (t.terms.wait_us <= 0 || t.terms.wait_us > 1470) {
            n_refused++;
            assert_int_equal(read, MACHINE_BAD_INPUT);
            sim_params_free(p);
            continue;
        }
        assert_int_equal(read, MACHINE_OK);
        n_read++;
        assert_true(profile_setup_valid(&t.setup, 16));
        for (unsigned n = 1, bin = 0; n <= p->cores; n++) {
            bin += n > t.setup.bin[bin].cores;
            for (uint32_t level = 0; level < PROFILE_LEVELS && level < p->levels; level++)
                assert_int_equal(t.setup.bin[bin].khz[level], sim_params_speed(p, level, n) * 100);
        }
        sim_params_free(p);
    }
    folder_remove(folder);
    assert_true(n_read > rng_rounds(EXPORTS) / 10 && n_refused > 0);
}

/* Only an entry of `missing` that may be the reason is named. */
TEST(test_emptied_frequencies)
{
    static const struct {
        const char *missing, *says;
    } cases[] = {{"{\"table\": \"frequency\", \"why\": \"needs amx_bf16, which it does not support\", \"count\": 1}, "
                  "{\"table\": \"overhead\", \"why\": \"no change\", \"count\": 10}",
                  "export.json: the export has no frequencies"},
                 {"{\"table\": \"frequency\", \"why\": \"needs amx_bf16, which it does not support\", \"count\": 1}, "
                  "{\"table\": \"frequency\", \"why\": \"no clock\", \"count\": 20}",
                  "export.json: the export has no frequencies; its list 'missing' says why: no clock"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1000], folder[FOLDER_PATH_MAX], path[FOLDER_PATH_MAX + 20];
        struct terms_of t = {.setup = {.seed = 9}};
        struct machine_error err;
        snprintf(text, sizeof(text), HEAD "\"levels\": 1, \"classes\": [], \"frequencies\": [], \"missing\": [%s]}",
                 cases[i].missing);
        folder_make(folder);
        folder_put(folder, "export.json", text);
        snprintf(path, sizeof(path), "%s/export.json", folder);
        assert_int_equal(profile_terms_read(path, &t.terms, &t.setup, t.cpu, sizeof(t.cpu), &err), MACHINE_BAD_INPUT);
        folder_remove(folder);
        assert_string_equal(strstr(err.text, "export.json: "), cases[i].says);
    }
}

TEST(test_no_export)
{
    struct machine_error err;
    struct terms_of t;
    assert_int_equal(profile_terms_read("/nowhere/export.json", &t.terms, &t.setup, t.cpu, sizeof(t.cpu), &err),
                     MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "/nowhere/export.json"));
    /* then nothing is known */
    assert_int_equal(t.setup.n_bins, 0);
    assert_int_equal(t.setup.pause_us, 700);
    assert_true(isnan(t.terms.wait_us) && isnan(t.terms.change_us[2]));
}
