/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alone: rates of kernels on this processor */
/* slow: the rate of each kernel, by itself, repeated until quiet */
/*
 * The rates: counted instructions per core cycle of every kernel, plausible for any x86-64 CPU, and the same within 2 %
 * (mixtures: 5 %) over block counts. Core cycles come from the dependent chain, measured right after, before the
 * frequency recovers; what a call costs cancels, because a run of B blocks is subtracted from one of 2 B. The first
 * wide instructions after a while without cost up to microseconds (that is what this program is about), so untimed runs
 * come first.
 *
 * Timing on a machine that does other things too: a trial in which the two chain measurements differ was disturbed and
 * is discarded; of the others the tenth percentile counts, because a disturbance only ever adds time. Where too few
 * survive, or the survivors scatter so widely that a difference of 2 % means nothing, or chains of adds differ by as
 * much from each other, the test is skipped and says so with the numbers.
 */
#include <sched.h>
#include <x86intrin.h>

#include "kernels/kernels.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

enum { TRIALS = 61, WANTED = 15, LOOKS = 12, CHAIN_BLOCKS = 128, SIZES = 3, SUSPECTS_MAX = 128 };
/* 40 to 100 us: the frequency and power transitions of published parts are over by then */
enum { WARM_TICKS = 160000 };
static const uint64_t block_counts[SIZES] = {64, 256, 1024};
static const double same_rate = 0.02;
/* ... of moves, six a cycle, which the fixed cost of a block's start touches three times as much (Golden Cove: 3 %) */
static const double same_move_rate = 0.045;
/* Mixed with scalar instructions on several ports: until the schedulers have filled, a mixture runs faster, so that 64
 * blocks of an eighth of 512-bit code show up to 4 % more than 1024 of them (Emerald Rapids, look after look). */
static const double same_mixed_rate = 0.05;

struct tally {
    unsigned trials, discarded, noisy;
};

static uint64_t clock_now(void)
{
    _mm_lfence();
    uint64_t t = __rdtsc();
    _mm_lfence();
    return t;
}

static double ticks(kernel_fn *f, uint64_t blocks)
{
    uint64_t begin = clock_now();
    f(blocks, 0, NULL, 0, NULL);
    return (double)(clock_now() - begin);
}

/* Ticks of one block, without what the call costs. */
static double block_ticks(kernel_fn *f, uint64_t blocks)
{
    double one = ticks(f, blocks), two = ticks(f, 2 * blocks);
    return (two - one) / (double)blocks;
}

static kernel_fn *chain_kernel(unsigned *adds)
{
    struct payload p;
    char why[240];
    assert_int_equal(kernel_parse("chain", &p, why, sizeof why), 0);
    *adds = p.instructions;
    return p.run;
}

