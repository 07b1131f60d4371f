/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses one line of perf script. */
#include "schedulers/simulate/workload/perf_line.h"

#include <string.h>

#include "schedulers/simulate/workload/recording.h"
#include "schedulers/simulate/workload/values.h"

/* Each of these goes past what it takes, if it is there. */

static bool take_text(const char **at, const char *text)
{
    size_t length = strlen(text);
    if (strncmp(*at, text, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool take_long_number(const char **at, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;
    const char *p = *at;
    for (; *p >= '0' && *p <= '9' && value <= most; p++)
        value = 10 * value + (uint64_t)(*p - '0');
    if (p == *at || value > most)
        return false;
    *out = value;
    *at = p;
    return true;
}

static bool take_number(const char **at, uint32_t most, uint32_t *out)
{
    uint64_t value;
    if (!take_long_number(at, most, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool take_thread(const char **at, uint32_t *tid)
{
    return take_number(at, INT32_MAX, tid);
}

static bool take_priority(const char **at)
{
    uint32_t ignored;
    *at += **at == '-';
    return take_number(at, INT32_MAX, &ignored);
}

static bool take_blanks(const char **at)
{
    size_t n = strspn(*at, " \t");
    *at += n;
    return n;
}

/* "73361.348905:" or with nine decimals, and what ends a word. */
static bool take_time(const char **at, int64_t *ns)
{
    uint32_t seconds, part;
    const char *p = *at, *decimals;
    if (!take_number(&p, UINT32_MAX, &seconds) || *p++ != '.')
        return false;
    decimals = p;
    if (!take_number(&p, 999999999, &part) || (p - decimals != 6 && p - decimals != 9) || *p != ':')
        return false;
    p++;
    if (*p && *p != ' ' && *p != '\t')
        return false;
    *ns = seconds * INT64_C(1000000000) + part * (p - decimals == 7 ? INT64_C(1000) : 1);
    *at = p;
    return true;
}

/* To the event's name: past a period, if -F adds one. */
static void take_period(const char **at)
{
    uint32_t period;
    const char *p = *at;
    take_blanks(&p);
    *at = p;
    if (take_number(&p, UINT32_MAX, &period) && take_blanks(&p))
        *at = p;
}

/* "[003]", up to two words that -F adds, and the time; to the event's name. Where another "[003]" is in place of one of
 * these, this one was part of a name. */
static bool take_place(const char **at, struct sim_perf_line *out)
{
    const char *p = *at + 1;
    uint32_t cpu;
    if (!take_number(&p, SIM_CPU_NUMBERS - 1, &cpu) || *p++ != ']')
        return false;
    for (int words = 0; words < 3 && take_blanks(&p) && *p != '['; words++) {
        if (take_time(&p, &out->ns)) {
            take_period(&p);
            out->cpu = cpu;
            *at = p;
            return *p != '[';
        }
        p += strcspn(p, " \t");
    }
    return false;
}

/* The process of "PID/TID" ahead of the CPU. */
static uint32_t process_before(const char *line, const char *at)
{
    uint32_t process;
    while (at > line && at[-1] == ' ')
        at--;
    while (at > line && at[-1] >= '0' && at[-1] <= '9')
        at--;
    if (at == line || at[-1] != '/')
        return 0;
    for (at--; at > line && at[-1] >= '0' && at[-1] <= '9';)
        at--;
    return take_thread(&at, &process) && *at == '/' ? process : 0;
}

/* Whether the CPU comes after "COMM-TID" or its process in brackets, as ftrace, trace-cmd and Perfetto print it: perf
 * puts a blank between the two. */
static bool is_ftrace(const char *line, const char *at)
{
    while (at > line && at[-1] == ' ')
        at--;
    if (at > line && at[-1] == ')')
        return true;
    const char *end = at;
    while (at > line && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at < end && at > line && at[-1] == '-';
}

/* A state in letters, or the number of which they are made (include/linux/sched.h): 0 is runnable. */
static void take_state(const char **at, struct sim_perf_line *out)
{
    const char *p = *at;
    uint32_t bits;
    size_t length = strcspn(p, " \t");
    if (take_number(&p, UINT32_MAX, &bits) && p == *at + length) {
        out->runnable = !(bits & 0xff);
        out->gone = bits & 0xb0; /* EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD */
    } else {
        out->runnable = **at == 'R';
        out->gone = **at && strchr("XxZ", **at); /* x: until Linux 4.13 */
    }
    *at += length;
}

/* prev_comm=A prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=B next_pid=2 next_prio=120 */
static bool take_switch(const char *fields, struct sim_perf_line *out)
{
    const char *comm = fields, *p;
    if (!take_text(&comm, "prev_comm="))
        return false;
    for (const char *end = comm; (end = strstr(end, " prev_pid=")); end++) {
        p = end;
        take_text(&p, " prev_pid=");
        if (!take_thread(&p, &out->prev) || !take_text(&p, " prev_prio=") || !take_priority(&p) ||
            !take_text(&p, " prev_state="))
            continue;
        take_state(&p, out);
        take_blanks(&p);
        take_text(&p, "==> ");
        if (!take_text(&p, "next_comm="))
            continue;
        out->prev_comm = comm;
        out->prev_comm_length = (size_t)(end - comm);
        out->next_comm = p;
        for (end = p; (end = strstr(end, " next_pid=")); end++) {
            p = end;
            take_text(&p, " next_pid=");
            if (take_thread(&p, &out->next) && take_text(&p, " next_prio=") && take_priority(&p)) {
                out->next_comm_length = (size_t)(end - out->next_comm);
                return true;
            }
        }
        return false;
    }
    return false;
}

/* The last "COMM:PID [PRIO]" of some text; `end`: what comes after it, `comm`: where the pid's colon is. */
static bool last_thread(const char *text, const char *limit, const char **colon, const char **end, uint32_t *tid)
{
    for (const char *p = limit; p > text;)
        if (*--p == ':') {
            const char *q = p + 1;
            if (take_thread(&q, tid) && take_text(&q, " [") && take_priority(&q) && take_text(&q, "]") && q <= limit) {
                *colon = p;
                *end = q;
                return true;
            }
        }
    return false;
}

/* A:1 [120] S ==> B:2 [120] */
static bool take_short_switch(const char *fields, struct sim_perf_line *out)
{
    const char *colon, *end;
    for (const char *arrow = fields; (arrow = strstr(arrow, " ==> ")); arrow++) {
        if (!last_thread(fields, arrow, &colon, &end, &out->prev) || *end++ != ' ' || strcspn(end, " ") == 0 ||
            end + strcspn(end, " ") != arrow)
            continue;
        take_state(&end, out);
        out->prev_comm = fields;
        out->prev_comm_length = (size_t)(colon - fields);
        out->next_comm = arrow + strlen(" ==> ");
        if (!last_thread(out->next_comm, out->next_comm + strlen(out->next_comm), &colon, &end, &out->next))
            return false;
        out->next_comm_length = (size_t)(colon - out->next_comm);
        return true;
    }
    return false;
}

/* comm=A pid=1 prio=120 target_cpu=000, or A:1 [120] success=1 CPU:000 */
static bool take_wake(const char *fields, struct sim_perf_line *out)
{
    const char *p, *end;
    for (const char *at = fields; !strncmp(fields, "comm=", 5) && (at = strstr(at, " pid=")); at++) {
        p = at;
        take_text(&p, " pid=");
        if (take_thread(&p, &out->woken) && take_text(&p, " prio="))
            return true;
    }
    return last_thread(fields, fields + strlen(fields), &p, &end, &out->woken);
}

/* comm=A pid=1 runtime=2000 [ns], and what older kernels add */
static bool take_runtime(const char *fields, struct sim_perf_line *out)
{
    for (const char *p, *at = fields; (at = strstr(at, " pid=")); at++) {
        p = at;
        take_text(&p, " pid=");
        if (take_thread(&p, &out->ran) && take_text(&p, " runtime=") &&
            take_long_number(&p, SIM_VALUE_MOST / 1000, &out->ran_ns) && (!*p || strchr(" \t\r", *p)))
            return true;
    }
    return false;
}

/* "LOST 17 EVENTS", as perf sched and ftrace say it. */
static bool take_lost(const char *line, struct sim_perf_line *out)
{
    uint32_t n;
    const char *p = strstr(line, "LOST ");
    if (!p || (p > line && p[-1] != ' ' && p[-1] != '['))
        return false;
    p += strlen("LOST ");
    if (!take_number(&p, UINT32_MAX, &n) || strncasecmp(p, " event", 6) != 0)
        return false;
    out->lost = n;
    return true;
}

/* padded: what comes after the name of the event is in a column; else another blank may belong to a name */
static void take_event(const char *word, bool padded, struct sim_perf_line *out)
{
    uint32_t lost;
    const char *p = word + strcspn(word, " \t");
    p += padded ? strspn(p, " ") : *p == ' ';
    out->event = SIM_PERF_OTHER;
    if (!strncmp(word, "PERF_RECORD_LOST", 16)) {
        if (take_text(&p, "lost ") && take_number(&p, UINT32_MAX, &lost)) {
            out->event = SIM_PERF_LOST;
            out->lost = lost;
        }
        return;
    }
    if (!strncmp(word, "sched:", 6))
        word += 6;
    const size_t length = strcspn(word, " \t:/"); /* some perf print the terms of an event after its name */
    if (length == 12 && !strncmp(word, "sched_switch", length)) {
        bool known = take_switch(p, out) || take_short_switch(p, out);
        out->event = known ? SIM_PERF_SWITCH : SIM_PERF_UNREADABLE;
        out->missing = "the threads' numbers (field trace)";
    } else if (!strncmp(word, "sched_wak", 9) && take_wake(p, out)) {
        out->event = SIM_PERF_WAKE; /* sched_waking, sched_wakeup, sched_wakeup_new */
    } else if (!out->ns && take_text(&p, "trace_event_clock_sync")) {
        out->event = SIM_PERF_NOTHING; /* traceconv adds it (src/traceconv/trace_to_systrace.cc) */
    } else if (length == 18 && !strncmp(word, "sched_stat_runtime", length) && take_runtime(p, out)) {
        out->event = SIM_PERF_RUNTIME;
    }
}

void sim_perf_parse(const char *line, size_t length, struct sim_perf_line *out)
{
    *out = (struct sim_perf_line){.event = SIM_PERF_NOTHING};
    for (const char *at = line; (at = memchr(at, '[', length - (size_t)(at - line))); at++) {
        const char *p = at;
        if ((at == line || at[-1] == ' ') && take_place(&p, out)) {
            out->process = process_before(line, at);
            take_event(p, is_ftrace(line, at), out);
            return;
        }
    }
    if (take_lost(line, out)) {
        out->event = SIM_PERF_LOST;
    } else if (strstr(line, "sched_switch: ")) {
        out->event = SIM_PERF_UNREADABLE;
        out->missing = "the CPU or the time (fields cpu, time; ftrace: not in the latency format)";
    }
}
