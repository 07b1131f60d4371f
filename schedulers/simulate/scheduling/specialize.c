/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Core specialization: tasks that use 512-bit registers run on wide cores alone. G: Gottschlag's dissertation, 6.2. */
#include <limits.h>
#include <stdlib.h>

#include "schedulers/simulate/scheduling/rules.h"

#define SPECIALIZE_CHANGE_PS (20000 * SIM_PS_PER_US)  /* G, 6.2.2: at most one change in this time */
#define SPECIALIZE_SHORT_PS (100 * SIM_PS_PER_US)     /* G, 6.2.4: phases that are not worth a migration */
#define SPECIALIZE_TIMEOUT_PS (10000 * SIM_PS_PER_US) /* assumed */
#define SPECIALIZE_WEIGHT 0.25                        /* of the last phase in the average; assumed */

bool specialize_init(struct dispatch *d)
{
    d->wide = calloc(d->workload->n_cores, sizeof(*d->wide));
    if (d->wide == NULL)
        return false;
    d->wide[d->workload->n_cores - 1] = true;
    d->n_wide = 1;
    d->wide_changed = -SPECIALIZE_CHANGE_PS - 1;
    return true;
}

static bool on_wide_core(const struct dispatch *d, unsigned cpu)
{
    return d->wide[d->engine->cpu[cpu].core];
}

/* The first ready task of a kind; SIM_IDLE: none. */
static uint32_t first_ready(const struct dispatch *d, bool wide)
{
    for (size_t i = 0; i < d->ready.n; i++)
        if (d->task[d->ready.task[i].task].wide == wide)
            return d->ready.task[i].task;
    return SIM_IDLE;
}

/* ---- how many wide cores ---- */

/* Tasks that run or could run; [1]: wide ones. */
static void count_runnable(const struct dispatch *d, unsigned n[2])
{
    n[0] = n[1] = 0;
    for (size_t i = 0; i < d->ready.n; i++)
        n[d->task[d->ready.task[i].task].wide]++;
    for (unsigned cpu = 0; cpu < d->engine->n_cpus; cpu++) {
        const struct dispatch_cpu *c = &d->cpu[cpu];
        if (c->task != SIM_IDLE && d->task[c->task].state == DISPATCH_RUNNING)
            n[d->task[c->task].wide]++;
        if (c->pending != SIM_IDLE)
            n[d->task[c->pending].wide]++;
    }
}

static bool is_idle_elsewhere(const struct dispatch *d)
{
    for (unsigned cpu = 0; cpu < d->engine->n_cpus; cpu++)
        if (!on_wide_core(d, cpu) && !dispatch_busy(d, cpu) && !d->cpu[cpu].choosing)
            return true;
    return false;
}

/* The other CPUs of the core choose again: those that idle, or run what is not of its kind any more. */
static void change_kind(struct dispatch *d, unsigned cpu, bool wide)
{
    const struct engine_core *core = &d->engine->core[d->engine->cpu[cpu].core];
    d->wide[d->engine->cpu[cpu].core] = wide;
    d->n_wide += wide ? 1 : -1U;
    d->wide_changed = d->engine->now;
    d->core_changes++;
    for (unsigned i = 0; i < core->n_cpus; i++) {
        unsigned other = d->engine->member[core->first + i];
        struct dispatch_cpu *c = &d->cpu[other];
        if (other == cpu)
            continue;
        if (c->pending != SIM_IDLE && d->task[c->pending].wide != wide)
            dispatch_withdraw(d, other);
        if (c->task == SIM_IDLE || d->task[c->task].wide != wide)
            dispatch_again(d, other, c->task != SIM_IDLE && !wide);
    }
}

static bool may_change(const struct dispatch *d)
{
    return d->engine->now - d->wide_changed > SPECIALIZE_CHANGE_PS;
}

/* G, 6.2.2: there is more to do for wide cores than for others. */
static void consider_wide(struct dispatch *d, unsigned cpu)
{
    unsigned n[2], n_other = d->engine->n_cores - d->n_wide;
    if (n_other <= 1 || !may_change(d))
        return;
    count_runnable(d, n);
    bool more = (uint64_t)n[1] * n_other > (uint64_t)n[0] * d->n_wide;
    if (more || (first_ready(d, true) != SIM_IDLE && is_idle_elsewhere(d)))
        change_kind(d, cpu, true);
}

