/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters of all CPUs, on a made PMU with so many of them: what is given up, and in which order. */
#include <errno.h>
#include <limits.h>

#include "drivers/perf/perf_groups.h"
#include "tests/support/test.h"

enum { FD = 100, FDS = 1000, MEMBERS = 6 };

/* The needed ones and two ranks. */
static const struct perf_groups_event events[MEMBERS] = {{COUNTER_CYCLES, 0, 0},     {COUNTER_REF_CYCLES, 0, 0},
                                                         {COUNTER_EVENT, 0x1828, 0}, {COUNTER_EVENT, 0x2028, 1},
                                                         {COUNTER_EVENT, 0x5a3, 1},  {COUNTER_EVENT, 0x4028, 2}};

static struct {
    struct perf_event_attr attr[FDS];
    int cpu[FDS], group[FDS], n, open;
    int room, busy_cpu, busy_room; /* events of a group at most; those that others leave of a CPU */
    int refuse;                    /* an error number of every open */
} fake;

static int members_of(int leader)
{
    int n = 0;
    for (int i = 0; i < fake.n; i++)
        n += FD + i == leader || fake.group[i] == leader;
    return n;
}

static int fake_open(const struct perf_event_attr *attr, int cpu, int group)
{
    errno = fake.refuse != 0 ? fake.refuse : EINVAL; /* Linux, validate_group(): a group that never fits */
    if (fake.refuse != 0 || fake.n == FDS || (group >= 0 && members_of(group) == fake.room))
        return -1;
    fake.attr[fake.n] = *attr;
    fake.cpu[fake.n] = cpu;
    fake.group[fake.n] = group;
    fake.open++;
    return FD + fake.n++;
}

static int fake_ioctl(int fd, unsigned long request, unsigned long argument)
{
    assert_int_equal(request, PERF_EVENT_IOC_ENABLE);
    assert_int_equal(argument, PERF_IOC_FLAG_GROUP);
    assert_int_equal(fake.group[fd - FD], -1);
    return 0;
}

/* Of a pinned group that others leave no room for, nothing. */
static ssize_t fake_read(int fd, void *out, size_t bytes)
{
    memset(out, 0, bytes);
    return fake.cpu[fd - FD] == fake.busy_cpu && members_of(fd) > fake.busy_room ? 0 : (ssize_t)bytes;
}

static int fake_close(int fd)
{
    (void)fd;
    fake.open--;
    return 0;
}

static const struct perf_profile_io io = {
    .open = fake_open, .ioctl = fake_ioctl, .read = fake_read, .close = fake_close};
static struct perf_groups *groups;
static struct machine_error error;

static int open_it(int room, int busy_room)
{
    struct cpu_mask cpus;
    memset(&fake, 0, sizeof fake);
    fake.room = room;
    fake.busy_cpu = 9;
    fake.busy_room = busy_room;
    cpu_mask_clear(&cpus);
    cpu_mask_add(&cpus, 3);
    cpu_mask_add(&cpus, 9);
    return perf_groups_open(&io, "/nowhere", &cpus, events, MEMBERS, &groups, &error);
}

static void check(int room, int busy_room, size_t members, unsigned given_up)
{
    assert_int_equal(open_it(room, busy_room), MACHINE_OK);
    assert_int_equal(perf_groups_given_up(groups), given_up);
    for (int cpu = 3; cpu <= 9; cpu += 6)
        for (size_t i = 0; i < MEMBERS; i++) {
            const int fd = perf_groups_fd(groups, cpu, i);
            assert_int_equal(fd >= FD, i < members);
            if (fd < FD)
                continue;
            const struct perf_event_attr *a = &fake.attr[fd - FD];
            assert_int_equal(fake.cpu[fd - FD], cpu);
            assert_int_equal(fake.group[fd - FD], i == 0 ? -1 : perf_groups_fd(groups, cpu, 0));
            assert_int_equal(a->pinned, i == 0);
            assert_int_equal(a->disabled, i == 0);
            assert_int_equal(a->exclude_kernel, 0);
            assert_int_equal(a->type, i < 2 ? PERF_TYPE_HARDWARE : PERF_TYPE_RAW);
            if (i >= 2)
                assert_int_equal(a->config, events[i].code);
        }
    assert_int_equal(perf_groups_fd(groups, 4, 0), -1);
    assert_int_equal(fake.open, 2 * members);
    perf_groups_close(groups);
    assert_int_equal(fake.open, 0);
}

TEST(what_does_not_fit_is_given_up_by_rank)
{
    check(6, 6, 6, UINT_MAX);
    check(5, 6, 5, 2); /* the kernel refuses such a group ... */
    check(6, 5, 5, 2); /* ... or others hold counters of one CPU, and all do without */
    check(6, 4, 3, 1);
    check(3, 6, 3, 1);
}

TEST(not_even_what_is_needed)
{
    assert_int_equal(open_it(6, 2), MACHINE_CANNOT);
    assert_non_null(strstr(error.text, "no hardware counters are free on CPU 9"));
    assert_non_null(strstr(error.remedy, "stop other users of the counters"));
    assert_null(groups);
    assert_int_equal(fake.open, 0);
    assert_int_equal(open_it(2, 6), MACHINE_CANNOT);
    assert_non_null(strstr(error.text, "cannot count event 0x28:0x18 of all tasks on CPU 3: Invalid argument"));
    assert_int_equal(fake.open, 0);
}
