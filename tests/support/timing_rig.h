/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timing machine of this computer, for the tests that use it; those include cmocka.h before this. */
#pragma once

#include "drivers/machine.h"

/* Fixtures: *state is the machine. */
int timing_rig_open(void **state);
int timing_rig_close(void **state);

/* The payload of a kernel's name. */
struct payload timing_rig_payload(const char *name);

/* With both chain counters on one core, for up to 1000 samples. */
struct machine_setup timing_rig_setup(double period_us);

void timing_rig_prepare(struct machine *m, const struct machine_setup *s);
