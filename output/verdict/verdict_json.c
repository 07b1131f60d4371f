/* SPDX-License-Identifier: GPL-3.0-or-later */
/* characterize-verdict/1: doc/formats.md. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "analysis/stats/estimate_json.h"
#include "output/verdict/verdict.h"
#include "tables/table/estimates.h"
#include "util/json_lines.h"

/* KEY and KEY_ci95. */
static void verdict_put_estimate(json_t *o, const char *key, const struct estimate *e, bool *failed)
{
    enum { DIGITS = 6 };
    char limits[60];
    snprintf(limits, sizeof limits, "%s_ci95", key);
    estimate_json_put(o, key, limits, e, DIGITS, failed);
}

/* ... null where its limits do not say enough. */
static void put_resolved(json_t *o, const char *key, const struct estimate *e, double enough, bool *failed)
{
    const struct estimate none = {NAN, NAN, NAN};
    verdict_put_estimate(o, key, verdict_resolved(e, enough) ? e : &none, failed);
}

static json_t *class_json(const struct verdict *v, const struct verdict_class *c, bool *failed)
{
    json_t *o = json_pack("{s:s, s:s, s:i}", "class", c->name, "kernel", c->kernel, "bits", (int)c->bits);
    json_lines_put_whole(o, "active_cores", (json_int_t)v->cores, failed);
    put_resolved(o, "slowdown", &c->slowdown, VERDICT_SLOWDOWN_ENOUGH, failed);
    verdict_put_estimate(o, "freq_ghz", &c->ghz, failed);
    put_resolved(o, "one_core_slowdown", &c->one_slowdown, VERDICT_SLOWDOWN_ENOUGH, failed);
    verdict_put_estimate(o, "one_core_freq_ghz", &c->one_ghz, failed);
    return o;
}

static json_t *width_json(const struct verdict *v, const struct verdict_side *s, const char *code, size_t i,
                          bool *failed)
{
    const struct estimate none = {NAN, NAN, NAN};
    const struct estimate *once = &s->once_us[i];
    const bool compared = i > 0 && verdict_resolved(once, verdict_cost_enough(v)); /* with the narrowest */
    json_t *o = json_pack("{s:s, s:i, s:s}", "code", code, "bits", (int)s->width[i].bits, "kernel", s->kernel[i]);
    verdict_put_estimate(o, "rate", &s->width[i].rate, failed);
    put_resolved(o, "once_us", once, verdict_cost_enough(v), failed);
    verdict_put_estimate(o, "time", s->n > 1 ? &s->cost.time[i] : &none, failed);
    verdict_put_estimate(o, "longer", &s->longer[i], failed);
    verdict_put_estimate(o, "pays_from_us", compared ? &s->cost.pays_from_us[i] : &none, failed);
    verdict_put_estimate(o, "pays_from_share", compared ? &s->cost.pays_from_share[i] : &none, failed);
    return o;
}

static void put_side(json_t *root, const char *code, const struct verdict_side *s, bool *failed)
{
    char prefer[16];
    json_lines_put(root, code,
                   json_pack("{s:s, s:s, s:s}", "prefer", verdict_prefer_text(s, prefer), "why", s->why, "basis",
                             s->direct  ? "measured"
                             : s->n > 1 ? "computed"
                                        : "none"),
                   failed);
}

static void put_widths(json_t *root, const struct verdict *v, bool *failed)
{
    json_t *list = json_lines_array(root, "widths", failed);
    for (size_t side = VERDICT_SIDES; side-- > 0;) /* heavy code first */
        for (size_t i = 0; i < v->side[side].n; i++)
            json_lines_push(
                list, width_json(v, &v->side[side], kernel_weight_name((enum kernel_weight)side), i, failed), failed);
}

