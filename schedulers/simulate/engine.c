/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulated processor: it plays rows, changes levels and counts what that costs (doc/simulation.md). */
#include "schedulers/simulate/engine.h"

#include <math.h>
#include <stdlib.h>

#include "util/order.h"

/* ---- speeds ---- */

static size_t speed_index(const struct engine *e, unsigned level)
{
    return (size_t)level * (e->n_max + 1) + e->n_active;
}

/* The speeds of code with a stall share, made when it is first seen. */
static const uint32_t *stalled_speeds(struct engine *e, unsigned stall)
{
    size_t n = (size_t)e->n_levels * (e->n_max + 1);
    if (e->stalled[stall] != NULL)
        return e->stalled[stall];
    uint32_t *made = malloc(n * sizeof(*made));
    if (made == NULL) {
        e->failed = true;
        return e->speed;
    }
    for (size_t i = 0; i < n; i++)
        made[i] = sim_stalled_speed(e->speed[i], e->workload->recorded, stall);
    return e->stalled[stall] = made;
}

uint32_t engine_speed(struct engine *e, unsigned level, unsigned stall)
{
    return (stall == 0 ? e->speed : stalled_speeds(e, stall))[speed_index(e, level)];
}

/* ---- what has been done ---- */

static void count_cycles(struct engine *e, const struct engine_cpu *u, const struct engine_core *c, int64_t dt)
{
    struct engine_counts *n = &e->counts[u - e->cpu];
    if (u->halted)
        return;
    double f = e->speed[speed_index(e, c->level)], r = e->workload->recorded, q = u->stall / 1000.0;
    double cycles = (double)dt * f;
    n->cycles[c->level] += cycles;
    n->unhalted_ps += dt;
    if (u->stall != 0) /* q is the share at the recorded frequency; a wait takes the same time at any */
        n->stalled += cycles * q * f / ((1 - q) * r + q * f);
}

/* Accounts for what a CPU has done since it was last looked at. Before anything that it depends on changes. */
static void cpu_flush(struct engine *e, struct engine_cpu *u)
{
    int64_t dt = e->now - u->since;
    u->since = e->now;
    if (dt == 0 || u->task == SIM_IDLE)
        return;
    struct engine_core *c = &e->core[u->core];
    struct sim_times *t = &e->tasks[u->task];
    double ideal = (double)dt * u->ideal_rate;
    int64_t done = dt * u->speed;
    u->left -= done;
    if (e->counts != NULL)
        count_cycles(e, u, c, dt);
    t->level_ps[c->level] += dt;
    if (u->scheduling)
        t->scheduling_ps += dt;
    else
        t->ideal_ps += ideal;
    if (u->remote) {
        t->remote_ps += dt;
        t->remote_ideal_ps += ideal;
        t->remote_smt_ps += (double)dt * u->smt_rate;
    }
    if (u->halted)
        t->halted_ps += dt;
    else if (u->throttled)
        t->throttled_ps += dt;
    if (u->class == SIM_512HEAVY && c->running_512) /* looked at every 100 us: no overflow */
        c->instructions += done * u->ipc;
}

/* The same for a core, and all its CPUs. */
void engine_core_flush(struct engine *e, unsigned core)
{
    struct engine_core *c = &e->core[core];
    for (unsigned i = 0; i < c->n_cpus; i++)
        cpu_flush(e, &e->cpu[e->member[c->first + i]]);
    int64_t dt = e->now - c->piece_since;
    if (dt == 0)
        return;
    if (c->permille != 0 && c->running_512)
        c->cycles += dt * e->speed[speed_index(e, c->level)];
    if (e->options->observer != NULL && e->options->observer->piece != NULL)
        e->options->observer->piece(e->options->observer->self, core, c->piece_since, e->now, c->level, c->permille);
    c->piece_since = e->now;
}

static void touch(struct engine *e, unsigned core)
{
    if (!e->core[core].touched) {
        e->core[core].touched = true;
        e->touched[e->n_touched++] = core;
    }
}

/* ---- rows ---- */

static void set_working(struct engine *e, struct engine_core *c, bool was, bool is)
{
    if (was == is)
        return;
    unsigned before = c->n_working;
    c->n_working += is ? 1 : -1U;
    if (before == 0) {
        e->n_working_cores++;
        c->busy_since = e->now;
    } else if (c->n_working == 0) {
        e->n_working_cores--;
        c->busy_ps += e->now - c->busy_since;
    }
}

