/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workloads from the text of perf script (doc/simulation.md). The thread that leaves at a switch is the one that ran
 * until then, whatever was switched to before: events may be lost. perf sched does the same
 * (tools/perf/builtin-sched.c, timehist), except for a CPU that was idle: some kernels record no switch that leaves the
 * idle task, and its time is not the thread's.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schedulers/simulate/workload/lines.h"
#include "schedulers/simulate/workload/names.h"
#include "schedulers/simulate/workload/perf_line.h"
#include "schedulers/simulate/workload/recording.h"
#include "schedulers/simulate/workload/stamps.h"
#include "schedulers/simulate/workload/values.h"
#include "util/list.h"
#include "util/plain_text.h"
#include "util/text_list.h"

enum { COMM_SIZE = 64, NO_THREAD = UINT32_MAX };

struct perf_thread {
    uint32_t tid, process; /* process 0: not known */
    uint32_t task;         /* SIM_IDLE: has not run for any time yet */
    int64_t until;         /* it was seen running */
    int64_t woken;         /* then; -1: not yet */
    int64_t away;          /* blocked time since it last ran for any time */
    int64_t ran;           /* ps that the kernel says it has run since it last left a CPU; 0: it does not say */
    bool blocked, gone;
    enum sim_class mark;
    uint64_t marked_by; /* bit of the mark, one of the first 64; 0: none */
    char comm[COMM_SIZE];
};

struct perf_cpu {
    int64_t at;      /* last switch */
    uint32_t thread; /* that was switched to; NO_THREAD: idle */
};

struct perf {
    struct sim_recording *r;
    bool begun; /* there was an event */
    int64_t origin_ns, at;
    int64_t leapt_ns;     /* the event before had this time, too far from the first; 0: it had not */
    struct perf_cpu *cpu; /* by stream */
    struct sim_names tids;
    uint32_t *thread_of; /* by number of the tid: the thread that has it now */
    struct perf_thread *thread;
    size_t n_threads;
    struct sim_stamps *stamps;
    uint64_t mark_used; /* bits of the first 64 */
    uint64_t switches, lost, strangers, from_idle, never_woken, backward, leaps, events, unreadable;
    uint64_t first_unreadable;
    const char *missing;
};

/* The thread that has a number now, or a new one. -1: out of memory, the error is filled. */
static int find_thread(struct perf *p, uint32_t tid, uint32_t *out)
{
    size_t before = p->tids.n;
    uint32_t i = sim_names_number(&p->tids, &tid, sizeof tid);
    if (i == SIM_NAME_NONE || (i == before && !list_room(&p->thread_of, before, sizeof *p->thread_of)))
        return sim_lines_memory(&p->r->in);
    if (i == before || p->thread[p->thread_of[i]].gone) {
        if (!list_room(&p->thread, p->n_threads, sizeof *p->thread))
            return sim_lines_memory(&p->r->in);
        p->thread_of[i] = (uint32_t)p->n_threads;
        p->thread[p->n_threads++] = (struct perf_thread){.tid = tid, .task = SIM_IDLE, .woken = -1, .blocked = true};
    }
    *out = p->thread_of[i];
    return 0;
}

/* The class that the user's marks give a thread; *by: the bit of that mark. */
static enum sim_class marked(const struct perf *p, const struct perf_thread *t, uint64_t *by)
{
    const struct sim_workload_options *o = p->r->options;
    for (size_t i = 0; i < o->n_marks; i++) {
        uint32_t number;
        bool numbers = sim_value_number(o->marks[i].who, INT32_MAX, &number);
        if (numbers ? number == t->tid || (number && number == t->process) : !fnmatch(o->marks[i].who, t->comm, 0)) {
            *by = i < 64 ? UINT64_C(1) << i : 0;
            return o->marks[i].class;
        }
    }
    *by = 0;
    return SIM_NONE;
}

/* Notes how a thread is called, which may change. */
static void name_thread(struct perf *p, struct perf_thread *t, const char *comm, size_t length, uint32_t process)
{
    if (length >= COMM_SIZE)
        length = COMM_SIZE - 1;
    bool same = !strncmp(t->comm, comm, length) && !t->comm[length];
    if (same && (!process || process == t->process) && t->task != SIM_IDLE)
        return;
    memcpy(t->comm, comm, length);
    t->comm[length] = '\0';
    if (process)
        t->process = process;
    t->mark = marked(p, t, &t->marked_by);
}

