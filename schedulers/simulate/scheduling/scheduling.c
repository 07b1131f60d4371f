/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Feeds the engine with what a scheduler decides. */
#include "schedulers/simulate/scheduling/dispatch.h"

#include <limits.h>
#include <stdlib.h>

/* ---- what tasks have to do ---- */

/* Rows that are read at a time, of each task. */
enum { PROGRAM_ROWS_AT_ONCE = 128 };

bool programs_init(struct programs *p, struct sim_workload *w)
{
    *p = (struct programs){.workload = w, .task = calloc(w->n_tasks > 0 ? w->n_tasks : 1, sizeof(*p->task))};
    return p->task != NULL;
}

void programs_free(struct programs *p)
{
    for (size_t i = 0; p->task != NULL && i < p->workload->n_tasks; i++)
        free(p->task[i].rows);
    free(p->task);
}

/* The next row of any kind; NULL: there is none. */
static const struct sim_row *program_row(struct programs *p, uint32_t task)
{
    struct programs_task *t = &p->task[task];
    if (t->next == t->n) {
        if (t->rows == NULL)
            t->rows = malloc(PROGRAM_ROWS_AT_ONCE * sizeof(*t->rows));
        p->failed = p->failed || t->rows == NULL;
        t->next = 0;
        t->n = t->rows != NULL ? p->workload->works.read(p->workload->works.self, task, t->rows, PROGRAM_ROWS_AT_ONCE)
                               : 0;
        if (t->n == 0)
            return NULL;
    }
    p->rows++;
    return &t->rows[t->next++];
}

bool programs_next(struct programs *p, uint32_t task, struct sim_row *row, int64_t *blocked)
{
    const struct sim_row *r;
    bool syscall = false;
    *blocked = 0;
    while ((r = program_row(p, task)) != NULL) {
        if (r->task == SIM_IDLE) {
            *blocked = r->ps < SIM_FOREVER - *blocked ? *blocked + r->ps : SIM_FOREVER;
            continue;
        }
        syscall = syscall || r->syscall;
        if (r->ps == 0)
            continue;
        *row = *r;
        row->syscall = syscall;
        return true;
    }
    return false;
}

/* ---- beginning and end ---- */

static bool choose_rules(struct dispatch *d, struct sim_params *p, enum sim_scheduler scheduler)
{
    static const struct dispatch_rules *const rules[SIM_SCHEDULERS] = {[SIM_FAIR] = &fair_rules,
                                                                       [SIM_FAIR_SUBTRACT] = &fair_subtract_rules,
                                                                       [SIM_FAIR_ATTRIBUTE] = &fair_attribute_rules,
                                                                       [SIM_CORE] = &cookies_rules,
                                                                       [SIM_SPECIALIZE] = &specialize_rules};
    d->rules = rules[scheduler];
    if (scheduler == SIM_SPECIALIZE)
        return specialize_init(d);
    if (scheduler == SIM_FAIR_SUBTRACT || scheduler == SIM_FAIR_ATTRIBUTE)
        return fair_init(d, p, scheduler == SIM_FAIR_ATTRIBUTE);
    return true;
}

bool scheduling_init(struct dispatch *d, struct sim_params *p, struct sim_workload *w, const struct sim_options *o)
{
    size_t n = w->n_tasks > 0 ? w->n_tasks : 1;
    *d = (struct dispatch){.workload = w,
                           .n_idle = w->n_cpus,
                           .task = calloc(n, sizeof(*d->task)),
                           .cpu = calloc(w->n_cpus, sizeof(*d->cpu))};
    bool made = programs_init(&d->programs, w);
    made = ready_init(&d->ready, n) && made;
    made = timers_init(&d->timers, w->n_tasks + w->n_cpus) && made;
    if (!made || d->task == NULL || d->cpu == NULL)
        return false;
    for (unsigned cpu = 0; cpu < w->n_cpus; cpu++)
        d->cpu[cpu] = (struct dispatch_cpu){.task = SIM_IDLE, .pending = SIM_IDLE, .last = SIM_IDLE};
    return choose_rules(d, p, o->scheduler);
}

void scheduling_free(struct dispatch *d)
{
    if (d->programs.workload != NULL)
        programs_free(&d->programs);
    ready_free(&d->ready);
    timers_free(&d->timers);
    free(d->task);
    free(d->cpu);
    free(d->frequencies.frequency);
    free(d->last_user);
    free(d->wide);
}

/* ---- what a task does next ---- */

/* From its next row on, or blocked until then, or done. */
static void next_row(struct dispatch *d, uint32_t task)
{
    struct dispatch_task *t = &d->task[task];
    int64_t blocked;
    if (!programs_next(&d->programs, task, &t->row, &blocked)) {
        t->state = DISPATCH_DONE;
        return;
    }
    t->left = t->row.ps * d->workload->recorded;
    t->fresh = true;
    if (blocked > 0) {
        t->state = DISPATCH_BLOCKED;
        timers_set(&d->timers, task, engine_later(d->engine->now, blocked));
    }
}

static void set_wake(struct dispatch *d)
{
    size_t first;
    d->engine->wake_at = timers_first(&d->timers, &first);
}

bool scheduling_begin(struct dispatch *d, struct engine *e)
{
    d->engine = e;
    for (uint32_t task = 0; task < d->workload->n_tasks; task++) {
        d->task[task].cpu = UINT_MAX;
        d->task[task].state = DISPATCH_READY;
        next_row(d, task);
        if (d->task[task].state == DISPATCH_READY) {
            d->task[task].state = DISPATCH_BLOCKED; /* wakes as the simulation begins */
            timers_set(&d->timers, task, 0);
        }
    }
    set_wake(d);
    return engine_count(e);
}

