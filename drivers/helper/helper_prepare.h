/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Setting up a series of repetitions of the machine `helper`, and undoing it. */
#ifndef CHARACTERIZE_HELPER_PREPARE_H
#define CHARACTERIZE_HELPER_PREPARE_H

#include "drivers/machine.h"

/* As in machine_ops. */
int helper_prepare(struct machine *m, const struct machine_setup *s, struct machine_error *err);
void helper_finish(struct machine *m);

#endif