int64_t engine_trigger(const struct engine *e, unsigned class, unsigned ipc, int64_t amount)
{
    double count = e->trigger[class];
    if (e->class_level[class] == 0 || count == 0 || ipc == 0)
        return amount;
    double after = floor(count / (ipc / 1000.0) * 1e7 + 0.5);
    return after < (double)amount ? amount - (int64_t)after : -1;
}

static void cpu_begin(struct engine *e, struct engine_cpu *u, const struct engine_segment *s)
{
    u->task = s->task;
    u->class = s->task == SIM_IDLE ? SIM_NONE : s->class;
    u->ipc = s->ipc;
    u->stall = s->stall;
    u->level = e->class_level[u->class];
    u->scheduling = s->scheduling;
    u->remote = u->level == 0 && !s->scheduling;
    u->left = s->amount;
    u->trigger_left = engine_trigger(e, u->class, u->ipc, u->left);
    u->demand = u->trigger_left == u->left ? u->level : 0;
    if (u->trigger_left == u->left)
        u->trigger_left = -1;
    u->due = s->task == SIM_IDLE ? e->now + s->amount : SIM_FOREVER;
}

/* The row that follows; those of no length have passed. */
static void cpu_next(struct engine *e, unsigned cpu)
{
    static const struct engine_segment nothing = {.task = SIM_IDLE};
    struct engine_cpu *u = &e->cpu[cpu];
    struct engine_core *c = &e->core[u->core];
    bool was = u->task != SIM_IDLE;
    unsigned demanded = u->demand, class = u->class;
    struct engine_segment s;
    bool some;
    if (was)
        e->tasks[u->task].end_ps = e->now;
    if (demanded > 0 && demanded == c->demand && c->left_at != e->now) { /* the first of those that leave now */
        c->last_task = u->task;
        c->left_at = e->now;
    }
    while ((some = e->feed.next(e->feed.self, e, cpu, &s)) && s.amount <= 0)
        e->rows++;
    cpu_begin(e, u, some ? &s : &nothing);
    e->rows += some;
    e->n_playing += (some ? 1U : 0U) - (u->playing ? 1U : 0U);
    u->playing = some;
    if (!some)
        u->due = SIM_FOREVER;
    set_working(e, c, was, u->task != SIM_IDLE);
    u->stale = true;
    if (demanded != u->demand || (e->policy.update != NULL && class != u->class))
        c->demand_stale = true;
}

/* Rows that have ended, and triggers that have been reached, on the CPUs of a core. */
static void core_rows(struct engine *e, unsigned core)
{
    struct engine_core *c = &e->core[core];
    for (unsigned i = 0; i < c->n_cpus; i++) {
        unsigned cpu = e->member[c->first + i];
        struct engine_cpu *u = &e->cpu[cpu];
        if (u->due > e->now)
            continue;
        cpu_flush(e, u);
        if (u->interrupted || u->task == SIM_IDLE || u->left <= 0) {
            u->interrupted = false;
            cpu_next(e, cpu);
        } else {
            u->trigger_left = -1;
            u->demand = u->level;
            u->stale = c->demand_stale = true;
        }
    }
}

/* ---- changes of level ---- */

/* Enters the present phase of a change, or the first after it that has a length; after the last, the core is steady. */
static void enter_phase(struct engine *e, struct engine_core *c)
{
    unsigned n = c->change != NULL ? c->change->n : 1;
    c->stale = true;
    for (; c->phase <= n; c->phase++) {
        int64_t ps = c->change != NULL ? c->change->phase[c->phase - 1].ps : c->up_ps;
        if (ps == 0)
            continue;
        c->permille = c->change != NULL ? c->change->phase[c->phase - 1].permille : 0;
        c->phase_end = e->now + ps;
        return;
    }
    c->level = c->target;
    c->phase = 0;
    c->permille = 1000;
    c->phase_end = SIM_FOREVER;
}

/* The class of the first CPU whose demand the core follows. */
static enum sim_class demanding_class(const struct engine *e, const struct engine_core *c)
{
    for (unsigned i = 0; i < c->n_cpus && e->policy.update == NULL; i++) {
        const struct engine_cpu *u = &e->cpu[e->member[c->first + i]];
        if (u->demand == c->demand)
            return (enum sim_class)u->class;
    }
    return SIM_NONE;
}

static void begin_change(struct engine *e, unsigned core, unsigned to)
{
    struct engine_core *c = &e->core[core];
    engine_core_flush(e, core);
    c->target = to;
    c->phase = 1;
    if (to > c->level) {
        c->n_down++;
        c->change = sim_params_down(e->params, c->level, to, demanding_class(e, c), e->n_active, NULL);
        e->failed = e->failed || c->change == NULL;
    } else {
        c->n_up++;
        c->change = NULL;
        c->up_ps = sim_params_up(e->params, c->level, to, e->n_active, NULL);
        e->failed = e->failed || c->up_ps < 0;
    }
    if (!e->failed)
        enter_phase(e, c);
}

