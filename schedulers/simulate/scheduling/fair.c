/* SPDX-License-Identifier: GPL-3.0-or-later */
/* By virtual runtime alone, and with compensation of what tasks lose to frequencies that others have reduced. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/scheduling/dispatch.h"

/* ---- compensation ---- */

double fair_expected(const struct compensation_table *t, unsigned turbo, const double *cycles)
{
    const double *f = t->frequency + (size_t)turbo * t->n_levels;
    double sum = 0, time = 0;
    for (unsigned k = 0; k < t->n_levels; k++) {
        sum += cycles[k];
        time += cycles[k] / f[k];
    }
    return sum / time;
}

double fair_ideal(const struct compensation_table *t, const double *cycles, double actual, unsigned own)
{
    double alone[SIM_LEVELS_MAX] = {0};
    for (unsigned k = 0; k < t->n_levels; k++)
        alone[k < own ? k : own] += cycles[k];
    unsigned slow = 0;
    double below = fair_expected(t, 0, cycles), above = below;
    while (below > actual && slow + 1 < t->n_turbo) {
        above = below;
        below = fair_expected(t, ++slow, cycles);
    }
    double ideal = fair_expected(t, slow, alone);
    if (slow == 0 || below >= actual || above <= below)
        return ideal;
    double share = (actual - below) / (above - below); /* of the faster turbo level */
    return ideal + share * (fair_expected(t, slow - 1, alone) - ideal);
}

double fair_lost_part(double actual, double ideal, double stalled)
{
    return actual < ideal ? (1 - stalled) * (ideal - actual) / ideal : 0;
}

/* ---- the rules ---- */

/* Registers tell no heavy instructions from light ones: what their width can cause at most (G, 7.4.1). */
static void find_own_levels(struct dispatch *d, const struct sim_params *p)
{
    static const struct {
        enum sim_class light, heavy;
    } widths[] = {{SIM_256LIGHT, SIM_256HEAVY}, {SIM_512LIGHT, SIM_512HEAVY}};
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        int light = sim_params_demand(p, widths[i].light), heavy = sim_params_demand(p, widths[i].heavy);
        int level = heavy > light ? heavy : light;
        d->own_level[widths[i].light] = d->own_level[widths[i].heavy] = level > 0 ? (unsigned)level : 0;
    }
}

/* One line for each turbo level: numbers of active cores with the same frequencies are the same one. */
static bool find_turbo_levels(struct dispatch *d, struct sim_params *p)
{
    struct compensation_table *t = &d->frequencies;
    t->n_levels = p->levels;
    t->frequency = calloc((size_t)p->cores * t->n_levels, sizeof(*t->frequency));
    if (t->frequency == NULL)
        return false;
    for (unsigned n = 1; n <= p->cores; n++) {
        double *line = t->frequency + (size_t)t->n_turbo * t->n_levels;
        if (!sim_params_measured(p, n))
            continue;
        for (unsigned level = 0; level < t->n_levels; level++)
            line[level] = sim_params_speed(p, level, n);
        if (t->n_turbo == 0 || memcmp(line, line - t->n_levels, t->n_levels * sizeof(*line)) != 0)
            t->n_turbo++;
    }
    return true;
}

bool fair_init(struct dispatch *d, struct sim_params *p, bool attribute)
{
    size_t n = (size_t)d->workload->n_cores * SIM_LEVELS_MAX;
    find_own_levels(d, p);
    d->last_user = attribute ? malloc(n * sizeof(*d->last_user)) : NULL;
    for (size_t i = 0; d->last_user != NULL && i < n; i++)
        d->last_user[i] = SIM_IDLE;
    return find_turbo_levels(d, p) && (d->last_user != NULL || !attribute);
}

/* The last task on a core that could cause a level. */
static uint32_t *last_user(struct dispatch *d, unsigned cpu, unsigned level)
{
    return &d->last_user[(size_t)d->engine->cpu[cpu].core * SIM_LEVELS_MAX + level];
}

static void note_user(struct dispatch *d, unsigned cpu)
{
    for (unsigned level = 1; d->last_user != NULL && level <= d->cpu[cpu].own; level++)
        *last_user(d, cpu, level) = d->cpu[cpu].task;
}

static bool fair_row(struct dispatch *d, unsigned cpu)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    unsigned level = d->own_level[d->task[c->task].row.class];
    if (level > c->own) {
        c->own = level;
        note_user(d, cpu);
    }
    return true;
}

/* What a task lost in `ps` of CPU time to levels that it cannot have caused. */
static int64_t lost_to_others(struct dispatch *d, unsigned cpu, int64_t ps)
{
    const struct dispatch_cpu *c = &d->cpu[cpu];
    const struct engine_counts *n = &d->engine->counts[cpu];
    double all = 0, others = 0;
    for (unsigned k = 0; k < d->frequencies.n_levels; k++) {
        all += n->cycles[k];
        others += k > c->own ? n->cycles[k] : 0;
    }
    if (others == 0)
        return 0;
    double actual = all / (double)n->unhalted_ps;
    double ideal = fair_ideal(&d->frequencies, n->cycles, actual, c->own);
    return (int64_t)floor((double)ps * fair_lost_part(actual, ideal, n->stalled / all) + 0.5);
}

static int64_t fair_lost(struct dispatch *d, unsigned cpu, int64_t ps)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    int64_t lost = lost_to_others(d, cpu, ps);
    if (lost > 0 && d->last_user != NULL) {
        uint32_t user = *last_user(d, cpu, c->own + 1);
        if (user != SIM_IDLE)
            d->task[user].penalty += lost;
    }
    note_user(d, cpu);
    c->own = d->own_level[d->task[c->task].row.class]; /* if it goes on */
    return lost;
}

const struct dispatch_rules fair_rules = {.fits = NULL};
const struct dispatch_rules fair_subtract_rules = {.row = fair_row, .lost = fair_lost};
const struct dispatch_rules fair_attribute_rules = {.row = fair_row, .lost = fair_lost};
