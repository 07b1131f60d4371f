/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where energy is read: fake powercap folders, a fake liblikwid, fake registers; laps, and what stands in the way. */
#include <sys/stat.h>
#include <unistd.h>

#include "computer/power/energy_source.h"
#include "drivers/native/native.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"
#include "util/clock.h"

/* ---- a folder laid out like /sys ---- */

static char root[FOLDER_PATH_MAX];

static void put(const char *path, const char *text)
{
    folder_put_line(root, path, text);
}

static int make_root(void **state)
{
    (void)state;
    folder_make(root);
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    folder_remove(root);
    return 0;
}

static void put_zone(const char *zone, const char *name, const char *microjoules, const char *range)
{
    char path[100];
    snprintf(path, sizeof path, "class/powercap/%s/name", zone);
    put(path, name);
    snprintf(path, sizeof path, "class/powercap/%s/energy_uj", zone);
    put(path, microjoules);
    snprintf(path, sizeof path, "class/powercap/%s/max_energy_range_uj", zone);
    put(path, range);
}

/* Two packages with their parts, and the platform, as on a laptop. */
static void two_packages(void)
{
    put_zone("intel-rapl:0", "package-0", "1000000", "262143328850");
    put_zone("intel-rapl:0:0", "core", "77", "262143328850");
    put_zone("intel-rapl:1", "package-1", "5000000", "262143328850");
    put_zone("intel-rapl:2", "psys", "9", "262143328850");
    put_zone("intel-rapl-mmio:0", "package-0", "3", "262143328850");
    put("devices/system/cpu/cpu0/topology/physical_package_id", "0");
    put("devices/system/cpu/cpu3/topology/physical_package_id", "1");
}

/* Files do not move: they are read as they stand. */
static struct energy in_root(void)
{
    struct energy e;
    memset(&e, 0, sizeof e);
    snprintf(e.access.sys, sizeof e.access.sys, "%s", root);
    return e;
}

static struct energy_reading read_now(struct energy *e, int cpu)
{
    struct machine_error err;
    struct energy_reading r;
    const char *source;
    if (energy_read(e, cpu, &r, &source, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    assert_true(source[0] != '\0');
    return r;
}

static struct machine_error refused(struct energy *e, int cpu)
{
    struct machine_error err;
    struct energy_reading r;
    memset(&err, 0, sizeof err);
    assert_int_equal(energy_read(e, cpu, &r, NULL, &err), MACHINE_CANNOT);
    assert_true(e->why[0] != ';' && strstr(e->why, "; ;") == NULL);
    return err;
}

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in \"%s\"", part, text);
}

TEST_WITH(powercap_of_the_right_package, make_root, remove_root)
{
    two_packages();
    struct energy e = in_root();
    struct energy_reading first = read_now(&e, 3);
    assert_true(first.joules == 0);
    assert_contains(e.source, "intel-rapl:1");
    put("class/powercap/intel-rapl:0/energy_uj", "900000000");
    put("class/powercap/intel-rapl:1/energy_uj", "7500000");
    struct energy_reading second = read_now(&e, 3);
    assert_true(fabs(second.joules - 2.5) < 1e-9);
    assert_true(second.seconds > first.seconds && second.seconds < first.seconds + 60);
    /* another CPU: another package, from 0 on */
    assert_true(read_now(&e, 0).joules == 0);
    assert_contains(e.source, "intel-rapl:0");
}

TEST_WITH(powercap_wraps, make_root, remove_root)
{
    two_packages();
    struct energy e = in_root();
    put("class/powercap/intel-rapl:0/energy_uj", "262143000000");
    read_now(&e, 0);
    put("class/powercap/intel-rapl:0/energy_uj", "1000");
    assert_true(fabs(read_now(&e, 0).joules - 0.329850) < 1e-6);
    put("class/powercap/intel-rapl:0/energy_uj", "2001000");
    assert_true(fabs(read_now(&e, 0).joules - 2.329850) < 1e-6);
    /* and again */
    put("class/powercap/intel-rapl:0/energy_uj", "262143328850");
    read_now(&e, 0);
    put("class/powercap/intel-rapl:0/energy_uj", "500000");
    assert_true(fabs(read_now(&e, 0).joules - (262143.328850 + 0.328850 + 0.5)) < 1e-6);
}

