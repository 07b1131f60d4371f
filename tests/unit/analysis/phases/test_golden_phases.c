/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No answer of the analysis changes unnoticed: what it finds in generated recordings of each kind, with and without
 * what is noted of their clock, is that of tests/golden/. After an intended change, `make golden` rewrites
 * these, and the diff shows what changed.
 */
#include "analysis/phases/phases.h"
#include "tests/support/golden.h"
#include "tests/support/null_traces.h"
#include "tests/support/phases_lines.h"
#include "tests/support/random_traces.h"
#include "tests/support/test.h"

enum { EACH = 6, EACH_MANY = 2, EACH_NULL = 2 };

static void expect_phases(struct golden *g, const char *what)
{
    char file[40];
    snprintf(file, sizeof file, "%s.txt", what);
    golden_expect(g, "phases", file, true);
}

/* Freed by the caller. */
static char *what_is_found(const struct trace *t)
{
    struct phases p;
    char why[300], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    if (phases_find(t, &p, why, sizeof why)) {
        fprintf(out, "refused: %s\n", why);
    } else {
        phases_lines_write(out, &p);
        phases_free(&p);
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

/* The lines that are not among those of `before`. */
static void write_new_lines(FILE *out, const char *text, const char *before)
{
    char *copy = strdup(text), *rest = copy, *line;
    assert_non_null(copy);
    while ((line = strsep(&rest, "\n")))
        if (!strstr(before, line))
            fprintf(out, "%s\n", line);
    free(copy);
}

static void set(struct trace *t, const char *key, const char *value)
{
    assert_int_equal(trace_set(t, key, value), 0);
}

static void set_number(struct trace *t, const char *key, double value)
{
    assert_int_equal(trace_set_number(t, key, value), 0);
}

/* How the frequency was read. */
static void note_clock(struct trace *t, uint64_t seed)
{
    set_number(t, "clock_step_ns", seed % 4 == 2 ? 10 : 1);
    if (seed % 4 == 2)
        return;
    set(t, "frequency", "instantaneous");
    set_number(t, "chain_cycles", 500);
    set_number(t, "reading_us", 0.2);
    set_number(t, "frequency_error", 0.002);
}

static void generated_recordings(void **state)
{
    const enum trace_kind kind = *(const enum trace_kind *)*state;
    struct golden g;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    for (uint64_t seed = 1; seed <= (kind == TRACES_MANY ? EACH_MANY : EACH); seed++) {
        struct trace t;
        struct truth truth;
        assert_int_equal(random_trace(kind, seed, &t, &truth), 0);
        char *plain = what_is_found(&t);
        fprintf(out, "# %ju\n%s", (uintmax_t)seed, plain);
        note_clock(&t, seed);
        char *noted = what_is_found(&t);
        fputs("# with notes, in addition:\n", out);
        write_new_lines(out, noted, plain);
        free(plain);
        free(noted);
        trace_free(&t);
    }
    expect_phases(&g, trace_kind_name(kind));
}

static void where_nothing_happens(void **state)
{
    (void)state;
    struct golden g;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    for (int kind = 0; kind < NULL_KINDS; kind++)
        for (uint64_t seed = 1; seed <= EACH_NULL; seed++) {
            struct trace t;
            struct null_about about;
            assert_int_equal(null_trace((enum null_kind)kind, seed, &t, &about), 0);
            char *found = what_is_found(&t);
            fprintf(out, "# %s %ju\n%s", null_kind_name((enum null_kind)kind), (uintmax_t)seed, found);
            free(found);
            trace_free(&t);
        }
    expect_phases(&g, "none");
}

int main(void)
{
    static enum trace_kind kinds[TRACES_KINDS];
    struct CMUnitTest tests[TRACES_KINDS + 1] = {cmocka_unit_test(where_nothing_happens)};
    for (int k = 0; k < TRACES_KINDS; k++) {
        kinds[k] = (enum trace_kind)k;
        tests[k + 1] = (struct CMUnitTest){trace_kind_name(kinds[k]), generated_recordings, NULL, NULL, &kinds[k]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
