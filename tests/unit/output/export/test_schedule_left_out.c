/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduler parameters: what is not read out of tables because it cannot be right or nothing backs it, and is
 * reported. */
#include "output/export/export.h"
#include "tables/registry.h"
#include "tests/support/export_rules.h"
#include "tests/support/schedule_tables.h"
#include "tests/support/test.h"

static char why[300];

static size_t class_of(const struct schedule *s, unsigned width, bool heavy)
{
    for (size_t i = 0; i < s->n_classes; i++)
        if (s->classes[i].width == width && s->classes[i].heavy == heavy)
            return i;
    fail_msg("no class of %u bits", width);
    return 0;
}

static bool is_missing(const struct schedule *s, const char *table, const char *text)
{
    for (size_t i = 0; i < s->n_missing; i++)
        if (strcmp(s->missing[i].table, table) == 0 && strstr(s->missing[i].why, text))
            return true;
    return false;
}

/* A level stated by a trigger counts only beside the table frequency, and not against it. */
TEST(test_triggers_without_levels)
{
    struct table f, t;
    struct schedule s;
    frequency_table(&f);
    frequency_row(&f, 0, "64add", 1, 0, 3.7);
    frequency_row(&f, 0, "256fma", 1, 1, 3.6);
    frequency_row(&f, 0, "512or", 1, 1, 3.6);
    frequency_row(&f, 0, "512fma", 1, -1, 3.6); /* it floats */
    trigger_table(&t);
    trigger_row(&t, "256fma", 1, NAN, 0); /* against frequency */
    trigger_row(&t, "256fma", 8, NAN, 0);
    trigger_row(&t, "512or", 8, NAN, 2);  /* sparser, and yet more */
    trigger_row(&t, "512fma", 1, NAN, 0); /* its level is not known */
    trigger_row(&t, "64add", 1, NAN, 0);
    const struct table *tables[] = {&t, &f};
    assert_int_equal(schedule_from_tables(tables, 2, &s, why, sizeof why), 0);
    assert_int_equal(s.n_levels, 2);
    assert_int_equal(s.n_triggers, 1);
    assert_int_equal(s.triggers[0].class_index, class_of(&s, 64, false));
    assert_false(s.classes[class_of(&s, 512, true)].level.present);
    assert_false(s.classes[class_of(&s, 512, false)].level.present);
    assert_false(s.classes[class_of(&s, 256, true)].level.present);
    assert_true(is_missing(&s, "trigger", "shows no level for such code"));
    assert_true(is_missing(&s, "trigger", "256-bit heavy code, one in 1: level 0 here, level 1"));
    assert_true(is_missing(&s, "trigger", "512-bit light code, one in 8: level 2 here, level 1"));
    assert_true(is_missing(&s, "frequency", "level is missing"));
    assert_int_equal(s.n_left_out, 4);
    free(export_rules_json(&s));
    schedule_free(&s);
    table_free(&f);
    /* levels of the trigger alone belong to no frequency */
    const struct table *alone[] = {&t};
    assert_int_equal(schedule_from_tables(alone, 1, &s, why, sizeof why), -1);
    assert_non_null(strstr(why, "shows no level"));
    table_free(&t);
}

/* The modes of one pair of kernels stay together; several numbers of active cores are several pairs. */
TEST(test_shares_add_up)
{
    struct table f, w;
    struct schedule s;
    gold_frequencies(&f);
    relaxation_table(&w);
    wait_row(&w, "wait", "256fma", 1, 670.4, 1);
    wait_row(&w, "wait", "256mul", 1, 600, 0.5);
    wait_row(&w, "wait", "256mul", 2, 1200, 0.5);
    wait_row(&w, "wait", "512or", 1, 669.9, 0.9);
    wait_row(&w, "wait", "512or", 2, 1339, 0.1);
    wait_row(&w, "wait", "512fma", 1, -3, 1);
    const struct table *tables[] = {&w, &f};
    assert_int_equal(schedule_from_tables(tables, 2, &s, why, sizeof why), 0);
    assert_int_equal(s.n_relaxations, 4);
    assert_int_equal(s.relaxations[0].wait_ns.value, 600000);
    assert_int_equal(s.relaxations[1].wait_ns.value, 1200000);
    assert_int_equal(s.n_level_relaxations, 2);
    assert_int_equal(s.level_relaxations[0].wait_ns.value, 600000);
    assert_int_equal(s.level_relaxations[0].share_permille.value, 500);
    assert_int_equal(s.level_relaxations[1].share_permille.value, 500);
    assert_true(is_missing(&s, "relaxation", "wait_us"));
    schedule_free(&s);
    table_free(&f);
    table_free(&w);
}

