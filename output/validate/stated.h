/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a processor says of itself, as figures to hold the measurement against: the turbo limits of each class of code
 * by active cores (MSR 1ADH and 1AEH; Speed Select, by mailbox or TPMI), and which cores are favored (CPPC). Pure.
 */
#pragma once

#include "tables/published/sku.h"
#include "tables/table/table.h"

/*
 * The limits that a table of frequencies tells: a figure of column freq_ghz for each level and range of active cores of
 * which some number was measured, to half a step of 100 MHz. Level 0 is code without AVX; of the others, level i is the
 * i-th class that the processor lists, whose names do not say which instructions belong to them. A limit is what is
 * allowed, not what is reached: figures that have `limit` set. *out is to be freed (NULL: none). 0, or -1: out of
 * memory.
 */
int stated_figures(const struct table *frequency, struct sku_figure **out, size_t *n);

/*
 * Whether favored cores are faster than the others of their kind, by a table of cores: a row of `verdicts` for each
 * kernel and kind. Measured is the difference of the means, GHz; its limits add those of single cores by squares. It
 * agrees where the favored ones are surely faster, deviates where they surely are not by a step of the clock
 * (100 MHz / 2) or more, and is undecided else. Failures stand in verdicts->failed.
 */
void stated_put_favored(const struct table *cores, struct table *verdicts);
