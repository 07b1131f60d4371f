/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All that is read of a fake computer, and what of it is different where some of its files are: held in
 * tests/golden/machine/environment.txt, which `make golden` rewrites.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "computer/environment/environment.h"
#include "tests/support/fake_environment.h"
#include "tests/support/folder_changes.h"
#include "tests/support/golden.h"

/* ---- what was read, as text ---- */

static void write_mask(FILE *out, const char *name, const struct cpu_mask *mask)
{
    char text[200];
    cpu_mask_format(mask, text, sizeof text);
    fprintf(out, "%s: %s\n", name, text);
}

static void write_number(FILE *out, const char *name, double x)
{
    if (isnan(x))
        fprintf(out, "%s: unknown\n", name);
    else
        fprintf(out, "%s: %.6g\n", name, x);
}

static void write_facts(FILE *out, const struct environment *e)
{
    char path[300];
    for (int i = 0; i < ENV_FACTS; i++) {
        const struct fact *f = &e->fact[i];
        snprintf(path, sizeof path, "%s", environment_path((enum environment_fact)i, e->cpu).text);
        fprintf(out, "%s: '%s'%s\n", path, f->text,
                f->error == 0         ? ""
                : f->error == ENOENT  ? " (not there)"
                : f->error == EBADMSG ? " (no text)"
                                      : " (another error)");
    }
    write_mask(out, "siblings", &e->siblings);
    write_mask(out, "online", &e->online);
    write_mask(out, "isolated", &e->isolated);
    write_mask(out, "nohz_full", &e->nohz_full);
    write_mask(out, "workqueue", &e->workqueue);
    write_mask(out, "writeback", &e->writeback);
    write_mask(out, "default affinity", &e->default_affinity);
    fprintf(out, "siblings known: %d\ncommand line: '%s'\nmitigations: '%s'\n", e->siblings_known, e->command_line,
            e->mitigations);
}

static void write_lists(FILE *out, const struct environment *e)
{
    for (size_t i = 0; i < e->n_states; i++)
        fprintf(out, "state %u: '%s' %ld us, disabled %d\n", e->states[i].number, e->states[i].name,
                e->states[i].exit_us, e->states[i].disabled);
    for (size_t i = 0; i < e->n_irqs; i++) {
        const struct environment_irq *irq = &e->irqs[i];
        fprintf(out, "irq '%s' '%s': %" PRIu64 " and %" PRIu64 ", numbered %d known %d here %d movable %d", irq->name,
                irq->device, irq->since_boot, irq->counted, irq->numbered, irq->allowed_known, irq->here, irq->movable);
        write_mask(out, "", &irq->allowed);
    }
    for (size_t i = 0; i < e->n_tasks; i++) {
        const struct environment_task *t = &e->tasks[i];
        fprintf(out, "task %d '%s': %.6f ms, kernel %d self %d here %d sibling %d bound %d\n", t->pid, t->name,
                t->cpu_ms, t->kernel, t->self, t->on_cpu, t->on_sibling, t->bound);
    }
    for (size_t i = 0; i < e->n_weaknesses; i++)
        fprintf(out, "weakness '%s': '%s'\n", e->weaknesses[i].name, e->weaknesses[i].text);
}

static void write_environment(FILE *out, const struct environment *e)
{
    fprintf(out, "CPU %d\n", e->cpu);
    write_facts(out, e);
    write_lists(out, e);
    fprintf(out, "errors: irqs %d tasks %d msr %d, hidden %d, irqbalance %d\n", e->irqs_error, e->tasks_error,
            e->msr_error, e->tasks_hidden, e->irqbalance);
    write_number(out, "steal", e->steal);
    write_number(out, "busy here", e->busy_here);
    write_number(out, "busy sibling", e->busy_sibling);
    write_number(out, "busy others", e->busy_others);
    write_number(out, "begun", e->begun);
    write_number(out, "thermal now", e->thermal_now);
    write_number(out, "thermal since boot", e->thermal_boot);
    fprintf(out, "timer: %d\n", isnan(e->timer_hz) ? -1 : e->timer_hz > 0);
    fprintf(out, "CONFIG_HZ %ld\nsecure boot %d\n", e->config_hz, e->secure_boot);
    fprintf(out, "cpuinfo known %d hypervisor %d '%s' hwp %d\n", e->cpuinfo_known, e->hypervisor, e->hypervisor_name,
            e->hwp);
    fprintf(out, "microcode '%s', %u revisions\n", e->microcode, e->microcodes);
    fprintf(out, "cgroup CPUs '%s'\n", e->cgroup_cpus);
    write_number(out, "cgroup quota", e->cgroup_quota);
    fprintf(out, "container files %d\n", e->container_files);
}

