/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whoever runs a program has written its file, and may truncate it while it is read: libdw 0.188 is brought down by
 * damaged files, and unpacks compressed parts whatever their size. It works in a process of its own, with nothing but
 * the file, little memory and little time; where that fails the file has no names.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/symbols.h"
#include "profiler/symbols_elf.h"

enum { SYMBOLS_PARTS_MAX = 16 };

struct symbols_file {
    struct symbols *symbols;
    unsigned n_parts; /* that are executable */
    struct symbols_message part[SYMBOLS_PARTS_MAX];
};

void symbols_file_free(struct symbols_file *f)
{
    if (f != NULL)
        symbols_free(f->symbols);
    free(f);
}

size_t symbols_file_count(const struct symbols_file *f)
{
    return symbols_count(f->symbols);
}

/* Beyond what this process has already. */
static void limit_memory(rlim_t bytes)
{
    unsigned long pages = 0;
    FILE *in = fopen("/proc/self/statm", "re");
    if (in == NULL || fscanf(in, "%lu", &pages) != 1)
        _exit(1);
    (void)fclose(in);
    bytes += pages * (rlim_t)sysconf(_SC_PAGESIZE);
    (void)setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
}

/* The process that reads: no other descriptors, no privileges, no core files; it ends with its parent. */
static _Noreturn void read_apart(int fd, int to)
{
    enum { NOBODY = 65534 };
    if (dup2(fd, STDIN_FILENO) < 0 || dup2(to, STDOUT_FILENO) < 0 || close_range(STDERR_FILENO, UINT_MAX, 0) != 0)
        _exit(1);
    limit_memory((rlim_t)2 << 30);
    (void)setrlimit(RLIMIT_CPU, &(struct rlimit){SYMBOLS_SECONDS_MAX, SYMBOLS_SECONDS_MAX});
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    /* as far as it may */
    if (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
        (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_DFL);
    FILE *out = fdopen(STDOUT_FILENO, "w");
    if (out != NULL) {
        symbols_elf_write(STDIN_FILENO, out);
        (void)fflush(out);
    }
    _exit(0);
}

/* What the process has to tell, as it comes. */
struct symbols_ear {
    int from;
    time_t end; /* CLOCK_MONOTONIC; what comes later is not heard */
    size_t at, used;
    char bytes[65536];
};

/* False: there is no more, or not in time. */
static bool fill_ear(struct symbols_ear *e)
{
    struct pollfd p = {.fd = e->from, .events = POLLIN};
    struct timespec now;
    ssize_t got = -1;
    do {
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        if (poll(&p, 1, 1000) > 0)
            got = read(e->from, e->bytes, sizeof(e->bytes));
    } while (got < 0 && now.tv_sec <= e->end);
    e->at = 0;
    e->used = got > 0 ? (size_t)got : 0;
    return got > 0;
}

static bool hear_bytes(struct symbols_ear *e, void *out, size_t size)
{
    for (size_t done = 0; done < size;) {
        if (e->at == e->used && !fill_ear(e))
            return false;
        size_t n = size - done < e->used - e->at ? size - done : e->used - e->at;
        memcpy((char *)out + done, e->bytes + e->at, n);
        e->at += n;
        done += n;
    }
    return true;
}

/* All that the process tells. False: out of memory. */
static bool take_messages(struct symbols_file *f, struct symbols_ear *e)
{
    struct symbols_message m;
    char name[SYMBOLS_NAME_MAX];
    while (symbols_count(f->symbols) < SYMBOLS_MAX && hear_bytes(e, &m, sizeof(m))) {
        if (m.length >= sizeof(name) || !hear_bytes(e, name, m.length))
            return true;
        name[m.length] = '\0';
        if (m.length == 0 && f->n_parts < SYMBOLS_PARTS_MAX)
            f->part[f->n_parts++] = m;
        else if (m.length > 0 && !symbols_add(f->symbols, m.address, m.size, m.rank, name))
            return false;
    }
    return true;
}

/* False: out of memory. What cannot be read leaves the file without names. */
static bool read_symbols(struct symbols_file *f, int fd)
{
    int ends[2];
    struct timespec now;
    struct symbols_ear *e = malloc(sizeof(*e));
    if (e == NULL || pipe2(ends, O_CLOEXEC) != 0) {
        free(e);
        return e != NULL;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    *e = (struct symbols_ear){.from = ends[0], .end = now.tv_sec + SYMBOLS_SECONDS_MAX};
    pid_t pid = fork();
    if (pid == 0)
        read_apart(fd, ends[1]);
    (void)close(ends[1]);
    bool fine = pid < 0 || take_messages(f, e);
    (void)close(ends[0]);
    if (pid > 0) {
        (void)kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    free(e);
    return fine;
}

struct symbols_file *symbols_of_file(int fd)
{
    struct symbols_file *f = calloc(1, sizeof(*f));
    if (f == NULL)
        return NULL;
    f->symbols = symbols_new();
    if (f->symbols != NULL && read_symbols(f, fd)) {
        symbols_sort(f->symbols);
        return f;
    }
    symbols_file_free(f);
    return NULL;
}

const char *symbols_file_find(const struct symbols_file *f, uint64_t offset, uint64_t *address)
{
    *address = offset;
    for (unsigned i = 0; i < f->n_parts; i++)
        if (offset >= f->part[i].offset && offset - f->part[i].offset < f->part[i].size) {
            *address = offset - f->part[i].offset + f->part[i].address;
            return symbols_find(f->symbols, *address);
        }
    return NULL;
}
