/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/phases/phases_json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/plain_text.h"

/* Digits of the dump: any decimal number of 15 digits survives a double, so the
 * dump shows what rounding leaves, whole and without a binary tail. */
enum { DUMP_DIGITS = 15, VALUE_DIGITS = 7, TIME_DECIMALS = 3 };

/* A value rounded to seven significant digits, more than any measurement here has; null when it was not measured. */
static json_t *phases_json_number(double value)
{
    if (!isfinite(value))
        return json_null();
    if (value == 0)
        return json_real(0); /* no -0.0 */
    double scale = pow(10.0, VALUE_DIGITS - 1 - (int)floor(log10(fabs(value))));
    return json_real(isfinite(scale) && scale > 0 ? round(value * scale) / scale : value);
}

/* A time, to the nanosecond however long the recording is: phases must still meet after rounding. */
static json_t *time_us(double value)
{
    if (!isfinite(value))
        return json_null();
    double scale = pow(10.0, TIME_DECIMALS);
    return fabs(value) < 1e12 ? json_real(round(value * scale) / scale + 0.0) : phases_json_number(value);
}

static json_t *phases_json_text(const char *s)
{
    if (s == NULL)
        return json_null();
    char *plain = plain_text_copy(s);
    if (plain == NULL)
        return NULL;
    json_t *string = json_string(plain);
    free(plain);
    return string;
}

/* [lo, hi], or null when there are no limits at all. */
static json_t *phases_json_limits(const struct estimate *e, json_t *(*form)(double))
{
    if (!isfinite(e->lo) && !isfinite(e->hi))
        return json_null();
    return json_pack("[o,o]", form(e->lo), form(e->hi));
}

/* Adds to an object; a NULL value means out of memory. Remembers the first failure in *failed. */
static void phases_json_put(json_t *object, const char *key, json_t *value, int *failed)
{
    if (json_object_set_new(object, key, value) != 0)
        *failed = 1;
}

static void push(json_t *array, json_t *value, int *failed)
{
    if (json_array_append_new(array, value) != 0)
        *failed = 1;
}

