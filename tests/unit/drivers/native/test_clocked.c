/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Native machines on a fake clock (tests/support/made_clock.h): its rate and its step, how fast payloads run, bursts,
 * first uses, trials. Nothing here depends on how fast this processor is, or how busy. */
#include <inttypes.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "computer/cpu/tsc.h"
#include "drivers/native/native.h"
#include "drivers/native/trials.h"
#include "tests/support/golden.h"
#include "tests/support/made_clock.h"
#include "tests/support/test.h"

/* ---- the system, in the place of the C library's ---- */

static double made_hz = 2e9;
static bool clock_fails;
static unsigned clock_ticks;     /* that reading it takes, by turns twice and thrice as much */
static unsigned clocked, sleeps; /* how often */
static double slept;             /* s */
static struct rusage usage;      /* the next ones are greater by `growth` */
static struct rusage growth;
static int cpu_seen = -1; /* -1: the one that it runs on */
static bool map_fails;

int clock_gettime(clockid_t id, struct timespec *out)
{
    if (id != CLOCK_MONOTONIC_RAW)
        return (int)syscall(SYS_clock_gettime, id, out);
    made_clock.now += clock_ticks * (1 + clocked % 3);
    double seconds = 5 + (double)made_clock.now / made_hz;
    made_clock.now += clock_ticks * (1 + clocked++ % 3);
    out->tv_sec = (time_t)seconds;
    out->tv_nsec = (long)((seconds - (double)out->tv_sec) * 1e9);
    return clock_fails ? -1 : 0;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *time, struct timespec *left)
{
    double seconds = (double)time->tv_sec + 1e-9 * (double)time->tv_nsec;
    (void)id;
    (void)flags;
    (void)left;
    slept += seconds;
    sleeps++;
    made_clock.now += (uint64_t)(seconds * made_hz);
    return 0;
}

int getrusage(__rusage_who_t who, struct rusage *out)
{
    (void)who;
    *out = usage;
    usage.ru_minflt += growth.ru_minflt;
    usage.ru_majflt += growth.ru_majflt;
    usage.ru_nvcsw += growth.ru_nvcsw;
    usage.ru_nivcsw += growth.ru_nivcsw;
    return 0;
}

int sched_getcpu(void)
{
    unsigned cpu = 0;
    return cpu_seen >= 0 ? cpu_seen : syscall(SYS_getcpu, &cpu, NULL, NULL) == 0 ? (int)cpu : -1;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return map_fails ? MAP_FAILED : (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset); /* NOLINT */
}

/* ---- payloads ---- */

/* Blocks of so many ticks; what was requested of it. */
static struct made_payload {
    unsigned ticks, slow_ticks; /* of a block; of the first `slow` blocks */
    uint64_t slow, blocks;
    unsigned calls, late_at, late; /* the call with this number takes so many ticks more */
    uint64_t requested[8], until[8], dirty;
} payload, wide;

static uint64_t run_made(struct made_payload *p, uint64_t blocks, uint64_t until, uint64_t dirty)
{
    uint64_t done = 0;
    if (p->calls < 8) {
        p->requested[p->calls] = blocks;
        p->until[p->calls] = until;
    }
    p->dirty = dirty;
    made_clock.now += ++p->calls == p->late_at ? p->late : 0;
    do {
        for (uint64_t i = 0; i < blocks; i++)
            made_clock.now += p->blocks++ < p->slow ? p->slow_ticks : p->ticks;
        done += blocks;
    } while (until != 0 && made_clock.now < until);
    return done;
}

static uint64_t run_plain(uint64_t blocks, uint64_t until, void *state, uint64_t dirty, struct kernel_walk *walk)
{
    (void)state;
    (void)walk;
    return run_made(&payload, blocks, until, dirty);
}

static uint64_t run_wide(uint64_t blocks, uint64_t until, void *state, uint64_t dirty, struct kernel_walk *walk)
{
    (void)state;
    (void)walk;
    return run_made(&wide, blocks, until, dirty);
}

/* ---- the fixture ---- */

static struct native made; /* large */

