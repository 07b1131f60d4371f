/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a pinned thread asks of the system, of a made one: with every answer, and what it is told then. */
#ifdef __SANITIZE_ADDRESS__ /* its runtime would be given them, too */
#define mmap made_mmap
#define munmap made_munmap
#define sched_getscheduler made_sched_getscheduler
#define sched_getparam made_sched_getparam
#define sched_get_priority_min made_sched_get_priority_min
#define sched_setscheduler made_sched_setscheduler
#define mlock made_mlock
#define getrlimit made_getrlimit
#define clock_nanosleep made_clock_nanosleep
#endif

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "drivers/native/pinning.h"
#include "tests/support/some_cpu.h"
#include "tests/support/test.h"

/* ---- the system, in the place of the C library's ---- */

static int policy, priority; /* of the thread; policy -1: it is not told */
static bool no_priority, no_fifo, no_lock, no_memory;
static char asked[400];
static struct timespec rested;
static int mapped;

static void note(const char *what, long number)
{
    size_t length = strlen(asked);
    snprintf(asked + length, sizeof asked - length, "%s %ld; ", what, number);
}

int sched_getscheduler(pid_t pid)
{
    (void)pid;
    return policy;
}

int sched_getparam(pid_t pid, struct sched_param *out)
{
    (void)pid;
    out->sched_priority = 55;
    if (no_priority)
        return -1;
    out->sched_priority = priority;
    return 0;
}

int sched_get_priority_min(int of)
{
    return of == SCHED_FIFO ? 4 : -1;
}

int sched_setscheduler(pid_t pid, int to, const struct sched_param *param)
{
    assert_int_equal(pid, 0);
    note(to == SCHED_FIFO ? "fifo" : to == SCHED_OTHER ? "other" : "policy", param->sched_priority);
    errno = EPERM;
    return no_fifo ? -1 : 0;
}

int mlock(const void *at, size_t size)
{
    (void)at;
    note("lock", (long)size);
    errno = ENOMEM;
    return no_lock ? -1 : 0;
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *out)
{
    *out = (struct rlimit){.rlim_cur = resource == RLIMIT_MEMLOCK ? 77 * 1024 : 1, .rlim_max = 1 << 30};
    return 0;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *time, struct timespec *left)
{
    (void)left;
    assert_true(id == CLOCK_MONOTONIC && flags == 0);
    rested = *time;
    note("rest", (long)time->tv_nsec);
    return 0;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    errno = ENOMEM;
    mapped += !no_memory;
    return no_memory ? MAP_FAILED : (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset); /* NOLINT */
}

int munmap(void *at, size_t size)
{
    mapped--;
    return (int)syscall(SYS_munmap, at, size);
}

static long realtime_us;

long cpu_read_number(const char *root, long otherwise, const char *path, ...)
{
    assert_string_equal(root, "/proc");
    assert_string_equal(path, "sys/kernel/sched_rt_runtime_us");
    return realtime_us == 0 ? otherwise : realtime_us;
}

static struct pinning p;
static struct machine_error err;

static int begin(void **state)
{
    (void)state;
    policy = SCHED_OTHER;
    priority = 0;
    realtime_us = 0;
    no_priority = no_fifo = no_lock = no_memory = false;
    asked[0] = '\0';
    mapped = 0;
    return 0;
}

static void is_asked(const char *expected)
{
    assert_string_equal(asked, expected);
    asked[0] = '\0';
}

/* ---- */

TEST_WITH(memory_is_taken_in_pages, begin, NULL)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    static const struct {
        size_t bytes;
        const char *lock;
    } cases[] = {{1, "lock 4096; "}, {4096, "lock 4096; "}, {4097, "lock 8192; "}, {8192, "lock 8192; "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(pinning_enter(&p, some_cpu(), cases[i].bytes, &err), MACHINE_OK);
        assert_memory_equal(asked, cases[i].lock, strlen(cases[i].lock));
        assert_string_equal(p.note, "");
        assert_int_equal(mapped, 1);
        pinning_leave(&p);
        assert_int_equal(mapped, 0);
        asked[0] = '\0';
    }
}

