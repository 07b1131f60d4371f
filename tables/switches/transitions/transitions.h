/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table transitions: which of its rows may be told, in words, and as matrices for a person. */
#pragma once

#include "tables/switches/transition_summary.h"
#include "tables/table/table.h"

enum transition_support {
    TRANSITION_TOLD,
    TRANSITION_NOTHING,      /* nothing was found, or it is undecided */
    TRANSITION_NO_LEVELS,    /* the frequency is said to change where the table frequency has no levels */
    TRANSITION_NO_LIMITS,    /* the frequencies, or how long it takes, are not told from none by their limits */
    TRANSITION_CONTRADICTED, /* by other rows */
};
/* What the other rows say of one. */
struct transition_verdict {
    /*
     * Whether it may be told. A change of the frequency takes frequencies before and after that differ by their
     * limits; and each of both kernels must run at the frequency that more other rows at this number of active cores
     * give it than give it another (within limits, or FREQUENCY_SAME), if any do. Throttling or a halt at one frequency
     * must not be missing in half of the switches to the same kernel from others that are no wider than this one.
     */
    enum transition_support support;
    /* Whether its wait may be told, too: the frequency rises, and more rows from the same kernel to the same frequency
     * tell the same wait (within limits, 5 % and 5 us) than another, if any do. */
    enum transition_support wait;
    size_t against; /* where either is contradicted: a row that does it */
};
/* One for each row, free(); NULL: out of memory. O(n_rows^2). */
struct transition_verdict *transition_verdicts(const struct table *t);

/* What a row says that happened; SWITCH_UNDECIDED where it says nothing that is known. */
enum switch_kind transition_row_kind(const struct table *t, size_t row);

/* The number of a name in a list, where it is put if it is new; `most`: there are so many already. */
size_t transition_name_number(const char **names, size_t *n, size_t most, const char *name);

/* The cost of a row with its limits, us; "" where it is not to be told: without limits, or none by them. */
enum { TRANSITION_COST_MAX = 100 };
const char *transition_cost_text(const struct table *t, size_t row, const struct transition_verdict *v,
                                 char out[TRANSITION_COST_MAX]);

void transition_findings(FILE *out, const struct table *t);

/*
 * The transitions table at one number of active cores for a person: a matrix of latencies, from x to, at most 100
 * columns wide. Kernels that behave alike towards all others (kind, halts, frequencies within 1 %, latencies within
 * 5 % or 1.5 us) and show nothing among themselves share a line; what does not fit goes into further matrices. Then the
 * phases of what was found, and what would have been found where nothing was.
 */
void transition_matrix_print(FILE *out, bool colour, const struct table *t, unsigned cores);
