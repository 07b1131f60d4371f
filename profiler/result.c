/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/advice.h"
#include "profiler/blame.h"
#include "profiler/limits.h"
#include "profiler/totals.h"
#include "util/order.h"

const char *const profile_kind_names[PROFILE_KINDS] = {"task", "container", "core", "all"};

static void result_name(const struct profile_bucket *b, struct profile_row *row)
{
    switch (row->kind) {
    case PROFILE_TASK:
        snprintf(row->name, sizeof(row->name), "%.*s-%u", (int)sizeof(b->task.comm), b->task.comm, b->task.pid);
        break;
    case PROFILE_CONTAINER:
        snprintf(row->name, sizeof(row->name), "%" PRIu64, row->cgroup);
        break;
    case PROFILE_CORE:
        snprintf(row->name, sizeof(row->name), "core %u", row->core);
        break;
    default:
        snprintf(row->name, sizeof(row->name), "all");
    }
}

/* All of a row but who causes its overhead. */
static void result_row(const struct profile_totals *t, const struct profile_limits *limits, uint32_t bucket,
                       const struct profile_blame *blame, struct profile_row *row)
{
    const struct profile_bucket *b = profile_bucket_at(&t->buckets, bucket), *all = profile_bucket_at(&t->buckets, 0);
    double busy = (double)all->sums.busy, overhead = all->sums.part[PART_OVERHEAD].wx;
    row->kind = profile_bucket_kind(b);
    row->pid = b->task.pid;
    row->tgid = b->task.tgid;
    row->start_ns = b->task.start_ns;
    row->core = row->kind == PROFILE_CORE ? (uint32_t)b->key[0] : 0;
    row->cgroup = row->kind == PROFILE_CONTAINER ? b->key[1] : b->task.cgroup;
    row->samples = b->sums.turns[PROFILE_TAKEN];
    memcpy(row->turns, b->sums.turns, sizeof(row->turns));
    row->share = busy > 0 ? (double)b->sums.busy / busy : 0;
    result_name(b, row);
    profile_limits_of(limits, &b->sums, row);
    row->not_limited = b->sums.known > 0 ? (double)b->sums.not_limited / (double)b->sums.known : NAN;
    row->unattributed = b->sums.w > 0 ? blame->unattributed[bucket] / b->sums.w : 0;
    row->causes = row->kind == PROFILE_CORE || row->kind == PROFILE_ALL ? NAN
                  : overhead > 0                                        ? blame->caused[bucket] / overhead
                                                                        : 0;
}

/* Buckets in the order of rows: all, tasks, containers, cores; each by overhead * share, the largest first. */
static size_t result_order(const struct profile_totals *t, const struct profile_blame *blame, struct order_key *order,
                           uint32_t *bucket)
{
    static const enum profile_kind kinds[] = {PROFILE_ALL, PROFILE_TASK, PROFILE_CONTAINER, PROFILE_CORE};
    size_t n = 0;
    for (unsigned kind = 0; kind < PROFILE_KINDS; kind++) {
        size_t first = n;
        for (uint32_t i = 0; i < t->buckets.n; i++) {
            const struct profile_bucket *b = profile_bucket_at(&t->buckets, i);
            const struct profile_sums *s = &b->sums;
            /* who was seen beside others only, and causes nothing, is not worth a row */
            if (profile_bucket_kind(b) != kinds[kind] ||
                (i > 0 && s->busy == 0 && s->turns[PROFILE_IDLE] == 0 && blame->caused[i] <= 0))
                continue;
            double overhead = s->w > 0 ? s->part[PART_OVERHEAD].wx / s->w : 0;
            order[n++] = (struct order_key){-overhead * (double)s->busy, i};
        }
        qsort(order + first, n - first, sizeof(*order), order_by_key);
    }
    for (size_t i = 0; i < n; i++)
        bucket[i] = (uint32_t)order[i].index;
    return n;
}

static int result_by_overhead(const void *a, const void *b)
{
    const struct profile_culprit *x = a, *y = b;
    return x->overhead != y->overhead ? (x->overhead < y->overhead ? 1 : -1) : (x->row > y->row) - (x->row < y->row);
}

/* Puts a culprit among the largest of a row. */
static bool result_culprit(struct profile_row *row, size_t culprit, double overhead)
{
    const struct profile_culprit c = {culprit, overhead};
    if (row->culprits == NULL)
        row->culprits = malloc(PROFILE_CULPRITS_MAX * sizeof(c));
    if (row->culprits == NULL)
        return false;
    if (row->n_culprits < PROFILE_CULPRITS_MAX)
        row->culprits[row->n_culprits++] = c;
    else if (result_by_overhead(&c, &row->culprits[PROFILE_CULPRITS_MAX - 1]) < 0)
        row->culprits[PROFILE_CULPRITS_MAX - 1] = c;
    qsort(row->culprits, row->n_culprits, sizeof(c), result_by_overhead);
    return true;
}

