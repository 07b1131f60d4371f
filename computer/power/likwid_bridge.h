/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Uses liblikwid where this program cannot do it itself: through liblikwid's access daemons a user without root may be
 * allowed to read energy counters and to set frequencies. It is optional: looked for at run time, never linked.
 *
 * liblikwid writes to the standard streams and calls exit() where it does not know a CPU or cannot reach a register
 * (5.2.2: src/frequency_cpu.c, src/access_client.c). So every question is put to it in a child process whose output
 * goes nowhere and whose end, however it comes, is only an answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* likwid.h of 5.2.2 and 5.4.1, PowerData. */
struct likwid_power {
    int domain;
    uint32_t before, after;
};
/* The functions used, by their names in likwid.h of 5.2.2 and 5.4.1. Frequencies are in kHz. */
struct likwid_functions {
    int (*topology_init)(void);
    int (*freq_init)(void);
    uint64_t (*freq_getCpuClockMin)(int cpu);
    uint64_t (*freq_getCpuClockMax)(int cpu);
    uint64_t (*freq_setCpuClockMin)(int cpu, uint64_t khz);
    uint64_t (*freq_setCpuClockMax)(int cpu, uint64_t khz);
    int (*HPMinit)(void);
    int (*HPMaddThread)(int cpu);
    int (*power_init)(int cpu);
    double (*power_getEnergyUnit)(int domain);
    int (*power_start)(struct likwid_power *data, int cpu, int domain);
};
/* Fills in the functions, within the child. Returns 0, or -1 with the reason. Tests give one of their own. */
typedef int likwid_loader(struct likwid_functions *out, char *why, size_t size);
int likwid_load(struct likwid_functions *out, char *why, size_t size);

/* All return 0, or -1 with one clause in `why`. `load`: NULL = likwid_load. `cpu`: a logical CPU. */

/* Checks if it is installed and answers at all. */
int likwid_found(likwid_loader *load, char *why, size_t size);
/* The limits between which the frequency of a CPU may move, in kHz. */
int likwid_get_frequency(likwid_loader *load, int cpu, uint64_t *min_khz, uint64_t *max_khz, char *why, size_t size);
/* Sets them, and reads them back: -1 where they are not what was requested. */
int likwid_set_frequency(likwid_loader *load, int cpu, uint64_t min_khz, uint64_t max_khz, char *why, size_t size);
/* An energy counter (32 bits, wraps) and the joules of its step. Domains as in likwid.h. */
enum likwid_domain { LIKWID_PACKAGE = 0, LIKWID_CORES = 1, LIKWID_DRAM = 3 };
int likwid_read_energy(likwid_loader *load, int cpu, enum likwid_domain domain, uint32_t *steps, double *joules,
                       char *why, size_t size);
