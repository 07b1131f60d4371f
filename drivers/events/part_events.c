/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of the part that is measured. */
#include "drivers/events/part_events.h"

#include <stdio.h>
#include <string.h>

void part_events_lack(struct part_events *p, const char *why, const char *remedy)
{
    for (int i = 0; i < EVENTS_LICENSES; i++) {
        snprintf(p->license[i].why, sizeof p->license[i].why, "no license counters: %.270s", why);
        p->license[i].remedy = remedy;
    }
}

bool part_events_find(struct part_events *p, const struct native *s, const struct perf_pmu *pmu, const char *data_dir)
{
    struct machine_error err;
    const char *model = "--machine model:NAME has them";

    p->pmu = *pmu;
    if (s->contradicts) {
        snprintf(p->no_table, sizeof p->no_table,
                 "this CPU's model number does not match its features, so no event table can be trusted");
    } else if (events_find(data_dir, &s->id, pmu->name, &p->table, &err) != MACHINE_OK) {
        snprintf(p->no_table, sizeof p->no_table, "%.299s", err.text);
    } else {
        p->has_table = true;
    }
    if (events_amd(s->id.vendor)) {
        part_events_lack(p, "AMD processors have no license levels", model);
    } else if (!p->has_table) {
        part_events_lack(p, p->no_table, model);
    } else if (p->table.license[EVENTS_LVL0] < 0) {
        char why[200];
        snprintf(why, sizeof why, "no license events have been published for %s", p->table.title);
        part_events_lack(p, why, model);
    } else {
        return true;
    }
    return false;
}

void part_events_tested(struct part_events *p, int status, const struct machine_error *err,
                        const struct perf_license_counts *counts)
{
    struct perf_license_verdict verdict;

    if (status != MACHINE_OK) {
        snprintf(p->remedy, sizeof p->remedy, "%s",
                 err->remedy[0] != '\0' ? err->remedy
                                        : "stop other users of the counters (perf), or use --machine model:NAME");
        part_events_lack(p, err->text, p->remedy);
        return;
    }
    perf_license_judge(counts, p->table.level_of, &verdict);
    for (int i = 0; i < EVENTS_LICENSES; i++) {
        struct lack *l = &p->license[i];
        snprintf(l->why, sizeof l->why, "%s%s", verdict.why[i][0] != '\0' ? "no license counters: " : "",
                 verdict.why[i]);
        l->remedy = "stop whatever else runs on the core, or use --machine model:NAME";
    }
    if (!counts->has_throttle && p->table.license[EVENTS_THROTTLE] >= 0) {
        snprintf(p->remedy, sizeof p->remedy, "%s", counts->throttle_remedy);
        p->license[EVENTS_THROTTLE].remedy = p->remedy;
    }
}

int part_events_by_name(const struct machine *m, const char *name, uint64_t *code, struct machine_error *err)
{
    struct part_events *p = ((const struct native *)m->state)->events;

    if (!p->has_table) {
        return machine_fail(err, MACHINE_CANNOT, "give its code: --event 0x28:0x08",
                            "event names are not available here: %s", p->no_table);
    }
    const struct events_entry *e = events_by_name(&p->table, name, err);
    *code = e != NULL ? e->code : 0;
    p->named = p->named || e != NULL;
    return e != NULL ? MACHINE_OK : (int)err->status;
}

int part_events_named(const struct machine *m, uint32_t select, struct machine_event *out, size_t max, size_t *n,
                      struct machine_error *err)
{
    const struct part_events *p = ((const struct native *)m->state)->events;

    *n = 0;
    if (!p->has_table)
        return machine_fail(err, MACHINE_CANNOT, "", "event names are not available here: %s", p->no_table);
    *n = events_by_select(&p->table, select, out, max);
    return MACHINE_OK;
}

int part_events_check(const struct part_events *p, const struct native *s, struct perf_pmu *pmu,
                      struct machine_error *err)
{
    char text[EVENT_COLUMN_MAX];

    perf_find_pmu(s->sys, s->cpu, pmu);
    if (p->named && strcmp(pmu->name, p->pmu.name) != 0) {
        return machine_fail(err, MACHINE_CANNOT, "give the code, as in --event 0x28:0x08, or choose another CPU",
                            "the event names are those of %s, but CPU %d counts with %s", p->pmu.name, s->cpu,
                            pmu->name);
    }
    /* of other processors Linux takes 35:32 of a code for nothing, and would count another event */
    for (size_t i = 0; i < s->setup.n_counters && !events_amd(s->id.vendor); i++) {
        const struct counter_spec *c = &s->counters[i];
        if (c->id == COUNTER_EVENT && event_code_select(c->event) > EVENT_SELECT_MAX) {
            event_code_format(c->event, text, sizeof text);
            return machine_fail(err, MACHINE_CANNOT, "give an event select of 0x00 to 0xff",
                                "event %s cannot be counted: only AMD processors have event selects above 0xff, and "
                                "this CPU's vendor is %.12s",
                                text, s->id.vendor);
        }
    }
    return MACHINE_OK;
}

uint64_t part_events_code(const struct part_events *p, const struct counter_spec *c)
{
    if (c->id == COUNTER_EVENT)
        return c->event;
    return part_events_is_license(c->id) ? p->table.entries[p->table.license[c->id - COUNTER_LVL0]].code : 0;
}

int part_events_turn(enum counter_id id)
{
    return id == COUNTER_EVENT ? 1 : part_events_is_license(id) ? 2 : 0;
}