/* Impossible values are not exported, but their reason is. */
TEST(test_impossible_costs)
{
    struct table f, o;
    struct schedule s;
    gold_frequencies(&f);
    overhead_table(&o);
    overhead_row(&o, "64add", "512fma", 1, -0.2, 9, 100);
    overhead_row(&o, "64add", "512fma", 2, 20, -8, 100);
    overhead_row(&o, "64add", "512fma", 3, 20, 8, -3);
    overhead_row(&o, "64add", "512fma", 4, 20, 8, 100);
    table_put_limits(&o, "up_us", 8, NAN, NAN);
    overhead_row(&o, "64add", "512fma", 5, -0.05, 8, 100);
    overhead_row(&o, "64add", "512fma", 6, 3e6, 8, 100);
    const struct table *tables[] = {&o, &f};
    assert_int_equal(schedule_from_tables(tables, 2, &s, why, sizeof why), 0);
    assert_int_equal(s.n_costs, 6);
    assert_false(s.costs[0].down_ns.present);
    assert_true(s.costs[0].up_ns.present);
    assert_false(s.costs[1].up_ns.present);
    assert_true(s.costs[2].up_ns.present);
    for (int i = 0; i < 6; i++)
        assert_int_equal(s.costs[i].breakeven_ns.present, i == 4);
    assert_false(s.costs[5].down_ns.present);
    assert_true(is_missing(&s, "overhead", "down_us is below 0 with all of its limits"));
    assert_true(is_missing(&s, "overhead", "up_us is below 0 with all of its limits"));
    assert_true(is_missing(&s, "overhead", "breakeven_us is below 0"));
    assert_true(is_missing(&s, "overhead", "breakeven_us without both costs and their limits"));
    assert_true(is_missing(&s, "overhead", "down_us is beyond"));
    assert_true(is_missing(&s, "throttle", "the table throttle was not measured"));
    assert_false(is_missing(&s, "overhead", "was not measured"));
    schedule_free(&s);
    table_free(&f);
    table_free(&o);
}

/* Rows that nothing can be read from are reported, and so is a table without any. */
TEST(test_unusable_rows)
{
    struct table f, o, e;
    struct schedule s;
    frequency_table(&f);
    frequency_row(&f, 70000, "64add", 1, 0, 3.7);
    frequency_row(&f, 0, "64add", 0, 0, 3.7);
    frequency_row(&f, 0, "64add", 1, 0, 3700);
    frequency_row(&f, 0, "64add", 1, -1, 3.7);
    frequency_row(&f, 70000, "512fma", 1, 1, 1.9); /* without levels there would be no costs */
    frequency_row(&f, 0, "64add", 1, 0, 3.7);
    table_put_limits(&f, "freq_ghz", 3.7, NAN, NAN);
    overhead_table(&o);
    overhead_row(&o, "64add", "512fma", 16, 42.7, 10, 156);
    overhead_row(&o, "64add", "nonsense", 16, 42.7, 10, 156);
    trigger_table(&e);
    const struct table *tables[] = {&f, &o, &e};
    assert_int_equal(schedule_from_tables(tables, 3, &s, why, sizeof why), 0);
    assert_int_equal(s.n_points, 0);
    assert_int_equal(s.n_left_out, 8);
    assert_string_equal(s.first_left_out, "trigger: the table has no rows");
    assert_true(is_missing(&s, "frequency", "cpu is not in"));
    assert_true(is_missing(&s, "frequency", "active_cores is not in"));
    assert_true(is_missing(&s, "frequency", "freq_ghz is missing or not in"));
    assert_true(is_missing(&s, "frequency", "level is missing"));
    assert_true(is_missing(&s, "frequency", "freq_ghz has no limits"));
    assert_true(is_missing(&s, "overhead", "no class of code"));
    schedule_free(&s);
    table_free(&f);
    table_free(&o);
    table_free(&e);
}

static size_t missing_times(const struct schedule *s, const char *table, const char *text)
{
    for (size_t i = 0; i < s->n_missing; i++)
        if (strcmp(s->missing[i].table, table) == 0 && strstr(s->missing[i].why, text))
            return s->missing[i].count;
    return 0;
}

#define FLOATS "no steps, the frequency floats: 3 of 8 frequencies had changed on remeasurement"

static void throttle_phase(struct table *h, double phase, double us)
{
    table_add_row(h);
    table_put_text(h, "from", "64add");
    table_put_text(h, "to", "512fma");
    table_put_number(h, "active_cores", 1);
    table_put_text(h, "part", "phase");
    table_put_number(h, "phase", phase);
    table_put_limits(h, "duration_us", us, us - 0.1, us + 0.1);
}

