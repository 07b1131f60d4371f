/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How good the sampling of the timing machine is, on this CPU: what a switch that changes nothing but code seems to
 * lose, what a sample costs, and how far the frequency that chains give is from a long mean on the same core; idle, and
 * beside a program that is busy all the time. Prints the aims and whether they are met.
 *
 * Lost: at each moment after the switch the mean over the middle half of some hundred short repetitions, of the time
 * that the sample there took, relative to late ones of the same repetition. The cost of a sample: the payload gains so
 * much more in longer ones, which gives its rate; what is then missing in the short ones is the cost.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drivers/machine.h"
#include "computer/cpu/tsc.h"

enum { REPETITIONS = 300, MOMENTS = 100, CHAIN_SLICES = 40, SAMPLES_MOST = 4096 };
#define MOMENT_US 0.1
#define WARMUP_US 300.0
#define BEFORE_US 30.0
#define AFTER_US 60.0
#define LATE_US 20.0
#define LONG_PERIOD_US 4.0
#define LOST_AIM_US 0.2
#define COST_AIM_NS 40.0
#define FREQUENCY_AIM 0.003

enum { TICKS, CYCLES, READING, COUNTERS };
static const struct counter_spec counters[COUNTERS] = {
    {COUNTER_CHAIN_TICKS, 0}, {COUNTER_CHAIN_CYCLES, 0}, {COUNTER_READ_TICKS, 0}};

struct bench {
    struct machine machine;
    struct machine_info info;
    struct payload chain;
    double took[MOMENTS][REPETITIONS];
    double ticks[REPETITIONS], ghz[REPETITIONS];
    bool all_met;
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The mean of the middle half; sorts. */
static double middle_mean(double *v, size_t n)
{
    double sum = 0;

    qsort(v, n, sizeof *v, ascending);
    size_t first = n / 4, end = n - first;
    for (size_t i = first; i < end; i++)
        sum += v[i];
    return sum / (double)(end - first);
}

static double grown(const struct recording *r, size_t i, int word)
{
    return (double)(r->words[i * r->stride + (size_t)word] - r->words[(i - 1) * r->stride + (size_t)word]);
}

/* Ticks of the payload of sample i for each of its instructions. */
static double ticks_of(const struct recording *r, size_t i)
{
    return (grown(r, i, RECORDING_TSC) - grown(r, i, RECORDING_COUNTERS + READING)) /
           grown(r, i, RECORDING_INSTRUCTIONS);
}

static const char *verdict(struct bench *b, bool met)
{
    b->all_met = b->all_met && met;
    return met ? "met" : "MISSED";
}

static int prepare(struct bench *b, double period_us, struct machine_error *err)
{
    const struct machine_setup setup = {.cpu = -1,
                                        .active_cores = 1,
                                        .period_us = period_us,
                                        .counters = counters,
                                        .n_counters = COUNTERS,
                                        .max_samples = 400};
    int status = b->machine.ops->prepare(&b->machine, &setup, err);

    b->machine.ops->info(&b->machine, &b->info);
    return status;
}

static int record(struct bench *b, const struct payload *from, const struct payload *to, unsigned i,
                  struct recording *rec, struct machine_error *err)
{
    const struct segment segments[3] = {{*from, WARMUP_US, false}, {*from, BEFORE_US, true}, {*to, AFTER_US, true}};
    const struct run_request request = {.segments = segments, .n_segments = 3, .zero_segment = 2, .repetition = i};

    return b->machine.ops->run(&b->machine, &request, rec, err);
}

/* The time that samples took at each moment of one repetition, relative to late ones. */
static void follow(struct bench *b, const struct recording *rec, unsigned repetition)
{
    static double late[SAMPLES_MOST];
    size_t n = 0, i = rec->zero_reading + 1;

    for (size_t k = i; k < rec->n && n < SAMPLES_MOST; k++)
        if (recording_time_us(rec, recording_at(rec, k)[RECORDING_TSC], b->info.tsc_hz) > LATE_US)
            late[n++] = ticks_of(rec, k);
    double usual = middle_mean(late, n);
    for (unsigned g = 0; g < MOMENTS; g++) {
        double us = (g + 0.5) * MOMENT_US;
        while (i + 1 < rec->n && recording_time_us(rec, recording_at(rec, i)[RECORDING_TSC], b->info.tsc_hz) < us)
            i++;
        b->took[g][repetition] = ticks_of(rec, i) / usual;
    }
}

static int bench_lost(struct bench *b, const char *name, const struct payload *from, const struct payload *to,
                      struct machine_error *err)
{
    static const double periods[] = {0.5, 1, 2};

