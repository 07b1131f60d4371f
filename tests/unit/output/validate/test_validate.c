/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Published figures: the files, shipped and broken ones, and the verdicts on tables made by hand. */
#include <sys/stat.h>
#include <unistd.h>

#include "output/validate/validate.h"
#include "tests/support/random_numbers.h"
#include "tests/support/schedule_tables.h"
#include "tables/published/sku.h"
#include "tables/table/tables.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

#define HEAD "format = characterize-sku/1\n[sku]\nname = N # s\nbrand = Gold 6130 # s\n"

static struct machine_error refused;
static const char *const why = refused.text;

static int parse(const char *text, struct sku *s)
{
    return sku_parse(text, strlen(text), "some.sku", s, &refused);
}

static void parse_or_fail(const char *text, struct sku *s)
{
    if (parse(text, s) != 0)
        fail_msg("%s", why);
}

/* ---- files ---- */

TEST(test_figures)
{
    struct sku s;
    parse_or_fail("# first\n\n" HEAD "[frequency]\nlevel=0  active_cores=1-2 : freq_ghz = 3.7 # table 1 # really\n"
                  "[throttle]\nfrom=128fma,64add to=256fma : mean ipc_ratio = 1/4 ~ 0.1 # s\r\n"
                  "[relaxation]\n: wait_us = 650..680 ~ 10% # s\n [umask] \nevent=0x28 umask=7 : share = - # s\n"
                  "[trigger]\nwhat=\"density limit\"  level=2 : rate_per_cycle = about 1/2 # s",
                  &s);
    assert_string_equal(s.name, "N");
    assert_int_equal(s.n_figures, 5);
    const struct sku_figure *f = s.figures;
    assert_string_equal(f->table, "frequency");
    assert_string_equal(f->where, "level=0 active_cores=1-2");
    assert_string_equal(f->column, "freq_ghz");
    assert_string_equal(f->source, "table 1 # really");
    assert_int_equal(f->line, 8);
    assert_int_equal(f->n_keys, 2);
    assert_true(f->keys[1].is_number && f->keys[1].lo == 1 && f->keys[1].hi == 2);
    assert_true(f->published && f->lo == 3.7 && f->hi == 3.7 && isnan(f->tolerance) && !f->mean);
    assert_true(f[1].mean && f[1].lo == 0.25 && f[1].tolerance == 0.1);
    assert_false(f[1].keys[0].is_number);
    assert_true(f[2].lo == 650 && f[2].hi == 680 && fabs(f[2].tolerance - 68) < 1e-9);
    assert_int_equal(f[2].n_keys, 0);
    assert_true(!f[3].published && f[3].keys[0].lo == 40);
    assert_string_equal(f[4].where, "what=\"density limit\" level=2");
    assert_string_equal(f[4].keys[0].text, "density limit");
    assert_true(f[4].keys[1].lo == 2 && f[4].lo == 0.5 && f[4].rounding == 0.05);
    sku_free(&s);
}

