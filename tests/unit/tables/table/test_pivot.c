/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The printer of tables: alignment, limits, further blocks, text that goes on below itself. */
#include "tables/table/pivot.h"
#include "tests/support/test.h"
#include "util/screen_text.h"

static char *shown(struct pivot *p, bool colour)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    pivot_print(out, colour, p);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void prints(struct pivot *p, const char *expected)
{
    char *text = shown(p, false);
    assert_string_equal(text, expected);
    free(text);
}

TEST(columns_are_aligned_and_limits_in_brackets)
{
    struct pivot p;
    pivot_init(&p, 1, "Title of %d", 3);
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "");
    pivot_word(&p, "above PAUSE");
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "kernel");
    pivot_word(&p, "W");
    pivot_word(&p, "n");
    pivot_word(&p, "note");
    pivot_line(&p, PIVOT_ROW);
    pivot_word(&p, "512fma");
    pivot_value(&p, &(struct estimate){42.71, 42.54, 42.96}, 1);
    pivot_number(&p, 120, 0);
    pivot_word(&p, NULL);
    pivot_line(&p, PIVOT_ROW);
    pivot_word(&p, "64add");
    pivot_value(&p, &(struct estimate){-0.01, NAN, NAN}, 1);
    pivot_number(&p, NAN, 0);
    pivot_text(&p, "%s", "a");
    pivot_more(&p, ", %s", "b");
    prints(&p, "\nTitle of 3\n"
               "              above PAUSE\n"
               "kernel                  W    n  note\n"
               "512fma  42.7 [42.5, 43.0]  120  -\n"
               "64add                 0.0    -  a, b\n");
}

TEST(without_rows_nothing_is_printed)
{
    struct pivot p;
    pivot_init(&p, 1, "Title");
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "kernel");
    prints(&p, "");
}

TEST(names_alone_are_printed_too)
{
    struct pivot p;
    for (size_t names = 0; names < 4; names++) {
        pivot_init(&p, names, NULL);
        pivot_line(&p, PIVOT_ROW);
        pivot_word(&p, "a");
        pivot_word(&p, "b");
        prints(&p, "a  b\n");
    }
    pivot_init(&p, 0, NULL); /* no names: nothing is repeated */
    pivot_line(&p, PIVOT_ROW);
    for (int i = 0; i < 3; i++)
        pivot_text(&p, "%040d", i);
    char expected[200];
    snprintf(expected, sizeof expected, "%040d  %040d\n\n%040d\n", 0, 1, 2);
    prints(&p, expected);
}

TEST(groups_and_asides)
{
    struct pivot p;
    for (int colour = 0; colour < 2; colour++) {
        pivot_init(&p, 1, NULL);
        pivot_line(&p, PIVOT_HEADING);
        pivot_word(&p, "cores");
        pivot_word(&p, "us");
        pivot_line(&p, PIVOT_GROUP);
        pivot_word(&p, "128fma -> 512fma, a line that is wider than all columns");
        pivot_line(&p, PIVOT_ROW);
        pivot_number(&p, 16, 0);
        pivot_number(&p, 1.5, 1);
        pivot_line(&p, PIVOT_ASIDE);
        pivot_number(&p, 16, 0);
        char *text = shown(&p, colour != 0);
        assert_string_equal(
            text, colour ? "cores   us\n\033[1m128fma -> 512fma, a line that is wider than all columns\033[0m\n"
                           "   16  1.5\n\033[2m   16\033[0m\n"
                         : "cores   us\n128fma -> 512fma, a line that is wider than all columns\n   16  1.5\n   16\n");
        free(text);
    }
}

