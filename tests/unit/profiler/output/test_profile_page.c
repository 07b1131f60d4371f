/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles made by hand: their pictures, and the page. */
#include "output/plot/plot.h"
#include "output/plot/plot_colours.h"
#include "tests/support/html_reader.h"
#include "tests/support/profile_shown.h"
#include "tests/support/sample_profile.h"
#include "tests/support/stream_text.h"
#include "tests/support/test.h"

/* ---- pictures ---- */

static char *script_of(const struct profile_result *r, enum profile_kind kind,
                       int (*describe)(const struct profile_result *r, enum profile_kind kind, struct chart *c,
                                       char *why, size_t why_size))
{
    char why[300] = "";
    struct chart c;
    int status = describe(r, kind, &c, why, sizeof why);
    return chart_text(&c, status, why);
}

static unsigned long series(int number)
{
    return strtoul(plot_colours[PLOT_SERIES + number].plain + 1, NULL, 16);
}

TEST(bars_are_split_and_have_limits)
{
    struct profile_result r;
    char line[100];
    sample_profile(&r);
    char *script = script_of(&r, PROFILE_TASK, profile_chart_causes);
    has(script, "'MODELLED, not measured'");
    has(script, "'nginx-8714' 0, 'x265-200' 1, 'sshd-901' 2");
    snprintf(line, sizeof line, "\n5.8 0 0 5.8 -0.36 0.36 %lu\n", series(0));
    has(script, line);
    snprintf(line, sizeof line, "\n7.3 0 5.8 7.3 -0.36 0.36 %lu\n", series(1));
    has(script, line);
    has(script, "\n7.3 0 6.1 8.6\n");
    has(script, "'7.3'");
    has_not(script, "nan");
    has(script, "'Ordered by");
    free(script);
    sample_profile_row(&r, "sshd-901")->overhead.value = NAN; /* without samples: no bar */
    script = script_of(&r, PROFILE_TASK, profile_chart_causes);
    has(script, "'2 of 3. Ordered by");
    free(script);
    script = script_of(&r, PROFILE_TASK, profile_chart_levels);
    snprintf(line, sizeof line, "\n7.3 0 0 7.3 -0.36 0.36 %lu\n", series(3)); /* all of it at level 2 */
    has(script, line);
    free(script);
    sample_profile_without_sources(&r);
    script = script_of(&r, PROFILE_CORE, profile_chart_causes);
    snprintf(line, sizeof line, "\n5.6 0 0 5.6 -0.36 0.36 %lu\n", series(6));
    has(script, line);
    has(script, "not distinguished (--sources)");
    has_not(script, "nan");
    free(script);
    sample_profile_free(&r);
}

TEST(matrix_has_victims_and_culprits)
{
    struct profile_result r;
    sample_profile(&r);
    char *script = script_of(&r, PROFILE_TASK, profile_chart_culprits);
    has(script, "'nginx-8714' 0, 'x265-200' 1)"); /* rows; sshd-901 is no victim by its limits */
    has_not(script, "sshd");
    has(script, "'6.8' at first 0, first 0 ");
    has(script, "'0.3' at first 1, first 0 ");
    has(script, "'unattributed'");
    has(script, "'0.2' at first 2, first 0 ");
    has(script, "'0.4' at first 0, first 1 ");
    has_not(script, "'others'");
    free(script);
    sample_profile_free(&r);
    sample_profile_drawn(&r, 200, 3);
    script = script_of(&r, PROFILE_TASK, profile_chart_culprits);
    has(script, "'others'");
    free(script);
    sample_profile_free(&r);
}

