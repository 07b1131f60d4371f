/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: measures all tables of every shipped model */
/*
 * The shipped figures against the shipped models, measured, and against tables that are as published: all agree, and of
 * each figure one that is a fifth off is found, in the file as in the table; or the verdict says what hides it.
 */
#include <unistd.h>

#include "output/validate/validate.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/schedule_tables.h"
#include "tests/support/table_rig.h"
#include "tables/published/sku.h"
#include "tables/table/tables.h"
#include "tests/support/test.h"

enum { TABLES_MAX = 9 };
static const double OFF[] = {0.8, 1.2};

static void load(const char *name, struct sku *s)
{
    struct machine_error err;
    if (sku_load(name, "data", s, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

/* The verdict on one figure. */
struct said {
    char verdict[20];
    double measured, detectable;
    bool hidden;
};

static struct said ask(const struct sku_figure *f, const struct table *tables, size_t n)
{
    struct said s = {.verdict = ""};
    struct sku_figure figure = *f;
    struct sku sku = {.name = "N", .brand = "B", .n_figures = 1, .figures = &figure};
    const struct table *list[TABLES_MAX];
    struct table out;
    for (size_t i = 0; i < n; i++)
        list[i] = &tables[i];
    assert_int_equal(validate_tables(&sku, list, n, &out), 0);
    snprintf(s.verdict, sizeof s.verdict, "%s", table_text(&out, 0, "verdict"));
    s.measured = table_number(&out, 0, "measured");
    s.detectable = table_number(&out, 0, "detectable");
    s.hidden = table_text(&out, 0, "hidden_by") != NULL;
    table_free(&out);
    return s;
}

static bool deviates(const struct said *s)
{
    return strcmp(s->verdict, "deviates") == 0;
}

/* Returns true if the figure means this row: written once more here, independently of the code under test. */
static bool is_meant(const struct sku_figure *f, const struct table *t, size_t row)
{
    for (size_t i = 0; i < f->n_keys; i++) {
        const struct sku_key *k = &f->keys[i];
        const char *text = table_text(t, row, k->column);
        double number = table_number(t, row, k->column);
        char words[SKU_TEXT_MAX + 2], word[SKU_TEXT_MAX + 2];
        snprintf(words, sizeof words, ",%.*s,", (int)sizeof words - 3, k->text);
        snprintf(word, sizeof word, ",%.*s,", (int)sizeof word - 3, text ? text : "");
        if (text ? !strstr(words, word) : !(number >= k->lo && number <= k->hi))
            return false;
    }
    return isfinite(table_number(t, row, f->column));
}

/* Value and limits of a row: times k, then more by `plus`. */
static void change(struct table *t, size_t row, const char *column, double k, double plus)
{
    static const char *const ends[] = {"", "_lo", "_hi"};
    for (size_t i = 0; i < 3; i++) {
        char name[SKU_NAME_MAX + 4];
        snprintf(name, sizeof name, "%s%s", column, ends[i]);
        double was = table_number(t, row, name);
        if (isfinite(was))
            table_set_number(t, row, name, was * k + plus);
    }
}

static struct table *find(struct table *tables, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(tables[i].name, name) == 0)
            return &tables[i];
    fail_msg("no table %s", name);
    return NULL;
}

/* The measured cell is off: by a fifth, or of a figure of 0 by what is said to be found. Of a mean all cells are. */
static void check_cells(const char *sku, const struct sku_figure *f, struct table *tables, size_t n,
                        const struct said *said)
{
    struct table *t = find(tables, n, f->table);
    size_t cells = 0;
    for (size_t row = 0; row < t->n_rows; row++)
        for (size_t i = 0; i < 2 && is_meant(f, t, row); i++) {
            bool zero = f->hi == 0;
            double k = zero ? 1 : OFF[i], plus = zero ? 1.001 * said->detectable : 0;
            for (size_t r = f->mean ? 0 : row; r < (f->mean ? t->n_rows : row + 1); r++)
                if (is_meant(f, t, r))
                    change(t, r, f->column, k, plus);
            struct said now = ask(f, tables, n);
            if (!deviates(&now) && !said->hidden)
                fail_msg("%s:%u: %s %s, row %zu, times %g plus %g: %s", sku, f->line, f->where, f->column, row, k, plus,
                         now.verdict);
            for (size_t r = f->mean ? 0 : row; r < (f->mean ? t->n_rows : row + 1); r++)
                if (is_meant(f, t, r))
                    change(t, r, f->column, 1 / k, -plus / k);
            cells++;
        }
    assert_true(cells > 0);
}

/* All that is checked of a figure. Returns whether something hides a fifth. */
static bool check_figure(const char *sku, const struct sku_figure *f, struct table *tables, size_t n)
{
    struct said said = ask(f, tables, n);
    if (f->disputed) /* what another figure contradicts is decided by none */
        return false;
    if (strcmp(said.verdict, "agrees") != 0)
        fail_msg("%s:%u: %s %s %s", sku, f->line, f->where, f->column, said.verdict);
    for (size_t i = 0; i < 2 && f->hi != 0; i++) {
        struct sku_figure wrong = *f;
        wrong.lo *= OFF[i];
        wrong.hi *= OFF[i];
        wrong.tolerance = OFF[i] * validate_precision(f); /* as precise as the right one */
        /* a model that differs from the figure within its precision may be as near to the wrong one */
        bool far = fabs(wrong.lo - f->lo) - fabs(said.measured - f->lo) >= said.detectable;
        struct said now = ask(&wrong, tables, n);
        if (!deviates(&now) && !said.hidden && far)
            fail_msg("%s:%u: %s %s, published %g times as high: %s", sku, f->line, f->where, f->column, OFF[i],
                     now.verdict);
    }
    check_cells(sku, f, tables, n, &said);
    return said.hidden;
}

/* ---- measured ---- */

/* The tables that something was published of, of the model of that name. */
static size_t measure(const struct sku *s, const char *model, struct table *tables)
{
    struct model m;
    size_t n = 0;
    rig_load(model, &m);
    for (size_t i = 0; i < s->n_figures; i++) {
        bool there = !s->figures[i].published;
        for (size_t k = 0; k < n; k++)
            there = there || strcmp(tables[k].name, s->figures[i].table) == 0;
        if (there)
            continue;
        struct tables_options *o = calloc(1, sizeof *o);
        assert_non_null(o);
        assert_true(n < TABLES_MAX);
        tables_options_default(o);
        o->seed = 11;
        o->brief = strcmp(s->figures[i].table, "transitions") == 0; /* the pairs that are published are among the few */
        o->runs = strcmp(s->figures[i].table, "overhead") == 0 ? 100 : 0;
        rig_measure(tables_find(s->figures[i].table), &m, o, &tables[n++]);
        free(o);
    }
    return n;
}

/* Only entries with a model, the Gold 6130 first: few rounds are to have the one with most figures. */
static size_t with_models(char **names, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        char path[200];
        snprintf(path, sizeof path, "data/models/%s.model", names[i]);
        if (access(path, R_OK) != 0)
            continue;
        char *name = names[i];
        names[i] = names[kept];
        names[kept++] = name;
        if (strcmp(name, "xeon-gold-6130") == 0) {
            names[kept - 1] = names[0];
            names[0] = name;
        }
    }
    return kept;
}

TEST(test_models_agree_with_their_figures)
{
    char **names;
    size_t n_all, hidden = 0;
    assert_int_equal(sku_list("data", &names, &n_all), 0);
    const size_t n_names = with_models(names, n_all);
    for (size_t e = 0; e < rng_rounds((unsigned)n_names); e++) {
        struct sku s;
        struct table tables[TABLES_MAX], out;
        const struct table *list[TABLES_MAX];
        load(names[e], &s);
        size_t n = measure(&s, names[e], tables), published = 0, disputed = 0;
        for (size_t i = 0; i < n; i++)
            list[i] = &tables[i];
        assert_int_equal(validate_tables(&s, list, n, &out), 0);
        assert_null(table_meta(&out, "warning"));
        for (size_t i = 0; i < s.n_figures; i++)
            if (s.figures[i].published) {
                hidden += check_figure(names[e], &s.figures[i], tables, n);
                published++;
                disputed += s.figures[i].disputed;
            }
        /* and what the processor says of itself */
        const size_t undecided = validate_count(&out, "undecided");
        assert_true(undecided <= disputed);
        assert_int_equal(validate_count(&out, "agrees") + undecided, published + out.n_rows - s.n_figures);
        print_message("%s: %zu figures\n", names[e], published);
        table_free(&out);
        for (size_t i = 0; i < n; i++)
            table_free(&tables[i]);
        sku_free(&s);
    }
    if (rng_rounds((unsigned)n_names) == n_names)
        assert_int_equal(hidden, 3); /* throttling of the W-2104 and the i7-6700HQ, published as 8 to 20 us */
    data_file_list_free(names, n_all);
}

/* ---- as published ---- */

/* A table of one row that the figure means, with what was published in it, and limits of 0.3 % on either side. */
static void as_published(const struct sku_figure *f, struct table *t)
{
    const struct table_kind *k = tables_find(f->table);
    double p = (f->lo + f->hi) / 2;
    table_init(t, f->table, k->columns, k->n_columns);
    table_set_meta(t, "cpu", "B");
    table_add_row(t);
    for (size_t i = 0; i < f->n_keys; i++) {
        const struct sku_key *key = &f->keys[i];
        char first[SKU_TEXT_MAX];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(key->text, ","), key->text);
        for (size_t c = 0; c < k->n_columns; c++)
            if (strcmp(k->columns[c].name, key->column) == 0 && k->columns[c].type == TABLE_TEXT)
                table_put_text(t, key->column, first);
            else if (strcmp(k->columns[c].name, key->column) == 0)
                table_put_number(t, key->column, key->lo);
    }
    table_put_number(t, f->column, p);
    for (size_t c = 0; c < k->n_columns; c++)
        if (strncmp(k->columns[c].name, f->column, strlen(f->column)) == 0) {
            const char *end = k->columns[c].name + strlen(f->column);
            if (strcmp(end, "_lo") == 0 || strcmp(end, "_hi") == 0)
                table_put_number(t, k->columns[c].name, end[1] == 'l' ? 0.997 * p : 1.003 * p);
        }
    assert_false(t->failed);
}

