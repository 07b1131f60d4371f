/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of the command when its profile is over. NULL: there is none. */
#pragma once

#include <stdbool.h>

#include "drivers/profile/profile_command.h"

/* After a signal that ended the profile: passes it on, unless the terminal has sent it to the command as well, and
 * gives it a moment to end, so that its last words do not fall into the results. */
void command_end_stop(struct profile_command *c);
/* When the results are out: one that goes on is waited for, unless a signal says otherwise, and how it ended is said if
 * it did not end well. */
void command_end_await(struct profile_command *c);
