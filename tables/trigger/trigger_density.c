/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How dense the instructions must be: long bursts of one such instruction in N, bisection on N. Demand is taken to
 * grow with density.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/stats/robust.h"
#include "tables/trigger/trigger.h"
#include "util/order.h"

/*
 * What the code requests is examined while it still runs, in the last third of the burst: behind it a level may lapse
 * before the transition is over. 13 000 instructions (G 3.2.2) take two thirds of this at one in 256, 4 instructions a
 * cycle and 2.5 GHz, after 50 us of throttling.
 */
#define BURST_US 600.0
#define SETTLED 3.0   /* the burst against the time that the densest takes to settle */
#define SLOW_US 200.0 /* where it takes longer than this, instructions may be counted: sparse code takes longer */
#define BURST_MOST_US 4000.0 /* with the warm-up less than the 10 ms of the kernel helper */
#define PERIOD_US 3.0 /* a reading takes 20 ns and more, which the rate loses; throttling of 9 us (D) must show */
#define REJECT 5.0
enum { REPEATS = 8, BRIEF_REPEATS = 5, PROBES_MAX = 40, RARE = KERNEL_DENSITY_MAX };

/* Bursts of one density. */
struct probe {
    unsigned density; /* first, for order_unsigned() */
    size_t first;     /* of b->seen: `repeats` bursts, each with one of plain code behind it */
    struct trigger_throttle throttle;
    int grade, demand;    /* 0 nothing, 1 throttle only, 2.. lower frequencies; -1: they do not agree */
    struct estimate rate; /* counted instructions per core cycle at full rate */
};

struct density {
    struct bench *b;
    unsigned repeats;
    struct trigger_grades grades;
    size_t n;
    struct probe probe[PROBES_MAX];
};

static int trigger_density_judge(struct density *d, struct probe *p)
{
    double rate[64];
    if (trigger_bench_throttled(d->b, p->first, d->repeats, 2, &p->throttle))
        return -1;
    for (size_t i = 0; i < d->repeats; i++)
        rate[i] = d->b->seen[p->first + 2 * i].rate;
    p->rate = robust_mean(rate, d->repeats, REJECT, 0, NULL);
    return 0;
}

/* Grades change as more is seen: all verdicts are drawn anew. */
static int judge_all(struct density *d)
{
    if (trigger_grade(d->b->sight, d->b->n_seen, &d->grades))
        return -1;
    for (size_t i = 0; i < d->n; i++) {
        struct probe *p = &d->probe[i];
        int plain = trigger_bench_agreed(d->b, p->first + 1, d->repeats, 2);
        p->grade = trigger_bench_agreed(d->b, p->first, d->repeats, 2);
        p->demand = p->grade < 0 || plain < 0 ? -1 : p->grade > plain ? 1 + p->grade - plain : p->throttle.throttled;
    }
    return 0;
}

static struct probe *trigger_density_find(struct density *d, unsigned density)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->probe[i].density == density)
            return &d->probe[i];
    return NULL;
}

static double burst_us(const struct bench *b, unsigned density)
{
    double settled_us = b->pilot[0].settled_us, us = fmax(BURST_US, SETTLED * settled_us);
    return settled_us > SLOW_US ? fmin(us * fmax(1, density / 2.0), BURST_MOST_US) : us;
}

static int take_bursts(struct density *d, const struct payload *p, struct machine_error *err)
{
    double us = burst_us(d->b, p->density);
    d->b->from_us = -us / 3;
    for (unsigned i = 0; i < d->repeats; i++) {
        int status = trigger_bench_burst(d->b, p, us, true, err);
        if (status == MACHINE_OK)
            status = trigger_bench_burst(d->b, &d->b->plain, us, false, err);
        if (status != MACHINE_OK)
            return status;
        if (tables_stop(d->b->context, fmin(0.95, (double)d->n / 12)))
            return machine_fail(err, MACHINE_FAILED, "", "interrupted");
    }
    return MACHINE_OK;
}

static int trigger_density_measure_once(struct density *d, const struct payload *p, struct machine_error *err)
{
    struct probe *new = &d->probe[d->n];
    *new = (struct probe){.density = p->density, .first = d->b->n_seen};
    int status = take_bursts(d, p, err);
    if (status != MACHINE_OK)
        return status;
    d->n++;
    /* only the samples of what is being judged are kept */
    return trigger_density_judge(d, new) || trigger_bench_forget(d->b, d->b->n_seen) || judge_all(d)
               ? machine_fail(err, MACHINE_FAILED, "", "out of memory")
               : MACHINE_OK;
}

