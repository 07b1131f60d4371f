/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits of the relaxation table are waits only where the core was slower than the same plain code alone. */
#include "tables/registry.h"
#include "tables/relaxation/relaxation_parts.h"
#include "tests/support/model_rig.h"
#include "tests/support/random_numbers.h"
#include "tests/support/table_rig.h"
#include "tests/support/test.h"

/* Whatever rises after the code: only what was slower than the same plain code alone has waited. */
TEST(only_what_was_slower_has_waited)
{
    static const struct {
        struct estimate slow, plain;
        bool slower;
    } cases[] = {{{1.9, 1.89, 1.91}, {2.8, 2.79, 2.81}, true},
                 {{3.625, 3.623, 3.627}, {3.626, 3.624, 3.628}, false},
                 {{3.626, 3.6259, 3.6261}, {3.63, 3.6299, 3.6301}, false}, /* limits apart, but 0.1 % is no level */
                 {{3.5, 3.4, 3.6}, {3.6, 3.5, 3.7}, false},
                 {{3.6, 3.59, 3.61}, {3.4, 3.39, 3.41}, false},
                 {{NAN, NAN, NAN}, {3.6, 3.59, 3.61}, false}};
    struct tables_options o;
    char why[300];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct relaxation_step s = {cases[i].slow, cases[i].plain};
        why[0] = '\0';
        assert_int_equal(relaxation_is_slower(&s, why, sizeof why), cases[i].slower);
        assert_int_equal(why[0] == '\0', cases[i].slower);
    }
    struct model m;
    struct table t;
    rig_load("xeon-gold-6130", &m);
    tables_options_default(&o);
    o.brief = true;
    o.kernels[o.n_kernels++] = rig_payload("512fma");
    rig_measure(&table_relaxation, &m, &o, &t);
    assert_true(t.n_rows > 3);
    for (size_t i = 0; i < t.n_rows; i++) {
        struct estimate slow = estimates_of_table(&t, i, "slow_ghz"), plain = estimates_of_table(&t, i, "plain_ghz");
        assert_true(estimates_above(&plain, &slow));
        assert_true(fabs(slow.value - 1.9) < 0.005 && fabs(plain.value - 2.8) < 0.005);
    }
    table_free(&t);
}

/* A frequency that swings by itself rises after any code, in some repetitions even about when it did before. */
TEST(a_swinging_frequency_has_no_waits)
{
    for (uint64_t seed = 0; seed < rng_rounds(5); seed++) {
        static const char *const kernels[] = {"512fma", "256fma", "512or"};
        struct tables_options o;
        struct model m;
        struct table t;
        rig_load("generic-no-licence", &m);
        m.spread = 0.03;
        m.spread_period_us = 8000;
        tables_options_default(&o);
        o.seed = seed;
        o.n_active = 1;
        for (size_t i = 0; i < 3; i++)
            o.kernels[o.n_kernels++] = rig_payload(kernels[i]);
        rig_measure(&table_relaxation, &m, &o, &t);
        assert_int_equal(t.n_rows, 0);
        assert_true(t.n_missing > 0);
        table_free(&t);
    }
}
