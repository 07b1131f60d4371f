/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who runs where: feeds the engine with what a scheduler decides by its rules. */
#include "schedulers/simulate/scheduling/dispatch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- tasks that are ready ---- */

/* Room for so many. False: out of memory. ready_free in any case. */
static bool ready_init(struct ready *r, size_t most)
{
    *r = (struct ready){.task = calloc(most > 0 ? most : 1, sizeof(*r->task))};
    return r->task != NULL;
}

static void ready_free(struct ready *r)
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

static void ready_add(struct ready *r, uint32_t task, int64_t vruntime)
{
    size_t at = tasks_before(r, task, vruntime);
    memmove(r->task + at + 1, r->task + at, (r->n - at) * sizeof(*r->task));
    r->task[at] = (struct ready_task){vruntime, task};
    r->n++;
}

/* One that is there, with the virtual runtime that it was added with. */
static void ready_remove(struct ready *r, uint32_t task, int64_t vruntime)
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

void dispatch_pay(struct dispatch *d, uint32_t task, enum sim_scheduling_cost what)
{
    int64_t ps = d->engine->params->scheduling_ps[what];
    if (ps > 0)
        d->task[task].owed += ps * d->workload->recorded;
}

/* A task begins or goes on with a slice on a CPU. */
static void begin_slice(struct dispatch *d, unsigned cpu, uint32_t task)
{
    int64_t slice = d->rules->slice != NULL ? d->rules->slice(d, task) : DISPATCH_SLICE_PS;
    timers_set(&d->timers, d->workload->n_tasks + cpu, d->engine->now + slice);
}

/* Charges a CPU's task for what it has run. */
static void charge(struct dispatch *d, unsigned cpu)
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

/* The task of a CPU is on it no more. */
static void leave(struct dispatch *d, unsigned cpu)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    const struct sim_observer *observer = d->engine->options->observer;
    charge(d, cpu);
    if (observer != NULL && observer->ran != NULL && c->changed < d->engine->now)
        observer->ran(observer->self, cpu, c->task, c->changed, d->engine->now);
    timers_set(&d->timers, d->workload->n_tasks + cpu, SIM_FOREVER);
    c->task = SIM_IDLE;
    c->again = c->forced = false;
    d->n_idle++;
}

/* A task is ready. */
static void make_ready(struct dispatch *d, uint32_t task)
{
    d->task[task].state = DISPATCH_READY;
    ready_add(&d->ready, task, d->task[task].vruntime);
}

void dispatch_withdraw(struct dispatch *d, unsigned cpu)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    if (c->pending == SIM_IDLE)
        return;
    make_ready(d, c->pending);
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

/* A task can run: an idle CPU gets it, or it is ready; preempts: one may choose again that runs what it is ahead of. */
static void make_runnable(struct dispatch *d, uint32_t task, bool preempts)
{
    unsigned cpu = best_idle(d, task);
    if (cpu != UINT_MAX) {
        d->task[task].state = DISPATCH_RUNNING;
        d->cpu[cpu].pending = task;
        dispatch_again(d, cpu, false);
        return;
    }
    make_ready(d, task);
    cpu = preempts ? best_victim(d, task) : UINT_MAX;
    if (cpu != UINT_MAX)
        dispatch_again(d, cpu, false);
}

/* ---- what a CPU does ---- */

/* The ready task that a CPU takes; SIM_IDLE: none. */
static uint32_t choose_task(const struct dispatch *d, unsigned cpu)
{
    if (d->rules->choose != NULL)
        return d->rules->choose(d, cpu);
    return d->ready.n > 0 ? d->ready.task[0].task : SIM_IDLE;
}

