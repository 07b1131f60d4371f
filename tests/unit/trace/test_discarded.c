/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace/discarded.c: discarded repetitions travel in the trace's metadata and come back as they were. */
#include "analysis/phases/phases.h"
#include "tests/support/test.h"
#include "trace/discarded.h"

static void forget(struct phases *p)
{
    free(p->discarded);
    for (size_t i = 0; i < p->n_warnings; i++)
        free(p->warnings[i]);
    free(p->warnings);
}

TEST(the_list_comes_back_through_a_file)
{
    const struct discarded_run list[] = {{7, "preempted 1 time(s) by the scheduler"},
                                         {3, "2 page fault(s)"},
                                         {4000000000u, "preempted 1 time(s) by the scheduler"}};
    struct trace t, back;
    struct trace_error error;
    struct phases p = {.runs = 97, .runs_used = 97};
    char *file = NULL;
    size_t size;
    trace_init(&t);
    assert_int_equal(trace_add_channel(&t, TRACE_FREQ), 0);
    assert_int_equal(trace_append(&t, 0, 1), 0);
    t.channel[TRACE_FREQ][0] = 3;
    assert_int_equal(discarded_note(&t, list, 3), 0);
    FILE *stream = open_memstream(&file, &size);
    assert_non_null(stream);
    assert_int_equal(trace_write_csv(stream, &t), 0);
    fclose(stream);
    stream = fmemopen(file, size, "r");
    assert_int_equal(trace_read_csv(stream, &back, &error), 0);
    fclose(stream);
    free(file);
    assert_int_equal(phases_add_discarded(&back, &p), 0);
    assert_int_equal(p.n_warnings, 0);
    assert_int_equal(p.runs, 100);
    assert_int_equal(p.runs_used, 97);
    assert_int_equal(p.n_discarded, 3);
    const int order[] = {1, 0, 2}; /* by run */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(p.discarded[i].run, list[order[i]].run);
        assert_string_equal(p.discarded[i].why, list[order[i]].why);
    }
    forget(&p);
    trace_free(&t);
    trace_free(&back);
}

TEST(separators_in_a_reason_do_no_harm)
{
    const struct discarded_run list[] = {{1, "a; b = 5"}, {2, "x\ny"}};
    struct trace t;
    struct phases p = {.runs = 1};
    trace_init(&t);
    assert_int_equal(discarded_note(&t, list, 2), 0);
    assert_int_equal(phases_add_discarded(&t, &p), 0);
    assert_int_equal(p.n_discarded, 2);
    assert_int_equal(p.n_warnings, 0);
    assert_int_equal(p.discarded[0].run, 1);
    assert_int_equal(p.discarded[1].run, 2);
    forget(&p);
    trace_free(&t);
}

TEST(it_adds_to_what_the_analysis_discarded)
{
    const struct discarded_run invalid[] = {{5, "migrated"}};
    struct trace t;
    struct phases p = {.runs = 9, .runs_used = 8, .n_discarded = 1};
    p.discarded = calloc(1, sizeof(*p.discarded));
    p.discarded[0].run = 8;
    strcpy(p.discarded[0].why, "interrupted");
    trace_init(&t);
    assert_int_equal(phases_add_discarded(&t, &p), 0); /* nothing listed */
    assert_int_equal(p.n_discarded, 1);
    assert_int_equal(discarded_note(&t, invalid, 1), 0);
    assert_int_equal(phases_add_discarded(&t, &p), 0);
    assert_int_equal(p.n_discarded, 2);
    assert_int_equal(p.discarded[0].run, 5);
    assert_int_equal(p.discarded[1].run, 8);
    assert_int_equal(p.runs, 10);
    forget(&p);
    trace_free(&t);
}

TEST(an_unreadable_list_is_a_warning)
{
    const char *const lists[] = {"no number", "why = x", "why = 3,", "why = -1", "why = 99999999999999999999", "= 3"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct trace t;
        struct phases p = {.runs = 1};
        trace_init(&t);
        assert_int_equal(trace_set(&t, "discarded", lists[i]), 0);
        assert_int_equal(phases_add_discarded(&t, &p), 0);
        assert_int_equal(p.n_warnings, 1);
        assert_int_equal(p.runs, 1 + p.n_discarded);
        forget(&p);
        trace_free(&t);
    }
}