/* 30 columns of 8: the names stand in each block. */
TEST(what_does_not_fit_stands_in_further_blocks)
{
    struct pivot p;
    pivot_init(&p, 1, NULL);
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "from");
    for (int i = 0; i < 30; i++)
        pivot_text(&p, "column%02d", i);
    for (int row = 0; row < 2; row++) {
        pivot_line(&p, PIVOT_ROW);
        pivot_text(&p, "row%d", row);
        for (int i = 0; i < 30; i++)
            pivot_number(&p, 100 * row + i, 0);
    }
    char *text = shown(&p, false);
    int lines = 0, names = 0, blocks = 0, columns = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1, lines++) {
        assert_in_range(end - line, 0, SCREEN_WIDTH);
        names += strncmp(line, "row1 ", 5) == 0;
        blocks += strncmp(line, "from ", 5) == 0;
    }
    for (const char *c = text; (c = strstr(c, "column")); c++)
        columns++;
    assert_int_equal(blocks, 4);
    assert_int_equal(names, blocks);
    assert_int_equal(columns, 30);
    assert_int_equal(lines, 4 * 3 + 3); /* a blank line between them */
    assert_non_null(strstr(text, "row1       109       110"));
    free(text);
}

TEST(text_goes_on_below_itself)
{
    struct pivot p;
    pivot_init(&p, 1, NULL);
    pivot_line(&p, PIVOT_ROW);
    pivot_word(&p, "name");
    pivot_text(&p, "word0");
    for (int i = 1; i < 40; i++)
        pivot_more(&p, " word%d", i);
    pivot_line(&p, PIVOT_ROW);
    pivot_word(&p, "other");
    pivot_word(&p, "short");
    char *text = shown(&p, false);
    assert_int_equal(strncmp(text, "name   word0 word1 ", 19), 0);
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        assert_in_range(end - line, 1, SCREEN_WIDTH);
        if (line > text && strncmp(line, "other", 5) != 0)
            assert_int_equal(strncmp(line, "       word", 11), 0);
    }
    assert_non_null(strstr(text, " word39\nother  short\n"));
    free(text);
}

TEST(foreign_text_is_made_safe)
{
    struct pivot p;
    pivot_init(&p, 1, "%s", "a\033[31mb");
    pivot_line(&p, PIVOT_HEADING);
    pivot_word(&p, "\xce\xbcs\n"); /* two characters of three bytes, and a line end */
    pivot_word(&p, "n");
    pivot_line(&p, PIVOT_ROW);
    pivot_word(&p, "\033[0m");
    pivot_number(&p, 1, 0);
    prints(&p, "\na?[31mb\n\xce\xbcs    n\n?[0m  1\n");
}

static const struct table_column columns[] = {
    {"from", "", TABLE_TEXT, true, 0},       {"to", "", TABLE_TEXT, true, 0},
    {"event", "", TABLE_WHOLE, true, 0},     {"what", "", TABLE_TEXT, true, 0},
    {"share", "1", TABLE_REAL, false, 3},    {"share_lo", "1", TABLE_REAL, false, 3},
    {"share_hi", "1", TABLE_REAL, false, 3}, {"note", "", TABLE_TEXT, false, 0},
};

TEST(rows_of_a_table_as_described)
{
    static const struct pivot_field fields[] = {
        {"from -> to", NULL, PIVOT_PLAIN, pivot_pair}, {"event", "event", PIVOT_PLAIN, NULL},
        {"share", "share", PIVOT_PLAIN, NULL},         {"alone", "share", PIVOT_ALONE, NULL},
        {"%", "share", PIVOT_PERCENT, NULL},           {"note", "note", PIVOT_PLAIN, NULL},
    };
    struct pivot_list l = {.title = "List", .column = "what", .says = "this", .n_names = 1, PIVOT_FIELDS(fields)};
    struct table t;
    table_init(&t, "x", columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < 3; i++) {
        table_add_row(&t);
        table_put_text(&t, "from", i ? "256or" : "64add");
        table_put_text(&t, "to", "512fma");
        table_put_number(&t, "event", 40 + i);
        table_put_text(&t, "what", i == 1 ? "that" : "this");
        if (i == 0)
            table_put_limits(&t, "share", 0.5, 0.25, 0.75);
    }
    assert_false(t.failed);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(pivot_list(out, false, &t, &l));
    l.says = "neither";
    assert_false(pivot_list(out, false, &t, &l)); /* prints nothing */
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "\nList\n"
                              "from -> to       event                 share  alone                  %  note\n"
                              "64add -> 512fma    28H  0.500 [0.250, 0.750]  0.500  50.0 [25.0, 75.0]  -\n"
                              "256or -> 512fma    2AH                     -      -                  -  -\n");
    free(text);
    table_free(&t);
}

