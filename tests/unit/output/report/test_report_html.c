/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output/report/, output/document/html*.c: the page holds all that it is given, harmlessly, and is well-formed. */
#include <ctype.h>

#include "output/plot/plot_colours.h"
#include "output/report/report.h"
#include "output/plot/plot.h"
#include "output/plot/charts.h"
#include "tables/table/tables.h"
#include "tests/support/sample_tables.h"
#include "tests/support/folder.h"
#include "tests/support/html_reader.h"
#include "tests/support/test.h"

enum { PARTS_MAX = 16 };

static struct html_words words;

/* A report of the sample tables. */
struct example {
    struct report_head head;
    struct report_part parts[PARTS_MAX];
    struct table tables[PARTS_MAX];
    char *svg[PARTS_MAX];
    size_t n;
};

static void make(struct example *e, size_t kernels, unsigned cores, bool plots)
{
    memset(e, 0, sizeof *e);
    const char *const *names = sample_table_names(&e->n);
    for (size_t i = 0; i < e->n; i++) {
        char why[300];
        sample_table(&e->tables[i], names[i], kernels, cores);
        struct chart c;
        bool drawn = plots && table_chart(&e->tables[i], names[i], &c, why, sizeof why) == 0;
        e->svg[i] = drawn ? plot_svg(&c, why, sizeof why) : NULL;
        if (plots)
            chart_free(&c);
        e->parts[i] = (struct report_part){&e->tables[i],
                                           names[i],
                                           "First finding.\nSecond finding.\n",
                                           e->svg[i],
                                           plots ? NULL : "gnuplot is not installed",
                                           {"tables/x.csv", "tables/x.svg"}};
    }
    e->head = (struct report_head){.cpu = "Xeon Gold 6130",
                                   .machine = "model:xeon-gold-6130",
                                   .modelled = true,
                                   .version = "0.1.0",
                                   .seed = "7",
                                   .date = "2026-11-22"};
}

static void end(struct example *e)
{
    for (size_t i = 0; i < e->n; i++) {
        table_free(&e->tables[i]);
        free(e->svg[i]);
    }
}

static char *page_of(const struct example *e)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    char why[300];
    if (report_html(out, &words, &e->head, e->parts, e->n, why, sizeof why) != 0)
        fail_msg("%s", why);
    assert_int_equal(fclose(out), 0);
    return text;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *c = strstr(text, part); c; c = strstr(c + 1, part))
        n++;
    return n;
}

/* ---- tests ---- */

TEST(the_page_is_well_formed_and_alone)
{
    bool plots = plot_possible();
    for (int i = 0; i < 2; i++) {
        struct example e;
        make(&e, i ? 20 : 6, i ? 4 : 16, plots && !i);
        char *page = page_of(&e);
        html_must_be_well_formed(page);
        if (plots && !i)
            assert_int_equal(count(page, "<svg"), e.n);
        assert_true(strncmp(page, "<!DOCTYPE html>\n<html lang=\"en\">", 32) == 0);
        free(page);
        end(&e);
    }
}

TEST(pages_beside_it_are_linked)
{
    static const char *const pages[] = {"profile.html"};
    struct example e;
    make(&e, 6, 4, false);
    char *page = page_of(&e);
    assert_null(strstr(page, "profile.html"));
    free(page);
    e.head.pages = pages;
    e.head.n_pages = 1;
    page = page_of(&e);
    html_must_be_well_formed(page);
    const char *link = strstr(page, "<li><a href=\"profile.html\">profile.html</a></li>");
    assert_true(link && link < strstr(page, "<main>"));
    free(page);
    end(&e);
}

