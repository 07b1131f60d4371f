/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a repetition runs: real-time priority for short ones alone, and nothing of it stays. */
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "drivers/native/pinning.h"
#include "tests/support/some_cpu.h"
#include "tests/support/test.h"

/* A tenth of the time is given back where it was taken from others: with the priority, and not beyond the limit. */
TEST(a_rest_follows_real_time_alone)
{
    static const struct {
        bool realtime;
        double us, limit_us, rest_us;
    } cases[] = {{true, 1000, 855000, 100}, {true, 855000, 855000, 85500}, {true, 855001, 855000, 0},
                 {false, 1000, 855000, 0},  {false, 900000, 855000, 0},    {true, 0, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pinning p = {
            .realtime = cases[i].realtime, .realtime_limit_us = cases[i].limit_us, .policy = sched_getscheduler(0)};
        pinning_end(&p, cases[i].us);
        if (p.rest_us != cases[i].rest_us)
            fail_msg("case %zu: %g us of rest instead of %g", i, p.rest_us, cases[i].rest_us);
    }
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

TEST(the_rest_is_taken_once)
{
    struct pinning p = {.rest_us = 20000};
    double begin = now_us();
    pinning_begin(&p, 1000);
    assert_true(now_us() - begin >= 20000);
    assert_true(p.rest_us == 0);
}

TEST(the_priority_is_for_short_repetitions)
{
    static const struct {
        double us;
        bool realtime;
    } cases[] = {{1000, true}, {5000, true}, {5001, false}};
    struct pinning p;
    struct machine_error err;
    const int policy = sched_getscheduler(0);
    assert_int_equal(pinning_enter(&p, some_cpu(), 100, &err), MACHINE_OK);
    bool allowed = p.realtime;
    p.realtime_limit_us = 5000;
    for (size_t i = 0; allowed && i < sizeof cases / sizeof *cases; i++) {
        p.rest_us = 0;
        pinning_begin(&p, cases[i].us);
        int within = sched_getscheduler(0);
        pinning_end(&p, cases[i].us);
        assert_int_equal(within, cases[i].realtime ? SCHED_FIFO : policy);
        assert_int_equal(sched_getscheduler(0), policy);
    }
    pinning_leave(&p);
    if (!allowed) {
        assert_non_null(strstr(p.note, "SCHED_FIFO"));
        print_message("skipped: no SCHED_FIFO here\n");
        skip();
    }
}

TEST(nothing_stays)
{
    cpu_set_t before, within, after;
    struct pinning p;
    struct machine_error err;
    const int cpu = some_cpu(), policy = sched_getscheduler(0);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(pinning_enter(&p, cpu, 5000, &err), MACHINE_OK);
    assert_int_equal(sched_getaffinity(0, sizeof within, &within), 0);
    assert_int_equal(CPU_COUNT(&within), 1);
    assert_true(CPU_ISSET(cpu, &within));
    assert_int_equal(p.locked_size, 8192);
    for (size_t i = 0; i < p.locked_size; i++)
        assert_int_equal(((const char *)p.locked)[i], 0);
    pinning_leave(&p);
    pinning_leave(&p);
    assert_null(p.locked);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    assert_int_equal(sched_getscheduler(0), policy);
}

TEST(a_cpu_that_is_not_there)
{
    struct pinning p;
    struct machine_error err;
    assert_int_equal(pinning_enter(&p, 8191, 100, &err), MACHINE_FAILED);
    assert_non_null(strstr(err.text, "CPU 8191"));
    assert_false(p.entered);
    assert_null(p.locked);
}

/* Code that ends at a page's end is read to there: after it nothing is mapped. */
TEST(code_is_touched_to_its_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    static const size_t before_end[] = {1, 64, 700, 4095, 4096, 5000};
    unsigned char *code = mmap(NULL, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(code != MAP_FAILED);
    assert_int_equal(mprotect(code + 2 * page, page, PROT_NONE), 0);
    for (size_t i = 0; i < sizeof before_end / sizeof *before_end; i++) {
        struct payload p = {.bytes = (unsigned)before_end[i]};
        const unsigned char *begin = code + 2 * page - before_end[i];
        memcpy(&p.run, &begin, sizeof begin);
        pinning_touch(&p);
    }
    munmap(code, 3 * page);
}
