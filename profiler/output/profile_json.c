/* SPDX-License-Identifier: GPL-3.0-or-later */
/* characterize-profile/1 (doc/formats.md). */
#include <jansson.h>
#include <math.h>

#include "computer/environment/snapshot.h"
#include "profiler/output/profile_parts.h"
#include "util/json_lines.h"

static json_t *limits_or_null(const struct profile_estimate *e)
{
    return isfinite(e->lo) || isfinite(e->hi) ? json_pack("[oo]", json_lines_real(e->lo), json_lines_real(e->hi))
                                              : json_null();
}

/* A value, and its limits as NAME_ci95. */
static void put_with_limits(json_t *o, const char *key, const struct profile_estimate *e, bool *failed)
{
    char name[40];
    json_lines_put_real(o, key, e->value, failed);
    snprintf(name, sizeof name, "%s_ci95", key);
    json_lines_put(o, name, limits_or_null(e), failed);
}

/* The same by level. */
static void put_by_level(json_t *o, const char *key, const struct profile_estimate e[PROFILE_LEVELS], bool *failed)
{
    char name[40];
    json_t *values = json_lines_array(o, key, failed);
    for (unsigned level = 0; level < PROFILE_LEVELS; level++)
        json_lines_push(values, json_lines_real(e[level].value), failed);
    snprintf(name, sizeof name, "%s_ci95", key);
    json_t *limits = json_lines_array(o, name, failed);
    for (unsigned level = 0; level < PROFILE_LEVELS; level++)
        json_lines_push(limits, limits_or_null(&e[level]), failed);
}

static void put_turns(json_t *o, const uint64_t turns[PROFILE_OUTCOMES], bool *failed)
{
    json_t *by_outcome = json_object();
    for (enum profile_outcome outcome = 0; outcome < PROFILE_OUTCOMES; outcome++)
        json_lines_put_whole(by_outcome, profile_outcome_names[outcome], turns[outcome], failed);
    json_lines_put(o, "turns", by_outcome, failed);
}

/* ---- head ---- */

static void put_profile_head(json_t *root, const struct profile_result *r, bool *failed)
{
    const struct profile_setup *s = &r->setup;
    json_lines_put(root, "format", json_string("characterize-profile/1"), failed);
    json_lines_put(root, "kind", json_string("overhead"), failed);
    json_lines_put_text(root, "version", r->head.version, failed);
    json_lines_put_text(root, "machine", r->info.name, failed);
    json_lines_put_text(root, "cpu", r->info.cpu, failed);
    json_lines_put(root, "modelled", json_boolean(r->info.modelled), failed);
    json_lines_put(root, "rehearsal", json_boolean(s->flags & PROFILE_REHEARSAL), failed);
    json_lines_put_text(root, "command", r->head.command, failed);
    json_lines_put_whole(root, "n_cores", r->info.cores, failed);
    json_lines_put_whole(root, "n_cpus", r->info.cpus, failed);
    json_lines_put_real(root, "seconds", r->totals.seconds, failed);
    json_lines_put_real(root, "rate_hz", s->mean_us ? 1e6 / s->mean_us : NAN, failed);
    json_lines_put_whole(root, "pause_us", s->pause_us, failed);
    json_lines_put_whole(root, "window_us", s->window_us, failed);
    json_lines_put(root, "sources", json_boolean(s->flags & PROFILE_SOURCES), failed);
    json_lines_put_text(root, "params", r->head.params, failed);
    json_lines_put_text(root, "params_cpu", r->head.params_cpu, failed);
    json_lines_put_whole(root, "seed", s->seed, failed);
    if (r->head.environment)
        json_lines_put(root, "environment", snapshot_json(r->head.environment), failed);
}

/* The terms that the export gave. */
static void put_terms(json_t *root, const struct profile_result *r, bool *failed)
{
    json_t *table = json_lines_array(root, "table", failed);
    for (unsigned i = 0; i < r->setup.n_bins && i < PROFILE_BINS_MAX; i++) {
        json_t *bin = json_object();
        json_lines_put_whole(bin, "cores", r->setup.bin[i].cores, failed);
        json_t *ghz = json_lines_array(bin, "ghz", failed);
        for (unsigned level = 0; level < PROFILE_LEVELS; level++)
            json_lines_push(ghz, json_lines_real(r->setup.bin[i].khz[level] ? 1e-6 * r->setup.bin[i].khz[level] : NAN),
                            failed);
        json_lines_push(table, bin, failed);
    }
    json_lines_put_real(root, "wait_us", r->terms.wait_us, failed);
    json_t *change = json_lines_array(root, "change_us", failed);
    json_t *breakeven = json_lines_array(root, "breakeven_us", failed);
    for (unsigned level = 0; level < PROFILE_LEVELS; level++) {
        json_lines_push(change, json_lines_real(r->terms.change_us[level]), failed);
        json_lines_push(breakeven, json_lines_real(r->terms.breakeven_us[level]), failed);
    }
}

