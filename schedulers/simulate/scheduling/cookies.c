/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Core scheduling: at any time, a core runs tasks with one cookie alone. */
#include "schedulers/simulate/scheduling/dispatch.h"

/* What a CPU runs or is about to run; SIM_IDLE: nothing that counts. */
static uint32_t task_on(const struct dispatch *d, unsigned cpu)
{
    const struct dispatch_cpu *c = &d->cpu[cpu];
    return c->task != SIM_IDLE && !c->forced ? c->task : c->pending;
}

/* Whether another CPU of the core runs a task with another cookie. */
static bool in_conflict(const struct dispatch *d, unsigned cpu, unsigned other, uint32_t task)
{
    uint32_t there = other != cpu ? task_on(d, other) : SIM_IDLE;
    return there != SIM_IDLE && d->workload->tasks[there].cookie != d->workload->tasks[task].cookie;
}

static const struct engine_core *core_of(const struct dispatch *d, unsigned cpu)
{
    return &d->engine->core[d->engine->cpu[cpu].core];
}

/* Whether all CPUs of the core that are in conflict with a task are behind it by more than the granularity. */
static bool is_ahead(const struct dispatch *d, unsigned cpu, uint32_t task, int64_t granularity)
{
    const struct engine_core *core = core_of(d, cpu);
    for (unsigned i = 0; i < core->n_cpus; i++) {
        unsigned other = d->engine->member[core->first + i];
        if (in_conflict(d, cpu, other, task) &&
            dispatch_vruntime(d, task_on(d, other)) - d->task[task].vruntime <= granularity)
            return false;
    }
    return true;
}

static unsigned cookies_fits(const struct dispatch *d, unsigned cpu, uint32_t task)
{
    return is_ahead(d, cpu, task, SIM_FOREVER) ? 2 : 0;
}

static uint32_t cookies_choose(const struct dispatch *d, unsigned cpu)
{
    if (d->ready.n > 0 && is_ahead(d, cpu, d->ready.task[0].task, DISPATCH_GRANULARITY_PS))
        return d->ready.task[0].task;
    for (size_t i = 0; i < d->ready.n; i++)
        if (cookies_fits(d, cpu, d->ready.task[i].task) != 0)
            return d->ready.task[i].task;
    return SIM_IDLE;
}

/* The others of the core leave what has another cookie, or look for something with this one. */
static void cookies_took(struct dispatch *d, unsigned cpu)
{
    const struct engine_core *core = core_of(d, cpu);
    for (unsigned i = 0; i < core->n_cpus; i++) {
        unsigned other = d->engine->member[core->first + i];
        if (other == cpu)
            continue;
        if (in_conflict(d, cpu, other, d->cpu[cpu].task)) {
            dispatch_withdraw(d, other);
            dispatch_again(d, other, d->cpu[other].task != SIM_IDLE);
        } else if (!dispatch_busy(d, other) && d->ready.n > 0) {
            dispatch_again(d, other, false);
        }
    }
}

const struct dispatch_rules cookies_rules = {.fits = cookies_fits, .choose = cookies_choose, .took = cookies_took};
