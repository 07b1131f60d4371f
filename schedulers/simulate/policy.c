/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frequency policies: the time for which a core holds a level that it does not need any more: doc/simulation.md,
 * "Frequency policies". */
#include <math.h>

#include "output/export/policy_constants.h"
#include "schedulers/simulate/engine.h"
#include "util/splitmix64.h"

/* ---- software ---- */

/*
 * Intel's policy reimplemented in software (Khalil, "Analysis and Optimization of Dynamic Voltage and Frequency Scaling
 * for AVX Workloads Using a Software-Based Reimplementation", 2019): an interrupt at the first 512-bit instruction, and
 * a look at the floating-point throughput every 100 us.
 */
static const int64_t look_ps = POLICY_LOOK * SIM_PS_PER_NS, release_ps = POLICY_RELEASE * SIM_PS_PER_NS;

static bool runs_512(const struct engine_cpu *u)
{
    return u->task != SIM_IDLE && (u->class == SIM_512LIGHT || u->class == SIM_512HEAVY);
}

/* More than one 512-bit floating-point instruction a cycle since the last look. ipc is in thousandths. */
static void software_look(struct engine *e, struct engine_core *c)
{
    c->is_heavy = c->is_heavy || c->instructions > 1000 * c->cycles;
    c->instructions = c->cycles = 0;
    c->look_at = e->now + look_ps;
}

static void software_update(struct engine *e, unsigned core)
{
    struct engine_core *c = &e->core[core];
    bool running = false;
    unsigned slowest = e->n_levels - 1;
    for (unsigned i = 0; i < c->n_cpus; i++)
        running = running || runs_512(&e->cpu[e->member[c->first + i]]);
    if (running && !c->running_512) {
        engine_core_flush(e, core);
        c->running_512 = true;
        c->is_heavy = false;
        c->instructions = c->cycles = 0;
        c->first_look = e->now;
        c->look_at = e->now + look_ps;
    } else if (running && c->look_at <= e->now) {
        engine_core_flush(e, core);
        software_look(e, c);
    } else if (!running && c->running_512) {
        c->running_512 = false;
        c->look_at = SIM_FOREVER;
    }
    unsigned demand = c->is_heavy ? 2 : 1;
    for (unsigned i = 0; i < c->n_cpus; i++) {
        struct engine_cpu *u = &e->cpu[e->member[c->first + i]];
        u->demand = (uint8_t)(!runs_512(u) ? 0 : demand < slowest ? demand : slowest);
    }
}

/* The time until which the level is held. */
static int64_t software_until(const struct engine_core *c, int64_t now)
{
    int64_t after = now + release_ps - c->first_look;
    return c->first_look + (after + look_ps - 1) / look_ps * look_ps;
}

/* ---- learned ---- */

/*
 * Learned from each task's past gaps: seven timeouts compete, as fractions of the break-even time, from "at once" to
 * "until it is needed again". Each task remembers the mean loss that each of them would have had after gaps like its
 * last one: of four lengths. Losses are in units of what a change up and down costs: a gap of g break-even times costs
 * g at the slow level, or the timeout and 1 (dissertation, eq. 5.2). Timeouts that compete: Helmbold, Long, Sconyers
 * and Sherrod, "Adaptive disk spin-down for mobile computers", Mobile Networks and Applications 5, 2000.
 */
enum {
    ONE = 4096,    /* a loss of 1 */
    LOSS_MOST = 8, /* a long gap must not outweigh all that follow */
    GAPS = 32,     /* the mean is over about the last so many */
    UNTIL_NEEDED = 1 << 20,
    TWO_COMPETITIVE = 3, /* the timeout that is best where nothing is known */
};

/* Timeouts in quarters of the break-even time. */
static const int32_t quarters[LEARNED_TIMEOUTS] = {0, 1, 2, 4, 8, 16, UNTIL_NEEDED};

static void learned_begin(struct learned_task *t)
{
    *t = (struct learned_task){.context = 0};
    for (unsigned c = 0; c < LEARNED_CONTEXTS; c++)
        for (unsigned i = 0; i < LEARNED_TIMEOUTS; i++)
            t->loss[c][i] = i == TWO_COMPETITIVE ? ONE / 2 : ONE;
}

/* The time for which to hold a level, in ps, where it pays to leave it for `breakeven` ps; SIM_FOREVER: until it is
 * needed. */
static int64_t learned_hold(const struct learned_task *t, int64_t breakeven)
{
    const uint16_t *loss = t->loss[t->context];
    unsigned best = TWO_COMPETITIVE;
    for (unsigned i = 0; i < LEARNED_TIMEOUTS; i++)
        best = loss[i] < loss[best] ? i : best;
    return breakeven == SIM_FOREVER || quarters[best] == UNTIL_NEEDED ? SIM_FOREVER : breakeven / 4 * quarters[best];
}

