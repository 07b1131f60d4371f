/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/relaxation/relaxation_fit.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "analysis/stats/robust.h"
#include "analysis/stats/threshold.h"
#include "util/order.h"

#define WITHIN 0.15      /* of a wait: modes of one and of two are far apart; hardly any wait scatters more ... */
#define WITHIN_MOST 0.4  /* ... but for those that scatter more */
#define HALFWAY 0.22     /* of a wait: a burst in its middle makes it end at multiples of a half */
#define WINDOW 0.1       /* of a wait: what lies so close together is one mode */
#define WIDTH_SIGMAS 6.0 /* of one wait: three of what two in a row scatter by, at most */
#define WIDE_SIGMAS 4.0  /* the same of a wait that scatters so much that six reach beyond WITHIN */
#define WIDTH_LEAST_US 4.0
#define WIDTH_LEAST 0.01  /* of a wait */
#define CHANCE_MOST 0.001 /* that waits begun again at random times gather at twice the wait */
#define FIRST_OVER 1.2    /* the first wait is over */
#define REJECT 6.0
enum { TWICE_LEAST = 3, ALONE_PART = 5 /* a fifth */, RARE = 10 /* one in so many */, PEAK_PART = 4 };

static bool near(double x, double wait, double times)
{
    return fabs(x - times * wait) < WITHIN * wait;
}

/* How many of the values that follow x[i], ascending, lie close to it; with itself. */
static size_t crowd(const double *x, size_t n, size_t i)
{
    size_t end = i;
    while (end < n && x[end] <= x[i] + fmax(WIDTH_LEAST_US, WINDOW * x[i]))
        end++;
    return end - i;
}

/* The shortest wait that is not rare; NaN: none. `x`: those of uninterrupted repetitions, ascending. */
static double shortest_wait(const double *x, size_t n)
{
    size_t least = n / RARE > 2 ? n / RARE : n > 3 ? 2 : 1, most = 0, first = 0, best = 0;
    for (size_t i = 0; i < n; i++)
        most = crowd(x, n, i) > most ? crowd(x, n, i) : most;
    least = most / PEAK_PART > least ? most / PEAK_PART : least;
    if (most < least)
        return NAN;
    while (crowd(x, n, first) < least)
        first++;
    best = first;
    for (size_t i = first; i < first + crowd(x, n, first); i++)
        best = crowd(x, n, i) > crowd(x, n, best) ? i : best;
    return x[best + crowd(x, n, best) / 2];
}

/* Values of one and of two waits, and how wide their modes are. */
struct shape {
    double once;     /* NaN: none */
    double width[2]; /* on either side; 0: there is no such mode */
};

static bool belongs(const struct shape *s, int k, double x)
{
    return fabs(x - (k + 1) * s->once) < s->width[k];
}

/*
 * Whether values gather at twice the wait. Something that nobody noticed may have started waits again, at random times:
 * these then last for any time from one wait to two (and fewer of them longer). So what lies around twice the wait is
 * held against what lies elsewhere beyond one.
 */
static bool gathers_at_twice(const double *x, size_t n, const struct shape *s, double width)
{
    double from = s->once + s->width[0], to = fmax((2 + WITHIN) * s->once, 2 * s->once + width);
    unsigned here = 0, elsewhere = 0;
    for (size_t i = 0; i < n; i++) {
        bool at_twice = fabs(x[i] - 2 * s->once) < width;
        here += at_twice;
        elsewhere += !at_twice && x[i] > from && x[i] < to;
    }
    return here >= TWICE_LEAST && gsl_cdf_binomial_Q(here - 1, 2 * width / (to - from), here + elsewhere) < CHANCE_MOST;
}

/* `scratch`: room for 2 n. */
static struct shape shape_of(const double *x, size_t n, double *scratch)
{
    struct shape s = {.once = shortest_wait(x, n)};
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (near(x[i], s.once, 1))
            scratch[m++] = x[i];
    if (isnan(s.once) || !m)
        return s;
    double centre = robust_mean(scratch, m, REJECT, 0.5, NULL).value;
    double sigma = order_mad_sigma(scratch, m, centre, scratch + n);
    s.once = centre;
    double wide = fmin(WITHIN_MOST * centre, WIDE_SIGMAS * sigma);
    s.width[0] = fmin(WITHIN * centre, fmax(WIDTH_SIGMAS * sigma, fmax(WIDTH_LEAST * centre, WIDTH_LEAST_US)));
    s.width[0] = fmax(s.width[0], wide);
    if (gathers_at_twice(x, n, &s, s.width[0]))
        s.width[1] = s.width[0];
    return s;
}

/*
 * The repetitions that nothing interrupted until the first wait was over. What of the longer ones is of two waits is
 * told by those that nothing interrupted later either. What is neither mode may have been of it but for something
 * that nobody noticed: the upper limits leave these out.
 */
