/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How good the sampling of the timing machine is, on this CPU: what a sample costs, how evenly samples are spaced, and
 * how far the frequency that they give is from a long mean on the same core. Prints the aims and whether they are met.
 *
 * The cost of a sample: between samples of 1 us and of 3 us the payload gains 2 us, which gives its rate; what is then
 * missing in the microsecond of the short ones is the cost. (A run of milliseconds without any sample will not do to
 * compare with: FMA kernels then settle at a rate that is up to 13 % lower than the one they start with.)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/machine.h"
#include "drivers/cpu/tsc.h"

enum { REPETITIONS = 100, ATTEMPTS = 300, SAMPLED_US = 500, WARMUP_US = 550, CHAIN_SLICES = 50 };
#define PERIOD_US 1.0
#define LONG_PERIOD_US 3.0
/* by a TSC in coarse steps chains are longer, and each begins after a wait (drivers/timing/timing.h) */
#define COST_AIM_NS 150.0
#define COARSE_COST_AIM_NS 220.0
#define SHARE_AIM 0.85
#define COARSE_SHARE_AIM 0.78
#define PERIOD_AIM 0.05
#define FREQUENCY_AIM 0.003

struct bench {
    struct machine machine;    /* samples every PERIOD_US */
    struct machine comparison; /* every LONG_PERIOD_US */
    struct machine_info info;
    struct payload chain;
    double *interval_us; /* of uninterrupted samples, all repetitions of one kernel */
    size_t n_intervals, samples, interrupted;
    double cost_aim, share_aim;
    double best_ratio;            /* of the mean times of long and short chains in a repetition */
    unsigned attempts, disturbed; /* repetitions made; of those kept, the disturbed ones */
    double cost_ns[REPETITIONS], share[REPETITIONS], error[REPETITIONS], reference_ghz[REPETITIONS];
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts. */
static double quantile(double *v, size_t n, double q)
{
    if (n == 0)
        return NAN;
    qsort(v, n, sizeof *v, ascending);
    return v[(size_t)(q * (double)(n - 1) + 0.5)];
}

/*
 * Core frequency in GHz over 5 ms: long chains of adds, one a cycle, in slices of 100 us, of which the median counts so
 * that interrupted ones do not.
 */
static double long_mean_ghz(const struct bench *b)
{
    double rate[CHAIN_SLICES];
    uint64_t begin = tsc_now();
    uint64_t blocks = b->chain.run(1, begin + (uint64_t)(1e-4 * b->info.tsc_hz), NULL, 0);

    for (size_t i = 0; i < CHAIN_SLICES; i++) {
        begin = tsc_now();
        uint64_t done = b->chain.run(blocks, 0, NULL, 0);
        rate[i] = (double)(done * b->chain.instructions) / (double)(tsc_now() - begin);
    }
    return quantile(rate, CHAIN_SLICES, 0.5) * b->info.tsc_hz * 1e-9;
}

/* The mean of the middle half. Sorts. */
static double middle_mean(double *v, size_t n)
{
    double sum = 0;

    qsort(v, n, sizeof *v, ascending);
    size_t first = n / 4, end = n - first;
    for (size_t i = first; i < end; i++)
        sum += v[i];
    return sum / (double)(end - first);
}

static unsigned long long common_divisor(unsigned long long a, unsigned long long b)
{
    while (b != 0) {
        unsigned long long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/*
 * Whether something else ran on the core: on the other hyper-thread (of another guest, perhaps), which does not
 * interrupt. It makes the reads of the TSC slower, and with them short chains more than long ones: their ratio falls
 * below what it was in the best repetition. Or it does so now and then; then short chains, otherwise all the same to
 * the resolution of the clock, spread by a fifth.
 */
static bool disturbed(const struct recording *rec, double *best_ratio)
{
    static double ticks[2][2 * SAMPLED_US]; /* of short and long chains */
    size_t n[2] = {0, 0};
    unsigned long long step = 0;
    uint64_t shortest = UINT64_MAX;

    for (size_t i = 1; i < rec->n; i++) {
        uint64_t cycles = rec->words[i * rec->stride + 3] - rec->words[(i - 1) * rec->stride + 3];
        shortest = cycles < shortest ? cycles : shortest;
    }
    for (size_t i = 1; i < rec->n; i++) {
        const uint64_t *now = rec->words + i * rec->stride, *before = now - rec->stride;
        bool is_long = now[3] - before[3] > shortest + shortest / 2;
        step = common_divisor(step, now[2] - before[2]);
        ticks[is_long][n[is_long]++] = (double)(now[2] - before[2]);
    }
    double usual = middle_mean(ticks[0], n[0]), ratio = middle_mean(ticks[1], n[1]) / usual;
    double spread = quantile(ticks[0], n[0], 0.75) - quantile(ticks[0], n[0], 0.25);
    *best_ratio = ratio > *best_ratio ? ratio : *best_ratio;
    return !(ratio >= 0.96 * *best_ratio && spread <= 2 * (double)step + 0.04 * usual);
}

/* Means of the uninterrupted samples of one recording. */
struct means {
    double instructions; /* a sample */
    double ns;           /* a sample */
    double ghz;
};

/* Leaves out the first sample and the last, which begin and end off the grid. `count`: where to count them, or NULL. */
static struct means average(const struct recording *rec, double period_us, double tsc_hz, struct bench *count)
{
    double n = 0, ticks = 0, instructions = 0, chain_ticks = 0, chain_cycles = 0;

    for (size_t i = rec->zero_reading + 2; i + 1 < rec->n; i++) {
        const uint64_t *now = rec->words + i * rec->stride, *before = now - rec->stride;
        double us = (double)(now[0] - before[0]) / tsc_hz * 1e6;
        bool interrupted = us >= 1.5 * period_us; /* a grid point was missed */
        if (count != NULL) {
            count->samples++;
            count->interrupted += interrupted;
            count->interval_us[count->n_intervals] = us;
            count->n_intervals += !interrupted;
        }
        if (!interrupted) {
            n++;
            ticks += (double)(now[0] - before[0]);
            instructions += (double)(now[1] - before[1]);
            chain_ticks += (double)(now[2] - before[2]);
            chain_cycles += (double)(now[3] - before[3]) / CHAIN_CYCLE_UNIT;
        }
    }
    return (struct means){instructions / n, ticks / n / tsc_hz * 1e9, chain_cycles / chain_ticks * tsc_hz * 1e-9};
}

static int record(struct machine *m, const struct payload *p, unsigned i, struct recording *rec,
                  struct machine_error *err)
{
    const struct segment segments[2] = {{*p, WARMUP_US, false}, {*p, SAMPLED_US, true}};
    const struct run_request request = {.segments = segments,
                                        .n_segments = 2,
                                        .zero_segment = 1,
                                        .repetition = i,
                                        .phase = fmod(i * 0.6180339887498949, 1)};

    return m->ops->run(m, &request, rec, err);
}

/* Repetition i, or none: *kept tells. A disturbed one is kept only when there are not enough attempts left. */
static int one_repetition(struct bench *b, const struct payload *p, unsigned i, bool reference, bool *kept,
                          struct machine_error *err)
{
    struct recording rec;
    double before = reference ? long_mean_ghz(b) : NAN;
    int status = record(&b->machine, p, b->attempts++, &rec, err);

    if (status != MACHINE_OK)
        return status;
    bool bad = disturbed(&rec, &b->best_ratio);
    *kept = !bad || ATTEMPTS - b->attempts < REPETITIONS - i;
    if (!*kept)
        return MACHINE_OK;
    b->disturbed += bad;
    struct means fast = average(&rec, PERIOD_US, b->info.tsc_hz, b);
    b->reference_ghz[i] = reference ? (before + long_mean_ghz(b)) / 2 : NAN;
    b->error[i] = fast.ghz / b->reference_ghz[i] - 1;
    status = record(&b->comparison, p, i, &rec, err);
    if (status != MACHINE_OK)
        return status;
    struct means slow = average(&rec, LONG_PERIOD_US, b->info.tsc_hz, NULL);
    /* in core cycles: the frequency may have moved in between */
    double cycles_per_instruction = (slow.ns * slow.ghz - fast.ns * fast.ghz) / (slow.instructions - fast.instructions);
    b->cost_ns[i] = fast.ns - fast.instructions * cycles_per_instruction / fast.ghz;
    b->share[i] = 1 - b->cost_ns[i] / fast.ns;
    return MACHINE_OK;
}

static bool all_met = true;

static const char *verdict(bool met)
{
    all_met = all_met && met;
    return met ? "met" : "MISSED";
}

static void report(struct bench *b, const char *name, bool reference)
{
    double share = quantile(b->share, REPETITIONS, 0.5);
    double cost = quantile(b->cost_ns, REPETITIONS, 0.5);
    double p50 = quantile(b->interval_us, b->n_intervals, 0.5);
    double p99 = quantile(b->interval_us, b->n_intervals, 0.99);
    double p999 = quantile(b->interval_us, b->n_intervals, 0.999);

    printf("%-8s sample %5.1f ns %-6s  payload %5.1f %% %-6s  period p50 %.3f p99 %.3f p99.9 %.3f us %s\n", name, cost,
           verdict(cost < b->cost_aim), share * 100, verdict(share >= b->share_aim), p50, p99, p999,
           verdict(fabs(p99 / PERIOD_US - 1) <= PERIOD_AIM));
    printf("%-8s interrupted %zu of %zu samples (%.2f %%); left out %u disturbed repetitions", "", b->interrupted,
           b->samples, 100.0 * (double)b->interrupted / (double)b->samples, b->attempts - REPETITIONS);
    if (b->disturbed > 0)
        printf(", kept %u for want of others", b->disturbed);
    printf("\n");
    if (reference) {
        double error = quantile(b->error, REPETITIONS, 0.5);
        double spread = (quantile(b->error, REPETITIONS, 0.84) - quantile(b->error, REPETITIONS, 0.16)) / 2;
        double ghz = quantile(b->reference_ghz, REPETITIONS, 0.5);
        double low = quantile(b->reference_ghz, REPETITIONS, 0.05);
        double high = quantile(b->reference_ghz, REPETITIONS, 0.95);
        printf("%-8s frequency %+.3f %% from the long mean %s; a repetition spreads by %.2f %%; long mean %.4f GHz "
               "(moved %.1f %%)\n",
               "", error * 100, verdict(fabs(error) <= FREQUENCY_AIM), spread * 100, ghz, (high / low - 1) * 100);
    }
}

static int bench_kernel(struct bench *b, const char *name, bool reference, struct machine_error *err)
{
    struct payload p;

    if (kernel_parse(name, &p, err->text, sizeof err->text) != 0)
        return MACHINE_BAD_INPUT;
    if ((p.kernel->features & ~b->info.features) != 0) {
        printf("%-8s not on this CPU\n", name);
        return MACHINE_OK;
    }
    b->n_intervals = b->samples = b->interrupted = 0;
    b->attempts = b->disturbed = 0;
    for (unsigned i = 0; i < REPETITIONS;) {
        bool kept = false;
        int status = one_repetition(b, &p, i, reference, &kept, err);
        if (status != MACHINE_OK)
            return status;
        i += kept;
    }
    report(b, name, reference);
    return MACHINE_OK;
}

static int prepare(struct machine *m, double period_us, struct machine_error *err)
{
    static const struct counter_spec counters[2] = {{COUNTER_CHAIN_TICKS, 0}, {COUNTER_CHAIN_CYCLES, 0}};
    const struct machine_setup setup = {.cpu = -1,
                                        .active_cores = 1,
                                        .period_us = period_us,
                                        .counters = counters,
                                        .n_counters = 2,
                                        .max_samples = SAMPLED_US * 2};

    return m->ops->prepare(m, &setup, err);
}

static int prepare_all(struct bench *b, struct machine_error *err)
{
    if (kernel_parse("chain", &b->chain, err->text, sizeof err->text) != 0)
        return MACHINE_FAILED;
    int status = prepare(&b->machine, PERIOD_US, err);
    if (status == MACHINE_OK)
        status = prepare(&b->comparison, LONG_PERIOD_US, err);
    b->machine.ops->info(&b->machine, &b->info);
    bool coarse = b->info.tsc_step / b->info.tsc_hz >= 2e-9;
    b->cost_aim = coarse ? COARSE_COST_AIM_NS : COST_AIM_NS;
    b->share_aim = coarse ? COARSE_SHARE_AIM : SHARE_AIM;
    return status;
}

static int run_all(struct bench *b, struct machine_error *err)
{
    /* the frequency is compared only where the payload leaves the core at the frequency of a chain of adds */
    static const struct {
        const char *name;
        bool reference;
    } kernels[] = {{"64add", true}, {"128fma", true}, {"256fma", false}, {"512fma", false}};
    int status = prepare_all(b, err);

    if (status == MACHINE_OK) {
        printf("timing machine, CPU %d of %s, %u active core, TSC %.3f MHz (%s)\n", b->info.cpu_number, b->info.cpu,
               b->info.active_cores, b->info.tsc_hz / 1e6, b->info.tsc_origin);
        printf("%s%s%s", b->info.notes[0] ? "notes: " : "", b->info.notes, b->info.notes[0] ? "\n" : "");
        printf("%d repetitions of %d us at %g us; aims: sample < %g ns, payload >= %g %%, p99 of the period within %g "
               "%% when nothing interrupts,\nfrequency within %g %% of the long mean (%d x 10 ms of dependent adds "
               "around the repetitions).\nDisturbed: the other hyper-thread of the core, perhaps of another guest, was "
               "at work.\n\n",
               REPETITIONS, SAMPLED_US, PERIOD_US, b->cost_aim, b->share_aim * 100, PERIOD_AIM * 100,
               FREQUENCY_AIM * 100, REPETITIONS);
    }
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels && status == MACHINE_OK; i++)
        status = bench_kernel(b, kernels[i].name, kernels[i].reference, err);
    return status;
}

int main(void)
{
    struct bench *b = calloc(1, sizeof *b);
    struct machine_error err = {0};
    size_t room = (size_t)REPETITIONS * SAMPLED_US * 2;

    if (b == NULL || (b->interval_us = calloc(room, sizeof *b->interval_us)) == NULL) {
        fprintf(stderr, "bench_sampling: out of memory\n");
        free(b);
        return MACHINE_FAILED;
    }
    int status = machine_open_timing(&b->machine, &err);
    if (status == MACHINE_OK) {
        status = machine_open_timing(&b->comparison, &err);
        if (status == MACHINE_OK) {
            status = run_all(b, &err);
            /* in this order: each restores the affinity that it found */
            b->comparison.ops->close(&b->comparison);
        }
        b->machine.ops->close(&b->machine);
    }
    if (status != MACHINE_OK)
        fprintf(stderr, "bench_sampling: %s%s%s\n", err.text, err.remedy[0] ? "; " : "", err.remedy);
    free(b->interval_us);
    free(b);
    return status != MACHINE_OK ? status : !all_met;
}
