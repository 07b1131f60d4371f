/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What came between a thread and its CPU, as the kernel counts it: read before and after. */
#pragma once

#include <stdio.h>

/* Counted since boot, or since the thread began; NaN: not readable. */
struct between {
    double interrupts; /* of the CPU, all of /proc/interrupts */
    double faults;     /* page faults of the thread */
    double switches;   /* context switches of the thread, voluntary or not */
    double steal_ms;   /* of the CPU: the hypervisor ran something else */
};

/* Of the calling thread and of `cpu`. `proc`: "/proc", or a folder laid out like it; NULL: neither is asked. */
void between_read(const char *proc, int cpu, struct between *out);
/* *now becomes what was added since `before`; NaN where that is negative, as after a CPU was offline. */
void between_since(const struct between *before, struct between *now);

/* The sum of a CPU's column of /proc/interrupts; NaN where it has none. */
double between_interrupts(FILE *in, int cpu);
