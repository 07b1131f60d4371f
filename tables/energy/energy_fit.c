/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/energy/energy.h"

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
    struct energy_cost none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}, cost;
    if (!(idle->seconds > 0) || !(code->seconds > 0) || !(code->run_seconds > 0) || !(code->recorded_seconds > 0) ||
        cores == 0)
        return none;
    double own = 1.0 / cores, others = 1 - own; /* these run on between the readings */
    double part = fmax(0, 1 - code->other_seconds / code->recorded_seconds);
    double own_time = own * part * code->run_seconds, others_time = others * fmax(code->seconds, code->run_seconds);
    double rate = code->operations / (part * code->recorded_seconds) * cores;
    cost.ghz = energy_ghz(code);
    cost.idle_ghz = energy_ghz(idle);
    cost.idle_watts = idle->joules / idle->seconds;
    cost.idle_doubt = 0.5 * cost.idle_watts * idle->other_seconds / fmax(idle->recorded_seconds, idle->other_seconds);
    /* what they need grows like f V^2, and V about like f: what of it is in P_i was needed at another frequency */
    double faster = cost.ghz / cost.idle_ghz, unlike = isfinite(faster) ? fabs(1 - pow(faster, 3)) : 0;
    cost.watts = (code->joules - cost.idle_watts * code->seconds) / (own_time + part * others_time);
    cost.watts_doubt = fmax(cost.watts, cost.idle_watts) * own * code->start_seconds / code->run_seconds;
    cost.watts_doubt += cost.idle_doubt * unlike;
    cost.least = (own_time + part * others_time) / (own_time + others_time);
    cost.package_watts = cost.idle_watts + cost.watts;
    cost.nj_per_op = rate > 0 ? cost.watts / rate * 1e9 : NAN;
    return cost;
}
