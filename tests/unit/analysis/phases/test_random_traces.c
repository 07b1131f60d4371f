/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slow: hundreds of traces drawn at random */
/*
 * The analysis on random traces with known answers (random_traces.h), some of each kind: what score_good asks.
 * `make accuracy` does the same with a thousand of each kind and prints the errors.
 *
 * RANDOM_TRACES: how many of each kind (30). RANDOM_TRACES_FIRST: the first seed (1).
 */
#include "tests/support/random_numbers.h"
#include "tests/support/random_traces.h"
#include "tests/support/test.h"
#include "tests/support/trace_score.h"
#include "analysis/phases/phases.h"

static size_t setting(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static void make(enum trace_kind kind, uint64_t seed, struct trace *t, struct truth *truth)
{
    assert_int_equal(random_trace(kind, seed, t, truth), 0);
}

static void find(const struct trace *t, struct phases *p)
{
    char why[300];
    if (phases_find(t, p, why, sizeof why))
        fail_msg("refused: %s", why);
}

static void kind_is_understood(void **state)
{
    const enum trace_kind kind = *(const enum trace_kind *)*state;
    size_t first = setting("RANDOM_TRACES_FIRST", 1), count = setting("RANDOM_TRACES", 30);
    struct score s = {0};
    char what[300];
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct trace t;
        struct truth truth;
        make(kind, seed, &t, &truth);
        assert_true(score_trace(&s, &t, &truth, stdout) >= 0);
        trace_free(&t);
    }
    bool good = score_good(&s, what, sizeof what);
    score_free(&s);
    if (!good)
        fail_msg("%s: %s", trace_kind_name(kind), what);
}

/* ---- what holds for any answer ---- */

enum { FEW = 6 }; /* traces of each kind */

static void for_some_of_each(void (*check)(const struct trace *, const struct truth *))
{
    for (int k = 0; k < TRACES_KINDS; k++)
        for (uint64_t seed = 1; seed <= rng_rounds(FEW); seed++) {
            struct trace t;
            struct truth truth;
            make((enum trace_kind)k, 100000 + seed, &t, &truth);
            check(&t, &truth);
            trace_free(&t);
        }
}

/* From the first sample to the last, in order, without holes; limits on both sides of a value. */
static void check_order(const struct trace *t, const struct truth *truth)
{
    struct phases p;
    double first = INFINITY, last = -INFINITY;
    find(t, &p);
    for (size_t i = 0; i < t->n; i++) {
        first = fmin(first, t->time_us[i]);
        last = fmax(last, t->time_us[i]);
    }
    assert_true(p.n_phases > 0);
    for (size_t i = 0; i < p.n_phases; i++) {
        const struct phase *f = &p.phases[i];
        double end = f->start_us + f->duration_us.value;
        if (i + 1 < p.n_phases && !(fabs(end - p.phases[i + 1].start_us) < 1e-6))
            fail_msg("%s %llu: a phase ends at %.4f, the next begins at %.4f", trace_kind_name(truth->kind),
                     (unsigned long long)truth->seed, end, p.phases[i + 1].start_us);
        assert_true(f->duration_us.value >= 0);
        assert_true(isnan(f->duration_us.lo) || f->duration_us.lo >= 0);
        assert_true(isnan(f->duration_us.lo) ||
                    (f->duration_us.lo <= f->duration_us.value && f->duration_us.value <= f->duration_us.hi));
        assert_true(f->agreeing_runs <= p.runs_used);
        assert_true(f->level < (int)p.n_levels || !p.n_levels);
    }
    const struct phase *final = &p.phases[p.n_phases - 1];
    double slack = 3 * truth->period_us + 1;
    /* an interrupted repetition may reach farther than the others on either side */
    assert_true(p.phases[0].start_us >= first - slack);
    assert_true(final->start_us + final->duration_us.value <= last + slack);
    for (size_t i = 1; i < p.n_levels; i++)
        assert_true(p.levels_ghz[i] < p.levels_ghz[i - 1]);
    assert_true(p.runs_used + p.n_discarded <= p.runs);
    phases_free(&p);
}

TEST(phases_cover_the_recording)
{
    for_some_of_each(check_order);
}

