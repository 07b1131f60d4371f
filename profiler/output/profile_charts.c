/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pictures of a profile: overheads by cause and by level, and who slows whom. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/plot/plot.h"
#include "profiler/output/profile_parts.h"
#include "util/order.h"
#include "util/text_list.h"

/* Rows and columns, and characters of their names, that a picture has room for. */
enum { BARS_SHOWN = 20, VICTIMS_SHOWN = 16, CULPRITS_SHOWN = 12, LABEL = 30, COLUMN_LABEL = 18 };
/* Colours of the palette of charts. */
enum { COLOUR_SIBLING = 0, COLOUR_DELAY = 1, COLOUR_TOGETHER = 6, COLOUR_LEVELS = 2 };

static void profile_chart_begin(const struct profile_result *r, const char *title, struct chart *c)
{
    memset(c, 0, sizeof *c);
    c->modelled = r->info.modelled;
    snprintf(c->title, sizeof c->title, "%s", title);
    snprintf(c->subtitle, sizeof c->subtitle, "%s, %llu samples in %.1f s", r->info.cpu ? r->info.cpu : "",
             (unsigned long long)r->turns[PROFILE_TAKEN], r->totals.seconds);
}

/* ---- overhead ---- */

/* The parts of a row's overhead, one after the other; limits and figure stand at the end of the last one. */
static void add_stack(struct chart *c, struct chart_panel *p, size_t category, const struct profile_row *row,
                      const double *parts, const int *colours, size_t n)
{
    char text[PROFILE_PERCENT_MAX];
    struct profile_estimate whole = {row->overhead.value, NAN, NAN};
    double from = 0, end = row->overhead.value;
    for (size_t i = 0; i < n; i++) {
        bool last = i + 1 == n;
        double to = last ? end : fmin(fmax(from + parts[i], 0), fmax(end, 0));
        chart_add_bar(c, p,
                      (struct chart_bar){.category = category,
                                         .from = 100 * from,
                                         .to = 100 * to,
                                         .lo = last ? 100 * row->overhead.lo : NAN,
                                         .hi = last ? 100 * row->overhead.hi : NAN,
                                         .colour = colours[i]},
                      last ? profile_percent(&whole, text) : "");
        from = to;
    }
}

static void add_causes(struct chart *c, struct chart_panel *p, size_t category, const struct profile_row *row)
{
    static const int split[] = {COLOUR_SIBLING, COLOUR_DELAY}, together[] = {COLOUR_TOGETHER};
    const double parts[] = {row->sibling.value, row->delay.value};
    if (profile_knows_parts(row, 1))
        add_stack(c, p, category, row, parts, split, 2);
    else
        add_stack(c, p, category, row, &row->overhead.value, together, 1);
}

static void add_levels(struct chart *c, struct chart_panel *p, size_t category, const struct profile_row *row)
{
    double parts[PROFILE_LEVELS - 1];
    int colours[PROFILE_LEVELS - 1];
    for (int level = 1; level < PROFILE_LEVELS; level++) {
        parts[level - 1] = row->by_level[level].value;
        colours[level - 1] = COLOUR_LEVELS + level - 1;
    }
    add_stack(c, p, category, row, parts, colours, PROFILE_LEVELS - 1);
}

static void add_overheads(const struct profile_result *r, enum profile_kind kind, struct chart *c, const char *title,
                          bool levels)
{
    char name[PROFILE_NAME_MAX];
    size_t n, n_shown;
    const struct profile_row *rows = profile_rows_of(r, kind, &n);
    size_t *shown = profile_rows_shown(rows, n, BARS_SHOWN, &n_shown);
    struct chart_panel *p = chart_add_panel(c, CHART_BARS, title, "overhead, %", "");
    c->failed = c->failed || !shown;
    for (size_t i = 0; i < n_shown; i++) {
        const struct profile_row *row = &rows[shown[i]];
        if (!isfinite(row->overhead.value))
            continue;
        size_t category = p->categories.n;
        chart_add_name(c, &p->categories, profile_short_name(row->name, LABEL, name));
        (levels ? add_levels : add_causes)(c, p, category, row);
    }
    if (p->categories.n < n)
        text_list_add(p->note, sizeof p->note, " ", "%zu of %zu.", p->categories.n, n);
    text_list_add(p->note, sizeof p->note, " ", "Ordered by the time lost: overhead times share.");
    if (!levels && profile_knows_parts(rows, n)) {
        chart_add_legend(c, p, "due to the sibling hyper-thread", COLOUR_SIBLING);
        chart_add_legend(c, p, "due to levels that outlast their code", COLOUR_DELAY);
    } else if (!levels) {
        chart_add_legend(c, p, "siblings and delays, not distinguished (--sources)", COLOUR_TOGETHER);
    }
    for (int level = 1; level < PROFILE_LEVELS && levels; level++) {
        snprintf(name, sizeof name, "at level %d", level);
        chart_add_legend(c, p, name, COLOUR_LEVELS + level - 1);
    }
    free(shown);
}

static const char *const no_overheads = "no row has any samples";

int profile_chart_causes(const struct profile_result *r, enum profile_kind kind, struct chart *c, char *why,
                         size_t why_size)
{
    profile_chart_begin(r, "Remote overhead by cause", c);
    add_overheads(r, kind, c, "", false);
    return plot_worth(c, no_overheads, why, why_size);
}

