/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts events while an environment is watched: each counter is read twice, and the differences are stored. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "computer/environment/environment_parts.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/order.h"
#include "util/plain_text.h"

/* ---- proc/stat (proc_stat(5)): clock ticks of each CPU ---- */

/* Since boot: of each CPU, in clock ticks; how many threads began, NaN: not known. */
struct times {
    struct {
        double total, idle, steal;
    } cpu[CPU_LIMIT];
    double begun;
};

enum { STAT_COLUMNS = 8 }; /* user nice system idle iowait irq softirq steal; guest time is in user and nice */

static void take_stat_line(const char *line, struct times *out)
{
    uint64_t column[STAT_COLUMNS] = {0};
    char *end;
    unsigned long cpu = strtoul(line, &end, 10);
    if (end == line || cpu >= CPU_LIMIT)
        return;
    for (size_t i = 0; i < STAT_COLUMNS; i++) {
        column[i] = strtoull(end, &end, 10);
        out->cpu[cpu].total += (double)column[i];
    }
    out->cpu[cpu].idle = (double)column[3] + (double)column[4];
    out->cpu[cpu].steal = (double)column[7];
}

static struct times *look_at_stat(const struct tree *t)
{
    struct times *times = calloc(1, sizeof *times);
    char *text = tree_whole(t, "proc/stat"), *rest = NULL;
    if (times == NULL || text == NULL) {
        free(text);
        free(times);
        return NULL;
    }
    times->begun = NAN;
    for (const char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, "cpu", 3) == 0)
            take_stat_line(line + 3, times);
        else if (strncmp(line, "processes ", 10) == 0)
            times->begun = (double)strtoull(line + 10, NULL, 10);
    free(text);
    return times;
}

/* A part of the time between, which is rounded to ticks and can go backwards where a CPU idles (proc_stat(5)). */
static double part_between(double before, double after, double total)
{
    return total > 0 ? fmin(1, fmax(0, (after - before) / total)) : NAN;
}

static double busy_between(const struct times *before, const struct times *after, int cpu)
{
    double total = after->cpu[cpu].total - before->cpu[cpu].total;
    double idle = part_between(before->cpu[cpu].idle, after->cpu[cpu].idle, total);
    double steal = part_between(before->cpu[cpu].steal, after->cpu[cpu].steal, total);
    return fmax(0, 1 - idle - steal);
}

static void fill_stat(const struct times *before, const struct times *after, struct environment *e)
{
    enum { HERE, SIBLING, OTHER, KINDS };
    double sum[KINDS] = {0}, n[KINDS] = {0}; /* of the CPUs of which it is known */
    if (before == NULL || after == NULL)
        return;
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        if (!(before->cpu[cpu].total > 0) || !(after->cpu[cpu].total > before->cpu[cpu].total))
            continue;
        int kind = cpu == e->cpu ? HERE : cpu_mask_has(&e->siblings, cpu) ? SIBLING : OTHER;
        sum[kind] += busy_between(before, after, cpu);
        n[kind]++;
    }
    e->busy_here = sum[HERE] / n[HERE]; /* NaN of none */
    e->busy_sibling = sum[SIBLING] / n[SIBLING];
    e->busy_others = sum[OTHER] / n[OTHER];
    e->steal = part_between(before->cpu[e->cpu].steal, after->cpu[e->cpu].steal,
                            after->cpu[e->cpu].total - before->cpu[e->cpu].total);
    e->begun = after->begun - before->begun;
    if (e->begun < 0)
        e->begun = NAN; /* it never falls */
}

/* ---- throttling (kernel: thermal_throttle counts of the core and of the package) ---- */

static double throttled_since_boot(const struct tree *t, int cpu)
{
    static const char folder[] = "sys/devices/system/cpu/cpu%d/thermal_throttle/%s_throttle_count";
    long core = tree_number(t, tree_path(folder, cpu, "core").text, -1);
    long package = tree_number(t, tree_path(folder, cpu, "package").text, -1);
    if (core < 0 && package < 0)
        return NAN;
    return (double)(core > 0 ? core : 0) + (double)(package > 0 ? package : 0);
}

/* ---- /proc/interrupts (proc_interrupts(5)): a column a CPU that is online ---- */

struct irq_columns {
    size_t n, wanted;
};

