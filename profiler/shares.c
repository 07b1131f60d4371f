/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of license levels by task and container, added up from what perf counts, and how they leave. */
#include "profiler/shares.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "computer/environment/snapshot.h"
#include "profiler/lookup.h"
#include "profiler/names.h"
#include "profiler/output/profile_parts.h"
#include "util/json_lines.h"
#include "util/plain_text.h"

/* Added up by key: a thread's number, or a control group's. */
struct shares_sum {
    uint64_t key;
    uint64_t counts[PERF_PROFILE_COUNTERS];
    uint32_t tgid;
    char comm[16];
};

struct shares {
    struct profile_lookup tasks, groups;
    uint64_t counts[PERF_PROFILE_COUNTERS], unknown; /* of all; cycles */
};

struct shares *shares_new(void)
{
    struct shares *s = calloc(1, sizeof(*s));
    if (s != NULL)
        s->tasks = s->groups = (struct profile_lookup){.size = sizeof(struct shares_sum), .words = 1};
    return s;
}

void shares_free(struct shares *s)
{
    if (s == NULL)
        return;
    profile_lookup_free(&s->tasks);
    profile_lookup_free(&s->groups);
    free(s);
}

/* The name of a task that was there before its name could be recorded. */
static void read_comm(const char *proc, uint32_t tgid, uint32_t pid, char comm[16])
{
    char path[100];
    snprintf(path, sizeof(path), "%.40s/%" PRIu32 "/task/%" PRIu32 "/comm", proc, tgid, pid);
    FILE *in = fopen(path, "re");
    if (in == NULL || fscanf(in, "%15[^\n]", comm) != 1)
        strcpy(comm, "?");
    if (in != NULL)
        (void)fclose(in);
}

static void shares_count(uint64_t *counts, const uint64_t *more)
{
    for (int i = 0; i < PERF_PROFILE_COUNTERS; i++)
        counts[i] += more[i];
}

bool shares_add(struct shares *s, const char *proc, const struct perf_stretch *stretch)
{
    uint64_t pid = stretch->pid;
    if (pid == 0)
        return true;
    uint32_t at = profile_lookup_index(&s->tasks, &pid);
    if (at == PROFILE_NOWHERE)
        return false;
    struct shares_sum *task = profile_lookup_at(&s->tasks, at);
    task->tgid = stretch->tgid;
    if (stretch->named) {
        memcpy(task->comm, stretch->comm, sizeof(task->comm));
        return true;
    }
    if (task->comm[0] == '\0')
        read_comm(proc, stretch->tgid, stretch->pid, task->comm);
    shares_count(s->counts, stretch->counts);
    if (!stretch->known) {
        s->unknown += stretch->counts[0];
        return true;
    }
    shares_count(task->counts, stretch->counts);
    at = stretch->cgroup != 0 ? profile_lookup_index(&s->groups, &stretch->cgroup) : 0;
    if (at == PROFILE_NOWHERE)
        return false;
    if (stretch->cgroup != 0)
        shares_count(((struct shares_sum *)profile_lookup_at(&s->groups, at))->counts, stretch->counts);
    return true;
}

static void fill_row(struct shares_row *row, enum profile_kind kind, const uint64_t *counts, uint64_t all)
{
    double cycles = (double)counts[0];
    *row = (struct shares_row){.who = {.kind = kind, .share = all > 0 ? cycles / (double)all : 0}, .cycles = cycles};
    for (int level = 1; level < PROFILE_LEVELS && cycles > 0; level++) /* readings of one moment are not quite that */
        row->at_level[level] = counts[level] < counts[0] ? (double)counts[level] / cycles : 1;
    double reduced = row->at_level[1] + row->at_level[2];
    row->at_level[0] = reduced < 1 ? 1 - reduced : 0;
}

static int compare_rows(const void *a, const void *b)
{
    const struct shares_row *x = a, *y = b;
    double p = x->cycles * (1 - x->at_level[0]), q = y->cycles * (1 - y->at_level[0]);
    return p != q ? (p < q) - (p > q) : (x->cycles < y->cycles) - (x->cycles > y->cycles);
}

