/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one rule of when to stop: more repetitions where limits are wide and there is time, none where they suffice. */
#pragma once

#include <stdbool.h>

struct stop_rule {
    unsigned least, most; /* rounds */
    double seconds;       /* of the machine's time */
    double enough;        /* half of the width of limits that suffices, in their unit; 0: none does */
};

/* Returns true if it is time to stop after so many rounds and seconds, with half the width of the widest limits in
 * `half` (NaN: there are none). */
static inline bool stop_here(const struct stop_rule *s, unsigned rounds, double seconds, double half)
{
    return rounds >= s->most || (rounds >= s->least && (half <= s->enough || seconds >= s->seconds));
}
