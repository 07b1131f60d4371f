/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filling templates: values in a line, of several lines, absent ones, and paragraphs that go. */
#include "tests/support/test.h"
#include "util/template.h"

static void print_lines(FILE *out, int n)
{
    for (int i = 0; i < n; i++)
        fprintf(out, "line %d\n", i);
}

/* The template filled with NAME = value, TWO = two lines, NONE = nothing, NO_LINES = no lines. */
static int fill(const char *text, char *out, size_t size, char *why, size_t why_size)
{
    struct template_values v;
    memset(out, 0, size);
    FILE *stream = fmemopen(out, size, "w");
    assert_non_null(stream);
    assert_true(template_begin(&v));
    fputs("value", template_value(&v, "NAME"));
    print_lines(template_value(&v, "TWO"), 2);
    template_value(&v, "NONE");
    print_lines(template_value(&v, "NO_LINES"), 0);
    template_flag(&v, "YES", true);
    template_flag(&v, "NO", false);
    char named[600]; /* every value has a place, as it must */
    snprintf(named, sizeof named, "@NO?@@NAME?@@TWO?@@NONE?@@NO_LINES?@@YES?@\n\n%s", text);
    char path[] = "some.in";
    const struct template_file file = {path, named};
    int status = template_fill(&file, &v, stream, why, why_size);
    fclose(stream);
    template_values_free(&v);
    return status;
}

TEST(test_fill)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"plain\n", "plain\n"},
        {"a @NAME@ b@NAME@\n", "a value bvalue\n"},
        {"@TWO@\nend\n", "line 0\nline 1\nend\n"},
        {"begin\n@NONE@\nend\n", "begin\nend\n"},
        {"begin\n@NONE@@NO_LINES@\nend\n", "begin\nend\n"},
        {"begin\n@NONE@ \nend\n", "begin\n \nend\n"},
        {"one\n\n\ntwo\n", "one\n\n\ntwo\n"},
        {"one\n\nbegin\n@NO_LINES?@\nend\n\ntwo\n", "one\n\ntwo\n"},
        {"one\n\nbegin\n@TWO?@\nend\n\ntwo\n", "one\n\nbegin\nline 0\nline 1\nend\n\ntwo\n"},
        {"one\n\nbegin @NAME!@\n\ntwo\n", "one\n\ntwo\n"},
        {"one\n\nbegin\n@NONE!@\nend\n\ntwo\n", "one\n\nbegin\nend\n\ntwo\n"},
        {"@YES?@\n@NO!@\nboth\n\n@YES?@@NO?@\nnot both\n\n@YES!@\nno\n", "both\n\n"},
        {"one\n\n<@NONE?@@NAME@>\n", "one\n\n"},
        {"@# a comment, @UNKNOWN@\nplain\n", "plain\n"},
        {"mail@host @media @ @@ @NAME @name@ @?@ @NAME@\n", "mail@host @media @ @@ @NAME @name@ @?@ value\n"},
        {"no end @NAME@", "no end value\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[200], why[200] = "";
        assert_int_equal(fill(cases[i][0], out, sizeof out, why, sizeof why), 0);
        assert_string_equal(out, cases[i][1]);
    }
}

TEST(test_unknown_name)
{
    char out[200], why[200] = "";
    assert_int_equal(fill("@NAME@ @OTHER_1@\n", out, sizeof out, why, sizeof why), -1);
    assert_non_null(strstr(why, "some.in names @OTHER_1@"));
    assert_string_equal(out, "");
}

/* An emptied or damaged file must not pass for a template: what it leaves out would be missing unseen. */
TEST(test_no_place_for_a_value)
{
    static char empty[] = "", plain[] = "plain NAME\n", comment[] = "@# @NAME@\nplain\n", one[] = "@NAME@\n",
                both[] = "@NAME@\n\n@NAME!@ @OTHER@\n";
    char *const texts[] = {empty, plain, comment, one, both};
    static const char *const lacks[] = {"@NAME@", "@NAME@", "@NAME@", "@OTHER@", NULL};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct template_values v;
        char out[200] = "", why[200] = "", path[] = "folder/some.in";
        const struct template_file file = {path, texts[i]};
        FILE *stream = fmemopen(out, sizeof out, "w");
        assert_non_null(stream);
        assert_true(template_begin(&v));
        fputs("value", template_value(&v, "NAME"));
        fputs("value", template_value(&v, "OTHER"));
        assert_int_equal(template_fill(&file, &v, stream, why, sizeof why), lacks[i] ? -1 : 0);
        fclose(stream);
        template_values_free(&v);
        assert_string_equal(out, lacks[i] ? "" : "value\n\n");
        if (lacks[i] && (!strstr(why, "folder/some.in has no @") || !strstr(why, lacks[i])))
            fail_msg("%s", why);
    }
}

TEST(test_too_many_values)
{
    struct template_values v;
    char why[200] = "";
    assert_true(template_begin(&v));
    for (int i = 0; i <= TEMPLATE_VALUES_MAX; i++)
        fprintf(template_value(&v, "NAME"), "%d", i);
    char path[] = "some.in", text[] = "@NAME@\n";
    const struct template_file file = {path, text};
    assert_int_equal(template_fill(&file, &v, stdout, why, sizeof why), -1);
    assert_string_equal(why, "out of memory");
    template_values_free(&v);
}

TEST(test_read)
{
    char why[400] = "";
    setenv("CHARACTERIZE_DATA", "data", 1);
    struct template_file file;
    assert_int_equal(template_read(&file, "export", "header", ".h.in", why, sizeof why), 0);
    assert_non_null(strstr(file.text, "@POINTS?@"));
    assert_string_equal(file.path, "data/export/header.h.in");
    template_file_free(&file);
    assert_int_equal(template_read(&file, "export", "nothing", ".h.in", why, sizeof why), -1);
    assert_null(file.text);
    assert_non_null(strstr(why, "nothing"));
    assert_non_null(strstr(why, "header"));
}
