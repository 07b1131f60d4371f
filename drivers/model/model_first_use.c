/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "drivers/model/model_machine.h"
#include "drivers/model/model_random.h"
#include "drivers/model/model_trials.h"

enum { FIRST_USE_STREAM = 79 };
static const double NOISE = 0.02, OUTLIERS = 0.02; /* relative; share that an interrupt lengthens */

int model_first_use(struct machine *m, const struct first_use_request *r, struct first_use_seen *out,
                    struct machine_error *err)
{
    const struct model_state *s = m->state;
    struct model_wake_stage in = {0, 0, 0};
    struct model_random random;

    if (!s->prepared || !r->warm.kernel)
        return machine_fail(err, MACHINE_FAILED, "", "the modelled CPU was not prepared");
    for (size_t i = 0; i < s->model.n_wakes; i++)
        for (size_t k = 0; s->model.wakes[i].width == r->warm.kernel->width && k < s->model.wakes[i].n; k++)
            if (r->idle_us >= s->model.wakes[i].stage[k].idle_us)
                in = s->model.wakes[i].stage[k];
    model_random_init(&random, s->setup.seed, r->repetition, FIRST_USE_STREAM);
    double read = MODEL_FIRST_READ_NS * 1e-3, step = model_step_ticks(&s->model) / s->model.tsc_hz * 1e6;
    double first = (read + in.first_us) * exp(NOISE * model_random_normal(&random));
    if (model_random_uniform(&random) < OUTLIERS)
        first += 5 + 20 * model_random_uniform(&random);
    *out = (struct first_use_seen){
        .idle_us = r->idle_us,
        .first_us = step * fmax(1, rint(first / step)),
        .full_rate_us = fmax(first, in.full_rate_us * exp(NOISE * model_random_normal(&random))),
        .read_us = read};
    return MACHINE_OK;
}
