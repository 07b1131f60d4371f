/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A made-up device in the place of the kernel helper. */
#include "tests/support/fake_helper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/timing/chain_reading.h"
#include "kernels/registry_hash.h"
#include "tests/support/fake_pmu.h"

enum { FD = 0 /* as good as any */, BLOCKS = 10, TICKS = 1000 };

struct fake_helper fake_helper;
static uint64_t *buffer;

void fake_helper_reset(void)
{
    free(buffer);
    buffer = NULL;
    fake_helper = (struct fake_helper){
        .hello = {.version = CHARACTERIZE_VERSION,
                  .features = kernel_cpu_features() & ~(unsigned)KERNEL_NEEDS_AMX_BF16,
                  .can = CHARACTERIZE_CAN_PMU | CHARACTERIZE_CAN_APERF_MPERF | CHARACTERIZE_CAN_MWAIT,
                  .kernels = (uint32_t)kernel_shared_count(),
                  .counter_bits = 48,
                  .registry = kernel_registry_hash(),
                  .tsc_khz = 2000000},
        .msr_value = UINT64_C(0x1f40) << 32,
        .register_value = UINT64_C(0x1e00) << 32,
    };
}

void fake_helper_skylake_sp(struct cpu_leaves *leaves)
{
    struct perf_system ignored;

    fake_pmu_system(&ignored, leaves);
    fake_helper.licenses = 1;
    fake_helper.throttled = 20000;
    for (unsigned i = 0; i < 3; i++)
        fake_helper.level_of[i] = i;
    fake_helper.hello.features = ignored.license_features;
}

static int fake_open(const char *path)
{
    if (strcmp(path, "/dev/made-up") != 0 || fake_helper.open_errno != 0) {
        errno = fake_helper.open_errno != 0 ? fake_helper.open_errno : ENOENT;
        return -1;
    }
    fake_helper.opened++;
    return FD;
}

static int answer(int error)
{
    errno = error;
    return error == 0 ? 0 : -1;
}

static int prepare(struct characterize_setup *s)
{
    fake_helper.setup = *s;
    if (fake_helper.prepared++ == 0)
        fake_helper.first_setup = *s;
    s->reason = fake_helper.prepare_reason;
    if (fake_helper.no_sibling && s->flags & CHARACTERIZE_PARK_SIBLING) {
        s->reason = CHARACTERIZE_REASON_NO_SIBLING;
        return answer(EOPNOTSUPP);
    }
    if (fake_helper.prepare_errno != 0)
        return answer(fake_helper.prepare_errno);
    s->stride = s->flags & CHARACTERIZE_CHAIN ? 4 : 2 + s->n_counters + (s->flags & CHARACTERIZE_APERF_MPERF ? 2 : 0);
    s->bytes = ((uint64_t)s->readings + 1) * s->stride * sizeof *buffer;
    free(buffer);
    buffer = calloc(1, s->bytes);
    fake_helper.setup.stride = s->stride;
    return 0;
}

static uint64_t stepped(uint64_t tsc)
{
    return fake_helper.tsc_step > 1 ? tsc - tsc % fake_helper.tsc_step : tsc;
}

/* In every fourth reading a wait and a chain, 2 ticks a cycle; two readings of the TSC add 30 cycles. */
static void write_chain(uint64_t *out, uint64_t i, uint64_t ended, uint64_t blocks)
{
    const struct characterize_setup *s = &fake_helper.setup;
    enum chain_kind kind = s->flags & CHARACTERIZE_STEADY ? CHAIN_STEADY_SHORT : CHAIN_SHORT;
    struct chain_raw r = {stepped(ended), stepped(ended), stepped(ended), chain_word(blocks, CHAIN_NONE)};
    unsigned run = (unsigned)fake_helper.runs;

    if (i % CHAIN_TURNS == CHAIN_TURNS - 1) {
        uint64_t begin = ended +
                         2 * (CHAIN_WAIT_ADDS + (s->dither > 0 ? (i + 40507 * run) * 977 % (3 * s->dither) : 0));
        kind += i / CHAIN_TURNS % 2;
        r.begin = stepped(begin);
        r.end = run >= fake_helper.bad_from && run <= fake_helper.bad_to ? r.begin
                                                                         : stepped(begin + 2 * (chain_adds(kind) + 30));
        r.word = chain_word(blocks, kind);
    }
    memcpy(out, &r, sizeof r);
}

/* A core at half of the TSC's rate. Counter c counts (c + 1) times the cycles, from just below where 48 bits end. */
static void write_reading(uint64_t *out, uint64_t i, uint64_t blocks)
{
    const struct characterize_setup *s = &fake_helper.setup;
    uint64_t at = 5000000 + i * TICKS;
    if (s->flags & CHARACTERIZE_CHAIN) {
        write_chain(out, i, at, blocks);
        return;
    }
    out[0] = at;
    out[1] = blocks;
    for (uint64_t c = 0; c < s->n_counters + (s->flags & CHARACTERIZE_APERF_MPERF ? 2 : 0); c++) {
        uint64_t mask = c < s->n_counters ? (UINT64_C(1) << 48) - 1 : UINT64_MAX;
        out[2 + c] = ((UINT64_C(1) << 48) - 700 + (c + 1) * i * TICKS / 2) & mask;
    }
    if (i == 3 && s->n_counters > 1)
        out[3] = UINT64_MAX; /* once not on its counter */
}

