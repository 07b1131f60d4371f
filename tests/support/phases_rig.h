/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A look at the phases that a test has found. */
#pragma once

#include <stdbool.h>

#include "analysis/phases/phases.h"

/* Prints them, with their limits, steps of the voltage and warnings: for a test that fails. */
void rig_show_phases(const struct phases *p);
/* Returns true if a warning contains this text. */
bool rig_warned(const struct phases *p, const char *of);
