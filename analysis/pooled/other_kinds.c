/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repetitions whose clock is another than that of most, before the switch and after it: the clock's own steps are those
 * within a repetition. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "analysis/phases/repetitions/other_clocks.h"
#include "analysis/pooled/pooled.h"
#include "util/order.h"

#define OTHER_SIGMAS 6.0

/* Whether those that differ in the beginning do so in the end, too. x: relative clocks, one a repetition. */
static bool differ_throughout(const struct pooled *p, const struct pooled_states *s, const struct pooled_clock *c,
                              const double *x, const struct value_mode mode[2], double *late, double *scratch)
{
    const struct pooled_clock_state *last = &c->state[c->n - 1];
    size_t m = 0;
    for (size_t r = 0; r < p->n_runs; r++) {
        double step = pooled_own_clock(p, s, r, last->begin_us, last->end_us, scratch) - last->log_step.value;
        if (x[r] >= mode[1].lo && x[r] <= mode[1].hi && !isnan(step))
            late[m++] = step;
    }
    double early = log(mode[1].mean / mode[0].mean);
    return m && clock_same_factor(early, early + order_median(late, m));
}

int pooled_tell_other_clocks(const struct pooled *p, const struct pooled_states *s, const struct pooled_clock *c,
                             struct phases *out)
{
    const size_t n = p->n_runs, most = p->longest > n ? p->longest : n;
    if (!c->n || n < OTHER_CLOCKS_RUNS_LEAST)
        return 0;
    double *x = malloc((3 * n + 2 * most + 1) * sizeof *x);
    if (!x)
        return -1;
    double *sorted = x + n, *scratch = sorted + n;
    const double least = pooled_least_ipc(p, x);
    struct value_mode mode[2];
    size_t m = 0;
    for (size_t r = 0; r < n; r++) {
        x[r] = p->run[r].early_ipc >= least ? 1 / p->run[r].cycle_ns / c->before_ghz.value : NAN;
        if (!isnan(x[r]))
            sorted[m++] = x[r];
    }
    gsl_sort(sorted, 1, m);
    double bound = fmax(POOLED_STEP_LEAST, OTHER_SIGMAS * order_mad_sigma(sorted, m, 1, scratch));
    bool two = pooled_two_lengths(sorted, m, POOLED_STEP_LEAST, mode, scratch) == 2;
    if (two)
        bound = 0.5 * fabs(mode[1].mean - mode[0].mean);
    int bad = 0;
    if (!two || differ_throughout(p, s, c, x, mode, scratch, scratch + n))
        bad = other_clocks_tell(out, sorted, m, bound);
    free(x);
    return bad;
}
