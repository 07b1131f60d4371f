/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/helper/helper_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drivers/perf/perf.h"

uint64_t helper_ticks(const struct helper *h, double us)
{
    return (uint64_t)llround(us * 1e-6 * h->native.tsc.hz);
}

int helper_refused(const struct helper *h, int error, unsigned reason, const char *what, struct machine_error *err)
{
    char text[140];
    enum machine_status status = error == EOPNOTSUPP || error == EBUSY ? MACHINE_CANNOT
                                 : error == EINVAL                     ? MACHINE_BAD_INPUT
                                                                       : MACHINE_FAILED;

    if (reason == CHARACTERIZE_REASON_NONE)
        return machine_fail(err, MACHINE_FAILED, "", "the kernel helper, %s: %s", what, strerror(error));
    helper_reason(h->io, h->fd, reason, text, sizeof text);
    const char *remedy = reason == CHARACTERIZE_REASON_AMX ? "--machine timing or perf runs it in user space"
                         : reason == CHARACTERIZE_REASON_NO_COUNTER || reason == CHARACTERIZE_REASON_COUNTER_BUSY
                             ? perf_room_remedy(perf_room_watchdog(h->proc))
                             : "";
    return machine_fail(err, status, remedy, "the kernel helper, %s: %s", what, text);
}

const char *helper_no_counters_remedy(const struct helper *h)
{
    return h->native.id.hypervisor ? "enable the virtual PMU in the hypervisor, or measure on the host"
                                   : "boot a kernel that supports this CPU's counters";
}

bool helper_counts(const struct helper *h, enum counter_id id)
{
    if (part_events_is_license(id))
        return h->events.license[id - COUNTER_LVL0].why[0] == '\0';
    if (counter_of_chain(id))
        return h->clock == HELPER_CHAIN;
    return id <= COUNTER_REF_CYCLES ? h->clock != HELPER_CHAIN : id < COUNTER_IDS && h->clock == HELPER_COUNTERS;
}

struct characterize_payload helper_payload(const struct payload *p)
{
    size_t count;
    const struct kernel *all = kernel_registry(&count);

    /* 0: its copy */
    return (struct characterize_payload){.kernel = (uint16_t)(p->kernel - all),
                                         .density = p->run == p->kernel->variants[0] ? 0 : (uint16_t)p->density,
                                         .dirty = p->dirty};
}

int helper_check_kernel(const struct native *s, const struct payload *p, struct machine_error *err)
{
    const struct helper *h = (const struct helper *)s;

    if (p->kernel->like != NULL)
        return machine_fail(err, MACHINE_CANNOT, "--machine perf, msr or timing runs it in user space",
                            "kernel %s: the Linux module runs no code from files, only what is built into it", p->name);
    if ((p->kernel->features & KERNEL_NEEDS_AMX_BF16) != 0) {
        char what[60];
        snprintf(what, sizeof what, "kernel %s", p->name);
        return helper_refused(h, EOPNOTSUPP, CHARACTERIZE_REASON_AMX, what, err);
    }
    return native_check_features(s, p, err);
}
