/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values in workload files, exactly as they are written. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_VALUE_MOST INT64_C(9200000000000000000)

/*
 * A decimal number without sign and exponent, times 10^decimals, which must be at most SIM_VALUE_MOST. More decimals
 * are rounded, halves up, or refused. False: it is none.
 */
bool sim_value_decimal(const char *text, unsigned decimals, bool rounded, int64_t *out);

/* A whole number from 0 to most. */
bool sim_value_number(const char *text, uint32_t most, uint32_t *out);
