/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "probes/beside.h"
#include "tables/table/tables.h"

/*
 * The frequency of scalar code (64add) on the measured core while the others (options->siblings: and the siblings) run
 * `neighbor`, against that while they run scalar code, with as many active cores as the options say (0: all), for
 * options->seconds. MACHINE_OK, or fills *err and returns its status.
 */
int frequency_beside(struct machine *m, const struct tables_options *o, const struct payload *neighbor,
                     struct beside_result *out, struct machine_error *err);
