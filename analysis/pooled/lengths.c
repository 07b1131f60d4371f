/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Durations that come in two lengths: one relaxation period or two, one wait or the next. */
#include <math.h>

#include "analysis/pooled/pooled.h"
#include "util/order.h"

#define LEAST 0.08      /* of the repetitions show the rarer length */
#define APART 4.5       /* standard deviations of either between the two */
#define OUTLIERS 4.0    /* standard deviations of a length */
#define LIKE_FIRST 3.0  /* times as much as the shorter length the longer one scatters at most, of their own */
#define SCATTERS_US 0.3 /* as samples of short lengths do */
#define VALLEY 0.12     /* of the repetitions lie in the middle third between the two, at most */

/* Where an ascending series is cut so that its parts scatter least (Otsu 1979). */
static size_t cut_of(const double *x, size_t n, size_t least)
{
    double all = 0, sum = 0, best = -1;
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        all += x[i] - x[0];
    for (size_t k = 1; k + least <= n; k++) {
        sum += x[k - 1] - x[0];
        double d = sum / (double)k - (all - sum) / (double)(n - k), between = d * d * (double)k * (double)(n - k);
        if (k >= least && between > best) {
            best = between;
            at = k;
        }
    }
    return at;
}

size_t pooled_two_lengths(const double *x, size_t n, double apart, struct value_mode out[2], double *scratch)
{
    /* single repetitions far beyond the others would draw the cut to themselves */
    size_t tail = n / 40, least = (size_t)fmax(4, LEAST * (double)n), first = tail, past = n - tail, valley = 0;
    if (past < first + 2 * least)
        return 0;
    size_t at = first + cut_of(x + first, past - first, least);
    const size_t begin[2] = {first, at}, end[2] = {at, past};
    double middle[2], sigma[2];
    for (int i = 0; i < 2; i++) {
        size_t m = end[i] - begin[i];
        size_t kept;
        for (size_t k = 0; k < m; k++)
            scratch[k] = x[begin[i] + k];
        middle[i] = order_median(scratch, m);
        sigma[i] = order_mad_sigma(x + begin[i], m, middle[i], scratch + n);
        double mean = middle[i] + order_offset_within(x + begin[i], m, middle[i], OUTLIERS * sigma[i], &kept);
        out[i] = (struct value_mode){mean, x[i ? at : 0], x[i ? n - 1 : at - 1], i ? n - at : at};
    }
    double third = (middle[1] - middle[0]) / 3;
    for (size_t k = 0; k < n; k++)
        valley += x[k] > middle[0] + third && x[k] < middle[1] - third;
    /* what was interrupted lasts for longer by anything: no length of its own */
    bool interrupted = sigma[1] >
                       fmax(LIKE_FIRST * sigma[0] * fmax(1, middle[1] / middle[0]), fmax(SCATTERS_US, apart / 4));
    if (interrupted || 3 * third < fmax(apart, APART * fmax(sigma[0], sigma[1])) || (double)valley > VALLEY * (double)n)
        return 0;
    if (out[1].n > out[0].n) {
        struct value_mode more = out[1];
        out[1] = out[0];
        out[0] = more;
    }
    return 2;
}
