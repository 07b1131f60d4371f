/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The analysis against random traces with known answers: one line of figures for each kind.
 *
 * score_traces KIND|all [FIRST_SEED [COUNT]] [-v] [-l]     -v: what was wrong with each bad trace
 *                                                     -l: each duration, with its error and limits, as CSV to stderr
 * score_traces KIND SEED --csv FILE                   writes that trace ("-": to standard output)
 * Exit status: 0; 1 if a kind does not meet its requirements (score_good).
 */
#include <stdio.h>

#include "tests/support/random_traces.h"
#include "tests/support/score_words.h"
#include "tests/support/trace_score.h"

static const char *name_of(int kind)
{
    return trace_kind_name((enum trace_kind)kind);
}

static int write_csv(enum trace_kind kind, uint64_t seed, const char *path)
{
    struct trace t;
    struct truth truth;
    if (random_trace(kind, seed, &t, &truth))
        return 1;
    int bad = score_write_csv(&t, path);
    trace_free(&t);
    return bad;
}

static int score_kind(enum trace_kind kind, uint64_t first, size_t count, FILE *details, FILE *list)
{
    struct score s = {.list = list};
    int bad = 0;
    for (size_t i = 0; i < count && !bad; i++) {
        struct trace t;
        struct truth truth;
        bad = random_trace(kind, first + i, &t, &truth);
        if (!bad)
            bad = score_trace(&s, &t, &truth, details) < 0;
        trace_free(&t);
    }
    char what[300] = "out of memory";
    bool good = !bad && score_good(&s, what, sizeof what);
    print_score(stdout, trace_kind_name(kind), &s);
    if (!good)
        printf("%-14s NOT MET: %s\n", "", what);
    fflush(stdout);
    score_free(&s);
    return !good;
}

int main(int argc, char **argv)
{
    bool details = false, list = false;
    const struct score_option options[] = {{"-v", &details, NULL}, {"-l", &list, NULL}};
    struct score_words w = {
        .usage = "score_traces KIND|all [FIRST_SEED [COUNT]] [-v] [-l]\n       score_traces KIND SEED --csv FILE",
        .name = name_of,
        .kinds = TRACES_KINDS,
        .options = options,
        .n_options = 2,
        .count = 100};
    int bad = 0;
    if (score_words_read(&w, argc, argv))
        return 2;
    if (w.csv)
        return write_csv((enum trace_kind)w.chosen, w.first, w.csv);
    print_score_head(stdout);
    if (list)
        fputs("kind,seed,index,phase,nominal_us,error_us,half_width_us,runs,period_us,limits\n", stderr);
    for (int k = 0; k < TRACES_KINDS; k++)
        if (w.chosen < 0 || w.chosen == k)
            bad |= score_kind((enum trace_kind)k, w.first, w.count, details ? stdout : NULL, list ? stderr : NULL);
    return bad;
}
