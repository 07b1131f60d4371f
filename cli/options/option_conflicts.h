/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CHARACTERIZE_CLI_OPTION_CONFLICTS_H
#define CHARACTERIZE_CLI_OPTION_CONFLICTS_H

#include "cli/options/options.h"

/* Whether the options go together and with the job. 0, or -1 after a line. */
int option_conflicts_check(const struct options *o);

#endif
