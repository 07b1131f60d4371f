/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings of counter bits from shares, and shares from traces: exact cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/umask/umask_fit.h"

/* ---- readings ---- */

/* Kinds in the order of this list; shares[i] < 0: was not run. */
static const struct {
    unsigned width;
    bool heavy;
} kinds[] = {{64, false}, {64, true},   {128, false}, {128, true}, {256, false},
             {256, true}, {512, false}, {512, true},  {8192, true}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct meaning_input input_of(const double shares[KINDS], const struct meaning_change *changes, size_t n)
{
    struct meaning_input r = {.changes = changes, .n_changes = n};
    for (size_t i = KINDS; i-- > 0;) /* the order in which they come does not matter */
        if (shares[i] >= 0)
            assert_true(meaning_add(&r, kinds[i].width, kinds[i].heavy, shares[i]));
    return r;
}

static void expect(const double shares[KINDS], const char *words)
{
    char text[READINGS_TEXT_MAX];
    struct meaning_input r = input_of(shares, NULL, 0);
    meaning_text(&r, text);
    assert_string_equal(text, words);
}

static void kinds_are_named(void **state)
{
    (void)state;
    expect((double[KINDS]){1, 1, 1, 1, 0, 0, 0, 0, 0}, "up to 128 bit");
    expect((double[KINDS]){1, 1, 1, 1, 1, 0, 0, 0, 0}, "up to 128 bit, light 256");
    expect((double[KINDS]){1, 1, 1, 1, 1, 1, 0, 0, 0}, "up to 256 bit");
    expect((double[KINDS]){1, 1, 1, 1, 1, 1, 1, 0, 0}, "up to 256 bit, light 512");
    expect((double[KINDS]){0, 0, 0, 0, 0, 1, 1, 0, 0}, "heavy 256, light 512");
    expect((double[KINDS]){0, 0, 0, 0, 0, 0, 0, 1, 0}, "heavy 512");
    expect((double[KINDS]){0, 0, 0, 0, 0, 0, 0, 1, 1}, "heavy 512, tiles");
    expect((double[KINDS]){0, 0, 0, 0, 0, 0, 1, 1, 0}, "512 bit");
    expect((double[KINDS]){0, 0, 0, 0, 1, 1, 1, 1, 0}, "256 bit, 512 bit");
    expect((double[KINDS]){1, 0, 1, 0, 1, 0, 0, 0, 0}, "light 64, light 128, light 256");
    expect((double[KINDS]){0, 0, 1, 1, 0, 0, 0, 0, 0}, "128 bit");
    expect((double[KINDS]){1, 1, 0, 0, 0, 0, 0, 0, 0}, "up to 64 bit");
    expect((double[KINDS]){1, 1, 1, 1, 1, 1, 1, 1, 1}, "everything");
    expect((double[KINDS]){0, 0, 0, 0, 0, 0, 0, 0, 0}, "nothing");
    /* what was not run is not claimed */
    expect((double[KINDS]){1, -1, -1, 1, 0, -1, -1, 0, -1}, "up to 128 bit");
    expect((double[KINDS]){-1, -1, -1, -1, 1, -1, 0, -1, -1}, "light 256");
    expect((double[KINDS]){-1, -1, -1, -1, 1, 1, 0, -1, -1}, "256 bit");
    /* at the thresholds, and between them */
    expect((double[KINDS]){0.9, 0.95, 0.9, 1, 0.1, 0.1, 0, 0, 0}, "up to 128 bit");
    expect((double[KINDS]){0, 0, 0, 0, 0, 0.5, 1, 0, 0}, "heavy 256 in part (0.50), light 512");
}

static void kernels_of_one_kind_may_differ(void **state)
{
    (void)state;
    char text[READINGS_TEXT_MAX];
    struct meaning_input r = {0};
    meaning_add(&r, 64, false, 0);
    meaning_add(&r, 256, true, 0.25);
    meaning_add(&r, 256, true, 1);
    meaning_text(&r, text);
    assert_string_equal(text, "heavy 256 in part (0.25 to 1.00)");
    meaning_disagreement(&r, MEANING_LEVEL_1, text);
    assert_string_equal(text, "heavy 256 is counted in part");
}

static void throttling_is_told_from_other_changes(void **state)
{
    (void)state;
    static const double none[KINDS] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const struct {
        struct meaning_change changes[2];
        const char *words;
        bool agrees; /* with an event of throttled cycles */
    } cases[] = {
        {{{0.2, 0.21, 0}, {0.4, 0.41, 0}}, "throttled", true},
        {{{0.2, 0.2, 0}, {0, 0, 0}}, "throttled", true},
        {{{0.2, 0.4, 0}, {0.2, 0.2, 0}}, "changes", false}, /* some of the throttled cycles only */
        {{{0.2, 0, 0}, {0, 0, 0}}, "changes", false},
        {{{0.2, NAN, 0}, {0, NAN, 0}}, "changes", false}, /* not known whether it was slow */
        {{{0, 0.3, 0}, {0, 0, 0}}, "nothing", false},
        {{{0, 0, 0}, {0, 0, 0}}, "nothing", true},       /* nothing was throttled: nothing to count */
        {{{0, 0.02, 0}, {0.02, 0, 0}}, "changes", true}, /* or no more than the samples at the edges */
        {{{0, NAN, 0}, {0, NAN, 0}}, "nothing", true},
        /* what is slow for another reason is not counted */
        {{{0, 0.3, 0.31}, {0, 0, 0}}, "nothing", true},
        {{{0, 0.3, 0.05}, {0, 0, 0}}, "nothing", false},
        {{{0.2, 0.26, 0.06}, {0, 0.06, 0.06}}, "throttled", true},
        {{{0.2, 0.26, 0}, {0, 0.06, 0}}, "changes", false},
        {{{0.2, 0.26, 0.06}, {0.2, 0.06, 0.06}}, "changes", false}, /* more is counted than is slow */
        {{{0.2, 0.4, NAN}, {0, 0.4, NAN}}, "changes", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[READINGS_TEXT_MAX];
        struct meaning_input r = input_of(none, cases[i].changes, 2);
        meaning_text(&r, text);
        assert_string_equal(text, cases[i].words);
        meaning_disagreement(&r, MEANING_THROTTLED, text);
        assert_int_equal(text[0] == '\0', cases[i].agrees);
    }
}

static void documentation(void **state)
{
    (void)state;
    char text[READINGS_TEXT_MAX];
    assert_int_equal(meaning_document_of("CORE_POWER.LVL1_TURBO_LICENSE"), MEANING_LEVEL_1);
    assert_int_equal(meaning_document_of("CORE_POWER.LICENSE_1"), MEANING_UNDOCUMENTED);
    assert_int_equal(meaning_document_of("CORE_POWER.LVL1_TURBO_LICENSE: heavy 256"), MEANING_LEVEL_1);
    assert_int_equal(meaning_document_of("CORE_POWER.LVL1"), MEANING_UNDOCUMENTED);
    assert_int_equal(meaning_document_of(""), MEANING_UNDOCUMENTED);
    assert_int_equal(meaning_document_of(NULL), MEANING_UNDOCUMENTED);
    struct meaning_input r = input_of((double[KINDS]){1, 1, 1, 1, 1, 1, 0, 0, 1}, NULL, 0);
    meaning_disagreement(&r, MEANING_LEVEL_0, text);
    assert_string_equal(text, "heavy 256 is counted"); /* of tiles nothing is documented */
    meaning_disagreement(&r, MEANING_UNDOCUMENTED, text);
    assert_string_equal(text, "");
}

static void there_is_room_for_so_many_kinds(void **state)
{
    (void)state;
    struct meaning_input r = {0};
    for (unsigned i = 0; i < READINGS_KINDS_MAX; i++)
        assert_true(meaning_add(&r, 64 + i, false, 0));
    assert_false(meaning_add(&r, 9999, false, 0));
    assert_true(meaning_add(&r, 64, false, 1));
}

/* ---- shares ---- */

/* Each sample: run, end, GHz, IPC, what was counted. */
struct row {
    unsigned run;
    double us;
    float ghz, ipc;
    const char *share;
};

static struct trace trace_of(const struct row *rows, size_t n)
{
    struct trace t;
    trace_init(&t);
    assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_FREQ) | trace_add_channel(&t, TRACE_IPC) |
                         trace_add_extra(&t, "event_28_40"),
                     0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(trace_append(&t, rows[i].run, rows[i].us), 0);
        t.channel[TRACE_FREQ][i] = rows[i].ghz;
        t.channel[TRACE_IPC][i] = rows[i].ipc;
        assert_int_equal(trace_put_extra(&t, 0, rows[i].share), 0);
    }
    return t;
}