static int new_task(struct perf *p, struct perf_thread *t)
{
    struct sim_workload *w = p->r->w;
    if (!list_room(&w->tasks, w->n_tasks, sizeof *w->tasks))
        return sim_lines_memory(&p->r->in);
    t->task = (uint32_t)w->n_tasks;
    w->tasks[w->n_tasks++] = (struct sim_task){0};
    return 0;
}

/* A thread ran on a CPU from `from` to `to`, after it had been blocked or had waited for a CPU. */
static int thread_ran(struct perf *p, unsigned stream, struct perf_thread *t, int64_t from, int64_t to)
{
    struct sim_recording *r = p->r;
    int64_t back = t->woken >= 0 && t->woken < from ? t->woken : from;
    if (t->blocked && back > t->until)
        t->away += back - t->until;
    if (to > from && t->task == SIM_IDLE && new_task(p, t))
        return -1;
    p->mark_used |= to > from ? t->marked_by : 0;
    if (r->works && to > from) {
        if (sim_spool_push(r->works, t->task, (struct sim_row){.ps = t->away, .task = SIM_IDLE}, r->in.err))
            return -1;
        t->away = 0;
    }
    for (int64_t at = from, end; at < to; at = end) {
        struct sim_row row = {.task = t->task};
        enum sim_class class = t->mark;
        end = p->stamps ? sim_stamps_until(p->stamps, t->tid, at, &class) : to;
        end = end < to ? end : to;
        row.ps = end - at;
        row.class = class;
        if (sim_recording_row(r, stream, row) || (r->works && sim_spool_push(r->works, t->task, row, r->in.err)))
            return -1;
    }
    t->until = to;
    t->woken = -1;
    t->ran = 0;
    t->blocked = false;
    return 0;
}

/* Ends what a CPU did since its last switch: a thread ran, or nothing. */
static int cpu_did(struct perf *p, unsigned stream, uint32_t thread, int64_t to)
{
    struct perf_cpu *c = &p->cpu[stream];
    int64_t from = c->at;
    c->at = to;
    if (thread != NO_THREAD)
        return thread_ran(p, stream, &p->thread[thread], from, to);
    return sim_recording_row(p->r, stream, (struct sim_row){.ps = to - from, .task = SIM_IDLE});
}

/*
 * A thread leaves a CPU that had been switched to another, or to idle: it ran as long as sched_stat_runtime says. Where
 * that is silent, on an idle CPU since it was woken, else it is not known to have run at all; on another as long as the
 * CPU was not switched.
 */
static int end_other(struct perf *p, unsigned stream, const struct perf_thread *t)
{
    const struct perf_cpu *c = &p->cpu[stream];
    bool idle = c->thread == NO_THREAD;
    int64_t from = !idle ? c->at : t->woken >= c->at ? t->woken : p->at;
    if (t->ran > 0)
        from = p->at - t->ran > c->at ? p->at - t->ran : c->at;
    p->strangers += !idle;
    p->from_idle += idle;
    p->never_woken += idle && from == p->at;
    return cpu_did(p, stream, c->thread, from);
}

static int take_leaving(struct perf *p, unsigned stream, const struct sim_perf_line *l, bool seen)
{
    uint32_t prev = NO_THREAD;
    if (l->prev && find_thread(p, l->prev, &prev))
        return -1;
    if (prev != NO_THREAD)
        name_thread(p, &p->thread[prev], l->prev_comm, l->prev_comm_length, l->process);
    bool other = seen && p->cpu[stream].thread != prev;
    if (other && prev != NO_THREAD && end_other(p, stream, &p->thread[prev]))
        return -1;
    p->strangers += other && prev == NO_THREAD;
    if (cpu_did(p, stream, prev, p->at))
        return -1;
    if (prev != NO_THREAD) {
        p->thread[prev].blocked = !l->runnable;
        p->thread[prev].gone = l->gone;
    }
    return 0;
}

