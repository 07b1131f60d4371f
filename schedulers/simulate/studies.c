/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Studies, which take several simulations: timeouts, other processors, fairness, the time line of levels. */
#include "schedulers/simulate/studies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/list.h"
#include "util/order.h"

/* One run, as the options say; nobody observes. */
static int study_run(struct sim_params *p, struct sim_workload *w, struct sim_options options, double *overhead,
                     double *remote, struct machine_error *err)
{
    struct sim_result result;
    options.observer = NULL;
    int status = sim_run(p, w, &options, &result, err);
    if (status != MACHINE_OK)
        return status;
    *overhead = sim_times_overhead(&result.all);
    *remote = sim_times_remote(&result.all);
    sim_result_free(&result);
    return MACHINE_OK;
}

/* ---- policy timeout, by T ---- */

/* timeout_ps 0: each level's own break-even time. */
static int curve_run(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, int64_t timeout_ps,
                     struct sim_curve_point *point, struct machine_error *err)
{
    struct sim_options options = *o;
    options.policy = SIM_TIMEOUT;
    options.timeout_given = timeout_ps > 0;
    options.timeout_ps = timeout_ps;
    return study_run(p, w, options, &point->overhead, &point->remote, err);
}

/* The slowest level that a class of the workload demands; 0: none does. */
static unsigned slowest_demanded(const struct sim_params *p, const struct sim_workload *w)
{
    int slowest = 0;
    for (int c = 0; c < SIM_CLASSES; c++) {
        int level = w->class_used[c] ? sim_params_demand(p, (enum sim_class)c) : 0;
        slowest = level > slowest ? level : slowest;
    }
    return (unsigned)slowest;
}

int sim_curve_find(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, struct sim_curve *out,
                   struct machine_error *err)
{
    unsigned slow = slowest_demanded(p, w), n = w->active_cores ? w->active_cores : w->n_cores;
    int status = MACHINE_OK;
    memset(out, 0, sizeof *out);
    out->breakeven.timeout_us = out->stock.timeout_us = NAN;
    for (size_t i = 0; i < SIM_CURVE_POINTS && status == MACHINE_OK; i++) {
        struct sim_curve_point *q = &out->point[i];
        q->timeout_us = SIM_CURVE_US_LO * pow(SIM_CURVE_US_HI / SIM_CURVE_US_LO, (double)i / (SIM_CURVE_POINTS - 1));
        status = curve_run(p, w, o, llround(q->timeout_us * SIM_PS_PER_US), q, err);
    }
    if (status != MACHINE_OK)
        return status;
    out->n = SIM_CURVE_POINTS;
    int64_t breakeven = slow ? sim_params_breakeven(p, 0, slow, n, NULL) : -1;
    struct sim_wait wait;
    if (breakeven > 0 && breakeven < SIM_FOREVER) {
        out->breakeven.timeout_us = (double)breakeven / SIM_PS_PER_US;
        status = curve_run(p, w, o, 0, &out->breakeven, err);
    }
    if (status == MACHINE_OK && slow && sim_params_wait(p, slow, 0, &wait, NULL) == 0 && wait.usual_ps > 0) {
        out->stock.timeout_us = (double)wait.usual_ps / SIM_PS_PER_US;
        status = curve_run(p, w, o, wait.usual_ps, &out->stock, err);
    }
    return status;
}

/* ---- policy stock on other processors ---- */

static const struct {
    const char *parameter;
    struct sim_factors factors; /* the one that is not 1 is that of the row */
    double factor;
} what_if_changes[] = {
    {"wait", {0.1, 1, 1}, 0.1},
    {"wait", {0.25, 1, 1}, 0.25},
    {"wait", {0.5, 1, 1}, 0.5},
    {"wait", {2, 1, 1}, 2},
    {"cost of a change", {1, 0, 1}, 0},
    {"cost of a change", {1, 0.5, 1}, 0.5},
    {"distance of the levels", {1, 1, 0.5}, 0.5},
    {"distance of the levels", {1, 1, 0.75}, 0.75},
};
_Static_assert(sizeof what_if_changes / sizeof *what_if_changes <= SIM_WHAT_IF_MAX, "all rows have room");

static int what_if_run(struct sim_params *p, struct sim_workload *w, const struct sim_options *o,
                       const struct sim_factors *factors, struct sim_what_if_row *row, struct machine_error *err)
{
    struct sim_options options = *o;
    options.policy = SIM_STOCK;
    sim_params_scale(p, factors);
    return study_run(p, w, options, &row->overhead, &row->remote, err);
}

/* The least overhead first; none (a workload without work) last. */
static int what_if_order(const void *a, const void *b)
{
    const struct sim_what_if_row *x = a, *y = b;
    double p = isnan(x->overhead) ? INFINITY : x->overhead, q = isnan(y->overhead) ? INFINITY : y->overhead;
    return p < q ? -1 : p > q;
}

