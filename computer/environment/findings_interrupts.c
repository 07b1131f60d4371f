/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interrupts and threads that take the CPU: those that came, and those that may. */
#include <math.h>
#include <string.h>

#include "computer/environment/findings_parts.h"
#include "util/text_list.h"

enum { TICKS_LEFT = 2 }; /* a second, of a CPU without ticks: V 5.1.7, one in earlier kernels */

static bool is_tickless(const struct environment *e)
{
    return e->fact[ENV_NOHZ_FULL].error == 0 && cpu_mask_has(&e->nohz_full, e->cpu);
}

/* nohz_full needs another CPU that keeps the time (Linux, Documentation/timers/no_hz.rst). */
static void boot_tickless(const struct environment *e, struct finding *f)
{
    struct cpu_mask others;
    if (!findings_others(e, &e->online, &others))
        return;
    if (e->fact[ENV_NOHZ_FULL].error == 0)
        findings_boot_cpus(e, f, "nohz_full=", &e->nohz_full);
}

/*
 * Seconds that an interrupt takes from the code that it hits, with what it evicts. On bare metal 5 us, assumed (the
 * osnoise tracer tells it: Linux, Documentation/trace/osnoise-tracer.rst). In a guest, where the host takes part in it,
 * 40 us: of a loop of time stamps on a CPU with 201 to 253 interrupts in 0.8 s, as many of its longest gaps had medians
 * of 29 to 46 us (Firecracker on Emerald Rapids, Linux 6.18).
 */
static double findings_interrupt_seconds(const struct environment *e)
{
    return e->hypervisor ? 40e-6 : 5e-6;
}

/* V 3.8, 5.1.7. */
static void look_at_nohz_full(const struct environment *e, struct finding *f)
{
    if (!findings_has(e, f, ENV_NOHZ_FULL)) {
        if (f->kind != FINDING_QUIET)
            return;
        findings_see(f, "no /sys/devices/system/cpu/nohz_full");
        findings_limits(f,
                        "this kernel cannot stop the tick on a busy CPU; one with CONFIG_NO_HZ_FULL=y can, with "
                        "nohz_full=%d on its command line",
                        e->cpu);
        return;
    }
    findings_see_fact(e, f, ENV_NOHZ_FULL);
    if (!is_tickless(e)) {
        findings_limits(f, "CPU %d has ticks while it is busy, although this kernel could stop them", e->cpu);
        boot_tickless(e, f);
    } else if (e->timer_hz > TICKS_LEFT) {
        findings_see(f, "yet %.1f timer interrupts a second", e->timer_hz);
        findings_disturbs(f, "the tick stops only while a single task is runnable: something else runs on the CPU "
                             "(processes, kernel-threads) or uses timers there");
        findings_counted(f, e->timer_hz * findings_interrupt_seconds(e));
    }
}

/* An idle CPU has few ticks, a measured one is busy: CONFIG_HZ of them. */
static void look_at_tick(const struct environment *e, struct finding *f)
{
    bool counted = isfinite(e->timer_hz);
    double rate = counted ? fmax(e->timer_hz, (double)e->config_hz) : (double)e->config_hz;
    if (e->config_hz > 0)
        findings_see(f, "CONFIG_HZ is %ld", e->config_hz);
    if (counted)
        findings_see(f, "/proc/interrupts, LOC: %.1f timer interrupts a second on CPU %d", e->timer_hz, e->cpu);
    if (is_tickless(e))
        return;
    if (!(rate > 0)) {
        findings_not_counted(e, f, "the tick");
        return;
    }
    findings_disturbs(f,
                      "the timer interrupts a busy CPU %.0f times a second, about %.0f us each time: repetitions that "
                      "it hits are lost, and longer ones are impossible",
                      rate, 1e6 * findings_interrupt_seconds(e));
    if (counted && e->timer_hz >= (double)e->config_hz)
        findings_counted(f, rate * findings_interrupt_seconds(e));
    else
        findings_estimated(f, rate * findings_interrupt_seconds(e));
    boot_tickless(e, f);
}

/* ---- the other interrupts ---- */

/* The commands that move IRQs away from the CPU, and back: those of a like mask together. */
struct moves {
    char change[4096], undo[4096];
    bool overflow;
};

static void add_move(char *out, size_t size, const struct environment *e, const char *numbers, const char *cpus)
{
    text_list_add(out, size, "; ", "for i in %s; do echo %s | %stee /proc/irq/$i/smp_affinity_list; done", numbers,
                  cpus, findings_sudo(e));
}

static bool is_movable(const struct environment_irq *irq, bool counted)
{
    return irq->numbered && irq->movable && irq->here && findings_harmless(irq->name) && (irq->counted > 0 || !counted);
}