/* Returns how many figures there are; *hidden: in how many something hides a fifth. */
static size_t check_all(char **names, size_t n, size_t *hidden)
{
    size_t figures = 0;
    for (size_t e = 0; e < n; e++) {
        struct sku s;
        load(names[e], &s);
        for (size_t i = 0; i < s.n_figures; i++)
            if (s.figures[i].published) {
                struct table t;
                as_published(&s.figures[i], &t);
                *hidden += check_figure(names[e], &s.figures[i], &t, 1);
                figures++;
                table_free(&t);
            }
        sku_free(&s);
    }
    data_file_list_free(names, n);
    return figures;
}

/* Also of the processors that no model is shipped of, and of microarchitectures. */
TEST(test_every_figure)
{
    char **names;
    size_t n, hidden = 0;
    assert_int_equal(sku_list("data", &names, &n), 0);
    assert_true(check_all(names, n, &hidden) >= 260);
    assert_int_equal(sku_list_common("data", &names, &n), 0);
    assert_true(check_all(names, n, &hidden) >= 74);
    assert_int_equal(hidden, 3);
}

/* CPUs as real machines and as models name them, and the microarchitecture that they are of. */
static const char *const cpus[][2] = {
    {"Intel(R) Xeon(R) CPU E5-2699 v3 @ 2.30GHz 06_3FH-2", "haswell-ep"},
    {"Intel(R) Xeon(R) CPU E5-2699 v4 @ 2.20GHz 06_4FH-1", "broadwell-ep"},
    {"Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz 06_9EH-10", "skylake-client"},
    {"Intel Xeon Gold 6130 CPU @ 2.10GHz (06_55H, stepping 4)", "skylake-sp"},
    {"Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz 06_55H-4", "skylake-sp"},
    {"Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz 06_55H-7", "cascade-lake"},
    {"Intel(R) Xeon(R) Platinum 8380H CPU @ 2.90GHz 06_55H-11", "cooper-lake"},
    {"a Cooper Lake (06_55H, stepping 11)", "cooper-lake"},
    {"Intel(R) Core(TM) i5-1035G4 CPU @ 1.10GHz 06_7EH-5", "ice-lake-client"},
    {"Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz 06_6AH-6", "ice-lake-sp"},
    {"11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz 06_8CH-1", "tiger-lake"},
    {"11th Gen Intel(R) Core(TM) i9-11900K @ 3.50GHz 06_A7H-1", "rocket-lake"},
    {"AMD EPYC 7502 32-Core Processor 17_31H-0", "zen2"},
    {"AMD EPYC 7763 64-Core Processor 19_01H-1", "zen3"},
    {"AMD EPYC 9B14 96-Core Processor 19_11H-1", "zen4"},
    {"AMD Ryzen 9 7950X 16-Core Processor 19_61H-2", "zen4"},
    {"AMD EPYC 9755 128-Core Processor 1A_02H-1", "zen5"},
    {"AMD Ryzen 9 9900X 12-Core Processor 1A_44H-0", "zen5"},
    {"Intel(R) Xeon(R) Platinum 8480+ 06_8FH-8", "sapphire-rapids"},
    {"INTEL(R) XEON(R) PLATINUM 8592+ 06_CFH-2", "emerald-rapids"},
    {"Intel(R) Xeon(R) 6980P 06_ADH-1", "granite-rapids"},
    {"12th Gen Intel(R) Core(TM) i7-12700K 06_97H-2", "alder-lake"},
    {"13th Gen Intel(R) Core(TM) i9-13900K 06_B7H-1", "alder-lake"},
    {"AMD EPYC 7601 32-Core Processor 17_01H-2", NULL},
    {"Intel(R) Core(TM) Ultra 7 155H 06_AAH-4", NULL},
};

