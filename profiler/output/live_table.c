/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the live view, their order, and the effects of keys; without the terminal. */
#include "profiler/output/live_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/plain_text.h"

const char *const live_order_names[LIVE_ORDERS] = {
    "impact (overhead x share)", "overhead", "share", "samples", "causes", "name"};

static const struct {
    const char *heading;
    unsigned width, rank; /* rank: those with a low one are there first */
} columns[LIVE_COLUMNS] = {
    [LIVE_NAME] = {"", 13, 0},          [LIVE_SHARE] = {"SHARE", 6, 2},   [LIVE_OVERHEAD] = {"OVERHEAD (95 %)", 20, 1},
    [LIVE_SIBLING] = {"SIBLING", 8, 5}, [LIVE_DELAY] = {"DELAY", 6, 6},   [LIVE_DEMANDS_1] = {"WIDE1", 6, 7},
    [LIVE_DEMANDS_2] = {"WIDE2", 6, 8}, [LIVE_CAUSES] = {"CAUSES", 7, 3}, [LIVE_SAMPLES] = {"SAMPLES", 8, 4},
};

void live_table_init(struct live_table *t)
{
    *t = (struct live_table){.kind = PROFILE_TASK, .by = LIVE_BY_IMPACT};
}

static void thaw(struct live_table *t)
{
    for (size_t i = 0; t->frozen != NULL && i < t->frozen->n_rows; i++)
        free(t->frozen->rows[i].culprits);
    if (t->frozen != NULL)
        free(t->frozen->rows);
    free(t->frozen);
    t->frozen = NULL;
}

void live_table_free(struct live_table *t)
{
    thaw(t);
    free(t->order);
}

/* A copy of its own. False: out of memory; there is none then. */
static bool freeze(struct live_table *t, const struct profile_result *r)
{
    struct profile_result *f = malloc(sizeof(*f));
    struct profile_row *rows = malloc((r->n_rows + 1) * sizeof(*rows));
    if (f == NULL || rows == NULL) {
        free(f);
        free(rows);
        return false;
    }
    *f = *r;
    f->rows = rows;
    f->n_rows = 0;
    t->frozen = f;
    for (size_t i = 0; i < r->n_rows; i++) {
        size_t bytes = r->rows[i].n_culprits * sizeof(struct profile_culprit);
        rows[i] = r->rows[i];
        rows[i].culprits = malloc(bytes + 1);
        if (rows[i].culprits == NULL) {
            thaw(t);
            return false;
        }
        if (bytes > 0)
            memcpy(rows[i].culprits, r->rows[i].culprits, bytes);
        f->n_rows = i + 1;
    }
    return true;
}

