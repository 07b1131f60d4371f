/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "schedulers/simulate/workload.h"

void sim_workload_free(struct sim_workload *w)
{
    if (!w)
        return;
    if (w->cpus.close)
        w->cpus.close(w->cpus.self);
    if (w->works.close)
        w->works.close(w->works.self);
    for (size_t i = 0; i < w->n_tasks && w->tasks; i++)
        free(w->tasks[i].name);
    free(w->tasks);
    free(w->core);
    free(w->cpu);
    free(w->name);
    free(w);
}
