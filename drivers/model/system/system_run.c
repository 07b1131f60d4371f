/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system in time. Cores go on independently of each other until the number of those that are active changes. */
#include "drivers/model/system/system.h"

static bool system_core_active(const struct system *s, const struct system_core *k)
{
    for (unsigned i = 0; i < s->n_threads; i++)
        if (k->thread[i].task != SYSTEM_NOBODY)
            return true;
    return false;
}

/* All cores have the turbo bin of so many active ones from now on. */
static void system_count_active(struct system *s, double at)
{
    unsigned active = s->elsewhere;
    for (unsigned i = 0; i < s->n_cores; i++)
        active += system_core_active(s, &s->core[i]);
    if (active == 0)
        active = 1;
    if (active == s->active)
        return;
    for (unsigned i = 0; i < s->n_cores; i++)
        system_core_advance(s, &s->core[i], at, NULL);
    s->active = active;
    for (unsigned i = 0; i < s->n_cores; i++)
        system_core_demand(s, &s->core[i]);
}

static void system_do_switch(struct system *s, const struct system_switch *w)
{
    struct system_core *k = system_core_of(s, w->cpu);
    struct system_thread *t = system_thread_of(s, w->cpu);
    system_core_advance(s, k, w->at, NULL);
    t->assigned = w->task;
    /* with interrupts masked it is done when they are not any more */
    if (t->mode == SYSTEM_RUNS)
        system_core_mode(s, w->cpu, SYSTEM_RUNS);
    system_count_active(s, w->at);
}

static void system_do_switches(struct system *s, double until)
{
    while (s->next.at <= until && !system_stopped(s)) {
        system_do_switch(s, &s->next);
        s->next = system_schedule_next(&s->schedule, s->task);
    }
}

void system_advance(struct system *s, double until, unsigned cpu)
{
    system_do_switches(s, until);
    system_core_advance(s, system_core_of(s, cpu), until, NULL);
}

void system_finish(struct system *s, double until)
{
    system_do_switches(s, until);
    for (unsigned i = 0; i < s->n_cores; i++)
        system_core_advance(s, &s->core[i], until, NULL);
}
