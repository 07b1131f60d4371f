/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ramps of a few samples. A frequency that approaches its new value within some samples is cut into a staircase of
 * short pieces, each at a level that nothing runs at, and waits that scatter put it elsewhere in each repetition. So
 * each step, and each staircase of steps the same way, is described a second time, by one exponential that begins in
 * each repetition at a time of its own (ramp_own.c); the simpler account wins (Schwarz's criterion) of that and of the
 * steps, be they at the same distances in all repetitions or where each of them shows them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/ramps/ramp_fit.h"
#include "util/order.h"
#include "util/plain_text.h"

/* Readings of a fit at least; its search: shifts to either side, rounds, and time constants that it begins with. */
enum { READINGS_LEAST = 8, SHIFTS = 6, ROUNDS = 2, TAUS = 8 };
#define SHORTEST 0.5       /* periods: a shorter time constant is not distinguished from a step */
#define LONGEST 60.0       /* ... and longer ones are ramps.c's */
#define END_KNOWN 0.1      /* of the step: to which the frequency at the end must be known */
#define INTERMEDIATE 100.0 /* periods: a longer piece on the way is a level */
#define BEFORE 20.0        /* periods that are looked at before the first step ... */
#define AFTER 200.0        /* ... and after the last */
#define AT_EDGE 0.3        /* periods: what is so near to an edge may be of both sides */
#define SHIFT 0.5          /* periods: by so much steps are moved in search of better places */
#define AGAIN 8.0          /* shortest time constants: where a fit that went astray begins again */
#define SPREAD 3.0         /* periods: that beginnings are sought with at first */
#define AT_SWITCH 5.0      /* periods: what begins so soon after the switch may begin with it */
#define REST 3.0           /* periods: a shorter rest belongs to the ramp */
#define FAR 4.0            /* times the sum of squares about the ramp */
#define FAR_LESS 20.0      /* ... by which no fit betters the guess that it begins with */
#define APART 5.0          /* times the usual mean square: a repetition does something else */

/* Pieces first..last, each frequency nearer to the last. */
struct staircase {
    const struct runs *r;
    const struct segmentation *o;
    size_t first, last;
    bool at_edge; /* the ramp begins with the first piece, not at its end ... */
    bool flat;    /* ... and before that is the frequency that it comes from */
    double period;
    size_t *run;   /* of the readings: indexes into those of the segmentation */
    double *begin; /* of each of these: where its ramp begins, us */
    double *rss;
    double *scratch;
    struct ramp_readings readings;
};

static void close_readings(struct staircase *s)
{
    free(s->readings.first);
    free(s->readings.x);
    free(s->run);
    free(s->begin);
    free(s->rss);
    free(s->scratch);
}

/* Where its first step is in repetition k. Of staircases that waits scatter many repetitions do not place it: they are
 * looked at where it usually is. */
static double first_step(const struct staircase *s, size_t k)
{
    double at = s->at_edge ? segmentation_begin_in(s->o, s->first, k) : segmentation_end_in(s->o, s->first, k);
    return isnan(at) && !s->at_edge ? segmentation_edge_time(s->o, s->first) : at;
}

/* Where its last step is in repetition k, or usually. */
static double last_step(const struct staircase *s, size_t k)
{
    double at = s->first == s->last ? NAN : segmentation_begin_in(s->o, s->last, k);
    if (!isnan(at) || s->first == s->last)
        return isnan(at) ? first_step(s, k) : at;
    double begin = s->at_edge && !s->first ? s->o->begin : segmentation_edge_time(s->o, s->first - s->at_edge);
    return first_step(s, k) + segmentation_edge_time(s->o, s->last - 1) - begin;
}

/* The readings about the staircase in repetition k. */
static size_t add_readings(const struct staircase *s, size_t k, struct ramp_reading *x)
{
    const struct runs *r = s->r;
    const struct run_span *span = &r->run[s->o->run[k]];
    const float *freq = r->trace->channel[TRACE_FREQ];
    double at = first_step(s, k), lo = segmentation_begin_in(s->o, s->first, k),
           hi = segmentation_end_in(s->o, s->last, k);
    double reading = fmax(r->clock.reading_us, 0.02 * s->period);
    if (isnan(at) || (s->o->other_ghz && s->o->other_ghz[k]))
        return 0;
    if (s->flat)
        lo = segmentation_begin_in(s->o, s->first - 1, k);
    lo = isnan(lo) ? at - BEFORE * s->period : fmax(lo + AT_EDGE * s->period, at - BEFORE * s->period);
    hi = fmin(isnan(hi) ? INFINITY : hi - AT_EDGE * s->period, last_step(s, k) + AFTER * s->period);
    size_t past = span->first + span->n, n = 0;
    for (size_t i = trace_first_after(r->trace, span->first, past, lo); i < past && r->trace->time_us[i] <= hi; i++) {
        double to = r->trace->time_us[i], from = to - (r->clock.instant ? reading : (double)r->dt[i]);
        if (!r->invalid[i] && freq[i] > 0 && from >= lo && from < to)
            x[n++] = (struct ramp_reading){from, to, (double)freq[i], 0};
    }
    return n >= READINGS_LEAST ? n : 0;
}

static int open_readings(struct staircase *s)
{
    size_t runs = s->o->n_runs, room = 0;
    for (size_t k = 0; k < runs; k++)
        room += s->r->run[s->o->run[k]].n;
    s->run = calloc(runs + 1, sizeof *s->run);
    s->begin = calloc(runs + 1, sizeof *s->begin);
    s->rss = calloc(runs + 1, sizeof *s->rss);
    s->scratch = calloc(runs + 1, sizeof *s->scratch);
    s->readings = (struct ramp_readings){.first = calloc(runs + 1, sizeof *s->readings.first),
                                         .length = s->period,
                                         .x = calloc(room + 1, sizeof *s->readings.x),
                                         .by_time = s->r->clock.instant};
    if (!s->run || !s->begin || !s->rss || !s->scratch || !s->readings.first || !s->readings.x)
        return -1;
    for (size_t k = 0; k < runs; k++) {
        struct ramp_readings *all = &s->readings;
        size_t n = add_readings(s, k, all->x + all->first[all->n_runs]);
        if (!n)
            continue;
        s->run[all->n_runs++] = k;
        all->first[all->n_runs] = all->first[all->n_runs - 1] + n;
    }
    return 0;
}

/* ---- the ramp ---- */

/* By how much the frequency is short of `to`, as the time that a step from `from` would be late; us after `since`. */
static double late_by(const struct ramp_reading *x, size_t n, double since, double from, double to)
{
    double us = 0;
    for (size_t i = 0; i < n; i++)
        us += (x[i].ghz - to) / (from - to) * (x[i].to - (i ? x[i - 1].to : since));
    return us;
}

/* Whether it begins where there are readings. */
static bool is_inside(const struct staircase *s)
{
    size_t outside = 0;
    for (size_t k = 0; k < s->readings.n_runs; k++)
        outside += s->begin[k] < s->readings.x[s->readings.first[k]].from;
    return s->at_edge || 2 * outside <= s->readings.n_runs;
}

/* From where the fit is sought for a time constant: the mean lateness of an exponential is its time constant. alike: of
 * all repetitions together, noise allows no more, each as late against its own first step. */
static void guess(const struct staircase *s, double tau, bool alike, struct ramp_own *f)
{
    const struct ramp_readings *all = &s->readings;
    double to = s->o->piece[s->last].value[TRACE_FREQ], from = s->o->piece[s->first].value[TRACE_FREQ];
    if (s->flat) {
        from = s->o->piece[s->first - 1].value[TRACE_FREQ];
    } else if (s->at_edge) {
        double seen = 0, held = 0;
        for (size_t k = 0; k < all->n_runs; k++)
            for (size_t i = 0; i < READINGS_LEAST / 2; i++) {
                const struct ramp_reading *x = &all->x[all->first[k] + i];
                double since = 0.5 * (x->from + x->to) - first_step(s, s->run[k]);
                seen += x->ghz - to;
                held += exp(-fmax(since, 0) / tau);
            }
        from = to + seen / held;
    }
    for (size_t k = 0; k < all->n_runs; k++) {
        const struct ramp_reading *x = &all->x[all->first[k]];
        size_t n = all->first[k + 1] - all->first[k];
        s->begin[k] = s->at_edge ? first_step(s, s->run[k]) : x->from + late_by(x, n, x->from, from, to) - tau;
    }
    double late = 0;
    for (size_t k = 0; k < all->n_runs; k++)
        late += (s->begin[k] - first_step(s, s->run[k])) / (double)all->n_runs;
    for (size_t k = 0; alike && k < all->n_runs; k++)
        s->begin[k] = first_step(s, s->run[k]) + late;
    f->fit.to.value = to;
    f->fit.from.value = from;
    f->fit.tau.value = tau;
    f->spread = SPREAD * s->period;
}

/* Fits it from the best of some time constants. own: what steps leave; where they leave less than the shortest ramp,
 * and that less than longer ones, or far less than all, there is none. 0; 1: there is none; -1: out of memory. */
static int fit_all(struct staircase *s, double own, struct ramp_own *f)
{
    double best = INFINITY, tau = NAN, shortest = SHORTEST * s->period;
    bool alike = false;
    for (int i = 0; i < 2 * TAUS; i++) {
        guess(s, shortest * pow(LONGEST / SHORTEST, (double)(i / 2) / (TAUS - 1)), i % 2, f);
        double rss = ramp_own_rss(&s->readings, f, s->begin, s->rss);
        if (rss < best && is_inside(s)) {
            best = rss;
            tau = f->fit.tau.value;
            alike = i % 2;
        }
    }
    if (isnan(tau) || (tau == shortest && own < best) || FAR_LESS * own < best)
        return 1;
    guess(s, tau, alike, f);
    int status = ramp_own_fit(&s->readings, s->at_edge, f, s->begin, s->rss);
    if (status || is_inside(s))
        return status;
    guess(s, shortest * AGAIN, true, f); /* noise has led it astray */
    return ramp_own_fit(&s->readings, s->at_edge, f, s->begin, s->rss);
}

/* Leaves out the repetitions that do something else. Returns how many. */
static size_t leave_out(struct staircase *s)
{
    struct ramp_readings *all = &s->readings;
    size_t n = 0, at = 0, was = all->n_runs;
    for (size_t k = 0; k < was; k++)
        s->scratch[k] = s->rss[k] /= (double)(all->first[k + 1] - all->first[k]);
    double most = APART * order_median(s->scratch, was);
    for (size_t k = 0; k < was; k++) {
        size_t from = all->first[k], length = all->first[k + 1] - from;
        if (s->rss[k] > most)
            continue;
        memmove(&all->x[at], &all->x[from], length * sizeof *all->x);
        all->first[n] = at;
        s->run[n++] = s->run[k];
        at += length;
    }
    all->first[n] = at;
    all->n_runs = n;
    return was - n;
}

/* ---- or steps ---- */

static double criterion(const struct staircase *s, double rss, double parameters)
{
    return ramp_criterion((double)s->readings.first[s->readings.n_runs], rss, parameters);
}

/* Steps at the same distances in all repetitions, moved until they fit. edge: [k * steps + m]. */
static double common_steps(const struct staircase *s, size_t steps, double *edge, double *ghz)
{
    double best = ramp_steps_rss(&s->readings, steps + 1, edge, ghz);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t m = 0; m < steps; m++) {
            double kept = 0;
            for (int i = -SHIFTS; i <= SHIFTS; i++) {
                double shift = SHIFT * s->period * i / (round ? 5 : 1);
                for (size_t k = 0; k < s->readings.n_runs; k++)
                    edge[k * steps + m] += shift;
                double rss = ramp_steps_rss(&s->readings, steps + 1, edge, ghz);
                for (size_t k = 0; k < s->readings.n_runs; k++)
                    edge[k * steps + m] -= shift;
                if (rss < best) {
                    best = rss;
                    kept = shift;
                }
            }
            for (size_t k = 0; k < s->readings.n_runs; k++)
                edge[k * steps + m] += kept;
        }
    return best;
}

