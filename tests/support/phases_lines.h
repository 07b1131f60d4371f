/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phases as short lines with all that they say, for results that are held exactly (golden.h). */
#pragma once

#include <stdio.h>

#include "analysis/phases/phases.h"

/* One line for each phase, level, transition, step of the voltage, discarded repetition and warning. What was not
 * measured is left out. */
void phases_lines_write(FILE *out, const struct phases *p);
/* The same as a text, to be freed. The test fails where memory is lacking. */
char *phases_lines_text(const struct phases *p);
/*
 * In one line, for many recordings: how many repetitions, levels, changes and warnings; the first letter of the kind of
 * each phase; and sums over the phases, changes and levels of each value that is known and of the widths of its limits.
 * One value that differs makes a sum differ.
 */
void phases_lines_sum(FILE *out, const struct phases *p);
