/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Usage: helper_checks DEVICE
 *
 * The kernel helper's actions, refusals and answers, through its ioctls: one line 'ok: NAME' or 'FAIL: NAME' each.
 * Runs in a virtual machine without performance counters.
 */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "drivers/timing/chain_reading.h"
#include "drivers/helper/kmod/uapi.h"
#include "kernels/kernels.h"
#include "kernels/registry_hash.h"
#include "tests/vm/checks.h"

static int fd;
static unsigned measured; /* the CPU on which repetitions run */
static struct characterize_hello hello = {.version = CHARACTERIZE_VERSION};

/* Calls and compares error number and reason. */
static void expect(const char *name, unsigned long command, void *arg, int error, unsigned reason)
{
    errno = 0;
    int got = ioctl(fd, command, arg) == 0 ? 0 : errno;
    uint32_t said = ((uint32_t *)arg)[1];
    if (got == error && said == reason) {
        struct characterize_reason_text t = {.version = CHARACTERIZE_VERSION, .reason = reason};
        ioctl(fd, CHARACTERIZE_IOC_REASON, &t);
        check(t.text[0] != '\0', "%s%s%s", name, reason ? ": " : "", reason ? t.text : "");
    } else {
        check(false, "%s: wanted errno %d, reason %u; got %d, %u", name, error, reason, got, said);
    }
}

static bool is_amd(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(0, &eax, &ebx, &ecx, &edx) && ebx == signature_AMD_ebx;
}

