/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace/trace_csv.c: what is read is what was written, and what cannot be read is named by line and column. */
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "tests/support/trace_text.h"

static float value(const struct trace *t, enum trace_channel c, size_t i)
{
    assert_non_null(t->channel[c]);
    return t->channel[c][i];
}

TEST(all_columns)
{
    struct trace t;
    trace_text_good("# cpu: Some CPU: the second\n#period_us : 1.5 \n# a comment\n"
                    "run,time_us,freq_ghz,ipc,volts,lvl0,lvl1,lvl2,throttle\n"
                    "3,-1.25,2.8,1.5,0.95,0.75,0.5,0.25,0.125\n7,0,2.9,,,,,,\n",
                    &t);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.run[0], 3);
    assert_int_equal(t.run[1], 7);
    assert_true(t.time_us[0] == -1.25 && t.time_us[1] == 0);
    static const float first[TRACE_CHANNELS] = {2.8f, 1.5f, 0.95f, 0.75f, 0.5f, 0.25f, 0.125f};
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        assert_true(value(&t, (enum trace_channel)c, 0) == first[c]);
        assert_true(c == TRACE_FREQ ? value(&t, TRACE_FREQ, 1) == 2.9f : isnan(value(&t, (enum trace_channel)c, 1)));
    }
    assert_string_equal(trace_get(&t, "cpu"), "Some CPU: the second");
    assert_string_equal(trace_get(&t, "period_us"), "1.5");
    assert_null(trace_get(&t, "a comment"));
    assert_int_equal(t.n_meta, 2);
    assert_int_equal(t.n_extra, 0);
    trace_free(&t);
}

TEST(columns_in_any_order)
{
    struct trace t;
    trace_text_good("ipc,time_us,freq_ghz\n1,2,3\n4,5,6\n", &t);
    assert_null(t.run);
    assert_null(t.channel[TRACE_VOLTS]);
    assert_true(value(&t, TRACE_IPC, 0) == 1 && t.time_us[0] == 2 && value(&t, TRACE_FREQ, 0) == 3);
    assert_true(value(&t, TRACE_IPC, 1) == 4 && t.time_us[1] == 5 && value(&t, TRACE_FREQ, 1) == 6);
    trace_free(&t);
}

/* A byte order mark, CRLF, blanks around fields, quotes, empty lines, comments in between. */
TEST(forms_of_other_tools)
{
    struct trace t;
    trace_text_good(
        "\xef\xbb\xbf# machine: other\r\n\r\n  \"time_us\" ,\tfreq_ghz , volts\r\n 1 , \"2.5\"\t,nan\r\n   \r\n"
        "# later: yes\r\n+2,2.5e0,\r\n3,.5,1.\r\n",
        &t);
    assert_int_equal(t.n, 3);
    assert_true(t.time_us[0] == 1 && t.time_us[1] == 2 && t.time_us[2] == 3);
    assert_true(value(&t, TRACE_FREQ, 0) == 2.5f && value(&t, TRACE_FREQ, 1) == 2.5f);
    assert_true(value(&t, TRACE_FREQ, 2) == 0.5f);
    assert_true(isnan(value(&t, TRACE_VOLTS, 0)) && isnan(value(&t, TRACE_VOLTS, 1)) && value(&t, TRACE_VOLTS, 2) == 1);
    assert_string_equal(trace_get(&t, "machine"), "other");
    assert_string_equal(trace_get(&t, "later"), "yes");
    trace_free(&t);
}

TEST(unknown_columns_are_kept)
{
    struct trace t, again;
    trace_text_good("time_us,note,freq_ghz,\"a \"\"b\"\", c\"\n1,\"x, \"\"y\"\"\",2,\n2,,3,caf\xc3\xa9\n", &t);
    char *text = trace_text_of(&t);
    trace_text_good(text, &again);
    const struct trace *both[] = {&t, &again};
    for (int k = 0; k < 2; k++) {
        const struct trace *q = both[k];
        assert_int_equal(q->n_extra, 2);
        assert_string_equal(q->extra[0].name, "note");
        assert_string_equal(q->extra[1].name, "a \"b\", c");
        assert_string_equal(q->text + q->extra[0].offset[0], "x, \"y\"");
        assert_string_equal(q->text + q->extra[0].offset[1], "");
        assert_string_equal(q->text + q->extra[1].offset[0], "");
        assert_string_equal(q->text + q->extra[1].offset[1], "caf\xc3\xa9");
        assert_true(value(q, TRACE_FREQ, 1) == 3);
    }
    free(text);
    trace_free(&t);
    trace_free(&again);
}

