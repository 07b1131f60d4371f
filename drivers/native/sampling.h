/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampling loop: fixed work, measured time. A sample is so many blocks of a kernel and one time stamp; nothing
 * waits, nothing is computed in between, and the next sample starts where this one ended. How long it took is what is
 * measured: a core throttled to a quarter takes four times as long for it.
 *
 * A complete repetition is one loop, stretch after stretch: the second kernel is run by the instructions that have run
 * the first one thousands of times, through a pointer. What is stored of a reading, the including file says: a time
 * stamp and now and then a chain of adds, or a row of RDPMC. It is inlined, so that the loop holds no call but that of
 * the kernel. The kernel module uses the same loop, so that nothing here needs a library or a floating-point or vector
 * register: those are the payload's.
 */
#pragma once

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#include "kernels/kernels.h"

enum { SAMPLING_STRETCHES_MAX = 16 };

/* So many samples a period at full rate: throttled to a quarter, a core still gives one a period. */
enum { SAMPLING_A_PERIOD = 4 };
/* Room for samples, where one a period was requested: code may become faster than it was when it was measured. */
enum { SAMPLING_ROOM_A_PERIOD = 6 };
/* In long recordings they become twice as long when the time since is 2^SAMPLING_GROWTH_BITS times their length. */
enum { SAMPLING_GROWTH_BITS = 9 };

#define SAMPLING_NEVER (~0ull)     /* of a TSC */
#define SAMPLING_LONG (1ull << 35) /* ticks: more than a stretch of so many blocks lasts */

/* The pace of one payload on this CPU at this period. */
struct sampling_lane {
    kernel_fn *run;
    uint64_t dirty;
    struct kernel_walk *walk;           /* NULL: it needs none */
    uint64_t blocks;                    /* of a sample */
    const volatile unsigned char *code; /* which is brought into the caches before it runs, */
    size_t lines;                       /* so many lines of SAMPLING_LINE bytes */
};
enum { SAMPLING_LINE = 64, SAMPLING_LINES_A_SAMPLE = 4 };

/* A repetition: which payload runs until when, and what of it is recorded. */
struct sampling_stretch {
    const struct sampling_lane *lane;
    uint64_t ticks;
    bool sampled;
    uint64_t blocks; /* 0, or how many are run, exactly, instead of `ticks` */
};
struct sampling {
    struct sampling_stretch stretch[SAMPLING_STRETCHES_MAX];
    size_t n;
    size_t zero;    /* the stretch that starts at time 0 */
    uint64_t fine;  /* ticks from time 0 until samples begin to grow; 0: never */
    uint64_t usual; /* ticks: about a sample at full rate */
    uint64_t most;  /* ticks: to which it grows */
    uint64_t limit; /* no stretch lasts longer than until this TSC; SAMPLING_NEVER */
    size_t room;    /* readings; there is space for another one after them */
};

/* The outcome. */
struct sampling_log {
    size_t n;                                /* readings, at most the room */
    size_t last[SAMPLING_STRETCHES_MAX];     /* one past the last reading of each stretch; the reading that opens the
                                                recording is the last one of the stretch before it, if there is one */
    uint64_t blocks[SAMPLING_STRETCHES_MAX]; /* of the payload, run in the entire stretch */
    uint64_t zero_tsc;
    size_t zero_reading; /* n where none was taken at time 0 */
    bool cut;            /* the room was full before the end */
};

/*
 * Takes a reading after `blocks` of the payload in this stretch, and stores it as number i, which may be stored again.
 * `doubled`: samples have become twice as long so many times. Returns the TSC at its end, where the next sample starts.
 */
typedef uint64_t sampling_read(void *reader, size_t i, uint64_t blocks, unsigned int doubled);

/* The TSC when all earlier instructions have finished. Kernels begin with a fence of their own. */
static inline __attribute__((always_inline)) uint64_t sampling_stamp(void)
{
    uint32_t lo, hi;
    __asm__ volatile("lfence\n\trdtsc" : "=a"(lo), "=d"(hi) : : "memory");
    return (uint64_t)hi << 32 | lo;
}

