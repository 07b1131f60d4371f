/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ramps that begin at a time of their own in each repetition: least squares of all repetitions together. */
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phases/ramps/ramp_fit.h"
#include "analysis/stats/gsl_errors.h"

double own_steps_best(const double *y, size_t a, size_t b, size_t *where)
{
    double all = 0, left = 0, best = 0;
    for (size_t i = a; i < b; i++)
        all += y[i];
    for (size_t i = a; i + 1 < b; i++) {
        left += y[i];
        double n1 = (double)(i + 1 - a), n2 = (double)(b - i - 1);
        double gain = left * left / n1 + (all - left) * (all - left) / n2 - all * all / (n1 + n2);
        if (gain > best) {
            best = gain;
            *where = i + 1;
        }
    }
    return best;
}

double own_steps_rss(const double *y, size_t n, size_t cuts, size_t *first)
{
    size_t edge[OWN_STEPS_MOST + 2] = {0, n}, n_edges = 2;
    double sum = 0, squares = 0;
    if (first)
        *first = 0;
    if (!n)
        return 0;
    for (size_t i = 0; i < n; i++) {
        sum += y[i];
        squares += y[i] * y[i];
    }
    double rss = squares - sum * sum / (double)n;
    while (n_edges < cuts + 2) {
        double best = 0;
        size_t cut = 0, after = 0;
        for (size_t i = 0; i + 1 < n_edges; i++) {
            size_t where = 0;
            double gain = own_steps_best(y, edge[i], edge[i + 1], &where);
            if (gain > best) {
                best = gain;
                cut = where;
                after = i;
            }
        }
        if (!(best > 0))
            break;
        if (first && n_edges == 2)
            *first = cut;
        memmove(&edge[after + 2], &edge[after + 1], (n_edges - after - 1) * sizeof *edge);
        edge[after + 1] = cut;
        n_edges++;
        rss -= best;
    }
    return fmax(rss, 0);
}

enum { TO, FROM, LOG_TAU, BEGIN, COMMON }; /* BEGIN: the mean; not fitted where beginnings are known */
enum { ITERATIONS = 120, TURNS = 4 };
#define SPREAD_LEAST 0.02 /* of a reading's length */
#define DAMPING_MOST 1e8
#define CONVERGED 1e-7 /* relative change of the sum of squares */
#define SETTLED 0.003  /* relative change of the spread */

/* ---- the curve ---- */

struct slopes {
    double held;          /* what is left of the step, mean over the reading */
    double slower, later; /* its derivatives by log(tau) and by the beginning */
};

/* The curve from one reading of a repetition to the next: where one ends the next begins, mostly. */
struct course {
    double begin, tau;
    bool with_slopes; /* they cost as much again */
    double until;     /* where the last reading ended (NaN: there is none), and the curve there */
    struct edge {
        double integral, slope, left;
    } edge;
};

static struct course course_from(double begin, double tau, bool with_slopes)
{
    return (struct course){.begin = begin, .tau = tau, .with_slopes = with_slopes, .until = NAN};
}

static struct edge course_edge(const struct course *c, double at)
{
    double x = at - c->begin;
    struct edge e = {.integral = ramp_decay_integral(x, c->tau)};
    if (c->with_slopes) {
        e.left = ramp_decay(x, c->tau);
        e.slope = ramp_decay_slope(x, c->tau, e.left);
    }
    return e;
}

static struct slopes course_next(struct course *c, const struct ramp_reading *x)
{
    struct edge before = x->from == c->until ? c->edge : course_edge(c, x->from);
    double us = (x->to - c->begin) - (x->from - c->begin);
    c->until = x->to;
    c->edge = course_edge(c, x->to);
    return (struct slopes){(c->edge.integral - before.integral) / us, (c->edge.slope - before.slope) / us,
                           (before.left - c->edge.left) / us};
}

/* ---- normal equations ---- */

/* Of what the repetitions share, bordered by the beginning of each. */
struct equations {
    size_t n; /* of the common parameters */
    double a[COMMON][COMMON], g[COMMON];
    double *cross;       /* [k * COMMON + i] */
    double *own, *own_g; /* of each repetition */
    double rss;
};