/* Seen on a guest whose frequency moves by itself: waits of one kernel that contradict each other went into the header,
 * and an empty export was put down to a kernel that needs amx_bf16. */
TEST(test_floating_frequency)
{
    struct table f, o, w, h, g;
    struct schedule s;
    frequency_table(&f);
    table_set_setting(&f, "steps", FLOATS);
    frequency_row(&f, 0, "64add", 1, -1, 3.6);
    frequency_row(&f, 0, "512fma", 1, -1, 3.5);
    table_add_missing(&f, "needs amx_bf16, which this processor does not support");
    overhead_table(&o);
    overhead_row(&o, "64add", "512fma", 1, 42.7, 10, 156);
    relaxation_table(&w);
    wait_row(&w, "wait", "256fma", 1, 11335, 1);
    trigger_table(&g);
    trigger_row(&g, "512fma", 1, 120, -1);
    throttle_table(&h);
    table_add_missing(&h, "needs amx_bf16, which this processor does not support");
    const struct table *tables[] = {&f, &o, &w, &g, &h};
    char all[1500];
    assert_int_equal(schedule_from_tables(tables, 4, &s, all, sizeof all), -1);
    assert_non_null(strstr(all, "; levels and frequencies: " FLOATS "; triggers: " FLOATS "; costs: " FLOATS
                                "; waits: " FLOATS "; throttling: the table throttle was not measured"));
    throttle_phase(&h, 0, NAN);
    assert_int_equal(schedule_from_tables(tables, 5, &s, all, sizeof all), -1);
    assert_non_null(strstr(all, "; throttling: none was found"));
    throttle_phase(&h, NAN, NAN);
    assert_int_equal(schedule_from_tables(tables, 5, &s, all, sizeof all), -1);
    assert_non_null(strstr(all, "; throttling: it is undecided whether it throttles"));
    assert_null(strstr(all, "amx_bf16"));
    /* parts that do not rest on the frequency stay */
    throttle_phase(&h, 1, 20);
    assert_int_equal(schedule_from_tables(tables, 5, &s, why, sizeof why), 0);
    assert_int_equal(s.n_throttles, 1);
    assert_int_equal(s.n_levels + s.n_points + s.n_turbos + s.n_costs + s.n_level_costs + s.n_relaxations, 0);
    assert_int_equal(missing_times(&s, "frequency", FLOATS), 2);
    assert_int_equal(missing_times(&s, "overhead", FLOATS), 1);
    assert_int_equal(missing_times(&s, "relaxation", FLOATS), 1);
    schedule_free(&s);
    table_free(&f);
    table_free(&o);
    table_free(&w);
    table_free(&g);
    table_free(&h);
}

/* One level for everything: there is nothing to come back from. */
static void relative_row(struct table *t, const char *kernel, int level, double ghz, double ratio)
{
    frequency_row(t, 0, kernel, 4, level, ghz);
    table_set_limits(t, t->n_rows - 1, "freq_ghz", ghz, 0.97 * ghz, 1.03 * ghz);
    table_put_limits(t, "ratio", ratio, ratio - 0.002, ratio + 0.002);
}

/* Where the frequency floats but ratios tell the levels, these are exported, and waits and costs with them, though the
 * slower kernel happened to be seen at the higher frequency. */
TEST(test_ratios_where_it_floats)
{
    struct table f, w;
    struct schedule s;
    table_init(&f, "frequency", table_frequency.columns, table_frequency.n_columns);
    table_set_meta(&f, "cpu", "Intel Xeon Gold 6130 CPU @ 2.10GHz (06_55H, stepping 4)");
    table_set_meta(&f, "machine", "model:by-hand");
    table_set_meta(&f, "modelled", "yes");
    table_set_setting(&f, "steps", "levels by the ratio to 64add around them; the frequency floats: 2 of 4 changed");
    relative_row(&f, "64add", 0, 3.6, 1);
    relative_row(&f, "512fma", 1, 3.7, 0.9);
    relaxation_table(&w);
    wait_row(&w, "wait", "512fma", 1, 670, 1);
    const struct table *tables[] = {&f, &w};
    if (schedule_from_tables(tables, 2, &s, why, sizeof why) != 0)
        fail_msg("%s", why);
    assert_true(s.relative);
    assert_int_equal(s.n_points, 1);
    assert_int_equal(s.points[0].mhz[1].value, 3240);
    assert_int_equal(s.points[0].ratio_ppm[1].value, 900000);
    assert_int_equal(s.points[0].ratio_ppm[1].hi, 902000);
    assert_int_equal(s.n_turbos, 0);
    assert_int_equal(s.n_relaxations, 1);
    char *json = export_to_json(&s, why, sizeof why);
    assert_non_null(json);
    assert_non_null(strstr(json, "\"basis\": \"relative\""));
    assert_int_equal(export_rules_check(json, strlen(json), why, sizeof why), 0);
    free(json);
    schedule_free(&s);
    table_free(&f);
    table_free(&w);
}