static int make_native(void **state)
{
    (void)state;
    cpu_seen = -1;
    made = (struct native){.name = "made", .sys = "/nowhere", .prepared = true, .features = kernel_cpu_features()};
    made.cpu = sched_getcpu();
    made.tsc.hz = made_hz = 2e9;
    made_clock = (struct made_clock){.now = 1000000000, .read = 20};
    payload = (struct made_payload){.ticks = 100};
    wide = (struct made_payload){.ticks = 150};
    clock_fails = map_fails = false;
    clock_ticks = 25;
    clocked = sleeps = 0;
    slept = 0;
    memset(&usage, 0, sizeof usage);
    memset(&growth, 0, sizeof growth);
    return 0;
}

static void skip_without_made_clock(void)
{
    skip_where_sanitized("they take the faults for their own");
    if (!made_clock_begin()) {
        print_message("skipped: RDTSC cannot be made to fault here\n");
        skip();
    }
    made_clock_end();
}

/* Runs statements by the fake clock. */
#define BY_MADE_CLOCK(...)                                                                                             \
    do {                                                                                                               \
        assert_true(made_clock_begin());                                                                               \
        __VA_ARGS__;                                                                                                   \
        made_clock_end();                                                                                              \
    } while (0)

/* ---- the clock itself ---- */

TEST_WITH(the_rate_is_found_as_exactly_as_the_clock_tells, make_native, NULL)
{
    skip_without_made_clock();
    struct golden g;
    FILE *out = golden_begin(&g);
    static const unsigned costs[] = {0, 25, 700, 20000, 300000};
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        for (int fast = 0; fast < 2; fast++) {
            double hz = 0, error = 0;
            int status;
            make_native(state);
            made_hz = fast ? 3.456e9 : 1.2e9;
            made_clock.spread = 50;
            clock_ticks = costs[i];
            BY_MADE_CLOCK(status = tsc_calibrate(&hz, &error));
            fprintf(out, "%u ticks at %.3f GHz: %d %.7g Hz, error %.7g; %u sleeps of %.7g s, clock read %u times\n",
                    costs[i], made_hz * 1e-9, status, hz, error, sleeps, slept, clocked);
            assert_true(fabs(hz / made_hz - 1) <= error);
        }
    make_native(state);
    double hz, error;
    int status;
    clock_fails = true;
    BY_MADE_CLOCK(status = tsc_calibrate(&hz, &error));
    assert_int_equal(status, -1);
    golden_expect(&g, "machine/clock", "rate", false);
}

TEST_WITH(the_step_is_found, make_native, NULL)
{
    static const struct {
        unsigned read, spread, quantum;
        double step;
    } cases[] = {{20, 30, 26, 26}, {20, 30, 10, 10}, {31, 9, 0, 1}, {26, 0, 26, 0}, {400, 300, 100, 100}};
    skip_without_made_clock();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double step = -1;
        made_clock.read = cases[i].read;
        made_clock.spread = cases[i].spread;
        made_clock.quantum = cases[i].quantum;
        BY_MADE_CLOCK(step = tsc_measure_step());
        if (step != cases[i].step)
            fail_msg("%zu: %g instead of %g", i, step, cases[i].step);
        assert_int_equal(made_clock.reads, 2048);
    }
}

/* ---- how fast a payload runs ---- */

TEST_WITH(rates_of_payloads, make_native, NULL)
{
    static const unsigned ticks[] = {1, 37, 999, 1000, 1001, 4000, 90000};
    static const double periods[] = {0.25, 1, 4, 4.01, 500};
    skip_without_made_clock();
    struct golden g;
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++)
        for (size_t k = 0; k < sizeof periods / sizeof *periods; k++) {
            struct payload p = {.run = run_plain, .dirty = k % 2};
            struct sampling_lane lane;
            make_native(state);
            /* slowly at first, and interrupted later on */
            payload = (struct made_payload){
                .ticks = ticks[i], .slow_ticks = 3 * ticks[i], .slow = 20, .late_at = 9, .late = 100000};
            BY_MADE_CLOCK(native_lane_measure(&p, NULL, 2e9, periods[k], &lane));
            fprintf(out, "%u ticks, %g us: %" PRIu64 " blocks, dirty %d", ticks[i], periods[k], lane.blocks,
                    (int)lane.dirty);
            fprintf(out, "; %u calls: %" PRIu64 " until %" PRIu64 ", %" PRIu64 " until %" PRIu64 "\n", payload.calls,
                    payload.requested[0], payload.until[0] - 1000000000, payload.requested[1], payload.until[1]);
            assert_ptr_equal(lane.run, run_plain);
            assert_int_equal(payload.dirty, k % 2);
        }
    golden_expect(&g, "machine/clock", "lanes", false);
}

