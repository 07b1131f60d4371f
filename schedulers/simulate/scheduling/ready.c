/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/scheduling/ready.h"

#include <stdlib.h>
#include <string.h>

bool ready_init(struct ready *r, size_t most)
{
    *r = (struct ready){.task = calloc(most > 0 ? most : 1, sizeof(*r->task))};
    return r->task != NULL;
}

void ready_free(struct ready *r)
{
    free(r->task);
}

/* How many come before it. */
static size_t tasks_before(const struct ready *r, uint32_t task, int64_t vruntime)
{
    size_t from = 0, to = r->n;
    while (from < to) {
        size_t middle = (from + to) / 2;
        const struct ready_task *t = &r->task[middle];
        if (t->vruntime < vruntime || (t->vruntime == vruntime && t->task < task))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

void ready_add(struct ready *r, uint32_t task, int64_t vruntime)
{
    size_t at = tasks_before(r, task, vruntime);
    memmove(r->task + at + 1, r->task + at, (r->n - at) * sizeof(*r->task));
    r->task[at] = (struct ready_task){vruntime, task};
    r->n++;
}

void ready_remove(struct ready *r, uint32_t task, int64_t vruntime)
{
    size_t at = tasks_before(r, task, vruntime);
    r->n--;
    memmove(r->task + at, r->task + at + 1, (r->n - at) * sizeof(*r->task));
}
