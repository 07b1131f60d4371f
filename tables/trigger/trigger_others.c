/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixtures that ask for more than their parts, and upper halves of registers that are left in use. */
#include <math.h>
#include <stdio.h>

#include "analysis/stats/robust.h"
#include "tables/trigger/trigger.h"

#define PERIOD_US 1.0
#define PART_US 5.0 /* of each part of a mixture: code that calls a library function now and then */
enum { PARTS = 12, REPEATS = 16, BRIEF_REPEATS = 6, SAMPLES_LEAST = 6 };

/* After clean code licenses lapse within 2 ms (the Intel manual, G 3.2.2): what is still asked for later is held by
 * what the code has left behind. */
#define DIRTY_BURST_US 200.0
#define DIRTY_FROM_US 2100.0
#define DIRTY_WINDOW_US 1400.0
#define DIRTY_WAITS 2.2 /* waits take twice their time now and then (G 5.2.2) */
#define DIRTY_PERIOD_US 5.0

static unsigned repeats_of(const struct tables_context *x)
{
    return x->options->brief ? BRIEF_REPEATS : REPEATS;
}

static int trigger_others_interrupted(const struct tables_context *x, unsigned done, unsigned n,
                                      struct machine_error *err)
{
    return tables_stop(x, (double)done / n) ? machine_fail(err, MACHINE_FAILED, "", "interrupted") : MACHINE_OK;
}

/* ---- mixtures ---- */

enum { MIXTURE_PLAIN, MIXTURE_A, MIXTURE_B, MIXTURE_BOTH, MIXTURE_KINDS };

static int mixture_round(struct bench *b, struct machine_error *err)
{
    const struct payload *part[2] = {&b->cell->a, &b->cell->b};
    struct segment mixed[PARTS];
    double all_us = PARTS * PART_US;
    for (int i = 0; i < PARTS; i++)
        mixed[i] = (struct segment){*part[i % 2], PART_US, true};
    int status = trigger_bench_burst(b, &b->plain, all_us, false, err);
    if (status == MACHINE_OK)
        status = trigger_bench_burst(b, part[0], all_us, true, err);
    if (status == MACHINE_OK)
        status = trigger_bench_burst(b, part[1], all_us, true, err);
    return status == MACHINE_OK ? trigger_bench_run(b, mixed, PARTS, NULL, false, err) : status;
}

/* Whether all kinds of repetitions agree, each with its own; else all is forgotten. -1: out of memory. */
static int trigger_others_settled(struct bench *b, size_t n, size_t kinds)
{
    struct trigger_grades grades;
    if (trigger_bench_grade(b, &grades))
        return -1;
    for (size_t k = 0; k < kinds; k++)
        if (trigger_bench_agreed(b, k, n, kinds) < 0)
            return 0;
    return 1;
}

/* Rounds until they agree, or not for long enough. */
static int rounds(struct bench *b, unsigned n, size_t kinds, int (*round)(struct bench *, struct machine_error *),
                  struct machine_error *err)
{
    for (int attempt = 0; attempt < BENCH_ATTEMPTS; attempt++) {
        int status = MACHINE_OK, done;
        if (attempt && trigger_bench_again(b))
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        for (unsigned i = 0; i < n && status == MACHINE_OK; i++) {
            status = round(b, err);
            if (status == MACHINE_OK)
                status = trigger_others_interrupted(b->context, i, n, err);
        }
        if (status != MACHINE_OK)
            return status;
        done = trigger_others_settled(b, n, kinds);
        if (done < 0)
            return machine_fail(err, MACHINE_FAILED, "", "out of memory");
        if (done)
            break;
    }
    return MACHINE_OK;
}

