/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything about a computer that disturbs a measurement on one of its CPUs: counted for a while, not judged
 * (doc/quiet-machine.md). Everything is read below one root folder, so that other machines can be tried on this one.
 * Its contents are untrusted: any file may be missing, forbidden, endless or garbage.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "computer/cpu/core_pairs.h"
#include "computer/cpu/cpu.h"
#include "util/error.h"

enum { ENVIRONMENT_TEXT = 256, ENVIRONMENT_LINE = 4096 };

/* One small file, one line of it. */
struct fact {
    int error; /* 0: read; else an error number: ENOENT (not there), EACCES, EPERM, EBADMSG (no text), ... */
    char text[ENVIRONMENT_TEXT]; /* plain text (util/plain_text.h), "" where not read */
};

/*
 * The files that are read alike: X(NAME, path); %d is the measured CPU, * a part of a name (the first match in the
 * order of names). Paths are relative to the root folder.
 */
#define ENVIRONMENT_FACTS(X)                                                                                           \
    X(GOVERNOR, "sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor")                                               \
    X(DRIVER, "sys/devices/system/cpu/cpu%d/cpufreq/scaling_driver")                                                   \
    X(MIN_KHZ, "sys/devices/system/cpu/cpu%d/cpufreq/scaling_min_freq")                                                \
    X(MAX_KHZ, "sys/devices/system/cpu/cpu%d/cpufreq/scaling_max_freq")                                                \
    X(LOWEST_KHZ, "sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_min_freq")                                             \
    X(HIGHEST_KHZ, "sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq")                                            \
    X(BASE_KHZ, "sys/devices/system/cpu/cpu%d/cpufreq/base_frequency")                                                 \
    X(NOMINAL_MHZ, "sys/devices/system/cpu/cpu%d/acpi_cppc/nominal_freq")                                              \
    X(EPP, "sys/devices/system/cpu/cpu%d/cpufreq/energy_performance_preference")                                       \
    X(POLICY_BOOST, "sys/devices/system/cpu/cpu%d/cpufreq/boost")                                                      \
    X(NO_TURBO, "sys/devices/system/cpu/intel_pstate/no_turbo")                                                        \
    X(BOOST, "sys/devices/system/cpu/cpufreq/boost")                                                                   \
    X(MAX_PERF_PCT, "sys/devices/system/cpu/intel_pstate/max_perf_pct")                                                \
    X(PSTATE_STATUS, "sys/devices/system/cpu/intel_pstate/status")                                                     \
    X(IDLE_DRIVER, "sys/devices/system/cpu/cpuidle/current_driver")                                                    \
    X(SMT_CONTROL, "sys/devices/system/cpu/smt/control")                                                               \
    X(SMT_ACTIVE, "sys/devices/system/cpu/smt/active")                                                                 \
    X(SIBLINGS, "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list")                                          \
    X(ONLINE, "sys/devices/system/cpu/online")                                                                         \
    X(ISOLATED, "sys/devices/system/cpu/isolated")                                                                     \
    X(NOHZ_FULL, "sys/devices/system/cpu/nohz_full")                                                                   \
    X(WORKQUEUE_MASK, "sys/devices/virtual/workqueue/cpumask")                                                         \
    X(WRITEBACK_MASK, "sys/devices/virtual/workqueue/writeback/cpumask")                                               \
    X(MICROCODE, "sys/devices/system/cpu/cpu%d/microcode/version")                                                     \
    X(THERMAL_CORE, "sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count")                               \
    X(THERMAL_PACKAGE, "sys/devices/system/cpu/cpu%d/thermal_throttle/package_throttle_count")                         \
    X(UNCORE_MIN_KHZ, "sys/devices/system/cpu/intel_uncore_frequency/*/min_freq_khz")                                  \
    X(UNCORE_MAX_KHZ, "sys/devices/system/cpu/intel_uncore_frequency/*/max_freq_khz")                                  \
    X(CAP_UW, "sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw")                                           \
    X(CAP_MAX_UW, "sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw")                                         \
    X(CAP_ENABLED, "sys/class/powercap/intel-rapl:0/enabled")                                                          \
    X(HALT_POLL_NS, "sys/module/haltpoll/parameters/guest_halt_poll_ns")                                               \
    X(RDPMC, "sys/bus/event_source/devices/cpu*/rdpmc")                                                                \
    X(PMU_TYPE, "sys/bus/event_source/devices/cpu*/type")                                                              \
    X(LOCKDOWN, "sys/kernel/security/lockdown")                                                                        \
    X(HUGE_PAGES, "sys/kernel/mm/transparent_hugepage/enabled")                                                        \
    X(CLOCKSOURCE, "sys/devices/system/clocksource/clocksource0/current_clocksource")                                  \
    X(BIOS_VERSION, "sys/class/dmi/id/bios_version")                                                                   \
    X(BIOS_DATE, "sys/class/dmi/id/bios_date")                                                                         \
    X(HYPERVISOR_TYPE, "sys/hypervisor/type")                                                                          \
    X(CMDLINE, "proc/cmdline")                                                                                         \
    X(RELEASE, "proc/sys/kernel/osrelease")                                                                            \
    X(BOOT_ID, "proc/sys/kernel/random/boot_id")                                                                       \
    X(NMI_WATCHDOG, "proc/sys/kernel/nmi_watchdog")                                                                    \
    X(RT_RUNTIME, "proc/sys/kernel/sched_rt_runtime_us")                                                               \
    X(PERF_PARANOID, "proc/sys/kernel/perf_event_paranoid")                                                            \
    X(PERF_RATE, "proc/sys/kernel/perf_event_max_sample_rate")                                                         \
    X(ASLR, "proc/sys/kernel/randomize_va_space")                                                                      \
    X(STAT_INTERVAL, "proc/sys/vm/stat_interval")                                                                      \
    X(DEFAULT_AFFINITY, "proc/irq/default_smp_affinity")                                                               \
    X(CONTAINER, "run/systemd/container")

