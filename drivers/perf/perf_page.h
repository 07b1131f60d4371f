/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a counter of perf in user space: the page that the kernel maps for each event, and RDPMC (perf_event_open(2);
 * Linux include/uapi/linux/perf_event.h, struct perf_event_mmap_page). The page is under a seqlock: while `lock`
 * changes, what was read belongs to no one moment and is read again.
 *
 * RDPMC is a parameter, a constant function that is inlined: nothing is called, and tests can make pages and counts.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "drivers/machine.h"

/* The raw value of a hardware counter by the number that RDPMC takes; only the lowest pmc_width bits mean anything. */
typedef uint64_t perf_rdpmc(uint32_t counter);

static inline __attribute__((always_inline)) uint64_t perf_rdpmc_instruction(uint32_t counter)
{
    uint32_t lo, hi;
    __asm__ volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(counter));
    return (uint64_t)hi << 32 | lo;
}

/* Attempts at a page that changes all the time. The kernel changes it on this CPU, so that one repeat is the rule. */
enum { PERF_PAGE_ATTEMPTS = 16 };

/* The lowest `width` bits (1 to 64) as a signed number: a counter may stand below the offset, and wraps around. */
static inline __attribute__((always_inline)) uint64_t perf_sign_extend(uint64_t value, unsigned width)
{
    unsigned unused = 64 - width;
    return (uint64_t)((int64_t)(value << unused) >> unused);
}

static inline __attribute__((always_inline)) void perf_page_barrier(void)
{
    __asm__ volatile("" : : : "memory"); /* of the compiler; x86 loads are not reordered with each other */
}

/*
 * The events counted since this one was opened. COUNTER_MISSING where it is not on a counter now (index 0), where user
 * space may not read it, where the width makes no sense, where the page never stands still, and where it has not been
 * on a counter all the time since the reading before: then the time for which it was enabled and the time for which it
 * ran have grown apart. *idle holds their difference, from reading to reading.
 */
static inline __attribute__((always_inline)) uint64_t perf_page_count(const volatile struct perf_event_mmap_page *page,
                                                                      uint64_t *idle, perf_rdpmc *rdpmc)
{
    for (unsigned attempt = 0; attempt < PERF_PAGE_ATTEMPTS; attempt++) {
        uint32_t sequence = page->lock;
        perf_page_barrier();
        uint32_t index = page->index;
        unsigned width = page->pmc_width;
        uint64_t count = (uint64_t)page->offset;
        uint64_t idle_now = page->time_enabled - page->time_running;
        bool counting = index != 0 && width - 1 < 64 && page->cap_user_rdpmc;
        if (__builtin_expect(counting, 1))
            count += perf_sign_extend(rdpmc(index - 1), width);
        perf_page_barrier();
        if (__builtin_expect(page->lock == sequence && !(sequence & 1), 1)) {
            bool all_the_time = idle_now == *idle;
            *idle = idle_now;
            return counting && all_the_time ? count : COUNTER_MISSING;
        }
    }
    return COUNTER_MISSING;
}
