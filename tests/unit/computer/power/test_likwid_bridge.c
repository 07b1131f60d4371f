/* SPDX-License-Identifier: GPL-3.0-or-later */
/* liblikwid after its bridge: a good one, bad ones that print, exit, crash and hang up, and the one of this system. */
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include "computer/power/likwid_bridge.h"
#include "tests/support/test.h"

/* A frequency as sysfs keeps it: the lower limit is never above the upper one. Lives in the child. */
static uint64_t low = 800000, high = 3700000;
static bool frozen;

static int good_init(void)
{
    puts("noise on standard output");
    fputs("noise on standard error\n", stderr);
    fflush(NULL);
    return 0;
}
/* Frequencies of CPUs 6 and on, in kHz: those above 0 and up to 100 GHz are valid. */
static const uint64_t limits[][2] = {{1, 100000000}, {0, 1}, {1, 0}, {1, 100000001}, {100000001, 1}};
static uint64_t get_low(int cpu)
{
    return cpu == 3   ? low
           : cpu == 2 ? UINT64_MAX
           : cpu < 6  ? 0
                      : limits[cpu - 6][0]; /* 5.2.2 says -1 for some errors */
}
static uint64_t get_high(int cpu)
{
    return cpu == 3 ? high : cpu < 6 ? 0 : limits[cpu - 6][1];
}
static uint64_t set_low(int cpu, uint64_t khz)
{
    (void)cpu;
    low = frozen || khz > high ? low : khz;
    return low;
}
static uint64_t set_high(int cpu, uint64_t khz)
{
    (void)cpu;
    high = frozen || khz < low ? high : khz;
    return high;
}
static int zero(void)
{
    return 0;
}
static int one(void)
{
    return 1;
}
static int add_thread(int cpu)
{
    return cpu == 3 ? 0 : -19;
}
static int power(int cpu)
{
    return cpu == 3;
}
static int no_power(int cpu)
{
    (void)cpu;
    return 0;
}
static double unit(int domain)
{
    return domain == LIKWID_DRAM ? 15.3e-6 : 61e-6;
}
static int start(struct likwid_power *data, int cpu, int domain)
{
    data->before = (uint32_t)(1000 * cpu + domain);
    return 0;
}

static int load_good(struct likwid_functions *out, char *why, size_t size)
{
    snprintf(why, size, "%s", "");
    *out = (struct likwid_functions){good_init, zero,       get_low, get_high, set_low, set_high,
                                     zero,      add_thread, power,   unit,     start};
    return 0;
}
static int load_bad(struct likwid_functions *out, char *why, size_t size)
{
    load_good(out, why, size);
    out->topology_init = one;
    return 0;
}
static int load_limited(struct likwid_functions *out, char *why, size_t size)
{
    load_good(out, why, size);
    out->freq_init = one;
    out->power_init = no_power;
    return 0;
}
static int leave(void)
{
    exit(0);
}
static int load_leaving(struct likwid_functions *out, char *why, size_t size)
{
    load_good(out, why, size);
    out->topology_init = leave;
    return 0;
}
static int crash(void)
{
    raise(SIGKILL);
    return 0;
}
static int load_crashing(struct likwid_functions *out, char *why, size_t size)
{
    load_good(out, why, size);
    out->topology_init = crash;
    return 0;
}
static int load_none(struct likwid_functions *out, char *why, size_t size)
{
    (void)out;
    snprintf(why, size, "not there");
    return -1;
}

TEST(test_what_works)
{
    char why[200] = "x";
    uint64_t min, max;
    uint32_t steps;
    double joules;
    assert_int_equal(likwid_found(load_good, why, sizeof why), 0);
    assert_string_equal(why, "");
    assert_int_equal(likwid_get_frequency(load_good, 3, &min, &max, why, sizeof why), 0);
    assert_int_equal(min, 800000);
    assert_int_equal(max, 3700000);
    assert_int_equal(likwid_read_energy(load_good, 3, LIKWID_DRAM, &steps, &joules, why, sizeof why), 0);
    assert_int_equal(steps, 3003);
    assert_true(joules == 15.3e-6);
    /* up and down: the limits never cross */
    assert_int_equal(likwid_set_frequency(load_good, 3, 2000000, 2000000, why, sizeof why), 0);
    low = high = 1000000;
    assert_int_equal(likwid_set_frequency(load_good, 3, 2000000, 2000000, why, sizeof why), 0);
    low = high = 3000000;
    assert_int_equal(likwid_set_frequency(load_good, 3, 2000000, 2000000, why, sizeof why), 0);
    low = 800000;
    high = 3700000;
}

