/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles made by hand: what is printed, as JSON and CSV; also without rows, with very many, and with names that mean
 * harm. Their whole text is compared in tests/unit/test_golden.c. */
#include "tests/support/html_reader.h"
#include "tests/support/profile_shown.h"
#include "tests/support/sample_profile.h"
#include "tests/support/stream_text.h"
#include "tests/support/test.h"
#include "util/splitmix64.h"

enum { MANY = 10000, ROWS_PRINTED = 20 };

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected))))
        fail_msg("%.15g is not %.15g", value, expected);
}

/* Without a row, and without a turn: it was ended at once. */
static void make_empty(struct profile_result *r)
{
    sample_profile(r);
    for (size_t i = 0; i < r->n_rows; i++)
        free(r->rows[i].culprits);
    r->n_rows = 0;
    memset(r->turns, 0, sizeof r->turns);
    r->totals = (struct profile_source_totals){.seconds = 0.1};
}

/* ---- text ---- */

TEST(figures_have_the_digits_that_their_limits_leave)
{
    static const struct {
        struct profile_estimate e;
        const char *is, *said;
    } cases[] = {
        {{0.0731, 0.0612, 0.0858}, "7.3 (6.1 to 8.6)", "7.3 % (6.1 to 8.6)"},
        {{0.00412, 0.00374, 0.00449}, "0.41 (0.37 to 0.45)", "0.41 % (0.37 to 0.45)"},
        {{0.35, 0.1, 0.6}, "35 (10 to 60)", "35 % (10 to 60)"},
        {{0, 0, 0.057}, "0.0 (0.0 to 5.7)", "0.0 % (0.0 to 5.7)"},
        {{-1e-9, -1e-9, 0.057}, "0.0 (0.0 to 5.7)", "0.0 % (0.0 to 5.7)"}, /* never -0.0 */
        {{0.0731, NAN, NAN}, "7.3", "7.3 %"},
        {{NAN, 0, 1}, "-", "-"},
        {{INFINITY, 0, 1}, "-", "-"},
        {{1e300, NAN, NAN}, "1000000.0", "1000000.0 %"},
        {{0.5, -1e300, 1e300}, "50 (-1000000 to 1000000)", "50 % (-1000000 to 1000000)"},
    };
    char text[PROFILE_PERCENT_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(profile_percent(&cases[i].e, text), cases[i].is);
        assert_string_equal(profile_percent_said(&cases[i].e, text), cases[i].said);
    }
}

