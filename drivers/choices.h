/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `auto` asks the system before it chooses a machine, apart from the choice itself, so that every answer can be
 * tried without the system that gives it.
 */
#ifndef CHARACTERIZE_CHOICES_H
#define CHARACTERIZE_CHOICES_H

#include <stdbool.h>
#include <stddef.h>

#include "drivers/machine.h"

/* The answers, as the system gave them. */
struct choice_facts {
    bool guest;            /* CPUID: under a hypervisor */
    int helper_errno;      /* of opening /dev/characterize; 0 = it is there */
    bool helper_other;     /* the module behind it is of another version */
    char helper_refusal[140]; /* why it runs nothing here, in its own words; or "" */
    unsigned helper_can;   /* CHARACTERIZE_CAN_*, or-ed */
    bool signed_modules;   /* only signed modules are loaded: lockdown, or module.sig_enforce */
    int perf_errno;        /* of opening a cycle counter for this thread, kernel excluded; 0 = it opened */
    bool perf_rdpmc;       /* its page allows RDPMC (cap_user_rdpmc) */
    int perf_paranoid;     /* /proc/sys/kernel/perf_event_paranoid; -100 = not readable */
    int rdpmc_setting;     /* /sys/bus/event_source/devices/cpu{,_core}/rdpmc: 0, 1, 2; -100 = not readable */
    int msr_cpu;           /* the CPU whose msr file was tried */
    int msr_errno;         /* of opening it; 0 = it opened */
    int msr_read_errno;    /* of reading register 10H (TSC) from it; 0 = it was read */
    bool timing_usable;    /* the TSC can serve as a clock */
    char timing_why[160];  /* why not, or a remark, or "" */
};

/*
 * Asks. `sys`, `proc` and `dev` are the folders to look in ("/sys", "/proc", "/dev"); the counter is asked of the
 * running kernel.
 */
void choice_facts_read(const char *sys, const char *proc, const char *dev, struct choice_facts *out);

/* The choices that follow from the answers, best first. Returns how many (at most max). */
size_t choices_from_facts(const struct choice_facts *f, struct machine_choice *out, size_t max);

/* auto's line: what was taken and why nothing better was. `machines`: as choices_from_facts() gave them. */
void choices_tell(const struct machine_choice *machines, size_t n, char *out, size_t size);

#endif
