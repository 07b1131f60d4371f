/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The analysis on traces as busy guests give them, with known answers: how many are right, undecided and false.
 *
 * score_guest KIND|all [FIRST_SEED [COUNT]] [--wild] [-v]   -v: what is not right; --wild: any samples and chains
 * score_guest KIND SEED [--wild] --csv FILE            writes that trace ("-": to standard output)
 * score_guest --cases DIR [-v]                         recorded ones, with the answers in DIR/truth.json
 * Exit status: 0; 1 if fewer than nine in ten are right, or more than 3 % false.
 */
#include <stdbool.h>
#include <stdio.h>

#include "tests/support/guest_score.h"
#include "tests/support/guest_traces.h"
#include "tests/support/score_words.h"

#define RIGHT_LEAST 0.9
#define FALSE_MOST 0.03

struct sum {
    size_t of[GUEST_VERDICTS], traces;
    double seconds;
    struct guest_held held[GUEST_LIMITS];
};

static const char *name_of(int kind)
{
    return guest_kind_name((enum guest_kind)kind);
}

static int write_csv(enum guest_kind kind, uint64_t seed, bool wild, const char *path)
{
    struct trace t;
    struct guest_truth truth;
    if ((wild ? guest_trace_wild : guest_trace)(kind, seed, &t, &truth))
        return 1;
    int bad = score_write_csv(&t, path);
    trace_free(&t);
    return bad;
}

static void judge(struct sum *s, const char *name, const struct trace *t, const struct guest_truth *truth, bool details)
{
    struct phases p;
    char why[300];
    double begin = score_seconds();
    int refused = phases_find(t, &p, why, sizeof why);
    s->seconds += score_seconds() - begin;
    enum guest_verdict v = refused ? GUEST_UNDECIDED : guest_judge(truth, &p, why, sizeof why);
    s->of[v]++;
    if (v == GUEST_RIGHT)
        guest_check_limits(truth, t, &p, s->held);
    s->traces++;
    if (details && v != GUEST_RIGHT)
        printf("  %s is %s: %s\n", name, guest_verdict_name(v), why);
    if (details && v != GUEST_RIGHT && !refused)
        guest_print_answer(stdout, truth, &p);
    if (!refused)
        phases_free(&p);
}

static void print_sum(const char *name, const struct sum *s)
{
    printf("%-10s %5zu traces: %5zu right %5zu undecided %5zu false  %7.2f s\n", name, s->traces, s->of[GUEST_RIGHT],
           s->of[GUEST_UNDECIDED], s->of[GUEST_FALSE], s->seconds);
    fflush(stdout);
}

static void print_limits(const struct sum *s)
{
    static const char *const names[GUEST_LIMITS] = {"durations", "halts", "ratios", "time constants"};
    for (int i = 0; i < GUEST_LIMITS; i++) {
        const struct guest_held *h = &s->held[i];
        double n = (double)h->n;
        if (h->n)
            printf("%-15s %5zu limits: %5.1f %% hold, off by %.4f on average, half of them %.4f\n", names[i], h->n,
                   100 * (double)h->held / n, h->off / n, h->wide / n);
    }
}

static void add_sum(struct sum *to, const struct sum *s)
{
    for (int v = 0; v < GUEST_VERDICTS; v++)
        to->of[v] += s->of[v];
    to->traces += s->traces;
    for (int i = 0; i < GUEST_LIMITS; i++) {
        to->held[i].n += s->held[i].n;
        to->held[i].held += s->held[i].held;
        to->held[i].off += s->held[i].off;
        to->held[i].wide += s->held[i].wide;
    }
    to->seconds += s->seconds;
}

static int judge_kind(enum guest_kind kind, uint64_t first, size_t count, bool wild, bool details, struct sum *total)
{
    struct sum s = {0};
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct trace t;
        struct guest_truth truth;
        char name[40];
        if ((wild ? guest_trace_wild : guest_trace)(kind, seed, &t, &truth))
            return -1;
        snprintf(name, sizeof name, "%s %llu", guest_kind_name(kind), (unsigned long long)seed);
        judge(&s, name, &t, &truth, details);
        trace_free(&t);
    }
    print_sum(guest_kind_name(kind), &s);
    if (details)
        print_limits(&s);
    add_sum(total, &s);
    return 0;
}

static int judge_cases(const char *folder, bool details, struct sum *total)
{
    struct trace t;
    struct guest_truth truth;
    char name[300];
    int found;
    for (size_t i = 0; (found = guest_case(folder, i, &t, &truth, name, sizeof name)) > 0; i++) {
        judge(total, name, &t, &truth, details);
        trace_free(&t);
    }
    if (found < 0)
        fprintf(stderr, "%s\n", name);
    return found;
}

static bool enough(const struct sum *s)
{
    double n = (double)s->traces;
    return (double)s->of[GUEST_RIGHT] >= RIGHT_LEAST * n && (double)s->of[GUEST_FALSE] <= FALSE_MOST * n;
}

int main(int argc, char **argv)
{
    const char *cases = NULL;
    bool details = false, wild = false;
    const struct score_option options[] = {{"-v", &details, NULL}, {"--wild", &wild, NULL}, {"--cases", NULL, &cases}};
    struct score_words w = {.usage = "score_guest KIND|all [FIRST_SEED [COUNT]] [--wild] [-v]\n"
                                     "       score_guest KIND SEED [--wild] --csv FILE\n"
                                     "       score_guest --cases DIR [-v]",
                            .name = name_of,
                            .kinds = GUEST_KINDS,
                            .options = options,
                            .n_options = 3,
                            .count = 20};
    struct sum total = {0};
    int bad = 0;
    if (score_words_read(&w, argc, argv))
        return 2;
    if (w.csv)
        return write_csv((enum guest_kind)w.chosen, w.first, wild, w.csv);
    if (cases)
        bad = judge_cases(cases, details, &total);
    for (int k = 0; !cases && k < GUEST_KINDS && !bad; k++)
        if (w.chosen < 0 || w.chosen == k)
            bad = judge_kind((enum guest_kind)k, w.first, w.count, wild, details, &total);
    print_sum("together", &total);
    print_limits(&total);
    return bad || !enough(&total) ? 1 : 0;
}