static double ticks_per_cycle(void)
{
    unsigned adds;
    kernel_fn *chain = chain_kernel(&adds);
    return block_ticks(chain, CHAIN_BLOCKS) / adds;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Cycles of one block, how far apart the best quarter of the trials lies (relative), and how many trials count. */
struct cycles {
    double block, spread;
    unsigned survivors;
};

static struct cycles measure(kernel_fn *f, uint64_t blocks, struct tally *tally)
{
    double once[TRIALS], twice[TRIALS];
    struct cycles c = {0};
    for (unsigned i = 0; i < TRIALS; i++) {
        /* of varying length: what happens at a fixed time after its start must not always hit the same run */
        f(blocks, __rdtsc() + WARM_TICKS + i * 977 % TRIALS * (WARM_TICKS / TRIALS), NULL, 0, NULL);
        double one = ticks(f, blocks), two = ticks(f, 2 * blocks);
        double cycle = ticks_per_cycle(), again = ticks_per_cycle();
        tally->trials++;
        if (cycle <= 0 || again <= 0 || fabs(again / cycle - 1) > 0.01) {
            tally->discarded++;
            continue;
        }
        once[c.survivors] = one / ((cycle + again) / 2);
        twice[c.survivors++] = two / ((cycle + again) / 2);
    }
    unsigned n = c.survivors;
    if (n < WANTED)
        return c;
    qsort(once, n, sizeof once[0], ascending);
    qsort(twice, n, sizeof twice[0], ascending);
    c.block = (twice[n / 10] - once[n / 10]) / (double)blocks;
    c.spread = (once[n / 4] - once[n / 20] + twice[n / 4] - twice[n / 20]) / (c.block * (double)blocks);
    return c;
}

struct bounds {
    double low, high; /* counted instructions per core cycle */
};

/* Rates that any x86-64 core since Haswell and Zen can reach, by the tables of uops.info: ports per operation, and
 * units that are half as wide as the vectors; latencies 3 to 6 for arithmetic; scalar logic exactly one a cycle. */
static struct bounds bounds_of(const struct kernel *k)
{
    /*
     * Loads: three a cycle since Golden Cove and Zen 5, two of 512 bits; Zen 4 and Zen 1 split the widest. Stores: two
     * a cycle since Ice Lake, to the same line; of 512 bits one, on Zen 4 half of one. Gathers may be slowed down to 50
     * cycles by microcode (Intel, Gather Data Sampling). Moves that the renamer executes: as many as it can take.
     */
    static const struct {
        const char *operation;
        struct bounds narrow, wide;
    } others[] = {{"fmaadd", {0.45, 4.1}, {0.45, 4.1}},   {"load", {0.9, 3.08}, {0.9, 2.05}},
                  {"store", {0.45, 2.05}, {0.45, 1.03}},  {"gather", {0.008, 1.03}, {0.008, 0.5}},
                  {"mov", {0.45, 8.1}, {0.45, 8.1}},      {"shuf", {0.45, 4.1}, {0.45, 4.1}},
                  {"add@zmask", {0.45, 4.1}, {0.45, 4.1}}};
    const char *operation = k->name + strspn(k->name, "0123456789");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(operation, others[i].operation, strlen(others[i].operation)) == 0)
            return k->width == 512 ? others[i].wide : others[i].narrow;
    bool fma = strncmp(operation, "fma", 3) == 0, mul = strncmp(operation, "mul", 3) == 0;
    bool perm = strncmp(operation, "perm", 4) == 0, scalar = k->width == 64 && !fma;
    if (strcmp(k->name, "pause") == 0)
        return (struct bounds){1 / 300.0, 1 / 3.0};
    if (strcmp(k->name, "amx") == 0)
        return (struct bounds){1 / 40.0, 1 / 15.7};
    if (k->latency_bound && (fma || mul))
        return (struct bounds){1 / 6.15, 1 / 2.94};
    if (k->latency_bound && perm)
        return (struct bounds){1 / 8.15, 1 / 1.96};
    if (k->latency_bound)
        return (struct bounds){scalar ? 0.98 : 0.49, 1.02};
    if (fma || mul || perm)
        return (struct bounds){0.4, 2.05};
    return scalar ? (struct bounds){1.9, 6.1} : (struct bounds){0.4, 4.1};
}

enum verdict { NOISY, GOOD, BAD };

/* A variant under judgement. */
struct suspect {
    const struct kernel *kernel;
    unsigned density;
    struct bounds bounds;
    double same;        /* how far apart the rates may lie, relative */
    double rate[SIZES]; /* counted instructions a cycle, by block count */
    unsigned bad;       /* calm looks that showed bad rates */
    unsigned absurd;    /* looks, calm or not, that showed rates far out of bounds */
    enum verdict verdict;
};

/* How far apart (relative) the rates of a chain of adds lie, which are 1 whatever the block count: what slows chains
 * now and then, as a guest's neighbors do by 2 to 4 %, makes rates differ as much. INFINITY: not measured. */