/* Names as other profiles have them. */
static int name_rows(const struct profile_names *names, struct shares_result *r)
{
    struct profile_result as = {.n_rows = r->n_rows, .rows = calloc(r->n_rows, sizeof(*as.rows))};
    if (as.rows == NULL)
        return -1;
    for (size_t i = 0; i < r->n_rows; i++)
        as.rows[i] = r->rows[i].who;
    profile_names_fill(names, &as);
    for (size_t i = 0; i < r->n_rows; i++)
        r->rows[i].who = as.rows[i];
    free(as.rows);
    return 0;
}

int shares_result(const struct shares *s, const struct profile_names *names, struct shares_result *out)
{
    out->n_rows = 0;
    out->rows = calloc(1 + s->tasks.n + s->groups.n, sizeof(*out->rows));
    if (out->rows == NULL)
        return -1;
    out->unknown = s->counts[0] > 0 ? (double)s->unknown / (double)s->counts[0] : 0;
    fill_row(&out->rows[out->n_rows++], PROFILE_ALL, s->counts, s->counts[0]);
    snprintf(out->rows[0].who.name, sizeof(out->rows[0].who.name), "all");
    for (size_t i = 0; i < s->tasks.n; i++) {
        const struct shares_sum *sum = profile_lookup_at(&s->tasks, i);
        struct shares_row *row = &out->rows[out->n_rows];
        if (sum->counts[0] == 0)
            continue;
        fill_row(row, PROFILE_TASK, sum->counts, s->counts[0]);
        snprintf(row->who.name, sizeof(row->who.name), "%.15s-%" PRIu64, sum->comm, sum->key);
        row->who.pid = (uint32_t)sum->key;
        row->who.tgid = sum->tgid;
        out->n_rows++;
    }
    size_t containers = out->n_rows;
    qsort(out->rows + 1, containers - 1, sizeof(*out->rows), compare_rows);
    for (size_t i = 0; i < s->groups.n; i++) {
        const struct shares_sum *sum = profile_lookup_at(&s->groups, i);
        fill_row(&out->rows[out->n_rows], PROFILE_CONTAINER, sum->counts, s->counts[0]);
        out->rows[out->n_rows++].who.cgroup = sum->key;
    }
    qsort(out->rows + containers, out->n_rows - containers, sizeof(*out->rows), compare_rows);
    return name_rows(names, out);
}

void shares_result_free(struct shares_result *r)
{
    free(r->rows);
    r->rows = NULL;
    r->n_rows = 0;
}

/* ---- output ---- */

/* With the other columns, a line has 80. */
enum { NAME_COLUMNS = 44 };

static const char caution[] = "Shares of cycles at a level, not overhead: it is unknown whose code demanded it, and "
                              "the demands of the core's other hyper-thread count alike.";

/* ---- for a person ---- */

/* Prints a name as wide as the column. */
static void print_name(FILE *out, const char *name)
{
    char shown[PROFILE_NAME_MAX];
    size_t characters = 0;
    for (const char *c = profile_short_name(name, NAME_COLUMNS, shown); *c != '\0'; c++)
        characters += ((unsigned char)*c & 0xc0) != 0x80;
    fprintf(out, "%s%*s", shown, (int)(NAME_COLUMNS - characters), "");
}

static void print_row(FILE *out, const struct shares_row *row)
{
    fputs(row->who.chosen ? "* " : "  ", out);
    print_name(out, row->who.name);
    fprintf(out, " %7.1f", 100 * row->who.share);
    for (int level = 0; level < PROFILE_LEVELS; level++)
        fprintf(out, " %8.1f", 100 * row->at_level[level]);
    fputc('\n', out);
}

/* The first rows of a kind, and as many of the command's tasks after them. Returns whether there are any
 * of these. */
