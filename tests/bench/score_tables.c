/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All tables on models whose parameters are drawn at random, against those parameters: for each column how many cells
 * have a value, how many limits hold the truth, and how many cells are off or wrong.
 *
 * score_tables random|wild|scenario [FIRST_SEED [COUNT [TABLE]]] [-v] [-o]
 *     -v: each cell that is off; -o: or outside its limits
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random_model.h"
#include "tests/support/table_truth.h"

static struct table_scores scores; /* too large for the stack, as are models */
static struct model model;

static int usage(void)
{
    fputs("usage: score_tables random|wild|scenario [FIRST_SEED [COUNT [TABLE]]] [-v] [-o]\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char *word[4] = {"", "1", "100", NULL};
    int words = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-v") || !strcmp(argv[i], "-o")) {
            scores.details = stderr;
            scores.outside |= argv[i][1] == 'o';
        } else if (words < 4) {
            word[words++] = argv[i];
        } else {
            return usage();
        }
    }
    static const struct {
        const char *name;
        void (*draw)(struct model *out, uint64_t seed);
    } models[] = {{"random", random_model}, {"wild", wild_model}, {"scenario", scenario_model}};
    size_t kind = 0;
    while (kind < sizeof models / sizeof *models && strcmp(word[0], models[kind].name) != 0)
        kind++;
    if (kind == sizeof models / sizeof *models)
        return usage();
    unsigned long first = strtoul(word[1], NULL, 10), count = strtoul(word[2], NULL, 10);
    size_t n, measured = 0;
    const struct table_kind *const *kinds = truth_tables(&n);
    for (unsigned long seed = first; seed < first + count; seed++) {
        models[kind].draw(&model, seed);
        for (size_t i = 0; i < n; i++)
            if (!word[3] || strcmp(word[3], kinds[i]->name) == 0) {
                truth_check(kinds[i], &model, seed, &scores);
                measured++;
            }
    }
    if (!measured)
        return usage();
    printf("%s models %lu to %lu\n", word[0], first, first + count - 1);
    truth_print(stdout, &scores);
    return 0;
}