TEST(test_one_level)
{
    struct table f, o, w;
    struct schedule s;
    frequency_table(&f);
    frequency_row(&f, 0, "64add", 1, 0, 3.6);
    frequency_row(&f, 0, "512fma", 1, 0, 3.6);
    overhead_table(&o);
    overhead_row(&o, "64add", "512fma", 1, 42.7, 10, 156);
    relaxation_table(&w);
    wait_row(&w, "wait", "512fma", 1, 1175, 1);
    const struct table *tables[] = {&f, &o, &w};
    assert_int_equal(schedule_from_tables(tables, 3, &s, why, sizeof why), 0);
    assert_int_equal(s.n_levels, 1);
    assert_int_equal(s.n_points, 1);
    assert_int_equal(s.n_costs + s.n_relaxations, 0);
    assert_int_equal(missing_times(&s, "overhead", "share one level"), 1);
    assert_int_equal(missing_times(&s, "relaxation", "share one level"), 1);
    schedule_free(&s);
    /* levels, but not between these two */
    frequency_row(&f, 0, "256fma", 1, 1, 3.4);
    assert_int_equal(schedule_from_tables(tables, 3, &s, why, sizeof why), 0);
    assert_int_equal(s.n_costs, 1);
    assert_true(s.costs[0].down_ns.present && !s.costs[0].up_ns.present && !s.costs[0].breakeven_ns.present);
    assert_int_equal(s.n_relaxations, 0);
    assert_int_equal(missing_times(&s, "relaxation", "not give a slower level"), 1);
    schedule_free(&s);
    table_free(&f);
    table_free(&o);
    table_free(&w);
}

static void toggle_row(struct table *w, const char *from, double duty, double us)
{
    wait_row(w, "toggle", from, NAN, us, 0.9);
    table_put_number(w, "duty_us", duty);
}

/* A wait that rows of toggling do not bear out, one that no lower frequency precedes, and one without limits. */
TEST(test_waits_that_nothing_bears_out)
{
    static const char *const more[] = {"duty_us",   "slow_ghz",     "slow_ghz_lo", "slow_ghz_hi",
                                       "plain_ghz", "plain_ghz_lo", "plain_ghz_hi"};
    struct table f, few, w;
    struct schedule s;
    struct table_column columns[TABLE_COLUMNS_MAX];
    gold_frequencies(&f);
    relaxation_table(&few);
    memcpy(columns, few.columns, few.n_columns * sizeof *columns);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        columns[few.n_columns + i] = (struct table_column){more[i], "", TABLE_REAL, false, 3};
    table_init(&w, "relaxation", columns, few.n_columns + sizeof more / sizeof *more);
    for (size_t i = 0; i < few.n_meta; i++)
        table_set_meta(&w, few.meta[i].key, few.meta[i].value);
    static const struct {
        const char *from;
        double us, slow, plain;
    } waits[] = {{"256fma", 11335, 2.4, 2.8}, {"512or", 670, 2.4, 2.8}, {"512fma", 1175, 2.7995, 2.8}};
    for (size_t i = 0; i < 3; i++) {
        wait_row(&w, "wait", waits[i].from, 1, waits[i].us, 1);
        table_put_limits(&w, "slow_ghz", waits[i].slow, waits[i].slow - 0.001, waits[i].slow + 0.001);
        table_put_limits(&w, "plain_ghz", waits[i].plain, waits[i].plain - 0.001, waits[i].plain + 0.001);
    }
    toggle_row(&w, "256fma", 4860, 4376);
    toggle_row(&w, "256fma", 6210, 5599);
    toggle_row(&w, "512or", 603, 590); /* the few waits that are shorter than the pause say nothing of the others */
    table_put_limits(&w, "share", 0.05, 0.01, 0.1);
    toggle_row(&w, "512or", 770, 671);
    const struct table *tables[] = {&f, &w};
    assert_int_equal(schedule_from_tables(tables, 2, &s, why, sizeof why), 0);
    assert_int_equal(s.n_relaxations, 1);
    assert_int_equal(s.relaxations[0].wait_ns.value, 670000);
    assert_true(is_missing(&s, "relaxation", "a wait of 11335 us after 256fma, against 5599 us in its row toggle"));
    assert_true(is_missing(&s, "relaxation", "the frequency before the rise is not below that of plain code"));
    schedule_free(&s);
    table_set_number(&w, 1, "wait_us_lo", NAN);
    table_set_number(&w, 1, "wait_us_hi", NAN);
    assert_int_equal(schedule_from_tables(tables, 2, &s, why, sizeof why), 0);
    assert_int_equal(s.n_relaxations, 0);
    assert_true(is_missing(&s, "relaxation", "have no limits"));
    schedule_free(&s);
    table_free(&few);
    table_free(&f);
    table_free(&w);
}