static void end_phase(struct engine *e, unsigned core)
{
    engine_core_flush(e, core);
    e->core[core].phase++;
    enter_phase(e, &e->core[core]);
}

/* The highest level that is demanded or held, and until when that is so. */
static unsigned held_level(const struct engine *e, const struct engine_core *c, int64_t *until)
{
    for (unsigned k = e->n_levels - 1; k > c->demand; k--) {
        *until = c->hold[k];
        if (c->hold[k] > e->now)
            return k;
    }
    *until = SIM_FOREVER;
    return c->demand;
}

/* Changes that are to begin now; when a steady core has to be looked at again. */
static void core_change(struct engine *e, unsigned core)
{
    struct engine_core *c = &e->core[core];
    c->timer = SIM_FOREVER;
    if (c->level == 0 && c->demand == 0) /* as nearly always: nothing can change */
        return;
    while (c->phase == 0 && !e->failed) {
        unsigned held = held_level(e, c, &c->timer);
        if (c->demand > c->level)
            begin_change(e, core, c->demand);
        else if (held < c->level)
            begin_change(e, core, held);
        else
            return;
    }
    c->timer = SIM_FOREVER;
}

/* ---- demand ---- */

static void core_demand(struct engine *e, unsigned core)
{
    struct engine_core *c = &e->core[core];
    unsigned demand = 0, before = c->demand;
    if (e->policy.update != NULL)
        e->policy.update(e, core);
    for (unsigned i = 0; i < c->n_cpus; i++) {
        unsigned d = e->cpu[e->member[c->first + i]].demand;
        demand = d > demand ? d : demand;
    }
    c->demand_stale = false;
    c->stale = c->stale || c->n_cpus > 1; /* the loss to the sibling changes */
    if (demand == before)
        return;
    c->demand = demand;
    if (demand < before) {
        e->policy.fell(e, core, before, demand, c->last_task);
    } else {
        if (e->policy.rose != NULL)
            e->policy.rose(e, core, demand);
        for (unsigned k = before + 1; k <= demand; k++)
            c->hold[k] = SIM_FOREVER;
    }
}

/* ---- speeds of CPUs ---- */

static unsigned sibling_demand(const struct engine *e, const struct engine_core *c, const struct engine_cpu *of)
{
    unsigned demand = 0;
    for (unsigned i = 0; i < c->n_cpus; i++) {
        const struct engine_cpu *u = &e->cpu[e->member[c->first + i]];
        demand = u != of && u->demand > demand ? u->demand : demand;
    }
    return demand;
}

/* The share of the time of work that is not wide that its sibling costs it. */
static double lost_to_sibling(struct engine *e, const struct engine_core *c, const struct engine_cpu *u)
{
    unsigned d = c->n_cpus > 1 && u->remote ? sibling_demand(e, c, u) : 0;
    if (d == 0)
        return 0;
    if (c->phase != 0 && c->change != NULL)
        return 1 - u->ideal_rate;
    return (double)u->speed / engine_speed(e, d, u->stall) - u->ideal_rate;
}

static void cpu_speed(struct engine *e, struct engine_cpu *u)
{
    struct engine_core *c = &e->core[u->core];
    cpu_flush(e, u);
    u->stale = false;
    if (u->task == SIM_IDLE)
        return;
    u->speed = engine_speed(e, c->level, u->stall);
    u->halted = c->permille == 0;
    u->throttled = c->phase != 0 && !u->halted;
    if (u->throttled) {
        uint32_t slow = (uint32_t)(((uint64_t)u->speed * c->permille + 500) / 1000);
        u->speed = slow > 0 ? slow : 1;
    }
    if (u->halted)
        u->speed = 0;
    u->ideal_rate = c->phase == 0 && u->stall == 0 ? e->rate[speed_index(e, c->level)]
                                                   : (double)u->speed / engine_speed(e, 0, u->stall);
    u->smt_rate = lost_to_sibling(e, c, u);
    int64_t until = u->left - (u->trigger_left >= 0 ? u->trigger_left : 0);
    u->due = u->halted ? SIM_FOREVER : e->now + (int64_t)(((uint64_t)until + u->speed - 1) / u->speed);
}

