/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What schedule.c and schedule_pairs.c share. */
#ifndef CHARACTERIZE_SCHEDULE_PARTS_H
#define CHARACTERIZE_SCHEDULE_PARTS_H

#include "analysis/schedule.h"

/* One more element, zeroed, at the end of an array; NULL: out of memory, the array is as it was. */
void *schedule_grow(void **array, size_t *n, size_t size);

/* value times unit as a whole number, the limits rounded outwards; absent if not finite or beyond 31 bits. */
struct schedule_number schedule_round(double value, double lo, double hi, double unit);
/* The same of a field and its _lo and _hi. */
struct schedule_number schedule_field(const struct table *t, size_t row, const char *column, double unit);
/* The column active_cores; 0: absent. */
unsigned schedule_cores_field(const struct table *t, size_t row);
/* A level, -1: absent or none that could be. */
int schedule_level_field(const struct table *t, size_t row, const char *column);
/* Index into s->classes, SIZE_MAX: no such class yet. */
size_t schedule_class_of(const struct schedule *s, const struct schedule_kernel *k);

/* Rows of the tables overhead, relaxation and throttle, whose classes exist already. False: out of memory. */
bool schedule_put_pairs(struct schedule *s, const struct table *t, schedule_classifier *classify);
/* level_costs and level_relaxations from those between classes. */
bool schedule_put_level_pairs(struct schedule *s);
/* level_event from the table umask. */
void schedule_put_events(struct schedule *s, const struct table *t, schedule_classifier *classify);

#endif
