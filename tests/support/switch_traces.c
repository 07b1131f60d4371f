/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/switch_traces.h"

#include <math.h>

#include "tests/support/random_numbers.h"

#define GHZ 3.0
#define IPC 2.0
#define BURST_US 12.0
#define BESIDE 0.65
#define CHAIN_SHARE 0.25
#define STEPS 16 /* of a sample at full rate */

struct recording {
    const struct switch_plan *plan;
    struct rng rng;
    uint32_t run;
    double scale;
    bool busy;
    double changes_us; /* the sibling's next change */
};

double switch_scale(const struct switch_plan *plan, unsigned repetition)
{
    struct rng r;
    rng_init(&r, plan->seed, 3000 + repetition);
    return 1 + plan->spread * rng_normal(&r);
}

static struct switch_piece piece_at(const struct recording *r, double us)
{
    struct switch_piece now = {0, 1, 1};
    for (int i = 0; us >= 0 && i < SWITCH_PIECES_MAX && r->plan->piece[i].until_us > 0; i++) {
        now = r->plan->piece[i];
        if (us < now.until_us * r->scale)
            return now;
    }
    now.rate = 1;
    return now;
}

static double beside_at(struct recording *r, double us)
{
    const double share = r->plan->busy_share;
    while (share > 0 && us >= r->changes_us) {
        r->busy = !r->busy;
        r->changes_us -= (r->busy ? 1 : (1 - share) / share) * BURST_US * log(1 - rng_unit(&r->rng));
    }
    return r->busy ? BESIDE : 1;
}

static int append(struct recording *r, struct trace *t, double end, double ipc, double clock, bool chain)
{
    if (trace_append(t, r->run, end))
        return -1;
    t->channel[TRACE_IPC][t->n - 1] = (float)ipc;
    if (chain)
        t->channel[TRACE_FREQ][t->n - 1] = (float)(GHZ * clock * (1 + r->plan->chain_noise * rng_normal(&r->rng)));
    return 0;
}

static int record(struct recording *r, struct trace *t)
{
    const struct switch_plan *plan = r->plan;
    double begin = -plan->before_us - plan->work_us * (plan->grid ? 0 : rng_unit(&r->rng)), last = begin, done = 0;
    double step = plan->work_us / STEPS;
    for (long i = 0; last < plan->after_us; i++) {
        double at = begin + step * (double)i, beside = beside_at(r, at);
        struct switch_piece now = piece_at(r, at + step / 2);
        double more = now.rate * now.clock * beside * step, end = at + step;
        done += more;
        bool full = plan->grid ? (i + 1) % STEPS == 0 : done >= plan->work_us;
        if (!full)
            continue;
        double left = plan->grid ? 0 : done - plan->work_us;
        end -= more > 0 ? left / more * step : 0;
        double ipc = IPC * (done - left) / (now.clock * (end - last));
        if (append(r, t, end, ipc, now.clock, plan->grid || rng_chance(&r->rng, CHAIN_SHARE)))
            return -1;
        done = left;
        last = end;
    }
    return 0;
}

int switch_trace(const struct switch_plan *plan, struct trace *t)
{
    struct recording r = {.plan = plan};
    trace_init(t);
    rng_init(&r.rng, plan->seed, 2999);
    int bad = trace_add_run(t) || trace_add_channel(t, TRACE_FREQ) || trace_add_channel(t, TRACE_IPC) ||
              trace_set(t, "from", "a") || trace_set(t, "to", "b") ||
              (plan->grid && trace_set(t, "frequency", "instantaneous"));
    for (r.run = 0; !bad && r.run < plan->repetitions; r.run++) {
        r.scale = switch_scale(plan, r.run);
        r.busy = rng_chance(&r.rng, plan->busy_share);
        r.changes_us = -plan->before_us - 1 - BURST_US * log(1 - rng_unit(&r.rng));
        bad = record(&r, t);
    }
    if (bad)
        trace_free(t);
    return bad ? -1 : 0;
}
