/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Brackets of cells. */
#include "tables/table/bracket_cells.h"

void bracket_cells_take_options(const struct tables_context *x, const char *table, const struct cell *c,
                                struct brackets_setup *s)
{
    const struct tables_options *o = x->options;
    s->machine = tables_setup(x, table, c);
    s->period_us = o->period_us > 0 ? o->period_us : s->period_us;
    s->observe_us = o->observe_us > 0 ? o->observe_us : s->observe_us;
    s->before_us = o->warmup_us > 0 ? o->warmup_us : s->before_us;
}

int bracket_cells_run(const struct tables_context *x, const struct brackets_setup *s, struct brackets_result *out,
                      struct machine_error *err)
{
    struct tables_context own = *x;
    struct brackets_setup shown = *s;
    shown.progress = tables_on_progress;
    shown.data = &own;
    return brackets_run(x->machine, &shown, out, err);
}
