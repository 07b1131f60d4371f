/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/counter_room.h"

#include <stdio.h>

#include "drivers/cpu/cpu.h"

int counter_room_watchdog(const char *proc)
{
    char text[16];

    if (cpu_read_text(proc != NULL ? proc : "/proc", "sys/kernel/nmi_watchdog", text, sizeof text) <= 0)
        return -1;
    return text[0] == '1' ? 1 : text[0] == '0' ? 0 : -1;
}

const char *counter_room_remedy(int watchdog)
{
    return watchdog > 0 ? "as root: sysctl kernel.nmi_watchdog=0 (the NMI watchdog holds a counter; =1 puts it back), "
                          "or count in several runs: each --event comes before the license levels"
           : watchdog == 0 ? "count in several runs: each --event comes before the license levels; or stop other users "
                             "of the counters (perf)"
                           : "count in several runs: each --event comes before the license levels; or stop other users "
                             "of the counters (perf; as root: sysctl kernel.nmi_watchdog=0)";
}

void counter_room_text(unsigned events, unsigned general, char *out, size_t size)
{
    out[0] = '\0';
    if (events > 0 && general > 0)
        snprintf(out, size, " (%u events; this logical CPU has %u general-purpose counters)", events, general);
}
