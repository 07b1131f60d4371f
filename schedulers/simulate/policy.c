/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a core holds a level that it does not need any more: doc/simulation.md, "Frequency policies". */
#include "schedulers/simulate/engine.h"
#include "util/splitmix64.h"

const char *const sim_policy_names[SIM_POLICIES] = {"stock", "timeout", "oracle", "software", "learned", "never"};

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
        until = software_hold(c, e->now);
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
