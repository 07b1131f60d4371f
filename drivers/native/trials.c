/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials: one piece of code runs again and again, and interruptions of the thread are counted meanwhile. */
#include "drivers/native/trials.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "drivers/native/huge_buffer.h"

/* The most trials that a request may have, and how often the caller's stop() is called: nobody notices a fiftieth of a
 * second. */
enum { TRIALS_MOST = 100000, STOP_EVERY_US = 20000, IDLE_MS_MOST = 10000 };
/* A trial that takes so much longer than it should was no trial: no scheduler holds a thread that long. So many of them
 * are repeated. */
static const double STANDSTILL_S = 1;
enum { STANDSTILLS_MOST = 2 };

/* ---- checks ---- */

int trials_check(const struct native *s, const struct trials_request *r, struct machine_error *err)
{
    if (!s->prepared)
        return machine_fail(err, MACHINE_FAILED, "", "the %s machine was not prepared", s->name);
    if (r->masked) {
        return machine_fail(err, MACHINE_CANNOT, "load the kernel helper and use --machine helper",
                            "a program in user space cannot mask interrupts");
    }
    if (r->before == TRIALS_IBPB) {
        return machine_fail(err, MACHINE_CANNOT, "load the kernel helper and use --machine helper",
                            "an indirect branch predictor barrier is a write to MSR 49H, which only the kernel may do");
    }
    if (r->trials == 0 || r->trials > TRIALS_MOST || !(r->trial_us > 0 && r->trial_us <= 1e7) ||
        !(r->idle_ms >= 0 && r->idle_ms <= IDLE_MS_MOST) || (r->bytes & (r->bytes - 1)) != 0 ||
        ((r->workload == WORKLOAD_LOAD || r->workload == WORKLOAD_CHASE) && r->bytes < 64)) {
        return machine_fail(err, MACHINE_BAD_INPUT, "1 to 100000 trials of at most 10 s",
                            "%u trials of %g us with a buffer of %zu bytes cannot be run", r->trials, r->trial_us,
                            r->bytes);
    }
    return MACHINE_OK;
}

/* ---- the buffer ---- */

/* Written to, for pages that were only read are all one and the same. */
static int buffer_make(const struct trials_request *r, struct huge_buffer *b, struct machine_error *err)
{
    *b = (struct huge_buffer){NULL, 0, NULL};
    if (r->bytes == 0)
        return MACHINE_OK;
    int status = huge_buffer_map(r->bytes, b, err);
    if (status != MACHINE_OK)
        return status;
    for (size_t done = 0, part = (size_t)64 << 20; done < r->bytes; done += part) {
        memset((char *)b->start + done, r->workload != WORKLOAD_CHASE, r->bytes - done < part ? r->bytes - done : part);
        if (r->stop != NULL && r->stop(r->data)) {
            huge_buffer_free(b);
            return machine_fail(err, MACHINE_FAILED, "", "stopped");
        }
    }
    return MACHINE_OK;
}

/* ---- how many rounds ---- */

/* Interruptions make code slower, never faster: whatever was fast enough once is. */
static bool rounds_fit(double (*ticks)(void *context, uint64_t rounds), void *context, uint64_t rounds, double wanted)
{
    enum { ATTEMPTS = 6 }; /* chosen: all of six were interrupted only where nothing can be measured */

    for (int i = 0; i < ATTEMPTS; i++)
        if (ticks(context, rounds) <= wanted)
            return true;
    return false;
}

uint64_t trials_find_rounds(double (*ticks)(void *context, uint64_t rounds), void *context, double wanted)
{
    uint64_t below = 1, above = 2;

    while (above < UINT64_C(1) << 40 && rounds_fit(ticks, context, above, wanted)) {
        below = above;
        above *= 2;
    }
    /* to a hundredth: more would be noise */
    while (above - below > 1 && above - below > below / 100) {
        uint64_t middle = below + (above - below) / 2;
        if (rounds_fit(ticks, context, middle, wanted))
            below = middle;
        else
            above = middle;
    }
    return below;
}

