/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Switches, migrations and faults on this machine: each costs something, and afterwards the thread, its affinity and
 * its descriptors are what they were, also where the system refuses something. To which CPU a migration goes, and that
 * rounds in which nothing was counted are told, on a system of the test's own.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drivers/native/native.h"
#include "tests/support/folder.h"
#include "tests/support/made_clock.h"
#include "tests/support/test.h"
#include "util/order.h"

/* ---- the system, in the place of the C library's where a test says so ---- */

static bool counts_nothing; /* getrusage always gives the same */
static bool moves_made;     /* affinity and place are `made_cpu` and no real ones */
static int made_cpu;
static pthread_t measuring; /* its calls take so long by the made clock: */
enum { WRITE_TICKS = 1000, READ_TICKS = 600, MOVE_TICKS = 9000, STAY_TICKS = 3000 };

static void pass(unsigned ticks)
{
    if (pthread_equal(pthread_self(), measuring))
        made_clock.now += ticks;
}

ssize_t write(int fd, const void *from, size_t n)
{
    pass(WRITE_TICKS);
    return syscall(SYS_write, fd, from, n);
}

ssize_t read(int fd, void *to, size_t n)
{
    pass(READ_TICKS);
    return syscall(SYS_read, fd, to, n);
}

int getrusage(__rusage_who_t who, struct rusage *out)
{
    if (!counts_nothing)
        return (int)syscall(SYS_getrusage, who, out);
    memset(out, 0, sizeof *out);
    return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    if (!moves_made)
        return syscall(SYS_sched_setaffinity, pid, size, set) < 0 ? -1 : 0;
    pass(CPU_ISSET_S(made_cpu, size, set) ? STAY_TICKS : MOVE_TICKS);
    for (int cpu = 0; !CPU_ISSET_S(made_cpu, size, set) && cpu < CPU_LIMIT; cpu++)
        if (CPU_ISSET_S(cpu, size, set))
            made_cpu = cpu;
    return 0;
}

int sched_getcpu(void)
{
    unsigned cpu = 0;
    return moves_made ? made_cpu : syscall(SYS_getcpu, &cpu, NULL, NULL) == 0 ? (int)cpu : -1;
}

/* ---- the fixture ---- */

static struct native made; /* large */
static struct machine machine;

static int begin(void **state)
{
    (void)state;
    counts_nothing = moves_made = false;
    measuring = pthread_self();
    made_clock = (struct made_clock){.now = 1000000};
    made = (struct native){.name = "made", .sys = "/sys", .prepared = true, .tsc.hz = 2e9, .pinning.entered = true};
    assert_int_equal(cpu_get_affinity(&made.pinning.affinity), 0);
    made.cpu = sched_getcpu();
    machine = (struct machine){.state = &made};
    return 0;
}

