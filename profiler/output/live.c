/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live view on a terminal: what is drawn. */
#include "profiler/output/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/profile/profile_arithmetic.h"
#include "profiler/output/live_table.h"
#include "profiler/output/profile_parts.h"
#include "util/error.h"
#include "util/plain_text.h"
#include "util/text_list.h"

/* last: what curses calls its variables are macros, and two of them are names here */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
#undef columns
#undef lines

/* ---- the screen, drawn with curses ---- */

/* Lines around the table's rows, as far as the screen has room for them. */
struct live_layout {
    int head, title, columns, rows, detail, keys;
};

static struct live_layout lay_out(int lines)
{
    struct live_layout l = {.head = lines >= 14 ? 4 : 0,
                            .title = lines >= 3,
                            .columns = lines >= 4,
                            .detail = lines >= 18 ? 4 : 0,
                            .keys = lines >= 8};
    l.rows = lines - l.head - l.title - l.columns - l.detail - l.keys;
    l.rows = l.rows > 0 ? l.rows : 1;
    return l;
}

/* Rows of the table for which there is room on a screen of so many lines. */
static size_t draw_rows(int lines)
{
    return (size_t)lay_out(lines).rows;
}

static void duration_text(double seconds, char out[32])
{
    unsigned long s = seconds >= 0 && seconds < 1e9 ? (unsigned long)seconds : 0;
    (void)snprintf(out, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
}

static void draw_head(const struct profile_result *r)
{
    char text[600], elapsed[32], name[200], cpu[200];
    uint64_t turns = 0;
    duration_text(r->totals.seconds, elapsed);
    (void)plain_text(r->info.cpu != NULL ? r->info.cpu : "", cpu, sizeof(cpu));
    (void)plain_text(r->info.name != NULL ? r->info.name : "", name, sizeof(name));
    (void)snprintf(text, sizeof(text), "%s  %s  %s", r->info.modelled ? "MODELLED" : "Profile", elapsed, name);
    text_list_add(text, sizeof(text), ", ", "%u cores, %u CPUs", r->info.cores, r->info.cpus);
    text_list_add(text, sizeof(text), ", ", "%s", cpu);
    terminal_put_line(0, A_BOLD, text);

    for (unsigned i = 0; i < PROFILE_OUTCOMES; i++)
        turns += r->turns[i];
    (void)snprintf(text, sizeof(text), "Turns %" PRIu64 ": %" PRIu64 " taken", turns, r->turns[PROFILE_TAKEN]);
    for (unsigned i = 0; i < PROFILE_OUTCOMES; i++)
        if (i != PROFILE_TAKEN && r->turns[i] > 0)
            text_list_add(text, sizeof(text), ", ", "%" PRIu64 " %s", r->turns[i], profile_outcome_names[i]);
    terminal_put_line(1, A_NORMAL, text);

    (void)snprintf(text, sizeof(text), "Cost: %.2f %% of all cores' time; longest pause %.2f ms",
                   profile_duty_ppm(&r->setup, r->info.cores) / 1e4, r->totals.pause_us_max / 1e3);
    if (r->totals.lost > 0)
        text_list_add(text, sizeof(text), "; ", "%" PRIu64 " records lost", r->totals.lost);
    if (r->setup.n_bins == 0)
        text_list_add(text, sizeof(text), "; ", "no frequency table");
    terminal_put_line(2, A_NORMAL, text);
}

static void draw_title(int line, const struct live_table *t, size_t rows)
{
    static const char *const kinds[PROFILE_KINDS] = {
        [PROFILE_TASK] = "Tasks", [PROFILE_CONTAINER] = "Containers", [PROFILE_CORE] = "Cores"};
    char text[300];
    size_t end = t->top + rows < t->n ? t->top + rows : t->n;
    (void)snprintf(text, sizeof(text), "%s%s by %s%s", t->paused ? "PAUSED  " : "", kinds[t->kind],
                   live_order_names[t->by], t->reversed ? ", reversed" : "");
    if (t->n > 0)
        text_list_add(text, sizeof(text), ", ", "%zu to %zu of %zu, in %%", t->top + 1, end, t->n);
    else
        text_list_add(text, sizeof(text), ", ", "none yet");
    terminal_put_line(line, A_BOLD, text);
}

/* A line of the table, or with row NULL its headings. */
static void draw_cells(int line, const struct live_table *t, const struct profile_row *row, chtype attributes)
{
    char text[PROFILE_NAME_MAX];
    bool shown[LIVE_COLUMNS];
    unsigned name, at = 0;
    live_table_columns((unsigned)COLS, shown, &name);
    (void)attrset((int)attributes);
    terminal_put_cells(line, 0, COLS, false, "");
    for (unsigned c = 0; c < LIVE_COLUMNS; c++) {
        if (!shown[c])
            continue;
        unsigned width = c == LIVE_NAME ? name : live_table_width(c);
        (void)snprintf(text, sizeof(text), "%s", live_table_heading(c, t->kind));
        if (row != NULL)
            live_table_cell(row, c, text, sizeof(text));
        /* a name that fills its column is not to touch the next */
        terminal_put_cells(line, (int)at, (int)(c == LIVE_NAME && name < (unsigned)COLS ? width - 1 : width),
                           c != LIVE_NAME, text);
        at += width;
    }
    (void)attrset(A_NORMAL);
}

/* Colours show what is certain: the lower limit. */
static chtype row_attributes(const struct profile_row *row, bool selected, bool colour)
{
    const double slow = 0.01, slower = 0.05;
    chtype a = selected ? A_REVERSE : A_NORMAL;
    if (row->chosen)
        a |= A_BOLD;
    if (colour && row->overhead.lo >= slow)
        a |= (chtype)COLOR_PAIR(row->overhead.lo >= slower ? TERMINAL_RED : TERMINAL_YELLOW);
    return a;
}

/* Ends a text at the last blank at which it fits on a line, in place; returns what is left of it, perhaps nothing. */
static char *break_line(char *text)
{
    char *blank = NULL;
    size_t length = strlen(text), most = (size_t)COLS; /* bytes: a line with others than ASCII ends a little early */
    for (size_t i = 0; length > most && i <= most; i++)
        blank = text[i] == ' ' ? text + i : blank;
    if (blank == NULL)
        return text + length;
    *blank = '\0';
    return blank + 1;
}

/* Draws the selected row: what it is, who slows it, what would help. */
static void draw_detail(int line, const struct profile_row *row, const struct profile_result *r)
{
    char text[1200] = "", plain[PROFILE_NAME_MAX];
    (void)plain_text(row->command[0] != '\0' ? row->command : row->name, plain, sizeof(plain));
    terminal_put_line(line, A_UNDERLINE, plain);
    for (size_t i = 0; i < row->n_culprits && i < PROFILE_CULPRITS_MAX; i++) {
        const char *name = profile_culprit_name(r, row, &row->culprits[i]);
        if (name != NULL)
            text_list_add(text, sizeof(text), ", ", "%s%s %.1f %%", text[0] == '\0' ? "slowed by " : "",
                          profile_short_name(name, PROFILE_NAME_SAID, plain), 100 * row->culprits[i].overhead);
    }
    if (row->unattributed >= 0.0005)
        text_list_add(text, sizeof(text), ", ", "unattributed %.1f %%", 100 * row->unattributed);
    terminal_put_line(line + 1, A_NORMAL, text);
    (void)plain_text(row->advice, plain, sizeof(plain));
    char *rest = break_line(plain);
    terminal_put_line(line + 2, A_NORMAL, plain);
    terminal_put_line(line + 3, A_NORMAL, rest);
}

static void draw_help(void)
{
    static const char *const lines[] = {
        "t c o  Tab    show tasks, containers, cores; the next of these",
        "I             sort by impact: overhead x share, what it costs the machine",
        "O S N C A     sort by overhead, share, samples, causes, name",
        "< >  r        sort by the previous, the next column; in reverse order",
        "up down  j k  select a row to see who slows it and what would help",
        "PgUp PgDn     one screen up, down;  g G  Home End  first, last row",
        "p  Space      freeze the display; profiling goes on",
        "h ?           this help;  q  end the profile and print it",
        "",
        "OVERHEAD      actual over ideal time, less 1, and its limits at 95 %",
        "SIBLING       the part that the other hyper-thread adds now",
        "DELAY         the part due to levels held after the code that needed them",
        "WIDE1 WIDE2   share of its samples in which its own code demands level 1, 2",
        "CAUSES        what it costs others, as a share of all overhead in the profile",
        "SHARE         of the turns in which anything ran;  -  unknown (SIBLING, DELAY: --sources)",
    };
    terminal_put_line(0, A_BOLD, "Help: any key returns");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        terminal_put_line((int)i + 1 + (LINES > 17), A_NORMAL, lines[i]);
}

/* Draws all. r as arranged for draw_rows() of the present size. */
static void draw(const struct live_table *t, const struct profile_result *r, bool colour)
{
    struct live_layout l = lay_out(LINES);
    (void)erase();
    if (t->help) {
        draw_help();
        return;
    }
    int line = l.head;
    if (l.head > 0)
        draw_head(r);
    if (l.title)
        draw_title(line++, t, (size_t)l.rows);
    if (l.columns)
        draw_cells(line++, t, NULL, A_REVERSE);
    for (size_t i = t->top; i < t->n && i < t->top + (size_t)l.rows; i++) {
        const struct profile_row *row = &r->rows[t->order[i].index];
        draw_cells(line++, t, row, row_attributes(row, i == t->selected, colour));
    }
    if (l.detail > 0 && t->n > 0)
        draw_detail(LINES - l.detail - l.keys, &r->rows[t->order[t->selected].index], r);
    if (l.keys)
        terminal_put_line(LINES - 1, A_DIM,
                          "h help  q quit  p pause  t c o tasks containers cores  < > sort  r reverse");
}

/* ---- the view ---- */

struct profile_live {
    struct live_table table;
    struct terminal *terminal;
};

int profile_live_begin(struct profile_live **out, char *why, size_t size)
{
    struct profile_live *v = calloc(1, sizeof(*v));
    if (v == NULL)
        return error_line(why, size, "out of memory");
    if (terminal_begin(&v->terminal, why, size) != 0) {
        free(v);
        return -1;
    }
    live_table_init(&v->table);
    *out = v;
    return 0;
}

/* Handles the keys since the last call. */
static void take_keys(struct profile_live *v)
{
    enum { KEYS_MAX = 256 }; /* whoever holds a key down, or pastes, does not keep the view from going on */
    int key;
    for (int i = 0; i < KEYS_MAX && (key = terminal_key()) >= 0; i++)
        live_table_key(&v->table, key, draw_rows(LINES));
}

enum profile_live_wish profile_live_show(struct profile_live *v, const struct profile_result *r)
{
    terminal_turn_begin(v->terminal);
    (void)live_table_arrange(&v->table, r, draw_rows(LINES));
    take_keys(v);
    const struct profile_result *shown = live_table_arrange(&v->table, r, draw_rows(LINES));
    /* a terminal that takes nothing now, since its line is slow or cut, will have a later one */
    if (shown != NULL && terminal_ready()) {
        draw(&v->table, shown, terminal_colour(v->terminal));
        (void)refresh();
    }
    terminal_turn_end(v->terminal);
    return v->table.quit ? LIVE_QUIT : LIVE_GO_ON;
}

void profile_live_end(struct profile_live *v)
{
    if (v == NULL)
        return;
    terminal_end(v->terminal);
    live_table_free(&v->table);
    free(v);
}