/* Reads "    CPU0   CPU2 ..."; false where the CPU has no column. */
static bool find_column(char *header, int cpu, struct irq_columns *out)
{
    char *rest = NULL, name[16];
    bool found = false;
    snprintf(name, sizeof name, "CPU%d", cpu);
    out->n = 0;
    for (const char *word = strtok_r(header, " \t", &rest); word != NULL; word = strtok_r(NULL, " \t", &rest)) {
        if (strcmp(word, name) == 0) {
            out->wanted = out->n;
            found = true;
        }
        out->n++;
    }
    return found;
}

/* A count, after which there is a space or nothing; false where something else stands: "5-edge". */
static bool take_count(char **at, uint64_t *out)
{
    char *end, *begin = *at + strspn(*at, " \t");
    if (!isdigit((unsigned char)*begin))
        return false;
    *out = strtoull(begin, &end, 10);
    if (*end != '\0' && *end != ' ' && *end != '\t')
        return false;
    *at = end;
    return true;
}

/* The device follows the counts; it is taken with single spaces. */
static void take_device(const char *text, char *out, size_t size)
{
    char plain[256];
    size_t used = 0;
    plain_text(text + strspn(text, " \t"), plain, sizeof plain);
    for (const char *in = plain; *in != '\0'; in++)
        if (*in != ' ' || (in[1] != ' ' && in[1] != '\0'))
            plain[used++] = *in;
    plain[used] = '\0';
    plain_text(plain, out, size);
}

static bool take_irq_line(char *line, const struct irq_columns *columns, struct environment_irq *out)
{
    char *colon = strchr(line, ':');
    if (colon == NULL)
        return false;
    *colon = '\0';
    line += strspn(line, " \t");
    /* two counts are of no CPU */
    if (strcmp(line, "ERR") == 0 || strcmp(line, "MIS") == 0)
        return false;
    memset(out, 0, sizeof *out);
    plain_text(line, out->name, sizeof out->name);
    char *at = colon + 1;
    for (size_t i = 0; i < columns->n; i++) {
        uint64_t count;
        if (!take_count(&at, &count))
            return false;
        if (i == columns->wanted)
            out->since_boot = count;
    }
    take_device(at, out->device, sizeof out->device);
    return true;
}

static void look_at_irqs(const struct tree *t, int cpu, struct environment_irq_look *out)
{
    struct irq_columns columns = {0};
    struct environment_irq irq;
    char *text = tree_whole(t, "proc/interrupts"), *rest = NULL;
    int error = errno;
    *out = (struct environment_irq_look){.at = clock_seconds(CLOCK_MONOTONIC)};
    char *header = text != NULL ? strtok_r(text, "\n", &rest) : NULL;
    if (header == NULL || !find_column(header, cpu, &columns)) {
        out->error = text == NULL ? error : ENXIO;
        free(text);
        return;
    }
    for (char *line = strtok_r(NULL, "\n", &rest); line != NULL && out->n < ENVIRONMENT_LIST_MAX;
         line = strtok_r(NULL, "\n", &rest))
        if (take_irq_line(line, &columns, &irq) && list_room(&out->irq, out->n, sizeof *out->irq))
            out->irq[out->n++] = irq;
    free(text);
}

/* ---- what was counted between, and where they may go ---- */

/* The line of this name; both looks have the same order, except for what came and went. */
static const struct environment_irq *line_before(const struct environment_irq_look *before, size_t expected,
                                                 const char *name)
{
    if (expected < before->n && strcmp(before->irq[expected].name, name) == 0)
        return &before->irq[expected];
    for (size_t i = 0; i < before->n; i++)
        if (strcmp(before->irq[i].name, name) == 0)
            return &before->irq[i];
    return NULL;
}

static void read_allowed(const struct tree *t, int cpu, struct environment_irq *irq)
{
    char text[4096];
    if (irq->name[0] == '\0' || irq->name[strspn(irq->name, "0123456789")] != '\0')
        return;
    irq->numbered = tree_exists(t, tree_path("proc/irq/%s", irq->name).text);
    const struct tree_path path = tree_path("proc/irq/%s/smp_affinity_list", irq->name);
    irq->allowed_known = irq->numbered && tree_line(t, path.text, text, sizeof text) == 0 &&
                         cpu_mask_parse(text, &irq->allowed) == 0;
    irq->here = irq->allowed_known && cpu_mask_has(&irq->allowed, cpu);
    irq->movable = irq->allowed_known && (tree_mode(t, path.text) & 0222) != 0;
}

/* The local APIC's timer; the hypervisor's, which guests of Hyper-V have instead (arch/x86/kernel/irq.c). */
static bool is_timer(const struct environment_irq *irq)
{
    return strcmp(irq->name, "LOC") == 0 || strcmp(irq->name, "HVS") == 0;
}

