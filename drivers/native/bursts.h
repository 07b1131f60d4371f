/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bursts on real hardware, whatever else the machine reads. */
#pragma once

#include "drivers/native/native.h"

/* Bursts of so many instructions and more are run as blocks of their kernel, with operands that toggle; operands of 0,
 * which a shot has, take less power. What the blocks load is then less than a hundredth of it. */
enum { BURSTS_BLOCKS_FROM = 2000 };

/* machine_ops.bursts: in user space, pinned to the CPU prepared for. */
int native_bursts(struct machine *m, const struct bursts_request *r, struct burst *out, const char **disturbed,
                  struct machine_error *err);
