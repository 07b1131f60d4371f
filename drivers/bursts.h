/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked of machines that run bursts. */
#pragma once

#include "drivers/machine.h"

/* Whether they can be run: MACHINE_OK; MACHINE_CANNOT: there are no shots of the wide payload; MACHINE_BAD_INPUT. */
int bursts_check(const struct bursts_request *r, struct machine_error *err);
