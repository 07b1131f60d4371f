/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/export/export_json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "util/json_lines.h"

static void put_whole(json_t *object, const char *key, long long value, bool *failed)
{
    json_lines_put(object, key, json_integer(value), failed);
}

/* Nothing where there is no text. */
static void export_json_put_text(json_t *object, const char *key, const char *text, bool *failed)
{
    if (text)
        json_lines_put(object, key, json_lines_text(text), failed);
}

/* KEY, KEY_lo and KEY_hi; nothing where the number is absent. */
static void put_number(json_t *object, const char *key, const struct schedule_number *n, bool *failed)
{
    char name[40];
    if (!n->present)
        return;
    put_whole(object, key, n->value, failed);
    if (!n->has_limits)
        return;
    snprintf(name, sizeof name, "%s_lo", key);
    put_whole(object, name, n->lo, failed);
    snprintf(name, sizeof name, "%s_hi", key);
    put_whole(object, name, n->hi, failed);
}

/* A new object at the end of an array. */
static json_t *added(json_t *array, bool *failed)
{
    json_t *o = json_object();
    if (json_array_append_new(array, o) == 0)
        return o;
    *failed = true;
    return NULL;
}

static void export_json_put_head(json_t *root, const struct schedule *s, bool *failed)
{
    json_lines_put(root, "format", json_string("characterize-export/1"), failed);
    export_json_put_text(root, "cpu", s->cpu, failed);
    export_json_put_text(root, "machine", s->machine, failed);
    export_json_put_text(root, "source", s->source, failed);
    json_lines_put(root, "modelled", json_boolean(s->modelled), failed);
    export_json_put_text(root, "version", s->version, failed);
    export_json_put_text(root, "date_first", s->date_first, failed);
    export_json_put_text(root, "date_last", s->date_last, failed);
    put_whole(root, "levels", s->n_levels, failed);
}

static json_t *export_json_classes(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_classes; i++) {
        json_t *o = added(list, failed);
        put_whole(o, "class", (long long)i, failed);
        put_whole(o, "width", s->classes[i].width, failed);
        json_lines_put(o, "heavy", json_boolean(s->classes[i].heavy), failed);
        put_number(o, "level", &s->classes[i].level, failed);
    }
    return list;
}

static json_t *level_events(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < s->n_levels; i++) {
        if (!s->level_event[i].present)
            continue;
        json_t *o = added(list, failed);
        put_whole(o, "level", i, failed);
        put_whole(o, "event", s->level_event[i].value & 0xff, failed);
        put_whole(o, "umask", s->level_event[i].value >> 8 & 0xff, failed);
    }
    return list;
}

static json_t *triggers(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_triggers; i++) {
        json_t *o = added(list, failed);
        put_whole(o, "class", (long long)s->triggers[i].class_index, failed);
        put_whole(o, "one_in", s->triggers[i].density, failed);
        put_number(o, "level", &s->triggers[i].level, failed);
        put_number(o, "count", &s->triggers[i].count, failed);
    }
    return list;
}

static json_t *export_json_frequencies(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_points; i++)
        for (unsigned l = 0; l < s->n_levels; l++) {
            if (!s->points[i].mhz[l].present)
                continue;
            json_t *o = added(list, failed);
            put_whole(o, "cpu", s->points[i].cpu, failed);
            put_whole(o, "active_cores", s->points[i].active_cores, failed);
            put_whole(o, "level", l, failed);
            put_number(o, "mhz", &s->points[i].mhz[l], failed);
        }
    return list;
}

static json_t *turbo_levels(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0, number = 0; i < s->n_turbos; i++, number++) {
        if (i > 0 && s->turbos[i].cpu != s->turbos[i - 1].cpu)
            number = 0;
        for (unsigned l = 0; l < s->n_levels; l++) {
            if (!s->turbos[i].mhz[l].present)
                continue;
            json_t *o = added(list, failed);
            put_whole(o, "cpu", s->turbos[i].cpu, failed);
            put_whole(o, "turbo", (long long)number, failed);
            put_whole(o, "level", l, failed);
            put_whole(o, "cores_lo", s->turbos[i].cores_lo, failed);
            put_whole(o, "cores_hi", s->turbos[i].cores_hi, failed);
            put_number(o, "mhz", &s->turbos[i].mhz[l], failed);
        }
    }
    return list;
}

