/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contents of the live view, without a terminal: orders, keys, columns, cells. */
#include "profiler/output/live_table.h"
#include "tests/support/live_sample.h"
#include "tests/support/test.h"

enum { SCREEN = 10, TASKS = 40 };

/* The names that are on the screen, with blanks between them. */
static const char *on_screen(struct live_table *t, const struct profile_result *r, size_t screen)
{
    static char text[4000];
    text[0] = '\0';
    const struct profile_result *shown = live_table_arrange(t, r, screen);
    assert_non_null(shown);
    assert_true(t->n == 0 || (t->selected >= t->top && t->selected < t->top + screen && t->selected < t->n));
    for (size_t i = t->top; i < t->n && i < t->top + screen; i++) {
        const char *name = shown->rows[t->order[i].index].name;
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", text[0] != '\0' ? " " : "", name);
    }
    return text;
}

static void press(struct live_table *t, const struct profile_result *r, int key)
{
    live_table_key(t, key, SCREEN);
    assert_non_null(live_table_arrange(t, r, SCREEN));
}

static const char *selected_name(const struct live_table *t, const struct profile_result *r)
{
    return r->rows[t->order[t->selected].index].name;
}

TEST(each_order_is_what_it_says)
{
    struct live_table t;
    struct profile_result *r = live_sample(TASKS);
    live_table_init(&t);
    /* (40 - i) (i + 1) is largest in the middle */
    assert_string_equal(on_screen(&t, r, 4), "task-1019 task-1020 task-1018 task-1021");
    press(&t, r, 'O');
    assert_string_equal(on_screen(&t, r, 3), "task-1000 task-1001 task-1002");
    press(&t, r, 'S');
    assert_string_equal(on_screen(&t, r, 3), "task-1039 task-1038 task-1037");
    press(&t, r, 'N');
    assert_string_equal(on_screen(&t, r, 3), "task-1039 task-1038 task-1037");
    press(&t, r, 'C');
    assert_string_equal(on_screen(&t, r, 3), "task-1039 task-1036 task-1033");
    press(&t, r, 'A');
    assert_string_equal(on_screen(&t, r, 3), "task-1000 task-1001 task-1002");
    press(&t, r, 'r');
    assert_string_equal(on_screen(&t, r, 3), "task-1039 task-1038 task-1037");
    press(&t, r, '<');
    assert_int_equal(t.by, LIVE_BY_CAUSES);
    assert_false(t.reversed);
    press(&t, r, 'r');
    assert_string_equal(on_screen(&t, r, 3), "task-1000 task-1001 task-1002");
    for (int i = 0; i < LIVE_ORDERS; i++)
        press(&t, r, i % 2 ? '>' : TERMINAL_KEY_RIGHT);
    assert_int_equal(t.by, LIVE_BY_CAUSES);
    for (int i = 0; i < LIVE_ORDERS; i++)
        press(&t, r, i % 2 ? '<' : TERMINAL_KEY_LEFT);
    assert_int_equal(t.by, LIVE_BY_CAUSES);
    press(&t, r, 'I');
    assert_string_equal(on_screen(&t, r, 2), "task-1019 task-1020");
    live_table_free(&t);
    live_sample_free(r);
}

