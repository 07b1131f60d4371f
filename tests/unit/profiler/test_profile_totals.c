/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiler's sums: values that can be computed by hand, and records that nobody should send. */
#include "profiler/lookup.h"
#include "tests/support/profile_records.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

/* eq. 4.3 has 16 fractional bits */
#define TEST_FRACTION 2e-5

struct run {
    struct profile_setup setup;
    struct profile_terms terms;
    struct profile_totals *totals;
    struct profile_result result;
};

static struct run run_start(uint32_t flags)
{
    struct run r = {.setup = profile_records_setup(flags), .terms = profile_records_terms()};
    r.totals = profile_totals_new(&r.setup, &r.terms);
    assert_non_null(r.totals);
    return r;
}

static void run_add(struct run *r, unsigned times, struct profile_seen seen)
{
    struct profile_record record = profile_record_of(&r->setup, &seen);
    for (unsigned i = 0; i < times; i++)
        assert_true(profile_totals_add(r->totals, &record));
}

static void run_result(struct run *r)
{
    assert_int_equal(profile_totals_result(r->totals, &r->result), 0);
}

static void run_end(struct run *r)
{
    profile_result_free(&r->result);
    profile_totals_free(r->totals);
}

static const struct profile_row *run_row(const struct run *r, enum profile_kind kind, const char *name)
{
    return profile_row_named(&r->result, kind, name);
}

/* ---- eq. 4.2 ---- */

TEST(test_ratio_of_sums)
{
    struct run r = run_start(PROFILE_SOURCES);
    /* three samples at 1.9 GHz instead of 2.8, one of them because of the sibling; five that ran as they should */
    run_add(&r, 1, (struct profile_seen){.pid = 7, .cpu = 2, .other = 8, .bin = 4, .actual = 2, .both = 2});
    run_add(&r, 2, (struct profile_seen){.pid = 7, .cpu = 2, .other = 8, .bin = 4, .actual = 2});
    run_add(&r, 5, (struct profile_seen){.pid = 7, .cpu = 3, .other = 8, .bin = 4});
    /* and one at 2.4 instead of 3.1 GHz, half of the cycles stalled: it would be 1 / (0.5 + 0.5 * 2.4 / 3.1) as fast */
    run_add(&r, 1,
            (struct profile_seen){.pid = 7, .cpu = 2, .bin = 2, .actual = 2, .ideal = 1, .both = 1, .stall = 0.5});
    run_result(&r);
    double change = 2.8 / 1.9 - 1, stalled = 1 / (0.5 + 0.5 * 2.4 / 3.1) - 1;
    double all = 3 * 1.9 + 5 * 2.8 + 2.4;
    const struct profile_row *row = run_row(&r, PROFILE_TASK, "t7-7");
    assert_close(row->overhead.value, (3 * 1.9 * change + 2.4 * stalled) / all, TEST_FRACTION);
    assert_close(row->sibling.value, 1.9 * change / all, TEST_FRACTION);
    assert_close(row->delay.value, (2 * 1.9 * change + 2.4 * stalled) / all, TEST_FRACTION);
    assert_close(row->by_level[0].value, 0, 0);
    assert_close(row->by_level[1].value, 0, 0);
    assert_close(row->by_level[2].value, row->overhead.value, 1e-12);
    assert_close(row->demands[0].value, 8.0 / 9, 1e-12);
    assert_close(row->demands[1].value, 1.0 / 9, 1e-12);
    assert_close(row->demands[2].value, 0, 0);
    assert_close(row->reduced.value, 4.0 / 9, 1e-12);
    assert_close(row->not_limited, 0, 0);
    assert_close(row->share, 1, 0);
    assert_int_equal(row->samples, 9);
    const struct profile_estimate *e[] = {&row->overhead,    &row->sibling,    &row->delay,
                                          &row->by_level[1], &row->demands[1], &row->reduced};
    for (size_t i = 0; i < sizeof(e) / sizeof(e[0]); i++)
        assert_true(e[i]->lo >= 0 && e[i]->lo <= e[i]->value && e[i]->value <= e[i]->hi && e[i]->hi <= 1);
    run_end(&r);
}

TEST(test_without_sources_parts_are_unknown)
{
    struct run r = run_start(0);
    run_add(&r, 10, (struct profile_seen){.pid = 7, .bin = 4, .actual = 1});
    run_result(&r);
    const struct profile_row *row = run_row(&r, PROFILE_TASK, "t7-7");
    assert_close(row->overhead.value, 2.8 / 2.4 - 1, TEST_FRACTION);
    assert_close(row->by_level[1].value, 2.8 / 2.4 - 1, TEST_FRACTION);
    assert_true(isnan(row->sibling.value) && isnan(row->sibling.lo) && isnan(row->delay.value) && isnan(row->delay.hi));
    run_end(&r);
}

