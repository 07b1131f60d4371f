/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/profile_records.h"

#include "drivers/profile/profile_arithmetic.h"
#include "tests/support/test.h"

struct profile_setup profile_records_setup(uint32_t flags)
{
    return (struct profile_setup){.seed = 1,
                                  .flags = flags,
                                  .mean_us = 20000,
                                  .pause_us = 700,
                                  .window_us = 70,
                                  .ref_khz = 2100000,
                                  .n_bins = 5,
                                  .bin = {{2, {3700000, 3600000, 3500000}},
                                          {4, {3500000, 3400000, 3100000}},
                                          {8, {3400000, 3100000, 2400000}},
                                          {12, {3100000, 2600000, 2100000}},
                                          {16, {2800000, 2400000, 1900000}}}};
}

struct profile_terms profile_records_terms(void)
{
    return (struct profile_terms){.wait_us = 670, .change_us = {0, 40, 40}, .breakeven_us = {0, 300, 300}};
}

static struct profile_task profile_records_task(uint32_t pid, uint64_t cgroup)
{
    struct profile_task t = {.pid = pid, .tgid = pid, .start_ns = pid, .cgroup = cgroup};
    if (pid == 0)
        return (struct profile_task){0};
    snprintf(t.comm, sizeof(t.comm), "t%u", pid);
    return t;
}

struct profile_record profile_record_of(const struct profile_setup *s, const struct profile_seen *seen)
{
    uint8_t ideal = seen->ideal < seen->actual ? seen->ideal : seen->actual;
    uint8_t shared = seen->both < seen->actual ? seen->both : seen->actual;
    struct profile_record r = {
        .cpu = seen->cpu,
        .outcome = seen->pid != 0 ? PROFILE_TAKEN : PROFILE_IDLE,
        .flags = s->flags & PROFILE_SOURCES ? PROFILE_SHARED : 0,
        .bin = seen->bin,
        .level_actual = seen->actual,
        .level_ideal = seen->ideal,
        .level_shared = seen->both,
        .actual_khz = profile_table_khz(s, seen->bin, seen->actual),
        .ideal_khz = profile_table_khz(s, seen->bin, ideal),
        .shared_khz = profile_table_khz(s, seen->bin, shared > ideal ? shared : ideal),
        .stall = (uint32_t)(seen->stall * PROFILE_ONE + 0.5),
        .sight = {.task = profile_records_task(seen->pid, seen->cgroup),
                  .other = profile_records_task(seen->other, 0),
                  .before = profile_records_task(seen->before, 0),
                  .other_before = profile_records_task(seen->other_before, 0),
                  .since_us = seen->since_us,
                  .other_since_us = seen->other_since_us,
                  .other_cpu = seen->cpu ^ 1},
    };
    r.speedup = profile_speedup(r.actual_khz, r.ideal_khz, r.stall);
    r.speedup_shared = profile_speedup(r.actual_khz, r.shared_khz, r.stall);
    return r;
}

const struct profile_row *profile_row_named(const struct profile_result *r, enum profile_kind kind, const char *name)
{
    for (size_t i = 0; i < r->n_rows; i++)
        if (r->rows[i].kind == kind && strcmp(r->rows[i].name, name) == 0)
            return &r->rows[i];
    fail_msg("there is no row of kind %d with name %s", (int)kind, name);
    return NULL;
}
