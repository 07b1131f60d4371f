/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The capabilities of root that a job keeps (doc/security.md, "Capabilities"): all others are given up before it
 * begins, for the programs that it starts as well.
 */
#pragma once

#include <stdbool.h>

#include "cli/options/options.h"

/* First of all: who runs a copy that is set-uid, set-gid or has file capabilities is refused with CANNOT. DONE else. */
int privileges_check(void);
/* Before there is a second thread. FAILED after a line where the kernel refuses to take them. */
int privileges_keep(const struct options *o);
/*
 * When the machine of this name is open: gives up what only opening needed, for the calling thread and those that it
 * starts. That is possible where nothing is opened or written later: in --transition, by time stamps alone or with the
 * module, which asks when its device is opened, unless settings have been changed. Counters are opened for each cell of
 * a table, registers for each CPU, energy counters at the first reading; settings are put back at the end.
 */
void privileges_opened(const struct options *o, const char *machine, bool changed);
