/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engine's beginning and end: its tables, cores and tasks. */
#include <stdlib.h>

#include "schedulers/simulate/engine.h"

static bool make_speeds(struct engine *e)
{
    size_t n = (size_t)e->n_levels * (e->n_max + 1);
    e->speed = malloc(n * sizeof(*e->speed));
    e->rate = malloc(n * sizeof(*e->rate));
    e->stalled = calloc(1001, sizeof(*e->stalled));
    e->breakeven = malloc(n * e->n_levels * sizeof(*e->breakeven));
    if (e->speed == NULL || e->rate == NULL || e->stalled == NULL || e->breakeven == NULL)
        return false;
    for (size_t i = 0; i < n * e->n_levels; i++)
        e->breakeven[i] = -1;
    for (unsigned level = 0; level < e->n_levels; level++)
        for (unsigned k = 0; k <= e->n_max; k++) {
            size_t i = (size_t)level * (e->n_max + 1) + k;
            unsigned active = e->count_active ? k : e->n_active;
            e->speed[i] = sim_params_speed(e->params, level, active);
            e->rate[i] = (double)e->speed[i] / e->speed[k];
        }
    return true;
}

static bool make_cores(struct engine *e)
{
    const struct sim_workload *w = e->workload;
    e->cpu = calloc(e->n_cpus, sizeof(*e->cpu));
    e->core = calloc(e->n_cores, sizeof(*e->core));
    e->member = calloc(e->n_cpus, sizeof(*e->member));
    e->touched = calloc(e->n_cores, sizeof(*e->touched));
    if (!timers_init(&e->due, e->n_cores) || e->cpu == NULL || e->core == NULL || e->member == NULL ||
        e->touched == NULL)
        return false;
    unsigned n = 0;
    for (unsigned core = 0; core < e->n_cores; core++) {
        struct engine_core *c = &e->core[core];
        *c = (struct engine_core){.first = n,
                                  .permille = 1000,
                                  .phase_end = SIM_FOREVER,
                                  .timer = SIM_FOREVER,
                                  .look_at = SIM_FOREVER,
                                  .fell_task = SIM_IDLE,
                                  .last_task = SIM_IDLE,
                                  .left_at = -1};
        for (unsigned cpu = 0; cpu < e->n_cpus; cpu++) {
            if (w->core[cpu] != core)
                continue;
            e->member[n++] = cpu;
            e->cpu[cpu] = (struct engine_cpu){.task = SIM_IDLE, .core = core, .trigger_left = -1, .playing = true};
        }
        c->n_cpus = n - c->first;
    }
    e->n_playing = e->n_cpus;
    return true;
}

static bool make_tasks(struct engine *e)
{
    size_t n = e->workload->n_tasks > 0 ? e->workload->n_tasks : 1;
    e->tasks = calloc(n, sizeof(*e->tasks));
    e->learned = e->options->policy == SIM_LEARNED ? calloc(n, sizeof(*e->learned)) : NULL;
    for (size_t i = 0; e->learned != NULL && i < n; i++)
        policy_learned_begin(&e->learned[i]);
    return e->tasks != NULL && (e->learned != NULL || e->options->policy != SIM_LEARNED);
}

int engine_init(struct engine *e, struct sim_params *p, const struct sim_workload *w, const struct sim_options *o,
                const struct engine_policy *policy, const struct engine_feed *feed)
{
    *e = (struct engine){.params = p,
                         .workload = w,
                         .options = o,
                         .feed = *feed,
                         .policy = *policy,
                         .wake_at = SIM_FOREVER,
                         .n_levels = p->levels,
                         .n_cpus = w->n_cpus,
                         .n_cores = w->n_cores,
                         .count_active = w->active_cores == 0,
                         .n_active = w->active_cores != 0 ? w->active_cores : 1};
    e->n_max = e->count_active ? e->n_cores : e->n_active;
    for (int c = 0; c < SIM_CLASSES; c++) {
        int level = sim_params_demand(p, (enum sim_class)c);
        e->class_level[c] = level > 0 ? (uint8_t)level : 0;
        e->trigger[c] = sim_params_trigger(p, (enum sim_class)c);
    }
    return make_speeds(e) && make_cores(e) && make_tasks(e) ? MACHINE_OK : MACHINE_FAILED;
}

void engine_free(struct engine *e)
{
    for (unsigned i = 0; e->stalled != NULL && i <= 1000; i++)
        free(e->stalled[i]);
    free(e->stalled);
    free(e->speed);
    free(e->rate);
    free(e->breakeven);
    free(e->cpu);
    free(e->core);
    free(e->member);
    free(e->touched);
    timers_free(&e->due);
    free(e->tasks);
    free(e->learned);
    free(e->counts);
}
