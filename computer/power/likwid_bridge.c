/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions to liblikwid, each put by a child process. */
#include "computer/power/likwid_bridge.h"

#ifndef STATIC_PROGRAM
#include <dlfcn.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/error.h"

enum { SECONDS = 20 }; /* liblikwid waits up to 10 s for a daemon that does not come */

struct question {
    enum { FOUND, GET_FREQUENCY, SET_FREQUENCY, READ_ENERGY } what;
    int cpu, domain;
    uint64_t min_khz, max_khz;
};
struct answer {
    bool good;
    char why[160];
    uint64_t min_khz, max_khz;
    uint32_t steps;
    double joules;
};

#ifdef STATIC_PROGRAM
int likwid_load(struct likwid_functions *out, char *why, size_t size)
{
    (void)out;
    return error_line(why, size,
                      "this program is linked statically and cannot load it: take that of the package or of 'make'");
}
#else
int likwid_load(struct likwid_functions *out, char *why, size_t size)
{
    /* those whose functions are as likwid_bridge.h declares them */
    static const char *const libraries[] = {"liblikwid.so.5.4", "liblikwid.so.5.3", "liblikwid.so.5.2"};
    void *lib = NULL;
    const struct {
        const char *name;
        void *slot;
    } wanted[] = {
        {"topology_init", &out->topology_init},
        {"freq_init", &out->freq_init},
        {"freq_getCpuClockMin", &out->freq_getCpuClockMin},
        {"freq_getCpuClockMax", &out->freq_getCpuClockMax},
        {"freq_setCpuClockMin", &out->freq_setCpuClockMin},
        {"freq_setCpuClockMax", &out->freq_setCpuClockMax},
        {"HPMinit", &out->HPMinit},
        {"HPMaddThread", &out->HPMaddThread},
        {"power_init", &out->power_init},
        {"power_getEnergyUnit", &out->power_getEnergyUnit},
        {"power_start", &out->power_start},
    };
    for (size_t i = 0; lib == NULL && i < sizeof libraries / sizeof *libraries; i++)
        lib = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (lib == NULL)
        return error_line(why, size, "liblikwid 5.2 to 5.4 is not installed (Debian: likwid)");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol = dlsym(lib, wanted[i].name);
        if (symbol == NULL)
            return error_line(why, size, "this liblikwid has no %s", wanted[i].name);
        memcpy(wanted[i].slot, &symbol, sizeof symbol); /* a data pointer for a function pointer, as POSIX wants it */
    }
    return 0;
}
#endif

/* likwid.h says 0 in case of errors; 5.2.2 (src/frequency_cpu.c) returns -1 as well. */
static bool is_frequency(uint64_t khz)
{
    const uint64_t most = 100000000; /* 100 GHz */
    return khz > 0 && khz <= most;
}

static void get_frequency(const struct likwid_functions *f, const struct question *q, struct answer *a)
{
    a->min_khz = f->freq_getCpuClockMin(q->cpu);
    a->max_khz = f->freq_getCpuClockMax(q->cpu);
    a->good = is_frequency(a->min_khz) && is_frequency(a->max_khz);
    if (!a->good)
        snprintf(a->why, sizeof a->why, "liblikwid cannot read the frequency limits of CPU %d", q->cpu);
}

static void set_frequency(const struct likwid_functions *f, const struct question *q, struct answer *a)
{
    uint64_t min = q->min_khz, max = q->max_khz;
    get_frequency(f, q, a);
    if (!a->good)
        return;
    /* the lower limit may never be above the upper one */
    if (max >= a->min_khz) {
        f->freq_setCpuClockMax(q->cpu, max);
        f->freq_setCpuClockMin(q->cpu, min);
    } else {
        f->freq_setCpuClockMin(q->cpu, min);
        f->freq_setCpuClockMax(q->cpu, max);
    }
    get_frequency(f, q, a);
    if (a->good && (a->min_khz != min || a->max_khz != max)) {
        a->good = false;
        snprintf(a->why, sizeof a->why,
                 "liblikwid cannot set the frequency limits of CPU %d (its daemon needs to be set up, or root)",
                 q->cpu);
    }
}

static void read_energy(const struct likwid_functions *f, const struct question *q, struct answer *a)
{
    struct likwid_power data = {.domain = q->domain};
    if (f->HPMinit() != 0 || f->HPMaddThread(q->cpu) != 0) {
        snprintf(a->why, sizeof a->why, "liblikwid cannot reach the registers of CPU %d", q->cpu);
        return;
    }
    if (f->power_init(q->cpu) <= 0) { /* 0: no RAPL */
        snprintf(a->why, sizeof a->why, "liblikwid knows no energy counters of CPU %d", q->cpu);
        return;
    }
    a->joules = f->power_getEnergyUnit(q->domain);
    a->good = a->joules > 0 && f->power_start(&data, q->cpu, q->domain) == 0;
    a->steps = data.before;
    if (!a->good)
        snprintf(a->why, sizeof a->why, "liblikwid cannot read energy counter %d of CPU %d", q->domain, q->cpu);
}

