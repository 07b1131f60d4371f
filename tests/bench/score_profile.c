/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The profiler on systems whose tasks are drawn at random, against what their work would take (tests/support/
 * profile_truth.h): errors by kind of task, of the split by cause, of the cost; how many limits hold the truth.
 *
 * score_profile [SEED [SETS [MODEL]]] [-d] [-v]
 *     -d: without the step that splits causes, as is the profiler's default; -v: each task
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/profile_score.h"

static struct model model; /* too large for the stack */
static struct profile_score score;
static struct profile_truth truth;

int main(int argc, char **argv)
{
    const char *word[3] = {"1", "200", "xeon-gold-6130"};
    struct machine_error err;
    unsigned flags = PROFILE_SOURCES;
    bool verbose = false;
    for (int i = 1, words = 0; i < argc; i++)
        if (!strcmp(argv[i], "-v"))
            verbose = true;
        else if (!strcmp(argv[i], "-d"))
            flags = 0;
        else if (words < 3)
            word[words++] = argv[i];
    unsigned long first = strtoul(word[0], NULL, 10), sets = strtoul(word[1], NULL, 10);
    if (sets == 0) {
        fputs("usage: score_profile [SEED [SETS [MODEL]]] [-d] [-v]\n", stderr);
        return 2;
    }
    if (model_load(word[2], NULL, &model, &err) != MACHINE_OK) {
        fprintf(stderr, "score_profile: %s\n", err.text);
        return err.status;
    }
    for (unsigned long i = 0; i < sets; i++) {
        if (profile_score_set(&model, first, i, flags, &truth) != 0) {
            fprintf(stderr, "score_profile: the model has nothing to profile, or there is no memory\n");
            return 1;
        }
        if (verbose)
            profile_score_print_tasks(stderr, &truth);
        if (profile_score_add(&score, &truth) != 0)
            return 1;
    }
    profile_score_print(stdout, &score);
    profile_score_free(&score);
    return 0;
}
