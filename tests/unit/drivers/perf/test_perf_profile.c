/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cycles of tasks by license level: over made rings, and with software events of the running kernel. */
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drivers/perf/perf_profile.h"
#include "tests/support/test.h"

enum { FD = 100, GROUP = 5, CPUS = 2, RING = 1 << 18, STRETCHES = 4000 };

static const struct perf_profile_counter counters[PERF_PROFILE_COUNTERS] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}, {PERF_TYPE_RAW, 0x1828}, {PERF_TYPE_RAW, 0x2028}};

static struct {
    struct perf_event_attr attr[CPUS * GROUP];
    int cpu[CPUS * GROUP], group[CPUS * GROUP];
    int opened, closed, maps, unmaps, redirected, enabled, disabled;
    int refuse_at, refuse_errno; /* the open that fails, from 1 on */
    bool map_fails;
    int busy; /* the descriptor whose group is in error */
    void *ring[CPUS];
} fake;
static struct machine_error error;
static struct perf_profile *profile;
static struct perf_stretch got[STRETCHES];
static size_t n_got, most;

static int fake_open(const struct perf_event_attr *attr, int cpu, int group)
{
    if (++fake.opened == fake.refuse_at) {
        fake.opened--;
        errno = fake.refuse_errno;
        return -1;
    }
    fake.attr[fake.opened - 1] = *attr;
    fake.cpu[fake.opened - 1] = cpu;
    fake.group[fake.opened - 1] = group;
    return FD + fake.opened - 1;
}

static int fake_ioctl(int fd, unsigned long request, unsigned long argument)
{
    if (request == PERF_EVENT_IOC_SET_OUTPUT) {
        assert_int_equal(fd, argument + 1); /* the clock's readings go to its leader's ring */
        fake.redirected++;
    } else {
        assert_int_equal(argument, PERF_IOC_FLAG_GROUP);
        assert_int_equal((fd - FD) % GROUP, 0);
        fake.enabled += request == PERF_EVENT_IOC_ENABLE;
        fake.disabled += request == PERF_EVENT_IOC_DISABLE;
    }
    return 0;
}

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void *fake_map(int fd, size_t bytes)
{
    (void)fd;
    assert_int_equal(bytes, page_size() + RING);
    errno = EPERM;
    if (fake.map_fails)
        return NULL;
    return fake.ring[fake.maps++] = calloc(1, bytes);
}

static int fake_unmap(void *at, size_t bytes)
{
    (void)bytes;
    fake.unmaps++;
    free(at);
    return 0;
}

static int fake_wait(const int *fds, size_t n, int timeout_ms)
{
    assert_int_equal(n, CPUS);
    assert_int_equal(fds[1], FD + GROUP);
    errno = EINTR;
    return timeout_ms == 7 ? -1 : 1;
}

static ssize_t fake_read(int fd, void *out, size_t bytes)
{
    memset(out, 0, bytes);
    return fd == fake.busy ? 0 : (ssize_t)bytes;
}

static int fake_close(int fd)
{
    (void)fd;
    fake.closed++;
    return 0;
}

static const struct perf_profile_io fake_io = {.open = fake_open,
                                               .ioctl = fake_ioctl,
                                               .map = fake_map,
                                               .unmap = fake_unmap,
                                               .wait = fake_wait,
                                               .read = fake_read,
                                               .close = fake_close};

static bool keep(void *with, const struct perf_stretch *s)
{
    (void)with;
    if (n_got == most)
        return false;
    got[n_got++] = *s;
    return true;
}

static int reset(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    n_got = 0;
    most = STRETCHES;
    return 0;
}

static int open_it(void)
{
    struct cpu_mask cpus;
    cpu_mask_clear(&cpus);
    cpu_mask_add(&cpus, 3);
    cpu_mask_add(&cpus, 9);
    return perf_profile_open(&fake_io, &cpus, counters, 50, &profile, &error);
}

