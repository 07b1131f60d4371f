/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a reading takes from the code, on models that say it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tables/table/reading_cost.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_model.h"

static struct model model; /* too large for the stack */

static double cost_of(const char *kernel, uint64_t seed)
{
    struct machine machine;
    struct machine_error err;
    struct payload p = rig_payload(kernel);
    struct machine_setup setup = {.cpu = -1, .active_cores = 1, .seed = seed};
    double us = NAN;
    assert_int_equal(machine_open_parsed_model(&model, "model:random", &machine, &err), MACHINE_OK);
    if (reading_cost(&machine, &setup, &p, 1000, &us, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    machine.ops->close(&machine);
    return us;
}

/* Within 2 ns, whatever interrupts and jitter do. */
static void it_comes_back(void **state)
{
    static const char *const kernels[] = {"64add", "256fma", "128or"};
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        wild_model(&model, seed);
        const char *kernel = kernels[seed % 3];
        double us = cost_of(kernel, seed);
        if (!(fabs(us * 1e3 - model.split_read_ns) < 2))
            fail_msg("model %d, %s: %.2f ns, not %.0f", (int)seed, kernel, us * 1e3, model.split_read_ns);
    }
}

static void where_readings_tell_it_themselves_it_is_not_measured(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        world_model(&model, seed);
        if (model.no_counters)
            assert_true(cost_of("64add", seed) == 0);
    }
}

/* Late in a long series the rest of a reading is less than the time can tell: the model waited for its end for ever. */
static void a_long_series_ends(void **state)
{
    (void)state;
    wild_model(&model, 2);
    assert_true(model.split_read_ns > 0);
    model.world.carries = true;
    model.world.gap_us = 5e7;
    alarm(60);
    cost_of("64add", 2);
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_back),
        cmocka_unit_test(where_readings_tell_it_themselves_it_is_not_measured),
        cmocka_unit_test(a_long_series_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