static void shares_are_of_cycles(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {0, 0, 9, 1, "1"},                                          /* tells only where the next one begins */
        {0, 1, 3, 0.5F, "1"}, {0, 3, 1, 2, "0"},                    /* 3000 cycles counted, 2000 not */
        {1, 0, 9, 1, "1"},    {1, 1, 3, 2, "0"}, {1, 2, 1, 2, "1"}, /* 3000 not, 1000 counted */
        {2, 0, 9, 1, "1"},    {2, 1, 3, 2, "1"}, {2, 2, 1, 2, ""},  /* not counted throughout: left out */
    };
    size_t runs;
    struct trace t = trace_of(rows, sizeof rows / sizeof *rows);
    struct estimate e = shares_counted(&t, 0, INFINITY, &runs);
    assert_int_equal(runs, 2);
    assert_true(fabs(e.value - (0.6 + 0.25) / 2) < 1e-6);
    assert_true(e.lo < 0.25 && e.hi > 0.6);
    e = shares_counted(&t, 0, 1, &runs); /* the first sample of each only */
    assert_int_equal(runs, 3);
    assert_true(fabs(e.value - 2.0 / 3) < 1e-6);
    assert_true(fabs(shares_ipc(&t, 0) - 2) < 1e-6);
    e = shares_slow(&t, 2, SHARES_SLOW, &runs);
    assert_int_equal(runs, 3);
    assert_true(fabs(e.value - 0.6 / 3) < 1e-6);
    e = shares_slow(&t, NAN, SHARES_SLOW, &runs);
    assert_true(isnan(e.value) && runs == 0);
    trace_free(&t);
}

static void nothing_has_no_share(void **state)
{
    (void)state;
    size_t runs = 7;
    struct trace t = trace_of(NULL, 0);
    assert_true(isnan(shares_counted(&t, 0, INFINITY, &runs).value) && runs == 0);
    assert_true(isnan(shares_ipc(&t, 0)));
    trace_free(&t);
    static const struct row one[] = {{0, 0, 1, 1, "1"}};
    t = trace_of(one, 1);
    assert_true(isnan(shares_counted(&t, 0, INFINITY, &runs).value) && runs == 0);
    trace_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_named),
        cmocka_unit_test(kernels_of_one_kind_may_differ),
        cmocka_unit_test(throttling_is_told_from_other_changes),
        cmocka_unit_test(documentation),
        cmocka_unit_test(there_is_room_for_so_many_kinds),
        cmocka_unit_test(shares_are_of_cycles),
        cmocka_unit_test(nothing_has_no_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
