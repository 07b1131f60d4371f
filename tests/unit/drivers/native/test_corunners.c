/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alone: keeps other cores busy */
/* Threads that keep other cores busy: that they run where they should, and stop. */
#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "drivers/native/corunners.h"
#include "computer/cpu/cpu.h"
#include "tests/support/test.h"

static const uint64_t slice = 100000; /* 20 to 100 us on any TSC */

static struct payload adds(void)
{
    struct payload p;
    char why[200];
    assert_int_equal(kernel_parse("64add", &p, why, sizeof why), 0);
    return p;
}

static int some_cpu(void)
{
    struct cpu_view v;
    struct machine_error err;
    int cpu;
    cpu_view_read("/sys", &v);
    assert_int_equal(cpu_choose(&v, -1, &cpu, &err), MACHINE_OK);
    return cpu;
}

static unsigned threads(void)
{
    DIR *d = opendir("/proc/self/task");
    unsigned n = 0;
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void wait_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* A thread that has been joined is still listed until the kernel is done with it. */
static void expect_threads(unsigned expected)
{
    for (int i = 0; i < 500 && threads() != expected; i++)
        wait_ms(10);
    assert_int_equal(threads(), expected);
}

/* The only other thread. */
static pid_t other_thread(void)
{
    DIR *d = opendir("/proc/self/task");
    pid_t found = -1;
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d))
        if (e->d_name[0] != '.' && atoi(e->d_name) != getpid())
            found = atoi(e->d_name);
    closedir(d);
    assert_true(found > 0);
    return found;
}

/* The list of CPUs that the only other thread may run on, as the kernel sees it. */
static void other_thread_allowed(char *out, size_t size)
{
    char text[8192];
    assert_true(cpu_read_text("/proc", text, sizeof text, "self/task/%d/status", (int)other_thread()) > 0);
    char *at = strstr(text, "Cpus_allowed_list:");
    assert_non_null(at);
    snprintf(out, size, "%s", at + strlen("Cpus_allowed_list:") + 1);
    out[strcspn(out, "\n")] = '\0';
}

TEST(test_none_is_none)
{
    struct machine_error err;
    const struct corunner_code code = {.payload = adds(), .ticks = slice};
    struct corunners *c = (void *)&err;
    assert_int_equal(corunners_start(NULL, 0, &code, &c, &err), MACHINE_OK);
    assert_null(c);
    corunners_stop(c);
}

TEST(test_they_run_on_their_cpu_until_stopped)
{
    struct machine_error err;
    const struct corunner_code code = {.payload = adds(), .ticks = slice};
    struct corunners *c;
    int cpu = some_cpu();
    char expected[16], got[64];
    unsigned before = threads();
    assert_int_equal(corunners_start(&cpu, 1, &code, &c, &err), MACHINE_OK);
    expect_threads(before + 1);
    snprintf(expected, sizeof expected, "%d", cpu);
    other_thread_allowed(got, sizeof got);
    assert_string_equal(got, expected);
    uint64_t seen = corunners_slices(c, 0);
    assert_true(seen > 0); /* busy when start returns */
    for (int i = 0; i < 500 && corunners_slices(c, 0) < seen + 10; i++)
        wait_ms(10);
    assert_true(corunners_slices(c, 0) >= seen + 10);
    corunners_stop(c);
    expect_threads(before);
}

/* One with the real-time priority of the measuring thread would keep the kernel's own threads off its core. Any policy
 * that may be taken without rights shows whether it is inherited. */
TEST(test_they_run_at_normal_priority)
{
    const struct sched_param none = {.sched_priority = 0};
    struct machine_error err;
    const struct corunner_code code = {.payload = adds(), .ticks = slice};
    struct corunners *c;
    int cpu = some_cpu(), before = sched_getscheduler(0);
    assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    assert_int_equal(corunners_start(&cpu, 1, &code, &c, &err), MACHINE_OK);
    int policy = sched_getscheduler(other_thread());
    corunners_stop(c);
    assert_int_equal(sched_setscheduler(0, before, &none), 0);
    assert_int_equal(policy, SCHED_OTHER);
}

TEST(test_a_cpu_that_is_not_there_leaves_nothing_running)
{
    struct machine_error err;
    const struct corunner_code code = {.payload = adds(), .ticks = slice};
    struct corunners *c;
    int cpus[2] = {some_cpu(), CPU_LIMIT - 1};
    unsigned before = threads();
    assert_int_equal(corunners_start(cpus, 2, &code, &c, &err), MACHINE_FAILED);
    assert_int_equal(err.status, MACHINE_FAILED);
    assert_non_null(strstr(err.text, "CPU 8191"));
    assert_null(c);
    expect_threads(before);
}

/* Its first slice: before that the core is not yet as active as it is to be. */
static atomic_uint slices_over;

static uint64_t slow_slice(uint64_t blocks, uint64_t deadline, void *kernel_state, uint64_t dirty,
                           struct kernel_walk *walk)
{
    (void)kernel_state;
    (void)walk;
    (void)dirty;
    assert_true(deadline != 0);
    wait_ms(20);
    atomic_fetch_add(&slices_over, 1);
    return blocks;
}

static const struct kernel_walk *_Atomic first_walk;

/* Notes the place of the thread that began later in the buffer; each goes on in its own. */
static uint64_t walking_slice(uint64_t blocks, uint64_t deadline, void *kernel_state, uint64_t dirty,
                              struct kernel_walk *walk)
{
    (void)deadline, (void)kernel_state, (void)dirty;
    const struct kernel_walk *none = NULL;
    if (!atomic_compare_exchange_strong(&first_walk, &none, walk) && none != walk)
        assert_true(walk->next != none->next && walk->end == none->end);
    wait_ms(1);
    return blocks;
}

TEST(test_each_has_its_place_in_a_buffer)
{
    static uint8_t at[30 * KERNEL_BLOCK_LINES * KERNEL_LINE];
    const struct kernel_walk whole = {at, at, at + sizeof at};
    struct machine_error err;
    struct corunner_code code = {.payload = adds(), .walk = &whole, .ticks = slice};
    struct corunners *c;
    int cpu = some_cpu(), cpus[2] = {cpu, cpu};
    code.payload.run = walking_slice;
    assert_int_equal(corunners_start(cpus, 2, &code, &c, &err), MACHINE_OK);
    assert_true(first_walk != NULL && first_walk != &whole);
    const uint8_t *next = ((const struct kernel_walk *)first_walk)->next;
    assert_true(next == at + 10 * KERNEL_BLOCK_LINES * KERNEL_LINE ||
                next == at + 20 * KERNEL_BLOCK_LINES * KERNEL_LINE);
    corunners_stop(c);
}

TEST(test_they_are_busy_when_they_have_started)
{
    const int cpus[] = {some_cpu(), some_cpu()};
    struct corunner_code code = {.payload = adds(), .ticks = slice};
    struct corunners *c;
    struct machine_error err;
    code.payload.run = slow_slice;
    assert_int_equal(corunners_start(cpus, 2, &code, &c, &err), MACHINE_OK);
    assert_true(atomic_load(&slices_over) >= 2);
    assert_true(corunners_slices(c, 0) >= 1 && corunners_slices(c, 1) >= 1);
    corunners_stop(c);
}
