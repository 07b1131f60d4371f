/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/model/model_trials.h"

#include <math.h>

#include "drivers/model/model_machine.h"
#include "drivers/model/model_random.h"

enum { MASKED_MOST_US = 5000, ROUND_CYCLES = 15, TRIALS_STREAM = 77, ASK_EVERY = 1000 };

const struct cpu_caches model_caches = {
    .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 22 << 20, .share = (22 << 20) / 16, .memory = UINT64_C(96) << 30};

double model_trial_cycles(const struct machine *m, double trial_us)
{
    const struct model_state *s = m->state;
    return ceil(trial_us * 1000 * model_ghz(&s->model, 0, 1));
}

/* What a trial takes longer than a warm one, as a share. */
static double longer(const struct trials_request *r, unsigned i, struct model_random *random)
{
    if (r->workload == WORKLOAD_BRANCH && r->before == TRIALS_SPOIL)
        return MODEL_SPOILT + MODEL_SPOILT_SIGMA * model_random_normal(random);
    if (r->workload == WORKLOAD_BRANCH && r->before == TRIALS_IBPB)
        return MODEL_CLEARED;
    if (r->workload == WORKLOAD_BRANCH && i < MODEL_TRIALS_TO_LEARN)
        return (MODEL_TRIALS_TO_LEARN - i) / 1000.0;
    if (r->workload != WORKLOAD_LOAD || r->bytes <= model_caches.l1)
        return 0;
    return model_random_normal(random) * (r->bytes <= model_caches.l2   ? MODEL_L2_SIGMA
                                          : r->bytes <= model_caches.l3 ? MODEL_L3_SIGMA
                                                                        : MODEL_MEMORY_SIGMA);
}

int model_trials(struct machine *m, const struct trials_request *r, double *duration, struct trials_seen *seen,
                 struct machine_error *err)
{
    const struct model_state *s = m->state;
    const double cycles = model_trial_cycles(m, r->trial_us), us_per_cycle = r->trial_us / cycles;
    struct model_random random;
    double now = 0, due;

    if (!s->prepared || r->trials == 0 || !(r->trial_us > 0))
        return machine_fail(err, MACHINE_FAILED, "", "the modelled CPU was not prepared, or is to run no trial");
    if (r->masked && r->trial_us > MASKED_MOST_US)
        return machine_fail(err, MACHINE_BAD_INPUT, "use a shorter --observe",
                            "with interrupts masked a trial takes %d us at most", MASKED_MOST_US);
    model_random_init(&random, s->setup.seed, 0, TRIALS_STREAM);
    *seen = (struct trials_seen){.cycles = true, .resolution = 1, .rounds = (uint64_t)ceil(cycles / ROUND_CYCLES)};
    due = MODEL_INTERRUPT_EVERY_US * model_random_uniform(&random);
    for (unsigned i = 0; i < r->trials; i++) {
        duration[i] = cycles + rint(cycles * longer(r, i, &random));
        now += duration[i] * us_per_cycle;
        for (; now > due; due += MODEL_INTERRUPT_EVERY_US) {
            if (r->masked)
                continue;
            duration[i] += MODEL_INTERRUPT_CYCLES;
            now += MODEL_INTERRUPT_CYCLES * us_per_cycle;
            seen->between.interrupts++;
        }
        if (i % ASK_EVERY == 0 && r->stop && r->stop(r->data))
            return machine_fail(err, MACHINE_FAILED, "", "stopped");
    }
    return MACHINE_OK;
}

/* ---- first uses ---- */

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
