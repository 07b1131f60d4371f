/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alone: a recording of its own */
/*
 * A TSC that begins again in the middle of a recording, as that of a machine that was suspended: the recording ends,
 * and is none. Here reading the TSC is a fault (prctl PR_SET_TSC), which a made-up one answers.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "drivers/timing/timing.h"
#include "tests/support/test.h"

enum { PATIENCE_S = 60 };
static const double UPTIME_S = 1e6;

/* The made-up clock: as fast as the real one, from an uptime of days, then from 0. */
static double hz;
static uint64_t began_ns, back_after_ns;

/* By the kernel: libc's own reads the TSC. */
static uint64_t nanoseconds(void)
{
    struct timespec t = {0, 0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void answer(int number, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *at = (const uint8_t *)(uintptr_t)r[REG_RIP]; /* NOLINT(performance-no-int-to-ptr) */
    (void)info;
    if (at[0] != 0x0f || at[1] != 0x31) { /* no RDTSC: a fault of another kind */
        signal(number, SIG_DFL);
        return;
    }
    uint64_t ns = nanoseconds() - began_ns;
    double seconds = 1e-9 * (double)(ns < back_after_ns ? ns : ns - back_after_ns);
    uint64_t tsc = (uint64_t)((seconds + (ns < back_after_ns ? UPTIME_S : 1)) * hz);
    r[REG_RAX] = (greg_t)(tsc & UINT32_MAX);
    r[REG_RDX] = (greg_t)(tsc >> 32);
    r[REG_RIP] += 2;
}

static int run_with_a_tsc_that_goes_back(struct machine *m, const struct run_request *r, unsigned after_us,
                                         struct recording *rec, struct machine_error *err)
{
    struct sigaction handler = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO}, before;
    sigaction(SIGSEGV, &handler, &before);
    back_after_ns = 1000 * (uint64_t)after_us;
    began_ns = nanoseconds();
    alarm(PATIENCE_S); /* ends the test */
    int status = prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    if (status == 0)
        status = m->ops->run(m, r, rec, err);
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    alarm(0);
    sigaction(SIGSEGV, &before, NULL);
    return status;
}

static struct payload payload_of(const char *name)
{
    struct payload p;
    char why[200];
    if (kernel_parse(name, &p, why, sizeof why) != 0)
        fail_msg("%s", why);
    return p;
}

TEST(a_recording_ends_and_is_none)
{
    static const struct counter_spec both[] = {{COUNTER_CHAIN_TICKS, 0}, {COUNTER_CHAIN_CYCLES, 0}};
    const struct machine_setup setup = {
        .cpu = -1, .active_cores = 1, .period_us = 100, .counters = both, .n_counters = 2, .max_samples = 400};
    const struct segment segments[] = {{payload_of("64or"), 10000, false}, {payload_of("64add"), 10000, true}};
    struct run_request r = {.segments = segments, .n_segments = 2, .zero_segment = 1};
    struct machine m;
    struct machine_error err;
    struct machine_info info;
    struct recording rec;
    skip_where_sanitized("they take the faults for their own");
    if (machine_open_timing(&m, &err) != MACHINE_OK || m.ops->prepare(&m, &setup, &err) != MACHINE_OK) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    m.ops->info(&m, &info);
    hz = info.tsc_hz;
    assert_int_equal(m.ops->run(&m, &r, &rec, &err), MACHINE_OK); /* finds out how fast the payloads are */
    static const unsigned after_us[] = {100, 5000, 12000, 18000, 19900};
    unsigned recorded = 0;
    for (size_t i = 0; i < sizeof after_us / sizeof *after_us; i++) {
        uint64_t began = nanoseconds();
        if (run_with_a_tsc_that_goes_back(&m, &r, after_us[i], &rec, &err) != MACHINE_OK)
            fail_msg("%s", err.text);
        if (nanoseconds() - began > 2000000000u)
            fail_msg("after %u us: it took %.1f s", after_us[i], 1e-9 * (double)(nanoseconds() - began));
        /* a recording in which the TSC goes back is none */
        bool back = false;
        for (size_t k = 1; k < rec.n; k++)
            back |= recording_at(&rec, k)[RECORDING_TSC] < recording_at(&rec, k - 1)[RECORDING_TSC];
        recorded += back;
        assert_true(back == (recording_disturbed(&rec) != NULL && strstr(recording_disturbed(&rec), "went back")));
    }
    assert_true(recorded > 0);
    m.ops->finish(&m);
    m.ops->close(&m);
}