/* Likewise: without this core, there would still be less to do for wide ones. */
static void consider_other(struct dispatch *d, unsigned cpu)
{
    unsigned n[2];
    if (d->n_wide <= 1 || !may_change(d))
        return;
    count_runnable(d, n);
    if ((uint64_t)n[1] * (d->engine->n_cores - d->n_wide + 1) < (uint64_t)n[0] * (d->n_wide - 1))
        change_kind(d, cpu, false);
}

/* ---- what a task is ---- */

static void become_other(struct dispatch *d, uint32_t task)
{
    d->task[task].wide = false;
    d->task[task].phase_since = dispatch_cpu_time(d, task);
}

static void become_wide(struct dispatch *d, uint32_t task)
{
    struct dispatch_task *t = &d->task[task];
    bool is_short = dispatch_cpu_time(d, task) - t->phase_since < SPECIALIZE_SHORT_PS;
    t->shorts += SPECIALIZE_WEIGHT * ((is_short ? 1 : 0) - t->shorts);
    t->wide = true;
}

/* Its last 512-bit code was long ago. */
static bool is_quiet(const struct dispatch *d, uint32_t task)
{
    const struct dispatch_task *t = &d->task[task];
    return !t->uses && dispatch_cpu_time(d, task) - t->quiet_since >= SPECIALIZE_TIMEOUT_PS;
}

static bool specialize_row(struct dispatch *d, unsigned cpu)
{
    uint32_t task = d->cpu[cpu].task;
    struct dispatch_task *t = &d->task[task];
    bool was = t->wide;
    if (!t->fresh)
        return true;
    if (t->uses)
        t->quiet_since = dispatch_cpu_time(d, task);
    t->uses = t->row.class == SIM_512LIGHT || t->row.class == SIM_512HEAVY;
    if (t->wide && ((t->row.syscall && t->shorts <= 0.5) || is_quiet(d, task)))
        become_other(d, task);
    if (t->uses && !t->wide) {
        become_wide(d, task);
        if (!on_wide_core(d, cpu))
            consider_wide(d, cpu);
    }
    return t->wide ? on_wide_core(d, cpu) : !was || !on_wide_core(d, cpu);
}

/* ---- who runs where ---- */

/* A CPU that idles takes over what runs on a wide core and need not. */
static void relieve_wide(struct dispatch *d)
{
    unsigned best = UINT_MAX;
    for (unsigned cpu = 0; cpu < d->engine->n_cpus; cpu++) {
        uint32_t task = d->cpu[cpu].task;
        if (task == SIM_IDLE || d->cpu[cpu].again || d->task[task].wide || !on_wide_core(d, cpu))
            continue;
        if (best == UINT_MAX || dispatch_vruntime(d, task) < dispatch_vruntime(d, d->cpu[best].task))
            best = cpu;
    }
    if (best != UINT_MAX)
        dispatch_again(d, best, false);
}

static void specialize_invoked(struct dispatch *d, unsigned cpu)
{
    uint32_t task = d->cpu[cpu].task; /* its slice has ended */
    if (task != SIM_IDLE && d->task[task].wide && is_quiet(d, task))
        become_other(d, task);
    if (!on_wide_core(d, cpu))
        consider_wide(d, cpu);
    else if (first_ready(d, true) == SIM_IDLE && d->ready.n > 0)
        consider_other(d, cpu);
    if (task == SIM_IDLE && !on_wide_core(d, cpu) && first_ready(d, false) == SIM_IDLE)
        relieve_wide(d);
}

static unsigned specialize_fits(const struct dispatch *d, unsigned cpu, uint32_t task)
{
    if (on_wide_core(d, cpu))
        return d->task[task].wide ? 2 : 1;
    return d->task[task].wide ? 0 : 2;
}

static uint32_t specialize_choose(const struct dispatch *d, unsigned cpu)
{
    uint32_t wide = on_wide_core(d, cpu) ? first_ready(d, true) : SIM_IDLE;
    return wide != SIM_IDLE ? wide : first_ready(d, false);
}

static int64_t specialize_lead(const struct dispatch *d, unsigned cpu, uint32_t task)
{
    bool runs_wide = d->task[d->cpu[cpu].task].wide;
    int64_t lead = dispatch_vruntime(d, d->cpu[cpu].task) - d->task[task].vruntime;
    if (d->task[task].wide)
        return !on_wide_core(d, cpu) ? -1 : runs_wide ? lead : INT64_MAX / 2 + lead;
    return runs_wide ? -1 : lead;
}

const struct dispatch_rules specialize_rules = {.fits = specialize_fits,
                                                .choose = specialize_choose,
                                                .lead = specialize_lead,
                                                .invoked = specialize_invoked,
                                                .row = specialize_row};
