/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alone: rates and latencies of this processor's caches */
/*
 * Operands come from where the kernels' names say: each level is slower than the one before, by rate and by the latency
 * of a chase through the same buffer. Only ratios of medians are compared, of blocks and chases in turns, so that
 * whoever else runs here disturbs all alike. Neighbors on the core take L2 away, others L3: where in none of several
 * looks each level differs from the next, but the first ones from memory, the test is skipped, visibly.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <x86intrin.h>

#include "drivers/native/walks.h"
#include "tests/support/test.h"
#include "util/order.h"

enum { ROUNDS = 51, LOOKS = 5, STEPS = 2000, L1_BYTES = 4096 };

static struct walks walks;

/* Stays on the CPU it is on. */
static int make_all(void **state)
{
    static const char *const names[] = {"128load@l2", "128load@l3", "128load@ram"};
    struct machine_error err;
    struct cpu_caches caches;
    cpu_set_t set;
    (void)state;
    CPU_ZERO(&set);
    CPU_SET((size_t)sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
    cpu_caches_read("/sys", "/proc", sched_getcpu(), &caches);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct payload p = kernel_named(names[i]);
        if (walks_prepare(&walks, &caches, &p, &err) != MACHINE_OK)
            print_message("%s\n", err.text);
    }
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    walks_free(&walks);
    return 0;
}

TEST_GROUP(make_all, free_all)

static bool known(enum kernel_level level)
{
    return level == KERNEL_L1 || walks.of[level].bytes > 0;
}

static size_t lap_lines(enum kernel_level level)
{
    return walks.of[level].bytes / KERNEL_LINE;
}

/* How many times as long a level may take as the one before that is known: from so far apart that no noise does it, to
 * what no processor is near. */
struct bounds {
    double low, high;
};

enum verdict { ORDERED, ALIKE, WRONG };

/* All levels that are known in order; or only the first from the others; or not even that. */
static enum verdict judge(const double t[KERNEL_LEVELS], const struct bounds bounds[KERNEL_LEVELS])
{
    enum verdict v = ORDERED;
    double first = (double)NAN;
    for (enum kernel_level level = KERNEL_L2, before = KERNEL_L1; level < KERNEL_LEVELS; level++) {
        if (!known(level))
            continue;
        const double ratio = t[level] / t[before];
        if (!(ratio >= bounds[level].low && ratio <= bounds[level].high))
            v = ALIKE;
        first = isnan(first) ? ratio : first;
        before = level;
    }
    return v != ORDERED && !(first >= bounds[KERNEL_L2].low) ? WRONG : v;
}

/* Looks until one is in order. */
static void look(const char *what, void (*measure)(const char *what, double out[KERNEL_LEVELS]),
                 const struct bounds bounds[KERNEL_LEVELS], bool *alike)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < LOOKS; i++) {
        double t[KERNEL_LEVELS];
        measure(what, t);
        enum verdict v = judge(t, bounds);
        print_message("%s: %.2f in L1, %.2f in L2, %.2f in L3, %.2f in memory: TSC ticks%s\n", what, t[0], t[1], t[2],
                      t[3], v == ORDERED ? "" : ", not in order");
        if (v == ORDERED)
            return;
        wrong += v == WRONG;
    }
    if (wrong == LOOKS)
        fail_msg("%s: operands do not come from beyond L1", what);
    *alike = true;
}

static void skip_alike(bool alike)
{
    if (!alike)
        return;
    print_message("skipped: neighbors use the caches so much that levels cannot be told apart here\n");
    skip();
}

/* ---- rates ---- */

/* Ticks for each counted instruction. */
static double rate_ticks(const struct payload *p, uint64_t blocks)
{
    uint64_t begin = __rdtsc();
    assert_int_equal(p->run(blocks, 0, NULL, 0, walks_of(&walks, p)), blocks);
    return (double)(__rdtsc() - begin) / (double)(blocks * p->counted);
}

/* Medians in ticks an instruction; NaN where there is no such level here. */
static void measure_rates(const char *operation, double out[KERNEL_LEVELS])
{
    static const char *const suffixes[KERNEL_LEVELS] = {"", "@l2", "@l3", "@ram"};
    /* a lap of L2 and of L3 brings what the others have pushed out back; of memory there is always more */
    enum { BLOCKS = 200, MOST = 3000 };
    static double ticks[KERNEL_LEVELS][ROUNDS];
    for (size_t round = 0; round < ROUNDS; round++)
        for (enum kernel_level level = KERNEL_L1; level < KERNEL_LEVELS; level++) {
            char name[KERNEL_NAME_MAX];
            bool fma = level == KERNEL_L1 && strstr(operation, "fma") != NULL;
            snprintf(name, sizeof name, "%s%s", operation, fma ? "@mem" : suffixes[level]);
            struct payload p = kernel_named(name);
            size_t lap = 2 * lap_lines(level) / p.counted;
            if (!known(level))
                continue;
            rate_ticks(&p, level == KERNEL_L1 || lap > MOST ? BLOCKS : lap);
            ticks[level][round] = rate_ticks(&p, BLOCKS);
        }
    for (enum kernel_level level = KERNEL_L1; level < KERNEL_LEVELS; level++)
        out[level] = known(level) ? order_median(ticks[level], ROUNDS) : (double)NAN;
}

