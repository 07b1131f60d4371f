/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts threads that stay on one CPU. */
#include "drivers/native/pinned_thread.h"

#include <sched.h>

#include "computer/cpu/cpu.h"

int pinned_thread_start(pthread_t *out, int cpu, void *(*run)(void *), void *data)
{
    struct cpu_mask place;
    struct sched_param normal = {.sched_priority = 0};
    pthread_attr_t attr;

    cpu_mask_clear(&place);
    cpu_mask_add(&place, cpu);
    int error = pthread_attr_init(&attr);
    if (error != 0)
        return error;
    error = pthread_attr_setaffinity_np(&attr, sizeof place, place.set);
    if (error == 0)
        error = pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    if (error == 0)
        error = pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
    if (error == 0)
        error = pthread_attr_setschedparam(&attr, &normal);
    if (error == 0)
        error = pthread_create(out, &attr, run, data);
    pthread_attr_destroy(&attr);
    return error;
}
