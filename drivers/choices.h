/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The questions that `auto` puts to the system before it chooses a machine. They are apart from the choice itself, so
 * that tests can supply any answer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "drivers/helper/helper.h"
#include "drivers/machine.h"
#include "computer/msr/msr_device.h"

/* The answers, as the system gave them. */
struct choice_facts {
    bool guest;                  /* CPUID: under a hypervisor */
    struct helper_answer helper; /* of /dev/characterize */
    bool signed_modules;         /* only signed modules are loaded: lockdown, or module.sig_enforce */
    int perf_errno;              /* of opening a cycle counter for this thread, kernel excluded; 0 = it opened */
    int perf_map_errno;          /* of mapping its page; 0 = it was mapped */
    bool perf_rdpmc;             /* its page allows RDPMC (cap_user_rdpmc) */
    bool perf_counter;           /* ... and says which counter it is on (index) */
    bool perf_counts;            /* RDPMC was tried, and the count advanced */
    bool hybrid;                 /* the PMU is that of a hybrid part, cpu_core */
    int perf_paranoid;           /* /proc/sys/kernel/perf_event_paranoid; -100 = not readable */
    int nmi_watchdog;            /* 1 on, 0 off, -1 not readable */
    int rdpmc_setting;           /* /sys/bus/event_source/devices/cpu{,_core}/rdpmc: 0, 1, 2; -100 = not readable */
    struct msr_trouble msr;      /* of the CPU whose msr file was tried; read_errno: if no register could be read */
    struct msr_survey registers; /* their values, if it opened */
    bool timing_usable;          /* the TSC can serve as a clock */
    char timing_why[160];        /* why not, or a remark, or "" */
};

/*
 * Asks. `sys`, `proc` and `dev` are the folders to look in ("/sys", "/proc", "/dev"); the counter is requested of the
 * running kernel.
 */
void choice_facts_read(const char *sys, const char *proc, const char *dev, struct choice_facts *out);

/* The choices that follow from the answers, best first. Returns how many (at most max). */
size_t choices_from_facts(const struct choice_facts *f, struct machine_choice *out, size_t max);

/* The choice of this name; NULL = none. */
const struct machine_choice *choices_find(const struct machine_choice *machines, size_t n, const char *name);

/* auto's line: what was taken and why nothing better was. `machines`: as choices_from_facts() gave them. */
void choices_report(const struct machine_choice *machines, size_t n, char *out, size_t size);

/* Opens a machine by its name, and puts registers around one that is open. */
struct choice_openers {
    int (*open)(const char *name, struct machine *out, struct machine_error *err);
    int (*add_registers)(struct machine *m, struct machine_error *err);
};
/*
 * machine_open() among the n choices c, for all names but models: "perf" gets registers where msr is usable, and "auto"
 * goes on to the next where a usable one does not open, which is then marked as not usable, with the reason.
 */
int choices_open(const char *name, struct machine_choice *c, size_t n, const struct choice_openers *how,
                 struct machine *out, char *report, size_t report_size, struct machine_error *err);
