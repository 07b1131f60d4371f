/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One kernel, long enough to settle, then sampled. Long stretches are run in pieces, because a machine may bound the
 * length of a repetition: between two pieces a core rests for some microseconds, which the last piece makes up for.
 */
#include "probes/steady.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The kernel helper masks interrupts for at most 10 ms (drivers/helper/kmod/uapi.h); a piece of half of that is safe.
 * */
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

/* Nothing of it is recorded, so that it does not matter whether it was disturbed. */
static int probe_steady_settle(struct machine *m, const struct steady_setup *s, struct machine_error *err)
{
    int status = MACHINE_OK;
    for (double left = s->settle_us; left > 0 && !status; left -= PIECE_US) {
        const struct segment segment = {s->kernel, fmin(left, PIECE_US), false};
        struct run_request request = {.segments = &segment, .n_segments = 1};
        struct recording unused;
        status = m->ops->run(m, &request, &unused, err);
    }
    return status;
}

static int probe_steady_note(struct trace *t, const struct steady_setup *s)
{
    char number[40];
    snprintf(number, sizeof number, "%.15g", s->period_us);
    return trace_set(t, "kernel", s->kernel.name) | trace_set(t, "period_us", number);
}

static int probe_steady_record(struct machine *m, const struct steady_setup *s, const struct counter_spec *counters,
                               size_t n, struct transition_result *out, struct machine_error *err)
{
    struct machine_info info;
    double run_in = transition_run_in_us(s->period_us);
    const struct segment segments[2] = {{s->kernel, s->before_us, false}, {s->kernel, run_in + s->observe_us, true}};
    m->ops->info(m, &info);
    if (transition_begin_trace(&out->trace, &info, counters, n, s->events, s->n_events, s->machine.seed) ||
        probe_steady_note(&out->trace, s))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    unsigned done = 0;
    for (unsigned run = 0; done < s->runs && run < ATTEMPTS * s->runs; run++) {
        struct run_request request = {.segments = s->before_us > 0 ? segments : segments + 1,
                                      .n_segments = s->before_us > 0 ? 2 : 1,
                                      .zero_segment = s->before_us > 0,
                                      .repetition = run};
        struct recording rec;
        bool kept;
        int status = m->ops->run(m, &request, &rec, err);
        if (status)
            return status;
        if (transition_keep(out, run, &rec, counters, n, info.tsc_hz, run_in, &kept))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        done += kept;
        if (s->progress && s->progress(s->data, done, s->runs))
            break;
    }
    return MACHINE_OK;
}

int steady_run(struct machine *m, const struct steady_setup *s, struct transition_result *out,
               struct machine_error *err)
{
    struct counter_spec counters[TRANSITION_COUNTERS_MAX];
    struct machine_setup setup = s->machine;
    memset(out, 0, sizeof *out);
    trace_init(&out->trace);
    if (s->observe_us < s->period_us)
        return machine_fail(err, MACHINE_CANNOT, "observe for longer, or sample more often",
                            "no sample fits: %g us are observed, at a sample period of %g us", s->observe_us,
                            s->period_us);
    size_t n = transition_counters(m, s->licenses, s->events, s->n_events, counters);
    setup.period_us = s->period_us;
    setup.counters = counters;
    setup.n_counters = n;
    setup.max_samples = (size_t)((transition_run_in_us(s->period_us) + s->observe_us) / s->period_us * 1.1) + 64;
    int status = transition_check_events(m, s->n_events, err);
    if (!status)
        status = m->ops->prepare(m, &setup, err);
    if (status)
        return status;
    status = probe_steady_settle(m, s, err);
    if (!status)
        status = probe_steady_record(m, s, counters, n, out, err);
    if (!status)
        status = transition_note_remarks(m, out, err);
    m->ops->finish(m);
    if (status)
        transition_result_free(out);
    return status;
}
