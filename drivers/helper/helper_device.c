/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The device of the kernel helper. */
#include "drivers/helper/helper_device.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/registry_hash.h"

static int system_open(const char *path)
{
    return open(path, O_RDWR | O_CLOEXEC);
}

static int system_ioctl(int fd, unsigned long request, void *arg)
{
    return ioctl(fd, request, arg);
}

static void *system_map(int fd, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

static int system_wait(int fd, int timeout_ms)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, timeout_ms);
}

const struct helper_io helper_system = {.open = system_open,
                                        .ioctl = system_ioctl,
                                        .map = system_map,
                                        .unmap = munmap,
                                        .wait = system_wait,
                                        .read = read,
                                        .close = close};

void helper_reason(const struct helper_io *io, int fd, unsigned reason, char *out, size_t size)
{
    static const char *const known[] = {
#define REASON_TEXT(name, text) text,
        CHARACTERIZE_REASONS(REASON_TEXT)
#undef REASON_TEXT
    };
    struct characterize_reason_text t = {.version = CHARACTERIZE_VERSION, .reason = reason};

    if (io->ioctl(fd, CHARACTERIZE_IOC_REASON, &t) == 0 && t.text[0] != '\0')
        snprintf(out, size, "%.*s", (int)sizeof t.text, t.text);
    else
        snprintf(out, size, "%s", reason < CHARACTERIZE_REASON_COUNT ? known[reason] : "for an unknown reason");
}

/* Whether both mean the same kernels by the same numbers. */
static bool same_kernels(const struct characterize_hello *h)
{
    size_t count;

    kernel_registry(&count);
    return h->kernels == count && h->registry == kernel_registry_hash();
}

int helper_connect(const struct helper_io *io, const char *path, struct helper_answer *out)
{
    memset(out, 0, sizeof *out);
    int fd = io->open(path);
    if (fd < 0) {
        out->open_errno = errno;
        return -1;
    }
    out->hello.version = CHARACTERIZE_VERSION;
    bool answered = io->ioctl(fd, CHARACTERIZE_IOC_HELLO, &out->hello) == 0;
    /* ENOTTY: the size of the struct is part of the number, so that other sizes are unknown requests */
    if (!answered && (errno == EPROTO || errno == ENOTTY))
        out->other_version = true;
    else if (!answered)
        helper_reason(io, fd, out->hello.reason, out->refusal, sizeof out->refusal);
    else if (!same_kernels(&out->hello))
        out->other_version = true;
    else
        return fd;
    io->close(fd);
    return -1;
}
