/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds up records by task, container and core, attributes overhead to those who cause it, and makes the result. */
#include "profiler/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/lookup.h"
#include "profiler/sums.h"
#include "util/order.h"

enum { BUCKET_KEY_WORDS = 2 };

/* The sums of one task, container or core: an element of a struct profile_lookup. */
struct profile_bucket {
    uint64_t key[BUCKET_KEY_WORDS];   /* kind and pid or core; when the task was started, or the container's number */
    struct profile_task task;         /* as it was seen last */
    uint32_t container;               /* bucket of a task's; PROFILE_NOWHERE: unknown */
    float longest_us[PROFILE_LEVELS]; /* profile_sample_late() */
    struct profile_sums sums;
};

static inline enum profile_kind profile_bucket_kind(const struct profile_bucket *b)
{
    return (enum profile_kind)(b->key[0] >> 32);
}

static inline struct profile_bucket *profile_bucket_at(const struct profile_lookup *buckets, uint32_t index)
{
    return profile_lookup_at(buckets, index);
}

/* Rows to which a victim belongs; tasks that may have caused it: those beside and before, on both hyper-threads. */
enum { BLAME_VICTIMS = 3, BLAME_CANDIDATES = 4 };

/* Overhead of one sample, in weight * change. */
struct profile_charge {
    uint32_t victim[BLAME_VICTIMS];       /* task, container, core; PROFILE_NOWHERE: none */
    uint16_t level;                       /* that was kept, or that shows in step 5 */
    uint16_t sibling;                     /* 1: the latter; candidates are the task there, then the sampled one */
    uint32_t candidate[BLAME_CANDIDATES]; /* PROFILE_NOWHERE: none */
};

/* Part of the overhead of a bucket that a task causes. */
struct profile_pair {
    uint64_t key; /* both as profile_pair_key() has them */
    double amount;
};
static inline uint64_t profile_pair_key(uint32_t victim, uint32_t culprit)
{
    return (uint64_t)victim << 32 | culprit;
}

struct profile_blame {
    struct profile_lookup pairs; /* of struct profile_pair */
    double *caused;              /* by bucket: tasks and containers, of the overhead of others */
    double *unattributed;        /* by bucket: of its own overhead */
};

/* ---- who causes overhead: doc/profiler.md, "Who causes it". Tasks, containers and cores are numbers of buckets
 * ---- */

/* All charges that are alike: what they have in common is the key. */
struct blame_charges {
    struct profile_charge charge;
    double amount;
};
_Static_assert(sizeof(struct profile_charge) % sizeof(uint64_t) == 0, "a key is of whole words");

/* Charges that are alike are one: memory is bounded by who ran beside and after whom. False: out of memory. */
static bool blame_charge(struct profile_lookup *charges, const struct profile_charge *c, double amount)
{
    uint64_t key[sizeof(*c) / sizeof(uint64_t)];
    memcpy(key, c, sizeof(key));
    uint32_t at = profile_lookup_index(charges, key);
    if (at == PROFILE_NOWHERE)
        return false;
    ((struct blame_charges *)profile_lookup_at(charges, at))->amount += amount;
    return true;
}

/* The share of a task's samples that demand a level or a slower one. */
static double blame_demand(const struct profile_lookup *buckets, uint32_t task, uint32_t level)
{
    uint64_t seen = 0;
    if (task == PROFILE_NOWHERE)
        return 0;
    const struct profile_bucket *b = profile_bucket_at(buckets, task);
    for (uint32_t i = level; i < PROFILE_LEVELS; i++)
        seen += b->sums.demands[i];
    return b->sums.known > 0 ? (double)seen / (double)b->sums.known : 0;
}

/*
 * Who answers for what shows between steps 3 and 5: the sibling's task, or where that demands no such level the sampled
 * one, which turned wide in between. Who was never sampled may demand anything. False: neither does.
 */
static bool blame_sibling(const struct profile_charge *c, const struct profile_lookup *buckets,
                          double share[BLAME_CANDIDATES])
{
    uint32_t other = c->candidate[0];
    bool demands = blame_demand(buckets, other, c->level) > 0,
         own = blame_demand(buckets, c->candidate[1], c->level) > 0,
         unknown = other != PROFILE_NOWHERE && profile_bucket_at(buckets, other)->sums.known == 0;
    for (unsigned i = 0; i < BLAME_CANDIDATES; i++)
        share[i] = 0;
    if (demands || own || unknown)
        share[own && !demands ? 1 : 0] = 1;
    return demands || own || unknown;
}

