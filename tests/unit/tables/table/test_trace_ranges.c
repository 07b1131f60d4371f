/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges of the columns of traces: in files, and in the probes' recordings. */
#include "analysis/phases/phases.h"
#include "tests/support/test.h"
#include "trace/trace.h"
#include "probes/transition.h"
#include "tests/support/broken_machine.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"

static int read_text(const char *text, size_t size, struct trace *t, struct trace_error *err)
{
    FILE *in = fmemopen((void *)(uintptr_t)text, size, "r");
    assert_non_null(in);
    int bad = trace_read_csv(in, t, err);
    fclose(in);
    return bad;
}

/* ---- each end of each column ---- */

struct end {
    const char *column, *inside, *outside;
};
static const struct end ends[] = {
    {"freq_ghz", "1e-9", "0"},
    {"freq_ghz", "0.0001", "0.0000"},
    {"freq_ghz", "0.4", "-1.9"},
    {"freq_ghz", "100", "100.001"},
    {"freq_ghz", "9.1", "2800086"},
    {"freq_ghz", "1e-20", "1e30"},
    {"freq_ghz", "5.7", "5700"},
    {"ipc", "0", "-0.0001"},
    {"ipc", "0.5", "-1"},
    {"freq_ghz", "1e-30", "1e-300"}, /* which is 0 in single precision */
    {"ipc", "64", "64.001"},
    {"ipc", "8", "1e308"},
    {"volts", "0.1", "0.0999"},
    {"volts", "1.25", "0"},
    {"volts", "3", "3.0001"},
    {"volts", "0.8", "-0.8"},
    {"volts", "0.952", "952"},
    {"lvl0", "-0.5", "-0.501"},
    {"lvl0", "1.5", "1.501"},
    {"lvl1", "1", "7"},
    {"lvl1", "0", "-3"},
    {"lvl2", "1.03", "5"},
    {"lvl2", "-0.02", "-1"},
    {"throttle", "1.2", "100"},
    {"throttle", "0", "-1e400"},
    {"time_us", "-1e12", "-1.001e12"},
    {"time_us", "1e12", "1e18"},
    {"time_us", "0", "1e400"},
    {"run", "0", "-1"},
    {"run", "4294967295", "4294967296"},
    {"run", "7", "1.5"},
};

/* The third of five samples holds the value, in column 2 or, of the run and the time, where these are. */
static void write_five(const char *column, const char *value, char *text, size_t size)
{
    bool run = strcmp(column, "run") == 0, time = strcmp(column, "time_us") == 0;
    size_t used = (size_t)snprintf(text, size, "# cpu: x\nrun,time_us,%s\n", run || time ? "ipc" : column);
    for (int i = 0; i < 5; i++) {
        char number[40];
        snprintf(number, sizeof number, "%d", i);
        bool here = i == 2;
        /* repetitions of their own, so that no time goes back */
        used += (size_t)snprintf(text + used, size - used, "%s,%s,%s\n", here && run ? value : number,
                                 here && time ? value : number, here && !run && !time ? value : "1");
    }
}

TEST(each_end_of_each_column)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct end *e = &ends[i];
        char text[300], wanted[100];
        struct trace t;
        struct trace_error err;
        write_five(e->column, e->inside, text, sizeof text);
        if (read_text(text, strlen(text), &t, &err))
            fail_msg("%s %s was refused: %s", e->column, e->inside, err.text);
        assert_int_equal(t.n, 5);
        assert_null(trace_get(&t, trace_discarded_key));
        trace_free(&t);
        write_five(e->column, e->outside, text, sizeof text);
        if (!read_text(text, strlen(text), &t, &err))
            fail_msg("%s %s was taken", e->column, e->outside);
        /* where, which column, what it holds, what it may hold */
        size_t column = strcmp(e->column, "run") == 0 ? 1 : strcmp(e->column, "time_us") == 0 ? 2 : 3;
        snprintf(wanted, sizeof wanted, "%s '%s' is outside its range, ", e->column, e->outside);
        if (err.line != 5 || err.column != column || strncmp(err.text, wanted, strlen(wanted)) != 0)
            fail_msg("%zu:%zu: %s, instead of 5:%zu: %s", err.line, err.column, err.text, column, wanted);
        assert_null(strchr(err.text, '\n'));
    }
}

