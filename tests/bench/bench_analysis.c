/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measures the cost of the analysis of a trace: samples a second and peak memory for 10^4 to 10^7 samples, and how both
 * grow; for one long recording with many transitions, and for repetitions of one transition. Each measurement is a
 * process of its own, so that its peak memory is its own. Times are of the processor, the best of several below a
 * million samples.
 *
 * bench_analysis [LARGEST]     the largest number of samples (10000000)
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/phases/phases.h"
#include "trace/trace.h"

#define AIM_SAMPLES_S 5e6 /* above this */
#define AIM_BYTES 64.0    /* a sample, below this: trace and analysis together */
#define AIM_GROWTH 1.1    /* exponent of the growth, below this: linear */

enum { SIZES = 4, SMALLEST = 10000, REPETITION = 200 };

struct result {
    double find_s, read_s; /* of the whole trace; read_s: NaN = not measured */
    double trace_bytes, peak_bytes;
    size_t phases;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sum of twelve uniform numbers from xorshift64: normal enough, and cheap. */
static double noise(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 3; i++) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        for (int k = 0; k < 4; k++)
            sum += (double)(*state >> (16 * k) & 0xffffu) / 65536;
    }
    return sum;
}

static int add_sample(struct trace *t, uint32_t run, double time, double ghz, double ipc, uint64_t *state)
{
    if (trace_append(t, run, time))
        return -1;
    t->channel[TRACE_FREQ][t->n - 1] = (float)(ghz * (1 + 0.001 * noise(state)));
    t->channel[TRACE_IPC][t->n - 1] = (float)(ipc * (1 + 0.02 * noise(state)));
    return 0;
}

/* Every 5000 us: throttle for 10, halt for 8.4, low for 650, halt, high (the figures of a W-2104). */
static int long_recording(struct trace *t, size_t n)
{
    uint64_t state = 1;
    double time = 0;
    while (t->n < n) {
        double in = fmod(time, 5000);
        bool throttled = in >= 1000 && in < 1010, low = in >= 1018 && in < 1668;
        if ((in >= 1010 && in < 1011) || (in >= 1668 && in < 1669)) {
            double next = time + 9.4;
            if (add_sample(t, 0, next, 1.0 / 9.4 * 3, 1, &state)) /* one sample's cycles in the time of nine */
                return -1;
            time = next;
            continue;
        }
        time += 1;
        if (add_sample(t, 0, time, low ? 2.8 : 3.2, throttled ? 0.25 : 1, &state))
            return -1;
    }
    return 0;
}

static int repetitions(struct trace *t, size_t n)
{
    uint64_t state = 1;
    if (trace_add_run(t))
        return -1;
    for (uint32_t run = 0; t->n < n; run++) {
        double shift = fmod((double)run * 0.6180339887, 1);
        for (int i = -50; i < REPETITION - 59 && t->n < n; i++) {
            double time = i + shift + (i < 20 ? 0 : 9), ghz = i == 20 ? 0.3 : i < 20 ? 3.2 : 2.8;
            if (add_sample(t, run, time, ghz, i >= 0 && i < 20 ? 0.25 : 1, &state))
                return -1;
        }
    }
    return 0;
}

static double bytes_of(const struct trace *t)
{
    double per = sizeof *t->time_us + (t->run ? sizeof *t->run : 0);
    for (int c = 0; c < TRACE_CHANNELS; c++)
        per += t->channel[c] ? sizeof(float) : 0;
    return per * (double)t->n;
}

static double time_find(const struct trace *t, size_t *phases)
{
    struct phases p;
    char why[300];
    double begin = now();
    if (phases_find(t, &p, why, sizeof why)) {
        fprintf(stderr, "bench_analysis: %s\n", why);
        return NAN;
    }
    double seconds = now() - begin;
    *phases = p.n_phases;
    phases_free(&p);
    return seconds;
}

static double time_read(const struct trace *t)
{
    struct trace back;
    struct trace_error err;
    FILE *file = tmpfile();
    if (!file || trace_write_csv(file, t)) {
        perror("bench_analysis: temporary file");
        return NAN;
    }
    rewind(file);
    double begin = now();
    int bad = trace_read_csv(file, &back, &err);
    double seconds = now() - begin;
    fclose(file);
    trace_free(&back);
    return bad ? NAN : seconds;
}