/* ---- in what trees differ ---- */

struct variation {
    const char *name;
    int cpu;
    struct folder_change first[FOLDER_CHANGES], meanwhile[FOLDER_CHANGES]; /* before it is read; while it counts */
};

#define CPU2 "sys/devices/system/cpu/cpu2/"
#define MOUNT "proc/800/mountinfo"
#define GROUP "proc/800/cgroup"
#define SECURE "sys/firmware/efi/efivars/SecureBoot-8be4df61"
#define V1                                                                                                             \
    "30 24 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n31 24 0:28 / /sys/fs/cgroup/cpu rw - cgroup x "  \
    "rw,cpu,cpuacct"
static const struct variation variations[] = {
    {.name = "another CPU", .cpu = 0},
    {.name = "an isolated CPU", .cpu = 7},
    {"command line", 2, {{"proc/cmdline", "mitigations=off  quiet -- mitigations=auto"}}, {{0}}},
    {"command line: the last", 2, {{"proc/cmdline", " mitigations=off mitigations=auto,nosmt mitigationsx=1 "}}, {{0}}},
    {"command line: no value", 2, {{"proc/cmdline", "a mitigations"}}, {{0}}},
    {"command line: empty", 2, {{"proc/cmdline", ""}}, {{0}}},
    {"command line: none", 2, {{"proc/cmdline", NULL}}, {{0}}},
    {"a fact with blanks", 2, {{CPU2 "cpufreq/scaling_governor", "per\tform \t \r\nsecond"}}, {{0}}},
    {"a fact that is none", 2, {{CPU2 "cpufreq/scaling_governor", "a\x01"}}, {{0}}},
    {"a fact that is a folder",
     2,
     {{CPU2 "cpufreq/scaling_governor", NULL}, {CPU2 "cpufreq/scaling_governor/a", "b"}},
     {{0}}},
    {"stars",
     2,
     {{"sys/bus/event_source/devices/cpu", NULL},
      {"sys/bus/event_source/devices/cpu_atom/rdpmc", "0"},
      {"sys/bus/event_source/devices/cpu_core/rdpmc", "2"},
      {"sys/bus/event_source/devices/cpu_core/type", "8"}},
     {{0}}},
    {"siblings without the CPU", 2, {{CPU2 "topology/thread_siblings_list", "3,7"}}, {{0}}},
    {"siblings that are none", 2, {{CPU2 "topology/thread_siblings_list", "2-x"}}, {{0}}},
    {"masks",
     2,
     {{"sys/devices/virtual/workqueue/cpumask", "a5"},
      {"sys/devices/virtual/workqueue/writeback/cpumask", "1,0000000f"},
      {"proc/irq/default_smp_affinity", "7"},
      {"sys/devices/system/cpu/nohz_full", "3-4,6"}},
     {{0}}},
    {"configuration", 2, {{"boot/config-6.1.0", "CONFIG_HZ_1000=y\nCONFIG_HZ=1000\nCONFIG_HZ=100"}}, {{0}}},
    {"configuration: largest", 2, {{"boot/config-6.1.0", "CONFIG_HZ=100000"}}, {{0}}},
    {"configuration: too large", 2, {{"boot/config-6.1.0", "CONFIG_HZ=100001"}}, {{0}}},
    {"configuration: smallest", 2, {{"boot/config-6.1.0", "CONFIG_HZ=1"}}, {{0}}},
    {"configuration: negative", 2, {{"boot/config-6.1.0", "CONFIG_HZ=-1"}}, {{0}}},
    {"configuration elsewhere", 2, {{"boot/config-6.1.0", NULL}, {"lib/modules/6.1.0/config", "CONFIG_HZ=300"}}, {{0}}},
    {"configuration of the kernel", 2, {{"proc/config.gz", "CONFIG_HZ=433"}}, {{0}}},
    {"release that is no name", 2, {{"proc/sys/kernel/osrelease", "./6.1.0"}}, {{0}}},
    {"release with a slash", 2, {{"proc/sys/kernel/osrelease", "6/1"}, {"boot/config-6/1", "CONFIG_HZ=99"}}, {{0}}},
    {"secure boot off?", 2, {{SECURE, "\x06\x01\x01\x01\x02"}}, {{0}}},
    {"secure boot: short", 2, {{SECURE, "\x06\x01\x01"}}, {{0}}},
    {"secure boot: none", 2, {{"sys/firmware", NULL}}, {{0}}},
    {"no register file", 2, {{"dev/cpu/2/msr", NULL}}, {{0}}},
    {"register file is a folder", 2, {{"dev/cpu/2/msr", NULL}, {"dev/cpu/2/msr/x", ""}}, {{0}}},
    {"containers", 2, {{".dockerenv", ""}}, {{0}}},
    {"containers too", 2, {{"run/.containerenv", ""}, {"run/systemd/container", "podman"}}, {{0}}},
    {"cpuinfo",
     2,
     {{"proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor hwp_epp\nmicrocode\t: 0x5\n\nprocessor : 1\nflags : "
                       "hwp\nmicrocode : 0x6\n\nmicrocode\t: 0x5\n"},
      {CPU2 "microcode/version", NULL},
      {"sys/hypervisor/type", "xen"}},
     {{0}}},
    {"cpuinfo: none", 2, {{"proc/cpuinfo", NULL}}, {{0}}},
    {"cpuinfo: odd", 2, {{"proc/cpuinfo", "flagship : hwp\nflags hwp\nmicrocodes : 1\n"}}, {{0}}},
    {"C-states",
     2,
     {{CPU2 "cpuidle/state1/disable", "1"},
      {CPU2 "cpuidle/state2", NULL},
      {CPU2 "cpuidle/state0/latency", "-5"},
      {CPU2 "cpuidle/state1/latency", "7x"}},
     {{0}}},
    {"C-states: latency 1",
     2,
     {{CPU2 "cpuidle/state0/latency", "1"},
      {CPU2 "cpuidle/state1/latency", ""},
      {CPU2 "cpuidle/state3/disable", "2"},
      {CPU2 "cpuidle/state4/name", "C10"}},
     {{0}}},
    {"C-states: none", 2, {{CPU2 "cpuidle", NULL}}, {{0}}},
    {"weaknesses",
     2,
     {{"sys/devices/system/cpu/vulnerabilities/meltdown", NULL},
      {"sys/devices/system/cpu/vulnerabilities/zenbleed/x", "y"},
      {"sys/devices/system/cpu/vulnerabilities/a", "Vulnerable"}},
     {{0}}},
    {"group: top", 2, {{GROUP, "0::/"}}, {{0}}},
    {"group: several", 2, {{GROUP, "12:pids:/a\n1:name=systemd:/b\n0::/user.slice"}}, {{0}}},
    {"group: outside", 2, {{GROUP, "0::/../user.slice"}}, {{0}}},
    {"group: mounted from", 2, {{MOUNT, "29 24 0:26 /user.slice /sys/fs/cgroup rw - cgroup2 c rw"}}, {{0}}},
    {"group: mounted from another", 2, {{MOUNT, "29 24 0:26 /user /sys/fs/cgroup rw - cgroup2 c rw"}}, {{0}}},
    {"group: mounted itself",
     2,
     {{MOUNT, "29 24 0:26 /user.slice /sys/fs/cgroup rw - cgroup2 c rw"}, {GROUP, "0::/user.slice"}},
     {{0}}},
    {"group: escaped",
     2,
     {{MOUNT, "29 24 0:26 / /my\\040gr\\157ups\\04 rw - cgroup2 c rw"},
      {"my groups\\04/cpuset.cpus.effective", "1"},
      {"my groups\\04/user.slice/cpu.max", "25 100"}},
     {{0}}},
    {"group: short line",
     2,
     {{MOUNT, "29 24 0:26 /\n1 2 3 / /x - cgroup2 c\n29 24 0:26 / /sys/fs/cgroup rw - cgroup2 c rw"}},
     {{0}}},
    {"group: no mount", 2, {{MOUNT, "24 1 0:22 / /sys rw - sysfs sysfs rw"}}, {{0}}},
    {"group: no group", 2, {{GROUP, "x\ny:z\n5:cpu:/a"}}, {{0}}},
    {"group: v1",
     2,
     {{MOUNT, V1},
      {GROUP, "5:cpuset:/a\n4:cpu,cpuacct:/b/c"},
      {"sys/fs/cgroup/cpuset/a/cpuset.cpus", "2-3"},
      {"sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "30000"},
      {"sys/fs/cgroup/cpu/b/cpu.cfs_period_us", "20000"}},
     {{0}}},
    {"group: v1, effective",
     2,
     {{MOUNT, V1},
      {GROUP, "5:cpuset:/a"},
      {"sys/fs/cgroup/cpuset/a/cpuset.cpus", "2-3"},
      {"sys/fs/cgroup/cpuset/cpuset.effective_cpus", "4"}},
     {{0}}},
    {"group: v1 and v2",
     2,
     {{MOUNT, V1 "\n29 24 0:26 / /sys/fs/cgroup rw - cgroup2 c rw"},
      {GROUP, "4:cpu,cpuacct:/b\n0::/user.slice"},
      {"sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "1"},
      {"sys/fs/cgroup/cpu/b/cpu.cfs_period_us", "1"}},
     {{0}}},
    {"group: no quota", 2, {{"sys/fs/cgroup/user.slice/cpu.max", "0 100000"}}, {{0}}},
    {"group: no period", 2, {{"sys/fs/cgroup/user.slice/cpu.max", "100 0"}}, {{0}}},
    {"group: smallest quota", 2, {{"sys/fs/cgroup/user.slice/cpu.max", "1 1"}}, {{0}}},
    {"group: three quotas",
     2,
     {{"sys/fs/cgroup/user.slice/session.scope/cpu.max", "250 100"}, {"sys/fs/cgroup/cpu.max", "150 100"}},
     {{0}}},
    {"group: empty set", 2, {{"sys/fs/cgroup/user.slice/cpuset.cpus.effective", ""}}, {{0}}},
    {"throttling: core", 2, {{CPU2 "thermal_throttle/package_throttle_count", NULL}}, {{0}}},
    {"throttling: package", 2, {{CPU2 "thermal_throttle/core_throttle_count", "-1"}}, {{0}}},
    {"throttling: none", 2, {{CPU2 "thermal_throttle", NULL}}, {{0}}},
    {"throttling: zero",
     2,
     {{CPU2 "thermal_throttle/core_throttle_count", "0"}, {CPU2 "thermal_throttle/package_throttle_count", "1"}},
     {{CPU2 "thermal_throttle/core_throttle_count", "2"}}},
    {"throttling falls", 2, {{0}}, {{CPU2 "thermal_throttle/core_throttle_count", "1"}}},
    {"interrupts: header", 2, {{"proc/interrupts", "  CPU0 CPU20\n 24: 1 2 x\n"}}, {{0}}},
    {"interrupts: none", 2, {{"proc/interrupts", NULL}}, {{0}}},
    {"interrupts: empty", 2, {{"proc/interrupts", ""}}, {{0}}},
    {"interrupts",
     2,
     {{"proc/interrupts", " CPU1\tCPU2\n 24: 1 2\n 25: 3 4  a  b \n 26: 1 0 none\n 27: 1 5-edge\n 28: 1\nno line\n "
                          "NMI: 7\t8\tnmi\n ERR: 9\n MIS: 9 9 x\n 99: 0 3 y\n LOC: 1 5 t\n"},
      {"proc/irq/26/smp_affinity_list", "2-x"},
      {"proc/irq/25/smp_affinity_list", NULL}},
     {{"proc/interrupts",
       " CPU1\tCPU2\n 25: 3 9  a  b \n 24: 1 2\n 77: 0 6 new\n LOC: 1 5 t\n HVS: 1 5 t\n99: 0 2 y\n"}}},
    {"ticks",
     2,
     {{"proc/stat", "cpu 1\ncpu1 5 5 5 85 0 0 0 0\ncpu2 10 0 0 80 5 0 0 5\ncpu3 1 0 0 1 0 0 0 0\ncpu6 10 10 10 "
                    "70\ncpux\nprocesses 10"}},
     {{"proc/stat", "cpu 1\ncpu1 15 5 5 115 0 0 10 0\ncpu2 40 1 2 100 20 3 4 30 99\ncpu3 1 0 0 1 0 0 0 0\ncpu6 30 10 "
                    "10 110\ncpu7 5 5 5 5\nprocesses 17"}}},
    {"ticks: backwards",
     2,
     {{"proc/stat", "cpu2 10 0 0 80 5 0 0 5\nprocesses 10"}},
     {{"proc/stat", "cpu2 40 0 0 70 5 0 0 4\nprocesses 9"}}},
    {"ticks: a kind",
     2,
     {{"proc/stat", "cpu2 1 0 0 0 0 0 0 0\n"}},
     {{"proc/stat", "cpu2 1 0 0 0 1 0 0 1\nprocesses 9"}}},
    {"tasks",
     2,
     {{"proc/20/task/20/schedstat", "1000000 5 5"},
      {"proc/21/task/21/schedstat", NULL},
      {"proc/700/task/701/schedstat", "5 5 5"}},
     {{"proc/20/task/20/schedstat", "3500000 5 5"},
      {"proc/700/task/701/schedstat", "1500005 5 5"},
      {"proc/700/task/700/schedstat", "399999999 5"},
      {"proc/21/task/21/stat",
       "21 (kw(o)rker) S 1 1 1 0 -1 2097152 0 0 0 0 5 7 0 0 20 0 1 0 5 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 2 0 0"}}},
    {"tasks: others",
     2,
     {{0}},
     {{"proc/800/task/800/schedstat", "1500000 5"},
      {"proc/800/task/800/stat",
       "800 (me) S 1 1 1 0 -1 0 0 0 0 0 5 7 0 0 20 0 1 0 5 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 17 6 0 2"},
      {"proc/20/task/20/stat", "20 migration) S"},
      {"proc/20/task/20/schedstat", "3500000 5 5"},
      {"proc/2/task/2/schedstat", "9000000"}}},
    {"tasks: bound",
     2,
     {{0}},
     {{"proc/20/task/20/schedstat", "3500000 5 5"},
      {"proc/20/task/20/status", "Name: x\nCpus_allowed_list:   2-3\n"},
      {"proc/21/task/21/schedstat", "7500000 5 5"},
      {"proc/21/task/21/status", "Name: x\nCpus_allowed_list:2"},
      {"proc/700/task/700/schedstat", "400000001 1"},
      {"proc/700/task/700/status", "x"}}},
    {"tasks: hidden",
     2,
     {{"proc/2/task/2/stat", "2 (x) S 1 1 1 0 -1 4 0"}, {"proc/640/task/640/comm", "irqbalance2"}},
     {{0}}},
    {"tasks: none", 2, {{"proc/2", NULL}, {"proc/640", NULL}}, {{0}}},
};

struct meanwhile {
    const char *root;
    const struct folder_change *puts;
};

static int put_meanwhile(void *data)
{
    const struct meanwhile *m = data;
    folder_change(m->root, m->puts);
    return 1;
}

static char *environment_of(const char *root, const struct variation *v)
{
    char *text = NULL;
    size_t size;
    struct environment e;
    struct machine_error err;
    folder_change(root, v->first);
    struct meanwhile m = {root, v->meanwhile};
    if (environment_read(root, v->cpu, v->meanwhile[0].path ? 1 : 0, put_meanwhile, &m, &e, &err) != MACHINE_OK)
        fail_msg("%s: %s", v->name, err.text);
    folder_change_undo();
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    write_environment(out, &e);
    environment_free(&e);
    assert_int_equal(fclose(out), 0);
    return text;
}

static bool has_line(const char *text, const char *line, size_t length)
{
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
        if (strcspn(at, "\n") == length && strncmp(at, line, length) == 0)
            return true;
    return false;
}

/* The lines of one that the other does not have. */
static void write_missing(FILE *out, char mark, const char *one, const char *other)
{
    for (const char *at = one; *at; at += strcspn(at, "\n") + 1)
        if (!has_line(other, at, strcspn(at, "\n")))
            fprintf(out, "%c %.*s\n", mark, (int)strcspn(at, "\n"), at);
}

static void what_is_told(void **state)
{
    (void)state;
    static const struct variation plain = {.name = "plain", .cpu = 2};
    char root[FOLDER_PATH_MAX];
    struct golden g;
    fake_environment_make(root);
    char *usual = environment_of(root, &plain);
    FILE *out = golden_begin(&g);
    fputs(usual, out);
    for (size_t i = 0; i < sizeof variations / sizeof *variations; i++) {
        char *other = environment_of(root, &variations[i]);
        fprintf(out, "\n# %s\n", variations[i].name);
        if (variations[i].cpu == plain.cpu)
            write_missing(out, '-', usual, other);
        write_missing(out, '+', other, usual);
        free(other);
    }
    folder_remove(root);
    golden_expect(&g, "machine/environment", "txt", false);
    free(usual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told),
    };
    close(STDIN_FILENO); /* what is opened may have descriptor 0, which is as good as any */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
