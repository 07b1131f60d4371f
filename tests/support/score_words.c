/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/score_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int words_usage(const struct score_words *w)
{
    fprintf(stderr, "usage: %s\nkinds:", w->usage);
    for (int k = 0; k < w->kinds; k++)
        fprintf(stderr, " %s", w->name(k));
    fputc('\n', stderr);
    return -1;
}

static const struct score_option *option_of(const struct score_words *w, const char *word)
{
    for (size_t i = 0; i < w->n_options; i++)
        if (!strcmp(w->options[i].word, word))
            return &w->options[i];
    return NULL;
}

int score_words_read(struct score_words *w, int argc, char **argv)
{
    const char *word[3] = {"all", "1", NULL};
    int words = 0;
    for (int i = 1; i < argc; i++) {
        const struct score_option *o = option_of(w, argv[i]);
        if (o && o->given)
            *o->given = true;
        else if (o && i + 1 < argc)
            *o->value = argv[++i];
        else if (!strcmp(argv[i], "--csv") && i + 1 < argc)
            w->csv = argv[++i];
        else if (words < 3)
            word[words++] = argv[i];
        else
            return words_usage(w);
    }
    w->chosen = -1;
    for (int k = 0; k < w->kinds; k++)
        if (!strcmp(word[0], w->name(k)))
            w->chosen = k;
    w->first = strtoull(word[1], NULL, 10);
    w->count = word[2] ? strtoul(word[2], NULL, 10) : w->count;
    return (w->chosen < 0 && (strcmp(word[0], "all") || w->csv)) || !w->count ? words_usage(w) : 0;
}

int score_write_csv(const struct trace *t, const char *path)
{
    FILE *out = strcmp(path, "-") ? fopen(path, "w") : stdout;
    int bad = !out || trace_write_csv(out, t);
    if (bad)
        perror(path);
    if (out && out != stdout)
        fclose(out);
    return bad;
}

double score_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
