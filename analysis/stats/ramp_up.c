/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rate of consecutive trials, and its steps up to full speed. */
#include "analysis/stats/ramp_up.h"

#include <math.h>
#include <string.h>

#include "util/order.h"

/* Trials of a rate; the fewest that say anything: two rates, and as many for the last quarter. */
enum { RATE_TRIALS = 3, TRIALS_LEAST = 8 };
/* The least step, relative: assumed, less than 100 MHz of 3 GHz, in which x86 processors step. */
static const double STEP_LEAST = 0.03;

static double median(const double *x, size_t n, double *scratch)
{
    memcpy(scratch, x, n * sizeof *scratch);
    return order_nth_smallest(scratch, n, n / 2);
}

struct ramp_up ramp_up_of(const double *duration, size_t n, double *scratch)
{
    struct ramp_up r = {.start = NAN, .until = NAN};
    if (n < TRIALS_LEAST)
        return r;
    const double full = median(duration + n - n / 4, n / 4, scratch);
    double share = full / median(duration, RATE_TRIALS, scratch), at = 0;
    r.start = r.step[r.n++].share = share;
    for (size_t i = 0; i + RATE_TRIALS < n && r.step[r.n - 1].share < RAMP_UP_FULL; i++) {
        const double next = full / median(duration + i + 1, RATE_TRIALS, scratch);
        at += duration[i];
        if (fabs(share / r.step[r.n - 1].share - 1) > STEP_LEAST && fabs(next / share - 1) <= STEP_LEAST &&
            r.n < RAMP_UP_STEPS_MOST) {
            r.step[r.n].at = at; /* the first of the three may still be of the rate before */
            r.step[r.n++].share = share;
        }
        share = next;
    }
    if (r.n > 1 && r.step[r.n - 1].share >= RAMP_UP_FULL)
        r.until = r.step[r.n - 1].at;
    return r;
}
