/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/export/kernel_class.h"

#include <string.h>

#include "kernels/kernels.h"

bool export_kernel_class(const char *name, struct schedule_kernel *out)
{
    struct payload p;
    char why[200];
    if (kernel_parse(name, &p, why, sizeof why) != 0 || strcmp(p.kernel->name, "pause") == 0)
        return false;
    *out = (struct schedule_kernel){.width = p.kernel->width,
                                    .heavy = p.kernel->weight == KERNEL_HEAVY,
                                    .plain = !p.kernel->latency_bound && !p.kernel->chained_adds && !p.dirty,
                                    .density = p.density};
    return true;
}
