/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a command beside threads with background code, and takes its times. */
#include "drivers/native/corun_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "computer/cpu/tsc.h"
#include "drivers/native/corunners.h"
#include "drivers/native/walks.h"
#include "util/child.h"
#include "util/clock.h"
#include "util/command.h"
#include "util/order.h"

enum {
    CHAINS = 200,  /* of each length after a short run: about 0.7 ms at 3 GHz */
    SAMPLE_MS = 5, /* between two chains during a run: they take a thousandth of the CPU's time, beside whatever code */
    SAMPLES_MOST = 2048, /* that are kept; then every second one, at half the rate */
    SAMPLES_LEAST = 20,  /* fewer say less than chains after the run */
    STOP_EVERY = 10      /* so many samples between two looks whether to stop */
};
static const double SLICE_US = 100;       /* background code looks so often whether to end */
static const useconds_t SETTLE_US = 3000; /* before the command begins: a level is left within 0.7 ms (G 3.2.3) */

struct corun_command {
    struct corun_command_setup setup;
    char path[PATH_MAX];
    bool pinned;
    struct cpu_mask before;
    int nothing; /* /dev/null */
    struct walks walks;
    size_t n;
    int cpus[CPU_LIMIT];
};

/* ---- places ---- */

static bool is_there(const char *root, const struct cpu_view *v, enum corun_place place, int cpu, int other)
{
    const bool same_core = cpu_core_in(v, root, other) == cpu_core_in(v, root, cpu);
    switch (place) {
    case CORUN_SAME:
        return other == cpu;
    case CORUN_SIBLING:
        return same_core && other != cpu;
    case CORUN_PACKAGE:
        return cpu_package_of(root, other) == cpu_package_of(root, cpu);
    case CORUN_CORE:
    default:
        for (int earlier = 0; earlier < other; earlier++)
            if (cpu_usable(v, earlier) && cpu_core_in(v, root, earlier) == cpu_core_in(v, root, other))
                return false;
        return !same_core && cpu_package_of(root, other) == cpu_package_of(root, cpu);
    }
}

size_t corun_place_cpus(const char *root, const struct cpu_view *v, enum corun_place place, int cpu, int *out,
                        size_t max)
{
    size_t n = 0;
    for (int other = 0; other < CPU_LIMIT && n < max; other++)
        if (cpu_usable(v, other) && is_there(root, v, place, cpu, other))
            out[n++] = other;
    return n;
}

static int find_places(struct corun_command *c, struct machine_error *err)
{
    static const char *const lacking[CORUN_PLACES] = {
        [CORUN_SIBLING] = "no other thread of its core may be used (no SMT, or the hypervisor hides it)",
        [CORUN_CORE] = "no other core of its package may be used"};
    struct corun_command_setup *s = &c->setup;
    struct cpu_view v;
    cpu_view_read("/sys", &v);
    v.core = s->core;
    int status = cpu_choose(&v, s->cpu, &s->cpu, err);
    if (status != MACHINE_OK)
        return status;
    c->n = corun_place_cpus("/sys", &v, s->place, s->cpu, c->cpus, CPU_LIMIT);
    if (c->n == 0)
        return machine_fail(err, MACHINE_CANNOT, "use another place, as in --on same", "--on %s: beside CPU %d, %s",
                            machine_corun_place_names[s->place], s->cpu, lacking[s->place]);
    c->pinned = s->place != CORUN_PACKAGE;
    if (c->pinned && cpu_pin(s->cpu, &c->before) != 0) {
        c->pinned = false;
        return machine_fail(err, MACHINE_FAILED, "", "cannot run on CPU %d: %s", s->cpu, strerror(errno));
    }
    return MACHINE_OK;
}

