/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CHARACTERIZE_CLI_OPTION_NAMES_H
#define CHARACTERIZE_CLI_OPTION_NAMES_H

#include <argp.h>

/*
 * The names of all options, before argp sees them: what argp says of a wrong one takes two lines and does not tell what
 * was meant. 0, or -1 after a line.
 */
int option_names_check(const struct argp_option *table, int argc, char **argv);

#endif
