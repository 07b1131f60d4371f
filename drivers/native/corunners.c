/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Busy threads on other cores. */
#include "drivers/native/corunners.h"

#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "computer/cpu/tsc.h"
#include "drivers/native/pinning.h"
#include "drivers/native/walks.h"

struct corunner {
    alignas(64) atomic_uint_fast64_t slices; /* a cache line for each, so that counting disturbs nobody */
    struct kernel_walk walk;
    struct corunners *all;
    pthread_t thread;
};

struct corunners {
    atomic_bool stop;
    struct corunner_code code;
    size_t n; /* started */
    struct corunner list[];
};

/* Blocks between two looks at the clock: enough of them that reading it does not thin out the instructions. */
enum { BLOCKS_PER_LOOK = 64 };

static void *keep_busy(void *data)
{
    struct corunner *self = data;
    const struct corunner_code *c = &self->all->code;

    while (!atomic_load_explicit(&self->all->stop, memory_order_relaxed)) {
        c->payload.run(BLOCKS_PER_LOOK, tsc_now() + c->ticks, NULL, c->payload.dirty, &self->walk);
        if (c->rest_ticks > 0)
            c->rest.run(BLOCKS_PER_LOOK, tsc_now() + c->rest_ticks, NULL, c->rest.dirty, NULL);
        atomic_fetch_add_explicit(&self->slices, 1, memory_order_relaxed);
    }
    return NULL;
}

static int fail(struct machine_error *err, int cpu, int error)
{
    return machine_fail(err, MACHINE_FAILED, "use one active core", "cannot keep CPU %d busy: %s", cpu,
                        strerror(error));
}

/* A core counts as active once its thread has completed a slice. */
static int wait_until_busy(const struct corunners *c, const int *cpus, struct machine_error *err)
{
    const struct timespec pause = {.tv_nsec = 200000};

    for (size_t i = 0; i < c->n; i++) {
        int tries = 25000; /* 5 s: a core that gets no time in so long cannot be called active */
        while (corunners_slices(c, i) == 0) {
            if (tries-- == 0)
                return machine_fail(err, MACHINE_FAILED, "stop what runs there, or use fewer active cores",
                                    "CPU %d cannot be kept busy: something else occupies it", cpus[i]);
            nanosleep(&pause, NULL);
        }
    }
    return MACHINE_OK;
}

int corunners_start(const int *cpus, size_t n, const struct corunner_code *code, struct corunners **out,
                    struct machine_error *err)
{
    *out = NULL;
    if (n == 0)
        return MACHINE_OK;
    struct corunners *c = aligned_alloc(alignof(struct corunners), sizeof *c + n * sizeof *c->list);
    if (c == NULL)
        return fail(err, cpus[0], ENOMEM);
    atomic_init(&c->stop, false);
    c->code = *code;
    c->n = 0;
    int status = MACHINE_OK;
    while (c->n < n && status == MACHINE_OK) {
        struct corunner *one = &c->list[c->n];
        atomic_init(&one->slices, 0);
        one->walk = walks_spread(code->walk, c->n, n);
        one->all = c;
        int error = pinning_thread_start(&one->thread, cpus[c->n], keep_busy, one);
        if (error == 0)
            c->n++;
        else
            status = fail(err, cpus[c->n], error);
    }
    if (status == MACHINE_OK)
        status = wait_until_busy(c, cpus, err);
    if (status != MACHINE_OK) {
        corunners_stop(c);
        return status;
    }
    *out = c;
    return MACHINE_OK;
}

uint64_t corunners_slices(const struct corunners *c, size_t i)
{
    return atomic_load_explicit(&c->list[i].slices, memory_order_relaxed);
}

void corunners_stop(struct corunners *c)
{
    if (c == NULL)
        return;
    atomic_store_explicit(&c->stop, true, memory_order_relaxed);
    for (size_t i = 0; i < c->n; i++)
        pthread_join(c->list[i].thread, NULL);
    free(c);
}
