/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command that runs again and again beside threads with background code. */
#pragma once

#include "computer/cpu/cpu.h"
#include "drivers/corun.h"

struct corun_command_setup {
    char *const *argv; /* the command and its arguments, ends in NULL; looked up in PATH */
    enum corun_place place;
    int cpu;            /* logical CPU of the command; -1: as cpu_choose(). On a package: where the frequency is read */
    const int *core;    /* cpu_view.core */
    double tsc_hz;      /* > 0 */
    double tsc_step;    /* ticks; 0: not known */
    bool (*stop)(void); /* asked several times a second; true: the command is killed. NULL: never */
};
struct corun_command;

/* The CPUs of the background code at a place, from `root` ("/sys") and what may be used; at most `max`. Returns how
 * many; 0: there are none. */
size_t corun_place_cpus(const char *root, const struct cpu_view *v, enum corun_place place, int cpu, int *out,
                        size_t max);

/*
 * Pins the calling thread, which the command follows, unless the place is the package. MACHINE_OK; MACHINE_CANNOT: the
 * place does not exist here; MACHINE_BAD_INPUT: there is no such command or CPU. Ended by corun_command_close(), which
 * restores the affinity.
 */
int corun_command_open(const struct corun_command_setup *s, struct corun_command **out, struct machine_error *err);
void corun_command_close(struct corun_command *c);

/*
 * One run, as struct corun has it; data: a struct corun_command. CPU time is that of the command and all its children
 * that have been waited for (getrusage(2)). Its input is empty, and what it prints is discarded. MACHINE_BAD_INPUT: it
 * ended with another status than 0; MACHINE_FAILED: stopped.
 */
int corun_command_run(void *data, const struct corun_background *b, struct corun_seen *out, struct machine_error *err);