TEST_WITH(counter_that_falls_without_a_range, make_root, remove_root)
{
    two_packages();
    char path[200];
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:0/max_energy_range_uj", root);
    assert_int_equal(unlink(path), 0);
    struct energy e = in_root();
    read_now(&e, 0);
    put("class/powercap/intel-rapl:0/energy_uj", "10");
    assert_contains(refused(&e, 0).text, "went back");
    /* not counted on from there as if nothing had been */
    assert_true(read_now(&e, 0).joules == 0);
}

/* A counter that stands has not gone back, and one whose range is less than a joule wraps around all the same. */
TEST_WITH(counters_that_stand_and_short_ranges, make_root, remove_root)
{
    put_zone("intel-rapl:0", "package-0", "1000000", "0");
    struct energy e = in_root();
    read_now(&e, 0);
    assert_true(read_now(&e, 0).joules == 0);
    put("class/powercap/intel-rapl:0/energy_uj", "1000001");
    assert_true(fabs(read_now(&e, 0).joules - 1e-6) < 1e-12);
    put("class/powercap/intel-rapl:0/energy_uj", "1000000");
    assert_contains(refused(&e, 0).text, "went back");
    put_zone("intel-rapl:0", "package-0", "400000", "500000");
    e = in_root();
    read_now(&e, 0);
    put("class/powercap/intel-rapl:0/energy_uj", "100000");
    assert_true(fabs(read_now(&e, 0).joules - 0.2) < 1e-9);
}

TEST_WITH(dies_of_a_package, make_root, remove_root)
{
    put_zone("intel-rapl:0", "package-0-die-0", "1", "1000");
    put_zone("intel-rapl:1", "package-0-die-1", "2", "1000");
    put("devices/system/cpu/cpu5/topology/physical_package_id", "0");
    put("devices/system/cpu/cpu5/topology/die_id", "1");
    struct energy e = in_root();
    read_now(&e, 5);
    assert_contains(e.source, "intel-rapl:1");
    assert_true(e.of_die); /* the cores of the other die are not in it */
    put_zone("intel-rapl:0", "package-0", "1", "1000");
    put_zone("intel-rapl:1", "psys", "2", "1000");
    e = in_root();
    read_now(&e, 5);
    assert_false(e.of_die);
}

TEST_WITH(package_that_is_not_reported, make_root, remove_root)
{
    two_packages();
    struct energy e = in_root();
    struct machine_error err = refused(&e, 7); /* no topology */
    assert_contains(err.text, "several packages");
    e = in_root();
    e.access.guest = true;
    err = refused(&e, 7);
    assert_contains(err.text, "several packages");
    assert_null(strstr(err.text, "virtual machines")); /* which has some is not like most */
    put("devices/system/cpu/cpu7/topology/physical_package_id", "4");
    e = in_root();
    assert_contains(refused(&e, 7).text, "no energy counter for the package of CPU 7");
}

/* Since Linux 5.10 energy_uj is for root. As root, give the rights away meanwhile. */
TEST_WITH(unreadable_file_has_a_remedy, make_root, remove_root)
{
    char path[200];
    two_packages();
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:0/energy_uj", root);
    assert_int_equal(chmod(path, 0), 0);
    bool root_user = geteuid() == 0;
    if (root_user)
        assert_int_equal(seteuid(65534), 0);
    struct energy e = in_root();
    struct machine_error err = refused(&e, 0);
    if (root_user)
        assert_int_equal(seteuid(0), 0);
    assert_contains(err.text, "is readable by root only");
    assert_contains(err.text, "intel-rapl:0/energy_uj");
    assert_contains(err.remedy, "chmod a+r");
}

TEST_WITH(garbage_is_refused, make_root, remove_root)
{
    two_packages();
    struct energy e = in_root();
    put("class/powercap/intel-rapl:0/energy_uj", "lots");
    assert_contains(refused(&e, 0).text, "cannot be read");
    put("class/powercap/intel-rapl:0/energy_uj", "");
    e = in_root();
    refused(&e, 0);
}

