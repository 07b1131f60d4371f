/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the readings of the kernel helper to those of a machine.
 */

#include "drivers/helper/helper_words.h"

/* What has been counted so far. */
struct tally {
    uint64_t before; /* COUNTER_MISSING: no reading yet */
    uint64_t total;
};

static uint64_t helper_words_count(struct tally *t, uint64_t raw, unsigned bits)
{
    if (raw == COUNTER_MISSING)
        return COUNTER_MISSING;
    if (t->before != COUNTER_MISSING) {
        uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
        t->total += (raw - t->before) & mask;
    }
    t->before = raw;
    return t->total;
}

void helper_words_from_counters(const struct helper_words *w, const struct characterize_run *run,
                                const unsigned *per_block)
{
    struct tally tally[MACHINE_COUNTERS_MAX];
    const size_t out_stride = 2 + w->n_counters;
    uint64_t instructions = 0;
    size_t i = 0;

    for (size_t c = 0; c < w->n_counters; c++)
        tally[c] = (struct tally){.before = COUNTER_MISSING};
    for (unsigned s = 0; s < run->n_segments; s++) {
        /* the reading that opens the recording has no blocks of its segment in it and belongs to no other */
        for (; i < run->last[s]; i++) {
            const uint64_t *raw = w->raw + i * w->stride;
            uint64_t *out = w->words + i * out_stride;
            out[0] = raw[0];
            out[1] = instructions + raw[1] * per_block[s];
            for (size_t c = 0; c < w->n_counters; c++) {
                const struct helper_slot *slot = &w->slot[c];
                out[2 + c] = slot->word < 0 ? COUNTER_MISSING
                                            : helper_words_count(&tally[c], raw[slot->word], slot->bits);
            }
        }
        instructions += run->blocks[s] * per_block[s];
    }
}

void helper_words_from_chains(const struct helper_words *w, const struct counter_spec *ids,
                              const struct characterize_run *run, const unsigned *per_block,
                              const struct timing_chains *chains, double cost)
{
    const size_t out_stride = 2 + w->n_counters;
    const struct timing_raw *raw = (const struct timing_raw *)
                                       w->raw; /* which the module writes as the timing machine */
    struct timing_sums sums = {0};
    uint64_t instructions = 0;
    size_t i = 0;

    for (unsigned s = 0; s < run->n_segments; s++) {
        for (; i < run->last[s]; i++)
            timing_words(&raw[i], chains, cost, instructions, per_block[s], ids, w->n_counters, &sums,
                         w->words + i * out_stride);
        instructions += run->blocks[s] * per_block[s];
    }
}
