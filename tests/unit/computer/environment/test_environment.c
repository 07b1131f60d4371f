/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a fake computer: facts, lists, files of odd kinds. */
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "computer/environment/environment.h"
#include "tests/support/fake_environment.h"
#include "tests/support/test.h"

static int make_tree(void **state)
{
    static char root[FOLDER_PATH_MAX];
    fake_environment_make(root);
    *state = root;
    return 0;
}

static int remove_tree(void **state)
{
    folder_remove(*state);
    return 0;
}

/* For those that change more; cmocka hands the state of the group to the others. */
static int make_own(void **state)
{
    static char root[FOLDER_PATH_MAX];
    fake_environment_make(root);
    *state = root;
    return 0;
}

/* Renews the part of the shared tree that most tests change. */
static int renew_tree(void **state)
{
    fake_environment_renew(*state);
    return 0;
}

/* Reads CPU 2 without counting. */
static void read_tree(const char *root, struct environment *e)
{
    struct machine_error err = {0};
    int status = environment_read(root, 2, 0, NULL, NULL, e, &err);
    if (status != MACHINE_OK)
        fail_msg("%s", err.text);
}

static void expect_fact(const struct environment *e, enum environment_fact which, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s", environment_path(which, e->cpu).text);
    if (e->fact[which].error != 0 || strcmp(e->fact[which].text, text) != 0)
        fail_msg("%s: '%s' (error %d), not '%s'", path, e->fact[which].text, e->fact[which].error, text);
}

static void expect_mask(const struct cpu_mask *mask, const char *list)
{
    char text[100];
    cpu_mask_format(mask, text, sizeof text);
    assert_string_equal(text, list);
}

static void in_tree(const char *root, const char *name, char out[300])
{
    snprintf(out, 300, "%s/%s", root, name);
}

TEST_WITH(what_stands_there, renew_tree, NULL)
{
    struct environment e;
    read_tree(*state, &e);
    assert_int_equal(e.cpu, 2);
    assert_int_equal(e.root, geteuid() == 0);
    expect_fact(&e, ENV_GOVERNOR, "powersave");
    expect_fact(&e, ENV_DRIVER, "intel_pstate");
    expect_fact(&e, ENV_NOHZ_FULL, "");
    expect_fact(&e, ENV_LOCKDOWN, "[none] integrity confidentiality");
    expect_fact(&e, ENV_UNCORE_MAX_KHZ, "2400000"); /* the one with a star */
    expect_fact(&e, ENV_RDPMC, "1");
    expect_fact(&e, ENV_PMU_TYPE, "4");
    assert_int_equal(e.fact[ENV_BOOST].error, ENOENT);
    assert_int_equal(e.fact[ENV_CONTAINER].error, ENOENT);
    expect_mask(&e.siblings, "2,6");
    assert_true(e.siblings_known);
    expect_mask(&e.online, "0-7");
    expect_mask(&e.isolated, "3,7");
    expect_mask(&e.nohz_full, "");
    expect_mask(&e.workqueue, "0-7");
    expect_mask(&e.default_affinity, "0-7");
    assert_int_equal(e.config_hz, 250);
    assert_int_equal(e.secure_boot, 1);
    assert_int_equal(e.msr_error, 0);
    assert_true(e.cpuinfo_known && !e.hypervisor && isnan(e.base_khz));
    assert_string_equal(e.hypervisor_name, "");
    assert_string_equal(e.microcode, "0x2b000590");
    assert_int_equal(e.microcodes, 1);
    assert_string_equal(e.mitigations, "default");
    assert_false(e.container_files);
    environment_free(&e);
}

TEST_WITH(its_lists, renew_tree, NULL)
{
    struct environment e;
    read_tree(*state, &e);
    assert_int_equal(e.n_states, FAKE_STATES);
    assert_string_equal(e.states[3].name, "C6");
    assert_int_equal(e.states[3].exit_us, 133);
    assert_int_equal(e.states[3].number, 3);
    assert_false(e.states[3].disabled);
    assert_int_equal(e.n_weaknesses, 3);
    assert_string_equal(e.weaknesses[0].name, "mds");
    assert_string_equal(e.weaknesses[0].text, "Mitigation: Clear CPU buffers; SMT vulnerable");
    assert_string_equal(e.weaknesses[2].name, "spectre_v2");
    assert_int_equal(e.irqs_error, 0);
    assert_int_equal(e.tasks_error, 0);
    assert_int_equal(e.n_tasks, 0); /* nothing was counted */
    assert_true(e.irqbalance);
    assert_false(e.tasks_hidden);
    assert_true(e.seconds == 0 && isnan(e.timer_hz) && isnan(e.steal) && isnan(e.busy_here) && isnan(e.thermal_now));
    assert_true(e.thermal_boot == 7);
    environment_free(&e);
}