/* ---- around a repetition ---- */

static struct sampling_log sampled;

static void sample_made(struct native *s, const struct sampling *plan, struct sampling_log *log)
{
    (void)s;
    (void)plan;
    *log = sampled;
}

TEST_WITH(what_came_meanwhile_is_reported, make_native, NULL)
{
    const struct payload adds = kernel_named("64add");
    const struct segment segments[] = {{.payload = adds, .duration_us = 300}, {.payload = adds, .duration_us = 20.5}};
    const struct run_request r = {.segments = segments, .n_segments = 2};
    struct sampling_log log;
    struct machine_error err;
    struct recording rec;
    uint64_t words[1];
    sampled = (struct sampling_log){.n = 12, .zero_tsc = 77, .zero_reading = 5, .cut = true};
    made.prepared = true;
    made.lanes[0] = (struct sampling_lane){.run = adds.run, .dirty = adds.dirty};
    made.n_lanes = 1;
    made.setup.n_counters = 3;
    made.setup.max_samples = 500;
    usage = (struct rusage){.ru_minflt = 100, .ru_majflt = 1000, .ru_nvcsw = 10000, .ru_nivcsw = 100000};
    growth = (struct rusage){.ru_minflt = 2, .ru_majflt = 30, .ru_nvcsw = 500, .ru_nivcsw = 7000};
    assert_int_equal(native_run(&made, &r, sample_made, &log, words, &rec, &err), MACHINE_OK);
    assert_int_equal(rec.page_faults, 32);
    assert_int_equal(rec.involuntary_switches, 7000);
    assert_false(rec.migrated);
    assert_true(rec.cut);
    assert_true(rec.n == 12 && rec.stride == 5 && rec.capacity == 6 * 500 + 1 && rec.zero_tsc == 77 &&
                rec.zero_reading == 5);
    assert_ptr_equal(rec.words, words);
    sampled.cut = false;
    cpu_seen = made.cpu + 1;
    made.n_lanes = 1; /* forgotten after a cut */
    assert_int_equal(native_run(&made, &r, sample_made, &log, words, &rec, &err), MACHINE_OK);
    assert_true(rec.migrated);
    assert_false(rec.cut);
}

/* ---- bursts ---- */

static struct bursts_request bursts_of(uint64_t count, double every_us)
{
    struct bursts_request r = {.plain = kernel_named("64add"),
                               .wide = kernel_named("128or"),
                               .count = count,
                               .every_us = every_us,
                               .before_us = 70,
                               .skipped = 2,
                               .bursts = 4};
    r.plain.run = run_plain;
    r.wide.run = run_wide;
    return r;
}

