/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/text/phases_text.h"

#include <math.h>

#include "util/plain_text.h"

static void wake_text_value(FILE *out, const struct estimate *e)
{
    char text[80];
    if (!isfinite(e->value))
        snprintf(text, sizeof text, "-");
    else if (isfinite(e->lo) && isfinite(e->hi))
        snprintf(text, sizeof text, "%.4g [%.4g, %.4g]", e->value, e->lo, e->hi);
    else
        snprintf(text, sizeof text, "%.4g", e->value);
    fprintf(out, "  %-30s", text);
}

void wake_text_print(FILE *out, const struct wake_stages *s, const struct wake_source *source)
{
    char clean[200];
    plain_text(source->unit != NULL ? source->unit : "unit not given", clean, sizeof clean);
    fprintf(out, "First use after idle (%s): %zu stage%s, 95 %% limits in brackets\n\n", clean, s->n,
            s->n == 1 ? "" : "s");
    fprintf(out, "stage  %-30s  %-30s  %-30s  %6s\n", "first use [us]", "after idle from [us]", "to [us]", "points");
    for (size_t i = 0; i < s->n; i++) {
        fprintf(out, "%5zu", i + 1);
        wake_text_value(out, &s->stage[i].first_us);
        wake_text_value(out, &s->stage[i].idle_from_us);
        wake_text_value(out, &s->stage[i].idle_to_us);
        fprintf(out, "  %6zu\n", s->stage[i].n);
    }
    fprintf(out,
            "\n%zu points: %zu discarded (on no stage's level), %zu on the neighboring stage's level at a boundary.\n",
            s->points, s->discarded, s->mixed);
    fprintf(out, "Not detectable: stages of fewer than %d points, or less than %.0f %% apart.\n", WAKE_STAGE_LEAST,
            100 * (s->detectable_ratio - 1));
    for (size_t i = 0; i < s->n_warnings; i++)
        fprintf(out, "warning: %s\n", s->warning[i]);
}
