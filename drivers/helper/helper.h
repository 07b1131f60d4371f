/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine `helper`: repetitions run in the kernel, with interrupts masked, by the module in drivers/helper/kmod/.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "computer/cpu/cpu.h"
#include "drivers/helper/kmod/uapi.h"
#include "drivers/machine.h"

/* ---- the device; the system calls come in through a struct, so that a made-up device can stand in ---- */

/* Each as the system call of its name, errno included. map() maps for reading, from the start; wait() is poll() for
 * reading, with milliseconds. */
struct helper_io {
    int (*open)(const char *path);
    int (*ioctl)(int fd, unsigned long request, void *arg);
    void *(*map)(int fd, size_t bytes);
    int (*unmap)(void *at, size_t bytes);
    int (*wait)(int fd, int timeout_ms);
    ssize_t (*read)(int fd, void *out, size_t bytes);
    int (*close)(int fd);
};
extern const struct helper_io helper_system;

/* The outcome of connecting. */
struct helper_answer {
    int open_errno;     /* 0 = it opened */
    bool other_version; /* of the module, or other kernels under the same numbers */
    char refusal[140];  /* the module's own reason why it runs nothing here, or "" */
    struct characterize_hello hello;
};

/* Opens the device and checks it. Returns the descriptor, or -1 with the reason in *out; nothing is left open then. */
int helper_connect(const struct helper_io *io, const char *path, struct helper_answer *out);

/* The words for a reason of enum characterize_reason: the module's, or this program's where it gives none. */
void helper_reason(const struct helper_io *io, int fd, unsigned reason, char *out, size_t size);

/* ---- the machine ---- */

/* The place that it is opened at: another device, other system calls, another folder for /sys, another CPU. */
struct helper_place {
    const char *device;
    const char *sys;  /* "/sys", or a folder laid out like it */
    const char *proc; /* likewise; NULL = "/proc" */
    const struct helper_io *io;
    const char *data_dir;            /* holds events/; NULL = the shipped data */
    const struct cpu_leaves *leaves; /* of the CPU; NULL = read from it */
    double tsc_step;                 /* ticks by which the TSC advances; 0 = measured */
};
int helper_open_at(const struct helper_place *place, struct machine *out, struct machine_error *err);

/* As profile_open_helper(). */
struct profile_source;
int helper_profile_open_at(const struct helper_place *place, bool rehearsal, struct profile_source *out,
                           struct machine_error *err);
