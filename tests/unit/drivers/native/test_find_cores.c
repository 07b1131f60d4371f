/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alone: times code on all CPUs at once */
/* Which CPUs the native machines take for threads of one core: those that are measured so. */
#include <stdatomic.h>

#include "drivers/native/core_pairs_measure.h"
#include "drivers/native/native.h"
#include "drivers/timing/timing.h"
#include "tests/support/test.h"

/* Two CPUs of this computer; skips where there is one. */
static void two_cpus(int *first, int *second)
{
    struct cpu_view v;
    *first = *second = -1;
    cpu_view_read("/sys", &v);
    for (int cpu = 0; cpu < CPU_LIMIT && *second < 0; cpu++)
        if (cpu_usable(&v, cpu))
            *(*first < 0 ? first : second) = cpu;
    if (*second < 0) {
        print_message("skipped: one CPU may be used\n");
        skip();
    }
}

static struct machine_info described(struct machine *m)
{
    struct machine_info info;
    m->ops->info(m, &info);
    return info;
}

TEST(measured_cores_are_followed)
{
    int a, b;
    two_cpus(&a, &b);
    const bool said = cpu_core_of("/sys", a) == cpu_core_of("/sys", b);
    struct core_pair pair = {a, b, said ? CORE_PAIR_APART : CORE_PAIR_SHARED, said, 60, 0.58, 0.57, 0.59, 1};
    int cpus[] = {a, b};
    const struct core_pairs pairs = {.n = 2, .cpus = cpus, .n_pairs = 1, .pairs = &pair};
    const struct machine_setup all = {.cpu = b, .period_us = 10, .max_samples = 10};
    struct machine m;
    struct machine_error err;
    assert_int_equal(timing_open_at("/sys", 0, &m, &err), MACHINE_OK);
    const struct machine_info before = described(&m);
    assert_null(before.core);
    native_take_cores(m.state, &pairs);
    const struct machine_info after = described(&m);
    assert_int_equal(after.cores, before.cores + (said ? 1 : -1));
    assert_int_equal(after.core[b], said ? b : a);
    assert_non_null(strstr(after.notes, "although sysfs says that they do"));
    assert_non_null(strstr(after.notes, "co-runners are placed by that"));
    assert_int_equal(m.ops->prepare(&m, &all, &err), MACHINE_OK);
    const struct machine_info prepared = described(&m);
    assert_int_equal(prepared.active_cores, after.usable_cores);
    assert_non_null(strstr(prepared.notes, "co-runners are placed by that"));
    m.ops->close(&m);
}

static void measure(struct core_pairs *p, int first, int second, kernel_fn *code)
{
    struct cpu_view v;
    struct machine_error err;
    double hz, error;
    assert_int_equal(tsc_calibrate(&hz, &error), 0);
    cpu_view_read("/sys", &v);
    cpu_mask_clear(&v.allowed);
    cpu_mask_add(&v.allowed, first);
    cpu_mask_add(&v.allowed, second);
    assert_int_equal(core_pairs_begin("/sys", &v, 3 * CORE_PAIRS_ROUNDS, 1, p), 0);
    assert_int_equal(core_pairs_measure(p, code, hz, 1, &err), MACHINE_OK);
}

TEST(a_pair_of_this_computer_is_measured)
{
    struct core_pairs p;
    int a, b;
    two_cpus(&a, &b);
    measure(&p, a, b, NULL);
    assert_int_equal(p.n_pairs, 1);
    assert_true(p.rounds >= CORE_PAIRS_ROUNDS && p.seconds > 0.05);
    if (p.pairs[0].kind != CORE_PAIR_UNDECIDED) /* others had the CPUs */
        assert_true(p.pairs[0].rate > 0.4 && p.pairs[0].rate < 1.1);
    core_pairs_free(&p);
}

/* As threads of a core take units from each other, these take a line of the cache from each other. */
static uint64_t fight(uint64_t blocks, uint64_t deadline, void *state, uint64_t dirty, struct kernel_walk *walk)
{
    static atomic_uint_fast64_t line;
    (void)deadline, (void)state, (void)dirty, (void)walk;
    for (uint64_t i = 0; i < blocks; i++)
        atomic_fetch_add(&line, 1);
    return blocks;
}

TEST(code_that_is_slowed_by_the_other_is_found)
{
    struct core_pairs p;
    int a, b;
    two_cpus(&a, &b);
    measure(&p, a, b, fight);
    if (p.pairs[0].moments >= CORE_PAIRS_MOMENTS_LEAST) {
        assert_int_equal(p.pairs[0].kind, CORE_PAIR_SHARED);
        assert_true(p.pairs[0].rate < 0.7);
    }
    core_pairs_free(&p);
}

TEST(a_single_cpu_has_no_pairs)
{
    struct core_pairs p;
    int a, b;
    two_cpus(&a, &b);
    measure(&p, a, a, NULL);
    assert_int_equal(p.n_pairs, 0);
    assert_int_equal(p.rounds, 0);
    core_pairs_free(&p);
}
