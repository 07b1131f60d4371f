/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command_end.h"

#include <signal.h>
#include <unistd.h>

#include "cli/messages.h"
#include "cli/stop.h"

enum { MOMENT_MS = 1000 };

void command_end_stop(struct profile_command *c)
{
    if (c == NULL || stop_ended() == 0)
        return;
    if (stop_ended() > 0)
        kill(profile_command_pid(c), stop_ended());
    for (int ms = 0; ms < MOMENT_MS && !profile_command_ended(c, false); ms += 10)
        usleep(10000);
}

void command_end_await(struct profile_command *c)
{
    if (c == NULL)
        return;
    bool ended = profile_command_ended(c, true);
    stop_first_ends(true); /* the results are out: to wait no more is no failure */
    if (!ended && stop_ended() == 0)
        complain("the profile has ended; waiting for the command to end");
    while (!ended && stop_ended() == 0) {
        usleep(20000);
        ended = profile_command_ended(c, true);
        if (stop_ended() != 0)
            command_end_stop(c);
    }
    ended = profile_command_ended(c, true);
    if (!ended)
        complain("the command is still running: process %d", (int)profile_command_pid(c));
    else if (profile_command_failure(c) != NULL)
        complain("the command %s", profile_command_failure(c));
}
