/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many cycles each task spends at each license level, by perf, without the kernel module: on each CPU a group of
 * counters is read whenever a task leaves it, and now and then in between. That is a count, not a sample; but the
 * levels are those of the core, which other tasks and the sibling demand as well.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "computer/cpu/cpu.h"
#include "util/error.h"

/* The seam: each as the system call of its name, errno included. wait() is poll() for reading. */
struct perf_profile_io {
    int (*open)(const struct perf_event_attr *attr, int cpu, int group);
    int (*ioctl)(int fd, unsigned long request, unsigned long argument);
    void *(*map)(int fd, size_t bytes);
    int (*unmap)(void *at, size_t bytes);
    int (*wait)(const int *fds, size_t n, int timeout_ms);
    ssize_t (*read)(int fd, void *out, size_t bytes);
    int (*close)(int fd);
};
extern const struct perf_profile_io perf_profile_system;
/* Opens the limit of descriptors as far as permitted: each CPU takes a few, more than the soft one leaves on large
 * machines. */
void perf_raise_files(void);

/* The counters: all cycles, those at level 1, those at level 2. */
enum { PERF_PROFILE_COUNTERS = 3 };
struct perf_profile_counter {
    uint32_t type;
    uint64_t config;
};

/* A task on a CPU since the last reading there; or a task's name. */
struct perf_stretch {
    bool named; /* comm is the task's name, and nothing was counted */
    char comm[16];
    uint32_t pid, tgid, cpu; /* pid: the thread's; 0: idle */
    uint64_t cgroup;         /* 0: unknown */
    bool known;              /* false: readings were lost, and it may have been others */
    uint64_t counts[PERF_PROFILE_COUNTERS];
};
/* False: no more. */
typedef bool perf_stretch_taker(void *with, const struct perf_stretch *s);

struct perf_profile;

/*
 * Opens the counters of all CPUs of a mask; they do not count yet. Between context switches they are read `rate_hz`
 * times a second. MACHINE_CANNOT with the remedy: not allowed, no counters, too many files.
 */
int perf_profile_open(const struct perf_profile_io *io, const struct cpu_mask *cpus,
                      const struct perf_profile_counter counters[PERF_PROFILE_COUNTERS], unsigned rate_hz,
                      struct perf_profile **out, struct machine_error *err);
/* MACHINE_OK, or MACHINE_CANNOT: other users hold the counters. */
int perf_profile_start(struct perf_profile *p, struct machine_error *err);
/*
 * Waits up to timeout_ms until there is much to read, and takes what there is. MACHINE_OK, also after a signal;
 * MACHINE_CANNOT where a CPU's counters have gone to other users. MACHINE_FAILED: the taker wants no more.
 */
int perf_profile_take(struct perf_profile *p, int timeout_ms, perf_stretch_taker *take, void *with,
                      struct machine_error *err);
/* Readings for which there was no room. */
uint64_t perf_profile_lost(const struct perf_profile *p);
/* Stops counting; what was counted can still be taken. */
void perf_profile_stop(struct perf_profile *p);
void perf_profile_close(struct perf_profile *p);