TEST(interleaved_runs_are_put_together)
{
    struct trace t;
    trace_text_good("run,time_us,ipc,tag\n2,1,21,a\n1,1,11,b\n2,2,22,c\n1,2,12,d\n1,2,13,e\n0,-5,1,f\n", &t);
    static const uint32_t run[] = {0, 1, 1, 1, 2, 2};
    static const float ipc[] = {1, 11, 12, 13, 21, 22};
    static const char *const tag[] = {"f", "b", "d", "e", "a", "c"};
    assert_int_equal(t.n, 6);
    for (size_t i = 0; i < t.n; i++) {
        assert_int_equal(t.run[i], run[i]);
        assert_true(value(&t, TRACE_IPC, i) == ipc[i]);
        assert_string_equal(t.text + t.extra[0].offset[i], tag[i]);
    }
    trace_free(&t);
}

/* ---- what cannot be read ---- */

struct broken {
    const char *text;
    size_t line, column; /* 0: not about one */
    const char *says;
};

static const struct broken broken[] = {
    {"", 0, 0, "no header line"},
    {"# cpu: x\n\n", 0, 0, "no header line"},
    {"time_us,freq_ghz\n", 0, 0, "no samples"},
    {"1,2,3\n4,5,6\n", 1, 1, "'1' in place of a column name"},
    {"time_us,2.5\n", 1, 2, "'2.5' in place of a column name"},
    {"time_us,,ipc\n1,2,3\n", 1, 2, "without a name"},
    {"freq_ghz,ipc\n1,2\n", 1, 0, "no column time_us"},
    {"time_us,run,temperature\n1,2,3\n", 1, 0, "no measured column"},
    {"time_us,ipc,ipc\n1,2,3\n", 1, 3, "'ipc' appears twice"},
    {"time_us,ipc,x,y,x\n", 1, 5, "'x' appears twice"},
    {"# a: b\ntime_us,\"ipc\n1,2\n", 2, 2, "unterminated quote"},
    {"time_us,ipc\n1,\"2\n", 2, 2, "unterminated quote"},
    {"time_us,ipc\n1,\"2\"3\n", 2, 2, "unterminated quote"},
    {"time_us,ipc\n1,fast\n", 2, 2, "'fast' is not a number"},
    {"time_us,ipc\n1,2\n2,1.2.3\n", 3, 2, "'1.2.3' is not a number"},
    {"time_us,ipc\n1,2\n\n# c\n2,1 3\n", 5, 2, "'1 3' is not a number"},
    {"time_us,ipc\n1,inf\n", 2, 2, "'inf' is not a number"},
    {"time_us,ipc\n1,0x10\n", 2, 2, "'0x10' is not a number"},
    {"time_us,ipc\n1,-\n", 2, 2, "'-' is not a number"},
    {"time_us,ipc\n1,.\n", 2, 2, "'.' is not a number"},
    {"time_us,ipc\n1,1e\n", 2, 2, "'1e' is not a number"},
    {"time_us,ipc\n1,1e999\n", 2, 2, "ipc '1e999' is outside its range, 0 to 64"},
    {"time_us,ipc\n1,-2e30\n", 2, 2, "ipc '-2e30' is outside its range"},
    {"time_us,ipc\n,2\n", 2, 1, "time_us is empty"},
    {"time_us,ipc\nnan,2\n", 2, 1, "'nan' is not a number"},
    {"time_us,ipc\n1.1e12,2\n", 2, 1, "time_us '1.1e12' is outside its range, -1e12 to 1e12 us"},
    {"run,time_us,ipc\n,1,2\n", 2, 1, "run is empty"},
    {"run,time_us,ipc\n-1,1,2\n", 2, 1, "run '-1' is outside its range, whole numbers from 0"},
    {"run,time_us,ipc\n0.5,1,2\n", 2, 1, "run '0.5' is outside its range, whole numbers from 0"},
    {"run,time_us,ipc\n4294967296,1,2\n", 2, 1, "run '4294967296' is outside its range, whole numbers from 0"},
    {"time_us,ipc\n1,2,3\n", 2, 3, "more fields than the 2 columns"},
    {"time_us,ipc\n1,2\n2\n3,4\n", 3, 1, "ends after 1 of 2 fields"},
    {"time_us,ipc,volts\n1,2,3\n2,3", 3, 2, "the file is truncated"},
    {"time_us,ipc\n2,2\n1,3\n", 3, 0, "time_us goes backwards from 2 to 1"},
    {"run,time_us,ipc\n0,2,2\n0,1,3\n", 3, 0, "time_us goes backwards from 2 to 1"},
    {"run,time_us,ipc\n0,2,2\n1,1,3\n0,1,4\n", 0, 0, "time_us goes backwards from 2 to 1 in run 0"},
    {"time_us,ipc\n1,\x1b[31mred\n", 2, 2, "'?[31mred' is not a number"},
    {"time_us,ipc\n1,0123456789012345678901234567890123456789012345x\n", 2, 2, "..."},
};

