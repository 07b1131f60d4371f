/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was found after the fine part takes the place of its last phases, or goes on with them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/ramps/ramp_fit.h"
#include "analysis/phases/repetitions/clock.h"
#include "analysis/phases/tail/tail.h"
#include "util/order.h"
#include "util/plain_text.h"

enum { MORE = 4 };       /* phases that may be added */
#define LEVEL_APART 0.01 /* relative: by more two levels never differ */
#define ON_CURVE 0.02    /* of the full rate: what is so near to a ramp is of it */
#define CHAIN_APART 0.02 /* relative: short chains, which tell the frequency of the fine part, are not off by more */

static bool ramps(const struct tail_course *c)
{
    return c->kind == TAIL_RAMP;
}

/* ---- phases ---- */

static int tail_make_room(struct phases *out)
{
    struct phase *more = realloc(out->phases, (out->n_phases + MORE) * sizeof *more);
    if (more)
        out->phases = more;
    return more ? 0 : -1;
}

static struct phase *last_of(struct phases *out)
{
    return &out->phases[out->n_phases - 1];
}

static void end_at(struct phase *ph, double us)
{
    double more = us - (ph->start_us + ph->duration_us.value);
    ph->duration_us = (struct estimate){ph->duration_us.value + more, fmax(0, ph->duration_us.lo + more),
                                        ph->duration_us.hi + more};
}

static bool may_be_replaced(const struct phase *ph)
{
    return phases_is_steady(ph) || ph->kind == PHASE_RAMP || ph->kind == PHASE_UNKNOWN;
}

/* Room for what begins at `from`: phases from there on go, the one across it ends there. Returns when that is. */
static double cut_at(struct phases *out, double from)
{
    while (out->n_phases > 1 && last_of(out)->start_us >= from - TAIL_NEAR_US && may_be_replaced(last_of(out)))
        out->n_phases--;
    const struct phase *last = last_of(out);
    if (!may_be_replaced(last) || last->start_us >= from - TAIL_NEAR_US)
        return last->start_us + last->duration_us.value;
    end_at(last_of(out), from);
    return from;
}

/* A phase with these values, which begins at `start`, with limits. */
static struct phase *add_phase_of(const struct tail *x, struct phases *out, enum phase_kind kind, struct estimate start,
                                  struct estimate end, double ghz, double ipc)
{
    struct phase *ph = &out->phases[out->n_phases];
    const double none = NAN, final = x->course[TAIL_RATE].to.value;
    double half = x->course[TAIL_FREQ].half * ghz;
    *ph = (struct phase){.kind = kind,
                         .start_us = start.value,
                         .duration_us = {end.value - start.value, fmax(0, end.lo - start.hi), end.hi - start.lo},
                         .freq_ghz = estimate_around(ghz, half),
                         .freq_half_ghz = half,
                         .ipc = ipc,
                         .ipc_ratio = isnan(ipc) ? none : ipc / final,
                         .volts = none,
                         .share = {none, none, none, none},
                         .level = -1,
                         .agreeing_runs = x->n_runs};
    memcpy(ph->share, last_of(out)->share, sizeof ph->share);
    out->n_phases++;
    return ph;
}

/* The rate of what ran before the rate changed was shown by some rate of the fine part, as if that were the full
 * one. */
static void rebase(const struct tail *x, struct phases *out, double fine_ipc)
{
    double final = x->course[TAIL_RATE].to.value;
    for (size_t i = 0; i < out->n_phases; i++) {
        struct phase *ph = &out->phases[i];
        if (ph->start_us < -TAIL_NEAR_US || isnan(ph->ipc_ratio) || isnan(final))
            continue;
        ph->ipc_ratio = isnan(ph->ipc) ? ph->ipc_ratio * fine_ipc / final : ph->ipc / final;
        bool full = ph->ipc_ratio >= TAIL_THROTTLED;
        if (phases_is_steady(ph) && !full)
            ph->kind = PHASE_THROTTLE;
        else if (ph->kind == PHASE_THROTTLE && full && ph->ipc_ratio <= 1 / TAIL_THROTTLED)
            ph->kind = PHASE_STEADY;
    }
}

