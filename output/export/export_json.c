/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/export/export_json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "util/json_lines.h"

/* A number as json_pack takes it. */
#define WHOLE(x) ((json_int_t)(x))

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

/* An object that is now the last of an array; NULL: out of memory. */
static json_t *added(json_t *array, json_t *o, bool *failed)
{
    json_lines_push(array, o, failed);
    return *failed ? NULL : o;
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
        const struct schedule_class *c = &s->classes[i];
        json_t *o = json_pack("{s:I, s:I, s:b}", "class", WHOLE(i), "width", WHOLE(c->width), "heavy", c->heavy);
        put_number(added(list, o, failed), "level", &c->level, failed);
    }
    return list;
}

static json_t *level_events(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < s->n_levels; i++)
        if (s->level_event[i].present)
            added(list,
                  json_pack("{s:I, s:I, s:I}", "level", WHOLE(i), "event", WHOLE(s->level_event[i].value & 0xff),
                            "umask", WHOLE(s->level_event[i].value >> 8 & 0xff)),
                  failed);
    return list;
}

static json_t *triggers(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_triggers; i++) {
        const struct schedule_trigger *t = &s->triggers[i];
        json_t *o = json_pack("{s:I, s:I}", "class", WHOLE(t->class_index), "one_in", WHOLE(t->density));
        put_number(added(list, o, failed), "level", &t->level, failed);
        put_number(o, "count", &t->count, failed);
    }
    return list;
}

static json_t *export_json_frequencies(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_points; i++)
        for (unsigned l = 0; l < s->n_levels; l++) {
            const struct schedule_point *p = &s->points[i];
            if (!p->mhz[l].present)
                continue;
            json_t *o = json_pack("{s:I, s:I, s:I}", "cpu", WHOLE(p->cpu), "active_cores", WHOLE(p->active_cores),
                                  "level", WHOLE(l));
            put_number(added(list, o, failed), "mhz", &p->mhz[l], failed);
        }
    return list;
}

static json_t *turbo_levels(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0, number = 0; i < s->n_turbos; i++, number++) {
        const struct schedule_turbo *t = &s->turbos[i];
        if (i > 0 && t->cpu != s->turbos[i - 1].cpu)
            number = 0;
        for (unsigned l = 0; l < s->n_levels; l++) {
            if (!t->mhz[l].present)
                continue;
            json_t *o = json_pack("{s:I, s:I, s:I, s:I, s:I}", "cpu", WHOLE(t->cpu), "turbo", WHOLE(number), "level",
                                  WHOLE(l), "cores_lo", WHOLE(t->cores_lo), "cores_hi", WHOLE(t->cores_hi));
            put_number(added(list, o, failed), "mhz", &t->mhz[l], failed);
        }
    }
    return list;
}

static json_t *export_json_costs(const struct schedule_cost *c, size_t n, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *o = json_pack("{s:I, s:I, s:I}", "from", WHOLE(c[i].from), "to", WHOLE(c[i].to), "active_cores",
                              WHOLE(c[i].active_cores));
        put_number(added(list, o, failed), "down_ns", &c[i].down_ns, failed);
        put_number(o, "up_ns", &c[i].up_ns, failed);
        put_number(o, "breakeven_ns", &c[i].breakeven_ns, failed);
    }
    return list;
}

static json_t *export_json_relaxations(const struct schedule_relaxation *r, size_t n, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *o = json_pack("{s:I, s:I, s:I}", "from", WHOLE(r[i].from), "to", WHOLE(r[i].to), "mode",
                              WHOLE(r[i].mode));
        put_number(added(list, o, failed), "wait_ns", &r[i].wait_ns, failed);
        put_number(o, "share_permille", &r[i].share_permille, failed);
    }
    return list;
}

static json_t *export_json_throttles(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_throttles; i++) {
        const struct schedule_throttle *t = &s->throttles[i];
        json_t *o = json_pack("{s:I, s:I, s:I, s:I}", "from", WHOLE(t->from), "to", WHOLE(t->to), "active_cores",
                              WHOLE(t->active_cores), "phase", WHOLE(t->phase));
        put_number(added(list, o, failed), "duration_ns", &t->duration_ns, failed);
        put_number(o, "ratio_permille", &t->ratio_permille, failed);
    }
    return list;
}

static json_t *export_json_settings(const struct schedule *s, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_settings; i++) {
        json_t *o = added(list, json_object(), failed);
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
        json_t *o = added(list, json_object(), failed);
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
