/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The relaxation table on models with known parameters, and its analysis on made-up answers: what comes out must be what
 * the model file says, by arithmetic that is done here.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables/kinds.h"
#include "tests/unit/model_rig.h"

static void measure(const struct model *m, const char *const *kernels, size_t n, bool brief, struct table *out)
{
    struct machine machine;
    struct machine_error err;
    struct tables_options o;
    tables_options_default(&o);
    o.brief = brief;
    o.seed = 7;
    for (size_t i = 0; i < n; i++)
        o.kernels[o.n_kernels++] = rig_payload(kernels[i]);
    if (machine_open_parsed_model(m, "model:test", &machine, &err))
        fail_msg("%s", err.text);
    if (tables_measure(&table_relaxation, &machine, &o, NULL, NULL, out, &err))
        fail_msg("%s", err.text);
    machine.ops->close(&machine);
}

static void show(void **state)
{
    (void)state;
    struct model m;
    struct table t;
    rig_load(getenv("MODEL") ? getenv("MODEL") : "xeon-gold-6130", &m);
    measure(&m, NULL, 0, getenv("BRIEF") != NULL, &t);
    table_relaxation.print(stdout, false, &t);
    table_relaxation.findings(stdout, &t);
    table_write_csv(stderr, &t);
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
