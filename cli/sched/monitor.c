/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of --monitor. */
#include "cli/sched/monitor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/messages.h"
#include "profiler/output/terminal.h"
#include "util/plain_text.h"
#include "util/text_list.h"

/* last: what curses calls its variables are macros, and two of them are names here */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#undef columns
#undef lines

enum column { NAME, ID, CLASS, NOW, RAN, CHARGED, COMPENSATED, PENALTY, MIGRATIONS, DISPATCHES, COLUMNS };

static const struct {
    const char *heading;
    int width;
} monitor_columns[COLUMNS] = {
    [NAME] = {"TASK", 16},          [ID] = {"ID", 8},
    [CLASS] = {"CLASS", 7},         [NOW] = {"CPU %", 7},
    [RAN] = {"RAN s", 10},          [CHARGED] = {"CHARGED s", 10},
    [COMPENSATED] = {"COMP. s", 8}, [PENALTY] = {"PENALTY s", 10},
    [MIGRATIONS] = {"MOVED", 8},    [DISPATCHES] = {"DISPATCHED", 11},
};

struct monitor {
    struct terminal *terminal;
    enum column by; /* the tasks' order, the largest first; NOW and those after it */
    bool reversed, paused, quit;
    size_t top; /* the first task on the screen, in their order */
    size_t rows;
};

int monitor_begin(struct monitor **out)
{
    char why[200];
    struct monitor *m = calloc(1, sizeof(*m));
    if (m == NULL)
        return complain_out_of_memory();
    m->by = NOW;
    if (terminal_begin(&m->terminal, why, sizeof(why)) != 0) {
        free(m);
        return refuse(BAD_USAGE, "--monitor: %s; --stats 1 prints lines", why);
    }
    *out = m;
    return DONE;
}

void monitor_end(struct monitor *m)
{
    if (m == NULL)
        return;
    terminal_end(m->terminal);
    free(m);
}

bool monitor_paused(const struct monitor *m)
{
    return m->paused;
}

/* ---- cells ---- */

/* A row's number: CPU time is a share of one CPU of the time since the sample before; NaN: the column has none. */
static double number_of(const struct live_counts *c, double now, enum column column)
{
    const double numbers[COLUMNS] = {
        [NAME] = NAN,
        [ID] = NAN,
        [CLASS] = NAN,
        [NOW] = 100 * now,
        [RAN] = 1e-9 * (double)c->run_ns,
        [CHARGED] = 1e-9 * (double)c->charged_ns,
        [COMPENSATED] = 1e-9 * (double)c->compensated_ns,
        [PENALTY] = 1e-9 * (double)c->penalty_ns,
        [MIGRATIONS] = (double)c->migrations,
        [DISPATCHES] = (double)c->dispatches,
    };
    return numbers[column];
}

static int decimals_of(enum column column)
{
    return column == NOW ? 1 : column < MIGRATIONS ? 3 : 0;
}

/* A line of the table: texts of the first three columns and counts, or with counts NULL its headings. */
static void draw_row(int line, chtype attributes, const char *const texts[NOW], const struct live_counts *c, double now)
{
    char number[40];
    int at = 0;
    (void)attrset((int)attributes);
    terminal_put_cells(line, 0, COLS, false, "");
    for (enum column i = NAME; i < COLUMNS && at + monitor_columns[i].width <= COLS; i++) {
        const char *text = c == NULL ? monitor_columns[i].heading : i < NOW ? texts[i] : number;
        if (c != NULL && i >= NOW)
            (void)snprintf(number, sizeof(number), "%.*f", decimals_of(i), number_of(c, now, i));
        /* a name that fills its column is not to touch the next */
        terminal_put_cells(line, at, monitor_columns[i].width - (i == NAME), i != NAME, text);
        at += monitor_columns[i].width;
    }
    (void)attrset(A_NORMAL);
}

