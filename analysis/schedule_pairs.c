/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduler parameters that stand between two classes or levels: costs, waits, throttling; and the levels' events. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/schedule_parts.h"

static void largest(struct schedule_number *to, struct schedule_number from)
{
    if (from.present && (!to->present || from.value > to->value))
        *to = from;
}

static bool put_cost(struct schedule_cost **costs, size_t *n, const struct schedule_cost *c)
{
    for (size_t i = 0; i < *n; i++) {
        struct schedule_cost *old = &(*costs)[i];
        if (old->from != c->from || old->to != c->to || old->active_cores != c->active_cores)
            continue;
        largest(&old->down_ns, c->down_ns);
        largest(&old->up_ns, c->up_ns);
        largest(&old->breakeven_ns, c->breakeven_ns);
        return true;
    }
    struct schedule_cost *new = schedule_grow((void **)costs, n, sizeof *new);
    if (new)
        *new = *c;
    return new != NULL;
}

static bool put_relaxation(struct schedule_relaxation **list, size_t *n, const struct schedule_relaxation *r)
{
    for (size_t i = 0; i < *n; i++) {
        struct schedule_relaxation *old = &(*list)[i];
        if (old->from != r->from || old->to != r->to || old->mode != r->mode)
            continue;
        /* the share belongs to the wait that is told */
        if (r->wait_ns.value > old->wait_ns.value)
            *old = *r;
        return true;
    }
    struct schedule_relaxation *new = schedule_grow((void **)list, n, sizeof *new);
    if (new)
        *new = *r;
    return new != NULL;
}

static bool put_throttle(struct schedule *s, const struct schedule_throttle *p)
{
    for (size_t i = 0; i < s->n_throttles; i++) {
        struct schedule_throttle *old = &s->throttles[i];
        if (old->from != p->from || old->to != p->to || old->active_cores != p->active_cores ||
            old->phase != p->phase)
            continue;
        if (p->duration_ns.value > old->duration_ns.value)
            *old = *p;
        return true;
    }
    struct schedule_throttle *new = schedule_grow((void **)&s->throttles, &s->n_throttles, sizeof *new);
    if (new)
        *new = *p;
    return new != NULL;
}

/* One row; false: out of memory. What carries no value, or not one of this kind, is passed over. */
static bool cost_row(struct schedule *s, const struct table *t, size_t row, size_t from, size_t to)
{
    struct schedule_cost c = {.from = from, .to = to, .active_cores = schedule_cores_field(t, row),
                              .down_ns = schedule_field(t, row, "down_us", 1e3),
                              .up_ns = schedule_field(t, row, "up_us", 1e3),
                              .breakeven_ns = schedule_field(t, row, "breakeven_us", 1e3)};
    if (c.active_cores && (c.down_ns.present || c.up_ns.present || c.breakeven_ns.present))
        return put_cost(&s->costs, &s->n_costs, &c);
    s->n_ignored++;
    return true;
}

static bool relaxation_row(struct schedule *s, const struct table *t, size_t row, size_t from, size_t to)
{
    const char *what = table_text(t, row, "what");
    double mode = table_number(t, row, "mode");
    if (what && strcmp(what, "wait") != 0)
        return true;
    struct schedule_relaxation r = {.from = from, .to = to, .wait_ns = schedule_field(t, row, "wait_us", 1e3),
                                    .share_permille = schedule_field(t, row, "share", 1e3)};
    if (r.wait_ns.present && (mode == 1 || mode == 2)) {
        r.mode = (unsigned)mode;
        return put_relaxation(&s->relaxations, &s->n_relaxations, &r);
    }
    s->n_ignored++;
    return true;
}

static bool throttle_row(struct schedule *s, const struct table *t, size_t row, size_t from, size_t to)
{
    double phase = table_number(t, row, "phase");
    const char *part = table_text(t, row, "part");
    if (part && strcmp(part, "phase") != 0)
        return true; /* how far throttling reaches */
    struct schedule_throttle p = {.from = from, .to = to, .active_cores = schedule_cores_field(t, row),
                                  .duration_ns = schedule_field(t, row, "duration_us", 1e3),
                                  .ratio_permille = schedule_field(t, row, "ipc_ratio", 1e3)};
    if (p.active_cores && p.duration_ns.present && phase >= 0 && phase <= UINT8_MAX) {
        p.phase = (unsigned)phase;
        return put_throttle(s, &p);
    }
    s->n_ignored++;
    return true;
}

bool schedule_put_pairs(struct schedule *s, const struct table *t, schedule_classifier *classify)
{
    bool overhead = strcmp(t->name, "overhead") == 0, relaxation = strcmp(t->name, "relaxation") == 0;
    bool done = true;
    for (size_t row = 0; row < t->n_rows && done; row++) {
        const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
        struct schedule_kernel a, b;
        if (!from || !to || !classify(from, &a) || !classify(to, &b) || !a.plain || !b.plain || a.density != 1 ||
            b.density != 1) {
            s->n_ignored++;
            continue;
        }
        size_t x = schedule_class_of(s, &a), y = schedule_class_of(s, &b);
        done = overhead     ? cost_row(s, t, row, x, y)
               : relaxation ? relaxation_row(s, t, row, x, y)
                            : throttle_row(s, t, row, x, y);
    }
    return done;
}

