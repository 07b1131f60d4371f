/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/timing/timing.h"
#include "tests/support/test.h"
#include "tests/support/timing_rig.h"

static const struct counter_spec both[2] = {{COUNTER_CHAIN_TICKS, 0}, {COUNTER_CHAIN_CYCLES, 0}};

struct payload timing_rig_payload(const char *name)
{
    struct payload p;
    char why[200];
    assert_int_equal(kernel_parse(name, &p, why, sizeof why), 0);
    return p;
}

int timing_rig_open(void **state)
{
    struct machine *m = calloc(1, sizeof *m);
    struct machine_error err;
    if (m == NULL || machine_open_timing(m, &err) != MACHINE_OK) {
        fprintf(stderr, "%s\n", err.text);
        free(m);
        return -1;
    }
    *state = m;
    return 0;
}

int timing_rig_close(void **state)
{
    struct machine *m = *state;
    m->ops->close(m);
    free(m);
    return 0;
}

struct machine_setup timing_rig_setup(double period_us)
{
    return (struct machine_setup){
        .cpu = -1, .active_cores = 1, .period_us = period_us, .counters = both, .n_counters = 2, .max_samples = 1000};
}

void timing_rig_prepare(struct machine *m, const struct machine_setup *s)
{
    struct machine_error err;
    if (m->ops->prepare(m, s, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}
