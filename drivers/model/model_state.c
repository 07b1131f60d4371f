/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/model/model_state.h"

#include <math.h>

double model_core_class_ghz(const struct model_core *c, unsigned class_)
{
    double ghz = model_ghz(c->model, c->model->classes[class_].level, c->cores);
    return c->fixed_ghz > 0 ? fmin(ghz, c->fixed_ghz) : ghz;
}

double model_core_ghz(const struct model_core *c)
{
    return c->ramps.tau > 0 ? c->ramps.ghz : model_core_class_ghz(c, c->held);
}
