/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of the self-test for handmade readings, to the digit. */
#include "drivers/recording.h"
#include "output/self_test/self_test_parts.h"
#include "tests/support/test.h"

/* A TSC of 2 GHz, a core of 3 GHz, an add a cycle; a reading takes 200 ticks of a sample, its chain 120 of them. */
enum { ROUNDS = 2, RECORDINGS = 2, RUN_IN = 8, SAMPLES = 50, STRIDE = 4 };
enum { SHORT_TICKS = 2000, LONG_TICKS = 40000, LATE_TICKS = 4000 };

/* So many of its samples, every fifth, take 2 us more than their work. */
static void add_recording(struct self_test_stretch *s, unsigned late, size_t readings)
{
    struct self_test_recording *rec = self_test_append(s, readings, STRIDE);
    assert_non_null(rec);
    uint64_t length = s->kind == SELF_TEST_SHORT ? SHORT_TICKS : LONG_TICKS, word[STRIDE] = {1000000};
    for (size_t i = 0; i < readings; i++) {
        memcpy(rec->words + i * STRIDE, word, sizeof word);
        bool is_late = i >= RUN_IN && i % 5 == 0 && late > 0;
        late -= is_late;
        word[0] += length + (i % 2 ? 1 : -1) + (is_late ? LATE_TICKS : 0);
        word[1] += (length - 200) * 3 / 2;
        word[2] += 120;
        word[3] += 180 * CHAIN_CYCLE_UNIT;
    }
}

static struct self_test_readings *empty_readings(void)
{
    struct self_test_readings *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->tsc_hz = 2e9;
    return r;
}

static struct self_test_stretch *add_stretch(struct self_test_readings *r, enum self_test_kind kind)
{
    struct self_test_stretch *s = &r->stretch[r->n_stretches++];
    *s = (struct self_test_stretch){.kind = kind,
                                    .kernel = "chain",
                                    .block = 100,
                                    .period_us = kind == SELF_TEST_LONG ? 20 : 1,
                                    .n_counters = 2,
                                    .counters = {{COUNTER_CHAIN_TICKS, 0}, {COUNTER_CHAIN_CYCLES, 0}}};
    return s;
}

static void free_readings(struct self_test_readings *r)
{
    self_test_free(r);
    free(r);
}

static const struct self_test_line *line_of(const struct self_test_lines *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->line[i].name, name) == 0)
            return &l->line[i];
    fail_msg("no line %s", name);
    return NULL;
}

static void expect_line(const struct self_test_lines *l, const char *name, const char *text, double lo, double hi)
{
    const struct self_test_line *line = line_of(l, name);
    assert_string_equal(line->text, text);
    if (isnan(lo))
        assert_true(isnan(line->lo));
    else
        assert_close(line->lo, lo, 1e-9);
    assert_close(line->hi, hi, 1e-9);
    assert_int_equal(line->verdict, SELF_TEST_PASS);
}

TEST(figures_and_their_bounds)
{
    static const unsigned late[ROUNDS][2][RECORDINGS] = {{{2, 0}, {9, 9}}, {{1, 1}, {0, 0}}};
    struct self_test_readings *r = empty_readings();
    struct self_test_lines l;
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < 2; k++) {
            struct self_test_stretch *s = add_stretch(r, k ? SELF_TEST_LONG : SELF_TEST_SHORT);
            for (int i = 0; i < RECORDINGS; i++)
                add_recording(s, late[round][k][i], RUN_IN + SAMPLES + 1);
        }
    self_test_judge(r, &l);
    expect_line(&l, "TSC step", "1 tick of 2000.0 MHz = 0.50 ns", NAN, 50);
    const double short_us = 1 + 1 / (98 * 2e3); /* one sample in 98 is a tick of 2 GHz longer */
    expect_line(&l, "sample cost", "100 ns a sample, 10.0 % of 1.00 us", -250 * short_us, 500 * short_us);
    expect_line(&l, "sample jitter", "9 of 10 samples within 1 ns of 1.00 us", NAN, 400.2);
    expect_line(&l, "interrupts", "22 in 4.2 ms: 5184 a second", NAN, 30000);
    expect_line(&l, "lost time", "1.04 % of the time, 1.77 % in the median repetition", NAN, 0.5);
    const double off = 0.03 + 0.25 / 120; /* of a reading a quarter of a step */
    expect_line(&l, "chain",
                "1.0000 cycles per add of a long chain (median of 2 rounds); 3.000 GHz, 120 ticks per reading", 1 - off,
                1 + off);
    json_t *json = self_test_lines_json(r, &l, NULL);
    assert_int_equal(json_array_size(json_object_get(json, "lines")), l.n);
    assert_int_equal(json_array_size(json_object_get(json, "second_opinions")), 0);
    json_decref(json);
    free_readings(r);
}