static void check_repeatable(const struct trace *t, const struct truth *truth)
{
    struct phases p, q;
    (void)truth;
    find(t, &p);
    find(t, &q);
    char *a = phases_to_json(&p), *b = phases_to_json(&q);
    assert_non_null(a);
    assert_non_null(b);
    assert_string_equal(a, b);
    free(a);
    free(b);
    phases_free(&p);
    phases_free(&q);
}

TEST(the_same_trace_has_the_same_answer)
{
    for_some_of_each(check_repeatable);
}

/* Two answers that differ by a factor of the frequencies and a shift of the times. */
static void check_alike(const struct phases *a, const struct phases *b, const struct truth *truth, double shift,
                        double factor)
{
    bool same = a->n_phases == b->n_phases && a->n_levels == b->n_levels && a->n_transitions == b->n_transitions;
    for (size_t i = 0; same && i < a->n_phases; i++)
        same = a->phases[i].kind == b->phases[i].kind &&
               fabs(a->phases[i].start_us + shift - b->phases[i].start_us) < 0.05 * truth->period_us;
    for (size_t i = 0; same && i < a->n_levels; i++)
        same = fabs(a->levels_ghz[i] * factor / b->levels_ghz[i] - 1) < 1e-4;
    if (same)
        return;
    for (size_t i = 0; i < a->n_phases && i < b->n_phases; i++)
        print_message("%s at %.4f, %s at %.4f\n", phases_kind_name(a->phases[i].kind), a->phases[i].start_us,
                      phases_kind_name(b->phases[i].kind), b->phases[i].start_us - shift);
    fail_msg("%s %llu: %zu phases and %zu levels became %zu and %zu, or moved", trace_kind_name(truth->kind),
             (unsigned long long)truth->seed, a->n_phases, a->n_levels, b->n_phases, b->n_levels);
}

static void check_through_csv(const struct trace *t, const struct truth *truth)
{
    struct trace back;
    struct trace_error err;
    struct phases a, b;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(trace_write_csv(file, t), 0);
    rewind(file);
    assert_int_equal(trace_read_csv(file, &back, &err), 0);
    fclose(file);
    find(t, &a);
    find(&back, &b);
    check_alike(&a, &b, truth, 0, 1);
    phases_free(&a);
    phases_free(&b);
    trace_free(&back);
}

TEST(a_trace_through_a_file_has_the_same_answer)
{
    for_some_of_each(check_through_csv);
}

/* Another clock: where nothing says that time 0 is special, the origin of time and the unit of frequency are not. */
static void check_other_units(const struct trace *t, const struct truth *truth)
{
    struct phases a, b;
    struct trace other;
    if (trace_get(t, "from"))
        return;
    trace_init(&other);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (t->channel[c])
            assert_int_equal(trace_add_channel(&other, (enum trace_channel)c), 0);
    if (t->run)
        assert_int_equal(trace_add_run(&other), 0);
    for (size_t i = 0; i < t->n_meta; i++)
        assert_int_equal(trace_set(&other, t->meta[i].key, t->meta[i].value), 0);
    for (size_t i = 0; i < t->n; i++) {
        assert_int_equal(trace_append(&other, t->run ? t->run[i] : 0, t->time_us[i] + 4096), 0);
        for (int c = 0; c < TRACE_CHANNELS; c++)
            if (t->channel[c])
                other.channel[c][i] = t->channel[c][i] * (c == TRACE_FREQ ? 0.5f : 1);
    }
    find(t, &a);
    find(&other, &b);
    check_alike(&a, &b, truth, 4096, 0.5);
    phases_free(&a);
    phases_free(&b);
    trace_free(&other);
}

TEST(origin_of_time_and_unit_of_frequency_do_not_matter)
{
    for_some_of_each(check_other_units);
}

/*
 * Traces that were once misunderstood: repetitions kept apart by a halt shorter than two samples, or by a step at the
 * switch that only noise made large enough; noise at the switch that was taken for a frequency that wanders; a wild
 * sample right after a halt.
 */
TEST(what_was_once_misunderstood)
{
    static const struct {
        enum trace_kind kind;
        uint64_t seed;
    } once[] = {{TRACES_RELAX, 127}, {TRACES_MANY, 900}, {TRACES_TWO_STEPS, 257}, {TRACES_FULL, 128}};
    struct score s = {0};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        struct trace t;
        struct truth truth;
        make(once[i].kind, once[i].seed, &t, &truth);
        assert_int_equal(score_trace(&s, &t, &truth, stdout), 0);
        trace_free(&t);
    }
    score_free(&s);
}

