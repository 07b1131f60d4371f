/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/export/export.h"

#include <jansson.h>
#include <string.h>

#include "util/json_lines.h"

/* A number as json_pack takes it. */
#define WHOLE(x) ((json_int_t)(x))

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
    json_lines_put_whole(object, key, n->value, failed);
    if (!n->has_limits)
        return;
    snprintf(name, sizeof name, "%s_lo", key);
    json_lines_put_whole(object, name, n->lo, failed);
    snprintf(name, sizeof name, "%s_hi", key);
    json_lines_put_whole(object, name, n->hi, failed);
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
    json_lines_put_whole(root, "levels", s->n_levels, failed);
    export_json_put_text(root, "basis", s->relative ? "relative" : NULL, failed);
}

/* ---- rows: what each adds to its list ---- */

struct json_out {
    const struct schedule *s;
    json_t *list;
    bool failed;
};

typedef void json_row(const void *row, struct json_out *out);

static void json_class(const void *row, struct json_out *out)
{
    const struct schedule_class *c = row;
    json_t *o = json_pack("{s:I, s:I, s:b}", "class", WHOLE(c - out->s->classes), "width", WHOLE(c->width), "heavy",
                          c->heavy);
    put_number(o, "level", &c->level, &out->failed);
    json_lines_push(out->list, o, &out->failed);
}

static void json_level_event(const void *row, struct json_out *out)
{
    const struct schedule_number *e = row;
    if (e->present)
        json_lines_push(out->list,
                        json_pack("{s:I, s:I, s:I}", "level", WHOLE(e - out->s->level_event), "event",
                                  WHOLE(e->value & 0xff), "umask", WHOLE(e->value >> 8 & 0xff)),
                        &out->failed);
}

static void json_trigger(const void *row, struct json_out *out)
{
    const struct schedule_trigger *t = row;
    json_t *o = json_pack("{s:I, s:I}", "class", WHOLE(t->class_index), "one_in", WHOLE(t->density));
    put_number(o, "level", &t->level, &out->failed);
    put_number(o, "count", &t->count, &out->failed);
    json_lines_push(out->list, o, &out->failed);
}

static void json_point(const void *row, struct json_out *out)
{
    const struct schedule_point *p = row;
    for (unsigned l = 0; l < out->s->n_levels; l++) {
        if (!p->mhz[l].present)
            continue;
        json_t *o = json_pack("{s:I, s:I, s:I}", "cpu", WHOLE(p->cpu), "active_cores", WHOLE(p->active_cores), "level",
                              WHOLE(l));
        put_number(o, "mhz", &p->mhz[l], &out->failed);
        put_number(o, "ratio_ppm", &p->ratio_ppm[l], &out->failed);
        json_lines_push(out->list, o, &out->failed);
    }
}

/* The turbo levels of a CPU are numbered from 0. */
static void json_turbo(const void *row, struct json_out *out)
{
    const struct schedule_turbo *t = row, *first = t;
    while (first > out->s->turbos && first[-1].cpu == t->cpu)
        first--;
    for (unsigned l = 0; l < out->s->n_levels; l++) {
        if (!t->mhz[l].present)
            continue;
        json_t *o = json_pack("{s:I, s:I, s:I, s:I, s:I}", "cpu", WHOLE(t->cpu), "turbo", WHOLE(t - first), "level",
                              WHOLE(l), "cores_lo", WHOLE(t->cores_lo), "cores_hi", WHOLE(t->cores_hi));
        put_number(o, "mhz", &t->mhz[l], &out->failed);
        json_lines_push(out->list, o, &out->failed);
    }
}

static void json_cost(const void *row, struct json_out *out)
{
    const struct schedule_cost *c = row;
    json_t *o = json_pack("{s:I, s:I, s:I}", "from", WHOLE(c->from), "to", WHOLE(c->to), "active_cores",
                          WHOLE(c->active_cores));
    put_number(o, "down_ns", &c->down_ns, &out->failed);
    put_number(o, "up_ns", &c->up_ns, &out->failed);
    put_number(o, "breakeven_ns", &c->breakeven_ns, &out->failed);
    json_lines_push(out->list, o, &out->failed);
}

