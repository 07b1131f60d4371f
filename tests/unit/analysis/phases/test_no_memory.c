/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wherever memory runs out, the analysis says so, or finds what it finds otherwise: no answer is wrong for it. */
#include "analysis/phases/phases.h"
#include "analysis/phases/repetitions/steady.h"
#include "analysis/phases/segments/segmentation.h"
#include "output/verdict/verdict_cost.h"
#include "analysis/wake/wake.h"
#include "tests/support/odd_traces.h"
#include "tests/support/phases_lines.h"
#include "tests/support/plain_traces.h"
#include "tests/support/random_traces.h"
#include "tests/support/strict_memory.h"
#include "tests/support/tally.h"
#include "tests/support/test.h"

/* What is found if an allocation of the nth kind fails; NULL if the answer is that there is no memory. */
static char *found_without(const struct trace *t, unsigned long n, bool *failed)
{
    struct phases p;
    char why[300] = "";
    strict_memory_fail(n);
    int status = phases_find(t, &p, why, sizeof why);
    *failed = strict_memory_failed();
    strict_memory_fail(0);
    if (status) {
        if (!*failed || strcmp(why, "out of memory") != 0)
            fail_msg("allocation %lu: %s", n, why);
        return NULL;
    }
    char *text = phases_lines_text(&p);
    phases_free(&p);
    return text;
}

typedef char *answer_without(const struct trace *t, unsigned long n, bool *failed);

/* Returns how often the answer was that there is no memory. */
static unsigned long expect_no_wrong_answer(answer_without *found, const struct trace *t)
{
    bool failed;
    unsigned long refused = 0, n = 0;
    char *all = found(t, 0, &failed);
    assert_non_null(all);
    do {
        char *text = found(t, ++n, &failed);
        if (text && strcmp(text, all) != 0)
            fail_msg("without allocation %lu: %s", n, text);
        refused += text == NULL;
        free(text);
    } while (failed);
    free(all);
    return refused;
}

static void memory_runs_out(void **state)
{
    const enum trace_kind kind = *(const enum trace_kind *)*state;
    struct trace t;
    struct truth truth;
    skip_where_sanitized("sanitizers have their own memory");
    assert_int_equal(random_trace(kind, 1, &t, &truth), 0);
    assert_true(expect_no_wrong_answer(found_without, &t) > 20);
    trace_free(&t);
}

/* ---- what is asked beside ---- */

static void tally_steady(struct tally *sum, const struct steady_value *v)
{
    tally_estimate(sum, &v->mean);
    tally_add(sum, (double)(v->runs + 100 * v->used));
}

static int ask_steady(const struct trace *t, struct tally *sum)
{
    struct steady_value v;
    double drift;
    int bad = steady_mean(t, TRACE_FREQ, 0.001, &v);
    bad = bad || steady_drift(t, TRACE_FREQ, &drift);
    if (!bad) {
        tally_steady(sum, &v);
        tally_add(sum, drift);
    }
    return bad;
}

static int ask_stages(const struct trace *t, struct tally *sum)
{
    struct runs r;
    struct segmentation o = {0};
    size_t first = 0;
    int bad = runs_prepare(t, &r) || (r.n && segmentation_find(&r, &first, 1, 0, &o));
    if (!bad) {
        tally_runs(sum, &r);
        tally_segmentation(sum, &o);
    }
    segmentation_free(&o);
    runs_free(&r);
    return bad ? -1 : 0;
}

static int ask_others(const struct trace *t, struct tally *sum)
{
    struct wake_point p[24];
    struct wake_stages s;
    struct verdict_width w[2];
    struct verdict_cost v;
    const struct verdict_load load = {0.5, 10};
    char why[200];
    memset(w, 0, sizeof w);
    for (size_t i = 0; i < 24; i++)
        p[i] = (struct wake_point){(double)i, i < 12 ? 1 : 2};
    for (size_t i = 0; i < 2; i++)
        w[i] = (struct verdict_width){.bits = 128u << i, .rate = {1 + (double)i, 1 + (double)i, 1 + (double)i}};
    int bad = wake_find(p, 24, &s, why, sizeof why);
    if (bad) {
        assert_string_equal(why, "out of memory");
        return -1;
    }
    if (verdict_cost(w, 2, &load, 1, &v))
        return -1;
    tally_estimate(sum, &s.stage[1].first_us);
    tally_estimate(sum, &v.time[1]);
    tally_add(sum, (double)t->n);
    return 0;
}

typedef int ask_all(const struct trace *t, struct tally *sum);

static char *asked_without(ask_all *ask, const struct trace *t, unsigned long n, bool *failed)
{
    struct tally sum = {0};
    strict_memory_fail(n);
    int status = ask(t, &sum);
    *failed = strict_memory_failed();
    strict_memory_fail(0);
    if (status && !*failed)
        fail_msg("allocation %lu: refused", n);
    char *text = NULL;
    size_t size;
    FILE *out = status ? NULL : open_memstream(&text, &size);
    if (out) {
        tally_write(out, "sum", &sum);
        assert_int_equal(fclose(out), 0);
    }
    return text;
}

static char *steady_without(const struct trace *t, unsigned long n, bool *failed)
{
    return asked_without(ask_steady, t, n, failed);
}

static char *stages_without(const struct trace *t, unsigned long n, bool *failed)
{
    return asked_without(ask_stages, t, n, failed);
}

static char *others_without(const struct trace *t, unsigned long n, bool *failed)
{
    return asked_without(ask_others, t, n, failed);
}

TEST(memory_runs_out_in_small_traces)
{
    static answer_without *const all[] = {found_without, steady_without, stages_without, others_without};
    skip_where_sanitized("sanitizers have their own memory");
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct trace t;
        assert_int_equal(seed % 4 ? plain_trace(seed, &t) : odd_trace((enum odd_kind)(seed / 4 % ODD_KINDS), seed, &t),
                         0);
        if (seed % 8 == 2)
            assert_int_equal(trace_set_number(&t, "fine_us", 4), 0);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (i ? seed < 24 || i < 3 : seed % 2 == 0)
                (void)expect_no_wrong_answer(all[i], &t);
        trace_free(&t);
    }
}

BEFORE_TESTS
{
    static enum trace_kind kinds[TRACES_KINDS];
    for (int k = 0; k < TRACES_KINDS; k++) {
        kinds[k] = (enum trace_kind)k;
        test_add((struct CMUnitTest){trace_kind_name(kinds[k]), memory_runs_out, NULL, NULL, &kinds[k]}, __LINE__);
    }
}
