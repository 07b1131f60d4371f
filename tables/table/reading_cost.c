/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/table/reading_cost.h"

#include <stdlib.h>

#include "analysis/stats/robust.h"
#include "probes/transition.h"
#include "util/order.h"

#define NEAR_US 1.0
#define FAR_US 10.0
#define OBSERVE_US 200.0
#define SKIPPED_US 10.0 /* the first sections run the sampling loop in */
#define MOST_US 1.0     /* a dozen RDPMC take less: what seems to take longer is something else */
enum { RUNS = 16, SECTIONS_LEAST = 8 };

/* Sections of one length: how long they take and what is done in them, a repetition each. */
struct sections {
    size_t n;
    double time[RUNS], work[RUNS];
};

/* Takes samples first..past, of one repetition. x: scratch of two for each. */
static void reading_cost_add(const struct trace *t, size_t first, size_t past, double *x, struct sections *s)
{
    double done = 0;
    size_t n = 0;
    first = trace_first_after(t, first, past, SKIPPED_US);
    if (past < first + 1 + SECTIONS_LEAST || s->n == RUNS)
        return;
    for (size_t i = first + 1; i < past; i++) {
        double rate = 1e3 * (double)t->channel[TRACE_IPC][i] * (double)t->channel[TRACE_FREQ][i]; /* a us */
        x[n++] = 1 / rate;
        done += rate * (t->time_us[i] - t->time_us[i - 1]);
    }
    /* wild sections are interrupted ones; those left differ by chance alone, so that their mean work is that of all */
    s->work[s->n] = done / (double)n;
    s->time[s->n] = robust_centre(x, n, x + n) * s->work[s->n];
    s->n++;
}

static int sections_of(struct machine *m, const struct transition_setup *setup, struct sections *out,
                       struct machine_error *err)
{
    struct repetitions r;
    int status = transition_run(m, setup, NULL, NULL, &r, err);
    if (status)
        return status;
    const struct trace *t = &r.trace;
    double *x = malloc(2 * (t->n + 1) * sizeof *x);
    for (size_t first = 0, past; x && first < t->n; first = past) {
        past = trace_run_end(t, first);
        reading_cost_add(t, first, past, x, out);
    }
    if (!x)
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    free(x);
    repetitions_free(&r);
    return status;
}

int reading_cost(struct machine *m, const struct machine_setup *setup, const struct payload *code, double warmup_us,
                 double *us, struct machine_error *err)
{
    struct sections near = {.n = 0}, far = {.n = 0};
    struct transition_setup s;
    transition_defaults(&s, code, code);
    s.machine = *setup;
    s.runs = RUNS;
    s.warmup_us = warmup_us;
    s.before_us = 0;
    s.observe_us = OBSERVE_US;
    s.period_us = NEAR_US;
    s.no_volts = true;
    *us = 0;
    if (m->ops->lacks(m, COUNTER_CYCLES, NULL))
        return MACHINE_OK;
    int status = sections_of(m, &s, &near, err);
    s.period_us = FAR_US;
    if (status == MACHINE_OK)
        status = sections_of(m, &s, &far, err);
    double time = order_median(near.time, near.n), work = order_median(near.work, near.n);
    /* the time of an instruction */
    double each = (order_median(far.time, far.n) - time) / (order_median(far.work, far.n) - work);
    double cost = time - work * each;
    if (status == MACHINE_OK && cost > 0 && cost < MOST_US)
        *us = cost;
    return status;
}
