/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that take the CPU's time. */
#include <math.h>
#include <string.h>

#include "computer/findings/findings_parts.h"
#include "util/text_list.h"

/* V 3.6.2, 5.1.5. A mask with the CPU in it, and the commands; false: the CPU is not in it. */
static bool add_workqueue(const struct environment *e, struct finding *f, enum environment_fact which,
                          const struct cpu_mask *mask)
{
    struct finding one = *f;
    struct cpu_mask others;
    char hex[300], change[sizeof f->change * 2 + 4], undo[sizeof f->undo * 2 + 4];
    if (e->fact[which].error != 0 || !cpu_mask_has(mask, e->cpu))
        return false;
    findings_see_fact(e, f, which);
    if (!findings_others(e, mask, &others) && !findings_others(e, &e->online, &others))
        return true;
    findings_hex(&others, hex, sizeof hex);
    findings_write_fact(e, &one, which, hex);
    const char *between = f->change[0] ? "; " : "";
    snprintf(change, sizeof change, "%s%s%s", f->change, between, one.change);
    snprintf(undo, sizeof undo, "%s%s%s", f->undo, between, one.undo);
    findings_commands(f, change, undo);
    return true;
}

void findings_workqueues(const struct environment *e, struct finding *f)
{
    if (!findings_has(e, f, ENV_WORKQUEUE_MASK))
        return;
    bool unbound = add_workqueue(e, f, ENV_WORKQUEUE_MASK, &e->workqueue);
    bool writeback = add_workqueue(e, f, ENV_WRITEBACK_MASK, &e->writeback);
    if (unbound || writeback)
        findings_disturbs(f, "the kernel may run other CPUs' deferred work here, in a kworker; work of bound "
                             "workqueues cannot be moved");
    else
        findings_see_fact(e, f, ENV_WORKQUEUE_MASK);
}

/* Those of a kind that ran on the CPU; their milliseconds. */
static double add_tasks(const struct environment *e, bool kernel, char *list, size_t size)
{
    enum { TOLD = 5 };
    double ms = 0;
    size_t n = 0;
    for (size_t i = 0; i < e->n_tasks; i++) {
        const struct environment_task *t = &e->tasks[i];
        if (t->kernel != kernel || t->self || !t->on_cpu || !(t->cpu_ms > 0))
            continue;
        ms += t->cpu_ms;
        if (n++ < TOLD)
            text_list_add(list, size, ", ", "%s (%d) %.3g ms", t->name, t->pid, t->cpu_ms);
    }
    if (n > TOLD)
        text_list_add(list, size, ", ", "%zu more", n - TOLD);
    return ms;
}

/* What of the time of the CPU no task in the list had, as programs that ended are in none: ms, or 0 where that is
 * within what tasks that moved and ticks of 10 ms explain. */
static double untold_ms(const struct environment *e)
{
    const double least = 0.05, whole = 1e3 * e->seconds;
    double ms = 0;
    for (size_t i = 0; i < e->n_tasks; i++)
        ms += e->tasks[i].on_cpu && e->tasks[i].cpu_ms > 0 ? e->tasks[i].cpu_ms : 0;
    double untold = e->busy_here * whole - ms; /* NaN where that was not counted */
    return untold > least * whole ? untold : 0;
}

static void look_at_tasks(const struct environment *e, struct finding *f, bool kernel, const char *what,
                          const char *why)
{
    char list[400] = "";
    if (!findings_readable(e, f, e->tasks_error, "/proc"))
        return;
    if (!(e->seconds > 0)) {
        findings_not_counted(e, f, what);
        return;
    }
    double untold = kernel || e->tasks_hidden ? 0 : untold_ms(e);
    if (untold > 0)
        text_list_add(list, sizeof list, ", ", "%.3g ms by programs that ended or migrated meanwhile", untold);
    if (untold > 0 && e->begun >= 0)
        text_list_add(list, sizeof list, " ", "(%.0f threads began)", e->begun);
    double ms = add_tasks(e, kernel, list, sizeof list) + untold;
    if (ms > 0) {
        findings_see(f, "on CPU %d, in %.3g s: %s", e->cpu, e->seconds, list);
        findings_disturbs(f, "%s", why);
        findings_counted(f, ms / (1e3 * e->seconds));
    } else if (e->tasks_hidden) {
        f->kind = FINDING_UNKNOWN;
        findings_see(f, "/proc does not show others' tasks");
        snprintf(f->why, sizeof f->why,
                 "%s is unknown: this is a container, or /proc is mounted with hidepid; check from the host, as root",
                 what);
    } else {
        findings_see(f, "none ran on CPU %d in %.3g s", e->cpu, e->seconds);
    }
}

void findings_kernel_threads(const struct environment *e, struct finding *f)
{
    look_at_tasks(e, f, true, "which kernel threads run on the CPU",
                  "they take the CPU for that time; those bound to it (kworker/N:, ksoftirqd, migration) go away with "
                  "the work that causes them: fewer interrupts and workqueues there, fewer ticks");
}

void findings_processes(const struct environment *e, struct finding *f)
{
    look_at_tasks(e, f, false, "which processes run on the CPU",
                  "they take the CPU for that time and leave their own data in its caches; end them, or let "
                  "--quiet-machine=isolate keep them away for a run");
}

/* Linux, Documentation/scheduler/sched-rt-group.rst; drivers/native/pinning.c keeps below the limit. */
void findings_rt_throttling(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_RT_RUNTIME) || e->fact[ENV_RT_RUNTIME].text[0] == '-')
        return;
    findings_limits(f, "a real-time thread is stopped after that many microseconds of each second: longer stretches "
                       "are measured at normal priority, where others interrupt them");
    findings_write_fact(e, f, ENV_RT_RUNTIME, "-1");
}