TEST_WITH(what_is_refused_is_told, begin, NULL)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    no_lock = true;
    assert_int_equal(pinning_enter(&p, some_cpu(), 5000, &err), MACHINE_OK);
    assert_string_equal(p.note, "the sample buffer is not locked in memory (Cannot allocate memory; 8 kB needed, limit "
                                "77 kB; raise ulimit -l)");
    assert_true(p.realtime);
    pinning_leave(&p);
    begin(state);
    no_fifo = true;
    assert_int_equal(pinning_enter(&p, some_cpu(), 5000, &err), MACHINE_OK);
    assert_memory_equal(p.note, "no SCHED_FIFO (Operation not permitted): other programs", 55);
    assert_false(p.realtime);
    is_asked("lock 8192; fifo 4; ");
    pinning_begin(&p, 1);
    pinning_end(&p, 1);
    pinning_leave(&p);
    is_asked("");
    begin(state);
    policy = -1; /* what cannot be put back is not changed */
    assert_int_equal(pinning_enter(&p, some_cpu(), 5000, &err), MACHINE_OK);
    assert_false(p.realtime);
    is_asked("lock 8192; ");
    pinning_leave(&p);
    begin(state);
    no_memory = true;
    assert_int_equal(pinning_enter(&p, some_cpu(), 5000, &err), MACHINE_FAILED);
    assert_string_equal(err.text, "cannot allocate the sample buffer: Cannot allocate memory");
    assert_false(p.entered);
    assert_null(p.locked);
    is_asked("");
    assert_int_equal(mapped, 0);
}

/* Back to what it was, when it begins, between repetitions and at the end. */
TEST_WITH(the_policy_is_put_back, begin, NULL)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    static const struct {
        int policy, priority;
        bool no_priority;
        const char *back;
    } cases[] = {{SCHED_OTHER, 0, false, "other 0; "},
                 {SCHED_RR, 7, false, "policy 7; "},
                 {SCHED_RR, 7, true, "policy 0; "},
                 {SCHED_FIFO, 9, false, "fifo 9; "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[80];
        begin(state);
        policy = cases[i].policy;
        priority = cases[i].priority;
        no_priority = cases[i].no_priority;
        assert_int_equal(pinning_enter(&p, some_cpu(), 100, &err), MACHINE_OK);
        snprintf(expected, sizeof expected, "lock 4096; fifo 4; %s", cases[i].back);
        is_asked(expected);
        assert_true(p.rest_us == 0);
        pinning_begin(&p, 1000);
        is_asked("fifo 4; ");
        pinning_end(&p, 1000);
        is_asked(cases[i].back);
        pinning_leave(&p);
        is_asked(cases[i].back);
        pinning_leave(&p);
        is_asked("");
    }
}

/* Nine tenths of what the kernel lets real-time threads have. */
TEST_WITH(long_repetitions_have_no_priority, begin, NULL)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    static const struct {
        long runtime_us;
        double us;
        bool fifo;
    } cases[] = {{0, 855000, true}, {0, 855001, false},  {500000, 450000, true}, {500000, 450001, false},
                 {-1, 1e12, true},  {-1, 1.1e12, false}, {1000, 900, true},      {1000, 901, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(state);
        realtime_us = cases[i].runtime_us;
        assert_int_equal(pinning_enter(&p, some_cpu(), 100, &err), MACHINE_OK);
        asked[0] = '\0';
        pinning_begin(&p, cases[i].us);
        is_asked(cases[i].fifo ? "fifo 4; " : "");
        pinning_end(&p, cases[i].us);
        assert_true(p.rest_us == (cases[i].fifo ? cases[i].us / 10 : 0));
        pinning_leave(&p);
    }
}

TEST_WITH(rests_are_as_long_as_they_should_be, begin, NULL)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    static const struct {
        double us;
        long seconds, nanoseconds;
    } cases[] = {{0.5, 0, 500}, {85500, 0, 85500000}, {999999, 0, 999999000}, {1e6, 1, 0}, {2500000, 2, 500000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p = (struct pinning){.rest_us = cases[i].us, .realtime = true, .realtime_limit_us = 10};
        rested = (struct timespec){-1, -1};
        pinning_begin(&p, 10);
        assert_int_equal(rested.tv_sec, cases[i].seconds);
        assert_int_equal(rested.tv_nsec, cases[i].nanoseconds);
        assert_true(p.rest_us == 0);
        assert_non_null(strstr(asked, "; fifo 4; ")); /* behind the rest */
        asked[0] = '\0';
        pinning_begin(&p, 10.5);
        is_asked("");
    }
}

TEST_WITH(leaving_what_was_not_entered, begin, NULL)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    p = (struct pinning){.realtime = true};
    pinning_leave(&p);
    is_asked("");
}