static void gather(const struct ramp_readings *s, const double p[COMMON], const double *begin, double *rss,
                   struct equations *e)
{
    double tau = exp(p[LOG_TAU]);
    memset(e->a, 0, sizeof e->a);
    memset(e->g, 0, sizeof e->g);
    e->rss = 0;
    for (size_t k = 0; k < s->n_runs; k++) {
        double *cross = &e->cross[k * COMMON];
        memset(cross, 0, COMMON * sizeof *cross);
        struct course course = course_from(begin[k], tau, true);
        e->own[k] = e->own_g[k] = rss[k] = 0;
        for (size_t i = s->first[k]; i < s->first[k + 1]; i++) {
            struct slopes c = course_next(&course, &s->x[i]);
            double step = p[FROM] - p[TO], r = p[TO] + step * c.held - s->x[i].value;
            double j[COMMON] = {1 - c.held, c.held, step * c.slower, step * c.later};
            for (size_t m = 0; m < e->n; m++) {
                for (size_t q = 0; q < e->n; q++)
                    e->a[m][q] += j[m] * j[q];
                e->g[m] += j[m] * r;
                cross[m] += j[m] * j[BEGIN];
            }
            e->own[k] += j[BEGIN] * j[BEGIN];
            e->own_g[k] += j[BEGIN] * r;
            rss[k] += r * r;
        }
        e->rss += rss[k];
    }
}

/* The inverse of a matrix, which is overwritten. false: it has none. */
static bool invert(size_t n, double a[COMMON][COMMON], double out[COMMON][COMMON])
{
    size_t rows[COMMON];
    int sign;
    gsl_permutation order = {n, rows};
    gsl_matrix_view m = gsl_matrix_view_array_with_tda(&a[0][0], n, n, COMMON);
    gsl_matrix_view inverse = gsl_matrix_view_array_with_tda(&out[0][0], n, n, COMMON);
    gsl_linalg_LU_decomp(&m.matrix, &order, &sign);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i][i]) > 1e-300))
            return false;
    gsl_linalg_LU_invert(&m.matrix, &order, &inverse.matrix);
    return true;
}

/* The covariance, but for the variance, of the common parameters; the beginnings are penalised by `weight` (0: they are
 * known). damping: as Marquardt's. */
static bool covariance(const struct ramp_readings *s, const struct equations *e, double weight, double damping,
                       double out[COMMON][COMMON])
{
    double a[COMMON][COMMON];
    for (size_t i = 0; i < e->n; i++)
        for (size_t q = 0; q < e->n; q++) {
            a[i][q] = e->a[i][q] * (i == q ? 1 + damping : 1);
            for (size_t k = 0; weight > 0 && k < s->n_runs; k++)
                a[i][q] -= e->cross[k * COMMON + i] * e->cross[k * COMMON + q] / (e->own[k] * (1 + damping) + weight);
        }
    return invert(e->n, a, out);
}

/* ---- the fit ---- */

struct state {
    double p[COMMON];
    double *begin, *rss;
    double penalty; /* of the beginnings' spread */
};

/* One step from `now` to `next`. false: the equations have no solution. */
static bool step(const struct ramp_readings *s, const struct equations *e, const struct state *now, double weight,
                 double damping, struct state *next)
{
    double inverse[COMMON][COMMON], g[COMMON], d[COMMON] = {0};
    if (!covariance(s, e, weight, damping, inverse))
        return false;
    memcpy(g, e->g, sizeof g);
    for (size_t k = 0; weight > 0 && k < s->n_runs; k++)
        for (size_t i = 0; i < e->n; i++)
            g[i] -= e->cross[k * COMMON + i] * (e->own_g[k] + weight * (now->begin[k] - now->p[BEGIN])) /
                    (e->own[k] * (1 + damping) + weight);
    for (size_t i = 0; i < e->n; i++)
        for (size_t q = 0; q < e->n; q++)
            d[i] -= inverse[i][q] * g[q];
    memcpy(next->p, now->p, sizeof next->p);
    for (size_t i = 0; i < e->n; i++)
        next->p[i] += d[i];
    next->p[LOG_TAU] = now->p[LOG_TAU] + fmin(fmax(d[LOG_TAU], -1), 1);
    next->penalty = 0;
    for (size_t k = 0; k < s->n_runs; k++) {
        double off = now->begin[k] - now->p[BEGIN], gk = e->own_g[k] + weight * off;
        for (size_t i = 0; i < e->n; i++)
            gk += e->cross[k * COMMON + i] * d[i];
        next->begin[k] = weight > 0 ? next->p[BEGIN] + off - gk / (e->own[k] * (1 + damping) + weight) : now->begin[k];
        next->penalty += weight * pow(next->begin[k] - next->p[BEGIN], 2);
    }
    return isfinite(next->p[TO]) && isfinite(next->p[LOG_TAU]);
}

