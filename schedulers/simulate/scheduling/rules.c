/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rules of each scheduler (doc/simulation.md, "Schedulers"): by virtual runtime alone and with compensation of what
 * tasks lose to frequencies that others have reduced; core scheduling; and cores that are kept for wide code.
 */
#include "schedulers/simulate/scheduling/dispatch.h"

#include <limits.h>
#include <stdlib.h>

/* ---- the rules ---- */

/* The level that a class of code asks for at most. */
static unsigned own_level(const struct dispatch *d, enum sim_class class)
{
    return policy_own_level(d->own_level, class == SIM_256LIGHT || class == SIM_256HEAVY,
                            class == SIM_512LIGHT || class == SIM_512HEAVY);
}

/* Prepares the parameters of the processor that fair-subtract and fair-attribute know. False: out of memory. */
static bool fair_init(struct dispatch *d, struct sim_params *p, bool attribute)
{
    size_t n = (size_t)d->workload->n_cores * SIM_LEVELS_MAX;
    sim_params_own_levels(p, d->own_level);
    d->last_user = attribute ? malloc(n * sizeof(*d->last_user)) : NULL;
    for (size_t i = 0; d->last_user != NULL && i < n; i++)
        d->last_user[i] = SIM_IDLE;
    d->turbos = calloc(1, sizeof(*d->turbos));
    if (d->turbos != NULL)
        sim_params_turbos(p, d->turbos);
    return d->turbos != NULL && (d->last_user != NULL || !attribute);
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
    unsigned level = own_level(d, d->task[c->task].row.class);
    if (level > c->own) {
        c->own = level;
        note_user(d, cpu);
    }
    return true;
}

/* The time that a task lost in `ps` of CPU time to levels that it cannot have caused, by whole cycles and ns. */
static int64_t lost_to_others(struct dispatch *d, unsigned cpu, int64_t ps)
{
    const struct engine_counts *n = &d->engine->counts[cpu];
    struct policy_slice s = {.ns = (uint64_t)(n->unhalted_ps / SIM_PS_PER_NS)};
    double all = 0;
    for (unsigned k = 0; k < d->turbos->n_levels; k++) {
        all += n->cycles[k];
        s.cycles[k] = (uint64_t)(1e-7 * n->cycles[k] + 0.5);
    }
    s.stalled = all > 0 ? (policy_u32)(n->stalled / all * POLICY_ONE + 0.5) : 0;
    return SIM_PS_PER_NS *
           (int64_t)policy_slice_lost_ns(d->turbos, &s, d->cpu[cpu].own, (uint64_t)(ps / SIM_PS_PER_NS));
}

static int64_t fair_lost(struct dispatch *d, unsigned cpu, int64_t ps)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    int64_t lost = lost_to_others(d, cpu, ps);
    if (lost > 0 && d->last_user != NULL) {
        uint32_t user = *last_user(d, cpu, policy_payer_level(c->own));
        if (user != SIM_IDLE)
            d->task[user].penalty += lost;
    }
    note_user(d, cpu);
    c->own = own_level(d, d->task[c->task].row.class); /* if it goes on */
    return lost;
}

static const struct dispatch_rules fair_rules = {.fits = NULL};
static const struct dispatch_rules fair_subtract_rules = {.row = fair_row, .lost = fair_lost};
static const struct dispatch_rules fair_attribute_rules = {.row = fair_row, .lost = fair_lost};

/* ---- core scheduling: at any time, a core runs tasks with one cookie alone ---- */

/* The task that a CPU runs or is about to run; SIM_IDLE: nothing that counts. */
static uint32_t task_on(const struct dispatch *d, unsigned cpu)
{
    const struct dispatch_cpu *c = &d->cpu[cpu];
    return c->task != SIM_IDLE && !c->forced ? c->task : c->pending;
}

/* True: another CPU of the core runs a task with another cookie. */
static bool in_conflict(const struct dispatch *d, unsigned cpu, unsigned other, uint32_t task)
{
    uint32_t there = other != cpu ? task_on(d, other) : SIM_IDLE;
    return there != SIM_IDLE && d->workload->tasks[there].cookie != d->workload->tasks[task].cookie;
}

static const struct engine_core *core_of(const struct dispatch *d, unsigned cpu)
{
    return &d->engine->core[d->engine->cpu[cpu].core];
}

