/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alone: durations of trials on this processor */
/* slow: seconds of waiting */
/* Trials in cycles of the whole CPU, on a made PMU whose cycles are 5/4 of the TSC's ticks; and by time stamps where
 * the kernel does not permit that. */
#include <time.h>

#include "tests/support/fake_pmu.h"
#include "tests/support/test.h"

struct rig {
    struct perf_system system;
    struct cpu_leaves leaves;
    struct machine m;
    struct machine_error err;
};

static void trials_on(struct rig *r, bool cpu_wide, struct trials_seen *seen, double duration[20])
{
    const struct machine_setup setup = {.cpu = -1, .active_cores = 1, .period_us = 1, .max_samples = 1};
    const struct trials_request request = {.workload = WORKLOAD_REGISTER, .trial_us = 100, .trials = 20};
    memset(r, 0, sizeof *r);
    fake_pmu_reset();
    fake_pmu_system(&r->system, &r->leaves);
    r->system.open_cpu = cpu_wide ? r->system.open : NULL;
    if (perf_open_at(&r->system, &r->m, &r->err) != MACHINE_OK ||
        r->m.ops->prepare(&r->m, &setup, &r->err) != MACHINE_OK)
        fail_msg("%s", r->err.text);
    unsigned opened = fake_pmu.opened;
    assert_int_equal(r->m.ops->trials(&r->m, &request, duration, seen, &r->err), MACHINE_OK);
    assert_int_equal(fake_pmu.opened, opened + cpu_wide);
    assert_int_equal(fake_pmu.closed, fake_pmu.opened);
    r->m.ops->close(&r->m);
}

static bool saw_kernel_counted(void)
{
    for (size_t i = 0; i < FAKE_EVENTS; i++)
        if (fake_pmu.event[i].attr.config == PERF_COUNT_HW_CPU_CYCLES && fake_pmu.event[i].attr.size > 0 &&
            !fake_pmu.event[i].attr.exclude_kernel)
            return true;
    return false;
}

TEST(in_cycles)
{
    struct rig r;
    struct trials_seen seen;
    double cycles[20], ns[20], least_cycles = INFINITY, least_ns = INFINITY;
    struct machine_info info;
    trials_on(&r, true, &seen, cycles);
    assert_true(seen.cycles && seen.resolution == 1);
    assert_true(saw_kernel_counted());
    double rounds = (double)seen.rounds;
    trials_on(&r, false, &seen, ns);
    assert_false(seen.cycles);
    for (size_t i = 0; i < 20; i++) {
        least_cycles = fmin(least_cycles, cycles[i] / rounds);
        least_ns = fmin(least_ns, ns[i] / (double)seen.rounds);
    }
    if (machine_open_timing(&r.m, &r.err) != MACHINE_OK)
        skip();
    r.m.ops->info(&r.m, &info);
    r.m.ops->close(&r.m);
    /* the frequency may have moved in between */
    double ratio = least_cycles / (least_ns * 1e-9 * info.tsc_hz * 1.25);
    assert_true(ratio > 0.6 && ratio < 1.6);
}

/* ---- branches ---- */

static int refuse_mispredicted(const struct perf_event_attr *attr)
{
    return attr->config == 0xc5 ? -ENOENT : 0;
}

static int refuse_kernel_and_branches(const struct perf_event_attr *attr)
{
    return !attr->exclude_kernel ? -EACCES : 0;
}

/* Counted of the thread in user mode, with cycles or without; else the reason is named. */
TEST(branches_are_counted)
{
    enum { TRIALS = 20 };
    const struct machine_setup setup = {.cpu = -1, .active_cores = 1, .period_us = 1, .max_samples = 1};
    struct trial_branches branches[TRIALS];
    struct trials_seen seen;
    double duration[TRIALS];
    struct rig r;
    const struct trials_request request = {
        .workload = WORKLOAD_BRANCH, .trial_us = 100, .trials = TRIALS, .branches = branches};
    memset(&r, 0, sizeof r);
    fake_pmu_reset();
    fake_pmu_system(&r.system, &r.leaves);
    r.system.open_cpu = r.system.open;
    assert_int_equal(perf_open_at(&r.system, &r.m, &r.err), MACHINE_OK);
    assert_int_equal(r.m.ops->prepare(&r.m, &setup, &r.err), MACHINE_OK);
    for (unsigned i = 0; i < 2; i++) {
        fake_pmu.refuse = i ? refuse_kernel_and_branches : NULL;
        memset(branches, 0, sizeof branches);
        assert_int_equal(r.m.ops->trials(&r.m, &request, duration, &seen, &r.err), MACHINE_OK);
        assert_string_equal(seen.uncounted, "");
        assert_true(seen.cycles == !i);
        for (size_t k = 0; k < TRIALS; k++) { /* a fifth of all cycles, which are read within */
            assert_true(branches[k].all > 1000 && (i || (double)branches[k].all >= duration[k] / 5 - 1));
            assert_in_range(branches[k].mispredicted, branches[k].all / 100 - 20, branches[k].all / 100 + 20);
        }
        assert_int_equal(fake_pmu.closed, fake_pmu.opened);
    }
    fake_pmu.refuse = refuse_mispredicted;
    assert_int_equal(r.m.ops->trials(&r.m, &request, duration, &seen, &r.err), MACHINE_OK);
    assert_non_null(strstr(seen.uncounted, "cannot count event 0xc5"));
    assert_non_null(strstr(seen.uncounted, "; do without it"));
    assert_true(seen.cycles);
    assert_int_equal(fake_pmu.closed, fake_pmu.opened);
    /* no room: the second stays without a counter */
    fake_pmu.refuse = NULL;
    fake_pmu.programmable = 1;
    assert_int_equal(r.m.ops->trials(&r.m, &request, duration, &seen, &r.err), MACHINE_OK);
    assert_non_null(strstr(seen.uncounted, "no hardware counter is free for event 0xc5"));
    assert_int_equal(fake_pmu.closed, fake_pmu.opened);
    /* after idling in ns, even where cycles are counted */
    const struct trials_request idle = {.workload = WORKLOAD_REGISTER, .trial_us = 100, .trials = 5, .idle_ms = 1};
    assert_int_equal(r.m.ops->trials(&r.m, &idle, duration, &seen, &r.err), MACHINE_OK);
    assert_false(seen.cycles);
    r.m.ops->close(&r.m);
}

