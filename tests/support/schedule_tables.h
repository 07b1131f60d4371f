/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finished tables made by hand, for tests of what is read out of them. */
#ifndef TEST_SCHEDULE_TABLES_H
#define TEST_SCHEDULE_TABLES_H

#include "output/export/schedule.h"
#include "tables/table/table.h"

enum { GOLD_GROUPS = 5, GOLD_CORES = 16, GOLD_LEVELS = 3 };

/* The published frequencies of the Xeon Gold 6130, MHz (dissertation, table 3.1): level, turbo level. */
extern const int gold_mhz[GOLD_LEVELS][GOLD_GROUPS];
extern const int gold_last_core[GOLD_GROUPS]; /* the largest number of active cores of each turbo level */
/* The turbo level of a number of active cores. */
int gold_group(int active_cores);

/* Empty tables with the columns of doc/formats.md. */
void frequency_table(struct table *t);
void overhead_table(struct table *t);
void relaxation_table(struct table *t);
void trigger_table(struct table *t);
void throttle_table(struct table *t);
void umask_table(struct table *t);
void switching_table(struct table *t);

void frequency_row(struct table *t, int cpu, const char *kernel, int cores, int level, double ghz);
void overhead_row(struct table *t, const char *from, const char *to, int cores, double down, double up, double even);
void wait_row(struct table *t, const char *what, const char *from, double mode, double us, double share); /* to 64add */
void trigger_row(struct table *t, const char *kernel, double density, double count, int level); /* level -1: absent */
void switching_row(struct table *t, const char *what, double us, double half); /* half of the width of the limits */
/* All of table 3.1, measured without noise: 64add, 256or, 256fma, 512or, 512fma on CPU 0, 1 to 16 cores. */
void gold_frequencies(struct table *t);

#endif