static bool same_mask(const struct cpu_mask *a, const struct cpu_mask *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Adds the commands for all IRQs that may go where irqs[first] may, if it is the first of them. */
static void move_alike(const struct environment *e, size_t first, bool counted, struct moves *m)
{
    char numbers[1000] = "", to[300], from[300];
    struct cpu_mask others;
    const struct cpu_mask *mask = &e->irqs[first].allowed;
    for (size_t i = 0; i < first; i++)
        if (is_movable(&e->irqs[i], counted) && same_mask(&e->irqs[i].allowed, mask))
            return;
    for (size_t i = first; i < e->n_irqs; i++)
        if (is_movable(&e->irqs[i], counted) && same_mask(&e->irqs[i].allowed, mask))
            text_list_add(numbers, sizeof numbers, " ", "%s", e->irqs[i].name);
    if (!findings_others(e, mask, &others) && !findings_others(e, &e->online, &others))
        return;
    cpu_mask_format(&others, to, sizeof to);
    cpu_mask_format(mask, from, sizeof from);
    m->overflow |= strlen(numbers) + 20 > sizeof numbers || !findings_harmless(to) || !findings_harmless(from);
    m->overflow |= strstr(to, "...") != NULL || strstr(from, "...") != NULL;
    add_move(m->change, sizeof m->change, e, numbers, to);
    add_move(m->undo, sizeof m->undo, e, numbers, from);
    m->overflow |= strlen(m->change) + 1 >= sizeof m->change || strlen(m->undo) + 1 >= sizeof m->undo;
}

/* All that may be moved, or only those of them that came; what is too much to be typed is left to --quiet-machine. */
static void move_away(const struct environment *e, bool counted, struct finding *f)
{
    struct moves m = {.overflow = false};
    for (size_t i = 0; i < e->n_irqs; i++)
        if (is_movable(&e->irqs[i], counted))
            move_alike(e, i, counted, &m);
    if (!m.overflow)
        findings_commands(f, m.change, m.undo);
}

static const struct environment_irq *most_of(const struct environment *e, uint64_t below, size_t *from)
{
    const struct environment_irq *best = NULL;
    for (size_t i = 0; i < e->n_irqs; i++) {
        const struct environment_irq *irq = &e->irqs[i];
        bool next = irq->counted < below || (irq->counted == below && i > *from);
        if (strcmp(irq->name, "LOC") != 0 && irq->counted > 0 && next && (!best || irq->counted > best->counted))
            best = irq;
    }
    if (best)
        *from = (size_t)(best - e->irqs);
    return best;
}

/*
 * ". The kernel alone places IRQ 36", after why; and whether none of them can be sent away. What has no number cannot,
 * either.
 */
static void tell_placed(const struct environment *e, bool counted, struct finding *f)
{
    char list[100] = "";
    size_t placed = 0, moved = 0, length = strlen(f->why);
    for (size_t i = 0; i < e->n_irqs; i++) {
        const struct environment_irq *irq = &e->irqs[i];
        bool concerned = irq->numbered && irq->allowed_known && irq->here && (irq->counted > 0 || !counted);
        moved += concerned && irq->movable;
        if (concerned && !irq->movable && placed++ < 8)
            text_list_add(list, sizeof list, " ", "%s", irq->name);
    }
    if (placed > 0)
        snprintf(f->why + length, sizeof f->why - length, ". Only the kernel places IRQ %s%s: %s", list,
                 placed > 8 ? " ..." : "", moved > 0 ? "it stays" : "none can be moved");
    f->fixed = moved == 0;
}

/* "virtio1-req.0 (IRQ 36) 115/s", "RES (Rescheduling interrupts) 11/s" */
static void add_irq(const struct environment *e, const struct environment_irq *irq, char *list, size_t size)
{
    double rate = (double)irq->counted / e->seconds;
    const char *last = strrchr(irq->device, ' '); /* after the chip and the pin */
    if (irq->numbered)
        text_list_add(list, size, ", ", "%s (IRQ %s) %.3g/s", last ? last + 1 : irq->device, irq->name, rate);
    else
        text_list_add(list, size, ", ", "%s (%s) %.3g/s", irq->name, irq->device, rate);
}

/* V 3.4, figure 3-4: /proc/interrupts before and after. */
static void look_at_irqs(const struct environment *e, struct finding *f)
{
    enum { REPORTED = 6 };
    uint64_t sum = 0;
    size_t kinds = 0, at = 0;
    char list[300] = "";
    if (!findings_readable(e, f, e->irqs_error, "/proc/interrupts"))
        return;
    if (!(e->seconds > 0)) {
        findings_not_counted(e, f, "/proc/interrupts: which interrupts hit the CPU");
        return;
    }
    for (size_t i = 0; i < e->n_irqs; i++) {
        if (strcmp(e->irqs[i].name, "LOC") != 0) {
            sum += e->irqs[i].counted;
            kinds += e->irqs[i].counted > 0;
        }
    }
    if (sum == 0) {
        findings_see(f, "/proc/interrupts: nothing but the timer in %.3g s", e->seconds);
        return;
    }
    const struct environment_irq *irq = most_of(e, UINT64_MAX, &at);
    for (size_t reported = 0; irq && reported < REPORTED; reported++, irq = most_of(e, irq->counted, &at))
        add_irq(e, irq, list, sizeof list);
    findings_see(f, "/proc/interrupts, CPU %d: %s%s", e->cpu, list, kinds > REPORTED ? ", ..." : "");
    findings_disturbs(f,
                      "each takes about %.0f us from the measured code, and evicts its caches; numbered ones can be "
                      "moved to other CPUs, the rest are caused by the activity of other CPUs",
                      1e6 * findings_interrupt_seconds(e));
    findings_counted(f, (double)sum / e->seconds * findings_interrupt_seconds(e));
    tell_placed(e, true, f);
    move_away(e, true, f);
}

/* The commands for IRQs that are not there yet, after those for the others; without these they would be half of it. */
static void keep_new_away(const struct environment *e, struct finding *f, bool append)
{
    struct cpu_mask others;
    char mask[300], change[sizeof f->change * 2], undo[sizeof f->undo * 2];
    const char *before = e->fact[ENV_DEFAULT_AFFINITY].text, *between = append ? "; " : "";
    if (e->fact[ENV_DEFAULT_AFFINITY].error != 0 || !cpu_mask_has(&e->default_affinity, e->cpu) ||
        !findings_others(e, &e->default_affinity, &others) || !findings_harmless(before) || (append && !f->change[0]))
        return;
    const struct environment_path path = environment_path(ENV_DEFAULT_AFFINITY, e->cpu);
    cpu_mask_format_hex(&others, mask, sizeof mask);
    snprintf(change, sizeof change, "%s%secho %s | %stee %s", f->change, between, mask, findings_sudo(e), path.text);
    snprintf(undo, sizeof undo, "%s%secho %s | %stee %s", f->undo, between, before, findings_sudo(e), path.text);
    findings_commands(f, change, undo);
}

/* V 3.6.4, 5.1.4. */
static void look_at_irq_affinity(const struct environment *e, struct finding *f)
{
    char list[200] = "";
    size_t n = 0;
    for (size_t i = 0; i < e->n_irqs; i++) {
        if (e->irqs[i].numbered && e->irqs[i].here) {
            text_list_add(list, sizeof list, " ", "%s", e->irqs[i].name);
            n++;
        }
    }
    if (n == 0 && cpu_mask_has(&e->default_affinity, e->cpu)) {
        findings_see_fact(e, f, ENV_DEFAULT_AFFINITY);
        findings_disturbs(f, "no IRQ may go to CPU %d now, but new ones may", e->cpu);
    } else if (n == 0) {
        if (findings_readable(e, f, e->irqs_error, "/proc/interrupts"))
            findings_see(f, "no IRQ may go to CPU %d", e->cpu);
        return;
    } else {
        findings_see(f, "/proc/irq: %zu IRQs may go to CPU %d: %s", n, e->cpu, list);
        findings_disturbs(f, "a device may interrupt the measured code at any time; --quiet-machine=irq moves those "
                             "that can be moved away for a run");
        tell_placed(e, false, f);
        move_away(e, false, f);
    }
    keep_new_away(e, f, n > 0);
}

/* V 3.6.4. */
static void look_at_irqbalance(const struct environment *e, struct finding *f)
{
    char change[100], undo[100];
    if (!e->irqbalance) {
        findings_see(f, "no process irqbalance");
        return;
    }
    findings_see(f, "the process irqbalance runs");
    findings_disturbs(f, "it moves IRQs from CPU to CPU every ten seconds, overriding where they were sent");
    snprintf(change, sizeof change, "%ssystemctl stop irqbalance", findings_sudo(e));
    snprintf(undo, sizeof undo, "%ssystemctl start irqbalance", findings_sudo(e));
    findings_commands(f, change, undo);
}

/* ---- threads that take the CPU's time ---- */

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
    cpu_mask_format_hex(&others, hex, sizeof hex);
    findings_write_fact(e, &one, which, hex);
    const char *between = f->change[0] ? "; " : "";
    snprintf(change, sizeof change, "%s%s%s", f->change, between, one.change);
    snprintf(undo, sizeof undo, "%s%s%s", f->undo, between, one.undo);
    findings_commands(f, change, undo);
    return true;
}

