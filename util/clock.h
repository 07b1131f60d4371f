/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdint.h>
#include <time.h>

/* On a clock of clock_gettime(2), from an arbitrary origin. */
static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline double clock_seconds(clockid_t clock)
{
    return 1e-9 * (double)clock_ns(clock);
}