/* ---- rows ---- */

TEST(test_each_row_has_its_own)
{
    struct run r = run_start(0);
    run_add(&r, 6, (struct profile_seen){.pid = 7, .cpu = 2, .cgroup = 100, .bin = 4, .actual = 2});
    run_add(&r, 4, (struct profile_seen){.pid = 8, .cpu = 3, .cgroup = 100, .bin = 4});
    run_add(&r, 10, (struct profile_seen){.pid = 9, .cpu = 4, .bin = 4, .actual = 1});
    run_add(&r, 5, (struct profile_seen){.cpu = 5});
    run_result(&r);
    double two = 2.8 / 1.9 - 1, one = 2.8 / 2.4 - 1;
    assert_close(run_row(&r, PROFILE_CONTAINER, "100")->overhead.value, 6 * 1.9 * two / (6 * 1.9 + 4 * 2.8),
                 TEST_FRACTION);
    assert_close(run_row(&r, PROFILE_CORE, "core 2")->overhead.value, 6 * 1.9 * two / (6 * 1.9 + 4 * 2.8),
                 TEST_FRACTION);
    assert_close(run_row(&r, PROFILE_CORE, "core 4")->overhead.value, one, TEST_FRACTION);
    assert_close(run_row(&r, PROFILE_ALL, "all")->overhead.value,
                 (6 * 1.9 * two + 10 * 2.4 * one) / (6 * 1.9 + 4 * 2.8 + 10 * 2.4), TEST_FRACTION);
    assert_close(run_row(&r, PROFILE_TASK, "t7-7")->share, 0.3, 1e-12);
    assert_close(run_row(&r, PROFILE_CONTAINER, "100")->share, 0.5, 1e-12);
    assert_int_equal(run_row(&r, PROFILE_CORE, "core 4")->turns[PROFILE_IDLE], 5);
    assert_int_equal(run_row(&r, PROFILE_ALL, "all")->turns[PROFILE_TAKEN], 20);
    assert_int_equal(r.result.turns[PROFILE_IDLE], 5);
    /* all, three tasks by overhead * share, one container, two cores */
    static const char *const order[] = {"all", "t7-7", "t9-9", "t8-8", "100", "core 2", "core 4"};
    assert_int_equal(r.result.n_rows, sizeof(order) / sizeof(order[0]));
    for (size_t i = 0; i < r.result.n_rows; i++)
        assert_string_equal(r.result.rows[i].name, order[i]);
    run_end(&r);
}

TEST(test_tasks_are_distinguished_by_their_start)
{
    struct run r = run_start(0);
    struct profile_record first = profile_record_of(&r.setup, &(struct profile_seen){.pid = 7, .bin = 4});
    struct profile_record again = first, renamed = first;
    again.sight.task.start_ns = 9999;
    strcpy(renamed.sight.task.comm, "after-exec");
    assert_true(profile_totals_add(r.totals, &first) && profile_totals_add(r.totals, &again));
    assert_true(profile_totals_add(r.totals, &renamed));
    run_result(&r);
    assert_int_equal(run_row(&r, PROFILE_TASK, "after-exec-7")->samples, 2);
    assert_int_equal(run_row(&r, PROFILE_TASK, "after-exec-7")->start_ns, 7);
    assert_int_equal(run_row(&r, PROFILE_TASK, "t7-7")->start_ns, 9999);
    run_end(&r);
}

TEST(test_turns_that_were_not_taken)
{
    struct run r = run_start(PROFILE_SOURCES);
    struct profile_record record = profile_record_of(&r.setup, &(struct profile_seen){.pid = 7, .bin = 4, .actual = 2});
    for (uint32_t outcome = 0; outcome < PROFILE_OUTCOMES + 3; outcome++) {
        record.outcome = outcome;
        for (uint32_t i = 0; i <= outcome; i++)
            assert_true(profile_totals_add(r.totals, &record));
    }
    run_result(&r);
    const struct profile_row *row = run_row(&r, PROFILE_TASK, "t7-7");
    for (uint32_t outcome = 0; outcome < PROFILE_OUTCOMES; outcome++) {
        assert_int_equal(row->turns[outcome], outcome + 1);
        assert_int_equal(r.result.turns[outcome], outcome + 1);
    }
    assert_int_equal(row->samples, 1);
    assert_close(row->overhead.value, 2.8 / 1.9 - 1, TEST_FRACTION);
    run_end(&r);
}

