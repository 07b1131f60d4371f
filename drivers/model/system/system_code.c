/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/model/system/system.h"

#include <math.h>

/* Cycles that two threads compete for: with both never waiting each gets 0.6 of what it has alone. */
static const double SYSTEM_COMPETITION = 0.4;

int system_code_set(const struct model *m, const char *kernel, struct system_code *out, struct machine_error *err)
{
    struct model_need need;
    *out = (struct system_code){.loads = 1};
    if (kernel_parse(kernel, &out->payload, NULL, 0) != 0)
        return machine_fail(err, MACHINE_FAILED, "", "no kernel %.40s", kernel);
    int status = model_need(m, &out->payload, &need, err);
    if (status != MACHINE_OK)
        return status;
    out->class_ = need.later > need.first ? need.later : need.first;
    return MACHINE_OK;
}

void system_loop_set(struct system_code *c, unsigned number, double stall, double overlap)
{
    struct system_loop *l = &c->loop[number];
    l->overlap = overlap;
    l->compute = 1 - stall;
    /* stall = overlap * max(0, memory - compute) + (1 - overlap) * memory, solved for memory */
    l->memory = stall + overlap * (1 - stall);
    if (l->memory < l->compute)
        l->memory = stall / (1 - overlap);
    c->compute += l->compute / SYSTEM_LOOPS;
}

struct system_pace system_code_pace(const struct system_code *c, double speed)
{
    double computes = 0, stalls = 0;
    if (speed <= 0)
        return (struct system_pace){0, 0};
    for (unsigned i = 0; i < SYSTEM_LOOPS; i++) {
        const struct system_loop *l = &c->loop[i];
        double compute = l->compute / speed, beyond = l->memory > compute ? l->memory - compute : 0;
        computes += compute / SYSTEM_LOOPS;
        stalls += (l->overlap * beyond + (1 - l->overlap) * l->memory) / SYSTEM_LOOPS;
    }
    return (struct system_pace){.work = 1 / (computes + stalls), .stall = stalls / (computes + stalls)};
}

double system_code_leaves(const struct system_code *sibling)
{
    return sibling ? 1 - SYSTEM_COMPETITION * sibling->compute : 1;
}

const struct system_code *system_task_code(const struct system_task *t)
{
    return &t->code[t->phase % t->n_codes];
}

void system_task_next_phase(struct system_task *t)
{
    if (t->n_codes == 1) {
        t->left = INFINITY;
        return;
    }
    /* narrow code again after each of the others */
    bool narrow = t->phase > 0;
    t->phase = narrow ? 0 : 1 + (unsigned)(model_random_uniform(&t->random) * (t->n_codes - 1));
    t->left = narrow ? t->narrow_work * model_random_exponential(&t->random)
                     : t->wide_work * (0.5 + model_random_uniform(&t->random));
}