static int mixture_row(struct bench *b, size_t n, struct table *rows, struct machine_error *err)
{
    struct trigger_grades grades;
    struct trigger_throttle throttle[MIXTURE_KINDS];
    int level[MIXTURE_KINDS];
    static const char *const alone[MIXTURE_KINDS] = {NULL, "level_kernel", "level_with", NULL};
    /* the rate of the mixture changes from part to part: whether it is throttled its parts tell */
    if (trigger_bench_grade(b, &grades) ||
        trigger_bench_throttled(b, MIXTURE_A, n, MIXTURE_KINDS, &throttle[MIXTURE_A]) ||
        trigger_bench_throttled(b, MIXTURE_B, n, MIXTURE_KINDS, &throttle[MIXTURE_B]))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (size_t k = 0; k < MIXTURE_KINDS; k++) {
        level[k] = trigger_bench_agreed(b, k, n, MIXTURE_KINDS);
        if (level[k] >= 0)
            continue;
        trigger_bench_disagree(b, rows, "mixture", 1, b->cell->b.name,
                               k == MIXTURE_BOTH    ? "the mixture"
                               : k == MIXTURE_PLAIN ? b->plain.name
                               : k == MIXTURE_A     ? b->cell->a.name
                                                    : b->cell->b.name);
        return MACHINE_OK;
    }
    struct trigger_row r = {.what = "mixture",
                            .with = b->cell->b.name,
                            .density = 1,
                            .grade = level[MIXTURE_BOTH],
                            .plain_grade = level[MIXTURE_PLAIN],
                            .throttled = throttle[MIXTURE_A].throttled || throttle[MIXTURE_B].throttled,
                            .below = fmin(throttle[MIXTURE_A].below, throttle[MIXTURE_B].below),
                            .lasts_us = fmax(throttle[MIXTURE_A].lasts_us, throttle[MIXTURE_B].lasts_us),
                            .freq = trigger_bench_freq(b, MIXTURE_BOTH, n, MIXTURE_KINDS),
                            .plain = trigger_bench_freq(b, MIXTURE_PLAIN, n, MIXTURE_KINDS),
                            .n = n};
    trigger_bench_row(b, rows, &grades, &r);
    for (size_t k = MIXTURE_A; k <= MIXTURE_B; k++) {
        static const char *const freq[MIXTURE_KINDS] = {NULL, "freq_kernel_ghz", "freq_with_ghz", NULL};
        table_put_number(rows, freq[k], trigger_bench_freq(b, k, n, MIXTURE_KINDS).value);
        if (grades.counted)
            table_put_number(rows, alone[k], level[k]);
    }
    return MACHINE_OK;
}

/* Both parts when they run on, and the mixture itself: it may ask for more than they do, and settle later. */
static int mixture_pilot(struct bench *b, struct trigger_pilot *p, struct machine_error *err)
{
    const struct payload *part[2] = {&b->cell->a, &b->cell->b};
    const struct segment a = {*part[0], BENCH_PILOT_US, true}, c = {*part[1], BENCH_PILOT_US, true};
    struct segment mixed[PARTS];
    for (int i = 0; i < PARTS; i++)
        mixed[i] = (struct segment){*part[i % 2], PART_US, true};
    const struct trigger_bench_burst burst[3] = {{&a, 1}, {&c, 1}, {mixed, PARTS}};
    double all_us = PARTS * PART_US;
    int status = trigger_bench_pilot(b, burst, 3, trigger_bench_period(b, PERIOD_US), p, err);
    if (status != MACHINE_OK)
        return status;
    double settled = fmax(p[2].after_us, fmax(p[0].settled_us, p[1].settled_us) - all_us);
    double back = fmin(p[2].back_us, fmin(p[0].back_us, p[1].back_us));
    return trigger_bench_window(b, settled, back, fmax(p[2].bin_us, fmax(p[0].bin_us, p[1].bin_us)), PERIOD_US, err);
}

int trigger_mixture(const struct tables_context *x, const struct cell *c, struct trigger_wish *wish, struct table *rows,
                    struct machine_error *err)
{
    struct bench b;
    struct trigger_pilot p[3];
    unsigned n = repeats_of(x);
    int status = trigger_bench_init(&b, x, c, "64add", err);
    if (status == MACHINE_OK)
        status = mixture_pilot(&b, p, err);
    if (status != MACHINE_OK || !trigger_goes_on(wish, p, 3))
        return status;
    status = trigger_bench_begin(&b, 4 * PARTS * PART_US, PERIOD_US, err);
    if (status != MACHINE_OK)
        return status;
    status = rounds(&b, n, MIXTURE_KINDS, mixture_round, err);
    if (status == MACHINE_OK)
        status = mixture_row(&b, n, rows, err);
    trigger_bench_end(&b);
    return status;
}

/* ---- dirty upper halves ---- */

enum { DIRTY_PLAIN, DIRTY_CLEAN, DIRTY_DIRTY, DIRTY_KINDS };

static struct estimate slowdown(const struct bench *b, size_t n)
{
    double ratio[BRIEF_REPEATS + REPEATS];
    for (size_t i = 0; i < n; i++)
        ratio[i] = b->seen[DIRTY_DIRTY + i * DIRTY_KINDS].sight.ipc / b->seen[DIRTY_CLEAN + i * DIRTY_KINDS].sight.ipc;
    return robust_mean(ratio, n, 5, 0, NULL);
}