static bool print_kind(FILE *out, bool colour, const struct shares_result *r, enum profile_kind kind, size_t most)
{
    size_t n = 0, hidden = 0, chosen = 0;
    double rest = 0;
    for (size_t i = 0; i < r->n_rows; i++) {
        const struct shares_row *row = &r->rows[i];
        if (row->who.kind != kind)
            continue;
        if (n++ == 0)
            fprintf(out, "\n%s  %-*s %7s %8s %8s %8s%s\n", colour ? "\033[1m" : "", NAME_COLUMNS,
                    kind == PROFILE_TASK ? "Tasks, %" : "Containers, %", "share", "level 0", "level 1", "level 2",
                    colour ? "\033[0m" : "");
        chosen += row->who.chosen;
        if (n <= most || (row->who.chosen && chosen <= most)) {
            print_row(out, row);
        } else {
            rest += row->who.share;
            hidden++;
        }
    }
    if (hidden > 0)
        fprintf(out, "  and %zu other%s, together %.1f %% of all cycles\n", hidden, hidden == 1 ? "" : "s", 100 * rest);
    return chosen > 0;
}

void shares_print(FILE *out, bool colour, const struct shares_result *r, size_t most_rows)
{
    char cpu[200];
    plain_text(r->cpu, cpu, sizeof(cpu));
    fprintf(out, "%sLicense levels while tasks ran%s, counted by perf\n%s\n%u CPU%s, %.1f s\n", colour ? "\033[1m" : "",
            colour ? "\033[0m" : "", cpu, r->cpus, r->cpus == 1 ? "" : "s", r->seconds);
    fprintf(out, "Shares of cycles, not overhead: it is unknown whose code demanded a level, and the demands of "
                 "the\ncore's other hyper-thread count alike. The kernel module shows overhead and causes.\n");
    if (r->unknown > 0)
        fprintf(out, "%.1f %% of the cycles are unattributed: readings were lost (%" PRIu64 ").\n", 100 * r->unknown,
                r->lost);
    if (r->n_rows == 0 || r->rows[0].cycles <= 0) {
        fputs("Nothing ran.\n", out);
        return;
    }
    bool chosen = print_kind(out, colour, r, PROFILE_TASK, most_rows);
    print_kind(out, colour, r, PROFILE_CONTAINER, most_rows);
    fputc('\n', out);
    print_row(out, &r->rows[0]);
    if (chosen)
        fputs("* belongs to the command\n", out);
}

/* ---- for programs ---- */

static json_t *json_row(const struct shares_row *row, bool *failed)
{
    const struct profile_row *w = &row->who;
    json_t *o = json_object(), *levels = json_array();
    json_lines_put(o, "name", json_lines_text(w->name), failed);
    if (w->kind == PROFILE_TASK) {
        json_lines_put_text(o, "command", w->command, failed);
        json_lines_put_whole(o, "pid", w->pid, failed);
        json_lines_put_whole(o, "tgid", w->tgid, failed);
        json_lines_put(o, "chosen", json_boolean(w->chosen), failed);
    }
    if (w->kind == PROFILE_CONTAINER)
        json_lines_put_whole(o, "cgroup", w->cgroup, failed);
    json_lines_put(o, "cycles", json_real(row->cycles), failed);
    json_lines_put(o, "share", json_real(w->share), failed);
    for (int level = 0; level < PROFILE_LEVELS; level++)
        json_lines_push(levels, json_real(row->at_level[level]), failed);
    json_lines_put(o, "at_level", levels, failed);
    return o;
}