    printf("%-16s", name);
    for (size_t p = 0; p < sizeof periods / sizeof *periods; p++) {
        double lost = 0, first = 0;
        int status = prepare(b, periods[p], err);
        for (unsigned i = 0; i < REPETITIONS && status == MACHINE_OK; i++) {
            struct recording rec;
            status = record(b, from, to, i, &rec, err);
            if (status == MACHINE_OK)
                follow(b, &rec, i);
        }
        b->machine.ops->finish(&b->machine);
        if (status != MACHINE_OK)
            return status;
        for (unsigned g = 0; g < MOMENTS; g++) {
            double rate = 1 / middle_mean(b->took[g], REPETITIONS);
            lost += MOMENT_US * (1 - rate);
            first = g == 0 ? rate : first;
        }
        printf("  %4.2f us: %6.3f us lost, at first %.2f %-6s", periods[p], lost, first,
               verdict(b, lost <= LOST_AIM_US));
    }
    printf("\n");
    return MACHINE_OK;
}

/* Means of samples without a chain, and the frequency by those that have one. */
struct means {
    double ticks, instructions, ghz;
};
static int measure(struct bench *b, const struct payload *p, double period_us, struct means *out,
                   struct machine_error *err)
{
    double cycles = 0, chain_ticks = 0;
    int status = prepare(b, period_us, err);

