/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Least squares of an exponential approach between two frequencies to readings pooled over repetitions. */
#include "analysis/phases/ramps/ramp_fit.h"

#include <math.h>

#include <gsl/gsl_multifit_nlinear.h>

#include "analysis/stats/gsl_errors.h"

enum { TO, STEP, LOG_TAU, BEGIN, PARAMETERS }; /* STEP: from - to */
enum { TAUS = 24, BEGINS = 24, ITERATIONS = 100, POINTS_LEAST = 12, GRID_POINTS = 200 };
#define TAU_LONGEST 8.0      /* times the span of the points: beyond that a ramp is a straight line */
#define CORRELATION_MOST 0.9 /* of residuals next to each other */

struct points {
    const double *t, *y;
    size_t n;
    double begin, width;
    bool free_begin;
};

double ramp_decay(double x, double tau)
{
    return x <= 0 ? 1 : exp(-x / tau);
}

double ramp_decay_integral(double x, double tau)
{
    return x <= 0 ? x : tau > 0 ? tau * -expm1(-x / tau) : 0;
}

double ramp_decay_slope(double x, double tau, double left)
{
    return x <= 0 ? 0 : tau * (1 - (1 + x / tau) * left);
}

static double shape(const struct points *p, double t, double begin, double tau)
{
    double x = t - begin, half = 0.5 * p->width;
    if (!(half > 0))
        return ramp_decay(x, tau);
    return (ramp_decay_integral(x + half, tau) - ramp_decay_integral(x - half, tau)) / p->width;
}

double ramp_value(const struct ramp_fit *f, double t)
{
    return f->to.value + (f->from.value - f->to.value) * ramp_decay(t - f->begin.value, f->tau.value);
}

/* The best TO and STEP for a given shape, a straight line over it, by some of the points. Returns the sum of squared
 * residuals. */
static double project(const struct points *p, double begin, double tau, double *to, double *step)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0, origin = p->y[0];
    for (size_t i = 0; i < p->n; i += p->n / GRID_POINTS + 1) {
        double x = shape(p, p->t[i], begin, tau), y = p->y[i] - origin;
        n++;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        syy += y * y;
    }
    double det = n * sxx - sx * sx;
    *step = det > 1e-12 * n * sxx ? (n * sxy - sx * sy) / det : 0;
    *to = origin + (sy - *step * sx) / n;
    return syy - sy * sy / n - *step * (sxy - sx * sy / n);
}

static double seek(const struct points *p, double x[PARAMETERS])
{
    double span = p->t[p->n - 1] - p->begin, shortest = span / (double)p->n, best = INFINITY;
    for (int i = 0; i < (p->free_begin ? BEGINS : 1); i++) {
        double begin = p->begin + 0.9 * span * i / BEGINS;
        for (int k = 0; k < TAUS; k++) {
            double tau = shortest * pow(TAU_LONGEST * span / shortest, (double)k / (TAUS - 1)), to, step;
            double rss = project(p, begin, tau, &to, &step);
            if (rss < best) {
                best = rss;
                x[TO] = to;
                x[STEP] = step;
                x[LOG_TAU] = log(tau);
                x[BEGIN] = begin;
            }
        }
    }
    return best;
}

static double begin_of(const gsl_vector *x, const struct points *p)
{
    return p->free_begin ? gsl_vector_get(x, BEGIN) : p->begin;
}

static int residuals(const gsl_vector *x, void *data, gsl_vector *f)
{
    const struct points *p = data;
    double tau = exp(gsl_vector_get(x, LOG_TAU));
    for (size_t i = 0; i < p->n; i++)
        gsl_vector_set(
            f, i, gsl_vector_get(x, TO) + gsl_vector_get(x, STEP) * shape(p, p->t[i], begin_of(x, p), tau) - p->y[i]);
    return GSL_SUCCESS;
}

static int jacobian(const gsl_vector *x, void *data, gsl_matrix *j)
{
    const struct points *p = data;
    double tau = exp(gsl_vector_get(x, LOG_TAU)), begin = begin_of(x, p), step = gsl_vector_get(x, STEP);
    for (size_t i = 0; i < p->n; i++) {
        double since = p->t[i] - begin, half = 0.5 * p->width, later, slower;
        if (half > 0) {
            double before = ramp_decay(since - half, tau), after = ramp_decay(since + half, tau);
            later = (before - after) / p->width;
            slower = (ramp_decay_slope(since + half, tau, after) - ramp_decay_slope(since - half, tau, before)) /
                     p->width;
        } else {
            later = since > 0 ? ramp_decay(since, tau) / tau : 0;
            slower = later * fmax(0, since);
        }
        gsl_matrix_set(j, i, TO, 1);
        gsl_matrix_set(j, i, STEP, shape(p, p->t[i], begin, tau));
        gsl_matrix_set(j, i, LOG_TAU, step * slower);
        if (p->free_begin)
            gsl_matrix_set(j, i, BEGIN, step * later);
    }
    return GSL_SUCCESS;
}