char *shares_json(const struct shares_result *r)
{
    static const char *const lists[] = {[PROFILE_TASK] = "tasks", [PROFILE_CONTAINER] = "containers"};
    bool failed = false;
    json_t *root = json_object();
    json_lines_put(root, "format", json_string("characterize-profile/1"), &failed);
    json_lines_put(root, "kind", json_string("shares"), &failed);
    json_lines_put(root, "version", json_lines_text(r->head.version), &failed);
    json_lines_put(root, "machine", json_string("perf"), &failed);
    json_lines_put(root, "cpu", json_lines_text(r->cpu), &failed);
    json_lines_put(root, "modelled", json_false(), &failed);
    if (r->head.environment)
        json_lines_put(root, "environment", snapshot_json(r->head.environment), &failed);
    json_lines_put(root, "command", json_lines_text(r->head.command), &failed);
    json_lines_put_whole(root, "n_cpus", r->cpus, &failed);
    json_lines_put(root, "seconds", json_real(r->seconds), &failed);
    json_lines_put(root, "unknown", json_real(r->unknown), &failed);
    json_lines_put_whole(root, "lost", r->lost, &failed);
    json_t *warnings = json_lines_array(root, "warnings", &failed);
    json_lines_push(warnings, json_string(caution), &failed);
    for (size_t i = 0; i < r->head.n_warnings; i++)
        json_lines_push(warnings, json_lines_text(r->head.warnings[i]), &failed);
    if (r->n_rows > 0)
        json_lines_put(root, "all", json_row(&r->rows[0], &failed), &failed);
    for (enum profile_kind kind = PROFILE_TASK; kind <= PROFILE_CONTAINER; kind++) {
        json_t *list = json_lines_array(root, lists[kind], &failed);
        for (size_t i = 0; i < r->n_rows; i++)
            if (r->rows[i].who.kind == kind)
                json_lines_push(list, json_row(&r->rows[i], &failed), &failed);
    }
    return json_lines_dump(root, failed);
}

int shares_csv(FILE *out, const struct shares_result *r)
{
    static const struct table_column columns[] = {
        {"kind", "", TABLE_TEXT, true, 0},        {"name", "", TABLE_TEXT, true, 0},
        {"command", "", TABLE_TEXT, false, 0},    {"pid", "", TABLE_WHOLE, false, 0},
        {"tgid", "", TABLE_WHOLE, false, 0},      {"cgroup", "", TABLE_TEXT, false, 0},
        {"chosen", "", TABLE_TEXT, false, 0},     {"cycles", "", TABLE_REAL, false, 0},
        {"share", "", TABLE_REAL, false, 4},      {"at_level_0", "", TABLE_REAL, false, 4},
        {"at_level_1", "", TABLE_REAL, false, 4}, {"at_level_2", "", TABLE_REAL, false, 4}};
    static const char *const levels[PROFILE_LEVELS] = {"at_level_0", "at_level_1", "at_level_2"};
    struct table t;
    char number[24];
    table_init(&t, "shares", columns, sizeof(columns) / sizeof(columns[0]));
    table_set_meta(&t, "cpu", r->cpu);
    table_set_meta(&t, "machine", "perf");
    table_set_meta(&t, "version", r->head.version);
    profile_put_environment(&r->head, &t);
    table_set_meta(&t, "caution", caution);
    table_set_setting_number(&t, "seconds", r->seconds);
    table_set_setting_number(&t, "unknown", r->unknown);
    for (size_t i = 0; i < r->n_rows && !t.failed; i++) {
        const struct profile_row *w = &r->rows[i].who;
        table_add_row(&t);
        table_put_text(&t, "kind", profile_kind_names[w->kind]);
        table_put_text(&t, "name", w->name);
        if (w->kind == PROFILE_TASK) {
            table_put_text(&t, "command", w->command[0] != '\0' ? w->command : NULL);
            table_put_number(&t, "pid", w->pid);
            table_put_number(&t, "tgid", w->tgid);
            table_put_text(&t, "chosen", w->chosen ? "yes" : "no");
        }
        snprintf(number, sizeof(number), "%" PRIu64, w->cgroup);
        table_put_text(&t, "cgroup", w->kind == PROFILE_CONTAINER ? number : NULL);
        table_put_number(&t, "cycles", r->rows[i].cycles);
        table_put_number(&t, "share", w->share);
        for (int level = 0; level < PROFILE_LEVELS; level++)
            table_put_number(&t, levels[level], r->rows[i].at_level[level]);
    }
    int status = t.failed ? -1 : table_write_csv(out, &t);
    table_free(&t);
    return status;
}
