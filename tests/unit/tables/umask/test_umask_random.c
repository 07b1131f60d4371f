/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Readings of bits from shares drawn at random at and beside their limits, and shares of samples drawn at random. Held
 * in tests/golden/umask.random; after an intended change `make golden` rewrites it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tables/umask/umask_fit.h"
#include "tests/support/golden.h"
#include "tests/support/random_numbers.h"

enum { MEANINGS = 250, TRACES = 100, CHANGES_MOST = 4 };

static void write_meaning(FILE *out, struct rng *r, unsigned number)
{
    const unsigned widths[] = {64, 128, 256, 512, 8192, 1024};
    const double shares[] = {0, 0.005, 0.02, 0.05, 0.1, 0.5, 0.9, 0.95, 0.98, 1};
    const double few = rng_one_of(r, (const double[]){0, 1, 0.5, NAN}, 4);
    struct meaning_change change[CHANGES_MOST];
    struct meaning_input in = {.changes = change};
    char text[READINGS_TEXT_MAX];
    for (int n = rng_int(r, 0, 10); n > 0; n--)
        assert_true(meaning_add(&in, widths[rng_int(r, 0, 5)], rng_chance(r, 0.5),
                                !isnan(few) && rng_chance(r, few > 0 ? 0.8 : 0.97) ? few : rng_one_of(r, shares, 10)));
    in.n_changes = (size_t)rng_int(r, 0, CHANGES_MOST);
    for (size_t i = 0; i < in.n_changes; i++) {
        const double slow = rng_one_of(r, (const double[]){0, 0.005, 0.02, 0.04, 0.4, NAN}, 6);
        const double off = rng_one_of(r, (const double[]){0, 0, 0.02, 0.0301, 0.131, -0.131, 0.2, -0.2}, 8);
        change[i] = (struct meaning_change){fmax(0, slow + off), slow,
                                            rng_one_of(r, (const double[]){0, 0, 0.01, 0.1, NAN}, 5)};
        if (rng_chance(r, 0.1))
            change[i].share = rng_one_of(r, (const double[]){NAN, 0.01, 0.011, 0.03, 0.031}, 5);
    }
    meaning_text(&in, text);
    fprintf(out, "%u: %s", number, text);
    for (enum meaning_document d = MEANING_UNDOCUMENTED; d <= MEANING_THROTTLED; d++) {
        meaning_disagreement(&in, d, text);
        fprintf(out, " | %s", text);
    }
    fprintf(out, "\n");
}

static void draw_trace(struct rng *r, struct trace *t, uint64_t *offset)
{
    static char counts[] = "\0"
                           "0\0"
                           "1\0"
                           "0.5\0"
                           "x";
    static const uint64_t at[] = {1, 3, 5, 9, 0};
    trace_init(t);
    assert_int_equal(trace_add_channel(t, TRACE_IPC), 0);
    if (rng_chance(r, 0.9))
        assert_int_equal(trace_add_channel(t, TRACE_FREQ), 0);
    if (rng_chance(r, 0.9))
        assert_int_equal(trace_add_run(t), 0);
    const int known = rng_chance(r, 0.2) ? 4 : 2;
    for (unsigned run = 0, runs = (unsigned)rng_int(r, 0, 4); run < runs; run++) {
        double time = rng_one_of(r, (const double[]){-4, 0, 2}, 3);
        for (int n = rng_int(r, 1, 12); n > 0; n--) {
            assert_int_equal(trace_append(t, t->run ? run : 0, time), 0);
            t->channel[TRACE_IPC][t->n - 1] = (float)rng_one_of(r, (const double[]){2, 2, 1.99, 1, 0.5, 0, NAN}, 7);
            if (t->channel[TRACE_FREQ])
                t->channel[TRACE_FREQ][t->n - 1] = (float)rng_one_of(r, (const double[]){2, 2, 3, 0, NAN}, 5);
            offset[t->n - 1] = at[rng_int(r, 0, known)];
            time += rng_one_of(r, (const double[]){1, 1, 2, 0, 5}, 5);
        }
    }
    t->text = counts;
}

static void write_shares(FILE *out, struct rng *r, unsigned number)
{
    uint64_t offset[64];
    struct trace_extra extra = {NULL, offset};
    struct trace t;
    size_t n, slow_runs;
    draw_trace(r, &t, offset);
    t.extra = &extra;
    t.n_extra = 1;
    const struct estimate counted = shares_counted(&t, 0, rng_one_of(r, (const double[]){INFINITY, 5, 6}, 3), &n);
    const struct estimate slow = shares_slow(&t, rng_one_of(r, (const double[]){2, 4, NAN}, 3), 0.5, &slow_runs);
    fprintf(out, "shares %u: %zu", number, n);
    golden_put_estimate(out, "counted", &counted);
    fprintf(out, "; %zu", slow_runs);
    golden_put_estimate(out, "slow", &slow);
    golden_put(out, "; ipc", shares_ipc(&t, rng_one_of(r, (const double[]){0, -1, 3}, 3)));
    golden_put(out, "; slow below", shares_slow_below(&t));
    fprintf(out, "\n");
    t.extra = NULL;
    t.n_extra = 0;
    t.text = NULL;
    trace_free(&t);
}

static void readings_of_random_shares_stay(void **state)
{
    struct golden g;
    struct rng r;
    FILE *out = golden_begin(&g);
    (void)state;
    rng_init(&r, 10, 0);
    for (unsigned i = 1; i <= MEANINGS; i++)
        write_meaning(out, &r, i);
    for (unsigned i = 1; i <= TRACES; i++)
        write_shares(out, &r, i);
    golden_expect(&g, "umask", "random", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readings_of_random_shares_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
