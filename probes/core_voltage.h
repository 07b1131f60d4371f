/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The core voltage over a switch from kernel to kernel. Reading it disturbs, so it is never read in a sampled
 * repetition: repetitions of their own end at a different time each and read it once.
 */
#ifndef CHARACTERIZE_PROBE_CORE_VOLTAGE_H
#define CHARACTERIZE_PROBE_CORE_VOLTAGE_H

#include "probes/transition.h"

/*
 * Reads it on a prepared machine that reads registers, `readings` (>= 1) times, once a repetition, at evenly spaced
 * times in scattered order: in the last before_us of the first kernel and in observe_us of the second. Samples with
 * nothing but the voltage are appended to the trace, as runs behind those of the setup. What cannot be read is missing, with the reason in out->volts_missing;
 * where nothing can, it is not tried for long. MACHINE_OK, or fills *err and returns its status.
 */
int core_voltage_read(struct machine *m, const struct transition_setup *s, unsigned readings,
                      repetitions_progress *progress, void *data, struct repetitions *out, struct machine_error *err);

#endif