TEST_WITH(nothing_there, make_root, remove_root)
{
    struct energy e = in_root();
    struct machine_error err = refused(&e, 0);
    assert_contains(err.text, "no energy counter can be read");
    assert_contains(err.remedy, "modprobe");
    assert_null(strstr(err.text, "virtual machines"));
    e = in_root();
    e.access.guest = true;
    err = refused(&e, 0);
    assert_contains(err.remedy, "host");
    assert_contains(err.text, "the package of CPU 0, as in most virtual machines");
}

/* ---- registers ---- */

struct registers {
    bool amd;
    int error;
    uint64_t unit, energy;
    unsigned calls, moves_every; /* 0: it stands still */
};

static int read_register(void *context, int cpu, uint32_t reg, uint64_t *value)
{
    struct registers *r = context;
    assert_int_equal(cpu, 2);
    if (r->error)
        return r->error;
    if (reg == (r->amd ? MSR_AMD_RAPL_UNIT : (uint32_t)MSR_RAPL_UNIT)) {
        *value = r->unit;
        return 0;
    }
    assert_int_equal(reg, r->amd ? MSR_AMD_PACKAGE_ENERGY : (uint32_t)MSR_PACKAGE_ENERGY);
    if (r->moves_every && ++r->calls % r->moves_every == 0)
        r->energy++;
    *value = r->energy;
    return 0;
}

static struct energy with_registers(struct registers *r)
{
    struct energy e = in_root();
    e.access.read_register = read_register;
    e.access.context = r;
    e.access.part.intel = !r->amd;
    e.access.part.amd = r->amd;
    e.access.part.family = r->amd ? 0x19 : 6;
    e.access.part.model = r->amd ? 0x11 : 0x55;
    return e;
}

/* Bits 12:8 of 606H are 14: steps of 2^-14 J; the counter has 32 bits, whatever the register holds above. */
TEST_WITH(register_wraps, make_root, remove_root)
{
    for (int amd = 0; amd < 2; amd++) {
        struct registers r = {.amd = amd, .unit = 0xa0e03, .energy = 0xabcd00000000 | 0xfffffff0};
        struct energy e = with_registers(&r);
        assert_true(read_now(&e, 2).joules == 0);
        assert_contains(e.source, amd ? "C001029BH" : "611H");
        assert_true(e.of_die == !amd);
        r.energy = 0x10;
        assert_true(fabs(read_now(&e, 2).joules - 32 / 16384.0) < 1e-9);
        r.energy = 0x10 + 16384;
        assert_true(fabs(read_now(&e, 2).joules - (1 + 32 / 16384.0)) < 1e-9);
    }
}

TEST_WITH(register_that_is_not_there, make_root, remove_root)
{
    struct registers r = {.error = EIO, .unit = 0xa0e03};
    struct energy e = with_registers(&r);
    assert_contains(refused(&e, 2).text, "606H");
    r = (struct registers){.unit = 0, .energy = 5};
    e = with_registers(&r);
    e.access.guest = true;
    assert_contains(refused(&e, 2).text, "as hypervisors answer");
}

/* Registers of other vendors mean something else, and where none can be read none is named. */
TEST_WITH(registers_that_are_not_requested, make_root, remove_root)
{
    struct registers r = {.unit = 0xa0e03, .energy = 5};
    struct energy e = with_registers(&r);
    e.access.part.intel = false;
    assert_null(strstr(refused(&e, 2).text, "register"));
    assert_int_equal(e.access.part.amd, false);
    e = with_registers(&r);
    e.access.read_register = NULL;
    assert_null(strstr(refused(&e, 2).text, "register"));
    e = with_registers(&r);
    e.access.read_register = NULL;
    snprintf(e.access.dev, sizeof e.access.dev, "."); /* a folder of devices, here without any */
    assert_contains(refused(&e, 2).text, "register 606H");
}

