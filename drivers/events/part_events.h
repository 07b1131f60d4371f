/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events of the part that is measured: their names, and which of its license events may be offered. Shared by the
 * machines that count.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/events/events.h"
#include "drivers/machine.h"
#include "drivers/perf/perf.h"
#include "drivers/native/native.h"

/* The reason why a counter cannot be read and what would help; why[0] = 0: it can. */
struct lack {
    char why[300];
    const char *remedy;
};

struct part_events {
    struct events_table table;
    bool has_table;
    char no_table[300];  /* why not */
    struct perf_pmu pmu; /* for whose cores the table holds */
    bool named;          /* an event was requested by its name */
    struct lack license[EVENTS_LICENSES];
    char remedy[200]; /* of those for which no counter is free */
};

/* The part's table, from data_dir (NULL = the shipped data). Returns whether it has license events, which are then to
 * be tested; if not, why they are lacking is recorded. */
bool part_events_find(struct part_events *p, const struct native *s, const struct perf_pmu *pmu, const char *data_dir);

/* No license event can be had. */
void part_events_lack(struct part_events *p, const char *why, const char *remedy);

/* The outcome of the test: its status and error, or its counts, on which the verdict is given. */
void part_events_tested(struct part_events *p, int status, const struct machine_error *err,
                        const struct perf_license_counts *counts);

/* machine_ops.find_event and named_events of native machines that have set native.events. */
int part_events_by_name(const struct machine *m, const char *name, uint64_t *code, struct machine_error *err);
int part_events_named(const struct machine *m, uint32_t select, struct machine_event *out, size_t max, size_t *n,
                      struct machine_error *err);

/* Finds the PMU of the CPU prepared for. MACHINE_CANNOT where a name stands for another code there, because it is the
 * other kind of core, or where this part cannot have the events that are requested by their codes. */
int part_events_check(const struct part_events *p, const struct native *s, struct perf_pmu *pmu,
                      struct machine_error *err);

static inline bool part_events_is_license(enum counter_id id)
{
    return id >= COUNTER_LVL0 && id <= COUNTER_THROTTLE;
}

/* The code of an event given by its code or of a license event that is offered; 0 for the fixed ones. */
uint64_t part_events_code(const struct part_events *p, const struct counter_spec *c);
/* Counters are requested in this order, because hardware counters are assigned in the order of requests:
 * what the frequency needs (0), what was requested by name (1), and what is left goes to the license events (2). */
enum { PART_EVENTS_TURNS = 3 };
int part_events_turn(enum counter_id id);
