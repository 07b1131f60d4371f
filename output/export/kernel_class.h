/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which class a kernel stands for, told by the registry of kernels, for what the analysis makes of finished tables. */
#ifndef CHARACTERIZE_TABLES_KERNEL_CLASS_H
#define CHARACTERIZE_TABLES_KERNEL_CLASS_H

#include "output/export/schedule.h"

/* A schedule_classifier. False for `pause`, which computes nothing, for mixtures and for unknown names. */
bool export_kernel_class(const char *name, struct schedule_kernel *out);

#endif