/* ---- a CPU asks ---- */

/* Time that CPUs idled since the last call while tasks were ready. */
static void count_idle(struct dispatch *d)
{
    size_t n = d->n_idle < d->ready.n ? d->n_idle : d->ready.n;
    d->forced_idle_ps += (int64_t)n * (d->engine->now - d->idle_since);
    d->idle_since = d->engine->now;
}

static void begin_row(struct dispatch *d, unsigned cpu)
{
    uint32_t task = d->cpu[cpu].task;
    bool stays = d->rules->row == NULL || d->rules->row(d, cpu);
    d->task[task].fresh = false;
    if (stays)
        return;
    dispatch_leave(d, cpu);
    dispatch_runnable(d, task, true);
}

/* The task of a CPU has ended its row, or is interrupted. */
static void go_on(struct dispatch *d, unsigned cpu)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    uint32_t task = c->task;
    struct dispatch_task *t = &d->task[task];
    bool again = c->again, forced = c->forced;
    t->left = engine_left(d->engine, cpu);
    if (t->left <= 0)
        next_row(d, task);
    if (t->state != DISPATCH_RUNNING) {
        dispatch_leave(d, cpu);
    } else if (again) {
        dispatch_leave(d, cpu);
        dispatch_runnable(d, task, forced);
    } else {
        begin_row(d, cpu);
    }
}

/* The CPU, which has none, takes the task that it was given or chooses one. False: it idles. */
static bool take_one(struct dispatch *d, unsigned cpu)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    uint32_t task = c->pending;
    if (task == SIM_IDLE) {
        if (d->rules->invoked != NULL)
            d->rules->invoked(d, cpu);
        task = dispatch_choose(d, cpu);
        if (task == SIM_IDLE)
            return false;
        ready_remove(&d->ready, task, d->task[task].vruntime);
    }
    c->pending = SIM_IDLE;
    dispatch_take(d, cpu, task);
    begin_row(d, cpu);
    return true;
}

bool scheduling_next(void *self, struct engine *e, unsigned cpu, struct engine_segment *out)
{
    struct dispatch *d = self;
    struct dispatch_cpu *c = &d->cpu[cpu];
    d->engine = e;
    count_idle(d);
    c->choosing = true;
    if (c->task != SIM_IDLE)
        go_on(d, cpu);
    c->again = c->forced = false;
    while (c->task == SIM_IDLE && take_one(d, cpu))
        continue;
    c->choosing = false;
    set_wake(d);
    if (c->task == SIM_IDLE)
        return false;
    const struct dispatch_task *t = &d->task[c->task];
    *out = (struct engine_segment){
        .amount = t->left, .task = c->task, .ipc = t->row.ipc, .stall = t->row.stall, .class = t->row.class};
    return true;
}

/* ---- timers ---- */

/* The lowest virtual runtime of all that can run; it never falls. */
static void raise_floor(struct dispatch *d)
{
    int64_t lowest = d->ready.n > 0 ? d->ready.task[0].vruntime : SIM_FOREVER;
    for (unsigned cpu = 0; cpu < d->engine->n_cpus; cpu++) {
        uint32_t task = d->cpu[cpu].task != SIM_IDLE ? d->cpu[cpu].task : d->cpu[cpu].pending;
        int64_t vruntime = task != SIM_IDLE ? dispatch_vruntime(d, task) : SIM_FOREVER;
        lowest = vruntime < lowest ? vruntime : lowest;
    }
    if (lowest != SIM_FOREVER && lowest > d->floor)
        d->floor = lowest;
}

static void wake_task(struct dispatch *d, uint32_t task)
{
    struct dispatch_task *t = &d->task[task];
    raise_floor(d);
    if (t->vruntime < d->floor - DISPATCH_BONUS_PS)
        t->vruntime = d->floor - DISPATCH_BONUS_PS;
    dispatch_runnable(d, task, true);
}

/* The slice of a CPU's task has ended: it goes on unless another is chosen. */
static void end_slice(struct dispatch *d, unsigned cpu)
{
    uint32_t task = d->cpu[cpu].task;
    if (task == SIM_IDLE || d->cpu[cpu].again)
        return;
    dispatch_account(d, cpu);
    timers_set(&d->timers, d->workload->n_tasks + cpu, d->engine->now + DISPATCH_SLICE_PS);
    dispatch_ready(d, task);
    if (d->rules->invoked != NULL)
        d->rules->invoked(d, cpu);
    uint32_t chosen = dispatch_choose(d, cpu);
    ready_remove(&d->ready, task, d->task[task].vruntime);
    d->task[task].state = DISPATCH_RUNNING;
    if (chosen != task)
        dispatch_again(d, cpu, false);
}

void scheduling_wake(void *self, struct engine *e)
{
    struct dispatch *d = self;
    size_t i;
    d->engine = e;
    count_idle(d);
    while (timers_first(&d->timers, &i) <= e->now) {
        timers_set(&d->timers, i, SIM_FOREVER);
        if (i < d->workload->n_tasks)
            wake_task(d, (uint32_t)i);
        else
            end_slice(d, (unsigned)(i - d->workload->n_tasks));
    }
    set_wake(d);
}
