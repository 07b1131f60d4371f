/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who causes overhead, in sets that can be worked out by hand (doc/profiler.md, "Who causes it"). */
#include "tests/support/profile_records.h"
#include "tests/support/test.h"

#define TEST_FRACTION 2e-5

/* Level 2 costs this at bin 4; level 1 a part of it. */
#define LEVEL2 (2.8 / 1.9 - 1)
#define LEVEL1_LEFT (2.4 / 1.9 - 1)

struct case_of {
    struct profile_setup setup;
    struct profile_terms terms;
    struct profile_totals *totals;
    struct profile_result result;
};

static struct case_of case_start(uint32_t flags)
{
    struct case_of c = {.setup = profile_records_setup(flags), .terms = profile_records_terms()};
    c.totals = profile_totals_new(&c.setup, &c.terms);
    return c;
}

static void seen(struct case_of *c, unsigned times, struct profile_seen s)
{
    struct profile_record record = profile_record_of(&c->setup, &s);
    for (unsigned i = 0; i < times; i++)
        assert_true(profile_totals_add(c->totals, &record));
}

/* So often a task demanded level 2 in ten samples, and level 1 in others. */
static void demands(struct case_of *c, uint32_t pid, unsigned two, unsigned one)
{
    seen(c, two, (struct profile_seen){.pid = pid, .cpu = 8, .bin = 4, .actual = 2, .ideal = 2, .both = 2});
    seen(c, one, (struct profile_seen){.pid = pid, .cpu = 8, .bin = 4, .actual = 1, .ideal = 1, .both = 1});
    seen(c, 10 - one - two, (struct profile_seen){.pid = pid, .cpu = 8, .bin = 4});
}

static const struct profile_row *row_of(const struct case_of *c, enum profile_kind kind, const char *name)
{
    return profile_row_named(&c->result, kind, name);
}

/* The part of a row's overhead that a task causes. */
static double caused_by(const struct case_of *c, const struct profile_row *row, const char *culprit)
{
    const struct profile_row *by = row_of(c, PROFILE_TASK, culprit);
    for (size_t i = 0; i < row->n_culprits; i++)
        if (&c->result.rows[row->culprits[i].row] == by)
            return row->culprits[i].overhead;
    return 0;
}

static void settle(struct case_of *c)
{
    assert_int_equal(profile_totals_result(c->totals, &c->result), 0);
}

static void case_end(struct case_of *c)
{
    profile_result_free(&c->result);
    profile_totals_free(c->totals);
}

TEST(test_sibling_answers_for_what_it_adds)
{
    struct case_of c = case_start(PROFILE_SOURCES);
    demands(&c, 3, 10, 0);
    /* t2 was never sampled: it was only there */
    seen(&c, 4, (struct profile_seen){.pid = 1, .other = 2, .before = 3, .bin = 4, .actual = 2, .both = 2});
    settle(&c);
    const struct profile_row *victim = row_of(&c, PROFILE_TASK, "t1-1");
    assert_close(caused_by(&c, victim, "t2-2"), LEVEL2, TEST_FRACTION);
    assert_int_equal(victim->n_culprits, 1);
    assert_close(victim->unattributed, 0, 0);
    assert_close(row_of(&c, PROFILE_TASK, "t2-2")->causes, 1, 1e-9);
    assert_int_equal(row_of(&c, PROFILE_TASK, "t2-2")->samples, 0);
    assert_close(row_of(&c, PROFILE_TASK, "t3-3")->causes, 0, 0);
    assert_close(row_of(&c, PROFILE_TASK, "t1-1")->causes, 0, 0);
    case_end(&c);
}