TEST_WITH(what_disturbs_bursts, make_native, NULL)
{
    static const struct {
        struct rusage growth;
        bool moved;
        const char *reported;
    } cases[] = {
        {{.ru_minflt = 0}, false, NULL},
        {{.ru_minflt = 1}, false, "page faults"},
        {{.ru_nvcsw = 1}, false, NULL},
        {{.ru_nivcsw = 1}, false, "preempted by the scheduler"},
        {{.ru_minflt = 1, .ru_nivcsw = 1}, true, "migrated to another CPU"},
    };
    struct machine m = {.state = &made};
    skip_without_made_clock();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bursts_request r = bursts_of(10, 20);
        struct burst b[4];
        const char *disturbed = "?";
        struct machine_error err;
        int status;
        make_native(state);
        usage = (struct rusage){.ru_minflt = 100, .ru_nvcsw = 50, .ru_nivcsw = 20};
        growth = cases[i].growth;
        cpu_seen = cases[i].moved ? made.cpu + 1 : -1;
        BY_MADE_CLOCK(status = native_bursts(&m, &r, b, &disturbed, &err));
        assert_int_equal(status, MACHINE_OK);
        assert_true((disturbed == NULL) == (cases[i].reported == NULL));
        if (disturbed != NULL)
            assert_string_equal(disturbed, cases[i].reported);
    }
    struct bursts_request r = bursts_of(10, 20);
    struct burst b[4];
    const char *disturbed;
    struct machine_error err;
    made.prepared = false;
    assert_int_equal(native_bursts(&m, &r, b, &disturbed, &err), MACHINE_FAILED);
    assert_string_equal(err.text, "the made machine was not prepared");
    made.prepared = true;
    made.cpu = 8191;
    assert_int_equal(native_bursts(&m, &r, b, &disturbed, &err), MACHINE_CANNOT);
    assert_memory_equal(err.text, "CPU 8191 cannot be used: ", 25);
}

/* ---- first uses ---- */

TEST_WITH(first_uses_that_are_refused, make_native, NULL)
{
    static const struct {
        double warm_us, idle_us, observe_us;
        bool good;
    } cases[] = {{1e6, 1, 1, true},      {1e6 + 1, 1, 1, false}, {0, 1, 1, false},     {1, 1e6, 1, true},
                 {1, 1e6 + 1, 1, false}, {1, 0, 1, true},        {1, -1e-9, 1, false}, {1, 1, 1e4, true},
                 {1, 1, 1e4 + 1, false}, {1, 1, 0, false},       {1, NAN, 1, false},   {NAN, 1, 1, false},
                 {1, 1, NAN, false},     {1e-3, 1, 1e-3, true}};
    struct machine m = {.state = &made};
    struct first_use_seen seen;
    struct machine_error err;
    struct first_use_request r = {.warm = kernel_named("256fma"), .warm_us = 1, .idle_us = 1, .observe_us = 1};
    made.features = 0; /* requests not refused for another reason lack FMA */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r.warm_us = cases[i].warm_us;
        r.idle_us = cases[i].idle_us;
        r.observe_us = cases[i].observe_us;
        int status = native_first_use(&m, &r, &seen, &err);
        if (status != (cases[i].good ? MACHINE_CANNOT : MACHINE_BAD_INPUT))
            fail_msg("%zu: %d %s", i, status, err.text);
        assert_true((strstr(err.text, "kernel 256fma needs") != NULL) == cases[i].good);
    }
    r.warm = kernel_named("128or");
    assert_int_equal(native_first_use(&m, &r, &seen, &err), MACHINE_CANNOT);
    assert_string_equal(err.text, "first uses can only be measured for 256-bit and 512-bit units and for tiles");
    r.warm = kernel_named("512or");
    r.warm_us = r.observe_us = 1;
    r.idle_us = 1;
    assert_int_equal(native_first_use(&m, &r, &seen, &err), MACHINE_CANNOT);
    assert_memory_equal(err.text, "kernel 512or needs", 18);
    made.prepared = false;
    assert_int_equal(native_first_use(&m, &r, &seen, &err), MACHINE_FAILED);
    assert_string_equal(err.text, "the made machine was not prepared");
}

/* ---- trials ---- */

static struct made_work {
    unsigned calls, spoils, late_at, late_for, stop_at, polls;
    unsigned round_ticks, longer; /* each call takes so many more than the one before */
    uint64_t late;                /* ticks: from call late_at on, late_for times */
    uint64_t first[12], rounds;
} work;

