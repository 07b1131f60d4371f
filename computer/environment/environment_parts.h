/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of an environment: what stands there, and what is counted. */
#pragma once

#include "computer/environment/environment.h"
#include "computer/environment/tree.h"

/* The facts, the sets of CPUs and masks among them, and proc/cpuinfo: flags and microcode of its first CPU. With
 * `all` how many revisions there are, the C-states, the vulnerabilities, the kernel's build and the control groups,
 * too. */
void environment_facts_read(const struct tree *t, bool all, struct environment *e);

/* Counts for so many seconds, or until `stop` returns non-zero; 0 seconds: takes the counts since boot. */
void environment_count(const struct tree *t, double seconds, int (*stop)(void *data), void *data,
                       struct environment *e);

/* The lines of /proc/interrupts: since_boot is that of the CPU. */
struct environment_irq_look {
    struct environment_irq *irq;
    size_t n;
    int error;
    double at; /* clock_seconds(CLOCK_MONOTONIC) */
};
/* Fills in what was counted (nothing, where there is no look before), what they are allowed and the timer's rate; the
 * list becomes that of *e. */
void environment_irqs_fill(const struct tree *t, const struct environment_irq_look *before,
                           struct environment_irq_look *after, struct environment *e);
