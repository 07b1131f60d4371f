/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line read into struct options. */
#pragma once

#include "cli/options/options.h"

/*
 * Parses argv. Returns -1 and fills *o, or an exit status when the program is to end now: wrong usage (one line has
 * been said) or all done (--help, --version print and exit by themselves).
 */
int option_parse(int argc, char **argv, struct options *o);

/* The few lines for a call without arguments, on standard error. */
void option_parse_short_usage(void);
