/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/text/phases_text.h"

#include <math.h>

#include "tables/table/pivot.h"

static void wake_text_value(struct pivot *p, const struct estimate *e)
{
    if (!isfinite(e->value))
        pivot_word(p, NULL);
    else if (isfinite(e->lo) && isfinite(e->hi))
        pivot_text(p, "%.4g [%.4g, %.4g]", e->value, e->lo, e->hi);
    else
        pivot_text(p, "%.4g", e->value);
}

static void print_stages(FILE *out, const struct wake_stages *s)
{
    static const char *const headings[] = {"stage", "first use [us]", "after idle from [us]", "to [us]", "points"};
    struct pivot p;
    pivot_init(&p, 1, NULL);
    pivot_line(&p, PIVOT_HEADING);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        pivot_word(&p, headings[i]);
    for (size_t i = 0; i < s->n; i++) {
        pivot_line(&p, PIVOT_ROW);
        pivot_text(&p, "%zu", i + 1);
        wake_text_value(&p, &s->stage[i].first_us);
        wake_text_value(&p, &s->stage[i].idle_from_us);
        wake_text_value(&p, &s->stage[i].idle_to_us);
        pivot_number(&p, (double)s->stage[i].n, 0);
    }
    pivot_print(out, false, &p);
}

void wake_text_print(FILE *out, const struct wake_stages *s, const struct wake_source *source)
{
    pivot_note(out, 2, "First use after idle (%s): %zu stage%s, 95 %% limits in brackets",
               source->unit != NULL ? source->unit : "unit not given", s->n, s->n == 1 ? "" : "s");
    putc('\n', out);
    print_stages(out, s);
    putc('\n', out);
    pivot_note(out, 2,
               "%zu points: %zu discarded (on no stage's level), %zu on the neighboring stage's level at a boundary.",
               s->points, s->discarded, s->mixed);
    pivot_note(out, 2, "Not detectable: stages of fewer than %d points, or less than %.0f %% apart.", WAKE_STAGE_LEAST,
               100 * (s->detectable_ratio - 1));
    for (size_t i = 0; i < s->n_warnings; i++)
        pivot_note(out, 2, "warning: %s", s->warning[i]);
}
