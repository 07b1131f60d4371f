/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Intel Xeon Gold 6130 of Gottschlag's dissertation: table 3.1, 3.2.2 and 5.2. */
#pragma once

#include "schedulers/simulate/params.h"

enum { GOLD_6130_TURBO_LEVELS = 5, GOLD_6130_LEVELS = 3 };
/* GHz, that with the fewest active cores first. */
extern const double gold_6130_ghz[GOLD_6130_TURBO_LEVELS][GOLD_6130_LEVELS];

/* Read from an export: changes cost 40 us (down) and 10 us (up), the wait is 670 us. To be freed. */
struct sim_params *gold_6130_params(void);
