/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole recordings of the timing machine on a made clock and a made core, number by number: where readings lie, which
 * chain each has, what it is taken to cost, and what the machine tells of itself.
 */
#include <inttypes.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "drivers/timing/timing.h"
#include "drivers/timing/timing_chains.h"
#include "tests/support/golden.h"
#include "tests/support/made_clock.h"
#include "tests/support/test.h"

/* No processor declares it. */
#define MADE_HZ 1.7345e9

int clock_gettime(clockid_t id, struct timespec *out)
{
    if (id != CLOCK_MONOTONIC_RAW)
        return (int)syscall(SYS_clock_gettime, id, out);
    double seconds = (double)made_clock.now / MADE_HZ;
    out->tv_sec = (time_t)seconds;
    out->tv_nsec = (long)((seconds - (double)out->tv_sec) * 1e9);
    return 0;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *time, struct timespec *left)
{
    (void)id;
    (void)flags;
    (void)left;
    made_clock.now += (uint64_t)(((double)time->tv_sec + 1e-9 * (double)time->tv_nsec) * MADE_HZ);
    return 0;
}

/* ---- the core ---- */

static unsigned cost;                       /* cycles of a reading */
static double cycles_a_tick;                /* of what ran last */
static unsigned ticks_lost, lost_at, calls; /* the call with this number takes so many ticks more */

static void run_at(double ghz)
{
    static const unsigned cycles[MADE_CHAINS] = {200, 600, 2400, 7200};
    cycles_a_tick = ghz * 1e9 / MADE_HZ;
    for (int i = 0; i < MADE_CHAINS; i++)
        made_clock.chain[i] = (unsigned)((cycles[i] + cost) / cycles_a_tick);
}

static uint64_t run_blocks(uint64_t blocks, uint64_t until, unsigned cycles)
{
    uint64_t done = 0;
    if (blocks == 0)
        return 0;
    made_clock.now += ++calls == lost_at ? ticks_lost : 0;
    do {
        made_clock.now += (uint64_t)((double)(blocks * cycles) / cycles_a_tick);
        done += blocks;
    } while (until != 0 && made_clock.now < until);
    return done;
}

static uint64_t run_light(uint64_t blocks, uint64_t until, void *state, uint64_t dirty)
{
    (void)state;
    (void)dirty;
    if (blocks > 0)
        run_at(3.1);
    return run_blocks(blocks, until, 130);
}

static uint64_t slow_until; /* the heavy one is throttled before */

static uint64_t run_heavy(uint64_t blocks, uint64_t until, void *state, uint64_t dirty)
{
    (void)state;
    (void)dirty;
    if (blocks > 0)
        run_at(2.3);
    return run_blocks(blocks, until, made_clock.now < slow_until ? 390 : 100);
}

/* ---- */

static struct payload made_payload(kernel_fn *run)
{
    struct payload p = kernel_named("64add");
    p.run = run;
    p.instructions = run == run_light ? 101 : 37;
    return p;
}

struct made_case {
    const char *what;
    double step_ns, period_us, before_us, fine_us;
    const char *sampled; /* stretches, light and heavy in turn; s: sampled */
    size_t zero;
    unsigned read, spread;
    unsigned lost_at; /* the call of the payload in the third repetition that takes long */
};

static void tell_recording(FILE *out, const struct recording *rec)
{
    fprintf(out, " %zu readings, zero %zu\n", rec->n, rec->zero_reading);
    for (size_t i = 0; i < rec->n; i++) {
        const uint64_t *now = recording_at(rec, i), *before = recording_at(rec, i > 0 ? i - 1 : 0);
        fprintf(out, "%6" PRId64 ":", (int64_t)(now[0] - rec->zero_tsc));
        for (size_t k = 1; k < rec->stride; k++)
            fprintf(out, " %" PRId64, (int64_t)(i > 0 ? now[k] - before[k] : now[k]));
        fputc(i % 4 == 3 || i + 1 == rec->n ? '\n' : ';', out);
    }
}

/* By all chains of a recording. */
static double told_ghz(const struct recording *rec)
{
    const uint64_t *first = recording_at(rec, 0), *last = recording_at(rec, rec->n - 1);
    double cycles = (double)(last[RECORDING_COUNTERS] - first[RECORDING_COUNTERS]) / CHAIN_CYCLE_UNIT;
    return cycles / (double)(last[RECORDING_COUNTERS + 2] - first[RECORDING_COUNTERS + 2]) * MADE_HZ * 1e-9;
}