static int take_switched(struct perf *p, const struct sim_perf_line *l)
{
    bool seen = p->r->stream[l->cpu];
    unsigned stream = sim_recording_stream(p->r, l->cpu);
    uint32_t next = NO_THREAD;
    if (!seen) {
        if (!list_room(&p->cpu, stream, sizeof *p->cpu))
            return sim_lines_memory(&p->r->in);
        p->cpu[stream] = (struct perf_cpu){0, NO_THREAD};
    }
    if (take_leaving(p, stream, l, seen) || (l->next && find_thread(p, l->next, &next)))
        return -1;
    if (next != NO_THREAD)
        name_thread(p, &p->thread[next], l->next_comm, l->next_comm_length, 0);
    p->cpu[stream].thread = next;
    p->switches++;
    return 0;
}

/* The first wake-up of who is blocked ends that; who is not has forgotten it when it is. */
static int take_woken(struct perf *p, const struct sim_perf_line *l)
{
    uint32_t thread;
    if (!l->woken)
        return 0;
    if (find_thread(p, l->woken, &thread))
        return -1;
    struct perf_thread *t = &p->thread[thread];
    if (t->woken < 0)
        t->woken = p->at;
    return 0;
}

static int take_ran(struct perf *p, const struct sim_perf_line *l)
{
    uint32_t thread;
    if (!l->ran)
        return 0;
    if (find_thread(p, l->ran, &thread))
        return -1;
    struct perf_thread *t = &p->thread[thread];
    const int64_t ran = (int64_t)l->ran_ns * 1000; /* at most SIM_VALUE_MOST */
    t->ran = t->ran < SIM_VALUE_MOST - ran ? t->ran + ran : SIM_VALUE_MOST;
    return 0;
}

/* Stamps are needed, and may be refused, when it is known which time is the first. */
static int pass_to(struct perf *p, int64_t at)
{
    const struct sim_workload_options *o = p->r->options;
    if (at <= p->at)
        return 0;
    p->at = at;
    return o->stamps && !p->stamps &&
                   sim_stamps_read(&p->stamps, o->stamps, o->stamps_class, p->origin_ns, p->r->in.err)
               ? -1
               : 0;
}

static bool leaps(int64_t from_ns, int64_t to_ns)
{
    return to_ns - from_ns > SIM_VALUE_MOST / 1000 || from_ns - to_ns > SIM_VALUE_MOST / 1000;
}

/*
 * A time that is too far from the first: it is wrong if the next is not as far. Else the first is wrong, unless others
 * were near it.
 */
static int take_leap(struct perf *p, int64_t ns)
{
    int64_t before = p->leapt_ns;
    bool back = ns < p->origin_ns, again = before && ns >= before && !leaps(before, ns);
    if (again && !p->at) {
        p->leaps = p->events - 2; /* all before these two */
        p->backward = 0;
        p->leapt_ns = 0;
        p->origin_ns = before;
        return pass_to(p, (ns - before) * 1000);
    }
    if (again && !back)
        return sim_lines_fail(&p->r->in, p->r->in.number,
                              "the time is more than 106 days after that of the first event");
    p->leaps += !back;
    p->backward += back;
    p->leapt_ns = ns;
    return 0;
}

/* Times count from the first event; they do not go back. */
static int take_instant(struct perf *p, const struct sim_perf_line *l)
{
    p->events++;
    if (!p->begun) {
        p->begun = true;
        p->origin_ns = l->ns;
        if (sim_recording_settle(p->r))
            return -1;
    }
    if (leaps(p->origin_ns, l->ns))
        return take_leap(p, l->ns);
    p->leapt_ns = 0;
    int64_t at = l->ns > p->origin_ns ? (l->ns - p->origin_ns) * 1000 : 0;
    p->backward += l->ns < p->origin_ns || at < p->at;
    return pass_to(p, at);
}

static int perf_take_line(struct perf *p)
{
    struct sim_lines *in = &p->r->in;
    struct sim_perf_line l;
    if (*in->line == '#')
        return p->begun ? 0 : sim_recording_comment(p->r);
    sim_perf_parse(in->line, in->length, &l);
    p->lost += l.lost;
    if (l.event == SIM_PERF_UNREADABLE && !p->unreadable++) {
        p->first_unreadable = in->number;
        p->missing = l.missing;
    }
    if (l.event == SIM_PERF_NOTHING || l.event == SIM_PERF_LOST || l.event == SIM_PERF_UNREADABLE)
        return 0;
    if (take_instant(p, &l))
        return -1;
    return l.event == SIM_PERF_SWITCH    ? take_switched(p, &l)
           : l.event == SIM_PERF_WAKE    ? take_woken(p, &l)
           : l.event == SIM_PERF_RUNTIME ? take_ran(p, &l)
                                         : 0;
}

