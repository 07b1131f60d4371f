/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phases as short lines with all that they say, for results that are held exactly (golden.h). */
#pragma once

#include <stdio.h>

#include "analysis/phases/phases.h"

/* One line for each phase, level, transition, step of the voltage, discarded repetition and warning. What was not
 * measured is left out. */
void phases_lines_write(FILE *out, const struct phases *p);
