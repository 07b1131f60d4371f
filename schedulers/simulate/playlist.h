/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Feeds the engine with what was recorded: each CPU plays its rows in order. For the files of this room alone. */
#pragma once

#include "schedulers/simulate/engine.h"

/* Rows of one CPU that have been read and not played yet. */
struct playlist_cpu {
    struct sim_row *rows;
    size_t next, n, room;
    bool ended;
};
struct playlist {
    struct sim_workload *workload;
    struct playlist_cpu *cpu;
    bool failed; /* out of memory */
};

/* False: out of memory. playlist_free in any case. */
bool playlist_init(struct playlist *p, struct sim_workload *w);
void playlist_free(struct playlist *p);

/* For struct engine_feed. What peek returns is valid until the next call. */
bool playlist_next(void *self, struct engine *e, unsigned cpu, struct engine_segment *out);
const struct sim_row *playlist_peek(void *self, unsigned cpu, size_t i);