/* The gap that followed, in ps of work. */
static void learned_gap(struct learned_task *t, int64_t gap, int64_t breakeven)
{
    if (breakeven == SIM_FOREVER || breakeven <= 0)
        return;
    double length = 4.0 * (double)gap / (double)breakeven; /* in quarters */
    uint16_t *loss = t->loss[t->context];
    uint8_t *n = &t->gaps[t->context];
    *n = (uint8_t)(*n < GAPS ? *n + 1 : GAPS);
    for (unsigned i = 0; i < LEARNED_TIMEOUTS; i++) {
        double lost = length <= quarters[i] ? length / 4 : quarters[i] / 4.0 + 1;
        int now = lost < LOSS_MOST ? (int)(lost * ONE) : LOSS_MOST * ONE;
        loss[i] = (uint16_t)(loss[i] + (now - loss[i]) / (*n + 1)); /* the initial value counts as one gap */
    }
    t->context = length < 0.25 ? 0 : length < 1 ? 1 : length < 4 ? 2 : 3;
}

/* ---- oracle ---- */

/* Goes up at once if and only if that pays, for it sees the rows to come (dissertation, section 5.3). */

/* How far the oracle looks ahead, in break-even times of work: beyond, a change up has hardly ever paid. */
enum { HORIZON = 16 };

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

/* The next event of a CPU, in ps from now on. */
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

/* The break-even time of two levels with the present number of active cores. */
static int64_t engine_breakeven(struct engine *e, unsigned fast, unsigned slow)
{
    int64_t *known = &e->breakeven[((size_t)fast * e->n_levels + slow) * (e->n_max + 1) + e->n_active];
    if (*known < 0)
        *known = sim_params_breakeven(e->params, fast, slow, e->n_active, NULL);
    e->failed = e->failed || *known < 0;
    return *known;
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

static unsigned oracle_target(struct engine *e, unsigned core, unsigned v, unsigned b)
{
    struct future u = {.e = e, .first = e->core[core].first, .n = e->core[core].n_cpus, .v = v};
    for (unsigned i = 0; i < u.n; i++) /* account for the work done until now */
        engine_left(e, e->member[u.first + i]);
    for (u.j = b; u.j < v; u.j++)
        if (pays(&u))
            return u.j;
    return v;
}

/* ---- all of them ---- */

static int64_t stock_wait(struct engine *e, unsigned core, unsigned a, unsigned b)
{
    struct sim_wait *w = &e->wait[a][b];
    if (!e->wait_known[a][b])
        e->failed = sim_params_wait(e->params, a, b, w, NULL) != 0 || e->failed;
    e->wait_known[a][b] = true;
    uint64_t z = splitmix64(e->options->seed ^ splitmix64(((uint64_t)core << 32) + e->core[core].falls++));
    return (double)(z >> 11) * 0x1p-53 < w->long_share ? w->long_ps : w->usual_ps;
}

/* The core's time with work to do. */
static int64_t busy_time(const struct engine *e, const struct engine_core *c)
{
    return c->busy_ps + (c->n_working > 0 ? e->now - c->busy_since : 0);
}

static int64_t learned_wait(struct engine *e, struct engine_core *c, unsigned a, unsigned b, uint32_t task)
{
    c->fell_task = task;
    c->fell_at = busy_time(e, c);
    c->fell_from = a;
    c->fell_to = b;
    return task == SIM_IDLE ? 0 : learned_hold(&e->learned[task], engine_breakeven(e, b, a));
}

static void learned_rose(struct engine *e, unsigned core, unsigned to)
{
    struct engine_core *c = &e->core[core];
    if (c->fell_task == SIM_IDLE || to <= c->fell_to)
        return;
    learned_gap(&e->learned[c->fell_task], busy_time(e, c) - c->fell_at, engine_breakeven(e, c->fell_to, c->fell_from));
    c->fell_task = SIM_IDLE;
}

static void oracle_fell(struct engine *e, unsigned core, unsigned b)
{
    struct engine_core *c = &e->core[core];
    unsigned v = c->phase != 0 ? c->target : c->level, j = v > b ? oracle_target(e, core, v, b) : b;
    for (unsigned k = b + 1; k < e->n_levels; k++)
        c->hold[k] = k > j ? e->now : SIM_FOREVER;
}

static void policy_fell(struct engine *e, unsigned core, unsigned a, unsigned b, uint32_t task)
{
    struct engine_core *c = &e->core[core];
    int64_t until = SIM_FOREVER;
    switch (e->options->policy) {
    case SIM_STOCK:
        until = engine_later(e->now, stock_wait(e, core, a, b));
        break;
    case SIM_TIMEOUT:
        until = engine_later(e->now, e->options->timeout_given ? e->options->timeout_ps : engine_breakeven(e, b, a));
        break;
    case SIM_SOFTWARE:
        until = software_until(c, e->now);
        break;
    case SIM_LEARNED:
        until = engine_later(e->now, learned_wait(e, c, a, b, task));
        break;
    case SIM_ORACLE:
        oracle_fell(e, core, b);
        return;
    case SIM_NEVER:
    case SIM_POLICIES:
        break;
    }
    for (unsigned k = b + 1; k <= a; k++)
        c->hold[k] = until;
}

struct engine_policy policy_of(enum sim_policy policy)
{
    return (struct engine_policy){.fell = policy_fell,
                                  .rose = policy == SIM_LEARNED ? learned_rose : NULL,
                                  .update = policy == SIM_SOFTWARE ? software_update : NULL,
                                  .begin = policy == SIM_LEARNED ? learned_begin : NULL};
}
