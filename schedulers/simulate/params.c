/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters of a simulated processor, and bounds for those that the export lacks. */
#include "schedulers/simulate/params.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/list.h"

const char *const sim_scheduling_cost_names[SIM_SCHEDULING_COSTS] = {"switch", "migration", "fault"};

/* ---- what was bounded, and what is missing ---- */

/* Once for each `what`. Out of memory: the bound is not listed. */
static void add_bound(struct sim_params *p, const struct sim_bound *bound)
{
    for (size_t i = 0; i < p->n_bounds; i++)
        if (strcmp(p->bounds[i].what, bound->what) == 0)
            return;
    if (list_room(&p->bounds, p->n_bounds, sizeof(*bound)))
        p->bounds[p->n_bounds++] = *bound;
}

__attribute__((format(printf, 3, 4))) static void lacking(struct sim_params *p, const char **why, const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(p->why, sizeof(p->why), what, arguments);
    va_end(arguments);
    if (why != NULL)
        *why = p->why;
}

/* ---- classes ---- */

static const struct sim_export_class *export_class(const struct sim_params *p, enum sim_class c)
{
    static const struct {
        unsigned width;
        bool heavy;
    } forms[SIM_CLASSES] = {[SIM_256LIGHT] = {256, false},
                            [SIM_256HEAVY] = {256, true},
                            [SIM_512LIGHT] = {512, false},
                            [SIM_512HEAVY] = {512, true}};
    for (size_t i = 0; c != SIM_NONE && i < p->n_classes; i++)
        if (p->classes[i].width == forms[c].width && p->classes[i].heavy == forms[c].heavy)
            return &p->classes[i];
    return NULL;
}

int sim_params_demand(const struct sim_params *p, enum sim_class c)
{
    const struct sim_export_class *class = export_class(p, c);
    return c == SIM_NONE ? 0 : class != NULL ? class->level : -1;
}

double sim_params_trigger(const struct sim_params *p, enum sim_class c)
{
    const struct sim_export_class *class = export_class(p, c);
    return class != NULL ? class->trigger : 0;
}

/* ---- frequencies ---- */

/* The row of the smallest measured number of active cores from n on, by which rows ascend; NULL: there is none. */
static const struct sim_frequency *frequency_at(const struct sim_params *p, unsigned level, unsigned n)
{
    for (size_t i = 0; i < p->n_frequencies; i++)
        if (p->frequencies[i].level == level && p->frequencies[i].n >= n)
            return &p->frequencies[i];
    return NULL;
}

/* True: level 0 was measured with exactly n active cores. */
static bool params_measured(const struct sim_params *p, unsigned n)
{
    const struct sim_frequency *f = frequency_at(p, 0, n);
    return f != NULL && f->n == n;
}

/* The row of the greatest measured number of active cores below n. */
static const struct sim_frequency *frequency_below(const struct sim_params *p, unsigned level, unsigned n)
{
    const struct sim_frequency *best = NULL;
    for (size_t i = 0; i < p->n_frequencies; i++)
        if (p->frequencies[i].level == level && p->frequencies[i].n < n)
            best = &p->frequencies[i];
    return best;
}

static double scaled_mhz(const struct sim_params *p, unsigned level, unsigned n)
{
    double mhz = frequency_at(p, level, n)->mhz;
    if (level == 0 || p->factors.spacing == 1)
        return mhz;
    double plain = frequency_at(p, 0, n)->mhz;
    return fmax(1, plain - p->factors.spacing * (plain - mhz));
}

uint32_t sim_params_speed(struct sim_params *p, unsigned level, unsigned n)
{
    n = n == 0 ? 1 : n;
    const struct sim_frequency *at = frequency_at(p, level, n), *below = frequency_below(p, level, n);
    if (at->n != n && (below == NULL || below->mhz != at->mhz)) {
        struct sim_bound bound = {
            .value = at->mhz, .lo = at->mhz, .hi = below != NULL ? below->mhz : INFINITY, .unit = "MHz"};
        snprintf(bound.what, sizeof(bound.what), "frequency at level %u with %u active core%s", level, n,
                 n == 1 ? "" : "s");
        snprintf(bound.why, sizeof(bound.why), "measured with %u, not with %u", at->n, n);
        add_bound(p, &bound);
    }
    return (uint32_t)lround(scaled_mhz(p, level, n) * SIM_UNITS_PER_MHZ);
}