static void begin(void)
{
    if (open_it() != MACHINE_OK || perf_profile_start(profile, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
}

static void take(void)
{
    n_got = 0;
    if (perf_profile_take(profile, 100, keep, NULL, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
}

static void end(void)
{
    perf_profile_close(profile);
    assert_int_equal(fake.closed, fake.opened);
    assert_int_equal(fake.unmaps, fake.maps);
}

/* ---- made rings ---- */

static void put(int ring, const void *record, size_t bytes)
{
    struct perf_event_mmap_page *page = fake.ring[ring];
    unsigned char *data = (unsigned char *)page + page_size();
    for (size_t i = 0; i < bytes; i++)
        data[(page->data_head + i) % RING] = ((const unsigned char *)record)[i];
    page->data_head += bytes;
}

struct sample_record {
    struct perf_event_header header;
    uint32_t tgid, pid, cpu, reserved;
    uint64_t n, enabled, running, values[GROUP], cgroup;
};

static void put_sample(int ring, uint32_t tgid, uint32_t pid, uint64_t time, uint64_t cycles, uint64_t l1, uint64_t l2)
{
    const struct sample_record s = {.header = {.type = PERF_RECORD_SAMPLE, .size = sizeof s},
                                    .tgid = tgid,
                                    .pid = pid,
                                    .n = GROUP,
                                    .enabled = time,
                                    .running = time,
                                    .values = {77, 88, cycles, l1, l2},
                                    .cgroup = 4242};
    put(ring, &s, sizeof s);
}

static void expect(size_t i, uint32_t cpu, uint32_t pid, uint64_t cycles, uint64_t l1, uint64_t l2, bool known)
{
    assert_true(i < n_got);
    assert_false(got[i].named);
    assert_int_equal(got[i].cpu, cpu);
    assert_int_equal(got[i].pid, pid);
    assert_int_equal(got[i].cgroup, 4242);
    assert_int_equal(got[i].counts[0], cycles);
    assert_int_equal(got[i].counts[1], l1);
    assert_int_equal(got[i].counts[2], l2);
    assert_int_equal(got[i].known, known);
}

TEST_WITH(test_what_is_requested, reset, NULL)
{
    begin();
    assert_int_equal(fake.opened, CPUS * GROUP);
    for (int i = 0; i < CPUS * GROUP; i++) {
        const struct perf_event_attr *a = &fake.attr[i];
        int member = i % GROUP;
        assert_int_equal(fake.cpu[i], i < GROUP ? 3 : 9);
        assert_int_equal(fake.group[i], member == 0 ? -1 : FD + i / GROUP * GROUP);
        assert_int_equal(a->exclude_kernel, 0); /* a level is the core's: cycles of the kernel are at it, too */
        assert_int_equal(a->pinned, member == 0);
        assert_int_equal(a->disabled, member == 0);
        assert_int_equal(a->inherit, 0);
        assert_int_equal(a->type, member < 2 ? PERF_TYPE_SOFTWARE : counters[member - 2].type);
        assert_int_equal(a->config, member == 0   ? PERF_COUNT_SW_CONTEXT_SWITCHES
                                    : member == 1 ? PERF_COUNT_SW_CPU_CLOCK
                                                  : counters[member - 2].config);
        assert_int_equal(a->sample_period, member == 0 ? 1 : member == 1 ? 20000000 : 0);
        assert_int_equal(a->size, sizeof *a);
        assert_int_equal(a->read_format,
                         PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
        assert_int_equal(a->sample_type, PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_READ | PERF_SAMPLE_CGROUP);
        assert_int_equal(a->exclude_hv, 1);
        assert_int_equal(a->exclude_user, 0);
        assert_int_equal(a->comm, member == 0);
        assert_int_equal(a->watermark, member < 2); /* who waits is woken when a quarter of the ring is full */
        assert_int_equal(a->wakeup_watermark, member < 2 ? RING / 4 : 0);
    }
    assert_int_equal(fake.redirected, CPUS);
    assert_int_equal(fake.enabled, CPUS);
    perf_profile_stop(profile);
    assert_int_equal(fake.disabled, CPUS);
    end();
}

/* A task is charged what has grown since the previous reading on its CPU. */
TEST_WITH(test_stretches, reset, NULL)
{
    begin();
    put_sample(0, 10, 11, 1000, 500, 100, 20);
    put_sample(0, 12, 12, 1500, 900, 100, 220);
    put_sample(1, 10, 11, 1000, 50, 0, 0);
    take();
    assert_int_equal(n_got, 3);
    expect(0, 3, 11, 500, 100, 20, true);
    assert_int_equal(got[0].tgid, 10);
    expect(1, 3, 12, 400, 0, 200, true);
    expect(2, 9, 11, 50, 0, 0, true);
    put_sample(0, 0, 0, 1600, 950, 101, 220);
    take();
    assert_int_equal(n_got, 1);
    expect(0, 3, 0, 50, 1, 0, true);
    take();
    assert_int_equal(n_got, 0);
    end();
}

TEST_WITH(test_lost_readings_are_nobodys, reset, NULL)
{
    const struct {
        struct perf_event_header header;
        uint64_t id, lost;
        unsigned char trailer[32];
    } lost = {.header = {.type = PERF_RECORD_LOST, .size = sizeof lost}, .lost = 17};
    begin();
    put_sample(0, 10, 10, 1000, 500, 0, 0);
    put(0, &lost, sizeof lost);
    put_sample(0, 10, 10, 2000, 1500, 400, 0);
    put_sample(0, 10, 10, 3000, 1600, 400, 0);
    put_sample(1, 10, 10, 3000, 1600, 400, 0); /* another CPU's were not lost */
    take();
    assert_int_equal(n_got, 4);
    expect(1, 3, 10, 1000, 400, 0, false);
    expect(2, 3, 10, 100, 0, 0, true);
    expect(3, 9, 10, 1600, 400, 0, true);
    assert_int_equal(perf_profile_lost(profile), 17);
    end();
}

/* A counter that was not on the hardware all the time has missed some. */
TEST_WITH(test_time_off_the_hardware, reset, NULL)
{
    struct sample_record s = {.header = {.type = PERF_RECORD_SAMPLE, .size = sizeof s},
                              .pid = 5,
                              .n = GROUP,
                              .enabled = 1000,
                              .running = 900,
                              .values = {0, 0, 10, 0, 0},
                              .cgroup = 4242};
    begin();
    put(0, &s, sizeof s);
    s.enabled += 100;
    s.running += 100;
    s.values[2] = 5; /* counts never fall; nonsense is nothing, not a large number */
    put(0, &s, sizeof s);
    take();
    assert_int_equal(n_got, 2);
    expect(0, 3, 5, 10, 0, 0, false);
    expect(1, 3, 5, 0, 0, 0, true);
    end();
}

TEST_WITH(test_names, reset, NULL)
{
    const struct {
        struct perf_event_header header;
        uint32_t tgid, pid;
        char comm[24]; /* longer than any: a kernel's own length counts */
    } comm = {.header = {.type = PERF_RECORD_COMM, .size = sizeof comm}, 20, 21, "a-name-that-is-longer"};
    begin();
    put(0, &comm, sizeof comm);
    take();
    assert_int_equal(n_got, 1);
    assert_true(got[0].named);
    assert_int_equal(got[0].pid, 21);
    assert_int_equal(got[0].tgid, 20);
    assert_string_equal(got[0].comm, "a-name-that-is-");
    end();
}

/* Records go around the end of the ring, at every place. */
TEST_WITH(test_around_the_end, reset, NULL)
{
    uint64_t cycles = 0;
    size_t all = 0;
    begin();
    while (all < 3 * RING / sizeof(struct sample_record)) {
        for (int i = 0; i < 700; i++) {
            cycles += 3;
            put_sample(0, 10, 10, cycles, cycles, cycles / 2, 0);
        }
        take();
        assert_int_equal(n_got, 700);
        for (size_t i = 0; i < n_got; i++)
            assert_int_equal(got[i].counts[0], 3);
        all += n_got;
    }
    end();
}

/* Bytes that are no records end nothing but themselves. */
TEST_WITH(test_nonsense, reset, NULL)
{
    struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = 4};
    struct sample_record other = {.header = {.type = PERF_RECORD_SAMPLE, .size = sizeof other}, .n = 99};
    begin();
    put(0, &h, sizeof h);
    take();
    h.size = 5000;
    put(0, &h, sizeof h);
    take();
    h.size = sizeof h; /* too short for what it says to be */
    put(0, &h, sizeof h);
    h.type = PERF_RECORD_COMM;
    put(0, &h, sizeof h);
    h.type = PERF_RECORD_LOST;
    put(0, &h, sizeof h);
    h.type = 9999;
    put(0, &h, sizeof h);
    put(0, &other, sizeof other); /* another group's */
    take();
    assert_int_equal(n_got, 0);
    put_sample(0, 10, 10, 1, 500, 0, 0);
    take();
    expect(0, 3, 10, 500, 0, 0, false);
    end();
}

static void refused(int at, int number, const char *text, const char *remedy)
{
    reset(NULL);
    fake.refuse_at = at;
    fake.refuse_errno = number;
    assert_int_equal(open_it(), MACHINE_CANNOT);
    if (strstr(error.text, text) == NULL || strstr(error.remedy, remedy) == NULL)
        fail_msg("\"%s; %s\"", error.text, error.remedy);
    assert_int_equal(fake.closed, fake.opened);
    assert_int_equal(fake.unmaps, fake.maps);
}

TEST_WITH(test_refusals, reset, NULL)
{
    refused(1, EACCES, "context switches of all tasks on CPU 3", "perf_event_paranoid=0");
    refused(3, ENOENT, "cycles of all tasks on CPU 3", "--list machines");
    refused(9, EINVAL, "license level 1 of all tasks on CPU 9: Invalid", "");
    refused(10, EMFILE, "license level 2 of all tasks on CPU 9", "ulimit -n");
    reset(NULL);
    fake.map_fails = true;
    assert_int_equal(open_it(), MACHINE_CANNOT);
    assert_non_null(strstr(error.remedy, "ulimit -l"));
    assert_int_equal(fake.closed, fake.opened);
}

TEST_WITH(test_counters_that_others_hold, reset, NULL)
{
    fake.busy = FD + GROUP;
    assert_int_equal(open_it(), MACHINE_OK);
    assert_int_equal(perf_profile_start(profile, &error), MACHINE_CANNOT);
    assert_non_null(strstr(error.text, "CPU 9"));
    fake.busy = 0;
    assert_int_equal(perf_profile_start(profile, &error), MACHINE_OK);
    assert_int_equal(perf_profile_take(profile, 7, keep, NULL, &error), MACHINE_OK); /* a signal */
    fake.busy = FD;                                                                  /* meanwhile */
    assert_int_equal(perf_profile_take(profile, 100, keep, NULL, &error), MACHINE_CANNOT);
    assert_non_null(strstr(error.text, "no hardware counters are free for the license levels on CPU 3"));
    end();
}

TEST_WITH(test_a_taker_that_has_had_enough, reset, NULL)
{
    begin();
    put_sample(0, 10, 10, 1, 500, 0, 0);
    put_sample(0, 10, 10, 2, 600, 0, 0);
    most = 1;
    assert_int_equal(perf_profile_take(profile, 100, keep, NULL, &error), MACHINE_FAILED);
    end();
}

/* ---- the running kernel ---- */

static _Noreturn void burn(void)
{
    for (volatile unsigned long i = 0;; i++) {
    }
}

/* Nanoseconds on the CPU in the place of cycles: two tasks that share one CPU are charged what the kernel says they
 * used, and between them, one that sleeps and one that runs all the time both come in. */
TEST_WITH(test_software_events_of_this_kernel, reset, NULL)
{
    const struct perf_profile_counter clock[PERF_PROFILE_COUNTERS] = {
        {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
        {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
        {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}};
    struct cpu_view view;
    struct cpu_mask one;
    int cpu;
    cpu_view_read("/sys", &view);
    assert_int_equal(cpu_choose(&view, -1, &cpu, &error), MACHINE_OK);
    cpu_mask_clear(&one);
    cpu_mask_add(&one, cpu);
    if (perf_profile_open(&perf_profile_system, &one, clock, 50, &profile, &error) != MACHINE_OK) {
        print_message("skipped: %s\n", error.text);
        skip();
    }
    pid_t pid[2];
    for (int i = 0; i < 2; i++)
        if ((pid[i] = fork()) == 0) {
            cpu_set_affinity(&one);
            burn();
        }
    usleep(50000);
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    if (perf_profile_start(profile, &error) != MACHINE_OK)
        fail_msg("%s", error.text);
    uint64_t sum[2] = {0, 0};
    for (int round = 0; round < 10; round++) {
        usleep(50000);
        take();
        for (size_t k = 0; k < n_got; k++)
            for (int i = 0; i < 2; i++)
                sum[i] += got[k].pid == (uint32_t)pid[i] ? got[k].counts[0] : 0;
    }
    perf_profile_stop(profile);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    double elapsed = (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec);
    /* of one CPU; not what each is said to have used, which lacks what a hypervisor took meanwhile */
    assert_true((double)(sum[0] + sum[1]) * 1e-9 < elapsed + 0.02);
    struct rusage used[2];
    for (int i = 0; i < 2; i++) {
        kill(pid[i], SIGKILL);
        assert_int_equal(wait4(pid[i], NULL, 0, &used[i]), pid[i]);
        double seconds = (double)used[i].ru_utime.tv_sec + 1e-6 * (double)used[i].ru_utime.tv_usec;
        /* from 50 ms before to the end: on a busy machine whatever it was given */
        assert_true((double)sum[i] * 1e-9 > 0.4 * seconds);
    }
    assert_int_equal(perf_profile_lost(profile), 0);
    perf_profile_close(profile);
}
