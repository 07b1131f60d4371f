/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CHARACTERIZE_VOLTAGE_PLOT_H
#define CHARACTERIZE_VOLTAGE_PLOT_H

#include "tables/table/chart.h"
#include "tables/table/table.h"

/* The plot of the table voltage: one panel for each pair of kernels. */
void voltage_plot(const struct table *t, struct chart *c);

#endif
