/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "computer/environment/environment_parts.h"
#include "util/list.h"
#include "util/order.h"
#include "util/plain_text.h"

enum { KTHREADD = 2, NS_PER_S = 1000000000 };
static const unsigned long KERNEL_THREAD = 0x00200000; /* PF_KTHREAD, include/linux/sched.h */

/* ---- a thread's files ---- */

/* What is taken from proc/PID/task/TID/stat (proc_pid_stat(5)). */
struct task_stat {
    char name[40];
    unsigned long flags;
    uint64_t ns; /* user and system time, in whole ticks */
    int cpu;     /* on which it ran last */
};

/* The field of this number; numbers begin at 3, behind the name. */
static const char *stat_field(const char *behind_name, int number)
{
    for (int i = 3; i < number && *behind_name != '\0'; i++) {
        behind_name += strcspn(behind_name, " ");
        behind_name += *behind_name == ' ';
    }
    return behind_name;
}

static bool take_stat(char *text, struct task_stat *out)
{
    enum { FLAGS = 9, UTIME = 14, STIME = 15, PROCESSOR = 39 };
    char *begin = strchr(text, '('), *end = strrchr(text, ')'); /* a name may hold both */
    if (begin == NULL || end == NULL || end < begin || end[1] != ' ')
        return false;
    *end = '\0';
    plain_text(begin + 1, out->name, sizeof out->name);
    out->flags = strtoul(stat_field(end + 2, FLAGS), NULL, 10);
    uint64_t ticks = strtoull(stat_field(end + 2, UTIME), NULL, 10) + strtoull(stat_field(end + 2, STIME), NULL, 10);
    out->ns = ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
    const char *cpu = stat_field(end + 2, PROCESSOR);
    out->cpu = isdigit((unsigned char)*cpu) ? (int)strtoul(cpu, NULL, 10) : -1;
    return true;
}

static bool read_task_stat(const struct environment_tree *tasks, const char *tid, struct task_stat *out)
{
    char text[1024];
    return environment_tree_text(tasks, text, sizeof text, "%s/stat", tid) > 0 && take_stat(text, out);
}

/* How long it ran, in ns (kernel: scheduler/sched-stats, /proc/<pid>/schedstat); without that in ticks. */
static bool read_ran(const struct environment_tree *tasks, const char *tid, uint64_t *ns)
{
    char text[128];
    struct task_stat stat;
    if (environment_tree_text(tasks, text, sizeof text, "%s/schedstat", tid) > 0) {
        *ns = strtoull(text, NULL, 10);
        return true;
    }
    if (errno != ENOENT || !read_task_stat(tasks, tid, &stat))
        return false;
    *ns = stat.ns;
    return true;
}

/* Whether it may run on one CPU alone. */
static bool read_bound(const struct environment_tree *tasks, const char *tid)
{
    static const char name[] = "\nCpus_allowed_list:";
    char text[8192];
    struct cpu_mask mask;
    if (environment_tree_text(tasks, text, sizeof text, "%s/status", tid) <= 0)
        return false;
    char *at = strstr(text, name);
    if (at == NULL)
        return false;
    at += sizeof name - 1;
    at += strspn(at, " \t");
    at[strcspn(at, "\n")] = '\0';
    return cpu_mask_parse(at, &mask) == 0 && cpu_mask_count(&mask) == 1;
}

/* ---- all threads ---- */

/* What is done with each: tasks is the folder proc/PID/task. */
struct task_walk {
    struct environment_tree proc;
    struct environment_tree tasks;
    int pid;
    void (*each)(struct task_walk *walk, const char *tid);
    struct environment_task_look *look;         /* of the first look: filled in */
    const struct environment_task_look *before; /* of the second */
    struct environment *e;
    int self;
};

/* A name of a folder as a number; 0: it is none. */
static int task_number(const char *name)
{
    size_t length = strlen(name);
    return length < 10 && strspn(name, "0123456789") == length ? (int)strtol(name, NULL, 10) : 0;
}

static void walk_task(const char *tid, void *data)
{
    struct task_walk *walk = data;
    if (task_number(tid) > 0)
        walk->each(walk, tid);
}

static void walk_process(const char *pid, void *data)
{
    struct task_walk *walk = data;
    char path[32];
    walk->pid = task_number(pid);
    if (walk->pid <= 0)
        return;
    snprintf(path, sizeof path, "%s/task", pid);
    if (environment_tree_below(&walk->proc, path, &walk->tasks) != 0)
        return; /* it has ended */
    environment_tree_each(&walk->tasks, ".", walk_task, walk);
    environment_tree_close(&walk->tasks);
}

