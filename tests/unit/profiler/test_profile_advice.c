/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiler's advice: which sentence for which cause, and none where nothing is certain. */
#include "profiler/profile.h"
#include "tests/support/profile_records.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

struct advised {
    struct profile_setup setup;
    struct profile_terms terms;
    struct profile_totals *totals;
    struct profile_result result;
};

static struct advised advised_start(uint32_t flags, bool with_terms)
{
    struct advised t = {.setup = profile_records_setup(flags), .terms = profile_records_terms()};
    if (!with_terms)
        t.terms = (struct profile_terms){NAN, {NAN, NAN, NAN}, {NAN, NAN, NAN}};
    t.totals = profile_totals_new(&t.setup, &t.terms);
    return t;
}

static void advised_add(struct advised *t, unsigned times, struct profile_seen seen)
{
    struct profile_record record = profile_record_of(&t->setup, &seen);
    for (unsigned i = 0; i < times; i++)
        assert_true(profile_totals_add(t->totals, &record));
}

/* t2 demands level 2 whenever it is seen; t1 runs as it should for so many samples. */
static void advised_usual(struct advised *t, unsigned undisturbed)
{
    advised_add(t, 50, (struct profile_seen){.pid = 2, .cpu = 8, .bin = 4, .actual = 2, .ideal = 2, .both = 2});
    advised_add(t, undisturbed, (struct profile_seen){.pid = 1, .bin = 4});
}

static const struct profile_row *advised_row(struct advised *t, enum profile_kind kind, const char *name)
{
    assert_int_equal(profile_totals_result(t->totals, &t->result), 0);
    return profile_row_named(&t->result, kind, name);
}

static void advised_end(struct advised *t)
{
    profile_result_free(&t->result);
    profile_totals_free(t->totals);
}

static void says(const struct profile_row *row, const char *what)
{
    if (strstr(row->advice, what) == NULL)
        fail_msg("%s: '%s' does not say '%s'", row->name, row->advice, what);
}