/* IRQs of a count on CPU 2, and those that may go there; never ERR and MIS, which are of no CPU. */
TEST_WITH(interrupts_since_boot, renew_tree, NULL)
{
    static const char *const names[] = {"24", "25", "26", "28", "LOC", "RES", "NMI"};
    struct environment e;
    read_tree(*state, &e);
    assert_int_equal(e.n_irqs, sizeof names / sizeof *names);
    for (size_t i = 0; i < e.n_irqs; i++) {
        assert_string_equal(e.irqs[i].name, names[i]);
        assert_int_equal(e.irqs[i].counted, 0);
        assert_int_equal(e.irqs[i].numbered, i < 4);
        assert_int_equal(e.irqs[i].here, i < 4);
    }
    assert_int_equal(e.irqs[2].since_boot, 500);
    assert_int_equal(e.irqs[3].since_boot, 0);
    assert_string_equal(e.irqs[2].device, "IR-PCI-MSIX-0000:3b:00.0 1-edge nvme0q1");
    expect_mask(&e.irqs[3].allowed, "1-2,5-6");
    assert_string_equal(e.irqs[4].device, "Local timer interrupts");
    assert_int_equal(e.irqs[4].since_boot, 100002);
    environment_free(&e);
}

/* Columns are by online CPU: with 0 and 1 offline, CPU 2 has the first. */
TEST_WITH(columns_of_online_cpus, renew_tree, NULL)
{
    struct environment e;
    folder_put(*state, "proc/interrupts",
               "           CPU2       CPU5\n 26:       7      8   x 1-edge two words\n LOC:  11 12  Local timer\n"
               "27:  9\n29: 1 2\n31: 3 4-edge\n\n:\nXYZ 1 2\n");
    read_tree(*state, &e);
    assert_int_equal(e.n_irqs, 3);
    assert_int_equal(e.irqs[0].since_boot, 7);
    assert_string_equal(e.irqs[0].device, "x 1-edge two words");
    assert_int_equal(e.irqs[1].since_boot, 11);
    assert_string_equal(e.irqs[2].name, "29");
    assert_string_equal(e.irqs[2].device, "");
    environment_free(&e);
    folder_put(*state, "proc/interrupts", "           CPU0       CPU20\n 26:       7      8   x 1-edge y\n");
    read_tree(*state, &e);
    assert_int_equal(e.irqs_error, ENXIO);
    assert_int_equal(e.n_irqs, 0);
    environment_free(&e);
}

/* The base frequency: the CPU's own, before that of firmware, and no nonsense. */
TEST_WITH(base_frequency, make_own, remove_tree)
{
    struct environment e;
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/acpi_cppc/nominal_freq", "2250");
    read_tree(*state, &e);
    assert_true(e.base_khz == 2.25e6);
    environment_free(&e);
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/cpufreq/base_frequency", "2400000");
    read_tree(*state, &e);
    assert_true(e.base_khz == 2.4e6);
    assert_string_equal(e.base_from, "base_frequency");
    environment_free(&e);
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/cpufreq/base_frequency", "0");
    read_tree(*state, &e);
    assert_true(e.base_khz == 2.25e6);
    environment_free(&e);
}

TEST_WITH(flags_and_revisions_of_cpuinfo, make_own, remove_tree)
{
    struct environment e;
    char path[300];
    folder_put(*state, "proc/cpuinfo",
               "model name : Any CPU @ 2.10GHz\nflags : a hypervisor hwp_epp\nmicrocode : 0x10\nflags : hwp\nmicrocode "
               ": 0x20\nmicrocode : 0x10\n");
    folder_put_line(*state, "sys/hypervisor/type", "xen");
    in_tree(*state, "sys/devices/system/cpu/cpu2/microcode/version", path);
    assert_int_equal(unlink(path), 0);
    read_tree(*state, &e);
    assert_true(e.hypervisor && e.base_khz == 2.1e6);
    assert_string_equal(e.base_from, "its name");
    assert_string_equal(e.hypervisor_name, "xen");
    assert_string_equal(e.microcode, "0x10");
    assert_int_equal(e.microcodes, 2);
    environment_free(&e);
    environment_read_facts(*state, 2, &e);
    assert_true(e.hypervisor);
    assert_string_equal(e.microcode, "0x10");
    assert_int_equal(e.microcodes, 0); /* did not look at them all */
    assert_int_equal(e.n_irqs, 0);
}

