/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/chart_spans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_NAMES = 20, LABEL_ROW = 15, LABEL_ROWS = 6, HEAD_GAP = 4, EDGE = 4 };

static double column_of(const struct chart *c, double x, int left, int right)
{
    return left + (x - c->x_lo) / (c->x_hi - c->x_lo) * (right - left);
}

static void set_label(struct chart_span_label *label, const char *text, int row, double start)
{
    label->placed = true;
    label->row = row;
    label->start = start;
    snprintf(label->text, sizeof label->text, "%s", text);
}

/* row_begin: the leftmost pixel that is taken in each row. */
static bool place_label(struct chart_span_label *label, const char *text, double from, double to,
                        double row_begin[LABEL_ROWS])
{
    double width = (double)chart_characters(text) * CHART_SPANS_CHARACTER, middle = (from + to) / 2;
    if (width <= to - from && middle + width / 2 + EDGE < row_begin[0]) {
        set_label(label, text, 0, middle - width / 2);
        row_begin[0] = label->start;
        return true;
    }
    double start = fmin(middle + 3, CHART_WIDTH - EDGE - width);
    for (int row = 0; row < LABEL_ROWS; row++) {
        if (start + width + EDGE >= row_begin[row]) {
            if (middle + 2 >= row_begin[row])
                break; /* a higher text's pole would cross what stands here */
            continue;
        }
        set_label(label, text, row, start);
        label->flag = true;
        label->pole = middle;
        for (int below = 0; below <= row; below++)
            row_begin[below] = fmin(start - 2, middle);
        return true;
    }
    return false;
}

struct chart_span_label *chart_spans_labels(const struct chart *c, int left, int right, int *rows)
{
    struct chart_span_label *labels = calloc(c->n_spans + 1, sizeof *labels);
    double row_begin[LABEL_ROWS];
    for (int row = 0; row < LABEL_ROWS; row++)
        row_begin[row] = INFINITY;
    *rows = 1;
    for (size_t i = c->n_spans; labels && i-- > 0;) {
        const struct chart_span *s = &c->spans[i];
        double from = column_of(c, s->from, left, right), to = column_of(c, s->to, left, right);
        if (to < left || from > right)
            continue;
        from = fmax(from, left);
        to = fmin(to, right);
        if (place_label(&labels[i], s->text, from, to, row_begin) ||
            place_label(&labels[i], s->kind, from, to, row_begin))
            *rows = labels[i].row + 1 > *rows ? labels[i].row + 1 : *rows;
    }
    return labels;
}

static bool zero_is_shown(const struct chart *c)
{
    return c->zero_line && c->x_lo <= 0 && c->x_hi >= 0;
}

int chart_spans_head(const struct chart *c, int rows)
{
    return rows ? (*c->before_zero && zero_is_shown(c) ? SIDE_NAMES : 0) + rows * LABEL_ROW + HEAD_GAP : 0;
}

void chart_spans_draw_labels(const struct canvas *k, const struct chart_span_label *labels, int rows,
                             const struct place *at)
{
    const struct chart *c = k->chart;
    int bottom = at->area - HEAD_GAP; /* of the lowest row */
    for (size_t i = 0; i < c->n_spans; i++) {
        double y = bottom - (labels[i].row + 0.5) * LABEL_ROW, x = labels[i].pole / CHART_WIDTH;
        if (!labels[i].placed)
            continue;
        chart_label(k, labels[i].text, sizeof labels[i].text, labels[i].start, y, PLOT_INK, "left font ',11'");
        if (labels[i].flag)
            fprintf(k->out,
                    "set arrow from screen %.6f, screen %.6f to screen %.6f, screen %.6f nohead lw 0.7 lc rgb '%s' "
                    "back\n",
                    x, 1 - (y - 6) / k->height, x, 1 - (double)at->area / k->height, plot_colours[PLOT_HATCH].plain);
    }
    if (!zero_is_shown(c))
        return;
    double y = bottom - rows * LABEL_ROW - SIDE_NAMES / 2.0, zero = column_of(c, 0, at->left, at->right);
    chart_label(k, c->before_zero, sizeof c->before_zero, zero - 5, y, PLOT_INK, "right");
    chart_label(k, c->after_zero, sizeof c->after_zero, zero + 5, y, PLOT_INK, "left");
}

void chart_spans_draw_foot(const struct canvas *k, const struct place *at)
{
    const struct chart *c = k->chart;
    double x = at->left, y = at->end + CHART_SPANS_FOOT / 2.0;
    for (size_t i = 0; i < c->n_spans; i++) {
        size_t before = 0;
        while (before < i && strcmp(c->spans[before].kind, c->spans[i].kind) != 0)
            before++;
        if (before < i)
            continue;
        chart_box(k, x, y - 6, x + 14, y + 6, c->spans[i].colour);
        chart_label(k, c->spans[i].kind, sizeof c->spans[i].kind, x + 19, y, PLOT_INK, "left font ',11'");
        x += 19 + (double)chart_characters(c->spans[i].kind) * CHART_SPANS_CHARACTER + 20;
    }
    chart_label(k, c->note, sizeof c->note, at->right, y, PLOT_MUTED, "right font ',11'");
}

/* At least a pixel wide, so that nothing is lost on a long axis. */
void chart_spans_data(const struct canvas *k, const struct place *at)
{
    const struct chart *c = k->chart;
    double pixel = (c->x_hi - c->x_lo) / (at->right - at->left);
    fputs("$spans << END\n", k->out);
    for (size_t i = 0; i < c->n_spans; i++) {
        double from = fmax(c->spans[i].from, c->x_lo), to = fmin(c->spans[i].to, c->x_hi);
        if (to - from < pixel)
            to = from + pixel;
        if (from < c->x_hi)
            fprintf(k->out, "%.10g %.10g %u\n", from, fmin(to, c->x_hi), c->spans[i].colour);
    }
    fputs("END\n", k->out);
}

void chart_spans_tips(const struct canvas *k, const struct place *at)
{
    const struct chart *c = k->chart;
    for (size_t i = 0; i < c->n_spans; i++) {
        const struct chart_span *s = &c->spans[i];
        if (s->to >= c->x_lo && s->from <= c->x_hi)
            chart_tip(k, chart_pixel(s->from, c->x_lo, c->x_hi, false, at->left, at->right), at->area,
                      chart_pixel(s->to, c->x_lo, c->x_hi, false, at->left, at->right), at->bottom, "%s%s%s", s->text,
                      *s->told ? ": " : "", s->told);
    }
}
