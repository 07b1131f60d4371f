/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profiler/totals.h"

#include <math.h>
#include <stdlib.h>

#include "profiler/blame.h"

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
    profile_blame_start(&t->charges);
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
        done = done && profile_blame_charge(&t->charges, &shown, x->weight * x->value[PART_SIBLING]);
    }
    if (x->value[PART_DELAY] <= 0 || !done)
        return done;
    c.level = r->level_actual;
    return totals_candidate(t, &s->task, 0, &c) && totals_candidate(t, &s->before, s->since_us, &c) &&
           totals_candidate(t, &s->other_before, s->other_since_us, &c) &&
           profile_blame_charge(&t->charges, &c, x->weight * x->value[PART_DELAY]);
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
