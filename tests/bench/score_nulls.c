/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The analysis on recordings of nothing: how many of COUNT traces of each kind of noise get a false phase.
 *
 * score_nulls KIND|all [FIRST_SEED [COUNT]] [-v]      -v: the false findings
 * score_nulls KIND SEED --csv FILE                    writes that trace ("-": to standard output)
 * Exit status: 0; 1 if a kind has more false phases than 1 in 1000.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "tests/support/null_traces.h"
#include "tests/support/score_words.h"
#include "analysis/phases/phases.h"

#define ALLOWED 0.001

static const char *name_of(int kind)
{
    return null_kind_name((enum null_kind)kind);
}

static int write_csv(enum null_kind kind, uint64_t seed, const char *path)
{
    struct trace t;
    struct null_about about;
    if (null_trace(kind, seed, &t, &about))
        return 1;
    int bad = score_write_csv(&t, path);
    trace_free(&t);
    return bad;
}

/* 1 = something false was found, 0 = nothing, -1 = out of memory. */
static int judge(enum null_kind kind, uint64_t seed, bool tell, size_t *samples)
{
    struct trace t;
    struct null_about about;
    struct phases p;
    char why[300], what[100];
    if (null_trace(kind, seed, &t, &about))
        return -1;
    *samples += t.n;
    bool found = true;
    if (phases_find(&t, &p, why, sizeof why)) {
        snprintf(what, sizeof what, "refused: %.80s", why);
    } else {
        found = false_finding(&p, about.switched, what, sizeof what);
        phases_free(&p);
    }
    if (found && tell)
        printf("  %s %llu: %s\n    %s\n", null_kind_name(kind), (unsigned long long)seed, what, about.text);
    trace_free(&t);
    return found;
}

static int judge_kind(enum null_kind kind, uint64_t first, size_t count, bool tell)
{
    size_t wrong = 0, samples = 0;
    double begin = score_seconds();
    for (size_t i = 0; i < count; i++) {
        int found = judge(kind, first + i, tell, &samples);
        if (found < 0)
            return -1;
        wrong += (size_t)found;
    }
    bool good = (double)wrong <= ceil(ALLOWED * (double)count);
    printf("%-12s %7zu traces %9zu samples  %5zu false (%.3f %%)  %6.1f s  %s\n", null_kind_name(kind), count, samples,
           wrong, 100 * (double)wrong / (double)count, score_seconds() - begin, good ? "ok" : "TOO MANY");
    fflush(stdout);
    return !good;
}

int main(int argc, char **argv)
{
    bool tell = false;
    const struct score_option options[] = {{"-v", &tell, NULL}};
    struct score_words w = {
        .usage = "score_nulls KIND|all [FIRST_SEED [COUNT]] [-v]\n       score_nulls KIND SEED --csv FILE",
        .name = name_of,
        .kinds = NULL_KINDS,
        .options = options,
        .n_options = 1,
        .count = 1000};
    int bad = 0;
    if (score_words_read(&w, argc, argv))
        return 2;
    if (w.csv)
        return write_csv((enum null_kind)w.chosen, w.first, w.csv);
    for (int k = 0; k < NULL_KINDS; k++)
        if (w.chosen < 0 || w.chosen == k)
            bad |= judge_kind((enum null_kind)k, w.first, w.count, tell);
    return bad ? 1 : 0;
}