TEST(each_level_is_slower)
{
    /*
     * A line from L2 takes 1.2 to 2.5 cycles, a load from L1 0.33 to 1 (of 512 bits); Zen's L3 gives a core nearly what
     * its L2 does. Prefetching hides the latency of memory, not what its bandwidth for one core is: 10 to 40 GB/s.
     */
    static const struct bounds bounds[KERNEL_LEVELS] = {
        [KERNEL_L2] = {1.2, 30}, [KERNEL_L3] = {0.97, 30}, [KERNEL_RAM] = {1.3, 50}};
    static const char *const operations[] = {"128load", "256load", "512load", "128fma", "256fma", "512fma"};
    bool alike = false;
    skip_where_sanitized("the kernels' rates are measured without sanitizers");
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if ((kernel_named(operations[i]).kernel->features & ~kernel_cpu_features()) == 0)
            look(operations[i], measure_rates, bounds, &alike);
    skip_alike(alike);
}

/* ---- latencies ---- */

/* Makes of so many lines one random cycle of pointers (Sattolo, An algorithm to generate a random cyclic permutation,
 * 1986). */
static void *make_cycle(uint8_t *begin, size_t lines)
{
    uint64_t seed = 1;
    size_t *order = malloc(lines * sizeof *order);
    assert_non_null(order);
    for (size_t i = 0; i < lines; i++)
        order[i] = i;
    for (size_t i = lines - 1; i > 0; i--) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        size_t j = (size_t)((seed >> 33) % i), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    for (size_t i = 0; i < lines; i++)
        *(void **)(void *)(begin + order[i] * KERNEL_LINE) = begin + order[(i + 1) % lines] * KERNEL_LINE;
    free(order);
    return begin;
}

static double chase_ticks(void **place, size_t steps)
{
    void *p = *place;
    uint64_t begin = __rdtsc();
    for (size_t i = 0; i < steps; i++)
        __asm__ volatile("mov (%0), %0" : "+r"(p));
    double ticks = (double)(__rdtsc() - begin) / (double)steps;
    *place = p;
    return ticks;
}

static void *chased[KERNEL_LEVELS];

static void measure_latencies(const char *what, double out[KERNEL_LEVELS])
{
    static double ticks[KERNEL_LEVELS][ROUNDS];
    (void)what;
    for (size_t round = 0; round < ROUNDS; round++)
        for (enum kernel_level level = KERNEL_L1; level < KERNEL_LEVELS; level++)
            if (known(level)) {
                /* laps bring back what the others have pushed out, until neighbors on L3 have made room */
                chase_ticks(&chased[level], level == KERNEL_L2   ? 2 * lap_lines(level)
                                            : level == KERNEL_L3 ? 8 * lap_lines(level)
                                                                 : STEPS);
                ticks[level][round] = chase_ticks(&chased[level], STEPS);
            }
    for (enum kernel_level level = KERNEL_L1; level < KERNEL_LEVELS; level++)
        out[level] = known(level) ? order_median(ticks[level], ROUNDS) : (double)NAN;
}

TEST(each_level_takes_longer)
{
    /* 4 to 5 cycles, 12 to 17, 40 to 75 and more where cores are many, 50 to 150 ns */
    static const struct bounds bounds[KERNEL_LEVELS] = {
        [KERNEL_L2] = {1.5, 20}, [KERNEL_L3] = {1.5, 60}, [KERNEL_RAM] = {1.3, 30}};
    static _Alignas(4096) uint8_t small[L1_BYTES];
    bool alike = false;
    skip_where_sanitized("latencies are measured without sanitizers");
    chased[KERNEL_L1] = make_cycle(small, L1_BYTES / KERNEL_LINE);
    for (enum kernel_level level = KERNEL_L2; level < KERNEL_LEVELS; level++)
        if (known(level))
            chased[level] = make_cycle(walks.of[level].memory.start, lap_lines(level));
    look("a dependent load", measure_latencies, bounds, &alike);
    skip_alike(alike);
}

/* The judgement itself. */
TEST(what_is_in_order)
{
    static const struct bounds bounds[KERNEL_LEVELS] = {
        [KERNEL_L2] = {1.5, 20}, [KERNEL_L3] = {1.5, 60}, [KERNEL_RAM] = {1.3, 30}};
    static const struct {
        double t[KERNEL_LEVELS];
        enum verdict verdict;
    } cases[] = {{{4, 14, 50, 300}, ORDERED}, {{4, 14, 250, 300}, ALIKE}, {{4, 14, 15, 300}, ALIKE},
                 {{4, 4, 50, 300}, WRONG},    {{4, 4, 4, 4}, WRONG},      {{4, 14, 50, 50}, ALIKE},
                 {{4, 14, 1000, 1500}, ALIKE}};
    for (enum kernel_level level = KERNEL_L2; level < KERNEL_LEVELS; level++)
        if (!known(level))
            skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(judge(cases[i].t, bounds), cases[i].verdict);
}
