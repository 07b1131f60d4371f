/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CHARACTERIZE_UMASK_PLOT_H
#define CHARACTERIZE_UMASK_PLOT_H

#include "tables/table/chart.h"
#include "tables/table/table.h"

/* The plot of the table umask: shares of cycles, by unit mask and kernel. */
void umask_plot(const struct table *t, struct chart *c);

#endif
