/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/fake_environment.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PER_CORE = FAKE_CPUS / 2, TEXT_SIZE = 4096 };

/* ---- files that are the same for all, or for each CPU ---- */

struct fake_file {
    const char *path, *text;
};

/* Writes the files whose names begin with `prefix`. */
static void put_files(const char *root, const char *prefix, const struct fake_file *files, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(files[i].path, prefix, strlen(prefix)) == 0)
            folder_put_line(root, files[i].path, files[i].text);
}

__attribute__((format(printf, 3, 4))) static void put_at(const char *root, const char *text, const char *path, ...)
{
    char full[200];
    va_list args;
    va_start(args, path);
    vsnprintf(full, sizeof full, path, args);
    va_end(args);
    folder_put_line(root, full, text);
}

static void put_system(const char *root, const char *prefix)
{
    static const struct fake_file files[] = {
        {"sys/devices/system/cpu/online", "0-7"},
        {"sys/devices/system/cpu/present", "0-7"},
        {"sys/devices/system/cpu/possible", "0-7"},
        {"sys/devices/system/cpu/isolated", "3,7"},
        {"sys/devices/system/cpu/nohz_full", ""},
        {"sys/devices/system/cpu/smt/control", "on"},
        {"sys/devices/system/cpu/smt/active", "1"},
        {"sys/devices/system/cpu/intel_pstate/no_turbo", "0"},
        {"sys/devices/system/cpu/intel_pstate/status", "active"},
        {"sys/devices/system/cpu/cpuidle/current_driver", "intel_idle"},
        {"sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/min_freq_khz", "800000"},
        {"sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/max_freq_khz", "2400000"},
        {"sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected"},
        {"sys/devices/system/cpu/vulnerabilities/mds", "Mitigation: Clear CPU buffers; SMT vulnerable"},
        {"sys/devices/system/cpu/vulnerabilities/spectre_v2",
         "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional"},
        {"sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"},
        {"sys/devices/virtual/workqueue/cpumask", "ff"},
        {"sys/devices/virtual/workqueue/writeback/cpumask", "ff"},
        {"sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "150000000"},
        {"sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw", "205000000"},
        {"sys/class/powercap/intel-rapl:0/enabled", "1"},
        {"sys/class/dmi/id/bios_version", "2.1"},
        {"sys/class/dmi/id/bios_date", "03/01/2024"},
        {"sys/bus/event_source/devices/cpu/rdpmc", "1"},
        {"sys/bus/event_source/devices/cpu/type", "4"},
        {"sys/kernel/security/lockdown", "[none] integrity confidentiality"},
        {"sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"},
        {"proc/cmdline", "BOOT_IMAGE=/vmlinuz-6.1.0 root=/dev/sda1 ro isolcpus=3,7 quiet"},
        {"proc/sys/kernel/osrelease", "6.1.0"},
        {"proc/sys/kernel/random/boot_id", "01234567-89ab-cdef-0123-456789abcdef"},
        {"proc/sys/kernel/nmi_watchdog", "1"},
        {"proc/sys/kernel/sched_rt_runtime_us", "950000"},
        {"proc/sys/kernel/perf_event_paranoid", "2"},
        {"proc/sys/kernel/randomize_va_space", "2"},
        {"proc/sys/vm/stat_interval", "1"},
        {"proc/irq/default_smp_affinity", "ff"},
        {"boot/config-6.1.0", "CONFIG_X86_64=y\nCONFIG_HZ_250=y\nCONFIG_HZ=250"},
        {"proc/800/cgroup", "0::/user.slice/session.scope"},
        {"proc/800/mountinfo", "24 1 0:22 / /sys rw - sysfs sysfs rw\n"
                               "29 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"},
        {"sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids"},
        {"sys/fs/cgroup/cgroup.subtree_control", "cpuset cpu memory pids"},
        {"sys/fs/cgroup/cpuset.cpus.effective", "0-7"},
        {"sys/fs/cgroup/user.slice/cpuset.cpus.effective", "0-2,4-6"},
        {"sys/fs/cgroup/user.slice/cpu.max", "400000 100000"},
        {"sys/fs/cgroup/user.slice/session.scope/cpu.max", "max 100000"},
    };
    put_files(root, prefix, files, sizeof files / sizeof *files);
}

static void put_cpu(const char *root, int cpu)
{
    static const struct fake_file files[] = {
        {"cpufreq/scaling_governor", "powersave"},
        {"cpufreq/scaling_driver", "intel_pstate"},
        {"cpufreq/scaling_min_freq", "1000000"},
        {"cpufreq/scaling_max_freq", "3700000"},
        {"cpufreq/cpuinfo_min_freq", "1000000"},
        {"cpufreq/cpuinfo_max_freq", "3700000"},
        {"cpufreq/energy_performance_preference", "balance_performance"},
        {"cpufreq/energy_performance_available_preferences", "default performance balance_performance power"},
        {"cpufreq/scaling_available_governors", "performance powersave"},
        {"microcode/version", "0x2b000590"},
        {"thermal_throttle/core_throttle_count", "3"},
        {"thermal_throttle/package_throttle_count", "4"},
        {"topology/physical_package_id", "0"},
        {"online", "1"},
    };
    static const struct fake_file states[FAKE_STATES] = {{"POLL", "0"}, {"C1", "2"}, {"C1E", "10"}, {"C6", "133"}};
    char text[32];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (cpu > 0 || strcmp(files[i].path, "online") != 0) /* CPU 0 cannot be unplugged */
            put_at(root, files[i].text, "sys/devices/system/cpu/cpu%d/%s", cpu, files[i].path);
    for (int i = 0; i < FAKE_STATES; i++) {
        put_at(root, states[i].path, "sys/devices/system/cpu/cpu%d/cpuidle/state%d/name", cpu, i);
        put_at(root, states[i].text, "sys/devices/system/cpu/cpu%d/cpuidle/state%d/latency", cpu, i);
        put_at(root, "0", "sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable", cpu, i);
    }
    snprintf(text, sizeof text, "%d,%d", cpu % PER_CORE, cpu % PER_CORE + PER_CORE);
    put_at(root, text, "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    snprintf(text, sizeof text, "%d", cpu % PER_CORE);
    put_at(root, text, "sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
    put_at(root, "", "dev/cpu/%d/msr", cpu);
}

static void put_cpuinfo(const char *root)
{
    char text[TEXT_SIZE] = "";
    for (int cpu = 0; cpu < FAKE_CPUS; cpu++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "processor\t: %d\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
                 "model name\t: Fake\nstepping\t: 8\nmicrocode\t: 0x2b000590\n"
                 "flags\t\t: fpu tsc msr sse2 constant_tsc aperfmperf avx2 hwp hwp_epp avx512f\nbugs\t\t: mds\n\n",
                 cpu);
    }
    folder_put(root, "proc/cpuinfo", text);
}

/* ---- what is counted ---- */

void fake_environment_interrupts(const char *root, unsigned (*count)(int cpu, int line))
{
    static const char *const names[FAKE_LINES] = {"24", "25", "26", "27", "28", "29", "LOC", "RES", "NMI"};
    static const char *const devices[FAKE_LINES] = {"IR-PCI-MSI-0000:00:1f.2    0-edge      ahci[0000:00:1f.2]",
                                                    "IR-PCI-MSIX-0000:3b:00.0    0-edge      nvme0q0",
                                                    "IR-PCI-MSIX-0000:3b:00.0    1-edge      nvme0q1",
                                                    "IR-PCI-MSIX-0000:18:00.0    0-edge      eth0-TxRx-0",
                                                    "IR-PCI-MSIX-0000:18:00.0    1-edge      eth0-TxRx-1",
                                                    "IR-IO-APIC    8-edge      rtc0",
                                                    "  Local timer interrupts",
                                                    "  Rescheduling interrupts",
                                                    "  Non-maskable interrupts"};
    char text[TEXT_SIZE] = "    ";
    size_t used = strlen(text);
    for (int cpu = 0; cpu < FAKE_CPUS; cpu++)
        used += (size_t)snprintf(text + used, sizeof text - used, "       CPU%d", cpu);
    for (int line = 0; line < FAKE_LINES; line++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "\n%4s:", names[line]);
        for (int cpu = 0; cpu < FAKE_CPUS; cpu++)
            used += (size_t)snprintf(text + used, sizeof text - used, " %10u", count(cpu, line));
        used += (size_t)snprintf(text + used, sizeof text - used, "  %s", devices[line]);
    }
    snprintf(text + used, sizeof text - used, "\n ERR:          7\n MIS:          0\n");
    folder_put(root, "proc/interrupts", text);
}

void fake_environment_stat(const char *root, const struct fake_ticks ticks[FAKE_CPUS], unsigned begun)
{
    char text[TEXT_SIZE] = "cpu  1 2 3 4 5 6 7 8 9 10\n";
    for (int cpu = 0; cpu < FAKE_CPUS; cpu++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "cpu%d %u 0 0 %u 0 0 0 %u 0 0\n", cpu, ticks[cpu].user, ticks[cpu].idle,
                 ticks[cpu].steal);
    }
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "intr 123 0 0\nctxt 99\nbtime 1700000000\nprocesses %u\n", begun);
    folder_put(root, "proc/stat", text);
}