TEST(test_delay_is_shared_by_demand)
{
    struct case_of c = case_start(PROFILE_SOURCES);
    demands(&c, 2, 6, 0);
    demands(&c, 3, 2, 8);
    demands(&c, 4, 0, 10);
    seen(&c, 5,
         (struct profile_seen){
             .pid = 1, .other = 4, .before = 2, .since_us = 600, .other_before = 3, .bin = 4, .actual = 2});
    settle(&c);
    const struct profile_row *victim = row_of(&c, PROFILE_TASK, "t1-1");
    assert_close(caused_by(&c, victim, "t2-2"), LEVEL2 * 0.75, TEST_FRACTION);
    assert_close(caused_by(&c, victim, "t3-3"), LEVEL2 * 0.25, TEST_FRACTION);
    assert_close(caused_by(&c, victim, "t4-4"), 0, 0);
    assert_close(row_of(&c, PROFILE_TASK, "t2-2")->causes, 0.75, 1e-9);
    /* the same of its core and of all, where there is nothing else */
    assert_close(caused_by(&c, row_of(&c, PROFILE_CORE, "core 0"), "t2-2"), LEVEL2 * 0.75, TEST_FRACTION);
    const struct profile_row *all = row_of(&c, PROFILE_ALL, "all");
    assert_close(caused_by(&c, all, "t2-2"), 0.75 * all->overhead.value, 1e-9);
    case_end(&c);
}

/* Who is there twice, as a pair of tasks that take turns is, counts once. */
TEST(test_who_was_there_twice)
{
    struct case_of c = case_start(PROFILE_SOURCES);
    demands(&c, 2, 5, 0);
    demands(&c, 3, 5, 0);
    seen(&c, 1, (struct profile_seen){.pid = 1, .other = 3, .before = 2, .other_before = 2, .bin = 4, .actual = 2});
    seen(&c, 1, (struct profile_seen){.pid = 1, .other = 2, .before = 3, .other_before = 2, .bin = 4, .actual = 2});
    settle(&c);
    const struct profile_row *victim = row_of(&c, PROFILE_TASK, "t1-1");
    assert_close(caused_by(&c, victim, "t2-2"), LEVEL2 / 2, TEST_FRACTION);
    assert_close(caused_by(&c, victim, "t3-3"), LEVEL2 / 2, TEST_FRACTION);
    case_end(&c);
}

TEST(test_level_1_is_demanded_by_level_2_as_well)
{
    struct case_of c = case_start(PROFILE_SOURCES);
    demands(&c, 2, 6, 0);
    demands(&c, 3, 2, 8);
    seen(&c, 1, (struct profile_seen){.pid = 1, .before = 2, .other_before = 3, .bin = 4, .actual = 1});
    settle(&c);
    const struct profile_row *victim = row_of(&c, PROFILE_TASK, "t1-1");
    assert_close(caused_by(&c, victim, "t3-3") / victim->overhead.value, 10.0 / 16, 1e-9);
    case_end(&c);
}

TEST(test_who_ran_too_long_ago_is_innocent)
{
    struct case_of c = case_start(PROFILE_SOURCES);
    demands(&c, 2, 10, 0);
    seen(&c, 1, (struct profile_seen){.pid = 1, .before = 2, .since_us = 671, .bin = 4, .actual = 2});
    seen(&c, 1, (struct profile_seen){.pid = 1, .other_before = 2, .other_since_us = 671, .bin = 4, .actual = 2});
    seen(&c, 2, (struct profile_seen){.pid = 1, .before = 2, .since_us = 670, .bin = 4, .actual = 2});
    settle(&c);
    const struct profile_row *victim = row_of(&c, PROFILE_TASK, "t1-1");
    assert_close(victim->unattributed, LEVEL2 / 2, TEST_FRACTION);
    assert_close(caused_by(&c, victim, "t2-2"), LEVEL2 / 2, TEST_FRACTION);
    case_end(&c);
    /* without tables: as long as the pause */
    c = case_start(PROFILE_SOURCES);
    profile_totals_free(c.totals);
    c.terms.wait_us = NAN;
    c.totals = profile_totals_new(&c.setup, &c.terms);
    demands(&c, 2, 10, 0);
    seen(&c, 1, (struct profile_seen){.pid = 1, .before = 2, .since_us = 700, .bin = 4, .actual = 2});
    seen(&c, 1, (struct profile_seen){.pid = 1, .before = 2, .since_us = 701, .bin = 4, .actual = 2});
    settle(&c);
    assert_close(row_of(&c, PROFILE_TASK, "t1-1")->unattributed, LEVEL2 / 2, TEST_FRACTION);
    case_end(&c);
}

