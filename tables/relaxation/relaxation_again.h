/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What starts a wait anew: other code in the middle of it, or the wide code itself again and again. */
#ifndef CHARACTERIZE_RELAXATION_AGAIN_H
#define CHARACTERIZE_RELAXATION_AGAIN_H

#include "tables/relaxation/relaxation_rig.h"

/* Repetitions of a toggling cell: so many stretches of plain code. */
enum { RELAXATION_TOGGLES = 7 };

/* Both append their rows for a wait that the pilot has found. MACHINE_OK, or *err and its status. */
int relaxation_measure_rearm(struct relaxation_rig *r, const struct payload *by, size_t runs,
                             struct machine_error *err);
/* duty_us: plain code between two stretches of wide code. */
int relaxation_measure_toggle(struct relaxation_rig *r, double duty_us, size_t runs, struct machine_error *err);

#endif
