/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/phases.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"steady", "throttle", "halt", "slow", "ramp", "unknown"};

const char *phases_kind_name(enum phase_kind k)
{
    return kind_names[k];
}

bool phases_is_steady(const struct phase *p)
{
    return p->kind == PHASE_STEADY || p->kind == PHASE_SLOW;
}

int phases_add_transition(struct phases *p, struct transition t)
{
    struct transition *bigger = realloc(p->transitions, (p->n_transitions + 1) * sizeof *bigger);
    if (!bigger)
        return -1;
    p->transitions = bigger;
    size_t i = p->n_transitions++;
    for (; i && bigger[i - 1].at_us > t.at_us; i--)
        bigger[i] = bigger[i - 1];
    bigger[i] = t;
    return 0;
}

int phases_warn(struct phases *out, const char *format, ...)
{
    char **bigger = realloc(out->warnings, (out->n_warnings + 1) * sizeof *bigger);
    if (!bigger)
        return -1;
    out->warnings = bigger;
    va_list ap;
    va_start(ap, format);
    int length = vasprintf(&bigger[out->n_warnings], format, ap);
    va_end(ap);
    if (length < 0)
        return -1;
    out->n_warnings++;
    return 0;
}

int phases_warn_first(struct phases *p, const char *text)
{
    if (phases_warn(p, "%s", text))
        return -1;
    char *own = p->warnings[p->n_warnings - 1];
    memmove(p->warnings + 1, p->warnings, (p->n_warnings - 1) * sizeof own);
    p->warnings[0] = own;
    return 0;
}

int phases_discard(struct phases *out, uint32_t run, const char *format, ...)
{
    struct discarded_run *bigger = realloc(out->discarded, (out->n_discarded + 1) * sizeof *bigger);
    if (!bigger)
        return -1;
    out->discarded = bigger;
    struct discarded_run *d = &bigger[out->n_discarded++];
    d->run = run;
    va_list ap;
    va_start(ap, format);
    vsnprintf(d->why, sizeof d->why, format, ap);
    va_end(ap);
    return 0;
}

/* As trace/discarded.h calls them. */
static int add_invalid(void *phases, uint32_t run, const char *why)
{
    struct phases *p = phases;
    p->runs++;
    return phases_discard(p, run, "%s", why);
}

static int warn_unreadable(void *phases, const char *entry)
{
    return phases_warn(phases, "unreadable entry in the trace's list of discarded repetitions: '%.60s'", entry);
}

static int phases_by_run(const void *a, const void *b)
{
    const struct discarded_run *x = a, *y = b;
    return (x->run > y->run) - (x->run < y->run);
}

int phases_add_discarded(const struct trace *t, struct phases *p)
{
    int status = discarded_each(t, add_invalid, warn_unreadable, p);
    if (p->n_discarded > 1)
        qsort(p->discarded, p->n_discarded, sizeof *p->discarded, phases_by_run);
    return status;
}

bool phases_discarded(const struct phases *p, uint32_t run)
{
    for (size_t i = 0; i < p->n_discarded; i++)
        if (p->discarded[i].run == run)
            return true;
    return false;
}

void phases_free(struct phases *p)
{
    free(p->cpu);
    free(p->machine);
    free(p->from);
    free(p->to);
    free(p->levels_ghz);
    free(p->levels);
    free(p->phases);
    free(p->transitions);
    free(p->volt_steps);
    free(p->discarded);
    for (size_t i = 0; i < p->n_warnings; i++)
        free(p->warnings[i]);
    free(p->warnings);
    memset(p, 0, sizeof *p);
}