/* True: a task leads all that it is in conflict with on the core by more than the granularity. */
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

static const struct dispatch_rules cookies_rules = {
    .fits = cookies_fits, .choose = cookies_choose, .took = cookies_took};

/* ---- core specialization ---- */

#define SPECIALIZE_CHANGE_PS (POLICY_CLASS_CHANGE * SIM_PS_PER_NS)
#define SPECIALIZE_TIMEOUT_PS (POLICY_WIDE_TIMEOUT * SIM_PS_PER_NS)

/* One wide core. False: out of memory. */
static bool specialize_init(struct dispatch *d)
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
    unsigned n[2];
    /* rounded up: the rule is about whole ns */
    if (!policy_may_change((uint64_t)((d->engine->now - d->wide_changed + SIM_PS_PER_NS - 1) / SIM_PS_PER_NS)))
        return;
    count_runnable(d, n);
    const struct policy_loads loads = {n[1], n[0], d->n_wide, d->engine->n_cores - d->n_wide};
    const unsigned none = d->engine->n_cores;
    unsigned idle = loads.other_cores > 1 && first_ready(d, true) != SIM_IDLE ? idle_other_core(d) : none;
    if (on_wide_core(d, cpu) ? policy_narrows(&loads) : policy_widens(&loads, idle != none))
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
    t->shorts = policy_shorts(t->shorts, (uint64_t)((dispatch_cpu_time(d, task) - t->phase_since) / SIM_PS_PER_NS));
    t->wide = true;
    t->wide_since = dispatch_cpu_time(d, task);
}

/* CPU time until a wide task counts as other, whatever it ran: wide cores do not notice 512-bit code. */
static int64_t until_timeout(const struct dispatch *d, uint32_t task)
{
    return SPECIALIZE_TIMEOUT_PS - (dispatch_cpu_time(d, task) - d->task[task].wide_since);
}

static bool specialize_row(struct dispatch *d, unsigned cpu)
{
    uint32_t task = d->cpu[cpu].task;
    struct dispatch_task *t = &d->task[task];
    bool was = t->wide, uses = t->row.class == SIM_512LIGHT || t->row.class == SIM_512HEAVY;
    if (t->wide && t->fresh && t->row.syscall && (d->always || policy_call_ends_phase(t->shorts)))
        become_other(d, task);
    if (uses && !t->wide && !on_wide_core(d, cpu)) {
        dispatch_pay(d, task, SIM_FAULT);
        become_wide(d, task);
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
    if (task != SIM_IDLE && d->task[task].wide && until_timeout(d, task) <= 0)
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

static int64_t specialize_slice(const struct dispatch *d, uint32_t task)
{
    int64_t left = d->task[task].wide ? until_timeout(d, task) : DISPATCH_SLICE_PS;
    return left > 0 && left < DISPATCH_SLICE_PS ? left : DISPATCH_SLICE_PS;
}

static const struct dispatch_rules specialize_rules = {.fits = specialize_fits,
                                                       .slice = specialize_slice,
                                                       .choose = specialize_choose,
                                                       .lead = specialize_lead,
                                                       .invoked = specialize_invoked,
                                                       .row = specialize_row};

bool rules_init(struct dispatch *d, struct sim_params *p, enum sim_scheduler scheduler)
{
    static const struct dispatch_rules *const rules[SIM_SCHEDULERS] = {[SIM_FAIR] = &fair_rules,
                                                                       [SIM_FAIR_SUBTRACT] = &fair_subtract_rules,
                                                                       [SIM_FAIR_ATTRIBUTE] = &fair_attribute_rules,
                                                                       [SIM_CORE] = &cookies_rules,
                                                                       [SIM_SPECIALIZE] = &specialize_rules,
                                                                       [SIM_SPECIALIZE_ALWAYS] = &specialize_rules};
    d->rules = rules[scheduler];
    d->always = scheduler == SIM_SPECIALIZE_ALWAYS;
    if (d->rules == &specialize_rules)
        return specialize_init(d);
    if (scheduler == SIM_FAIR_SUBTRACT || scheduler == SIM_FAIR_ATTRIBUTE)
        return fair_init(d, p, scheduler == SIM_FAIR_ATTRIBUTE);
    return true;
}
