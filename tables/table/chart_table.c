/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How rows of a table become panels of a chart. */
#include "tables/table/chart_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/table/tables.h"
#include "util/text_list.h"

bool chart_varies(const struct table *t, const char *column)
{
    for (size_t row = 1; row < t->n_rows; row++)
        if (!table_same(t, 0, row, column))
            return true;
    return false;
}

double chart_largest(const struct table *t, const char *column)
{
    double largest = NAN;
    for (size_t row = 0; row < t->n_rows; row++)
        largest = fmax(largest, table_number(t, row, column));
    return largest;
}

bool chart_row_is(const struct table *t, size_t row, const char *column, const char *value)
{
    return !table_has(t, column) || table_says(t, row, column, value);
}

const char *chart_pair(const struct table *t, size_t row, bool cores, char *out, size_t size)
{
    const char *from = table_text(t, row, "from"), *to = table_text(t, row, "to");
    double active = table_number(t, row, "active_cores");
    snprintf(out, size, "%s \xE2\x86\x92 %s", from ? from : "?", to ? to : "?");
    if (cores && isfinite(active))
        text_list_add(out, size, ", ", "%.0f core%s", active, active == 1 ? "" : "s");
    return out;
}

void chart_add_row(struct chart *c, struct chart_panel *p, const char *category, const struct estimate *v,
                   struct chart_bar look, const char *text)
{
    char number[CHART_TEXT_MAX];
    if (p->n_bars >= CHART_ROWS_MAX) {
        p->omitted++;
        return;
    }
    look.category = chart_name(c, &p->categories, category);
    look.to = v->value;
    look.lo = v->lo;
    look.hi = v->hi;
    if (!text)
        chart_number(v->value, number, sizeof number);
    chart_add_bar(c, p, look, text ? text : number);
}

void chart_tell_omitted(struct chart_panel *p, size_t shown, const char *what)
{
    if (p->omitted)
        text_list_add(p->note, sizeof p->note, " ", "The first %zu of %zu %s; the table has them all.", shown,
                      shown + p->omitted, what);
}

/* ---- equal bars as one ---- */

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

/* Merges a group into the bars of its first category: the means, the outermost limits, and the text that all have. */
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

/* ---- pictures ---- */

enum {
    CELL_COLUMNS_MAX = 64,      /* columns of a panel of cells: more continue in another panel */
    CELL_TEXT_COLUMNS_MAX = 16, /* with more there is no room for texts in cells */
};

static bool picture_has(const struct picture *p, const struct table *t, size_t row)
{
    return !p->column || chart_row_is(t, row, p->column, p->says);
}

/* True if a row is in the panel of row `of`. */
static bool in_panel(const struct picture *p, const struct table *t, size_t of, size_t row)
{
    return picture_has(p, t, row) && (!p->each || table_same(t, of, row, p->each));
}

static const char *name_of(const struct picture_name *n, const struct table *t, size_t row, char out[CHART_NAME_MAX])
{
    return n->text ? n->text(t, row, out) : table_field_text(t, row, n->column, out, CHART_NAME_MAX);
}

static struct estimate value_of(const struct picture *p, const struct table *t, size_t row)
{
    const double times = p->times != 0 ? p->times : 1;
    const struct estimate e = estimates_of_table(t, row, p->value);
    return (struct estimate){times * e.value, times * e.lo, times * e.hi};
}

/* A new panel, empty except for its texts; NULL: there is no place. */
static struct chart_panel *add_panel(const struct picture *p, const struct table *t, size_t of, struct chart *c)
{
    struct chart_panel *panel = chart_add_panel(c, p->panel.kind, "", "", "");
    if (!panel)
        return NULL;
    *panel = p->panel;
    if (p->each)
        table_field_text(t, of, p->each, panel->title, sizeof panel->title);
    if (p->each && p->panel.title[0])
        text_list_add(panel->title, sizeof panel->title, ": ", "%s", p->panel.title);
    return panel;
}

static void draw_bars(const struct picture *p, const struct table *t, size_t of, struct chart *c)
{
    char name[CHART_NAME_MAX];
    struct chart_panel *panel = add_panel(p, t, of, c);
    for (size_t row = of; panel && row < t->n_rows; row++) {
        const struct estimate v = value_of(p, t, row);
        if (in_panel(p, t, of, row) && isfinite(v.value) && name_of(&p->name, t, row, name)[0])
            chart_add_row(c, panel, name, &v, p->look, NULL);
    }
    if (panel && p->omitted)
        chart_tell_omitted(panel, panel->n_bars, p->omitted);
}

