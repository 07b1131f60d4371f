/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tests of phases share: phases made by hand, and a look at them. */
#pragma once

#include <stdbool.h>

#include "analysis/phases/phases.h"

/* A phase of this frequency and rate without limits, at the full rate. */
struct phase rig_phase(enum phase_kind kind, double start, double length, double ghz, double ipc);
/* Prints them, with their limits, steps of the voltage and warnings: for a test that fails. */
void rig_show_phases(const struct phases *p);
/* Whether a warning holds this text. */
bool rig_warned(const struct phases *p, const char *of);
