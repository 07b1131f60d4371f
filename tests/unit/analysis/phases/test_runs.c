/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time lost in samples, and what it says of the sampler: repetitions with one halt each, worked out by hand. */
#include "analysis/phases/repetitions/runs.h"
#include "tests/support/test.h"

enum { RUNS = 10, SAMPLES = 60, HALTED = 30 };

/* Samples of 1 us, two of three give or take `wobble`, in repetitions at 3.0 GHz; each of the first `halts` of them has
 * a halt in sample HALTED, which lasts 5 us and has a mean of 0.6 GHz, and goes on at 2.7 GHz. The first `off` of these
 * samples are longer by `by` us, and the first `cut` are followed by one of `next` us. */
static double unit = 1; /* us, instead of all that is said here of microseconds */
struct halted {
    unsigned runs, halts, off, cut;
    double wobble, by, next;
};

static void make_runs(const struct halted *h, const char *sampler, struct trace *t, struct runs *r)
{
    trace_init(t);
    assert_int_equal(trace_add_run(t) | trace_add_channel(t, TRACE_FREQ), 0);
    for (unsigned run = 0; run < h->runs; run++) {
        double now = 0;
        for (unsigned i = 0; i < SAMPLES; i++) {
            bool halt = run < h->halts && i == HALTED;
            double length = 1 + (i % 3 == 1 ? h->wobble : i % 3 == 2 ? -h->wobble : 0);
            if (halt)
                length = 5 + (run < h->off ? h->by : 0);
            else if (run < h->cut && i == HALTED + 1)
                length = h->next;
            now += unit * length;
            assert_int_equal(trace_append(t, run, now), 0);
            t->channel[TRACE_FREQ][t->n - 1] = halt ? 0.6F : run < h->halts && i > HALTED ? 2.7F : 3.0F;
        }
    }
    assert_int_equal(sampler ? trace_set(t, "sampler", sampler) : 0, 0);
    assert_int_equal(runs_prepare(t, r), 0);
}

static void expect_habit(enum sampler_habit habit, struct halted h, const char *sampler)
{
    struct trace t;
    struct runs r;
    for (unit = 2; unit >= 1; unit--) {
        make_runs(&h, sampler, &t, &r);
        assert_int_equal(r.n_gaps, h.halts);
        assert_int_equal(r.habit, habit);
        runs_free(&r);
        trace_free(&t);
    }
    unit = 1;
}

TEST(the_habit_of_a_sampler_shows_at_halts)
{
    /* as it says itself */
    expect_habit(SAMPLER_AT_ONCE, (struct halted){.runs = 1}, "resumes at once");
    expect_habit(SAMPLER_WAITS, (struct halted){.runs = 1}, "keeps a grid");
    /* by four halts of four repetitions at least */
    expect_habit(SAMPLER_UNKNOWN, (struct halted){.runs = 3, .halts = 3}, NULL);
    expect_habit(SAMPLER_UNKNOWN, (struct halted){.runs = 4, .halts = 3}, NULL);
    expect_habit(SAMPLER_WAITS, (struct halted){.runs = 4, .halts = 4}, NULL);
    /* samples with halts that are 0.15 periods or more off a whole number of them: three in ten may be so by chance, as
     * 0.3 of all lengths are not, and a half of the rest would be 3.5 */
    for (double by = -0.4; by < 0.5; by += 0.8) {
        expect_habit(SAMPLER_WAITS, (struct halted){.runs = RUNS, .halts = RUNS, .off = 3, .by = by}, NULL);
        expect_habit(SAMPLER_AT_ONCE, (struct halted){.runs = RUNS, .halts = RUNS, .off = 4, .by = by}, NULL);
    }
    expect_habit(SAMPLER_WAITS, (struct halted){.runs = RUNS, .halts = RUNS, .off = RUNS, .by = 0.14}, NULL);
    expect_habit(SAMPLER_AT_ONCE, (struct halted){.runs = RUNS, .halts = RUNS, .off = RUNS, .by = 0.16}, NULL);
    /* a short sample behind more than a quarter of the halts */
    expect_habit(SAMPLER_WAITS, (struct halted){.runs = RUNS, .halts = RUNS, .cut = 2, .next = 0.8}, NULL);
    expect_habit(SAMPLER_AT_ONCE, (struct halted){.runs = RUNS, .halts = RUNS, .cut = 3, .next = 0.84}, NULL);
    expect_habit(SAMPLER_WAITS, (struct halted){.runs = RUNS, .halts = RUNS, .cut = 3, .next = 0.86}, NULL);
}

/*
 * The mean share by which samples differ from the period, 40/59 of `wobble`, widens what is on the grid by three times
 * that, and what is no short sample by four times.
 */
TEST(a_grid_that_wobbles_says_less)
{
    expect_habit(SAMPLER_WAITS, (struct halted){.runs = RUNS, .halts = RUNS, .off = RUNS, .by = 0.23, .wobble = 0.12},
                 NULL);
    expect_habit(SAMPLER_AT_ONCE, (struct halted){.runs = RUNS, .halts = RUNS, .off = RUNS, .by = 0.26, .wobble = 0.12},
                 NULL);
    expect_habit(SAMPLER_WAITS, (struct halted){.runs = RUNS, .halts = RUNS, .cut = 3, .next = 0.65, .wobble = 0.08},
                 NULL);
    expect_habit(SAMPLER_AT_ONCE, (struct halted){.runs = RUNS, .halts = RUNS, .cut = 3, .next = 0.61, .wobble = 0.08},
                 NULL);
    expect_habit(SAMPLER_WAITS, (struct halted){.runs = RUNS, .halts = RUNS, .wobble = 0.16}, NULL);
    expect_habit(SAMPLER_UNKNOWN, (struct halted){.runs = RUNS, .halts = RUNS, .wobble = 0.19}, NULL);
}