/* A series without points has its colour and its mark nevertheless, which are the same in all panels. */
static void draw_lines(const struct picture *p, const struct table *t, size_t of, struct chart *c)
{
    char name[CHART_NAME_MAX];
    struct chart_panel *panel = add_panel(p, t, of, c);
    for (size_t row = of; panel && row < t->n_rows; row++) {
        if (!in_panel(p, t, of, row) || !name_of(&p->name, t, row, name)[0])
            continue;
        size_t known = 0;
        while (known < panel->n_series && strcmp(panel->series[known].name, name) != 0)
            known++;
        const struct estimate v = value_of(p, t, row);
        if (p->omitted && known == panel->n_series && known >= CHART_LINES_MAX) {
            panel->omitted += isfinite(v.value);
            continue;
        }
        struct chart_series *s = chart_series(c, panel, name);
        if (v.value > 0 || !panel->log_y)
            chart_add_point(c, s, table_number(t, row, p->across.column), v.value, v.lo, v.hi);
    }
    for (size_t i = 0; panel && i < panel->n_series; i++)
        panel->series[i].in_legend = panel->series[i].n > 0;
    if (panel && panel->omitted)
        snprintf(panel->note, sizeof panel->note, "The first %d %s; the table has them all.", CHART_LINES_MAX,
                 p->omitted);
}

static void fill_cell(const struct picture *p, const struct table *t, size_t row, struct chart_panel *panel)
{
    char name[CHART_NAME_MAX], column[CHART_NAME_MAX];
    const double value = value_of(p, t, row).value;
    size_t k = chart_find_name(&panel->columns, name_of(&p->across, t, row, column));
    struct chart_cell *cell = chart_cell(panel, chart_find_name(&panel->categories, name_of(&p->name, t, row, name)),
                                         k);
    if (!cell || !isfinite(value))
        return;
    if (p->cell) {
        p->cell(t, row, cell);
    } else {
        cell->state = CELL_VALUE;
        cell->value = value;
        snprintf(cell->text, sizeof cell->text, "%.2f", value);
    }
    if (panel->columns.n > CELL_TEXT_COLUMNS_MAX)
        cell->text[0] = '\0';
}

static void draw_cells(const struct picture *p, const struct table *t, size_t of, struct chart *c)
{
    char name[CHART_NAME_MAX];
    struct chart_names columns = {0}, lines = {0};
    for (size_t row = of; row < t->n_rows; row++)
        if (in_panel(p, t, of, row) && name_of(&p->name, t, row, name)[0]) {
            chart_name(c, &lines, name);
            if (name_of(&p->across, t, row, name)[0])
                chart_name(c, &columns, name);
        }
    for (size_t first = 0; first < columns.n && !c->failed; first += CELL_COLUMNS_MAX) {
        struct chart_panel *panel = add_panel(p, t, of, c);
        if (!panel)
            break;
        for (size_t i = 0; i < lines.n; i++)
            chart_add_name(c, &panel->categories, lines.name[i]);
        for (size_t i = first; i < columns.n && i < first + CELL_COLUMNS_MAX; i++)
            chart_add_name(c, &panel->columns, columns.name[i]);
        chart_make_cells(c, panel);
        if (panel->scale_hi > 0) /* all panels of a picture have one scale */
            panel->scale_hi = fmax(panel->scale_hi, (p->times > 0 ? p->times : 1) * chart_largest(t, p->value));
        for (size_t row = of; row < t->n_rows && !c->failed; row++)
            if (in_panel(p, t, of, row))
                fill_cell(p, t, row, panel);
    }
    chart_free_names(&lines);
    chart_free_names(&columns);
}

void chart_table_draw(const struct picture *p, const struct table *t, struct chart *c)
{
    static void (*const draw[])(const struct picture *, const struct table *, size_t, struct chart *) = {
        [CHART_LINES] = draw_lines, [CHART_BARS] = draw_bars, [CHART_CELLS] = draw_cells};
    const bool each = p->each && table_has(t, p->each);
    size_t omitted = 0;
    for (size_t of = 0; isfinite(chart_largest(t, p->value)) && of < t->n_rows; of++) {
        size_t before = 0;
        while (before < of && !in_panel(p, t, of, before))
            before++;
        if (before < of || !picture_has(p, t, of) || (each && !table_holds(t, of, p->each)))
            continue;
        omitted += c->n_panels == CHART_PANELS_MAX;
        draw[p->panel.kind](p, t, of, c);
    }
    if (omitted && each) {
        struct chart_panel *last = &c->panels[CHART_PANELS_MAX - 1];
        last->omitted += omitted;
        text_list_add(last->note, sizeof last->note, " ", "The first %d of %zu panels; the table has them all.",
                      CHART_PANELS_MAX, CHART_PANELS_MAX + omitted);
    }
}

void tables_draw(const struct table_kind *k, const struct table *t, struct chart *c)
{
    for (size_t i = 0; i < k->n_pictures; i++)
        chart_table_draw(&k->pictures[i], t, c);
    if (k->plot)
        k->plot(t, c);
}

bool tables_drawn(const struct table_kind *k)
{
    return k->n_pictures || k->plot;
}
