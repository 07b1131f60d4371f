/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduler parameters out of tables made by hand, their JSON, and what its rules refuse. */
#include <jansson.h>

#include "output/export/export.h"
#include "tests/support/test.h"
#include "util/sha256.h"
#include "tests/support/export_rules.h"
#include "tests/support/random_numbers.h"
#include "tests/support/schedule_tables.h"

static char why[300];

static void read_one(const struct table *t, struct schedule *s)
{
    const struct table *tables[] = {t};
    if (schedule_from_tables(tables, 1, s, why, sizeof why) != 0)
        fail_msg("%s", why);
}

static size_t class_of(const struct schedule *s, unsigned width, bool heavy)
{
    for (size_t i = 0; i < s->n_classes; i++)
        if (s->classes[i].width == width && s->classes[i].heavy == heavy)
            return i;
    fail_msg("no class of %u bits", width);
    return 0;
}

/* ---- kernels ---- */

TEST(test_kernel_classes)
{
    static const struct {
        const char *name;
        unsigned width;
        bool heavy, plain;
        unsigned density;
    } cases[] = {
        {"64add", 64, false, true, 1},
        {"512fma", 512, true, true, 1},
        {"512fma@1/8", 512, true, true, 8},
        {"256mul-lat", 256, true, false, 1},
        {"512or-dirty", 512, false, false, 1},
        {"amx", 8192, true, true, 1},
        {"256or-chain@1/4", 256, false, false, 4},
    };
    struct schedule_kernel k;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(schedule_kernel_of(cases[i].name, &k));
        assert_int_equal(k.width, cases[i].width);
        assert_int_equal(k.heavy, cases[i].heavy);
        assert_int_equal(k.plain, cases[i].plain);
        assert_int_equal(k.density, cases[i].density);
    }
    assert_false(schedule_kernel_of("pause", &k));
    assert_false(schedule_kernel_of("256fma+512or", &k));
    assert_false(schedule_kernel_of("", &k));
}

/* ---- frequencies ---- */

TEST(test_gold)
{
    struct table t;
    struct schedule s;
    gold_frequencies(&t);
    read_one(&t, &s);
    assert_int_equal(s.n_levels, 3);
    assert_int_equal(s.n_points, 16);
    assert_int_equal(s.n_turbos, 5);
    assert_int_equal(s.n_ignored, 0);
    for (size_t i = 0; i < s.n_points; i++)
        for (int l = 0; l < 3; l++) {
            assert_int_equal(s.points[i].active_cores, i + 1);
            assert_int_equal(s.points[i].mhz[l].value, gold_mhz[l][gold_group((int)i + 1)]);
            assert_true(s.points[i].mhz[l].has_limits);
        }
    for (size_t g = 0; g < 5; g++) {
        assert_int_equal(s.turbos[g].cores_lo, g ? gold_last_core[g - 1] + 1 : 1);
        assert_int_equal(s.turbos[g].cores_hi, gold_last_core[g]);
        for (int l = 0; l < 3; l++)
            assert_int_equal(s.turbos[g].mhz[l].value, gold_mhz[l][g]);
        assert_false(s.turbos[g].mhz[3].present);
    }
    assert_int_equal(s.classes[class_of(&s, 64, false)].level.value, 0);
    assert_int_equal(s.classes[class_of(&s, 256, false)].level.value, 0);
    assert_int_equal(s.classes[class_of(&s, 256, true)].level.value, 1);
    assert_int_equal(s.classes[class_of(&s, 512, false)].level.value, 1);
    assert_int_equal(s.classes[class_of(&s, 512, true)].level.value, 2);
    assert_true(s.modelled);
    assert_null(s.date_first);
    assert_string_equal(s.machine, "model:by-hand");
    table_free(&t);
    schedule_free(&s);
}

