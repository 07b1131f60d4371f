/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "drivers/machine.h"
#include "drivers/model/model_core.h"

/* machine_ops.bursts on a core that has been started; request: checked, and of payloads that the model can run. */
int model_bursts(struct model_core *c, const struct bursts_request *r, struct burst *out, struct machine_error *err);