static bool on_hardware(unsigned counter)
{
    unsigned raw = 0;
    for (unsigned c = 0; c <= counter; c++)
        raw += fake_helper.setup.counter[c].source == CHARACTERIZE_RAW;
    return fake_helper.setup.counter[counter].source != CHARACTERIZE_RAW || fake_helper.programmable == 0 ||
           raw <= fake_helper.programmable;
}

/* Reading i of a recording, which runs one kernel: the core at 5/4 of the TSC's rate. */
static void write_licenses(uint64_t *out, uint64_t i, uint64_t blocks, const struct characterize_segment *segment)
{
    static const uint32_t level_events[3] = {0x0728, 0x1828, 0x2028};
    const struct characterize_setup *s = &fake_helper.setup;
    size_t count;
    unsigned width = kernel_registry(&count)[segment->payload.kernel].width;
    unsigned kind = width == 512 ? 2 : width == 256 ? 1 : 0;
    uint64_t cycles = i * s->period * 5 / 4;

    out[0] = 5000000 + i * s->period;
    out[1] = blocks;
    for (unsigned c = 0; c < s->n_counters; c++) {
        uint64_t code = s->counter[c].config;
        bool raw = s->counter[c].source == CHARACTERIZE_RAW;
        out[2 + c] = !raw || code == level_events[fake_helper.level_of[kind]] ? cycles
                     : code == 0x4028 && kind > 0 && i > 0                    ? fake_helper.throttled
                                                                              : 0;
        out[2 + c] = on_hardware(c) ? out[2 + c] : UINT64_MAX;
    }
}

static uint32_t missing_counters(void)
{
    uint32_t missing = fake_helper.uncounted;
    for (unsigned c = 0; c < fake_helper.setup.n_counters; c++)
        missing |= (uint32_t)!on_hardware(c) << c;
    return missing;
}

static int run(struct characterize_run *r)
{
    uint64_t *readings = buffer;
    uint32_t room = fake_helper.readings > 0 ? fake_helper.readings : fake_helper.setup.readings;
    fake_helper.run = *r;
    if (fake_helper.runs++ == 0)
        fake_helper.first_run = *r;
    r->reason = fake_helper.run_reason;
    if (fake_helper.run_errno != 0)
        return answer(fake_helper.run_errno);
    for (uint32_t s = 0; s < r->n_segments; s++) {
        uint32_t first = r->n;
        uint64_t ticks = r->segment[s].ticks;
        /* a period is rounded to ticks, so that a segment may be a few of them short of so many */
        uint64_t period = fake_helper.setup.period, n = r->segment[s].sampled ? (ticks + period / 2) / period : 0;
        for (uint64_t k = 0; k < n && r->n < room; k++, r->n++) {
            uint64_t *out = readings + r->n * fake_helper.setup.stride;
            if (fake_helper.licenses)
                write_licenses(out, r->n, (k + 1) * BLOCKS, &r->segment[s]);
            else
                write_reading(out, r->n, (k + 1) * BLOCKS);
        }
        r->last[s] = r->n;
        r->blocks[s] = n > 0 ? n * BLOCKS : 5;
        if (s == r->zero)
            r->zero_reading = first > 0 ? first - 1 : 0;
    }
    r->zero_tsc = 5000000 + (uint64_t)r->zero_reading * TICKS;
    r->masked = CHARACTERIZE_MASKED_CLI | CHARACTERIZE_MASKED_TIMER;
    r->nmis = (unsigned)fake_helper.runs <= fake_helper.nmis_in_first;
    r->begin_tsc = 1;
    r->end_tsc = 1 + fake_helper.masked_ticks;
    fake_helper.masked_ticks = 0;
    r->parked = fake_helper.setup.flags & CHARACTERIZE_PARK_SIBLING ? 1 : 0;
    r->missing = missing_counters();
    r->cut = fake_helper.cut;
    r->register_valid = r->last_register != 0;
    r->register_value = fake_helper.register_value;
    return 0;
}

static bool given_up(struct characterize_trials *t)
{
    uint64_t ticks = t->rounds * fake_helper.round_ticks;
    bool too_long = ticks > (uint64_t)fake_helper.hello.tsc_khz * CHARACTERIZE_TRIAL_US_MAX / 1000;

    if (!too_long && (t->n <= 5 || (unsigned)++fake_helper.trials_calls != fake_helper.given_up_at))
        return false;
    t->n = 0;
    t->ended = CHARACTERIZE_ENDED_TRIAL;
    t->reason = CHARACTERIZE_REASON_TRIAL_TIME;
    return true;
}

