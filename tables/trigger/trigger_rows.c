/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by all rows of the table. */
#include <math.h>
#include <stdio.h>

#include "analysis/brackets/brackets_limits.h"
#include "tables/table/estimates.h"
#include "tables/trigger/trigger.h"

bool trigger_lower(const struct estimate *ratio, const struct estimate *null)
{
    return ratio->hi < 1 - FREQUENCY_SAME && brackets_differs(ratio, null);
}

bool trigger_unsure(const struct estimate *ratio, const struct estimate *null)
{
    return ratio->lo < 1 - FREQUENCY_SAME && ratio->hi < 1 && brackets_differs(ratio, null) &&
           !trigger_lower(ratio, null);
}

const char *trigger_asks(bool lower, bool unsure, bool throttled, double level)
{
    static const char *const levels[] = {"level 0", "level 1", "level 2", "level 3"};
    if (lower)
        return isnan(level) ? "lower frequency" : levels[(int)fmin(fmax(level, 0) + 0.5, 3)];
    return unsure ? "undecided" : throttled ? "throttle only" : "nothing";
}

struct trigger_row trigger_row_of(const struct trigger_look *look, const char *what, unsigned density)
{
    return (struct trigger_row){.what = what,
                                .density = density,
                                .asks = trigger_asks(look->lower, look->unsure || (look->undecided && !look->throttled),
                                                     look->throttled, look->level),
                                .level = round(look->level),
                                .freq = look->freq,
                                .plain = look->plain,
                                .ratio = look->ratio,
                                .look = look,
                                .n = look->n};
}

/* The effect that would have been found where nothing was. */
static void put_detectable(struct table *rows, const struct trigger_row *r)
{
    char text[120];
    int used = snprintf(text, sizeof text, "throttling below %.2f of the rate for %.3g us", r->look->below,
                        r->look->lasts_us);
    if (isnan(r->level) && r->ratio.lo < 1)
        snprintf(text + used, sizeof text - (size_t)used, "; a frequency lower by %.2g %%", 100 * (1 - r->ratio.lo));
    table_put_text(rows, "detectable", text);
}

static void put_key(const struct cell *c, struct table *rows, const char *what, unsigned density)
{
    tables_put_cell(rows, c);
    table_put_number(rows, "density", density);
    table_put_text(rows, "what", what);
    if (c->b.kernel || !rows->last_is_missing)
        table_put_text(rows, "with", c->b.kernel ? c->b.name : "-");
}

void trigger_put_row(const struct cell *c, struct table *rows, const struct trigger_row *r)
{
    table_add_row(rows);
    put_key(c, rows, r->what, r->density);
    table_put_text(rows, "asks", r->asks);
    if (r->asks == trigger_asks(false, false, false, NAN) && r->look && r->look->below > 0)
        put_detectable(rows, r);
    if (!isnan(r->level)) /* the same frequency alone does not say that it is the same level */
        table_put_number(rows, "level", r->level);
    estimates_put(rows, "freq_ghz", r->freq);
    estimates_put(rows, "plain_ghz", r->plain);
    estimates_put(rows, "ratio", r->ratio);
    table_put_number(rows, "n", (double)r->n);
}

void trigger_put_bursts(const struct trigger_bursts *b, struct table *rows)
{
    table_put_number(rows, "longest_us", b->longest_us);
    table_put_number(rows, "window_from_us", b->from_us);
    table_put_number(rows, "window_to_us", b->to_us);
    table_put_number(rows, "warmup_us", b->warmup_us);
    table_put_number(rows, "period_us", b->period_us);
    table_put_number(rows, "discarded", (double)b->discarded);
}

void trigger_put_missing(const struct cell *c, struct table *rows, const char *what, unsigned density, const char *why,
                         ...)
{
    va_list arguments;
    va_start(arguments, why);
    table_add_missing_v(rows, why, arguments);
    va_end(arguments);
    put_key(c, rows, what, density);
}

void trigger_put_disagreement(const struct trigger_bursts *b, struct table *rows, const char *of)
{
    trigger_put_missing(b->cell, rows, b->what, b->cell->a.density,
                        "the repetitions of %.60s disagree on the level: fewer than four in five match%s%.100s; "
                        "stop other programs, or choose another CPU with --cpu",
                        of, b->discarded_why[0] ? "; discarded before that: " : "", b->discarded_why);
}
