/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which CPU this is, which of its logical CPUs may be used, and which of them share a core. Everything that is read
 * from the system comes in through a struct or a root folder, so that other machines can be tried on this one.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* Cores that are alike. */
enum { CORE_KINDS_MAX = 64 };
struct core_kind {
    int cpu;        /* a logical CPU of one of them */
    char label[60]; /* in what they differ from the others: "P, favoured", "package 1"; "" where all cores are alike */
    char cpus[240]; /* not of `every`: their logical CPUs, "0-31,64-95"; ends in "..." where they do not fit */
};

/* CPUID, as far as this program reads it. A leaf that the CPU does not offer is all zero. */
struct cpuid_regs {
    uint32_t eax, ebx, ecx, edx;
};
/* Who is requested a subleaf of a leaf. */
typedef void cpuid_fn(uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out);
/* The CPU that this runs on. */
cpuid_fn cpu_cpuid_here;
/* The same, but zero for a leaf above the highest one of its kind. */
void cpu_read_leaf(cpuid_fn *cpuid, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out);

struct cpu_leaves {
    struct cpuid_regs basic;      /* 0: highest leaf, vendor */
    struct cpuid_regs version;    /* 1: signature, hypervisor bit */
    struct cpuid_regs structured; /* 7.0: AVX-512, AMX */
    struct cpuid_regs counters;   /* 0AH: architectural performance monitoring */
    struct cpuid_regs tsc;        /* 15H: TSC and crystal */
    struct cpuid_regs frequency;  /* 16H: base frequency */
    struct cpuid_regs hypervisor; /* 40000000H: highest leaf, name */
    struct cpuid_regs hv_timing;  /* 40000010H: EAX = TSC in kHz */
    struct cpuid_regs brand[3];   /* 80000002H..4H */
    struct cpuid_regs power;      /* 80000007H: EDX[8] = invariant TSC */
};
void cpu_ask_leaves(cpuid_fn *cpuid, struct cpu_leaves *out);
/* Reads the CPUID leaves of the CPU that this runs on. */
void cpu_read_leaves(struct cpu_leaves *out);

/*
 * What helps in a guest, to whoever owns the host and to whoever rents an instance. Clouds pass counters on where
 * nobody else is on the socket (EC2: Gregg, "The PMCs of EC2", 2017), or when the instance is created with them
 * (Compute Engine: "PMU overview", --performance-monitoring-unit).
 */
#define CPU_GUEST_COUNTERS                                                                                             \
    "have the hypervisor pass counters on (QEMU: -cpu host,pmu=on); in a cloud, take bare metal, or an instance of a " \
    "full socket or created with a PMU"
#define CPU_GUEST_HARDWARE "measure on the host; in a cloud, take a bare-metal instance"

/* The value after the colon of "name : value", a line of /proc/cpuinfo; NULL: the line is of something else. */
char *cpu_info_value(char *line, const char *name);

struct cpu_identity {
    char vendor[13];
    char brand[49];     /* without the padding; the vendor where the CPU has no brand string */
    char signature[24]; /* "06_8FH-8": family, model (hex, as Intel writes them), stepping (decimal) */
    unsigned family, model, stepping;
    unsigned general_counters; /* of a logical CPU, as hyper-threading leaves them (CPUID 0AH, EAX 15:8); 0: unknown */
    bool intel;
    bool hypervisor;
    char hypervisor_name[13]; /* "KVMKVMKVM"; empty without a hypervisor */
};
/* Decodes CPUID leaves 0, 1, 40000000H, 80000002H.. (Intel SDM vol. 2A, CPUID; display family and model as there). */
void cpu_identify(const struct cpu_leaves *l, struct cpu_identity *out);

/* How the name of a CPU ends whose signature does not fit its features: "Intel(R) Xeon(R) Processor 06_A7H-1?". */
#define CPU_DOUBTFUL "?"
/*
 * Tells when the model number and the features cannot belong to the same part, as hypervisors report it. Returns
 * false, or true with one line in `why`. Per-model tables must then not be believed.
 */
bool cpu_contradicts(const struct cpu_leaves *l, char *why, size_t size);

/* A set of logical CPUs; larger than cpu_set_t because large machines have more than 1024. */
enum { CPU_LIMIT = 8192 };
struct cpu_mask {
    cpu_set_t set[CPU_LIMIT / CPU_SETSIZE];
};
void cpu_mask_clear(struct cpu_mask *m);
void cpu_mask_add(struct cpu_mask *m, int cpu);
bool cpu_mask_has(const struct cpu_mask *m, int cpu);
unsigned cpu_mask_count(const struct cpu_mask *m);
/* Reads the kernel's list form, "0-3,8". Returns 0, or -1 when it is not one (then *out is empty). */
int cpu_mask_parse(const char *text, struct cpu_mask *out);
/* The same of the other form, words of 32 bits in hexadecimal, the highest CPUs first: "ff,ffffffff". */
int cpu_mask_parse_hex(const char *text, struct cpu_mask *out);
/* Writes the list form; ends in "..." where it does not fit. */
void cpu_mask_format(const struct cpu_mask *m, char *out, size_t size);
/* Writes the other form, as /proc/irq and workqueues take it; words that do not fit are left out. */
void cpu_mask_format_hex(const struct cpu_mask *m, char *out, size_t size);