TEST(errors_name_line_and_column)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        const struct broken *b = &broken[i];
        struct trace t;
        struct trace_error err;
        if (!trace_text_read(b->text, strlen(b->text), &t, &err))
            fail_msg("accepted: %s", b->text);
        if (err.line != b->line || err.column != b->column || !strstr(err.text, b->says) || strchr(err.text, '\n'))
            fail_msg("%zu:%zu: '%s' instead of %zu:%zu '%s' for\n%s", err.line, err.column, err.text, b->line,
                     b->column, b->says, b->text);
        assert_int_equal(t.n, 0);
        assert_null(t.time_us);
    }
}

/* ---- metadata ---- */

static const char *const key_values[][2] = {
    {"format", "characterize-trace/1"},
    {"modelled", "yes"},
    {"modelled", "no"},
    {"seed", "0"},
    {"seed", "18446744073709551615"},
    {"from", "128fma"},
    {"to", "whatever another tool calls it"},
    {"cpu", ""},
    {"tsc_hz", "2.1e9"},
    {"tsc_hz", "2100000000"},
    {"period_us", "0.25"},
    {"period_us", "1e6"},
    {"warmup_us", "0"},
    {"observe_us", "1500"},
    {"repetitions", "1"},
    {"repetitions", "100"},
    {"cpu_number", "0"},
    {"cpu_number", "511"},
    {"active_cores", "1"},
    {"frequency", "instantaneous"},
    {"frequency", "mean"},
    {"clock_step_ns", "10.0152"},
    {"clock_step_ns", "0.476"},
    {"chain_cycles", "208"},
    {"reading_us", "0.0567"},
    {"reading_us", "0"},
    {"frequency_error", "0"},
    {"frequency_error", "0.0021"},
    {"frequency_error", "1.5e-05"},
    {"sampler", "resumes at once"},
    {"guarded", "yes"}, /* as version 0.2 wrote them */
    {"alone_from_ghz", "2.8"},
    {"alone_to_ghz", "1.9 1.90001  1.8999"},
    {"unsettled", "still at 2.4 GHz"},
    {"discarded", ""},
    {"held_rates", "0.25 nan 1.0000"},
    {"discarded", "interrupted = 3,17; other = 4"},
    {"discarded", "a = 4294967295;"},
    {"notes", "x: y"},
    {"date", "2026-11-21T22:05:27Z"},
    {"colour", "blue"},
    {"Modelled", "maybe"},
};
static const char *const no_key_values[][2] = {
    {"format", "characterize-trace/2"},
    {"format", ""},
    {"modelled", "maybe"},
    {"modelled", ""},
    {"modelled", "y"},
    {"modelled", "yes, no"},
    {"seed", "-1"},
    {"seed", "1.5"},
    {"seed", "1e3"},
    {"seed", "18446744073709551616"},
    {"seed", "x"},
    {"tsc_hz", "0"},
    {"tsc_hz", "-2e9"},
    {"tsc_hz", "nan"},
    {"tsc_hz", "1e300"},
    {"tsc_hz", "2.1 GHz"},
    {"tsc_hz", "0x7d2b7500"},
    {"period_us", "0"},
    {"period_us", "-1"},
    {"period_us", "inf"},
    {"period_us", ""},
    {"period_us", "1e7"},
    {"warmup_us", "-1"},
    {"warmup_us", "1e10"},
    {"observe_us", "0"},
    {"observe_us", "long"},
    {"repetitions", "0"},
    {"repetitions", "2.5"},
    {"repetitions", "4294967296"},
    {"cpu_number", "-1"},
    {"cpu_number", "65536"},
    {"active_cores", "0"},
    {"active_cores", "all"},
    {"frequency", "3.2"},
    {"clock_step_ns", "-3"},
    {"clock_step_ns", "0"},
    {"clock_step_ns", "1e9"},
    {"chain_cycles", "1e30"},
    {"chain_cycles", "0"},
    {"reading_us", "1e9"},
    {"reading_us", "-0.1"},
    {"reading_us", "--1"},
    {"frequency_error", "0.9"},
    {"frequency_error", "-0.01"},
    {"frequency_error", "nan"},
    {"sampler", "waits"},
    {"discarded", "interrupted"},
    {"discarded", "interrupted = x"},
    {"discarded", "a = 3,; b = 4"},
    {"discarded", "a = -3"},
    {"discarded", "a = 4294967296"},
    {"discarded", "a = 3; b"},
    {"discarded", "a = 3 4"},
};