static double spread_of_chains(struct tally *tally)
{
    double low = INFINITY, high = 0;
    struct payload chain;
    char why[240];
    assert_int_equal(kernel_parse("64add-lat", &chain, why, sizeof why), 0);
    for (size_t i = 0; i < SIZES; i++) {
        struct cycles c = measure(chain.run, block_counts[i], tally);
        if (c.survivors < WANTED)
            return INFINITY;
        low = fmin(low, c.block);
        high = fmax(high, c.block);
    }
    return high / low - 1;
}

/* spread: of what is known to be the same. */
static enum verdict look_at_rates(struct suspect *s, double spread, struct tally *tally)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < SIZES; i++) {
        struct cycles c = measure(s->kernel->variants[s->density], block_counts[i], tally);
        if (c.survivors < WANTED)
            return NOISY;
        s->rate[i] = s->kernel->block_counted[s->density] / c.block;
        low = s->rate[i] < low ? s->rate[i] : low;
        high = s->rate[i] > high ? s->rate[i] : high;
        spread = c.spread > spread ? c.spread : spread;
    }
    if (high / low - 1 <= s->same && low >= s->bounds.low && high <= s->bounds.high)
        return GOOD;
    s->absurd += low > 1.5 * s->bounds.high || high < s->bounds.low / 1.5;
    return spread > s->same / 2 ? NOISY : BAD;
}

/*
 * A calm machine decides at the first look. On a busy one those without a good look get more, after all others had
 * theirs; bad rates count when none was good and half of the looks were calm and bad, or all of them absurd: no
 * disturbance is the same every time.
 */
