/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/playlist.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 1024 };

bool playlist_init(struct playlist *p, struct sim_workload *w)
{
    *p = (struct playlist){.workload = w, .cpu = calloc(w->n_cpus, sizeof(*p->cpu))};
    return p->cpu != NULL;
}

void playlist_free(struct playlist *p)
{
    for (unsigned i = 0; p->cpu != NULL && i < p->workload->n_cpus; i++)
        free(p->cpu[i].rows);
    free(p->cpu);
}

/* Reads more rows of a CPU behind those that are there. False: there are none. */
static bool playlist_read(struct playlist *p, unsigned cpu)
{
    struct playlist_cpu *c = &p->cpu[cpu];
    if (c->ended)
        return false;
    if (c->next > 0) {
        c->n -= c->next;
        memmove(c->rows, c->rows + c->next, c->n * sizeof(*c->rows));
        c->next = 0;
    }
    if (c->room < c->n + ROWS_AT_ONCE) {
        size_t room = 2 * (c->n + ROWS_AT_ONCE);
        struct sim_row *rows = realloc(c->rows, room * sizeof(*rows));
        if (rows == NULL) {
            p->failed = c->ended = true;
            return false;
        }
        c->rows = rows;
        c->room = room;
    }
    size_t n = p->workload->cpus.read(p->workload->cpus.self, cpu, c->rows + c->n, ROWS_AT_ONCE);
    c->n += n;
    c->ended = n == 0;
    return n > 0;
}

const struct sim_row *playlist_peek(void *self, unsigned cpu, size_t i)
{
    struct playlist *p = self;
    struct playlist_cpu *c = &p->cpu[cpu];
    while (c->next + i >= c->n)
        if (!playlist_read(p, cpu))
            return NULL;
    return &c->rows[c->next + i];
}

bool playlist_next(void *self, struct engine *e, unsigned cpu, struct engine_segment *out)
{
    struct playlist *p = self;
    struct playlist_cpu *c = &p->cpu[cpu];
    (void)e;
    if (c->next == c->n && !playlist_read(p, cpu))
        return false;
    const struct sim_row *row = &c->rows[c->next++];
    *out = (struct engine_segment){.amount = row->task == SIM_IDLE ? row->ps : row->ps * p->workload->recorded,
                                   .task = row->task,
                                   .ipc = row->ipc,
                                   .stall = row->stall,
                                   .class = row->class};
    return true;
}