static int trials(struct characterize_trials *t)
{
    unsigned most = fake_helper.trials_at_once;
    fake_helper.trials = *t;
    fake_helper.round_ticks = fake_helper.round_ticks > 0 ? fake_helper.round_ticks : 100;
    t->reason = fake_helper.trials_reason;
    if (fake_helper.trials_errno != 0)
        return answer(fake_helper.trials_errno);
    if (given_up(t))
        return answer(EINVAL);
    if (most > 0 && most < t->n) {
        t->n = most;
        t->ended = CHARACTERIZE_ENDED_CALL;
    }
    t->counted = fake_helper.trials_counted;
    t->nmis = fake_helper.trials_nmis;
    t->smis = fake_helper.trials_smis;
    for (uint32_t i = 0; i < t->n; i++) {
        t->trial[i].ticks = t->rounds * fake_helper.round_ticks + i;
        t->trial[i].cycles = t->counted & CHARACTERIZE_COUNTED_CYCLES ? t->trial[i].ticks / 2 : UINT64_MAX;
    }
    return 0;
}

static int start(struct characterize_profile *p)
{
    fake_helper.profile = *p;
    p->reason = fake_helper.start_reason;
    p->failed = PROFILE_LEVEL2;
    p->failed_cpu = 3;
    p->cpus = 6;
    p->cores = 3;
    fake_helper.starts += fake_helper.start_errno == 0;
    return answer(fake_helper.start_errno);
}

static int fake_ioctl(int fd, unsigned long request, void *arg)
{
    if (fd != FD)
        return answer(EBADF);
    switch (request) {
    case CHARACTERIZE_IOC_HELLO:
        memcpy(arg, &fake_helper.hello, sizeof fake_helper.hello);
        ((struct characterize_hello *)arg)->reason = fake_helper.hello_reason;
        return answer(fake_helper.hello_errno);
    case CHARACTERIZE_IOC_TRY:
        ((struct characterize_try *)arg)->reason = fake_helper.try_reason;
        return answer(fake_helper.try_errno);
    case CHARACTERIZE_IOC_PREPARE:
        return prepare(arg);
    case CHARACTERIZE_IOC_RUN:
        return run(arg);
    case CHARACTERIZE_IOC_TRIALS:
        return trials(arg);
    case CHARACTERIZE_IOC_FINISH:
        fake_helper.finished++;
        return 0;
    case CHARACTERIZE_IOC_PROFILE_START:
        return start(arg);
    case CHARACTERIZE_IOC_PROFILE_STOP:
        fake_helper.stops++;
        return 0;
    case CHARACTERIZE_IOC_PROFILE_TOTALS:
        memcpy(arg, &fake_helper.totals, sizeof fake_helper.totals);
        return answer(fake_helper.starts > fake_helper.stops ? 0 : EINVAL);
    case CHARACTERIZE_IOC_MSR:
        ((struct characterize_msr *)arg)->value = fake_helper.msr_value;
        ((struct characterize_msr *)arg)->reason = fake_helper.msr_errno ? CHARACTERIZE_REASON_MSR_FAULT : 0;
        return answer(fake_helper.msr_errno);
    default: /* the reasons' texts too: the program has its own */
        return answer(ENOTTY);
    }
}

static void *fake_map(int fd, size_t bytes)
{
    if (fake_helper.map_fails || fd != FD || bytes == 0) {
        errno = ENOMEM;
        return NULL;
    }
    fake_helper.mapped++;
    return buffer;
}

static int fake_unmap(void *at, size_t bytes)
{
    (void)bytes;
    fake_helper.mapped -= at == buffer;
    return 0;
}

static int fake_wait(int fd, int timeout_ms)
{
    (void)timeout_ms;
    errno = fd == FD ? EINTR : EBADF;
    return fake_helper.n_records > 0 ? 1 : fake_helper.wait_answer;
}

static ssize_t fake_read(int fd, void *out, size_t bytes)
{
    size_t n = bytes / sizeof *fake_helper.records;
    if (fd != FD || fake_helper.read_errno != 0) {
        errno = fd != FD ? EBADF : fake_helper.read_errno;
        return -1;
    }
    n = n < fake_helper.n_records ? n : fake_helper.n_records;
    n = n < 3 ? n : 3;
    memcpy(out, fake_helper.records, n * sizeof *fake_helper.records);
    fake_helper.records += n;
    fake_helper.n_records -= n;
    return (ssize_t)(n * sizeof *fake_helper.records);
}

static int fake_close(int fd)
{
    fake_helper.closed += fd == FD;
    return 0;
}

const struct helper_io fake_helper_io = {.open = fake_open,
                                         .ioctl = fake_ioctl,
                                         .map = fake_map,
                                         .unmap = fake_unmap,
                                         .wait = fake_wait,
                                         .read = fake_read,
                                         .close = fake_close};
