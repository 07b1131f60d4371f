/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/made_clock.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include "kernels/kernels.h"

struct made_clock made_clock;

static struct sigaction before;
static uint32_t made_numbers;
static bool within_chain;

/* The number of the chain that the code at `at` belongs to; -1: none. They lie after each other in their file. */
static int chain_at(uintptr_t at)
{
    static uint64_t (*const chain[MADE_CHAINS])(uint64_t *) = {kernel_chain_short, kernel_chain_long,
                                                               kernel_chain_steady_short, kernel_chain_steady_long};
    enum { BYTES_MOST = 3 * 400 + 64 }; /* of the last */
    int found = -1;
    for (int i = 0; i < MADE_CHAINS; i++)
        if (at >= (uintptr_t)chain[i])
            found = i;
    return found == MADE_CHAINS - 1 && at >= (uintptr_t)chain[found] + BYTES_MOST ? -1 : found;
}

static uint64_t read_made(uintptr_t at)
{
    uint64_t now = made_clock.now - (made_clock.quantum > 0 ? made_clock.now % made_clock.quantum : 0);
    int chain = chain_at(at);
    made_numbers = made_numbers * 1664525 + 1013904223;
    within_chain = chain >= 0 && !within_chain;
    made_clock.reads++;
    made_clock.now += within_chain ? made_clock.chain[chain] : made_clock.read;
    made_clock.now += made_clock.spread > 0 ? (made_numbers >> 16) % (made_clock.spread + 1) : 0;
    return now;
}

static void answer_rdtsc(int number, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *at = (const uint8_t *)(uintptr_t)r[REG_RIP]; /* NOLINT(performance-no-int-to-ptr) */
    bool rdtscp = at[0] == 0x0f && at[1] == 0x01 && at[2] == 0xf9;
    (void)info;
    if (!rdtscp && (at[0] != 0x0f || at[1] != 0x31)) { /* a fault of another kind */
        signal(number, SIG_DFL);
        return;
    }
    uint64_t tsc = read_made((uintptr_t)at);
    r[REG_RAX] = (greg_t)(tsc & UINT32_MAX);
    r[REG_RDX] = (greg_t)(tsc >> 32);
    r[REG_RCX] = rdtscp ? 0 : r[REG_RCX];
    r[REG_RIP] += rdtscp ? 3 : 2;
}

bool made_clock_begin(void)
{
    struct sigaction handler = {.sa_sigaction = answer_rdtsc, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &handler, &before);
    made_numbers = 1;
    within_chain = false;
    made_clock.reads = 0;
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0)
        return true;
    sigaction(SIGSEGV, &before, NULL);
    return false;
}

void made_clock_end(void)
{
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    sigaction(SIGSEGV, &before, NULL);
}