void fake_environment_task(const char *root, const struct fake_task *task)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "%d (%s) S 1 1 1 0 -1 %u 0 0 0 0 %llu 0 0 0 20 0 1 0 5 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 %d "
        "0 0 0 0 0 0 0 0 0 0 0 0 0",
        task->tid, task->name, task->kernel ? 0x00208040U : 0x00400000U, task->ns / 10000000, task->cpu);
    put_at(root, text, "proc/%d/task/%d/stat", task->pid, task->tid);
    snprintf(text, sizeof text, "%llu 100 10", task->ns);
    put_at(root, text, "proc/%d/task/%d/schedstat", task->pid, task->tid);
    snprintf(text, sizeof text, "Name:\t%s\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\nMems_allowed:\t1", task->name,
             task->allowed);
    put_at(root, text, "proc/%d/task/%d/status", task->pid, task->tid);
    put_at(root, task->name, "proc/%d/task/%d/comm", task->pid, task->tid);
    if (task->pid == task->tid)
        put_at(root, task->name, "proc/%d/comm", task->pid);
}

/* ---- all ---- */

static unsigned since_boot(int cpu, int line)
{
    if (line == FAKE_NMI)
        return 12;
    if (line >= FAKE_IRQS)
        return 100000 + (unsigned)cpu;
    return line % FAKE_CPUS == cpu ? 500 : 0;
}

