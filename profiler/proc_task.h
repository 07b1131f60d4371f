/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What /proc says about a task (proc(5)), if it is the one that is meant. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "drivers/profile/profile_types.h"

/* Whether a task of this number that was started at this time is alive. start_ns 0: at whatever time. */
bool proc_task_alive(const char *proc, const struct profile_task *t);

/* Its process's command line, blanks between the words, as plain text (util/plain_text.h), truncated; "" where there is
 * none or it cannot be read. size > 0. */
void proc_task_command(const char *proc, const struct profile_task *t, char *out, size_t size);