void environment_irqs_fill(const struct tree *t, const struct environment_irq_look *before,
                           struct environment_irq_look *after, struct environment *e)
{
    size_t kept = 0;
    double seconds = before->error == 0 ? after->at - before->at : 0, timer = NAN;
    e->irqs_error = after->error;
    for (size_t i = 0; i < after->n; i++) {
        struct environment_irq *irq = &after->irq[i];
        const struct environment_irq *was = line_before(before, i, irq->name);
        uint64_t first = was != NULL ? was->since_boot : 0;
        if (before->n > 0 && irq->since_boot > first)
            irq->counted = irq->since_boot - first;
        if (is_timer(irq) && was != NULL && seconds > 0)
            timer = (isnan(timer) ? 0 : timer) + (double)irq->counted / seconds;
        read_allowed(t, e->cpu, irq);
        if (irq->since_boot > 0 || irq->here)
            after->irq[kept++] = *irq;
    }
    e->timer_hz = timer;
    e->irqs = after->irq;
    e->n_irqs = kept;
    after->irq = NULL;
}

/* ---- threads ---- */

/* How long each thread ran. */
struct ran_for {
    int tid;
    uint64_t ns;
};

struct task_look {
    struct ran_for *ran; /* by thread */
    size_t n;
    int error;
    bool kernel_seen; /* kthreadd is shown */
    bool irqbalance;
};

enum { KTHREADD = 2, NS_PER_S = 1000000000 };

static const unsigned long KERNEL_THREAD = 0x00200000; /* PF_KTHREAD, include/linux/sched.h */

/* ---- a thread's files ---- */

/* Taken from proc/PID/task/TID/stat (proc_pid_stat(5)). */
struct task_stat {
    char name[40];
    unsigned long flags;
    uint64_t ns; /* user and system time, in whole ticks */
    int cpu;     /* on which it ran last */
};

