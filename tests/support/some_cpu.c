/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/some_cpu.h"
#include "tests/support/test.h"

#include <sched.h>

int some_cpu(void)
{
    cpu_set_t allowed;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            return cpu;
    return -1;
}
