/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --check environment: what of this computer disturbs a measurement (doc/quiet-machine.md). */
#include "cli/jobs/jobs.h"
#include "cli/messages.h"

int job_check(const struct options *o)
{
    (void)o;
    return refuse(CANNOT, "--check: not yet");
}
