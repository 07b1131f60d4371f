/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons for qsort and bsearch, ascending but for those that say otherwise. No value may be NaN. */
#ifndef CHARACTERIZE_ORDER_H
#define CHARACTERIZE_ORDER_H

int order_double(const void *a, const void *b);
int order_double_descending(const void *a, const void *b);
int order_size(const void *a, const void *b);     /* size_t */
int order_unsigned(const void *a, const void *b); /* unsigned, uint32_t */

#endif