TEST(test_which)
{
    char **names;
    size_t n;
    assert_int_equal(sku_list_common("data", &names, &n), 0);
    for (size_t c = 0; c < sizeof cpus / sizeof *cpus; c++) {
        const char *is = NULL;
        for (size_t e = 0; e < n; e++) {
            struct sku s;
            load(names[e], &s);
            if (sku_is_of(&s, cpus[c][0]) && is)
                fail_msg("%s: %s and %s", cpus[c][0], is, names[e]);
            if (sku_is_of(&s, cpus[c][0]))
                is = names[e];
            sku_free(&s);
        }
        if (!is != !cpus[c][1] || (is && strcmp(is, cpus[c][1]) != 0))
            fail_msg("%s: %s", cpus[c][0], is ? is : "none");
    }
    data_file_list_free(names, n);
}

/* The shipped figures of the 6130 against its published frequencies: of several rows the worst one is reported. */
TEST(test_gold)
{
    struct sku s;
    struct table t, out;
    load("xeon-gold-6130", &s);
    gold_frequencies(&t);
    const struct table *tables[] = {&t};
    assert_int_equal(validate_tables(&s, tables, 1, &out), 0);
    assert_int_equal(out.n_rows, s.n_figures);
    assert_int_equal(validate_count(&out, "deviates"), 0);
    assert_int_equal(validate_count(&out, "agrees"), 20);       /* 15 frequencies, 5 levels */
    assert_int_equal(validate_count(&out, "not published"), 4); /* whatever was measured */
    assert_int_equal(sku_published(&s), s.n_figures - 4);
    assert_int_equal(validate_count(&out, "not measured"), out.n_rows - 20 - 4);
    assert_null(table_meta(&out, "warning"));
    assert_true(table_modelled(&out));
    assert_string_equal(table_meta(&out, "sku"), "Intel Xeon Gold 6130");
    table_free(&out);
    for (size_t row = 0; row < t.n_rows; row++) /* one row of four is another step */
        if (table_number(&t, row, "active_cores") == 7 && table_number(&t, row, "level") == 2)
            for (int i = 0; i < 3; i++)
                table_set_number(&t, row, i == 0 ? "freq_ghz" : i == 1 ? "freq_ghz_lo" : "freq_ghz_hi", 2.5);
    assert_int_equal(validate_tables(&s, tables, 1, &out), 0);
    assert_int_equal(validate_count(&out, "deviates"), 1);
    for (size_t row = 0; row < out.n_rows; row++)
        if (strcmp(table_text(&out, row, "verdict"), "deviates") == 0) {
            assert_string_equal(table_text(&out, row, "figure"), "level=2 active_cores=5-8 freq_ghz");
            /* a table holds nine digits */
            assert_true(fabs(table_number(&out, row, "deviation_percent") - 100 * (2.5 / 2.4 - 1)) < 1e-8);
            assert_string_equal(table_text(&out, row, "source"), "G table 3.1");
            assert_string_equal(table_text(&out, row, "unit"), "GHz");
            assert_int_equal((int)table_number(&out, row, "rows"), 4);
        }
    table_free(&out);
    table_free(&t);
    sku_free(&s);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 1); /* documentation of events */
}
