/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same from other programs: perf stat, likwid-perfctr, turbostat and rdmsr, where they are installed, are run
 * while a process of its own runs the chain of adds on the CPU.
 */
#pragma once

#include <stdbool.h>

#include "drivers/machine.h"
#include "probes/other_programs.h"

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