int profile_chart_levels(const struct profile_result *r, enum profile_kind kind, struct chart *c, char *why,
                         size_t why_size)
{
    profile_chart_begin(r, "Remote overhead by the license level before the pause", c);
    add_overheads(r, kind, c, "", true);
    return plot_worth(c, no_overheads, why, why_size);
}

int profile_plot(const struct profile_result *r, const char *path, char *why, size_t why_size)
{
    struct chart c;
    profile_chart_begin(r, "Remote overhead of tasks", &c);
    add_overheads(r, PROFILE_TASK, &c, "by cause", false);
    add_overheads(r, PROFILE_TASK, &c, "by the license level before the pause", true);
    int status = plot_worth(&c, no_overheads, why, why_size);
    if (status == 0)
        status = plot_write(&c, path, why, why_size);
    chart_free(&c);
    return status;
}

/* ---- who slows whom ---- */

/* Finds those who cost others most, at most `most` of them, and the cost of each to all tasks together. */
static size_t find_culprits(const struct profile_result *r, const struct profile_row *tasks, size_t n, size_t most,
                            struct order_key *out)
{
    size_t n_found = 0;
    struct order_key *all = calloc(r->n_rows + 1, sizeof *all);
    for (size_t i = 0; all && i < r->n_rows; i++)
        all[i].index = i;
    for (size_t i = 0; all && i < n; i++)
        for (size_t k = 0; k < tasks[i].n_culprits; k++)
            if (profile_culprit_name(r, &tasks[i], &tasks[i].culprits[k]) && isfinite(tasks[i].share))
                all[tasks[i].culprits[k].row].key -= tasks[i].culprits[k].overhead * tasks[i].share;
    if (all)
        qsort(all, r->n_rows, sizeof *all, order_by_key);
    for (; all && n_found < r->n_rows && n_found < most && all[n_found].key < 0; n_found++)
        out[n_found] = all[n_found];
    free(all);
    return n_found;
}

static void put_cell(struct chart_cell *cell, double overhead)
{
    if (!cell || !isfinite(overhead))
        return;
    cell->state = overhead > PROFILE_PART_LEAST ? CELL_VALUE : CELL_PLAIN;
    cell->value = 100 * overhead;
    if (cell->state == CELL_VALUE)
        snprintf(cell->text, sizeof cell->text, "%.1f", cell->value);
}

/* The losses of a victim to each of the culprits, to others ([n]) and to nobody known ([n + 1]). */
static void split_by_culprit(const struct profile_result *r, const struct profile_row *victim,
                             const struct order_key *culprits, size_t n, double part[CULPRITS_SHOWN + 2])
{
    memset(part, 0, (n + 2) * sizeof *part);
    for (size_t k = 0; k < victim->n_culprits; k++) {
        size_t column = 0;
        while (column < n && culprits[column].index != victim->culprits[k].row)
            column++;
        if (profile_culprit_name(r, victim, &victim->culprits[k]))
            part[column] += victim->culprits[k].overhead;
    }
    part[n + 1] = victim->unattributed;
}

/* The columns that any victim has a part in: their numbers; returns how many. */
static size_t used_columns(double part[][CULPRITS_SHOWN + 2], size_t n_victims, size_t n, size_t *out)
{
    size_t n_used = 0;
    for (size_t column = 0; column < n; column++) {
        bool used = false;
        for (size_t i = 0; i < n_victims; i++)
            used = used || part[i][column] > PROFILE_PART_LEAST;
        if (used)
            out[n_used++] = column;
    }
    return n_used;
}

int profile_chart_culprits(const struct profile_result *r, enum profile_kind kind, struct chart *c, char *why,
                           size_t why_size)
{
    char name[PROFILE_NAME_MAX];
    struct order_key culprits[CULPRITS_SHOWN];
    double part[VICTIMS_SHOWN][CULPRITS_SHOWN + 2];
    size_t n, n_victims = 0, column[CULPRITS_SHOWN + 2];
    const struct profile_row *rows = profile_rows_of(r, kind, &n);
    size_t n_culprits = find_culprits(r, rows, n, CULPRITS_SHOWN, culprits);
    profile_chart_begin(r, "Who slows whom", c);
    struct chart_panel *p = chart_add_panel(c, CHART_CELLS, "", "", "");
    for (size_t i = 0; i < n && n_victims < VICTIMS_SHOWN; i++) {
        if (!profile_is_victim(&rows[i]))
            continue;
        split_by_culprit(r, &rows[i], culprits, n_culprits, part[n_victims++]);
        chart_add_name(c, &p->categories, profile_short_name(rows[i].name, LABEL, name));
    }
    size_t n_columns = used_columns(part, n_victims, n_culprits + 2, column);
    for (size_t k = 0; k < n_columns; k++)
        if (column[k] < n_culprits)
            chart_add_name(c, &p->columns,
                           profile_short_name(r->rows[culprits[column[k]].index].name, COLUMN_LABEL, name));
        else
            chart_add_name(c, &p->columns, column[k] == n_culprits ? "others" : "unattributed");
    chart_make_cells(c, p);
    for (size_t i = 0; i < n_victims && !c->failed; i++)
        for (size_t k = 0; k < n_columns; k++)
            put_cell(chart_cell(p, i, k), part[i][column[k]]);
    snprintf(p->y_label, sizeof p->y_label, "slowed \xE2\x86\x93   by \xE2\x86\x92");
    snprintf(p->scale_label, sizeof p->scale_label, "overhead, %%");
    return plot_worth(c, "no overhead could be attributed to a task", why, why_size);
}
