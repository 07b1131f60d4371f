/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a switch goes on to change the rate or the frequency for far longer than a recording lasts, too slowly for
 * that to show it: what fades over 100 ms looks steady for 150 us.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "probes/transition.h"

struct later {
    struct machine *machine;
    const struct transition_setup *setup; /* the recording's */
    bool falls_only;                      /* a frequency that rises is not awaited */
    unsigned number;                      /* of this question: no two may have the same */
    repetitions_progress *progress;       /* asked with 0, 0; non-zero: stop */
    void *data;
};

/*
 * Holds what the second kernel does at the end of the recording against what it does SLOWEST_US after the switch: two
 * looks, or up to eight where these differ by 1 %, which take seconds (*took_seconds). *moves: all of them say so, and
 * `why` says what. MACHINE_OK, or *err is filled and its status returned.
 */
int later_moves(const struct later *x, bool *moves, bool *took_seconds, char *why, size_t why_size,
                struct machine_error *err);