static void put_programs(json_t *root, const struct programs_answer *a, bool *failed)
{
    static const char *const verdicts[] = {"agrees", "differs", "unknown"};
    json_t *list = json_lines_array(root, "programs", failed);
    for (size_t i = 0; a->all && a->wide && i < a->all->n; i++) {
        const struct program *p = &a->all->program[i];
        const struct programs_told t = programs_compare(a, p);
        if (!t.bits)
            continue;
        json_t *o = json_pack("{s:s, s:s, s:s, s:i, s:s}", "program", p->id, "name", p->name, "code",
                              kernel_weight_name(t.code), "bits", (int)t.bits, "list", verdicts[t.verdict]);
        json_lines_put(o, "uses_bits", t.uses ? json_integer(t.uses) : json_null(), failed);
        json_lines_put_text(o, "set", t.set, failed);
        json_lines_put_text(o, "about", p->about, failed);
        json_lines_push(list, o, failed);
    }
}

static void verdict_put_missing(json_t *root, const struct table *t, bool *failed)
{
    json_t *list = json_lines_array(root, "missing", failed);
    for (size_t i = 0; t && i < t->n_missing; i++) {
        char name[400];
        table_missing_name(t, i, name, sizeof name);
        json_t *o = json_object();
        json_lines_put_text(o, "what", name, failed);
        json_lines_put_text(o, "why", t->missing[i].why, failed);
        json_lines_push(list, o, failed);
    }
}

char *verdict_to_json(const struct verdict *v)
{
    static const char *const meta[] = {"cpu", "machine", "source", "date", "version", "notes", "environment"};
    bool failed = false;
    char prefer[16];
    const struct verdict_side *s = &v->side[v->weight];
    const struct table *t = v->tables.frequency;
    json_t *root = json_pack("{s:s, s:s, s:s, s:s}", "format", "characterize-verdict/1", "prefer",
                             verdict_prefer_text(s, prefer), "why", s->why, "code", kernel_weight_name(v->weight));
    for (size_t i = 0; i < sizeof meta / sizeof *meta; i++)
        if (t && table_meta(t, meta[i]))
            json_lines_put_text(root, meta[i], table_meta(t, meta[i]), &failed);
    json_lines_put(root, "modelled", json_boolean(t && table_modelled(t)), &failed);
    json_lines_put_real(root, "share", v->asked.load.share, &failed);
    json_lines_put_real(root, "burst_us", v->asked.load.burst_us, &failed);
    json_lines_put_real(root, "speedup", v->asked.speedup, &failed);
    if (isfinite(v->cores))
        json_lines_put_whole(root, "active_cores", (json_int_t)v->cores, &failed);
    verdict_put_estimate(root, "plain_ghz", &v->plain_ghz, &failed);
    verdict_put_estimate(root, "one_core_plain_ghz", &v->one_plain_ghz, &failed);
    json_t *list = json_lines_array(root, "classes", &failed);
    for (size_t i = 0; i < v->n_classes; i++)
        json_lines_push(list, class_json(v, &v->classes[i], &failed), &failed);
    json_lines_put_whole(root, "burst_active_cores", isfinite(s->cores) ? (json_int_t)s->cores : 0, &failed);
    put_side(root, "heavy", &v->side[KERNEL_HEAVY], &failed);
    put_side(root, "light", &v->side[KERNEL_LIGHT], &failed);
    put_widths(root, v, &failed);
    json_lines_put_text(root, "floats", v->floats ? v->why_floats : NULL, &failed);
    list = json_lines_array(root, "first_use", &failed);
    for (size_t i = 0; i < v->n_units; i++) {
        json_t *o = json_pack("{s:s}", "unit", v->units[i].unit);
        verdict_put_estimate(o, "first_us", &v->units[i].first_us, &failed);
        verdict_put_estimate(o, "idle_us", &v->units[i].idle_us, &failed);
        verdict_put_estimate(o, "full_rate_us", &v->units[i].full_rate_us, &failed);
        json_lines_push(list, o, &failed);
    }
    json_t *neighbours = json_object();
    put_resolved(neighbours, "other_cores_slowdown", &v->corunners, VERDICT_SLOWDOWN_ENOUGH, &failed);
    put_resolved(neighbours, "siblings_slowdown", &v->siblings, VERDICT_SLOWDOWN_ENOUGH, &failed);
    json_lines_put(root, "neighbors", neighbours, &failed);
    put_programs(root, &v->programs, &failed);
    verdict_put_missing(root, t, &failed);
    return json_lines_dump(root, failed);
}