static void put_irqs(const char *root)
{
    static const char *const allowed[FAKE_IRQS] = {"0-7", "0-7", "2", "0,4", "1-2,5-6", "0"};
    for (int i = 0; i < FAKE_IRQS; i++) {
        put_at(root, allowed[i], "proc/irq/%d/smp_affinity_list", FAKE_FIRST_IRQ + i);
        put_at(root, allowed[i], "proc/irq/%d/effective_affinity_list", FAKE_FIRST_IRQ + i);
    }
    fake_environment_interrupts(root, since_boot);
}

static void put_tasks(const char *root)
{
    static const struct fake_task tasks[] = {
        {1, 1, "systemd", false, 0, 5000000000, "0-2,4-6"},
        {2, 2, "kthreadd", true, 1, 1000000, "0-7"},
        {20, 20, "migration/2", true, 2, 3000000, "2"},
        {21, 21, "kworker/2:1-events", true, 2, 7000000, "2"},
        {640, 640, "irqbalance", false, 4, 90000000, "0-2,4-6"},
        {700, 700, "a ) (name", false, 2, 400000000, "0-2,4-6"},
        {700, 701, "second", false, 6, 100000000, "0-2,4-6"},
        {800, 800, "this program", false, 0, 100000, "0-7"},
    };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        fake_environment_task(root, &tasks[i]);
}

void fake_environment_renew(const char *root)
{
    static const struct fake_ticks ticks[FAKE_CPUS] = {{1000, 9000, 0}, {1000, 9000, 0}, {1000, 9000, 0},
                                                       {10, 9990, 0},   {1000, 9000, 0}, {1000, 9000, 0},
                                                       {1000, 9000, 0}, {10, 9990, 0}};
    char path[FOLDER_PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/proc", root);
    folder_remove(path);
    put_system(root, "proc/");
    put_cpuinfo(root);
    put_irqs(root);
    fake_environment_stat(root, ticks, 900);
    put_tasks(root);
    snprintf(path, sizeof path, "%s/proc/self", root);
    if (symlink("800", path) != 0)
        perror(path);
}

void fake_environment_make(char root[FOLDER_PATH_MAX])
{
    folder_make(root);
    put_system(root, "sys/");
    put_system(root, "boot/");
    fake_environment_renew(root);
    for (int cpu = 0; cpu < FAKE_CPUS; cpu++)
        put_cpu(root, cpu);
    /* the byte after the four of the attributes is 0; a string ends there, and so does the file */
    folder_put(root, "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", "\6\1\1\1\1");
    folder_put_line(root, "run/lock", "");
}
