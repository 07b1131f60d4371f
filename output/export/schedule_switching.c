/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduler parameters that the system decides, not the processor alone: switches, migrations and faults. */
#include <string.h>

#include "output/export/schedule_parts.h"

bool schedule_put_switching(struct schedule *s, const struct table *t)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        size_t i = 0;
        while (i < SWITCHING_KINDS && !table_says(t, row, "what", switching_names[i]))
            i++;
        struct schedule_number ns = {.present = false};
        const bool done = i == SWITCHING_KINDS ? schedule_ignore(s, t, "what is not switch, migration or fault")
                                               : schedule_take_cost(s, t, row, "us", &ns);
        if (!done)
            return false;
        if (ns.present && (!s->switching_ns[i].present || ns.value > s->switching_ns[i].value))
            s->switching_ns[i] = ns;
    }
    return true;
}