static bool result_culprits(const struct profile_totals *t, const struct profile_blame *blame, const uint32_t *row_of,
                            struct profile_result *out)
{
    for (size_t i = 0; i < blame->pairs.n; i++) {
        const struct profile_pair *p = profile_lookup_at(&blame->pairs, i);
        uint32_t victim = (uint32_t)(p->key >> 32), culprit = (uint32_t)p->key;
        double w = profile_bucket_at(&t->buckets, victim)->sums.w;
        if (!result_culprit(&out->rows[row_of[victim]], row_of[culprit], p->amount / w))
            return false;
    }
    return true;
}

static bool result_rows(const struct profile_totals *t, const struct profile_blame *blame, struct order_key *order,
                        uint32_t *bucket, uint32_t *row_of, struct profile_result *out)
{
    struct profile_limits limits;
    profile_limits_prepare(&limits, &t->setup, &t->terms, t->seen);
    size_t n = result_order(t, blame, order, bucket);
    out->rows = calloc(n, sizeof(*out->rows));
    if (out->rows == NULL)
        return false;
    out->n_rows = n;
    for (size_t i = 0; i < n; i++) {
        row_of[bucket[i]] = (uint32_t)i;
        result_row(t, &limits, bucket[i], blame, &out->rows[i]);
    }
    if (!result_culprits(t, blame, row_of, out))
        return false;
    for (size_t i = 0; i < n; i++)
        profile_advice(out, i);
    return true;
}

__attribute__((format(printf, 2, 3))) static void doubt(struct profile_result *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->doubts[out->n_doubts++], sizeof(out->doubts[0]), format, arguments);
    va_end(arguments);
}

/* What makes the figures of a result smaller than what there is, without showing in them, from all that is added up. */
static void find_doubts(const struct profile_totals *t, struct profile_result *out)
{
    const struct profile_sums *s = &profile_bucket_at(&t->buckets, 0)->sums;
    unsigned why = profile_limits_open(s);
    out->n_doubts = 0;
    if (why & LIMITS_OFF_BINS)
        doubt(out,
              "Up to %u cores were active, and the table has frequencies of no more than %u: where more are active, a "
              "slower clock is not known to be the level's, and overhead is missed; --params with an export that was "
              "measured with as many has them.",
              t->active_cores, t->setup.bin[t->setup.n_bins - 1].cores);
    else if (why & LIMITS_NOT_LIMITED)
        doubt(out,
              "In %.0f %% of the samples something other than the level limited the clock (power, heat, a governor), "
              "or the table does not fit: overhead there is not seen, and how large it may be is not known.",
              100 * (double)s->not_limited / (double)s->known);
    if (why & LIMITS_UNSETTLED)
        doubt(out,
              "In %.0f %% of the turns in which a task ran the level was still reduced after the pause of %u us, which "
              "is too short for this processor: the samples that are slowed are those that are lost; --params with an "
              "export that has this processor's waits (table relaxation) makes it longer.",
              100 * (double)s->unsettled / (double)s->busy, t->setup.pause_us);
}

int profile_totals_result(const struct profile_totals *t, struct profile_result *out)
{
    struct profile_blame blame;
    size_t n = t->buckets.n;
    struct order_key *order = malloc(n * sizeof(*order));
    uint32_t *bucket = malloc(n * sizeof(*bucket)), *row_of = malloc(n * sizeof(*row_of));
    out->setup = t->setup;
    out->terms = t->terms;
    out->siblings = t->siblings;
    find_doubts(t, out);
    memcpy(out->turns, profile_bucket_at(&t->buckets, 0)->sums.turns, sizeof(out->turns));
    out->n_rows = 0;
    out->rows = NULL;
    bool done = profile_blame_settle(&t->charges, &t->buckets, &blame) && order != NULL && bucket != NULL &&
                row_of != NULL && result_rows(t, &blame, order, bucket, row_of, out);
    profile_blame_free(&blame);
    free(order);
    free(bucket);
    free(row_of);
    if (!done)
        profile_result_free(out);
    return done ? 0 : -1;
}

void profile_result_free(struct profile_result *r)
{
    for (size_t i = 0; i < r->n_rows; i++)
        free(r->rows[i].culprits);
    free(r->rows);
    r->rows = NULL;
    r->n_rows = 0;
}
