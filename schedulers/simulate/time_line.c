/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The levels of cores over time, in the stretch in which most of them change. */
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/studies.h"
#include "util/list.h"
#include "util/order.h"

/* Of longer recordings the beginning is looked at: more than an hour. */
enum { STRETCHES_MAX = 1 << 20 };

/* What a core did last. */
struct last_piece {
    bool known;
    unsigned level, permille;
};

/* Counts the changes of level in each stretch. */
struct counting {
    struct last_piece *last; /* by core */
    uint32_t *changes;       /* by stretch */
    size_t n;
    int64_t end; /* of what was simulated */
};

static void counting_piece(void *self, unsigned core, int64_t from, int64_t to, unsigned level, unsigned permille)
{
    struct counting *c = self;
    struct last_piece *last = &c->last[core];
    size_t stretch = (size_t)(from / SIM_TIME_LINE_PS);
    bool changed = last->known && (last->level != level || last->permille != permille);
    *last = (struct last_piece){true, level, permille};
    c->end = to > c->end ? to : c->end;
    if (!changed || stretch >= STRETCHES_MAX)
        return;
    c->n = stretch + 1 > c->n ? stretch + 1 : c->n;
    c->changes[stretch]++;
}

/* Keeps the pieces of a stretch, in one where nothing changes in between. */
struct keeping {
    struct sim_time_line *line;
    struct sim_time_line_policy *policy;
    size_t *last;      /* by core: its last piece + 1, 0: none */
    uint32_t *changes; /* by core, of all policies */
    bool failed;
};

static void keeping_piece(void *self, unsigned core, int64_t from, int64_t to, unsigned level, unsigned permille)
{
    struct keeping *k = self;
    struct sim_time_line_policy *policy = k->policy;
    struct sim_piece *last = k->last[core] ? &policy->piece[k->last[core] - 1] : NULL;
    if (to <= k->line->from || from >= k->line->to)
        return;
    from = from > k->line->from ? from : k->line->from;
    to = to < k->line->to ? to : k->line->to;
    if (last && last->to == from && last->level == level && last->permille == permille) {
        last->to = to;
        return;
    }
    policy->cut = policy->cut || policy->n == SIM_TIME_LINE_PIECES_MAX;
    if (policy->cut || !list_room(&policy->piece, policy->n, sizeof *policy->piece)) {
        k->failed = k->failed || !policy->cut;
        return;
    }
    policy->piece[policy->n++] = (struct sim_piece){from, to, core, (uint16_t)level, (uint16_t)permille};
    k->last[core] = policy->n;
    k->changes[core]++;
}

static int watched_run(struct sim_params *p, struct sim_workload *w, const struct sim_options *o,
                       enum sim_policy policy, const struct sim_observer *observer, struct machine_error *err)
{
    struct sim_options options = *o;
    struct sim_result result;
    options.policy = policy;
    options.timeout_given = false;
    options.observer = observer;
    int status = sim_run(p, w, &options, &result, err);
    if (status == MACHINE_OK)
        sim_result_free(&result);
    return status;
}

static int find_stretch(struct sim_params *p, struct sim_workload *w, const struct sim_options *o,
                        enum sim_policy policy, struct sim_time_line *out, struct machine_error *err)
{
    struct counting c = {.last = calloc(w->n_cores + 1, sizeof *c.last),
                         .changes = calloc(STRETCHES_MAX, sizeof *c.changes)};
    const struct sim_observer observer = {.piece = counting_piece, .self = &c};
    bool memory = c.last && c.changes;
    int status = memory ? watched_run(p, w, o, policy, &observer, err)
                        : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    size_t best = 0;
    for (size_t i = 1; status == MACHINE_OK && i < c.n; i++)
        best = c.changes[i] > c.changes[best] ? i : best;
    out->from = (int64_t)best * SIM_TIME_LINE_PS;
    out->to = c.end < out->from + SIM_TIME_LINE_PS ? c.end : out->from + SIM_TIME_LINE_PS;
    free(c.last);
    free(c.changes);
    return status;
}

static int keep_policy(struct sim_params *p, struct sim_workload *w, const struct sim_options *o,
                       enum sim_policy policy, struct keeping *k, struct machine_error *err)
{
    const struct sim_observer observer = {.piece = keeping_piece, .self = k};
    k->policy = &k->line->policy[k->line->n++];
    k->policy->policy = sim_policy_names[policy];
    memset(k->last, 0, w->n_cores * sizeof *k->last);
    int status = watched_run(p, w, o, policy, &observer, err);
    return status == MACHINE_OK && k->failed ? machine_fail(err, MACHINE_FAILED, "", "out of memory") : status;
}

/* The cores that change most, in ascending order; of equal ones the first. */
static bool choose_cores(const uint32_t *changes, unsigned n_cores, struct sim_time_line *out)
{
    struct order_key *key = calloc(n_cores + 1, sizeof *key);
    if (!key)
        return false;
    for (unsigned i = 0; i < n_cores; i++)
        key[i] = (struct order_key){-(double)changes[i], i};
    qsort(key, n_cores, sizeof *key, order_by_key);
    while (out->n_cores < n_cores && out->n_cores < SIM_TIME_LINE_CORES) {
        out->core[out->n_cores] = (unsigned)key[out->n_cores].index;
        out->n_cores++;
    }
    free(key);
    qsort(out->core, out->n_cores, sizeof *out->core, order_unsigned);
    return true;
}

int sim_time_line_find(struct sim_params *p, struct sim_workload *w, const struct sim_options *o,
                       const enum sim_policy *policies, size_t n, struct sim_time_line *out, struct machine_error *err)
{
    struct keeping k = {.line = out};
    int status = n ? find_stretch(p, w, o, policies[0], out, err) : MACHINE_OK;
    if (status != MACHINE_OK)
        return status;
    k.last = calloc(w->n_cores + 1, sizeof *k.last);
    k.changes = calloc(w->n_cores + 1, sizeof *k.changes);
    if (!k.last || !k.changes)
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (size_t i = 0; i < n && i < SIM_POLICIES && status == MACHINE_OK; i++)
        status = keep_policy(p, w, o, policies[i], &k, err);
    if (status == MACHINE_OK && !choose_cores(k.changes, w->n_cores, out))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    free(k.last);
    free(k.changes);
    return status;
}

void sim_time_line_free(struct sim_time_line *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->policy[i].piece);
    memset(t, 0, sizeof *t);
}
