/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/slow_learned.h"

#include "schedulers/simulate/params.h"
#include "tests/support/test.h"

enum { TIMEOUTS = 7, CONTEXTS = 4, SEEN_MAX = 32, LOSS_UNIT = 4096 };
/* in quarters of the break-even time; the last is for ever */
static const int64_t timeout_quarters[TIMEOUTS] = {0, 1, 2, 4, 8, 16, -1};
static const unsigned BREAKEVEN = 3; /* the break-even time itself */

struct slow_learned {
    unsigned context;
    struct {
        int64_t loss[TIMEOUTS]; /* 1/4096 */
        int64_t seen;
    } in[CONTEXTS];
};

struct slow_learned *slow_learned_make(size_t n_tasks)
{
    struct slow_learned *tasks = calloc(n_tasks + 1, sizeof *tasks);
    assert_non_null(tasks);
    for (size_t i = 0; i < n_tasks; i++)
        for (unsigned c = 0; c < CONTEXTS; c++)
            for (unsigned h = 0; h < TIMEOUTS; h++)
                tasks[i].in[c].loss[h] = h == BREAKEVEN ? LOSS_UNIT / 2 : LOSS_UNIT;
    return tasks;
}

int64_t slow_learned_fell(const struct slow_learned *tasks, struct slow_gap *gap, uint32_t task, unsigned a, unsigned b,
                          int64_t breakeven)
{
    const int64_t *loss = tasks[task].in[tasks[task].context].loss;
    unsigned best = BREAKEVEN;
    *gap = (struct slow_gap){.open = true, .task = task, .a = a, .b = b};
    for (unsigned h = 0; h < TIMEOUTS; h++)
        if (loss[h] < loss[best])
            best = h;
    if (breakeven == SIM_FOREVER || timeout_quarters[best] < 0)
        return SIM_FOREVER;
    return breakeven / 4 * timeout_quarters[best];
}

void slow_learned_rose(struct slow_learned *tasks, struct slow_gap *gap, int64_t breakeven)
{
    struct slow_learned *t = &tasks[gap->task];
    int64_t g = gap->worked, *seen = &t->in[t->context].seen, *loss = t->in[t->context].loss;
    gap->open = false;
    if (breakeven == 0 || breakeven == SIM_FOREVER)
        return;
    *seen += *seen < SEEN_MAX;
    for (unsigned h = 0; h < TIMEOUTS; h++) {
        int64_t quarters = timeout_quarters[h], lost = quarters * LOSS_UNIT / 4 + LOSS_UNIT;
        if (quarters < 0 || g <= breakeven / 4 * quarters)
            lost = g >= 8 * breakeven ? 8 * LOSS_UNIT : LOSS_UNIT * g / breakeven;
        loss[h] += (lost - loss[h]) / (*seen + 1);
    }
    t->context = 16 * g < breakeven ? 0 : 4 * g < breakeven ? 1 : g < breakeven ? 2 : 3;
}