/* Where the repetitions show their own steps; of those that do not show one, where it usually is. */
static void own_steps(const struct staircase *s, double *edge)
{
    size_t steps = s->last - s->first, runs = s->readings.n_runs;
    for (size_t m = 0; m < steps; m++) {
        const double *own = &s->o->time[(s->first + m) * s->o->n_runs];
        double usual = 0, seen = 0;
        for (size_t k = 0; k < runs; k++)
            if (!isnan(own[s->run[k]])) {
                usual += own[s->run[k]] - first_step(s, s->run[k]);
                seen++;
            }
        for (size_t k = 0; k < runs; k++)
            edge[k * steps + m] = isnan(own[s->run[k]]) ? first_step(s, s->run[k]) + usual / fmax(1, seen)
                                                        : own[s->run[k]];
    }
}

/* The same at distances that all repetitions have in common. */
static void even_out(const struct staircase *s, double *edge)
{
    size_t steps = s->last - s->first, runs = s->readings.n_runs;
    for (size_t m = 0; m < steps; m++) {
        double usual = 0;
        for (size_t k = 0; k < runs; k++)
            usual += (edge[k * steps + m] - s->begin[k]) / (double)runs;
        for (size_t k = 0; k < runs; k++)
            edge[k * steps + m] = s->begin[k] + usual;
    }
}