static void perf_warn(struct perf *p)
{
    char *text = p->r->w->warning, shown[SIM_SHOWN_SIZE];
    const size_t size = sizeof p->r->w->warning;
    const struct sim_workload_options *o = p->r->options;
    if (p->lost)
        text_list_add(text, size, "; ", "lost events: %" PRIu64, p->lost);
    if (p->strangers)
        text_list_add(text, size, "; ", "switches from threads that were not switched to before: %" PRIu64,
                      p->strangers);
    if (p->from_idle)
        text_list_add(text, size, "; ",
                      "switches from idle that were not recorded: %" PRIu64
                      ", inferred from runtime or wake-up (%" PRIu64 " have neither: assumed not to have run)",
                      p->from_idle, p->never_woken);
    if (p->backward)
        text_list_add(text, size, "; ", "events whose times go back: %" PRIu64, p->backward);
    if (p->leaps)
        text_list_add(text, size, "; ", "events whose times are more than 106 days from the others: %" PRIu64,
                      p->leaps);
    if (p->unreadable)
        text_list_add(text, size, "; ",
                      "lines of sched_switch that cannot be read: %" PRIu64 ", the first in line %" PRIu64,
                      p->unreadable, p->first_unreadable);
    if (p->stamps && !sim_stamps_met(p->stamps))
        text_list_add(text, size, "; ", "no thread ran during a phase of %.80s: is it the same clock?", o->stamps);
    for (size_t i = 0; i < o->n_marks && i < 64; i++)
        if (!(p->mark_used >> i & 1))
            text_list_add(text, size, "; ", "no thread that runs is marked by '%s'",
                          sim_lines_shown(o->marks[i].who, shown));
}

static int end_events(struct perf *p)
{
    struct sim_recording *r = p->r;
    struct sim_workload *w = r->w;
    if (!p->switches && p->unreadable)
        return sim_lines_fail(&r->in, p->first_unreadable,
                              "sched_switch without %s: print it with perf script -F comm,tid,cpu,time,event,trace",
                              p->missing);
    if (!p->switches)
        return sim_lines_fail(&r->in, 0, "contains no event sched:sched_switch: record it with perf sched record%s",
                              r->in.json ? "; of JSON, the text systemTraceEvents is read (traceconv json)" : "");
    r->length = p->at;
    for (unsigned i = 0; i < w->n_cpus; i++)
        if (cpu_did(p, i, p->cpu[i].thread, p->at))
            return -1;
    for (size_t i = 0; i < p->n_threads; i++) {
        const struct perf_thread *t = &p->thread[i];
        char name[COMM_SIZE + 16];
        if (t->task == SIM_IDLE)
            continue;
        snprintf(name, sizeof name, "%s-%" PRIu32, t->comm, t->tid);
        w->tasks[t->task].name = plain_text_copy(name);
        if (!w->tasks[t->task].name)
            return sim_lines_memory(&r->in);
    }
    const char *why = p->stamps ? sim_stamps_error(p->stamps) : NULL;
    if (why)
        return machine_fail(r->in.err, MACHINE_FAILED, "", "%s", why), -1;
    perf_warn(p);
    return 0;
}

static int perf_lines(struct perf *p)
{
    int got;
    while ((got = sim_lines_next(&p->r->in)) > 0)
        if (perf_take_line(p))
            return -1;
    return got;
}

int sim_perf_read(struct sim_recording *r)
{
    struct perf p = {.r = r};
    r->w->kind = "perf";
    if (r->options->works && !(r->works = sim_spool_new()))
        return sim_lines_memory(&r->in);
    int bad = perf_lines(&p) || end_events(&p);
    sim_stamps_free(p.stamps);
    sim_names_free(&p.tids);
    free(p.thread_of);
    free(p.thread);
    free(p.cpu);
    return bad ? -1 : 0;
}
