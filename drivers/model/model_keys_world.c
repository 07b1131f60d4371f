/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections that describe an ordinary processor's surroundings, all of them optional. */
#include "drivers/model/model_parser.h"

const struct model_key model_smi_keys[MODEL_SMI_KEYS] = {
    NUMBER("rate_hz", true, model, world.smi_rate_hz, 0, 1e4),
    NUMBER("min_us", true, model, world.smi_min_us, 0.1, 1e5),
    NUMBER("max_us", true, model, world.smi_max_us, 0.1, 1e5),
};

int model_leave_smi(struct model_parser *p)
{
    const struct model_world *w = &p->model->world;
    if (w->smi_max_us < w->smi_min_us)
        return model_fail(p, p->section_line, "max_us", "%g is less than min_us, %g; swap them", w->smi_max_us,
                          w->smi_min_us);
    double busy = w->smi_rate_hz * 1e-6 * (w->smi_min_us + w->smi_max_us) / 2;
    if (busy > 0.5)
        return model_fail(p, p->section_line, "rate_hz", "they would take %.0f %% of the time; up to 50 %% would work",
                          busy * 100);
    return 0;
}

const struct model_key model_cold_keys[MODEL_COLD_KEYS] = {
    NUMBER("us", true, model, world.cold_us, 0, 1000),
    NUMBER("factor", true, model, world.cold_factor, 0.01, 1),
};

const struct model_key model_sibling_keys[MODEL_SIBLING_KEYS] = {
    NUMBER("share", true, model, world.sibling.share, 0, 0.99),
    NUMBER("period_us", true, model, world.sibling.period_us, 1, 1e7),
    NUMBER("factor", true, model, world.sibling.factor, 0.05, 1),
    YES_NO("lockstep", false, model, world.sibling.lockstep),
    NUMBER("chain_factor", false, model, world.sibling.chain_factor, 0.05, 1),
};

const struct model_key model_wander_keys[MODEL_WANDER_KEYS] = {
    NUMBER("slow_sigma", false, model, world.wander.sigma[0], 0, 0.05),
    NUMBER("slow_us", false, model, world.wander.us[0], 100, 1e10),
    NUMBER("fast_sigma", false, model, world.wander.sigma[1], 0, 0.05),
    NUMBER("fast_us", false, model, world.wander.us[1], 100, 1e10),
};

int model_leave_wander(struct model_parser *p)
{
    static const char *const keys[MODEL_WANDERS][2] = {{"slow_sigma", "slow_us"}, {"fast_sigma", "fast_us"}};
    for (size_t i = 0; i < MODEL_WANDERS; i++)
        if (model_was_seen(p, keys[i][0]) != model_was_seen(p, keys[i][1]))
            return model_fail(p, p->section_line, keys[i][model_was_seen(p, keys[i][0])],
                              "missing in section [wander]; %s and %s are given together", keys[i][0], keys[i][1]);
    return 0;
}

const struct model_key model_limit_keys[MODEL_LIMIT_KEYS] = {
    NUMBER("share", true, model, world.limit_share, 0, 1),
    NUMBER("factor", true, model, world.limit_factor, 0.1, 1),
};

const struct model_key model_repetition_keys[MODEL_REPETITION_KEYS] = {
    YES_NO("carry", true, model, world.carries),
    NUMBER("gap_us", true, model, world.gap_us, 0, 1e6),
};
