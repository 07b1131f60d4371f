/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Buffers that lie in one cache, or in none; and machines that run no trials. */
#include "probes/trials.h"
#include "tests/support/test.h"

static const uint64_t K = 1 << 10, M = 1 << 20;

static size_t bytes_of(struct cpu_caches c, enum trials_place place)
{
    struct machine_error err;
    size_t bytes = 77;
    return trials_bytes(&c, place, &bytes, &err) == MACHINE_OK ? bytes : 0;
}

TEST(sizes)
{
    const struct cpu_caches emerald = {48 * K, 2 * M, 260 * M, 130 * M, 20000 * M};
    const struct cpu_caches skylake = {32 * K, M, 22 * M, 22 * M / 16, 90000 * M};
    const struct cpu_caches zen = {32 * K, 512 * K, 32 * M, 4 * M, 16000 * M};
    assert_int_equal(bytes_of(emerald, TRIALS_NOWHERE), 0);
    assert_int_equal(bytes_of(emerald, TRIALS_L1), 16 * K);
    assert_int_equal(bytes_of(emerald, TRIALS_L2), M);
    assert_int_equal(bytes_of(emerald, TRIALS_L3), 64 * M);
    assert_int_equal(bytes_of(emerald, TRIALS_MEMORY), 1024 * M);
    assert_int_equal(bytes_of(skylake, TRIALS_L3), 2 * M); /* its share would lie in L2 */
    assert_int_equal(bytes_of(skylake, TRIALS_MEMORY), 128 * M);
    assert_int_equal(bytes_of(zen, TRIALS_L3), 2 * M);
    assert_int_equal(bytes_of(zen, TRIALS_L2), 256 * K);
}

TEST(what_cannot_be)
{
    const struct cpu_caches none = {0}, no_l3 = {32 * K, 4 * M, 0, 0, 0}, small_l3 = {32 * K, 4 * M, 8 * M, 8 * M, 0};
    const struct cpu_caches stacked = {32 * K, M, 1152 * M, 96 * M, 900000 * M};
    struct cpu_caches little = {32 * K, M, 32 * M, 4 * M, 200 * M};
    for (int place = TRIALS_L1; place <= TRIALS_MEMORY; place++)
        assert_int_equal(bytes_of(none, (enum trials_place)place), 0);
    assert_int_equal(bytes_of(no_l3, TRIALS_L3), 0);
    assert_int_equal(bytes_of(no_l3, TRIALS_MEMORY), 16 * M);
    assert_int_equal(bytes_of(small_l3, TRIALS_L3), 0);
    assert_int_equal(bytes_of(stacked, TRIALS_MEMORY), 0); /* 1 GiB would lie in L3 */
    assert_int_equal(bytes_of(little, TRIALS_MEMORY), 0);
    little.memory = 512 * M;
    assert_int_equal(bytes_of(little, TRIALS_MEMORY), 128 * M);
}

static void refused(struct cpu_caches c, enum trials_place place, const char *text)
{
    struct machine_error err;
    size_t bytes;
    assert_int_equal(trials_bytes(&c, place, &bytes, &err), MACHINE_CANNOT);
    assert_string_equal(err.text, text);
}

/* On either side of each limit. */
TEST(limits)
{
    assert_int_equal(bytes_of((struct cpu_caches){.l1 = 1024}, TRIALS_L1), 512);
    refused((struct cpu_caches){.l1 = 1023}, TRIALS_L1, "the size of this cache is unknown");
    assert_int_equal(bytes_of((struct cpu_caches){.l1 = 1, .l2 = 3072}, TRIALS_L2), 1024);
    refused((struct cpu_caches){.l1 = 3072, .l2 = 1023}, TRIALS_L2, "the size of this cache is unknown");
    /* twice L2, as a power of two, is half of L3 at most */
    assert_int_equal(bytes_of((struct cpu_caches){.l2 = M, .l3 = 4 * M, .share = M}, TRIALS_L3), 2 * M);
    refused((struct cpu_caches){.l2 = M, .l3 = 4 * M - 2, .share = M}, TRIALS_L3,
            "the L3 cache is too small compared with L2 to be distinguished");
    assert_int_equal(bytes_of((struct cpu_caches){.l2 = M + 1, .l3 = 8 * M, .share = M}, TRIALS_L3), 4 * M);
    refused((struct cpu_caches){.l2 = M, .share = 8 * M}, TRIALS_L3,
            "this CPU has no L3 cache, or its size is unknown");
    /* four times the last cache, a quarter of the free memory, more than twice the cache */
    assert_int_equal(bytes_of((struct cpu_caches){.l1 = 32 * K}, TRIALS_MEMORY), 128 * K);
    assert_int_equal(bytes_of((struct cpu_caches){.l1 = 32 * K, .l2 = M + 1}, TRIALS_MEMORY), 8 * M);
    assert_int_equal(bytes_of((struct cpu_caches){.l3 = 511 * M}, TRIALS_MEMORY), 1024 * M);
    refused((struct cpu_caches){.l3 = 512 * M}, TRIALS_MEMORY,
            "a buffer of 1024 MiB (at most 1 GiB, and a quarter of the free memory) is not enough larger than the "
            "last-level cache, 512 MiB");
    assert_int_equal(bytes_of((struct cpu_caches){.l3 = 8 * M, .memory = 128 * M}, TRIALS_MEMORY), 32 * M);
    refused((struct cpu_caches){.l3 = 8 * M, .memory = 128 * M - 1}, TRIALS_MEMORY,
            "a buffer of 16 MiB (at most 1 GiB, and a quarter of the free memory) is not enough larger than the "
            "last-level cache, 8 MiB");
    refused((struct cpu_caches){.memory = M}, TRIALS_MEMORY, "the sizes of this CPU's caches are unknown");
}

/* The largest size of a sweep is that of memory, also where that is not far beyond the cache. */
TEST(sweeps_end)
{
    assert_int_equal(bytes_of((struct cpu_caches){.l3 = 32 * M, .memory = 16000 * M}, TRIALS_SIZE), 128 * M);
    assert_int_equal(bytes_of((struct cpu_caches){.l3 = 1152 * M, .memory = 900000 * M}, TRIALS_SIZE), 1024 * M);
    assert_int_equal(bytes_of((struct cpu_caches){.l3 = 32 * M, .memory = 200 * M}, TRIALS_SIZE), 32 * M);
    refused((struct cpu_caches){.memory = M}, TRIALS_SIZE, "the sizes of this CPU's caches are unknown");
}

TEST(no_trials)
{
    const struct machine_ops none = {0};
    struct machine m = {.ops = &none};
    struct machine_error err;
    struct trials_result r;
    assert_int_equal(trials_measure(&m, &(struct trials_setup){.request.trials = 3}, &r, &err), MACHINE_CANNOT);
    assert_null(r.duration);
}