static uint64_t made_rounds(uint64_t rounds, const void *buffer, uint64_t mask, uint64_t first)
{
    (void)buffer;
    (void)mask;
    if (work.calls < 12)
        work.first[work.calls] = first;
    work.rounds = rounds;
    work.calls++;
    made_clock.now += rounds * work.round_ticks + work.calls * work.longer;
    if (work.late_at > 0 && work.calls >= work.late_at && work.calls < work.late_at + work.late_for)
        made_clock.now += work.late;
    return 1;
}

static uint64_t made_spoiling(uint64_t rounds, const void *buffer, uint64_t mask, uint64_t first)
{
    assert_int_equal(first, work.spoils * rounds);
    (void)buffer;
    (void)mask;
    work.spoils++;
    made_clock.now += 7000;
    return 1;
}

const struct workload *workload_get(enum workload_number n)
{
    static const struct workload w[] = {{"made", made_rounds}, {"spoil", made_spoiling}};
    return &w[n == WORKLOAD_SPOIL];
}

static int stop_requested(void *data)
{
    assert_ptr_equal(data, &work);
    return ++work.polls == work.stop_at;
}

enum { TRIALS = 6 };

static int tried(struct trials_request *r, double *duration, struct trials_seen *seen, struct machine_error *err)
{
    int status;
    r->data = &work;
    BY_MADE_CLOCK(status = trials_run(&made, r, NULL, duration, seen, err));
    return status;
}

/* How many calls of the work there are before the first trial. */
static unsigned calls_before(const struct trials_request *r)
{
    struct trials_request one = *r;
    double duration[TRIALS];
    struct trials_seen seen;
    struct machine_error err;
    one.trials = 1;
    work = (struct made_work){.round_ticks = 10};
    assert_int_equal(tried(&one, duration, &seen, &err), MACHINE_OK);
    return work.calls - 1;
}

/* A second and ten trials is no trial; twice that is forgiven. */
TEST_WITH(standstills_are_repeated, make_native, NULL)
{
    skip_without_made_clock();
    struct trials_request r = {.workload = WORKLOAD_REGISTER, .trial_us = 1000, .trials = TRIALS};
    const unsigned ahead = calls_before(&r);
    const uint64_t limit = 2020000000; /* ticks: a trial of that takes them and what reading the clock does */
    for (unsigned times = 0; times < 4; times++)
        for (int longer = 0; longer < 2; longer++) {
            double duration[TRIALS];
            struct trials_seen seen;
            struct machine_error err;
            make_native(state);
            work = (struct made_work){.round_ticks = 10, .late_at = ahead + 2, .late_for = times};
            work.late = limit - 2000000 + (longer ? 50000 : -50000);
            int status = tried(&r, duration, &seen, &err);
            assert_int_equal(status, longer && times > 2 ? MACHINE_FAILED : MACHINE_OK);
            assert_int_equal(seen.discarded, longer ? times : 0);
            if (status == MACHINE_OK)
                assert_int_equal(work.calls, ahead + TRIALS + (longer ? times : 0));
            else
                assert_string_equal(err.text, "the machine was stopped for more than a second in 3 trials");
        }
}

TEST_WITH(trials_can_be_stopped, make_native, NULL)
{
    double duration[TRIALS];
    struct trials_seen seen;
    struct machine_error err;
    skip_without_made_clock();
    struct trials_request r = {
        .workload = WORKLOAD_REGISTER, .trial_us = 9990, .trials = TRIALS, .stop = stop_requested};
    const unsigned ahead = calls_before(&r);
    for (unsigned at = 0; at < 3; at++) {
        make_native(state);
        work = (struct made_work){.round_ticks = 10, .stop_at = at};
        int status = tried(&r, duration, &seen, &err);
        /* every third trial of 10 ms is more than 20 ms after its request */
        assert_int_equal(status, at > 0 ? MACHINE_FAILED : MACHINE_OK);
        assert_int_equal(work.polls, at > 0 ? at : 2);
        assert_int_equal(work.calls, ahead + (at > 0 ? 3 * at : TRIALS));
        if (at > 0)
            assert_string_equal(err.text, "stopped");
    }
    /* while its buffer is filled, too */
    make_native(state);
    work = (struct made_work){.round_ticks = 10, .stop_at = 1};
    r.workload = WORKLOAD_LOAD;
    r.bytes = 64;
    assert_int_equal(tried(&r, duration, &seen, &err), MACHINE_FAILED);
    assert_string_equal(err.text, "stopped");
    assert_int_equal(work.calls, 0);
}

