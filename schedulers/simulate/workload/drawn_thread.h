/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread of a described workload: its phases, one after the other, whoever reads them and in whatever pieces. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schedulers/simulate/workload/drawn_file.h"

struct drawn_thread {
    const struct drawn_task *task;
    struct drawn_random random; /* its own: what it does depends on (seed, number) alone */
    uint32_t number;            /* among all threads of the file, in the order of the tasks */
    unsigned phase;
    bool fresh;   /* the phase has just begun */
    int64_t left; /* ps of the phase, above 0 */
};

/* At a moment in its first phase, which is any one. number: below file->n_threads. */
struct drawn_thread drawn_thread_begin(const struct drawn_file *file, uint64_t seed, uint32_t number);
bool drawn_thread_blocked(const struct drawn_thread *t);
/* Its row of the next `ps` picoseconds, 1 to left; the phase that follows has begun if there are none left. */
struct sim_row drawn_thread_advance(struct drawn_thread *t, int64_t ps);