struct trials_work {
    workload_fn *run;
    const void *buffer;
    uint64_t mask;
    uint64_t calls; /* so far: each goes on with other lines */
};

static double shortest_ticks(void *context, uint64_t rounds)
{
    struct trials_work *w = context;
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 3; i++) {
        uint64_t first = trials_first_round(rounds, w->mask + 1, (unsigned)w->calls++), begin = tsc_now();
        (void)w->run(rounds, w->buffer, w->mask, first);
        uint64_t ticks = tsc_now() - begin;
        best = ticks < best ? ticks : best;
    }
    return (double)best;
}

/* ---- interruptions ---- */

/* The place of "CPUn" in the line of names; -1: it is not there, as CPUs that are offline. */
static int irq_column_of(char *names, int cpu)
{
    char wanted[24], *rest = NULL;
    int column = 0;

    snprintf(wanted, sizeof wanted, "CPU%d", cpu);
    for (char *name = strtok_r(names, " \t\n", &rest); name != NULL; name = strtok_r(NULL, " \t\n", &rest), column++)
        if (strcmp(name, wanted) == 0)
            return column;
    return -1;
}

/* The number in this column of " LOC:  12  34  Local timer interrupts"; 0 in lines that are not by CPU. */
static double column_number(const char *line, int column)
{
    const char *at = line + strspn(line, " \t"), *colon = strchr(line, ':');

    if (colon == NULL || strncmp(at, "ERR:", 4) == 0 || strncmp(at, "MIS:", 4) == 0)
        return 0;
    for (at = colon + 1;; column--) {
        char *end;
        unsigned long long n = strtoull(at, &end, 10);
        if (end == at)
            return 0;
        if (column == 0)
            return (double)n;
        at = end;
    }
}

double trials_between_interrupts(FILE *in, int cpu)
{
    char *line = NULL;
    size_t size = 0;
    double sum = NAN;

    if (getline(&line, &size, in) > 0) {
        int column = irq_column_of(line, cpu);
        for (sum = column < 0 ? NAN : 0; column >= 0 && getline(&line, &size, in) > 0;)
            sum += column_number(line, column);
    }
    free(line);
    return sum;
}

static FILE *open_proc(const char *proc, const char *name)
{
    char path[300];

    snprintf(path, sizeof path, "%s/%s", proc, name);
    return fopen(path, "re");
}