static int compare_live_names(const void *a, const void *b)
{
    const struct profile_row *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* The value by which the row is sorted, the largest first. */
static double sort_value(const struct profile_row *row, enum live_order by)
{
    switch (by) {
    case LIVE_BY_OVERHEAD:
        return row->overhead.value;
    case LIVE_BY_SHARE:
        return row->share;
    case LIVE_BY_SAMPLES:
        return (double)row->samples;
    case LIVE_BY_CAUSES:
        return row->causes;
    default:
        return row->overhead.value * row->share;
    }
}

static bool same_row(const struct profile_row *a, const struct profile_row *b)
{
    return a->kind == b->kind && a->pid == b->pid && a->start_ns == b->start_ns && a->cgroup == b->cgroup &&
           a->core == b->core && (a->pid != 0 || strcmp(a->name, b->name) == 0);
}

/* Names get numbers in their order; equal ones the same. False: out of memory. */
static bool key_names(struct live_table *t, const struct profile_result *r)
{
    const struct profile_row **by_name = malloc((t->n + 1) * sizeof(struct profile_row *));
    double *rank = calloc(r->n_rows + 1, sizeof(*rank));
    if (by_name != NULL && rank != NULL) {
        for (size_t i = 0; i < t->n; i++)
            by_name[i] = &r->rows[t->order[i].index];
        if (t->n > 0)
            qsort(by_name, t->n, sizeof(by_name[0]), compare_live_names);
        for (size_t i = 1; i < t->n; i++)
            rank[by_name[i] - r->rows] = rank[by_name[i - 1] - r->rows] +
                                         (strcmp(by_name[i]->name, by_name[i - 1]->name) != 0);
        for (size_t i = 0; i < t->n; i++)
            t->order[i].key = (t->reversed ? -1 : 1) * rank[t->order[i].index];
    }
    bool fine = by_name != NULL && rank != NULL;
    free(by_name);
    free(rank);
    return fine;
}

/* Unknown values are last in either order. */
static void key_numbers(struct live_table *t, const struct profile_result *r)
{
    for (size_t i = 0; i < t->n; i++) {
        double value = sort_value(&r->rows[t->order[i].index], t->by);
        t->order[i].key = isnan(value) ? (double)INFINITY : t->reversed ? value : -value;
    }
}

static void keep_on_screen(struct live_table *t, size_t screen)
{
    size_t last_top = t->n > screen ? t->n - screen : 0;
    if (t->selected >= t->n)
        t->selected = t->n > 0 ? t->n - 1 : 0;
    if (t->selected < t->top)
        t->top = t->selected;
    if (t->selected >= t->top + screen)
        t->top = t->selected - screen + 1;
    if (t->top > last_top)
        t->top = last_top;
}

const struct profile_result *live_table_arrange(struct live_table *t, const struct profile_result *r, size_t screen)
{
    if (!t->paused)
        thaw(t);
    else if (t->frozen == NULL && !freeze(t, r))
        return NULL;
    r = t->frozen != NULL ? t->frozen : r;
    if (r->n_rows > t->room || t->order == NULL) {
        struct order_key *order = realloc(t->order, (r->n_rows + 1) * sizeof(*order));
        if (order == NULL)
            return NULL;
        t->order = order;
        t->room = r->n_rows;
    }
    t->n = 0;
    for (size_t i = 0; i < r->n_rows; i++)
        if (r->rows[i].kind == t->kind)
            t->order[t->n++].index = i;
    if (t->by != LIVE_BY_NAME)
        key_numbers(t, r);
    else if (!key_names(t, r))
        return NULL;
    qsort(t->order, t->n, sizeof(t->order[0]), order_by_key);
    for (size_t i = 0; t->followed && i < t->n; i++)
        if (same_row(&r->rows[t->order[i].index], &t->chosen)) {
            t->selected = i;
            break;
        }
    keep_on_screen(t, screen);
    if (t->n > 0)
        t->chosen = r->rows[t->order[t->selected].index];
    t->followed = t->followed || t->picked;
    t->picked = false;
    return r;
}

/* The row that is there when rows are next put in order. */
static void select_row(struct live_table *t, size_t at)
{
    t->selected = t->n == 0 ? 0 : at < t->n ? at : t->n - 1;
    t->followed = false;
    t->picked = true;
}

static void show_kind(struct live_table *t, enum profile_kind kind)
{
    if (t->kind != kind) {
        t->selected = t->top = 0;
        t->followed = t->picked = false;
    }
    t->kind = kind;
}

static void sort_by(struct live_table *t, enum live_order by)
{
    t->reversed = false;
    t->by = by;
}

/* Keys that choose what is shown, and how it is sorted. */
static void choose_key(struct live_table *t, int key)
{
    static const char by[] = "IOSNCA"; /* enum live_order */
    static const enum profile_kind next[PROFILE_KINDS] = {
        [PROFILE_TASK] = PROFILE_CONTAINER, [PROFILE_CONTAINER] = PROFILE_CORE, [PROFILE_CORE] = PROFILE_TASK};
    const char *order = key > 0 && key < 0x80 ? strchr(by, key) : NULL;
    if (order != NULL)
        sort_by(t, (enum live_order)(order - by));
    else if (key == '<' || key == TERMINAL_KEY_LEFT)
        sort_by(t, (t->by + LIVE_ORDERS - 1) % LIVE_ORDERS);
    else if (key == '>' || key == TERMINAL_KEY_RIGHT)
        sort_by(t, (t->by + 1) % LIVE_ORDERS);
    else if (key == 'r')
        t->reversed = !t->reversed;
    else if (key == 't' || key == 'c' || key == 'o')
        show_kind(t, key == 't' ? PROFILE_TASK : key == 'c' ? PROFILE_CONTAINER : PROFILE_CORE);
    else if (key == '\t')
        show_kind(t, next[t->kind]);
}

void live_table_key(struct live_table *t, int key, size_t screen)
{
    size_t last = t->n > 0 ? t->n - 1 : 0, page = screen > 1 ? screen - 1 : 1;
    if (key == 'q')
        t->quit = true;
    else if (key == 'h' || key == '?' || t->help)
        t->help = !t->help; /* any key leaves it */
    else if (key == 'p' || key == ' ')
        t->paused = !t->paused;
    else if (key == TERMINAL_KEY_UP || key == 'k')
        select_row(t, t->selected > 0 ? t->selected - 1 : 0);
    else if (key == TERMINAL_KEY_DOWN || key == 'j')
        select_row(t, t->selected + 1);
    else if (key == TERMINAL_KEY_PAGE_UP)
        select_row(t, t->selected > page ? t->selected - page : 0);
    else if (key == TERMINAL_KEY_PAGE_DOWN)
        select_row(t, t->selected + page);
    else if (key == TERMINAL_KEY_LAST || key == 'G')
        select_row(t, last);
    else if (key == TERMINAL_KEY_FIRST || key == 'g') {
        select_row(t, 0);
        t->picked = false; /* whatever is first */
    } else
        choose_key(t, key);
}

const char *live_table_heading(enum live_column column, enum profile_kind kind)
{
    static const char *const names[PROFILE_KINDS] = {
        [PROFILE_TASK] = "TASK", [PROFILE_CONTAINER] = "CONTAINER", [PROFILE_CORE] = "CORE"};
    return column == LIVE_NAME ? names[kind] : columns[column].heading;
}

unsigned live_table_width(enum live_column column)
{
    return columns[column].width;
}

void live_table_columns(unsigned width, bool shown[LIVE_COLUMNS], unsigned *name)
{
    unsigned used = columns[LIVE_NAME].width;
    bool full = false;
    memset(shown, 0, LIVE_COLUMNS * sizeof(shown[0]));
    shown[LIVE_NAME] = true;
    for (unsigned rank = 1; rank < LIVE_COLUMNS && !full; rank++)
        for (unsigned c = 0; c < LIVE_COLUMNS; c++)
            if (columns[c].rank == rank) {
                full = used + columns[c].width > width;
                shown[c] = !full;
                used += full ? 0 : columns[c].width;
            }
    *name = columns[LIVE_NAME].width + (width > used ? width - used : 0);
    if (*name > width)
        *name = width;
}

static void percent_text(double fraction, char out[16])
{
    double value = 100 * fraction;
    if (!isfinite(value))
        (void)snprintf(out, 16, "-");
    else if (fabs(value) >= 99.95)
        (void)snprintf(out, 16, "%.0f", fabs(value) < 1e6 ? value : copysign(1e6, value));
    else
        (void)snprintf(out, 16, "%.1f", plain_number(value, 1));
}

void live_table_cell(const struct profile_row *row, enum live_column column, char *out, size_t size)
{
    char value[16], lo[16], hi[16];
    const double of[LIVE_COLUMNS] = {
        [LIVE_SHARE] = row->share,
        [LIVE_OVERHEAD] = row->overhead.value,
        [LIVE_SIBLING] = row->sibling.value,
        [LIVE_DELAY] = row->delay.value,
        [LIVE_DEMANDS_1] = row->demands[1].value,
        [LIVE_DEMANDS_2] = row->demands[2].value,
        [LIVE_CAUSES] = row->causes,
    };
    percent_text(of[column], value);
    percent_text(row->overhead.lo, lo);
    percent_text(row->overhead.hi, hi);
    if (column == LIVE_NAME)
        (void)plain_text(row->name, out, size);
    else if (column == LIVE_SAMPLES)
        (void)snprintf(out, size, "%" PRIu64, row->samples);
    else if (column == LIVE_OVERHEAD && isfinite(of[column]) &&
             (isfinite(row->overhead.lo) || isfinite(row->overhead.hi)))
        (void)snprintf(out, size, "%s (%s to %s)", value, lo, hi);
    else
        (void)snprintf(out, size, "%s", value);
}