TEST(long_names_keep_both_ends)
{
    static const struct {
        const char *name;
        size_t most;
        const char *is;
    } cases[] = {{"nginx-8714", 10, "nginx-8714"},
                 {"/system.slice/nginx.service", 20, "/system.\xE2\x80\xA6inx.service"},
                 {"\xC3\xA4\xC3\xB6\xC3\xBC-\xC3\x9F-\xE2\x82\xAC-0123456789", 8,
                  "\xC3\xA4\xC3\xB6\xE2\x80\xA6"
                  "56789"},
                 {"a\nb\xff", 8, "a b\xEF\xBF\xBD"}};
    char text[PROFILE_NAME_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(profile_short_name(cases[i].name, cases[i].most, text), cases[i].is);
    char longest[256];
    memset(longest, '\xff', sizeof longest - 1); /* each byte becomes three */
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(strlen(profile_short_name(longest, 255, text)), 3 * 255);
    assert_int_equal(strlen(profile_short_name(longest, 20, text)), 3 * 20);
}

TEST(models_are_distinguished_from_machines)
{
    struct profile_result r;
    sample_profile(&r);
    char *text = profile_text_of(&r, false, ROWS_PRINTED), *page = profile_page_of(&r);
    assert_true(strncmp(text, "Remote overhead (modelled, not measured)\n", 41) == 0);
    has(page, "profile (modelled)</title>");
    has(page, "<strong>Modelled, not measured</strong>");
    free(text);
    free(page);
    r.info.modelled = false;
    r.head.command = "make -j8";
    text = profile_text_of(&r, false, ROWS_PRINTED);
    page = profile_page_of(&r);
    assert_true(strncmp(text, "Remote overhead: make -j8\n", 26) == 0);
    has(page, "<h1>make -j8</h1>");
    has_not(text, "odelled");
    has_not(page, "odelled, not");
    has_not(page, "(modelled)");
    free(text);
    free(page);
    sample_profile_free(&r);
}

/* A terminal gets the same text except for colors, which end where they began. */
TEST(colours_are_only_where_they_may_be)
{
    struct profile_result r;
    sample_profile(&r);
    char *plain = profile_text_of(&r, false, ROWS_PRINTED), *colour = profile_text_of(&r, true, ROWS_PRINTED);
    bool on = false;
    size_t n = 0;
    assert_null(strchr(plain, '\033'));
    has(colour, "\033[2msshd-901"); /* which nothing is known of */
    for (char *c = colour; *c;) {
        if (*c != '\033') {
            assert_int_equal(*c, plain[n]);
            n++;
            c++;
            continue;
        }
        bool ends = strncmp(c, "\033[0m", 4) == 0;
        assert_true(ends == on);
        on = !ends;
        c += strcspn(c, "m") + 1;
    }
    assert_false(on);
    assert_int_equal(n, strlen(plain));
    free(plain);
    free(colour);
    sample_profile_free(&r);
}

TEST(what_is_not_measured_is_said_with_its_remedy)
{
    struct profile_result r;
    sample_profile(&r);
    char *text = profile_text_of(&r, false, ROWS_PRINTED);
    has(text, "  sibling  delay  ");
    has(text, ", 3.6 % due to\n  siblings and 0.9 % due to delays.");
    has_not(text, "--sources");
    has_not(text, "--params");
    free(text);
    sample_profile_without_sources(&r);
    sample_profile_without_table(&r);
    text = profile_text_of(&r, false, ROWS_PRINTED);
    has_not(text, "  sibling  delay  ");
    has_not(text, "% due to siblings");
    has_not(text, "What would help");
    has(text, "Not measured: how much is due to siblings and how much to delays; --sources");
    has(text, "--params EXPORT.json");
    has(text, "no\n  frequency table\n");
    free(text);
    /* --sources distinguishes nothing where no core has two hyper-threads */
    r.info.cpus = r.info.cores;
    text = profile_text_of(&r, false, ROWS_PRINTED);
    has_not(text, "--sources");
    r.info.cpus = 2 * r.info.cores;
    free(text);
    char *page = profile_page_of(&r);
    has(page, "--sources distinguishes them.</li>");
    has(page, "No advice: ");
    free(page);
    sample_profile_free(&r);
}

TEST(nothing_is_claimed_that_limits_do_not_bear)
{
    struct profile_result r;
    sample_profile(&r);
    r.rows[0].overhead = (struct profile_estimate){0.004, 0, 0.021};
    sample_profile_row(&r, "nginx-8714")->overhead.lo = 0;
    char *text = profile_text_of(&r, false, ROWS_PRINTED);
    has(text, "No remote overhead was found: it is at most 2.1 %.\n");
    has_not(text, "loses most");
    has_not(text, "costs others most");
    has_not(text, "nginx-8714  x265-200"); /* whom it is slowed by */
    free(text);
    /* nor where too much was lost for a bound */
    r.rows[0].open = true;
    r.n_doubts = 1;
    snprintf(r.doubts[0], sizeof r.doubts[0], "Much was lost.");
    text = profile_text_of(&r, false, ROWS_PRINTED);
    has(text, "No remote overhead was found, but there may be some");
    has_not(text, "at most");
    has(text, "What limits these figures\n  Much was lost.\n");
    free(text);
    text = profile_csv_of(&r);
    has(text, "Much was lost.");
    free(text);
    json_t *root = profile_json_of(&r);
    assert_string_equal(json_string_value(json_array_get(json_object_get(root, "warnings"), 0)), "Much was lost.");
    json_decref(root);
    sample_profile_free(&r);
}

TEST(turns_that_came_to_nothing_are_reported)
{
    struct profile_result r;
    sample_profile(&r);
    r.turns[PROFILE_UNCOUNTED] = 100;
    r.turns[PROFILE_OFF_TABLE] = 20; /* less than a twentieth of 670 */
    r.rows[0].not_limited = 0.25;
    r.totals.lost = 3;
    char *text = profile_text_of(&r, false, ROWS_PRINTED);
    has(text, "720 turns: 500 taken, 50 idle, 48 switched, 100 uncounted, 2 unsettled, 20 off-table\n");
    has(text, "15 % of the turns in which a task ran were uncounted: others use the counters");
    has_not(text, "were off-table");
    has(text, "In 25.0 % of the samples the clock was limited by something other");
    has(text, "; 3 records were lost\n");
    free(text);
    sample_profile_free(&r);
}

TEST(nothing_taken_is_said)
{
    struct profile_result r;
    make_empty(&r);
    char *text = profile_text_of(&r, true, ROWS_PRINTED), *page = profile_page_of(&r);
    has(text, "There was no turn: there are no results.\n");
    has(page, "<li>There was no turn: there are no results.</li>");
    has(page, "No plot: no row has any samples.");
    html_must_be_well_formed(page);
    free(page);
    free(text);
    r.turns[PROFILE_UNCOUNTED] = 7;
    r.turns[PROFILE_IDLE] = 2;
    text = profile_text_of(&r, false, ROWS_PRINTED);
    has(text, "9 turns: 2 idle, 7 uncounted\n");
    has(text, "No turn was taken, most were uncounted: there are no results.\n");
    free(text);
    r.setup.flags |= PROFILE_REHEARSAL;
    text = profile_text_of(&r, false, ROWS_PRINTED);
    has(text, "A rehearsal: timers and pauses only, nothing was counted.\n");
    has_not(text, "there are no results");
    free(text);
    json_t *root = profile_json_of(&r);
    assert_true(json_is_null(json_object_get(root, "all")));
    assert_true(json_is_true(json_object_get(root, "rehearsal")));
    assert_int_equal(json_array_size(json_object_get(root, "tasks")), 0);
    assert_true(json_is_null(json_object_get(json_object_get(root, "cost"), "pause_us_max")));
    json_decref(root);
    char *csv = profile_csv_of(&r), why[200];
    has(csv, "\nkind,name,");
    assert_null(strstr(csv, "\ntask,"));
    free(csv);
    assert_int_equal(profile_plot(&r, "never-written.svg", why, sizeof why), -1);
    assert_string_equal(why, "no row has any samples");
    sample_profile_free(&r);
}

TEST(rows_that_are_not_shown_are_summed_up)
{
    struct profile_result r;
    sample_profile(&r);
    char *text = profile_text_of(&r, false, 1);
    /* x265-200 loses 0.4 % of 30 % and sshd-901 0.3 % of 10 % of the time */
    has(text, "\nnginx-8714   60.0  7.3 (6.1 to 8.6)");
    has_not(text, "\nsshd-901 ");
    has(text, "and 2 others, together 40.0 % of the time, with an overhead of 0.4 %\n");
    free(text);
    sample_profile_free(&r);
    sample_profile_drawn(&r, MANY, 1);
    text = profile_text_of(&r, false, ROWS_PRINTED);
    no_line_is_longer_than(100, text);
    size_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    assert_true(lines > 3 * 5 && lines < 200);
    free(text);
    sample_profile_free(&r);
}

TEST(any_name_can_be_printed)
{
    struct profile_result r;
    sample_profile(&r);
    sample_profile_nasty(&r);
    char *text = profile_text_of(&r, false, ROWS_PRINTED);
    for (const char *c = text; *c; c++)
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
    has_not(text, "\xff");
    free(text);
    for (size_t i = 0; i < r.n_rows; i++) {
        memset(r.rows[i].name, 'w', sizeof r.rows[i].name - 1);
        snprintf(r.rows[i].advice, sizeof r.rows[i].advice, "Keep it off.");
        r.rows[i].overhead = (struct profile_estimate){12.345, 6.789, 123.456};
        r.rows[i].by_level[1].value = r.rows[i].by_level[2].value = r.rows[i].sibling.value = 12.345;
        r.rows[i].samples = UINT64_MAX;
    }
    r.head.n_warnings = 0;
    r.head.command = "short";
    text = profile_text_of(&r, false, ROWS_PRINTED);
    no_line_is_longer_than(100, text);
    free(text);
    sample_profile_free(&r);
}

/* Rows that do not belong together, culprits that there are not: a result from another's hands. */
TEST(broken_results_do_no_harm)
{
    struct profile_result r;
    sample_profile(&r);
    struct profile_row *victim = sample_profile_row(&r, "nginx-8714");
    victim->culprits[0].row = 1000;
    victim->culprits[1].overhead = NAN;
    victim->share = NAN;
    r.info.name = r.info.cpu = r.info.notes = NULL;
    r.head = (struct profile_head){.version = NULL};
    r.setup.mean_us = 0;
    r.setup.n_bins = UINT32_MAX;
    r.info.cores = 0;
    char *text = profile_text_of(&r, false, ROWS_PRINTED), *csv = profile_csv_of(&r), *page = profile_page_of(&r);
    json_t *root = profile_json_of(&r);
    assert_int_equal(json_array_size(json_object_get(root, "table")), PROFILE_BINS_MAX);
    const json_t *task = json_array_get(json_object_get(root, "tasks"), 0);
    assert_int_equal(json_array_size(json_object_get(task, "culprits")), 0);
    has(text, "unknown processor, unknown source");
    has_not(text, "nan");
    has_not(csv, "nan");
    has_not(page, ">nan");
    json_decref(root);
    free(text);
    free(csv);
    free(page);
    sample_profile_free(&r);
}

/* Any bits as numbers: what is printed has no "nan", no "inf" and lines that fit, and JSON is JSON. */
TEST(any_figures_can_be_reported)
{
    uint64_t bits = 1;
    for (int round = 0; round < 300; round++) {
        struct profile_result r;
        sample_profile(&r);
        for (size_t i = 0; i < r.n_rows; i++) {
            struct profile_row *row = &r.rows[i];
            struct profile_estimate *estimates[] = {&row->overhead,  &row->sibling,     &row->delay,
                                                    &row->reduced,   &row->by_level[1], &row->by_level[2],
                                                    &row->demands[1]};
            for (size_t k = 0; k < sizeof estimates / sizeof *estimates; k++)
                for (size_t part = 0; part < 3; part++) {
                    double *x = part == 0 ? &estimates[k]->value : part == 1 ? &estimates[k]->lo : &estimates[k]->hi;
                    uint64_t random = splitmix64(bits++);
                    if (random % 3 == 0)
                        memcpy(x, &random, sizeof *x);
                }
            uint64_t random = splitmix64(bits++);
            memcpy(random & 1 ? &row->share : &row->causes, &random, sizeof row->share);
            memcpy(random & 2 ? &row->unattributed : &row->not_limited, &random, sizeof row->share);
        }
        char *text = profile_text_of(&r, false, ROWS_PRINTED), *csv = profile_csv_of(&r);
        has_not(text, "nan");
        has_not(text, "inf");
        no_line_is_longer_than(100, text);
        has_not(csv, "nan");
        has_not(csv, "inf");
        json_decref(profile_json_of(&r));
        free(text);
        free(csv);
        sample_profile_free(&r);
    }
}

/* ---- JSON ---- */

/* No number is there that is not known. */
static void has_no_zero_for_unknown(const json_t *row)
{
    static const char *const unknown[] = {"sibling", "sibling_ci95", "delay", "delay_ci95"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_true(json_is_null(json_object_get(row, unknown[i])));
}

static double json_at(const json_t *o, const char *key, size_t index)
{
    return json_number_value(json_array_get(json_object_get(o, key), index));
}

TEST(json_has_all_and_null_for_unknown)
{
    struct profile_result r;
    sample_profile(&r);
    json_t *root = profile_json_of(&r);
    assert_string_equal(json_string_value(json_object_get(root, "format")), "characterize-profile/1");
    assert_string_equal(json_string_value(json_object_get(root, "kind")), "overhead");
    assert_true(json_is_true(json_object_get(root, "modelled")));
    assert_true(json_is_true(json_object_get(root, "sources")));
    near(json_number_value(json_object_get(root, "rate_hz")), 50);
    near(json_number_value(json_object_get(json_object_get(root, "cost"), "duty")), 0.0175);
    near(json_at(json_array_get(json_object_get(root, "table"), 1), "ghz", 2), 2.4);
    assert_true(json_is_null(json_array_get(json_object_get(root, "change_us"), 0)));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "turns"), "switched")), 48);
    near(json_number_value(json_object_get(json_object_get(root, "all"), "overhead")), 0.045);
    const json_t *nginx = json_array_get(json_object_get(root, "tasks"), 0);
    assert_string_equal(json_string_value(json_object_get(nginx, "name")), "nginx-8714");
    assert_int_equal(json_integer_value(json_object_get(nginx, "pid")), 8714);
    near(json_number_value(json_object_get(nginx, "overhead")), 0.073);
    near(json_at(nginx, "overhead_ci95", 0), 0.061);
    near(json_at(nginx, "overhead_ci95", 1), 0.086);
    near(json_at(nginx, "by_level", 2), 0.073);
    near(json_number_value(json_array_get(json_array_get(json_object_get(nginx, "by_level_ci95"), 2), 1)), 0.0803);
    const json_t *culprit = json_array_get(json_object_get(nginx, "culprits"), 0);
    assert_string_equal(json_string_value(json_object_get(culprit, "name")), "x265-200");
    assert_int_equal(json_integer_value(json_object_get(culprit, "pid")), 200);
    assert_null(json_object_get(json_array_get(json_object_get(root, "cores"), 1), "pid"));
    assert_int_equal(json_integer_value(json_object_get(json_array_get(json_object_get(root, "cores"), 1), "core")), 1);
    assert_int_equal(
        json_integer_value(json_object_get(json_array_get(json_object_get(root, "containers"), 1), "cgroup")), 78);
    json_decref(root);
    sample_profile_without_sources(&r);
    sample_profile_without_table(&r);
    root = profile_json_of(&r);
    has_no_zero_for_unknown(json_object_get(root, "all"));
    has_no_zero_for_unknown(json_array_get(json_object_get(root, "tasks"), 0));
    assert_true(json_is_null(json_object_get(root, "params")));
    assert_true(json_is_null(json_object_get(root, "wait_us")));
    assert_int_equal(json_array_size(json_object_get(root, "table")), 0);
    json_decref(root);
    sample_profile_free(&r);
}

