/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of the uncore, from made trees of both kinds of drivers. */
#include "computer/cpu/uncore.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

#define UNCORE "devices/system/cpu/intel_uncore_frequency/"

static void put_cpu(const char *root, int cpu, const char *package, const char *die)
{
    char name[120];
    snprintf(name, sizeof name, "devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    folder_put_line(root, name, package);
    snprintf(name, sizeof name, "devices/system/cpu/cpu%d/topology/die_id", cpu);
    folder_put_line(root, name, die);
}

static void put_domain(const char *root, int number, const char *package, const char *domain, const char *agents,
                       const char *khz)
{
    const char *const files[][2] = {
        {"package_id", package}, {"domain_id", domain}, {"agent_types", agents}, {"current_freq_khz", khz}};
    char name[160];
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, UNCORE "uncore%02d/%s", number, files[i][0]);
        if (files[i][1])
            folder_put_line(root, name, files[i][1]);
    }
}

static double ghz_of(const char *root, int cpu)
{
    struct machine_error err;
    double ghz = 0;
    return cpu_uncore_ghz(root, cpu, &ghz, &err) == MACHINE_OK ? ghz : -1;
}

TEST(by_package_and_die)
{
    char root[FOLDER_PATH_MAX];
    folder_make(root);
    put_cpu(root, 0, "0", "0");
    put_cpu(root, 7, "1", "0");
    put_cpu(root, 9, "2", "0");
    folder_put_line(root, UNCORE "package_00_die_00/current_freq_khz", "2400000");
    folder_put_line(root, UNCORE "package_01_die_00/current_freq_khz", "1500000");
    folder_put_line(root, UNCORE "package_02_die_00/current_freq_khz", "0");
    assert_float_equal(ghz_of(root, 0), 2.4, 1e-9);
    assert_float_equal(ghz_of(root, 7), 1.5, 1e-9);
    assert_float_equal(ghz_of(root, 9), -1, 1e-9);
    folder_remove(root);
}

/* Parts whose dies have clocks of their own, and dies for input and output besides. */
TEST(by_domain)
{
    char root[FOLDER_PATH_MAX];
    folder_make(root);
    put_cpu(root, 3, "1", "1");
    put_cpu(root, 4, "1", "2");
    put_cpu(root, 5, "0", "0");
    put_domain(root, 0, "0", "0", NULL, "2000000");
    put_domain(root, 1, "1", "1", "io", "800000");
    put_domain(root, 2, "1", "0", "core cache", "2100000");
    put_domain(root, 3, "1", "1", "core", "2200000");
    folder_put_line(root, UNCORE "package_01_die_01/current_freq_khz", "999000");
    assert_float_equal(ghz_of(root, 3), 2.2, 1e-9);
    assert_float_equal(ghz_of(root, 4), 2.1, 1e-9);
    assert_float_equal(ghz_of(root, 5), 2.0, 1e-9);
    folder_remove(root);
}

TEST(where_there_is_none)
{
    char root[FOLDER_PATH_MAX];
    struct machine_error err;
    double ghz;
    folder_make(root);
    assert_int_equal(cpu_uncore_ghz(root, 2, &ghz, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "CPU 2"));
    assert_non_null(strstr(err.remedy, "intel_uncore_frequency"));
    folder_remove(root);
}

TEST_GROUP(NULL, NULL)