enum account { STEPS, EITHER, RAMP };

/* What describes the readings better. edge: own_steps(), invalid; own: what they leave. */
static enum account better_account(const struct staircase *s, const struct ramp_own *f, double own, double *edge)
{
    size_t steps = s->last - s->first, runs = s->readings.n_runs;
    double as_ramp = criterion(s, f->fit.rss, f->parameters), levels = (double)(steps + 1), ghz[LEVELS_MOST];
    double as_steps = criterion(s, own, levels + (double)(runs * steps));
    if (as_ramp < as_steps + RAMP_CLEARLY && own < FAR * f->fit.rss) { /* else no step is so far from its best place */
        even_out(s, edge);
        double beginnings = f->parameters - (s->at_edge ? 3 : 4), common = common_steps(s, steps, edge, ghz);
        as_steps = fmin(as_steps, criterion(s, common, levels + (double)steps + beginnings));
    }
    return as_ramp + RAMP_CLEARLY < as_steps ? RAMP : as_ramp < as_steps + RAMP_CLEARLY ? EITHER : STEPS;
}

/* ---- into the segmentation ---- */

static int short_ramps_put(const struct runs *r, struct segmentation *o, struct phases *out, const struct staircase *s,
                           const struct ramp_own *own, size_t *past)
{
    const struct ramp_fit *f = &own->fit;
    struct ramp_part part[RAMP_PARTS];
    size_t n = 0, runs = o->n_runs, at;
    double *begin = malloc((RAMP_PARTS * runs + 1) * sizeof *begin), end = 0, over = ramp_over_after(f);
    if (!begin)
        return -1;
    for (size_t i = 0; i < RAMP_PARTS * runs; i++)
        begin[i] = NAN;
    for (size_t k = 0; k < s->readings.n_runs; k++) {
        double until = segmentation_end_in(o, s->last, s->run[k]);
        end += (isnan(until) ? o->end : until) - s->begin[k];
    }
    end /= (double)s->readings.n_runs;
    bool throttled = out->phases[s->first].kind == PHASE_THROTTLE;
    if (!s->at_edge)
        part[n++] = (struct ramp_part){.piece = o->piece[s->first], .phase = out->phases[s->first]};
    at = n++;
    double middle = 0.5 * (f->from.value + f->to.value);
    part[at] = (struct ramp_part){.piece = ramp_joined(o, s->first + !s->at_edge, s->last, middle)};
    part[at].piece.ramp_runs = s->readings.n_runs;
    part[at].phase = throttled ? out->phases[s->first] : ramp_phase(&part[at].piece, PHASE_RAMP);
    if (over < end - REST * s->period)
        part[n++] = (struct ramp_part){.piece = o->piece[s->last], .phase = out->phases[s->last]};
    for (size_t k = 0; k < s->readings.n_runs; k++) {
        begin[at * runs + s->run[k]] = s->begin[k];
        if (n > at + 1)
            begin[(at + 1) * runs + s->run[k]] = s->begin[k] + over;
    }
    ramp_describe(r, f, 0, &part[at].phase);
    struct edge_kind into = o->edge[s->first]; /* what else changes there, licenses say */
    int bad = ramp_splice(o, out, s->first, s->last, part, n, begin);
    free(begin);
    if (!bad && !s->at_edge) {
        into.change[TRACE_FREQ] = o->edge[s->first].change[TRACE_FREQ];
        o->edge[s->first] = into;
    }
    *past = s->first + n;
    return bad;
}

