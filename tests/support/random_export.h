/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exports (doc/export-format.md) of processors that do not exist, as a simulator reads them. */
#pragma once

#include <stdbool.h>

#include "tests/support/random_numbers.h"

/*
 * Writes an export to the file: 1 to 4 levels, frequencies that fall with the level and the active cores (with equal
 * ones and small inversions), up to at least `cores` active cores, classes of any level, triggers at once and after
 * counts, throttles, costs (also negative and zero), waits with and without mode 2, and rows and values of every kind
 * absent. Not `whole`: whatever a simulation cannot do without may be absent as well.
 */
void random_export_write(const char *path, struct rng *r, unsigned cores, bool whole);
