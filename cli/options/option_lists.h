/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of the command line: numbers with ranges (0,2,4-7) and kernels (128fma,512fma). */
#ifndef CHARACTERIZE_CLI_OPTION_LISTS_H
#define CHARACTERIZE_CLI_OPTION_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/kernels.h"

/*
 * Numbers from lo to hi, separated by commas, a range as first-last; the word `all` for 0 where `all_allowed`. No
 * number twice. Returns 0, or -1 after a line that names the option and the element.
 */
int option_list_numbers(const char *option, const char *text, unsigned lo, unsigned hi, bool all_allowed, unsigned *out,
                        size_t max, size_t *n);
/* Names of kernels, separated by commas, none twice. 0, or -1 after a line. */
int option_list_kernels(const char *option, const char *text, struct payload *out, size_t max, size_t *n);

#endif
