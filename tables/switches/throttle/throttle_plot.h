/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CHARACTERIZE_THROTTLE_PLOT_H
#define CHARACTERIZE_THROTTLE_PLOT_H

#include "tables/table/chart.h"
#include "tables/table/table.h"

/* The plot of the table throttle: its phases behind each other, and how far throttling reaches. */
void throttle_plot(const struct table *t, struct chart *c);

#endif
