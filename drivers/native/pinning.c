/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prepares the place where a machine on real hardware runs: one CPU, real-time priority and locked memory as far as
 * they are allowed. */
#include "drivers/native/pinning.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "computer/cpu/cpu.h"
#include "util/text_list.h"

int pinning_thread_start(pthread_t *out, int cpu, void *(*run)(void *), void *data)
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

static int lock_memory(struct pinning *p, size_t bytes, struct machine_error *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    p->locked_size = (bytes + page - 1) / page * page;
    p->locked = mmap(NULL, p->locked_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p->locked == MAP_FAILED) {
        p->locked = NULL;
        return machine_fail(err, MACHINE_FAILED, "use a longer period or a shorter recording",
                            "cannot allocate the sample buffer: %s", strerror(errno));
    }
    if (mlock(p->locked, p->locked_size) != 0) {
        struct rlimit limit = {0, 0};
        getrlimit(RLIMIT_MEMLOCK, &limit);
        text_list_add(p->note, sizeof p->note, "; ",
                      "the sample buffer is not locked in memory (%s; %zu kB needed, limit %llu kB; raise ulimit -l)",
                      strerror(errno), p->locked_size / 1024, (unsigned long long)limit.rlim_cur / 1024);
    }
    memset(p->locked, 0, p->locked_size);
    return MACHINE_OK;
}

/*
 * The kernel stops real-time threads after sched_rt_runtime_us of every sched_rt_period_us (950 ms of 1 s by default;
 * Linux, Documentation/scheduler/sched-rt-group.rst). Longer stretches must not be run at that priority.
 */
static double realtime_limit(void)
{
    long limit = cpu_read_number("/proc", 950000, "sys/kernel/sched_rt_runtime_us");

    return limit < 0 ? 1e12 : 0.9 * (double)limit;
}

static void try_realtime(struct pinning *p)
{
    struct sched_param param;

    p->policy = sched_getscheduler(0);
    p->priority = sched_getparam(0, &param) == 0 ? param.sched_priority : 0;
    p->realtime_limit_us = realtime_limit();
    /* the lowest real-time priority: above all normal programs, below whatever else needs to be in time */
    param.sched_priority = sched_get_priority_min(SCHED_FIFO);
    p->realtime = p->policy >= 0 && sched_setscheduler(0, SCHED_FIFO, &param) == 0;
    if (!p->realtime) {
        text_list_add(p->note, sizeof p->note, "; ",
                      "no SCHED_FIFO (%s): other programs can interrupt a repetition; run as root, or grant "
                      "CAP_SYS_NICE or ulimit -r 1",
                      strerror(errno));
        return;
    }
    pinning_end(p, 0);
}

int pinning_enter(struct pinning *p, int cpu, size_t bytes, struct machine_error *err)
{
    memset(p, 0, sizeof *p);
    if (cpu_pin(cpu, &p->affinity) != 0)
        return machine_fail(err, MACHINE_FAILED, "choose another CPU with --cpu",
                            "cannot pin the measuring thread to CPU %d: %s", cpu, strerror(errno));
    p->entered = true;
    int status = lock_memory(p, bytes, err);
    if (status != MACHINE_OK) {
        pinning_leave(p);
        return status;
    }
    try_realtime(p);
    return MACHINE_OK;
}

static void restore_policy(const struct pinning *p)
{
    struct sched_param param = {.sched_priority = p->priority};

    if (p->realtime)
        sched_setscheduler(0, p->policy, &param);
}

void pinning_leave(struct pinning *p)
{
    if (!p->entered)
        return;
    restore_policy(p);
    cpu_set_affinity(&p->affinity);
    if (p->locked != NULL)
        munmap(p->locked, p->locked_size);
    p->locked = NULL;
    p->entered = false;
}

/* The stack is grown now rather than by a page fault in the loop. */
static void touch_stack(void)
{
    volatile char stack[32768];

    for (size_t i = 0; i < sizeof stack; i += 1024)
        stack[i] = 0;
}

void pinning_begin(struct pinning *p, double us)
{
    struct sched_param param = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};

    if (p->rest_us > 0) {
        struct timespec rest = {.tv_sec = (time_t)(p->rest_us / 1e6)};
        rest.tv_nsec = (long)((p->rest_us - (double)rest.tv_sec * 1e6) * 1e3);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
        p->rest_us = 0;
    }
    touch_stack();
    if (p->realtime && us <= p->realtime_limit_us)
        sched_setscheduler(0, SCHED_FIFO, &param);
}

/* The rest is taken before the next repetition: a register may be read first, while the core is as the kernel left
 * it. */
void pinning_end(struct pinning *p, double us)
{
    restore_policy(p);
    if (p->realtime && us <= p->realtime_limit_us)
        p->rest_us = us / 10;
}

size_t pinning_code(const struct payload *p, const volatile unsigned char **code)
{
    const size_t line = 64, page = 4096, setup = 512;

    memcpy(code, &p->run, sizeof *code);
    size_t in_page = (uintptr_t)*code % page;
    /* not read: pages beyond the last one that the code is known to reach */
    size_t sure = (in_page + p->bytes + page - 1) / page * page - in_page;
    size_t end = p->bytes + setup < sure ? p->bytes + setup : sure;
    return (end + line - 1) / line;
}

void pinning_touch(const struct payload *p)
{
    const volatile unsigned char *code;
    size_t lines = pinning_code(p, &code);

    for (size_t i = 0; i < lines; i++)
        (void)code[64 * i];
}
