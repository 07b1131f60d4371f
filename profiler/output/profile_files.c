/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile as files: its rows as CSV, all of it as JSON. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "computer/environment/snapshot.h"
#include "profiler/output/profile_parts.h"
#include "util/json_lines.h"
#include "util/text_list.h"

static void put_estimate(struct table *t, const char *column, double scale, const struct profile_estimate *e)
{
    table_put_limits(t, column, scale * e->value, scale * e->lo, scale * e->hi);
}

/* A value of a level, in the columns NAME_1 and NAME_2. */
static void put_level_columns(struct table *t, const char *name, const struct profile_estimate *e)
{
    char column[40];
    for (unsigned level = 1; level < PROFILE_LEVELS; level++) {
        snprintf(column, sizeof column, "%s_%u", name, level);
        put_estimate(t, column, 1, &e[level]);
    }
}

/* ---- the rows as CSV ---- */

/* Values of levels 0, 1, 2 as one setting, a dash where one is not known; none where nothing is. */
static void set_by_level(struct table *t, const char *key, const double value[PROFILE_LEVELS])
{
    char text[100] = "";
    bool known = false;
    for (unsigned level = 0; level < PROFILE_LEVELS; level++) {
        known = known || isfinite(value[level]);
        if (isfinite(value[level]))
            text_list_add(text, sizeof text, " ", "%.9g", value[level]);
        else
            text_list_add(text, sizeof text, " ", "-");
    }
    if (known)
        table_set_setting(t, key, text);
}

/* The terms that the export gave, as far as they are known. */
static void describe_terms(const struct profile_result *r, struct table *t)
{
    if (isfinite(r->terms.wait_us))
        table_set_setting_number(t, "wait_us", r->terms.wait_us);
    set_by_level(t, "change_us", r->terms.change_us);
    set_by_level(t, "breakeven_us", r->terms.breakeven_us);
    for (unsigned i = 0; i < r->setup.n_bins && i < PROFILE_BINS_MAX; i++) {
        char key[40];
        double ghz[PROFILE_LEVELS];
        for (unsigned level = 0; level < PROFILE_LEVELS; level++)
            ghz[level] = r->setup.bin[i].khz[level] ? 1e-6 * r->setup.bin[i].khz[level] : NAN;
        snprintf(key, sizeof key, "ghz_%u", (unsigned)r->setup.bin[i].cores);
        set_by_level(t, key, ghz);
    }
}

static void describe_setup(const struct profile_result *r, struct table *t)
{
    const struct profile_setup *s = &r->setup;
    char text[40];
    table_set_setting_number(t, "seconds", r->totals.seconds);
    if (s->mean_us)
        table_set_setting_number(t, "rate_hz", 1e6 / s->mean_us);
    table_set_setting_number(t, "pause_us", s->pause_us);
    table_set_setting_number(t, "window_us", s->window_us);
    table_set_setting(t, "sources", s->flags & PROFILE_SOURCES ? "yes" : "no");
    if (r->head.params)
        table_set_setting(t, "params", r->head.params);
    if (r->head.params_cpu)
        table_set_setting(t, "params_cpu", r->head.params_cpu);
    describe_terms(r, t);
    snprintf(text, sizeof text, "%llu", (unsigned long long)s->seed);
    table_set_setting(t, "seed", text);
    for (enum profile_outcome o = 0; o < PROFILE_OUTCOMES; o++) {
        snprintf(text, sizeof text, "turns_%s", profile_outcome_names[o]);
        table_set_setting_number(t, text, (double)r->turns[o]);
    }
    table_set_setting_number(t, "duty", 1e-6 * profile_duty_ppm(s, r->info.cores));
    table_set_setting_number(t, "pause_us_max", r->totals.pause_us_max);
    table_set_setting_number(t, "lost", (double)r->totals.lost);
}

void profile_put_environment(const struct profile_head *h, struct table *t)
{
    char line[SNAPSHOT_LINE];
    if (!h->environment)
        return;
    snapshot_line(h->environment, line, sizeof line);
    table_set_meta(t, "environment", line);
}

static void describe_origin(const struct profile_result *r, struct table *t)
{
    const struct profile_head *h = &r->head;
    const struct {
        const char *key, *value;
    } meta[] = {{"machine", r->info.name},
                {"cpu", r->info.cpu},
                {"modelled", r->info.modelled ? "yes" : "no"},
                {"version", h->version},
                {"command", h->command},
                {"notes", r->info.notes && *r->info.notes ? r->info.notes : NULL}};
    for (size_t i = 0; i < sizeof meta / sizeof *meta; i++)
        if (meta[i].value)
            table_set_meta(t, meta[i].key, meta[i].value);
    profile_put_environment(h, t);
    for (size_t i = 0; i < r->n_doubts + h->n_warnings; i++) {
        char key[30];
        snprintf(key, sizeof key, "warning_%zu", i + 1);
        table_set_meta(t, key, i < r->n_doubts ? r->doubts[i] : h->warnings[i - r->n_doubts]);
    }
}

