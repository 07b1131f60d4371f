/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/shares.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/lookup.h"
#include "profiler/names.h"

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
