/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the settings: what a change is, the journal, and how a wish becomes changes. */
#pragma once

#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

#include "computer/cpu/cpu.h"
#include "computer/settings/settings.h"

/* The longest value: a mask of CPU_LIMIT CPUs is 2303 characters. */
enum { CHANGE_VALUE_MAX = 2400, CHANGE_PATH_MAX = 400 };

#define SETTINGS_CPUS "/sys/devices/system/cpu/"
#define SETTINGS_WORKQUEUES "/sys/devices/virtual/workqueue/"
#define SETTINGS_CPUSET "/sys/fs/cgroup/cpuset"

enum change_kind {
    CHANGE_FILE,       /* a file of sysfs or procfs */
    CHANGE_TURBO_BIT,  /* bit 38 of MSR 1A0H of a CPU; values "0" and "1" */
    CHANGE_LIKWID,     /* frequency limits of a CPU by liblikwid; values "MIN-MAX" in kHz */
    CHANGE_IRQ,        /* smp_affinity_list; "LIST" or "LIST@CPU": with the CPU that it was delivered to */
    CHANGE_CONTROLLER, /* the word cpuset in cgroup.subtree_control; values "0" and "1" */
    CHANGE_PARTITION,  /* a cgroup of version 2 for this process; before: the cgroup it was in, after: its CPU */
    CHANGE_SHIELD,     /* a cpuset of version 1 for all others; before "-", after: their CPUs */
    CHANGE_KINDS
};
/* As the journal names them: "file", "irq", ... */
extern const char *const settings_kind_names[CHANGE_KINDS];
struct change {
    enum change_kind kind;
    int cpu;                    /* of a register or likwid, else -1 */
    char path[CHANGE_PATH_MAX]; /* "/sys/...", "/proc/...", whatever the roots; "" where there is none */
    char *before, *after;
    int part;    /* enum quiet_part as the number of its bit; -1: of none. Not in the journal */
    bool undone; /* put back, or left to somebody else */
};
struct changes {
    struct change *list;
    size_t n;
};
/* Appends a copy; returns 0, or -1 when out of memory. */
int settings_changes_add(struct changes *c, const struct change *one);
void settings_changes_free(struct changes *c);

/* ---- settings_file.c: files below a root ---- */

/*
 * Opens the file that `path` ("/sys/...", "/proc/...", "/dev/...") names below its root. No part of it may be a
 * symbolic link, and it must be a plain file, or a device where that root is /dev itself: whoever made a folder that
 * looks like /sys must not choose what root writes. Returns the descriptor, or -1 with errno.
 */
int settings_open(const struct settings_roots *r, const char *path, int flags);
/* The same for the folder `path`. */
int settings_open_folder(const struct settings_roots *r, const char *path);
/* ... to read what is in it; NULL with errno. */
DIR *settings_open_list(const struct settings_roots *r, const char *path);
/* The number in a name like "policy12"; -1: it is another name. */
int settings_number(const char *name, const char *prefix);
/* Lists the numbers in the folder's names with this prefix, in its order; free() them. False: out of memory. */
bool settings_numbers(const struct settings_roots *r, const char *path, const char *prefix, unsigned **out, size_t *n);
/* As access(2). */
bool settings_accessible(const struct settings_roots *r, const char *path, int mode);
/* Reads it without the trailing newline: the length, or -1 with errno (EMSGSIZE: it is longer). */
int settings_read_text(const struct settings_roots *r, const char *path, char *out, size_t size);
/* Writes it at once. Returns 0 or an error number. */
int settings_write_text(const struct settings_roots *r, const char *path, const char *value);
/* Its path in the real file system, for messages and for functions that take whole paths. */
void settings_real_path(const struct settings_roots *r, const char *path, char *out, size_t size);
/* "/proc", or what stands for it */
const char *settings_proc(const struct settings_roots *r);

/* The CPUs that a task (a process, a thread) may run on, and its process. False: it is gone, or cannot be read.
 * *kernel: it is a thread of the kernel. */
bool settings_task_allowed(const struct settings_roots *r, int task, struct cpu_mask *out, int *process, bool *kernel);

/* ---- settings_kinds.c: which settings there are, reading and writing one ---- */

/* Returns whether it is one that this program can have made: root acts on what stands in a journal. */
bool settings_change_allowed(const struct change *c);

/* Return 0 or an error number. */
int settings_change_read(const struct settings_roots *r, const struct change *c, char *out, size_t size);
int settings_change_write(const struct settings_roots *r, const struct change *c, const char *value);
/* Returns whether two values mean the same: "0-1" and "0,1". */
bool settings_change_same(const struct change *c, const char *a, const char *b);
/* The file where it really is, "bit 38 of MSR 1A0H of CPU 3" */
void settings_change_name(const struct settings_roots *r, const struct change *c, char *out, size_t size);
/* Returns whether the words of a file (cgroup.controllers, cgroup.subtree_control) have cpuset among them; *error of
 * reading it. */