uint32_t sim_stalled_speed(uint32_t speed, uint32_t recorded, unsigned stall_permille)
{
    double share = stall_permille / 1000.0, f = speed, r = recorded;
    return stall_permille == 0 ? speed : (uint32_t)floor(r * f / (share * (f - r) + r) + 0.5);
}

/* ---- costs ---- */

/* True: a stands for n active cores rather than b. Best is n itself, else the next higher, else the highest. */
static bool stands_closer(unsigned a, unsigned b, unsigned n)
{
    if ((a >= n) != (b >= n))
        return a >= n;
    return a >= n ? a < b : a > b;
}

/* The values of a cost. */
enum cost_value { COST_DOWN, COST_UP, COST_BREAKEVEN };

static double cost_value(const struct sim_cost *c, enum cost_value value)
{
    return value == COST_DOWN ? c->down : value == COST_UP ? c->up : c->breakeven;
}

/* The cost between two levels whose number of active cores is nearest; SIM_ABSENT. */
static double level_cost(const struct sim_params *p, unsigned from, unsigned to, enum cost_value value, unsigned n,
                         unsigned *measured_n)
{
    const struct sim_cost *best = NULL;
    for (size_t i = 0; i < p->n_level_costs; i++) {
        const struct sim_cost *c = &p->level_costs[i];
        if (c->from == from && c->to == to && cost_value(c, value) != SIM_ABSENT &&
            (best == NULL || stands_closer(c->n, best->n, n)))
            best = c;
    }
    if (best != NULL && measured_n != NULL)
        *measured_n = best->n;
    return best != NULL ? cost_value(best, value) : SIM_ABSENT;
}

/* The cost of code of a class that comes from any class of level `from`: of the first such class. */
static double class_cost(const struct sim_params *p, unsigned from, const struct sim_export_class *to, unsigned n)
{
    const struct sim_cost *best = NULL;
    for (size_t i = 0; to != NULL && i < p->n_costs; i++) {
        const struct sim_cost *c = &p->costs[i];
        if (&p->classes[c->to] != to || p->classes[c->from].level != (int)from || c->down == SIM_ABSENT)
            continue;
        if (best == NULL || (c->from == best->from && stands_closer(c->n, best->n, n)))
            best = c;
    }
    return best != NULL ? best->down : SIM_ABSENT;
}

/* The cost of a change that begins at a faster level: this one cannot cost more. The nearest level's. */
static double cost_from_faster(struct sim_params *p, unsigned from, unsigned to, unsigned n)
{
    for (unsigned faster = from; faster-- > 0;) {
        double down = level_cost(p, faster, to, COST_DOWN, n, NULL);
        if (down == SIM_ABSENT)
            continue;
        struct sim_bound bound = {.value = down / SIM_PS_PER_US, .hi = down / SIM_PS_PER_US, .unit = "us"};
        snprintf(bound.what, sizeof(bound.what), "cost of a change down from level %u to %u", from, to);
        snprintf(bound.why, sizeof(bound.why), "not measured; that from level %u is an upper bound", faster);
        add_bound(p, &bound);
        return down;
    }
    return SIM_ABSENT;
}

/* The cost of a change down, in ps, scaled; SIM_ABSENT. */
static double down_cost(struct sim_params *p, unsigned from, unsigned to, enum sim_class c, unsigned n)
{
    double down = class_cost(p, from, export_class(p, c), n);
    if (down == SIM_ABSENT)
        down = level_cost(p, from, to, COST_DOWN, n, NULL);
    if (down == SIM_ABSENT)
        down = cost_from_faster(p, from, to, n);
    return down == SIM_ABSENT ? down : down * p->factors.cost;
}

/* ---- a change down ---- */

/* The throttle phases of code of a class that comes from a level, into *change. */
static void throttles_of(const struct sim_params *p, unsigned from, const struct sim_export_class *to, unsigned n,
                         struct sim_change *change)
{
    const struct sim_throttle *first = NULL;
    for (size_t i = 0; to != NULL && i < p->n_throttles; i++) {
        const struct sim_throttle *t = &p->throttles[i];
        if (&p->classes[t->to] != to || p->classes[t->from].level != (int)from)
            continue;
        if (first == NULL || (t->from == first->from && stands_closer(t->n, first->n, n)))
            first = t;
    }
    for (size_t i = 0; first != NULL && i < p->n_throttles && change->n + 1 < SIM_PHASES_MAX; i++) {
        const struct sim_throttle *t = &p->throttles[i];
        if (t->from != first->from || t->to != first->to || t->n != first->n || t->ratio == SIM_ABSENT)
            continue;
        change->phase[change->n].ps = llround(t->ps);
        change->phase[change->n++].permille = (unsigned)t->ratio;
    }
}