/* The logical CPUs, as the kernel shows them. */
struct cpu_view {
    struct cpu_mask present, online;
    struct cpu_mask allowed;  /* to this process: affinity and cpuset; isolated ones, too, unless these restrict it */
    struct cpu_mask big;      /* hybrid parts: the performance cores; otherwise empty */
    struct cpu_mask isolated; /* since boot (isolcpus): no process gets there that does not request it */
    struct cpu_mask tickless; /* since boot (nohz_full) */
    const int *core; /* of each CPU the first one of its core, as measured (computer/cpu/core_pairs.h), kept by who put
                        it there; NULL: as sysfs says */
};
/*
 * Fills the view from `root` ("/sys", or a folder laid out like it) and the calling thread's affinity, which it changes
 * for a moment if there are isolated CPUs. What sysfs does not show (a container without it) is taken to be what the
 * affinity allows.
 */
void cpu_view_read(const char *root, struct cpu_view *out);

/*
 * Isolated CPUs are absent from the affinity of a process until somebody sets it. `reach`: the CPUs that it gets if it
 * requests all, which is what its cpuset holds. If its affinity excludes none of these but isolated ones, these are
 * allowed, too; if it excludes others or includes an isolated one, somebody has chosen it (taskset), and it holds.
 */
void cpu_view_widen(struct cpu_view *v, const struct cpu_mask *reach);

/* How quiet a CPU is since boot: 2 isolated, 1 tickless, 0 neither. */
enum { CPU_QUIETEST = 2 };
int cpu_quietness(const struct cpu_view *v, int cpu);

/*
 * The CPU to measure on: `wanted`, or for -1, of the CPUs that are online and allowed, one of the quietest, of these
 * the highest-numbered (low numbers serve more interrupts); of the performance cores if there are two kinds. Returns
 * MACHINE_OK and sets *cpu, or
 * MACHINE_BAD_INPUT with *err telling which of the three it was: not existing, offline, not allowed.
 */
int cpu_choose(const struct cpu_view *v, int wanted, int *cpu, struct machine_error *err);

/* The CPU that this takes for -1 below `root`; 0 where there is none. */
int cpu_default(const char *root);

/* Returns whether a CPU is online and allowed. */
bool cpu_usable(const struct cpu_view *v, int cpu);
/* Fills *err with MACHINE_BAD_INPUT, which it returns; the CPUs that can be used follow `remedy`. */
__attribute__((format(printf, 4, 5))) int cpu_refuse(const struct cpu_view *v, struct machine_error *err,
                                                     const char *remedy, const char *text, ...);

/* The number of the first logical CPU of a CPU's physical core; its own number where sysfs does not say. */
int cpu_core_of(const char *root, int cpu);
/* The same as the view has it: as measured where it was. */
int cpu_core_in(const struct cpu_view *v, const char *root, int cpu);
/* The package of a CPU; 0 where sysfs does not say. */
int cpu_package_of(const char *root, int cpu);
/* The die of a CPU in its package; 0 where sysfs does not say. */
int cpu_die_of(const char *root, int cpu);
/* The number of the first CPU of those that share the third-level cache with a CPU; -1 where sysfs does not say. */
int cpu_l3_of(const char *root, int cpu);

/*
 * One usable logical CPU of each kind of core that sysfs tells apart: P, E and LP-E cores of hybrid parts, packages and
 * dies, and cores that are favoured (a higher highest_perf of CPPC, or cpuinfo_max_freq, than others of their kind and
 * die). Of each the one that cpu_choose() prefers, the quietest first, in falling order; with `every`, of every core,
 * whether others are like it or not, in the order of the CPUs' numbers, with its cluster where a die has several.
 * Returns how many, at most `max`; 0: out of memory.
 */
size_t cpu_core_kinds(const char *root, const struct cpu_view *v, bool every, struct core_kind *out, size_t max);

/* The kind of a CPU's core on a hybrid part: "P", "E" or "LP-E"; "" on others, or where sysfs does not say. */
const char *cpu_core_class(const char *root, int cpu);

/* Affinity of the calling thread. Return 0 or -1 with errno set. */
int cpu_get_affinity(struct cpu_mask *out);
int cpu_set_affinity(const struct cpu_mask *m);
/* Leaves it one CPU; *before receives what it was. */
int cpu_pin(int cpu, struct cpu_mask *before);

/* Reads a small text file, at a path as printf makes it, without its trailing newline. Returns the length, or -1 with
 * errno set. */
__attribute__((format(printf, 4, 5))) int cpu_read_text(const char *root, char *out, size_t size, const char *path,
                                                        ...);
/* The whole number that such a file holds; `otherwise` where there is none. */
__attribute__((format(printf, 3, 4))) long cpu_read_number(const char *root, long otherwise, const char *path, ...);
/* The CPUs that it lists, in the kernel's form. Returns false, and none, where there is no such list. */
__attribute__((format(printf, 3, 4))) bool cpu_read_list(const char *root, struct cpu_mask *out, const char *path, ...);
