/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of perf script: "COMM TID [CPU] TIME: EVENT: FIELDS", with PID/TID and a period where they were requested. The
 * fields of sched_switch are those of the kernel's format (include/trace/events/sched.h), or the short ones of
 * libtraceevent's plugin (plugins/plugin_sched_switch.c). Names of threads may hold anything, up to what looks like a
 * line of this kind.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_perf_event {
    SIM_PERF_NOTHING, /* no line of an event */
    SIM_PERF_OTHER,   /* another event: CPU and time alone */
    SIM_PERF_SWITCH,
    SIM_PERF_WAKE,
    SIM_PERF_RUNTIME,
    SIM_PERF_LOST,
    SIM_PERF_UNREADABLE /* a switch of which something is missing */
};

struct sim_perf_line {
    enum sim_perf_event event;
    unsigned cpu;
    int64_t ns;
    uint32_t process; /* of the thread that ran until then; 0 where it is not given */
    /* switch: the threads, 0: idle; their names, in the line */
    uint32_t prev, next;
    const char *prev_comm, *next_comm;
    size_t prev_comm_length, next_comm_length;
    bool runnable, gone; /* the previous thread can go on, or never will */
    uint32_t woken;      /* wake: the thread */
    uint32_t ran;        /* runtime: the thread, and for how long */
    uint64_t ran_ns;
    uint64_t lost;       /* events */
    const char *missing; /* unreadable: what */
};

/* A line with a NUL after it. */
void sim_perf_parse(const char *line, size_t length, struct sim_perf_line *out);
