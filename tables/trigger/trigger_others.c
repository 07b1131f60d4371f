/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixtures that request more than their parts, and upper halves of registers that are left dirty. */
#include <math.h>
#include <stdio.h>

#include "analysis/stats/robust.h"
#include "tables/trigger/trigger.h"

#define PERIOD_US 1.0
#define PART_US 5.0 /* of each part of a mixture: code that calls a library function now and then */
enum { PARTS = 12, REPEATS = 16, BRIEF_REPEATS = 6, SAMPLES_LEAST = 6 };

/* After clean code licenses lapse within 2 ms (the Intel manual, G 3.2.2): what is still requested later is due to
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

/* Both parts when they run on, and the mixture itself: it may request more than they do, and settle later. */
static int mixture_pilot(struct bench *b, struct machine_error *err)
{
    const struct trigger_pilot *p = b->pilot;
    const struct payload *part[2] = {&b->cell->a, &b->cell->b};
    const struct segment a = {*part[0], BENCH_PILOT_US, true}, c = {*part[1], BENCH_PILOT_US, true};
    struct segment mixed[PARTS];
    for (int i = 0; i < PARTS; i++)
        mixed[i] = (struct segment){*part[i % 2], PART_US, true};
    const struct trigger_bench_burst burst[3] = {{&a, 1}, {&c, 1}, {mixed, PARTS}};
    double all_us = PARTS * PART_US;
    int status = trigger_bench_pilot(b, burst, 3, err);
    if (status != MACHINE_OK)
        return status;
    double settled = fmax(p[2].after_us, fmax(p[0].settled_us, p[1].settled_us) - all_us);
    double back = fmin(p[2].back_us, fmin(p[0].back_us, p[1].back_us));
    b->room_us = 4 * all_us;
    return trigger_bench_window(b, settled, back, fmax(p[2].bin_us, fmax(p[0].bin_us, p[1].bin_us)), err);
}

static int mixture_measure(struct bench *b, struct table *rows, struct machine_error *err)
{
    struct trigger_throttle throttle[MIXTURE_KINDS];
    struct trigger_grades grades;
    int level[MIXTURE_KINDS];
    static const char *const alone[MIXTURE_KINDS] = {NULL, "level_kernel", "level_with", NULL};
    unsigned n = repeats_of(b->context);
    int status = trigger_bench_rounds(b, n, MIXTURE_KINDS, mixture_round, 1, &grades, err);
    if (status != MACHINE_OK)
        return status;
    /* the rate of the mixture changes from part to part: whether it is throttled its parts tell */
    if (trigger_bench_throttled(b, MIXTURE_A, n, MIXTURE_KINDS, &throttle[MIXTURE_A]) ||
        trigger_bench_throttled(b, MIXTURE_B, n, MIXTURE_KINDS, &throttle[MIXTURE_B]))
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    for (size_t k = 0; k < MIXTURE_KINDS; k++) {
        level[k] = trigger_bench_agreed(b, k, n, MIXTURE_KINDS);
        if (level[k] >= 0)
            continue;
        trigger_bench_disagree(b, rows, 1,
                               k == MIXTURE_BOTH    ? "the mixture"
                               : k == MIXTURE_PLAIN ? b->plain.name
                               : k == MIXTURE_A     ? b->cell->a.name
                                                    : b->cell->b.name);
        return MACHINE_OK;
    }
    struct trigger_row r = {.density = 1,
                            .grade = level[MIXTURE_BOTH],
                            .plain_grade = level[MIXTURE_PLAIN],
                            .throttle = {.throttled = throttle[MIXTURE_A].throttled || throttle[MIXTURE_B].throttled,
                                         .below = fmin(throttle[MIXTURE_A].below, throttle[MIXTURE_B].below),
                                         .lasts_us = fmax(throttle[MIXTURE_A].lasts_us, throttle[MIXTURE_B].lasts_us)},
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

const struct trigger_kind trigger_mixture = {"mixture", "64add", PERIOD_US, mixture_pilot, mixture_measure};

/* ---- dirty upper halves ---- */

enum { DIRTY_PLAIN, DIRTY_CLEAN, DIRTY_DIRTY, DIRTY_KINDS };

static struct estimate slowdown(const struct bench *b, size_t n)
{
    double ratio[BRIEF_REPEATS + REPEATS];
    for (size_t i = 0; i < n; i++)
        ratio[i] = b->sight[DIRTY_DIRTY + i * DIRTY_KINDS].ipc / b->sight[DIRTY_CLEAN + i * DIRTY_KINDS].ipc;
    return robust_mean(ratio, n, 5, 0, NULL);
}

static int dirty_round(struct bench *b, struct machine_error *err)
{
    const struct payload clean = kernel_named(b->cell->a.kernel->name);
    const struct segment dirty = {b->cell->a, DIRTY_BURST_US, true};
    int status = trigger_bench_burst(b, &b->plain, DIRTY_BURST_US, false, err);
    if (status == MACHINE_OK)
        status = trigger_bench_burst(b, &clean, DIRTY_BURST_US, false, err);
    /* the clean kernel at the end executes VZEROUPPER for what comes next */
    return status == MACHINE_OK ? trigger_bench_run(b, &dirty, 1, &clean, false, err) : status;
}

/* How long the clean kernel keeps the core slow: only what is slow longer is due to what the dirty one left behind. */
static int dirty_pilot(struct bench *b, struct machine_error *err)
{
    const struct trigger_pilot *p = b->pilot;
    const struct payload clean = kernel_named(b->cell->a.kernel->name);
    int status = trigger_bench_pilot_of(b, &clean, err);
    if (status != MACHINE_OK)
        return status;
    b->from_us = fmax(DIRTY_FROM_US, DIRTY_WAITS * fmax(p->back_usual_us, 0.5 * p->back_most_us));
    b->to_us = b->from_us + fmax(DIRTY_WINDOW_US, 2 * SAMPLES_LEAST * b->period_us);
    b->room_us = 2 * DIRTY_BURST_US;
    b->check_rate = false; /* that the code is slower is one of the answers */
    return MACHINE_OK;
}

static int dirty_measure(struct bench *b, struct table *rows, struct machine_error *err)
{
    struct trigger_grades grades;
    unsigned n = repeats_of(b->context);
    int status = trigger_bench_rounds(b, n, DIRTY_KINDS, dirty_round, 1, &grades, err);
    if (status != MACHINE_OK)
        return status;
    int plain = trigger_bench_agreed(b, DIRTY_PLAIN, n, DIRTY_KINDS),
        clean = trigger_bench_agreed(b, DIRTY_CLEAN, n, DIRTY_KINDS),
        dirty = trigger_bench_agreed(b, DIRTY_DIRTY, n, DIRTY_KINDS);
    if (plain < 0 || clean < 0 || dirty < 0) {
        trigger_bench_disagree(b, rows, 1, plain < 0 ? b->plain.name : "the code after it");
        return MACHINE_OK;
    }
    struct trigger_row r = {.density = 1,
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

const struct trigger_kind trigger_dirty = {"dirty", NULL, DIRTY_PERIOD_US, dirty_pilot, dirty_measure};
