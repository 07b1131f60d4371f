/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sampling loop of the timing machine: everything else is computed afterwards. */
/* No vector instruction of the compiler's: it would touch the registers whose state is measured here. Ahead of the
 * headers, because what is inlined must be compiled alike. */
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 11
#pragma GCC target("general-regs-only")
#endif
#include "drivers/timing/timing_chains.h"

void timing_record(const struct sampling *p, const struct chain_choice *choice, struct chain_raw *out,
                   struct sampling_log *log)
{
    struct chain_reader reader = {.out = out, .random = sampling_stamp(), .choice = *choice};

    sampling_run(p, log, chain_read, &reader);
}

void timing_record_chains(const struct chain_choice *choice, struct chain_raw *out, size_t n)
{
    struct chain_reader reader = {.random = sampling_stamp(), .choice = *choice};

    for (size_t i = 0; i < n; i++) {
        chain_next_random(&reader);
        out[i] = (struct chain_raw){0};
        (void)chain_take(&reader, choice->steady_from == 0, &out[i]);
    }
}
