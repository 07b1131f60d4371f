/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading what disturbs a measurement. Everything is read below one root folder, so that other machines can be tried on
 * this one; what stands there is untrusted: any file may be missing, forbidden, endless or garbage.
 */
#pragma once

#include "computer/environment/environment.h"
#include "util/error.h"

/*
 * Reads below `root` ("" is this machine) for CPU `cpu`, and counts for `seconds` (0: what was since boot alone). Stops
 * counting early when stop(data), which may be NULL, says so. Returns MACHINE_OK, or fills *err and returns its status:
 * MACHINE_BAD_INPUT where the root or the CPU does not exist. Free with environment_free.
 */
int environment_read(const char *root, int cpu, double seconds, int (*stop)(void *data), void *data,
                     struct environment *out, struct machine_error *err);
void environment_free(struct environment *e);

/* The facts alone, in a fraction of a millisecond: no lists, nothing counted. For the snapshot. */
void environment_read_facts(const char *root, int cpu, struct environment *out);