/* Again where the repetitions do not agree; those of before are discarded then. */
static int trigger_density_measure(struct density *d, unsigned density, struct machine_error *err)
{
    struct payload p;
    char name[KERNEL_NAME_MAX + 16];
    int status = MACHINE_OK;
    if (trigger_density_find(d, density) || d->n == PROBES_MAX)
        return MACHINE_OK;
    snprintf(name, sizeof name, density > 1 ? "%s@1/%u" : "%s", d->b->cell->a.kernel->name, density);
    kernel_parse(name, &p, NULL, 0);
    for (int attempt = 0; attempt < BENCH_ATTEMPTS && status == MACHINE_OK; attempt++) {
        if (attempt && d->probe[d->n - 1].demand >= 0)
            break;
        if (attempt && trigger_bench_forget(d->b, d->probe[--d->n].first))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        status = trigger_density_measure_once(d, &p, err);
    }
    return status;
}

/* The largest N at which `demand` is reached, between one that does and one that does not. */
static int trigger_density_bisect(struct density *d, int demand, unsigned dense, unsigned sparse,
                                  struct machine_error *err)
{
    while (sparse - dense > 1) {
        unsigned middle = (dense + sparse) / 2;
        int status = trigger_density_measure(d, middle, err);
        if (status != MACHINE_OK)
            return status;
        const struct probe *p = trigger_density_find(d, middle);
        if (!p || p->demand < 0)
            return MACHINE_OK; /* listed as missing */
        *(p->demand >= demand ? &dense : &sparse) = middle;
    }
    return MACHINE_OK;
}

static struct trigger_row row_of(const struct density *d, const struct probe *p, const char *what)
{
    return (struct trigger_row){.what = what,
                                .density = p->density,
                                .grade = p->grade,
                                .plain_grade = trigger_bench_agreed(d->b, p->first + 1, d->repeats, 2),
                                .throttle = p->throttle,
                                .freq = trigger_bench_freq(d->b, p->first, d->repeats, 2),
                                .plain = trigger_bench_freq(d->b, p->first + 1, d->repeats, 2),
                                .n = d->repeats};
}

static void trigger_density_write_rows(struct density *d, struct table *rows)
{
    qsort(d->probe, d->n, sizeof *d->probe, order_unsigned);
    for (size_t i = 0; i < d->n; i++) {
        const struct probe *p = &d->probe[i];
        if (p->demand < 0) {
            trigger_bench_disagree(d->b, rows, p->density, d->b->cell->a.name);
            continue;
        }
        struct trigger_row r = row_of(d, p, NULL);
        trigger_bench_row(d->b, rows, &d->grades, &r);
        table_put_limits(rows, "rate_per_cycle", p->rate.value, p->rate.lo, p->rate.hi);
    }
}

/* The threshold: what the sparsest code that asks does in a cycle, and the densest that does not, which is the lower
 * limit of what is needed. */
static void write_limits(struct density *d, struct table *rows)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct probe *p = &d->probe[i], *next = i + 1 < d->n ? p + 1 : NULL;
        if (p->demand <= 0 || (next && (next->demand < 0 || next->demand >= p->demand)))
            continue;
        struct trigger_row r = row_of(d, p, "density limit");
        if (next && next->density != p->density + 1)
            continue;
        trigger_bench_row(d->b, rows, &d->grades, &r);
        table_put_limits(rows, "rate_per_cycle", p->rate.value, next ? next->rate.value : NAN, p->rate.value);
    }
}

static int search(struct density *d, struct machine_error *err)
{
    int status = trigger_density_measure(d, 1, err);
    if (status == MACHINE_OK)
        status = trigger_density_measure(d, RARE, err);
    if (status != MACHINE_OK)
        return status;
    for (int demand = trigger_density_find(d, RARE)->demand + 1;
         demand <= trigger_density_find(d, 1)->demand && status == MACHINE_OK; demand++) {
        unsigned dense = 1, sparse = RARE;
        if (trigger_density_find(d, RARE)->demand < 0)
            break;
        for (size_t i = 0; i < d->n; i++) { /* what earlier bisections have shown */
            const struct probe *p = &d->probe[i];
            if (p->demand >= demand && p->density > dense)
                dense = p->density;
            if (p->demand >= 0 && p->demand < demand && p->density < sparse)
                sparse = p->density;
        }
        if (dense < sparse)
            status = trigger_density_bisect(d, demand, dense, sparse, err);
    }
    return status;
}

static int density_pilot(struct bench *b, struct machine_error *err)
{
    int status = trigger_bench_pilot_of(b, &b->cell->a, err);
    b->room_us = fmax(2 * BURST_US, fmax(burst_us(b, RARE), burst_us(b, 1)));
    b->check_rate = false; /* it is not plain code that is looked at */
    return status;
}

static int density_measure(struct bench *b, struct table *rows, struct machine_error *err)
{
    struct density *d = calloc(1, sizeof *d);
    if (!d)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    d->b = b;
    d->repeats = b->context->options->brief ? BRIEF_REPEATS : REPEATS;
    int status = search(d, err);
    if (status == MACHINE_OK) {
        trigger_density_write_rows(d, rows);
        write_limits(d, rows);
    }
    free(d);
    return status;
}

const struct trigger_kind trigger_density = {"density", "64add", PERIOD_US, density_pilot, density_measure};