static int refuse_kernel(const struct perf_event_attr *attr)
{
    return attr->exclude_kernel ? 0 : -EACCES;
}

TEST(not_permitted)
{
    struct rig r;
    const struct machine_setup setup = {.cpu = -1, .active_cores = 1, .period_us = 1, .max_samples = 1};
    const struct trials_request request = {.workload = WORKLOAD_REGISTER, .trial_us = 20, .trials = 5};
    struct trials_seen seen;
    double duration[5];
    memset(&r, 0, sizeof r);
    fake_pmu_reset();
    fake_pmu_system(&r.system, &r.leaves);
    r.system.open_cpu = r.system.open;
    assert_int_equal(perf_open_at(&r.system, &r.m, &r.err), MACHINE_OK);
    assert_int_equal(r.m.ops->prepare(&r.m, &setup, &r.err), MACHINE_OK);
    fake_pmu.refuse = refuse_kernel;
    assert_int_equal(r.m.ops->trials(&r.m, &request, duration, &seen, &r.err), MACHINE_OK);
    assert_false(seen.cycles);
    fake_pmu.refuse = NULL;
    fake_pmu.map_fails = true;
    assert_int_equal(r.m.ops->trials(&r.m, &request, duration, &seen, &r.err), MACHINE_OK);
    assert_false(seen.cycles);
    assert_int_equal(fake_pmu.closed, fake_pmu.opened);
    fake_pmu.map_fails = false;
    fake_pmu.rdpmc_allowed = false;
    assert_int_equal(r.m.ops->trials(&r.m, &request, duration, &seen, &r.err), MACHINE_OK);
    assert_false(seen.cycles);
    r.m.ops->close(&r.m);
}

/* ---- a machine that is suspended, or a process that is stopped, for more than a second ---- */

static unsigned standstills_left, still_calls;

static void stand_still(unsigned call)
{
    (void)call;
    /* not while the counter is tried; every other reading, which is the end of a trial */
    if (++still_calls < 12 || standstills_left == 0 || still_calls % 4 != 0)
        return;
    standstills_left--;
    nanosleep(&(struct timespec){1, 20000000}, NULL);
}

static int trials_with_standstills(unsigned n, struct trials_seen *seen, double cycles[20], struct machine_error *err)
{
    struct rig r;
    const struct machine_setup setup = {.cpu = -1, .active_cores = 1, .period_us = 1, .max_samples = 1};
    const struct trials_request request = {.workload = WORKLOAD_REGISTER, .trial_us = 100, .trials = 20};
    memset(&r, 0, sizeof r);
    fake_pmu_reset();
    fake_pmu_system(&r.system, &r.leaves);
    r.system.open_cpu = r.system.open;
    if (perf_open_at(&r.system, &r.m, err) != MACHINE_OK || r.m.ops->prepare(&r.m, &setup, err) != MACHINE_OK)
        fail_msg("%s", err->text);
    standstills_left = n;
    still_calls = 0;
    fake_pmu.at_rdpmc = stand_still;
    int status = r.m.ops->trials(&r.m, &request, cycles, seen, err);
    fake_pmu.at_rdpmc = NULL;
    r.m.ops->close(&r.m);
    return status;
}

TEST(standing_still)
{
    struct trials_seen seen;
    struct machine_error err;
    double cycles[20];
    if (trials_with_standstills(1, &seen, cycles, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(standstills_left, 0);
    assert_int_equal(seen.discarded, 1);
    for (size_t i = 0; i < 20; i++)
        assert_true(cycles[i] > 0 && cycles[i] < 1e9); /* more than that in a second, at 5/4 of the TSC */
    skip_where_sanitized("seconds of waiting");
    assert_int_equal(trials_with_standstills(100, &seen, cycles, &err), MACHINE_FAILED);
    assert_non_null(strstr(err.text, "was stopped for more than a second in 3 trials"));
}
