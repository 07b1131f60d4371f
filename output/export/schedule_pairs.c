/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduler parameters that stand between two classes or levels: costs, throttling and waits; and those of
 * the system. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/export/schedule_parts.h"
#include "tables/table/estimates.h"

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
    return schedule_add((void **)costs, n, sizeof *c, c);
}

static bool put_throttle(struct schedule *s, const struct schedule_throttle *p)
{
    for (size_t i = 0; i < s->n_throttles; i++) {
        struct schedule_throttle *old = &s->throttles[i];
        if (old->from != p->from || old->to != p->to || old->active_cores != p->active_cores || old->phase != p->phase)
            continue;
        if (p->duration_ns.value > old->duration_ns.value)
            *old = *p;
        return true;
    }
    return schedule_add((void **)&s->throttles, &s->n_throttles, sizeof *p, p);
}

/* A number of a row; what cannot be, or has no limits, is left out, with the reason. */
typedef bool possible_fn(const struct schedule_number *);
static bool take(struct schedule *s, const struct table *t, size_t row, const char *column, possible_fn *possible,
                 const char *otherwise, struct schedule_number *out)
{
    char why[160];
    *out = schedule_field(t, row, column, 1e3);
    if (out->present ? possible(out) && out->has_limits : !isfinite(table_number(t, row, column)))
        return true;
    snprintf(why, sizeof why, "%s %s", column,
             !out->present    ? "is beyond 2 s"
             : !possible(out) ? otherwise
                              : "has no limits; more --runs would help");
    *out = (struct schedule_number){0};
    return schedule_leave_out(s, t->name, why);
}

/* A cost may come out below 0 by noise, but not with all of its limits. */
static bool cost_possible(const struct schedule_number *n)
{
    return (n->has_limits ? n->hi : n->value) >= 0;
}

/* Fills *out with a cost in ns, from a column in us; one that is below 0 with all of its limits, or has none, is left
 * out. */
static bool take_cost(struct schedule *s, const struct table *t, size_t row, const char *column,
                      struct schedule_number *out)
{
    return take(s, t, row, column, cost_possible, "is below 0 with all of its limits", out);
}

static bool time_possible(const struct schedule_number *n)
{
    return n->value >= 0;
}

/* It is computed from both costs, so it is worth nothing where one of them, or how well it is known, is not there. */
static bool take_breakeven(struct schedule *s, const struct table *t, size_t row, struct schedule_cost *c)
{
    if (!take(s, t, row, "breakeven_us", time_possible, "is below 0", &c->breakeven_ns))
        return false;
    if (!c->breakeven_ns.present || (c->down_ns.has_limits && c->up_ns.has_limits))
        return true;
    c->breakeven_ns = (struct schedule_number){0};
    return schedule_leave_out(s, t->name, "breakeven_us without both costs and their limits");
}

/* Both levels known and different. */
static bool levels_of(const struct schedule *s, size_t from, size_t to, size_t *from_level, size_t *to_level)
{
    const struct schedule_number *a = &s->classes[from].level, *b = &s->classes[to].level;
    *from_level = (size_t)a->value;
    *to_level = (size_t)b->value;
    return a->present && b->present && a->value != b->value;
}

/* Both levels known, and `slower` not of a slower one: the frequency does not change that way. */
static bool is_no_slower(const struct schedule *s, size_t faster, size_t slower)
{
    const struct schedule_number *a = &s->classes[faster].level, *b = &s->classes[slower].level;
    return a->present && b->present && a->value >= b->value;
}

/* Returns true if the row itself shows that the frequency changes, or if the table lacks the columns. */
static bool changes(const struct table *t, size_t row)
{
    struct estimate high = estimates_of_table(t, row, "high_ghz"), low = estimates_of_table(t, row, "low_ghz");
    return !table_has(t, "high_ghz") || estimates_above(&high, &low);
}