/* The numbers that identify it, where there are such. */
static void put_who(const struct profile_row *row, struct table *t)
{
    char cgroup[24];
    snprintf(cgroup, sizeof cgroup, "%llu", (unsigned long long)row->cgroup);
    table_put_text(t, "kind", profile_kind_names[row->kind < PROFILE_KINDS ? row->kind : PROFILE_ALL]);
    table_put_text(t, "name", row->name);
    table_put_text(t, "command", *row->command ? row->command : NULL);
    if (row->kind == PROFILE_TASK) {
        table_put_number(t, "pid", row->pid);
        table_put_number(t, "tgid", row->tgid);
    }
    if (row->kind == PROFILE_CORE)
        table_put_number(t, "core", row->core);
    if (row->cgroup)
        table_put_text(t, "cgroup", cgroup);
    table_put_text(t, "chosen", row->chosen ? "yes" : "no");
}

static void put_row(const struct profile_result *r, const struct profile_row *row, struct table *t)
{
    char column[40];
    table_add_row(t);
    put_who(row, t);
    table_put_number(t, "samples", (double)row->samples);
    for (enum profile_outcome o = PROFILE_IDLE; o < PROFILE_OUTCOMES; o++) {
        snprintf(column, sizeof column, "turns_%s", profile_outcome_names[o]);
        table_put_number(t, column, (double)row->turns[o]);
    }
    table_put_number(t, "share", row->share);
    put_estimate(t, "overhead", 1, &row->overhead);
    put_estimate(t, "sibling", 1, &row->sibling);
    put_estimate(t, "delay", 1, &row->delay);
    put_level_columns(t, "level", row->by_level);
    put_level_columns(t, "demands", row->demands);
    put_estimate(t, "reduced", 1, &row->reduced);
    table_put_number(t, "not_limited", row->not_limited);
    if (row->n_culprits && profile_culprit_name(r, row, row->culprits)) {
        table_put_text(t, "culprit", profile_culprit_name(r, row, row->culprits));
        table_put_number(t, "culprit_overhead", row->culprits->overhead);
    }
    table_put_number(t, "unattributed", row->unattributed);
    table_put_number(t, "causes", row->causes);
    table_put_text(t, "advice", *row->advice ? row->advice : NULL);
}

static void profile_table_all(const struct profile_result *r, struct table *t)
{
    static const struct table_column columns[] = {{"kind", "", TABLE_TEXT, true, 0},
                                                  {"name", "", TABLE_TEXT, true, 0},
                                                  {"command", "", TABLE_TEXT, false, 0},
                                                  {"pid", "", TABLE_WHOLE, false, 0},
                                                  {"tgid", "", TABLE_WHOLE, false, 0},
                                                  {"core", "", TABLE_WHOLE, false, 0},
                                                  {"cgroup", "", TABLE_TEXT, false, 0},
                                                  {"chosen", "", TABLE_TEXT, false, 0},
                                                  {"samples", "", TABLE_WHOLE, false, 0},
                                                  {"turns_idle", "", TABLE_WHOLE, false, 0},
                                                  {"turns_switched", "", TABLE_WHOLE, false, 0},
                                                  {"turns_uncounted", "", TABLE_WHOLE, false, 0},
                                                  {"turns_not-held", "", TABLE_WHOLE, false, 0},
                                                  {"turns_late", "", TABLE_WHOLE, false, 0},
                                                  {"turns_unsettled", "", TABLE_WHOLE, false, 0},
                                                  {"turns_off-table", "", TABLE_WHOLE, false, 0},
                                                  {"share", "", TABLE_REAL, false, 4},
                                                  TABLE_LIMITS("overhead", "", 4),
                                                  TABLE_LIMITS("sibling", "", 4),
                                                  TABLE_LIMITS("delay", "", 4),
                                                  TABLE_LIMITS("level_1", "", 4),
                                                  TABLE_LIMITS("level_2", "", 4),
                                                  TABLE_LIMITS("demands_1", "", 4),
                                                  TABLE_LIMITS("demands_2", "", 4),
                                                  TABLE_LIMITS("reduced", "", 4),
                                                  {"not_limited", "", TABLE_REAL, false, 4},
                                                  {"culprit", "", TABLE_TEXT, false, 0},
                                                  {"culprit_overhead", "", TABLE_REAL, false, 4},
                                                  {"unattributed", "", TABLE_REAL, false, 4},
                                                  {"causes", "", TABLE_REAL, false, 4},
                                                  {"advice", "", TABLE_TEXT, false, 0}};
    table_init(t, "profile", columns, sizeof columns / sizeof *columns);
    describe_origin(r, t);
    describe_setup(r, t);
    for (size_t i = 0; i < r->n_rows && !t->failed; i++)
        put_row(r, &r->rows[i], t);
}

int profile_csv(FILE *out, const struct profile_result *r)
{
    struct table t;
    profile_table_all(r, &t);
    int status = t.failed ? -1 : table_write_csv(out, &t);
    table_free(&t);
    return status;
}

/* ---- characterize-profile/1 (doc/formats.md) ---- */

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