/* True while there is time left. An end as far ahead as only a TSC that began again can put it (END_BLOCK of
 * kernels/kernel.inc has the same bound) is none. */
static inline bool sampling_goes_on(uint64_t now, uint64_t end)
{
    return end - now - 1 < 2 * SAMPLING_LONG;
}

/* The TSC from which on samples that were doubled so often become twice as long. */
static inline uint64_t sampling_grows_at(const struct sampling *p, uint64_t from, unsigned int doubled)
{
    const bool grows = p->fine > 0 && p->usual << (doubled + 1) <= p->most;

    return grows ? from + p->fine + (p->usual << (SAMPLING_GROWTH_BITS + doubled)) : SAMPLING_NEVER;
}

/*
 * Code that will run soon: some of its lines are read as data, those from *line on, and it is called to run nothing,
 * which keeps its page in the instruction TLB.
 */
static inline __attribute__((always_inline)) void sampling_prepare(const struct sampling_lane *lane, size_t *line)
{
    unsigned int i;

    for (i = 0; i < SAMPLING_LINES_A_SAMPLE; i++) {
        (void)lane->code[*line * SAMPLING_LINE];
        *line = *line + 1 < lane->lines ? *line + 1 : 0;
    }
    (void)lane->run(0, 0, NULL, lane->dirty, NULL);
}

/*
 * Runs a repetition from start to end. No system call, no allocation. `read` is a constant, so that it is inlined. Of
 * stretches that are not sampled readings are taken as well, so that nothing changes where the recording begins; each
 * takes the place of the one before. A stretch has at least one sample.
 */
static inline __attribute__((always_inline)) void sampling_run(const struct sampling *p, struct sampling_log *log,
                                                               sampling_read *read, void *reader)
{
    uint64_t now = sampling_stamp(), end = now, grows_at = SAMPLING_NEVER;
    unsigned int doubled = 0;
    bool cut = false;
    size_t i, n = 0;

    log->zero_reading = SIZE_MAX;
    for (i = 0; i < p->n; i++) {
        const struct sampling_stretch *s = &p->stretch[i];
        const struct sampling_lane *lane = s->lane, *next = i + 1 < p->n ? s[1].lane : lane;
        const size_t step = s->sampled;
        const uint64_t all = s->blocks ? s->blocks : ~0ull;
        uint64_t blocks = 0;
        size_t line = 0;

        if (s->sampled && n == 0) {
            now = i == 0 ? read(reader, 0, 0, 0) : now;
            n = 1;
        }
        if (i > 0)
            log->last[i - 1] = n;
        if (i == p->zero) {
            log->zero_tsc = end = now;
            if (s->sampled || (i > 0 && s[-1].sampled))
                log->zero_reading = n - 1;
            grows_at = sampling_grows_at(p, now, 0);
        }
        end = s->blocks ? now + SAMPLING_LONG : end + s->ticks;
        end = end < p->limit ? end : p->limit;
        cut |= step > 0 && n >= p->room;
        while (!cut) {
            uint64_t more = lane->blocks << doubled;

            more = more < all - blocks ? more : all - blocks;
            sampling_prepare(next, &line);
            blocks += lane->run(more, 0, NULL, lane->dirty, lane->walk);
            now = read(reader, n, blocks, doubled);
            n += step;
            if (__builtin_expect(now >= grows_at, 0))
                grows_at = sampling_grows_at(p, log->zero_tsc, ++doubled);
            if (blocks >= all || !sampling_goes_on(now, end))
                break;
            cut = step > 0 && n >= p->room;
        }
        end = s->blocks ? now : end;
        log->blocks[i] = blocks;
        log->last[i] = n;
    }
    log->n = n;
    log->cut = cut;
    log->zero_reading = log->zero_reading < n ? log->zero_reading : n;
}