static int read_key(const char *key, const char *value, struct trace *t, struct trace_error *err)
{
    char text[600];
    int length = snprintf(text, sizeof text, "# a comment\n#  %s : %s \t\r\ntime_us,ipc\n1,2\n", key, value);
    return trace_text_read(text, (size_t)length, t, err);
}

TEST(keys_have_a_type_and_a_range)
{
    struct trace t;
    struct trace_error err;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof key_values / sizeof *key_values; i++) {
        if (read_key(key_values[i][0], key_values[i][1], &t, &err)) {
            print_message("%s: %s was refused: %s\n", key_values[i][0], key_values[i][1], err.text);
            wrong++;
            continue;
        }
        assert_string_equal(trace_get(&t, key_values[i][0]), key_values[i][1]);
        trace_free(&t);
    }
    for (size_t i = 0; i < sizeof no_key_values / sizeof *no_key_values; i++) {
        if (!read_key(no_key_values[i][0], no_key_values[i][1], &t, &err)) {
            print_message("%s: %s was taken\n", no_key_values[i][0], no_key_values[i][1]);
            wrong++;
            trace_free(&t);
            continue;
        }
        /* the line, the key, the value and what would do, in one line */
        assert_true(err.line == 2 && err.column == 0 && !strchr(err.text, '\n'));
        assert_int_equal(strncmp(err.text, no_key_values[i][0], strlen(no_key_values[i][0])), 0);
        assert_non_null(strstr(err.text, no_key_values[i][1]));
        assert_non_null(strstr(err.text, "allowed: "));
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(read_key("sampler", "\x1b[31m\x80", &t, &err), -1);
    assert_non_null(strstr(err.text, "'?[31m\xEF\xBF\xBD'"));
}

/* The last number of a file that was cut may be wrong: 2 instead of 2.8. */
TEST(a_last_line_without_an_end_is_left_out)
{
    struct trace t;
    struct trace_error err;
    trace_text_good("time_us,freq_ghz\n1,2.8\n2,2.8\n3,2.8", &t);
    assert_int_equal(t.n, 2);
    assert_true(t.cut);
    trace_free(&t);
    trace_text_good("time_us,freq_ghz\n1,2.8\n2,2.8\n3,2.8\n", &t);
    assert_int_equal(t.n, 3);
    assert_false(t.cut);
    trace_free(&t);
    trace_text_good("time_us,freq_ghz\n1,2.8\n2,2.8\n3,28000", &t); /* whatever it says */
    assert_int_equal(t.n, 2);
    assert_null(trace_get(&t, trace_discarded_key));
    trace_free(&t);
    static const char short_line[] = "time_us,freq_ghz\n1,2.8\n2,2.8\n3";
    assert_int_equal(trace_text_read(short_line, sizeof short_line - 1, &t, &err), -1);
    assert_int_equal(err.line, 4);
    assert_non_null(strstr(err.text, "truncated"));
}

