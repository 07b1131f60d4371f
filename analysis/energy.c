/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/energy.h"

#include <math.h>

double energy_ghz(const struct energy_stretch *s)
{
    return s->cycle_seconds > 0 ? s->cycles / s->cycle_seconds * 1e-9 : NAN;
}

bool energy_disturbed(const struct energy_stretch *s)
{
    return !(s->recorded_seconds > 0) || s->lost_seconds > ENERGY_LOST_MOST * s->recorded_seconds;
}

struct energy_cost energy_cost_of(const struct energy_stretch *idle, const struct energy_stretch *code, unsigned cores)
{
    struct energy_cost none = {NAN, NAN, NAN, NAN}, cost;
    if (!(idle->seconds > 0) || !(code->seconds > 0) || !(code->run_seconds > 0) || !(code->recorded_seconds > 0) ||
        cores == 0)
        return none;
    double others = (cores - 1.0) / cores; /* they run on between the readings */
    double rate = code->operations / code->recorded_seconds * cores;
    cost.idle_watts = idle->joules / idle->seconds;
    cost.watts = (code->joules - cost.idle_watts * code->seconds) /
                 (code->run_seconds + others * fmax(0, code->seconds - code->run_seconds));
    cost.package_watts = cost.idle_watts + cost.watts;
    cost.nj_per_op = rate > 0 ? cost.watts / rate * 1e9 : NAN;
    return cost;
}
