/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses the output of other programs that read counters: pure functions from text to figures. Nothing is guessed: a
 * text with a line that is not as documented is refused. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* NAN: not known. */
struct other_counts {
    double instructions, cycles, seconds;
    double ghz, tsc_ghz; /* while not halted; of the TSC */
};

/*
 * All return 0, or -1 with one clause in `why`.
 *
 * perf stat -x , (perf-stat(1), "CSV FORMAT"): count, unit, event, time that the counter ran (ns), ... Events
 * instructions:u and cycles:u.
 */
int other_perf(const char *text, struct other_counts *out, char *why, size_t size);
/* likwid-perfctr -O with INSTR_RETIRED_ANY:FIXC0 and CPU_CLK_UNHALTED_CORE:FIXC1 on one CPU: EVENT,COUNTER,COUNT; no
 * time. */
int other_likwid(const char *text, struct other_counts *out, char *why, size_t size);
/* turbostat --show CPU,Bzy_MHz,TSC_MHz: a line of names, then lines of values separated by tabs; of the CPU. */
int other_turbostat(const char *text, int cpu, struct other_counts *out, char *why, size_t size);
/* rdmsr -c: 0x and hexadecimal digits. */
int other_rdmsr(const char *text, uint64_t *value, char *why, size_t size);
