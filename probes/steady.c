/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One kernel, long enough to settle, then sampled. Long stretches are run in pieces, because a machine may bound the
 * length of a repetition: between two pieces a core rests for some microseconds, which the last piece makes up for.
 */
#include "probes/steady.h"

#include <math.h>
#include <string.h>

/* The kernel helper masks interrupts for at most 10 ms (drivers/helper/kmod/uapi.h): half of that is safe. */
#define PIECE_US 5000.0
enum { ATTEMPTS = 4 }; /* for each repetition wanted, the first included */

void steady_defaults(struct steady_setup *s, const struct payload *kernel)
{
    memset(s, 0, sizeof *s);
    s->kernel = *kernel;
    s->machine.cpu = -1;
    s->runs = 5;
    s->settle_us = 20000;
    s->before_us = 5000;
    s->observe_us = 4000;
    s->period_us = 20;
    s->licenses = true;
}

/* Until it has settled. Nothing of it is recorded, so that it does not matter whether it was disturbed. */
static int probe_steady_settle(struct machine *m, void *context, struct repetitions *out, struct machine_error *err)
{
    const struct steady_setup *s = context;
    int status = MACHINE_OK;
    for (double left = s->settle_us; left > 0 && !status; left -= PIECE_US) {
        const struct segment segment = {s->kernel, fmin(left, PIECE_US), false};
        struct run_request request = {.segments = &segment, .n_segments = 1};
        struct recording unused;
        status = m->ops->run(m, &request, &unused, err);
    }
    if (!status &&
        (trace_set(&out->trace, "kernel", s->kernel.name) | trace_set_number(&out->trace, "period_us", s->period_us)))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    return status;
}

/* The common part of all plans; *settling must live as long as the plan. */
static struct repetitions_plan steady_plan(const struct steady_setup *s, struct steady_setup *settling)
{
    struct repetitions_plan plan = {.machine = s->machine,
                                    .wanted = s->runs,
                                    .attempts = ATTEMPTS * s->runs,
                                    .progress = s->progress,
                                    .data = s->data,
                                    .first = probe_steady_settle,
                                    .context = settling};
    *settling = *s;
    plan.machine.period_us = s->period_us;
    return plan;
}

int steady_run(struct machine *m, const struct steady_setup *s, struct repetitions *out, struct machine_error *err)
{
    const double run_in = repetitions_run_in_us(s->period_us);
    const struct segment segments[2] = {{s->kernel, s->before_us, false}, {s->kernel, run_in + s->observe_us, true}};
    const unsigned before = s->before_us > 0;
    struct steady_setup settling;
    struct repetitions_plan plan = steady_plan(s, &settling);
    plan.licenses = s->licenses;
    plan.events = s->events;
    plan.n_events = s->n_events;
    plan.segments = before ? segments : segments + 1;
    plan.n_segments = 1 + before;
    plan.zero_segment = before;
    plan.from_us = run_in;
    memset(out, 0, sizeof *out);
    trace_init(&out->trace);
    if (s->observe_us < s->period_us)
        return machine_fail(err, MACHINE_CANNOT, "use a longer --observe or a shorter --period",
                            "no sample fits: %g us are observed with a sampling period of %g us", s->observe_us,
                            s->period_us);
    return repetitions_run(m, &plan, out, err);
}
