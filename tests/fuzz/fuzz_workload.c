/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libFuzzer target: any bytes as a workload, after a byte of options; with one of them, what is after the last byte 1
 * is a file of time stamps. What is refused must be refused in one line; what is read must be rows that a simulation
 * can play, in their shortest form, the same each time, as long on all CPUs, and as much work of tasks as of CPUs.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "schedulers/simulate/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    OPTION_WORKS = 1,
    OPTION_SMT = 2,
    OPTION_NO_SMT = 4,
    OPTION_SIBLINGS = 8,
    OPTION_MARKS = 16,
    OPTION_STAMPS = 32,
    OPTION_STAMPS_CLASS = 64,
    OPTION_RECORDED = 128
};
enum { DRAWN_ROWS = 100000 }; /* of all streams of one that is drawn, which may go on for ever */

static void workload_insist(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/* A file without a name, and a path to it. */
static int bytes_as_file(const uint8_t *data, size_t size, char path[32])
{
    int fd = memfd_create("fuzz", 0);
    workload_insist(fd >= 0 && write(fd, data, size) == (ssize_t)size && !lseek(fd, 0, SEEK_SET), "memory for a file");
    snprintf(path, 32, "/dev/fd/%d", fd);
    return fd;
}

static void check_row(const struct sim_workload *w, const struct sim_row *row, const struct sim_row *last)
{
    workload_insist(row->ps >= 0 && row->ps <= SIM_ROW_PS_MAX, "a row has a length");
    workload_insist(row->task < w->n_tasks || (row->task == SIM_IDLE && !row->class && !row->ipc && !row->stall),
                    "a row has a task, or nothing");
    workload_insist(row->class < SIM_CLASSES && row->ipc <= 16000 && row->stall <= 1000, "its values are allowed");
    if (!last || !strcmp(w->kind, "drawn"))
        return;
    workload_insist(row->ps || row->syscall, "a row does something");
    workload_insist(last->ps == SIM_ROW_PS_MAX || row->syscall || last->task != row->task ||
                        last->class != row->class || last->ipc != row->ipc || last->stall != row->stall,
                    "rows that are alike are one");
}

/* Adds up a stream by task, the last for idle time; returns all of it, and a sum of what was read in *hash. */
static int64_t add_stream(const struct sim_workload *w, const struct sim_source *s, unsigned stream, size_t max,
                          int64_t *by_task, uint64_t *hash)
{
    struct sim_row row[100], last;
    int64_t all = 0;
    size_t rows = 0, limit = strcmp(w->kind, "drawn") ? SIZE_MAX : DRAWN_ROWS / w->n_tasks + 1;
    for (size_t n; rows < limit && (n = s->read(s->self, stream, row, max));)
        for (size_t i = 0; i < n && rows < limit; i++, rows++) {
            check_row(w, &row[i], rows ? &last : NULL);
            last = row[i];
            all += last.ps;
            by_task[last.task == SIM_IDLE ? w->n_tasks : last.task] += last.ps;
            *hash = (*hash ^ (uint64_t)last.ps ^ last.task ^ (uint64_t)last.class << 40) * UINT64_C(1099511628211);
        }
    workload_insist(!s->error(s->self), "rows can be read");
    return all;
}

static void check_workload(struct sim_workload *w)
{
    int64_t *cpus = calloc(w->n_tasks + 1, sizeof *cpus), *works = calloc(w->n_tasks + 1, sizeof *works), all = -1;
    uint64_t first = 0, again = 0;
    int drawn = !strcmp(w->kind, "drawn");
    workload_insist(cpus && works, "memory");
    workload_insist(w->recorded >= 1000 && w->recorded <= 160000 && w->n_cpus && w->n_cores && w->n_tasks, "has all");
    for (unsigned i = 0; i < w->n_cpus; i++) {
        workload_insist(w->core[i] < w->n_cores && (!i || w->cpu[i] > w->cpu[i - 1]), "CPUs ascend");
        int64_t length = add_stream(w, &w->cpus, i, 100, cpus, &first);
        workload_insist(drawn || all < 0 || length == all, "all CPUs are as long");
        all = length;
    }
    w->cpus.rewind(w->cpus.self);
    memset(works, 0, (w->n_tasks + 1) * sizeof *works);
    for (unsigned i = 0; i < w->n_cpus; i++)
        add_stream(w, &w->cpus, i, 1, works, &again);
    workload_insist(first == again, "rows are the same again");
    memset(works, 0, (w->n_tasks + 1) * sizeof *works);
    for (unsigned t = 0; w->works.read && t < w->n_tasks; t++)
        add_stream(w, &w->works, t, 3, works, &again);
    for (unsigned t = 0; w->works.read && t < w->n_tasks; t++) {
        workload_insist(w->tasks[t].name != NULL, "a task has a name");
        workload_insist(drawn || works[t] == cpus[t], "tasks do what CPUs do");
    }
    free(works);
    free(cpus);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sim_mark marks[] = {{"ngin*", SIM_512HEAVY}, {"12", SIM_256LIGHT}};
    struct sim_workload_options o = {0};
    struct sim_workload *w;
    struct machine_error err;
    char path[32], stamps[32];
    if (!size)
        return 0;
    unsigned options = *data++;
    size--;
    const uint8_t *mark = options & OPTION_STAMPS ? memrchr(data, 1, size) : NULL;
    int fd, stamps_fd = mark ? bytes_as_file(mark + 1, (size_t)(data + size - mark - 1), stamps) : -1;
    fd = bytes_as_file(data, mark ? (size_t)(mark - data) : size, path);
    o.works = options & OPTION_WORKS;
    o.smt_given = options & (OPTION_SMT | OPTION_NO_SMT);
    o.smt = options & OPTION_SMT;
    o.siblings = options & OPTION_SIBLINGS ? "0-1,2-3" : NULL;
    o.marks = marks;
    o.n_marks = options & OPTION_MARKS ? 2 : 0;
    o.stamps = mark ? stamps : NULL;
    o.stamps_class = options & OPTION_STAMPS_CLASS ? SIM_512LIGHT : SIM_NONE;
    o.recorded = options & OPTION_RECORDED ? 28000 : 0;
    if (sim_workload_open(path, &o, &w, &err)) {
        workload_insist(!w && *err.text && !strchr(err.text, '\n'), "a refusal is one line");
    } else {
        check_workload(w);
        sim_workload_free(w);
    }
    close(fd);
    if (stamps_fd >= 0)
        close(stamps_fd);
    return 0;
}
