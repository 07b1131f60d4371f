/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPUID as a processor of this vendor and signature (leaf 1, EAX) answers it; all else is 0. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "computer/cpu/cpu.h"

static inline struct cpu_leaves cpu_leaves_of(const char vendor[12], uint32_t signature)
{
    struct cpu_leaves l;
    memset(&l, 0, sizeof l);
    memcpy(&l.basic.ebx, vendor, 4);
    memcpy(&l.basic.edx, vendor + 4, 4);
    memcpy(&l.basic.ecx, vendor + 8, 4);
    l.version.eax = signature;
    return l;
}
