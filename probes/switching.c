/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of switches, migrations or faults, and what they say of their cost. */
#include "probes/switching.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/robust.h"
#include "probes/stop.h"
#include "util/clock.h"
#include "util/splitmix64.h"

/* The limits are looked at after so many rounds each, some tenths of a second, in which the neighbors of a guest come
 * and go; limits that are looked at all the time are at some time narrower than they should be. */
enum { LOOK_EVERY = 500 };

struct rounds {
    struct machine *machine;
    const struct switching_setup *s;
    double *cost, *null, *scratch; /* of each round that is used; room for s->most */
    double begun, took_s;
    struct switching_result *out;
};

static int one_round(struct rounds *r, unsigned round, struct machine_error *err)
{
    const struct switching_setup *s = r->s;
    struct switching_request request = {.what = s->what, .repetition = round};
    struct switching_seen seen;
    splitmix64_order(request.order, SWITCHING_BLOCKS, splitmix64(s->machine.seed + round * SPLITMIX64_STEP));
    const int status = r->machine->ops->switching(r->machine, &request, &seen, err);
    if (status != MACHINE_OK)
        return status;
    r->took_s += 1e-6 * seen.took_us;
    r->out->to_cpu = seen.to_cpu;
    if (seen.happened) {
        r->cost[r->out->n] = seen.us[SWITCHING_WORK] - seen.us[SWITCHING_BASE];
        r->null[r->out->n++] = seen.us[SWITCHING_AGAIN] - seen.us[SWITCHING_BASE];
    } else {
        r->out->discarded++;
    }
    return MACHINE_OK;
}

static struct estimate median_of(const struct rounds *r, const double *x)
{
    memcpy(r->scratch, x, r->out->n * sizeof *x);
    return robust_median(r->scratch, r->out->n);
}

/* Half of the width of the limits of the cost, as a fraction of it. */
static double relative_half(const struct rounds *r)
{
    const struct estimate us = median_of(r, r->cost);
    return estimate_half(&us) / fabs(us.value);
}

static int run_rounds(struct rounds *r, struct machine_error *err)
{
    const struct switching_setup *s = r->s;
    const struct stop_rule rule = {s->least, s->most, s->seconds, s->enough};
    double half = INFINITY;
    int status = MACHINE_OK;
    for (unsigned round = 0; !stop_here(&rule, round, machine_elapsed(r->machine, r->begun, r->took_s), half);) {
        status = one_round(r, round++, err);
        if (status != MACHINE_OK)
            return status;
        if (s->progress != NULL && s->progress(s->data, round, s->most))
            return machine_fail(err, MACHINE_FAILED, "", "stopped");
        if (s->enough > 0 && round % LOOK_EVERY == 0)
            half = relative_half(r);
    }
    r->out->us = median_of(r, r->cost);
    r->out->null_us = median_of(r, r->null);
    return MACHINE_OK;
}

static int run_prepared(struct machine *m, const struct switching_setup *s, struct switching_result *out,
                        struct machine_error *err)
{
    struct rounds r = {.machine = m, .s = s, .out = out, .begun = clock_seconds(CLOCK_MONOTONIC)};
    r.cost = calloc(s->most, 3 * sizeof *r.cost);
    if (r.cost == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    r.null = r.cost + s->most;
    r.scratch = r.null + s->most;
    const int status = run_rounds(&r, err);
    free(r.cost);
    return status;
}

int switching_run(struct machine *m, const struct switching_setup *s, struct switching_result *out,
                  struct machine_error *err)
{
    *out = (struct switching_result){.us = {NAN, NAN, NAN}, .null_us = {NAN, NAN, NAN}, .to_cpu = -1};
    if (m->ops->switching == NULL)
        return machine_fail(err, MACHINE_CANNOT, "use --machine timing, perf or helper, or model:cloud-guest",
                            "this machine cannot measure what switches cost");
    struct machine_setup setup = s->machine;
    setup.period_us = 1; /* nothing is sampled */
    setup.max_samples = 1;
    int status = m->ops->prepare(m, &setup, err);
    if (status != MACHINE_OK)
        return status;
    status = run_prepared(m, s, out, err);
    m->ops->finish(m);
    return status;
}