/* Sums of squares at a state, by repetition. */
static double squares(const struct ramp_readings *s, const struct state *at)
{
    double all = 0, tau = exp(at->p[LOG_TAU]);
    for (size_t k = 0; k < s->n_runs; k++) {
        struct course course = course_from(at->begin[k], tau, false);
        at->rss[k] = 0;
        for (size_t i = s->first[k]; i < s->first[k + 1]; i++) {
            double held = course_next(&course, &s->x[i]).held;
            at->rss[k] += pow(at->p[TO] + (at->p[FROM] - at->p[TO]) * held - s->x[i].value, 2);
        }
        all += at->rss[k];
    }
    return all;
}

/* The spread of the beginnings that the data require, and how many parameters it leaves them. */
static double spread_of(const struct ramp_readings *s, const struct equations *e, const struct state *at, double weight,
                        double variance, double *parameters)
{
    double sum = 0;
    *parameters = 0;
    for (size_t k = 0; k < s->n_runs; k++) {
        sum += pow(at->begin[k] - at->p[BEGIN], 2) + variance / (e->own[k] + weight);
        *parameters += e->own[k] / (e->own[k] + weight);
    }
    return fmax(sqrt(sum / (double)s->n_runs), SPREAD_LEAST * s->length);
}

/* How far beginnings may be off, mean square: where they follow the noise the ramp looks steeper than it is, as a curve
 * of this variance (its own is tau^2) is less blurred without it. */
static double begins_uncertainty(const struct ramp_readings *s, const struct equations *e, double weight,
                                 double variance)
{
    double sum = 0;
    for (size_t k = 0; k < s->n_runs; k++)
        sum += variance / (e->own[k] + weight);
    return sum / (double)s->n_runs;
}

/* By how much residuals that resemble their neighbours widen the limits (ramp_fit.h). */
static double widening(const struct ramp_readings *s, const struct state *at)
{
    double all = 0, lagged = 0, tau = exp(at->p[LOG_TAU]);
    for (size_t k = 0; k < s->n_runs; k++) {
        struct course course = course_from(at->begin[k], tau, false);
        double last = 0;
        for (size_t i = s->first[k]; i < s->first[k + 1]; i++) {
            double held = course_next(&course, &s->x[i]).held;
            double r = at->p[TO] + (at->p[FROM] - at->p[TO]) * held - s->x[i].value;
            all += r * r;
            lagged += r * last;
            last = r;
        }
    }
    return ramp_widening(all, lagged);
}

/* Beginnings are drawn to their mean by as much as they are not known: they are spread again, so that the limits of
 * their mean over repetitions are those that the fit has for it. */
static void spread_again(const struct ramp_readings *s, double half, struct state *at)
{
    double seen = 0, n = (double)s->n_runs;
    for (size_t k = 0; k < s->n_runs; k++)
        seen += pow(at->begin[k] - at->p[BEGIN], 2) / n;
    double factor = seen > 0 ? half / ESTIMATE_Z95 * sqrt(n / seen) : 1;
    for (size_t k = 0; k < s->n_runs && factor > 1; k++)
        at->begin[k] = at->p[BEGIN] + factor * (at->begin[k] - at->p[BEGIN]);
}