/* The eighth number of "cpuN ..." (proc(5)), in units of USER_HZ. */
static double read_steal_ms(const char *proc, int cpu)
{
    char name[24], line[400];
    double ms = NAN;
    FILE *in = open_proc(proc, "stat");

    if (in == NULL)
        return NAN;
    snprintf(name, sizeof name, "cpu%d ", cpu);
    while (fgets(line, sizeof line, in) != NULL) {
        unsigned long long ticks;
        if (strncmp(line, name, strlen(name)) == 0 && sscanf(line, "%*s %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) == 1)
            ms = (double)ticks * 1000 / (double)sysconf(_SC_CLK_TCK);
    }
    fclose(in);
    return ms;
}

void trials_between_read(const char *proc, int cpu, struct trials_between *out)
{
    struct rusage usage;
    FILE *in = proc != NULL ? open_proc(proc, "interrupts") : NULL;

    *out = (struct trials_between){NAN, NAN, NAN, NAN, NAN};
    if (in != NULL) {
        out->interrupts = trials_between_interrupts(in, cpu);
        fclose(in);
    }
    if (proc != NULL)
        out->steal_ms = read_steal_ms(proc, cpu);
    if (getrusage(RUSAGE_THREAD, &usage) == 0) {
        out->faults = (double)(usage.ru_minflt + usage.ru_majflt);
        out->switches = (double)(usage.ru_nvcsw + usage.ru_nivcsw);
    }
}

static double counter_grown(double before, double now)
{
    return now >= before ? now - before : NAN;
}

void trials_between_since(const struct trials_between *before, struct trials_between *now)
{
    now->interrupts = counter_grown(before->interrupts, now->interrupts);
    now->faults = counter_grown(before->faults, now->faults);
    now->switches = counter_grown(before->switches, now->switches);
    now->steal_ms = counter_grown(before->steal_ms, now->steal_ms);
}

/* ---- the trials ---- */

static uint64_t read_clock(const struct trials_clock *clock)
{
    return clock->cycles != NULL ? clock->cycles(clock->context) : tsc_now();
}

/* The branches so far; all ones where they cannot be read. */
static struct trial_branches read_branches(const struct trials_request *r, const struct trials_clock *clock)
{
    struct trial_branches now = {COUNTER_MISSING, COUNTER_MISSING};

    if (r->branches != NULL && clock->branches != NULL && !clock->branches(clock->context, &now))
        now.all = COUNTER_MISSING;
    return now;
}

/* The duration of one trial by the clock, and by time stamps including the preparation. */
struct trials_took {
    uint64_t begin, end; /* on the clock */
    uint64_t ticks;      /* UINT64_MAX where time stamps went back, as after a suspension that resets them */
    struct trial_branches branches, after; /* so far, at either end */
};

static struct trials_took run_one(const struct trials_request *r, const struct trials_clock *clock, uint64_t rounds,
                                  unsigned i, struct trials_work *w)
{
    struct trials_took took;
    uint64_t first = trials_first_round(rounds, r->bytes, i), before = tsc_now();

    if (r->before == TRIALS_SPOIL)
        (void)workload_get(WORKLOAD_SPOIL)->run(TRIALS_SPOIL_ROUNDS, NULL, 0, (uint64_t)i * TRIALS_SPOIL_ROUNDS);
    took.branches = read_branches(r, clock);
    took.begin = read_clock(clock);
    (void)w->run(rounds, w->buffer, w->mask, first);
    took.end = read_clock(clock);
    took.after = read_branches(r, clock);
    uint64_t after = tsc_now();
    took.ticks = after > before ? after - before : UINT64_MAX;
    return took;
}

static int check_trial(const struct trials_clock *clock, const struct trials_took *t, unsigned i,
                       struct machine_error *err)
{
    if (clock->cycles != NULL && (t->begin == COUNTER_MISSING || t->end == COUNTER_MISSING)) {
        return machine_fail(err, MACHINE_FAILED, "stop other users of the counters (perf, a watchdog)",
                            "the cycle counter was taken away in trial %u", i + 1);
    }
    if (t->end <= t->begin)
        return machine_fail(err, MACHINE_FAILED, "", "the clock went back in trial %u", i + 1);
    return MACHINE_OK;
}

static void keep_branches(const struct trials_request *r, const struct trials_took *t, unsigned i,
                          struct trials_seen *seen)
{
    if (r->branches == NULL || seen->uncounted[0] != '\0')
        return;
    r->branches[i] = (struct trial_branches){t->after.all - t->branches.all,
                                             t->after.mispredicted - t->branches.mispredicted};
    if (t->branches.all == COUNTER_MISSING || t->after.all == COUNTER_MISSING)
        snprintf(seen->uncounted, sizeof seen->uncounted,
                 "the counters of branches were taken away in trial %u; stop other users of the counters (perf, a "
                 "watchdog)",
                 i + 1);
}

/* A machine that was suspended, or a process that was stopped, says nothing about the core: such a trial is
 * repeated. */
static int run_all(const struct native *s, const struct trials_request *r, const struct trials_clock *clock,
                   struct trials_work *w, struct trials_seen *seen, double *duration, struct machine_error *err)
{
    const double unit = clock->cycles != NULL ? 1 : 1e9 / s->tsc.hz;
    const uint64_t patience = (uint64_t)(STOP_EVERY_US * 1e-6 * s->tsc.hz);
    const double standstill = (STANDSTILL_S + 10e-6 * r->trial_us) * s->tsc.hz;
    uint64_t requested = tsc_now();

    for (unsigned i = 0; i < r->trials;) {
        struct trials_took took = run_one(r, clock, seen->rounds, i, w);
        if ((double)took.ticks > standstill) {
            if (++seen->discarded <= STANDSTILLS_MOST)
                continue;
            return machine_fail(err, MACHINE_FAILED, "keep it from being suspended or stopped, and repeat",
                                "the machine was stopped for more than a second in %u trials", seen->discarded);
        }
        int status = check_trial(clock, &took, i, err);
        if (status != MACHINE_OK)
            return status;
        keep_branches(r, &took, i, seen);
        duration[i++] = (double)(took.end - took.begin) * unit;
        if (tsc_now() - requested > patience) {
            if (r->stop != NULL && r->stop(r->data))
                return machine_fail(err, MACHINE_FAILED, "", "stopped");
            requested = tsc_now();
        }
    }
    return MACHINE_OK;
}

static int run_between(const struct native *s, const struct trials_request *r, const struct trials_clock *clock,
                       struct trials_work *w, double *duration, struct trials_seen *seen, struct machine_error *err)
{
    const char *proc = strcmp(s->sys, "/sys") == 0 ? "/proc" : NULL;
    struct trials_between before;

    if (r->idle_ms > 0) {
        const struct timespec idle = {(time_t)(r->idle_ms / 1000), (long)(fmod(r->idle_ms, 1000) * 1e6)};
        nanosleep(&idle, NULL); /* a signal ends it, and with it the trials */
        if (r->stop != NULL && r->stop(r->data))
            return machine_fail(err, MACHINE_FAILED, "", "stopped");
    }
    trials_between_read(proc, s->cpu, &before);
    int status = run_all(s, r, clock, w, seen, duration, err);
    int cpu = sched_getcpu();
    trials_between_read(proc, s->cpu, &seen->between);
    trials_between_since(&before, &seen->between);
    if (status == MACHINE_OK && cpu != s->cpu) {
        status = machine_fail(err, MACHINE_FAILED, "choose another CPU with --cpu",
                              "the trials were moved from CPU %d to CPU %d: it is offline, or no longer allowed",
                              s->cpu, cpu);
    }
    return status;
}

int trials_run(struct native *s, const struct trials_request *r, const struct trials_clock *clock, double *duration,
               struct trials_seen *seen, struct machine_error *err)
{
    struct trials_clock used = clock != NULL ? *clock : (struct trials_clock){0};
    struct huge_buffer buffer;

    if (r->idle_ms > 0)
        used.cycles = NULL;
    *seen = (struct trials_seen){.cycles = used.cycles != NULL, .resolution = 1};
    if (r->branches != NULL && used.branches == NULL)
        snprintf(seen->uncounted, sizeof seen->uncounted, "%s",
                 used.uncounted != NULL ? used.uncounted
                                        : "this machine reads no performance counters; use --machine perf or helper");
    int status = trials_check(s, r, err);
    if (status == MACHINE_OK)
        status = buffer_make(r, &buffer, err);
    if (status != MACHINE_OK)
        return status;
    if (used.cycles == NULL)
        seen->resolution = fmax(1, s->tsc_step) * 1e9 / s->tsc.hz;
    struct trials_work w = {workload_get(r->workload)->run, buffer.start, r->bytes > 0 ? r->bytes - 1 : 0, 0};
    seen->rounds = trials_find_rounds(shortest_ticks, &w, r->trial_us * 1e-6 * s->tsc.hz);
    memset(duration, 0, r->trials * sizeof *duration); /* its pages are there before the first trial */
    status = run_between(s, r, &used, &w, duration, seen, err);
    huge_buffer_free(&buffer);
    return status;
}
