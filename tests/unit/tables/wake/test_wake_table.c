/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table wake: random stages of models come back; units that never sleep have one; when blocks run at full rate. */
#include "tables/wake/wake.h"
#include "drivers/model/model_machine.h"
#include "drivers/native/native.h"
#include "tables/registry.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

static void measure_wake(const struct model *m, uint64_t seed, struct table *t)
{
    struct tables_options o;
    tables_options_default(&o);
    o.seed = seed;
    rig_measure(&table_wake, m, &o, t);
}

/* What a unit does is told from what a license does. */
static void forget_licenses(struct model *m)
{
    memset(m->transitions, 0, sizeof m->transitions);
}

TEST(test_random_stages_come_back)
{
    enum { MODELS = 40 };
    struct model m;
    struct rng r;
    rig_load("xeon-gold-6130", &m);
    forget_licenses(&m);
    for (unsigned n = 0; n < rng_fewer_sanitized(MODELS); n++) {
        struct table t;
        struct wake_stages s;
        struct model_wake *w = &m.wakes[0];
        rng_init(&r, 21, n);
        m.n_wakes = 1;
        *w = (struct model_wake){.width = 512, .n = (size_t)rng_int(&r, 1, 3)};
        double idle = rng_log(&r, 4, 30), first = rng_log(&r, 0.1, 1);
        for (size_t i = 0; i < w->n; i++, idle *= rng_log(&r, 8, 25), first *= rng_log(&r, 2, 6))
            w->stage[i] = (struct model_wake_stage){idle, first, 3 * first};
        measure_wake(&m, n, &t);
        assert_int_equal(t.n_rows, 2 * 31);
        assert_int_equal(wake_stages_of(&t, "512", "first_us", &s), 0);
        assert_int_equal(s.n, w->n + 1);
        for (size_t i = 0; i < w->n; i++) {
            double read = MODEL_FIRST_READ_NS * 1e-3;
            assert_close(log(s.stage[i + 1].first_us.value / (w->stage[i].first_us + read)), 0, 0.02);
            assert_true(s.stage[i + 1].idle_from_us.lo <= w->stage[i].idle_us);
            assert_true(s.stage[i + 1].idle_from_us.hi >= w->stage[i].idle_us);
        }
        for (size_t row = 31; row < 62; row++) {
            size_t stage = 0;
            while (stage < w->n && table_number(&t, row, "idle_us") >= w->stage[stage].idle_us)
                stage++;
            assert_int_equal((size_t)table_number(&t, row, "stage"), stage + 1);
            if (stage > 0)
                assert_close(log(table_number(&t, row, "full_rate_us") / w->stage[stage - 1].full_rate_us), 0, 0.05);
        }
        assert_int_equal(wake_stages_of(&t, "256", "first_us", &s), 0);
        assert_int_equal(s.n, 1);
        table_free(&t);
    }
}

TEST(test_units_that_never_sleep)
{
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    forget_licenses(&m);
    measure_wake(&m, 3, &t);
    for (size_t row = 0; row < t.n_rows; row++)
        assert_int_equal((int)table_number(&t, row, "stage"), 1);
    char *findings = rig_findings(&table_wake, &t);
    assert_non_null(strstr(findings, "512-bit units: the first instruction takes 0.02"));
    assert_non_null(strstr(findings, "however long they were idle"));
    assert_null(strstr(findings, "or more"));
    free(findings);
    table_free(&t);
}

/* After the license has lapsed the first wide code is throttled, as --transition shows it on this model (8.96 us). */
TEST(test_lapsed_licenses)
{
    struct model m;
    struct table t;
    rig_load("core-i7-6700hq", &m);
    measure_wake(&m, 4, &t);
    assert_int_equal(t.n_rows, 31);
    for (size_t row = 0; row < t.n_rows; row++) {
        double idle = table_number(&t, row, "idle_us"), full = table_number(&t, row, "full_rate_us");
        if (idle < 500)
            assert_true(full < 0.1);
        else if (idle > 1000)
            assert_close(full, 8.96, 0.3);
    }
    table_free(&t);
}

/* Stages as a Granite Rapids has them; a processor without tiles says what it needs. */
TEST(test_tiles)
{
    struct model m;
    struct table t;
    struct wake_stages s;
    rig_load("xeon-gold-6130", &m);
    measure_wake(&m, 5, &t);
    assert_int_equal(t.n_rows, 2 * 31);
    assert_non_null(strstr(t.missing[t.n_missing - 1].why, "needs amx_bf16"));
    table_free(&t);
    m.features |= KERNEL_NEEDS_AMX_BF16;
    m.n_wakes = 1;
    m.wakes[0] = (struct model_wake){.width = 8192, .n = 2, .stage = {{2.6, 3.88, 3.9}, {4.2, 2.5, 2.54}}};
    measure_wake(&m, 5, &t);
    assert_int_equal(t.n_rows, 5 * 31);
    assert_string_equal(table_text(&t, 4 * 31 - 1, "unit"), "amx-dirty");
    assert_string_equal(table_text(&t, 5 * 31 - 1, "unit"), "amx-released");
    assert_string_equal(table_text(&t, 92, "unit"), "amx");
    assert_int_equal((int)table_number(&t, 92, "stage"), 3);
    assert_int_equal(wake_stages_of(&t, "amx", "first_us", &s), 0);
    assert_int_equal(s.n, 3);
    assert_close(log(s.stage[1].first_us.value / (3.88 + MODEL_FIRST_READ_NS * 1e-3)), 0, 0.02);
    assert_close(log(s.stage[2].first_us.value / (2.5 + MODEL_FIRST_READ_NS * 1e-3)), 0, 0.02);
    char *findings = rig_findings(&table_wake, &t);
    assert_non_null(strstr(findings, "tile units (AMX), idle for "));
    assert_non_null(strstr(findings, "tile units (AMX-dirty), idle for "));
    assert_non_null(strstr(findings, "tile units (AMX-released), idle for "));
    free(findings);
    table_free(&t);
}

/* Blocks of 40 ticks, 80 at first; one is interrupted later. */
TEST(test_when_the_rate_is_full)
{
    enum { BLOCKS = 400, SLOW = 60 };
    uint64_t ticks[BLOCKS];
    double scratch[BLOCKS];
    ticks[0] = 1000;
    for (size_t i = 1; i < BLOCKS; i++)
        ticks[i] = ticks[i - 1] + (i <= SLOW ? 80 : 40) + (i == 200 ? 9000 : 0);
    assert_int_equal(native_first_use_full(ticks, BLOCKS, scratch), SLOW);
    /* a sibling thread is busy for a while, later: it has nothing to do with waking */
    for (size_t i = 1; i < BLOCKS; i++)
        ticks[i] = ticks[i - 1] + (i <= SLOW || (i > BLOCKS / 3 && i < BLOCKS / 2) ? 80 : 40);
    assert_int_equal(native_first_use_full(ticks, BLOCKS, scratch), SLOW);
    /* single blocks are fast by chance */
    for (size_t i = 1; i < BLOCKS; i++)
        ticks[i] = ticks[i - 1] + (i <= SLOW && i % 5 > 1 ? 80 : 40);
    assert_int_equal(native_first_use_full(ticks, BLOCKS, scratch), SLOW - 1); /* the last of them is */
    for (size_t i = 1; i < BLOCKS; i++)
        ticks[i] = ticks[i - 1] + 40;
    assert_int_equal(native_first_use_full(ticks, BLOCKS, scratch), 0);
    assert_int_equal(native_first_use_full(ticks, 5, scratch), 5);
}