/* ---- which ---- */

/* Whether it is a ramp of some samples, with limits. */
static bool is_known(const struct staircase *s, const struct ramp_fit *f)
{
    double step = fabs(f->from.value - f->to.value), tau = f->tau.value / s->period;
    double least = s->readings.n_runs < RAMP_RUNS_FOR_TEST ? RAMP_LEAST_CHANGE_FEW : CLOCK_STEP_LEAST;
    return 2 * s->readings.n_runs > s->o->n_runs && f->from.value > 0 && f->to.value > 0 &&
           step > least * f->to.value && tau > SHORTEST && tau < LONGEST && f->tau.hi < RAMP_TAU_KNOWN * f->tau.value &&
           f->to.hi - f->to.value < END_KNOWN * step;
}

/* Fits a ramp. 0, and what describes the staircase; -1: out of memory. */
static int find_ramp(struct staircase *s, struct ramp_own *f, enum account *account)
{
    double *edge = calloc(s->o->n_runs * (s->last - s->first) + 1, sizeof *edge), ghz[LEVELS_MOST], own = NAN;
    int status = edge ? 0 : -1;
    for (bool again = true; again && !status; again = s->readings.n_runs >= RAMP_RUNS_FOR_TEST && leave_out(s) > 0) {
        own_steps(s, edge);
        own = ramp_steps_rss(&s->readings, s->last - s->first + 1, edge, ghz);
        status = s->readings.n_runs ? fit_all(s, own, f) : 1;
    }
    *account = STEPS;
    if (!status && is_inside(s) && 2 * s->readings.n_runs > s->o->n_runs)
        *account = better_account(s, f, own, edge);
    if (*account == RAMP && !is_known(s, &f->fit))
        *account = EITHER;
    free(edge);
    return status < 0 ? -1 : 0;
}

