/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Core specialization: tasks that use 512-bit registers run on wide cores alone. G: Gottschlag's dissertation, 6.2. */
#include <limits.h>
#include <stdlib.h>

#include "schedulers/simulate/scheduling/dispatch.h"

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

/* A core that is not wide and has nothing to do; n_cores: there is none. A CPU that chooses will have, if it can. */
static unsigned idle_other_core(const struct dispatch *d)
{
    bool nothing = first_ready(d, false) == SIM_IDLE;
    for (unsigned core = 0; core < d->engine->n_cores; core++) {
        bool idle = !d->wide[core] && dispatch_core_idle(d, core);
        const struct engine_core *c = &d->engine->core[core];
        for (unsigned i = 0; i < c->n_cpus && idle; i++)
            idle = nothing || !d->cpu[d->engine->member[c->first + i]].choosing;
        if (idle)
            return core;
    }
    return d->engine->n_cores;
}

/* The other CPUs of the core choose again: those that idle, or run what is not of its kind any more. */
static void change_kind(struct dispatch *d, unsigned cpu, bool wide)
{
    const struct engine_core *core = &d->engine->core[d->engine->cpu[cpu].core];
    const struct sim_observer *observer = d->engine->options->observer;
    if (observer != NULL && observer->kind != NULL)
        observer->kind(observer->self, d->engine->cpu[cpu].core, d->engine->now, wide);
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

/*
 * The core of a CPU becomes wide, or is not any more, if the higher one of the loads (tasks per core; G, eqs. 6.1 and
 * 6.2) falls by it, or if a wide task waits while a core that is not wide has nothing to do.
 */
static void consider_kind(struct dispatch *d, unsigned cpu)
{
    uint64_t wide = d->n_wide, other = d->engine->n_cores - d->n_wide;
    unsigned n[2];
    if (d->engine->now - d->wide_changed <= SPECIALIZE_CHANGE_PS)
        return;
    count_runnable(d, n);
    const unsigned none = d->engine->n_cores;
    unsigned idle = other > 1 && first_ready(d, true) != SIM_IDLE ? idle_other_core(d) : none;
    bool changes;
    if (on_wide_core(d, cpu))
        changes = wide > 1 && n[1] * other < n[0] * (wide - 1);
    else
        changes = other > 1 && (idle != none || n[0] * wide < n[1] * (other - 1));
    if (changes)
        change_kind(d, cpu, !on_wide_core(d, cpu));
    else if (idle != none) /* it looks again */
        dispatch_again(d, d->engine->member[d->engine->core[idle].first], false);
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
            consider_kind(d, cpu);
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

static bool other_cpu_idles(const struct dispatch *d)
{
    for (unsigned cpu = 0; cpu < d->engine->n_cpus; cpu++)
        if (!on_wide_core(d, cpu) && !dispatch_busy(d, cpu))
            return true;
    return false;
}

static void specialize_invoked(struct dispatch *d, unsigned cpu)
{
    uint32_t task = d->cpu[cpu].task; /* its slice has ended; SIM_IDLE: the CPU has none */
    if (task != SIM_IDLE && d->task[task].wide && is_quiet(d, task))
        become_other(d, task);
    consider_kind(d, cpu);
    if (task == SIM_IDLE && !on_wide_core(d, cpu) && first_ready(d, false) == SIM_IDLE)
        relieve_wide(d);
    if (task != SIM_IDLE && on_wide_core(d, cpu) && !d->task[task].wide && other_cpu_idles(d))
        dispatch_again(d, cpu, false);
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
