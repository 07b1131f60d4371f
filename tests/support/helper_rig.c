/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/helper_rig.h"

#include "drivers/helper/helper.h"
#include "tests/support/fake_helper.h"
#include "tests/support/fake_pmu.h"
#include "tests/support/test.h"

struct helper_rig helper_rig;

struct payload helper_rig_payload(const char *name)
{
    struct payload p;
    char why[200];
    assert_int_equal(kernel_parse(name, &p, why, sizeof why), 0);
    return p;
}

int helper_rig_open(void)
{
    struct cpu_leaves none;
    struct perf_system ignored;
    const struct helper_place place = {.device = "/dev/made-up",
                                       .sys = "/sys",
                                       .io = &fake_helper_io,
                                       .data_dir = "data",
                                       .leaves = &none,
                                       .tsc_step = helper_rig.clock_step};
    fake_pmu_system(&ignored, &none);
    fake_pmu_identity(&none, "GenuineIntel", 6, 0x8f, 8);
    return helper_open_at(&place, &helper_rig.machine, &helper_rig.error);
}

void helper_rig_prepare(const struct counter_spec *counters, size_t n)
{
    struct machine_setup s = {
        .cpu = -1, .active_cores = 1, .period_us = 2, .counters = counters, .n_counters = n, .max_samples = 200};
    if (helper_rig.machine.ops->prepare(&helper_rig.machine, &s, &helper_rig.error) != MACHINE_OK)
        fail_msg("%s", helper_rig.error.text);
}

int helper_rig_run(const char *from, const char *to, double warm_us, struct recording *rec)
{
    struct segment segments[3] = {{helper_rig_payload(from), warm_us, false},
                                  {helper_rig_payload(from), 20, true},
                                  {helper_rig_payload(to), 40, true}};
    struct run_request r = {.segments = segments, .n_segments = 3, .zero_segment = 2};
    return helper_rig.machine.ops->run(&helper_rig.machine, &r, rec, &helper_rig.error);
}

void helper_rig_refused(int status, const char *text)
{
    assert_int_equal(helper_rig.error.status, status);
    if (strstr(helper_rig.error.text, text) == NULL)
        fail_msg("\"%s\" instead of \"%s\"", helper_rig.error.text, text);
}

int helper_rig_reset(void **state)
{
    (void)state;
    fake_helper_reset();
    return 0;
}

int helper_rig_close(void **state)
{
    (void)state;
    if (helper_rig.machine.ops != NULL) {
        helper_rig.machine.ops->close(&helper_rig.machine);
        helper_rig.machine = (struct machine){0};
        assert_int_equal(fake_helper.opened, fake_helper.closed);
        assert_int_equal(fake_helper.mapped, 0);
    }
    fake_helper_reset();
    return 0;
}