TEST(other_formats_are_named)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"run;time_us;freq_ghz\n0;1;2\n", "'run;time_us;freq_ghz': fields are separated by commas, not by ';'"},
        {"idle_us;first_us\n1;2\n", "fields are separated by commas, not by ';'"},
        {"run\ttime_us\tfreq_ghz\n0\t1\t2\n", "not by tabs"},
        {"run,time_ms,freq_ghz\n0,1,2\n",
         "names no column time_us (microseconds), nor idle_us and first_us; nearest is "
         "'time_ms'"},
        {"Time_US,freq_ghz\n1,2\n", "nearest is 'Time_US'"},
        {"time_us,Freq_GHz\n1,2\n", "'time_us,Freq_GHz', names no measured column (freq_ghz, ipc, volts, lvl0, lvl1, "
                                    "lvl2, throttle); nearest is 'Freq_GHz'"},
        {"when,what\n1,2\n", "'when,what', names no column time_us (microseconds), nor idle_us and first_us"},
        {"time_us,freq_ghz\r-49.9871,2.8\r", "lines end with CR alone"},
        {"# to: 512fma\rtime_us,freq_ghz\r-49.9871,2.8\r", "lines end with CR alone"},
    };
    struct trace t;
    struct trace_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(trace_text_read(cases[i].text, strlen(cases[i].text), &t, &err), -1);
        if (!strstr(err.text, cases[i].says) || err.line != 1)
            fail_msg("'%s': line %zu: %s", cases[i].text, err.line, err.text);
    }
    assert_int_equal(trace_text_read("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10, &t, &err), -1);
    assert_non_null(strstr(err.text, "zcat FILE | characterize --analyze -"));
}

TEST(binary_is_no_trace)
{
    static const char nul[] = "time_us,ipc\n1,2\n2,3\0,4\n";
    struct trace t;
    struct trace_error err;
    assert_int_equal(trace_text_read(nul, sizeof nul - 1, &t, &err), -1);
    assert_int_equal(err.line, 3);
    assert_non_null(strstr(err.text, "NUL"));
    struct rng r;
    rng_init(&r, 1, 0);
    for (int k = 0; k < 200; k++) {
        char noise[600];
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (char)rng_bits(&r);
        assert_int_equal(trace_text_read(noise, sizeof noise, &t, &err), -1);
        assert_true(*err.text != '\0');
    }
}

TEST(long_lines_and_many_columns)
{
    struct trace t;
    struct trace_error err;
    size_t size = 3 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, "time_us,ipc\n1,", 14);
    assert_int_equal(trace_text_read(text, size, &t, &err), -1);
    assert_int_equal(err.line, 2);
    assert_non_null(strstr(err.text, "longer than"));
    /* 256 columns are taken, 257 are not */
    for (size_t columns = 256; columns <= 257; columns++) {
        size_t used = (size_t)sprintf(text, "time_us,ipc");
        for (size_t c = 2; c < columns; c++)
            used += (size_t)sprintf(text + used, ",c%zu", c);
        used += (size_t)sprintf(text + used, "\n1,2");
        for (size_t c = 2; c < columns; c++)
            used += (size_t)sprintf(text + used, ",%zu", c);
        used += (size_t)sprintf(text + used, "\n");
        int bad = trace_text_read(text, used, &t, &err);
        assert_int_equal(bad, columns > 256 ? -1 : 0);
        if (bad) {
            assert_int_equal(err.line, 1);
            assert_int_equal(err.column, 257);
            continue;
        }
        assert_int_equal(t.n_extra, 254);
        assert_string_equal(t.text + t.extra[253].offset[0], "255");
        trace_free(&t);
    }
    free(text);
}

TEST(a_full_disk_is_reported)
{
    FILE *full = fopen("/dev/full", "w");
    if (!full) {
        print_message("skipped: /dev/full cannot be opened here\n");
        skip();
    }
    struct trace t;
    trace_text_good("time_us,ipc\n1,2\n", &t);
    assert_int_equal(trace_write_csv(full, &t), -1);
    trace_free(&t);
    fclose(full);
}

/* Found by fuzzing: where columns change places in writing, a name must not change with its place in the line. */
TEST(carriage_returns_around_names)
{
    struct trace t, back;
    trace_text_good("run,time_us,ghz \r\r,ipc\r,volts\r\r\n0,1,5\r,2,0.9\r\n", &t);
    assert_non_null(t.channel[TRACE_IPC]);
    assert_int_equal(t.n_extra, 1);
    assert_string_equal(t.extra[0].name, "ghz");
    char *text = trace_text_of(&t);
    trace_text_good(text, &back);
    assert_int_equal(back.n_extra, 1);
    assert_string_equal(back.extra[0].name, "ghz");
    free(text);
    trace_free(&t);
    trace_free(&back);
}

/* Each key is looked up among the others: a file of nothing but keys would take time without bound. */
TEST(keys_without_end)
{
    enum { KEYS = 1000, ROOM = 40 * KEYS };
    static char text[ROOM];
    for (int more = 0; more < 2; more++) {
        struct trace t;
        struct trace_error err;
        size_t used = 0;
        for (int i = 0; i < KEYS + more; i++)
            used += (size_t)snprintf(text + used, ROOM - used, "# k%d: v\n# k%d: w\n", i, i);
        (void)snprintf(text + used, ROOM - used, "time_us,ipc\n0,1\n1,1\n");
        int bad = trace_text_read(text, strlen(text), &t, &err);
        assert_int_equal(bad != 0, more);
        if (bad) {
            assert_int_equal(err.line, 2 * KEYS + 1);
            assert_non_null(strstr(err.text, "more than 1000 metadata keys"));
        } else {
            assert_int_equal(t.n_meta, KEYS);
            trace_free(&t);
        }
    }
}