static unsigned entries(const char *folder)
{
    unsigned n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

/* Mappings of its shared memory. */
static unsigned shared_maps(void)
{
    char line[300];
    unsigned n = 0;
    FILE *in = fopen("/proc/self/maps", "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in) != NULL)
        n += strstr(line, "memfd:characterize") != NULL;
    fclose(in);
    return n;
}

/* What a call must leave as it was. */
struct traces {
    struct cpu_mask affinity;
    unsigned threads, files;
};

static void look(struct traces *t)
{
    memset(t, 0, sizeof *t);
    cpu_get_affinity(&t->affinity);
    t->threads = entries("/proc/self/task");
    t->files = entries("/proc/self/fd");
}

static void expect_same(const struct traces *before)
{
    struct traces now;
    look(&now);
    assert_memory_equal(&now.affinity, &before->affinity, sizeof now.affinity);
    assert_int_equal(now.threads, before->threads);
    assert_int_equal(now.files, before->files);
    assert_int_equal(shared_maps(), 0);
}

static int run_once(enum switching_what what, struct switching_seen *seen, struct machine_error *err)
{
    const struct switching_request r = {.what = what, .order = {SWITCHING_BASE, SWITCHING_WORK, SWITCHING_AGAIN}};
    return native_switching(&machine, &r, seen, err);
}

static bool two_cpus(void)
{
    return cpu_mask_count(&made.pinning.affinity) > 1;
}

/* ---- on this machine ---- */

static void cost_above_zero(enum switching_what what)
{
    enum { ROUNDS = 15 };
    struct switching_seen seen;
    struct machine_error err;
    struct traces before;
    double cost[ROUNDS];
    unsigned happened = 0;
    look(&before);
    for (size_t i = 0; i < ROUNDS; i++) {
        if (run_once(what, &seen, &err) != MACHINE_OK)
            fail_msg("%s", err.text);
        cost[i] = seen.us[SWITCHING_WORK] - seen.us[SWITCHING_BASE];
        happened += seen.happened;
        assert_true(seen.us[SWITCHING_AGAIN] > 0 && seen.took_us > 0);
        expect_same(&before);
    }
    assert_true(happened > ROUNDS / 2);
    assert_true(order_median(cost, ROUNDS) > 0);
    assert_int_equal(seen.to_cpu >= 0, what == SWITCHING_MIGRATION);
    assert_true(seen.to_cpu != made.cpu);
}

TEST_WITH(a_switch_costs_time, begin, NULL)
{
    cost_above_zero(SWITCHING_SWITCH);
}

TEST_WITH(a_migration_costs_time, begin, NULL)
{
    if (!two_cpus())
        skip();
    cost_above_zero(SWITCHING_MIGRATION);
}

TEST_WITH(a_fault_costs_time, begin, NULL)
{
    cost_above_zero(SWITCHING_FAULT);
}

/* By a clock that only calls let pass, at 2 GHz: a trip of the thread with its own pipes is two writes and two reads,
 * and one of each where a partner does the rest; a trip has two switches. */
TEST_WITH(times_are_of_one_operation, begin, NULL)
{
    struct switching_seen seen = {.took_us = 0}, moved = {.took_us = 0};
    struct machine_error err;
    int status[2];
    skip_where_sanitized("they take the faults for their own");
    if (!two_cpus() || !made_clock_begin())
        skip();
    status[0] = run_once(SWITCHING_SWITCH, &seen, &err);
    moves_made = true;
    made_cpu = made.cpu;
    status[1] = run_once(SWITCHING_MIGRATION, &moved, &err);
    moves_made = false;
    made_clock_end();
    assert_int_equal(status[0], MACHINE_OK);
    assert_int_equal(status[1], MACHINE_OK);
    assert_close(seen.us[SWITCHING_WORK], 0.4, 1e-9);
    assert_close(seen.us[SWITCHING_BASE], 0.8, 1e-9);
    assert_close(seen.us[SWITCHING_AGAIN], 0.8, 1e-9);
    assert_close(seen.took_us, 40 * 2 * (0.4 + 0.8 + 0.8), 1e-6);
    assert_close(moved.us[SWITCHING_WORK], 4.5, 1e-9);
    assert_close(moved.us[SWITCHING_BASE], 1.5, 1e-9);
    assert_close(moved.us[SWITCHING_AGAIN], 1.5, 1e-9);
    assert_close(moved.took_us, 10 * (4.5 + 1.5 + 1.5), 1e-6);
}

/* ---- what it refuses ---- */

TEST_WITH(without_prepare, begin, NULL)
{
    struct switching_seen seen;
    struct machine_error err;
    made.prepared = false;
    assert_int_equal(run_once(SWITCHING_FAULT, &seen, &err), MACHINE_FAILED);
    has(err.text, "was not prepared");
}

TEST_WITH(a_single_cpu, begin, NULL)
{
    struct switching_seen seen;
    struct machine_error err;
    struct traces before;
    look(&before);
    made.setup.cpus = &made.cpu; /* --cpus names no other */
    made.setup.n_cpus = 1;
    assert_int_equal(run_once(SWITCHING_MIGRATION, &seen, &err), MACHINE_CANNOT);
    assert_string_equal(err.text, "a migration needs two CPUs, and this process may use one");
    has(err.remedy, "taskset");
    made.setup.n_cpus = 0;
    cpu_mask_clear(&made.pinning.affinity); /* nor does the system allow one */
    cpu_mask_add(&made.pinning.affinity, made.cpu);
    assert_int_equal(run_once(SWITCHING_MIGRATION, &seen, &err), MACHINE_CANNOT);
    expect_same(&before);
}

/* However many descriptors there are: what was opened is closed, no thread waits, and one line says why. */
TEST_WITH(no_descriptors_left, begin, NULL)
{
    struct switching_seen seen;
    struct machine_error err;
    struct traces before;
    struct rlimit limit;
    look(&before);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlim_t was = limit.rlim_cur;
    const int lowest = dup(0); /* the lowest that is free */
    assert_true(lowest > 0);
    close(lowest);
    unsigned failed = 0;
    for (rlim_t more = 0; more < 10; more++) {
        limit.rlim_cur = (rlim_t)lowest + more;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        for (unsigned what = 0; what < SWITCHING_KINDS; what += 2) {
            memset(&err, 0, sizeof err);
            const int status = run_once((enum switching_what)what, &seen, &err);
            failed += status != MACHINE_OK;
            assert_true(status == MACHINE_OK || (status == MACHINE_FAILED && err.text[0] && err.remedy[0]));
        }
        limit.rlim_cur = was;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        expect_same(&before);
    }
    assert_true(failed >= 8 && failed < 20);
}

/* ---- what it is told by the system ---- */

TEST_WITH(rounds_in_which_nothing_was_counted, begin, NULL)
{
    struct switching_seen seen;
    struct machine_error err;
    counts_nothing = true;
    assert_int_equal(run_once(SWITCHING_SWITCH, &seen, &err), MACHINE_OK);
    assert_false(seen.happened);
    assert_int_equal(run_once(SWITCHING_FAULT, &seen, &err), MACHINE_OK);
    assert_false(seen.happened);
    counts_nothing = false;
    assert_int_equal(run_once(SWITCHING_FAULT, &seen, &err), MACHINE_OK);
    assert_true(seen.happened);
}

/* Eight CPUs, of which those from 4 on are the sibling threads of the others. */
TEST_WITH(where_a_migration_goes, begin, NULL)
{
    static const struct {
        int cpu, to;
        const char *allowed;
        int cpus[3];
        size_t n_cpus;
    } cases[] = {{7, 6, "0-7", {0}, 0},    {3, 2, "0-7", {0}, 0},    {0, 1, "0-7", {0}, 0},
                 {4, 3, "0-7", {0}, 0},    {7, 3, "3,7", {0}, 0},    {7, 0, "0,3,7", {0}, 0},
                 {7, 1, "0-7", {7, 1}, 2}, {7, 3, "0-7", {3, 7}, 2}, {7, 1, "0-7", {3, 7, 1}, 3},
                 {0, 5, "0,4,5", {0}, 0}};
    char folder[FOLDER_PATH_MAX];
    folder_make(folder);
    folder_put_line(folder, "devices/system/cpu/online", "0-7");
    folder_put_line(folder, "devices/system/cpu/present", "0-7");
    for (int cpu = 0; cpu < 8; cpu++) {
        char name[80], siblings[8];
        snprintf(name, sizeof name, "devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        snprintf(siblings, sizeof siblings, "%d,%d", cpu % 4, cpu % 4 + 4);
        folder_put_line(folder, name, siblings);
    }
    snprintf(made.sys, sizeof made.sys, "%s", folder);
    moves_made = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct switching_seen seen;
        struct machine_error err;
        made.cpu = cases[i].cpu;
        made.setup.cpus = cases[i].cpus;
        made.setup.n_cpus = cases[i].n_cpus;
        assert_int_equal(cpu_mask_parse(cases[i].allowed, &made.pinning.affinity), 0);
        if (run_once(SWITCHING_MIGRATION, &seen, &err) != MACHINE_OK)
            fail_msg("%zu: %s", i, err.text);
        if (seen.to_cpu != cases[i].to || !seen.happened)
            fail_msg("%zu: from CPU %d to %d instead of %d, moved %d", i, cases[i].cpu, seen.to_cpu, cases[i].to,
                     seen.happened);
    }
    moves_made = false;
    folder_remove(folder);
}
