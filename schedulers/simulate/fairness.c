/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/fairness.h"

#include <math.h>
#include <stdlib.h>

double fairness_unfairness(double slowdown, double base)
{
    return slowdown + slowdown / base - 2;
}

/* ---- the same work without wide code ---- */

struct plain_source {
    struct sim_source *works;
    bool demands[SIM_CLASSES]; /* a level above 0 */
    bool *wide;                /* by task: it has such rows */
};

static size_t plain_read(void *self, unsigned stream, struct sim_row *out, size_t max)
{
    struct plain_source *s = self;
    size_t n = s->works->read(s->works->self, stream, out, max);
    for (size_t i = 0; i < n; i++)
        if (out[i].task != SIM_IDLE && s->demands[out[i].class]) {
            s->wide[stream] = true;
            out[i].class = SIM_NONE;
        }
    return n;
}

static void plain_rewind(void *self)
{
    struct plain_source *s = self;
    s->works->rewind(s->works->self);
}

static const char *plain_error(void *self)
{
    struct plain_source *s = self;
    return s->works->error != NULL ? s->works->error(s->works->self) : NULL;
}

/* Mean ratios over the tasks that never run wide code; NaN: there are none. */
struct victim_ratios {
    double completion, cpu;
};

static struct victim_ratios compare_victims(const struct sim_result *with, const struct sim_result *without,
                                            const bool *wide)
{
    struct victim_ratios sum = {0};
    size_t n = 0;
    for (size_t i = 0; i < with->n_tasks; i++) {
        const struct sim_times *a = &with->tasks[i], *b = &without->tasks[i];
        if (wide[i] || sim_times_cpu(b) == 0)
            continue;
        sum.completion += (double)a->end_ps / (double)b->end_ps;
        sum.cpu += (double)sim_times_cpu(a) / (double)sim_times_cpu(b);
        n++;
    }
    return (struct victim_ratios){sum.completion / (double)n, sum.cpu / (double)n}; /* 0/0: NaN */
}

static int find_ratios(struct sim_params *p, struct sim_workload *w, const struct sim_options *o,
                       const struct sim_result *with, struct victim_ratios *out, struct machine_error *err)
{
    struct plain_source source = {.works = &w->works, .wide = calloc(w->n_tasks > 0 ? w->n_tasks : 1, sizeof(bool))};
    struct sim_workload plain = *w;
    struct sim_options unseen = *o;
    struct sim_result without;
    if (source.wide == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (int c = 0; c < SIM_CLASSES; c++)
        source.demands[c] = sim_params_demand(p, (enum sim_class)c) > 0;
    plain.works = (struct sim_source){
        .read = plain_read, .rewind = plain_rewind, .error = plain_error, .close = NULL, .self = &source};
    unseen.observer = NULL;
    int status = sim_run(p, &plain, &unseen, &without, err);
    if (status == MACHINE_OK) {
        *out = compare_victims(with, &without, source.wide);
        sim_result_free(&without);
    }
    free(source.wide);
    return status;
}

/* The slowdown under scheduler fair. */
static int find_base(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, double *base,
                     struct machine_error *err)
{
    struct sim_options fair = *o;
    struct sim_result with;
    struct victim_ratios ratios;
    fair.scheduler = SIM_FAIR;
    fair.observer = NULL;
    int status = sim_run(p, w, &fair, &with, err);
    if (status != MACHINE_OK)
        return status;
    status = find_ratios(p, w, &fair, &with, &ratios, err);
    if (status == MACHINE_OK)
        *base = ratios.completion;
    sim_result_free(&with);
    return status;
}

int fairness_measure(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, double *base,
                     struct sim_result *r, struct machine_error *err)
{
    struct victim_ratios ratios;
    int status = find_ratios(p, w, o, r, &ratios, err);
    if (status == MACHINE_OK && isnan(*base) && o->scheduler == SIM_FAIR)
        *base = ratios.completion;
    if (status == MACHINE_OK && isnan(*base) && !isnan(ratios.completion))
        status = find_base(p, w, o, base, err);
    if (status != MACHINE_OK)
        return status;
    r->slowdown = ratios.completion - 1;
    r->cpu_slowdown = ratios.cpu - 1;
    r->unfairness = fairness_unfairness(ratios.completion, *base);
    return MACHINE_OK;
}
