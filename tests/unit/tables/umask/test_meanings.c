/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings of counter bits from shares, and shares from traces: exact cases. */
#include "tables/registry.h"
#include "tables/umask/umask_fit.h"
#include "tests/support/test.h"

/* ---- readings ---- */

/* Kinds of code in the order of this list; shares[i] < 0: was not run. */
static const char *const kinds[] = {"64add", "64mul", "128or", "128fma", "256or", "256fma", "512or", "512fma", "amx"};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct change {
    double share, slow, other;
};

static void put(struct table *t, const char *kernel, const char *when, const char *event, struct change c)
{
    table_add_row(t);
    table_put_number(t, "event", 0x28);
    table_put_number(t, "umask", 1);
    table_put_text(t, "kernel", kernel);
    table_put_text(t, "when", when);
    table_put_text(t, "documented", event);
    table_put_number(t, "share", c.share);
    table_put_number(t, "slow_share", c.slow);
    table_put_number(t, "slow_other", c.other);
}

/* What is said of such shares, of an event of this name. */
static void make(struct table *t, const double shares[KINDS], const struct change changes[2], const char *event)
{
    table_init(t, table_umask.name, table_umask.columns, table_umask.n_columns);
    for (size_t i = KINDS; i-- > 0;) /* the order in which they come does not matter */
        if (shares[i] >= 0)
            put(t, kinds[i], "steady", event, (struct change){shares[i], NAN, NAN});
    for (size_t i = 0; changes && i < 2; i++)
        put(t, "512fma", i ? "to 64add" : "from 64add", event, changes[i]);
}

static const char *said(struct table *t, const char *column)
{
    assert_int_equal(umask_conclude(t), 0);
    const char *text = table_text(t, t->n_rows - 1, column);
    return text ? text : "";
}

static void expect(const double shares[KINDS], const char *words)
{
    struct table t;
    make(&t, shares, NULL, NULL);
    assert_string_equal(said(&t, "reading"), words);
    table_free(&t);
}

TEST(kinds_are_named)
{
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

TEST(kernels_of_one_kind_may_differ)
{
    struct table t;
    table_init(&t, table_umask.name, table_umask.columns, table_umask.n_columns);
    put(&t, "64add", "steady", "CORE_POWER.LVL1_TURBO_LICENSE", (struct change){0, NAN, NAN});
    put(&t, "256fma", "steady", "CORE_POWER.LVL1_TURBO_LICENSE", (struct change){0.25, NAN, NAN});
    put(&t, "256mul", "steady", "CORE_POWER.LVL1_TURBO_LICENSE", (struct change){1, NAN, NAN});
    assert_string_equal(said(&t, "reading"), "heavy 256 in part (0.25 to 1.00)");
    assert_string_equal(said(&t, "disagrees"), "heavy 256 is counted in part");
    table_free(&t);
}

TEST(throttling_is_told_from_other_changes)
{
    static const double none[KINDS] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const struct {
        struct change changes[2];
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
        struct table t;
        make(&t, none, cases[i].changes, "CORE_POWER.THROTTLE");
        assert_string_equal(said(&t, "reading"), cases[i].words);
        assert_int_equal(said(&t, "disagrees")[0] == '\0', cases[i].agrees);
        table_free(&t);
    }
}

TEST(documentation)
{
    struct table t;
    assert_int_equal(umask_document_of("CORE_POWER.LVL1_TURBO_LICENSE"), MEANING_LEVEL_1);
    assert_int_equal(umask_document_of("CORE_POWER.LICENSE_1"), MEANING_UNDOCUMENTED);
    assert_int_equal(umask_document_of("CORE_POWER.LVL1_TURBO_LICENSE: heavy 256"), MEANING_LEVEL_1);
    assert_int_equal(umask_document_of("CORE_POWER.LVL1"), MEANING_UNDOCUMENTED);
    assert_int_equal(umask_document_of(""), MEANING_UNDOCUMENTED);
    assert_int_equal(umask_document_of(NULL), MEANING_UNDOCUMENTED);
    static const char *const events[] = {"CORE_POWER.LVL0_TURBO_LICENSE", "CORE_POWER.LVL1_TURBO_LICENSE",
                                         "CORE_POWER.LVL2_TURBO_LICENSE", NULL};
    static const char *const words[] = {
        "heavy 256 is counted",
        "light 64 is counted; heavy 64 is counted; light 128 is counted; heavy 128 is counted; light 256 is counted; "
        "light 512 is not counted",
        "light 64 is counted; heavy 64 is counted; light 128 is counted; heavy 128 is counted; light 256 is counted; "
        "heavy 256 is counted; heavy 512 is not counted",
        ""};
    for (size_t i = 0; i < 4; i++) { /* of tiles nothing is documented */
        make(&t, (double[KINDS]){1, 1, 1, 1, 1, 1, 0, 0, 1}, NULL, events[i]);
        assert_string_equal(said(&t, "disagrees"), words[i]);
        table_free(&t);
    }
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

TEST(shares_are_of_cycles)
{
    static const struct row rows[] = {
        {0, 0, 9, 1, "1"},                                          /* tells only where the next one begins */
        {0, 1, 3, 0.5F, "1"}, {0, 3, 1, 2, "0"},                    /* 3000 cycles counted, 2000 not */
        {1, 0, 9, 1, "1"},    {1, 1, 3, 2, "0"}, {1, 2, 1, 2, "1"}, /* 3000 not, 1000 counted */
        {2, 0, 9, 1, "1"},    {2, 1, 3, 2, "1"}, {2, 2, 1, 2, ""},  /* not counted throughout: left out */
    };
    size_t runs;
    struct trace t = trace_of(rows, sizeof rows / sizeof *rows);
    struct estimate e = umask_shares_counted(&t, 0, INFINITY, &runs);
    assert_int_equal(runs, 2);
    assert_true(fabs(e.value - (0.6 + 0.25) / 2) < 1e-6);
    assert_true(e.lo < 0.25 && e.hi > 0.6);
    e = umask_shares_counted(&t, 0, 1, &runs); /* the first sample of each only */
    assert_int_equal(runs, 3);
    assert_true(fabs(e.value - 2.0 / 3) < 1e-6);
    assert_true(fabs(umask_shares_ipc(&t, 0) - 2) < 1e-6);
    e = umask_shares_slow(&t, 2, 0.95, &runs);
    assert_int_equal(runs, 3);
    assert_true(fabs(e.value - 0.6 / 3) < 1e-6);
    e = umask_shares_slow(&t, NAN, 0.95, &runs);
    assert_true(isnan(e.value) && runs == 0);
    trace_free(&t);
}

TEST(nothing_has_no_share)
{
    size_t runs = 7;
    struct trace t = trace_of(NULL, 0);
    assert_true(isnan(umask_shares_counted(&t, 0, INFINITY, &runs).value) && runs == 0);
    assert_true(isnan(umask_shares_ipc(&t, 0)));
    trace_free(&t);
    static const struct row one[] = {{0, 0, 1, 1, "1"}};
    t = trace_of(one, 1);
    assert_true(isnan(umask_shares_counted(&t, 0, INFINITY, &runs).value) && runs == 0);
    trace_free(&t);
}