static void core_speeds(struct engine *e, unsigned core)
{
    struct engine_core *c = &e->core[core];
    int64_t next = c->phase != 0 ? c->phase_end : c->timer;
    next = c->look_at < next ? c->look_at : next;
    for (unsigned i = 0; i < c->n_cpus; i++) {
        struct engine_cpu *u = &e->cpu[e->member[c->first + i]];
        if (c->stale || u->stale)
            cpu_speed(e, u);
        next = u->due < next ? u->due : next;
    }
    c->stale = c->touched = false;
    timers_set(&e->due, core, next);
}

/* ---- an instant ---- */

/* All cores for which something happens now; core_speeds sets when it does next. */
static void touch_due(struct engine *e)
{
    size_t core;
    bool several = timers_second(&e->due) <= e->now;
    while (timers_first(&e->due, &core) <= e->now) {
        touch(e, (unsigned)core);
        if (!several) /* as nearly always */
            return;
        timers_set(&e->due, core, SIM_FOREVER);
    }
}

/* Another number of active cores may mean other frequencies of all cores. */
static void count_active(struct engine *e)
{
    unsigned n = e->n_working_cores > 0 ? e->n_working_cores : 1;
    bool differs = false;
    if (!e->count_active || n == e->n_active)
        return;
    for (unsigned level = 0; level < e->n_levels && !differs; level++) {
        size_t row = (size_t)level * (e->n_max + 1);
        differs = e->speed[row + n] != e->speed[row + e->n_active];
    }
    for (unsigned core = 0; differs && core < e->n_cores; core++) {
        engine_core_flush(e, core);
        e->core[core].stale = true;
        touch(e, core);
    }
    e->n_active = n;
}

/* doc/simulation.md, "At one instant". False: it was the last. */
static bool instant(struct engine *e)
{
    touch_due(e);
    if (e->wake_at <= e->now)
        e->feed.wake(e->feed.self, e);
    for (unsigned i = 0; i < e->n_touched; i++) /* more may be touched meanwhile */
        core_rows(e, e->touched[i]);
    while (e->n_interrupted > 0)
        for (unsigned i = (e->n_interrupted = 0); i < e->n_touched; i++)
            core_rows(e, e->touched[i]);
    count_active(e);
    if (e->n_touched > 1)
        qsort(e->touched, e->n_touched, sizeof(e->touched[0]), order_unsigned);
    for (unsigned i = 0; i < e->n_touched; i++) {
        struct engine_core *c = &e->core[e->touched[i]];
        if (c->phase != 0 && c->phase_end <= e->now)
            end_phase(e, e->touched[i]);
        if (c->demand_stale || c->look_at <= e->now)
            core_demand(e, e->touched[i]);
        core_change(e, e->touched[i]);
        core_speeds(e, e->touched[i]);
    }
    e->n_touched = 0;
    return e->n_playing > 0 || e->wake_at != SIM_FOREVER;
}

int engine_run(struct engine *e, struct machine_error *err)
{
    size_t first;
    for (unsigned core = 0; core < e->n_cores; core++)
        touch(e, core);
    while (instant(e) && !e->failed) {
        int64_t next = timers_first(&e->due, &first);
        e->now = next < e->wake_at ? next : e->wake_at;
    }
    for (unsigned core = 0; core < e->n_cores; core++)
        engine_core_flush(e, core);
    if (e->failed)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return MACHINE_OK;
}

/* ---- for feeds ---- */

void engine_interrupt(struct engine *e, unsigned cpu)
{
    struct engine_cpu *u = &e->cpu[cpu];
    cpu_flush(e, u);
    u->due = e->now;
    u->interrupted = true;
    e->n_interrupted++;
    touch(e, u->core);
}

int64_t engine_left(struct engine *e, unsigned cpu)
{
    struct engine_cpu *u = &e->cpu[cpu];
    cpu_flush(e, u);
    return u->task == SIM_IDLE ? u->due - e->now : u->left;
}

int64_t engine_later(int64_t now, int64_t wait)
{
    return wait < SIM_FOREVER - now ? now + wait : SIM_FOREVER;
}

bool engine_count(struct engine *e)
{
    e->counts = calloc(e->n_cpus, sizeof(*e->counts));
    return e->counts != NULL;
}

/* ---- beginning and end ---- */

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
    e->learned = e->policy.begin != NULL ? calloc(n, sizeof(*e->learned)) : NULL;
    for (size_t i = 0; e->learned != NULL && i < n; i++)
        e->policy.begin(&e->learned[i]);
    return e->tasks != NULL && (e->learned != NULL || e->policy.begin == NULL);
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
