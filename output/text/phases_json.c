/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The phases file (doc/formats.md): struct phases as JSON text. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/phases.h"
#include "util/plain_text.h"

/* Digits of the dump: any decimal number of 15 digits survives a double, so the
 * dump shows what rounding leaves, whole and without a binary tail. */
enum { DUMP_DIGITS = 15, VALUE_DIGITS = 7, TIME_DECIMALS = 3 };

/* A value rounded to seven significant digits, more than any measurement here has; null when it was not measured. */
static json_t *number(double value)
{
    if (!isfinite(value)) {
        return json_null();
    }
    if (value == 0) {
        return json_real(0); /* no -0.0 */
    }
    double scale = pow(10.0, VALUE_DIGITS - 1 - (int)floor(log10(fabs(value))));
    return json_real(isfinite(scale) && scale > 0 ? round(value * scale) / scale : value);
}

/* A time, to the nanosecond however long the recording is: phases must still meet after rounding. */
static json_t *time_us(double value)
{
    if (!isfinite(value)) {
        return json_null();
    }
    double scale = pow(10.0, TIME_DECIMALS);
    return fabs(value) < 1e12 ? json_real(round(value * scale) / scale + 0.0) : number(value);
}

static json_t *text(const char *s)
{
    if (s == NULL) {
        return json_null();
    }
    char *plain = plain_text_copy(s);
    if (plain == NULL) {
        return NULL;
    }
    json_t *string = json_string(plain);
    free(plain);
    return string;
}

/* [lo, hi], or null when there are no limits at all. */
static json_t *limits(const struct estimate *e, json_t *(*form)(double))
{
    if (!isfinite(e->lo) && !isfinite(e->hi)) {
        return json_null();
    }
    return json_pack("[o,o]", form(e->lo), form(e->hi));
}

/* Adds to an object; a NULL value means out of memory. Remembers the first failure in *failed. */
static void put(json_t *object, const char *key, json_t *value, int *failed)
{
    if (json_object_set_new(object, key, value) != 0) {
        *failed = 1;
    }
}

static void push(json_t *array, json_t *value, int *failed)
{
    if (json_array_append_new(array, value) != 0) {
        *failed = 1;
    }
}

