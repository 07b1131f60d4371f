/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a measurement has taken. */
#include <math.h>

#include "drivers/machine.h"
#include "util/clock.h"

double machine_elapsed(const struct machine *m, double begun, double recorded)
{
    struct machine_info info;
    m->ops->info(m, &info);
    return info.modelled ? recorded : fmax(recorded, clock_seconds(CLOCK_MONOTONIC) - begun);
}
