/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Usage: ioctl_fuzz DEVICE SEED COUNT [PERCENT]
 *
 * PERCENT (1) of the calls are whole repetitions, valid and up to the limit of 10 ms: the rest is hardly ever valid.
 * Random ioctls against the kernel helper: half-valid structs, wrong numbers, bad pointers, mappings that come and go.
 * What the module answers must be one of its errors; what it says was recorded must be in the buffer. Prints how often
 * each ioctl did what, and ends with exit status 0 if nothing was wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "drivers/helper/kmod/uapi.h"
#include "drivers/native/sampling.h"
#include "kernels/workloads.h"

enum { COMMANDS = 15, ERRNOS = 256 };
static const char *const command_names[COMMANDS] = {"hello",   "reason", "try",     "prepare", "run",
                                                    "finish",  "msr",    "garbage", "mmap",    "repeat",
                                                    "profile", "stop",   "totals",  "read",    "trials"};

struct fuzz {
    int fd;
    uint64_t random;
    uint64_t tsc_khz;
    unsigned kernels;
    struct characterize_setup setup; /* the last that was accepted */
    bool prepared;
    const uint64_t *map;
    size_t mapped;
    unsigned long wrong;
    unsigned long answers[COMMANDS][ERRNOS];
    uint64_t longest;              /* ticks with interrupts masked */
    unsigned long over, cut, full; /* repetitions: beyond the limit by 1 ms; cut by it; cut by a full buffer */
    unsigned percent;
    unsigned long records;
};

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next(struct fuzz *f)
{
    uint64_t z = f->random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint64_t below(struct fuzz *f, uint64_t n)
{
    return next(f) % n;
}

static bool one_in(struct fuzz *f, unsigned n)
{
    return below(f, n) == 0;
}

/* Mostly small, sometimes anything. */
static uint64_t number(struct fuzz *f, uint64_t n)
{
    return one_in(f, 20) ? next(f) >> below(f, 64) : below(f, n);
}

static void complain(struct fuzz *f, const char *what)
{
    if (f->wrong++ < 20)
        printf("FAIL: ioctl_fuzz: %s\n", what);
}

static void scramble(struct fuzz *f, void *s, size_t size)
{
    unsigned char *bytes = s;
    for (unsigned k = 0; one_in(f, 30) && k < 4; k++)
        bytes[below(f, size)] = (unsigned char)next(f);
}

static uint32_t version(struct fuzz *f)
{
    return one_in(f, 50) ? (uint32_t)next(f) : CHARACTERIZE_VERSION;
}

static struct characterize_payload payload(struct fuzz *f)
{
    /* few of them, since each new one takes 7 ms to get to know */
    uint16_t kernel = one_in(f, 10) ? (uint16_t)number(f, f->kernels + 3) : (uint16_t)(below(f, 3) * 2);
    return (struct characterize_payload){.kernel = kernel,
                                         .density = (uint16_t)(one_in(f, 10) ? number(f, 260) : 1),
                                         .dirty = one_in(f, 20),
                                         .reserved = one_in(f, 200)};
}

static struct characterize_counter counter(struct fuzz *f)
{
    return (struct characterize_counter){.source = (uint32_t)number(f, 6),
                                         .reserved = one_in(f, 20),
                                         .config = one_in(f, 2)   ? 0
                                                   : one_in(f, 2) ? (uint32_t)next(f)
                                                                  : next(f)};
}

/* Calls; every error must be one that the module gives. */
static int call(struct fuzz *f, unsigned which, unsigned long command, void *arg)
{
    errno = 0;
    int error = ioctl(f->fd, command, arg) == 0 ? 0 : errno;
    f->answers[which][error < ERRNOS ? error : ERRNOS - 1]++;
    switch (error) {
    case 0:
    case EINVAL:
    case EPERM:
    case EIO:
    case EBUSY:
    case EOPNOTSUPP:
    case EPROTO:
    case ENOTTY:
    case EFAULT:
    case ENODEV: /* the CPU went offline meanwhile */
        return error;
    default:
        complain(f, strerror(error));
        return error;
    }
}

static void check_readings(struct fuzz *f, const struct characterize_run *r)
{
    uint64_t ticks = r->end_tsc - r->begin_tsc;
    f->longest = ticks > f->longest ? ticks : f->longest;
    if (r->n > f->setup.readings || r->zero_reading > r->n) {
        complain(f, "more readings than there is room for");
        return;
    }
    if (f->map == NULL || f->mapped != f->setup.bytes)
        return;
    const uint64_t *reading = f->map;
    for (uint32_t i = 1; i < r->n; i++) {
        if (reading[i * f->setup.stride] <= reading[(i - 1) * f->setup.stride]) {
            complain(f, "the readings are not in order of time");
            return;
        }
    }
}

/* Nothing is written after the n-th reading of a buffer that was fresh. */
static void check_rest(struct fuzz *f, uint32_t n)
{
    size_t from = (size_t)n * f->setup.stride;
    for (size_t i = from; i < f->setup.bytes / sizeof *f->map; i++) {
        if (f->map[i] != 0) {
            complain(f, "written past the last reading");
            return;
        }
    }
}

/* Returns true if a loop on that CPU that is to end after so many ticks ends before `most`: then the CPU was not taken
 * away. */
static bool spin_in_time(unsigned cpu, uint64_t ticks, uint64_t most)
{
    cpu_set_t one, before;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_getaffinity(0, sizeof before, &before);
    sched_setaffinity(0, sizeof one, &one);
    uint64_t begin = sampling_stamp();
    while (sampling_stamp() - begin < ticks) {
    }
    bool in_time = sampling_stamp() - begin < most;
    sched_setaffinity(0, sizeof before, &before);
    return in_time;
}

/*
 * A hypervisor may hold the CPU for any time, and the interrupts wait as long: such a repetition is done again. What
 * the module itself makes too long is too long each time, and a loop of that length right after it mostly is not.
 * Where a dozen processes want two CPUs a repetition of 6 ms lost up to 98 ms, eight times in a row, in one piece.
 */
static void repeat_within_limit(struct fuzz *f, const struct characterize_run *request)
{
    enum { ATTEMPTS = 20 };
    uint64_t most = f->tsc_khz * (CHARACTERIZE_MASKED_US_MAX / 1000 + 1), ticks = most, requested = 0;
    uint32_t readings = 0;
    int in_time = 0;
    for (unsigned i = 0; i < request->n_segments; i++)
        requested += request->segment[i].ticks;
    for (int i = 0; i < ATTEMPTS && ticks >= most; i++) {
        struct characterize_run r = *request;
        if (call(f, 9, CHARACTERIZE_IOC_RUN, &r) != 0) {
            if (r.reason != CHARACTERIZE_REASON_CPU_NUMBER) /* the CPU may have gone */
                complain(f, "a valid repetition was refused");
            return;
        }
        ticks = r.end_tsc - r.begin_tsc;
        f->over += ticks >= most;
        f->cut += (r.cut & CHARACTERIZE_CUT_TIME) != 0;
        f->full += (r.cut & CHARACTERIZE_CUT_ROOM) != 0;
        check_readings(f, &r);
        readings = r.n > readings ? r.n : readings;
        check_rest(f, readings);
        in_time += ticks >= most && spin_in_time(f->setup.cpu, requested, most);
    }
    if (ticks >= most && in_time >= ATTEMPTS * 3 / 4) {
        complain(f, "interrupts masked for longer than 11 ms, each time");
        printf("ioctl_fuzz: CPU %u, flags %u, period %llu, %u readings; kernel %u for %llu, %llu, %llu ticks\n",
               f->setup.cpu, f->setup.flags, (unsigned long long)f->setup.period, f->setup.readings,
               request->segment[0].payload.kernel, (unsigned long long)request->segment[0].ticks,
               (unsigned long long)request->segment[1].ticks, (unsigned long long)request->segment[2].ticks);
    }
}

/* A run-up, then a recording that often does not fit into what was prepared. */
static void fuzz_whole(struct fuzz *f)
{
    /* no repetition is prepared while a profile runs */
    call(f, 11, CHARACTERIZE_IOC_PROFILE_STOP, NULL);
    /* 0: what a steady clock needs; with 127 or 1023 chains the buffer ends with a page */
    static const uint32_t rooms[] = {0, 0, 1, 2, 127, 1023};
    const uint64_t us = f->tsc_khz / 1000;
    struct characterize_setup s = {.version = CHARACTERIZE_VERSION,
                                   .cpu = (uint32_t)below(f, 2),
                                   .flags = one_in(f, 3) ? 0 : CHARACTERIZE_CHAIN,
                                   .readings = rooms[below(f, 6)]};
    struct characterize_run r = {.version = CHARACTERIZE_VERSION, .n_segments = 3, .zero = 2};
    s.period = us / 4 + us * below(f, 1 + below(f, 20));
    const struct characterize_payload p = {.kernel = (uint16_t)(2 * below(f, 3)), .density = 1};
    r.segment[0] = (struct characterize_segment){.ticks = us * below(f, 2000), .payload = p};
    r.segment[1] = (struct characterize_segment){.ticks = us * below(f, 500), .payload = p, .sampled = 1};
    r.segment[2] = (struct characterize_segment){
        .ticks = us * below(f, one_in(f, 4) ? 7400 : 500), .payload = p, .sampled = 1};
    if (s.readings == 0)
        s.readings = (uint32_t)(64 + SAMPLING_ROOM_A_PERIOD * (r.segment[1].ticks + r.segment[2].ticks) / s.period);
    if (f->map != NULL) {
        munmap((void *)(uintptr_t)f->map, f->mapped);
        f->map = NULL;
    }
    /* another size in between, so that the buffer is a fresh one */
    f->setup = s;
    f->setup.readings += 5000;
    f->prepared = call(f, 3, CHARACTERIZE_IOC_PREPARE, &f->setup) == 0 && call(f, 3, CHARACTERIZE_IOC_PREPARE, &s) == 0;
    if (!f->prepared)
        return; /* a CPU that is not there */
    f->setup = s;
    void *at = mmap(NULL, s.bytes, PROT_READ, MAP_SHARED, f->fd, 0);
    if (at == MAP_FAILED) {
        complain(f, "the buffer of a valid repetition cannot be mapped");
        return;
    }
    f->map = at;
    f->mapped = s.bytes;
    repeat_within_limit(f, &r);
}

static void fuzz_setup(struct fuzz *f)
{
    struct characterize_setup s = {.version = version(f), .cpu = (uint32_t)number(f, 3)};
    s.flags = (uint32_t)(one_in(f, 3)   ? number(f, 16)
                         : one_in(f, 2) ? CHARACTERIZE_CHAIN | CHARACTERIZE_STEADY
                                        : CHARACTERIZE_CHAIN);
    s.dither = (uint32_t)(one_in(f, 2) ? number(f, CHARACTERIZE_DITHER_MAX + 2) : 0);
    s.period = number(f, f->tsc_khz / 100);
    s.readings = (uint32_t)(1 + number(f, 500));
    s.n_counters = one_in(f, 4) ? (uint32_t)number(f, 14) : 0;
    s.n_corunners = one_in(f, 10) ? (uint32_t)number(f, 4) : 0;
    s.corunner = payload(f);
    for (unsigned i = 0; i < CHARACTERIZE_COUNTERS; i++)
        s.counter[i] = counter(f);
    for (unsigned i = 0; i < 8; i++)
        s.corunner_cpu[i] = (uint16_t)number(f, 4);
    scramble(f, &s, sizeof s);
    int error = call(f, 3, CHARACTERIZE_IOC_PREPARE, &s);
    f->prepared = error == 0;
    if (error == 0)
        f->setup = s;
}

static void fuzz_run(struct fuzz *f)
{
    struct characterize_run r = {.version = version(f)};
    r.n_segments = (uint32_t)number(f, 5);
    r.zero = (uint32_t)number(f, 3);
    r.last_register = one_in(f, 4) ? (uint32_t)number(f, 0x700) : 0;
    for (unsigned i = 0; i < CHARACTERIZE_SEGMENTS; i++) {
        uint64_t most = one_in(f, 20) ? f->tsc_khz * 11 : f->tsc_khz / 20;
        r.segment[i] = (struct characterize_segment){.ticks = number(f, most),
                                                     .blocks = one_in(f, 4) ? number(f, f->tsc_khz) : 0,
                                                     .payload = payload(f),
                                                     .sampled = i > 0 ? one_in(f, 3) || r.segment[i - 1].sampled
                                                                      : one_in(f, 3)};
    }
    scramble(f, &r, sizeof r);
    if (call(f, 4, CHARACTERIZE_IOC_RUN, &r) == 0)
        check_readings(f, &r);
}

static void fuzz_map(struct fuzz *f)
{
    int protection = (int)below(f, 8);
    size_t size = f->prepared && !one_in(f, 4) ? f->setup.bytes : (size_t)number(f, 1 << 20);
    off_t offset = one_in(f, 10) ? (off_t)(below(f, 100) * 4096) : 0;

    if (f->map != NULL) {
        munmap((void *)(uintptr_t)f->map, f->mapped);
        f->map = NULL;
    }
    void *at = mmap(NULL, size, protection, one_in(f, 4) ? MAP_PRIVATE : MAP_SHARED, f->fd, offset);
    f->answers[8][at == MAP_FAILED ? errno : 0]++;
    if (at == MAP_FAILED)
        return;
    if (protection & (PROT_WRITE | PROT_EXEC))
        complain(f, "a mapping for writing or executing was allowed");
    else if (mprotect(at, size, PROT_READ | PROT_WRITE) == 0)
        complain(f, "the mapping could be made writable");
    if (protection == PROT_READ && offset == 0) {
        f->map = at;
        f->mapped = size;
    } else {
        munmap(at, size);
    }
}

/* Records of a rehearsal on few CPUs, with numbers that are hardly ever all within their limits. */
static void fuzz_profile(struct fuzz *f)
{
    struct characterize_profile p = {.version = version(f)};
    p.setup = (struct profile_setup){.seed = next(f),
                                     .flags = PROFILE_REHEARSAL |
                                              (uint32_t)(one_in(f, 8) ? number(f, 16) : below(f, 8)),
                                     .mean_us = (uint32_t)(PROFILE_MEAN_US_MIN + number(f, 20000)),
                                     .pause_us = (uint32_t)(PROFILE_PAUSE_US_MIN + number(f, 400)),
                                     .window_us = (uint32_t)(PROFILE_WINDOW_US_MIN + number(f, 190)),
                                     .ref_khz = (uint32_t)number(f, 3000000),
                                     .n_bins = one_in(f, 4) ? (uint32_t)number(f, 5) : 0};
    for (unsigned i = 0; i < PROFILE_BINS_MAX; i++)
        p.setup.bin[i] = (struct profile_bin){
            .cores = i + (one_in(f, 9) ? 0 : 1),
            .khz = {(uint32_t)number(f, 4000000), (uint32_t)number(f, 3000000), (uint32_t)number(f, 2000000)}};
    for (unsigned i = 0; i < PROFILE_COUNTERS; i++)
        p.counter[i] = counter(f);
    scramble(f, &p, sizeof p);
    if (call(f, 10, CHARACTERIZE_IOC_PROFILE_START, &p) != 0)
        return;
    f->prepared = false;
    if (p.cpus < p.cores || p.cores == 0)
        complain(f, "a profile of no CPUs");
    if (one_in(f, 4))
        usleep((useconds_t)below(f, 30000));
}

/* Whatever is there; without a record of its own there is nothing to wait for but EAGAIN. */
static void fuzz_read(struct fuzz *f)
{
    static struct profile_record records[40];
    size_t size = one_in(f, 4) ? (size_t)number(f, sizeof records) : sizeof records;
    void *to = one_in(f, 10) ? (void *)(uintptr_t)(next(f) << 12) : records;
    size = size > sizeof records ? sizeof records : size;
    errno = 0;
    ssize_t got = read(f->fd, to, size);
    f->answers[13][got < 0 ? errno : 0]++;
    if (got < 0 && errno != EAGAIN && errno != EINVAL && errno != EFAULT)
        complain(f, strerror(errno));
    if (got > 0 && ((size_t)got > size || (size_t)got % sizeof *records != 0))
        complain(f, "not whole records");
    for (size_t i = 0; to == records && got > 0 && i < (size_t)got / sizeof *records; i++, f->records++)
        if (records[i].outcome >= PROFILE_OUTCOMES || records[i].n_stack > PROFILE_STACK_MAX || records[i].flags != 0)
            complain(f, "a record that cannot be");
}

/* Few and short ones; those that are too long are given up after 5 ms. */
static void fuzz_trials(struct fuzz *f)
{
    struct characterize_trials t = {.version = version(f), .cpu = (uint32_t)number(f, 3)};
    t.workload = (uint32_t)number(f, WORKLOADS);
    t.flags = one_in(f, 10);
    t.spoil = (uint32_t)number(f, 6);
    t.step = next(f) >> below(f, 64);
    t.n = (uint32_t)(one_in(f, 20) ? number(f, CHARACTERIZE_TRIALS_MAX + 2) : below(f, 6));
    t.rounds = one_in(f, 50) ? CHARACTERIZE_TRIAL_ROUNDS_MAX : number(f, 100);
    t.bytes = t.workload != WORKLOAD_LOAD ? one_in(f, 20) : one_in(f, 20) ? next(f) : UINT64_C(1) << below(f, 24);
    uint32_t wanted = t.n;
    scramble(f, &t, offsetof(struct characterize_trials, n));
    if (call(f, 14, CHARACTERIZE_IOC_TRIALS, &t) != 0)
        return;
    if (t.n > wanted || (t.n < wanted && t.ended == 0))
        complain(f, "trials were lost");
    for (uint32_t i = 0; i < t.n && i < wanted; i++)
        if (t.trial[i].ticks == 0 || t.trial[i].ticks > t.longest)
            complain(f, "a trial's time cannot be");
}

static void fuzz_garbage(struct fuzz *f)
{
    static unsigned char block[20000];
    unsigned long known[] = {CHARACTERIZE_IOC_HELLO,         CHARACTERIZE_IOC_REASON,
                             CHARACTERIZE_IOC_TRY,           CHARACTERIZE_IOC_PREPARE,
                             CHARACTERIZE_IOC_RUN,           CHARACTERIZE_IOC_MSR,
                             CHARACTERIZE_IOC_PROFILE_START, CHARACTERIZE_IOC_PROFILE_TOTALS,
                             CHARACTERIZE_IOC_TRIALS};
    for (unsigned i = 0; i < sizeof block; i += 8) {
        uint64_t word = next(f);
        memcpy(block + i, &word, 8);
    }
    uint32_t right = CHARACTERIZE_VERSION;
    memcpy(block, &right, sizeof right);
    void *arg = one_in(f, 3) ? NULL : one_in(f, 2) ? (void *)(uintptr_t)(next(f) << 12) : block;
    unsigned long command = one_in(f, 3) ? (unsigned long)(uint32_t)next(f) : known[below(f, 9)];
    call(f, 7, command, arg);
    f->prepared = false; /* perhaps */
}

static void fuzz_once(struct fuzz *f)
{
    unsigned what = (unsigned)below(f, 100);
    if (below(f, 100) < f->percent) {
        fuzz_whole(f);
    } else if (what < 14) {
        struct characterize_hello h = {.version = version(f)};
        call(f, 0, CHARACTERIZE_IOC_HELLO, &h);
    } else if (what < 30) {
        struct characterize_reason_text t = {.version = version(f),
                                             .reason = (uint32_t)number(f, CHARACTERIZE_REASON_COUNT + 5)};
        if (call(f, 1, CHARACTERIZE_IOC_REASON, &t) == 0 && memchr(t.text, 0, sizeof t.text) == NULL)
            complain(f, "a text without an end");
    } else if (what < 42) {
        struct characterize_try t = {.version = version(f), .cpu = (uint32_t)number(f, 3), .counter = counter(f)};
        call(f, 2, CHARACTERIZE_IOC_TRY, &t);
    } else if (what < 50) {
        fuzz_setup(f);
    } else if (what < 64) {
        fuzz_run(f);
    } else if (what < 67) {
        call(f, 5, CHARACTERIZE_IOC_FINISH, NULL);
        f->prepared = false;
    } else if (what < 84) {
        struct characterize_msr m = {.version = version(f),
                                     .cpu = (uint32_t)number(f, 3),
                                     .number = (uint32_t)(one_in(f, 2) ? number(f, 0x700) : 0x198)};
        call(f, 6, CHARACTERIZE_IOC_MSR, &m);
    } else if (what < 86) {
        fuzz_profile(f);
    } else if (what < 88) {
        call(f, 11, CHARACTERIZE_IOC_PROFILE_STOP, NULL);
    } else if (what < 89) {
        struct characterize_profile_totals t = {.version = version(f)};
        call(f, 12, CHARACTERIZE_IOC_PROFILE_TOTALS, &t);
    } else if (what < 90) {
        fuzz_read(f);
    } else if (what < 92) {
        fuzz_trials(f);
    } else if (what < 96) {
        fuzz_garbage(f);
    } else {
        fuzz_map(f);
    }
}

static void report(const struct fuzz *f, unsigned long count, double seconds)
{
    for (unsigned c = 0; c < COMMANDS; c++) {
        printf("ioctl_fuzz: %-8s", command_names[c]);
        for (unsigned e = 0; e < ERRNOS; e++)
            if (f->answers[c][e] != 0)
                printf("  %s: %lu", e == 0 ? "done" : strerrorname_np((int)e), f->answers[c][e]);
        printf("\n");
    }
    printf("ioctl_fuzz: %lu records of profiles\n", f->records);
    printf("ioctl_fuzz: %lu calls in %.1f s; interrupts masked for at most %.2f ms (%lu repetitions longer than 11 ms, "
           "done again); %lu cut by the clock, %lu by a full buffer\n",
           count, seconds, f->tsc_khz > 0 ? (double)f->longest / (double)f->tsc_khz : 0, f->over, f->cut, f->full);
}

int main(int argc, char **argv)
{
    struct fuzz f = {.fd = -1};
    if (argc < 4 || (f.fd = open(argv[1], O_RDWR | O_CLOEXEC | O_NONBLOCK)) < 0) {
        fprintf(stderr, "usage: ioctl_fuzz DEVICE SEED COUNT [PERCENT]; %s\n", strerror(errno));
        return 2;
    }
    f.random = strtoull(argv[2], NULL, 0);
    unsigned long count = strtoul(argv[3], NULL, 0);
    f.percent = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 0) : 1;
    struct characterize_hello hello = {.version = CHARACTERIZE_VERSION};
    struct timespec begin, end;
    if (ioctl(f.fd, CHARACTERIZE_IOC_HELLO, &hello) != 0) {
        printf("FAIL: ioctl_fuzz: no hello: reason %u\n", hello.reason);
        return 1;
    }
    f.tsc_khz = hello.tsc_khz;
    f.kernels = hello.kernels;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned long i = 0; i < count; i++)
        fuzz_once(&f);
    clock_gettime(CLOCK_MONOTONIC, &end);
    report(&f, count, (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9);
    /* left mapped and prepared: the module must clear up by itself */
    return f.wrong != 0;
}
