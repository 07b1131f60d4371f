/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of switches, migrations and faults on a modelled CPU. */
#include <math.h>

#include "drivers/model/model_machine.h"

/* The random numbers' stream; operations of a block, about as many as native machines run. */
enum { SWITCHING_STREAM = 83, OPERATIONS = 40 };

static int check_switching(const struct model_state *s, const struct switching_request *r, struct machine_error *err)
{
    if (!s->prepared)
        return machine_fail(err, MACHINE_FAILED, "", "the modelled CPU was not prepared");
    if (!s->model.has_switching)
        return machine_fail(err, MACHINE_CANNOT,
                            "add a section [switching] to its model file, or choose a model that has one (cloud-guest)",
                            "the model does not say what a %s costs", machine_switching_names[r->what]);
    if (r->what == SWITCHING_MIGRATION && s->model.cores < 2)
        return machine_fail(err, MACHINE_CANNOT, "choose a model with two cores or more",
                            "a migration needs two CPUs, and the modelled %s has one", s->model.cpu_name);
    return MACHINE_OK;
}

int model_switching(struct machine *m, const struct switching_request *r, struct switching_seen *out,
                    struct machine_error *err)
{
    const struct model_state *s = m->state;
    struct model_random random;
    const int status = check_switching(s, r, err);
    *out = (struct switching_seen){.happened = true, .to_cpu = -1};
    if (status != MACHINE_OK)
        return status;
    model_random_init(&random, s->setup.seed, r->repetition, SWITCHING_STREAM);
    for (size_t i = 0; i < SWITCHING_BLOCKS; i++) {
        const double cost_us = r->order[i] == SWITCHING_WORK ? s->model.switching_us[r->what] : 0;
        double us = (MODEL_SWITCHING_BASE_US + cost_us) * exp(MODEL_TIME_NOISE * model_random_normal(&random));
        if (model_random_uniform(&random) < MODEL_TIME_OUTLIERS)
            us += (5 + 20 * model_random_uniform(&random)) / OPERATIONS;
        out->us[r->order[i]] = us;
        out->took_us += us * OPERATIONS;
    }
    if (r->what == SWITCHING_MIGRATION)
        out->to_cpu = s->setup.cpu > 0 ? s->setup.cpu - 1 : 1;
    return MACHINE_OK;
}