static json_t *count(size_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *modes_of(const struct phase *p, int *failed)
{
    json_t *modes = json_array();
    for (size_t i = 0; i < p->n_modes && i < PHASE_MODES_MAX; i++) {
        json_t *mode = json_object();
        put(mode, "duration_us", time_us(p->modes[i].duration_us), failed);
        put(mode, "share", number(p->modes[i].share), failed);
        push(modes, mode, failed);
    }
    return modes;
}

static json_t *phase_object(const struct phase *p, int *failed)
{
    static const char *const share_keys[] = {"lvl0", "lvl1", "lvl2", "throttle"};
    json_t *o = json_object();
    put(o, "kind", json_string(phases_kind_name(p->kind)), failed);
    put(o, "start_us", time_us(p->start_us), failed);
    put(o, "duration_us", time_us(p->duration_us.value), failed);
    put(o, "duration_ci95_us", limits(&p->duration_us, time_us), failed);
    put(o, "freq_ghz", number(p->freq_ghz.value), failed);
    put(o, "freq_ci95_ghz", limits(&p->freq_ghz, number), failed);
    put(o, "ipc", number(p->ipc), failed);
    put(o, "ipc_ratio", number(p->ipc_ratio), failed);
    put(o, "volts", number(p->volts), failed);
    put(o, "level", p->level < 0 ? json_null() : json_integer(p->level), failed);
    put(o, "agreeing_runs", count(p->agreeing_runs), failed);
    for (size_t i = 0; i < sizeof(share_keys) / sizeof(share_keys[0]); i++) {
        put(o, share_keys[i], number(p->share[i]), failed);
    }
    if (p->tau_us.value > 0) {
        put(o, "from_ghz", number(p->from_ghz.value), failed);
        put(o, "from_ci95_ghz", limits(&p->from_ghz, number), failed);
        put(o, "to_ghz", number(p->to_ghz.value), failed);
        put(o, "to_ci95_ghz", limits(&p->to_ghz, number), failed);
        put(o, "tau_us", time_us(p->tau_us.value), failed);
        put(o, "tau_ci95_us", limits(&p->tau_us, time_us), failed);
    }
    if (p->n_modes > 1) {
        put(o, "modes", modes_of(p, failed), failed);
    }
    if (p->why[0] != '\0') {
        put(o, "why", text(p->why), failed);
    }
    return o;
}

static json_t *transition_object(const struct transition *t, int *failed)
{
    json_t *o = json_object();
    put(o, "at_us", time_us(t->at_us), failed);
    put(o, "latency_us", time_us(t->latency_us.value), failed);
    put(o, "latency_ci95_us", limits(&t->latency_us, time_us), failed);
    put(o, "from_ghz", number(t->from_ghz), failed);
    put(o, "to_ghz", number(t->to_ghz), failed);
    put(o, "halts", count(t->halts), failed);
    put(o, "agreeing_runs", count(t->agreeing_runs), failed);
    return o;
}

static json_t *volt_step_object(const struct volt_step *v, int *failed)
{
    json_t *o = json_object();
    put(o, "begin_us", time_us(v->begin_us), failed);
    put(o, "end_us", time_us(v->end_us), failed);
    put(o, "from_v", number(v->from_v), failed);
    put(o, "to_v", number(v->to_v), failed);
    put(o, "agreeing_runs", count(v->agreeing_runs), failed);
    return o;
}

static json_t *discarded_object(const struct discarded_run *d, int *failed)
{
    json_t *o = json_object();
    put(o, "run", count(d->run), failed);
    put(o, "why", text(d->why), failed);
    return o;
}

static void put_head(json_t *root, const struct phases *p, int *failed)
{
    put(root, "format", json_string("characterize-phases/1"), failed);
    put(root, "cpu", text(p->cpu), failed);
    put(root, "machine", text(p->machine), failed);
    put(root, "modelled", json_boolean(p->modelled), failed);
    put(root, "from", text(p->from), failed);
    put(root, "to", text(p->to), failed);
    put(root, "runs", count(p->runs), failed);
    put(root, "runs_used", count(p->runs_used), failed);
    put(root, "samples", count(p->samples), failed);
    put(root, "samples_discarded", count(p->samples_discarded), failed);
    json_t *levels = json_array(), *level_limits = json_array();
    for (size_t i = 0; i < p->n_levels; i++) {
        push(levels, number(p->levels_ghz[i]), failed);
        push(level_limits, limits(&p->levels[i], number), failed);
    }
    put(root, "levels_ghz", levels, failed);
    put(root, "levels_ci95_ghz", level_limits, failed);
}

static void put_lists(json_t *root, const struct phases *p, int *failed)
{
    json_t *phases = json_array(), *transitions = json_array(), *steps = json_array();
    json_t *discarded = json_array(), *warnings = json_array();
    for (size_t i = 0; i < p->n_phases; i++) {
        push(phases, phase_object(&p->phases[i], failed), failed);
    }
    for (size_t i = 0; i < p->n_transitions; i++) {
        push(transitions, transition_object(&p->transitions[i], failed), failed);
    }
    for (size_t i = 0; i < p->n_volt_steps; i++) {
        push(steps, volt_step_object(&p->volt_steps[i], failed), failed);
    }
    for (size_t i = 0; i < p->n_discarded; i++) {
        push(discarded, discarded_object(&p->discarded[i], failed), failed);
    }
    for (size_t i = 0; i < p->n_warnings; i++) {
        push(warnings, text(p->warnings[i]), failed);
    }
    put(root, "phases", phases, failed);
    put(root, "transitions", transitions, failed);
    put(root, "volt_steps", steps, failed);
    put(root, "discarded", discarded, failed);
    put(root, "warnings", warnings, failed);
}

static json_t *to_tree(const struct phases *p)
{
    int failed = 0;
    json_t *root = json_object();
    put_head(root, p, &failed);
    put_lists(root, p, &failed);
    json_t *detectable = json_object();
    put(detectable, "freq_step", number(p->detectable_freq), &failed);
    put(detectable, "freq_step_us", time_us(p->detectable_freq_us), &failed);
    put(detectable, "throttle_ipc_ratio", number(p->detectable_throttle), &failed);
    put(detectable, "throttle_us", time_us(p->detectable_throttle_us), &failed);
    put(detectable, "halt_us", time_us(p->detectable_halt_us), &failed);
    put(root, "detectable", detectable, &failed);
    if (failed) {
        json_decref(root);
        return NULL;
    }
    return root;
}

static int print_value(FILE *out, const json_t *value)
{
    return json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(DUMP_DIGITS));
}

/* Lists of objects get a line for each, all else stays on the line of its key: short enough to read, easy to diff. */
static int print_member(FILE *out, const json_t *value)
{
    if (json_array_size(value) == 0 || !json_is_object(json_array_get(value, 0))) {
        return print_value(out, value);
    }
    int status = 0;
    size_t i;
    json_t *element;
    fputs("[\n", out);
    json_array_foreach(value, i, element) {
        fputs("    ", out);
        status |= print_value(out, element);
        fputs(i + 1 < json_array_size(value) ? ",\n" : "\n  ]", out);
    }
    return status;
}

static int print_tree(FILE *out, json_t *root)
{
    int status = 0;
    const char *key, *separator = "{\n";
    json_t *value;
    json_object_foreach(root, key, value) {
        fprintf(out, "%s  \"%s\": ", separator, key);
        status |= print_member(out, value);
        separator = ",\n";
    }
    fputs("\n}\n", out);
    return ferror(out) ? -1 : status;
}

char *phases_to_json(const struct phases *p)
{
    json_t *root = to_tree(p);
    char *json = NULL;
    size_t size = 0;
    FILE *out = root == NULL ? NULL : open_memstream(&json, &size);
    if (out == NULL) {
        json_decref(root);
        return NULL;
    }
    int status = print_tree(out, root);
    json_decref(root);
    if (fclose(out) != 0 || status != 0) {
        free(json);
        return NULL;
    }
    return json;
}
