/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/perf/counter_room.h"

#include <stdio.h>

#include "drivers/cpu/cpu.h"

int counter_room_watchdog(const char *proc)
{
    long value = cpu_read_number(proc != NULL ? proc : "/proc", -1, "sys/kernel/nmi_watchdog");

    return value == 0 || value == 1 ? (int)value : -1;
}

#define WATCHDOG_OFF "as root: sysctl kernel.nmi_watchdog=0"
#define FREE_ON WATCHDOG_OFF " (the NMI watchdog holds a counter; =1 puts it back)"
#define FREE_OFF "stop other users of the counters (perf)"
#define FREE_UNKNOWN FREE_OFF ", or " WATCHDOG_OFF
#define RUNS "count in several runs: each --event comes before the license levels"

const char *counter_room_to_free(int watchdog)
{
    return watchdog > 0 ? FREE_ON ", or " FREE_OFF : watchdog == 0 ? FREE_OFF : FREE_UNKNOWN;
}

const char *counter_room_remedy(int watchdog)
{
    return watchdog > 0    ? FREE_ON ", or " RUNS
           : watchdog == 0 ? RUNS "; or " FREE_OFF
                           : RUNS "; or stop other users of the counters (perf; " WATCHDOG_OFF ")";
}

void counter_room_text(unsigned events, unsigned general, char *out, size_t size)
{
    out[0] = '\0';
    if (events > 0 && general > 0)
        snprintf(out, size, " (%u events; this logical CPU has %u general-purpose counters)", events, general);
}