/* clang-format off */
enum environment_fact {
#define ENVIRONMENT_FACT_NUMBER(name, path) ENV_##name,
    ENVIRONMENT_FACTS(ENVIRONMENT_FACT_NUMBER)
#undef ENVIRONMENT_FACT_NUMBER
    ENV_FACTS
};
/* clang-format on */

struct environment_state { /* a C-state of the CPU */
    char name[32];
    long exit_us; /* -1: not known */
    bool disabled;
    unsigned number;
};
struct environment_irq {
    char name[64];                /* "24", "LOC", "RES" as in /proc/interrupts */
    char device[96];              /* the text after its counts */
    uint64_t since_boot, counted; /* on the CPU; while counting */
    bool numbered;                /* has a folder in proc/irq */
    struct cpu_mask allowed;
    bool allowed_known, here; /* may go to the CPU */
    /* May be sent elsewhere: those that the kernel alone places (managed ones, of queues for each CPU) have a file that
     * nobody may write (Linux, kernel/irq/proc.c: irq_can_set_affinity_usr); older kernels do not say. */
    bool movable;
};
struct environment_task {
    int pid;
    char name[40];
    bool kernel;   /* a kernel thread */
    bool self;     /* of this program */
    double cpu_ms; /* ran so long while counting (and while it was looked at: slightly more is possible) ... */
    bool on_cpu, on_sibling; /* ... on the CPU, on a sibling of it, as far as the last look tells */
    bool bound;              /* may run nowhere else */
};
struct environment_weakness { /* cpu/vulnerabilities */
    char name[48], text[ENVIRONMENT_TEXT];
};

enum { ENVIRONMENT_LIST_MAX = 4096 };

/* How what disturbs grows with the length of a sample (analysis/stats/disturbance.h); NaN: not known. */
struct environment_disturbance {
    const char *is; /* "clock", "stolen time", "both", "undecided"; NULL: not measured */
    double slope, lo, hi;
    double each_us, part; /* a piece of stolen time; what a moving clock takes, 0 to 1 */
    char why[300];        /* it is undecided, or not measured; "" */
};