static int iterate(const struct ramp_readings *s, struct equations *e, bool fixed, struct state *now,
                   struct state *next, struct ramp_own *out)
{
    double n = (double)s->first[s->n_runs], damping = 1e-3, weight = 0, own = 0;
    gather(s, now->p, now->begin, now->rss, e);
    double variance = e->rss / fmax(1, n - 4), spread = fmax(out->spread, SPREAD_LEAST * s->length);
    for (int i = 0; i < ITERATIONS && damping < DAMPING_MOST; i++) {
        weight = fixed ? 0 : variance / (spread * spread);
        now->penalty = 0;
        for (size_t k = 0; k < s->n_runs; k++)
            now->penalty += weight * pow(now->begin[k] - now->p[BEGIN], 2);
        if (!step(s, e, now, weight, damping, next))
            return 1;
        double before = e->rss + now->penalty, after = squares(s, next) + next->penalty;
        if (!(after <= before)) {
            damping *= 10;
            continue;
        }
        memcpy(now->p, next->p, sizeof now->p);
        memcpy(now->begin, next->begin, s->n_runs * sizeof *now->begin);
        damping = fmax(0.1 * damping, 1e-9);
        gather(s, now->p, now->begin, now->rss, e);
        double was = spread;
        variance = fmax(e->rss, 1e-18) / fmax(1, n - 4 - own);
        if (!fixed)
            spread = spread_of(s, e, now, weight, variance, &own);
        if (before - after < CONVERGED * before && fabs(spread - was) < SETTLED * was)
            break;
    }
    double c[COMMON][COMMON];
    if (!covariance(s, e, weight, 0, c))
        return 1;
    double unit = ESTIMATE_Z95 * sqrt(variance) * widening(s, now), tau = exp(now->p[LOG_TAU]);
    double half_tau = unit * sqrt(fmax(0, c[LOG_TAU][LOG_TAU]));
    out->fit.to = estimate_around(now->p[TO], unit * sqrt(fmax(0, c[TO][TO])));
    out->fit.from = estimate_around(now->p[FROM], unit * sqrt(fmax(0, c[FROM][FROM])));
    out->fit.begin = estimate_around(now->p[BEGIN], fixed ? 0 : unit * sqrt(fmax(0, c[BEGIN][BEGIN])));
    double blurred = fixed ? 0 : begins_uncertainty(s, e, weight, variance);
    out->fit.tau = (struct estimate){tau, tau * exp(-half_tau), sqrt(pow(tau * exp(half_tau), 2) + blurred)};
    out->fit.rss = e->rss;
    out->spread = fixed ? 0 : spread;
    out->parameters = own + (double)e->n;
    return isfinite(out->fit.rss) && isfinite(half_tau) && tau > 0 ? 0 : 1;
}

/*
 * Where a clock measures the frequency, the time of a cycle is what scatters evenly: times become frequencies by the
 * tangent at what is expected, so that means have no bias (as in ramps.c).
 */
static void linearise(struct ramp_readings *s, const struct state *at)
{
    double tau = exp(at->p[LOG_TAU]);
    for (size_t k = 0; k < s->n_runs; k++) {
        struct course course = course_from(at->begin[k], tau, false);
        for (size_t i = s->first[k]; i < s->first[k + 1]; i++) {
            double held = course_next(&course, &s->x[i]).held;
            double ghz = at->p[TO] + (at->p[FROM] - at->p[TO]) * held;
            s->x[i].value = s->by_time ? ghz * (2 - ghz / s->x[i].ghz) : s->x[i].ghz;
        }
    }
}

static struct state state_of(const struct ramp_own *f, size_t n, double *begin, double *rss)
{
    struct state at = {.p = {f->fit.to.value, f->fit.from.value, log(f->fit.tau.value), 0}, .begin = begin, .rss = rss};
    for (size_t k = 0; k < n; k++)
        at.p[BEGIN] += begin[k] / (double)n;
    return at;
}

double ramp_own_rss(struct ramp_readings *s, const struct ramp_own *f, double *begin, double *rss)
{
    struct state at = state_of(f, s->n_runs, begin, rss);
    linearise(s, &at);
    return squares(s, &at);
}

