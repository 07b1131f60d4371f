/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CHARACTERIZE_ENERGY_PLOT_H
#define CHARACTERIZE_ENERGY_PLOT_H

#include "tables/table/chart.h"
#include "tables/table/table.h"

/* The plot of the table energy: a bar for each row. */
void energy_plot(const struct table *t, struct chart *c);

#endif
