/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs: what they have in common between main() and their jobs, and how one calls another. */
#pragma once

#include "cli/options/options.h"

/*
 * main() of a program: parses the options, gives up privileges, and calls `run`, which returns an exit status and has
 * said one line if that is not DONE. A job that another program does is left to that one: this process becomes it.
 */
int program_main(int argc, char **argv, const struct option_program *program, int (*run)(const struct options *o));