TEST(json_holds_any_name)
{
    struct profile_result r;
    sample_profile(&r);
    sample_profile_nasty(&r);
    json_t *root = profile_json_of(&r);
    const char *name = json_string_value(json_object_get(json_array_get(json_object_get(root, "tasks"), 0), "name"));
    has(name, "<script>");
    assert_null(strchr(name, '\033'));
    json_decref(root);
    sample_profile_free(&r);
}

TEST(very_many_rows_are_all_there)
{
    struct profile_result r;
    sample_profile_drawn(&r, MANY, 2);
    json_t *root = profile_json_of(&r);
    assert_int_equal(json_array_size(json_object_get(root, "tasks")), MANY);
    assert_int_equal(json_array_size(json_object_get(root, "containers")), MANY / 10);
    json_decref(root);
    char *csv = profile_csv_of(&r);
    size_t lines = 0;
    for (const char *line = csv; *line; line += strcspn(line, "\n") + 1)
        lines += *line != '#';
    assert_int_equal(lines, 1 + r.n_rows);
    free(csv);
    char *page = profile_page_of(&r);
    html_must_be_well_formed(page);
    has(page, "The first 1000 of 10000 rows");
    assert_true(strlen(page) < 4000000);
    free(page);
    sample_profile_free(&r);
}