static void refused(int status, const char *why, const char *expected)
{
    assert_int_equal(status, -1);
    if (strstr(why, expected) == NULL)
        fail_msg("\"%s\" instead of \"%s\"", why, expected);
}

TEST(test_what_does_not)
{
    char why[200];
    uint64_t min, max;
    uint32_t steps;
    double joules;
    refused(likwid_found(load_none, why, sizeof why), why, "not there");
    refused(likwid_found(load_bad, why, sizeof why), why, "topology");
    refused(likwid_found(load_leaving, why, sizeof why), why, "aborted (it exited)");
    refused(likwid_found(load_crashing, why, sizeof why), why, "aborted (it was ended by a signal)");
    refused(likwid_get_frequency(load_good, 4, &min, &max, why, sizeof why), why, "cannot read the frequency limits");
    refused(likwid_get_frequency(load_good, 2, &min, &max, why, sizeof why), why, "cannot read the frequency limits");
    assert_int_equal(likwid_get_frequency(load_good, 6, &min, &max, why, sizeof why), 0);
    assert_true(min == 1 && max == 100000000);
    for (int cpu = 7; cpu < 11; cpu++)
        refused(likwid_get_frequency(load_good, cpu, &min, &max, why, sizeof why), why,
                "cannot read the frequency limits");
    refused(likwid_get_frequency(load_limited, 3, &min, &max, why, sizeof why), why, "cannot access the frequency");
    refused(likwid_read_energy(load_limited, 3, 0, &steps, &joules, why, sizeof why), why, "knows no energy counters");
    refused(likwid_read_energy(load_good, 4, 0, &steps, &joules, why, sizeof why), why, "cannot reach the registers");
    frozen = true;
    refused(likwid_set_frequency(load_good, 3, 2000000, 2000000, why, sizeof why), why, "cannot set the frequency");
    frozen = false;
}

/* Whatever it is here: an answer, no noise, and this process goes on. */
TEST(test_the_one_of_this_system)
{
    char why[200], path[] = "/tmp/characterize-likwid-XXXXXX";
    uint64_t min, max;
    uint32_t steps;
    double joules;
    int file = mkstemp(path), out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    assert_true(file >= 0 && out >= 0 && err >= 0);
    fflush(NULL);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    int found = likwid_found(NULL, why, sizeof why);
    int frequency = likwid_get_frequency(NULL, 0, &min, &max, why, sizeof why);
    int energy = likwid_read_energy(NULL, 0, LIKWID_PACKAGE, &steps, &joules, why, sizeof why);
    fflush(NULL);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    close(file);
    close(out);
    close(err);
    unlink(path);
    print_message("liblikwid here: found %d, frequency %d, energy %d (%s)\n", found, frequency, energy, why);
    assert_true(found == 0 || (frequency == -1 && energy == -1));
    assert_true(frequency == -1 || (min > 0 && max >= min && max < 100000000));
    assert_true(energy == -1 || joules > 0);
    if (found != 0) {
        print_message("skipped: no liblikwid here\n");
        skip();
    }
}

/* All functions are those of these names, and are looked for to the last. */
TEST(test_what_is_loaded)
{
    void *lib = dlopen("liblikwid.so.5.4", RTLD_NOW | RTLD_LOCAL);
    lib = lib ? lib : dlopen("liblikwid.so.5.3", RTLD_NOW | RTLD_LOCAL);
    lib = lib ? lib : dlopen("liblikwid.so.5.2", RTLD_NOW | RTLD_LOCAL);
    struct likwid_functions f = {NULL};
    char why[200];
    int status = likwid_load(&f, why, sizeof why);
    if (!lib) {
        assert_int_equal(status, -1);
        print_message("skipped: no liblikwid here\n");
        skip();
    }
    assert_int_equal(status, 0);
    const struct {
        const char *name;
        void *found;
    } each[] = {
        {"topology_init", &f.topology_init},
        {"freq_init", &f.freq_init},
        {"freq_getCpuClockMin", &f.freq_getCpuClockMin},
        {"freq_getCpuClockMax", &f.freq_getCpuClockMax},
        {"freq_setCpuClockMin", &f.freq_setCpuClockMin},
        {"freq_setCpuClockMax", &f.freq_setCpuClockMax},
        {"HPMinit", &f.HPMinit},
        {"HPMaddThread", &f.HPMaddThread},
        {"power_init", &f.power_init},
        {"power_getEnergyUnit", &f.power_getEnergyUnit},
        {"power_start", &f.power_start},
    };
    assert_int_equal(sizeof each / sizeof *each, sizeof f / sizeof f.freq_init);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        void *symbol = dlsym(lib, each[i].name);
        assert_non_null(symbol);
        assert_memory_equal(each[i].found, &symbol, sizeof symbol);
    }
    dlclose(lib);
}
