/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges which CPUs share a core by the rates of each while others run and pause. */
#include "computer/cpu/core_pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/order.h"
#include "util/splitmix64.h"
#include "util/text_list.h"

/* Sharing varies if the moments with and without it are surely more than these parts of all, where those with it exceed
 * the null, which is symmetric, by so many standard deviations. Where they are not surely less, it may. */
static const double WITH = 0.1, WITHOUT = 0.2, SIGMAS = 4;
static const double LITTLE_WITH = 0.05, LITTLE_WITHOUT = 0.1, SIGMAS_LITTLE = 2.5;

const char *const core_pair_kind_names[CORE_PAIR_KINDS] = {"undecided", "apart", "shared", "varies"};

/* ---- who does what when ---- */

/* Two numbers differ in the parity of the bits that a random word selects in half of the rounds, or in more where
 * there are few CPUs: with two always. Which of them then measure in a round is random, too. */
static bool measures(const struct core_pairs *p, size_t round, size_t i)
{
    uint64_t words = 2;
    while (words < p->n)
        words *= 2;
    const uint64_t random = splitmix64(p->seed + round * SPLITMIX64_STEP), chosen = 1 + (random >> 1) % (words - 1);
    return ((uint64_t)__builtin_parityll(i & chosen) ^ random) & 1;
}

bool core_pairs_runs(const struct core_pairs *p, size_t round, unsigned half, size_t i)
{
    const uint64_t first = splitmix64(~p->seed + (round * CORE_PAIRS_CPUS_MAX + i) * SPLITMIX64_STEP) & 1;
    return measures(p, round, i) || first == half;
}

/* ---- room ---- */

static void list_pairs(struct core_pairs *p, const char *root)
{
    int core[CORE_PAIRS_CPUS_MAX];
    for (size_t i = 0; i < p->n; i++)
        core[i] = cpu_core_of(root, p->cpus[i]);
    for (size_t a = 0; a < p->n; a++)
        for (size_t b = a + 1; b < p->n; b++)
            p->pairs[p->n_pairs++] = (struct core_pair){.a = p->cpus[a], .b = p->cpus[b], .said = core[a] == core[b]};
}

int core_pairs_begin(const char *root, const struct cpu_view *v, size_t rounds, uint64_t seed, struct core_pairs *out)
{
    *out = (struct core_pairs){.seed = seed, .most = rounds};
    out->cpus = calloc(CORE_PAIRS_CPUS_MAX, sizeof *out->cpus);
    for (int cpu = 0; out->cpus != NULL && cpu < CPU_LIMIT && out->n < CORE_PAIRS_CPUS_MAX; cpu++)
        if (cpu_usable(v, cpu))
            out->cpus[out->n++] = cpu;
    out->slots = calloc(2 * rounds * out->n + 1, sizeof *out->slots);
    out->pairs = calloc(out->n * out->n / 2 + 1, sizeof *out->pairs);
    if (out->cpus == NULL || out->slots == NULL || out->pairs == NULL) {
        core_pairs_free(out);
        return -1;
    }
    list_pairs(out, root);
    return 0;
}

void core_pairs_free(struct core_pairs *p)
{
    free(p->cpus);
    free(p->slots);
    free(p->pairs);
    *p = (struct core_pairs){0};
}

/* ---- judging ---- */

/* In which half a CPU paused, of a round in which it was there: 0, 1; MEASURED: in none; ABSENT: it was not there. */
enum { MEASURED = 2, ABSENT = 3 };
static unsigned char part_of(const struct core_slot *first, const struct core_slot *second)
{
    if (!first->present || !second->present)
        return ABSENT;
    return isnan(first->log_rate) ? 0 : isnan(second->log_rate) ? 1 : MEASURED;
}

/* All limits are order statistics (Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2). */
static void judge_pair(struct core_pair *out, double *d, size_t n)
{
    const double shared = log(CORE_PAIRS_SHARED), apart = log(CORE_PAIRS_APART);
    const double root = sqrt((double)n);
    size_t down = 0, up = 0, without = 0;
    out->moments = (unsigned)n;
    out->kind = CORE_PAIR_UNDECIDED;
    out->rate = out->lo = out->hi = out->shared = NAN;
    if (n < CORE_PAIRS_MOMENTS_LEAST)
        return;
    for (size_t i = 0; i < n; i++) {
        down += d[i] < shared;
        up += d[i] > -shared;
        without += d[i] > apart;
    }
    const size_t below = (size_t)(0.5 * (double)n - 0.98 * root);
    out->lo = exp(order_nth_smallest(d, n, below));
    out->hi = exp(order_nth_smallest(d, n, n - 1 - below));
    out->rate = exp(order_median(d, n));
    const double excess = (double)down - (double)up, sigma = sqrt((double)(down + up));
    const double with = fmax(excess, 0) / (double)n, apart_part = (double)without / (double)n;
    out->shared = with;
    if (with > WITH && excess > SIGMAS * sigma && apart_part > WITHOUT)
        out->kind = CORE_PAIR_VARIES;
    else if (out->hi < CORE_PAIRS_SHARED && apart_part < LITTLE_WITHOUT)
        out->kind = CORE_PAIR_SHARED;
    else if (out->lo > CORE_PAIRS_APART && (with < LITTLE_WITH || excess < SIGMAS_LITTLE * sigma))
        out->kind = CORE_PAIR_APART;
}

struct judging {
    unsigned char *part; /* of each round and CPU */
    unsigned *toggling;  /* of each round and CPU, how many toggle that share its core, as far as that is known: */
    bool *together;      /* of each pair, by both CPUs, the first one first */
    double *d;           /* of one pair: the differences of logarithms of rates */
};