/* ---- CSV ---- */

/* The fields of a line (RFC 4180), and its end. */
static size_t csv_fields(const char **line)
{
    size_t n = 1;
    bool quoted = false;
    const char *c = *line;
    for (; *c && (quoted || *c != '\n'); c++)
        if (*c == '"')
            quoted = !quoted;
        else
            n += *c == ',' && !quoted;
    assert_false(quoted);
    *line = c + (*c == '\n');
    return n;
}

TEST(every_line_of_csv_has_all_columns)
{
    for (int nasty = 0; nasty < 2; nasty++) {
        struct profile_result r;
        sample_profile(&r);
        if (nasty)
            sample_profile_nasty(&r);
        char *csv = profile_csv_of(&r);
        const char *line = csv;
        size_t columns = 0, rows = 0;
        while (*line == '#')
            line += strcspn(line, "\n") + 1;
        has(csv, "# table: profile\n");
        for (; *line; rows++) {
            size_t n = csv_fields(&line);
            columns = columns ? columns : n;
            assert_int_equal(n, columns);
        }
        assert_int_equal(rows, 1 + r.n_rows);
        assert_null(strchr(csv, '\033'));
        free(csv);
        sample_profile_free(&r);
    }
}

TEST(csv_leaves_out_what_is_not_known)
{
    struct profile_result r;
    sample_profile(&r);
    char *csv = profile_csv_of(&r);
    has(csv, ",0.6,0.073,0.061,0.086,0.058,0.0522,0.0638,0.015,");
    has(csv, "# sources: yes\n");
    has(csv, ",x265-200,0.068,0.002,0.05,");
    free(csv);
    sample_profile_without_sources(&r);
    csv = profile_csv_of(&r);
    has(csv, ",0.6,0.073,0.061,0.086,,,,,,,");
    has(csv, "# sources: no\n");
    free(csv);
    sample_profile_free(&r);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1);
}