bool settings_has_cpuset(const struct settings_roots *r, const char *path, int *error);

/* ---- settings.c ---- */

/* The outcome of putting back: settings that were written, and those that somebody else has changed meanwhile. */
struct undoing {
    size_t written;
    char others[300]; /* names and values; "": none */
};
/*
 * Puts back the changes c->n - 1 to `first`, except for those undone already, and marks them. Returns MACHINE_OK, or
 * MACHINE_FAILED and the first that could not be; then what could be is noted in the journal `fd`.
 */
int settings_undo(const struct settings_roots *r, int fd, struct changes *c, size_t first, struct undoing *out,
                  struct machine_error *err);

/* How each part went. */
struct quiet_report {
    unsigned wished;  /* parts, or-ed */
    unsigned already; /* of them, those that were so */
    unsigned stands;  /* of them, those of which something was so or was changed */
    char why[QUIET_PARTS][300];
};
/* Adds in words what was changed to `out`. */
void settings_text_parts(const struct quiet_report *t, const struct changes *c, int cpu, char *out, size_t size);
/* Says what was not, and why. */
void settings_text_left(const struct quiet_report *t, char *out, size_t size);

/* ---- settings_plan.c ---- */

/* Plans what must be changed to fulfil a wish; nothing where it is so already. The change in words is added to
 * `text`. */
int settings_plan_turbo(const struct settings_roots *r, bool on, struct changes *out, char *text, size_t size,
                        struct machine_error *err);
int settings_plan_frequency(const struct settings_roots *r, double ghz, struct changes *out, char *text, size_t size,
                            struct machine_error *err);

/* One part of a quiet machine, as it is planned and as it goes. */
struct quiet_plan {
    const struct settings_roots *roots;
    enum quiet_part part;
    int cpu;
    bool spread;
    bool only_shown;        /* settings that this user may not write are planned all the same */
    struct cpu_mask others; /* the other CPUs that are online; less the siblings where these go offline */
    struct changes changes;
    size_t all;      /* settings looked at */
    size_t already;  /* settings that are so already */
    size_t kept;     /* settings that cannot be changed ... */
    int error;       /* ... the first for this reason, ... */
    char first[300]; /* ... and this is its name */
    char why[300];   /* why there is nothing to change, in words; "" */
    bool out_of_memory;
};
/* Plans a change from the present value to `after`, unless they are the same. A setting that cannot be read is
 * `kept`. */
void settings_plan_add(struct quiet_plan *p, enum change_kind kind, const char *path, const char *after);
/* It cannot be changed. */
void settings_keep(struct quiet_plan *p, const char *name, int error);
/* Why nothing of a planned part is, or was, changed: "Permission denied (/sys/...)", "there is no cpufreq here". */
void settings_why(const struct quiet_plan *p, char *out, size_t size);
/* Checks whether this user may write it, as far as opening it shows. Returns 0 or an error number. */
int settings_writable(const struct settings_roots *r, const struct change *one);
/* The numbers of the policies of cpufreq. Returns whether there are any. */
bool settings_policies(const struct settings_roots *r, struct cpu_mask *out);

/* ---- settings_quiet.c ---- */

/* Plans the part that is changed as number i; settings_changes_free(&out->changes). False: the wish does not have
 * it. */
bool settings_quiet_plan(const struct settings_roots *r, const struct settings_wish *wish, size_t i, bool only_shown,
                         struct quiet_plan *out);

/* ---- settings_journal.c ---- */

enum state_kind { STATE_NONE, STATE_LEFT, STATE_LIVES, STATE_REBOOTED };
/*
 * Opens and locks it; *fd is -1 where there is none and `create` is not set. STATE_LIVES: another process holds it
 * (*fd = -1, *pid is that process). STATE_LEFT: it holds changes that nobody has put back, in *out. STATE_REBOOTED: so
 * it does, but the machine was rebooted since: they are gone (*out is empty).
 * Returns 0 or an error number; EBADMSG: it is not such a file.
 */
int settings_state_open(const struct settings_roots *r, bool create, int *fd, enum state_kind *kind, pid_t *pid,
                        struct changes *out);
/* Notes that the change n, from 0, has been put back. */
void settings_state_undone(int fd, size_t n);
/* Begins it again, empty; it and its name are on the disk afterwards. Returns 0 or an error number. */
int settings_state_begin(const struct settings_roots *r, int fd);
/* Adds a change that is to be made, and makes sure that it is on the disk. Returns 0 or an error number; then nothing
 * was added. */
int settings_state_append(int fd, const struct change *one);
/* Everything is as it was: removes the file and closes it. */
void settings_state_remove(const struct settings_roots *r, int fd);
