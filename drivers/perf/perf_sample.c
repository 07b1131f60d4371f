/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling loop of the perf machine: at the end of each sample the TSC, then one RDPMC a counter. Between two
 * readings there is nothing but the payload, the counters and the stores.
 *
 * A test compiles this file again, with another PERF_RDPMC and another name for the table at its end.
 */
/* No vector instruction of the compiler's: it would touch the registers whose state is measured here. Ahead of the
 * headers, because what is inlined must be compiled alike. */
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 11
#pragma GCC target("general-regs-only")
#endif
#include "drivers/perf/perf.h"
#include "drivers/perf/perf_page.h"

#ifndef PERF_RDPMC
#define PERF_RDPMC perf_rdpmc_instruction
#define PERF_SAMPLERS perf_samplers
#endif

/*
 * The counters are read after the TSC, in order of their numbers, and the next payload may start while the last one is
 * on its way: it is the same from sample to sample, so that it cancels in the differences.
 */
static inline __attribute__((always_inline)) uint64_t perf_sample_read(struct perf_reader *c, size_t i, uint64_t blocks,
                                                                       const unsigned n)
{
    uint64_t *words = c->out + i * (2 + n), now = sampling_stamp();

    words[0] = now;
    words[1] = blocks;
#pragma GCC unroll 11
    for (unsigned k = 0; k < n; k++)
        words[2 + k] = perf_page_count(c->slot[k].page, &c->slot[k].idle, PERF_RDPMC);
    return now;
}

#define SAMPLER(N)                                                                                                     \
    static inline __attribute__((always_inline))                                                                       \
    uint64_t read_##N(void *reader, size_t i, uint64_t blocks, unsigned doubled)                                       \
    {                                                                                                                  \
        (void)doubled;                                                                                                 \
        return perf_sample_read(reader, i, blocks, N);                                                                 \
    }                                                                                                                  \
    static void sample_##N(const struct sampling *p, struct sampling_log *log, struct perf_reader *reader)             \
    {                                                                                                                  \
        sampling_run(p, log, read_##N, reader);                                                                        \
    }
#define EACH_COUNT(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
EACH_COUNT(SAMPLER)

static void read_now(struct perf_reader *c, uint64_t *words)
{
    words[0] = sampling_stamp();
    words[1] = 0;
    for (unsigned k = 0; k < c->n; k++)
        words[2 + k] = perf_page_count(c->slot[k].page, &c->slot[k].idle, PERF_RDPMC);
}

#define SAMPLER_NAME(N) sample_##N,
const struct perf_samplers PERF_SAMPLERS = {
    .sample = {EACH_COUNT(SAMPLER_NAME)},
    .read = read_now,
};