/* Eleven characters fill a cell in the fonts of most browsers. */
TEST(names_above_a_matrix_keep_apart)
{
    struct profile_result r;
    sample_profile(&r);
    for (size_t i = 0; i < r.n_rows; i++)
        r.rows[i].unattributed = 0; /* else "unattributed" is the longest */
    char *script = script_of(&r, PROFILE_TASK, profile_chart_culprits);
    has_not(script, "rotate by 45");
    free(script);
    struct profile_row *culprit = sample_profile_row(&r, "x265-200");
    snprintf(culprit->name, sizeof culprit->name, "steady-1003");
    script = script_of(&r, PROFILE_TASK, profile_chart_culprits);
    has(script, "rotate by 45");
    free(script);
    sample_profile_free(&r);
}

TEST(pictures_are_written)
{
    struct profile_result r;
    char why[400] = "", path[] = "/tmp/profile-XXXXXX.svg";
    if (!plot_possible())
        skip();
    sample_profile(&r);
    sample_profile_nasty(&r);
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    if (profile_plot(&r, path, why, sizeof why) != 0)
        fail_msg("%s", why);
    FILE *in = fdopen(file, "r"); /* it was replaced */
    assert_non_null(in);
    fclose(in);
    in = fopen(path, "r");
    assert_non_null(in);
    char *text = NULL;
    size_t size = 0;
    assert_true(getdelim(&text, &size, '\0', in) > 0);
    has(text, "<svg");
    has(text, "by the license level before the pause");
    has_not(text, "<script>alert");
    free(text);
    fclose(in);
    remove(path);
    assert_int_equal(profile_plot(&r, "/nonexistent/x.svg", why, sizeof why), -2);
    sample_profile_free(&r);
}

/* ---- the page ---- */

TEST(page_is_whole_and_well_formed)
{
    struct profile_result r;
    sample_profile(&r);
    char *page = profile_page_of(&r);
    html_must_be_well_formed(page);
    has(page, "<dt>processor</dt><dd>A &lt;processor&gt;</dd>");
    has(page, "<dt>turns</dt><dd>600 turns: 500 taken, 50 idle, 48 switched, 2 unsettled</dd>");
    has(page, "<li>nginx-8714 loses most: 7.3 % (6.1 to 8.6), ");
    has(page, "<li>nginx-8714: Keep x265-200 off this core&#39;s sibling");
    has(page, ">7.30 <span class=\"limits\">[6.10,&nbsp;8.60]</span>");
    has(page, "doc/profiler.md</code> of characterize 1.2.3");
    size_t pictures = 0;
    for (const char *c = page; (c = strstr(c, "<svg class=\"plot\"")) != NULL; c++)
        pictures++;
    assert_int_equal(pictures, plot_possible() ? 5 : 0);
    if (!plot_possible())
        has(page, "gnuplot is not installed");
    free(page);
    sample_profile_free(&r);
}

/* In the rows of tasks there is no room for them. */
TEST(command_lines_have_a_table_of_their_own)
{
    struct profile_result r;
    sample_profile(&r);
    char *page = profile_page_of(&r);
    has_not(page, "Command lines");
    has_not(page, "No row has a value of: command");
    free(page);
    struct profile_row *task = sample_profile_row(&r, "x265-200");
    snprintf(task->command, sizeof task->command, "x265 --preset slow in.y4m");
    page = profile_page_of(&r);
    html_must_be_well_formed(page);
    has(page, "Command lines</caption>");
    has(page, "<tr><th scope=\"row\">x265-200</th><td>x265 --preset slow in.y4m</td></tr>");
    free(page);
    sample_profile_free(&r);
}

TEST(page_is_harmless_whatever_names_hold)
{
    struct profile_result r;
    sample_profile(&r);
    sample_profile_nasty(&r);
    char *page = profile_page_of(&r), *address = page;
    while ((address = strstr(address, "http")) != NULL) /* as text it may be there */
        memcpy(address, "text", 4);
    html_must_be_well_formed(page);
    has(page, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;");
    static const char *const never[] = {"<script>alert", "<img", "\033", ">nan"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        has_not(page, never[i]);
    free(page);
    sample_profile_free(&r);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
