/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixtures that request more than their parts, and upper halves of registers that are left dirty. */
#include <math.h>
#include <stdio.h>

#include "tables/table/estimates.h"
#include "tables/trigger/trigger.h"

#define PERIOD_US 1.0 /* of sampling, us */
#define PART_US 5.0   /* of each part of a mixture: code that calls a library function now and then */
/* PARTS: of a mixture, in turn. REPEATS: rounds of a null and a treatment, at least. */
enum { PARTS = 12, REPEATS = 12, BRIEF_REPEATS = 8 };

/* After clean code licenses lapse within 2 ms (the Intel manual, G 3.2.3): a later request is due to the state that the
 * code has left. */
#define DIRTY_BURST_US 200.0
#define DIRTY_FROM_US 2100.0
#define DIRTY_WINDOW_US 1400.0
#define DIRTY_WAITS 2.2 /* waits take twice their time now and then (K; G 5.2.2: longer) */
#define DIRTY_PERIOD_US 5.0

enum { NULLS, TREATED, OTHERS_KINDS };

/* Rounds of the null and the treatment, and their row: the request of the treatment compared with the null. *r is
 * filled except for the facts about the code. */
static int others_row(struct trigger_bursts *b, trigger_round *round, bool throttled, struct trigger_row *r,
                      bool *agreed, struct machine_error *err)
{
    struct trigger_grades grades;
    int status = trigger_bursts_rounds(b, b->context->options->brief ? BRIEF_REPEATS : REPEATS, OTHERS_KINDS, round, 1,
                                       &grades, err);
    if (status != MACHINE_OK)
        return status;
    int level = trigger_bursts_agreed(b, TREATED), null_level = trigger_bursts_agreed(b, NULLS);
    const struct estimate null = trigger_bursts_ratio(b, NULLS);
    r->ratio = trigger_bursts_ratio(b, TREATED);
    r->freq = trigger_bursts_freq(b, TREATED);
    r->plain = trigger_bursts_null(b, TREATED);
    r->density = 1;
    r->what = b->what;
    r->n = b->rounds;
    r->level = grades.counted ? level : NAN;
    r->asks = grades.counted
                  ? trigger_asks(level > null_level, false, throttled, level)
                  : trigger_asks(trigger_lower(&r->ratio, &null), trigger_unsure(&r->ratio, &null), throttled, NAN);
    *agreed = !grades.counted || (level >= 0 && null_level >= 0);
    return MACHINE_OK;
}

/* ---- mixtures ---- */

static int mixture_round(struct trigger_bursts *b, struct machine_error *err)
{
    struct segment mixed[PARTS];
    for (int i = 0; i < PARTS; i++)
        mixed[i] = (struct segment){i % 2 ? b->cell->b : b->cell->a, PART_US, true};
    const struct segment plain = {b->plain, PARTS * PART_US, true};
    int status = trigger_bursts_run(b, &plain, 1, NULL, err);
    return status == MACHINE_OK ? trigger_bursts_run(b, mixed, PARTS, NULL, err) : status;
}

/* The switches to both parts and back. */
static int mixture_look(const struct tables_context *x, const struct cell *c, const struct payload *plain,
                        const struct payload part[2], struct trigger_look look[2], struct machine_error *err)
{
    int status = MACHINE_OK;
    for (size_t i = 0; i < 2 && status == MACHINE_OK; i++) {
        status = trigger_look_fall(x, c, plain, &part[i], &look[i], err);
        if (status == MACHINE_OK)
            status = trigger_look_rise(x, c, plain, &part[i], &look[i], err);
    }
    return status;
}

/* Begins where the parts have settled, as late as their levels are kept: the mixture may request more, and settle
 * later. */
static int mixture_begin(struct trigger_bursts *b, const struct trigger_look look[2], struct machine_error *err)
{
    double settled = fmax(look[0].settled_us, look[1].settled_us) - PARTS * PART_US, back = INFINITY;
    for (size_t i = 0; i < 2; i++)
        if (look[i].lower)
            back = fmin(back, look[i].back_us);
    b->room_us = 4 * PARTS * PART_US;
    int status = trigger_bursts_pilot(b, look, 2, err);
    if (status == MACHINE_OK)
        status = trigger_bursts_window(b, fmax(settled, 0), back, true, err);
    return status == MACHINE_OK ? trigger_bursts_begin(b, err) : status;
}

