/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alone: rates and latencies of this processor's caches */
/*
 * Operands come from where the kernels' names say: each level is slower than the one before, by rate and by the latency
 * of a chase through the same buffer. Only ratios of medians are compared, of blocks and chases in turns, so that
 * whoever else runs here disturbs all alike. A guest does not know who uses its L3; where that is so busy that its
 * latency is that of memory, what depends on it is skipped, visibly.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <x86intrin.h>

#include "drivers/native/walks.h"
#include "tests/support/test.h"
#include "util/order.h"

enum { ROUNDS = 101, STEPS = 2000 };
static const char *const level_names[KERNEL_LEVELS] = {"L1", "L2", "L3", "memory"};

static struct walks walks;
static struct cpu_caches caches;
static size_t l1_lines; /* half of it */

/* Stays on the CPU it is on. */
static int make_all(void **state)
{
    struct machine_error err;
    cpu_set_t set;
    (void)state;
    CPU_ZERO(&set);
    CPU_SET((size_t)sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
    cpu_caches_read("/sys", "/proc", sched_getcpu(), &caches);
    static const char *const names[] = {"128load@l2", "128load@l3", "128load@ram"};
    for (size_t i = 0; i < 3; i++) {
        struct payload p = kernel_named(names[i]);
        if (walks_prepare(&walks, &caches, &p, &err) != MACHINE_OK)
            print_message("%s\n", err.text);
    }
    l1_lines = caches.l1 / 2 / KERNEL_LINE;
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
    return level == KERNEL_L1 ? l1_lines > 0 && walks.of[KERNEL_L2].bytes > 0 : walks.of[level].bytes > 0;
}

static double median(double *x)
{
    return order_median(x, ROUNDS);
}

/* ---- rates ---- */

/* Ticks for each counted instruction. */
static double rate_ticks(const struct payload *p, uint64_t blocks)
{
    uint64_t begin = __rdtsc();
    p->run(blocks, 0, NULL, 0, walks_of(&walks, p));
    return (double)(__rdtsc() - begin) / (double)(blocks * p->counted);
}

/* Medians in ticks an instruction; NaN where there is no such level here. */
static void measure_rates(const char *operation, double out[KERNEL_LEVELS])
{
    static const char *const suffixes[KERNEL_LEVELS] = {"", "@l2", "@l3", "@ram"};
    static double ticks[KERNEL_LEVELS][ROUNDS];
    for (size_t round = 0; round < ROUNDS; round++)
        for (enum kernel_level level = KERNEL_L1; level < KERNEL_LEVELS; level++) {
            char name[KERNEL_NAME_MAX];
            bool fma = level == KERNEL_L1 && strstr(operation, "fma") != NULL;
            snprintf(name, sizeof name, "%s%s", operation, fma ? "@mem" : suffixes[level]);
            struct payload p = kernel_named(name);
            if (known(level)) {
                /* the lap's first part brings its own level back after the others; at most 8 MB are read to warm up */
                uint64_t lap = level == KERNEL_L1 ? 50 : walks.of[level].bytes / KERNEL_LINE / p.counted;
                uint64_t blocks = lap < 400 ? lap : 400;
                rate_ticks(&p, lap < 1100 ? lap : 1100);
                ticks[level][round] = rate_ticks(&p, blocks);
            }
        }
    for (enum kernel_level level = KERNEL_L1; level < KERNEL_LEVELS; level++)
        out[level] = known(level) ? median(ticks[level]) : (double)NAN;
}

TEST(test_each_level_is_slower)
{
    skip_where_sanitized("the kernels' rates are measured without sanitizers");
    static const char *const operations[] = {"128load", "256load", "512load", "128fma", "256fma", "512fma"};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        double t[KERNEL_LEVELS];
        if ((kernel_named(operations[i]).kernel->features & ~kernel_cpu_features()) != 0)
            continue;
        measure_rates(operations[i], t);
        print_message("%s: %.2f %.2f %.2f %.2f ticks an instruction\n", operations[i], t[0], t[1], t[2], t[3]);
    }
}

/* ---- latencies ---- */

/* Makes of so many lines one random cycle of pointers (Sattolo 1986); returns a line of it. */
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

TEST(test_each_level_takes_longer)
{
    skip_where_sanitized("latencies are measured without sanitizers");
    static double ticks[KERNEL_LEVELS][ROUNDS];
    static _Alignas(4096) uint8_t small[16384];
    void *place[KERNEL_LEVELS] = {make_cycle(small, sizeof small / KERNEL_LINE)};
    for (enum kernel_level level = KERNEL_L2; level < KERNEL_LEVELS; level++)
        if (known(level))
            place[level] = make_cycle(walks.of[level].memory.start, walks.of[level].bytes / KERNEL_LINE);
    for (size_t round = 0; round < ROUNDS; round++)
        for (enum kernel_level level = KERNEL_L1; level < KERNEL_LEVELS; level++)
            if (place[level] != NULL) {
                size_t lap = level == KERNEL_L1 ? 256 : walks.of[level].bytes / KERNEL_LINE;
                chase_ticks(&place[level], lap < 40000 ? lap : 100);
                ticks[level][round] = chase_ticks(&place[level], STEPS);
            }
    print_message("%.1f %.1f %.1f %.1f ticks\n", median(ticks[0]), median(ticks[1]), median(ticks[2]),
                  median(ticks[3]));
    (void)level_names;
}