TEST(test_refused_files)
{
    static const char *const cases[][2] = {
        {"", "some.sku: empty"},
        {"# only\n", "some.sku:1: format: missing; the file begins with 'format = characterize-sku/1'"},
        {"format = characterize-sku/2\n",
         "some.sku:1: format: 'characterize-sku/2' is not a format that this program reads"},
        {"format = characterize-sku/1\nname = N # s\n", "some.sku:2: name: comes before the first section"},
        {"format = characterize-sku/1\n[sku]\nname = N # s\n", "lacks brand"},
        {HEAD, "no figures"},
        {HEAD "name = M # s\n", "some.sku:5: name: given twice, first in line 3"},
        {HEAD "cores = 4 # s\n", "some.sku:5: cores: no such key in section [sku]; known keys: name brand"},
        {HEAD "[speed]\n", "some.sku:5: '[speed]'"},
        {HEAD "[frequency\n", "some.sku:5: [frequency: the header of a section ends with ']'"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = 3.7\n", "some.sku:6: level: has no source"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = 3.7 #  \n", "has no source"},
        {HEAD "[frequency]\nlevel=0 freq_ghz = 3.7 # s\n", "not COLUMN=VALUE"},
        {HEAD "[frequency]\nlevel : freq_ghz = 3.7 # s\n", "'level' is not COLUMN=VALUE"},
        {HEAD "[frequency]\nlevel= : freq_ghz = 3.7 # s\n", "is not COLUMN=VALUE"},
        {HEAD "[frequency]\nlevel=0 level=1 : freq_ghz = 3.7 # s\n", "level is given twice"},
        {HEAD "[frequency]\nLevel=0 : freq_ghz = 3.7 # s\n", "not a column name"},
        {HEAD "[frequency]\nlevel=0 : freq ghz = 3.7 # s\n", "not a column name"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = # s\n", "neither a number"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = 3,7 # s\n", "neither a number"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = nan # s\n", "neither a number"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = 1/0 # s\n", "neither a number"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = 4..3 # s\n", "neither a number"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = 3.7 ~ # s\n", "not a tolerance"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = 3.7 ~ -1 # s\n", "not a tolerance"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = 3.7 ~ 5 % # s\n", "not a tolerance"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = - ~ 5 # s\n", "not a tolerance"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = 3.7 ~ 3.7 # s\n", "'~ 3.7': even 0 would agree"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = 3..4 ~ 100% # s\n", "'~ 100%': even 0 would agree"},
        {HEAD "[umask]\numask=1 : share = 0 ~ 10% # s\n", "'~ 10%' of 0 is 0"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = about 3.7 ~ 0.2 # s\n", "both 'about' and '~'"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = about - # s\n", "neither a number"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = about # s\n", "neither a number"},
        {HEAD "[trigger]\nwhat=\"density limit : count = 3 # s\n", "what=\"density limit: a value with blanks"},
        {HEAD "[trigger]\nwhat=\"\" : count = 3 # s\n", "a value with blanks"},
        {HEAD "[trigger]\nwhat=\"density\"s : count = 3 # s\n", "a value with blanks"},
        {HEAD "[frequency]\nlevel=0 : freq_ghz = 3.7 # s\nlevel=0  : freq_ghz = 3.6 # s\n", "is in line 6"},
        {HEAD "[frequency]\nactive_cores=2-1 : freq_ghz = 3.7 # s\n", "some.sku:6: '2-1' ends before it begins"},
        {HEAD "[frequency]\na=1 b=1 c=1 d=1 e=1 f=1 g=1 : x = 1 # s\n", "more than 6 columns"},
        {HEAD "[frequency]\n\x1b[31m=1 : x = 1 # s\n", "some.sku:6: '?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sku s;
        if (parse(cases[i][0], &s) == 0 || !strstr(why, cases[i][1]))
            fail_msg("%s: %s instead of %s", cases[i][0], why, cases[i][1]);
        assert_null(strchr(why, '\n'));
        assert_null(s.figures);
    }
    struct sku s;
    assert_int_equal(sku_parse("a\0b", 3, "some.sku", &s, &refused), MACHINE_BAD_INPUT);
    assert_string_equal(why, "some.sku:1: (byte): byte 2 is 00H: such a file is text");
    char *longest = calloc(1, 3000);
    assert_non_null(longest);
    strcpy(longest, HEAD "[frequency]\nlevel=0 : freq_ghz = 3.7 # ");
    memset(longest + strlen(longest), 's', 2000);
    assert_int_equal(parse(longest, &s), MACHINE_BAD_INPUT);
    free(longest);
}

/* A file that is damaged somewhere is refused or read, but never crashes the program. */
TEST(test_random_damage)
{
    static const char good[] = HEAD "[frequency]\nlevel=0 kernel=\"a b\" : mean freq_ghz = about 3.7..3.8 # s\n"
                                    "active_cores=1-2 : freq_ghz = 3.7..3.8 ~ 5% # s\n";
    struct rng r;
    rng_init(&r, 5, 5);
    for (int i = 0; i < 20000; i++) {
        char text[sizeof good];
        struct sku s;
        memcpy(text, good, sizeof good);
        for (int n = rng_int(&r, 1, 4); n > 0; n--)
            text[rng_int(&r, 0, (int)sizeof good - 2)] = (char)rng_int(&r, 1, 255);
        sku_parse(text, strlen(text), "some.sku", &s, &refused);
        sku_free(&s);
    }
}

static bool has_column(const struct table_kind *k, const char *name)
{
    for (size_t i = 0; i < k->n_columns; i++)
        if (strcmp(k->columns[i].name, name) == 0)
            return true;
    return false;
}

static void read_shipped(const char *name, struct sku *s)
{
    struct machine_error err;
    if (sku_load(name, "data", s, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

/* The columns that the shipped figures name are those of the tables. */
TEST(test_shipped_files)
{
    char **names;
    size_t n;
    assert_int_equal(sku_list("data", &names, &n), 0);
    for (size_t e = 0; e < n; e++) {
        struct sku s;
        read_shipped(names[e], &s);
        for (size_t i = 0; i < s.n_figures; i++) {
            const struct sku_figure *f = &s.figures[i];
            const struct table_kind *k = tables_find(f->table);
            if (!k || !has_column(k, f->column))
                fail_msg("%s:%u: no column %s in %s", names[e], f->line, f->column, f->table);
            for (size_t j = 0; j < f->n_keys; j++)
                if (!has_column(k, f->keys[j].column))
                    fail_msg("%s:%u: no column %s in %s", names[e], f->line, f->keys[j].column, f->table);
        }
        sku_free(&s);
    }
    data_file_list_free(names, n);
    assert_true(n >= 7);
    struct sku s;
    struct machine_error err;
    assert_int_equal(sku_load("xeon-gold-6131", "data", &s, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "no SKU 'xeon-gold-6131'"));
    assert_non_null(strstr(err.remedy, "nearest: xeon-gold-6130"));
    assert_int_equal(sku_load("./none.sku", "data", &s, &err), MACHINE_BAD_INPUT);
    assert_int_equal(sku_load("data/models/xeon-w-2104.model", "data", &s, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "characterize-sku/1"));
}

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* A figure of what does not exist is refused with what was probably meant, and its line. */
TEST(test_slips)
{
    static const char *const cases[][2] = {
        {"levl=2 : freq_ghz = 3.7", ":7: the table frequency has no column levl; nearest is level"},
        {"nosuch=2 : freq_ghz = 3.7", ":7: the table frequency has no column nosuch"},
        {"level=2 : freq_gh = 3.7", ":7: the table frequency has no column freq_gh; nearest is freq_ghz"},
        {"active_cores=2-x : freq_ghz = 3.7", ":7: active_cores=2-x: neither a number nor a range"},
        {"kernel=64add,512fmaa : freq_ghz = 3.7", ":7: unknown kernel '512fmaa'; nearest is '512fma'"},
        {"kernel=64add, : freq_ghz = 3.7", ":7: the kernel's name is empty"},
        {"level=2 : group = 3", ":7: the column group holds text"},
        {"level=2 : freq_ghz = 3700", ":7: freq_ghz of frequency is outside its range, above 0, up to 100 GHz"},
        {"level=2 : freq_ghz = -3.7", ":7: freq_ghz of frequency is outside its range"},
        {"level=2 : freq_ghz = 3.7..1e9", ":7: '3.7..1e9' is neither a number, nor a range"},
        {"level=2 : freq_ghz = 3.7..3700", ":7: freq_ghz of frequency is outside its range"},
    };
    char path[] = "/tmp/test-validate-XXXXXX.sku", text[400];
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sku s;
        struct machine_error err;
        snprintf(text, sizeof text, HEAD "[frequency]\n: freq_ghz = 3 # s\n%s # s\n", cases[i][0]);
        write_file(path, text);
        assert_int_equal(sku_load(path, NULL, &s, &err), MACHINE_BAD_INPUT);
        if (!strstr(err.text, cases[i][1]))
            fail_msg("%s: %s instead of %s", cases[i][0], err.text, cases[i][1]);
        assert_true(strstr(cases[i][1], "nearest") || !strstr(err.text, "nearest"));
        assert_null(s.figures);
    }
    unlink(path);
}

/* A file that is broken hides no other; and where it may be the one, that is reported. */
TEST(test_broken_shipped_file)
{
    char folder[FOLDER_PATH_MAX], skus[80], a[100], b[100];
    struct sku s;
    struct machine_error err;
    struct table t;
    folder_make(folder);
    snprintf(skus, sizeof skus, "%s/skus", folder);
    snprintf(a, sizeof a, "%s/a.sku", skus);
    snprintf(b, sizeof b, "%s/b.sku", skus);
    assert_int_equal(mkdir(skus, 0700), 0);
    write_file(a, "format = characterize-sku/1\n[sku]\nname = A\n");
    write_file(b, HEAD "[frequency]\n: freq_ghz = 3 # s\n");
    assert_int_equal(tables_find_sku("Intel Xeon Gold 6130 CPU", folder, &s, &err), MACHINE_OK);
    sku_free(&s);
    assert_int_equal(tables_find_sku("Another CPU", folder, &s, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "a.sku:3: name: has no source"));
    frequency_table(&t);
    tables_note_published(&t, folder);
    assert_non_null(table_detail(&t, "published"));
    assert_null(table_setting(&t, "published_figures"));
    table_set_meta(&t, "cpu", "Another CPU");
    tables_note_published(&t, folder);
    assert_non_null(strstr(table_setting(&t, "published_figures"), "a.sku:3: name: has no source"));
    table_free(&t);
    unlink(a);
    assert_int_equal(tables_find_sku("Another CPU", folder, &s, &err), MACHINE_CANNOT);
    folder_remove(folder);
}

/* ---- verdicts ---- */

TEST(test_precision)
{
    static const struct {
        const char *figure;
        double precision;
    } cases[] = {
        /* half a unit of the last digit */
        {"freq_ghz = 3.7", 0.05},
        {"x_us = 34.4", 0.05},
        {"x_us = 876", 0.5},
        {"x_us = 670", 0.5},
        {"x = 0.250", 0.0005},
        {"x_us = 8..20.5", 0.5},
        {"x = 1/4", 0},
        /* approximate: a unit of the last digit that is one, at most a tenth */
        {"wait_us = about 670", 10},
        {"wait_us = about 666", 1},
        {"count = about 13000", 1000},
        {"x_us = about 25", 1},
        {"x_us = about 10", 1},
        {"x_us = about 20", 2},
        {"x_us = about 9", 0.9},
        {"x = about 2.50", 0.01},
        {"x = about 1/4", 0.025},
        {"x_us = about 100", 10},
        {"x_us = about 0", 0},
        {"x_us = about 650..680", 10},
        /* stated by the file */
        {"x_us = 34.4 ~ 14%", 4.816},
        {"level = 1 ~ 0.5", 0.5},
        {"share = 1 ~ 0.02", 0.02},
        /* counted, all or none */
        {"level = 2", 0},
        {"mean level = 2", 0.5},
        {"halts = 2", 0},
        {"mode = 1", 0},
        {"phase = 1", 0},
        {"share = 1", 0.05},
        {"share = 0", 0.05},
        {"share = 0.25", 0.005},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sku s;
        char text[200];
        snprintf(text, sizeof text, HEAD "[frequency]\n: %s # s\n", cases[i].figure);
        parse_or_fail(text, &s);
        double found = validate_precision(&s.figures[0]);
        if (fabs(found - cases[i].precision) > 1e-9)
            fail_msg("%s: +-%g instead of %g", cases[i].figure, found, cases[i].precision);
        sku_free(&s);
    }
}

/* One row of 2 active cores at level 0, all of whose values are this one; the verdict on one figure. */
static const char *verdict_of(const char *figure, double value, double lo, double hi)
{
    static const struct table_column columns[] = {
#define LIMITED(name)                                                                                                  \
    {name, "", TABLE_REAL, false, 1}, {name "_lo", "", TABLE_REAL, false, 1}, {name "_hi", "", TABLE_REAL, false, 1}
        {"kernel", "", TABLE_TEXT, true, 0},
        {"active_cores", "", TABLE_WHOLE, true, 0},
        {"level", "", TABLE_WHOLE, false, 0},
        LIMITED("freq_ghz"),
        LIMITED("x_us"),
        LIMITED("ipc_ratio"),
        LIMITED("share"),
#undef LIMITED
    };
    static const char *const limited[] = {"freq_ghz", "x_us", "ipc_ratio", "share"};
    static char verdict[40];
    char text[300];
    struct table t, out;
    struct sku s;
    snprintf(text, sizeof text, HEAD "[frequency]\n%s # s\n", figure);
    parse_or_fail(text, &s);
    table_init(&t, "frequency", columns, sizeof columns / sizeof *columns);
    table_add_row(&t);
    table_put_text(&t, "kernel", "64add");
    table_put_number(&t, "active_cores", 2);
    table_put_number(&t, "level", 0);
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++)
        table_put_limits(&t, limited[i], value, lo, hi);
    const struct table *tables[] = {&t};
    assert_int_equal(validate_tables(&s, tables, 1, &out), 0);
    assert_int_equal(out.n_rows, 1);
    snprintf(verdict, sizeof verdict, "%s", table_text(&out, 0, "verdict"));
    assert_int_equal(validate_count(&out, verdict), 1);
    table_free(&out);
    table_free(&t);
    sku_free(&s);
    return verdict;
}

TEST(test_verdicts)
{
    static const struct {
        const char *figure;
        double value, lo, hi;
        const char *verdict;
    } cases[] = {
        {"level=0 : freq_ghz = 2.8", 2.8, 2.79, 2.81, "agrees"},
        {"level=0 : freq_ghz = 2.8", 2.85, 2.849, 2.851, "agrees"}, /* values printed as 2.8 end there */
        {"level=0 : freq_ghz = 2.8", 2.86, 2.85, 2.87, "agrees"},   /* the limits reach it */
        {"level=0 : freq_ghz = 2.8", 2.86, 2.851, 2.869, "deviates"},
        {"level=0 : freq_ghz = 2.8", 2.74, 2.73, 2.749, "deviates"},
        {"level=0 : freq_ghz = 2.80", 2.81, 2.809, 2.811, "deviates"}, /* printed more precisely */
        {"level=0 : freq_ghz = 2.8", 2.9, 2.9, 2.9, "deviates"},       /* the next step of the clock */
        {"level=0 : freq_ghz = 2.8", 2.9, 2.8, 3.0, "undecided"},      /* too wide to tell clock steps apart */
        {"level=0 : freq_ghz = 2.8", 2.8, 2.7, 2.9, "undecided"},      /* right by chance, perhaps */
        {"level=0 : freq_ghz = 2.8", 2.8, NAN, NAN, "agrees"},         /* without limits the value counts */
        {"level=0 : freq_ghz = 2.8", 2.9, NAN, NAN, "undecided"},      /* ... but not against it */
        {"level=0 : freq_ghz = 2.8", NAN, NAN, NAN, "not measured"},
        {"level=1 : freq_ghz = 2.8", 2.8, 2.8, 2.8, "not measured"},
        {"active_cores=1-4 : freq_ghz = 2.8", 2.8, 2.8, 2.8, "agrees"},
        {"active_cores=3-4 : freq_ghz = 2.8", 2.8, 2.8, 2.8, "not measured"},
        {"kernel=128or,64add : freq_ghz = 2.8", 2.8, 2.8, 2.8, "agrees"},
        {"kernel=64ad,4add : freq_ghz = 2.8", 2.8, 2.8, 2.8, "not measured"},
        {"other=1 : freq_ghz = 2.8", 2.8, 2.8, 2.8, "not measured"},
        {": freq_ghz = 2.5..2.7", 2.6, 2.6, 2.6, "agrees"},
        {": freq_ghz = 2.5..2.7", 2.8, 2.8, 2.8, "deviates"},
        {": freq_ghz = 2.8 ~ 0.2", 2.9, 2.9, 2.9, "agrees"},
        {": freq_ghz = 2.8 ~ 5%", 2.95, 2.95, 2.95, "deviates"},
        {": freq_ghz = -", 2.8, 2.8, 2.8, "not published"},
        {"level=1 : freq_ghz = -", 2.8, 2.8, 2.8, "not published"},
        {": level = 0", 2.8, 2.8, 2.8, "agrees"},
        {": level = 1", 2.8, 2.8, 2.8, "deviates"},
        {": missing_us = 1", 2.8, 2.8, 2.8, "not measured"},
        /* of times: 20 % is to be found, unless the figure itself does not allow it */
        {": x_us = about 10", 12, 11.9, 12.1, "deviates"},
        {": x_us = about 10", 8, 7.9, 8.1, "deviates"},
        {": x_us = about 10", 10, 9.5, 10.5, "agrees"},
        {": x_us = about 10", 10, 8.9, 11.1, "undecided"},
        {": x_us = 42.7", 43, 42, 44, "agrees"},
        {": x_us = 42.7", 43, 38.6, 47.4, "undecided"},
        {": x_us = 8..20", 10, 8, 12, "agrees"},
        {": x_us = 8..20", 7, 6.8, 7.2, "deviates"},
        {": ipc_ratio = about 1/4", 0.3, 0.299, 0.301, "deviates"},
        {": ipc_ratio = about 1/4", 0.2, 0.199, 0.201, "deviates"},
        {": ipc_ratio = about 1/4", 1 / 4.2, 0.237, 0.239, "agrees"},
        {": share = 1", 0.8, 0.799, 0.801, "deviates"},
        {": share = 0", 0.06, 0.055, 0.065, "deviates"},
        {": share = 0", 0.01, 0, 0.2, "undecided"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *verdict = verdict_of(cases[i].figure, cases[i].value, cases[i].lo, cases[i].hi);
        if (strcmp(verdict, cases[i].verdict) != 0)
            fail_msg("%s, measured %g: %s instead of %s", cases[i].figure, cases[i].value, verdict, cases[i].verdict);
    }
}

TEST(test_mean_and_reasons)
{
    struct sku s;
    struct table o, out;
    char *text = NULL;
    size_t size = 0;
    parse_or_fail("format = characterize-sku/1\n[sku]\nname = Xeon X # s\nbrand = E5-X # s\n[overhead]\n"
                  "from=128fma to=512fma : mean down_us = 42.7 # s\n"
                  "from=128fma to=512or : mean down_us = 28 # s\nfrom=128fma to=512fma : down_us = 42.7 # s\n"
                  "from=128fma to=512fma active_cores=16 : up_us = 10 # s\n"
                  "from=128fma to=256fma : down_us = 34.4 # s\n[umask]\numask=1 : share = 1 # s\n"
                  "[overhead]\nfrom=126fma : down_us = 1 # s\nfrom=128fma active_cores=3 : down_us = 1 # s\n",
                  &s);
    overhead_table(&o);
    overhead_row(&o, "128fma", "512fma", 1, 51.4, 10, 900);
    overhead_row(&o, "128fma", "512fma", 16, 34.1, NAN, 150);
    overhead_row(&o, "128fma", "512or", 1, 20, 10, 900); /* the mean of 1, 2 to 8 between 20 and 30, and 30 again: */
    overhead_row(&o, "128fma", "512or", 4, 30, 10, 900); /* (20 + 2 * 25 + 30 + 3 * 30 + 30) / 8 = 27.5, within */
    overhead_row(&o, "128fma", "512or", 8, 30, 10, 900); /* (3 * 20 + 5 * 30) / 8 = 26.25 and (20 + 7 * 30) / 8 */
    table_add_missing(&o, "of another kernel");
    table_put_text(&o, "to", "512or");
    table_add_missing(&o, "of one number of cores, while the figure means all");
    table_put_text(&o, "to", "256fma");
    table_put_number(&o, "active_cores", 4);
    table_add_missing(&o, "all 20 repetitions were disturbed");
    table_put_text(&o, "to", "512fma");
    table_put_number(&o, "active_cores", 16);
    table_add_missing(&o, "needs avx2");
    table_put_text(&o, "to", "256fma");
    const struct table *tables[] = {&o};
    assert_int_equal(validate_tables(&s, tables, 1, &out), 0);
    assert_string_equal(table_text(&out, 0, "verdict"), "undecided"); /* fourteen numbers of cores were not measured */
    assert_true(fabs(table_number(&out, 0, "measured") - 42.75) < 1e-9);
    assert_true(fabs(table_number(&out, 0, "measured_lo") - (15 * 34.1 + 51.4) / 16 + 0.1) < 1e-9);
    assert_string_equal(table_text(&out, 1, "verdict"), "agrees");
    assert_true(fabs(table_number(&out, 1, "measured") - 27.5) < 1e-9);
    assert_true(fabs(table_number(&out, 1, "measured_lo") - 26.25 + 0.1) < 1e-9);
    assert_true(fabs(table_number(&out, 1, "measured_hi") - 28.75 - 0.1) < 1e-9);
    assert_string_equal(table_text(&out, 2, "verdict"), "deviates");
    assert_true(table_number(&out, 2, "measured") == 51.4); /* the farthest */
    assert_string_equal(table_text(&out, 3, "verdict"), "not measured");
    assert_string_equal(table_text(&out, 3, "note"), "all 20 repetitions were disturbed");
    assert_string_equal(table_text(&out, 4, "note"), "needs avx2");
    assert_string_equal(table_text(&out, 5, "note"), "the table umask was not measured");
    assert_true(isnan(table_number(&out, 5, "measured"))); /* absent, not 0 */
    assert_true(isnan(table_number(&out, 5, "detectable")));
    assert_string_equal(table_text(&out, 6, "note"), "the table has no row with from=126fma (but 128fma, ...)");
    assert_string_equal(table_text(&out, 7, "note"), "the table has no row with active_cores=3");
    assert_non_null(strstr(table_meta(&out, "warning"), "Xeon X"));
    FILE *stream = open_memstream(&text, &size);
    validate_print(stream, false, &out);
    fclose(stream);
    assert_non_null(strstr(text, "deviates: 1 of 8"));
    assert_non_null(
        strstr(text, "published 42.7 +-0.05, measured 51.4 [51.3, 51.5] us, +20.4 %; detectable: 0.585 %; s"));
    assert_non_null(strstr(text, "needs avx2"));
    assert_non_null(strstr(text, "modelled"));
    free(text);
    table_free(&out);
    table_free(&o);
    sku_free(&s);
}

/* Text from a file or a table reaches the terminal without its control sequences; unpublished figures do not count. */
TEST(test_printed)
{
    struct sku s;
    struct table t, out;
    char *text = NULL;
    size_t size = 0;
    parse_or_fail("format = characterize-sku/1\n[sku]\nname = N\x1b]0;evil\x07 # s\nbrand = B\x1b[2J # s\n[frequency]\n"
                  "kernel=64add\x1b[31m : freq_ghz = 3.7 # \x1b[5mhere\xff\n: level = - # s\n",
                  &s);
    frequency_table(&t);
    frequency_row(&t, 0, "64add", 1, 0, 3.7);
    table_add_missing(&t, "for \x1b[7m no reason");
    const struct table *tables[] = {&t};
    assert_int_equal(validate_tables(&s, tables, 1, &out), 0);
    FILE *stream = open_memstream(&text, &size);
    validate_print(stream, false, &out);
    fclose(stream);
    assert_null(strchr(text, '\x1b'));
    assert_null(strchr(text, '\x07'));
    assert_null(strstr(text, "\xff"));
    assert_non_null(strstr(text, "[5mhere"));
    assert_non_null(strstr(text, "not measured: 1 of 1\n"));
    assert_non_null(strstr(text, "not published: 1\n"));
    free(text);
    table_free(&out);
    table_free(&t);
    sku_free(&s);
}

/* Against the rule, computed another way: deviates exactly if the interval and what may be meant do not meet. */
TEST(test_random_verdicts)
{
    struct rng r;
    rng_init(&r, 77, 1);
    for (int i = 0; i < 3000; i++) {
        char figure[80];
        double p = rng_int(&r, 10, 50) / 10.0, m = p * rng_range(&r, 0.95, 1.05), w = rng_log(&r, 1e-4, 0.2);
        snprintf(figure, sizeof figure, ": freq_ghz = %.1f", p);
        const char *verdict = verdict_of(figure, m, m - w, m + w);
        double lo = p - 0.05, hi = p + 0.05;
        bool overlap = m - w <= hi && m + w >= lo, narrow = w <= 0.05;
        if (fabs(fabs(m - p) - w - 0.05) < 1e-6 || fabs(w - 0.05) < 1e-6)
            continue;
        const char *expected = !overlap ? "deviates" : narrow ? "agrees" : "undecided";
        if (strcmp(verdict, expected) != 0)
            fail_msg("%s, %g +- %g: %s instead of %s", figure, m, w, verdict, expected);
    }
}

/* One row of a figure of up_us; the verdict, and what would have been found. */
static void found_of(const char *figure, double value, double lo, double hi, struct table *out)
{
    char text[300];
    struct table t;
    struct sku s;
    snprintf(text, sizeof text, HEAD "[overhead]\n%s # s\n", figure);
    parse_or_fail(text, &s);
    overhead_table(&t);
    overhead_row(&t, "128fma", "512fma", 2, 1, value, 1);
    table_set_number(&t, 0, "up_us_lo", lo);
    table_set_number(&t, 0, "up_us_hi", hi);
    const struct table *tables[] = {&t};
    assert_int_equal(validate_tables(&s, tables, 1, out), 0);
    table_free(&t);
    sku_free(&s);
}

/* A deviation stated to be detectable is found, one a fifth smaller is not; and what hides 20 % is named. */
TEST(test_detectable)
{
    static const struct {
        const char *figure;
        double middle, lo, hi, percent;
        const char *hidden_by;
    } cases[] = {
        {": up_us = about 10", 10, 9.9, 10.1, 12, NULL},
        {": up_us = 42.7", 42.7, 42.2, 43.2, 100 * 1.05 / 42.7, NULL},
        {": up_us = 42.7", 42.7, 38.7, 46.7, 100 * 8.05 / 42.7, NULL},
        {": up_us = 42.7", 42.7, 37.7, 47.7, 100 * 10.05 / 42.7, "the measured limits are 10 apart"},
        {": up_us = 8..20", 14, 13.9, 14.1, 100 * 6.7 / 14, "a range was published"},
        {": up_us = 2", 2, 1.99, 2.01, 26, "published only to +-0.5"},
        {": up_us = 650..680", 665, 664, 666, 100 * 17.5 / 665, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *figure = cases[i].figure;
        double m = cases[i].middle, lo = cases[i].lo, hi = cases[i].hi;
        struct table out, moved;
        found_of(figure, m, lo, hi, &out);
        double by = table_number(&out, 0, "detectable");
        const char *why_hidden = table_text(&out, 0, "hidden_by");
        if (fabs(table_number(&out, 0, "detectable_percent") - cases[i].percent) > 1e-6 ||
            fabs(by - m * cases[i].percent / 100) > 1e-6)
            fail_msg("%s: %g %%, %g", figure, table_number(&out, 0, "detectable_percent"), by);
        if (!why_hidden != !cases[i].hidden_by || (why_hidden && strcmp(why_hidden, cases[i].hidden_by) != 0))
            fail_msg("%s is hidden by %s", figure, why_hidden ? why_hidden : "nothing");
        for (int sign = -1; sign <= 1; sign += 2) {
            /* the measured value as far on the other side of the true one as its limits are wide */
            double d = sign * (by - (hi - lo) / 2) * (1 + 1e-6);
            found_of(figure, m + d, lo + d, hi + d, &moved);
            assert_string_equal(table_text(&moved, 0, "verdict"), "deviates");
            table_free(&moved);
            found_of(figure, m + 0.8 * d, lo + 0.8 * d, hi + 0.8 * d, &moved);
            assert_string_not_equal(table_text(&moved, 0, "verdict"), "deviates");
            table_free(&moved);
        }
        table_free(&out);
    }
}