/* One row; false: out of memory. */
static bool cost_row(struct schedule *s, const struct table *t, size_t row, size_t from, size_t to)
{
    struct schedule_cost c = {.from = from, .to = to, .active_cores = schedule_cores_field(t, row)};
    if (!c.active_cores)
        return schedule_ignore(s, t, SCHEDULE_NO_CORES);
    if (!take_cost(s, t, row, "down_us", &c.down_ns) || !take_cost(s, t, row, "up_us", &c.up_ns) ||
        !take_breakeven(s, t, row, &c))
        return false;
    const char *otherwise =
        is_no_slower(s, from, to)
            ? "up_us and breakeven_us of kernels where table frequency does not give the second a slower level"
        : !changes(t, row) ? "up_us and breakeven_us without high_ghz above low_ghz beyond their limits"
                           : NULL;
    if ((c.up_ns.present || c.breakeven_ns.present) && otherwise) {
        c.up_ns = c.breakeven_ns = (struct schedule_number){0};
        if (!schedule_leave_out(s, t->name, otherwise))
            return false;
    }
    if (c.down_ns.present || c.up_ns.present || c.breakeven_ns.present)
        return put_cost(&s->costs, &s->n_costs, &c);
    s->n_ignored++; /* the table says itself what it does not have */
    return true;
}

static bool throttle_row(struct schedule *s, const struct table *t, size_t row, size_t from, size_t to)
{
    double phase = table_number(t, row, "phase");
    struct schedule_throttle p = {.from = from,
                                  .to = to,
                                  .active_cores = schedule_cores_field(t, row),
                                  .ratio_permille = schedule_field(t, row, "ipc_ratio", 1e3)};
    if (!p.active_cores)
        return schedule_ignore(s, t, SCHEDULE_NO_CORES);
    if (isnan(phase))
        return schedule_ignore(s, t, "it is undecided whether it throttles");
    if (!(phase >= 0 && phase <= UINT8_MAX))
        return schedule_ignore(s, t, "phase is not in 0 to 255");
    p.phase = (unsigned)phase;
    if (!take(s, t, row, "duration_us", time_possible, "is below 0", &p.duration_ns))
        return false;
    if (p.duration_ns.present)
        return put_throttle(s, &p);
    s->n_ignored++; /* no phase was found */
    return true;
}

/* ---- waits ---- */

/*
 * Relaxation waits of schedulers. The modes of one pair of kernels belong together: their shares are of the same waits.
 * So of several pairs between the same classes (or levels) one is exported, with all of its modes.
 */

/* Finds what was measured together: returns the first row with these kernels and this number of active cores. */
static size_t source_of(const struct table *t, size_t row)
{
    const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
    unsigned cores = schedule_cores_field(t, row);
    size_t first = 0;
    while (first < row && !(table_says(t, first, "from", from) && table_says(t, first, "to", to) &&
                            schedule_cores_field(t, first) == cores))
        first++;
    return first;
}

static bool put_wait(struct schedule *s, const struct schedule_relaxation *r)
{
    for (size_t i = 0; i < s->n_relaxations; i++) {
        struct schedule_relaxation *old = &s->relaxations[i];
        if (old->source != r->source || old->mode != r->mode)
            continue;
        if (r->wait_ns.value > old->wait_ns.value)
            *old = *r;
        return true;
    }
    return schedule_add((void **)&s->relaxations, &s->n_relaxations, sizeof *r, r);
}