int corun_command_open(const struct corun_command_setup *s, struct corun_command **out, struct machine_error *err)
{
    struct corun_command *c = calloc(1, sizeof *c);
    *out = NULL;
    if (c == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    c->setup = *s;
    c->nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int status = c->nothing < 0 ? machine_fail(err, MACHINE_FAILED, "", "cannot open /dev/null: %s", strerror(errno))
                                : command_locate(s->argv[0], c->path, sizeof c->path, err);
    if (status == MACHINE_OK)
        status = find_places(c, err);
    if (status == MACHINE_OK)
        *out = c;
    else
        corun_command_close(c);
    return status;
}

void corun_command_close(struct corun_command *c)
{
    if (c == NULL)
        return;
    if (c->pinned)
        (void)cpu_set_affinity(&c->before);
    if (c->nothing >= 0)
        close(c->nothing);
    walks_free(&c->walks);
    free(c);
}

/* ---- one run ---- */

/* A pair of dependent chains on the CPU of this thread: the difference of their ticks, without the cost of reading. */
static double chain_ticks(void)
{
    uint64_t begin, end = kernel_chain_steady_long(&begin);
    const double both = (double)(end - begin);
    end = kernel_chain_steady_short(&begin);
    return both - (double)(end - begin);
}

static double chain_ghz(const struct corun_command *c)
{
    double ticks[CHAINS], scratch[CHAINS];
    for (size_t i = 0; i < CHAINS; i++)
        ticks[i] = chain_ticks();
    memcpy(scratch, ticks, sizeof ticks);
    const double middle = order_median(scratch, CHAINS);
    const double mean = order_stepped_mean(ticks, CHAINS, middle, c->setup.tsc_step, scratch);
    return 1e-9 * c->setup.tsc_hz * (CHAIN_STEADY_LONG_ADDS - CHAIN_STEADY_SHORT_ADDS) / mean;
}

/* Chains during a run, evenly spread over it. */
struct chain_samples {
    size_t n, every, seen; /* one of every so many is kept */
    double ticks[SAMPLES_MOST];
};

static void take_sample(struct chain_samples *s)
{
    const double ticks = chain_ticks();
    if (s->seen++ % s->every != 0)
        return;
    if (s->n == SAMPLES_MOST) {
        for (s->n = 0; s->n < SAMPLES_MOST / 2; s->n++)
            s->ticks[s->n] = s->ticks[2 * s->n];
        s->every *= 2;
    }
    s->ticks[s->n++] = ticks;
}

/* The mean frequency of the run; NaN: it was too short. Chains that were interrupted take far longer than most. */
static double mean_ghz(const struct corun_command *c, const struct chain_samples *s)
{
    double scratch[SAMPLES_MOST], sum = 0;
    size_t n = 0;
    memcpy(scratch, s->ticks, s->n * sizeof *scratch);
    const double middle = order_median(scratch, s->n);
    for (size_t i = 0; i < s->n; i++)
        if (fabs(s->ticks[i] - middle) < middle / 2) {
            sum += 1 / s->ticks[i];
            n++;
        }
    const double hz = c->setup.tsc_hz * (CHAIN_STEADY_LONG_ADDS - CHAIN_STEADY_SHORT_ADDS);
    return s->n < SAMPLES_LEAST ? NAN : 1e-9 * hz * sum / (double)n;
}

/* Waits for a command, which is killed with what it has started where the caller is to stop. False: it was. */
static bool wait_for_end(const struct corun_command *c, pid_t pid, struct chain_samples *samples, int *status,
                         struct rusage *used)
{
    const int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd end = {.fd = fd, .events = POLLIN};
    bool stopped = false;
    for (unsigned i = 1; fd >= 0 && poll(&end, 1, SAMPLE_MS) <= 0 && !stopped; i++) {
        take_sample(samples);
        if (i % STOP_EVERY == 0 && c->setup.stop != NULL && c->setup.stop()) {
            (void)kill(-pid, SIGKILL);
            stopped = true;
        }
    }
    while (wait4(pid, status, 0, used) < 0 && errno == EINTR) {
    }
    (void)kill(-pid, SIGKILL); /* what it has left behind would disturb the next run */
    if (fd >= 0)
        close(fd);
    return !stopped;
}

static double seconds_of(const struct timeval *t)
{
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

static int run_once(const struct corun_command *c, struct corun_seen *out, struct machine_error *err)
{
    const char *name = c->setup.argv[0];
    const double begin = clock_seconds(CLOCK_MONOTONIC);
    struct chain_samples samples = {.every = 1};
    struct rusage used;
    int status = 0;
    pid_t pid;
    const int error = child_start(c->path, c->setup.argv, environ, c->nothing, c->nothing, c->nothing, true, &pid);
    if (error != 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "cannot execute '%s': %s", name, strerror(error));
    const bool complete = wait_for_end(c, pid, &samples, &status, &used);
    *out = (struct corun_seen){.time_s = clock_seconds(CLOCK_MONOTONIC) - begin,
                               .cpu_s = seconds_of(&used.ru_utime) + seconds_of(&used.ru_stime),
                               .ghz = mean_ghz(c, &samples)};
    if (!complete)
        return machine_fail(err, MACHINE_FAILED, "", "stopped");
    if (WIFSIGNALED(status))
        return machine_fail(err, MACHINE_BAD_INPUT, "run it by itself, with empty input, to see why",
                            "the command '%s' was ended by signal %d (%s)", name, WTERMSIG(status),
                            strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return machine_fail(err, MACHINE_BAD_INPUT, "run it by itself, with empty input, to see why",
                            "the command '%s' ended with status %d", name, WEXITSTATUS(status));
    return MACHINE_OK;
}

/* Background code that runs on others starts when its operands are there. */
static int start_others(struct corun_command *c, const struct corunner_code *code, struct corunners **out,
                        struct machine_error *err)
{
    struct cpu_caches caches;
    char why[200];
    if (kernel_request_permission(code->payload.kernel->features, why, sizeof why) != 0)
        return machine_fail(err, MACHINE_CANNOT, "", "%s: %s", code->payload.name, why);
    cpu_caches_read("/sys", "/proc", c->cpus[0], &caches);
    int status = walks_prepare(&c->walks, &caches, &code->payload, err);
    return status == MACHINE_OK ? corunners_start(c->cpus, c->n, code, out, err) : status;
}

/* The frequency right after a run, of the command's CPU, from which a thread of a package may have moved away. */
static double ghz_there(const struct corun_command *c)
{
    struct cpu_mask before;
    if (c->pinned)
        return chain_ghz(c);
    if (cpu_pin(c->setup.cpu, &before) != 0)
        return NAN;
    const double ghz = chain_ghz(c);
    (void)cpu_set_affinity(&before);
    return ghz;
}

int corun_command_run(void *data, const struct corun_background *b, struct corun_seen *out, struct machine_error *err)
{
    struct corun_command *c = data;
    const struct payload rest = kernel_named("64add");
    const double tick = 1e-6 * c->setup.tsc_hz, on = b->every_us > 0 ? b->on_us : SLICE_US;
    const struct corunner_code code = {.payload = b->code,
                                       .walk = b->code.kernel != NULL ? walks_of(&c->walks, &b->code) : NULL,
                                       .ticks = (uint64_t)(on * tick),
                                       .rest = rest,
                                       .rest_ticks = (uint64_t)(fmax(b->every_us - b->on_us, 0) * tick)};
    struct corunners *others = NULL;
    int status = b->code.kernel != NULL ? start_others(c, &code, &others, err) : MACHINE_OK;
    if (status != MACHINE_OK)
        return status;
    usleep(SETTLE_US);
    status = run_once(c, out, err);
    if (status == MACHINE_OK && isnan(out->ghz))
        out->ghz = ghz_there(c);
    corunners_stop(others);
    return status;
}
