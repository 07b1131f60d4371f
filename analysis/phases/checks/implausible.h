/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What no processor is known to do, and another thread on the core does: throttling twice alike at one switch,
 * throttling at a higher frequency than before and after, more phases than any switch has (private to analysis/).
 */
#ifndef CHARACTERIZE_IMPLAUSIBLE_H
#define CHARACTERIZE_IMPLAUSIBLE_H

#include "analysis/phases/phases.h"

/* Withdraws it, with a warning where there are several. 0, or -1: out of memory. */
int implausible_withdraw(struct phases *p);

#endif