TEST_WITH(counter_is_waited_for, make_root, remove_root)
{
    struct registers r = {.unit = 0xa0e03, .energy = 100, .moves_every = 5};
    struct energy e = with_registers(&r);
    e.access.edge_us = 1e6;
    read_now(&e, 2);
    assert_true(r.energy > 100);
    uint64_t at = r.energy;
    read_now(&e, 2);
    assert_int_equal(r.energy, at + 1);
    assert_true(fabs(e.total - 1 / 16384.0) < 1e-12);
    r.moves_every = 0;
    e.access.edge_us = 2000;
    assert_contains(refused(&e, 2).text, "the counter does not advance (0.0062");
    assert_contains(refused(&e, 2).text, " J for 2 ms)");
}

/* In the middle of the question; where a change is waited for, after it. */
TEST_WITH(seconds_are_those_of_the_counter, make_root, remove_root)
{
    struct registers r = {.unit = 0xa0e03, .energy = 100, .moves_every = 5};
    struct energy e = with_registers(&r);
    for (int waits = 0; waits < 2; waits++) {
        e.access.edge_us = waits ? 1e6 : 0;
        double began = clock_seconds(CLOCK_MONOTONIC_RAW), seconds = read_now(&e, 2).seconds;
        assert_true(seconds >= began && seconds <= clock_seconds(CLOCK_MONOTONIC_RAW));
    }
}

/* A machine reports the active cores in the package, or on the die, that the counter is of. */
TEST_WITH(machine_tells_whose_energy_it_is, make_root, remove_root)
{
    static struct native s; /* too large for the stack */
    struct machine_info info;
    snprintf(s.sys, sizeof s.sys, "%s", root);
    s.active_cores = 8;
    s.active_in_package = 4;
    s.active_in_die = 2;
    native_info(&s, &info);
    assert_int_equal(info.energy_cores, 0);
    s.prepared = true;
    native_info(&s, &info);
    assert_int_equal(info.energy_cores, 4);
    s.energy.of_die = true;
    native_info(&s, &info);
    assert_int_equal(info.energy_cores, 2);
}

/* ---- liblikwid ---- */

static uint32_t likwid_steps;

static int yes(void)
{
    return 0;
}
static int yes_cpu(int cpu)
{
    return cpu == 2 ? 0 : -1;
}
static int has_rapl(int cpu)
{
    return cpu == 2;
}
static double unit(int domain)
{
    return domain == LIKWID_PACKAGE ? 0.5 : 0;
}
static int start(struct likwid_power *data, int cpu, int domain)
{
    data->before = cpu == 2 && domain == LIKWID_PACKAGE ? likwid_steps : 0;
    return 0;
}
static int fake_likwid(struct likwid_functions *out, char *why, size_t size)
{
    snprintf(why, size, "%s", "");
    *out = (struct likwid_functions){.topology_init = yes,
                                     .HPMinit = yes,
                                     .HPMaddThread = yes_cpu,
                                     .power_init = has_rapl,
                                     .power_getEnergyUnit = unit,
                                     .power_start = start};
    return 0;
}

TEST_WITH(likwid_comes_second, make_root, remove_root)
{
    struct registers r = {.error = EIO};
    struct energy e = with_registers(&r);
    e.access.likwid = fake_likwid;
    likwid_steps = 0xffffffff;
    assert_true(read_now(&e, 2).joules == 0);
    assert_contains(e.source, "likwid");
    likwid_steps = 3; /* one lap */
    assert_true(fabs(read_now(&e, 2).joules - 2) < 1e-9);
    /* where it knows no counter the registers are read, and all the reasons are reported */
    put("devices/system/cpu/cpu2/topology/physical_package_id", "0");
    two_packages();
    e = in_root();
    e.access.likwid = fake_likwid;
    read_now(&e, 2);
    assert_contains(e.source, "intel-rapl:0");
}

TEST_WITH(all_reasons_are_reported, make_root, remove_root)
{
    struct registers r = {.error = EACCES};
    struct energy e = with_registers(&r);
    struct machine_error err;
    struct energy_reading reading;
    e.access.likwid = fake_likwid;
    e.access.read_register = NULL; /* in a folder like /dev */
    snprintf(e.access.dev, sizeof e.access.dev, "%s", root);
    assert_int_equal(energy_read(&e, 6, &reading, NULL, &err), MACHINE_CANNOT);
    assert_contains(err.text, "class/powercap");
    assert_contains(err.text, "likwid");
    assert_contains(err.text, "register 606H");
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}