/* Rounds in which another CPU toggles that shares the core of the one that measures say nothing. */
static void judge_all(struct core_pairs *p, const struct judging *j)
{
    struct core_pair *pair = p->pairs;
    for (size_t a = 0; a < p->n; a++)
        for (size_t b = a + 1; b < p->n; b++) {
            const unsigned own = j->together[a * p->n + b];
            size_t n = 0;
            for (size_t r = 0; r < p->rounds; r++) {
                const unsigned char *part = &j->part[r * p->n];
                const size_t from = part[a] == MEASURED ? a : b, paused = part[a + b - from];
                if (part[from] != MEASURED || paused >= MEASURED || j->toggling[r * p->n + from] != own)
                    continue;
                const struct core_slot *slot = &p->slots[2 * r * p->n + from];
                const double later = (double)slot[p->n].log_rate - (double)slot[0].log_rate;
                j->d[n++] = paused == 0 ? later : -later;
            }
            judge_pair(pair++, j->d, n);
        }
}

static void find_toggling(const struct core_pairs *p, struct judging *j)
{
    const struct core_pair *pair = p->pairs;
    for (size_t a = 0; a < p->n; a++)
        for (size_t b = a + 1; b < p->n; b++, pair++)
            if (pair->kind == CORE_PAIR_SHARED || pair->kind == CORE_PAIR_VARIES) {
                j->together[a * p->n + b] = true;
                for (size_t r = 0; r < p->rounds; r++) {
                    j->toggling[r * p->n + a] += !measures(p, r, b);
                    j->toggling[r * p->n + b] += !measures(p, r, a);
                }
            }
}

int core_pairs_judge(struct core_pairs *p)
{
    const size_t all = p->n * p->rounds;
    struct judging j = {calloc(all + 1, sizeof *j.part), calloc(all + 1, sizeof *j.toggling),
                        calloc(p->n * p->n + 1, sizeof *j.together), calloc(p->rounds + 1, sizeof *j.d)};
    int undecided = -1;
    if (j.part != NULL && j.toggling != NULL && j.together != NULL && j.d != NULL) {
        for (size_t i = 0; i < all; i++) {
            const struct core_slot *slot = &p->slots[i / p->n * 2 * p->n + i % p->n];
            j.part[i] = part_of(slot, slot + p->n);
        }
        judge_all(p, &j);
        find_toggling(p, &j);
        judge_all(p, &j);
        undecided = 0;
        for (size_t i = 0; i < p->n_pairs; i++)
            undecided += p->pairs[i].kind == CORE_PAIR_UNDECIDED;
    }
    free(j.part);
    free(j.toggling);
    free(j.together);
    free(j.d);
    return undecided;
}

/* ---- what follows ---- */

static bool contradicts(const struct core_pair *p)
{
    return p->kind == (p->said ? CORE_PAIR_APART : CORE_PAIR_SHARED);
}

bool core_pairs_cores(const struct core_pairs *p, const char *root, int *core)
{
    bool any = false;
    for (size_t i = 0; i < p->n_pairs; i++)
        any |= contradicts(&p->pairs[i]);
    if (!any)
        return false;
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++)
        core[cpu] = cpu_core_of(root, cpu);
    for (size_t i = 0; i < p->n; i++)
        core[p->cpus[i]] = p->cpus[i];
    for (size_t i = 0; i < p->n_pairs; i++) { /* in the order of the first CPU, then of the second */
        const struct core_pair *pair = &p->pairs[i];
        if (pair->said != contradicts(pair) && core[pair->b] == pair->b)
            core[pair->b] = core[pair->a];
    }
    return true;
}

void core_pair_text(const struct core_pair *p, char *out, size_t size)
{
    char rates[120];
    const char *than = !contradicts(p) ? ""
                       : p->said       ? ", although sysfs says that they do"
                                       : ", although sysfs says that they do not";
    snprintf(rates, sizeof rates, "while one runs, the other has %.2f [%.2f, %.2f] of its rate", p->rate, p->lo, p->hi);
    if (p->kind == CORE_PAIR_SHARED)
        snprintf(out, size, "CPUs %d and %d share a core (%s)%s", p->a, p->b, rates, than);
    else if (p->kind == CORE_PAIR_APART)
        snprintf(out, size, "CPUs %d and %d do not share a core (%s)%s", p->a, p->b, rates, than);
    else if (p->kind == CORE_PAIR_VARIES)
        snprintf(out, size, "CPUs %d and %d share a core now and then, in %.0f %% of %u moments", p->a, p->b,
                 100 * p->shared, p->moments);
    else if (p->moments < CORE_PAIRS_MOMENTS_LEAST)
        snprintf(out, size, "CPUs %d and %d ran at the same time in %u moments only", p->a, p->b, p->moments);
    else
        snprintf(out, size, "CPUs %d and %d: %s", p->a, p->b, rates);
}

size_t core_pairs_text(const struct core_pairs *p, enum core_pair_kind kind, char *out, size_t size)
{
    enum { MORE = 30 };
    size_t n = 0, said = 0;
    out[0] = '\0';
    for (size_t i = 0; i < p->n_pairs; i++) {
        char one[200];
        const struct core_pair *pair = &p->pairs[i];
        if (kind == CORE_PAIR_KINDS ? !contradicts(pair) : pair->kind != kind)
            continue;
        core_pair_text(pair, one, sizeof one);
        if (n++ == said && strlen(out) + strlen(one) + MORE < size) {
            text_list_add(out, size, "; ", "%s", one);
            said++;
        }
    }
    if (n > said)
        text_list_add(out, size, "; ", "%zu more pairs", n - said);
    return n;
}
