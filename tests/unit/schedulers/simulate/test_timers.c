/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timers, against the plainest way to do the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "schedulers/simulate/timers.h"
#include "tests/support/random_numbers.h"

enum { MANY = 37 };

static void the_first_timer_expires_first(void **state)
{
    struct rng random;
    (void)state;
    rng_init(&random, 3, 1);
    for (size_t n = 1; n <= MANY; n++) {
        struct timers t;
        int64_t at[MANY];
        size_t first;
        assert_true(timers_init(&t, n));
        assert_int_equal(timers_first(&t, &first), SIM_FOREVER);
        for (size_t i = 0; i < n; i++)
            at[i] = SIM_FOREVER;
        for (int round = 0; round < 300; round++) {
            size_t i = (size_t)rng_int(&random, 0, (int)n - 1), expected = 0;
            at[i] = rng_chance(&random, 0.2) ? SIM_FOREVER : rng_int(&random, 0, 20);
            timers_set(&t, i, at[i]);
            for (size_t k = 0; k < n; k++)
                expected = at[k] < at[expected] ? k : expected;
            assert_int_equal(timers_first(&t, &first), at[expected]);
            assert_true(at[expected] == SIM_FOREVER || first == expected);
        }
        timers_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_timer_expires_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
