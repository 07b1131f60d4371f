/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tasks that could run, in the order of their virtual runtime; those with the same, of their number. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ready {
    struct ready_task {
        int64_t vruntime;
        uint32_t task;
    } * task;
    size_t n;
};

/* Room for so many. False: out of memory. ready_free in any case. */
bool ready_init(struct ready *r, size_t most);
void ready_free(struct ready *r);
void ready_add(struct ready *r, uint32_t task, int64_t vruntime);
/* One that is there, with the virtual runtime that it was added with. */
void ready_remove(struct ready *r, uint32_t task, int64_t vruntime);