static int number_of(const char *name)
{
    size_t count;
    const struct kernel *all = kernel_registry(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return (int)i;
    return -1;
}

static struct characterize_payload payload(const char *name)
{
    return (struct characterize_payload){.kernel = (uint16_t)number_of(name), .density = 1};
}

static uint64_t us(double t)
{
    return (uint64_t)(t * (double)hello.tsc_khz / 1000);
}

static struct characterize_setup chains(void)
{
    return (struct characterize_setup){.version = CHARACTERIZE_VERSION,
                                       .cpu = measured,
                                       .flags = CHARACTERIZE_CHAIN,
                                       .period = us(5),
                                       .readings = 4000};
}

static struct characterize_run switching(const char *from, const char *to)
{
    struct characterize_run r = {.version = CHARACTERIZE_VERSION, .n_segments = 3, .zero = 2};
    r.segment[0] = (struct characterize_segment){.ticks = us(600), .payload = payload(from)};
    r.segment[1] = (struct characterize_segment){.ticks = us(100), .payload = payload(from), .sampled = 1};
    r.segment[2] = (struct characterize_segment){.ticks = us(200), .payload = payload(to), .sampled = 1};
    return r;
}

static void test_hello(void)
{
    expect("hello", CHARACTERIZE_IOC_HELLO, &hello, 0, CHARACTERIZE_REASON_NONE);
    check(hello.kernels == kernel_shared_count() && hello.registry == kernel_registry_hash(),
          "the module has the program's kernels");
    unsigned here = kernel_cpu_features() & ~(unsigned)KERNEL_NEEDS_AMX_BF16;
    check(hello.features == here, "the module sees the features that user space sees: %#x, %#x", hello.features, here);
    check(hello.tsc_khz > 100000, "TSC at %llu kHz", (unsigned long long)hello.tsc_khz);
    check((hello.can & CHARACTERIZE_CAN_PMU) == 0, "no performance counters are promised where there are none");
    check((hello.can & CHARACTERIZE_CAN_MASK_TIMER) != 0, "the local APIC's timer can be masked");
    struct characterize_hello old = {.version = CHARACTERIZE_VERSION + 1};
    expect("another version", CHARACTERIZE_IOC_HELLO, &old, EPROTO, CHARACTERIZE_REASON_VERSION);
    check(ioctl(fd, _IO('z', 0x7f)) != 0 && errno == ENOTTY, "an unknown ioctl: ENOTTY");
    check(open("/dev/characterize", O_RDWR) < 0 && errno == EBUSY, "a second user: EBUSY");
}

static void test_setup_refusals(void)
{
    struct characterize_run r = switching("128or", "128or");
    expect("a run before prepare", CHARACTERIZE_IOC_RUN, &r, EINVAL, CHARACTERIZE_REASON_NOT_PREPARED);
    struct characterize_setup s = chains();
    s.cpu = 4096;
    expect("no such CPU", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_CPU_NUMBER);
    s = chains();
    s.period = us(0.1);
    expect("too short a period", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_PERIOD);
    s = chains();
    s.readings = CHARACTERIZE_READINGS_MAX + 1;
    expect("too many readings", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_READINGS);
    s = chains();
    s.flags = 0x80;
    expect("an unknown flag", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_FLAGS);
    s = chains();
    s.flags |= CHARACTERIZE_APERF_MPERF;
    expect("unknown or conflicting flags", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_FLAGS);
    s = chains();
    s.flags = CHARACTERIZE_STEADY;
    expect("long chains without chains", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_FLAGS);
    s = chains();
    s.dither = CHARACTERIZE_DITHER_MAX + 1;
    expect("too long a wait", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_FLAGS);
    s = chains();
    s.flags = 0;
    s.dither = 3;
    expect("a wait without chains", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_FLAGS);
    s = chains();
    s.flags = CHARACTERIZE_APERF_MPERF;
    expect("no APERF here", CHARACTERIZE_IOC_PREPARE, &s, EOPNOTSUPP, CHARACTERIZE_REASON_NO_APERF);
    s = chains();
    s.flags = 0;
    s.n_counters = 1;
    s.counter[0].source = CHARACTERIZE_CYCLES;
    expect("a counter without PMU", CHARACTERIZE_IOC_PREPARE, &s, EOPNOTSUPP, CHARACTERIZE_REASON_NO_PMU);
    s.counter[0] = (struct characterize_counter){.source = CHARACTERIZE_RAW, .config = 1u << 22};
    expect("a raw event with its enable bit", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_COUNTERS);
    s.counter[0] = (struct characterize_counter){.source = CHARACTERIZE_RAW, .config = 0xc0, .reserved = 1};
    expect("a counter with something reserved", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_COUNTERS);
    s.counter[0] = (struct characterize_counter){.source = CHARACTERIZE_RAW, .config = 1ull << 36};
    expect("a raw event of 13 bits", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_COUNTERS);
    s.counter[0] = (struct characterize_counter){.source = CHARACTERIZE_RAW, .config = 1ull << 32 | 0xc7};
    if (is_amd())
        expect("AMD's event 1C7H", CHARACTERIZE_IOC_PREPARE, &s, EOPNOTSUPP, CHARACTERIZE_REASON_NO_PMU);
    else
        expect("an event select of 12 bits", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_COUNTERS);
    s = chains();
    s.n_corunners = 1;
    s.corunner = payload("64add");
    s.corunner_cpu[0] = (uint16_t)measured;
    expect("a co-runner on the measured core", CHARACTERIZE_IOC_PREPARE, &s, EINVAL, CHARACTERIZE_REASON_CORUNNERS);
    struct characterize_try t = {
        .version = CHARACTERIZE_VERSION, .cpu = 0, .counter = {.source = CHARACTERIZE_REF_CYCLES}};
    expect("trying a counter without PMU", CHARACTERIZE_IOC_TRY, &t, EOPNOTSUPP, CHARACTERIZE_REASON_NO_PMU);
}

static void test_run_refusals(void)
{
    struct characterize_setup s = chains();
    expect("prepare", CHARACTERIZE_IOC_PREPARE, &s, 0, CHARACTERIZE_REASON_NONE);
    struct characterize_run r = switching("128or", "128or");
    r.segment[2].ticks = us(9900);
    expect("longer than 10 ms", CHARACTERIZE_IOC_RUN, &r, EINVAL, CHARACTERIZE_REASON_TOO_LONG);
    r = switching("128or", "128or");
    r.segment[0].ticks = UINT64_MAX;
    expect("a sum that would wrap", CHARACTERIZE_IOC_RUN, &r, EINVAL, CHARACTERIZE_REASON_TOO_LONG);
    r = switching("128or", "128or");
    r.segment[1].payload.kernel = 9999;
    expect("no such kernel", CHARACTERIZE_IOC_RUN, &r, EINVAL, CHARACTERIZE_REASON_KERNEL_NUMBER);
    r = switching("128or", "chain");
    r.segment[2].payload.density = 2;
    expect("a density that it has not", CHARACTERIZE_IOC_RUN, &r, EINVAL, CHARACTERIZE_REASON_KERNEL_NUMBER);
    r = switching("128or", "amx");
    expect("AMX", CHARACTERIZE_IOC_RUN, &r, EOPNOTSUPP, CHARACTERIZE_REASON_AMX);
    if (!(hello.features & KERNEL_NEEDS_AVX512F)) {
        r = switching("128or", "512fma");
        expect("512 bits", CHARACTERIZE_IOC_RUN, &r, EOPNOTSUPP, CHARACTERIZE_REASON_NO_AVX512);
    }
    r = switching("128or", "128or");
    r.segment[0].sampled = 1;
    r.segment[1].sampled = 0;
    expect("two recordings", CHARACTERIZE_IOC_RUN, &r, EINVAL, CHARACTERIZE_REASON_SEGMENTS);
    r = switching("128or", "128or");
    r.last_register = 0x1a0;
    expect("a register that is not listed, after a run", CHARACTERIZE_IOC_RUN, &r, EPERM,
           CHARACTERIZE_REASON_MSR_NOT_LISTED);
}

static bool in_order(const uint64_t *reading, size_t n, size_t stride)
{
    for (size_t i = 1; i < n; i++)
        if (reading[i * stride] <= reading[(i - 1) * stride])
            return false;
    return true;
}

static void run_one(const char *from, const char *to, const uint64_t *map, const struct characterize_setup *s)
{
    struct characterize_run r = switching(from, to);
    r.last_register = 0x198;
    r.segment[1].blocks = 3; /* exactly */
    if (ioctl(fd, CHARACTERIZE_IOC_RUN, &r) != 0) {
        check(false, "%s -> %s: errno %d, reason %u", from, to, errno, r.reason);
        return;
    }
    double masked_ms = (double)(r.end_tsc - r.begin_tsc) / (double)hello.tsc_khz;
    bool good = r.n >= 3 && r.n <= s->readings && r.last[2] == r.n && r.last[1] > r.last[0] &&
                r.zero_reading + 1 == r.last[1] && r.zero_tsc == map[r.zero_reading * s->stride] &&
                in_order(map, r.n, s->stride) && r.blocks[0] > 0 && r.blocks[1] == 3 && r.blocks[2] > 0 &&
                (r.masked & CHARACTERIZE_MASKED_CLI) != 0;
    check(good, "%s -> %s: %u readings, blocks %llu, %llu, %llu, masked %u for %.2f ms, NMIs %u", from, to, r.n,
          (unsigned long long)r.blocks[0], (unsigned long long)r.blocks[1], (unsigned long long)r.blocks[2], r.masked,
          masked_ms, r.nmis);
}

static void test_runs(void)
{
    struct characterize_setup s = chains();
    expect("prepare chains", CHARACTERIZE_IOC_PREPARE, &s, 0, CHARACTERIZE_REASON_NONE);
    check(mmap(NULL, s.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EPERM,
          "a writable mapping is refused: EPERM");
    check(mmap(NULL, s.bytes, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EPERM,
          "an executable mapping is refused: EPERM");
    check(mmap(NULL, s.bytes * 2, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED,
          "a mapping beyond the buffer is refused");
    uint64_t *map = mmap(NULL, s.bytes, PROT_READ, MAP_SHARED, fd, 0);
    check(map != MAP_FAILED, "the buffer is mapped");
    if (map == MAP_FAILED)
        return;
    check(mprotect(map, s.bytes, PROT_READ | PROT_WRITE) != 0 && errno == EACCES, "and stays read-only: EACCES");
    size_t ignored;
    const struct kernel *all = kernel_registry(&ignored);
    for (size_t i = 0; i < kernel_shared_count(); i++)
        if ((all[i].features & ~hello.features) == 0 && strcmp(all[i].name, "amx") != 0)
            run_one("64add", all[i].name, map, &s);
    struct characterize_setup bigger = s;
    bigger.readings += 5000;
    expect("a larger buffer while the old one is mapped", CHARACTERIZE_IOC_PREPARE, &bigger, EBUSY,
           CHARACTERIZE_REASON_MAPPED);
    munmap(map, s.bytes);
    expect("a larger buffer", CHARACTERIZE_IOC_PREPARE, &bigger, 0, CHARACTERIZE_REASON_NONE);
}

/* Room for fewer readings than the time gives: that many are taken, and nothing is written after them. */
static void test_room(void)
{
    static const uint32_t rooms[] = {1, 2, 20, 496};
    static const uint32_t kinds[] = {0, CHARACTERIZE_CHAIN, CHARACTERIZE_CHAIN | CHARACTERIZE_STEADY};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms * 3; i++) {
        struct characterize_setup s = chains(), other = s;
        s.readings = rooms[i / 3];
        s.flags = kinds[i % 3];
        s.period = us(1);
        other.readings = 5000; /* so that the next buffer is a fresh one */
        bool good = ioctl(fd, CHARACTERIZE_IOC_PREPARE, &other) == 0 && ioctl(fd, CHARACTERIZE_IOC_PREPARE, &s) == 0;
        const uint64_t *map = good ? mmap(NULL, s.bytes, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
        struct characterize_run r = {0};
        /* again where the emulator lost so much of the time that the readings fitted */
        for (unsigned tries = 0; map != MAP_FAILED && good && r.cut == 0 && tries < 20; tries++) {
            r = switching("64add", "64add");
            r.segment[2].ticks = us(4000);
            good = ioctl(fd, CHARACTERIZE_IOC_RUN, &r) == 0;
            if (!good)
                check(false, "room for %u readings: errno %d, reason %u", s.readings, errno, r.reason);
        }
        size_t words = (size_t)s.readings * s.stride, written = 0;
        for (size_t k = words; good && k < s.bytes / sizeof *map; k++)
            written += map[k] != 0;
        check(good && written == 0 && r.n == s.readings && (r.cut & CHARACTERIZE_CUT_ROOM) != 0,
              "room for %u readings, flags %u: %u taken, cut %u, %zu words after them", s.readings, s.flags, r.n, r.cut,
              written);
        if (map != MAP_FAILED)
            munmap((void *)(uintptr_t)map, s.bytes);
    }
}

/* The longest chains after waits: one reading in four has one, every other of them is of the longer kind. */
static void test_steady_chains(void)
{
    struct characterize_setup s = chains();
    s.flags |= CHARACTERIZE_STEADY;
    s.dither = 45;
    expect("prepare the longest chains", CHARACTERIZE_IOC_PREPARE, &s, 0, CHARACTERIZE_REASON_NONE);
    uint64_t *map = mmap(NULL, s.bytes, PROT_READ, MAP_SHARED, fd, 0);
    run_one("64add", "128fma", map, &s);
    unsigned longer = 0, shorter = 0, others = 0, waited = 0, readings = 0;
    bool ran = true;
    for (unsigned times = 0; times < 20 && ran; times++) {
        struct characterize_run r = switching("64add", "64mul");
        ran = ioctl(fd, CHARACTERIZE_IOC_RUN, &r) == 0;
        for (unsigned i = 0; ran && i < r.n; i++) {
            const struct chain_raw *c = (const struct chain_raw *)map + i;
            shorter += chain_kind_of(c) == CHAIN_STEADY_SHORT;
            longer += chain_kind_of(c) == CHAIN_STEADY_LONG;
            others += chain_kind_of(c) == CHAIN_SHORT || chain_kind_of(c) == CHAIN_LONG;
            waited += chain_kind_of(c) != CHAIN_NONE && c->end > c->begin && c->begin > c->ended;
            readings++;
        }
    }
    unsigned all = shorter + longer;
    check(ran && others == 0 && waited == all && all > readings / 6 && all < readings / 3 && longer > all / 4 &&
              shorter > all / 4,
          "%u of %u readings have the longer chain, %u the shorter one, %u a wait", longer, readings, shorter, waited);
    munmap(map, s.bytes);
}

/* A kernel and its copy at another address are two payloads of the same work. */
static void test_copy(void)
{
    struct characterize_setup s = chains();
    struct characterize_run r = switching("128or", "128or");
    r.segment[2].payload.density = 0;
    expect("prepare", CHARACTERIZE_IOC_PREPARE, &s, 0, CHARACTERIZE_REASON_NONE);
    expect("a kernel, then its copy", CHARACTERIZE_IOC_RUN, &r, 0, CHARACTERIZE_REASON_NONE);
    check(r.blocks[2] > 0 && r.last[2] == r.n, "the copy ran %llu blocks", (unsigned long long)r.blocks[2]);
}

static void test_without_counters(void)
{
    struct characterize_setup s = chains();
    s.flags = 0;
    expect("prepare time stamps only", CHARACTERIZE_IOC_PREPARE, &s, 0, CHARACTERIZE_REASON_NONE);
    uint64_t *map = mmap(NULL, s.bytes, PROT_READ, MAP_SHARED, fd, 0);
    run_one("64add", "128fma", map, &s);
    munmap(map, s.bytes);
}

/* Runs 20 repetitions. Returns in how many of them the sibling was parked, or 0 where one failed. */
static unsigned run_twenty(const char *name, const struct characterize_setup *setup)
{
    struct characterize_setup s = *setup;
    unsigned parked = 0, done = 0;
    expect(name, CHARACTERIZE_IOC_PREPARE, &s, 0, CHARACTERIZE_REASON_NONE);
    for (unsigned i = 0; i < 20; i++) {
        struct characterize_run r = switching("64add", "64mul");
        done += ioctl(fd, CHARACTERIZE_IOC_RUN, &r) == 0;
        parked += r.parked == 1;
    }
    check(done == 20, "%s: %u of 20 repetitions", name, done);
    return parked;
}

static void test_neighbours(void)
{
    struct characterize_setup s = chains();
    if (sysconf(_SC_NPROCESSORS_ONLN) < 4) {
        printf("skip: parking and companions: needs four CPUs\n");
        return;
    }
    s.flags |= CHARACTERIZE_PARK_SIBLING;
    /* the virtual CPUs share few real ones: the sibling may not get its turn in time, whatever was requested */
    unsigned parked = 0, rounds = 0;
    while (parked == 0 && rounds++ < 10)
        parked = run_twenty("with the sibling parked", &s);
    check(parked > 0, "the sibling was parked in %u of 20 repetitions", parked);
    s.flags &= ~(uint32_t)CHARACTERIZE_PARK_SIBLING;
    s.n_corunners = 2;
    s.corunner = payload("256fma");
    s.corunner_cpu[0] = 2;
    s.corunner_cpu[1] = 3;
    run_twenty("with two companions", &s);
    check(ioctl(fd, CHARACTERIZE_IOC_FINISH) == 0, "finish");
}

static void test_registers(void)
{
    struct characterize_msr m = {.version = CHARACTERIZE_VERSION, .cpu = 0, .number = 0x1a0};
    expect("register 1A0H", CHARACTERIZE_IOC_MSR, &m, EPERM, CHARACTERIZE_REASON_MSR_NOT_LISTED);
    m.cpu = 4096;
    m.number = 0x198;
    expect("register of no CPU", CHARACTERIZE_IOC_MSR, &m, EINVAL, CHARACTERIZE_REASON_CPU_NUMBER);
    m.cpu = 0;
    int error = ioctl(fd, CHARACTERIZE_IOC_MSR, &m) == 0 ? 0 : errno;
    check(error == 0 || (error == EIO && m.reason == CHARACTERIZE_REASON_MSR_FAULT), "register 198H: %#llx, errno %d",
          (unsigned long long)m.value, error);
    uint64_t value = 0;
    int msr = open("/dev/cpu/0/msr", O_RDONLY);
    bool same = msr >= 0 && (pread(msr, &value, 8, 0x198) == 8 ? error == 0 && value == m.value : error == EIO);
    check(same, "register 198H through the module msr: the same");
    if (msr >= 0)
        close(msr);
}

/* A repetition may have swallowed the tick of its CPU: then timers there would no longer run out. */
static void test_timers(void)
{
    struct timespec begin, end, nap = {0, 50000000};
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(measured, &one);
    sched_setaffinity(0, sizeof one, &one);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned i = 0; i < 5; i++)
        nanosleep(&nap, NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double t = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    check(t > 0.24 && t < 5, "timers run on: 5 * 50 ms took %.0f ms", t * 1000);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc != 2 || (fd = open(argv[1], O_RDWR | O_CLOEXEC)) < 0) {
        printf("FAIL: helper_checks: %s: %s\n", argc == 2 ? argv[1] : "one argument", strerror(errno));
        return 2;
    }
    measured = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    test_hello();
    test_setup_refusals();
    test_run_refusals();
    test_runs();
    test_room();
    test_steady_chains();
    test_copy();
    test_without_counters();
    test_neighbours();
    test_registers();
    test_timers();
    return failures != 0;
}
