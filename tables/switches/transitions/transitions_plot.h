/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CHARACTERIZE_TRANSITIONS_PLOT_H
#define CHARACTERIZE_TRANSITIONS_PLOT_H

#include "tables/table/chart.h"
#include "tables/table/table.h"

/* The plot of the table transitions: matrices of their times, from kernel to kernel. */
void transitions_plot(const struct table *t, struct chart *c);

#endif