static void judge(struct suspect *s, size_t n, struct tally *tally)
{
    for (unsigned look = 0; look < LOOKS; look++) {
        double spread = spread_of_chains(tally);
        for (size_t i = 0; i < n; i++) {
            if (s[i].verdict == GOOD)
                continue;
            s[i].verdict = look_at_rates(&s[i], spread, tally);
            s[i].bad += s[i].verdict == BAD;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (s[i].verdict != GOOD)
            s[i].verdict = s[i].bad >= LOOKS / 2 || s[i].absurd == LOOKS ? BAD : NOISY;
        tally->noisy += s[i].verdict == NOISY;
    }
}

static double same_of(const struct kernel *k)
{
    return strcmp(k->name + strspn(k->name, "0123456789"), "mov") == 0 ? same_move_rate : same_rate;
}

static bool runnable(const struct kernel *k)
{
    char why[240];
    return (k->features & ~kernel_cpu_features()) == 0 && kernel_request_permission(k->features, why, sizeof why) == 0;
}

static const char *verdict_text(enum verdict v)
{
    return v == GOOD ? "" : v == BAD ? ": BAD" : ": too noisy";
}

static void report(const struct tally *t)
{
    print_message("%u trials, %u discarded as disturbed\n", t->trials, t->discarded);
    if (t->noisy == 0)
        return;
    print_message("skipped: this machine was too busy to judge %u of them; run it when nothing else does\n", t->noisy);
    skip();
}

/* The kernels are assembly, of which the sanitizers see nothing: their rates are measured once, without. */
static void leave_to_the_plain_build(void)
{
    skip_where_sanitized("the kernels' rates are measured without sanitizers");
}

TEST(test_rates_are_plausible_and_steady)
{
    leave_to_the_plain_build();
    static struct suspect suspects[SUSPECTS_MAX];
    size_t count, n = 0;
    const struct kernel *all = kernel_registry(&count);
    assert_true(count <= SUSPECTS_MAX);
    for (size_t i = 0; i < count; i++)
        if (all[i].level == KERNEL_L1 && runnable(&all[i])) /* of the others there is test_walk_rates.c */
            suspects[n++] = (struct suspect){
                .kernel = &all[i], .density = 1, .bounds = bounds_of(&all[i]), .same = same_of(&all[i])};
        else if (all[i].level == KERNEL_L1)
            print_message("%-12s not run, this CPU lacks what it needs\n", all[i].name);
    struct tally tally = {0};
    judge(suspects, n, &tally);
    unsigned bad = 0;
    for (const struct suspect *s = suspects; s < suspects + n; s++) {
        print_message("%-12s %6.3f %6.3f %6.3f a cycle (64, 256, 1024 blocks)%s\n", s->kernel->name, s->rate[0],
                      s->rate[1], s->rate[2], verdict_text(s->verdict));
        if (s->verdict == BAD)
            print_error("%s: expected the same within %.1f %%, and %.3f to %.3f\n", s->kernel->name, 100 * s->same,
                        s->bounds.low, s->bounds.high);
        bad += s->verdict == BAD;
    }
    assert_int_equal(bad, 0);
    report(&tally);
}

/* All instructions of a block a cycle: never more than a core can retire, and the wide ones not beyond their ports. Of
 * each kernel two densities, in turns, or all. */
TEST(test_densities_are_plausible_and_steady)
{
    leave_to_the_plain_build();
    static const unsigned densities[] = {2, 8, 32, 256};
    enum { DENSITIES = sizeof densities / sizeof densities[0] };
    static struct suspect suspects[DENSITIES * SUSPECTS_MAX];
    size_t count, n = 0;
    const struct kernel *all = kernel_registry(&count);
    assert_true(count <= SUSPECTS_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!all[i].has_density || all[i].level != KERNEL_L1 || !runnable(&all[i]))
            continue;
        for (size_t d = 0; d < DENSITIES; d++) {
            if (!rng_all_rounds() && d % 2 != i % 2)
                continue;
            double ports = bounds_of(&all[i]).high, retired = 8.1 / densities[d];
            struct bounds b = {0.8 / densities[d], ports < retired ? ports : retired};
            if (all[i].chained_adds) /* an add a cycle, no more */
                b = (struct bounds){0.8 / densities[d], 1.02 / (densities[d] - 1)};
            suspects[n++] = (struct suspect){.kernel = &all[i],
                                             .density = densities[d],
                                             .bounds = b,
                                             .same = all[i].chained_adds ? same_rate : same_mixed_rate};
        }
    }
    struct tally tally = {0};
    judge(suspects, n, &tally);
    unsigned bad = 0;
    for (size_t i = 0; i < n; i++) {
        const struct suspect *s = &suspects[i];
        print_message("%-8s at 1/%u: %.3f instructions a cycle%s\n", s->kernel->name, s->density,
                      s->density * s->rate[1], verdict_text(s->verdict));
        if (s->verdict == BAD)
            print_error("%s at 1/%u: expected the same within %.0f %%, and %.3f to %.3f; got %.3f, %.3f, %.3f\n",
                        s->kernel->name, s->density, s->same * 100, s->density * s->bounds.low,
                        s->density * s->bounds.high, s->density * s->rate[0], s->density * s->rate[1],
                        s->density * s->rate[2]);
        bad += s->verdict == BAD;
    }
    assert_int_equal(bad, 0);
    report(&tally);
}

/* The result of one look at the clock. */
struct clock {
    double short_min, short_median, long_min, long_median; /* ticks */
    double cycle;                                          /* ticks, from the difference of the two chains */
    double ratio;                                          /* of that to the same from a long chain */
    double latency;                                        /* of a multiplication, in adds */
    bool disturbed;
};

/* The long chain's ticks a cycle, where a single measurement may have been interrupted. */
static double median_ticks_per_cycle(void)
{
    double t[9];
    for (size_t i = 0; i < 9; i++)
        t[i] = ticks_per_cycle();
    qsort(t, 9, sizeof t[0], ascending);
    return t[4];
}

/* 0 to 400 cycles, evenly spread. */
static void wait_a_little(unsigned i)
{
    uint64_t n = ((uint64_t)(i * 0x9e3779b9u) * 400 >> 32) + 1;
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
}

