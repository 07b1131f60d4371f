/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading and writing one setting of the machine: the only place of the program that writes any. */
#include "drivers/settings/settings_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/cpu/cpu.h"
#include "drivers/msr/msr_decode.h"

static int write_path(const char *path, const char *value)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    if (fd < 0)
        return errno;
    size_t length = strlen(value);
    ssize_t put = write(fd, value, length);
    int error = put == (ssize_t)length ? 0 : put < 0 ? errno : EIO;
    if (close(fd) != 0 && error == 0)
        error = errno;
    return error;
}

/* Bit 38 of 1A0H, and of what is there only that bit: *bit is read, or written with `write`. */
static int turbo_bit(const char *dev, int cpu, bool write, bool *bit)
{
    char path[240];
    uint64_t value, after;

    snprintf(path, sizeof path, "%s/cpu/%d/msr", dev, cpu);
    int fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ssize_t got = pread(fd, &value, sizeof value, MSR_MISC_ENABLE);
    int error = got == (ssize_t)sizeof value ? 0 : got < 0 ? errno : EIO;
    if (error == 0 && write) {
        after = *bit ? value | MSR_MISC_ENABLE_NO_TURBO : value & ~MSR_MISC_ENABLE_NO_TURBO;
        got = after == value ? (ssize_t)sizeof after : pwrite(fd, &after, sizeof after, MSR_MISC_ENABLE);
        error = got == (ssize_t)sizeof after ? 0 : got < 0 ? errno : EIO;
        got = error == 0 ? pread(fd, &value, sizeof value, MSR_MISC_ENABLE) : 0;
        if (error == 0 && (got != (ssize_t)sizeof value || value != after))
            error = EIO; /* hypervisors take writes and forget them */
    }
    close(fd);
    *bit = error == 0 && (value & MSR_MISC_ENABLE_NO_TURBO) != 0;
    return error;
}

int settings_change_read(const struct settings_roots *r, const struct change *c, char *out, size_t size)
{
    char why[200];
    uint64_t min, max;
    bool bit = false;
    int error;

    switch (c->kind) {
    case CHANGE_FILE:
        return cpu_read_text("/", c->path, out, size) < 0 ? errno : 0;
    case CHANGE_TURBO_BIT:
        error = turbo_bit(r->dev, c->cpu, false, &bit);
        snprintf(out, size, "%d", bit);
        return error;
    default:
        if (likwid_get_frequency(r->likwid, c->cpu, &min, &max, why, sizeof why) != 0)
            return EACCES;
        snprintf(out, size, "%" PRIu64 "-%" PRIu64, min, max);
        return 0;
    }
}

int settings_change_write(const struct settings_roots *r, const struct change *c, const char *value)
{
    char why[200];
    uint64_t min, max;
    char *end;
    bool bit = strcmp(value, "1") == 0;

    switch (c->kind) {
    case CHANGE_FILE:
        return write_path(c->path, value);
    case CHANGE_TURBO_BIT:
        return turbo_bit(r->dev, c->cpu, true, &bit);
    default:
        min = strtoull(value, &end, 10);
        max = *end == '-' ? strtoull(end + 1, &end, 10) : 0;
        if (min == 0 || max < min || *end != '\0')
            return EINVAL;
        return likwid_set_frequency(r->likwid, c->cpu, min, max, why, sizeof why) == 0 ? 0 : EACCES;
    }
}

void settings_change_name(const struct change *c, char *out, size_t size)
{
    switch (c->kind) {
    case CHANGE_FILE:
        snprintf(out, size, "%s", c->path);
        return;
    case CHANGE_TURBO_BIT:
        snprintf(out, size, "bit 38 of MSR 1A0H of CPU %d", c->cpu);
        return;
    default:
        snprintf(out, size, "the frequency limits of CPU %d (liblikwid)", c->cpu);
    }
}