int ramp_own_fit(struct ramp_readings *s, bool fixed, struct ramp_own *fit, double *begin, double *rss)
{
    size_t n = s->n_runs;
    double *room = calloc((4 + COMMON) * n + 1, sizeof *room);
    if (!room)
        return -1;
    struct equations e = {
        .n = fixed ? BEGIN : COMMON, .cross = room, .own = room + COMMON * n, .own_g = room + (COMMON + 1) * n};
    struct state now = state_of(fit, n, begin, rss);
    struct state next = {.begin = room + (COMMON + 2) * n, .rss = room + (COMMON + 3) * n};
    int status = 0;
    for (int turn = 0; turn < (s->by_time ? TURNS : 1) && !status; turn++) {
        linearise(s, &now);
        status = iterate(s, &e, fixed, &now, &next, fit);
    }
    if (!status && !fixed)
        spread_again(s, fit->fit.begin.hi - fit->fit.begin.value, &now);
    free(room);
    return status;
}

/* ---- steps instead ---- */

/* How much of a reading is at each of the levels first..past - 1; none at others. */
struct mixture {
    size_t first, past;
    double share[LEVELS_MOST];
};

static void mix(const struct ramp_reading *x, size_t levels, const double *edge, struct mixture *m)
{
    double last = x->from;
    for (m->first = 0; m->first + 1 < levels && edge[m->first] <= x->from;)
        m->first++;
    for (m->past = m->first; m->past < levels && last < x->to; m->past++) {
        double until = m->past + 1 < levels ? fmin(fmax(edge[m->past], last), x->to) : x->to;
        m->share[m->past] = (until - last) / (x->to - x->from);
        last = until;
    }
}

/* Solves a x = b, symmetric and positive, in place. false: it is not. */
static bool solve(size_t n, double a[LEVELS_MOST][LEVELS_MOST], double *b)
{
    gsl_matrix_view m = gsl_matrix_view_array_with_tda(&a[0][0], n, n, LEVELS_MOST);
    gsl_vector_view x = gsl_vector_view_array(b, n);
    gsl_errors_off(); /* what is not positive is no reason to abort */
    int status = gsl_linalg_cholesky_decomp1(&m.matrix);
    status = status ? status : gsl_linalg_cholesky_svx(&m.matrix, &x.vector);
    gsl_errors_restore();
    return status == GSL_SUCCESS;
}

/* The levels: least squares, of times of a cycle where these scatter evenly, about their mean. */
static bool fit_levels(const struct ramp_readings *s, size_t levels, const double *edge, double *ghz)
{
    double a[LEVELS_MOST][LEVELS_MOST] = {{0}}, mean = 0;
    struct mixture mixed;
    size_t n = s->first[s->n_runs];
    for (size_t i = 0; i < n; i++)
        mean += (s->by_time ? 1 / s->x[i].ghz : s->x[i].ghz) / (double)n;
    memset(ghz, 0, levels * sizeof *ghz);
    for (size_t k = 0; k < s->n_runs; k++)
        for (size_t i = s->first[k]; i < s->first[k + 1]; i++) {
            double y = s->by_time ? 1 / s->x[i].ghz : s->x[i].ghz;
            mix(&s->x[i], levels, &edge[k * (levels - 1)], &mixed);
            for (size_t m = mixed.first; m < mixed.past; m++) {
                for (size_t q = mixed.first; q < mixed.past; q++)
                    a[m][q] += mixed.share[m] * mixed.share[q];
                ghz[m] += mixed.share[m] * (y - mean);
            }
        }
    if (!solve(levels, a, ghz))
        return false;
    for (size_t m = 0; m < levels; m++)
        ghz[m] = s->by_time ? 1 / (ghz[m] + mean) : ghz[m] + mean;
    return true;
}

double ramp_steps_rss(const struct ramp_readings *s, size_t levels, const double *edge, double *ghz)
{
    struct mixture mixed;
    double rss = 0;
    if (levels > LEVELS_MOST || !s->first[s->n_runs] || !fit_levels(s, levels, edge, ghz))
        return NAN;
    for (size_t k = 0; k < s->n_runs; k++)
        for (size_t i = s->first[k]; i < s->first[k + 1]; i++) {
            double expected = 0;
            mix(&s->x[i], levels, &edge[k * (levels - 1)], &mixed);
            for (size_t m = mixed.first; m < mixed.past; m++)
                expected += mixed.share[m] * ghz[m];
            rss += pow(s->by_time ? expected * (expected / s->x[i].ghz - 1) : expected - s->x[i].ghz, 2);
        }
    return rss;
}

