/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t sim_times_cpu(const struct sim_times *t)
{
    int64_t sum = 0;
    for (size_t i = 0; i < SIM_LEVELS_MAX; i++)
        sum += t->level_ps[i];
    return sum;
}

double sim_times_overhead(const struct sim_times *t)
{
    return t->ideal_ps > 0 ? (double)sim_times_cpu(t) / t->ideal_ps - 1 : NAN;
}

double sim_times_remote(const struct sim_times *t)
{
    return t->remote_ideal_ps > 0 ? (double)t->remote_ps / t->remote_ideal_ps - 1 : NAN;
}

double sim_times_remote_smt(const struct sim_times *t)
{
    return t->remote_ideal_ps > 0 ? t->remote_smt_ps / t->remote_ideal_ps : NAN;
}

double sim_times_remote_delay(const struct sim_times *t)
{
    return sim_times_remote(t) - sim_times_remote_smt(t);
}

void sim_times_add(struct sim_times *a, const struct sim_times *b)
{
    for (size_t i = 0; i < SIM_LEVELS_MAX; i++)
        a->level_ps[i] += b->level_ps[i];
    a->throttled_ps += b->throttled_ps;
    a->halted_ps += b->halted_ps;
    a->ideal_ps += b->ideal_ps;
    a->remote_ps += b->remote_ps;
    a->remote_ideal_ps += b->remote_ideal_ps;
    a->remote_smt_ps += b->remote_smt_ps;
    a->end_ps = b->end_ps > a->end_ps ? b->end_ps : a->end_ps;
}

void sim_result_free(struct sim_result *r)
{
    free(r->tasks);
    memset(r, 0, sizeof *r);
}
