/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/plot_layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double plot_layout_column(const struct layout *l, double time)
{
    return LEFT + (time - l->begin) / (l->end - l->begin) * (WIDTH - LEFT - RIGHT);
}

static void label_texts(const struct phase *p, char *full, char *brief, size_t size)
{
    const char *kind = phases_kind_name(p->kind);
    snprintf(brief, size, "%s", kind);
    snprintf(full, size, "%s", kind);
    if (p->kind == PHASE_THROTTLE && isfinite(p->ipc_ratio))
        snprintf(full, size, "%s \xC3\x97%.2f", kind, p->ipc_ratio);
    else if ((p->kind == PHASE_STEADY || p->kind == PHASE_SLOW) && p->level >= 0)
        snprintf(full, size, "%s L%d", kind, p->level);
    else if (p->kind == PHASE_RAMP)
        snprintf(full, size, "%s \xCF\x84 %.3g \xC2\xB5s", kind, p->tau_us.value);
}

size_t plot_layout_characters(const char *s)
{
    size_t n = 0;
    for (; *s != '\0'; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

static void set_label(struct placed_label *label, const char *text, int row, double start)
{
    label->placed = true;
    label->row = row;
    label->start = start;
    snprintf(label->text, sizeof(label->text), "%s", text);
}

/* row_begin: the leftmost pixel that is taken in each row. */
static bool plot_layout_place(struct placed_label *label, const char *text, double from, double to,
                              double row_begin[LABEL_ROWS])
{
    double width = (double)plot_layout_characters(text) * LABEL_CHARACTER, middle = (from + to) / 2;
    if (width <= to - from && middle + width / 2 + 4 < row_begin[0]) {
        set_label(label, text, 0, middle - width / 2);
        row_begin[0] = label->start;
        return true;
    }
    double start = fmin(middle + 3, WIDTH - 4 - width);
    for (int row = 0; row < LABEL_ROWS; row++) {
        if (start + width + 4 >= row_begin[row]) {
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

double plot_layout_phase_end(const struct layout *l, size_t i)
{
    const struct phases *p = l->p;
    if (i + 1 < p->n_phases)
        return p->phases[i + 1].start_us;
    double duration = p->phases[i].duration_us.value;
    return isfinite(duration) ? p->phases[i].start_us + duration : l->grid.end_us;
}

struct placed_label *plot_layout_labels(struct layout *l)
{
    struct placed_label *labels = calloc(l->p->n_phases + 1, sizeof(*labels));
    double row_begin[LABEL_ROWS];
    for (int row = 0; row < LABEL_ROWS; row++)
        row_begin[row] = INFINITY;
    l->label_rows = 1;
    for (size_t i = l->p->n_phases; labels != NULL && i-- > 0;) {
        char full[40], brief[40];
        label_texts(&l->p->phases[i], full, brief, sizeof(full));
        double from = plot_layout_column(l, l->p->phases[i].start_us / l->unit_us);
        double to = plot_layout_column(l, plot_layout_phase_end(l, i) / l->unit_us);
        if (to < LEFT || from > WIDTH - RIGHT)
            continue;
        from = fmax(from, LEFT);
        to = fmin(to, WIDTH - RIGHT);
        if (plot_layout_place(&labels[i], full, from, to, row_begin) ||
            plot_layout_place(&labels[i], brief, from, to, row_begin))
            l->label_rows = labels[i].row + 1 > l->label_rows ? labels[i].row + 1 : l->label_rows;
    }
    return labels;
}