/* Throttles and the halt that cost `down` together: what is lost to work that would run at the new level. */
static void compose_change(struct sim_params *p, unsigned from, unsigned to, enum sim_class c, unsigned n, double down,
                           struct sim_change *change)
{
    double ratio = (double)sim_params_speed(p, from, n) / sim_params_speed(p, to, n), lost = 0;
    throttles_of(p, from, export_class(p, c), n, change);
    for (unsigned i = 0; i < change->n; i++)
        lost += (double)change->phase[i].ps * (1 - change->phase[i].permille / 1000.0 * ratio);
    change->total_ps = down;
    if (lost > down)
        for (unsigned i = 0; i < change->n; i++)
            change->phase[i].ps = llround((double)change->phase[i].ps * down / lost);
    else
        change->phase[change->n++].ps = llround(down - lost);
}

const struct sim_change *sim_params_down(struct sim_params *p, unsigned from, unsigned to, enum sim_class c, unsigned n,
                                         const char **why)
{
    struct sim_change **slot =
        &p->changes[(((size_t)from * p->levels + to) * SIM_CLASSES + c) * (p->cores + 1) + (n == 0 ? 1 : n)];
    if (*slot != NULL)
        return *slot;
    double down = down_cost(p, from, to, c, n);
    struct sim_change *change = down != SIM_ABSENT ? calloc(1, sizeof(*change)) : NULL;
    if (change == NULL) {
        lacking(p, why, "the export has no cost for a change from level %u to level %u (level_costs)", from, to);
        return NULL;
    }
    compose_change(p, from, to, c, n == 0 ? 1 : n, down, change);
    *slot = change;
    return change;
}

/* ---- a change up ---- */

/* The largest cost up to any level, or from level `slow` alone. */
static double largest_up(const struct sim_params *p, bool any, unsigned slow)
{
    double largest = SIM_ABSENT;
    for (size_t i = 0; i < p->n_level_costs; i++)
        if (any || p->level_costs[i].to == slow)
            largest = fmax(largest, p->level_costs[i].up);
    return largest;
}

int64_t sim_params_up(struct sim_params *p, unsigned from, unsigned to, unsigned n, const char **why)
{
    double up = level_cost(p, to, from, COST_UP, n, NULL);
    if (up == SIM_ABSENT) {
        up = largest_up(p, false, from);
        up = up == SIM_ABSENT ? largest_up(p, true, from) : up;
        struct sim_bound bound = {.value = up / SIM_PS_PER_US, .hi = up / SIM_PS_PER_US, .unit = "us"};
        snprintf(bound.what, sizeof(bound.what), "cost of a change up from level %u to %u", from, to);
        snprintf(bound.why, sizeof(bound.why), "not measured; the largest measured one is used");
        if (up != SIM_ABSENT)
            add_bound(p, &bound);
    }
    if (up == SIM_ABSENT) {
        lacking(p, why, "the export has no cost for a change up (level_costs, up_ns)");
        return -1;
    }
    return llround(up * p->factors.cost);
}

/* ---- waits and break-even times ---- */

static const struct sim_relaxation *relaxation_of(const struct sim_params *p, bool any_from, unsigned from, bool any_to,
                                                  unsigned to, unsigned mode)
{
    const struct sim_relaxation *longest = NULL;
    for (size_t i = 0; i < p->n_relaxations; i++) {
        const struct sim_relaxation *r = &p->relaxations[i];
        if ((!any_from && r->from != from) || (!any_to && r->to != to) || r->mode != mode)
            continue;
        if (!any_from)
            return r;
        if (longest == NULL || r->wait > longest->wait)
            longest = r;
    }
    return longest;
}

/* The shortest and the longest of all. */
static void bound_wait(struct sim_params *p, unsigned from, unsigned to, const struct sim_relaxation *used)
{
    double shortest = INFINITY, longest = 0;
    for (size_t i = 0; i < p->n_relaxations; i++) {
        shortest = fmin(shortest, p->relaxations[i].wait);
        longest = fmax(longest, p->relaxations[i].wait);
    }
    struct sim_bound bound = {.value = used->wait / SIM_PS_PER_US,
                              .lo = shortest / SIM_PS_PER_US,
                              .hi = longest / SIM_PS_PER_US,
                              .unit = "us"};
    snprintf(bound.what, sizeof(bound.what), "wait from level %u to %u", from, to);
    snprintf(bound.why, sizeof(bound.why), "not measured; that from level %u to %u is used", used->from, used->to);
    add_bound(p, &bound);
}

