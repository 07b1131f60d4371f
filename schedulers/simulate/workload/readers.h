/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The readers of recordings; each takes a recording that was opened, to its end. 0, or -1 after filling the error. */
#pragma once

#include "schedulers/simulate/workload/recording.h"

int sim_csv_read(struct sim_recording *r);
int sim_perf_read(struct sim_recording *r);

/* Whether a line, which need not end in a NUL, is the header of a CSV, or one of perf script. */
bool sim_csv_is_header(const char *line, size_t length);
bool sim_perf_is_line(const char *line, size_t length);