TEST_WITH(mitigations_of_the_command_line, renew_tree, NULL)
{
    static const struct {
        const char *line, *mitigations;
    } cases[] = {{"quiet mitigations=off", "off"},
                 {"mitigations=off mitigations=auto,nosmt quiet", "auto,nosmt"},
                 {"init=/x -- mitigations=off", "default"},
                 {"nomitigations=off", "default"},
                 {"", "default"}};
    struct environment e;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        folder_put_line(*state, "proc/cmdline", cases[i].line);
        environment_read_facts(*state, 2, &e);
        assert_string_equal(e.mitigations, cases[i].mitigations);
    }
    char line[600];
    memset(line, 'x', 400); /* longer than a fact's text */
    snprintf(line + 400, sizeof line - 400, " mitigations=off");
    folder_put_line(*state, "proc/cmdline", line);
    environment_read_facts(*state, 2, &e);
    assert_string_equal(e.mitigations, "off");
    assert_int_equal(strlen(e.fact[ENV_CMDLINE].text), ENVIRONMENT_TEXT - 1);
}

/* Whole words before "--", the last of a name, however far back. */
TEST_WITH(options_of_the_command_line, renew_tree, NULL)
{
    static const struct {
        const char *end, *name, *value;
    } cases[] = {{"nomodule", "nomodule", ""},
                 {"nomodules x.nomodule nomodul", "nomodule", NULL},
                 {"isolcpus=1 isolcpus=2,3 ", "isolcpus", "2,3"},
                 {"isolcpus= quiet", "isolcpus", ""},
                 {"-- isolcpus=1", "isolcpus", NULL}};
    struct environment e;
    char line[600];
    size_t length;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        int before = i % 2 ? 0 : 300;
        snprintf(line, sizeof line, "%0*d %s", before, 0, cases[i / 2].end);
        folder_put_line(*state, "proc/cmdline", line);
        environment_read_facts(*state, 2, &e);
        const char *value = environment_boot_option(&e, cases[i / 2].name, &length);
        if (cases[i / 2].value == NULL) {
            assert_null(value);
        } else {
            assert_non_null(value);
            assert_int_equal(length, strlen(cases[i / 2].value));
            assert_memory_equal(value, cases[i / 2].value, length);
        }
    }
}

/* The kernel alone places those whose file nobody may write. */
TEST_WITH(irqs_that_can_be_moved, make_own, remove_tree)
{
    struct environment e;
    char path[300];
    in_tree(*state, "proc/irq/25/smp_affinity_list", path);
    assert_int_equal(chmod(path, 0444), 0);
    read_tree(*state, &e);
    for (size_t i = 0; i < e.n_irqs; i++)
        assert_int_equal(e.irqs[i].movable, e.irqs[i].numbered && strcmp(e.irqs[i].name, "25") != 0);
    environment_free(&e);
}

/* A kernel may have its configuration in itself. */
TEST_WITH(configuration_in_the_kernel, renew_tree, NULL)
{
    struct environment e;
    char path[300];
    in_tree(*state, "proc/config.gz", path);
    gzFile out = gzopen(path, "w");
    assert_non_null(out);
    assert_true(gzputs(out, "CONFIG_HZ_1000=y\n# CONFIG_HZ=3\nCONFIG_HZ=1000\n") > 0);
    assert_int_equal(gzclose(out), Z_OK);
    read_tree(*state, &e);
    assert_int_equal(e.config_hz, 1000);
    environment_free(&e);
    assert_int_equal(truncate(path, 20), 0); /* cut off: the next place */
    read_tree(*state, &e);
    assert_int_equal(e.config_hz, 250);
    environment_free(&e);
    assert_int_equal(unlink(path), 0);
    folder_put_line(*state, "proc/sys/kernel/osrelease", "../boot/config-6.1.0");
    read_tree(*state, &e);
    assert_int_equal(e.config_hz, 0); /* no name of a file */
    environment_free(&e);
}

TEST_WITH(groups_of_both_versions, make_own, remove_tree)
{
    struct environment e;
    read_tree(*state, &e);
    assert_string_equal(e.cgroup_cpus, "0-2,4-6"); /* of the group above */
    assert_true(e.cgroup_quota == 4);
    environment_free(&e);
    folder_put(*state, "proc/800/cgroup", "5:cpuset:/docker/ab\n4:cpu,cpuacct:/docker/ab/c\n0::/elsewhere\n");
    folder_put(*state, "proc/800/mountinfo",
               "30 1 0:5 /docker/ab /sys/fs/cg\\040v1/cpuset rw - cgroup cgroup rw,cpuset\n"
               "31 1 0:6 / /sys/fs/cg\\040v1/cpu rw master:1 - cgroup cgroup rw,cpu,cpuacct\n");
    folder_put_line(*state, "sys/fs/cg v1/cpuset/cpuset.cpus", "1-3");
    folder_put_line(*state, "sys/fs/cg v1/cpu/docker/ab/c/cpu.cfs_quota_us", "-1");
    folder_put_line(*state, "sys/fs/cg v1/cpu/docker/ab/c/cpu.cfs_period_us", "100000");
    folder_put_line(*state, "sys/fs/cg v1/cpu/docker/cpu.cfs_quota_us", "50000");
    folder_put_line(*state, "sys/fs/cg v1/cpu/docker/cpu.cfs_period_us", "100000");
    folder_put_line(*state, "sys/fs/cg v1/cpu/cpu.cfs_quota_us", "70000");
    folder_put_line(*state, "sys/fs/cg v1/cpu/cpu.cfs_period_us", "100000");
    folder_put_line(*state, ".dockerenv", "");
    read_tree(*state, &e);
    assert_string_equal(e.cgroup_cpus, "1-3");
    assert_true(e.cgroup_quota == 0.5);
    assert_true(e.container_files);
    environment_free(&e);
}

