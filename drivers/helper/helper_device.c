/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The device of the kernel helper, and what its machine says of itself. */
#include "drivers/helper/helper_state.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

/* True where both mean the same kernels by the same numbers. */
static bool same_kernels(const struct characterize_hello *h)
{
    return h->kernels == kernel_shared_count() && h->registry == kernel_registry_hash();
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

/* ---- the machine ---- */

uint64_t helper_ticks(const struct helper *h, double us)
{
    return (uint64_t)llround(us * 1e-6 * h->native.tsc.hz);
}

int helper_refused(const struct helper *h, int error, unsigned reason, const char *what, struct machine_error *err)
{
    char text[140];
    enum machine_status status = error == EOPNOTSUPP || error == EBUSY ? MACHINE_CANNOT
                                 : error == EINVAL                     ? MACHINE_BAD_INPUT
                                                                       : MACHINE_FAILED;

    if (reason == CHARACTERIZE_REASON_NONE)
        return machine_fail(err, MACHINE_FAILED, "", "the kernel helper, %s: %s", what, strerror(error));
    helper_reason(h->io, h->fd, reason, text, sizeof text);
    const char *remedy = reason == CHARACTERIZE_REASON_AMX ? "--machine timing or perf runs it in user space"
                         : reason == CHARACTERIZE_REASON_NO_COUNTER || reason == CHARACTERIZE_REASON_COUNTER_BUSY
                             ? perf_room_remedy(perf_room_watchdog(h->proc))
                             : "";
    return machine_fail(err, status, remedy, "the kernel helper, %s: %s", what, text);
}

bool helper_counts(const struct helper *h, enum counter_id id)
{
    if (part_events_is_license(id))
        return h->events.license[id - COUNTER_LVL0].why[0] == '\0';
    if (counter_of_chain(id))
        return h->clock == HELPER_CHAIN;
    return id <= COUNTER_REF_CYCLES ? h->clock != HELPER_CHAIN : id < COUNTER_IDS && h->clock == HELPER_COUNTERS;
}

struct characterize_payload helper_payload(const struct payload *p)
{
    size_t count;
    const struct kernel *all = kernel_registry(&count);

    /* 0: its copy */
    return (struct characterize_payload){.kernel = (uint16_t)(p->kernel - all),
                                         .density = p->run == p->kernel->variants[0] ? 0 : (uint16_t)p->density,
                                         .dirty = p->dirty};
}

int helper_check_kernel(const struct native *s, const struct payload *p, struct machine_error *err)
{
    const struct helper *h = (const struct helper *)s;

    if (p->kernel->like != NULL)
        return machine_fail(err, MACHINE_CANNOT, "--machine perf, msr or timing runs it in user space",
                            "kernel %s: the Linux module runs no code from files, only what is built into it", p->name);
    if (p->kernel->level != KERNEL_L1)
        return machine_fail(err, MACHINE_CANNOT, "--machine perf, msr or timing runs it in user space",
                            "kernel %s: the Linux module has no buffers for operands beyond the first-level cache",
                            p->name);
    if ((p->kernel->features & KERNEL_NEEDS_AMX_BF16) != 0) {
        char what[60];
        snprintf(what, sizeof what, "kernel %s", p->name);
        return helper_refused(h, EOPNOTSUPP, CHARACTERIZE_REASON_AMX, what, err);
    }
    return native_check_features(s, p, err);
}