/* One row of the table relaxation between two classes; false: out of memory. */
static bool wait_row(struct schedule *s, const struct table *t, size_t row, size_t from, size_t to)
{
    double mode = table_number(t, row, "mode");
    size_t against;
    char why[200];
    struct schedule_relaxation r = {.from = from,
                                    .to = to,
                                    .source = source_of(t, row),
                                    .wait_ns = schedule_field(t, row, "wait_us", 1e3),
                                    .share_permille = schedule_field(t, row, "share", 1e3)};
    if (!r.wait_ns.present || r.wait_ns.value < 0)
        return schedule_ignore(s, t, "wait_us is missing, below 0, or beyond 2 s");
    if (mode != 1 && mode != 2)
        return schedule_ignore(s, t, "mode is neither 1 nor 2");
    switch (estimates_wait_support(t, row, &against)) {
    case WAIT_NO_LIMITS:
        return schedule_ignore(s, t, "wait_us, or the frequencies around it, have no limits; more --runs would help");
    case WAIT_NOT_SLOWER:
        return schedule_ignore(s, t,
                               "the frequency before the rise is not below that of plain code beyond their limits, so "
                               "the rise does not end a wait");
    case WAIT_CONTRADICTED:
        snprintf(why, sizeof why, "a wait of %.0f us after %.30s, against %.0f us in its row %.10s %.30s",
                 table_number(t, row, "wait_us"), table_text(t, row, "from"), table_number(t, against, "wait_us"),
                 table_text(t, against, "what"), table_text(t, against, "by") ? table_text(t, against, "by") : "");
        return schedule_ignore(s, t, why);
    case WAIT_REPORTED:
        break;
    }
    r.mode = (unsigned)mode;
    return put_wait(s, &r);
}

/* The mean wait of a source; the longest one where the shares are not known. */
static double mean_wait(const struct schedule_relaxation *list, size_t n, size_t source)
{
    double sum = 0, shares = 0, longest = 0;
    bool known = true;
    for (size_t i = 0; i < n; i++) {
        if (list[i].source != source)
            continue;
        known = known && list[i].share_permille.present;
        sum += (double)list[i].wait_ns.value * list[i].share_permille.value;
        shares += list[i].share_permille.value;
        longest = fmax(longest, list[i].wait_ns.value);
    }
    return known && shares > 0 ? sum / shares : longest;
}

/* Chooses the source that waits longest; of equal ones the first in the table. */
static bool is_chosen(const struct schedule_relaxation *list, size_t n, const struct schedule_relaxation *r)
{
    double mean = mean_wait(list, n, r->source);
    for (size_t i = 0; i < n; i++) {
        if (list[i].from != r->from || list[i].to != r->to || list[i].source == r->source)
            continue;
        double other = mean_wait(list, n, list[i].source);
        if (other > mean || (other == mean && list[i].source < r->source))
            return false;
    }
    return true;
}

/* Chooses, of several pairs of kernels between two classes, and of classes between two levels, the one that waits
 * longest in the mean, with all of its modes: shares of different pairs do not add up. */
static bool choose_waits(struct schedule_relaxation **list, size_t *n)
{
    struct schedule_relaxation *chosen = calloc(*n + 1, sizeof *chosen);
    size_t kept = 0;
    if (!chosen)
        return false;
    for (size_t i = 0; i < *n; i++)
        if (is_chosen(*list, *n, &(*list)[i]))
            chosen[kept++] = (*list)[i];
    free(*list);
    *list = chosen;
    *n = kept;
    return true;
}

/* ---- all of them ---- */

/* Not how far throttling reaches, what re-arms a wait, or how toggling does. */
static bool is_meant(const struct table *t, size_t row)
{
    const char *part = table_text(t, row, "part"), *what = table_text(t, row, "what");
    return (!part || strcmp(part, "phase") == 0) && (!what || strcmp(what, "wait") == 0);
}