    for (unsigned i = 0; i < REPETITIONS && status == MACHINE_OK; i++) {
        static double took[SAMPLES_MOST];
        struct recording rec;
        size_t n = 0;
        status = record(b, p, p, i, &rec, err);
        for (size_t k = 1; status == MACHINE_OK && k < rec.n && n < SAMPLES_MOST; k++) {
            double ticks = grown(&rec, k, RECORDING_COUNTERS + TICKS);
            if (ticks == 0) {
                took[n++] = grown(&rec, k, RECORDING_TSC);
            } else if (ticks < b->info.tsc_hz * 1e-6) {
                cycles += grown(&rec, k, RECORDING_COUNTERS + CYCLES) / CHAIN_CYCLE_UNIT;
                chain_ticks += ticks;
            }
        }
        if (status == MACHINE_OK) {
            b->ticks[i] = middle_mean(took, n);
            out->instructions = grown(&rec, rec.n - 1, RECORDING_INSTRUCTIONS);
        }
    }
    b->machine.ops->finish(&b->machine);
    out->ticks = middle_mean(b->ticks, REPETITIONS);
    out->ghz = cycles / chain_ticks * b->info.tsc_hz * 1e-9;
    return status;
}

static int bench_cost(struct bench *b, const char *name, const struct payload *p, struct machine_error *err)
{
    struct means fast, slow;
    int status = measure(b, p, 1, &fast, err);

    if (status == MACHINE_OK)
        status = measure(b, p, LONG_PERIOD_US, &slow, err);
    if (status != MACHINE_OK)
        return status;
    double per_instruction = (slow.ticks - fast.ticks) / (slow.instructions - fast.instructions);
    double cost = (fast.ticks - fast.instructions * per_instruction) / b->info.tsc_hz * 1e9;
    printf("%-16s  a sample of %.0f instructions takes %.1f ns, of which it costs %.1f ns %s\n", name,
           fast.instructions, fast.ticks / b->info.tsc_hz * 1e9, cost, verdict(b, cost <= COST_AIM_NS));
    return MACHINE_OK;
}

/* Core frequency in GHz over 4 ms: long chains of adds, one a cycle, in slices of 100 us. */
static double long_mean_ghz(struct bench *b)
{
    double took[CHAIN_SLICES];
    uint64_t begin = tsc_now(), blocks = b->chain.run(1, begin + (uint64_t)(1e-4 * b->info.tsc_hz), NULL, 0, NULL);

    for (size_t i = 0; i < CHAIN_SLICES; i++) {
        begin = tsc_now();
        (void)b->chain.run(blocks, 0, NULL, 0, NULL);
        took[i] = (double)(tsc_now() - begin);
    }
    return (double)(blocks * b->chain.instructions) / middle_mean(took, CHAIN_SLICES) * b->info.tsc_hz * 1e-9;
}

/* A few hundred repetitions in turn with long chains, where the payload leaves the core at their frequency. */
static int bench_frequency(struct bench *b, const char *name, const struct payload *p, struct machine_error *err)
{
    enum { TURNS = 60 };
    double off[TURNS], cycles = 0, ticks = 0;
    int status = prepare(b, 1, err);

    for (unsigned i = 0; i < TURNS && status == MACHINE_OK; i++) {
        cycles = ticks = 0;
        double reference = long_mean_ghz(b);
        for (unsigned k = 0; k < 5 && status == MACHINE_OK; k++) {
            struct recording rec;
            status = record(b, p, p, i, &rec, err);
            for (size_t j = 1; status == MACHINE_OK && j < rec.n; j++) {
                double t = grown(&rec, j, RECORDING_COUNTERS + TICKS);
                if (t < b->info.tsc_hz * 1e-6) {
                    cycles += grown(&rec, j, RECORDING_COUNTERS + CYCLES) / CHAIN_CYCLE_UNIT;
                    ticks += t;
                }
            }
        }
        b->ghz[i] = (reference + long_mean_ghz(b)) / 2;
        off[i] = cycles / ticks * b->info.tsc_hz * 1e-9 / b->ghz[i] - 1;
    }
    b->machine.ops->finish(&b->machine);
    if (status == MACHINE_OK) {
        double mean = middle_mean(off, TURNS);
        printf("%-16s  frequency %+.2f %% from long chains at %.4f GHz %s\n", name, 100 * mean,
               middle_mean(b->ghz, TURNS), verdict(b, fabs(mean) <= FREQUENCY_AIM));
    }
    return status;
}

static bool runs_here(const struct bench *b, const struct payload *p)
{
    return (p->kernel->features & ~b->info.features) == 0;
}

static int bench_all(struct bench *b, struct machine_error *err)
{
    static const char *const alone[] = {"64add", "128or", "128fma", "256fma", "512fma"};
    static const char *const pairs[][2] = {{"128or", "128add"}, {"64add", "64or"}, {"128fma", "128fma-lat"}};
    int status = MACHINE_OK;
    char name[80];

    for (size_t i = 0; i < sizeof alone / sizeof *alone && status == MACHINE_OK; i++) {
        struct payload p = kernel_named(alone[i]), copy = kernel_copy(&p);
        if (!runs_here(b, &p))
            continue;
        snprintf(name, sizeof name, "%s:copy", alone[i]);
        status = bench_lost(b, name, &p, &copy, err);
        if (status == MACHINE_OK)
            status = bench_cost(b, alone[i], &p, err);
        if (status == MACHINE_OK && i < 3)
            status = bench_frequency(b, alone[i], &p, err);
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && status == MACHINE_OK; i++) {
        struct payload from = kernel_named(pairs[i][0]), to = kernel_named(pairs[i][1]);
        snprintf(name, sizeof name, "%s:%s", pairs[i][0], pairs[i][1]);
        if (runs_here(b, &from) && runs_here(b, &to))
            status = bench_lost(b, name, &from, &to, err);
    }
    return status;
}

/* A program that is busy until it is killed. */
static pid_t start_load(void)
{
    pid_t child = fork();

    if (child == 0) {
        for (volatile unsigned n = 0;; n++)
            if (n % 1000000 == 0 && getppid() == 1)
                _exit(0);
    }
    return child;
}

static int bench_twice(struct bench *b, struct machine_error *err)
{
    b->machine.ops->info(&b->machine, &b->info);
    printf("timing machine, %s, TSC %.3f MHz\n%d repetitions each; aims: at most %g us lost in the first %g us by a "
           "switch of code, a sample costs %g ns at most, frequency within %g %% of long chains\n",
           b->info.cpu, b->info.tsc_hz / 1e6, REPETITIONS, LOST_AIM_US, MOMENTS * MOMENT_US, COST_AIM_NS,
           FREQUENCY_AIM * 100);
    printf("\nidle, as far as this program is concerned\n");
    int status = bench_all(b, err);
    if (status != MACHINE_OK)
        return status;
    printf("\nbeside a busy program\n");
    fflush(stdout);
    pid_t load = start_load();
    status = bench_all(b, err);
    if (load > 0) {
        kill(load, SIGKILL);
        waitpid(load, NULL, 0);
    }
    return status;
}

int main(void)
{
    static struct bench b;
    struct machine_error err = {0};

    b.all_met = true;
    b.chain = kernel_named("chain");
    int status = machine_open_timing(&b.machine, &err);
    if (status == MACHINE_OK) {
        status = bench_twice(&b, &err);
        b.machine.ops->close(&b.machine);
    }
    if (status != MACHINE_OK)
        fprintf(stderr, "bench_sampling: %s%s%s\n", err.text, err.remedy[0] ? "; " : "", err.remedy);
    return status != MACHINE_OK ? status : !b.all_met;
}
