/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How large the caches of a CPU are, for workloads that are to stay in one of them or to miss all. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "computer/cpu/cpu.h"

/* Bytes; 0: not known, or there is none. */
struct cpu_caches {
    uint64_t l1, l2; /* for data, of the CPU's core */
    uint64_t l3;     /* all of it that the CPU can use ... */
    uint64_t share;  /* ... and divided by the cores that share it */
    uint64_t memory; /* that can be had without swapping now (MemAvailable) */
};

/*
 * The caches of `cpu` from `sys` ("/sys", or a folder laid out like it: cpuN/cache/indexM), the memory from `proc`
 * ("/proc", ...; NULL: not read). Where a real /sys says nothing, from CPUID on the CPU that this runs on.
 */
void cpu_caches_read(const char *sys, const char *proc, int cpu, struct cpu_caches *out);
/* The memory alone, in bytes; 0: not known. */
uint64_t cpu_memory_available(const char *proc);

/*
 * Takes one cache of CPUID 4 (Intel SDM vol. 2A) or 8000001DH (AMD APM vol. 3), whose layouts are the same, into *out:
 * size = ways * partitions * line * sets. `threads`: logical CPUs that share a core. Returns false where it describes
 * no more caches.
 */
bool cpu_caches_decode(const struct cpuid_regs *r, unsigned threads, struct cpu_caches *out);
/* All caches that CPUID tells of. */
void cpu_caches_ask(cpuid_fn *cpuid, struct cpu_caches *out);