static json_t *phases_json_count(size_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *modes_of(const struct phase *p, int *failed)
{
    json_t *modes = json_array();
    for (size_t i = 0; i < p->n_modes && i < PHASE_MODES_MAX; i++) {
        json_t *mode = json_object();
        phases_json_put(mode, "duration_us", time_us(p->modes[i].duration_us), failed);
        phases_json_put(mode, "share", phases_json_number(p->modes[i].share), failed);
        push(modes, mode, failed);
    }
    return modes;
}

static json_t *phase_object(const struct phase *p, int *failed)
{
    static const char *const share_keys[] = {"lvl0", "lvl1", "lvl2", "throttle"};
    json_t *o = json_object();
    phases_json_put(o, "kind", json_string(phases_kind_name(p->kind)), failed);
    phases_json_put(o, "start_us", time_us(p->start_us), failed);
    phases_json_put(o, "duration_us", time_us(p->duration_us.value), failed);
    phases_json_put(o, "duration_ci95_us", phases_json_limits(&p->duration_us, time_us), failed);
    phases_json_put(o, "freq_ghz", phases_json_number(p->freq_ghz.value), failed);
    phases_json_put(o, "freq_ci95_ghz", phases_json_limits(&p->freq_ghz, phases_json_number), failed);
    phases_json_put(o, "ipc", phases_json_number(p->ipc), failed);
    phases_json_put(o, "ipc_ratio", phases_json_number(p->ipc_ratio), failed);
    phases_json_put(o, "volts", phases_json_number(p->volts), failed);
    phases_json_put(o, "level", p->level < 0 ? json_null() : json_integer(p->level), failed);
    phases_json_put(o, "agreeing_runs", phases_json_count(p->agreeing_runs), failed);
    for (size_t i = 0; i < sizeof(share_keys) / sizeof(share_keys[0]); i++)
        phases_json_put(o, share_keys[i], phases_json_number(p->share[i]), failed);
    if (p->tau_us.value > 0) {
        phases_json_put(o, "from_ghz", phases_json_number(p->from_ghz.value), failed);
        phases_json_put(o, "from_ci95_ghz", phases_json_limits(&p->from_ghz, phases_json_number), failed);
        phases_json_put(o, "to_ghz", phases_json_number(p->to_ghz.value), failed);
        phases_json_put(o, "to_ci95_ghz", phases_json_limits(&p->to_ghz, phases_json_number), failed);
        phases_json_put(o, "tau_us", time_us(p->tau_us.value), failed);
        phases_json_put(o, "tau_ci95_us", phases_json_limits(&p->tau_us, time_us), failed);
    }
    if (p->n_modes > 1)
        phases_json_put(o, "modes", modes_of(p, failed), failed);
    if (p->why[0] != '\0')
        phases_json_put(o, "why", phases_json_text(p->why), failed);
    return o;
}

static json_t *transition_object(const struct transition *t, int *failed)
{
    json_t *o = json_object();
    phases_json_put(o, "at_us", time_us(t->at_us), failed);
    phases_json_put(o, "latency_us", time_us(t->latency_us.value), failed);
    phases_json_put(o, "latency_ci95_us", phases_json_limits(&t->latency_us, time_us), failed);
    phases_json_put(o, "from_ghz", phases_json_number(t->from_ghz), failed);
    phases_json_put(o, "to_ghz", phases_json_number(t->to_ghz), failed);
    phases_json_put(o, "halts", phases_json_count(t->halts), failed);
    phases_json_put(o, "agreeing_runs", phases_json_count(t->agreeing_runs), failed);
    return o;
}

static json_t *volt_step_object(const struct volt_step *v, int *failed)
{
    json_t *o = json_object();
    phases_json_put(o, "begin_us", time_us(v->begin_us), failed);
    phases_json_put(o, "end_us", time_us(v->end_us), failed);
    phases_json_put(o, "from_v", phases_json_number(v->from_v), failed);
    phases_json_put(o, "to_v", phases_json_number(v->to_v), failed);
    phases_json_put(o, "agreeing_runs", phases_json_count(v->agreeing_runs), failed);
    return o;
}

static json_t *discarded_object(const struct discarded_run *d, int *failed)
{
    json_t *o = json_object();
    phases_json_put(o, "run", phases_json_count(d->run), failed);
    phases_json_put(o, "why", phases_json_text(d->why), failed);
    return o;
}

static void phases_json_put_head(json_t *root, const struct phases *p, int *failed)
{
    phases_json_put(root, "format", json_string("characterize-phases/1"), failed);
    phases_json_put(root, "cpu", phases_json_text(p->cpu), failed);
    phases_json_put(root, "machine", phases_json_text(p->machine), failed);
    phases_json_put(root, "modelled", json_boolean(p->modelled), failed);
    phases_json_put(root, "from", phases_json_text(p->from), failed);
    phases_json_put(root, "to", phases_json_text(p->to), failed);
    phases_json_put(root, "runs", phases_json_count(p->runs), failed);
    phases_json_put(root, "runs_used", phases_json_count(p->runs_used), failed);
    phases_json_put(root, "samples", phases_json_count(p->samples), failed);
    phases_json_put(root, "samples_discarded", phases_json_count(p->samples_discarded), failed);
    json_t *levels = json_array(), *level_limits = json_array();
    for (size_t i = 0; i < p->n_levels; i++) {
        push(levels, phases_json_number(p->levels_ghz[i]), failed);
        push(level_limits, phases_json_limits(&p->levels[i], phases_json_number), failed);
    }
    phases_json_put(root, "levels_ghz", levels, failed);
    phases_json_put(root, "levels_ci95_ghz", level_limits, failed);
}

static void put_lists(json_t *root, const struct phases *p, int *failed)
{
    json_t *phases = json_array(), *transitions = json_array(), *steps = json_array();
    json_t *discarded = json_array(), *warnings = json_array();
    for (size_t i = 0; i < p->n_phases; i++)
        push(phases, phase_object(&p->phases[i], failed), failed);
    for (size_t i = 0; i < p->n_transitions; i++)
        push(transitions, transition_object(&p->transitions[i], failed), failed);
    for (size_t i = 0; i < p->n_volt_steps; i++)
        push(steps, volt_step_object(&p->volt_steps[i], failed), failed);
    for (size_t i = 0; i < p->n_discarded; i++)
        push(discarded, discarded_object(&p->discarded[i], failed), failed);
    for (size_t i = 0; i < p->n_warnings; i++)
        push(warnings, phases_json_text(p->warnings[i]), failed);
    phases_json_put(root, "phases", phases, failed);
    phases_json_put(root, "transitions", transitions, failed);
    phases_json_put(root, "volt_steps", steps, failed);
    phases_json_put(root, "discarded", discarded, failed);
    phases_json_put(root, "warnings", warnings, failed);
}

static json_t *phases_json_to_tree(const struct phases *p)
{
    int failed = 0;
    json_t *root = json_object();
    phases_json_put_head(root, p, &failed);
    put_lists(root, p, &failed);
    json_t *detectable = json_object();
    phases_json_put(detectable, "freq_step", phases_json_number(p->detectable_freq), &failed);
    phases_json_put(detectable, "freq_step_us", time_us(p->detectable_freq_us), &failed);
    phases_json_put(detectable, "throttle_ipc_ratio", phases_json_number(p->detectable_throttle), &failed);
    phases_json_put(detectable, "throttle_us", time_us(p->detectable_throttle_us), &failed);
    phases_json_put(detectable, "halt_us", time_us(p->detectable_halt_us), &failed);
    phases_json_put(root, "detectable", detectable, &failed);
    if (failed) {
        json_decref(root);
        return NULL;
    }
    return root;
}

static int phases_json_print_value(FILE *out, const json_t *value)
{
    return json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(DUMP_DIGITS));
}

/* Lists of objects get a line for each, all else stays on the line of its key: short enough to read, easy to diff. */
static int phases_json_print_member(FILE *out, const json_t *value)
{
    if (json_array_size(value) == 0 || !json_is_object(json_array_get(value, 0)))
        return phases_json_print_value(out, value);
    int status = 0;
    size_t i;
    json_t *element;
    fputs("[\n", out);
    json_array_foreach(value, i, element)
    {
        fputs("    ", out);
        status |= phases_json_print_value(out, element);
        fputs(i + 1 < json_array_size(value) ? ",\n" : "\n  ]", out);
    }
    return status;
}

static int phases_json_print_tree(FILE *out, json_t *root)
{
    int status = 0;
    const char *key, *separator = "{\n";
    json_t *value;
    json_object_foreach(root, key, value)
    {
        fprintf(out, "%s  \"%s\": ", separator, key);
        status |= phases_json_print_member(out, value);
        separator = ",\n";
    }
    fputs("\n}\n", out);
    return ferror(out) ? -1 : status;
}

char *phases_to_json(const struct phases *p)
{
    json_t *root = phases_json_to_tree(p);
    char *json = NULL;
    size_t size = 0;
    FILE *out = root == NULL ? NULL : open_memstream(&json, &size);
    if (out == NULL) {
        json_decref(root);
        return NULL;
    }
    int status = phases_json_print_tree(out, root);
    json_decref(root);
    if (fclose(out) != 0 || status != 0) {
        free(json);
        return NULL;
    }
    return json;
}