static double peak_bytes(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return 1024.0 * (double)u.ru_maxrss;
}

static int measure(int (*make)(struct trace *, size_t), size_t n, struct result *r)
{
    struct trace t;
    double before = peak_bytes();
    trace_init(&t);
    if (trace_add_channel(&t, TRACE_FREQ) || trace_add_channel(&t, TRACE_IPC) || make(&t, n))
        return -1;
    *r = (struct result){INFINITY, NAN, bytes_of(&t), 0, 0};
    for (int k = 0; k < (n < 1000000 ? 5 : 1); k++)
        r->find_s = fmin(r->find_s, time_find(&t, &r->phases));
    r->peak_bytes = peak_bytes() - before;
    if (n <= 1000000) /* after the peak was taken: this holds the trace twice */
        r->read_s = time_read(&t);
    trace_free(&t);
    return isinf(r->find_s) ? -1 : 0;
}

/* In a process of its own. */
static int measure_apart(int (*make)(struct trace *, size_t), size_t n, struct result *r)
{
    int ends[2], status;
    if (pipe(ends))
        return -1;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (!child) {
        struct result own;
        bool bad = measure(make, n, &own) || write(ends[1], &own, sizeof own) != (ssize_t)sizeof own;
        _exit(bad);
    }
    close(ends[1]);
    bool got = read(ends[0], r, sizeof *r) == (ssize_t)sizeof *r;
    close(ends[0]);
    waitpid(child, &status, 0);
    return got && WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -1;
}

/* The exponent by which something grows with n, from the last two sizes. */
static double growth(double small, double large, double n_small, double n_large)
{
    return log(large / small) / log(n_large / n_small);
}

static int bench(const char *name, int (*make)(struct trace *, size_t), size_t largest)
{
    struct result r[SIZES + 1];
    double n[SIZES + 1];
    size_t m = 0;
    printf("%s\n  %10s %8s %14s %14s %18s %18s\n", name, "samples", "phases", "samples/s", "read, /s",
           "peak, bytes each", "beside the trace");
    for (size_t size = SMALLEST; size <= largest && m < SIZES + 1; size *= 10, m++) {
        if (measure_apart(make, size, &r[m])) {
            fprintf(stderr, "bench_analysis: %zu samples: failed\n", size);
            return 1;
        }
        n[m] = (double)size;
        char read[32] = "-";
        if (!isnan(r[m].read_s))
            snprintf(read, sizeof read, "%.3g", n[m] / r[m].read_s);
        printf("  %10zu %8zu %14.3g %14s %18.1f %18.1f\n", size, r[m].phases, n[m] / r[m].find_s, read,
               r[m].peak_bytes / n[m], (r[m].peak_bytes - r[m].trace_bytes) / n[m]);
    }
    if (m < 2)
        return 0;
    double time = growth(r[m - 2].find_s, r[m - 1].find_s, n[m - 2], n[m - 1]);
    double memory = growth(r[m - 2].peak_bytes, r[m - 1].peak_bytes, n[m - 2], n[m - 1]);
    double speed = n[m - 1] / r[m - 1].find_s, bytes = r[m - 1].peak_bytes / n[m - 1];
    printf("  time grows as n^%.2f, memory as n^%.2f (aim: below %.1f): %s\n", time, memory, AIM_GROWTH,
           time < AIM_GROWTH && memory < AIM_GROWTH ? "met" : "not met");
    printf("  %.3g samples/s (aim: above %.3g): %s; %.1f bytes a sample at the peak (aim: at most %.0f): %s\n", speed,
           AIM_SAMPLES_S, speed > AIM_SAMPLES_S ? "met" : "not met", bytes, AIM_BYTES,
           bytes <= AIM_BYTES ? "met" : "not met");
    return 0;
}

int main(int argc, char **argv)
{
    size_t largest = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000000;
    puts("Analysis of traces (frequency and IPC)");
    return bench("one long recording, 4 events every 5 ms", long_recording, largest) |
           bench("repetitions of one transition, 191 samples each", repetitions, largest);
}