TEST(test_own_delays)
{
    struct case_of c = case_start(PROFILE_SOURCES);
    demands(&c, 1, 3, 0);
    seen(&c, 10, (struct profile_seen){.pid = 1, .other = 9, .bin = 4, .actual = 2});
    settle(&c);
    const struct profile_row *row = row_of(&c, PROFILE_TASK, "t1-1");
    assert_int_equal(row->n_culprits, 1);
    assert_close(caused_by(&c, row, "t1-1"), row->overhead.value, 1e-9);
    /* that is no cost to others */
    assert_close(row->causes, 0, 0);
    case_end(&c);
}

TEST(test_nobody_is_known)
{
    struct case_of c = case_start(PROFILE_SOURCES);
    /* the sibling was idle, but its level is back with both: an interrupt there, say */
    seen(&c, 1, (struct profile_seen){.pid = 1, .bin = 4, .actual = 2, .both = 2});
    seen(&c, 1, (struct profile_seen){.pid = 1, .other = 2, .before = 3, .bin = 4, .actual = 2});
    settle(&c);
    const struct profile_row *row = row_of(&c, PROFILE_TASK, "t1-1");
    assert_int_equal(row->n_culprits, 0);
    assert_close(row->unattributed, row->overhead.value, 1e-9);
    assert_close(row_of(&c, PROFILE_CORE, "core 0")->unattributed, LEVEL2, TEST_FRACTION);
    case_end(&c);
}

/* An effect between steps 3 and 5 is the sibling's only if its task demands such a level. */
TEST(test_sibling_that_demands_nothing)
{
    /* the sampled task, which demands level 2 at times, turned wide only after the window */
    struct case_of c = case_start(PROFILE_SOURCES);
    demands(&c, 1, 5, 0);
    demands(&c, 2, 0, 0);
    seen(&c, 4, (struct profile_seen){.pid = 1, .other = 2, .bin = 4, .actual = 2, .both = 2});
    settle(&c);
    const struct profile_row *row = row_of(&c, PROFILE_TASK, "t1-1");
    assert_close(caused_by(&c, row, "t2-2"), 0, 0);
    assert_close(caused_by(&c, row, "t1-1"), row->overhead.value, 1e-9);
    assert_close(row_of(&c, PROFILE_TASK, "t2-2")->causes, 0, 0);
    case_end(&c);
    /* neither of the two demands level 2; level 1 is not enough */
    c = case_start(PROFILE_SOURCES);
    demands(&c, 1, 0, 0);
    demands(&c, 2, 0, 10);
    seen(&c, 4, (struct profile_seen){.pid = 1, .other = 2, .bin = 4, .actual = 2, .both = 2});
    settle(&c);
    row = row_of(&c, PROFILE_TASK, "t1-1");
    assert_int_equal(row->n_culprits, 0);
    assert_close(row->unattributed, row->overhead.value, 1e-9);
    case_end(&c);
    /* level 1 is kept, and the sibling demands level 2 by now; then level 2, of which level 1 is the sibling's */
    c = case_start(PROFILE_SOURCES);
    demands(&c, 1, 5, 0);
    demands(&c, 2, 0, 3);
    seen(&c, 4, (struct profile_seen){.pid = 1, .other = 2, .bin = 4, .actual = 1, .both = 2});
    seen(&c, 4, (struct profile_seen){.pid = 1, .other = 2, .bin = 4, .actual = 2, .both = 1});
    settle(&c);
    row = row_of(&c, PROFILE_TASK, "t1-1");
    assert_close(caused_by(&c, row, "t2-2"), row->sibling.value, 1e-9);
    case_end(&c);
}

