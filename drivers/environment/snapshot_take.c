/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/environment/snapshot.h"

void snapshot_take(int cpu, struct environment *out)
{
    struct machine_error error;
    struct cpu_view view;
    if (cpu < 0) {
        cpu_view_read("/sys", &view);
        if (cpu_choose(&view, -1, &cpu, &error) != MACHINE_OK)
            cpu = 0;
    }
    environment_read_facts("", cpu, out);
}

void snapshot_take_line(int cpu, char *out, size_t size)
{
    struct environment e;
    snapshot_take(cpu, &e);
    snapshot_line(&e, out, size);
}
