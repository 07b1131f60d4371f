/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values for ranges of active cores, in words: "1-2: 3.7, 3-4: 3.5, 5: 3.4". */
#ifndef CHARACTERIZE_CORE_RANGES_H
#define CHARACTERIZE_CORE_RANGES_H

#include "tables/frequency/frequency_levels.h"

/* The setting with the limits of code without AVX; how those begin that have them of other code, or of E cores. */
#define TURBO_LIMITS "turbo_limits_ghz"
#define TURBO_LIMITS_OF TURBO_LIMITS " of "

/* Reads "5-8", or "5" for 5-5, up to 65535. Returns what follows it, or NULL where there is no such thing. */
const char *core_range_read(const char *text, struct frequency_group *out);
/* The value for so many cores, GHz; NAN where the text has none for them, or none within the range of freq_ghz, or is
 * NULL or something else. */
double core_ranges_value(const char *text, unsigned cores);

#endif