struct environment {
    int cpu;
    bool root;      /* uid 0 looked */
    double seconds; /* counted for so long */
    bool files;     /* read from files of a computer, in which nothing can be counted */
    struct fact fact[ENV_FACTS];
    char command_line[ENVIRONMENT_LINE]; /* ENV_CMDLINE, which may be longer than a fact; "": not readable */
    struct cpu_mask siblings, online, isolated, nohz_full, workqueue, writeback, default_affinity;
    bool siblings_known; /* a list was read that names the CPU */

    struct environment_state *states;
    size_t n_states;
    struct environment_irq *irqs; /* those with a count on the CPU or that may go there */
    size_t n_irqs;
    int irqs_error;
    struct environment_task *tasks; /* that ran on the CPU or a sibling while counting, most first */
    size_t n_tasks;
    int tasks_error;
    bool tasks_hidden; /* others' are not shown at all (hidepid, a container): no kernel thread is seen */
    bool irqbalance;
    struct environment_weakness *weaknesses;
    size_t n_weaknesses;

    /* /proc/stat, parts of the time counted (0..1; NaN: not known) */
    double steal, busy_here, busy_sibling, busy_others;
    double begun;       /* threads that began while counting, on any CPU: those that ended too are not in `tasks` */
    double timer_hz;    /* local timer interrupts a second on the CPU; NaN: not counted */
    long config_hz;     /* CONFIG_HZ; 0: not known */
    int secure_boot;    /* 1, 0; -1: not known (no EFI variables) */
    int msr_error;      /* of opening dev/cpu/N/msr to read: 0, ENOENT, EACCES, ... */
    bool cpuinfo_known; /* flags were read from proc/cpuinfo: */
    bool hypervisor;    /* ... this one */
    char hypervisor_name[40];
    double base_khz;       /* the frequency that the processor is named for; NaN: not known */
    const char *base_from; /* who says so; static text */
    char microcode[24];    /* revision, of sysfs or else of proc/cpuinfo: "0x2b000590"; "": not known */
    unsigned microcodes;   /* different revisions among the CPUs; 0: not known */
    char mitigations[64];  /* the kernel command line's word; "default": none there; "": not readable */
    /* the process's own cgroup */
    char cgroup_cpus[ENVIRONMENT_TEXT]; /* cpuset.cpus.effective; "" unknown */
    double cgroup_quota;                /* of how many CPUs; NaN: none, or unknown */
    bool container_files;               /* /.dockerenv or the like */
    /* throttling events: counted, and since boot; NaN: not known */
    double thermal_now, thermal_boot;
    const struct core_pairs *pairs; /* measured by who has it (in a virtual machine), and kept there; NULL: not */
    struct environment_disturbance disturbance; /* filled in by whoever runs code on the CPU */
};

/* The path of a fact with the CPU filled in, for a person: "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor". To
 * be used in place. */
struct environment_path {
    char text[256];
};
struct environment_path environment_path(enum environment_fact which, int cpu);
/*
 * The value of an option on the kernel's command line, the last one of that name: "off" of "mitigations=off", "" of
 * "nomodule". *length of it; NULL: there is none.
 */
const char *environment_boot_option(const struct environment *e, const char *name, size_t *length);
/* The group of a process in a controller's hierarchy, from its lines "4:cpu,cpuacct:/group", which are cut up; "": in
 * that of version 2 ("0::/group"). NULL: in none. */
char *environment_cgroup_of(char *groups, const char *controller);

/*
 * Reads below `root` ("" is this machine) for CPU `cpu`, and counts for `seconds` (0: what was since boot alone). Stops
 * counting early when stop(data), which may be NULL, says so. Returns MACHINE_OK, or fills *err and returns its status:
 * MACHINE_BAD_INPUT where the root or the CPU does not exist. Free with environment_free.
 */
int environment_read(const char *root, int cpu, double seconds, int (*stop)(void *data), void *data,
                     struct environment *out, struct machine_error *err);
void environment_free(struct environment *e);
/* Returns whether below this root are files of a computer, a bundle's, and not what its kernel shows: counting there
 * would be waiting. */
bool environment_is_files(const char *root);
/* The facts alone, in a fraction of a millisecond: no lists, nothing counted. For the snapshot. */
void environment_read_facts(const char *root, int cpu, struct environment *out);