static void json_relaxation(const void *row, struct json_out *out)
{
    const struct schedule_relaxation *r = row;
    json_t *o = json_pack("{s:I, s:I, s:I}", "from", WHOLE(r->from), "to", WHOLE(r->to), "mode", WHOLE(r->mode));
    put_number(o, "wait_ns", &r->wait_ns, &out->failed);
    put_number(o, "share_permille", &r->share_permille, &out->failed);
    json_lines_push(out->list, o, &out->failed);
}

static void json_throttle(const void *row, struct json_out *out)
{
    const struct schedule_throttle *t = row;
    json_t *o = json_pack("{s:I, s:I, s:I, s:I}", "from", WHOLE(t->from), "to", WHOLE(t->to), "active_cores",
                          WHOLE(t->active_cores), "phase", WHOLE(t->phase));
    put_number(o, "duration_ns", &t->duration_ns, &out->failed);
    put_number(o, "ratio_permille", &t->ratio_permille, &out->failed);
    json_lines_push(out->list, o, &out->failed);
}

static void json_setting(const void *row, struct json_out *out)
{
    const struct schedule_setting *p = row;
    json_t *o = json_object();
    export_json_put_text(o, "table", p->table, &out->failed);
    export_json_put_text(o, "key", p->key, &out->failed);
    export_json_put_text(o, "value", p->value, &out->failed);
    json_lines_push(out->list, o, &out->failed);
}

static void json_missing(const void *row, struct json_out *out)
{
    const struct schedule_missing *m = row;
    json_t *o = json_object();
    export_json_put_text(o, "table", m->table, &out->failed);
    export_json_put_text(o, "why", m->why, &out->failed);
    json_lines_put_whole(o, "count", (long long)m->count, &out->failed);
    json_lines_push(out->list, o, &out->failed);
}

/* ---- all of it ---- */

char *export_to_json(const struct schedule *s, char *why, size_t why_size)
{
    const struct {
        const char *name;
        const void *rows;
        size_t n, size;
        json_row *add;
    } lists[] = {
        {"level_events", s->level_event, s->n_levels, sizeof *s->level_event, json_level_event},
        {"classes", s->classes, s->n_classes, sizeof *s->classes, json_class},
        {"triggers", s->triggers, s->n_triggers, sizeof *s->triggers, json_trigger},
        {"frequencies", s->points, s->n_points, sizeof *s->points, json_point},
        {"turbo_levels", s->turbos, s->n_turbos, sizeof *s->turbos, json_turbo},
        {"costs", s->costs, s->n_costs, sizeof *s->costs, json_cost},
        {"level_costs", s->level_costs, s->n_level_costs, sizeof *s->level_costs, json_cost},
        {"relaxations", s->relaxations, s->n_relaxations, sizeof *s->relaxations, json_relaxation},
        {"level_relaxations", s->level_relaxations, s->n_level_relaxations, sizeof *s->relaxations, json_relaxation},
        {"throttles", s->throttles, s->n_throttles, sizeof *s->throttles, json_throttle},
        {"settings", s->settings, s->n_settings, sizeof *s->settings, json_setting},
        {"missing", s->missing, s->n_missing, sizeof *s->missing, json_missing},
    };
    if (schedule_check_consistent(s, why, why_size) != 0)
        return NULL;
    struct json_out out = {.s = s};
    json_t *root = json_object();
    export_json_put_head(root, s, &out.failed);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        out.list = json_lines_array(root, lists[i].name, &out.failed);
        for (size_t row = 0; row < lists[i].n; row++)
            lists[i].add((const char *)lists[i].rows + row * lists[i].size, &out);
    }
    char *text = json_lines_dump(root, out.failed);
    if (!text)
        snprintf(why, why_size, "out of memory");
    return text;
}
