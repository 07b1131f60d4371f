/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far the timing machine can be believed on this processor: its frequency against long chains of adds right before
 * and after, alone and with load on another CPU; kernels of at most 128 bits, between which nothing must happen; the
 * table of frequencies; and, on models with a TSC in steps, whether what does happen is found. Fails where an aim is
 * missed. BENCH_NULLS: how many pairs of kernels, alone and with load (200).
 */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/phases/repetitions/steady.h"
#include "probes/steady.h"
#include "tests/support/clock_models.h"
#include "tests/support/long_chain.h"

enum { NULLS = 200, FREQUENCIES = 20, FOUND_OF = 100 };
#define FREQUENCY_AIM 0.005
#define INSIDE_AIM 0.95
#define FALSE_AIM 0.01
#define TABLE_AIM 0.01
#define FOUND_AIM 0.95

static bool all_met = true;

static const char *verdict(bool met)
{
    all_met = all_met && met;
    return met ? "met" : "MISSED";
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct payload payload_of(const char *name)
{
    struct payload p;
    char why[200];
    if (kernel_parse(name, &p, why, sizeof why)) {
        fprintf(stderr, "bench_silicon: %s\n", why);
        exit(1);
    }
    return p;
}

/* Another CPU that this process may use, or -1. */
static int other_cpu(int cpu)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int i = 0; i < CPU_SETSIZE; i++)
            if (i != cpu && CPU_ISSET((size_t)i, &set))
                return i;
    return -1;
}

/* Keeps a CPU busy until it is killed, or its parent ends. */
static pid_t load(int cpu)
{
    pid_t child = fork();
    if (child == 0) {
        struct payload p = payload_of("128fma");
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((size_t)cpu, &one);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sched_setaffinity(0, sizeof one, &one);
        for (;;)
            p.run(100000, 0, NULL, 0, NULL);
    }
    return child;
}

/* Pairs of kernels of at most 128 bits, and the same kernel twice. */
static void bench_nulls(struct machine *m, const struct machine_info *info, int cpu, unsigned n, const char *how)
{
    static const char *const pairs[][2] = {{"64add", "128or"}, {"128fma", "128fma"}, {"128or", "128fma"},
                                           {"64add", "64add"}, {"128fma", "128or"},  {"128or", "64add"}};
    unsigned done = 0, wrong = 0, inside = 0, cannot = 0;
    double *off = calloc(n, sizeof *off);
    if (off == NULL)
        abort();
    for (unsigned i = 0; i < n; i++) {
        struct payload from = payload_of(pairs[i % 6][0]), to = payload_of(pairs[i % 6][1]);
        struct transition_setup s;
        struct switches_seen seen;
        struct machine_error err;
        struct long_chain before, after;
        const struct guard g = {.machine = m};
        transition_defaults(&s, &from, &to);
        s.machine.active_cores = 1;
        s.machine.cpu = cpu;
        if (long_chain(cpu, info->tsc_hz, &before))
            break;
        int status = guarded_switch(&g, &s, &seen, &err);
        if (status != MACHINE_OK || long_chain(cpu, info->tsc_hz, &after)) {
            cannot++;
            continue;
        }
        double ghz = clock_mean_ghz(&seen.phases);
        off[done++] = fabs(ghz / ((before.middle + after.middle) / 2) - 1);
        inside += long_chain_holds(&before, &after, ghz) != 0;
        wrong += clock_anything(&seen.phases);
        guarded_free(&seen);
    }
    qsort(off, done, sizeof *off, ascending);
    if (done == 0) {
        printf("%-24s every measurement was disturbed: %s\n", how, verdict(false));
    } else {
        printf("%-24s %u of %u with a transition, throttle, halt, ramp or slow phase %s\n", how, wrong, done,
               verdict(wrong <= FALSE_AIM * done));
        printf(
            "%-24s frequency %.2f %% from the long chains in the median %s, within their 10 to 90 %% in %u of %u %s\n",
            "", 100 * off[done / 2], verdict(off[done / 2] <= FREQUENCY_AIM), inside, done,
            verdict(inside >= INSIDE_AIM * done));
    }
    if (cannot)
        printf("%-24s %u more were disturbed throughout\n", "", cannot);
    free(off);
    (void)fflush(stdout);
}

