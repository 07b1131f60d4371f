/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the readers of the single tables, and these readers (private to output/export/schedule_*.c). */
#pragma once

#include "output/export/schedule.h"
#include "tables/table/tables.h"

/* One more element, zeroed, at the end of an array; NULL: out of memory, the array is as it was. */
void *schedule_grow(void **array, size_t *n, size_t size);

/* One more that is a copy of `element`; false: out of memory. */
bool schedule_add(void **array, size_t *n, size_t size, const void *element);

/* For qsort: by the first of n keys that differ; and qsort itself, which may not be called with a list that is NULL. */
int schedule_order(const long *a, const long *b, size_t n);
void schedule_sort(void *list, size_t n, size_t size, int (*order)(const void *, const void *));

/* value times unit as a whole number, the limits rounded outwards; absent if not finite or beyond 31 bits. */
struct schedule_number schedule_round(double value, double lo, double hi, double unit);
/* The same of a field and its _lo and _hi. */
struct schedule_number schedule_field(const struct table *t, size_t row, const char *column, double unit);
/* A whole number from `least` to `most`; `absent`: there is none. */
int schedule_whole_field(const struct table *t, size_t row, const char *column, int least, int most, int absent);
/* The column active_cores; 0: absent. */
unsigned schedule_cores_field(const struct table *t, size_t row);
/* A level, -1: absent or none that could be. */
int schedule_level_field(const struct table *t, size_t row, const char *column);
/* Index into s->classes, SIZE_MAX: no such class yet. */
size_t schedule_class_of(const struct schedule *s, const struct schedule_kernel *k);
/* One more, if it is new. False: out of memory. */
bool schedule_add_class(struct schedule *s, const struct schedule_kernel *k);

/* Adds to s->missing; equal reasons of a table together. False: out of memory. */
bool schedule_note_missing(struct schedule *s, const char *table, const char *why);
/* The same for what was measured and cannot be used, which is counted and reported; and for a whole row of it. */
bool schedule_leave_out(struct schedule *s, const char *table, const char *why);
bool schedule_ignore(struct schedule *s, const struct table *t, const char *why);

#define SCHEDULE_NO_CLASS                                                                                              \
    "the kernel represents no class of code: a mixture, a chain, dirty upper halves, sparse, or unknown"
#define SCHEDULE_NO_CORES "active_cores is not in 1 to 65535"

/* schedule_pairs.c. Rows of costs, waits or throttling, whose classes exist already. `frequency`: the table of that
 * name, NULL where it was not measured. */
bool schedule_put_pairs(struct schedule *s, const struct table *t, enum tables_export part,
                        const struct table *frequency);
/* level_costs and level_relaxations from those between classes. */
bool schedule_put_level_pairs(struct schedule *s);
/* schedule_machine.c. The signature, from the processor's name; which CPUs are like the measured ones, once these are
 * known. */
void schedule_put_signature(struct schedule *s);
bool schedule_put_cpus(struct schedule *s, const struct table *frequency);
/* schedule_events.c. Those of the levels, once these are known, and the others. */
void schedule_put_events(struct schedule *s, const struct table *umask);
/* schedule_pairs.c. Rows of what switches, migrations and faults cost; of several of a kind the largest. */
bool schedule_put_switching(struct schedule *s, const struct table *t);
