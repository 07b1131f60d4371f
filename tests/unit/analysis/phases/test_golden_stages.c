/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No stage of the analysis changes unnoticed: what each leaves behind of many small recordings, of which later stages
 * use a part, is that of tests/golden/. After an intended change, `make golden` rewrites these.
 */
#include "analysis/phases/findings.h"
#include "tests/support/golden.h"
#include "tests/support/odd_traces.h"
#include "tests/support/plain_traces.h"
#include "tests/support/repetition_tallies.h"
#include "tests/support/tally.h"
#include "tests/support/test.h"

enum { PLAIN = 300, ODD = 40, ODD_FROM = 1000 };

/* As phases_find() takes them. */
static void write_stages(FILE *out, const struct trace *t, const struct runs *r, double switch_us)
{
    struct tally sum = {0};
    struct segmentation all, o;
    struct phases p = {.runs = r->n, .runs_used = r->n, .detectable_freq = 0.01};
    size_t *run = calloc(r->n + 1, sizeof *run);
    bool again = true, marked;
    assert_non_null(run);
    for (size_t k = 0; k < r->n; k++) {
        run[k] = k;
        assert_int_equal(segmentation_find(r, &run[k], 1, switch_us, &o), 0);
        tally_segmentation(&sum, &o);
        segmentation_free(&o);
    }
    tally_write(out, "each", &sum);
    assert_int_equal(segmentation_find(r, run, r->n, switch_us, &all), 0);
    tally_segmentation(&sum, &all);
    segmentation_free(&all);
    tally_write(out, "all", &sum);
    free(run);
    assert_int_equal(consensus_find(r, switch_us, &o, &p), 0);
    tally_segmentation(&sum, &o);
    tally_phases(&sum, &p);
    tally_write(out, "common", &sum);
    assert_int_equal(kinds_find(&o, &p), 0);
    tally_segmentation(&sum, &o);
    tally_phases(&sum, &p);
    tally_write(out, "kinds", &sum);
    assert_int_equal(times_find(r, &o, &p), 0);
    assert_int_equal(slow_runs_mark(r, &o, &p, &marked), 0);
    for (again = true; again;) {
        assert_int_equal(times_find(r, &o, &p), 0);
        tally_phases(&sum, &p);
        assert_int_equal(levels_find(&o, &p, &again), 0);
    }
    levels_hold(&o, &p);
    tally_segmentation(&sum, &o);
    tally_phases(&sum, &p);
    tally_write(out, "times", &sum);
    assert_int_equal(slow_runs_find(r, &o, &p), 0);
    assert_int_equal(transitions_find(r, &o, &p), 0);
    tally_phases(&sum, &p);
    tally_write(out, "changes", &sum);
    assert_int_equal(volts_find(t, &p), 0);
    tally_phases(&sum, &p);
    tally_write(out, "volts", &sum);
    assert_int_equal(ramps_find(r, &o, &p), 0);
    tally_segmentation(&sum, &o);
    tally_phases(&sum, &p);
    tally_write(out, "ramps", &sum);
    segmentation_free(&o);
    phases_free(&p);
}

/* All of them. */
static void write_found(FILE *out, const struct trace *t)
{
    struct tally sum = {0};
    struct phases p;
    char why[300];
    if (phases_find(t, &p, why, sizeof why)) {
        tally_text(&sum, why);
    } else {
        tally_phases(&sum, &p);
        phases_free(&p);
    }
    tally_write(out, "found", &sum);
}

static void write_of(FILE *out, const struct trace *t)
{
    struct tally sum = {0};
    struct runs r;
    double switch_us = trace_get(t, "from") ? 0 : NAN;
    assert_int_equal(runs_prepare(t, &r), 0);
    tally_runs(&sum, &r);
    tally_write(out, "runs", &sum);
    if (r.n) {
        tally_steady(&sum, t);
        tally_write(out, "steady", &sum);
        write_stages(out, t, &r, switch_us);
    }
    runs_free(&r);
}

TEST(stages_of_plain_recordings)
{
    struct golden g;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    for (uint64_t seed = 1; seed <= PLAIN; seed++) {
        struct trace t;
        assert_int_equal(plain_trace(seed, &t), 0);
        fprintf(out, "%ju", (uintmax_t)seed);
        write_of(out, &t);
        write_found(out, &t);
        fputc('\n', out);
        trace_free(&t);
    }
    golden_expect(&g, "phases", "stages-plain.txt", true);
}

TEST(stages_of_odd_recordings)
{
    struct golden g;
    skip_where_sanitized("numbers are compared in the ordinary build");
    FILE *out = golden_begin(&g);
    for (int kind = 0; kind < ODD_KINDS; kind++)
        for (uint64_t seed = ODD_FROM; seed < ODD_FROM + ODD; seed++) {
            struct trace t;
            assert_int_equal(odd_trace((enum odd_kind)kind, seed, &t), 0);
            fprintf(out, "%s %ju", odd_kind_name((enum odd_kind)kind), (uintmax_t)seed);
            write_of(out, &t);
            fputc('\n', out);
            trace_free(&t);
        }
    golden_expect(&g, "phases", "stages-odd.txt", true);
}
