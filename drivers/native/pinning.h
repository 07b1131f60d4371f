/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The place where the sampling loop runs, and protection from disturbances there. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "computer/cpu/cpu.h"
#include "kernels/kernels.h"
#include "util/error.h"

struct pinning {
    bool entered;
    struct cpu_mask affinity; /* before */
    bool realtime;            /* SCHED_FIFO is allowed */
    double realtime_limit_us; /* longest stretch of it that the kernel lets run */
    double rest_us;           /* to sleep before the next repetition */
    int policy, priority;     /* before */
    void *locked;             /* memory, page-aligned, prefaulted, locked if allowed */
    size_t locked_size;
    char note[300]; /* what was refused and the remedy; "" */
};
/*
 * Pins the calling thread to `cpu`, finds out whether it may run at real-time priority, and provides `bytes` of locked
 * memory. Returns MACHINE_OK, or fills *err and leaves everything as it was. All other functions must be called from
 * the same thread. pinning_leave() restores affinity and policy and frees the memory; it may be called twice.
 */
int pinning_enter(struct pinning *p, int cpu, size_t bytes, struct machine_error *err);
void pinning_leave(struct pinning *p);
/*
 * Real-time priority for one repetition of about `us`; without effect where it is refused or where the kernel would
 * interrupt so long a stretch. End restores; where real-time priority was used, the next begin sleeps a tenth of the
 * time that was spent, so that other programs and the kernel's own threads get their share of the CPU.
 */
void pinning_begin(struct pinning *p, double us);
void pinning_end(struct pinning *p, double us);

/* Finds the code of a payload; returns its lines of 64 bytes, its frame included. */
size_t pinning_code(const struct payload *p, const volatile unsigned char **code);
/* Reads code as data, so that its pages are mapped and its lines are cached before it runs for the first time. */
void pinning_touch(const struct payload *p);

/* Starts a thread that is on its CPU from its first instruction, at normal priority whatever the caller's is. Returns
 * 0, or an error number. */
int pinning_thread_start(pthread_t *out, int cpu, void *(*run)(void *), void *data);