/* The share of each candidate; false: nobody is known to demand the level. */
static bool blame_shares(const struct profile_charge *c, const struct profile_lookup *buckets,
                         double share[BLAME_CANDIDATES])
{
    double sum = 0;
    if (c->sibling)
        return blame_sibling(c, buckets, share);
    for (unsigned i = 0; i < BLAME_CANDIDATES; i++) {
        share[i] = blame_demand(buckets, c->candidate[i], c->level);
        sum += share[i];
    }
    for (unsigned i = 0; i < BLAME_CANDIDATES && sum > 0; i++)
        share[i] /= sum;
    return sum > 0;
}

static bool blame_pair(struct profile_blame *b, uint32_t victim, uint32_t culprit, double amount)
{
    uint64_t key = profile_pair_key(victim, culprit);
    uint32_t at = profile_lookup_index(&b->pairs, &key);
    if (at == PROFILE_NOWHERE)
        return false;
    ((struct profile_pair *)profile_lookup_at(&b->pairs, at))->amount += amount;
    return true;
}

/* A candidate's part, for each row to which the victim belongs. */
static bool blame_candidate(struct profile_blame *b, const struct profile_lookup *buckets,
                            const struct profile_charge *c, uint32_t culprit, double amount)
{
    uint32_t container = profile_bucket_at(buckets, culprit)->container;
    bool done = blame_pair(b, 0, culprit, amount);
    for (unsigned i = 0; i < BLAME_VICTIMS; i++)
        if (c->victim[i] != PROFILE_NOWHERE)
            done = blame_pair(b, c->victim[i], culprit, amount) && done;
    if (culprit != c->victim[0])
        b->caused[culprit] += amount;
    if (container != PROFILE_NOWHERE && container != c->victim[1])
        b->caused[container] += amount;
    return done;
}

static bool blame_settle_one(struct profile_blame *b, const struct profile_lookup *buckets,
                             const struct blame_charges *charges)
{
    const struct profile_charge *c = &charges->charge;
    double share[BLAME_CANDIDATES];
    bool done = true;
    if (!blame_shares(c, buckets, share)) {
        b->unattributed[0] += charges->amount;
        for (unsigned i = 0; i < BLAME_VICTIMS; i++)
            if (c->victim[i] != PROFILE_NOWHERE)
                b->unattributed[c->victim[i]] += charges->amount;
        return true;
    }
    for (unsigned i = 0; i < BLAME_CANDIDATES; i++)
        if (share[i] > 0)
            done = blame_candidate(b, buckets, c, c->candidate[i], charges->amount * share[i]) && done;
    return done;
}

/* Shares all charges among their candidates; bucket 0 is that of all. False: out of memory. Freed in any case. */
static bool blame_settle(const struct profile_lookup *charges, const struct profile_lookup *buckets,
                         struct profile_blame *out)
{
    *out = (struct profile_blame){.pairs = {.size = sizeof(struct profile_pair), .words = 1},
                                  .caused = calloc(buckets->n, sizeof(double)),
                                  .unattributed = calloc(buckets->n, sizeof(double))};
    bool done = out->caused != NULL && out->unattributed != NULL;
    for (size_t i = 0; i < charges->n && done; i++)
        done = blame_settle_one(out, buckets, profile_lookup_at(charges, i));
    return done;
}

static void blame_free(struct profile_blame *b)
{
    profile_lookup_free(&b->pairs);
    free(b->caused);
    free(b->unattributed);
}

/* ---- adding up ---- */

struct profile_totals {
    struct profile_setup setup;
    struct profile_terms terms;
    double most;                   /* the largest change of performance that is possible */
    double seen;                   /* the largest in any sample */
    bool siblings;                 /* some core has two hyper-threads */
    uint32_t active_cores;         /* the most that were, beyond the table; 0: it has all */
    struct profile_lookup buckets; /* number 0 is that of all */
    struct profile_lookup charges;
};

/* The buckets to which a record belongs; PROFILE_NOWHERE: there is none. */
struct totals_places {
    uint32_t task, container, core;
};

