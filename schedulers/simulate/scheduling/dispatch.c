/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Common to all schedulers: ready tasks, the CPUs that they run on, and the time that is charged to them. */
#include "schedulers/simulate/scheduling/dispatch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- tasks that are ready ---- */

bool ready_init(struct ready *r, size_t most)
{
    *r = (struct ready){.task = calloc(most > 0 ? most : 1, sizeof(*r->task))};
    return r->task != NULL;
}

void ready_free(struct ready *r)
{
    free(r->task);
}

/* The number of tasks before it. */
static size_t tasks_before(const struct ready *r, uint32_t task, int64_t vruntime)
{
    size_t from = 0, to = r->n;
    while (from < to) {
        size_t middle = (from + to) / 2;
        const struct ready_task *t = &r->task[middle];
        if (t->vruntime < vruntime || (t->vruntime == vruntime && t->task < task))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

void ready_add(struct ready *r, uint32_t task, int64_t vruntime)
{
    size_t at = tasks_before(r, task, vruntime);
    memmove(r->task + at + 1, r->task + at, (r->n - at) * sizeof(*r->task));
    r->task[at] = (struct ready_task){vruntime, task};
    r->n++;
}

void ready_remove(struct ready *r, uint32_t task, int64_t vruntime)
{
    size_t at = tasks_before(r, task, vruntime);
    r->n--;
    memmove(r->task + at, r->task + at + 1, (r->n - at) * sizeof(*r->task));
}

/* ---- what runs ---- */

bool dispatch_busy(const struct dispatch *d, unsigned cpu)
{
    return d->cpu[cpu].task != SIM_IDLE || d->cpu[cpu].pending != SIM_IDLE;
}

static int64_t unaccounted(const struct dispatch *d, uint32_t task)
{
    const struct dispatch_task *t = &d->task[task];
    bool runs = t->state == DISPATCH_RUNNING && t->cpu != UINT_MAX && d->cpu[t->cpu].task == task;
    return runs ? d->engine->now - d->cpu[t->cpu].since : 0;
}

int64_t dispatch_vruntime(const struct dispatch *d, uint32_t task)
{
    return d->task[task].vruntime + unaccounted(d, task);
}

int64_t dispatch_cpu_time(const struct dispatch *d, uint32_t task)
{
    return d->task[task].cpu_ps + unaccounted(d, task);
}

void dispatch_again(struct dispatch *d, unsigned cpu, bool forced)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    if (c->choosing)
        return;
    c->forced = c->forced || forced;
    if (c->again)
        return;
    c->again = true;
    engine_interrupt(d->engine, cpu);
}

void dispatch_account(struct dispatch *d, unsigned cpu)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    struct dispatch_task *t = &d->task[c->task];
    struct engine_counts *n = &d->engine->counts[cpu];
    int64_t ps = d->engine->now - c->since;
    engine_left(d->engine, cpu); /* counts up to now */
    int64_t lost = d->rules->lost != NULL ? d->rules->lost(d, cpu, ps) : 0;
    t->vruntime += ps - lost + t->penalty;
    t->penalty = 0;
    t->cpu_ps += ps;
    c->since = d->engine->now;
    for (unsigned k = 0; k < d->engine->n_levels; k++)
        d->cycles += n->cycles[k];
    memset(n, 0, sizeof(*n));
}

void dispatch_leave(struct dispatch *d, unsigned cpu)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    const struct sim_observer *observer = d->engine->options->observer;
    dispatch_account(d, cpu);
    if (observer != NULL && observer->ran != NULL && c->changed < d->engine->now)
        observer->ran(observer->self, cpu, c->task, c->changed, d->engine->now);
    timers_set(&d->timers, d->workload->n_tasks + cpu, SIM_FOREVER);
    c->task = SIM_IDLE;
    c->again = c->forced = false;
    d->n_idle++;
}

void dispatch_ready(struct dispatch *d, uint32_t task)
{
    d->task[task].state = DISPATCH_READY;
    ready_add(&d->ready, task, d->task[task].vruntime);
}

void dispatch_withdraw(struct dispatch *d, unsigned cpu)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    if (c->pending == SIM_IDLE)
        return;
    dispatch_ready(d, c->pending);
    c->pending = SIM_IDLE;
}

/* ---- where a task that can run goes ---- */

bool dispatch_core_idle(const struct dispatch *d, unsigned core)
{
    const struct engine_core *c = &d->engine->core[core];
    for (unsigned i = 0; i < c->n_cpus; i++)
        if (dispatch_busy(d, d->engine->member[c->first + i]))
            return false;
    return true;
}

/* The idle CPU that is best for a task: fitting, its last one, of an idle core, the first. UINT_MAX: none. */
static unsigned best_idle(const struct dispatch *d, uint32_t task)
{
    unsigned best = UINT_MAX, most = 0;
    for (unsigned cpu = 0; cpu < d->engine->n_cpus; cpu++) {
        if (dispatch_busy(d, cpu) || d->cpu[cpu].choosing)
            continue;
        unsigned fits = d->rules->fits != NULL ? d->rules->fits(d, cpu, task) : 2;
        if (fits == 0)
            continue;
        bool last = d->task[task].cpu == cpu;
        unsigned points = 4 * fits + (last ? 2 : dispatch_core_idle(d, d->engine->cpu[cpu].core) ? 1 : 0);
        if (points > most) {
            most = points;
            best = cpu;
        }
    }
    return best;
}

/* The CPU of whose task a ready one is ahead most, if that is enough. */
static unsigned best_victim(const struct dispatch *d, uint32_t task)
{
    unsigned best = UINT_MAX;
    int64_t most = DISPATCH_GRANULARITY_PS;
    for (unsigned cpu = 0; cpu < d->engine->n_cpus; cpu++) {
        const struct dispatch_cpu *c = &d->cpu[cpu];
        if (c->task == SIM_IDLE || c->again)
            continue;
        int64_t lead = d->rules->lead != NULL ? d->rules->lead(d, cpu, task)
                                              : dispatch_vruntime(d, c->task) - d->task[task].vruntime;
        if (lead > most) {
            most = lead;
            best = cpu;
        }
    }
    return best;
}

void dispatch_runnable(struct dispatch *d, uint32_t task, bool preempts)
{
    unsigned cpu = best_idle(d, task);
    if (cpu != UINT_MAX) {
        d->task[task].state = DISPATCH_RUNNING;
        d->cpu[cpu].pending = task;
        dispatch_again(d, cpu, false);
        return;
    }
    dispatch_ready(d, task);
    cpu = preempts ? best_victim(d, task) : UINT_MAX;
    if (cpu != UINT_MAX)
        dispatch_again(d, cpu, false);
}

/* ---- what a CPU does ---- */

uint32_t dispatch_choose(const struct dispatch *d, unsigned cpu)
{
    if (d->rules->choose != NULL)
        return d->rules->choose(d, cpu);
    return d->ready.n > 0 ? d->ready.task[0].task : SIM_IDLE;
}

void dispatch_take(struct dispatch *d, unsigned cpu, uint32_t task)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    struct dispatch_task *t = &d->task[task];
    d->switches += c->last != task;
    d->migrations += t->cpu != cpu && t->cpu != UINT_MAX;
    t->cpu = cpu;
    t->state = DISPATCH_RUNNING;
    c->task = c->last = task;
    c->since = c->changed = d->engine->now;
    c->own = 0;
    d->n_idle--;
    timers_set(&d->timers, d->workload->n_tasks + cpu, d->engine->now + DISPATCH_SLICE_PS);
    if (d->rules->took != NULL)
        d->rules->took(d, cpu);
}
