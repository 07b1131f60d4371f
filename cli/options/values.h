/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of the command line: plain decimals, all of the text, within a range. */
#ifndef CHARACTERIZE_CLI_VALUES_H
#define CHARACTERIZE_CLI_VALUES_H

#include <stdint.h>

/*
 * Both return NULL and set *out, or what is wrong with the text ("is not a whole number"). Blanks, units, hexadecimal,
 * "nan" and "inf" are not numbers here; value_whole also refuses signs, fractions and exponents.
 */
const char *value_whole(const char *text, uint64_t lo, uint64_t hi, uint64_t *out);
/* An event select: 0 to 4095, decimal or hexadecimal with 0x; as the others. */
const char *value_select(const char *text, uint64_t *out);
const char *value_number(const char *text, double lo, double hi, double *out);

#endif
