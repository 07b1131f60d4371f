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
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/null_traces.h"
#include "analysis/phases/phases.h"

#define ALLOWED 0.001

static int usage(void)
{
    fputs("usage: score_nulls KIND|all [FIRST_SEED [COUNT]] [-v]\n       score_nulls KIND SEED --csv FILE\nkinds:",
          stderr);
    for (int k = 0; k < NULL_KINDS; k++)
        fprintf(stderr, " %s", null_kind_name((enum null_kind)k));
    fputc('\n', stderr);
    return 2;
}

static int write_csv(enum null_kind kind, uint64_t seed, const char *path)
{
    struct trace t;
    struct null_about about;
    if (null_trace(kind, seed, &t, &about))
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

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int judge_kind(enum null_kind kind, uint64_t first, size_t count, bool tell)
{
    size_t wrong = 0, samples = 0;
    double begin = now();
    for (size_t i = 0; i < count; i++) {
        int found = judge(kind, first + i, tell, &samples);
        if (found < 0)
            return -1;
        wrong += (size_t)found;
    }
    bool good = (double)wrong <= ceil(ALLOWED * (double)count);
    printf("%-12s %7zu traces %9zu samples  %5zu false (%.3f %%)  %6.1f s  %s\n", null_kind_name(kind), count, samples,
           wrong, 100 * (double)wrong / (double)count, now() - begin, good ? "ok" : "TOO MANY");
    fflush(stdout);
    return !good;
}

int main(int argc, char **argv)
{
    const char *word[3] = {"all", "1", "1000"}, *csv = NULL;
    bool tell = false;
    int words = 0, chosen = -1, bad = 0;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-v"))
            tell = true;
        else if (!strcmp(argv[i], "--csv") && i + 1 < argc)
            csv = argv[++i];
        else if (words < 3)
            word[words++] = argv[i];
        else
            return usage();
    for (int k = 0; k < NULL_KINDS; k++)
        if (!strcmp(word[0], null_kind_name((enum null_kind)k)))
            chosen = k;
    uint64_t first = strtoull(word[1], NULL, 10);
    size_t count = strtoul(word[2], NULL, 10);
    if ((chosen < 0 && (strcmp(word[0], "all") || csv)) || !count)
        return usage();
    if (csv)
        return write_csv((enum null_kind)chosen, first, csv);
    for (int k = 0; k < NULL_KINDS; k++)
        if (chosen < 0 || chosen == k)
            bad |= judge_kind((enum null_kind)k, first, count, tell);
    return bad ? 1 : 0;
}
