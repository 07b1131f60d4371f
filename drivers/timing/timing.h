/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timing machine: machine_open_timing() (drivers/machine.h), and it with another system around it. */
#pragma once

#include "drivers/machine.h"

/*
 * machine_open_timing() with another folder for /sys, and with readings of the TSC rounded down to steps of `step_ns`
 * as soon as they are taken: any machine then measures as one with such a clock does. 0: as they are.
 */
int timing_open_at(const char *sys, double step_ns, struct machine *out, struct machine_error *err);
