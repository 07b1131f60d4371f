/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A machine with registers: another machine runs and samples; this one adds the model-specific registers of the CPU
 * that is measured. It can stand around any machine that measures real hardware.
 */
#pragma once

#include "drivers/machine.h"
#include "computer/msr/msr_decode.h"
#include "computer/msr/msr_device.h"

/* Opens the registers of a CPU: 0 or an error number. `context` is passed on. */
typedef int msr_opener(void *context, int cpu, struct msr_device *out);

struct msr_access {
    msr_opener *open; /* NULL: msr_device_open() in /dev */
    void *context;
    struct msr_part part;      /* the processor, as msr_part_of() reports */
    bool guest;                /* under a hypervisor */
    struct msr_trouble access; /* rawio and lockdown, for the reasons */
};

/*
 * Wraps *inner, which then belongs to *out (it may be the same) and is closed with it. It is called "msr" around the
 * timing machine, else "INNER+msr". Returns MACHINE_OK, or MACHINE_FAILED when out of memory (then *inner is
 * untouched).
 *
 * prepare() fails with MACHINE_CANNOT where the registers of the CPU cannot be opened. read_register() reads a register
 * of the CPU chosen by prepare(), and fails with MACHINE_CANNOT and the reason where that one cannot be read.
 */
int msr_machine_wrap(const struct machine *inner, const struct msr_access *access, struct machine *out,
                     struct machine_error *err);

/* Wraps *m in place, with the registers of this system. Returns as msr_machine_wrap(). */
int msr_machine_add(struct machine *m, struct machine_error *err);

/* The machine "msr": the timing machine with the registers of this system. */
int machine_open_msr(struct machine *out, struct machine_error *err);
