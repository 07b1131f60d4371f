/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings of the machine that a run changes on request: turbo, the limits of the frequency, and those that
 * doc/quiet-machine.md lists. The old value of each is written to a file (the journal) before it is changed;
 * settings_restore() puts it back, or settings_recover(), from the file, after a run that was killed. Nothing else of
 * the machine is ever written (settings_kinds.c).
 *
 * Ways, in this order. Turbo: intel_pstate/no_turbo, cpufreq/boost, cpufreq/policyN/boost (Linux, admin-guide/pm:
 * intel_pstate.rst, cpufreq.rst, amd-pstate.rst), bit 38 of MSR 1A0H of every CPU (Intel SDM vol. 4: IDA disable).
 * Frequency: scaling_min_freq and scaling_max_freq of every policy, by liblikwid where they are not writable.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "computer/power/likwid_bridge.h"
#include "util/error.h"

/* The folders to work on. */
struct settings_roots {
    const char *sys, *dev; /* "/sys", "/dev", or folders laid out like them; below 240 bytes */
    const char *state;     /* the journal: settings_state_file() */
    likwid_loader *likwid; /* NULL: likwid_load */
    bool intel;            /* the register of Intel's processors may be used */
    const char *proc;      /* "/proc", or such a folder; NULL: "/proc" */
};

/* Parts of a quiet machine (doc/quiet-machine.md), or-ed. */
enum quiet_part {
    QUIET_GOVERNOR = 1u << 0,
    QUIET_EPP = 1u << 1,
    QUIET_TURBO = 1u << 2,
    QUIET_CSTATES = 1u << 3,
    QUIET_SMT = 1u << 4,
    QUIET_IRQ = 1u << 5,
    QUIET_WORKQUEUE = 1u << 6,
    QUIET_TICK = 1u << 7,
    QUIET_ISOLATE = 1u << 8,
    QUIET_PARTS = 9,
    QUIET_DEFAULT = ((1u << QUIET_PARTS) - 1) & ~(QUIET_TURBO | QUIET_SMT)
};
/* "governor", ... in the order of their bits. */
extern const char *const settings_part_names[QUIET_PARTS];

struct settings_wish {
    int turbo;           /* 0 off, 1 on, -1 as it is */
    double fixed_ghz;    /* of all CPUs; 0 = as it is */
    unsigned quiet;      /* parts, or-ed */
    unsigned quiet_must; /* those that are refused where nothing of them can be changed; others are left and reported */
    int cpu;             /* the CPU for which it is to be quiet */
    bool spread;         /* other CPUs are to run this program's kernels, too: it may not be confined to `cpu` */
};

/*
 * The file for this user: /run/characterize.settings for root, $XDG_RUNTIME_DIR/characterize.settings for others; gone
 * after a reboot, like the settings. Returns 0, or -1 where there is none.
 */
int settings_state_file(char *out, size_t size);
extern const char *const settings_root_state_file;

struct settings;
/* Records and changes settings, one by one. Returns MACHINE_OK and *out (NULL when nothing had to be changed), or, with
 * everything as it was, MACHINE_CANNOT and the remedy, or MACHINE_FAILED. */
int settings_apply(const struct settings_roots *r, const struct settings_wish *wish, struct settings **out,
                   struct machine_error *err);
/* Adds changes to an existing journal; if *s is NULL, it is like settings_apply(). Where it returns another status than
 * MACHINE_OK the earlier changes stand. */
int settings_add(const struct settings_roots *r, const struct settings_wish *wish, struct settings **s,
                 struct machine_error *err);
/* How many changes there are by now; settings_back_to() puts back those that came after, as settings_restore() does. */
size_t settings_mark(const struct settings *s);
/* The mark after the changes for turbo and a fixed frequency, which come first. */
size_t settings_base(const struct settings *s);
int settings_back_to(struct settings *s, size_t mark, struct machine_error *err);
/* Checks that anything of a requested part is in force: MACHINE_OK, or MACHINE_CANNOT and why not. */
int settings_stands(const struct settings *s, enum quiet_part part, struct machine_error *err);
/* Says which requested parts were left as they are, and why: lines "part, part: why", each with its newline; "" for
 * nothing. Valid until settings_add(). */
const char *settings_left(const struct settings *s);
/* The changes in words, for a result: "turbo off (was on); quiet for CPU 1: irq (19 of 20), tick (3); as it was:
 * governor". */
const char *settings_text(const struct settings *s);
/*
 * Puts everything back, the last change first, removes the journal and frees *s (NULL is allowed). Returns MACHINE_OK,
 * and in err->text the settings that somebody else has changed meanwhile and that are therefore left ("" for none); or
 * MACHINE_FAILED where something could not be put back (then the journal stays, and the message names the command to
 * repeat it).
 */
int settings_restore(struct settings *s, struct machine_error *err);

/*
 * Puts back what a killed run has left. *report says what was done, or that another run, still alive, has changed
 * settings (then *lives is set), or that the machine was rebooted since; "" for nothing. Returns MACHINE_OK, or
 * MACHINE_CANNOT where this user may not.
 */
int settings_recover(const struct settings_roots *r, char *report, size_t size, bool *lives, struct machine_error *err);

/* One thing that a part of a wish would change here. */
struct settings_line {
    enum quiet_part part;
    const char *name;           /* the file or register; NULL: nothing of this part can be changed */
    const char *before, *after; /* with name */
    const char *why;            /* without name: why not; with it: what keeps this user from it, or "" */
};
typedef void settings_line_taker(void *data, const struct settings_line *line);
/* Calls take() for each. Returns MACHINE_OK or MACHINE_FAILED (out of memory). */
int settings_show(const struct settings_roots *r, const struct settings_wish *wish, settings_line_taker *take,
                  void *data, struct machine_error *err);