static void look_at_workqueues(const struct environment *e, struct finding *f)
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

/* Lists the tasks of a kind that ran on the CPU; returns their milliseconds. */
static double add_tasks(const struct environment *e, bool kernel, char *list, size_t size)
{
    enum { REPORTED = 5 };
    double ms = 0;
    size_t n = 0;
    for (size_t i = 0; i < e->n_tasks; i++) {
        const struct environment_task *t = &e->tasks[i];
        if (t->kernel != kernel || t->self || !t->on_cpu || !(t->cpu_ms > 0))
            continue;
        ms += t->cpu_ms;
        if (n++ < REPORTED)
            text_list_add(list, size, ", ", "%s (%d) %.3g ms", t->name, t->pid, t->cpu_ms);
    }
    if (n > REPORTED)
        text_list_add(list, size, ", ", "%zu more", n - REPORTED);
    return ms;
}

/* The CPU's time in ms that no task in the list had, as programs that ended are in none; 0 where that is
 * within what tasks that moved and ticks of 10 ms explain. */
static double unexplained_ms(const struct environment *e)
{
    const double least = 0.05, whole = 1e3 * e->seconds;
    double ms = 0;
    for (size_t i = 0; i < e->n_tasks; i++)
        ms += e->tasks[i].on_cpu && e->tasks[i].cpu_ms > 0 ? e->tasks[i].cpu_ms : 0;
    double unexplained = e->busy_here * whole - ms; /* NaN where that was not counted */
    return unexplained > least * whole ? unexplained : 0;
}

