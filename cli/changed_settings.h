/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of the machine that --turbo, --fixed-frequency and --quiet-machine change for the time of a measurement. */
#pragma once

#include "cli/options/options.h"
#include "computer/settings/settings.h"

/* The CPU that will be measured, as the machine will choose it (computer/cpu/cpu.h, active_cores_measured). `sys`:
 * "/sys", or that of --sysroot. Returns as cpu_choose(). */
int measured_cpu(const struct options *o, const char *sys, int *cpu, struct machine_error *err);

/* The parts of a quiet machine that are requested, except for turbo where --turbo chooses it; 0: none. */
unsigned changed_settings_wished(const struct options *o);
/* For jobs that measure nothing: what a killed run has left is put back; where that cannot be done it is said, and they
 * go on. Signals wait meanwhile. */
void changed_settings_recover(const struct options *o);
/*
 * Puts back what a killed run has left (with a line on standard error) and changes what the options request,
 * before the machine is opened; what is left as it is, is said. --table variability quietens by itself, step by step
 * (changed_settings_quiet). From here on a signal only asks. Returns DONE, or an exit status after a line; models are
 * left alone, except for --sysroot.
 */
int changed_settings_begin(const struct options *o, struct settings **out);
/* Puts them back; NULL is allowed. Returns DONE, or FAILED after a line. */
int changed_settings_end(struct settings *s);

/* One more part for the CPU that will be measured; *s as settings_add() has it. Nothing is said. Returns MACHINE_OK, or
 * MACHINE_CANNOT where there is nothing of it here, or what settings_add() does. */
int changed_settings_quiet(const struct options *o, enum quiet_part part, struct settings **s,
                           struct machine_error *err);
/* Back to a settings_mark(), then all CPUs at a fixed frequency; ghz 0: as it was. Returns as settings_add(). */
int changed_settings_fix(const struct options *o, double ghz, size_t mark, struct settings **s,
                         struct machine_error *err);
/* Says what --quiet-machine left as it is, and why, where there is such a thing. */
void changed_settings_tell_left(const struct settings *s);
/* Back to a settings_mark(). Returns DONE, or FAILED after a line. */
int changed_settings_back_to(struct settings *s, size_t mark);

/* Prints what --quiet-machine would change on standard output. Returns an exit status. */
int changed_settings_show(const struct options *o);
/* "in DIR, not on this machine: " with --sysroot, and settings_text(). */
void changed_settings_text(const struct options *o, const struct settings *s, char *out, size_t size);
