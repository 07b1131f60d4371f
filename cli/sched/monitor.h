/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What characterize-sched counts, as a table on the terminal (--monitor): classes, and tasks in the order of a column;
 * keys as in characterize --profile --live. */
#pragma once

#include "cli/sched/sched.h"

struct monitor;

/* Takes the terminal, before the scheduler is loaded. DONE, or an exit status after a line. */
int monitor_begin(struct monitor **out);
/* Gives it back. NULL is allowed. */
void monitor_end(struct monitor *m);

/* True: it shows what it has, and wants no newer sample. */
bool monitor_paused(const struct monitor *m);

/* Does what keys request, and draws; call it ten times a second. `title` is the first line. False: it is to end. */
bool monitor_show(struct monitor *m, const struct sched_options *o, const char *title,
                  const volatile struct live_state *state, struct sched_sample *sample);
