/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repetitions whose clock is another than that of most, before the switch and after it: the clock's own steps are those
 * within a repetition. */
#include <math.h>
#include <stdlib.h>

#include "analysis/phases/repetitions/other_clocks.h"
#include "analysis/pooled/pooled.h"
#include "util/order.h"

/* Whether those that differ in the beginning do so in the end, too. ghz: the clock of each repetition before the
 * switch, NaN: not known. late: of one a repetition. */
static bool differ_throughout(const struct pooled *p, const struct pooled_states *s, const struct pooled_clock *c,
                              const double *ghz, double *late, double *scratch)
{
    const struct pooled_clock_state *last = &c->state[c->n - 1];
    const struct value_mode *kind = c->kind;
    size_t m = 0;
    for (size_t r = 0; r < p->n_runs; r++) {
        double step = pooled_own_clock(p, s, r, last->begin_us, last->end_us, scratch) - last->log_step.value;
        if (ghz[r] >= kind[1].lo && ghz[r] <= kind[1].hi && !isnan(step))
            late[m++] = step;
    }
    double early = log(kind[1].mean / kind[0].mean);
    return m && clock_same_factor(early, early + order_median(late, m));
}

int pooled_tell_other_clocks(const struct pooled *p, const struct pooled_states *s, const struct pooled_clock *c,
                             struct phases *out)
{
    const size_t n = p->n_runs;
    if (!c->n || n < OTHER_CLOCKS_RUNS_LEAST)
        return 0;
    double *ghz = malloc((3 * n + 2 * (p->longest > n ? p->longest : n) + 1) * sizeof *ghz);
    if (!ghz)
        return -1;
    double *relative = ghz + n, *scratch = relative + n;
    size_t m = 0;
    for (size_t r = 0; r < n; r++) {
        ghz[r] = p->run[r].early_ipc >= c->least_ipc ? 1 / p->run[r].cycle_ns : NAN;
        if (!isnan(ghz[r]))
            relative[m++] = ghz[r] / c->before_ghz.value;
    }
    double bound = c->n_kinds ? 0.5 * fabs(c->kind[1].mean - c->kind[0].mean) / c->before_ghz.value
                              : other_clocks_bound(relative, m, POOLED_STEP_LEAST, scratch);
    int bad = 0;
    if (!c->n_kinds || differ_throughout(p, s, c, ghz, scratch, scratch + n))
        bad = other_clocks_tell(out, relative, m, bound);
    free(ghz);
    return bad;
}
