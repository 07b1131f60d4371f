/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace/trace_csv.c: random numbers, traces and damages. */
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"
#include "tests/support/trace_text.h"

/* Every way of writing a number gives the double that the C library reads. */
TEST(numbers_are_exact)
{
    static const char *const form[] = {"%.0f", "%.1f", "%.4f", "%.12f", "%.17g", "%.7g", "%e", "%+.3f", "%.25f"};
    struct rng r;
    rng_init(&r, 2, 0);
    for (int k = 0; k < 20000; k++) {
        char number[400], line[500];
        double v = (rng_chance(&r, 0.5) ? -1 : 1) * rng_log(&r, 1e-12, 9e11);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(number, sizeof number, form[rng_int(&r, 0, 8)], v);
#pragma GCC diagnostic pop
        snprintf(line, sizeof line, "time_us,ipc\n%s,1\n", number);
        struct trace t;
        trace_text_good(line, &t);
        if (t.time_us[0] != strtod(number, NULL))
            fail_msg("%s is read as %.17g", number, t.time_us[0]);
        trace_free(&t);
    }
}

static void random_word(struct rng *r, char *out, size_t size)
{
    static const char letters[] = "abcXYZ 019.,\"'#:;-_%\xc3\xa4";
    size_t n = (size_t)rng_int(r, 1, (int)size - 2), m = 0;
    for (; m < n; m++)
        out[m] = letters[rng_int(r, 0, (int)sizeof letters - 2)];
    out[m] = '\0';
}

/* Blanks at the ends of a field or a metadata value do not come back: they are trimmed. */
static void trim(char *s)
{
    size_t first = strspn(s, " "), n = strlen(s + first);
    memmove(s, s + first, n + 1);
    while (n && s[n - 1] == ' ')
        s[--n] = '\0';
}

static void add_random_extra(struct rng *r, struct trace *t)
{
    t->extra = calloc(1, sizeof *t->extra);
    t->text_capacity = 32 * (t->n + 1);
    t->text = malloc(t->text_capacity);
    assert_non_null(t->extra);
    assert_non_null(t->text);
    t->n_extra = 1;
    t->extra[0].name = strdup("remark, \"quoted\"");
    t->extra[0].offset = calloc(t->n + 1, sizeof *t->extra[0].offset);
    for (size_t i = 0; i < t->n; i++) {
        char word[24];
        random_word(r, word, sizeof word);
        trim(word);
        t->extra[0].offset[i] = t->text_used;
        strcpy(t->text + t->text_used, word);
        t->text_used += strlen(word) + 1;
    }
}

/* Anything that a column may hold; of three shares that may stand side by side. */
static double random_within(struct rng *r, enum trace_channel c)
{
    const struct trace_range *range = trace_channel_range(c);
    if (c >= TRACE_LVL0 && c <= TRACE_LVL2)
        return rng_range(r, -0.16, 0.5);
    if (rng_chance(r, 0.1))
        return rng_chance(r, 0.5) || range->open ? range->hi : range->lo;
    return range->lo < 0 ? rng_range(r, range->lo, range->hi) : rng_log(r, fmax(range->lo, 1e-20), range->hi);
}

static void random_content(struct rng *r, struct trace *t)
{
    trace_init(t);
    bool runs = rng_chance(r, 0.6);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        if (rng_chance(r, 0.5) || c == TRACE_VOLTS)
            assert_int_equal(trace_add_channel(t, (enum trace_channel)c), 0);
    if (runs)
        assert_int_equal(trace_add_run(t), 0);
    int n = rng_int(r, 1, 60);
    uint32_t run = (uint32_t)rng_int(r, 0, 5);
    double time = rng_range(r, -1000, 1000);
    for (int i = 0; i < n; i++) {
        if (runs && rng_chance(r, 0.1)) {
            run += (uint32_t)rng_int(r, 1, 1000000);
            time = rng_range(r, -1e6, 1e6);
        }
        time += i % 3 == 2 && rng_chance(r, 0.3) ? 0 : rng_log(r, 1e-4, 1e5);
        assert_int_equal(trace_append(t, run, round(time * 1e4) / 1e4), 0);
        for (int c = 0; c < TRACE_CHANNELS; c++)
            if (t->channel[c] && rng_chance(r, 0.8))
                t->channel[c][i] = (float)random_within(r, (enum trace_channel)c);
    }
    for (int k = rng_int(r, 0, 4); k > 0; k--) {
        char key[16], text[40];
        snprintf(key, sizeof key, "key %d", k);
        random_word(r, text, sizeof text);
        trim(text);
        assert_int_equal(trace_set(t, key, text), 0);
    }
    if (rng_chance(r, 0.4))
        add_random_extra(r, t);
}

