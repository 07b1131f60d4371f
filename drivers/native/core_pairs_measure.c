/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread on each CPU, which runs code or pauses in slots that begin and end for all of them at the same time. */
#include "drivers/native/core_pairs_measure.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "computer/cpu/tsc.h"
#include "drivers/native/pinning.h"
#include "util/order.h"

/* A slot; its begin, which does not count; a piece of code; what the threads have to get ready, all and each. */
static const double SLOT_US = 250, BEGIN_US = 25, PIECE_US = 5, READY_US = 1000, READY_EACH_US = 20;
enum { PIECES_MAX = 64, PAUSES = 8 };
/* So many rounds together, then a rest: who has slept is soon given its CPU, for a slice of some ms, and others wait no
 * longer than that. Threads wake a little before they begin. */
enum { TOGETHER = 3 };
static const double REST_US = 5000, WAKE_US = 300;
/* The CPU was there if so much of the slot passed in pieces that took no longer than so much of their median. */
static const double PRESENT = 0.6, PIECE_MOST = 1.5;
enum { BEGIN_UNKNOWN, BEGIN_NEVER }; /* before the TSC is known at which all begin */

struct rig {
    struct core_pairs *p;
    kernel_fn *code;
    uint64_t blocks;                  /* of a piece */
    uint64_t slot, skip, piece, rest; /* ticks */
    double tsc_hz;
    atomic_uint_fast64_t begin;
};

struct worker {
    struct rig *rig;
    size_t i;
    pthread_t thread;
};

static uint64_t run_piece(const struct rig *g, bool runs, uint64_t from)
{
    if (runs) {
        g->code(g->blocks, 0, NULL, 0, NULL);
        return tsc_now();
    }
    uint64_t now = from;
    while (now < from + g->piece) {
        for (int i = 0; i < PAUSES; i++)
            __builtin_ia32_pause();
        now = tsc_now();
    }
    return now;
}

static struct core_slot run_slot(const struct rig *g, bool runs, uint64_t begin)
{
    double ticks[PIECES_MAX], held = 0;
    const uint64_t end = begin + g->slot;
    size_t n = 0;
    for (uint64_t now = tsc_now(); now < end;) {
        const uint64_t from = now;
        now = run_piece(g, runs, from);
        if (from >= begin + g->skip && now <= end && n < PIECES_MAX)
            ticks[n++] = (double)(now - from);
    }
    const double median = order_median(ticks, n);
    for (size_t i = 0; i < n; i++)
        held += ticks[i] <= PIECE_MOST * median ? ticks[i] : 0;
    return (struct core_slot){.log_rate = runs ? (float)-log(median) : NAN,
                              .present = held >= PRESENT * (double)(g->slot - g->skip)};
}

/* Sleeps, then spins. */
static void wait_for(const struct rig *g, uint64_t from)
{
    const double seconds = ((double)from - (double)tsc_now()) / g->tsc_hz - 1e-6 * WAKE_US;
    const struct timespec rest = {.tv_nsec = (long)(1e9 * seconds)}; /* below a second */
    if (seconds > 0)
        nanosleep(&rest, NULL);
    while (tsc_now() < from)
        __builtin_ia32_pause();
}

static void *take_part(void *data)
{
    const struct timespec rest = {.tv_nsec = 200000};
    const struct worker *w = data;
    const struct rig *g = w->rig;
    struct core_pairs *p = g->p;
    const struct sched_param first = {.sched_priority = 1};
    uint64_t begin;
    (void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &first); /* if it may: others interrupt it less */
    while ((begin = atomic_load(&g->begin)) == BEGIN_UNKNOWN)
        nanosleep(&rest, NULL);
    for (size_t k = 0; begin != BEGIN_NEVER && k < 2 * CORE_PAIRS_ROUNDS; k++) {
        const size_t round = p->rounds + k / 2;
        const unsigned half = k % 2;
        const uint64_t from = begin + k * g->slot + k / (2 * TOGETHER) * g->rest;
        wait_for(g, from);
        p->slots[(2 * round + half) * p->n + w->i] = run_slot(g, core_pairs_runs(p, round, half, w->i), from);
    }
    return NULL;
}

/* Some rounds on all CPUs. */
static int add_rounds(struct rig *g, struct worker *list, struct machine_error *err)
{
    struct core_pairs *p = g->p;
    size_t started = 0;
    int error = 0;
    atomic_store(&g->begin, BEGIN_UNKNOWN);
    while (started < p->n && error == 0) {
        list[started] = (struct worker){.rig = g, .i = started};
        error = pinning_thread_start(&list[started].thread, p->cpus[started], take_part, &list[started]);
        started += error == 0;
    }
    const double ready_us = READY_US + READY_EACH_US * (double)p->n;
    atomic_store(&g->begin, error == 0 ? tsc_now() + (uint64_t)(1e-6 * ready_us * g->tsc_hz) : BEGIN_NEVER);
    for (size_t i = 0; i < started; i++)
        pthread_join(list[i].thread, NULL);
    if (error != 0)
        return machine_fail(err, MACHINE_FAILED, "", "no thread can be started on CPU %d: %s", p->cpus[started],
                            strerror(error));
    p->rounds += CORE_PAIRS_ROUNDS;
    return MACHINE_OK;
}

/* Blocks of a piece, by the fastest of some runs of a few. */
static uint64_t blocks_of(kernel_fn *code, double piece_ticks)
{
    enum { FEW = 32, TRIES = 20 };
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        const uint64_t from = tsc_now();
        code(FEW, 0, NULL, 0, NULL);
        const uint64_t took = tsc_now() - from;
        least = took < least ? took : least;
    }
    return (uint64_t)fmax(1, FEW * piece_ticks / (double)least);
}

int core_pairs_measure(struct core_pairs *p, kernel_fn *code, double tsc_hz, double seconds, struct machine_error *err)
{
    const double us = 1e-6 * tsc_hz;
    struct rig g = {.p = p,
                    .code = code != NULL ? code : kernel_named("64add").run,
                    .slot = (uint64_t)(us * SLOT_US),
                    .skip = (uint64_t)(us * BEGIN_US),
                    .piece = (uint64_t)(us * PIECE_US),
                    .rest = (uint64_t)(us * REST_US),
                    .tsc_hz = tsc_hz};
    struct worker *list = calloc(p->n + 1, sizeof *list);
    const uint64_t begun = tsc_now();
    int status = MACHINE_OK, undecided = (int)(p->n_pairs > 0);
    double took = 0;
    g.blocks = blocks_of(g.code, us * PIECE_US);
    for (size_t added = 0; list != NULL && status == MACHINE_OK && undecided > 0 && (added == 0 || took < seconds) &&
                           p->rounds + CORE_PAIRS_ROUNDS <= p->most;
         added++) {
        status = add_rounds(&g, list, err);
        undecided = status == MACHINE_OK ? core_pairs_judge(p) : 0;
        took = (double)(tsc_now() - begun) / tsc_hz;
    }
    p->seconds += took;
    free(list);
    return list == NULL || undecided < 0 ? machine_fail(err, MACHINE_FAILED, "", "out of memory") : status;
}
