/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/simulate/workload/workload_drawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/workload/drawn_file.h"
#include "util/data_file.h"

static const struct data_kind drawn_kind = {"workload", "workloads", ".workload", NULL};

int sim_drawn_list(char ***names, size_t *n)
{
    return data_file_list(NULL, &drawn_kind, names, n);
}

/* Hyper-thread t of core c is CPU c + t cores, as Linux numbers those of one socket. */
static int number_cpus(struct sim_workload *w, const struct drawn_file *f, bool smt)
{
    w->n_cores = f->cores;
    w->n_cpus = f->cores * (smt ? f->threads_per_core : 1);
    w->smt = w->n_cpus > w->n_cores;
    w->cpu = calloc(w->n_cpus, sizeof *w->cpu);
    w->core = calloc(w->n_cpus, sizeof *w->core);
    if (!w->cpu || !w->core)
        return -1;
    for (unsigned i = 0; i < w->n_cpus; i++) {
        w->cpu[i] = i;
        w->core[i] = i % w->n_cores;
    }
    return 0;
}

/* The number of the first task with the same cookie, from 1; 0: it has none. */
static uint32_t cookie_of(const struct drawn_file *f, const struct drawn_task *t)
{
    uint32_t number = 0;
    while (t->cookie[0] && strcmp(f->tasks[number++].cookie, t->cookie) != 0)
        continue;
    return number;
}

static int name_threads(struct sim_workload *w, const struct drawn_file *f)
{
    w->tasks = calloc(f->n_threads, sizeof *w->tasks);
    if (!w->tasks)
        return -1;
    for (const struct drawn_task *t = f->tasks; t < f->tasks + f->n_tasks; t++)
        for (unsigned i = 0; i < t->threads; i++) {
            struct sim_task *task = &w->tasks[w->n_tasks];
            if (asprintf(&task->name, "%s-%u", t->name, i) < 0) {
                task->name = NULL;
                return -1;
            }
            task->cookie = cookie_of(f, t);
            w->n_tasks++;
        }
    return 0;
}

static void mark_classes(struct sim_workload *w, const struct drawn_file *f)
{
    w->has_ipc = f->has_ipc;
    w->has_stall = f->has_stall;
    w->has_cookie = f->has_cookie;
    w->has_syscall = f->has_syscall;
    for (unsigned t = 0; t < f->n_tasks; t++)
        for (unsigned i = 0; i < f->tasks[t].n_phases; i++) {
            const struct sim_row *row = &f->tasks[t].phases[i].row;
            w->class_used[row->class] = w->class_used[row->class] || row->task != SIM_IDLE;
        }
}

static int build_drawn(struct sim_workload *w, const char *name, const struct drawn_file *f,
                       const struct sim_workload_options *o)
{
    w->kind = "drawn";
    w->name = strdup(name);
    w->recorded = o->recorded ? o->recorded : f->recorded;
    w->active_cores = o->active_cores ? o->active_cores : f->active_cores;
    mark_classes(w, f);
    bool built = w->name && number_cpus(w, f, !o->smt_given || o->smt) == 0 && name_threads(w, f) == 0 &&
                 drawn_cpus_open(f, w->n_cpus, o->seed, &w->cpus) == 0 && drawn_works_open(f, o->seed, &w->works) == 0;
    return built ? 0 : -1;
}

int sim_drawn_read(const char *text, size_t length, const char *file, const char *name,
                   const struct sim_workload_options *o, struct sim_workload **out, struct machine_error *err)
{
    *out = NULL;
    if (o->siblings || o->n_marks || o->stamps)
        return machine_fail(err, MACHINE_BAD_INPUT, "", "%.200s: a drawn workload itself says %s", file,
                            o->siblings ? "which CPUs are siblings" : "which code is wide");
    struct drawn_file *f = calloc(1, sizeof *f);
    struct sim_workload *w = calloc(1, sizeof *w);
    int status = f && w ? drawn_file_parse(text, length, file, f, err) : MACHINE_FAILED;
    if (status == MACHINE_OK && build_drawn(w, name, f, o) != 0)
        status = MACHINE_FAILED;
    if (status == MACHINE_FAILED)
        machine_fail(err, MACHINE_FAILED, "", "%.200s: out of memory", file);
    free(f);
    if (status == MACHINE_OK)
        *out = w;
    else
        sim_workload_free(w);
    return status;
}

int sim_drawn_open(const char *name_or_path, const struct sim_workload_options *o, struct sim_workload **out,
                   struct machine_error *err)
{
    char path[DATA_FILE_PATH_SIZE];
    size_t length = 0;
    char *text = data_file_read(name_or_path, NULL, &drawn_kind, path, &length, err);
    if (!text)
        return (int)err->status;
    int status = sim_drawn_read(text, length, path, name_or_path, o, out, err);
    free(text);
    return status;
}

bool sim_drawn_is_line(const char *line, size_t length)
{
    static const char key[] = "format";
    return length >= sizeof key - 1 && memcmp(line, key, sizeof key - 1) == 0;
}