TEST(nasty_texts_do_no_harm)
{
    struct example e;
    make(&e, 6, 4, false);
    const char *texts[] = {sample_nasty};
    e.head = (struct report_head){sample_nasty,
                                  sample_nasty,
                                  sample_nasty,
                                  true,
                                  sample_nasty,
                                  sample_nasty,
                                  sample_nasty,
                                  sample_nasty,
                                  texts,
                                  1,
                                  texts,
                                  1,
                                  false,
                                  texts,
                                  1,
                                  NULL,
                                  sample_nasty,
                                  sample_nasty,
                                  sample_nasty,
                                  sample_nasty};
    for (size_t i = 0; i < e.n; i++) {
        struct table *t = &e.tables[i];
        table_add_missing(t, "%s", sample_nasty);
        table_set_meta(t, "note", sample_nasty);
        table_set_meta(t, sample_nasty, sample_nasty);
        table_set_setting(t, "note", sample_nasty);
        for (size_t c = 0; c < t->n_columns; c++)
            if (t->columns[c].type == TABLE_TEXT)
                table_set_text(t, 0, t->columns[c].name, sample_nasty);
        e.parts[i] = (struct report_part){t,    sample_nasty, sample_nasty,
                                          NULL, sample_nasty, {sample_nasty, "javascript:alert(1)", "//example.org/x"}};
    }
    char *page = page_of(&e);
    char *address = page;
    while ((address = strstr(address, "http")) != NULL) /* as text, or encoded, it may be there */
        memcpy(address, "text", 4);
    html_must_be_well_formed(page);
    assert_non_null(
        strstr(page, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;&#39;`$(x)` ?[31m\xEF\xBF\xBD"));
    assert_null(strstr(page, "\x1b"));
    assert_non_null(strstr(page, "href=\"javascript%3Aalert%281%29\""));
    assert_non_null(strstr(page, "href=\"example.org/x\""));
    free(page);
    end(&e);
}

TEST(every_missing_reason_is_reported_once)
{
    struct example e;
    make(&e, 4, 2, false);
    for (size_t i = 0; i < 40; i++) {
        char why[80], kernel[40];
        snprintf(why, sizeof why, "reason number %zu;", i % 4);
        snprintf(kernel, sizeof kernel, "kernel-%zu-of-40", i);
        table_add_missing(&e.tables[i % 2 ? 7 : 3], "%s", why); /* energy, trigger */
        table_put_text(&e.tables[i % 2 ? 7 : 3], "kernel", kernel);
    }
    char *page = page_of(&e);
    html_must_be_well_formed(page);
    for (size_t i = 0; i < 40; i++) {
        char text[80];
        snprintf(text, sizeof text, "reason number %zu;", i % 4);
        assert_int_equal(count(page, text), 1);
        snprintf(text, sizeof text, "kernel-%zu-of-40", i);
        assert_int_equal(count(page, text), 1);
    }
    /* the same reason in all tables is one */
    assert_int_equal(count(page, "the processor has no AMX unit"), 1);
    assert_int_equal(count(page, "overhead: to amx"), 1);
    free(page);
    end(&e);
}

TEST(nothing_missing_is_said)
{
    struct example e;
    make(&e, 4, 2, false);
    e.n = 0;
    char *page = page_of(&e);
    html_must_be_well_formed(page);
    assert_non_null(strstr(page, "Nothing: everything requested was measured."));
    assert_non_null(strstr(page, "No table has any findings."));
    free(page);
    e.head.incomplete = true; /* a table failed */
    page = page_of(&e);
    assert_null(strstr(page, "Nothing: everything"));
    assert_non_null(strstr(page, "A requested table failed"));
    free(page);
    e.n = 9;
    end(&e);
}

TEST(a_model_has_its_banner)
{
    struct example e;
    make(&e, 4, 2, false);
    char *page = page_of(&e);
    assert_int_equal(count(page, "<strong>Modelled, not measured</strong>"), 1);
    assert_int_equal(count(page, "<strong>Modelled, not measured.</strong>"), e.n);
    assert_non_null(strstr(page, "(modelled)</title>"));
    free(page);
    e.head.modelled = false;
    for (size_t i = 0; i < e.n; i++)
        table_set_meta(&e.tables[i], "modelled", "no");
    page = page_of(&e);
    assert_null(strstr(page, "odelled"));
    free(page);
    end(&e);
}

TEST(findings_are_ten_the_most_important_first)
{
    struct example e;
    make(&e, 4, 2, false);
    char *page = page_of(&e);
    const char *from = strstr(page, "<section id=\"findings\">"), *to = from ? strstr(from, "</section>") : NULL;
    assert_non_null(to);
    char *part = strndup(from, (size_t)(to - from));
    assert_int_equal(count(part, "<li>First finding. "), 9);
    assert_int_equal(count(part, "<li>Second finding. "), 1);
    /* all are reported beside their table */
    assert_int_equal(count(page, "First finding.<br>Second finding."), 9);
    free(part);
    free(page);
    end(&e);
}

TEST(long_tables_open_and_huge_ones_name_their_file)
{
    struct example e;
    make(&e, 2, 1, false);
    e.n = 1;
    struct table *t = &e.tables[0];
    char *page = page_of(&e);
    assert_null(strstr(page, "class=\"more\""));
    free(page);
    while (t->n_rows < HTML_ROWS_MAX + 3) {
        table_add_row(t);
        table_put_number(t, "cpu", 1);
    }
    page = page_of(&e);
    html_must_be_well_formed(page);
    assert_non_null(strstr(page, "<tbody class=\"more\">"));
    assert_non_null(strstr(page, "The first 1000 of 1003 rows; all are in <a href=\"tables/x.csv\">"));
    free(page);
    e.n = 9;
    end(&e);
}

static size_t at(const char *page, const char *part)
{
    const char *found = strstr(page, part);
    if (!found)
        fail_msg("no %s", part);
    return (size_t)(found - page);
}

/* The answer first, then what it rests on, the machine and the method last. */
TEST(sections_are_in_the_order_of_their_weight)
{
    static const char *const order[] = {
        "<section id=\"verdict\">", "<section id=\"findings\">", "<section id=\"course\">",
        "id=\"table-1\"",           "<section id=\"machine\">",  "<section id=\"missing\">",
        "<section id=\"method\">",  "<section id=\"words\">",    "<section id=\"files\">"};
    struct example e;
    make(&e, 4, 2, false);
    char *page = page_of(&e);
    for (size_t i = 1; i < sizeof order / sizeof order[0]; i++)
        assert_true(at(page, order[i - 1]) < at(page, order[i]));
    assert_non_null(strstr(page, "No plot: no switch to wider or heavier code was measured."));
    assert_non_null(strstr(page, "<dt>license level</dt>"));
    assert_non_null(strstr(page, "<dt>break-even time</dt>"));
    free(page);
    e.head.course_title = "128fma \xE2\x86\x92 512fma";
    e.head.course_svg = "<svg viewBox=\"0 0 8 4\"><path d='M1 2'/><g class='tips'><rect x='1'><title>halt</title>"
                        "</rect></g></svg>";
    page = page_of(&e);
    html_must_be_well_formed(page);
    assert_non_null(strstr(page, "<h2>The widest switch: 128fma \xE2\x86\x92 512fma</h2>"));
    assert_non_null(strstr(page, "<path d='M1 2'/><g class='tips'><rect x='1'><title>halt</title>"));
    assert_null(strstr(page, "No plot: no switch"));
    free(page);
    end(&e);
}

/* Long tables are cut on paper: eight rows, and where to find the others. */
TEST(long_tables_are_cut_on_paper)
{
    struct example e;
    char text[100];
    make(&e, 2, 1, false);
    e.n = 1;
    struct table *t = &e.tables[0];
    while (t->n_rows < HTML_ROWS_PAPER) {
        table_add_row(t);
        table_put_number(t, "cpu", 1);
    }
    char *page = page_of(&e);
    assert_null(strstr(page, "On paper:"));
    free(page);
    table_add_row(t);
    page = page_of(&e);
    assert_non_null(
        strstr(page, "<p class=\"note paper\">On paper: the first 8 of 9 rows; all are in tables/x.csv.</p>"));
    snprintf(text, sizeof text, "tbody tr:nth-child(n+%d) { display: none; }", HTML_ROWS_PAPER + 1);
    assert_non_null(strstr(strstr(page, "@media print"), text));
    free(page);
    e.n = 9;
    end(&e);
}

/* One script, which is no less well-formed than the page around it; nothing depends on it. */
TEST(tables_sort_by_a_script_in_the_page)
{
    struct example e;
    make(&e, 4, 2, false);
    char *page = page_of(&e);
    assert_int_equal(count(page, "<script"), 1);
    assert_null(strpbrk(words.script.text, "<&"));
    assert_true(at(page, "<script>") > at(page, "</footer>"));
    assert_null(strstr(page, "<noscript"));
    assert_null(strstr(page, "onclick"));
    free(page);
    end(&e);
}

static char *table_text_of(const struct table *t)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    html_table(out, &words, t, "Caption", "id", NULL);
    assert_int_equal(fclose(out), 0);
    return text;
}

TEST(values_have_their_limits_and_absent_ones_a_dash)
{
    struct table t;
    sample_table_empty(&t, "energy");
    table_add_row(&t);
    table_put_text(&t, "kernel", "512fma");
    table_put_number(&t, "freq_ghz", 2.1);
    table_put_number(&t, "active_cores", 4);
    table_put_text(&t, "mode", "fixed");
    table_put_limits(&t, "watts", 9.125, 9, 9.251);
    table_add_row(&t);
    table_put_text(&t, "kernel", "pause");
    table_put_number(&t, "active_cores", 4);
    table_put_text(&t, "mode", "automatic");
    table_put_limits(&t, "watts", 0.0001, NAN, 0.02);
    char *text = table_text_of(&t);
    assert_non_null(strstr(
        text, "<th scope=\"row\">512fma</th><td class=\"number\">2.10</td><td class=\"number\">4</td><td>fixed</td>"
              "<td class=\"number\" title=\"95 % limits: from 9.00 to 9.25 W\">9.12 <span "
              "class=\"limits\">[9.00,&nbsp;9.25]</span></td>"));
    assert_non_null(strstr(
        text,
        "<td class=\"absent\" title=\"not measured\">\xE2\x80\x93</td><td class=\"number\">4</td><td>automatic</td>"
        "<td class=\"number\" title=\"95 % limits: to 0.02 W\">0.00 <span "
        "class=\"limits\">[\xE2\x80\x93,&nbsp;0.02]</span></td>"));
    assert_null(strstr(text, "_lo"));
    assert_null(strstr(text, "nan"));
    assert_non_null(strstr(text, "No row has a value of: energy per operation, n</p>"));
    assert_non_null(strstr(text, "<caption id=\"id\">Caption</caption>"));
    free(text);
    table_free(&t);
}

TEST(codes_are_written_as_intel_does)
{
    struct table t;
    sample_table(&t, "umask", 2, 1);
    char *text = table_text_of(&t);
    assert_non_null(strstr(text, "<th scope=\"row\" class=\"number\">28H</th><td class=\"number\">01H</td>") ||
                    strstr(text, "28H</th><td class=\"number\">01H</td>"));
    free(text);
    table_free(&t);
}

TEST(sources_that_are_cited_are_listed)
{
    struct example e;
    assert_true(report_cites("as in (G 3.2.2)", 'G'));
    assert_true(report_cites("G 3", 'G'));
    assert_true(report_cites("(G 3.2.3, K).", 'K'));
    assert_false(report_cites("2.1 GHz", 'G'));
    assert_false(report_cites("AVG 3", 'G'));
    assert_false(report_cites("G is", 'G'));
    assert_false(report_cites("", 'G'));
    assert_false(report_cites(NULL, 'G'));
    make(&e, 2, 1, false);
    char *page = page_of(&e);
    assert_non_null(strstr(page, "<dt>G</dt><dd>M. Gottschlag"));
    assert_non_null(strstr(page, "<dt>K</dt>"));
    assert_null(strstr(page, "<dt>Z</dt>"));
    free(page);
    for (size_t i = 0; i < e.n; i++)
        assert_non_null(tables_find(e.tables[i].name)->method);
    assert_null(tables_find("other"));
    end(&e);
}

static char *inlined(const char *svg, int expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(html_svg(out, svg, "p-", "a <title>"), expected);
    assert_int_equal(fclose(out), 0);
    return text;
}

TEST(pictures_are_fitted_into_the_page)
{
    char *text = inlined(
        "<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 800 400\" xmlns=\"x\">\n<title>Gnuplot</title><rect id='a' "
        "fill=\"#ffffff\"/><g id=\"b\" stroke='rgb(  0, 114, 178)' fill=\"rgb(1,2,3)\"><text>id='x' "
        "#ffffff</text></g><use xlink:href='#a' fill='url(#b)'/></svg>",
        0);
    assert_string_equal(
        text, "<svg class=\"plot\" viewBox=\"0 0 800 400\" role=\"img\" aria-label=\"a &lt;title&gt;\">\n<rect "
              "id='p-a' fill=\"var(--paper)\"/><g id=\"p-b\" stroke='var(--series-0)' fill=\"rgb(1,2,3)\"><text>id='x' "
              "#ffffff</text></g><use href='#p-a' fill='url(#p-b)'/></svg>");
    free(text);
    static const char *const refused[] = {"",
                                          "<svg>",
                                          "text",
                                          "<svg viewBox=\"0 0 0 9\"></svg>",
                                          "<svg viewBox=\"0 0 9\"></svg>",
                                          "<svg viewBox=\"0 0 9 9\"><script>1</script></svg>",
                                          "<svg viewBox=\"0 0 9 9\"><image/></svg>",
                                          "<svg viewBox=\"0 0 9 9\"><foreignObject/></svg>"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        text = inlined(refused[i], -1);
        assert_string_equal(text, "");
        free(text);
    }
}

/* Each of the files that the page is made of: without it one line says which, and where it should be. */
TEST(what_is_not_there_is_named)
{
    static const char *const files[] = {"page.html.in", "table.html.in", "style.css", "script.js", "words.json"};
    char folder[FOLDER_PATH_MAX], command[400], why[600];
    struct html_words w;
    folder_make(folder);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(command, sizeof command, "rm -rf %s/* && cp -r data/report %s && rm %s/report/%s", folder, folder,
                 folder, files[i]);
        assert_int_equal(system(command), 0);
        setenv("CHARACTERIZE_DATA", folder, 1);
        assert_int_equal(html_words_read(&w, why, sizeof why), -1);
        setenv("CHARACTERIZE_DATA", "data", 1);
        char name[40];
        snprintf(name, sizeof name, "'%.*s'", (int)strcspn(files[i], "."), files[i]);
        if (!strstr(why, name) || !strstr(why, folder) || !strstr(why, "CHARACTERIZE_DATA"))
            fail_msg("%s: %s", files[i], why);
    }
    static const char *const broken[][2] = {
        {"{", "words.json:"},
        {"[]", "words.json has no object 'columns'"},
        {"{\"columns\": 1}", "words.json has no object 'columns'"},
        {"{\"columns\": {}}", "words.json has no object 'sources'"},
        {"{\"columns\": {}, \"sources\": {}}", "words.json has no object 'glossary'"}};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        snprintf(command, sizeof command, "rm -rf %s/* && cp -r data/report %s && echo '%s' >%s/report/words.json",
                 folder, folder, broken[i][0], folder);
        assert_int_equal(system(command), 0);
        setenv("CHARACTERIZE_DATA", folder, 1);
        assert_int_equal(html_words_read(&w, why, sizeof why), -1);
        setenv("CHARACTERIZE_DATA", "data", 1);
        if (!strstr(why, broken[i][1]) || strncmp(why, folder, strlen(folder)) != 0 || !strstr(why, "restore the file"))
            fail_msg("%s: %s", broken[i][0], why);
    }
    folder_remove(folder);
}

