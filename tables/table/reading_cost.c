/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/table/reading_cost.h"

#include "analysis/stats/robust.h"
#include "probes/overhead.h"
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

static int reading_cost_add(void *data, unsigned run, const struct work_curve *c, const char *invalid)
{
    struct sections *s = data;
    size_t first = c ? c->zero + 1 : 0, n = 0;
    (void)run;
    while (c && first < c->n && c->time_us[first] < SKIPPED_US)
        first++;
    if (invalid || c->n < first + SECTIONS_LEAST)
        return 0;
    for (size_t i = first; i < c->n; i++)
        c->scratch[n++] = (c->time_us[i] - c->time_us[i - 1]) / (c->work[i] - c->work[i - 1]);
    /* wild sections are interrupted ones; those left differ by chance alone, so that their mean work is that of all */
    double cost = robust_centre(c->scratch, n, c->scratch + n);
    s->work[s->n] = (c->work[c->n - 1] - c->work[first - 1]) / (double)n;
    s->time[s->n] = cost * s->work[s->n];
    s->n++;
    return 0;
}

int reading_cost(struct machine *m, const struct machine_setup *setup, const struct payload *code, double warmup_us,
                 double *us, struct machine_error *err)
{
    struct sections near = {.n = 0}, far = {.n = 0};
    struct overhead_setup s = {.machine = *setup,
                               .first = *code,
                               .second = *code,
                               .runs = RUNS,
                               .warmup_us = warmup_us,
                               .observe_us = OBSERVE_US,
                               .period_us = NEAR_US};
    *us = 0;
    if (m->ops->lacks(m, COUNTER_CYCLES, NULL))
        return MACHINE_OK;
    int status = overhead_run(m, &s, reading_cost_add, &near, err);
    s.period_us = FAR_US;
    if (status == MACHINE_OK)
        status = overhead_run(m, &s, reading_cost_add, &far, err);
    double time = order_median(near.time, near.n), work = order_median(near.work, near.n);
    /* the time of an instruction */
    double each = (order_median(far.time, far.n) - time) / (order_median(far.work, far.n) - work);
    double cost = time - work * each;
    if (status == MACHINE_OK && cost > 0 && cost < MOST_US)
        *us = cost;
    return status;
}
