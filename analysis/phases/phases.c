/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of phases and transitions: warnings, discarded repetitions, and its JSON form (characterize-phases/1). */
#include "analysis/phases/phases.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/ramps/ramp_fit.h"
#include "util/json_lines.h"
#include "util/list.h"
#include "util/order.h"

#define COUNTED_SHARE 0.5 /* of the cycles */
#define NO_TIME_US 0.05   /* is reported as 0.0 us */
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
    /* Characters of a metadata entry that a warning quotes. */
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

/* Significant digits of values, decimals of times in us: beyond what any recording resolves. */
enum { VALUE_DIGITS = 7, TIME_DECIMALS = 3 };

/* A value rounded to seven significant digits, more than any measurement here has; null when it was not measured. */
static json_t *json_number(double value)
{
    return json_lines_rounded(value, VALUE_DIGITS);
}

/* A time, to the nanosecond however long the recording is: phases must still meet after rounding. */
static json_t *time_us(double value)
{
    if (!isfinite(value))
        return json_null();
    double scale = pow(10.0, TIME_DECIMALS);
    return fabs(value) < 1e12 ? json_real(round(value * scale) / scale + 0.0) : json_number(value);
}

/* [lo, hi], or null when there are no limits at all. */
static json_t *json_limits(const struct estimate *e, json_t *(*form)(double))
{
    if (!isfinite(e->lo) && !isfinite(e->hi))
        return json_null();
    return json_pack("[o,o]", form(e->lo), form(e->hi));
}

/* A value and its limits under their two keys. */
static void json_put(json_t *o, const char *key, const char *limits_key, const struct estimate *e,
                     json_t *(*form)(double), bool *failed)
{
    json_lines_put(o, key, form(e->value), failed);
    json_lines_put(o, limits_key, json_limits(e, form), failed);
}

static json_t *modes_of(const struct phase *p, bool *failed)
{
    json_t *modes = json_array();
    for (size_t i = 0; i < p->n_modes && i < PHASE_MODES_MAX; i++)
        json_lines_push(modes,
                        json_pack("{s:o, s:o}", "duration_us", time_us(p->modes[i].duration_us), "share",
                                  json_number(p->modes[i].share)),
                        failed);
    return modes;
}

/* One side of a ramp after the fine part of a long recording; null: it does not change. `unit`: of its ends. */
static json_t *side_object(const struct ramp_side *s, const char *unit, bool *failed)
{
    static const char *const ends[] = {"from", "to"};
    if (!(s->tau_us.value > 0))
        return json_null();
    json_t *o = json_object();
    json_put(o, "start_us", "start_ci95_us", &s->begin_us, time_us, failed);
    json_put(o, "end_us", "end_ci95_us", &s->end_us, time_us, failed);
    json_put(o, "tau_us", "tau_ci95_us", &s->tau_us, time_us, failed);
    for (int i = 0; i < 2; i++) {
        char key[24], limits[24];
        snprintf(key, sizeof key, "%s_%s", ends[i], unit);
        snprintf(limits, sizeof limits, "%s_ci95_%s", ends[i], unit);
        json_put(o, key, limits, i ? &s->to : &s->from, json_number, failed);
    }
    json_lines_put(o, "agreeing_runs", json_integer((json_int_t)s->runs), failed);
    return o;
}

static json_t *phase_object(const struct phase *p, bool *failed)
{
    static const char *const share_keys[] = {"lvl0", "lvl1", "lvl2", "throttle"};
    json_t *o = json_pack("{s:s, s:o}", "kind", phases_kind_name(p->kind), "start_us", time_us(p->start_us));
    json_put(o, "duration_us", "duration_ci95_us", &p->duration_us, time_us, failed);
    json_put(o, "freq_ghz", "freq_ci95_ghz", &p->freq_ghz, json_number, failed);
    json_lines_put(o, "ipc", json_number(p->ipc), failed);
    json_lines_put(o, "ipc_ratio", json_number(p->ipc_ratio), failed);
    json_lines_put(o, "volts", json_number(p->volts), failed);
    json_lines_put(o, "level", p->level < 0 ? json_null() : json_integer(p->level), failed);
    json_lines_put(o, "agreeing_runs", json_integer((json_int_t)p->agreeing_runs), failed);
    for (size_t i = 0; i < sizeof(share_keys) / sizeof(share_keys[0]); i++)
        json_lines_put(o, share_keys[i], json_number(p->share[i]), failed);
    if (p->tau_us.value > 0) {
        json_put(o, "from_ghz", "from_ci95_ghz", &p->from_ghz, json_number, failed);
        json_put(o, "to_ghz", "to_ci95_ghz", &p->to_ghz, json_number, failed);
        json_put(o, "tau_us", "tau_ci95_us", &p->tau_us, time_us, failed);
    }
    if (p->clock_ramp.tau_us.value > 0 || p->rate_ramp.tau_us.value > 0) {
        json_lines_put(o, "clock_ramp", side_object(&p->clock_ramp, "ghz", failed), failed);
        json_lines_put(o, "rate_ramp", side_object(&p->rate_ramp, "ratio", failed), failed);
    }
    if (p->clock_unsure || p->clock_ramp.tau_us.value > 0 || p->rate_ramp.tau_us.value > 0)
        json_lines_put(o, "cannot_exclude", p->clock_unsure ? json_string("throttling") : json_null(), failed);
    if (p->n_modes > 1)
        json_lines_put(o, "modes", modes_of(p, failed), failed);
    if (p->why[0] != '\0')
        json_lines_put(o, "why", json_lines_text(p->why), failed);
    return o;
}