static void mixture_put(const struct trigger_bursts *b, struct trigger_row *r, const struct trigger_look look[2],
                        struct table *rows)
{
    static const char *const freq[] = {"freq_kernel_ghz", "freq_with_ghz"}, *const level[] = {"level_kernel",
                                                                                              "level_with"};
    r->look = look[0].below < look[1].below ? &look[0] : &look[1];
    trigger_put_row(b->cell, rows, r);
    trigger_put_bursts(b, rows);
    for (size_t i = 0; i < 2; i++) {
        table_put_number(rows, freq[i], r->plain.value * look[i].ratio.value); /* as if measured beside it */
        if (!isnan(r->level))
            table_put_number(rows, level[i], round(look[i].level));
    }
}

int trigger_mixture(const struct tables_context *x, const struct cell *c, bool only_lower, bool *enough,
                    struct table *rows, struct machine_error *err)
{
    const struct payload plain = kernel_named(TRIGGER_PLAIN), part[2] = {c->a, c->b};
    struct trigger_look look[2];
    struct trigger_bursts b;
    struct trigger_row r = {.look = NULL};
    bool agreed = true, throttled;
    trigger_bursts_init(&b, x, c, "mixture", &plain, PERIOD_US);
    int status = trigger_look_steady(x, c, &plain, part, 2, look, err);
    if (status != MACHINE_OK)
        return status;
    *enough = look[0].lower || look[1].lower || !isnan(look[0].level);
    if (only_lower && !*enough)
        return MACHINE_OK;
    status = mixture_look(x, c, &plain, part, look, err);
    if (status == MACHINE_OK)
        status = mixture_begin(&b, look, err);
    if (status != MACHINE_OK)
        return status;
    throttled = look[0].throttled || look[1].throttled;
    status = others_row(&b, mixture_round, throttled, &r, &agreed, err);
    if (status == MACHINE_OK)
        status = trigger_bursts_settled(&b, TREATED, err);
    if (status == MACHINE_OK && agreed)
        mixture_put(&b, &r, look, rows);
    else if (status == MACHINE_OK)
        trigger_put_disagreement(&b, rows, "the mixture");
    trigger_bursts_end(&b);
    return status;
}

/* ---- dirty upper halves ---- */

static int dirty_round(struct trigger_bursts *b, struct machine_error *err)
{
    const struct segment dirty = {b->cell->a, DIRTY_BURST_US, true};
    int status = trigger_bursts_run(b, &b->null, 1, NULL, err);
    /* the clean kernel at the end executes VZEROUPPER, or TILERELEASE, for the next repetition */
    return status == MACHINE_OK ? trigger_bursts_run(b, &dirty, 1, &b->null.payload, err) : status;
}

int trigger_dirty(const struct tables_context *x, const struct cell *c, bool only_lower, bool *enough,
                  struct table *rows, struct machine_error *err)
{
    const struct payload clean = kernel_named(c->a.kernel->name);
    struct trigger_look look;
    struct trigger_bursts b;
    struct trigger_row r = {.look = NULL};
    bool agreed = true;
    trigger_bursts_init(&b, x, c, "dirty", &c->b, DIRTY_PERIOD_US);
    int status = trigger_look_steady(x, c, &c->b, &clean, 1, &look, err);
    if (status == MACHINE_OK)
        status = trigger_look_rise(x, c, &c->b, &clean, &look, err);
    if (status != MACHINE_OK)
        return status;
    *enough = look.lower || !isnan(look.level);
    if (only_lower && !*enough)
        return MACHINE_OK;
    /* how long the clean kernel keeps the core slow: only slowness beyond it is due to the state that the dirty one
     * left */
    b.null = (struct segment){clean, DIRTY_BURST_US, true};
    b.room_us = 2 * DIRTY_BURST_US;
    b.from_us = fmax(DIRTY_FROM_US, DIRTY_WAITS * fmax(look.back_usual_us, 0.5 * look.back_most_us));
    b.to_us = b.from_us + fmax(DIRTY_WINDOW_US, 12 * b.period_us);
    status = trigger_bursts_pilot(&b, &look, 1, err);
    if (status == MACHINE_OK)
        status = trigger_bursts_begin(&b, err);
    if (status != MACHINE_OK)
        return status;
    status = others_row(&b, dirty_round, false, &r, &agreed, err);
    if (status == MACHINE_OK && agreed) {
        trigger_put_row(c, rows, &r);
        trigger_put_bursts(&b, rows);
        estimates_put(rows, "ipc_ratio", trigger_bursts_rate(&b, TREATED));
    } else if (status == MACHINE_OK) {
        trigger_put_disagreement(&b, rows, "the code after it");
    }
    trigger_bursts_end(&b);
    return status;
}