/* Several CPUs in any order, holes, kernels that differ within a level, rows that cannot be used. */
TEST(test_points)
{
    struct table t;
    struct schedule s;
    frequency_table(&t);
    frequency_row(&t, 7, "64add", 4, 0, 3.0);
    frequency_row(&t, 2, "64add", 4, 0, 3.1);
    frequency_row(&t, 2, "64add", 1, 0, 3.4);
    frequency_row(&t, 2, "128fma", 1, 0, 3.402); /* mean of 3400 and 3402 */
    frequency_row(&t, 2, "512fma", 1, 2, 2.0);
    frequency_row(&t, 2, "512fma@1/8", 2, 1, 3.3);
    frequency_row(&t, 2, "512fma", 3, -1, 3.3); /* no level */
    frequency_row(&t, 2, "512fma", 3, 1, NAN);  /* no frequency */
    frequency_row(&t, 2, "512fma", 3, 1, 0.1);  /* out of range */
    read_one(&t, &s);
    assert_int_equal(s.n_ignored, 3);
    assert_int_equal(s.n_levels, 3);
    assert_int_equal(s.n_points, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(s.points[i].cpu, i < 3 ? 2 : 7);
    assert_int_equal(s.points[0].mhz[0].value, 3401);
    assert_int_equal(s.points[0].mhz[0].lo, 3399);
    assert_int_equal(s.points[0].mhz[0].hi, 3403);
    assert_false(s.points[0].mhz[1].present);
    assert_int_equal(s.points[0].mhz[2].value, 2000);
    assert_int_equal(s.points[1].active_cores, 2);
    assert_false(s.points[1].mhz[0].present);
    /* frequencies that are not measured at the same levels are not the same turbo level */
    assert_int_equal(s.n_turbos, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(s.turbos[i].cpu, i < 3 ? 2 : 7);
    /* sparse kernels tell no class its level */
    assert_int_equal(s.classes[class_of(&s, 512, true)].level.value, 2);
    table_free(&t);
    schedule_free(&s);
}

TEST(test_random_groups)
{
    for (uint64_t run = 0; run < 200; run++) {
        struct table t;
        struct schedule s;
        struct rng r;
        int mhz[40], cores = 0, groups = 0, last = 0;
        rng_init(&r, 11, run);
        frequency_table(&t);
        int wanted = rng_int(&r, 1, 8);
        for (int g = 0, f = 5500; g < wanted; g++) {
            f -= rng_int(&r, SCHEDULE_SAME_MHZ + 4, 400);
            int size = rng_int(&r, 1, 5);
            for (int i = 0; i < size; i++)
                mhz[cores++] = f + rng_int(&r, -2, 2);
        }
        for (int c = cores; c-- > 0;) {
            frequency_row(&t, 0, "128fma", c + 1, 0, mhz[c] / 1e3);
            frequency_row(&t, 0, "512fma", c + 1, 1, (mhz[c] - 300) / 1e3);
        }
        read_one(&t, &s);
        for (size_t i = 0; i < s.n_turbos; i++, groups++) {
            assert_int_equal(s.turbos[i].cores_lo, last + 1);
            last = (int)s.turbos[i].cores_hi;
            for (int c = (int)s.turbos[i].cores_lo; c <= last; c++)
                assert_true(abs(s.turbos[i].mhz[1].value - mhz[c - 1] + 300) <= 4);
        }
        assert_int_equal(last, cores);
        assert_int_equal(groups, wanted);
        free(export_rules_json(&s));
        schedule_free(&s);
        table_free(&t);
    }
}

/* ---- what stands between kernels ---- */

TEST(test_costs)
{
    struct table f, o;
    struct schedule s;
    gold_frequencies(&f);
    overhead_table(&o);
    overhead_row(&o, "64add", "512fma", 16, 42.7, 10, 156);
    overhead_row(&o, "64add", "512mul", 16, 44, 9, 150);  /* the same classes: the larger of each */
    overhead_row(&o, "256or", "512fma", 16, 41, 10, 160); /* the same levels */
    overhead_row(&o, "64add", "512fma", 1, -0.05, NAN, NAN);
    overhead_row(&o, "64add", "256or", 16, 15, NAN, NAN); /* no change of the level */
    overhead_row(&o, "64add", "512fma-lat", 16, 99, 99, 99);
    overhead_row(&o, "64add", "512fma", 8, NAN, NAN, NAN);
    const struct table *tables[] = {&o, &f};
    assert_int_equal(schedule_from_tables(tables, 2, &s, why, sizeof why), 0);
    assert_int_equal(s.n_ignored, 2);
    assert_int_equal(s.n_costs, 4);
    size_t scalar = class_of(&s, 64, false), heavy = class_of(&s, 512, true);
    const struct schedule_cost *c = &s.costs[2];
    assert_int_equal(s.costs[1].active_cores, 1);
    assert_int_equal(s.costs[1].down_ns.value, -50);
    assert_false(s.costs[1].up_ns.present);
    assert_int_equal(c->from, scalar);
    assert_int_equal(c->to, heavy);
    assert_int_equal(c->down_ns.value, 44000);
    assert_int_equal(c->up_ns.value, 10000);
    assert_int_equal(c->breakeven_ns.value, 156000);
    assert_int_equal(c->down_ns.lo, 43900);
    assert_int_equal(s.n_level_costs, 2);
    assert_int_equal(s.level_costs[1].from, 0);
    assert_int_equal(s.level_costs[1].to, 2);
    assert_int_equal(s.level_costs[1].active_cores, 16);
    assert_int_equal(s.level_costs[1].breakeven_ns.value, 160000);
    schedule_free(&s);
    table_free(&f);
    table_free(&o);
}

TEST(test_relaxation_and_throttle)
{
    struct table f, w, h;
    struct schedule s;
    gold_frequencies(&f);
    relaxation_table(&w);
    wait_row(&w, "wait", "512or", 1, 669.9, 0.9);
    wait_row(&w, "wait", "512or", 2, 1339, 0.1);
    wait_row(&w, "wait", "256fma", 1, 670.4, 1);
    wait_row(&w, "rearm", "256fma", NAN, 9999, 1);
    wait_row(&w, "wait", "512fma", 3, 9999, 1);
    throttle_table(&h);
    for (int phase = 1; phase <= 2; phase++) {
        table_add_row(&h);
        table_put_text(&h, "from", "64add");
        table_put_text(&h, "to", "512fma");
        table_put_number(&h, "active_cores", 16);
        table_put_text(&h, "part", "phase");
        table_put_number(&h, "phase", phase);
        table_put_limits(&h, "duration_us", 20, 19.9, 20.1);
        if (phase == 1)
            table_put_limits(&h, "ipc_ratio", 0.25, 0.2499, 0.2501);
    }
    const struct table *tables[] = {&w, &h, &f};
    assert_int_equal(schedule_from_tables(tables, 3, &s, why, sizeof why), 0);
    assert_int_equal(s.n_relaxations, 3);
    assert_int_equal(s.n_level_relaxations, 2);
    /* of level 1 to 0 that one with both of its modes which waits longer in the mean; shares add up to the whole */
    assert_int_equal(s.level_relaxations[0].wait_ns.value, 669900);
    assert_int_equal(s.level_relaxations[0].share_permille.value, 900);
    assert_int_equal(s.level_relaxations[1].mode, 2);
    assert_int_equal(s.level_relaxations[1].wait_ns.value, 1339000);
    assert_int_equal(s.level_relaxations[1].share_permille.value, 100);
    assert_int_equal(s.n_throttles, 2);
    assert_int_equal(s.throttles[0].ratio_permille.value, 250);
    assert_int_equal(s.throttles[1].duration_ns.value, 20000);
    assert_false(s.throttles[1].ratio_permille.present);
    schedule_free(&s);
    for (size_t i = 0; i < 3; i++)
        table_free((struct table *)tables[i]);
}

TEST(test_triggers)
{
    struct table f, t;
    struct schedule s;
    frequency_table(&f);
    frequency_row(&f, 0, "64add", 1, 0, 3.7);
    frequency_row(&f, 0, "256fma", 1, 1, 3.6);
    frequency_row(&f, 0, "512fma", 1, 2, 3.5);
    trigger_table(&t);
    trigger_row(&t, "512fma", 8, NAN, 1);
    trigger_row(&t, "256fma", 1, 650, 0);      /* throttles only */
    trigger_row(&t, "256fma", 1, 13000, 1);    /* this asks */
    trigger_row(&t, "256mul", 1, 12000, 1);    /* the same class: the smaller count */
    trigger_row(&t, "512fma", 1.0 / 2, 40, 2); /* a share instead of N */
    trigger_row(&t, "512or", 1, 1, -1);        /* requests what? */
    const struct table *tables[] = {&t, &f};
    assert_int_equal(schedule_from_tables(tables, 2, &s, why, sizeof why), 0);
    assert_int_equal(s.n_levels, 3);
    assert_int_equal(s.n_triggers, 3);
    assert_int_equal(s.n_ignored, 1);
    assert_int_equal(s.triggers[0].class_index, class_of(&s, 256, true));
    assert_int_equal(s.triggers[0].count.value, 12000);
    assert_int_equal(s.triggers[0].level.value, 1);
    assert_int_equal(s.triggers[1].density, 2);
    assert_int_equal(s.triggers[1].level.value, 2);
    assert_int_equal(s.triggers[2].density, 8);
    assert_false(s.triggers[2].count.present);
    assert_int_equal(s.classes[class_of(&s, 256, true)].level.value, 1);
    assert_false(s.classes[class_of(&s, 512, false)].level.present);
    schedule_free(&s);
    table_free(&t);
    table_free(&f);
}

TEST(test_events)
{
    static const char *const kernels[] = {"64add", "256or", "256fma", "512or", "512fma"};
    static const int bit[] = {2, 4, 8, 16, 32};
    static const int umasks[] = {0x3f, 0x02, 0x04, 0x06, 0x07, 0x08, 0x10, 0x18, 0x20, 0x60};
    struct table f, u;
    struct schedule s;
    gold_frequencies(&f);
    umask_table(&u);
    for (size_t i = 0; i < sizeof umasks / sizeof *umasks; i++)
        for (size_t k = 0; k < 5; k++)
            for (int steady = 0; steady < 2; steady++) {
                table_add_row(&u);
                table_put_number(&u, "event", 0x28);
                table_put_number(&u, "umask", umasks[i]);
                table_put_text(&u, "kernel", kernels[k]);
                table_put_text(&u, "when", steady ? "steady" : "from 128fma");
                table_put_number(&u, "share", !steady ? 0.5 : umasks[i] & bit[k] ? 0.97 : 0.02);
                if (umasks[i] == 0x07)
                    table_put_text(&u, "documented", "CORE_POWER.LVL0_TURBO_LICENSE");
            }
    const struct table *tables[] = {&f, &u};
    assert_int_equal(schedule_from_tables(tables, 2, &s, why, sizeof why), 0);
    assert_int_equal(s.level_event[0].value, 0x0728); /* 06 fits, too, but 07 is documented */
    assert_int_equal(s.level_event[1].value, 0x1828); /* no other fits */
    assert_false(s.level_event[2].present);           /* 20 or 60? */
    schedule_free(&s);
    table_free(&u);
    umask_table(&u); /* nothing was counted */
    assert_int_equal(schedule_from_tables(tables, 2, &s, why, sizeof why), 0);
    for (int l = 0; l < 3; l++)
        assert_false(s.level_event[l].present);
    schedule_free(&s);
    table_free(&u);
    table_free(&f);
}

/* ---- what does not belong together ---- */

static void refused(const struct table *const *tables, size_t n, const char *reason)
{
    struct schedule s;
    assert_int_equal(schedule_from_tables(tables, n, &s, why, sizeof why), -1);
    if (!strstr(why, reason))
        fail_msg("%s instead of %s", why, reason);
    assert_int_equal(s.n_points, 0);
    assert_null(s.points);
}

TEST(test_refused_tables)
{
    struct table f, g, e;
    gold_frequencies(&f);
    gold_frequencies(&g);
    frequency_table(&e);
    const struct table *both[] = {&f, &g}, *empty[] = {&e};
    refused(both, 0, "no tables");
    refused(both, 2, "twice");
    refused(empty, 1, "nothing that a scheduler");
    free(g.name);
    g.name = strdup("overhead");
    table_set_meta(&g, "machine", "perf");
    refused(both, 2, "machine");
    table_set_meta(&g, "machine", "model:by-hand");
    table_set_meta(&g, "modelled", "no");
    refused(both, 2, "modelled");
    table_set_meta(&g, "modelled", "yes");
    refused(both, 2, "the table overhead has no column from");
    table_add_row(&f);
    table_put_limits(&f, "freq_ghz", 3.70002, 9, 0.1);
    refused(both, 1, "row 81: freq_ghz is 3.70002, with the limits 9 to 0.1");
    g.failed = true;
    refused(both, 2, "incomplete table");
    table_free(&f);
    table_free(&g);
    table_free(&e);
}

/* ---- JSON ---- */

static char *gold_json(void)
{
    struct table f, o;
    struct schedule s;
    gold_frequencies(&f);
    table_add_missing(&f, "no counters\n\x1b[31m");
    table_add_missing(&f, "no counters\n\x1b[31m");
    overhead_table(&o);
    overhead_row(&o, "64add", "512fma", 16, 42.7, 10, 156);
    const struct table *tables[] = {&f, &o};
    assert_int_equal(schedule_from_tables(tables, 2, &s, why, sizeof why), 0);
    char *json = export_rules_json(&s);
    schedule_free(&s);
    table_free(&f);
    table_free(&o);
    return json;
}

TEST(test_json)
{
    char *json = gold_json(), *again = gold_json();
    assert_string_equal(json, again);
    free(again);
    json_t *root = json_loads(json, 0, NULL);
    assert_non_null(root);
    assert_int_equal(json_array_size(json_object_get(root, "frequencies")), 48);
    const json_t *row = json_array_get(json_object_get(root, "frequencies"), 47);
    assert_int_equal(json_integer_value(json_object_get(row, "active_cores")), 16);
    assert_int_equal(json_integer_value(json_object_get(row, "level")), 2);
    assert_int_equal(json_integer_value(json_object_get(row, "mhz")), 1900);
    assert_null(json_object_get(root, "date_first")); /* absent, not empty */
    row = json_array_get(json_object_get(root, "missing"), 0);
    assert_int_equal(json_integer_value(json_object_get(row, "count")), 2);
    assert_null(strchr(json_string_value(json_object_get(row, "why")), '\x1b'));
    json_decref(root);
    free(json);
}

/* Each change of a good export, and what is said about it. */
TEST(test_what_the_rules_refuse)
{
    static const struct {
        const char *from, *to, *reason;
    } cases[] = {
        {"characterize-export/1", "characterize-export/2", "format is not"},
        {"\"modelled\": true", "\"modelled\": 1", "modelled is not true or false"},
        {"\"machine\": \"model:by-hand\"", "\"machine\": 3", "machine is not a text"},
        {"\"machine\": \"model:by-hand\",", "", "machine is not there"},
        {"\"levels\": 3", "\"levels\": 9", "levels is not"},
        {"\"levels\": 3", "\"levels\": 2", "level is 2, not in 0 to 1"},
        {"\"levels\": 3", "\"levels\": 3, \"more\": 1", "an unknown key"},
        {"\"triggers\": [],", "", "triggers is not a list"},
        {"\"cpu\": 0, \"active_cores\": 3, \"level\": 1, \"mhz\": 3400",
         "\"cpu\": 0, \"active_cores\": 3, \"level\": 1, \"mhz\": 0", "mhz is 0, not in 250"},
        {"\"mhz\": 3400, \"mhz_lo\": 3399", "\"mhz\": 3400.5, \"mhz_lo\": 3399", "mhz is not a whole number"},
        {"\"mhz\": 3400, \"mhz_lo\": 3399, \"mhz_hi\": 3401", "\"mhz\": 3400, \"mhz_lo\": 3399",
         "both given or neither"},
        {"\"mhz\": 3400, \"mhz_lo\": 3399", "\"mhz\": 3400, \"mhz_lo\": 3401", "outside its limits"},
        {"\"mhz\": 3400, \"mhz_lo\": 3399", "\"ghz\": 3.4, \"mhz_lo\": 3399", "mhz is not there"},
        {"\"mhz\": 3400, \"mhz_lo\"", "\"unit\": 1, \"mhz\": 3400, \"mhz_lo\"", "unknown key"},
        {"\"active_cores\": 3, \"level\": 1", "\"active_cores\": 3, \"level\": 0", "appears twice"},
        {"\"active_cores\": 3, \"level\": 1", "\"active_cores\": 1, \"level\": 1", "goes back"},
        {"\"active_cores\": 3, \"level\": 1, \"mhz\": 3400, \"mhz_lo\": 3399, \"mhz_hi\": 3401",
         "\"active_cores\": 3, \"level\": 1, \"mhz\": 3600, \"mhz_lo\": 3599, \"mhz_hi\": 3601",
         "level 1 at 3600 MHz is faster than level 0 at 3500 MHz"},
        {"\"cores_lo\": 3, \"cores_hi\": 4", "\"cores_lo\": 4, \"cores_hi\": 3", "cores_lo 4 is above"},
        {"\"cores_lo\": 3, \"cores_hi\": 4", "\"cores_lo\": 2, \"cores_hi\": 4", "do not follow"},
        {"{\"class\": 1, \"width\": 256, \"heavy\": false", "{\"class\": 1, \"width\": 256, \"heavy\": 0",
         "heavy is not true or false"},
        {"{\"class\": 1, \"width\": 256, \"heavy\": false", "{\"class\": 1, \"width\": 256, \"heavy\": true",
         "width 256 after 256"},
        {"{\"class\": 0, \"width\": 64", "{\"class\": 0, \"width\": 300", "width 256 after 300"},
        {"\"costs\": [\n    {\"from\": 0, \"to\": 4", "\"costs\": [\n    {\"from\": 0, \"to\": 9", "to is 9, not in 0"},
        {"\"level_costs\": [\n    {\"from\": 0, \"to\": 2", "\"level_costs\": [\n    {\"from\": 2, \"to\": 2",
         "between level 2 and itself"},
        {"\"breakeven_ns\": 156000", "\"breakeven_ns\": 99999999999", "not in 0 to 2147483647"},
        {"\"key\": \"runs\"", "\"key\": 7", "key is not a text"},
        {"\"triggers\": []", "\"triggers\": [{\"class\": 4, \"one_in\": 1, \"level\": 1}]",
         "one in 1 triggers level 1, but class 4 is of level 2"},
        {"\"triggers\": []", "\"triggers\": [{\"class\": 0, \"one_in\": 8, \"level\": 1}]",
         "one in 8 triggers level 1, but class 0 is of level 0"},
        {"\"level_relaxations\": []",
         "\"level_relaxations\": [{\"from\": 1, \"to\": 0, \"mode\": 1, \"wait_ns\": 1, \"share_permille\": "
         "1000},{\"from\": 1, \"to\": 0, \"mode\": 2, \"wait_ns\": 2, \"share_permille\": 98}]",
         "the shares from 1 to 0 add up to more than 1000"},
    };
    char *good = gold_json();
    assert_int_equal(export_rules_check(good, strlen(good), why, sizeof why), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *at = strstr(good, cases[i].from);
        if (!at)
            fail_msg("not there: %s", cases[i].from);
        char *bad = calloc(1, strlen(good) + 300);
        assert_non_null(bad);
        memcpy(bad, good, (size_t)(at - good));
        strcat(strcat(bad, cases[i].to), at + strlen(cases[i].from));
        if (export_rules_check(bad, strlen(bad), why, sizeof why) == 0 || !strstr(why, cases[i].reason))
            fail_msg("%s: %s instead of %s", cases[i].to, why, cases[i].reason);
        assert_null(strchr(why, '\n'));
        free(bad);
    }
    assert_int_equal(export_rules_check("[]", 2, why, sizeof why), -1);
    assert_int_equal(export_rules_check("{", 1, why, sizeof why), -1);
    assert_non_null(strstr(why, "not JSON"));
    free(good);
}

/* Contradictions are not written: a level that is faster than the one below, beyond all limits. */
TEST(test_refused_schedule)
{
    struct table t;
    struct schedule s;
    frequency_table(&t);
    frequency_row(&t, 0, "64add", 1, 0, 2.8);
    frequency_row(&t, 0, "512fma", 1, 1, 3.0);
    read_one(&t, &s);
    assert_null(export_to_json(&s, why, sizeof why));
    assert_non_null(strstr(why, "level 1 at 3000 MHz is faster than level 0 at 2800 MHz"));
    why[0] = '\0';
    assert_null(export_to_header(&s, why, sizeof why));
    assert_non_null(strstr(why, "level 1 at 3000 MHz is faster than level 0 at 2800 MHz"));
    schedule_free(&s);
    table_free(&t);
}

static void impossible(struct schedule *s, const char *reason)
{
    assert_null(export_to_json(s, why, sizeof why));
    if (!strstr(why, reason))
        fail_msg("%s instead of %s", why, reason);
}

/* Values that no single row is wrong about, and that no scheduler may be reported. */
TEST(test_impossible_values)
{
    struct table t;
    struct schedule s;
    struct schedule_relaxation waits[2] = {{.from = 1, .mode = 1}, {.from = 1, .mode = 2}};
    struct schedule_throttle throttle = {.ratio_permille = {.present = true, .value = 2001}};
    struct schedule_trigger trigger = {.count = {.present = true, .value = -1}};
    const char *cpu;
    gold_frequencies(&t);
    read_one(&t, &s);
    free(export_rules_json(&s));
    free(s.throttles);
    free(s.triggers);
    free(s.level_relaxations);
    s.throttles = &throttle;
    s.n_throttles = 1;
    impossible(&s, "throttles[0]: ratio_permille is 2001, not in 0 to 2000");
    throttle.ratio_permille.value = 2000;
    s.triggers = &trigger;
    s.n_triggers = 1;
    impossible(&s, "triggers[0]: count is -1, not in 0 to");
    s.n_triggers = 0;
    s.level_relaxations = waits;
    s.n_level_relaxations = 2;
    waits[0].share_permille = waits[1].share_permille = (struct schedule_number){.present = true, .value = 501};
    impossible(&s, "level_relaxations[1]: the shares from 1 to 0 add up to more than 1000");
    waits[1].to = 1; /* of another wait */
    free(export_to_json(&s, why, sizeof why));
    waits[0].share_permille.value = 1001;
    impossible(&s, "level_relaxations[0]: share_permille is 1001, not in 0 to 1000");
    s.n_throttles = s.n_level_relaxations = 0;
    s.throttles = NULL;
    s.triggers = NULL;
    s.level_relaxations = NULL;
    cpu = s.cpu;
    s.cpu = NULL;
    impossible(&s, "cpu is missing");
    s.cpu = cpu;
    schedule_free(&s);
    table_free(&t);
}

/* FIPS 180-4 examples, and lengths around a block against each other. */
TEST(test_sha256)
{
    char hash[SHA256_HEX_SIZE];
    sha256_hex("abc", 3, hash);
    assert_string_equal(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_hex("", 0, hash);
    assert_string_equal(hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    sha256_hex(two, strlen(two), hash);
    assert_string_equal(hash, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *million = malloc(1000000);
    assert_non_null(million);
    memset(million, 'a', 1000000);
    sha256_hex(million, 1000000, hash);
    assert_string_equal(hash, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}