/* What is before it may end as soon as the ramp would begin, and what is between is no level for certain. */
static void doubt_steps(struct segmentation *o, struct phases *out, const struct staircase *s, const struct ramp_fit *f)
{
    double sooner = 0;
    for (size_t k = 0; k < s->readings.n_runs; k++)
        sooner += (first_step(s, s->run[k]) - s->begin[k]) / (double)s->readings.n_runs;
    if (!s->at_edge)
        o->piece[s->first].sooner_us = fmax(0, sooner) + fmin(f->begin.hi - f->begin.value, f->tau.value);
    for (size_t p = s->first + !s->at_edge; p < s->last; p++) {
        if (!phases_is_steady(&out->phases[p]))
            continue;
        out->phases[p].kind = PHASE_UNKNOWN;
        snprintf(out->phases[p].why, sizeof out->phases[p].why,
                 "the frequency changes in steps or in a ramp of about %s: the data do not show which",
                 plain_time(f->tau.value, 0).text);
    }
}

static double ghz_of(const struct segmentation *o, size_t p)
{
    return o->piece[p].value[TRACE_FREQ];
}

/* Whether a ramp may begin where piece p does: the frequency changes there as on the way to the next pieces. */
static bool begins_at(const struct segmentation *o, size_t p, bool up)
{
    if (!p || o->piece[p].halt || o->piece[p - 1].halt || isnan(ghz_of(o, p - 1)))
        return false;
    return o->edge[p - 1].change[TRACE_FREQ] == (up ? 1 : -1);
}

