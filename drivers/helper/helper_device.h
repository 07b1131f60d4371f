/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The device of the kernel helper (drivers/helper/kmod/): opened, asked whether it fits this program, and its reasons
 * in words. The system calls come in through a struct, so that a made-up device can stand behind them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "drivers/helper/kmod/uapi.h"

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

/* What came of connecting. */
struct helper_answer {
    int open_errno;     /* 0 = it opened */
    bool other_version; /* of the module, or other kernels under the same numbers */
    char refusal[140];  /* the module's own reason why it runs nothing here, or "" */
    struct characterize_hello hello;
};

/* Opens the device and asks. Returns the descriptor, or -1 with *out telling why; nothing is left open then. */
int helper_connect(const struct helper_io *io, const char *path, struct helper_answer *out);

/* The words for a reason of enum characterize_reason: the module's, or this program's where it gives none. */
void helper_reason(const struct helper_io *io, int fd, unsigned reason, char *out, size_t size);