/* Where several codes fit what was run, what they count else is not known: the documented one, or none. */
TEST(test_events_of_few_kernels)
{
    static const char *const kernels[] = {"128fma", "256fma", "512fma"};
    static const struct {
        int umask, counts; /* which of the kernels, as bits */
        const char *documented;
    } codes[] = {{0x02, 1, "not documented"},
                 {0x07, 1, "CORE_POWER.LVL0_TURBO_LICENSE: up to 128 bit, light 256"},
                 {0x08, 2, "not documented"},
                 {0x18, 2, "CORE_POWER.LVL1_TURBO_LICENSE: heavy 256, light 512"},
                 {0x20, 4, "CORE_POWER.LVL2_TURBO_LICENSE: heavy 512"},
                 {0x60, 4, "not documented"},
                 {0x40, 0, "CORE_POWER.THROTTLE: throttled while a level is pending"}};
    for (int with = 0; with < 2; with++) {
        struct table f, u;
        struct schedule s;
        frequency_table(&f);
        umask_table(&u);
        for (int k = 0; k < 3; k++) {
            frequency_row(&f, 0, kernels[k], 16, k, 2.8 - 0.3 * k);
            for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
                table_add_row(&u);
                table_put_number(&u, "event", 0x28);
                table_put_number(&u, "umask", codes[i].umask);
                table_put_text(&u, "kernel", kernels[k]);
                table_put_text(&u, "when", "steady");
                table_put_number(&u, "share", codes[i].counts >> k & 1 ? 0.99 : 0.01);
                table_put_text(&u, "documented", with ? codes[i].documented : "not documented");
            }
        }
        const struct table *tables[] = {&f, &u};
        assert_int_equal(schedule_from_tables(tables, 2, &s, why, sizeof why), 0);
        assert_int_equal(s.level_event[0].value, with ? 0x0728 : 0);
        assert_int_equal(s.level_event[1].value, with ? 0x1828 : 0);
        assert_int_equal(s.level_event[2].value, with ? 0x2028 : 0);
        for (int l = 0; l < 3; l++)
            assert_int_equal(s.level_event[l].present, with);
        schedule_free(&s);
        table_free(&u);
        table_free(&f);
    }
}

/* ---- the header ---- */

static char *header_of(const struct table *const *tables, size_t n)
{
    struct schedule s;
    if (schedule_from_tables(tables, n, &s, why, sizeof why) != 0)
        fail_msg("%s", why);
    char *text = export_to_header(&s, why, sizeof why);
    if (!text)
        fail_msg("%s", why);
    schedule_free(&s);
    return text;
}

/* Complete is only what reaches to the last core of the machine. */
TEST(test_complete)
{
    static const struct {
        const char *cores, *line;
    } cases[] = {{NULL, "CORES_COMPLETE 0\n"},
                 {"16", "CORES_COMPLETE 1\n"},
                 {"18", "CORES_COMPLETE 0\n"},
                 {"many", "CORES_COMPLETE 0\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table f;
        gold_frequencies(&f);
        if (cases[i].cores)
            table_set_setting(&f, "cores", cases[i].cores);
        const struct table *tables[] = {&f};
        char *text = header_of(tables, 1);
        assert_non_null(strstr(text, cases[i].line));
        assert_non_null(strstr(text, "  umask, 1 time: the table umask was not measured\n"));
        free(text);
        table_free(&f);
    }
}

TEST(test_limits_of_counts)
{
    struct table f, t;
    gold_frequencies(&f);
    trigger_table(&t);
    trigger_row(&t, "512fma", 1, 120, 2);
    table_put_limits(&t, "count", 120, 1, 120);
    trigger_row(&t, "512fma", 8, 130, 1);
    const struct table *tables[] = {&f, &t};
    char *text = header_of(tables, 2);
    assert_non_null(strstr(text, "{4, 1, 2, 120, 1, 120},\n    {4, 8, 1, 130, -1, -1},\n"));
    free(text);
    table_free(&t);
    table_free(&f);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 0); /* the template of the header */
}