/* The CPU, which has none, begins with a task that is not ready (any more). */
static void take_task(struct dispatch *d, unsigned cpu, uint32_t task)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    struct dispatch_task *t = &d->task[task];
    bool switches = c->last != task, migrates = t->cpu != cpu && t->cpu != UINT_MAX;
    d->switches += switches;
    d->migrations += migrates;
    if (migrates) /* includes the switch to it */
        dispatch_pay(d, task, SIM_MIGRATION);
    else if (switches)
        dispatch_pay(d, task, SIM_SWITCH);
    t->cpu = cpu;
    t->state = DISPATCH_RUNNING;
    c->task = c->last = task;
    c->since = c->changed = d->engine->now;
    c->own = 0;
    d->n_idle--;
    begin_slice(d, cpu, task);
    if (d->rules->took != NULL)
        d->rules->took(d, cpu);
}

/* ---- what tasks have to do ---- */

/* Rows that are read at a time, of each task. */
enum { PROGRAM_ROWS_AT_ONCE = 128 };

/* False: out of memory. programs_free in any case. */
static bool programs_init(struct programs *p, struct sim_workload *w)
{
    *p = (struct programs){.workload = w, .task = calloc(w->n_tasks > 0 ? w->n_tasks : 1, sizeof(*p->task))};
    return p->task != NULL;
}

static void programs_free(struct programs *p)
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

/*
 * The next work of a task, of some length, and how long it is blocked before (ps, at most SIM_FOREVER; 0: it goes on).
 * A system call at the begin of rows of no length is one at the begin of this. False: there is no more.
 */
static bool programs_next(struct programs *p, uint32_t task, struct sim_row *row, int64_t *blocked)
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

bool scheduling_init(struct dispatch *d, struct sim_workload *w)
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
    return true;
}

void scheduling_free(struct dispatch *d)
{
    if (d->programs.workload != NULL)
        programs_free(&d->programs);
    ready_free(&d->ready);
    timers_free(&d->timers);
    free(d->task);
    free(d->cpu);
    free(d->turbos);
    free(d->last_user);
    free(d->wide);
}

/* ---- what a task does next ---- */

/* The task goes on with its next row, or is blocked until then, or done. */
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

/* The task of a CPU begins its row or goes on with it, unless something else comes before. */
static void begin_row(struct dispatch *d, unsigned cpu)
{
    uint32_t task = d->cpu[cpu].task;
    if (d->task[task].owed > 0)
        return;
    bool stays = d->rules->row == NULL || d->rules->row(d, cpu);
    d->task[task].fresh = false;
    if (stays)
        return;
    leave(d, cpu);
    make_runnable(d, task, true);
}

/* The task of a CPU has ended its row, or is interrupted. */
static void go_on(struct dispatch *d, unsigned cpu)
{
    struct dispatch_cpu *c = &d->cpu[cpu];
    uint32_t task = c->task;
    struct dispatch_task *t = &d->task[task];
    bool again = c->again, forced = c->forced;
    int64_t *work = t->owed > 0 ? &t->owed : &t->left;
    *work = engine_left(d->engine, cpu);
    t->owed = t->owed > 0 ? t->owed : 0;
    if (t->left <= 0)
        next_row(d, task);
    if (t->state != DISPATCH_RUNNING) {
        leave(d, cpu);
    } else if (again) {
        leave(d, cpu);
        make_runnable(d, task, forced);
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
        task = choose_task(d, cpu);
        if (task == SIM_IDLE)
            return false;
        ready_remove(&d->ready, task, d->task[task].vruntime);
    }
    c->pending = SIM_IDLE;
    take_task(d, cpu, task);
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
    if (t->owed > 0)
        *out = (struct engine_segment){.amount = t->owed, .task = c->task, .class = SIM_NONE, .scheduling = true};
    else
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
    make_runnable(d, task, true);
}

/* The slice of a CPU's task has ended: it goes on unless another is chosen. */
static void end_slice(struct dispatch *d, unsigned cpu)
{
    uint32_t task = d->cpu[cpu].task;
    if (task == SIM_IDLE || d->cpu[cpu].again)
        return;
    charge(d, cpu);
    make_ready(d, task);
    if (d->rules->invoked != NULL)
        d->rules->invoked(d, cpu);
    uint32_t chosen = choose_task(d, cpu);
    ready_remove(&d->ready, task, d->task[task].vruntime);
    d->task[task].state = DISPATCH_RUNNING;
    begin_slice(d, cpu, task);
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