static void find_answer(likwid_loader *load, const struct question *q, struct answer *a)
{
    struct likwid_functions f;
    if (load(&f, a->why, sizeof a->why) != 0)
        return;
    if (f.topology_init() != 0) {
        snprintf(a->why, sizeof a->why, "liblikwid does not understand this machine's topology");
        return;
    }
    if ((q->what == GET_FREQUENCY || q->what == SET_FREQUENCY) && f.freq_init() != 0) {
        snprintf(a->why, sizeof a->why, "liblikwid cannot access the frequency settings");
        return;
    }
    switch (q->what) {
    case GET_FREQUENCY:
        get_frequency(&f, q, a);
        return;
    case SET_FREQUENCY:
        set_frequency(&f, q, a);
        return;
    case READ_ENERGY:
        read_energy(&f, q, a);
        return;
    default:
        a->good = true;
    }
}

/* Runs in the child: never returns, and writes nothing to the streams of the program. */
static void answer_and_end(likwid_loader *load, const struct question *q, int pipe_fd)
{
    struct answer a;
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    memset(&a, 0, sizeof a);
    if (nowhere < 0) {
        snprintf(a.why, sizeof a.why, "liblikwid is not called, as there is no /dev/null for its messages");
        _exit(write(pipe_fd, &a, sizeof a) == (ssize_t)sizeof a ? 0 : 1);
    }
    if (dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0)
        _exit(1);
    alarm(SECONDS);
    find_answer(load, q, &a);
    _exit(write(pipe_fd, &a, sizeof a) == (ssize_t)sizeof a ? 0 : 1);
}

static int ask(likwid_loader *load, const struct question *q, struct answer *a, char *why, size_t size)
{
    int ends[2], status = 0;
    memset(a, 0, sizeof *a);
#ifdef STATIC_PROGRAM
    if (load == NULL || load == likwid_load) /* there is nothing to ask, in a child or not */
        return likwid_load(NULL, why, size);
#endif
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_line(why, size, "no pipe: %s", strerror(errno));
    fflush(NULL); /* or the child might write it again */
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        answer_and_end(load != NULL ? load : likwid_load, q, ends[1]);
    }
    close(ends[1]);
    ssize_t got = child > 0 ? TEMP_FAILURE_RETRY(read(ends[0], a, sizeof *a)) : -1;
    close(ends[0]);
    if (child > 0)
        (void)TEMP_FAILURE_RETRY(waitpid(child, &status, 0));
    if (got != (ssize_t)sizeof *a) {
        memset(a, 0, sizeof *a);
        snprintf(a->why, sizeof a->why,
                 child < 0 ? "cannot start a child process for liblikwid" : "liblikwid aborted (%s)",
                 WIFSIGNALED(status) ? "it was ended by a signal" : "it exited");
    }
    a->why[sizeof a->why - 1] = '\0';
    snprintf(why, size, "%s", a->good ? "" : a->why);
    return a->good ? 0 : -1;
}

int likwid_found(likwid_loader *load, char *why, size_t size)
{
    struct question q = {.what = FOUND};
    struct answer a;
    return ask(load, &q, &a, why, size);
}

int likwid_get_frequency(likwid_loader *load, int cpu, uint64_t *min_khz, uint64_t *max_khz, char *why, size_t size)
{
    struct question q = {.what = GET_FREQUENCY, .cpu = cpu};
    struct answer a;
    int status = ask(load, &q, &a, why, size);
    *min_khz = a.min_khz;
    *max_khz = a.max_khz;
    return status;
}

int likwid_set_frequency(likwid_loader *load, int cpu, uint64_t min_khz, uint64_t max_khz, char *why, size_t size)
{
    struct question q = {.what = SET_FREQUENCY, .cpu = cpu, .min_khz = min_khz, .max_khz = max_khz};
    struct answer a;
    return ask(load, &q, &a, why, size);
}

int likwid_read_energy(likwid_loader *load, int cpu, enum likwid_domain domain, uint32_t *steps, double *joules,
                       char *why, size_t size)
{
    struct question q = {.what = READ_ENERGY, .cpu = cpu, .domain = (int)domain};
    struct answer a;
    int status = ask(load, &q, &a, why, size);
    *steps = a.steps;
    *joules = a.joules;
    return status;
}
