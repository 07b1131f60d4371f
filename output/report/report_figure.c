/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "output/plot/plot.h"
#include "output/report/html.h"
#include "output/report/report_parts.h"

void report_figure_draw(struct report_figure *f, struct chart *c, int described)
{
    f->svg = described == 0 ? plot_svg(c, f->why, sizeof f->why) : NULL;
    chart_free(c);
    if (f->svg && !svg_inline_possible(f->svg)) {
        snprintf(f->why, sizeof f->why, "gnuplot's output cannot be embedded in this page");
        free(f->svg);
        f->svg = NULL;
    }
}

static void figure_picture(FILE *out, const void *figure)
{
    const struct report_figure *f = figure;
    if (f->svg)
        svg_inline(out, f->svg, f->prefix, f->title);
}

static void figure_no_picture(FILE *out, const void *figure)
{
    const struct report_figure *f = figure;
    if (!f->svg)
        html_text(out, f->why);
}

void report_figure_put(struct template_values *v, const struct report_figure *f)
{
    template_put(v, f->place, figure_picture, f);
    template_put(v, f->no_place, figure_no_picture, f);
}