int sim_what_if_find(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, struct sim_what_if *out,
                     struct machine_error *err)
{
    static const struct sim_factors as_measured = {1, 1, 1};
    memset(out, 0, sizeof *out);
    int status = what_if_run(p, w, o, &as_measured, &out->now, err);
    for (size_t i = 0; i < sizeof what_if_changes / sizeof *what_if_changes && status == MACHINE_OK; i++) {
        out->row[i] = (struct sim_what_if_row){.parameter = what_if_changes[i].parameter,
                                               .factor = what_if_changes[i].factor};
        status = what_if_run(p, w, o, &what_if_changes[i].factors, &out->row[i], err);
    }
    sim_params_scale(p, &as_measured);
    if (status != MACHINE_OK)
        return status;
    out->n = sizeof what_if_changes / sizeof *what_if_changes;
    qsort(out->row, out->n, sizeof *out->row, what_if_order);
    return MACHINE_OK;
}

/* ---- fairness ---- */

double sim_unfairness(double slowdown, double base)
{
    return slowdown + slowdown / base - 2;
}

/* The same work without wide code. */

struct plain_source {
    struct sim_source *works;
    bool demands[SIM_CLASSES]; /* a level above 0 */
    bool *wide;                /* by task: it has such rows */
};

static size_t plain_read(void *self, unsigned stream, struct sim_row *out, size_t max)
{
    struct plain_source *s = self;
    size_t n = s->works->read(s->works->self, stream, out, max);
    for (size_t i = 0; i < n; i++)
        if (out[i].task != SIM_IDLE && s->demands[out[i].class]) {
            s->wide[stream] = true;
            out[i].class = SIM_NONE;
        }
    return n;
}

static void plain_rewind(void *self)
{
    struct plain_source *s = self;
    s->works->rewind(s->works->self);
}

static const char *plain_error(void *self)
{
    struct plain_source *s = self;
    return s->works->error != NULL ? s->works->error(s->works->self) : NULL;
}

/* Mean ratios over the tasks that never run wide code; NaN: there are none. */
struct victim_ratios {
    double completion, cpu;
};

static struct victim_ratios compare_victims(const struct sim_result *with, const struct sim_result *without,
                                            const bool *wide)
{
    struct victim_ratios sum = {0};
    size_t n = 0;
    for (size_t i = 0; i < with->n_tasks; i++) {
        const struct sim_times *a = &with->tasks[i], *b = &without->tasks[i];
        if (wide[i] || sim_times_cpu(b) == 0)
            continue;
        sum.completion += (double)a->end_ps / (double)b->end_ps;
        sum.cpu += (double)sim_times_cpu(a) / (double)sim_times_cpu(b);
        n++;
    }
    return (struct victim_ratios){sum.completion / (double)n, sum.cpu / (double)n}; /* 0/0: NaN */
}

static int find_ratios(struct sim_params *p, struct sim_workload *w, const struct sim_options *o,
                       const struct sim_result *with, struct victim_ratios *out, struct machine_error *err)
{
    struct plain_source source = {.works = &w->works, .wide = calloc(w->n_tasks > 0 ? w->n_tasks : 1, sizeof(bool))};
    struct sim_workload plain = *w;
    struct sim_options unseen = *o;
    struct sim_result without;
    if (source.wide == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (int c = 0; c < SIM_CLASSES; c++)
        source.demands[c] = sim_params_demand(p, (enum sim_class)c) > 0;
    plain.works = (struct sim_source){
        .read = plain_read, .rewind = plain_rewind, .error = plain_error, .close = NULL, .self = &source};
    unseen.observer = NULL;
    int status = sim_run(p, &plain, &unseen, &without, err);
    if (status == MACHINE_OK) {
        *out = compare_victims(with, &without, source.wide);
        sim_result_free(&without);
    }
    free(source.wide);
    return status;
}

/* The slowdown under scheduler fair. */
static int find_base(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, double *base,
                     struct machine_error *err)
{
    struct sim_options fair = *o;
    struct sim_result with;
    struct victim_ratios ratios;
    fair.scheduler = SIM_FAIR;
    fair.observer = NULL;
    int status = sim_run(p, w, &fair, &with, err);
    if (status != MACHINE_OK)
        return status;
    status = find_ratios(p, w, &fair, &with, &ratios, err);
    if (status == MACHINE_OK)
        *base = ratios.completion;
    sim_result_free(&with);
    return status;
}

int sim_fairness_find(struct sim_params *p, struct sim_workload *w, const struct sim_options *o, double *base,
                      struct sim_result *r, struct machine_error *err)
{
    struct victim_ratios ratios;
    int status = find_ratios(p, w, o, r, &ratios, err);
    if (status == MACHINE_OK && isnan(*base) && o->scheduler == SIM_FAIR)
        *base = ratios.completion;
    if (status == MACHINE_OK && isnan(*base) && !isnan(ratios.completion))
        status = find_base(p, w, o, base, err);
    if (status != MACHINE_OK)
        return status;
    r->slowdown = ratios.completion - 1;
    r->cpu_slowdown = ratios.cpu - 1;
    r->unfairness = sim_unfairness(ratios.completion, *base);
    return MACHINE_OK;
}

/* ---- the time line ---- */

/* Only the beginning of longer recordings is looked at: more than an hour. */
enum { STRETCHES_MAX = 1 << 20 };

/* The last state of a core. */
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