/* Numbers drawn on both sides of each end, near it and far from it. */
TEST(ends_at_random)
{
    struct rng r;
    rng_init(&r, 1, 0);
    for (unsigned k = 0; k < 7000; k++) {
        enum trace_channel c = (enum trace_channel)(k % TRACE_CHANNELS);
        const struct trace_range *range = trace_channel_range(c);
        bool upper = rng_chance(&r, 0.5), outside = rng_chance(&r, 0.5);
        double far = rng_log(&r, 1e-5, 1e15);
        if (!outside)
            far = fmin(far, 0.999 * (range->hi - range->lo));
        double value = upper ? range->hi : range->lo;
        value += upper == outside ? far : -far;
        char number[60], text[300];
        struct trace t;
        struct trace_error err;
        snprintf(number, sizeof number, "%.17g", value);
        write_five(trace_channel_name(c), number, text, sizeof text);
        bool refused = read_text(text, strlen(text), &t, &err) != 0;
        if (refused != outside)
            fail_msg("%s %s: %s", trace_channel_name(c), number, refused ? err.text : "taken");
        if (!refused)
            trace_free(&t);
    }
}

TEST(a_core_is_at_one_level_at_a_time)
{
    static const struct {
        const char *levels;
        bool good;
    } cases[] = {
        {"1,0,0", true},        {"0.5,0.5,0", true}, {"0,0,0", true},        {"1.02,0.01,0", true},
        {"0.5,0.5,0.5", true},  {"1,1,", true},      {",1,1", true},         {"1,1,0", false},
        {"0.6,0.5,0.5", false}, {"1,1,1", false},    {"-0.4,-0.3,0", false}, {"-0.4,1.4,0", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        struct trace t;
        struct trace_error err;
        int size = snprintf(text, sizeof text, "time_us,lvl0,lvl1,lvl2\n1,1,0,0\n2,%s\n3,1,0,0\n", cases[i].levels);
        bool read = read_text(text, (size_t)size, &t, &err) == 0;
        if (read != cases[i].good)
            fail_msg("%s: %s", cases[i].levels, read ? "taken" : err.text);
        if (read)
            trace_free(&t);
        else
            assert_true(err.line == 3 && strncmp(err.text, "lvl0 + lvl1 + lvl2 '", 20) == 0);
    }
}

/* ---- glitches in long recordings ---- */

/* `n` samples, of which every `step`-th from the first on, `bad` in all, holds what `column` may not. */
static char *long_text(size_t n, size_t bad, size_t step, const char *column, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    fputs("run,time_us,freq_ghz,ipc\n", out);
    for (size_t i = 0; i < n; i++) {
        bool here = i % step == 0 && i / step < bad;
        fprintf(out, "%s,%s%zu,%s,%s\n", here && !strcmp(column, "run") ? "-1" : "0",
                here && !strcmp(column, "time_us") ? "1e13" : "", i, here && !strcmp(column, "freq_ghz") ? "-1.9" : "3",
                here && !strcmp(column, "ipc") ? "700" : "2");
    }
    fclose(out);
    return text;
}

TEST(fewer_than_one_in_a_thousand_are_discarded)
{
    static const struct {
        size_t n, bad;
        bool taken;
    } cases[] = {{5, 1, false},   {999, 1, false},    {1000, 1, false},  {1001, 1, true},   {2000, 2, false},
                 {2001, 2, true}, {20000, 20, false}, {20001, 20, true}, {20000, 19, true}, {3000, 3000, false}};
    static const char *const columns[] = {"freq_ghz", "ipc", "time_us", "run"};
    for (size_t i = 0; i < 4 * (sizeof cases / sizeof *cases); i++) {
        size_t n = cases[i / 4].n, bad = cases[i / 4].bad, size;
        char *text = long_text(n, bad, n / bad > 7 ? 7 : 1, columns[i % 4], &size), wanted[60];
        struct trace t;
        struct trace_error err;
        bool taken = read_text(text, size, &t, &err) == 0;
        free(text);
        if (taken != cases[i / 4].taken)
            fail_msg("%zu of %zu, %s: %s", bad, n, columns[i % 4], taken ? "taken" : err.text);
        if (!taken) {
            snprintf(wanted, sizeof wanted, "; %zu of %zu samples have such values", bad, n);
            assert_true(err.line == 2 && strstr(err.text, wanted));
            continue;
        }
        snprintf(wanted, sizeof wanted, "%zu of %zu", bad, n);
        assert_string_equal(trace_get(&t, trace_discarded_key), wanted);
        /* samples that cannot be placed are left out; of the others the time stays, but no value */
        assert_int_equal(t.n, i % 4 < 2 ? n : n - bad);
        for (size_t k = 0; k < t.n; k++) {
            bool here = i % 4 < 2 && k % 7 == 0 && k / 7 < bad;
            assert_true(isnan(t.channel[TRACE_FREQ][k]) == here && isnan(t.channel[TRACE_IPC][k]) == here);
            assert_true(i % 4 >= 2 || t.time_us[k] == (double)k);
        }
        trace_free(&t);
    }
}

/* They are reported with the answer, and by the file that is written. */
TEST(discarded_samples_are_counted)
{
    size_t size;
    char *text = long_text(9000, 3, 1000, "freq_ghz", &size), *again = NULL;
    struct trace t, back;
    struct trace_error err;
    struct phases p;
    char why[300];
    assert_int_equal(read_text(text, size, &t, &err), 0);
    free(text);
    assert_int_equal(phases_find(&t, &p, why, sizeof why), 0);
    assert_true(p.samples == 9000 && p.samples_discarded == 3);
    phases_free(&p);
    FILE *out = open_memstream(&again, &size);
    assert_int_equal(trace_write_csv(out, &t), 0);
    fclose(out);
    assert_int_equal(read_text(again, size, &back, &err), 0);
    assert_string_equal(trace_get(&back, trace_discarded_key), "3 of 9000");
    trace_free(&back);
    free(again);
    /* more of them are added up */
    text = long_text(9000, 6, 1000, "ipc", &size);
    size_t length = size + 40;
    char *more = malloc(length);
    assert_non_null(more);
    int head = snprintf(more, length, "# samples_discarded: %d of 9000\n", 2);
    memcpy(more + head, text, size);
    assert_int_equal(read_text(more, size + (size_t)head, &back, &err), 0);
    assert_string_equal(trace_get(&back, trace_discarded_key), "8 of 9000");
    trace_free(&back);
    more[strlen("# samples_discarded: ")] = '3'; /* 9 of 9000 are one in a thousand */
    assert_int_equal(read_text(more, size + (size_t)head, &back, &err), -1);
    free(more);
    static const char boast[] = "# samples_discarded: 1 of 999999999\ntime_us,ipc\n1,1\n2,-1\n3,-1\n4,1\n";
    assert_int_equal(read_text(boast, strlen(boast), &back, &err), -1);
    assert_non_null(strstr(err.text, "2 of 4 samples have such values"));
    free(text);
    trace_free(&t);
}

TEST(counts_that_cannot_be)
{
    static const char *const wrong[] = {"",           "3",
                                        "0 of 9000",  "3 of 3000",
                                        "-3 of 9000", "3 of -9000",
                                        "3 of",       "3 of 9e3",
                                        "3 of 9000x", "3  of 9000",
                                        "9 of 9000",  "3.0 of 9000",
                                        "3 of  9",    "99999999999999999 of 999999999999999999999",
                                        "+3 of 9000"};
    uint64_t n, of;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (trace_samples_discarded(wrong[i], &n, &of))
            fail_msg("'%s' was taken", wrong[i]);
    assert_false(trace_samples_discarded(NULL, &n, &of));
    assert_true(trace_samples_discarded("3 of 3001", &n, &of) && n == 3 && of == 3001);
}

/* ---- what contradicts itself ---- */

static void refused(const char *text, size_t line, const char *says)
{
    struct trace t;
    struct trace_error err;
    if (!read_text(text, strlen(text), &t, &err))
        fail_msg("taken: %s", text);
    if (err.line != line || !strstr(err.text, says))
        fail_msg("%zu: %s, instead of %zu: %s", err.line, err.text, line, says);
}

static void taken(const char *text)
{
    struct trace t;
    struct trace_error err;
    if (read_text(text, strlen(text), &t, &err))
        fail_msg("%zu: %s: %s", err.line, err.text, text);
    trace_free(&t);
}

TEST(discarded_repetitions_are_not_there)
{
#define SAMPLES "run,time_us,ipc\n3,1,1\n9,1,1\n3,2,1\n9,2,1\n"
    refused("# cpu: x\n# discarded: slow = 3\n" SAMPLES, 2, "discarded: run 3 is not discarded");
    refused("# discarded: slow = 1,2,9; other = 4\n" SAMPLES, 1, "run 9 is not discarded: the file has samples");
    refused("# discarded: a = 4,5; b = 5\n" SAMPLES, 1, "run 5 is listed twice");
    refused("# discarded: a = 4,4\n" SAMPLES, 1, "run 4 is listed twice");
    refused(SAMPLES "# discarded: a = 9\n", 6, "run 9 is not discarded");
    refused("# discarded: a = 0\ntime_us,ipc\n1,1\n2,1\n", 1, "run 0 is not discarded");
    taken("# discarded: a = 4,5; b = 0; c = 4294967295\n" SAMPLES);
    taken("# discarded: a = 1\ntime_us,ipc\n1,1\n2,1\n");
    taken("# discarded: \n" SAMPLES);
}

TEST(times_that_stand_still)
{
    refused("time_us,ipc\n1,1\n1,1\n1,1\n1,1\n2,1\n", 0, "time_us does not advance in 3 of 4 samples");
    refused("run,time_us,ipc\n0,0,1\n0,0,1\n1,0,1\n1,0,1\n", 0, "in 2 of 2 samples");
    taken("time_us,ipc\n1,1\n1,1\n2,1\n");             /* half of them */
    taken("run,time_us,volts\n0,5,1\n1,5,1\n2,5,1\n"); /* one reading a repetition */
}

/* ---- nonsense in one cell of a good file ---- */

static char *good_file(size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    fputs("run,time_us,freq_ghz,ipc,volts,lvl0,lvl1,lvl2,throttle\n", out);
    for (int i = 0; i < 400; i++)
        fprintf(out, "%d,%.4f,%.6f,%.4f,%s,%.4f,%.4f,0,0\n", i / 100, i % 100 - 50 + 0.25 * (i / 100),
                i % 100 < 50 ? 2.8 : 2.4, 2.0, i % 10 ? "" : "0.91", i % 100 < 50 ? 1.0 : 0.0,
                i % 100 < 50 ? 0.0 : 1.0);
    fclose(out);
    return text;
}

/* Text for a cell; *number: what it says, NaN: none. */
static void nonsense(struct rng *r, char *out, size_t size, double *number)
{
    static const char *const words[] = {"inf",
                                        "-inf",
                                        "infinity",
                                        "NaN",
                                        "-nan",
                                        "nan(0x7)",
                                        "0x1p3",
                                        "0x10",
                                        "1e400",
                                        "-1e400",
                                        "1e-400",
                                        "--1",
                                        "1e",
                                        "e1",
                                        ".",
                                        "-",
                                        "+",
                                        "2,8",
                                        "2.8 GHz",
                                        "two",
                                        "\"",
                                        "\"\"",
                                        "''",
                                        "1;2",
                                        "1_000",
                                        "\t",
                                        "99999999999999999999",
                                        "-0",
                                        "00",
                                        "1e18",
                                        "-3",
                                        "7",
                                        "4294967296",
                                        "18446744073709551615",
                                        "\xff",
                                        "0.1.2"};
    *number = NAN;
    if (rng_chance(r, 0.4)) {
        snprintf(out, size, "%s", words[rng_int(r, 0, (int)(sizeof words / sizeof *words) - 1)]);
        return;
    }
    *number = (rng_chance(r, 0.5) ? -1 : 1) * rng_log(r, 1e-6, 1e22);
    snprintf(out, size, rng_chance(r, 0.5) ? "%.9g" : "%.6f", *number);
}

/* Nothing in the answer is what no core can be. */
static void answer_within(const struct trace *t)
{
    struct phases p;
    char why[300];
    assert_int_equal(phases_find(t, &p, why, sizeof why), 0);
    for (size_t i = 0; i < p.n_levels; i++)
        assert_true(p.levels_ghz[i] > 0 && p.levels_ghz[i] <= 100);
    for (size_t i = 0; i < p.n_phases; i++) {
        const struct phase *h = &p.phases[i];
        assert_true(trace_within(trace_channel_range(TRACE_FREQ), h->freq_ghz.value));
        assert_true(trace_within(trace_channel_range(TRACE_IPC), h->ipc));
        assert_true(trace_within(trace_channel_range(TRACE_VOLTS), h->volts));
        for (int k = 0; k < 4; k++)
            assert_true(trace_within(&trace_levels_range, h->share[k]));
        assert_true(h->duration_us.value >= 0);
    }
    phases_free(&p);
}

/* Whatever stands there, the file is refused, with a place and one line, or all that was read lies within. */
TEST(nonsense_in_one_cell)
{
    size_t size, refusals = 0, answers = 0;
    char *good = good_file(&size), *text = malloc(size + 100);
    for (unsigned k = 0; k < 5000; k++) {
        struct rng r;
        struct trace t;
        struct trace_error err;
        char cell[60];
        double number;
        rng_init(&r, k, 6);
        nonsense(&r, cell, sizeof cell, &number);
        int line = rng_int(&r, 1, 400), column = rng_int(&r, 0, 8);
        const char *at = good;
        for (int i = 0; i < line; i++)
            at = strchr(at, '\n') + 1;
        for (int i = 0; i < column; i++)
            at = strchr(at, ',') + 1;
        size_t before = (size_t)(at - good), rest = strcspn(at, ",\n");
        int length = snprintf(text, size + 100, "%.*s%s%s", (int)before, good, cell, at + rest);
        if (read_text(text, (size_t)length, &t, &err)) {
            refusals++;
            assert_true(*err.text && !strchr(err.text, '\n'));
            continue;
        }
        answers++;
        assert_null(trace_get(&t, trace_discarded_key)); /* 1 of 400 is too many */
        for (size_t i = 0; i < t.n; i++) {
            char why[120];
            if (!trace_sample_within(&t, i, why, sizeof why) || !trace_within(&trace_time_range, t.time_us[i]))
                fail_msg("%s in column %d: %s", cell, column, why);
        }
        if (k % 5 == 0)
            answer_within(&t);
        trace_free(&t);
    }
    print_message("%zu of 5000 refused, %zu read\n", refusals, answers);
    assert_true(refusals > 2500 && answers > 300);
    free(good);
    free(text);
}

/* ---- what the probes record ---- */

/* A sample that no core can have spoils its repetition, and says so. */
TEST(counters_that_cannot_be_believed)
{
    static const struct {
        enum fault fault;
        enum counter_id counter;
        double factor;
        const char *says;
    } cases[] = {
        {FAULT_STUCK, COUNTER_CYCLES, 0, "freq_ghz '0' is outside its range, above 0"},
        {FAULT_SCALED, COUNTER_CYCLES, 1000, "is outside its range, above 0, up to 100 GHz"},
        {FAULT_SCALED, COUNTER_LVL0, 7, "lvl0 '"},
        {FAULT_ALL_CYCLES, COUNTER_LVL2, 0, "lvl0 + lvl1 + lvl2 '"},
        {FAULT_SCALED, COUNTER_THROTTLE, 40, "throttle '"},
        {FAULT_NONE, COUNTER_CYCLES, 0, ""},
        {FAULT_SCALED, COUNTER_CYCLES, 1.01, ""}, /* wrong, but possible: --self-test is for that */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct broken b = {.fault = cases[i].fault, .counter = cases[i].counter, .factor = cases[i].factor};
        struct payload from = rig_payload("128fma"), to = rig_payload("512fma");
        struct transition_setup s;
        struct repetitions result;
        struct machine machine;
        struct machine_error err;
        assert_int_equal(machine_open_model("xeon-gold-6130", "data", &b.inner, &err), MACHINE_OK);
        broken_open(&b, &machine);
        transition_defaults(&s, &from, &to);
        s.runs = 10;
        s.machine.cpu = -1;
        s.no_volts = true;
        assert_int_equal(transition_run(&machine, &s, NULL, NULL, &result, &err), MACHINE_OK);
        if (cases[i].says[0]) {
            assert_int_equal(result.n_invalid, 10);
            assert_int_equal(result.trace.n, 0);
            if (strncmp(result.invalid[0].why, "at ", 3) != 0 || !strstr(result.invalid[0].why, cases[i].says))
                fail_msg("'%s' instead of '%s'", result.invalid[0].why, cases[i].says);
        } else {
            assert_int_equal(result.n_invalid, 0);
            assert_true(result.trace.n > 1000);
        }
        repetitions_free(&result);
        machine.ops->close(&machine);
    }
}
