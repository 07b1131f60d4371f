/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "computer/msr/msr_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "computer/cpu/cpu.h"

static int msr_device_read_file(struct msr_device *d, uint32_t reg, uint64_t *value)
{
    ssize_t got = pread(d->fd, value, sizeof *value, (off_t)reg);

    if (got < 0)
        return errno;
    return got == (ssize_t)sizeof *value ? 0 : EIO;
}

static void close_file(struct msr_device *d)
{
    close(d->fd);
    d->fd = -1;
}

int msr_device_open(const char *dev, int cpu, struct msr_device *out)
{
    char path[300];

    snprintf(path, sizeof path, "%s/cpu/%d/msr", dev, cpu);
    *out = (struct msr_device){
        .cpu = cpu, .fd = open(path, O_RDONLY | O_CLOEXEC), .read = msr_device_read_file, .close = close_file};
    return out->fd < 0 ? errno : 0;
}

/* The word in brackets of "none [integrity] confidentiality". */
static void read_lockdown(const char *sys, char *out, size_t size)
{
    char text[80];

    out[0] = '\0';
    if (cpu_read_text(sys, text, sizeof text, "kernel/security/lockdown") > 0) {
        const char *word = strchr(text, '[');
        if (word != NULL)
            snprintf(out, size, "%.*s", (int)strcspn(word + 1, "]"), word + 1);
    }
}

/* Bit 17 of CapEff is CAP_SYS_RAWIO (capabilities(7), linux/capability.h). */
static bool read_rawio(const char *proc)
{
    enum { SYS_RAWIO = 17 };
    char text[4096];
    const char *line;

    if (cpu_read_text(proc, text, sizeof text, "self/status") <= 0 || (line = strstr(text, "CapEff:")) == NULL)
        return false;
    return strtoull(line + strlen("CapEff:"), NULL, 16) >> SYS_RAWIO & 1;
}

void msr_trouble_read(const char *sys, const char *proc, struct msr_trouble *out)
{
    read_lockdown(sys, out->lockdown, sizeof out->lockdown);
    out->rawio = read_rawio(proc);
}

static bool locked_down(const struct msr_trouble *t)
{
    return t->lockdown[0] != '\0' && strcmp(t->lockdown, "none") != 0;
}

static int tell_open(const struct msr_trouble *t, struct machine_error *err)
{
    switch (t->open_errno) {
    case ENOENT:
    case ENXIO: /* the node is there, but nobody serves it, or the CPU is offline */
    case ENODEV:
        return machine_fail(err, MACHINE_CANNOT, "as root: modprobe msr",
                            "no /dev/cpu/%d/msr: the kernel module msr is not loaded", t->cpu);
    case EACCES:
        return machine_fail(err, MACHINE_CANNOT, "run as root", "/dev/cpu/%d/msr is readable by root only", t->cpu);
    case EPERM:
        if (t->rawio && locked_down(t))
            return machine_fail(err, MACHINE_CANNOT, "boot without lockdown (Secure Boot enables it)",
                                "access to /dev/cpu/%d/msr is denied: kernel lockdown (%s)", t->cpu, t->lockdown);
        return machine_fail(err, MACHINE_CANNOT, "run as root outside a container, or grant CAP_SYS_RAWIO",
                            "access to /dev/cpu/%d/msr is denied: no CAP_SYS_RAWIO", t->cpu);
    default:
        return machine_fail(err, MACHINE_CANNOT, "", "/dev/cpu/%d/msr: %s", t->cpu, strerror(t->open_errno));
    }
}

int msr_trouble_tell(const struct msr_trouble *t, struct machine_error *err)
{
    if (t->open_errno != 0)
        return tell_open(t, err);
    if (t->read_errno == EIO)
        return machine_fail(err, MACHINE_CANNOT, t->guest ? "measure on the host" : "",
                            "/dev/cpu/%d/msr can be opened, but reading a register fails (EIO): %s", t->cpu,
                            t->guest ? "the hypervisor does not expose it"
                                     : "this processor has none that this program knows");
    if (t->read_errno == EPERM && locked_down(t))
        return machine_fail(err, MACHINE_CANNOT, "boot without lockdown (Secure Boot enables it)",
                            "/dev/cpu/%d/msr can be opened, but reads are denied: kernel lockdown (%s)", t->cpu,
                            t->lockdown);
    if (t->read_errno != 0)
        return machine_fail(err, MACHINE_CANNOT, "", "/dev/cpu/%d/msr can be opened, but reads fail: %s", t->cpu,
                            strerror(t->read_errno));
    return MACHINE_OK;
}