/* ---- levels and transitions ---- */

static int by_falling_ghz(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Frequencies that the clock's wandering or their own limits make one. */
static bool same_level(const struct phase *ph, double ghz)
{
    double apart = fabs(log(ph->freq_ghz.value / ghz));
    bool within = ph->freq_ghz.lo <= ghz && ghz <= ph->freq_ghz.hi;
    return apart <= CLOCK_WANDERS || (within && apart <= LEVEL_APART);
}

static bool near_level(const struct phases *out, double ghz, double level)
{
    for (size_t i = 0; i < out->n_phases; i++)
        if (out->phases[i].freq_ghz.value == level || out->phases[i].freq_ghz.value == ghz)
            if (same_level(&out->phases[i], ghz) && same_level(&out->phases[i], level))
                return true;
    return false;
}

/* The distinct frequencies of what is steady. 0, or -1: out of memory. */
static int find_levels(struct phases *out)
{
    double *ghz = calloc(out->n_phases + 1, sizeof *ghz);
    struct estimate *levels = calloc(out->n_phases + 1, sizeof *levels);
    size_t n = 0, kept = 0;
    if (!ghz || !levels) {
        free(ghz);
        free(levels);
        return -1;
    }
    for (size_t i = 0; i < out->n_phases; i++)
        if (phases_is_steady(&out->phases[i]) && !isnan(out->phases[i].freq_ghz.value))
            ghz[n++] = out->phases[i].freq_ghz.value;
    qsort(ghz, n, sizeof *ghz, by_falling_ghz);
    for (size_t i = 0; i < n; i++)
        if (!kept || !near_level(out, ghz[i], ghz[kept - 1]))
            ghz[kept++] = ghz[i];
    for (size_t l = 0; l < kept; l++)
        levels[l] = (struct estimate){ghz[l], INFINITY, -INFINITY};
    for (size_t i = 0; i < out->n_phases; i++) {
        struct phase *ph = &out->phases[i];
        ph->level = -1;
        for (size_t l = 0; l < kept; l++)
            if (ph->kind != PHASE_RAMP && ph->kind != PHASE_HALT && near_level(out, ph->freq_ghz.value, ghz[l])) {
                ph->level = (int)l;
                levels[l].lo = fmin(levels[l].lo, ph->freq_ghz.lo);
                levels[l].hi = fmax(levels[l].hi, ph->freq_ghz.hi);
                break;
            }
    }
    free(out->levels);
    free(out->levels_ghz);
    out->levels = levels;
    out->levels_ghz = ghz;
    out->n_levels = kept;
    return 0;
}

static double tail_level_ghz(const struct phases *out, size_t i)
{
    int level = out->phases[i].level;
    return level < 0 ? NAN : out->levels_ghz[level];
}

/* The transition that the phases after the steady one before `first` make up, to the last one. 0, or -1: out of
 * memory. */
static int add_the_transition(struct phases *out, size_t first, struct estimate end, size_t runs)
{
    unsigned halts = 0;
    bool undecided = false;
    size_t j = first, last = out->n_phases - 1;
    while (j > 0 && !phases_is_steady(&out->phases[j - 1])) {
        j--;
        halts += out->phases[j].kind == PHASE_HALT;
        undecided |= out->phases[j].kind == PHASE_UNKNOWN;
    }
    double at = out->phases[j].start_us;
    while (out->n_transitions && out->transitions[out->n_transitions - 1].at_us >= at - TAIL_NEAR_US)
        out->n_transitions--;
    if (!j || undecided)
        return 0;
    if (!phases_is_steady(&out->phases[last]))
        return phases_warn(out, "the recording ends before the transition at %.1f us does", plain_number(at, 1));
    return phases_add_transition(out,
                                 (struct transition){.at_us = at,
                                                     .latency_us = {end.value - at, fmax(0, end.lo - at), end.hi - at},
                                                     .from_ghz = tail_level_ghz(out, j - 1),
                                                     .to_ghz = tail_level_ghz(out, last),
                                                     .halts = halts,
                                                     .agreeing_runs = runs});
}

/* ---- a ramp ---- */

struct ramp_side tail_side(const struct tail_course *c, bool relative)
{
    if (!ramps(c))
        return (struct ramp_side){.runs = 0};
    double unit = relative ? c->to.value : 1, tau = c->tau.value;
    double change = fmax(fabs(c->from.value - c->to.value) / (RAMP_ARRIVED * c->to.value), 1), over = tau * log(change);
    return (struct ramp_side){
        .begin_us = c->begin,
        .end_us = {c->begin.value + over, c->begin.lo + over * c->tau.lo / tau, c->begin.hi + over * c->tau.hi / tau},
        .from = {c->from.value / unit, c->from.lo / unit, c->from.hi / unit},
        .to = {c->to.value / unit, c->to.lo / unit, c->to.hi / unit},
        .tau_us = c->tau,
        .runs = c->runs};
}

/* The mean of a course from..to. */
double tail_mean(const struct tail_course *c, double from, double to)
{
    if (!ramps(c) || !(to > from))
        return c->to.value;
    double begin = fmax(from, c->begin.value), tau = c->tau.value, step = c->from.value - c->to.value;
    double before = fmin(begin, to) - from; /* how long it is still what it was */
    double decayed = tau * (exp(-(begin - c->begin.value) / tau) - exp(-(fmax(to, begin) - c->begin.value) / tau));
    return c->to.value + step * (decayed + before) / (to - from);
}

/* Whichever of two is there, and of both the earlier one, or the later one. */
static struct estimate outer(const struct ramp_side *a, const struct ramp_side *b, bool ends)
{
    const struct estimate *x = ends ? &a->end_us : &a->begin_us, *y = ends ? &b->end_us : &b->begin_us;
    if (!(a->tau_us.value > 0) || !(b->tau_us.value > 0))
        return a->tau_us.value > 0 ? *x : *y;
    return (x->value < y->value) != ends ? *x : *y;
}

/*
 * A ramp that is fast for the fine part has been cut into a staircase there, of which the coarser bins see the end.
 * Its steps that lie on the curve, drawn backwards, are of the ramp: *rate begins with the first of them.
 */
static void draw_backwards(const struct tail *x, struct phases *out, struct tail_course *rate)
{
    const struct tail_course *clock = &x->course[TAIL_FREQ];
    if (!ramps(rate) || clock->kind != TAIL_CONSTANT)
        return;
    rate->begin.value = fmax(rate->begin.value, cut_at(out, rate->begin.value));
    while (out->n_phases > 1 && last_of(out)->start_us >= -TAIL_NEAR_US) {
        const struct phase *ph = last_of(out);
        double mid = ph->start_us + 0.5 * ph->duration_us.value, to = rate->to.value, step = rate->from.value - to;
        double drawn = to + step * exp((rate->begin.value - mid) / rate->tau.value);
        bool part = ph->kind == PHASE_THROTTLE || ph->kind == PHASE_UNKNOWN;
        bool goes_on = ph->start_us + ph->duration_us.value > rate->begin.value - TAIL_NEAR_US;
        if (!part || !goes_on || !(fabs(ph->ipc - drawn) < ON_CURVE * to) ||
            fabs(log(ph->freq_ghz.value / clock->to.value)) > CLOCK_WANDERS)
            break;
        double back = rate->begin.value - ph->start_us, more = step * expm1(back / rate->tau.value);
        double doubt = hypot(estimate_half_known(&rate->from), ON_CURVE * to);
        rate->from = estimate_around(rate->from.value + more, doubt);
        rate->begin = (struct estimate){ph->start_us, ph->start_us, ph->start_us + ph->duration_us.value};
        out->n_phases--;
    }
}

static int join_ramp(struct tail *x, struct phases *out)
{
    const struct tail_course *clock = &x->course[TAIL_FREQ];
    struct tail_course *rate = &x->course[TAIL_RATE];
    double fine_ipc = last_of(out)->ipc;
    draw_backwards(x, out, rate);
    struct ramp_side clock_side = tail_side(clock, false), rate_side = tail_side(rate, true);
    struct estimate begin = outer(&clock_side, &rate_side, false), end = outer(&clock_side, &rate_side, true);
    bool over = end.value < x->end;
    begin.value = fmax(begin.value, cut_at(out, begin.value));
    struct estimate until = over ? end : (struct estimate){x->end, x->end, x->end};
    size_t number = out->n_phases;
    if (ramps(rate))
        rebase(x, out, fine_ipc);
    struct phase *ph = add_phase_of(x, out, PHASE_RAMP, begin, until, tail_mean(clock, begin.value, until.value),
                                    tail_mean(rate, begin.value, until.value));
    ph->clock_ramp = clock_side;
    ph->rate_ramp = rate_side;
    ph->clock_unsure = x->instant && ramps(clock);
    ph->agreeing_runs = ramps(clock) && ramps(rate) ? (clock->runs < rate->runs ? clock->runs : rate->runs)
                        : ramps(clock)              ? clock->runs
                                                    : rate->runs;
    if (ramps(clock)) {
        ph->from_ghz = clock->from;
        ph->to_ghz = clock->to;
        ph->tau_us = clock->tau;
    }
    if (over)
        add_phase_of(x, out, PHASE_STEADY, end, (struct estimate){x->end, x->end, x->end}, clock->to.value,
                     rate->to.value);
    else if (phases_warn(out,
                         "the ramp from %.1f us goes on where the recording ends (time constant %.0f us); a longer "
                         "--observe would resolve it better",
                         plain_number(begin.value, 1), fmax(clock_side.tau_us.value, rate_side.tau_us.value)))
        return -1;
    return find_levels(out) || add_the_transition(out, number, end, out->phases[number].agreeing_runs) ? -1 : 0;
}

/* ---- a step, or anything else ---- */

static double before_step(const struct tail_course *c, double at)
{
    return c->kind == TAIL_STEP && at < c->begin.value ? c->from.value : c->to.value;
}

/* What runs from `begin` until the step of one of the two courses, or of both, at `end`: what they are at `at`. */
static void add_piece(const struct tail *x, struct phases *out, struct estimate begin, struct estimate end, double at)
{
    const struct tail_course *clock = &x->course[TAIL_FREQ], *rate = &x->course[TAIL_RATE];
    double ghz = before_step(clock, at);
    struct phase *ph = add_phase_of(x, out, PHASE_STEADY, begin, end, ghz, before_step(rate, at));
    if (ph->ipc_ratio < TAIL_THROTTLED)
        ph->kind = PHASE_THROTTLE;
    else if (ph->ipc_ratio > 1 / TAIL_THROTTLED) {
        ph->kind = PHASE_UNKNOWN;
        snprintf(ph->why, sizeof ph->why, "the code runs faster here than it does in the end");
        ph->ipc_ratio = NAN;
    } else if (ghz < clock->to.value) {
        ph->kind = PHASE_SLOW;
    }
}

static int join_steps(const struct tail *x, struct phases *out)
{
    const struct tail_course *clock = &x->course[TAIL_FREQ], *rate = &x->course[TAIL_RATE];
    const struct tail_course *first = clock->kind != TAIL_STEP                                            ? rate
                                      : rate->kind == TAIL_STEP && rate->begin.value < clock->begin.value ? rate
                                                                                                          : clock;
    const struct tail_course *second = first == clock ? rate : clock;
    double fine_ipc = last_of(out)->ipc;
    struct estimate begin = {x->after, x->after, x->after}, end = {x->end, x->end, x->end};
    begin.value = begin.lo = begin.hi = cut_at(out, x->after);
    if (rate->kind == TAIL_STEP)
        rebase(x, out, fine_ipc);
    size_t number = out->n_phases;
    add_piece(x, out, begin, first->begin, -INFINITY);
    bool apart = second->kind == TAIL_STEP && second->begin.lo > first->begin.hi;
    if (apart)
        add_piece(x, out, first->begin, second->begin, first->begin.value);
    add_piece(x, out, apart ? second->begin : first->begin, end, INFINITY); /* the second is over, wherever it was */
    if (find_levels(out))
        return -1;
    if (clock->kind == TAIL_STEP) {
        struct transition tr = {.at_us = clock->begin.value,
                                .latency_us = {0, 0, clock->begin.hi - clock->begin.lo},
                                .from_ghz = clock->from.value,
                                .to_ghz = clock->to.value,
                                .agreeing_runs = clock->runs};
        return phases_add_transition(out, tr);
    }
    return add_the_transition(out, number, first->begin, first->runs);
}

static int join_moving(const struct tail *x, struct phases *out)
{
    const struct tail_course *clock = &x->course[TAIL_FREQ], *rate = &x->course[TAIL_RATE];
    const struct tail_course *c = clock->kind == TAIL_MOVES ? clock : rate;
    struct estimate begin = {x->begin, x->begin, x->begin}, end = {x->end, x->end, x->end};
    if (may_be_replaced(last_of(out)))
        end_at(last_of(out), x->begin);
    struct phase *ph = add_phase_of(x, out, PHASE_UNKNOWN, begin, end, NAN, NAN);
    snprintf(ph->why, sizeof ph->why, "the %s drifts by %+.1f %%, in no way that is a ramp or a step",
             c == clock ? "frequency" : "rate", 100 * (c->to.value / c->from.value - 1));
    return 0;
}

static int join_constant(const struct tail *x, struct phases *out)
{
    const struct phase *last = last_of(out);
    struct estimate begin = {x->begin, x->begin, x->begin}, end = {x->end, x->end, x->end};
    double apart = fabs(log(x->course[TAIL_FREQ].to.value / last->freq_ghz.value));
    if ((phases_is_steady(last) && !(apart > CHAIN_APART)) ||
        (last->kind == PHASE_UNKNOWN && isnan(last->freq_ghz.value))) {
        end_at(last_of(out), x->end);
        return 0;
    }
    add_phase_of(x, out, PHASE_STEADY, begin, end, x->course[TAIL_FREQ].to.value, x->course[TAIL_RATE].to.value);
    return find_levels(out);
}

/* Two levels of the fine part that are one: where a ramp begins the frequency has moved a little already. */
static void drop_empty(struct phases *out)
{
    for (size_t i = 0; i < out->n_transitions;) {
        const struct transition *tr = &out->transitions[i];
        if (tr->halts || tr->latency_us.value > 0 || !(fabs(log(tr->to_ghz / tr->from_ghz)) < CLOCK_WANDERS)) {
            i++;
            continue;
        }
        out->n_transitions--;
        memmove(&out->transitions[i], &out->transitions[i + 1], (out->n_transitions - i) * sizeof *out->transitions);
    }
}

static int join_courses(struct tail *x, struct phases *out)
{
    bool any[TAIL_MOVES + 1] = {false};
    for (int c = 0; c < TAIL_COURSES; c++)
        any[x->course[c].kind] = true;
    if (tail_make_room(out))
        return -1;
    if (any[TAIL_RAMP])
        return join_ramp(x, out);
    if (any[TAIL_STEP])
        return join_steps(x, out);
    return any[TAIL_MOVES] ? join_moving(x, out) : any[TAIL_CONSTANT] ? join_constant(x, out) : 0;
}

int tail_join(struct tail *x, struct phases *out)
{
    out->samples_lost = x->lost;
    if (!out->n_phases || !x->n_runs)
        return 0;
    int bad = join_courses(x, out);
    drop_empty(out);
    return bad;
}
