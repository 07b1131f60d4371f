/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/model/model_events.h"

#include <stdio.h>
#include <stdlib.h>

#include "drivers/events/events.h"

/* The table of the modelled CPU, to be freed; NULL: *err says why not. */
static struct events_table *find_table(const struct model *m, const char *data_dir, struct machine_error *err)
{
    struct cpu_identity id = {
        .vendor = "GenuineIntel", .family = m->family, .model = m->model, .stepping = m->stepping};
    struct events_table *table = malloc(sizeof *table);
    snprintf(id.signature, sizeof id.signature, "%02X_%02XH-%u", m->family, m->model, m->stepping);
    if (!table) {
        machine_fail(err, MACHINE_FAILED, "", "out of memory");
    } else if (events_find(data_dir, &id, "cpu", table, err) != MACHINE_OK) {
        free(table);
        table = NULL;
    }
    return table;
}

int model_event_by_name(const struct model *m, const char *data_dir, const char *name, uint64_t *code,
                        struct machine_error *err)
{
    struct events_table *table = find_table(m, data_dir, err);
    if (!table && err->status == MACHINE_CANNOT)
        snprintf(err->remedy, sizeof err->remedy, "give its code: --event 0x28:0x08");
    if (!table)
        return (int)err->status;
    const struct events_entry *e = events_by_name(table, name, err);
    *code = e ? e->code : 0;
    free(table);
    return e ? MACHINE_OK : (int)err->status;
}

int model_events_named(const struct model *m, const char *data_dir, uint32_t select, struct machine_event *out,
                       size_t max, size_t *n, struct machine_error *err)
{
    struct events_table *table = find_table(m, data_dir, err);
    *n = table ? events_by_select(table, select, out, max) : 0;
    if (!table)
        return (int)err->status;
    free(table);
    return MACHINE_OK;
}
