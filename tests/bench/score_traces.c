/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The analysis against random traces with known answers: one line of figures for each kind.
 *
 * score_traces KIND|all [FIRST_SEED [COUNT]] [-v] [-l]     -v: what was wrong with each bad trace
 *                                                     -l: each duration, with its error and limits, as CSV to stderr
 * score_traces KIND SEED --csv FILE                   writes that trace ("-": to standard output)
 * Exit status: 0; 1 if a kind does not meet what is asked (score_good).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random_traces.h"
#include "tests/support/trace_score.h"

static int usage(void)
{
    fputs("usage: score_traces KIND|all [FIRST_SEED [COUNT]] [-v] [-l]\n"
          "       score_traces KIND SEED --csv FILE\nkinds:",
          stderr);
    for (int k = 0; k < TRACES_KINDS; k++)
        fprintf(stderr, " %s", trace_kind_name((enum trace_kind)k));
    fputc('\n', stderr);
    return 2;
}

static int write_csv(enum trace_kind kind, uint64_t seed, const char *path)
{
    struct trace t;
    struct truth truth;
    if (random_trace(kind, seed, &t, &truth))
        return 1;
    FILE *out = strcmp(path, "-") ? fopen(path, "w") : stdout;
    int bad = !out || trace_write_csv(out, &t);
    if (bad)
        perror(path);
    if (out && out != stdout)
        fclose(out);
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
    const char *word[3] = {"all", "1", "100"}, *csv = NULL;
    FILE *details = NULL, *list = NULL;
    int words = 0, chosen = -1;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-v"))
            details = stdout;
        else if (!strcmp(argv[i], "-l"))
            list = stderr;
        else if (!strcmp(argv[i], "--csv") && i + 1 < argc)
            csv = argv[++i];
        else if (words < 3)
            word[words++] = argv[i];
        else
            return usage();
    for (int k = 0; k < TRACES_KINDS; k++)
        if (!strcmp(word[0], trace_kind_name((enum trace_kind)k)))
            chosen = k;
    if (chosen < 0 && (strcmp(word[0], "all") || csv))
        return usage();
    uint64_t first = strtoull(word[1], NULL, 10);
    if (csv)
        return write_csv((enum trace_kind)chosen, first, csv);
    size_t count = strtoul(word[2], NULL, 10);
    print_score_head(stdout);
    if (list)
        fputs("kind,seed,index,phase,nominal_us,error_us,half_width_us,runs,period_us,limits\n", list);
    int bad = 0;
    for (int k = 0; k < TRACES_KINDS; k++)
        if (chosen < 0 || chosen == k)
            bad |= score_kind((enum trace_kind)k, first, count, details, list);
    return bad;
}
