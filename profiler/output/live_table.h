/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contents and order of the live view, and the effects of keys: everything but the terminal. Texts are plain
 * (util/plain_text.h). */
#pragma once

#include "profiler/output/terminal.h"
#include "profiler/profile.h"
#include "util/order.h"

enum live_column {
    LIVE_NAME,
    LIVE_SHARE,
    LIVE_OVERHEAD,
    LIVE_SIBLING,
    LIVE_DELAY,
    LIVE_DEMANDS_1,
    LIVE_DEMANDS_2,
    LIVE_CAUSES,
    LIVE_SAMPLES,
    LIVE_COLUMNS,
};

/* The orders of rows. */
enum live_order {
    LIVE_BY_IMPACT,
    LIVE_BY_OVERHEAD,
    LIVE_BY_SHARE,
    LIVE_BY_SAMPLES,
    LIVE_BY_CAUSES,
    LIVE_BY_NAME,
    LIVE_ORDERS
};
extern const char *const live_order_names[LIVE_ORDERS];

struct live_table {
    enum profile_kind kind; /* tasks, containers or cores */
    enum live_order by;
    bool reversed, paused, help, quit;
    struct profile_result *frozen; /* the result shown while paused */

    struct order_key *order; /* of the n rows of the kind: their numbers in the result, as they are shown */
    size_t n, room;
    size_t selected, top;      /* in order; top: the first one on the screen */
    bool picked;               /* somebody went there: the row that is there now */
    bool followed;             /* ... stays selected wherever it goes */
    struct profile_row chosen; /* the selected one, by what distinguishes it */
};

void live_table_init(struct live_table *t);
void live_table_free(struct live_table *t);

/*
 * Puts the rows in order for a screen of so many (at least 1), and returns the result that is to be shown: this one, or
 * a copy of an earlier one while the view is paused. NULL: out of memory.
 */
const struct profile_result *live_table_arrange(struct live_table *t, const struct profile_result *r, size_t screen);

/* Does what a key requests; `screen`: rows on it. What it changes shows after live_table_arrange(). */
void live_table_key(struct live_table *t, int key, size_t screen);

/* The heading and the width of a column (the name's is the least it needs). */
const char *live_table_heading(enum live_column column, enum profile_kind kind);
unsigned live_table_width(enum live_column column);
/* The columns for which a line of so many characters has room; the name always. *name receives its width. */
void live_table_columns(unsigned width, bool shown[LIVE_COLUMNS], unsigned *name);
/* The content of a column, in percent except for samples; "-" where it is not known. */
void live_table_cell(const struct profile_row *row, enum live_column column, char *out, size_t size);
