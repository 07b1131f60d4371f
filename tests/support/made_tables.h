/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables made by hand, as a file of cases that a person writes and reads:
 *
 *     == TITLE                       a case begins, without rows
 *     # ...                          a comment
 *     findings                       the findings alone are of interest
 *     counted                        of the picture only how much is in it, and nothing else
 *     setting KEY VALUE              until the end of the line; "..." around a key with blanks
 *     meta KEY VALUE
 *     detail KEY JSON
 *     without COLUMN...              the table was written by a version that did not have these
 *     each COLUMN=VALUE ...          what the rows below have, unless they say otherwise; once more: instead
 *     COLUMN=VALUE ...               a row; "..." around text with blanks
 *     repeat FIRST LAST COLUMN=VALUE ...    a row for each number, which stands for each # in it
 *     missing COLUMN=VALUE ... WHY   an entry of what was not measured
 *
 * X=5~1 sets X, X_lo and X_hi to 5, 4 and 6; X=5[4,7] to 5, 4 and 7; X= leaves it absent, whatever all rows have.
 */
#pragma once

#include "tables/table/tables.h"

struct made_case {
    char title[160];
    struct table table;
    bool findings, counted;
};

/* Returns true if there are handmade tables of this kind. Those are compared with golden files; a new kind needs
 * none. */
bool made_of(const struct table_kind *k);
/* Calls `each` with every case of the file, in order, and returns how many; fails the test where it makes no sense. */
size_t made_tables(const char *path, const struct table_kind *k, void (*each)(void *data, struct made_case *c),
                   void *data);