static void tell_machine(FILE *out, struct machine *m)
{
    struct machine_info info;
    m->ops->info(m, &info);
    const char *of_clock = strstr(info.notes, "the TSC advances");
    fprintf(out, " chain %u cycles, error %.7g, step %.7g\n", info.chain_cycles, info.chain_error, info.tsc_step);
    fprintf(out, " notes: %s\n", of_clock != NULL ? of_clock : "-");
}

static void record_case(FILE *out, const struct made_case *c)
{
    static const struct counter_spec counters[] = {
        {COUNTER_CHAIN_CYCLES, 0}, {COUNTER_CYCLES, 0}, {COUNTER_CHAIN_TICKS, 0}, {COUNTER_READ_TICKS, 0}};
    struct machine_setup setup = {.cpu = -1,
                                  .active_cores = 1,
                                  .period_us = c->period_us,
                                  .counters = counters,
                                  .n_counters = 4,
                                  .max_samples = 400};
    struct segment segments[8];
    struct machine m;
    struct machine_error err;
    struct run_request r = {
        .segments = segments, .n_segments = strlen(c->sampled), .zero_segment = c->zero, .fine_us = c->fine_us};
    made_clock = (struct made_clock){.now = 5000000000, .read = c->read, .spread = c->spread};
    cost = 60;
    run_at(3.1);
    calls = lost_at = 0;
    slow_until = 0;
    for (size_t i = 0; i < r.n_segments; i++)
        segments[i] = (struct segment){.payload = made_payload(i % 2 ? run_heavy : run_light),
                                       .duration_us = c->sampled[i] == 's' ? 12 * c->period_us : c->before_us,
                                       .sampled = c->sampled[i] == 's'};
    fprintf(out, "---- %s ----\n", c->what);
    if (timing_open_at("/nowhere", c->step_ns, &m, &err) != MACHINE_OK) {
        made_clock_end();
        print_message("skipped: %s\n", err.text);
        skip();
    }
    if (m.ops->prepare(&m, &setup, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    tell_machine(out, &m);
    for (unsigned i = 0; i < 3; i++) {
        struct recording rec;
        r.repetition = i;
        slow_until = made_clock.now + (uint64_t)(MADE_HZ * 1e-6 * (c->before_us + 3 * c->period_us));
        if (i == 2 && c->lost_at > 0) {
            lost_at = calls + c->lost_at;
            ticks_lost = (unsigned)(MADE_HZ * 1e-6 * 2.5 * c->period_us);
        }
        if (m.ops->run(&m, &r, &rec, &err) != MACHINE_OK)
            fail_msg("%s", err.text);
        tell_recording(out, &rec);
        /* of two kernels together it lies between theirs */
        double ghz = rec.n > 1 ? told_ghz(&rec) : NAN, ends[] = {2.3, 3.1};
        if (ghz < 0.97 * ends[0] || ghz > 1.03 * ends[1])
            fail_msg("%s: %.4f GHz, where it was %g and %g", c->what, ghz, ends[0], ends[1]);
    }
    tell_machine(out, &m);
    m.ops->finish(&m);
    tell_machine(out, &m);
    m.ops->close(&m);
}

TEST(recordings_by_the_clock)
{
    static const struct made_case cases[] = {
        {"1 us", 0, 1, 600, 0, "-s", 1, 20, 6, 0},
        {"1 us, both sampled, nothing before", 0, 1, 0, 0, "ss", 1, 20, 6, 0},
        {"2 us, three of which the second is time 0, something lost", 0, 2, 900, 0, "-sss-", 2, 20, 9, 1700},
        {"0.5 us", 0, 0.5, 30, 0, "-s", 1, 17, 0, 0},
        {"6 us: long chains", 0, 6, 700, 0, "-s", 1, 20, 6, 0},
        {"20 us: steady chains", 0, 20, 2600, 0, "-s", 1, 20, 6, 0},
        {"2 us, growing", 0, 2, 300, 6, "-ssss", 1, 20, 6, 0},
        {"clock of 10 ns", 10, 4, 700, 0, "-s", 1, 20, 6, 0},
        {"clock of 25 ns, long periods", 25, 30, 2600, 0, "-s", 1, 20, 6, 0},
        {"nothing sampled", 0, 1, 50, 0, "--", 1, 20, 6, 0},
    };
    struct golden g;
    skip_where_sanitized("they take the faults for their own");
    if (!made_clock_begin()) {
        print_message("skipped: RDTSC cannot be made to fault here\n");
        skip();
    }
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made_clock_end();
        assert_true(made_clock_begin()); /* with the same numbers for each */
        record_case(out, &cases[i]);
    }
    made_clock_end();
    golden_expect(&g, "machine/clock", "recordings", false);
}