/* Rows of two kernels: the time between bursts, their length, a loss with limits, what was counted. */
static void bursts_table(struct table *t)
{
    static const struct table_column burst_columns[] = {{"kernel", "", TABLE_TEXT, true, 0},
                                                        {"every_us", "us", TABLE_REAL, true, 0},
                                                        {"count", "", TABLE_WHOLE, true, 0},
                                                        TABLE_LIMITS("loss", "", 4),
                                                        {"faults", "", TABLE_WHOLE, false, 0}};
    static const struct {
        const char *kernel;
        double every, count, loss;
    } rows[] = {{"512fma", 10, 1, 0.05}, {"512fma", 10, 100, 0.06}, {"512fma", 0.25, 1, 0.08}, {"256or", 10, 1, NAN}};
    table_init(t, "x", burst_columns, sizeof burst_columns / sizeof *burst_columns);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        table_add_row(t);
        table_put_text(t, "kernel", rows[i].kernel);
        table_put_number(t, "every_us", rows[i].every);
        table_put_number(t, "count", rows[i].count);
        table_put_limits(t, "loss", rows[i].loss, rows[i].loss - 0.002, rows[i].loss + 0.002);
        table_put_number(t, "faults", (double)i + 1);
    }
    assert_false(t->failed);
}

static bool is_wide(const struct table *t, size_t row)
{
    return table_says(t, row, "kernel", "512fma");
}

static void expect_view(const struct pivot_list *l, const char *expected)
{
    struct table t;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    bursts_table(&t);
    assert_int_equal(pivot_list(out, false, &t, l), *expected != '\0');
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
    table_free(&t);
}

TEST(rows_as_a_matrix)
{
    static const struct pivot_field every[] = {{"every\nus", "every_us", PIVOT_PLAIN, NULL}};
    struct pivot_list l = {.title = "loss, %",
                           .each = "kernel",
                           .n_names = 1,
                           PIVOT_FIELDS(every),
                           .across.column = "count",
                           .cell = {.column = "loss", .show = PIVOT_HALF_PERCENT}};
    expect_view(&l, "\n512fma: loss, %\n"
                    "every\n"
                    "   us           1         100\n"
                    "   10  5.00 ±0.20  6.00 ±0.20\n"
                    " 0.25  8.00 ±0.20           -\n"
                    "\n256or: loss, %\n"
                    "every\n"
                    "   us  1\n"
                    "   10  -\n");
    l.column = "loss"; /* the rows that have one */
    l.each = "no such column";
    expect_view(&l, "\nloss, %\n"
                    "every\n"
                    "   us           1         100\n"
                    "   10  5.00 ±0.20  6.00 ±0.20\n"
                    " 0.25  8.00 ±0.20           -\n");
}

TEST(lines_that_stand_for_several_rows)
{
    static const struct pivot_field fields[] = {{"count", "count", PIVOT_PLAIN, NULL},
                                                {"all", "faults", PIVOT_SUM, NULL},
                                                {"first", "faults", PIVOT_PLAIN, NULL}};
    struct pivot_list l = {.once = "count", .n_names = 1, PIVOT_FIELDS(fields)};
    expect_view(&l, "count  all  first\n"
                    "    1    8      1\n"
                    "  100    2      2\n");
    l.shows = is_wide;
    expect_view(&l, "count  all  first\n"
                    "    1    4      1\n"
                    "  100    2      2\n");
    l.column = "kernel";
    l.says = "none";
    expect_view(&l, "");
}

TEST(notes_are_wrapped)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    pivot_note(out, 4, "  %s %090d %s", "first", 0, "and more");
    pivot_note(out, 4, "%0120d b", 0); /* a word that no line holds */
    assert_int_equal(fclose(out), 0);
    char expected[400];
    snprintf(expected, sizeof expected, "  first %090d\n    and more\n%0120d\n    b\n", 0, 0);
    assert_string_equal(text, expected);
    free(text);
}
