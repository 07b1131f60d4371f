/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The readers of which environment_read() is made; each fills its own members and leaves those it cannot read alone. */
#pragma once

#include "drivers/environment/environment.h"
#include "drivers/environment/environment_tree.h"

/* ---- what stands there: once ---- */

/* All facts, and of these the CPU lists and the masks. */
void environment_facts_read(const struct environment_tree *t, struct environment *e);
/* proc/cpuinfo: flags and microcode of its first CPU; with `all`, how many revisions there are. */
void environment_cpuinfo_read(const struct environment_tree *t, bool all, struct environment *e);
void environment_idle_read(const struct environment_tree *t, struct environment *e);
void environment_weaknesses_read(const struct environment_tree *t, struct environment *e);
/* CONFIG_HZ, Secure Boot, the MSR device, files that containers have. */
void environment_kernel_read(const struct environment_tree *t, struct environment *e);
void environment_cgroup_read(const struct environment_tree *t, struct environment *e);

/* ---- what is counted: read twice, and compared ---- */

/* Monotonic time in seconds. */
double environment_clock(void);

struct environment_counts;
/* The first look at interrupts, times, throttling and tasks. NULL: out of memory. */
struct environment_counts *environment_counts_begin(const struct environment_tree *t, struct environment *e);
/* The second; fills in what was counted between them, and frees what the first returned (NULL is allowed). */
void environment_counts_end(const struct environment_tree *t, struct environment_counts *before, struct environment *e);