static uint32_t totals_bucket(struct profile_totals *t, enum profile_kind kind, uint32_t number, uint64_t more)
{
    const uint64_t key[BUCKET_KEY_WORDS] = {(uint64_t)kind << 32 | number, more};
    return profile_lookup_index(&t->buckets, key);
}

struct profile_totals *profile_totals_new(const struct profile_setup *setup, const struct profile_terms *terms)
{
    struct profile_totals *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return NULL;
    t->setup = *setup;
    t->setup.n_bins = setup->n_bins < PROFILE_BINS_MAX ? setup->n_bins : PROFILE_BINS_MAX;
    t->terms = *terms;
    t->most = profile_sums_most(&t->setup);
    t->buckets = (struct profile_lookup){.size = sizeof(struct profile_bucket), .words = BUCKET_KEY_WORDS};
    t->charges = (struct profile_lookup){.size = sizeof(struct blame_charges),
                                         .words = sizeof(struct profile_charge) / sizeof(uint64_t)};
    if (totals_bucket(t, PROFILE_ALL, 0, 0) == PROFILE_NOWHERE) {
        profile_totals_free(t);
        return NULL;
    }
    return t;
}

void profile_totals_free(struct profile_totals *t)
{
    if (t == NULL)
        return;
    profile_lookup_free(&t->buckets);
    profile_lookup_free(&t->charges);
    free(t);
}

static bool totals_container(struct profile_totals *t, const struct profile_task *task, uint32_t *place)
{
    *place = PROFILE_NOWHERE;
    if (task->cgroup == 0)
        return true;
    *place = totals_bucket(t, PROFILE_CONTAINER, 0, task->cgroup);
    return *place != PROFILE_NOWHERE;
}

/* A task and its container as they are now; the container as it was last known. */
static bool totals_task(struct profile_totals *t, const struct profile_task *task, struct totals_places *out)
{
    out->task = out->container = PROFILE_NOWHERE;
    if (task->pid == 0)
        return true;
    out->task = totals_bucket(t, PROFILE_TASK, task->pid, task->start_ns);
    if (out->task == PROFILE_NOWHERE || !totals_container(t, task, &out->container))
        return false;
    struct profile_bucket *b = profile_bucket_at(&t->buckets, out->task);
    uint64_t cgroup = task->cgroup != 0 ? task->cgroup : b->task.cgroup;
    bool is_new = b->task.pid == 0;
    b->task = *task;
    b->task.cgroup = cgroup;
    if (is_new || out->container != PROFILE_NOWHERE)
        b->container = out->container;
    return true;
}

/* Hyper-threads of a core bear the lower number of the two. A turn that was missed has seen neither. */
static bool totals_places(struct profile_totals *t, const struct profile_record *r, struct totals_places *out)
{
    uint32_t core = r->cpu < r->sight.other_cpu ? r->cpu : r->sight.other_cpu;
    *out = (struct totals_places){PROFILE_NOWHERE, PROFILE_NOWHERE, PROFILE_NOWHERE};
    if (r->sight.task.pid == 0 && r->outcome != PROFILE_IDLE)
        return true;
    t->siblings = t->siblings || r->sight.other_cpu != PROFILE_NO_CPU;
    out->core = totals_bucket(t, PROFILE_CORE, core, 0);
    return out->core != PROFILE_NOWHERE && totals_task(t, &r->sight.task, out);
}

/* Adds somebody who may have caused it, once each. */
static bool totals_candidate(struct profile_totals *t, const struct profile_task *task, uint32_t since_us,
                             struct profile_charge *c)
{
    double wait_us = t->terms.wait_us > 0 ? t->terms.wait_us : t->setup.pause_us;
    struct totals_places place;
    if (since_us > wait_us)
        return true;
    if (!totals_task(t, task, &place))
        return false;
    unsigned i = 0;
    while (i < BLAME_CANDIDATES && c->candidate[i] != PROFILE_NOWHERE && c->candidate[i] != place.task)
        i++;
    if (i < BLAME_CANDIDATES)
        c->candidate[i] = place.task;
    return true;
}