/* A style sheet that names other colours for series and phases than the plots have would not recolour them. */
TEST(colours_of_plots_are_those_of_the_style)
{
    for (size_t i = PLOT_SERIES; i < PLOT_N_COLOURS; i++) {
        char line[60];
        snprintf(line, sizeof line, "%s: %s;", plot_colours[i].variable, plot_colours[i].plain);
        if (!strstr(words.style.text, line))
            fail_msg("%s", line);
    }
}

static double luminance(unsigned colour)
{
    static const double weights[] = {0.0722, 0.7152, 0.2126};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double part = (colour >> 8 * i & 255) / 255.0;
        sum += weights[i] * (part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4));
    }
    return sum;
}

/* WCAG 2.1: from 1 to 21. */
static double contrast(unsigned a, unsigned b)
{
    double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
    return x > y ? x / y : y / x;
}

/* A colour of the page in the light, or (from the style's second list of them) in the dark. */
static unsigned colour_of_page(const char *variable, bool dark)
{
    char name[40];
    const char *list = dark ? strstr(words.style.text, "prefers-color-scheme:dark") : words.style.text;
    assert_non_null(list);
    snprintf(name, sizeof name, "%s: #", variable);
    const char *colour = strstr(list, name), *end = strstr(list, "\n}\n");
    if (!colour || colour > end)
        fail_msg("%s has no colour in the %s", variable, dark ? "dark" : "light");
    colour += strlen(name);
    unsigned value = (unsigned)strtoul(colour, NULL, 16);
    return strspn(colour, "0123456789abcdef") == 6
               ? value
               : (value >> 8) * 0x110000 + (value >> 4 & 15) * 0x1100 + (value & 15) * 0x11;
}

/* The curves of a trace (four at most have colours of their own) and its words cross phases of all kinds. */
TEST(curves_stand_out_from_phases)
{
    static const int drawn[] = {PLOT_INK, PLOT_MUTED, PLOT_SERIES, PLOT_SERIES + 1, PLOT_SERIES + 2, PLOT_SERIES + 3};
    for (int dark = 0; dark < 2; dark++)
        for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++)
            for (int phase = PLOT_PHASE; phase < PLOT_N_COLOURS; phase++) {
                const char *above = plot_colours[drawn[i]].variable, *below = plot_colours[phase].variable;
                double c = contrast(colour_of_page(above, dark), colour_of_page(below, dark));
                if (c < 3)
                    fail_msg("%s on %s in the %s: %.2f", above, below, dark ? "dark" : "light", c);
            }
}

static int read_words(void **state)
{
    char why[300];
    (void)state;
    setenv("CHARACTERIZE_DATA", "data", 1);
    if (html_words_read(&words, why, sizeof why) == 0)
        return 0;
    puts(why);
    return 1;
}

static int free_words(void **state)
{
    (void)state;
    html_words_free(&words);
    return 0;
}

TEST_GROUP(read_words, free_words)