#define DISTORTED 2.718 /* after one time constant 1/e of the step is left: an error counts e times as much there */

struct piece ramp_joined(const struct segmentation *o, size_t p, size_t q, double ghz)
{
    struct piece all = {.samples = 0};
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        double sum = 0, weight = 0;
        for (size_t i = p; i <= q; i++)
            if (!isnan(o->piece[i].value[c])) {
                sum += o->piece[i].value[c] * (double)(o->piece[i].samples + 1);
                weight += (double)(o->piece[i].samples + 1);
            }
        all.value[c] = weight > 0 ? sum / weight : NAN;
    }
    for (size_t i = p; i <= q; i++)
        all.samples += o->piece[i].samples;
    all.value[TRACE_FREQ] = ghz;
    return all;
}

struct phase ramp_phase(const struct piece *piece, enum phase_kind kind)
{
    struct phase ph = levels_new_phase(piece, kind);
    ph.ipc_ratio = isnan(ph.ipc) ? NAN : 1;
    return ph;
}

/* An estimate whose limits know of another error of half width `half`. */
static struct estimate ramp_widened(const struct estimate *e, double half)
{
    return estimate_around(e->value, hypot(half, e->hi - e->value));
}

double ramp_over_after(const struct ramp_fit *f)
{
    return f->tau.value * log(fmax(fabs(f->from.value - f->to.value) / (RAMP_ARRIVED * f->to.value), 1));
}

void ramp_describe(const struct runs *r, const struct ramp_fit *f, double half, struct phase *ramp)
{
    double doubt = ESTIMATE_Z95 * clock_uncertainty(&r->clock); /* relative, another one at each frequency on the way */
    double step = fabs(f->from.value - f->to.value);
    double tau = fmax(RAMP_TAU_SURE, hypot(log(f->tau.hi / f->tau.value), DISTORTED * doubt * f->to.value / step));
    ramp->from_ghz = ramp_widened(&f->from, hypot(half, doubt * f->from.value));
    ramp->to_ghz = ramp_widened(&f->to, hypot(half, doubt * f->to.value));
    ramp->tau_us = (struct estimate){f->tau.value, f->tau.value * exp(-tau), f->tau.value * exp(tau)};
}

typedef char *any_list __attribute__((may_alias)); /* the list's own type is not char * */

/* Puts `come` elements, all zero, in the place of `gone` ones from `at` on in a list of n. 0, or -1: out of memory, and
 * the list is as it was. list: the address of the pointer to it. */
static int replace_in(void *list, size_t size, size_t n, size_t at, size_t gone, size_t come)
{
    any_list *old = list;
    char *new = calloc(n - gone + come + 1, size);
    if (!new)
        return -1;
    memcpy(new, *old, at * size);
    memcpy(new + (at + come) * size, *old + (at + gone) * size, (n - at - gone) * size);
    free(*old);
    *old = new;
    return 0;
}

int ramp_splice(struct segmentation *o, struct phases *out, size_t p, size_t q, const struct ramp_part *part, size_t n,
                const double *own)
{
    size_t gone = q - p + 1, edges = o->n_pieces - 1, runs = o->n_runs;
    if (replace_in(&o->piece, sizeof *o->piece, o->n_pieces, p, gone, n) ||
        replace_in(&out->phases, sizeof *out->phases, o->n_pieces, p, gone, n) ||
        replace_in(&o->edge, sizeof *o->edge, edges, p, gone - 1, n - 1) ||
        replace_in(&o->time, runs * sizeof *o->time, edges, p, gone - 1, n - 1))
        return -1;
    for (size_t i = 0; i < n; i++) {
        o->piece[p + i] = part[i].piece;
        out->phases[p + i] = part[i].phase;
        if (!i)
            continue;
        bool up = part[i].piece.value[TRACE_FREQ] > part[i - 1].piece.value[TRACE_FREQ];
        o->edge[p + i - 1].change[TRACE_FREQ] = up ? 1 : -1;
        for (size_t k = 0; k < runs; k++)
            o->time[(p + i - 1) * runs + k] = own ? own[i * runs + k] : part[i].begin;
    }
    o->n_pieces = out->n_phases = o->n_pieces - gone + n;
    return 0;
}