/* The numbers in a sentence are those of the row. */
static void says_cost(const struct profile_row *row, double share)
{
    double value, lo, hi;
    const char *at = strstr(row->advice, "about ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "about %lf %% here (%lf to %lf)", &value, &lo, &hi), 3);
    assert_close(value, 100 * share * row->overhead.value, 0.051);
    assert_close(lo, 100 * share * row->overhead.lo, 0.051);
    assert_close(hi, 100 * share * row->overhead.hi, 0.051);
}

static const struct profile_seen by_sibling = {.pid = 1, .other = 2, .bin = 4, .actual = 2, .both = 2};
static const struct profile_seen by_delay = {.pid = 1, .before = 2, .since_us = 100, .bin = 4, .actual = 2};

TEST(test_sibling)
{
    struct advised t = advised_start(PROFILE_SOURCES, true);
    advised_usual(&t, 60);
    advised_add(&t, 40, by_sibling);
    const struct profile_row *row = advised_row(&t, PROFILE_TASK, "t1-1");
    says(row, "Keep t2-2 off the sibling of its cores");
    says_cost(row, 1);
    /* its tasks' rows tell more */
    assert_string_equal(profile_row_named(&t.result, PROFILE_CORE, "core 0")->advice, "");
    says(profile_row_named(&t.result, PROFILE_ALL, "all"), "Separate t2-2 from the rest");
    says(profile_row_named(&t.result, PROFILE_TASK, "t2-2"), "It causes about 100 % of all overhead");
    advised_end(&t);
}

TEST(test_delay_by_others)
{
    struct advised t = advised_start(PROFILE_SOURCES, true);
    advised_usual(&t, 60);
    advised_add(&t, 40, by_delay);
    const struct profile_row *row = advised_row(&t, PROFILE_TASK, "t1-1");
    says(row, "Give t2-2 cores of its own");
    says(row, "outlasts its time slice");
    says_cost(row, 1);
    advised_end(&t);
}

TEST(test_without_sources)
{
    struct advised t = advised_start(0, true);
    advised_usual(&t, 60);
    advised_add(&t, 40, by_sibling);
    const struct profile_row *row = advised_row(&t, PROFILE_TASK, "t1-1");
    says(row, "Give t2-2 cores of its own");
    says(row, "--sources");
    says_cost(row, 1);
    advised_end(&t);
}

static void own_delay(struct advised *t)
{
    advised_add(t, 10, (struct profile_seen){.pid = 1, .bin = 4, .actual = 2, .ideal = 2, .both = 2});
    advised_add(t, 60, (struct profile_seen){.pid = 1, .bin = 4});
    advised_add(t, 40, (struct profile_seen){.pid = 1, .bin = 4, .actual = 2});
}

TEST(test_own_delay)
{
    struct advised t = advised_start(PROFILE_SOURCES, true);
    own_delay(&t);
    const struct profile_row *row = advised_row(&t, PROFILE_TASK, "t1-1");
    says(row, "Its own wide code slows what follows it");
    says(row, "leaving level 2 in between pays off only in gaps of at least 300 us.");
    /* parting it from the rest would mend nothing */
    assert_string_equal(profile_row_named(&t.result, PROFILE_ALL, "all")->advice, "");
    advised_end(&t);
    t = advised_start(PROFILE_SOURCES, false);
    own_delay(&t);
    row = advised_row(&t, PROFILE_TASK, "t1-1");
    says(row, "Its own wide code");
    assert_null(strstr(row->advice, "pays"));
    assert_int_equal(row->advice[strlen(row->advice) - 1], '.');
    advised_end(&t);
}

/* The effect that tasks of a container have on each other is its own doing. */
TEST(test_container)
{
    struct advised t = advised_start(PROFILE_SOURCES, true);
    advised_add(&t, 50,
                (struct profile_seen){.pid = 2, .cpu = 8, .cgroup = 5, .bin = 4, .actual = 2, .ideal = 2, .both = 2});
    advised_add(&t, 60, (struct profile_seen){.pid = 1, .cgroup = 5, .bin = 4});
    struct profile_seen seen = by_delay;
    seen.cgroup = 5;
    advised_add(&t, 40, seen);
    says(advised_row(&t, PROFILE_CONTAINER, "5"), "Its own wide code");
    says(profile_row_named(&t.result, PROFILE_TASK, "t1-1"), "Give t2-2 cores of its own");
    advised_end(&t);
    /* beside each other: fewer stretches would not help */
    t = advised_start(PROFILE_SOURCES, true);
    advised_add(&t, 50,
                (struct profile_seen){.pid = 2, .cpu = 8, .cgroup = 5, .bin = 4, .actual = 2, .ideal = 2, .both = 2});
    advised_add(&t, 60, (struct profile_seen){.pid = 1, .cgroup = 5, .bin = 4});
    seen = by_sibling;
    seen.cgroup = 5;
    advised_add(&t, 40, seen);
    says(advised_row(&t, PROFILE_CONTAINER, "5"), "Its tasks slow each other as siblings");
    advised_end(&t);
}

TEST(test_nothing_where_nothing_is_certain)
{
    /* one sample too few */
    struct advised t = advised_start(PROFILE_SOURCES, true);
    advised_usual(&t, 0);
    advised_add(&t, ADVICE_SAMPLES_LEAST - 1, by_sibling);
    assert_string_equal(advised_row(&t, PROFILE_TASK, "t1-1")->advice, "");
    advised_end(&t);
    t = advised_start(PROFILE_SOURCES, true);
    advised_usual(&t, 0);
    advised_add(&t, ADVICE_SAMPLES_LEAST, by_sibling);
    says(advised_row(&t, PROFILE_TASK, "t1-1"), "Keep t2-2");
    advised_end(&t);
    /* no overhead; nobody who is known to cause it */
    t = advised_start(PROFILE_SOURCES, true);
    advised_usual(&t, 100);
    assert_string_equal(advised_row(&t, PROFILE_TASK, "t1-1")->advice, "");
    assert_string_equal(profile_row_named(&t.result, PROFILE_TASK, "t2-2")->advice, "");
    advised_end(&t);
    t = advised_start(PROFILE_SOURCES, true);
    advised_add(&t, 100, (struct profile_seen){.pid = 1, .other = 3, .bin = 4, .actual = 2});
    assert_string_equal(advised_row(&t, PROFILE_TASK, "t1-1")->advice, "");
    advised_end(&t);
    /* many, none of whom matters */
    t = advised_start(PROFILE_SOURCES, true);
    for (uint32_t i = 0; i < 100; i++) {
        struct profile_seen seen = by_sibling;
        seen.other = 100 + i;
        advised_add(&t, 1, seen);
    }
    assert_string_equal(advised_row(&t, PROFILE_TASK, "t1-1")->advice, "");
    advised_end(&t);
}

/* Less than 0.1 % of the time is not worth a sentence, however certain. */
TEST(test_nothing_on_next_to_nothing)
{
    struct advised t = advised_start(PROFILE_SOURCES, true);
    advised_usual(&t, 0);
    struct profile_seen seen = by_sibling;
    /* so much waits for memory that a change of the clock costs 0.09 % */
    seen.stall = 0.9972;
    advised_add(&t, 1000, seen);
    const struct profile_row *row = advised_row(&t, PROFILE_TASK, "t1-1");
    assert_true(row->overhead.value > 0.0005 && row->overhead.value < 0.001);
    for (size_t i = 0; i < t.result.n_rows; i++)
        assert_string_equal(t.result.rows[i].advice, "");
    advised_end(&t);
}

/* Where a core has one thread, parting threads of cores is nothing that could be done. */
TEST(test_no_siblings)
{
    for (unsigned sources = 0; sources < 2; sources++) {
        struct advised t = advised_start(sources ? PROFILE_SOURCES : 0, true);
        struct profile_seen all[] = {
            {.pid = 2, .cpu = 8, .bin = 4, .actual = 2, .ideal = 2, .both = 2}, {.pid = 1, .bin = 4}, by_delay};
        for (size_t i = 0; i < 3; i++) {
            struct profile_record r = profile_record_of(&t.setup, &all[i]);
            r.sight.other_cpu = PROFILE_NO_CPU;
            for (unsigned n = 0; n < 50; n++)
                assert_true(profile_totals_add(t.totals, &r));
        }
        says(advised_row(&t, PROFILE_TASK, "t1-1"), "Give t2-2 cores of its own (cpusets)");
        assert_false(t.result.siblings);
        says(profile_row_named(&t.result, PROFILE_ALL, "all"), "Separate t2-2 from the rest (cpusets)");
        for (size_t i = 0; i < t.result.n_rows; i++)
            assert_true(strstr(t.result.rows[i].advice, "sibling") == NULL &&
                        strstr(t.result.rows[i].advice, "core scheduling") == NULL);
        advised_end(&t);
    }
}

/* Whatever is said of a row: it has the samples, and what it is about has limits above 0. */
TEST(test_random_profiles)
{
    struct rng r;
    unsigned said = 0, silent = 0;
    rng_init(&r, 47, 1);
    for (unsigned round = 0; round < 200; round++) {
        struct advised t = advised_start(rng_chance(&r, 0.7) ? PROFILE_SOURCES : 0, rng_chance(&r, 0.7));
        unsigned n = (unsigned)rng_log(&r, 10, 3000);
        double wide = rng_log(&r, 0.01, 0.5);
        for (unsigned i = 0; i < n; i++) {
            uint8_t actual = rng_chance(&r, wide) ? (uint8_t)rng_int(&r, 1, 2) : 0;
            advised_add(&t, 1,
                        (struct profile_seen){.pid = (uint32_t)rng_int(&r, 1, 8),
                                              .other = (uint32_t)rng_int(&r, 0, 8),
                                              .before = (uint32_t)rng_int(&r, 0, 8),
                                              .since_us = (uint32_t)rng_int(&r, 0, 1500),
                                              .cgroup = (uint64_t)rng_int(&r, 0, 2),
                                              .bin = (uint32_t)rng_int(&r, 0, 4),
                                              .actual = actual,
                                              .ideal = rng_chance(&r, 0.3) ? actual : 0,
                                              .both = rng_chance(&r, 0.5) ? actual : 0});
        }
        assert_int_equal(profile_totals_result(t.totals, &t.result), 0);
        for (size_t i = 0; i < t.result.n_rows; i++) {
            const struct profile_row *row = &t.result.rows[i];
            if (row->advice[0] == '\0') {
                silent++;
                continue;
            }
            said++;
            assert_true(row->samples >= ADVICE_SAMPLES_LEAST);
            assert_true(strlen(row->advice) < sizeof(row->advice) - 1);
            if (strncmp(row->advice, "It causes", 9) == 0)
                assert_true(row->causes >= 0.25 && t.result.rows[0].overhead.lo > 0);
            else
                assert_true(row->overhead.lo > 0);
            if (strncmp(row->advice, "Keep", 4) == 0)
                assert_true(row->sibling.lo > 0 && row->sibling.value >= row->delay.value);
            if (strncmp(row->advice, "Give", 4) == 0)
                assert_true(isnan(row->delay.value) || row->delay.lo > 0);
        }
        advised_end(&t);
    }
    assert_true(said > 200 && silent > 200);
}

/* The longest of all names still leaves room for the sentence. */
TEST(test_long_names)
{
    struct profile_row rows[2] = {{.kind = PROFILE_TASK,
                                   .samples = 1000,
                                   .overhead = {1e6, 1e5, 1e7},
                                   .sibling = {NAN, NAN, NAN},
                                   .delay = {NAN, NAN, NAN}},
                                  {.kind = PROFILE_TASK}};
    struct profile_culprit culprit = {1, 1e6};
    struct profile_result result = {.n_rows = 2, .rows = rows};
    rows[0].culprits = &culprit;
    rows[0].n_culprits = 1;
    memset(rows[1].name, 'x', sizeof(rows[1].name) - 1);
    profile_advice(&result, 0);
    assert_int_equal(rows[0].advice[strlen(rows[0].advice) - 1], '.');
    says(&rows[0], "xxxx");
}