static void put_profile_cost(json_t *root, const struct profile_result *r, bool *failed)
{
    json_t *cost = json_object();
    json_lines_put_real(cost, "duty", 1e-6 * profile_duty_ppm(&r->setup, r->info.cores), failed);
    json_lines_put_real(cost, "pause_us_max", r->totals.pause_us_max > 0 ? r->totals.pause_us_max : NAN, failed);
    json_lines_put_whole(cost, "lost", r->totals.lost, failed);
    json_lines_put(root, "cost", cost, failed);
}

/* ---- rows ---- */

static void put_number_of(json_t *o, const char *key, bool known, uint64_t n, bool *failed)
{
    json_lines_put(o, key, known ? json_integer((json_int_t)n) : json_null(), failed);
}

static void put_culprit_list(json_t *o, const struct profile_result *r, const struct profile_row *row, bool *failed)
{
    json_t *list = json_lines_array(o, "culprits", failed);
    for (size_t i = 0; i < row->n_culprits; i++) {
        if (!profile_culprit_name(r, row, &row->culprits[i]))
            continue;
        const struct profile_row *by = &r->rows[row->culprits[i].row];
        json_t *culprit = json_object();
        json_lines_put_text(culprit, "name", by->name, failed);
        put_number_of(culprit, "pid", by->kind == PROFILE_TASK, by->pid, failed);
        json_lines_put_real(culprit, "overhead", row->culprits[i].overhead, failed);
        json_lines_push(list, culprit, failed);
    }
}

static json_t *row_object(const struct profile_result *r, const struct profile_row *row, bool *failed)
{
    json_t *o = json_object();
    json_lines_put_text(o, "name", row->name, failed);
    if (row->kind == PROFILE_TASK) {
        json_lines_put_text(o, "command", row->command, failed);
        json_lines_put_whole(o, "pid", row->pid, failed);
        json_lines_put_whole(o, "tgid", row->tgid, failed);
        json_lines_put(o, "chosen", json_boolean(row->chosen), failed);
    }
    if (row->kind == PROFILE_TASK || row->kind == PROFILE_CONTAINER)
        put_number_of(o, "cgroup", row->cgroup != 0, row->cgroup, failed);
    if (row->kind == PROFILE_CORE)
        json_lines_put_whole(o, "core", row->core, failed);
    json_lines_put_whole(o, "samples", row->samples, failed);
    put_turns(o, row->turns, failed);
    json_lines_put_real(o, "share", row->share, failed);
    put_with_limits(o, "overhead", &row->overhead, failed);
    put_with_limits(o, "sibling", &row->sibling, failed);
    put_with_limits(o, "delay", &row->delay, failed);
    put_by_level(o, "by_level", row->by_level, failed);
    put_by_level(o, "demands", row->demands, failed);
    put_with_limits(o, "reduced", &row->reduced, failed);
    json_lines_put_real(o, "not_limited", row->not_limited, failed);
    put_culprit_list(o, r, row, failed);
    json_lines_put_real(o, "unattributed", row->unattributed, failed);
    json_lines_put_real(o, "causes", row->causes, failed);
    json_lines_put_text(o, "advice", row->advice, failed);
    return o;
}

static void put_rows(json_t *root, const char *key, const struct profile_result *r, enum profile_kind kind,
                     bool *failed)
{
    size_t n;
    const struct profile_row *rows = profile_rows_of(r, kind, &n);
    json_t *list = json_lines_array(root, key, failed);
    for (size_t i = 0; i < n; i++)
        json_lines_push(list, row_object(r, &rows[i], failed), failed);
}

char *profile_json(const struct profile_result *r)
{
    const struct profile_row *all = profile_row_all(r);
    bool failed = false;
    json_t *root = json_object();
    put_profile_head(root, r, &failed);
    put_terms(root, r, &failed);
    put_turns(root, r->turns, &failed);
    put_profile_cost(root, r, &failed);
    json_lines_put_text(root, "notes", r->info.notes, &failed);
    json_t *warnings = json_lines_array(root, "warnings", &failed);
    for (size_t i = 0; i < r->n_doubts; i++)
        json_lines_push(warnings, json_lines_text(r->doubts[i]), &failed);
    for (size_t i = 0; i < r->head.n_warnings; i++)
        json_lines_push(warnings, json_lines_text(r->head.warnings[i]), &failed);
    json_lines_put(root, "all", all ? row_object(r, all, &failed) : json_null(), &failed);
    put_rows(root, "tasks", r, PROFILE_TASK, &failed);
    put_rows(root, "containers", r, PROFILE_CONTAINER, &failed);
    put_rows(root, "cores", r, PROFILE_CORE, &failed);
    return json_lines_dump(root, failed);
}