/* Equals keep the result's order, forwards and backwards, and what is not known is last. */
TEST(sorting_is_stable)
{
    struct live_table t;
    struct profile_result *r = live_sample(6);
    for (size_t i = 1; i <= 6; i++)
        r->rows[i].overhead.value = i % 2 ? 0.1 : 0.2;
    r->rows[2].overhead.value = NAN;
    live_table_init(&t);
    t.by = LIVE_BY_OVERHEAD;
    assert_string_equal(on_screen(&t, r, 6), "task-1003 task-1005 task-1000 task-1002 task-1004 task-1001");
    t.reversed = true;
    assert_string_equal(on_screen(&t, r, 6), "task-1000 task-1002 task-1004 task-1003 task-1005 task-1001");
    for (size_t i = 1; i <= 6; i++)
        (void)snprintf(r->rows[i].name, sizeof(r->rows[i].name), i == 3 ? "a" : "b");
    t.by = LIVE_BY_NAME;
    t.reversed = false;
    (void)on_screen(&t, r, 6);
    const size_t want[] = {3, 1, 2, 4, 5, 6}, reversed[] = {1, 2, 4, 5, 6, 3};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(t.order[i].index, want[i]);
    t.reversed = true;
    (void)on_screen(&t, r, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(t.order[i].index, reversed[i]);
    live_table_free(&t);
    live_sample_free(r);
}

TEST(kinds_are_chosen_or_gone_through)
{
    struct live_table t;
    struct profile_result *r = live_sample(2);
    live_table_init(&t);
    assert_string_equal(on_screen(&t, r, SCREEN), "task-1000 task-1001");
    press(&t, r, '\t');
    assert_string_equal(on_screen(&t, r, SCREEN), "box-0 box-1 box-2");
    press(&t, r, '\t');
    assert_string_equal(on_screen(&t, r, SCREEN), "core 0 core 1 core 2 core 3");
    press(&t, r, '\t');
    assert_string_equal(on_screen(&t, r, SCREEN), "task-1000 task-1001");
    press(&t, r, 'o');
    assert_int_equal(t.kind, PROFILE_CORE);
    press(&t, r, 'c');
    assert_int_equal(t.kind, PROFILE_CONTAINER);
    press(&t, r, 't');
    assert_int_equal(t.kind, PROFILE_TASK);
    assert_string_equal(live_table_heading(LIVE_NAME, PROFILE_CONTAINER), "CONTAINER");
    live_table_free(&t);
    live_sample_free(r);
}

TEST(the_selection_moves_and_stays_in_sight)
{
    struct live_table t;
    struct profile_result *r = live_sample(TASKS);
    live_table_init(&t);
    t.by = LIVE_BY_OVERHEAD;
    assert_non_null(live_table_arrange(&t, r, SCREEN));
    press(&t, r, TERMINAL_KEY_UP);
    assert_int_equal(t.selected, 0);
    for (int i = 0; i < SCREEN; i++)
        press(&t, r, i % 2 ? 'j' : TERMINAL_KEY_DOWN);
    assert_int_equal(t.selected, SCREEN);
    assert_int_equal(t.top, 1);
    press(&t, r, TERMINAL_KEY_PAGE_DOWN);
    assert_int_equal(t.selected, 2 * SCREEN - 1);
    press(&t, r, 'G');
    assert_int_equal(t.selected, TASKS - 1);
    assert_int_equal(t.top, TASKS - SCREEN);
    press(&t, r, TERMINAL_KEY_DOWN);
    assert_int_equal(t.selected, TASKS - 1);
    press(&t, r, TERMINAL_KEY_PAGE_UP);
    assert_int_equal(t.selected, TASKS - SCREEN);
    press(&t, r, 'k');
    assert_int_equal(t.selected, TASKS - SCREEN - 1);
    /* a larger screen has no empty end, a smaller one shows the selection */
    (void)on_screen(&t, r, 3 * SCREEN);
    assert_int_equal(t.top, TASKS - 3 * SCREEN);
    (void)on_screen(&t, r, 1);
    assert_int_equal(t.top, t.selected);
    press(&t, r, TERMINAL_KEY_FIRST);
    assert_int_equal(t.selected + t.top, 0);
    live_table_free(&t);
    live_sample_free(r);
}

/* Whoever watches a row sees the same one, wherever it is sorted to; whoever watches the first place, the first. */
TEST(a_selected_row_is_followed)
{
    struct live_table t;
    struct profile_result *r = live_sample(TASKS);
    live_table_init(&t);
    t.by = LIVE_BY_OVERHEAD;
    assert_non_null(live_table_arrange(&t, r, SCREEN));
    assert_string_equal(selected_name(&t, r), "task-1000");
    r->rows[1].overhead.value = 0;
    assert_non_null(live_table_arrange(&t, r, SCREEN));
    assert_string_equal(selected_name(&t, r), "task-1001"); /* nobody chose task-1000 */
    press(&t, r, TERMINAL_KEY_DOWN);
    assert_string_equal(selected_name(&t, r), "task-1002");
    r->rows[3].overhead.value = 0.001;
    assert_non_null(live_table_arrange(&t, r, SCREEN));
    assert_string_equal(selected_name(&t, r), "task-1002");
    assert_int_equal(t.selected, TASKS - 2);
    /* a task of the same number that was started later is another */
    r->rows[3].start_ns = 5;
    r->rows[3].overhead.value = 9;
    assert_non_null(live_table_arrange(&t, r, SCREEN));
    assert_string_not_equal(selected_name(&t, r), "task-1002");
    live_table_free(&t);
    live_sample_free(r);
}

TEST(a_pause_shows_what_was)
{
    struct live_table t;
    struct profile_result *r = live_sample(4), *later = live_sample(2);
    (void)snprintf(later->rows[1].name, sizeof(later->rows[1].name), "new");
    live_table_init(&t);
    t.by = LIVE_BY_OVERHEAD;
    press(&t, r, 'p');
    live_sample_free(r); /* the view shows a copy of its own */
    assert_string_equal(on_screen(&t, later, SCREEN), "task-1000 task-1001 task-1002 task-1003");
    press(&t, later, 'A');
    press(&t, later, 'r');
    assert_string_equal(on_screen(&t, later, SCREEN), "task-1003 task-1002 task-1001 task-1000");
    assert_true(t.frozen->rows[1].culprits[0].row == 4);
    press(&t, later, ' ');
    assert_string_equal(on_screen(&t, later, SCREEN), "task-1001 new");
    press(&t, later, ' ');
    live_sample_free(later);
    live_table_free(&t);
}

TEST(help_and_quit)
{
    struct live_table t;
    live_table_init(&t);
    live_table_key(&t, 'h', SCREEN);
    assert_true(t.help);
    live_table_key(&t, 'p', SCREEN); /* any key leaves it, and does no more */
    assert_false(t.help || t.paused);
    live_table_key(&t, '?', SCREEN);
    assert_true(t.help && !t.quit);
    live_table_key(&t, 'q', SCREEN);
    assert_true(t.quit);
    live_table_free(&t);
}

TEST(no_rows_and_no_such_keys)
{
    struct live_table t;
    struct profile_result none = {.n_rows = 0};
    live_table_init(&t);
    for (int key = -1; key < 0x200; key++)
        if (key != 'p' && key != ' ')
            press(&t, &none, key);
    for (int key = TERMINAL_KEY_UP; key <= TERMINAL_KEY_RIGHT; key++)
        press(&t, &none, key);
    assert_int_equal(t.n, 0);
    press(&t, &none, 'p');
    t.by = LIVE_BY_NAME;
    assert_string_equal(on_screen(&t, &none, SCREEN), "");
    live_table_free(&t);
}

TEST(columns_fit_every_width)
{
    unsigned before = 0;
    for (unsigned width = 1; width < 300; width++) {
        bool shown[LIVE_COLUMNS];
        unsigned name, used = 0, n = 0;
        live_table_columns(width, shown, &name);
        assert_true(shown[LIVE_NAME] && name >= 1);
        for (unsigned c = 0; c < LIVE_COLUMNS; c++) {
            n += shown[c];
            used += c == LIVE_NAME ? name : shown[c] ? live_table_width(c) : 0;
        }
        assert_int_equal(used, width);
        assert_true(n >= before); /* more room never shows less */
        before = n;
        if (n > 1)
            assert_true(shown[LIVE_OVERHEAD]); /* the first to come */
    }
    assert_int_equal(before, LIVE_COLUMNS);
    bool shown[LIVE_COLUMNS];
    unsigned name;
    live_table_columns(80, shown, &name);
    for (unsigned c = 0; c < LIVE_COLUMNS; c++)
        assert_true(shown[c]); /* an ordinary terminal shows all */
}

static void cell_is(const struct profile_row *row, enum live_column column, const char *want)
{
    char text[300];
    live_table_cell(row, column, text, sizeof(text));
    assert_string_equal(text, want);
    assert_true(column == LIVE_NAME || strlen(text) < live_table_width(column));
}

TEST(cells_say_what_is_known)
{
    struct profile_row row = {.overhead = {0.0734, 0.0612, 0.0861}, .sibling = {NAN, NAN, NAN}, .samples = 1234567};
    (void)snprintf(row.name, sizeof(row.name), "\033[2J\xff");
    cell_is(&row, LIVE_NAME, "?[2J\xEF\xBF\xBD");
    cell_is(&row, LIVE_OVERHEAD, "7.3 (6.1 to 8.6)");
    cell_is(&row, LIVE_SIBLING, "-");
    cell_is(&row, LIVE_DELAY, "0.0");
    cell_is(&row, LIVE_SAMPLES, "1234567");
    row.overhead = (struct profile_estimate){1, 0.9996, 1.2};
    cell_is(&row, LIVE_OVERHEAD, "100 (100 to 120)");
    row.overhead = (struct profile_estimate){-0.0001, NAN, NAN};
    cell_is(&row, LIVE_OVERHEAD, "0.0");
    row.overhead = (struct profile_estimate){NAN, 0, 1};
    cell_is(&row, LIVE_OVERHEAD, "-");
    row.overhead = (struct profile_estimate){0.5, 0.25, INFINITY};
    cell_is(&row, LIVE_OVERHEAD, "50.0 (25.0 to -)");
    row.share = 1;
    cell_is(&row, LIVE_SHARE, "100");
    row.demands[2].value = 0.0149;
    cell_is(&row, LIVE_DEMANDS_2, "1.5");
    cell_is(&row, LIVE_DEMANDS_1, "0.0");
    row.causes = 0.999;
    cell_is(&row, LIVE_CAUSES, "99.9");
}