static void same_value(float a, float b)
{
    if (isnan(a) ? !isnan(b) : !(fabsf(a - b) <= 6e-7f * fabsf(a))) /* seven digits are written */
        fail_msg("%.9g became %.9g", (double)a, (double)b);
}

static void same_trace(const struct trace *a, const struct trace *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->n_meta, b->n_meta);
    assert_int_equal(a->n_extra, b->n_extra);
    assert_true(!a->run == !b->run);
    for (size_t i = 0; i < a->n_meta; i++) {
        assert_string_equal(a->meta[i].key, b->meta[i].key);
        assert_string_equal(a->meta[i].value, b->meta[i].value);
    }
    for (size_t i = 0; i < a->n; i++) {
        assert_true(fabs(a->time_us[i] - b->time_us[i]) < 1e-6);
        if (a->run)
            assert_int_equal(a->run[i], b->run[i]);
        for (size_t e = 0; e < a->n_extra; e++)
            assert_string_equal(a->text + a->extra[e].offset[i], b->text + b->extra[e].offset[i]);
    }
    for (int c = 0; c < TRACE_CHANNELS; c++) {
        assert_true(!a->channel[c] == !b->channel[c]);
        for (size_t i = 0; a->channel[c] && i < a->n; i++)
            same_value(a->channel[c][i], b->channel[c][i]);
    }
}

/* Written and read, a trace is the same; written again, the file is the same to the byte. */
TEST(round_trip)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct rng r;
        struct trace t, back;
        rng_init(&r, seed, 3);
        random_content(&r, &t);
        char *text = trace_text_of(&t);
        trace_text_good(text, &back);
        same_trace(&t, &back);
        char *again = trace_text_of(&back);
        assert_string_equal(text, again);
        free(text);
        free(again);
        trace_free(&t);
        trace_free(&back);
    }
}

static size_t lines_of(const char *text, size_t size)
{
    size_t n = 1;
    for (size_t i = 0; i < size; i++)
        n += text[i] == '\n';
    return n;
}

/* Damaged files are refused with a place that exists, or read as something that can be written and read again. */
TEST(damaged_files)
{
    size_t refused = 0, taken = 0;
    static const char marks[] = ",\n\"\r#\t -.eE+nax0129\x80\xff";
    for (uint64_t seed = 0; seed < 5000; seed++) {
        struct rng r;
        struct trace t;
        struct trace_error err;
        rng_init(&r, seed, 4);
        random_content(&r, &t);
        char *text = trace_text_of(&t);
        trace_free(&t);
        size_t size = strlen(text);
        for (int k = rng_int(&r, 1, 4); k > 0; k--)
            text[rng_int(&r, 0, (int)size - 1)] = marks[rng_int(&r, 0, (int)sizeof marks - 2)];
        if (rng_chance(&r, 0.2))
            size = (size_t)rng_int(&r, 0, (int)size);
        if (trace_text_read(text, size, &t, &err)) {
            refused++;
            assert_true(*err.text && err.line <= lines_of(text, size) && strlen(err.text) < sizeof err.text - 1);
        } else {
            taken++;
            char *again = trace_text_of(&t);
            struct trace back;
            trace_text_good(again, &back);
            assert_int_equal(back.n, t.n);
            free(again);
            trace_free(&back);
            trace_free(&t);
        }
        free(text);
    }
    /* both must occur often, or this tests nothing */
    assert_true(refused > 1000 && taken > 300);
}