/* It is of no task and no core, whose sibling was not looked at. */
TEST(test_turns_that_were_missed)
{
    struct run r = run_start(0);
    struct profile_record missed = {.cpu = 9, .outcome = PROFILE_LATE};
    run_add(&r, 3, (struct profile_seen){.pid = 7, .cpu = 2, .bin = 4});
    assert_true(profile_totals_add(r.totals, &missed));
    run_result(&r);
    assert_int_equal(r.result.n_rows, 3);
    assert_int_equal(r.result.turns[PROFILE_LATE], 1);
    assert_int_equal(run_row(&r, PROFILE_CORE, "core 2")->turns[PROFILE_LATE], 0);
    assert_close(run_row(&r, PROFILE_TASK, "t7-7")->share, 1, 0);
    run_end(&r);
}

TEST(test_rehearsals_have_no_values)
{
    struct run r = run_start(PROFILE_REHEARSAL);
    struct profile_record record = {.outcome = PROFILE_TAKEN, .level_actual = PROFILE_NO_LEVEL, .sight.task.pid = 7};
    assert_true(profile_totals_add(r.totals, &record));
    run_result(&r);
    const struct profile_row *row = &r.result.rows[1];
    assert_int_equal(row->kind, PROFILE_TASK);
    assert_int_equal(row->samples, 1);
    assert_true(isnan(row->overhead.value) && isnan(row->demands[0].value) && isnan(row->reduced.hi));
    assert_true(isnan(row->by_level[0].value) && isnan(row->not_limited));
    assert_int_equal(row->n_culprits, 0);
    run_end(&r);
}

TEST(test_nothing_yet)
{
    struct run r = run_start(0);
    run_result(&r);
    assert_int_equal(r.result.n_rows, 1);
    assert_int_equal(r.result.rows[0].kind, PROFILE_ALL);
    assert_true(isnan(r.result.rows[0].overhead.value));
    assert_close(r.result.rows[0].share, 0, 0);
    run_end(&r);
}

/* A result does not disturb what is added up. */
TEST(test_results_meanwhile)
{
    struct run r = run_start(PROFILE_SOURCES), once = run_start(PROFILE_SOURCES);
    for (unsigned i = 0; i < 50; i++) {
        struct profile_seen seen = {
            .pid = 7 + i % 5, .cpu = i % 8, .other = 3, .bin = i % 5, .actual = (uint8_t)(i % 3)};
        run_add(&r, 1, seen);
        run_add(&once, 1, seen);
        run_result(&r);
        if (i < 49)
            profile_result_free(&r.result);
    }
    run_result(&once);
    assert_int_equal(r.result.n_rows, once.result.n_rows);
    for (size_t i = 0; i < r.result.n_rows; i++) {
        assert_string_equal(r.result.rows[i].name, once.result.rows[i].name);
        assert_memory_equal(&r.result.rows[i].overhead, &once.result.rows[i].overhead, sizeof(struct profile_estimate));
    }
    run_end(&r);
    run_end(&once);
}

/* ---- what does not show ---- */

/* Limits that are no bound say so, and why. */
TEST(test_pause_too_short)
{
    for (unsigned lost = 0; lost <= 20; lost += 10) {
        struct run r = run_start(PROFILE_SOURCES);
        run_add(&r, 100, (struct profile_seen){.pid = 7, .bin = 4});
        struct profile_record record = profile_record_of(&r.setup, &(struct profile_seen){.pid = 7, .actual = 2});
        record.outcome = PROFILE_UNSETTLED;
        record.level_paused = 2;
        record.actual_khz = 1900000;
        for (unsigned i = 0; i < lost; i++)
            assert_true(profile_totals_add(r.totals, &record));
        /* these were changing before the pause, which says nothing of its length */
        record.level_actual = record.level_paused = PROFILE_NO_LEVEL;
        for (unsigned i = 0; i < 30; i++)
            assert_true(profile_totals_add(r.totals, &record));
        run_result(&r);
        const struct profile_row *row = run_row(&r, PROFILE_TASK, "t7-7");
        assert_close(row->overhead.value, 0, 0);
        assert_int_equal(row->open, lost == 20);
        assert_int_equal(r.result.n_doubts, lost == 20);
        /* 20 samples of 1.9 GHz may have been slowed the most that level 2 slows */
        double least = 20 * 1.9 * (2.8 / 1.9 - 1) / (100 * 2.8 + 20 * 1.9);
        assert_true(lost == 20 ? row->overhead.hi > least && row->delay.hi > least && row->by_level[2].hi > least
                               : row->overhead.hi < 0.02);
        assert_true(row->by_level[1].hi < 0.02);
        if (lost == 20) {
            assert_non_null(strstr(r.result.doubts[0], "13 % of the turns"));
            assert_non_null(strstr(r.result.doubts[0], "the pause of 700 us"));
            assert_non_null(strstr(r.result.doubts[0], "--params"));
        }
        run_end(&r);
    }
}

