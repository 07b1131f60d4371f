/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repetitions that ran at another frequency than most throughout: what is said of them, and what limits then hold. */
#include "analysis/phases/findings.h"
#include "tests/support/test.h"

enum { SAMPLES = 60, RUNS_MOST = 100, BEGIN_US = -20 };

/* One steady phase of 60 us at 3 GHz; repetition k at relative[k] of that, of which every other sample is faster, the
 * others slower, by `noise`. Those that are slower may be so otherwise: in each sample at shape[i]. */
static double shape[SAMPLES + 1];
static bool shaped;
struct made {
    struct trace trace;
    struct runs runs;
    struct segmentation o;
    struct phases p;
    size_t run[RUNS_MOST];
    struct piece piece;
};

static void make(struct made *m, const double *relative, size_t n, double noise)
{
    *m = (struct made){.piece = {.halt = false}};
    trace_init(&m->trace);
    assert_int_equal(trace_add_run(&m->trace) | trace_add_channel(&m->trace, TRACE_FREQ), 0);
    for (size_t k = 0; k < n; k++) {
        for (unsigned i = 0; i <= SAMPLES; i++) {
            assert_int_equal(trace_append(&m->trace, (unsigned)k, BEGIN_US + (double)i), 0);
            double x = (shaped && relative[k] < 1 ? shape[i] : relative[k]) + (i % 2 ? noise : -noise);
            m->trace.channel[TRACE_FREQ][m->trace.n - 1] = (float)(3 * x);
        }
        m->run[k] = k;
    }
    assert_int_equal(runs_prepare(&m->trace, &m->runs), 0);
    m->o = (struct segmentation){.n_pieces = 1,
                                 .piece = &m->piece,
                                 .n_runs = n,
                                 .run = m->run,
                                 .begin = BEGIN_US,
                                 .end = BEGIN_US + SAMPLES,
                                 .switch_us = NAN};
    m->p = (struct phases){.phases = calloc(1, sizeof *m->p.phases), .n_phases = 1, .runs_used = n};
    assert_non_null(m->p.phases);
    m->p.phases[0] = (struct phase){.kind = PHASE_STEADY,
                                    .start_us = BEGIN_US,
                                    .duration_us = {SAMPLES, SAMPLES, SAMPLES},
                                    .freq_ghz = {3, 2.99, 3.02},
                                    .level = 0};
}

static void unmake(struct made *m)
{
    phases_free(&m->p);
    runs_free(&m->runs);
    trace_free(&m->trace);
}

/* Expects this warning, NULL: none; the limits then reach farther by so much, GHz. */
static void expect(struct made *m, const char *warning, double lower, double higher)
{
    assert_int_equal(slow_runs_find(&m->runs, &m->o, &m->p), 0);
    assert_int_equal(m->p.n_warnings, warning ? 1 : 0);
    if (warning)
        assert_string_equal(m->p.warnings[0], warning);
    const struct phase *ph = &m->p.phases[0];
    assert_close(ph->freq_ghz.value, 3, 1e-9);
    assert_close(ph->freq_ghz.lo, 2.99 - lower, 2e-5);
    assert_close(ph->freq_ghz.hi, 3.02 + higher, 2e-5);
    assert_close(ph->freq_half_ghz, 0.015, 1e-9);
    unmake(m);
}

