/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files of a computer that --check environment reads, and --quiet-machine writes, in a folder: a server of 4 cores
 * with two threads each (CPU n and n + 4), CPUs 3 and 7 isolated, intel_pstate, C-states, 6 IRQs, kernel threads and
 * processes, control groups v2. Single files are changed with folder_put() (tests/support/folder.h).
 */
#pragma once

#include <stdbool.h>

#include "tests/support/folder.h"

enum { FAKE_CPUS = 8, FAKE_IRQS = 6, FAKE_FIRST_IRQ = 24, FAKE_STATES = 4 };

/* Makes the folder (folder_remove()) and all files in it. */
void fake_environment_make(char root[FOLDER_PATH_MAX]);
/* Its folder proc as it was at first. */
void fake_environment_renew(const char *root);

/* proc/interrupts: each IRQ so often on each CPU, the timer so often; as is(cpu, line) says. Lines: 0 to FAKE_IRQS - 1
 * are the IRQs, FAKE_LOC, FAKE_RES, FAKE_NMI the others. */
enum { FAKE_LOC = FAKE_IRQS, FAKE_RES, FAKE_NMI, FAKE_LINES };
void fake_environment_interrupts(const char *root, unsigned (*count)(int cpu, int line));

/* proc/stat: clock ticks of each CPU: user, idle and steal as they are given, nothing else; `begun` threads. */
struct fake_ticks {
    unsigned user, idle, steal;
};
void fake_environment_stat(const char *root, const struct fake_ticks ticks[FAKE_CPUS], unsigned begun);

/* A thread: proc/PID/task/TID/ stat, schedstat, status, and proc/PID/comm where TID is PID. */
struct fake_task {
    int pid, tid;
    const char *name;
    bool kernel;
    int cpu;               /* ran there last */
    unsigned long long ns; /* so long */
    const char *allowed;   /* list of CPUs */
};
void fake_environment_task(const char *root, const struct fake_task *task);