TEST(test_table_that_lacks_active_cores)
{
    /* as the table has it; a table for 8 of 12 active cores; limited, and nobody knows by what */
    static const struct {
        uint32_t bins, active;
        bool limited;
        const char *doubt;
    } cases[] = {{5, 16, false, NULL},
                 {3, 12, true, "Up to 12 cores were active, but the table has frequencies for no more than 8"},
                 {5, 12, true, "In 50 % of the samples something other than the level limited the clock"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct profile_setup setup = profile_records_setup(PROFILE_SOURCES);
        struct profile_terms terms = profile_records_terms();
        struct profile_seen quiet = {.pid = 7, .bin = 2}, slowed = {.pid = 7, .bin = 2, .actual = 2};
        struct profile_record a = profile_record_of(&setup, &quiet), b = profile_record_of(&setup, &slowed);
        setup.n_bins = cases[i].bins;
        a.sight.active_cores = b.sight.active_cores = cases[i].active;
        b.ideal_khz = b.actual_khz;
        b.speedup = b.speedup_shared = PROFILE_ONE;
        if (cases[i].limited)
            b.flags |= PROFILE_NOT_LIMITED;
        struct run r = {.setup = setup, .totals = profile_totals_new(&setup, &terms)};
        for (unsigned n = 0; n < 100; n++)
            assert_true(profile_totals_add(r.totals, &a) && profile_totals_add(r.totals, &b));
        run_result(&r);
        const struct profile_row *all = run_row(&r, PROFILE_ALL, "all");
        assert_int_equal(all->open, cases[i].doubt != NULL);
        assert_int_equal(r.result.n_doubts, cases[i].doubt != NULL);
        if (cases[i].doubt != NULL && strstr(r.result.doubts[0], cases[i].doubt) == NULL)
            fail_msg("%s", r.result.doubts[0]);
        /* the unseen part may be as large as on the processor of the dissertation */
        assert_true(cases[i].doubt != NULL ? all->overhead.hi > 0.4 * 2.4 / (2.4 + 3.4) : all->overhead.hi < 0.1);
        run_end(&r);
    }
}

/* ---- many, and any ---- */

TEST(test_tasks_that_live_briefly)
{
    enum { TASKS = 100000 };
    struct run r = run_start(0);
    for (uint32_t i = 1; i <= TASKS; i++)
        run_add(&r, 1, (struct profile_seen){.pid = i, .cpu = i % 32, .other = i - 1, .bin = i % 5, .actual = i % 3});
    run_result(&r);
    assert_int_equal(r.result.n_rows, 1 + TASKS + 16);
    double share = 0;
    for (size_t i = 1; i <= TASKS; i++) {
        assert_int_equal(r.result.rows[i].kind, PROFILE_TASK);
        share += r.result.rows[i].share;
        if (i > 1)
            assert_true(r.result.rows[i].overhead.value <= r.result.rows[i - 1].overhead.value);
    }
    assert_close(share, 1, 1e-9);
    run_end(&r);
}

static void within(const struct profile_estimate *e, double most)
{
    if (isnan(e->value)) {
        assert_true(isnan(e->lo) && isnan(e->hi));
        return;
    }
    if (!(e->lo >= 0 && e->lo <= e->value && e->value <= e->hi + 1e-12 && e->hi <= most))
        fail_msg("%g, %g to %g, of at most %g", e->value, e->lo, e->hi, most);
}

static void check_row(const struct profile_row *row, size_t n_rows, double most)
{
    within(&row->overhead, most);
    within(&row->sibling, most);
    within(&row->delay, most);
    within(&row->reduced, 1);
    for (unsigned level = 0; level < PROFILE_LEVELS; level++) {
        within(&row->by_level[level], most);
        within(&row->demands[level], 1);
    }
    assert_true(row->share >= 0 && row->share <= 1 && row->unattributed >= 0);
    assert_true(isnan(row->causes) || (row->causes >= 0 && row->causes <= 1 + 1e-9));
    double sum = row->unattributed;
    for (size_t i = 0; i < row->n_culprits; i++) {
        assert_true(row->culprits[i].row < n_rows && row->culprits[i].overhead > 0);
        assert_true(i == 0 || row->culprits[i].overhead <= row->culprits[i - 1].overhead);
        sum += row->culprits[i].overhead;
    }
    if (!isnan(row->overhead.value) && row->n_culprits < PROFILE_CULPRITS_MAX)
        assert_close(sum, row->overhead.value, 1e-9);
    assert_non_null(memchr(row->name, 0, sizeof(row->name)));
    assert_non_null(memchr(row->advice, 0, sizeof(row->advice)));
}

/* Bytes as they come, except for what makes most of them count. */
static struct profile_record random_record(struct rng *r)
{
    struct profile_record record;
    uint64_t words[sizeof(record) / sizeof(uint64_t)];
    _Static_assert(sizeof(record) == sizeof(words), "there are holes");
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        words[i] = rng_bits(r) >> (rng_chance(r, 0.5) ? 0 : rng_int(r, 0, 63));
    memcpy(&record, words, sizeof(record));
    if (rng_chance(r, 0.1))
        return record;
    record.outcome = (uint32_t)rng_int(r, 0, rng_chance(r, 0.2) ? PROFILE_OUTCOMES + 1 : 0);
    struct profile_task *tasks[] = {&record.sight.task, &record.sight.other, &record.sight.before,
                                    &record.sight.other_before};
    for (size_t i = 0; i < 4; i++) {
        tasks[i]->pid = (uint32_t)rng_int(r, 0, 12);
        tasks[i]->start_ns %= 2;
        tasks[i]->cgroup %= 3;
    }
    record.level_actual %= 4;
    record.level_ideal %= 4;
    record.level_shared %= 4;
    record.cpu %= 16;
    record.sight.since_us %= 1000;
    return record;
}

TEST(test_random_records)
{
    struct rng r;
    rng_init(&r, 45, 1);
    for (unsigned round = 0; round < rng_rounds(60); round++) {
        struct profile_setup setup = profile_records_setup((uint32_t)rng_bits(&r));
        struct profile_terms terms = profile_records_terms();
        double most = 0.5;
        if (rng_chance(&r, 0.3)) {
            setup.n_bins = 0;
            most = 7;
        }
        if (rng_chance(&r, 0.3))
            terms.wait_us = terms.change_us[1] = NAN;
        struct profile_totals *t = profile_totals_new(&setup, &terms);
        unsigned n = (unsigned)rng_log(&r, 1, 3000);
        for (unsigned i = 0; i < n; i++) {
            struct profile_record record = random_record(&r);
            assert_true(profile_totals_add(t, &record));
        }
        struct profile_result result;
        assert_int_equal(profile_totals_result(t, &result), 0);
        for (size_t i = 0; i < result.n_rows; i++)
            check_row(&result.rows[i], result.n_rows, most);
        profile_result_free(&result);
        profile_totals_free(t);
    }
}

/* ---- the look-up below it ---- */

TEST(test_lookup_finds_what_was_put_in)
{
    enum { KEYS = 5000, WORDS = 3 };
    struct entry {
        uint64_t key[WORDS];
        uint32_t times;
    };
    struct profile_lookup l = {.size = sizeof(struct entry), .words = WORDS};
    static uint32_t index[KEYS], times[KEYS];
    struct rng r;
    rng_init(&r, 45, 2);
    for (unsigned i = 0; i < KEYS; i++)
        index[i] = PROFILE_NOWHERE;
    for (unsigned i = 0; i < 20 * KEYS; i++) {
        unsigned k = (unsigned)rng_int(&r, 0, KEYS - 1);
        /* keys that differ in one word alone, whichever it is */
        const uint64_t key[WORDS] = {k % 3 == 0 ? k : 0, k % 3 == 1 ? (uint64_t)k << 40 : 0, k % 3 == 2 ? ~k : 0};
        uint32_t at = profile_lookup_index(&l, key);
        assert_true(index[k] == PROFILE_NOWHERE ? at == l.n - 1 : at == index[k]);
        index[k] = at;
        times[k]++;
        struct entry *e = profile_lookup_at(&l, at);
        assert_memory_equal(e->key, key, sizeof(key));
        assert_int_equal(++e->times, times[k]);
    }
    profile_lookup_free(&l);
    assert_int_equal(l.n, 0);
}
