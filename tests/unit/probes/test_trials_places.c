/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Buffers that lie in one cache, or in none; and machines that run no trials. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probes/trials.h"

static const uint64_t K = 1 << 10, M = 1 << 20;

static size_t bytes_of(struct cpu_caches c, enum trials_place place)
{
    struct machine_error err;
    size_t bytes = 77;
    return trials_bytes(&c, place, &bytes, &err) == MACHINE_OK ? bytes : 0;
}

static void sizes(void **state)
{
    (void)state;
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

static void what_cannot_be(void **state)
{
    (void)state;
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

static void no_trials(void **state)
{
    (void)state;
    const struct machine_ops none = {0};
    struct machine m = {.ops = &none};
    struct machine_error err;
    struct trials_result r;
    assert_int_equal(trials_measure(&m, &(struct trials_setup){.request.trials = 3}, &r, &err), MACHINE_CANNOT);
    assert_null(r.duration);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(what_cannot_be),
        cmocka_unit_test(no_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
