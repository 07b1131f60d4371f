/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of the perf machine: the sampling loop, the counters, the test of the license events, and the seam through
 * which a made PMU can drive all of it.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/events/events.h"
#include "drivers/machine.h"
#include "drivers/native/sampling.h"

/* Cycles, reference cycles, instructions, four license events, four more: the kernel says how many fit at once. */
enum { PERF_COUNTERS_MAX = 11 };

/* ---- perf_sample.c: the sampling loop ---- */

/* One counter as the loop sees it. */
struct perf_slot {
    const struct perf_event_mmap_page *page;
    uint64_t idle; /* nanoseconds enabled, but not on a counter, at the reading before */
};

/* A reading is 2 + n words: the TSC, the blocks of the payload in this stretch so far, n counts. */
struct perf_reader {
    uint64_t *out;
    unsigned n;
    struct perf_slot slot[PERF_COUNTERS_MAX];
};

/* sampling_run() with n counters read at the end of each sample: one function for each n, with nothing in its loop that
 * depends on n. */
typedef void perf_sampler(const struct sampling *p, struct sampling_log *log, struct perf_reader *reader);
struct perf_samplers {
    perf_sampler *sample[PERF_COUNTERS_MAX + 1];               /* by n */
    void (*read)(struct perf_reader *reader, uint64_t *words); /* one reading, of any n, now */
};
extern const struct perf_samplers perf_samplers;

/* ---- the seam: what the kernel and the CPU do for the machine ---- */

struct perf_system {
    /* an event of the calling thread on one CPU; returns its descriptor, or an error number below 0 */
    int (*open)(const struct perf_event_attr *attr, int cpu);
    /* an event of a CPU, whatever runs there; as above. NULL: it is not to be had */
    int (*open_cpu)(const struct perf_event_attr *attr, int cpu);
    /* its page; returns NULL with errno set */
    struct perf_event_mmap_page *(*map)(int fd);
    void (*unmap)(struct perf_event_mmap_page *page);
    int (*close)(int fd);
    /* runs a payload for so many ticks: for the test of the license events */
    void (*run)(const struct payload *p, uint64_t ticks);
    const struct perf_samplers *samplers;
    const char *sys;                 /* "/sys", or a folder laid out like it */
    const char *proc;                /* likewise; NULL = "/proc" */
    const char *data_dir;            /* holds events/; NULL = the shipped data */
    const struct cpu_leaves *leaves; /* of the CPU; NULL = read from it */
    unsigned license_features;       /* kernels that `run` can run; 0 = those of this CPU */
    unsigned general_counters;       /* of the logical CPU; 0 = not known */
};
/* Fills in the functions of the running kernel and CPU. */
void perf_real_system(struct perf_system *out);

/* ---- perf_counters.c ---- */

/* The PMU that counts on a CPU. */
struct perf_pmu {
    char name[16]; /* "cpu"; on hybrid parts "cpu_core" or "cpu_atom" */
    uint32_t type; /* of attr.type for raw events */
    bool hybrid;
};
/* Reads the PMU from bus/event_source/devices below `sys`. Where there is nothing to read it is the "cpu" of non-hybrid
 * parts. */
void perf_find_pmu(const char *sys, int cpu, struct perf_pmu *out);

/* Fills the request to perf_event_open(): pinned, user space only. `code`: as in counter_spec, if it is not fixed. */
void perf_fill_attr(const struct perf_pmu *pmu, enum counter_id id, uint64_t code, struct perf_event_attr *out);

struct perf_counter {
    int fd;
    struct perf_event_mmap_page *page; /* read-only */
};
/*
 * Opens and maps a counter of the calling thread on `cpu`. Returns MACHINE_OK, or fills *err and returns
 * MACHINE_CANNOT. Whether it counts is then for perf_counter_check() to say, once the thread runs on that CPU.
 */
int perf_counter_open(const struct perf_system *system, const struct perf_pmu *pmu, int cpu, enum counter_id id,
                      uint64_t code, struct perf_counter *out, struct machine_error *err);
void perf_counter_close(const struct perf_system *system, struct perf_counter *c);
/* MACHINE_OK, or MACHINE_CANNOT: user space may not read it, or it is on no counter, with the remedy. `events`: how
 * many were requested together. */