int sim_params_wait(struct sim_params *p, unsigned from, unsigned to, struct sim_wait *out, const char **why)
{
    const struct sim_relaxation *usual = relaxation_of(p, false, from, false, to, 1);
    if (usual == NULL) {
        usual = relaxation_of(p, false, from, true, 0, 1);
        usual = usual == NULL ? relaxation_of(p, true, 0, true, 0, 1) : usual;
        if (usual != NULL)
            bound_wait(p, from, to, usual);
    }
    if (usual == NULL) {
        lacking(p, why, "the export has no wait from a slower level to a faster one (level_relaxations)");
        return -1;
    }
    const struct sim_relaxation *slow = relaxation_of(p, false, usual->from, false, usual->to, 2);
    out->usual_ps = llround(usual->wait * p->factors.wait);
    out->long_ps = slow != NULL ? llround(slow->wait * p->factors.wait) : out->usual_ps;
    out->long_share = slow != NULL && slow->share != SIM_ABSENT ? slow->share : 0;
    return 0;
}

int64_t sim_params_breakeven(struct sim_params *p, unsigned fast, unsigned slow, unsigned n, const char **why)
{
    unsigned measured_n = 0;
    double f_fast = sim_params_speed(p, fast, n), f_slow = sim_params_speed(p, slow, n);
    if (f_fast <= f_slow)
        return SIM_FOREVER;
    double measured = level_cost(p, fast, slow, COST_BREAKEVEN, n, &measured_n);
    if (measured != SIM_ABSENT && measured_n == n && p->factors.spacing == 1)
        return llround(measured * p->factors.cost);
    const struct sim_change *down = sim_params_down(p, fast, slow, SIM_NONE, n, why);
    int64_t up = down != NULL ? sim_params_up(p, slow, fast, n, why) : -1;
    return up < 0 ? -1 : llround(f_fast * (down->total_ps + (double)up) / (f_fast - f_slow));
}

/* ---- all of it ---- */

static size_t change_slots(const struct sim_params *p)
{
    return (size_t)p->levels * p->levels * SIM_CLASSES * (p->cores + 1);
}

bool sim_params_prepare(struct sim_params *p)
{
    p->factors = (struct sim_factors){1, 1, 1};
    p->changes = calloc(change_slots(p), sizeof(p->changes[0]));
    return p->changes != NULL;
}

static void forget_changes(struct sim_params *p)
{
    for (size_t i = 0; p->changes != NULL && i < change_slots(p); i++) {
        free(p->changes[i]);
        p->changes[i] = NULL;
    }
}

void sim_params_scale(struct sim_params *p, const struct sim_factors *f)
{
    p->factors = *f;
    forget_changes(p);
}

void sim_params_free(struct sim_params *p)
{
    if (p == NULL)
        return;
    forget_changes(p);
    free(p->changes);
    free(p->cpu);
    free(p->source);
    free(p->frequencies);
    free(p->costs);
    free(p->level_costs);
    free(p->relaxations);
    free(p->throttles);
    free(p->classes);
    free(p->bounds);
    free(p);
}

/* ---- what schedulers/policy.h needs ---- */

void sim_params_turbos(struct sim_params *p, struct policy_turbos *out)
{
    out->n_levels = p->levels;
    for (unsigned n = 1; n <= p->cores && out->n < POLICY_TURBOS_MAX; n++) {
        policy_u32 *line = out->inverse[out->n];
        if (!params_measured(p, n))
            continue;
        for (unsigned level = 0; level < out->n_levels; level++)
            line[level] = policy_inverse(100 * sim_params_speed(p, level, n));
        if (out->n == 0 || memcmp(line, out->inverse[out->n - 1], out->n_levels * sizeof(*line)) != 0)
            out->n++;
    }
}

void sim_params_own_levels(const struct sim_params *p, policy_u32 level[2])
{
    static const enum sim_class widths[2][2] = {{SIM_256LIGHT, SIM_256HEAVY}, {SIM_512LIGHT, SIM_512HEAVY}};
    for (int i = 0; i < 2; i++) {
        int light = sim_params_demand(p, widths[i][0]), heavy = sim_params_demand(p, widths[i][1]);
        int most = heavy > light ? heavy : light;
        level[i] = most > 0 ? (policy_u32)most : 0;
    }
}