static void draw_summary(const struct sched_options *o, const char *title, const volatile struct live_state *s,
                         const struct sched_sample *sample)
{
    const unsigned long seconds = (unsigned long)sample->seconds;
    char text[400];
    terminal_put_line(0, A_BOLD, title);
    (void)snprintf(text, sizeof(text), "%lu:%02lu:%02lu", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if (isfinite(sample->decision_ns))
        text_list_add(text, sizeof(text), ", ", "%.0f ns of decisions for each dispatch", sample->decision_ns);
    terminal_put_line(1, A_NORMAL, text);
    text[0] = '\0';
    if (o->config.specialize)
        text_list_add(text, sizeof(text), ", ", "Wide cores: %u of %u, %llu became wide, %llu other", s->wide_cores,
                      o->config.n_cores, s->widened, s->narrowed);
    if (o->config.marks)
        text_list_add(text, sizeof(text), "; ", "phases ended: %llu by system calls, %llu by timeout",
                      s->phases_ended[0], s->phases_ended[1]);
    terminal_put_line(2, A_NORMAL, text);
}

static void draw_table(struct monitor *m, int line, const struct sched_options *o, const struct sched_sample *sample,
                       double since)
{
    for (int class = 0; class < sched_classes(&o->config); class ++) {
        const char *const texts[NOW] = {"all", "", sched_class_names[class]};
        draw_row(line++, A_BOLD, texts, &sample->classes[class], 1e-9 * (double)sample->recent_ns[class] / since);
    }
    m->rows = LINES - 1 > line ? (size_t)(LINES - 1 - line) : 1;
    if (m->top + m->rows > sample->n_tasks)
        m->top = sample->n_tasks > m->rows ? sample->n_tasks - m->rows : 0;
    for (size_t i = m->top; i < sample->n_tasks && i < m->top + m->rows; i++) {
        const struct sched_task *t = &sample->tasks[sample->order[i].index];
        char name[80], id[20];
        const char *const texts[NOW] = {name, id, sched_class_names[t->now.class % LIVE_CLASSES]};
        (void)plain_text(t->now.name, name, sizeof(name));
        (void)snprintf(id, sizeof(id), "%u", t->now.id);
        draw_row(line++, A_NORMAL, texts, &t->now.counts, 1e-9 * (double)t->recent_ns / since);
    }
}

static void draw_keys(const struct monitor *m)
{
    char text[200];
    (void)snprintf(text, sizeof(text), "%sby %s%s   q quit  p pause  < > sort  r reverse  up down PgUp PgDn",
                   m->paused ? "PAUSED  " : "", monitor_columns[m->by].heading, m->reversed ? ", reversed" : "");
    terminal_put_line(LINES - 1, A_DIM, text);
}

/* ---- keys ---- */

static void move_rows(struct monitor *m, bool down, size_t by)
{
    m->top = down ? m->top + by : m->top > by ? m->top - by : 0;
}

static void do_key(struct monitor *m, int key)
{
    const size_t page = m->rows > 1 ? m->rows - 1 : 1;
    if (key == 'q')
        m->quit = true;
    else if (key == 'p' || key == ' ')
        m->paused = !m->paused;
    else if (key == 'r')
        m->reversed = !m->reversed;
    else if (key == '<' || key == TERMINAL_KEY_LEFT)
        m->by = m->by > NOW ? m->by - 1 : COLUMNS - 1;
    else if (key == '>' || key == TERMINAL_KEY_RIGHT)
        m->by = m->by < COLUMNS - 1 ? m->by + 1 : NOW;
    else if (key == TERMINAL_KEY_UP || key == 'k' || key == TERMINAL_KEY_DOWN || key == 'j')
        move_rows(m, key == TERMINAL_KEY_DOWN || key == 'j', 1);
    else if (key == TERMINAL_KEY_PAGE_UP || key == TERMINAL_KEY_PAGE_DOWN)
        move_rows(m, key == TERMINAL_KEY_PAGE_DOWN, page);
    else if (key == TERMINAL_KEY_FIRST || key == 'g')
        m->top = 0;
    else if (key == TERMINAL_KEY_LAST || key == 'G')
        m->top = SIZE_MAX / 2; /* the last screen (draw_table) */
}

static void sort_tasks(const struct monitor *m, struct sched_sample *sample)
{
    for (size_t i = 0; i < sample->n_tasks; i++) {
        const struct sched_task *t = &sample->tasks[sample->order[i].index];
        const double key = number_of(&t->now.counts, (double)t->recent_ns, m->by);
        sample->order[i].key = m->reversed ? key : -key;
    }
    if (sample->n_tasks > 0)
        qsort(sample->order, sample->n_tasks, sizeof(sample->order[0]), order_by_key);
}

bool monitor_show(struct monitor *m, const struct sched_options *o, const char *title,
                  const volatile struct live_state *state, struct sched_sample *sample)
{
    enum { KEYS_MAX = 256 }; /* whoever holds a key down, or pastes, does not keep it from going on */
    int key;
    terminal_turn_begin(m->terminal);
    for (int i = 0; i < KEYS_MAX && (key = terminal_key()) >= 0; i++)
        do_key(m, key);
    if (terminal_ready()) {
        sort_tasks(m, sample);
        (void)erase();
        draw_summary(o, title, state, sample);
        draw_row(3, A_REVERSE, NULL, NULL, 0);
        draw_table(m, 4, o, sample, sample->since > 0 ? sample->since : INFINITY);
        draw_keys(m);
        (void)refresh();
    }
    terminal_turn_end(m->terminal);
    return !m->quit;
}