/* Both levels known and different. */
static bool levels_of(const struct schedule *s, size_t from, size_t to, size_t *from_level, size_t *to_level)
{
    const struct schedule_number *a = &s->classes[from].level, *b = &s->classes[to].level;
    *from_level = (size_t)a->value;
    *to_level = (size_t)b->value;
    return a->present && b->present && a->value != b->value;
}

static int by_pair(size_t from_a, size_t to_a, size_t from_b, size_t to_b)
{
    if (from_a != from_b)
        return from_a < from_b ? -1 : 1;
    return (to_a > to_b) - (to_a < to_b);
}

static int by_cost(const void *a, const void *b)
{
    const struct schedule_cost *x = a, *y = b;
    int pair = by_pair(x->from, x->to, y->from, y->to);
    return pair ? pair : (x->active_cores > y->active_cores) - (x->active_cores < y->active_cores);
}

static int by_relaxation(const void *a, const void *b)
{
    const struct schedule_relaxation *x = a, *y = b;
    int pair = by_pair(x->from, x->to, y->from, y->to);
    return pair ? pair : (x->mode > y->mode) - (x->mode < y->mode);
}

static int by_throttle(const void *a, const void *b)
{
    const struct schedule_throttle *x = a, *y = b;
    int pair = by_pair(x->from, x->to, y->from, y->to);
    if (pair || x->active_cores == y->active_cores)
        return pair ? pair : (x->phase > y->phase) - (x->phase < y->phase);
    return x->active_cores < y->active_cores ? -1 : 1;
}

static void sort(void *list, size_t n, size_t size, int (*order)(const void *, const void *))
{
    if (n)
        qsort(list, n, size, order);
}

static void sort_pairs(struct schedule *s)
{
    sort(s->costs, s->n_costs, sizeof *s->costs, by_cost);
    sort(s->level_costs, s->n_level_costs, sizeof *s->level_costs, by_cost);
    sort(s->relaxations, s->n_relaxations, sizeof *s->relaxations, by_relaxation);
    sort(s->level_relaxations, s->n_level_relaxations, sizeof *s->level_relaxations, by_relaxation);
    sort(s->throttles, s->n_throttles, sizeof *s->throttles, by_throttle);
}

bool schedule_put_level_pairs(struct schedule *s)
{
    bool done = true;
    for (size_t i = 0; i < s->n_costs && done; i++) {
        struct schedule_cost c = s->costs[i];
        if (levels_of(s, s->costs[i].from, s->costs[i].to, &c.from, &c.to))
            done = put_cost(&s->level_costs, &s->n_level_costs, &c);
    }
    for (size_t i = 0; i < s->n_relaxations && done; i++) {
        struct schedule_relaxation r = s->relaxations[i];
        if (levels_of(s, s->relaxations[i].from, s->relaxations[i].to, &r.from, &r.to))
            done = put_relaxation(&s->level_relaxations, &s->n_level_relaxations, &r);
    }
    sort_pairs(s);
    return done;
}

/* ---- which event counts a level ---- */

/* Counts nearly all cycles of the level's kernels and nearly none of the others': the shares that perf's own test of
 * the licence events asks for (drivers/perf_licence.c). */
static const double COUNTED = 0.9, NOT_COUNTED = 0.1;

static bool event_fits(const struct schedule *s, const struct table *t, schedule_classifier *classify, double event,
                       double umask, int level)
{
    size_t own = 0, others = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *name = table_text(t, row, "kernel");
        double share = table_number(t, row, "share");
        const char *when = table_text(t, row, "when");
        struct schedule_kernel k;
        if ((when && strcmp(when, "steady") != 0) || table_number(t, row, "event") != event ||
            table_number(t, row, "umask") != umask || !name || !classify(name, &k) || !k.plain || k.density != 1 ||
            !isfinite(share))
            continue;
        size_t at = schedule_class_of(s, &k);
        if (at == SIZE_MAX || !s->classes[at].level.present)
            continue;
        bool is_own = s->classes[at].level.value == level;
        if (is_own ? share < COUNTED : share > NOT_COUNTED)
            return false;
        own += is_own;
        others += !is_own;
    }
    return own && others;
}

static unsigned bits_in(unsigned x)
{
    unsigned n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}

void schedule_put_events(struct schedule *s, const struct table *t, schedule_classifier *classify)
{
    for (unsigned level = 0; level < s->n_levels; level++)
        for (size_t row = 0; row < t->n_rows; row++) {
            double event = table_number(t, row, "event"), umask = table_number(t, row, "umask");
            struct schedule_number *best = &s->level_event[level];
            if (!(event >= 0 && event <= UINT8_MAX && umask >= 0 && umask <= UINT8_MAX))
                continue;
            int32_t code = (int32_t)event | (int32_t)umask << 8;
            /* of several the one with the fewest bits, for what the others count is not known */
            if (best->present && bits_in((unsigned)best->value) <= bits_in((unsigned)code))
                continue;
            if (event_fits(s, t, classify, event, umask, (int)level))
                *best = (struct schedule_number){.present = true, .value = code};
        }
}
