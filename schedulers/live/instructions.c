/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts instructions in user space on every CPU. */
#include "schedulers/live/instructions.h"

#include <stdlib.h>
#include <unistd.h>

#include "schedulers/live/counters.h"

static int open_user(const struct perf_event_attr *attr, int cpu, int group)
{
    struct perf_event_attr user = *attr;
    user.exclude_kernel = 1;
    if (getenv(LIVE_INJECT_NAME) != NULL) {
        user.type = PERF_TYPE_SOFTWARE;
        user.config = PERF_COUNT_SW_CPU_CLOCK;
    }
    return perf_profile_system.open(&user, cpu, group);
}

int live_instructions_open(struct perf_groups **out, struct machine_error *err)
{
    const struct perf_groups_event event = {COUNTER_INSTRUCTIONS, 0, 0};
    struct perf_profile_io io = perf_profile_system;
    struct cpu_view view;
    io.open = open_user;
    cpu_view_read("/sys", &view);
    return perf_groups_open(&io, "/sys", &view.online, &event, 1, out, err);
}

uint64_t live_instructions(const struct perf_groups *g)
{
    uint64_t sum = 0, values[3];
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        const int fd = perf_groups_fd(g, cpu, 0);
        if (fd >= 0 && read(fd, values, sizeof(values)) == (ssize_t)sizeof(values))
            sum += values[0];
    }
    return sum;
}
