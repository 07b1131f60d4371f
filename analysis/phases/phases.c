/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/phases.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/ramps/ramp_fit.h"
#include "util/list.h"
#include "util/order.h"

#define COUNTED_SHARE 0.5 /* of the cycles */
#define NO_TIME_US 0.05   /* is told as 0.0 us */
#define NO_TIME_SHARE 0.9 /* of the repetitions */

static const char *const kind_names[] = {"steady", "throttle", "halt", "slow", "ramp", "unknown"};

const char *phases_kind_name(enum phase_kind k)
{
    return kind_names[k];
}

bool phases_is_steady(const struct phase *p)
{
    return p->kind == PHASE_STEADY || p->kind == PHASE_SLOW;
}

bool phases_counts_throttled(const struct phase *p)
{
    return p->share[3] > COUNTED_SHARE;
}

bool phases_rate_ramps(const struct phase *p)
{
    return p->kind == PHASE_RAMP && p->rate_ramp.tau_us.value > 0;
}

struct estimate phases_ramp_ratio(const struct phase *p)
{
    const struct ramp_side *r = &p->rate_ramp;
    double missing = 1 - p->ipc_ratio, tau = estimate_half_known(&r->tau_us) / r->tau_us.value;
    double deep = estimate_half_known(&r->from) / fabs(1 - r->from.value);
    return estimate_around(p->ipc_ratio, fabs(missing) * hypot(tau, deep));
}

struct estimate phases_ramp_mean(const struct phase *p)
{
    double tau = p->tau_us.value, us = p->duration_us.value, part = ramp_decay_integral(us, tau) / us; /* of the way */
    double way = p->from_ghz.value - p->to_ghz.value, of_tau = estimate_half_known(&p->tau_us) / tau;
    double ends = hypot(part * estimate_half_known(&p->from_ghz), (1 - part) * estimate_half_known(&p->to_ghz));
    return estimate_around(p->to_ghz.value + part * way, hypot(ends, part * way * of_tau));
}

void phases_leave_out_timeless(struct phases *p)
{
    const size_t all = p->n_phases;
    p->n_phases = 0;
    for (size_t i = 0; i < all; i++) {
        const struct phase *ph = &p->phases[i];
        const bool alike = ph->n_modes < 2 || ph->modes[0].share > NO_TIME_SHARE;
        if (all == 1 || !alike || !(ph->duration_us.value < NO_TIME_US))
            p->phases[p->n_phases++] = *ph;
    }
}

int phases_add_transition(struct phases *p, struct transition t)
{
    if (!list_room(&p->transitions, p->n_transitions, sizeof *p->transitions))
        return -1;
    size_t i = p->n_transitions++;
    for (; i && p->transitions[i - 1].at_us > t.at_us; i--)
        p->transitions[i] = p->transitions[i - 1];
    p->transitions[i] = t;
    return 0;
}

int phases_warn(struct phases *out, const char *format, ...)
{
    va_list ap;
    if (!list_room(&out->warnings, out->n_warnings, sizeof *out->warnings))
        return -1;
    va_start(ap, format);
    int length = vasprintf(&out->warnings[out->n_warnings], format, ap);
    va_end(ap);
    out->n_warnings += length >= 0;
    return length < 0 ? -1 : 0;
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
    va_list ap;
    if (!list_room(&out->discarded, out->n_discarded, sizeof *out->discarded))
        return -1;
    struct discarded_run *d = &out->discarded[out->n_discarded++];
    d->run = run;
    va_start(ap, format);
    vsnprintf(d->why, sizeof d->why, format, ap);
    va_end(ap);
    return 0;
}

int phases_add_discarded(const struct trace *t, struct phases *p)
{
    enum { SHOWN = 60 };
    struct discarded_list l = discarded_of(t);
    int got, bad = 0;
    while (!bad && (got = discarded_next(&l)) != 0) {
        p->runs += got > 0;
        bad = got > 0 ? phases_discard(p, l.run, "%.*s", l.why_length, l.why)
                      : phases_warn(p, "unreadable entry in the trace's list of discarded repetitions: '%.*s'",
                                    l.why_length < SHOWN ? l.why_length : SHOWN, l.why);
    }
    if (p->n_discarded > 1)
        qsort(p->discarded, p->n_discarded, sizeof *p->discarded, order_unsigned);
    return bad;
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
    free(p->environment);
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
