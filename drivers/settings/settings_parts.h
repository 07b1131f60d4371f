/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the settings: what a change is, the file that remembers changes, and how a wish becomes changes. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "drivers/settings/settings.h"

enum change_kind {
    CHANGE_FILE,      /* a file of sysfs */
    CHANGE_TURBO_BIT, /* bit 38 of MSR 1A0H of a CPU; values "0" and "1" */
    CHANGE_LIKWID     /* frequency limits of a CPU by liblikwid; values "MIN-MAX" in kHz */
};
struct change {
    enum change_kind kind;
    int cpu;        /* not of a file */
    char path[240]; /* of a file */
    char before[48], after[48];
};
struct changes {
    struct change *list;
    size_t n;
};
/* Appends one; returns 0, or -1 when out of memory. */
int settings_changes_add(struct changes *c, const struct change *one);

/* ---- settings_write.c: reading and writing one setting ---- */

/* Return 0 or an error number. */
int settings_change_read(const struct settings_roots *r, const struct change *c, char *out, size_t size);
int settings_change_write(const struct settings_roots *r, const struct change *c, const char *value);
/* "intel_pstate/no_turbo", "MSR 1A0H of CPU 3" */
void settings_change_name(const struct change *c, char *out, size_t size);

/* ---- settings_plan.c ---- */

/* What must be changed to fulfil a wish; nothing where it is so already. The change in words is added to `text`. */
int settings_plan_turbo(const struct settings_roots *r, bool on, struct changes *out, char *text, size_t size,
                        struct machine_error *err);
int settings_plan_frequency(const struct settings_roots *r, double ghz, struct changes *out, char *text, size_t size,
                            struct machine_error *err);

/* ---- settings_state.c: the file ---- */

enum state_kind { STATE_NONE, STATE_LEFT, STATE_LIVES };
/*
 * Opens and locks the file; *fd is -1 where there is none and `create` is not set. STATE_LIVES: another process holds
 * it (*fd = -1, *pid is that process). STATE_LEFT: it holds changes that nobody has put back, in *out.
 * Returns 0 or an error number; EBADMSG: it is not such a file.
 */
int settings_state_open(const struct settings_roots *r, bool create, int *fd, enum state_kind *kind, pid_t *pid,
                        struct changes *out);
/* Writes the changes to come and makes sure that they are on the file. Returns 0 or an error number. */
int settings_state_write(int fd, const struct changes *c);
/* Everything is as it was: removes the file and closes it. */
void settings_state_remove(const struct settings_roots *r, int fd);
