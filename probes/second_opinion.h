/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same from other programs: perf stat, likwid-perfctr, turbostat and rdmsr, where they are installed, are run
 * while a process of its own runs the chain of adds on the CPU.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/machine.h"

/* NAN: not known. */
struct other_counts {
    double instructions, cycles, seconds;
    double ghz, tsc_ghz; /* while not halted; of the TSC */
};

enum opinion_of { OPINION_PERF, OPINION_LIKWID, OPINION_TURBOSTAT, OPINION_RDMSR, OPINIONS };
/* MSR_PLATFORM_INFO, MSR_TEMPERATURE_TARGET, IA32_PERF_STATUS. */
enum { OPINION_REGISTERS = 3 };

struct second_opinion {
    const char *program; /* static text */
    struct other_counts counts;
    struct {
        uint32_t reg;
        bool both; /* the machine and rdmsr could read it */
        uint64_t ours, theirs;
    } registers[OPINION_REGISTERS]; /* of OPINION_RDMSR */
    char why[400], remedy[100];     /* "": it answered */
};

/*
 * Asks all four about CPU `cpu`; takes half a second for each that is installed. Each is run with fixed arguments,
 * without a shell, and for 10 s at most. Registers are read through the machine: it must not be prepared.
 */
void second_opinions_ask(struct machine *m, int cpu, struct second_opinion out[OPINIONS]);

/* ---- what they print, read: pure functions from text to figures ---- */

/*
 * All return 0, or -1 with one clause in `why`.
 *
 * perf stat -x , (perf-stat(1), "CSV FORMAT"): count, unit, event, time that the counter ran (ns), ... Events
 * instructions:u and cycles:u.
 */
int second_opinion_perf(const char *text, struct other_counts *out, char *why, size_t size);
/* likwid-perfctr -O with INSTR_RETIRED_ANY:FIXC0 and CPU_CLK_UNHALTED_CORE:FIXC1 on one CPU: EVENT,COUNTER,COUNT; no
 * time. */
int second_opinion_likwid(const char *text, struct other_counts *out, char *why, size_t size);
/* turbostat --show CPU,Bzy_MHz,TSC_MHz: a line of names, then lines of values separated by tabs; of the CPU. */
int second_opinion_turbostat(const char *text, int cpu, struct other_counts *out, char *why, size_t size);
/* rdmsr -c: 0x and hexadecimal digits. */
int second_opinion_rdmsr(const char *text, uint64_t *value, char *why, size_t size);
