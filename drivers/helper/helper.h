/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine `helper`: repetitions run in the kernel, with interrupts masked, by the module in drivers/helper/kmod/.
 */
#pragma once

#include "computer/cpu/cpu.h"
#include "drivers/helper/helper_device.h"
#include "drivers/machine.h"

/* What it is opened with: another device, other system calls, another folder for /sys, another CPU. */
struct helper_place {
    const char *device;
    const char *sys;  /* "/sys", or a folder laid out like it */
    const char *proc; /* likewise; NULL = "/proc" */
    const struct helper_io *io;
    const char *data_dir;            /* holds events/; NULL = the shipped data */
    const struct cpu_leaves *leaves; /* of the CPU; NULL = asked */
    double tsc_step;                 /* ticks by which the TSC advances; 0 = measured */
};
int helper_open_at(const struct helper_place *place, struct machine *out, struct machine_error *err);

/* As profile_open_helper(). */
struct profile_source;
int helper_profile_open_at(const struct helper_place *place, bool rehearsal, struct profile_source *out,
                           struct machine_error *err);