static bool totals_charge(struct profile_totals *t, const struct profile_record *r, const struct totals_places *place,
                          const struct profile_sample *x)
{
    const struct profile_sight *s = &r->sight;
    struct profile_charge c = {.victim = {place->task, place->container, place->core}};
    for (unsigned i = 0; i < BLAME_CANDIDATES; i++)
        c.candidate[i] = PROFILE_NOWHERE;
    bool done = totals_candidate(t, &s->other, 0, &c);
    if (x->value[PART_SIBLING] > 0) {
        struct profile_charge shown = c;
        shown.sibling = 1;
        shown.level = r->level_shared < r->level_actual ? r->level_shared : r->level_actual;
        shown.candidate[1] = place->task;
        done = done && blame_charge(&t->charges, &shown, x->weight * x->value[PART_SIBLING]);
    }
    if (x->value[PART_DELAY] <= 0 || !done)
        return done;
    c.level = r->level_actual;
    return totals_candidate(t, &s->task, 0, &c) && totals_candidate(t, &s->before, s->since_us, &c) &&
           totals_candidate(t, &s->other_before, s->other_since_us, &c) &&
           blame_charge(&t->charges, &c, x->weight * x->value[PART_DELAY]);
}

/* More cores were active than the table knows of. */
static bool totals_off_bins(struct profile_totals *t, const struct profile_record *r)
{
    if (t->setup.n_bins == 0 || r->sight.active_cores <= t->setup.bin[t->setup.n_bins - 1].cores)
        return false;
    if (r->sight.active_cores > t->active_cores)
        t->active_cores = r->sight.active_cores;
    return true;
}

bool profile_totals_add(struct profile_totals *t, const struct profile_record *r)
{
    struct totals_places place;
    struct profile_sample x;
    if (r->outcome >= PROFILE_OUTCOMES)
        return true;
    if (!totals_places(t, r, &place))
        return false;
    bool taken = place.task != PROFILE_NOWHERE && profile_sample_of(r, t->most, &x);
    if (taken && x.not_limited)
        x.off_bins = totals_off_bins(t, r);
    if (taken)
        profile_sample_late(r, &t->setup, t->most, profile_bucket_at(&t->buckets, place.task)->longest_us, &x);
    const uint32_t all[] = {0, place.core, place.task, place.container};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i] == PROFILE_NOWHERE)
            continue;
        struct profile_sums *sums = &profile_bucket_at(&t->buckets, all[i])->sums;
        sums->turns[r->outcome]++;
        sums->busy += place.task != PROFILE_NOWHERE;
        if (taken)
            profile_sums_add(sums, &x);
        else if (place.task != PROFILE_NOWHERE)
            profile_sums_unsettled(sums, r);
    }
    if (!taken || x.value[PART_OVERHEAD] <= 0)
        return true;
    t->seen = fmax(t->seen, x.value[PART_OVERHEAD]);
    return totals_charge(t, r, &place, &x);
}

/* ---- the result ---- */

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

/* Finds the reasons for which figures may be too small without showing it, from the sums of all. */
static void find_doubts(const struct profile_totals *t, struct profile_result *out)
{
    const struct profile_sums *s = &profile_bucket_at(&t->buckets, 0)->sums;
    unsigned why = profile_limits_open(s);
    out->n_doubts = 0;
    if (why & LIMITS_OFF_BINS)
        doubt(out,
              "Up to %u cores were active, but the table has frequencies for no more than %u: beyond that, a slower "
              "clock cannot be attributed to the level, and overhead is missed; use --params with an export measured "
              "on as many active cores.",
              t->active_cores, t->setup.bin[t->setup.n_bins - 1].cores);
    else if (why & LIMITS_NOT_LIMITED)
        doubt(out,
              "In %.0f %% of the samples something other than the level limited the clock (power, heat, a governor), "
              "or the table does not fit: overhead there is not seen, and its size is unknown.",
              100 * (double)s->not_limited / (double)s->known);
    if (why & LIMITS_UNSETTLED)
        doubt(out,
              "In %.0f %% of the turns in which a task ran the level was still reduced after the pause of %u us, which "
              "is too short for this processor: precisely the slowed samples are lost; --params with an export that "
              "has this processor's waits (table relaxation) lengthens the pause.",
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
    bool done = blame_settle(&t->charges, &t->buckets, &blame) && order != NULL && bucket != NULL && row_of != NULL &&
                result_rows(t, &blame, order, bucket, row_of, out);
    blame_free(&blame);
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