TEST(some_are_slower_or_faster_throughout)
{
    struct made m;
    double relative[RUNS_MOST];
    for (int k = 0; k < RUNS_MOST; k++)
        relative[k] = 1;
    relative[3] = 0.9;
    make(&m, relative, RUNS_MOST, 1e-4);
    expect(&m, NULL, 0, 0);
    relative[5] = relative[7] = 0.9;
    make(&m, relative, RUNS_MOST, 1e-4);
    expect(&m,
           "3 of 100 repetitions ran at a lower frequency from beginning to end: 0.900 times that of the others, 2.700 "
           "GHz instead of 3.000",
           0, 0);
    relative[10] = relative[20] = relative[30] = 0.95;
    make(&m, relative, RUNS_MOST, 1e-4);
    expect(&m,
           "6 of 100 repetitions ran at a lower frequency from beginning to end: 0.900 to 0.950 times that of the "
           "others, 2.775 GHz instead of 3.000; the frequency limits cover both",
           0.3, 0);
    for (int k = 0; k < RUNS_MOST; k++)
        relative[k] = relative[k] < 1 ? 1.05 : 1;
    make(&m, relative, RUNS_MOST, 1e-4);
    expect(&m,
           "6 of 100 repetitions ran at a higher frequency from beginning to end: 1.050 times that of the others, "
           "3.150 GHz instead of 3.000; the frequency limits cover both",
           0, 0.15);
}

/* A quarter of a repetition at its beginning and one at its end are compared; the nearer to the others counts. */
TEST(what_holds_from_beginning_to_end_counts)
{
    static const struct {
        double early, between, late;
        unsigned at;          /* this sample at 1.1 */
        const char *reported; /* NULL: nothing */
    } cases[] = {
        {0.9, 0.97, 0.95, 0, "0.950"}, {0.95, 0.7, 0.9, 0, "0.950"},  {0.9, 0.9, 1.05, 0, NULL},
        {0.9, 1, 1, 0, NULL},          {1, 1, 0.9, 0, NULL},          {0.9, 0.9, 0.9, 15, "0.914"},
        {0.9, 0.9, 0.9, 16, "0.900"},  {0.9, 0.9, 0.95, 45, "0.950"}, {0.8, 0.9, 0.9, 46, "0.914"},
    };
    double relative[RUNS_MOST];
    for (int k = 0; k < RUNS_MOST; k++)
        relative[k] = k % 20 == 3 ? 0.9 : 1;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct made m;
        char text[120];
        for (unsigned i = 0; i <= SAMPLES; i++)
            shape[i] = !cases[c].at && i == 5      ? NAN /* not read */
                       : i == cases[c].at && i > 0 ? 1.1
                       : i <= 15                   ? cases[c].early
                       : i <= 45                   ? cases[c].between
                                                   : cases[c].late;
        shaped = true;
        make(&m, relative, RUNS_MOST, 1e-5);
        shaped = false;
        assert_int_equal(slow_runs_find(&m.runs, &m.o, &m.p), 0);
        assert_int_equal(m.p.n_warnings, cases[c].reported != NULL);
        snprintf(text, sizeof text, "5 of 100 repetitions ran at a lower frequency from beginning to end: %s times",
                 cases[c].reported ? cases[c].reported : "");
        if (cases[c].reported && strncmp(m.p.warnings[0], text, strlen(text)) != 0)
            fail_msg("case %zu: %s", c, m.p.warnings[0]);
        unmake(&m);
    }
}

/* Two kinds, of which there are two or more of either, are told apart if they differ alike from beginning to end. */
TEST(repetitions_of_two_kinds_are_marked)
{
    for (int c = 0; c < 5; c++) {
        const size_t n = c == 0 ? 9 : 20, slower = c == 1 ? 1 : c == 2 ? 2 : 6;
        double relative[RUNS_MOST];
        struct made m;
        bool marked;
        for (size_t k = 0; k < n; k++)
            relative[k] = k % 3 == 1 && k / 3 < slower ? 0.9 : 1;
        for (unsigned i = 0; i <= SAMPLES; i++)
            shape[i] = i <= 15 ? 0.7 : 0.9;
        shaped = c == 4;
        make(&m, relative, n, 1e-3);
        shaped = false;
        assert_int_equal(slow_runs_mark(&m.runs, &m.o, &m.p, &marked), 0);
        assert_int_equal(marked, c == 2 || c == 3);
        assert_int_equal(marked, m.o.other_ghz != NULL);
        for (size_t k = 0; marked && k < n; k++)
            assert_int_equal(m.o.other_ghz[k], relative[k] < 1);
        free(m.o.other_ghz);
        unmake(&m);
    }
}