TEST(test_one_sample_with_both_parts)
{
    struct case_of c = case_start(PROFILE_SOURCES);
    demands(&c, 2, 0, 10);
    demands(&c, 3, 10, 0);
    /* with its sibling it needs level 1; it still has level 2 from whoever ran before */
    seen(&c, 3, (struct profile_seen){.pid = 1, .other = 2, .before = 3, .bin = 4, .actual = 2, .both = 1});
    settle(&c);
    const struct profile_row *row = row_of(&c, PROFILE_TASK, "t1-1");
    assert_close(caused_by(&c, row, "t2-2"), LEVEL2 - LEVEL1_LEFT, TEST_FRACTION);
    assert_close(caused_by(&c, row, "t3-3"), LEVEL1_LEFT, TEST_FRACTION);
    assert_close(row->sibling.value, LEVEL2 - LEVEL1_LEFT, TEST_FRACTION);
    case_end(&c);
}

TEST(test_without_sources_all_is_shared)
{
    struct case_of c = case_start(0);
    demands(&c, 2, 5, 0);
    demands(&c, 3, 10, 0);
    seen(&c, 3, (struct profile_seen){.pid = 1, .other = 2, .before = 3, .bin = 4, .actual = 2, .both = 2});
    settle(&c);
    const struct profile_row *row = row_of(&c, PROFILE_TASK, "t1-1");
    assert_close(caused_by(&c, row, "t2-2"), LEVEL2 / 3, TEST_FRACTION);
    assert_close(caused_by(&c, row, "t3-3"), LEVEL2 * 2 / 3, TEST_FRACTION);
    case_end(&c);
}

TEST(test_containers)
{
    struct case_of c = case_start(PROFILE_SOURCES);
    /* t2 is of container 50, its victims of 50, 60 and none; when it is seen beside others, its own is not known */
    seen(&c, 10, (struct profile_seen){.pid = 2, .cpu = 8, .cgroup = 50, .bin = 4, .actual = 2, .ideal = 2, .both = 2});
    seen(&c, 1, (struct profile_seen){.pid = 1, .cgroup = 50, .before = 2, .bin = 4, .actual = 2});
    seen(&c, 1, (struct profile_seen){.pid = 3, .cgroup = 60, .before = 2, .bin = 4, .actual = 2});
    seen(&c, 2, (struct profile_seen){.pid = 4, .before = 2, .bin = 4, .actual = 2});
    settle(&c);
    assert_close(row_of(&c, PROFILE_TASK, "t2-2")->causes, 1, 1e-9);
    assert_close(row_of(&c, PROFILE_CONTAINER, "50")->causes, 0.75, 1e-9);
    assert_close(row_of(&c, PROFILE_CONTAINER, "60")->causes, 0, 0);
    assert_close(caused_by(&c, row_of(&c, PROFILE_CONTAINER, "60"), "t2-2"), LEVEL2, TEST_FRACTION);
    assert_true(isnan(row_of(&c, PROFILE_CORE, "core 0")->causes));
    assert_true(isnan(row_of(&c, PROFILE_ALL, "all")->causes));
    case_end(&c);
}

TEST(test_only_the_largest_are_named)
{
    struct case_of c = case_start(PROFILE_SOURCES);
    /* twenty of them, the k-th k times */
    for (unsigned k = 1; k <= 20; k++)
        seen(&c, k, (struct profile_seen){.pid = 1, .other = 100 + k, .bin = 4, .actual = 2, .both = 2});
    settle(&c);
    const struct profile_row *row = row_of(&c, PROFILE_TASK, "t1-1");
    assert_int_equal(row->n_culprits, PROFILE_CULPRITS_MAX);
    for (unsigned i = 0; i < PROFILE_CULPRITS_MAX; i++) {
        assert_int_equal(c.result.rows[row->culprits[i].row].pid, 120 - i);
        assert_close(row->culprits[i].overhead, LEVEL2 * (20 - i) / 210, TEST_FRACTION);
    }
    assert_close(row->unattributed, 0, 0);
    case_end(&c);
}