static void fill_shares(const struct relaxation_rise *r, size_t n, const struct shape *s, struct relaxation_waits *out)
{
    size_t all = 0, once = 0, longer = 0, longer_alone = 0;
    for (size_t i = 0; i < n; i++) {
        bool late = !(r[i].at_us < FIRST_OVER * s->once);
        if ((!out->kept && r[i].interruptions && r[i].first_us < FIRST_OVER * s->once) ||
            r[i].at_us < RELAXATION_AT_ONCE_US)
            continue;
        all++;
        once += belongs(s, 0, r[i].at_us);
        longer += late;
        longer_alone += late && (out->kept || !r[i].interruptions);
    }
    double part = longer_alone ? (double)out->mode[1].n / (double)longer_alone : 0;
    out->mode[0].share = threshold_share(once, all);
    size_t twice = (size_t)lround(fmin(part, 1) * (double)longer);
    out->mode[1].share = threshold_share(twice, all);
    if (once + twice > 0 && once + twice < all) {
        out->mode[0].share.hi = threshold_share(once, once + twice).hi;
        out->mode[1].share.hi = threshold_share(twice, once + twice).hi;
    }
}

static void fill_interrupts(const struct relaxation_rise *r, size_t n, double once, double *x,
                            struct relaxation_waits *out)
{
    for (size_t i = 0; i < n; i++) {
        double after = r[i].at_us - r[i].last_us;
        /* neither so early nor so late that the two answers would be alike */
        if (!(r[i].last_us > 2 * WITHIN * once && r[i].last_us < once * (1 - 2 * WITHIN)))
            continue;
        if (near(after, once, 1) || near(after, once, 2))
            x[out->rearmed++] = after;
        else if (near(r[i].at_us, once, 1) || near(r[i].at_us, once, 2))
            out->not_rearmed++;
    }
    size_t single = 0;
    for (size_t i = 0; i < out->rearmed; i++)
        if (near(x[i], once, 1))
            x[single++] = x[i];
    out->after_interrupt_us = robust_mean(x, single, REJECT, 0.5, NULL);
}

int relaxation_waits(const struct relaxation_rise *r, size_t n, struct relaxation_waits *out)
{
    static const struct estimate none = {NAN, NAN, NAN};
    double *x = malloc((3 * n + 3) * sizeof *x);
    size_t clean = 0, m[2] = {0, 0};
    *out = (struct relaxation_waits){.mode = {{0, none, none, NAN}, {0, none, none, NAN}}, .after_interrupt_us = none};
    if (!x)
        return -1;
    double *y = x + n + 1;
    for (size_t i = 0; i < n; i++)
        clean += !r[i].interruptions && !isnan(r[i].at_us);
    out->kept = clean * ALONE_PART < n;
    clean = 0;
    for (size_t i = 0; i < n; i++) {
        bool counts = out->kept || !r[i].interruptions;
        out->interrupted += r[i].interruptions > 0;
        out->never += counts && isnan(r[i].at_us);
        out->at_once += counts && r[i].at_us < RELAXATION_AT_ONCE_US;
        if (counts && r[i].at_us >= RELAXATION_AT_ONCE_US)
            x[clean++] = r[i].at_us;
    }
    gsl_sort(x, 1, clean);
    struct shape shape = shape_of(x, clean, y);
    for (int k = 0; k < 2 && !isnan(shape.once); k++) {
        for (size_t i = 0; i < clean; i++)
            if (belongs(&shape, k, x[i]))
                y[m[k]++] = x[i];
        struct relaxation_mode *mode = &out->mode[k];
        mode->n = m[k];
        mode->wait_us = robust_mean(y, m[k], REJECT, 0.5, NULL);
        mode->sd_us = m[k] > 1 ? gsl_stats_sd_m(y, 1, m[k], mode->wait_us.value) : NAN;
    }
    out->others = out->at_once + clean - m[0] - m[1];
    for (size_t i = 0; i < clean; i++)
        out->close += near(x[i], shape.once, 1) || (m[1] && near(x[i], shape.once, 2));
    if (!isnan(shape.once)) {
        fill_shares(r, n, &shape, out);
        fill_interrupts(r, n, shape.once, y, out);
    }
    free(x);
    return 0;
}

int relaxation_rearmed(double at_us, double done_us, double wait_us)
{
    for (int times = 1; times <= 2; times++) {
        if (fabs(at_us + done_us - times * wait_us) < HALFWAY * wait_us)
            return 0;
        if (fabs(at_us - times * wait_us) < HALFWAY * wait_us)
            return 1;
    }
    return -1;
}

const char *relaxation_verdict(const struct estimate *share)
{
    return share->lo > 0.5 ? "yes" : share->hi < 0.5 ? "no" : "undecided";
}
