/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CHARACTERIZE_OVERHEAD_PLOT_H
#define CHARACTERIZE_OVERHEAD_PLOT_H

#include "tables/table/chart.h"
#include "tables/table/table.h"

/* The plot of the table overhead: costs and break-even times, over the active cores where there are several. */
void overhead_plot(const struct table *t, struct chart *c);

#endif