/* At each limit, and beyond it. */
TEST_WITH(trials_that_nobody_can_run, make_native, NULL)
{
    static const struct {
        unsigned trials;
        double trial_us;
        size_t bytes;
        enum workload_number workload;
        bool good;
    } cases[] = {
        {1, 1, 0, WORKLOAD_REGISTER, true},      {0, 1, 0, WORKLOAD_REGISTER, false},
        {100000, 1, 0, WORKLOAD_REGISTER, true}, {100001, 1, 0, WORKLOAD_REGISTER, false},
        {1, 1e7, 0, WORKLOAD_REGISTER, true},    {1, 10000001, 0, WORKLOAD_REGISTER, false},
        {1, 0, 0, WORKLOAD_REGISTER, false},     {1, 1e-9, 0, WORKLOAD_REGISTER, true},
        {1, NAN, 0, WORKLOAD_REGISTER, false},   {1, 1, 64, WORKLOAD_LOAD, true},
        {1, 1, 32, WORKLOAD_LOAD, false},        {1, 1, 0, WORKLOAD_LOAD, false},
        {1, 1, 32, WORKLOAD_REGISTER, true},     {1, 1, 96, WORKLOAD_REGISTER, false},
        {1, 1, 96, WORKLOAD_LOAD, false},        {1, 1, 1 << 20, WORKLOAD_LOAD, true},
    };
    struct machine_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trials_request r = {.workload = cases[i].workload,
                                   .bytes = cases[i].bytes,
                                   .trial_us = cases[i].trial_us,
                                   .trials = cases[i].trials};
        if (trials_check(&made, &r, &err) != (cases[i].good ? MACHINE_OK : MACHINE_BAD_INPUT))
            fail_msg("%zu", i);
    }
    struct trials_request r = {.trial_us = 1, .trials = 1, .masked = true};
    assert_int_equal(trials_check(&made, &r, &err), MACHINE_CANNOT);
    assert_string_equal(err.text, "a program in user space cannot mask interrupts");
    r = (struct trials_request){.trial_us = 1, .trials = 1, .before = TRIALS_IBPB};
    assert_int_equal(trials_check(&made, &r, &err), MACHINE_CANNOT);
    r.before = TRIALS_SPOIL;
    assert_int_equal(trials_check(&made, &r, &err), MACHINE_OK);
    made.prepared = false;
    assert_int_equal(trials_check(&made, &r, &err), MACHINE_FAILED);
    assert_string_equal(err.text, "the made machine was not prepared");
}

TEST_WITH(trials_that_fail, make_native, NULL)
{
    double duration[TRIALS];
    struct trials_seen seen;
    struct machine_error err;
    struct trials_request r = {.workload = WORKLOAD_REGISTER, .trial_us = 1, .trials = TRIALS};
    skip_without_made_clock();
    cpu_seen = made.cpu + 1;
    work = (struct made_work){.round_ticks = 10};
    assert_int_equal(tried(&r, duration, &seen, &err), MACHINE_FAILED);
    assert_non_null(strstr(err.text, "the trials were moved from CPU"));
    cpu_seen = -1;
    growth = (struct rusage){.ru_minflt = 2, .ru_majflt = 30, .ru_nvcsw = 500, .ru_nivcsw = 7000};
    assert_int_equal(tried(&r, duration, &seen, &err), MACHINE_OK);
    assert_true(seen.between.faults == 32 && seen.between.switches == 7500);
    r.workload = WORKLOAD_LOAD;
    r.bytes = 1 << 20;
    map_fails = true;
    work.calls = 0;
    assert_int_equal(tried(&r, duration, &seen, &err), MACHINE_CANNOT);
    assert_memory_equal(err.text, "no memory for a buffer of 1.05 MB: ", 35);
    assert_int_equal(work.calls, 0);
}
