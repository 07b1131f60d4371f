/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Categories with equal bars as one, named by the first of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/chart_table.h"

/* The next bar of a category from `i` on; n_bars: none. */
static size_t next_bar(const struct chart_panel *p, size_t category, size_t i)
{
    while (i < p->n_bars && p->bars[i].category != category)
        i++;
    return i;
}

static bool bars_alike(const struct chart_bar *a, const struct chart_bar *b, double relative, double absolute)
{
    return a->lane == b->lane && a->lanes == b->lanes && a->colour == b->colour && a->dot == b->dot &&
           a->hatched == b->hatched && fabs(a->to - b->to) <= fmax(absolute, relative * fmax(a->to, b->to));
}

static bool categories_alike(const struct chart_panel *p, size_t a, size_t b, double relative, double absolute)
{
    size_t i = next_bar(p, a, 0), k = next_bar(p, b, 0);
    for (; i < p->n_bars && k < p->n_bars; i = next_bar(p, a, i + 1), k = next_bar(p, b, k + 1))
        if (!bars_alike(&p->bars[i], &p->bars[k], relative, absolute))
            return false;
    return i == p->n_bars && k == p->n_bars;
}

/* In the bars of the first category of a group: the means, the outermost limits, and the text that all have. */
static void merge_group(struct chart_panel *p, const size_t *group, size_t g, size_t members)
{
    for (size_t i = next_bar(p, g, 0), number = 0; i < p->n_bars; i = next_bar(p, g, i + 1), number++) {
        struct chart_bar *sum = &p->bars[i];
        for (size_t c = g + 1; c < p->categories.n; c++) {
            if (group[c] != g)
                continue;
            size_t k = next_bar(p, c, 0);
            for (size_t skipped = 0; skipped < number; skipped++)
                k = next_bar(p, c, k + 1);
            sum->from += p->bars[k].from;
            sum->to += p->bars[k].to;
            sum->lo = fmin(sum->lo, p->bars[k].lo);
            sum->hi = fmax(sum->hi, p->bars[k].hi);
            if (strcmp(sum->text, p->bars[k].text) != 0)
                sum->text[0] = '\0';
        }
        sum->from /= (double)members;
        sum->to /= (double)members;
    }
}

static bool name_group(struct chart_panel *p, size_t g, size_t members)
{
    char *name = NULL;
    if (members < 2)
        return true;
    if (asprintf(&name, "%s, and %zu more", p->categories.name[g], members - 1) < 0)
        return false;
    free(p->categories.name[g]);
    p->categories.name[g] = name;
    return true;
}

/* Leaves the first category of each group, with its bars. */
static void keep_first(struct chart_panel *p, const size_t *group, size_t *number)
{
    size_t n = 0, bars = 0;
    for (size_t c = 0; c < p->categories.n; c++) {
        number[c] = n;
        if (group[c] == c)
            p->categories.name[n++] = p->categories.name[c];
        else
            free(p->categories.name[c]);
    }
    for (size_t i = 0; i < p->n_bars; i++)
        if (group[p->bars[i].category] == p->bars[i].category) {
            p->bars[bars] = p->bars[i];
            p->bars[bars].category = number[p->bars[bars].category];
            bars++;
        }
    p->categories.n = n;
    p->n_bars = bars;
}

void chart_group_alike(struct chart *c, struct chart_panel *p, double relative, double absolute)
{
    size_t n = p->categories.n, *group = calloc(2 * n + 1, sizeof *group);
    c->failed = c->failed || !group;
    for (size_t i = 0; group && i < n; i++) {
        size_t g = 0;
        while (g < i && (group[g] != g || !categories_alike(p, g, i, relative, absolute)))
            g++;
        group[i] = g;
    }
    for (size_t g = 0; group && g < n; g++) {
        size_t members = 0;
        for (size_t i = g; i < n; i++)
            members += group[i] == g;
        if (members > 1)
            merge_group(p, group, g, members);
        c->failed = !name_group(p, g, members) || c->failed;
    }
    if (group)
        keep_first(p, group, group + n);
    free(group);
}