/* The field of this number; numbers begin at 3, after the name. */
static const char *stat_field(const char *after_name, int number)
{
    for (int i = 3; i < number && *after_name != '\0'; i++) {
        after_name += strcspn(after_name, " ");
        after_name += *after_name == ' ';
    }
    return after_name;
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

static bool read_task_stat(const struct tree *tasks, const char *tid, struct task_stat *out)
{
    char text[1024];
    return tree_text(tasks, tree_path("%s/stat", tid).text, text, sizeof text) > 0 && take_stat(text, out);
}

/* How long it ran, in ns (kernel: scheduler/sched-stats, /proc/<pid>/schedstat); without that in ticks. */
static bool read_ran(const struct tree *tasks, const char *tid, uint64_t *ns)
{
    char text[128];
    struct task_stat stat;
    if (tree_text(tasks, tree_path("%s/schedstat", tid).text, text, sizeof text) > 0) {
        *ns = strtoull(text, NULL, 10);
        return true;
    }
    if (errno != ENOENT || !read_task_stat(tasks, tid, &stat))
        return false;
    *ns = stat.ns;
    return true;
}

/* Returns whether it may run on one CPU alone. */
static bool read_bound(const struct tree *tasks, const char *tid)
{
    static const char name[] = "\nCpus_allowed_list:";
    char text[8192];
    struct cpu_mask mask;
    if (tree_text(tasks, tree_path("%s/status", tid).text, text, sizeof text) <= 0)
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

/* A walk over all threads; `tasks` is the folder proc/PID/task. */
struct task_walk {
    struct tree proc;
    struct tree tasks;
    int pid;
    void (*each)(struct task_walk *walk, const char *tid);
    struct task_look *look;         /* of the first look: filled in */
    const struct task_look *before; /* of the second */
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
    walk->pid = task_number(pid);
    if (walk->pid <= 0)
        return;
    if (tree_below(&walk->proc, tree_path("%s/task", pid).text, &walk->tasks) != 0)
        return; /* it has ended */
    tree_each(&walk->tasks, ".", walk_task, walk);
    tree_close(&walk->tasks);
}

/* Returns an error number of the folder. */
static int walk_all(const struct tree *t, struct task_walk *walk)
{
    if (tree_below(t, "proc", &walk->proc) != 0)
        return errno;
    int error = tree_each(&walk->proc, ".", walk_process, walk);
    tree_close(&walk->proc);
    return error;
}

/* ---- the first look ---- */

/* Notes who a process is, from its first thread. */
static void note_process(struct task_walk *walk, const char *tid)
{
    char name[32];
    struct task_stat stat;
    if (tree_line(&walk->tasks, tree_path("%s/comm", tid).text, name, sizeof name) == 0 &&
        strcmp(name, "irqbalance") == 0)
        walk->look->irqbalance = true;
    if (walk->pid == KTHREADD && read_task_stat(&walk->tasks, tid, &stat))
        walk->look->kernel_seen = (stat.flags & KERNEL_THREAD) != 0;
}

static void note_ran(struct task_walk *walk, const char *tid)
{
    struct task_look *look = walk->look;
    struct ran_for ran = {.tid = task_number(tid)};
    if (ran.tid == walk->pid)
        note_process(walk, tid);
    if (read_ran(&walk->tasks, tid, &ran.ns) && list_room(&look->ran, look->n, sizeof *look->ran))
        look->ran[look->n++] = ran;
}

static void look_at_tasks(const struct tree *t, struct task_look *out)
{
    struct task_walk walk = {.each = note_ran, .look = out};
    *out = (struct task_look){0};
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
    struct ran_for now = {.tid = task_number(tid)};
    const struct task_look *before = walk->before;
    if (!read_ran(&walk->tasks, tid, &now.ns))
        return;
    const struct ran_for *was = before->n > 0 ? bsearch(&now, before->ran, before->n, sizeof now, order_unsigned)
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

static void fill_tasks(const struct tree *t, const struct task_look *before, struct environment *e)
{
    struct task_walk walk = {.each = note_difference, .before = before, .e = e};
    char self[32];
    e->tasks_error = before->error;
    if (before->error != 0)
        return;
    if (tree_link(t, "proc/self", self, sizeof self))
        walk.self = task_number(self);
    e->tasks_error = walk_all(t, &walk);
    if (e->n_tasks > 0)
        qsort(e->tasks, e->n_tasks, sizeof *e->tasks, most_first);
}

/* ---- all that is counted ---- */

/* The first look at each. */
struct looks {
    struct task_look tasks;
    struct times *times;
    struct environment_irq_look irqs;
    double thermal;
};

/* Interrupts are the last to be looked at, and the first again: looking takes time, and wakes others. */
static void look_first(const struct tree *t, struct environment *e, struct looks *out)
{
    look_at_tasks(t, &out->tasks);
    e->irqbalance = out->tasks.irqbalance;
    e->tasks_error = out->tasks.error;
    e->tasks_hidden = !out->tasks.kernel_seen;
    out->thermal = e->thermal_boot = throttled_since_boot(t, e->cpu);
    out->times = look_at_stat(t);
    look_at_irqs(t, e->cpu, &out->irqs);
}

static void look_again(const struct tree *t, const struct looks *before, struct environment *e)
{
    struct environment_irq_look irqs;
    look_at_irqs(t, e->cpu, &irqs);
    struct times *times = look_at_stat(t);
    e->seconds = irqs.at - before->irqs.at;
    e->thermal_boot = throttled_since_boot(t, e->cpu);
    e->thermal_now = e->thermal_boot - before->thermal;
    if (e->thermal_now < 0)
        e->thermal_now = NAN; /* counts never fall */
    fill_stat(before->times, times, e);
    environment_irqs_fill(t, &before->irqs, &irqs, e);
    fill_tasks(t, &before->tasks, e);
    free(times);
    free(irqs.irq);
}

/* Sleeps, in parts short enough for whoever wants to stop it. */
static void sleep_until(double end, int (*stop)(void *data), void *data)
{
    static const double part = 0.05; /* s: so late a stop may be noticed; assumed */
    for (;;) {
        double left = end - clock_seconds(CLOCK_MONOTONIC);
        if ((stop != NULL && stop(data)) || !(left > 0))
            return;
        struct timespec time = {.tv_nsec = (long)(fmin(left, part) * 1e9)};
        nanosleep(&time, NULL);
    }
}

void environment_count(const struct tree *t, double seconds, int (*stop)(void *data), void *data, struct environment *e)
{
    struct looks before = {0};
    look_first(t, e, &before);
    if (seconds > 0) {
        sleep_until(clock_seconds(CLOCK_MONOTONIC) + seconds, stop, data);
        look_again(t, &before, e);
    } else { /* since boot */
        const struct environment_irq_look none = {0};
        environment_irqs_fill(t, &none, &before.irqs, e);
    }
    free(before.tasks.ran);
    free(before.times);
    free(before.irqs.irq);
}