/* Numbers beyond all bounds, other words than numbers. */
TEST_WITH(odd_numbers, make_own, remove_tree)
{
    struct environment e;
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/cpuidle/state3/latency", "99999999999999999999999");
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/cpuidle/state2/latency", "-4");
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/cpuidle/state1/disable", "2");
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "many");
    folder_put_line(*state, "sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,4");
    folder_put_line(*state, "sys/devices/virtual/workqueue/cpumask", "f,0000000f");
    read_tree(*state, &e);
    assert_int_equal(e.states[3].exit_us, -1);
    assert_int_equal(e.states[2].exit_us, -1);
    assert_true(e.states[1].disabled);
    assert_true(e.thermal_boot == 4);
    assert_false(e.siblings_known); /* a list without the CPU itself */
    expect_mask(&e.siblings, "");
    expect_mask(&e.workqueue, "0-3,32-35");
    environment_free(&e);
}

/* Files of odd kinds in place of a fact, and their results. */
TEST_WITH(files_of_odd_kinds, make_own, remove_tree)
{
    static const char *const name = "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor";
    struct environment e;
    char path[300], outside[300], big[9000];
    in_tree(*state, name, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    environment_read_facts(*state, 2, &e);
    assert_int_equal(e.fact[ENV_GOVERNOR].error, EISDIR);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    environment_read_facts(*state, 2, &e);
    assert_int_equal(e.fact[ENV_GOVERNOR].error, ENXIO);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("scaling_governor", path), 0);
    environment_read_facts(*state, 2, &e);
    assert_int_equal(e.fact[ENV_GOVERNOR].error, ELOOP);
    assert_int_equal(unlink(path), 0);
    folder_put(*state, name, "power\33[31m\n");
    environment_read_facts(*state, 2, &e);
    assert_int_equal(e.fact[ENV_GOVERNOR].error, EBADMSG);
    assert_string_equal(e.fact[ENV_GOVERNOR].text, "");
    memset(big, 'a', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    folder_put(*state, name, big);
    environment_read_facts(*state, 2, &e);
    assert_int_equal(strlen(e.fact[ENV_GOVERNOR].text), ENVIRONMENT_TEXT - 1);
    /* a link that leads out of the folder finds what has that name inside */
    in_tree(*state, "outside", outside);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    environment_read_facts(*state, 2, &e);
    assert_int_equal(e.fact[ENV_GOVERNOR].error, ENOENT);
    folder_put(*state, "etc/passwd", "tabs\tand more \t \nsecond line\n");
    environment_read_facts(*state, 2, &e);
    expect_fact(&e, ENV_GOVERNOR, "tabs and more");
}

TEST_WITH(what_is_refused, renew_tree, NULL)
{
    struct environment e;
    struct machine_error err;
    assert_int_equal(environment_read("/nonexistent/tree", 2, 0, NULL, NULL, &e, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "/nonexistent/tree"));
    environment_free(&e);
    assert_int_equal(environment_read(*state, FAKE_CPUS, 0, NULL, NULL, &e, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "no CPU 8"));
    assert_int_equal(environment_read(*state, -1, 0, NULL, NULL, &e, &err), MACHINE_BAD_INPUT);
    assert_int_equal(environment_read(*state, CPU_LIMIT, 0, NULL, NULL, &e, &err), MACHINE_BAD_INPUT);
    char empty[FOLDER_PATH_MAX];
    folder_make(empty);
    assert_int_equal(environment_read(empty, 0, 0, NULL, NULL, &e, &err), MACHINE_BAD_INPUT);
    folder_put(empty, "proc/stat", ""); /* a container without /sys */
    assert_int_equal(environment_read(empty, 0, 0, NULL, NULL, &e, &err), MACHINE_OK);
    assert_int_equal(e.irqs_error, ENOENT);
    assert_int_equal(e.msr_error, ENOENT);
    assert_int_equal(e.secure_boot, -1);
    assert_true(e.tasks_hidden && e.config_hz == 0 && e.microcodes == 0 && !e.cpuinfo_known);
    assert_string_equal(e.mitigations, "");
    environment_free(&e);
    folder_remove(empty);
}

TEST_GROUP(make_tree, remove_tree)