static void tell_tasks(const struct environment *e, struct finding *f, bool kernel, const char *what, const char *why)
{
    char list[400] = "";
    if (!findings_readable(e, f, e->tasks_error, "/proc"))
        return;
    if (!(e->seconds > 0)) {
        findings_not_counted(e, f, what);
        return;
    }
    double unexplained = kernel || e->tasks_hidden ? 0 : unexplained_ms(e);
    if (unexplained > 0)
        text_list_add(list, sizeof list, ", ", "%.3g ms by programs that ended or migrated meanwhile", unexplained);
    if (unexplained > 0 && e->begun >= 0)
        text_list_add(list, sizeof list, " ", "(%.0f threads began)", e->begun);
    double ms = add_tasks(e, kernel, list, sizeof list) + unexplained;
    if (ms > 0) {
        findings_see(f, "on CPU %d, in %.3g s: %s", e->cpu, e->seconds, list);
        findings_disturbs(f, "%s", why);
        findings_counted(f, ms / (1e3 * e->seconds));
    } else if (e->tasks_hidden) {
        f->kind = FINDING_UNKNOWN;
        findings_see(f, "/proc does not show others' tasks");
        snprintf(f->why, sizeof f->why,
                 "%s is unknown: this is a container, or /proc is mounted with hidepid; check from the %s, as root",
                 what, e->hypervisor ? "guest around it" : "host");
    } else {
        findings_see(f, "none ran on CPU %d in %.3g s", e->cpu, e->seconds);
    }
}

static void look_at_kernel_threads(const struct environment *e, struct finding *f)
{
    tell_tasks(e, f, true, "which kernel threads run on the CPU",
               "they take the CPU for that time; those bound to it (kworker/N:, ksoftirqd, migration) go away with "
               "the work that causes them: fewer interrupts and workqueues there, fewer ticks");
}

static void look_at_processes(const struct environment *e, struct finding *f)
{
    tell_tasks(e, f, false, "which processes run on the CPU",
               "they take the CPU for that time and leave their own data in its caches; end them, or let "
               "--quiet-machine=isolate keep them away for a run");
}

/*
 * Linux, Documentation/admin-guide/lockup-watchdogs.rst: with a threshold of 10 s, an NMI every 10 s and a timer every
 * 4 s; the NMI comes of a hardware counter, which it takes.
 */
static void look_at_nmi_watchdog(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_NMI_WATCHDOG) || findings_is(e, ENV_NMI_WATCHDOG, "0"))
        return;
    findings_disturbs(f, "it takes a hardware counter of each CPU away from measurements, and its NMI interrupts even "
                         "masked code every few seconds");
    findings_estimated(f, (1 / 10.0 + 1 / 4.0) * findings_interrupt_seconds(e));
    findings_write_fact(e, f, ENV_NMI_WATCHDOG, "0");
}

const struct finding_rule findings_of_interrupts[] = {
    {"irqs", look_at_irqs},
    {"irq-affinity", look_at_irq_affinity},
    {"irqbalance", look_at_irqbalance},
    {"tick", look_at_tick},
    {"nohz-full", look_at_nohz_full},
    {"workqueues", look_at_workqueues},
    {"kernel-threads", look_at_kernel_threads},
    {"processes", look_at_processes},
    {"nmi-watchdog", look_at_nmi_watchdog},
    {NULL, NULL},
};
