/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/scheduling/programs.h"

#include <stdlib.h>

enum { PROGRAM_ROWS_AT_ONCE = 128 };

bool programs_init(struct programs *p, struct sim_workload *w)
{
    *p = (struct programs){.workload = w, .task = calloc(w->n_tasks > 0 ? w->n_tasks : 1, sizeof(*p->task))};
    return p->task != NULL;
}

void programs_free(struct programs *p)
{
    for (size_t i = 0; p->task != NULL && i < p->workload->n_tasks; i++)
        free(p->task[i].rows);
    free(p->task);
}

/* The next row of any kind; NULL: there is none. */
static const struct sim_row *program_row(struct programs *p, uint32_t task)
{
    struct programs_task *t = &p->task[task];
    if (t->next == t->n) {
        if (t->rows == NULL)
            t->rows = malloc(PROGRAM_ROWS_AT_ONCE * sizeof(*t->rows));
        p->failed = p->failed || t->rows == NULL;
        t->next = 0;
        t->n = t->rows != NULL ? p->workload->works.read(p->workload->works.self, task, t->rows, PROGRAM_ROWS_AT_ONCE)
                               : 0;
        if (t->n == 0)
            return NULL;
    }
    p->rows++;
    return &t->rows[t->next++];
}

bool programs_next(struct programs *p, uint32_t task, struct sim_row *row, int64_t *blocked)
{
    const struct sim_row *r;
    bool syscall = false;
    *blocked = 0;
    while ((r = program_row(p, task)) != NULL) {
        if (r->task == SIM_IDLE) {
            *blocked = r->ps < SIM_FOREVER - *blocked ? *blocked + r->ps : SIM_FOREVER;
            continue;
        }
        syscall = syscall || r->syscall;
        if (r->ps == 0)
            continue;
        *row = *r;
        row->syscall = syscall;
        return true;
    }
    return false;
}