/* Whether nothing but the code that runs changes on the way to piece p. */
static bool flat_before(const struct segmentation *o, const struct phases *out, size_t p)
{
    const struct phase *ph = &out->phases[p ? p - 1 : 0];
    return p && !o->piece[p - 1].halt && !o->piece[p - 1].wanders && !(ph->tau_us.value > 0) &&
           (phases_is_steady(ph) || ph->kind == PHASE_THROTTLE) && !isnan(ghz_of(o, p - 1));
}

/* Whether the repetitions place edge e well: by the instructions, or by the switch of kernels. */
static bool is_placed(const struct segmentation *o, size_t e)
{
    return o->edge[e].forced || o->edge[e].change[TRACE_IPC];
}

/* One staircase. *past: after what was made of it; *doubt: that of steps. 0, or -1: out of memory. */
static int try_staircase(const struct runs *r, struct segmentation *o, struct phases *out, struct staircase s,
                         size_t *past, bool *doubt)
{
    struct ramp_own f = {.parameters = 0};
    enum account account = STEPS;
    int bad = open_readings(&s) || find_ramp(&s, &f, &account) ? -1 : 0;
    if (!bad && account == RAMP)
        bad = short_ramps_put(r, o, out, &s, &f, past);
    if (!bad && account == EITHER && f.fit.tau.value > SHORTEST * s.period && s.first < s.last) {
        doubt_steps(o, out, &s, &f.fit);
        *doubt = true;
    }
    close_readings(&s);
    return bad;
}

int short_ramps_find(const struct runs *r, struct segmentation *o, struct phases *out, size_t p, size_t q, size_t *past,
                     bool *doubt)
{
    int bad = 0;
    *past = 0;
    for (size_t i = p, j; i <= q && !*past && !bad; i = j > i ? j : i + 1) {
        bool up = i < q ? ghz_of(o, i + 1) > ghz_of(o, i) : i && ghz_of(o, i) > ghz_of(o, i - 1), wanders = false;
        for (j = i; j < q && (ghz_of(o, j + 1) > ghz_of(o, j)) == up && j - i + 2 < LEVELS_MOST; j++)
            if (j > i && out->phases[j].duration_us.value > INTERMEDIATE * r->period)
                break;
        for (size_t k = i; k <= j; k++)
            wanders = wanders || o->piece[k].wanders;
        if (wanders)
            continue;
        struct staircase s = {.r = r, .o = o, .first = i, .last = j, .period = r->period};
        bool flat = i == p && flat_before(o, out, p), edge = i == p && p && !o->piece[p - 1].halt;
        if (edge && begins_at(o, p, up)) {
            s.at_edge = !flat || is_placed(o, p - 1);
            s.flat = flat && s.at_edge;
            s.first -= !s.at_edge;
            bad = try_staircase(r, o, out, s, past, doubt);
            continue;
        }
        if (flat && is_placed(o, p - 1) && i < j) { /* so soon after it that the change was not known to begin there */
            s.at_edge = s.flat = true;
            if (out->phases[i].duration_us.value < AT_SWITCH * r->period)
                bad = try_staircase(r, o, out, s, past, doubt);
            s.at_edge = s.flat = false;
        }
        if (!bad && !*past && i < j)
            bad = try_staircase(r, o, out, s, past, doubt);
    }
    return bad;
}
