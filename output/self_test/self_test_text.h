/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of a self-test for a person. */
#ifndef CHARACTERIZE_SELF_TEST_TEXT_H
#define CHARACTERIZE_SELF_TEST_TEXT_H

#include <stdio.h>

#include "tables/self_test/self_test.h"

/* `replayed`: judged from a bundle. others: those of other programs; may be NULL. */
void self_test_text_print(FILE *out, const struct self_test_readings *r, const struct self_test_lines *l,
                          const struct self_test_lines *others, bool replayed);

#endif
