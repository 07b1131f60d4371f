/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goes up at once if and only if that pays, for it sees the rows to come (dissertation, section 5.3). */
#include <math.h>

#include "schedulers/simulate/engine.h"

enum { HORIZON = 16 }; /* break-even times of work */

/* A CPU that is played into the future. */
struct future_cpu {
    int64_t left;          /* work, or idle time */
    int64_t trigger_left;  /* as in struct engine_cpu */
    size_t next;           /* row to come */
    double worked, gained; /* ps at level v; ps that level j would have saved */
    unsigned stall, level, demand;
    uint8_t class;
    bool working, ended;
};

struct future {
    struct engine *e;
    unsigned first, n;
    unsigned v, j;
    struct future_cpu cpu[SIM_CORE_CPUS_MAX];
};

static void future_row(struct future *u, unsigned i)
{
    struct engine *e = u->e;
    struct future_cpu *f = &u->cpu[i];
    const struct sim_row *row;
    do
        row = e->feed.peek(e->feed.self, e->member[u->first + i], f->next++);
    while (row != NULL && row->ps == 0);
    f->trigger_left = -1;
    f->ended = row == NULL;
    f->working = row != NULL && row->task != SIM_IDLE;
    f->demand = 0;
    f->left = row == NULL ? SIM_FOREVER : row->ps;
    if (!f->working)
        return;
    f->left *= e->workload->recorded;
    f->stall = row->stall;
    f->class = row->class;
    f->level = e->class_level[row->class];
    f->trigger_left = engine_trigger(e, row->class, row->ipc, f->left);
    f->demand = f->trigger_left == f->left ? f->level : 0;
    if (f->trigger_left == f->left)
        f->trigger_left = -1;
}

static void future_begin(struct future *u, unsigned i)
{
    const struct engine_cpu *now = &u->e->cpu[u->e->member[u->first + i]];
    u->cpu[i] = (struct future_cpu){.working = now->task != SIM_IDLE,
                                    .ended = !now->playing,
                                    .stall = now->stall,
                                    .class = now->class,
                                    .level = now->level,
                                    .demand = now->demand,
                                    .trigger_left = now->trigger_left,
                                    .left = now->task != SIM_IDLE     ? now->left
                                            : now->due == SIM_FOREVER ? SIM_FOREVER
                                                                      : now->due - u->e->now};
}

static unsigned future_demand(const struct future *u, enum sim_class *class)
{
    unsigned demand = 0;
    for (unsigned i = 0; i < u->n; i++)
        if (u->cpu[i].demand > demand) {
            demand = u->cpu[i].demand;
            *class = (enum sim_class)u->cpu[i].class;
        }
    return demand;
}

/* When something happens on a CPU next, in ps from now on. */
static int64_t future_due(const struct future *u, const struct future_cpu *f)
{
    if (!f->working)
        return f->left;
    int64_t speed = engine_speed(u->e, u->v, f->stall);
    return (f->left - (f->trigger_left >= 0 ? f->trigger_left : 0) + speed - 1) / speed;
}

/* A CPU goes on for dt ps, at most to where something happens. */
static void future_advance(struct future *u, unsigned i, int64_t dt)
{
    struct future_cpu *f = &u->cpu[i];
    if (!f->working) {
        f->left -= f->ended ? 0 : dt;
        if (f->left == 0)
            future_row(u, i);
        return;
    }
    uint32_t slow = engine_speed(u->e, u->v, f->stall), fast = engine_speed(u->e, u->j, f->stall);
    int64_t done = dt * slow < f->left ? dt * slow : f->left;
    f->left -= done;
    f->worked += (double)dt;
    f->gained += (double)done * (1.0 / slow - 1.0 / fast);
    if (f->left == 0) {
        future_row(u, i);
    } else if (f->left <= f->trigger_left) {
        f->trigger_left = -1;
        f->demand = f->level;
    }
}

static unsigned future_working(const struct future *u)
{
    unsigned n = 0;
    for (unsigned i = 0; i < u->n; i++)
        n += u->cpu[i].working;
    return n;
}

static double down_ps(struct engine *e, unsigned from, unsigned to, enum sim_class class)
{
    const struct sim_change *change = to > from ? sim_params_down(e->params, from, to, class, e->n_active, NULL) : NULL;
    return change != NULL ? change->total_ps : 0;
}

/* The most that it can cost to come down again from a level. */
static double worst_down(struct engine *e, unsigned from)
{
    double worst = 0;
    for (int c = 0; c < SIM_CLASSES; c++)
        if (e->workload->class_used[c])
            worst = fmax(worst, down_ps(e, from, e->class_level[c], (enum sim_class)c));
    return worst;
}

static bool pays(struct future *u)
{
    struct engine *e = u->e;
    double up = (double)sim_params_up(e->params, u->v, u->j, e->n_active, NULL);
    int64_t breakeven = engine_breakeven(e, u->j, u->v);
    double enough = u->n * (up + worst_down(e, u->j)), horizon = HORIZON * (double)breakeven;
    enum sim_class class = SIM_NONE;
    if (breakeven == SIM_FOREVER)
        return false;
    for (unsigned i = 0; i < u->n; i++)
        future_begin(u, i);
    double lost = future_working(u) * up;
    for (;;) {
        double gained = 0, worked = 0;
        int64_t next = SIM_FOREVER;
        unsigned demand = future_demand(u, &class);
        for (unsigned i = 0; i < u->n; i++) {
            int64_t due = future_due(u, &u->cpu[i]);
            gained += u->cpu[i].gained;
            worked = fmax(worked, u->cpu[i].worked);
            next = due < next ? due : next;
        }
        if (demand > u->j)
            return gained >
                   lost + future_working(u) * (down_ps(e, u->j, demand, class) - down_ps(e, u->v, demand, class));
        if (next == SIM_FOREVER)
            return gained > lost;
        if (gained > enough)
            return true;
        if (worked > horizon)
            return false;
        for (unsigned i = 0; i < u->n; i++)
            future_advance(u, i, next);
    }
}

unsigned oracle_target(struct engine *e, unsigned core, unsigned v, unsigned b)
{
    struct future u = {.e = e, .first = e->core[core].first, .n = e->core[core].n_cpus, .v = v};
    for (unsigned i = 0; i < u.n; i++) /* what they have done until now */
        engine_left(e, e->member[u.first + i]);
    for (u.j = b; u.j < v; u.j++)
        if (pays(&u))
            return u.j;
    return v;
}