/* Returns an error number of the folder. */
static int walk_all(const struct environment_tree *t, struct task_walk *walk)
{
    if (environment_tree_below(t, "proc", &walk->proc) != 0)
        return errno;
    int error = environment_tree_each(&walk->proc, ".", walk_process, walk);
    environment_tree_close(&walk->proc);
    return error;
}

/* ---- the first look ---- */

/* Of a process's first thread: who it is. */
static void note_process(struct task_walk *walk, const char *tid)
{
    char name[32], path[32];
    struct task_stat stat;
    snprintf(path, sizeof path, "%s/comm", tid);
    if (environment_tree_line(&walk->tasks, path, name, sizeof name) == 0 && strcmp(name, "irqbalance") == 0)
        walk->look->irqbalance = true;
    if (walk->pid == KTHREADD && read_task_stat(&walk->tasks, tid, &stat))
        walk->look->kernel_seen = (stat.flags & KERNEL_THREAD) != 0;
}

static void note_ran(struct task_walk *walk, const char *tid)
{
    struct environment_task_look *look = walk->look;
    struct environment_ran ran = {.tid = task_number(tid)};
    if (ran.tid == walk->pid)
        note_process(walk, tid);
    if (read_ran(&walk->tasks, tid, &ran.ns) && list_room(&look->ran, look->n, sizeof *look->ran))
        look->ran[look->n++] = ran;
}

void environment_tasks_look(const struct environment_tree *t, struct environment_task_look *out)
{
    struct task_walk walk = {.each = note_ran, .look = out};
    *out = (struct environment_task_look){0};
    out->error = walk_all(t, &walk);
    if (out->n > 0)
        qsort(out->ran, out->n, sizeof *out->ran, order_unsigned);
}

/* ---- the second ---- */

static void add_task(struct task_walk *walk, const char *tid, uint64_t ns)
{
    struct environment *e = walk->e;
    struct task_stat stat;
    if (!read_task_stat(&walk->tasks, tid, &stat) || e->n_tasks >= ENVIRONMENT_LIST_MAX)
        return;
    struct environment_task task = {.pid = task_number(tid),
                                    .kernel = (stat.flags & KERNEL_THREAD) != 0,
                                    .self = walk->pid == walk->self,
                                    .cpu_ms = (double)ns / 1e6,
                                    .on_cpu = stat.cpu == e->cpu};
    task.on_sibling = !task.on_cpu && cpu_mask_has(&e->siblings, stat.cpu);
    if ((!task.on_cpu && !task.on_sibling) || !list_room(&e->tasks, e->n_tasks, sizeof *e->tasks))
        return;
    snprintf(task.name, sizeof task.name, "%s", stat.name);
    task.bound = read_bound(&walk->tasks, tid);
    e->tasks[e->n_tasks++] = task;
}

static void note_difference(struct task_walk *walk, const char *tid)
{
    struct environment_ran now = {.tid = task_number(tid)};
    const struct environment_task_look *before = walk->before;
    if (!read_ran(&walk->tasks, tid, &now.ns))
        return;
    const struct environment_ran *was = before->n > 0
                                            ? bsearch(&now, before->ran, before->n, sizeof now, order_unsigned)
                                            : NULL;
    /* one that was not there, or has another's number, has begun meanwhile */
    uint64_t ns = was != NULL && was->ns <= now.ns ? now.ns - was->ns : now.ns;
    if (ns > 0)
        add_task(walk, tid, ns);
}

static int most_first(const void *a, const void *b)
{
    const struct environment_task *x = a, *y = b;
    if (x->cpu_ms != y->cpu_ms)
        return x->cpu_ms < y->cpu_ms ? 1 : -1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

void environment_tasks_fill(const struct environment_tree *t, const struct environment_task_look *before,
                            struct environment *e)
{
    struct task_walk walk = {.each = note_difference, .before = before, .e = e};
    char self[32];
    e->tasks_error = before->error;
    if (before->error != 0)
        return;
    if (environment_tree_link(t, "proc/self", self, sizeof self))
        walk.self = task_number(self);
    e->tasks_error = walk_all(t, &walk);
    if (e->n_tasks > 0)
        qsort(e->tasks, e->n_tasks, sizeof *e->tasks, most_first);
}
