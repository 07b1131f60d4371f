/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What scalar code loses beside a neighbor: no table of its own, but measured with the options of one. */
#include "tables/frequency/frequency_beside.h"

#include "tables/registry.h"

int frequency_beside(struct machine *m, const struct tables_options *o, const struct payload *neighbor,
                     struct beside_result *out, struct machine_error *err)
{
    const struct payload plain = kernel_named("64add");
    struct tables_context x = {.machine = m, .options = o};
    struct cell c = {.id = "beside", .a = plain, .cpu = o->cpu, .active_cores = o->n_active ? o->active[0] : 0};
    struct beside_setup s;
    m->ops->info(m, &x.info);
    beside_defaults(&s, &plain, neighbor);
    s.machine = tables_setup(&x, table_frequency.name, &c);
    s.machine.corunner = plain;
    s.seconds = o->seconds > 0 ? o->seconds : s.seconds;
    return beside_run(m, &s, out, err);
}