static json_t *export_json_costs(const struct schedule_cost *costs, size_t n, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *o = added(list, failed);
        put_whole(o, "from", (long long)costs[i].from, failed);
        put_whole(o, "to", (long long)costs[i].to, failed);
        put_whole(o, "active_cores", costs[i].active_cores, failed);
        put_number(o, "down_ns", &costs[i].down_ns, failed);
        put_number(o, "up_ns", &costs[i].up_ns, failed);
        put_number(o, "breakeven_ns", &costs[i].breakeven_ns, failed);
    }
    return list;
}

static json_t *export_json_relaxations(const struct schedule_relaxation *r, size_t n, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *o = added(list, failed);
        put_whole(o, "from", (long long)r[i].from, failed);
        put_whole(o, "to", (long long)r[i].to, failed);
        put_whole(o, "mode", r[i].mode, failed);
        put_number(o, "wait_ns", &r[i].wait_ns, failed);
        put_number(o, "share_permille", &r[i].share_permille, failed);
    }
    return list;
}

static json_t *export_json_throttles(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_throttles; i++) {
        json_t *o = added(list, failed);
        put_whole(o, "from", (long long)s->throttles[i].from, failed);
        put_whole(o, "to", (long long)s->throttles[i].to, failed);
        put_whole(o, "active_cores", s->throttles[i].active_cores, failed);
        put_whole(o, "phase", s->throttles[i].phase, failed);
        put_number(o, "duration_ns", &s->throttles[i].duration_ns, failed);
        put_number(o, "ratio_permille", &s->throttles[i].ratio_permille, failed);
    }
    return list;
}

static json_t *export_json_settings(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_settings; i++) {
        json_t *o = added(list, failed);
        export_json_put_text(o, "table", s->settings[i].table, failed);
        export_json_put_text(o, "key", s->settings[i].key, failed);
        export_json_put_text(o, "value", s->settings[i].value, failed);
    }
    return list;
}

static json_t *missing(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_missing; i++) {
        json_t *o = added(list, failed);
        export_json_put_text(o, "table", s->missing[i].table, failed);
        export_json_put_text(o, "why", s->missing[i].why ? s->missing[i].why : "", failed);
        put_whole(o, "count", (long long)s->missing[i].count, failed);
    }
    return list;
}

char *export_to_json(const struct schedule *s, char *why, size_t why_size)
{
    if (schedule_check_consistent(s, why, why_size) != 0)
        return NULL;
    bool failed = false;
    json_t *root = json_object();
    export_json_put_head(root, s, &failed);
    json_lines_put(root, "level_events", level_events(s, &failed), &failed);
    json_lines_put(root, "classes", export_json_classes(s, &failed), &failed);
    json_lines_put(root, "triggers", triggers(s, &failed), &failed);
    json_lines_put(root, "frequencies", export_json_frequencies(s, &failed), &failed);
    json_lines_put(root, "turbo_levels", turbo_levels(s, &failed), &failed);
    json_lines_put(root, "costs", export_json_costs(s->costs, s->n_costs, &failed), &failed);
    json_lines_put(root, "level_costs", export_json_costs(s->level_costs, s->n_level_costs, &failed), &failed);
    json_lines_put(root, "relaxations", export_json_relaxations(s->relaxations, s->n_relaxations, &failed), &failed);
    json_lines_put(root, "level_relaxations",
                   export_json_relaxations(s->level_relaxations, s->n_level_relaxations, &failed), &failed);
    json_lines_put(root, "throttles", export_json_throttles(s, &failed), &failed);
    json_lines_put(root, "settings", export_json_settings(s, &failed), &failed);
    json_lines_put(root, "missing", missing(s, &failed), &failed);
    char *text = json_lines_dump(root, failed);
    if (!text)
        snprintf(why, why_size, "out of memory");
    return text;
}

int export_json(const struct schedule *s, FILE *out, char *why, size_t why_size)
{
    char *text = export_to_json(s, why, why_size);
    if (!text)
        return -1;
    errno = 0;
    int status = fputs(text, out) < 0 || fflush(out) != 0 ? -1 : 0;
    if (status != 0)
        snprintf(why, why_size, "cannot be written: %s", strerror(errno));
    free(text);
    return status;
}