double ramp_criterion(double n, double rss, double parameters)
{
    return n * log(fmax(rss, 1e-18 * n)) + parameters * log(n);
}

double ramp_widening(double squares, double lagged)
{
    double rho = squares > 0 ? fmin(fmax(lagged / squares, 0), CORRELATION_MOST) : 0;
    return sqrt((1 + rho) / (1 - rho));
}

static double widening(const gsl_vector *f)
{
    double squares = 0, lagged = 0;
    for (size_t i = 0; i < f->size; i++) {
        double now = gsl_vector_get(f, i);
        squares += now * now;
        lagged += i ? now * gsl_vector_get(f, i - 1) : 0;
    }
    return ramp_widening(squares, lagged);
}

static struct estimate with_limits(double value, double half)
{
    return estimate_around(value, isfinite(half) ? half : INFINITY);
}

static void read_result(const gsl_multifit_nlinear_workspace *w, const gsl_matrix *covar, const struct points *p,
                        struct ramp_fit *out)
{
    const gsl_vector *x = gsl_multifit_nlinear_position(w), *f = gsl_multifit_nlinear_residual(w);
    double dof = (double)(p->n - x->size), variance, half[PARAMETERS] = {0};
    out->rss = 0;
    for (size_t i = 0; i < p->n; i++)
        out->rss += pow(gsl_vector_get(f, i), 2);
    variance = out->rss / dof * pow(widening(f), 2);
    for (size_t i = 0; i < x->size; i++)
        half[i] = ESTIMATE_Z95 * sqrt(variance * gsl_matrix_get(covar, i, i));
    double to = gsl_vector_get(x, TO), step = gsl_vector_get(x, STEP), tau = exp(gsl_vector_get(x, LOG_TAU));
    double from_variance = gsl_matrix_get(covar, TO, TO) + gsl_matrix_get(covar, STEP, STEP) +
                           2 * gsl_matrix_get(covar, TO, STEP);
    out->to = with_limits(to, half[TO]);
    out->from = with_limits(to + step, ESTIMATE_Z95 * sqrt(fmax(0, variance * from_variance)));
    out->begin = with_limits(begin_of(x, p), p->free_begin ? half[BEGIN] : 0);
    out->tau = (struct estimate){tau, tau * exp(-half[LOG_TAU]), tau * exp(half[LOG_TAU])};
}

static int ramp_fit_refine(const struct points *p, const double start[PARAMETERS], struct ramp_fit *out)
{
    size_t parameters = p->free_begin ? PARAMETERS : BEGIN;
    struct points copy = *p; /* GSL's callbacks take their data without const */
    gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf system = {.f = residuals, .df = jacobian, .n = p->n, .p = parameters, .params = &copy};
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &options, p->n,
                                                                   parameters);
    gsl_matrix *covar = gsl_matrix_alloc(parameters, parameters);
    int status = -1, info;
    if (w && covar) {
        gsl_vector_const_view x = gsl_vector_const_view_array(start, parameters);
        status = gsl_multifit_nlinear_init(&x.vector, &system, w) != GSL_SUCCESS;
        if (!status) { /* no progress beyond the grid's best is no failure: the limits say how good it is */
            gsl_multifit_nlinear_driver(ITERATIONS, 1e-9, 1e-9, 0, NULL, NULL, &info, w);
            status = gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 0, covar) != GSL_SUCCESS;
        }
        if (!status) {
            read_result(w, covar, p, out);
            status = !isfinite(out->tau.value) || !isfinite(out->rss);
        }
    }
    if (w)
        gsl_multifit_nlinear_free(w);
    if (covar)
        gsl_matrix_free(covar);
    return status;
}

int ramp_fit(const double *t, const double *y, size_t n, double width, double begin, bool free_begin,
             struct ramp_fit *out)
{
    const struct points p = {t, y, n, begin, width, free_begin};
    double start[PARAMETERS] = {0};
    if (n < POINTS_LEAST || !isfinite(seek(&p, start)))
        return 1;
    gsl_errors_off(); /* a fit that fails is no reason to abort */
    int status = ramp_fit_refine(&p, start, out);
    gsl_errors_restore();
    return status;
}