static int dirty_row(struct bench *b, size_t n, struct table *rows, struct machine_error *err)
{
    struct trigger_grades grades;
    if (trigger_bench_grade(b, &grades))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    int plain = trigger_bench_agreed(b, DIRTY_PLAIN, n, DIRTY_KINDS),
        clean = trigger_bench_agreed(b, DIRTY_CLEAN, n, DIRTY_KINDS),
        dirty = trigger_bench_agreed(b, DIRTY_DIRTY, n, DIRTY_KINDS);
    if (plain < 0 || clean < 0 || dirty < 0) {
        trigger_bench_disagree(b, rows, "dirty", 1, b->plain.name, plain < 0 ? b->plain.name : "the code after it");
        return MACHINE_OK;
    }
    struct trigger_row r = {.what = "dirty",
                            .with = b->plain.name,
                            .density = 1,
                            .grade = dirty,
                            .plain_grade = clean > plain ? clean : plain,
                            .freq = trigger_bench_freq(b, DIRTY_DIRTY, n, DIRTY_KINDS),
                            .plain = trigger_bench_freq(b, DIRTY_CLEAN, n, DIRTY_KINDS),
                            .n = n};
    struct estimate ratio = slowdown(b, n);
    trigger_bench_row(b, rows, &grades, &r);
    table_put_limits(rows, "ipc_ratio", ratio.value, ratio.lo, ratio.hi);
    return MACHINE_OK;
}

static int clean_kernel(const struct cell *c, struct payload *clean, struct machine_error *err)
{
    char why[200];
    return kernel_parse(c->a.kernel->name, clean, why, sizeof why) ? machine_fail(err, MACHINE_FAILED, "", "%s", why)
                                                                   : MACHINE_OK;
}

static int dirty_round(struct bench *b, struct machine_error *err)
{
    struct payload clean;
    int status = clean_kernel(b->cell, &clean, err);
    if (status != MACHINE_OK)
        return status;
    const struct segment one = {clean, DIRTY_BURST_US, true}, two = {b->cell->a, DIRTY_BURST_US, true};
    status = trigger_bench_burst(b, &b->plain, DIRTY_BURST_US, false, err);
    if (status == MACHINE_OK)
        status = trigger_bench_run(b, &one, 1, NULL, false, err);
    /* the clean kernel at the end executes VZEROUPPER for what comes next */
    return status == MACHINE_OK ? trigger_bench_run(b, &two, 1, &clean, false, err) : status;
}

/* How long the clean kernel keeps the core slow: only what is slow longer is due to what the dirty one left behind. */
static int dirty_pilot(struct bench *b, struct trigger_pilot *p, struct machine_error *err)
{
    struct segment burst = {.duration_us = BENCH_PILOT_US, .sampled = true};
    int status = clean_kernel(b->cell, &burst.payload, err);
    if (status == MACHINE_OK)
        status = trigger_bench_pilot(b, &(struct trigger_bench_burst){&burst, 1}, 1,
                                     trigger_bench_period(b, DIRTY_PERIOD_US), p, err);
    if (status != MACHINE_OK)
        return status;
    b->from_us = fmax(DIRTY_FROM_US, DIRTY_WAITS * fmax(p->back_usual_us, 0.5 * p->back_most_us));
    b->to_us = b->from_us + fmax(DIRTY_WINDOW_US, 2 * SAMPLES_LEAST * trigger_bench_period(b, DIRTY_PERIOD_US));
    b->check_rate = false; /* that the code is slower is one of the answers */
    return MACHINE_OK;
}

int trigger_dirty(const struct tables_context *x, const struct cell *c, struct trigger_wish *wish, struct table *rows,
                  struct machine_error *err)
{
    struct bench b;
    struct trigger_pilot p;
    unsigned n = repeats_of(x);
    int status = trigger_bench_init(&b, x, c, c->b.name, err);
    if (status == MACHINE_OK)
        status = dirty_pilot(&b, &p, err);
    if (status != MACHINE_OK || !trigger_goes_on(wish, &p, 1))
        return status;
    status = trigger_bench_begin(&b, 2 * DIRTY_BURST_US, DIRTY_PERIOD_US, err);
    if (status != MACHINE_OK)
        return status;
    status = rounds(&b, n, DIRTY_KINDS, dirty_round, err);
    if (status == MACHINE_OK)
        status = dirty_row(&b, n, rows, err);
    trigger_bench_end(&b);
    return status;
}
