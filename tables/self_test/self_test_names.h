/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names that counters and stretches have in characterize-readings/1. */
#ifndef CHARACTERIZE_TABLES_SELF_TEST_NAMES_H
#define CHARACTERIZE_TABLES_SELF_TEST_NAMES_H

#include "tables/self_test/self_test.h"

extern const char *const self_test_counter_names[COUNTER_IDS];
extern const char *const self_test_kind_names[SELF_TEST_KINDS];

#endif