/* Measures frequencies as the table of frequencies does, in turn with chains. */
static void bench_table(struct machine *m, const struct machine_info *info, int cpu)
{
    double off[FREQUENCIES];
    unsigned done = 0, within = 0;
    for (unsigned i = 0; i < FREQUENCIES; i++) {
        struct payload p = payload_of(i % 2 ? "128fma" : "64add");
        struct steady_setup s;
        struct repetitions r;
        struct steady_value v;
        struct machine_error err;
        struct long_chain before, after;
        steady_defaults(&s, &p);
        s.machine.cpu = cpu;
        s.machine.active_cores = 1;
        s.machine.period_us = s.period_us;
        if (long_chain(cpu, info->tsc_hz, &before) || steady_run(m, &s, &r, &err) != MACHINE_OK)
            continue;
        if (long_chain(cpu, info->tsc_hz, &after) == 0 && steady_mean(&r.trace, TRACE_FREQ, 0, &v) == 0) {
            off[done] = fabs(v.mean.value / ((before.middle + after.middle) / 2) - 1);
            within += long_chain_holds(&before, &after, v.mean.value) != 0;
            done++;
        }
        repetitions_free(&r);
    }
    qsort(off, done, sizeof *off, ascending);
    if (done)
        printf("%-24s %.2f %% from the chains in the median %s, within their 10 to 90 %% in %u of %u\n",
               "table of frequencies", 100 * off[done / 2], verdict(off[done / 2] <= TABLE_AIM), within, done);
    else
        printf("%-24s every measurement was disturbed: %s\n", "table of frequencies", verdict(false));
    (void)fflush(stdout);
}

static void bench_models(void)
{
    static const double steps[] = {10, 25};
    struct model base;
    struct machine_error err;
    if (model_load("xeon-gold-6130", NULL, &base, &err) != MACHINE_OK) {
        printf("models: %s: %s\n", err.text, verdict(false));
        return;
    }
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (enum clock_event e = CLOCK_NOTHING; e < CLOCK_EVENTS; e++) {
            struct model m = base;
            unsigned found = 0;
            clock_model(&m, e, steps[s]);
            for (unsigned seed = 1; seed <= FOUND_OF; seed++) {
                struct switches_seen seen;
                if (clock_measure(&m, seed, 100, &seen, &err) != MACHINE_OK)
                    continue;
                found += clock_found(&seen.phases, e);
                guarded_free(&seen);
            }
            printf("modelled, %2.0f ns a step   %s: %s in %u of %d %s\n", steps[s], clock_event_name[e],
                   e == CLOCK_NOTHING ? "seen" : "found", found, FOUND_OF, verdict(found >= FOUND_AIM * FOUND_OF));
            (void)fflush(stdout);
        }
}

int main(void)
{
    struct machine m;
    struct machine_error err;
    struct machine_info info;
    const char *wanted = getenv("BENCH_NULLS");
    unsigned n = wanted && atoi(wanted) > 0 ? (unsigned)atoi(wanted) : NULLS;
    int cpu = sched_getcpu();
    if (machine_open_timing(&m, &err) != MACHINE_OK) {
        fprintf(stderr, "bench_silicon: %s\n", err.text);
        return (int)err.status;
    }
    m.ops->info(&m, &info);
    printf("\ntiming machine, CPU %d of %s; aims: frequency within %g %% of long chains in the median and within their "
           "10 to\n90 %%, widened by 0.5 %%, in %g %%; nothing where nothing happens in %g %%; what happens in %g %%\n",
           cpu, info.cpu, 100 * FREQUENCY_AIM, 100 * INSIDE_AIM, 100 * (1 - FALSE_AIM), 100 * FOUND_AIM);
    bench_nulls(&m, &info, cpu, n, "alone");
    int other = other_cpu(cpu);
    if (other >= 0) {
        pid_t child = load(other);
        bench_nulls(&m, &info, cpu, n, "with load on another CPU");
        if (child > 0) {
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
        }
    } else {
        printf("with load on another CPU: there is none\n");
    }
    bench_table(&m, &info, cpu);
    m.ops->close(&m);
    bench_models();
    return all_met ? 0 : 1;
}
