/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a core holds a level that it does not need any more: doc/simulation.md, "Frequency policies". */
#include "schedulers/simulate/engine.h"
#include "util/splitmix64.h"

const char *const sim_policy_names[SIM_POLICIES] = {"stock", "timeout", "oracle", "software", "learned", "never"};

/* ---- software ---- */

/*
 * Intel's policy reimplemented in software (Khalil, "Analysis and Optimization of Dynamic Voltage and Frequency Scaling
 * for AVX Workloads Using a Software-Based Reimplementation", 2019): an interrupt at the first 512-bit instruction, and
 * a look at the floating-point throughput every 100 us.
 */
static const int64_t look_ps = 100 * SIM_PS_PER_US, release_ps = 666 * SIM_PS_PER_US;

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

/* How long the level is held. */
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

void policy_learned_begin(struct learned_task *t)
{
    *t = (struct learned_task){.context = 0};
    for (unsigned c = 0; c < LEARNED_CONTEXTS; c++)
        for (unsigned i = 0; i < LEARNED_TIMEOUTS; i++)
            t->loss[c][i] = i == TWO_COMPETITIVE ? ONE / 2 : ONE;
}

/* How long to hold a level, in ps, where it pays to leave it for `breakeven` ps; SIM_FOREVER: until it is needed. */
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
        loss[i] = (uint16_t)(loss[i] + (now - loss[i]) / (*n + 1)); /* what it began with counts as one gap */
    }
    t->context = length < 0.25 ? 0 : length < 1 ? 1 : length < 4 ? 2 : 3;
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
                                  .update = policy == SIM_SOFTWARE ? software_update : NULL};
}