bool schedule_put_pairs(struct schedule *s, const struct table *t, enum tables_export part,
                        const struct table *frequency)
{
    bool overhead = part == EXPORT_COSTS, relaxation = part == EXPORT_WAITS;
    const char *cpu = table_setting(t, "measured_cpu");
    char why[SUPPORT_WHY_MAX];
    bool levels = !frequency || estimates_levels(frequency, cpu ? atoi(cpu) : -1, why), done = true;
    for (size_t row = 0; row < t->n_rows && done; row++) {
        const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
        struct schedule_kernel a, b;
        if (!is_meant(t, row))
            continue;
        if (!schedule_kernel_of(from, &a) || !schedule_kernel_of(to, &b) || !a.plain || !b.plain || a.density != 1 ||
            b.density != 1) {
            done = schedule_ignore(s, t, SCHEDULE_NO_CLASS);
            continue;
        }
        size_t x = schedule_class_of(s, &a), y = schedule_class_of(s, &b);
        if ((overhead || relaxation) && !levels) {
            done = schedule_ignore(s, t, why);
            continue;
        }
        if (relaxation && is_no_slower(s, y, x)) {
            done = schedule_ignore(s, t, "a wait after code that table frequency does not give a slower level");
            continue;
        }
        done = overhead     ? cost_row(s, t, row, x, y)
               : relaxation ? wait_row(s, t, row, x, y)
                            : throttle_row(s, t, row, x, y);
    }
    return done;
}

static int by_cost(const void *a, const void *b)
{
    const struct schedule_cost *x = a, *y = b;
    return schedule_order((long[]){x->from, x->to, x->active_cores}, (long[]){y->from, y->to, y->active_cores}, 3);
}

static int by_relaxation(const void *a, const void *b)
{
    const struct schedule_relaxation *x = a, *y = b;
    return schedule_order((long[]){x->from, x->to, x->mode}, (long[]){y->from, y->to, y->mode}, 3);
}

static int by_throttle(const void *a, const void *b)
{
    const struct schedule_throttle *x = a, *y = b;
    return schedule_order((long[]){x->from, x->to, x->active_cores, x->phase},
                          (long[]){y->from, y->to, y->active_cores, y->phase}, 4);
}

static void sort_pairs(struct schedule *s)
{
    schedule_sort(s->costs, s->n_costs, sizeof *s->costs, by_cost);
    schedule_sort(s->level_costs, s->n_level_costs, sizeof *s->level_costs, by_cost);
    schedule_sort(s->relaxations, s->n_relaxations, sizeof *s->relaxations, by_relaxation);
    schedule_sort(s->level_relaxations, s->n_level_relaxations, sizeof *s->level_relaxations, by_relaxation);
    schedule_sort(s->throttles, s->n_throttles, sizeof *s->throttles, by_throttle);
}

bool schedule_put_level_pairs(struct schedule *s)
{
    bool done = choose_waits(&s->relaxations, &s->n_relaxations);
    for (size_t i = 0; i < s->n_costs && done; i++) {
        struct schedule_cost c = s->costs[i];
        if (levels_of(s, s->costs[i].from, s->costs[i].to, &c.from, &c.to))
            done = put_cost(&s->level_costs, &s->n_level_costs, &c);
    }
    for (size_t i = 0; i < s->n_relaxations && done; i++) {
        struct schedule_relaxation r = s->relaxations[i];
        if (levels_of(s, s->relaxations[i].from, s->relaxations[i].to, &r.from, &r.to))
            done = schedule_add((void **)&s->level_relaxations, &s->n_level_relaxations, sizeof r, &r);
    }
    done = done && choose_waits(&s->level_relaxations, &s->n_level_relaxations);
    sort_pairs(s);
    return done;
}

/* ---- what switches, migrations and faults cost, which the system decides, not the processor alone ---- */

bool schedule_put_switching(struct schedule *s, const struct table *t)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        size_t i = 0;
        while (i < SWITCHING_KINDS && !table_says(t, row, "what", machine_switching_names[i]))
            i++;
        struct schedule_number ns = {.present = false};
        const bool done = i == SWITCHING_KINDS ? schedule_ignore(s, t, "what is not switch, migration or fault")
                                               : take_cost(s, t, row, "us", &ns);
        if (!done)
            return false;
        if (ns.present && (!s->switching_ns[i].present || ns.value > s->switching_ns[i].value))
            s->switching_ns[i] = ns;
    }
    return true;
}