/* Once a short throttle's noise was a level of its own, and what led to it slow. */
TEST(a_short_throttle_is_no_level)
{
    struct trace t;
    struct truth truth;
    struct phases p;
    make(TRACES_MANY, 316, &t, &truth);
    find(&t, &p);
    assert_int_equal(p.n_levels, truth.n_levels);
    assert_int_equal(p.n_phases, truth.n_phases);
    for (size_t i = 0; i < p.n_phases; i++)
        assert_int_equal(p.phases[i].kind, truth.phase[i].kind);
    phases_free(&p);
    trace_free(&t);
}

/* A sampler that resumes 0.05 to 0.6 us after a halt: cycles and instructions of the sample that spans it say how it
 * splits. Halts once lay late by half of that, with limits of 0.03 us. */
TEST(halts_before_a_late_sampler_are_where_they_are)
{
    skip_where_sanitized("how often limits hold takes more traces; the same code runs in the other tests");
    struct score s = {0};
    for (uint64_t seed = 1; seed <= rng_rounds(40); seed++) {
        struct trace t;
        struct truth truth;
        double late = 0.05 + 0.25 * (double)(seed % 5) / 4;
        assert_int_equal(random_trace_late(TRACES_FULL, 200000 + seed, late, &t, &truth), 0);
        assert_true(score_trace(&s, &t, &truth, stdout) >= 0);
        trace_free(&t);
    }
    print_message("%zu of %zu limits hold, start off by %.3f us in 95 of 100\n", s.durations_covered,
                  s.durations_limited, quantile(&s.start, 0.95));
    assert_true((double)s.durations_covered >= 0.9 * (double)s.durations_limited);
    assert_true(quantile(&s.start, 0.95) < 0.15);
    score_free(&s);
}

/* The 95 % limits of durations held in 89 to 91 % of these two kinds while the two edges of a halt were cleaned apart
 * from each other, and a halt reported on a grid was given the more frequent of its two whole numbers of periods. */
TEST(limits_of_halts_hold)
{
    static const enum trace_kind kinds[] = {TRACES_BACK_UP, TRACES_FULL};
    struct score s = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (uint64_t seed = 5001; seed < 5001 + rng_rounds(150); seed++) {
            struct trace t;
            struct truth truth;
            make(kinds[i], seed, &t, &truth);
            assert_true(score_trace(&s, &t, &truth, NULL) >= 0);
            trace_free(&t);
        }
    print_message("%zu of %zu limits hold\n", s.durations_covered, s.durations_limited);
    assert_true((double)s.durations_covered > 0.935 * (double)s.durations_limited);
    score_free(&s);
}

/* Two repetitions that throttle for different times: limits of Student's t with one degree of freedom reached below
 * 0. */
TEST(limits_are_not_below_zero)
{
    struct trace t;
    struct phases p;
    bool wide = false;
    trace_init(&t);
    assert_int_equal(trace_add_channel(&t, TRACE_FREQ), 0);
    assert_int_equal(trace_add_run(&t), 0);
    for (uint32_t run = 0; run < 2; run++)
        for (int i = 0; i < 400; i++) {
            assert_int_equal(trace_append(&t, run, i), 0);
            t.channel[TRACE_FREQ][t.n - 1] = i < 100 || i > (run ? 160 : 120) ? 3 : 2;
        }
    find(&t, &p);
    assert_int_equal(p.n_phases, 3);
    for (size_t i = 0; i < p.n_phases; i++) {
        wide |= p.phases[i].duration_us.lo == 0;
        assert_true(p.phases[i].duration_us.lo >= 0);
    }
    assert_true(wide);
    phases_free(&p);
    trace_free(&t);
}

BEFORE_TESTS
{
    static enum trace_kind kinds[TRACES_KINDS];
    for (int k = 0; k < TRACES_KINDS; k++) {
        kinds[k] = (enum trace_kind)k;
        test_add((struct CMUnitTest){trace_kind_name(kinds[k]), kind_is_understood, NULL, NULL, &kinds[k]}, __LINE__);
    }
}
