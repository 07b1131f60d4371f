/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows kept until the simulation reads them, stream by stream and as often as it likes: up to a megabyte in memory,
 * more in a file without a name in $TMPDIR, or in /tmp. In memory is then an index, 8 bytes for up to 4096 rows, and
 * while rows are written 256 bytes to 64 kB for each stream.
 *
 * What is kept is the shortest list of rows that means the same: a row that goes on with the task, class, ipc and stall
 * of the one before and has no system call is part of it; rows are split at SIM_ROW_PS_MAX; rows of no length are left
 * out, unless they have a system call.
 */
#pragma once

#include <stdint.h>

#include "schedulers/simulate/workload.h"
#include "util/error.h"

struct sim_spool;

/* NULL: out of memory. */
struct sim_spool *sim_spool_new(void);
void sim_spool_free(struct sim_spool *s);

/* Appends a row of any length of 0 or more to a stream; streams are made as they are needed. MACHINE_OK, or
 * MACHINE_FAILED after filling *err: there is no room in memory or in the file. */
int sim_spool_push(struct sim_spool *s, unsigned stream, struct sim_row row, struct machine_error *err);

/* Idle time ahead of all rows of a stream; once, before sim_spool_done(). The same. */
int sim_spool_lead(struct sim_spool *s, unsigned stream, int64_t ps, struct machine_error *err);

/*
 * Ends the writing. From then on *out, which owns the spool, reads n streams, as many as were written or more: its
 * stream i is stream order[i] of the spool (each of them once), or i where order is NULL; one that was never written is
 * empty. Reading many rows at a time is much faster: each call reads the file. *rows: how many there are. The same;
 * where it fails, the spool remains the caller's.
 */
int sim_spool_done(struct sim_spool *s, const unsigned *order, unsigned n, struct sim_source *out, uint64_t *rows,
                   struct machine_error *err);
