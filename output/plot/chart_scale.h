/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as they stand in a picture: tics and colours. */
#ifndef CHARACTERIZE_CHART_SCALE_H
#define CHARACTERIZE_CHART_SCALE_H

#include <stdbool.h>
#include <stddef.h>

/* 1, 2 and 5 times powers of ten from lo to hi (lo > 0), at most `max` of them; returns how many. */
size_t chart_log_tics(double lo, double hi, double *out, size_t max);
/* The colour of a value between lo and hi as 0xRRGGBB, light for small ones, and whether text on it is to be black. */
unsigned chart_heat(double value, double lo, double hi, bool log_scale, bool *black_text);

#endif
