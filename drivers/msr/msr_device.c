/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drivers/msr/msr_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/cpu/cpu.h"

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

    memset(out, 0, sizeof *out);
    snprintf(path, sizeof path, "%s/cpu/%d/msr", dev, cpu);
    out->cpu = cpu;
    out->fd = open(path, O_RDONLY | O_CLOEXEC);
    out->read = msr_device_read_file;
    out->close = close_file;
    return out->fd < 0 ? errno : 0;
}

/* The word in brackets of "none [integrity] confidentiality". */
static void read_lockdown(const char *sys, char *out, size_t size)
{
    char text[80];

    out[0] = '\0';
    if (cpu_read_text(sys, "kernel/security/lockdown", text, sizeof text) > 0) {
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

    if (cpu_read_text(proc, "self/status", text, sizeof text) <= 0 || (line = strstr(text, "CapEff:")) == NULL)
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

static void tell_open(const struct msr_trouble *t, char *why, size_t why_size, char *remedy, size_t remedy_size)
{
    switch (t->open_errno) {
    case ENOENT:
    case ENXIO: /* the node is there, but nobody serves it, or the CPU is offline */
    case ENODEV:
        snprintf(why, why_size, "no /dev/cpu/%d/msr: the kernel module msr is not loaded", t->cpu);
        snprintf(remedy, remedy_size, "as root: modprobe msr");
        return;
    case EACCES:
        snprintf(why, why_size, "/dev/cpu/%d/msr is readable by root only", t->cpu);
        snprintf(remedy, remedy_size, "run as root");
        return;
    case EPERM:
        if (t->rawio && locked_down(t)) {
            snprintf(why, why_size, "access to /dev/cpu/%d/msr is denied: kernel lockdown (%s)", t->cpu, t->lockdown);
            snprintf(remedy, remedy_size, "boot without lockdown (Secure Boot enables it)");
        } else {
            snprintf(why, why_size, "access to /dev/cpu/%d/msr is denied: no CAP_SYS_RAWIO", t->cpu);
            snprintf(remedy, remedy_size, "run as root outside a container, or grant CAP_SYS_RAWIO");
        }
        return;
    default:
        snprintf(why, why_size, "/dev/cpu/%d/msr: %s", t->cpu, strerror(t->open_errno));
    }
}

void msr_trouble_tell(const struct msr_trouble *t, char *why, size_t why_size, char *remedy, size_t remedy_size)
{
    why[0] = remedy[0] = '\0';
    if (t->open_errno != 0) {
        tell_open(t, why, why_size, remedy, remedy_size);
    } else if (t->read_errno == EIO) {
        snprintf(why, why_size, "/dev/cpu/%d/msr can be opened, but reading a register fails (EIO): %s", t->cpu,
                 t->guest ? "the hypervisor does not expose it" : "this processor has none that this program knows");
        snprintf(remedy, remedy_size, "%s", t->guest ? "measure on the host" : "");
    } else if (t->read_errno == EPERM && locked_down(t)) {
        snprintf(why, why_size, "/dev/cpu/%d/msr can be opened, but reads are denied: kernel lockdown (%s)", t->cpu,
                 t->lockdown);
        snprintf(remedy, remedy_size, "boot without lockdown (Secure Boot enables it)");
    } else if (t->read_errno != 0) {
        snprintf(why, why_size, "/dev/cpu/%d/msr can be opened, but reads fail: %s", t->cpu, strerror(t->read_errno));
    }
}