int perf_counter_check(const struct perf_system *system, const struct perf_counter *c, enum counter_id id,
                       uint64_t code, unsigned events, struct machine_error *err);

/* "cycles", "license level 1", "event 0x28:0x08". */
void perf_counter_name(enum counter_id id, uint64_t code, char *out, size_t size);

/*
 * ---- the same: why no counter is free, and what to do about it ----
 *
 * There are few of them: four general ones for each hyper-thread of Intel's cores before Ice Lake, and the NMI watchdog
 * keeps one on every CPU, by which the event that would have had it (the cycles) needs one of these.
 */

enum { PERF_ROOM_REMEDY_SIZE = 200 };

/* /proc/sys/kernel/nmi_watchdog below `proc` ("/proc", or a folder laid out like it; NULL = "/proc"): 1 on, 0 off, -1
 * not readable. */
int perf_room_watchdog(const char *proc);

/* The remedy, by what perf_room_watchdog() returned: to free a counter; and, of those who requested many,
 * that or to request fewer at a time. */
const char *perf_room_to_free(int watchdog);
const char *perf_room_remedy(int watchdog);

/* The number of events requested and of general counters (0: not known), as the end of a sentence; or
 * "". */
void perf_room_text(unsigned events, unsigned general, char *out, size_t size);

/* ---- perf_license.c: whether the license events count what their names say ---- */

enum perf_license_kernel { PERF_SCALAR, PERF_256FMA, PERF_512FMA, PERF_LICENSE_KERNELS };
extern const char *const perf_license_names[PERF_LICENSE_KERNELS];
/* Warm enough for any license (the Intel manual gives 500 us at most for a request to be granted), then counted. */
enum { PERF_LICENSE_WARM_US = 3000, PERF_LICENSE_COUNT_US = 2000 };
/* Counts over some milliseconds of each kernel, in its steady state. COUNTER_MISSING = was not counted. */
struct perf_license_counts {
    bool ran[PERF_LICENSE_KERNELS]; /* false: this CPU cannot run it */
    uint64_t cycles[PERF_LICENSE_KERNELS];
    uint64_t level[PERF_LICENSE_KERNELS][3];
    bool has_throttle;
    char throttle_why[160], throttle_remedy[200]; /* where there is an event and it cannot be had with the levels */
    uint64_t throttle[PERF_LICENSE_KERNELS];      /* from the kernel's first instruction on */
};
/* For each of lvl0, lvl1, lvl2, throttle: "", or why it must not be offered. */
struct perf_license_verdict {
    char why[EVENTS_LICENSES][200];
};
/*
 * Levels are offered only if they take their turns: of scalar code, 256-bit FMA and 512-bit FMA each runs at one level,
 * which holds 90 % of its cycles, the three together 95 to 105 %. Which one that is, is published for some parts
 * (level_of of their table of events; NULL, or -1: it is not): else scalar code runs at level 0 and none of the others
 * at a lower level than the one before. A level that none of them requests, as level 2 of parts that have fewer, cannot
 * be tested and is not offered. Throttling must have been seen with one of the wider kernels.
 */
void perf_license_judge(const struct perf_license_counts *c, const int level_of[PERF_LICENSE_KERNELS],
                        struct perf_license_verdict *out);

/*
 * Takes the counts on `cpu`, to which the calling thread is pinned meanwhile; about 30 ms. Returns MACHINE_OK, or fills
 * *err (no counter free, ...) and returns its status.
 */
int perf_license_measure(const struct perf_system *system, const struct perf_pmu *pmu, const struct events_table *table,
                         int cpu, double tsc_hz, struct perf_license_counts *out, struct machine_error *err);

/* ---- perf_machine.c ---- */

/* machine_ops.trials of the perf machine, for the CPU prepared for: in cycles of that CPU, or by time stamps. */
struct native;
int perf_trials(const struct perf_system *system, const struct perf_pmu *pmu, struct native *common,
                const struct trials_request *r, double *duration, struct trials_seen *seen, struct machine_error *err);

/* Opens the perf machine on a system, of which it keeps a copy. */
int perf_open_at(const struct perf_system *system, struct machine *out, struct machine_error *err);