/* A round of 100 readings of the chain, between the run-in and the last of each recording. */
TEST(a_hundred_readings_tell_the_chain)
{
    for (size_t fewer = 0; fewer < 2; fewer++) {
        struct self_test_readings *r = empty_readings();
        struct self_test_lines l;
        add_recording(add_stretch(r, SELF_TEST_SHORT), 0, RUN_IN + SAMPLES + 1);
        add_recording(add_stretch(r, SELF_TEST_LONG), 0, RUN_IN + SAMPLES + 1 - fewer);
        self_test_judge(r, &l);
        assert_int_equal(line_of(&l, "chain")->verdict, fewer ? SELF_TEST_CANNOT : SELF_TEST_PASS);
        assert_int_equal(line_of(&l, "TSC step")->verdict, SELF_TEST_PASS);
        assert_int_equal(line_of(&l, "sample cost")->verdict, SELF_TEST_CANNOT);
        free_readings(r);
    }
}

/* 8 to 20000, one of them at time 0. */
TEST(readings_that_a_recording_may_have)
{
    static const size_t n[] = {7, 8, 20000, 20001};
    for (size_t i = 0; i < 4; i++) {
        struct self_test_readings *r = empty_readings(), *again = empty_readings();
        char why[300];
        add_recording(add_stretch(r, SELF_TEST_SHORT), 0, n[i]);
        json_t *json = self_test_readings_json(r);
        assert_non_null(json);
        bool taken = i == 1 || i == 2;
        assert_int_equal(self_test_readings_read(json, again, why, sizeof why), taken ? 0 : -1);
        json_t *first = json_array_get(
            json_object_get(json_array_get(json_object_get(json, "stretches"), 0), "recordings"), 0);
        for (size_t past = 0; taken && past < 2; past++) {
            struct self_test_readings *other = empty_readings();
            assert_int_equal(json_object_set_new(first, "zero", json_integer((json_int_t)(n[i] - 1 + past))), 0);
            assert_int_equal(self_test_readings_read(json, other, why, sizeof why), past ? -1 : 0);
            assert_int_equal(past ? 0 : other->stretch[0].recordings[0].zero, past ? 0 : n[i] - 1);
            free_readings(other);
        }
        if (taken)
            assert_memory_equal(again->stretch[0].recordings[0].words, r->stretch[0].recordings[0].words,
                                n[i] * STRIDE * sizeof(uint64_t));
        else
            assert_non_null(strstr(why, "not 4 columns of 8 to 20000"));
        json_decref(json);
        free_readings(r);
        free_readings(again);
    }
}

/* 5 samples in a row below nine tenths of the usual work are slowed; 4, or at nine tenths, or across two recordings,
 * are not. A sample of no time is none. */
TEST(time_in_which_the_work_was_slowed)
{
    enum { READINGS = RUN_IN + 41, FAST = 3000, SLOW = 2699 };
    static const struct {
        size_t first, last, work; /* samples of it, from 0 */
    } stretches[][2] = {{{0, 4, SLOW}, {36, 39, SLOW}}, {{0, 3, SLOW}, {20, 26, 2700}}, {{10, 19, 1000}, {30, 33, 5}}};
    struct self_test_readings *r = empty_readings();
    assert_true(self_test_slowed_most(r) == 0);
    for (int kind = 0; kind < 2; kind++) {
        struct self_test_stretch *s = add_stretch(r, kind ? SELF_TEST_LONG : SELF_TEST_SHORT);
        for (size_t k = 0; k < (kind ? 1 : 3); k++) {
            struct self_test_recording *rec = self_test_append(s, READINGS, STRIDE);
            uint64_t word[STRIDE] = {1000000};
            assert_non_null(rec);
            for (size_t i = 0; i < READINGS; i++) {
                size_t work = FAST, at = i - RUN_IN;
                memcpy(rec->words + i * STRIDE, word, sizeof word);
                for (size_t part = 0; part < 2; part++)
                    if (i >= RUN_IN && at >= stretches[k][part].first && at <= stretches[k][part].last)
                        work = stretches[k][part].work;
                word[0] += i >= RUN_IN && at == 28 ? 0 : 2000;
                word[1] += work;
                word[2] += 7 + at;
            }
        }
    }
    /* of 39 samples in which time passed, in each of three recordings */
    assert_close(self_test_slowed_share(r, SELF_TEST_SHORT), (5 + 10) / (3 * 39.0), 1e-12);
    assert_close(self_test_slowed_share(r, SELF_TEST_LONG), 5 / 39.0, 1e-12);
    assert_close(self_test_slowed_most(r), (5 + 10) / (3 * 39.0), 1e-12);
    size_t n;
    struct self_test_sample *s = self_test_samples(r, SELF_TEST_SHORT, COUNTER_CHAIN_TICKS, &n);
    assert_int_equal(n, 3 * 39);
    for (size_t i = 0; i < n; i++) {
        size_t in = i % 39, at = in < 28 ? in : in + 1;
        assert_int_equal(s[i].recording, i / 39);
        assert_int_equal(s[i].stretch, 0);
        assert_true(s[i].ticks == 2000 && s[i].counter == 7 + (double)at);
        assert_int_equal(s[i].slowed, (i < 39 && at < 5) || (i >= 78 && at >= 10 && at < 20));
    }
    assert_true(self_test_usual_rate(s, n) == FAST / 2000.0);
    free(s);
    s = self_test_samples(r, SELF_TEST_LONG, COUNTER_IDS, &n);
    assert_int_equal(n, 39);
    assert_int_equal(s[0].stretch, 1);
    assert_true(s[0].recording == 0 && isnan(s[0].counter));
    free(s);
    free_readings(r);
}
