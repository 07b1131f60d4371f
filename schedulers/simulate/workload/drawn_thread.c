/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/workload/drawn_thread.h"

struct drawn_thread drawn_thread_begin(const struct drawn_file *file, uint64_t seed, uint32_t number)
{
    struct drawn_thread t = {.task = file->tasks, .random = drawn_random_of(seed, number), .number = number};
    for (; number >= t.task->threads; t.task++)
        number -= t.task->threads;
    /* threads do not begin together, as they would not after some time */
    t.phase = drawn_random_below(&t.random, t.task->n_phases);
    int64_t whole = drawn_random_length(&t.random, &t.task->phases[t.phase].length);
    t.left = 1 + (int64_t)(drawn_random_unit(&t.random) * (double)(whole - 1));
    return t;
}

bool drawn_thread_blocked(const struct drawn_thread *t)
{
    return t->task->phases[t->phase].row.task == SIM_IDLE;
}

struct sim_row drawn_thread_advance(struct drawn_thread *t, int64_t ps)
{
    const struct drawn_phase *phase = &t->task->phases[t->phase];
    struct sim_row row = phase->row;
    row.ps = ps;
    if (row.task != SIM_IDLE)
        row.task = t->number;
    row.syscall = row.syscall && t->fresh;
    t->fresh = false;
    t->left -= ps;
    if (t->left == 0) {
        const struct drawn_next *next = phase->next;
        double u = phase->n_next > 1 ? drawn_random_unit(&t->random) : 0;
        while (next < &phase->next[phase->n_next - 1] && u >= next->until)
            next++;
        t->phase = next->phase;
        t->fresh = true;
        t->left = drawn_random_length(&t->random, &t->task->phases[t->phase].length);
    }
    return row;
}