static struct clock look_at_clock(const struct payload *mul, struct tally *tally)
{
    enum { PAIRS = 20000 };
    static double pair[PAIRS], shorts[PAIRS], longs[PAIRS];
    double before = median_ticks_per_cycle();
    for (unsigned i = 0; i < PAIRS; i++) {
        wait_a_little(i); /* a TSC in steps is right on average only, and only if chains begin anywhere in a step */
        uint64_t begin, end = kernel_chain_short(&begin);
        shorts[i] = (double)(end - begin);
        wait_a_little(i + PAIRS / 2);
        end = kernel_chain_long(&begin);
        longs[i] = (double)(end - begin);
        pair[i] = longs[i] - shorts[i];
    }
    double after = median_ticks_per_cycle();
    qsort(pair, PAIRS, sizeof pair[0], ascending);
    qsort(shorts, PAIRS, sizeof shorts[0], ascending);
    qsort(longs, PAIRS, sizeof longs[0], ascending);
    struct clock c = {shorts[0], shorts[PAIRS / 2], longs[0], longs[PAIRS / 2], 0, 0, 0, false};
    /* a mean, because the counter may tick in steps and a median would be one of them; without the outer tenth */
    double sum = 0;
    for (unsigned i = PAIRS / 20; i < PAIRS - PAIRS / 20; i++)
        sum += pair[i];
    unsigned kept = PAIRS - 2 * (PAIRS / 20);
    c.cycle = sum / kept / (CHAIN_LONG_ADDS - CHAIN_SHORT_ADDS);
    c.ratio = c.cycle / ((before + after) / 2);
    struct cycles m = measure(mul->run, 64, tally);
    c.latency = m.block / mul->counted;
    c.disturbed = fabs(after / before - 1) > 0.005 || m.survivors < WANTED || m.spread > same_rate / 2;
    return c;
}

/*
 * The clock of machines without counters: the difference of the two chains gives the frequency that a long chain gives.
 * And its adds do take a cycle: a multiplication takes a whole number of them, three at least, everywhere.
 */
TEST(test_the_clock)
{
    struct tally tally = {0};
    struct payload mul;
    char why[240];
    assert_int_equal(kernel_parse("64mul-lat", &mul, why, sizeof why), 0);
    unsigned calm = 0, absurd = 0;
    for (unsigned look = 0; look < LOOKS; look++) {
        struct clock c = look_at_clock(&mul, &tally);
        /* 3 %: beside load, with time stamps in steps of 10 ns, calm looks have seen 2.92 to 2.94 */
        bool good = fabs(c.ratio - 1) < 0.005 && c.latency > 2.91 && c.latency < 6.1 &&
                    fabs(c.latency - round(c.latency)) < 0.03 * c.latency;
        calm += !c.disturbed;
        /* a latency of which no measurement survived says nothing */
        absurd += fabs(c.ratio - 1) > 0.2 || (c.latency > 0 && (c.latency < 2.5 || c.latency > 7));
        print_message("short chain min %.0f median %.0f, long chain min %.0f median %.0f ticks; %.4f ticks a cycle, "
                      "%.4f of the long chain's; a multiplication takes %.3f adds%s\n",
                      c.short_min, c.short_median, c.long_min, c.long_median, c.cycle, c.ratio, c.latency,
                      c.disturbed ? "; disturbed" : "");
        if (good)
            return;
    }
    /* no disturbance is the same every time */
    if (calm >= LOOKS / 2 || absurd == LOOKS)
        fail_msg("%d looks at the clock, %u of them calm, none right", LOOKS, calm);
    print_message("skipped: disturbed in %u of %d looks\n", LOOKS - calm, LOOKS);
    skip();
}

/* Stays on the CPU it is on: cycles of code and chain must be those of one core. */
static int pin(void **state)
{
    (void)state;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
    return 0;
}

TEST_GROUP(pin, NULL)