TEST(what_a_halt_is_like)
{
    const double lost = 0.5 * (5 * (1 - 0.6 / 2.7) + 5 * (1 - 0.6 / 3.0));
    struct trace t;
    struct runs r;
    make_runs(&(struct halted){.runs = RUNS, .halts = 3}, NULL, &t, &r);
    assert_int_equal(r.n, RUNS);
    assert_close(r.period, 1, 1e-9);
    assert_int_equal(r.n_gaps, 3);
    for (size_t k = 0; k < 3; k++) {
        const struct gap *g = &r.gap[k];
        assert_int_equal(g->run, k);
        assert_int_equal(g->sample, k * SAMPLES + HALTED);
        assert_close(g->begin, HALTED, 1e-6);
        assert_close(g->end, HALTED + 5, 1e-6);
        assert_close(g->lost, lost, 1e-6);
        assert_close(g->freq_before, 3, 1e-6);
        assert_close(g->freq_after, 2.7, 1e-6);
        assert_true(g->level_changes && !g->soft && !g->running && !g->moved);
        assert_true(runs_gap_is_halt(&r, g));
    }
    for (size_t i = 0; i < t.n; i++)
        assert_int_equal(r.invalid[i], i % SAMPLES == HALTED && i < 3 * SAMPLES);
    assert_close(r.longest, 5, 1e-6);
    assert_close(r.typical_lost, lost, 1e-6);
    assert_close(r.typical_step, log(3 / 2.7), 1e-6);
    runs_free(&r);
    trace_free(&t);
    /* two are too few to tell */
    make_runs(&(struct halted){.runs = RUNS, .halts = 2}, NULL, &t, &r);
    assert_true(isnan(r.typical_lost) && isnan(r.typical_step));
    runs_free(&r);
    trace_free(&t);
}

/* Of samples of 1 us, one that reaches more than 0.05 us over the switch on both sides. */
TEST(a_sample_that_straddles_the_switch)
{
    struct trace t;
    struct runs r;
    make_runs(&(struct halted){.runs = 1}, NULL, &t, &r);
    assert_true(runs_straddles(&r, 10, 10.06));
    assert_true(runs_straddles(&r, 10, 10.94));
    assert_false(runs_straddles(&r, 10, 10.04));
    assert_false(runs_straddles(&r, 10, 10.96));
    assert_false(runs_straddles(&r, 10, NAN));
    runs_free(&r);
    trace_free(&t);
}

/*
 * Time lost in two samples in a row is lost once, if one of them is long: 5 us at 0.6 GHz, then a sample of `next` us
 * at 2 GHz, or the other way round; 3 GHz before and after.
 */
static void expect_one_loss(double next, bool first_is_long)
{
    struct trace t;
    struct runs r;
    double now = 0;
    trace_init(&t);
    assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_FREQ), 0);
    for (int i = 0; i < SAMPLES; i++) {
        int behind = i - HALTED;
        bool halt = behind == (first_is_long ? 0 : 1), other = behind == (first_is_long ? 1 : 0);
        now += halt ? 5 : other ? next : 1;
        assert_int_equal(trace_append(&t, 0, now), 0);
        t.channel[TRACE_FREQ][i] = halt ? 0.6F : other ? 2.0F : 3.0F;
    }
    assert_int_equal(runs_prepare(&t, &r), 0);
    assert_int_equal(r.n_gaps, 1);
    const struct gap *g = &r.gap[0];
    assert_close(g->begin, HALTED, 1e-5);
    assert_close(g->end, HALTED + 5 + next, 1e-5);
    assert_close(g->clock, (5 * 0.6 + next * 2) / (5 + next), 1e-5);
    assert_true(isnan(g->rate));
    assert_int_equal(g->sample, HALTED + 1);
    assert_true(!g->soft && !g->running && !g->moved && !g->level_changes);
    assert_close(g->freq_before, 3, 1e-6);
    assert_close(g->freq_after, 3, 1e-6);
    runs_free(&r);
    trace_free(&t);
}

TEST(a_halt_that_a_reading_has_cut_in_two)
{
    expect_one_loss(1.4, true);
    expect_one_loss(1.4, false);
}

/* A pause in which cycles are counted, of 5 us at 3 GHz, is none of the halt beside it, of 5 us at 0.6 GHz. */
TEST(a_pause_beside_a_halt_is_another_loss)
{
    for (int pause = HALTED; pause <= HALTED + 1; pause++) {
        struct trace t;
        struct runs r;
        double now = 0;
        trace_init(&t);
        assert_int_equal(trace_add_run(&t) | trace_add_channel(&t, TRACE_FREQ), 0);
        for (int i = 0; i < SAMPLES; i++) {
            bool off = i == HALTED || i == HALTED + 1;
            now += off ? 5 : 1;
            assert_int_equal(trace_append(&t, 0, now), 0);
            t.channel[TRACE_FREQ][i] = off && i != pause ? 0.6F : 3.0F;
        }
        assert_int_equal(runs_prepare(&t, &r), 0);
        assert_int_equal(r.n_gaps, 2);
        for (size_t k = 0; k < 2; k++) {
            bool running = r.gap[k].sample == (size_t)pause;
            assert_int_equal(r.gap[k].sample, HALTED + k);
            assert_int_equal(r.gap[k].running, running);
            assert_close(r.gap[k].lost, running ? 4 : 5 * (1 - 0.6 / 3), 1e-5);
        }
        runs_free(&r);
        trace_free(&t);
    }
}
