/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/phases.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "util/json_lines.h"

enum { VALUE_DIGITS = 7, TIME_DECIMALS = 3 };

/* A value rounded to seven significant digits, more than any measurement here has; null when it was not measured. */
static json_t *phases_json_number(double value)
{
    return json_lines_rounded(value, VALUE_DIGITS);
}

/* A time, to the nanosecond however long the recording is: phases must still meet after rounding. */
static json_t *time_us(double value)
{
    if (!isfinite(value))
        return json_null();
    double scale = pow(10.0, TIME_DECIMALS);
    return fabs(value) < 1e12 ? json_real(round(value * scale) / scale + 0.0) : phases_json_number(value);
}

/* [lo, hi], or null when there are no limits at all. */
static json_t *phases_json_limits(const struct estimate *e, json_t *(*form)(double))
{
    if (!isfinite(e->lo) && !isfinite(e->hi))
        return json_null();
    return json_pack("[o,o]", form(e->lo), form(e->hi));
}

/* A value and its limits under their two keys. */
static void phases_json_put(json_t *o, const char *key, const char *limits_key, const struct estimate *e,
                            json_t *(*form)(double), bool *failed)
{
    json_lines_put(o, key, form(e->value), failed);
    json_lines_put(o, limits_key, phases_json_limits(e, form), failed);
}

static json_t *modes_of(const struct phase *p, bool *failed)
{
    json_t *modes = json_array();
    for (size_t i = 0; i < p->n_modes && i < PHASE_MODES_MAX; i++)
        json_lines_push(modes,
                        json_pack("{s:o, s:o}", "duration_us", time_us(p->modes[i].duration_us), "share",
                                  phases_json_number(p->modes[i].share)),
                        failed);
    return modes;
}

/* One side of a ramp behind the fine part of a long recording; null: it does not change. `unit`: of its ends. */
static json_t *side_object(const struct ramp_side *s, const char *unit, bool *failed)
{
    static const char *const ends[] = {"from", "to"};
    if (!(s->tau_us.value > 0))
        return json_null();
    json_t *o = json_object();
    phases_json_put(o, "start_us", "start_ci95_us", &s->begin_us, time_us, failed);
    phases_json_put(o, "end_us", "end_ci95_us", &s->end_us, time_us, failed);
    phases_json_put(o, "tau_us", "tau_ci95_us", &s->tau_us, time_us, failed);
    for (int i = 0; i < 2; i++) {
        char key[24], limits[24];
        snprintf(key, sizeof key, "%s_%s", ends[i], unit);
        snprintf(limits, sizeof limits, "%s_ci95_%s", ends[i], unit);
        phases_json_put(o, key, limits, i ? &s->to : &s->from, phases_json_number, failed);
    }
    json_lines_put(o, "agreeing_runs", json_integer((json_int_t)s->runs), failed);
    return o;
}

static json_t *phase_object(const struct phase *p, bool *failed)
{
    static const char *const share_keys[] = {"lvl0", "lvl1", "lvl2", "throttle"};
    json_t *o = json_pack("{s:s, s:o}", "kind", phases_kind_name(p->kind), "start_us", time_us(p->start_us));
    phases_json_put(o, "duration_us", "duration_ci95_us", &p->duration_us, time_us, failed);
    phases_json_put(o, "freq_ghz", "freq_ci95_ghz", &p->freq_ghz, phases_json_number, failed);
    json_lines_put(o, "ipc", phases_json_number(p->ipc), failed);
    json_lines_put(o, "ipc_ratio", phases_json_number(p->ipc_ratio), failed);
    json_lines_put(o, "volts", phases_json_number(p->volts), failed);
    json_lines_put(o, "level", p->level < 0 ? json_null() : json_integer(p->level), failed);
    json_lines_put(o, "agreeing_runs", json_integer((json_int_t)p->agreeing_runs), failed);
    for (size_t i = 0; i < sizeof(share_keys) / sizeof(share_keys[0]); i++)
        json_lines_put(o, share_keys[i], phases_json_number(p->share[i]), failed);
    if (p->tau_us.value > 0) {
        phases_json_put(o, "from_ghz", "from_ci95_ghz", &p->from_ghz, phases_json_number, failed);
        phases_json_put(o, "to_ghz", "to_ci95_ghz", &p->to_ghz, phases_json_number, failed);
        phases_json_put(o, "tau_us", "tau_ci95_us", &p->tau_us, time_us, failed);
    }
    if (p->clock_ramp.tau_us.value > 0 || p->rate_ramp.tau_us.value > 0) {
        json_lines_put(o, "clock_ramp", side_object(&p->clock_ramp, "ghz", failed), failed);
        json_lines_put(o, "rate_ramp", side_object(&p->rate_ramp, "ratio", failed), failed);
        json_lines_put(o, "cannot_exclude", p->clock_unsure ? json_string("throttling") : json_null(), failed);
    }
    if (p->n_modes > 1)
        json_lines_put(o, "modes", modes_of(p, failed), failed);
    if (p->why[0] != '\0')
        json_lines_put(o, "why", json_lines_text(p->why), failed);
    return o;
}

static json_t *transition_object(const struct transition *t)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "at_us", time_us(t->at_us), "latency_us",
                     time_us(t->latency_us.value), "latency_ci95_us", phases_json_limits(&t->latency_us, time_us),
                     "from_ghz", phases_json_number(t->from_ghz), "to_ghz", phases_json_number(t->to_ghz), "halts",
                     (json_int_t)t->halts, "agreeing_runs", (json_int_t)t->agreeing_runs);
}

static json_t *volt_step_object(const struct volt_step *v)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:I}", "begin_us", time_us(v->begin_us), "end_us", time_us(v->end_us),
                     "from_v", phases_json_number(v->from_v), "to_v", phases_json_number(v->to_v), "agreeing_runs",
                     (json_int_t)v->agreeing_runs);
}

static json_t *phases_json_head(const struct phases *p, bool *failed)
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
        json_lines_push(levels, phases_json_number(p->levels_ghz[i]), failed);
        json_lines_push(level_limits, phases_json_limits(&p->levels[i], phases_json_number), failed);
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
    json_t *root = phases_json_head(p, &failed);
    put_lists(root, p, &failed);
    json_t *detectable = json_pack("{s:o, s:o, s:o, s:o, s:o}", "freq_step", phases_json_number(p->detectable_freq),
                                   "freq_step_us", time_us(p->detectable_freq_us), "throttle_ipc_ratio",
                                   phases_json_number(p->detectable_throttle), "throttle_us",
                                   time_us(p->detectable_throttle_us), "halt_us", time_us(p->detectable_halt_us));
    json_lines_put(root, "detectable", detectable, &failed);
    return json_lines_dump(root, failed);
}
