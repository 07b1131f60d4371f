/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goes up at once if and only if that pays, for it sees the rows to come (dissertation, section 5.3). */
#include "schedulers/simulate/engine.h"

#include <math.h>

enum { HORIZON = 16 }; /* break-even times of work */

/* A CPU that is played into the future. */
struct future_cpu {
    double left; /* of the present piece: work, or idle time */
    double done; /* work */
    bool working, ended;
    unsigned stall;
    unsigned demand; /* now */
    bool trigger;    /* `left` leads up to the point where it demands `after` */
    unsigned after;
    double behind; /* work that is left after it */
    size_t next;   /* row to come */
    double gained; /* time, had it been done at the faster level */
};

struct future {
    struct engine *e;
    unsigned first, n;
    unsigned v, j;
    struct future_cpu cpu[SIM_CORE_CPUS_MAX];
};

/* Work that begins, with the point at which it demands its level. */
static void future_work(const struct engine *e, struct future_cpu *f, unsigned class, unsigned ipc, double left,
                        bool begins)
{
    unsigned level = e->class_level[class];
    double count = level > 0 && ipc > 0 ? e->trigger[class] : 0;
    f->working = true;
    f->trigger = false;
    f->left = left;
    f->demand = level;
    if (count == 0 || !begins)
        return;
    double after = floor(count / (ipc / 1000.0) * 1e7 + 0.5);
    f->demand = 0;
    if (after < left) {
        f->trigger = true;
        f->after = level;
        f->left = after;
        f->behind = left - after;
    }
}

static void future_next(struct future *u, unsigned i)
{
    struct engine *e = u->e;
    struct future_cpu *f = &u->cpu[i];
    if (f->trigger) {
        f->trigger = false;
        f->demand = f->after;
        f->left = f->behind;
        return;
    }
    const struct sim_row *row;
    do
        row = e->feed.peek(e->feed.self, e->member[u->first + i], f->next++);
    while (row != NULL && row->ps == 0);
    if (row == NULL || row->task == SIM_IDLE) {
        f->working = false;
        f->ended = row == NULL;
        f->demand = 0;
        f->left = row == NULL ? INFINITY : (double)row->ps;
        return;
    }
    f->stall = row->stall;
    future_work(e, f, row->class, row->ipc, (double)row->ps * e->workload->recorded, true);
}

static void future_begin(struct future *u, unsigned i)
{
    const struct engine_cpu *now = &u->e->cpu[u->e->member[u->first + i]];
    struct future_cpu *f = &u->cpu[i];
    *f = (struct future_cpu){.working = now->task != SIM_IDLE, .ended = !now->playing, .stall = now->stall};
    if (!f->working) {
        f->left = now->due == SIM_FOREVER ? INFINITY : (double)(now->due - u->e->now);
        return;
    }
    f->left = (double)now->left;
    f->demand = now->demand;
    if (now->trigger_left >= 0) {
        f->trigger = true;
        f->after = now->level;
        f->left = (double)(now->left - now->trigger_left);
        f->behind = (double)now->trigger_left;
    }
}

static unsigned future_demand(const struct future *u)
{
    unsigned demand = 0;
    for (unsigned i = 0; i < u->n; i++)
        demand = u->cpu[i].demand > demand ? u->cpu[i].demand : demand;
    return demand;
}

/* What is left of a CPU's piece, in ps at level v. */
static double future_due(const struct future *u, const struct future_cpu *f)
{
    return f->working ? f->left / engine_speed(u->e, u->v, f->stall) : f->left;
}

/* All CPUs go on for dt ps. */
static void future_advance(struct future *u, double dt, double *gained, double *worked)
{
    *gained = *worked = 0;
    for (unsigned i = 0; i < u->n; i++) {
        struct future_cpu *f = &u->cpu[i];
        double due = future_due(u, f);
        double slow = engine_speed(u->e, u->v, f->stall), fast = engine_speed(u->e, u->j, f->stall);
        if (f->working) {
            double done = due <= dt ? f->left : dt * slow;
            f->left = due <= dt ? 0 : f->left - done;
            f->done += done / slow;
            f->gained += done * (1 / slow - 1 / fast);
        } else if (!f->ended) {
            f->left = due <= dt ? 0 : f->left - dt;
        }
        *gained += f->gained;
        *worked = fmax(*worked, f->done);
    }
    for (unsigned i = 0; i < u->n; i++)
        while (u->cpu[i].left <= 0)
            future_next(u, i);
}

static unsigned future_working(const struct future *u)
{
    unsigned n = 0;
    for (unsigned i = 0; i < u->n; i++)
        n += u->cpu[i].working;
    return n;
}

static double down_ps(struct engine *e, unsigned from, unsigned to)
{
    const struct sim_change *change = to > from ? sim_params_down(e->params, from, to, SIM_NONE, e->n_active, NULL)
                                                : NULL;
    return change != NULL ? change->total_ps : 0;
}

/* The most that it can cost to come down again from the level. */
static double worst_down(struct engine *e, unsigned from)
{
    double worst = 0;
    for (unsigned to = from + 1; to < e->n_levels; to++)
        worst = fmax(worst, down_ps(e, from, to));
    return worst;
}

static bool pays(struct future *u, unsigned core)
{
    struct engine *e = u->e;
    double gained = 0, worked = 0, up = (double)sim_params_up(e->params, u->v, u->j, e->n_active, NULL);
    int64_t breakeven = policy_breakeven(e, u->j, u->v);
    double enough = u->n * (up + worst_down(e, u->j)), horizon = HORIZON * (double)breakeven;
    if (breakeven == SIM_FOREVER)
        return false;
    u->first = e->core[core].first;
    for (unsigned i = 0; i < u->n; i++)
        future_begin(u, i);
    double lost = future_working(u) * up;
    while (future_demand(u) <= u->j) {
        double next = INFINITY;
        for (unsigned i = 0; i < u->n; i++)
            next = fmin(next, future_due(u, &u->cpu[i]));
        if (next == INFINITY)
            return gained > lost;
        future_advance(u, next, &gained, &worked);
        if (gained > enough)
            return true;
        if (worked > horizon)
            return false;
    }
    unsigned d = future_demand(u);
    lost += future_working(u) * (down_ps(e, u->j, d) - down_ps(e, u->v, d));
    return gained > lost;
}

unsigned oracle_target(struct engine *e, unsigned core, unsigned v, unsigned b)
{
    struct future u = {.e = e, .n = e->core[core].n_cpus, .v = v};
    for (unsigned i = 0; i < u.n; i++) /* what they have done until now */
        engine_left(e, e->member[e->core[core].first + i]);
    for (u.j = b; u.j < v; u.j++)
        if (pays(&u, core))
            return u.j;
    return v;
}