static json_t *transition_object(const struct transition *t)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "at_us", time_us(t->at_us), "latency_us",
                     time_us(t->latency_us.value), "latency_ci95_us", json_limits(&t->latency_us, time_us), "from_ghz",
                     json_number(t->from_ghz), "to_ghz", json_number(t->to_ghz), "halts", (json_int_t)t->halts,
                     "agreeing_runs", (json_int_t)t->agreeing_runs);
}

static json_t *volt_step_object(const struct volt_step *v)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:I}", "begin_us", time_us(v->begin_us), "end_us", time_us(v->end_us),
                     "from_v", json_number(v->from_v), "to_v", json_number(v->to_v), "agreeing_runs",
                     (json_int_t)v->agreeing_runs);
}

static json_t *json_head(const struct phases *p, bool *failed)
{
    json_t *root = json_pack("{s:s, s:o, s:o, s:b, s:o, s:o, s:I, s:I, s:I, s:I}", "format", "characterize-phases/1",
                             "cpu", json_lines_text(p->cpu), "machine", json_lines_text(p->machine), "modelled",
                             p->modelled, "from", json_lines_text(p->from), "to", json_lines_text(p->to), "runs",
                             (json_int_t)p->runs, "runs_used", (json_int_t)p->runs_used, "samples",
                             (json_int_t)p->samples, "samples_discarded", (json_int_t)p->samples_discarded);
    if (p->samples_lost > 0)
        json_lines_put(root, "samples_lost", json_integer((json_int_t)p->samples_lost), failed);
    if (p->environment != NULL)
        json_lines_put(root, "environment", json_lines_text(p->environment), failed);
    json_t *levels = json_lines_array(root, "levels_ghz", failed);
    json_t *level_limits = json_lines_array(root, "levels_ci95_ghz", failed);
    for (size_t i = 0; i < p->n_levels; i++) {
        json_lines_push(levels, json_number(p->levels_ghz[i]), failed);
        json_lines_push(level_limits, json_limits(&p->levels[i], json_number), failed);
    }
    return root;
}

static void put_lists(json_t *root, const struct phases *p, bool *failed)
{
    json_t *list = json_lines_array(root, "phases", failed);
    for (size_t i = 0; i < p->n_phases; i++)
        json_lines_push(list, phase_object(&p->phases[i], failed), failed);
    list = json_lines_array(root, "transitions", failed);
    for (size_t i = 0; i < p->n_transitions; i++)
        json_lines_push(list, transition_object(&p->transitions[i]), failed);
    list = json_lines_array(root, "volt_steps", failed);
    for (size_t i = 0; i < p->n_volt_steps; i++)
        json_lines_push(list, volt_step_object(&p->volt_steps[i]), failed);
    list = json_lines_array(root, "discarded", failed);
    for (size_t i = 0; i < p->n_discarded; i++)
        json_lines_push(list,
                        json_pack("{s:I, s:o}", "run", (json_int_t)p->discarded[i].run, "why",
                                  json_lines_text(p->discarded[i].why)),
                        failed);
    list = json_lines_array(root, "warnings", failed);
    for (size_t i = 0; i < p->n_warnings; i++)
        json_lines_push(list, json_lines_text(p->warnings[i]), failed);
}

char *phases_to_json(const struct phases *p)
{
    bool failed = false;
    json_t *root = json_head(p, &failed);
    put_lists(root, p, &failed);
    json_t *detectable = json_pack("{s:o, s:o, s:o, s:o, s:o}", "freq_step", json_number(p->detectable_freq),
                                   "freq_step_us", time_us(p->detectable_freq_us), "throttle_ipc_ratio",
                                   json_number(p->detectable_throttle), "throttle_us",
                                   time_us(p->detectable_throttle_us), "halt_us", time_us(p->detectable_halt_us));
    json_lines_put(root, "detectable", detectable, &failed);
    return json_lines_dump(root, failed);
}
