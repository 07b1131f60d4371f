/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values in workload files, exactly as they are written. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SIM_VALUE_MOST INT64_C(9200000000000000000)

/*
 * A decimal number without sign and exponent, times 10^decimals, which must be at most SIM_VALUE_MOST. False: it is
 * none, or has more decimals.
 */
bool sim_value_decimal(const char *text, unsigned decimals, int64_t *out);

/* The same as programs print it: further decimals are rounded, halves up, and an exponent is one. */
bool sim_value_rounded(const char *text, unsigned decimals, int64_t *out);

/* A whole number from 0 to most. */
bool sim_value_number(const char *text, uint32_t most, uint32_t *out);
