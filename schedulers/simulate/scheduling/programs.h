/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each task has to do, in order: the streams of a workload's `works`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schedulers/simulate/workload.h"

struct programs {
    struct sim_workload *workload;
    struct programs_task {
        struct sim_row *rows;
        size_t next, n;
    } * task;
    uint64_t rows; /* that were read, those of no length included */
    bool failed;   /* out of memory: programs end early */
};

/* False: out of memory. programs_free in any case. */
bool programs_init(struct programs *p, struct sim_workload *w);
void programs_free(struct programs *p);
/*
 * The next work of a task, of some length, and how long it is blocked before (ps, at most SIM_FOREVER; 0: it goes on).
 * A system call at the begin of rows of no length is one at the begin of this. False: there is no more.
 */
bool programs_next(struct programs *p, uint32_t task, struct sim_row *row, int64_t *blocked);
