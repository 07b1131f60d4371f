/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading and writing one setting of the machine: the only place of the program that writes any. */
#include "computer/settings/settings_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "computer/msr/msr_decode.h"

/* Bit 38 of 1A0H, and of what is there only that bit: *bit is read, or written with `write`. */
static int turbo_bit(const struct settings_roots *r, int cpu, bool write, bool *bit)
{
    char path[CHANGE_PATH_MAX];
    uint64_t value, after;

    snprintf(path, sizeof path, "/dev/cpu/%d/msr", cpu);
    int fd = settings_open(r, path, write ? O_RDWR : O_RDONLY);
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

static int likwid_limits(const struct settings_roots *r, int cpu, const char *value)
{
    char why[200], *end;
    uint64_t min = strtoull(value, &end, 10);
    uint64_t max = *end == '-' ? strtoull(end + 1, &end, 10) : 0;

    if (min == 0 || max < min || *end != '\0')
        return EINVAL;
    return likwid_set_frequency(r->likwid, cpu, min, max, why, sizeof why) == 0 ? 0 : EACCES;
}

/* ---- masks ---- */

void settings_mask_format(const struct cpu_mask *m, char *out, size_t size)
{
    bool begun = false;
    size_t used = 0;

    out[0] = '\0';
    for (int group = CPU_LIMIT / 32 - 1; group >= 0; group--) {
        uint32_t bits = 0;
        for (int i = 0; i < 32; i++)
            bits |= (uint32_t)cpu_mask_has(m, group * 32 + i) << i;
        if (bits == 0 && !begun && group > 0)
            continue;
        if (used + 10 < size)
            used += (size_t)snprintf(out + used, size - used, begun ? ",%08" PRIx32 : "%" PRIx32, bits);
        begun = true;
    }
}

static bool file_is_mask(const char *path)
{
    const char *name = strrchr(path, '/');
    return name != NULL && (strcmp(name, "/cpumask") == 0 || strcmp(name, "/default_smp_affinity") == 0);
}

/* ---- IRQs ---- */

/* The two parts of "LIST@CPU"; *cpu is "" where there is none. */
static void split_irq(const char *value, char *list, size_t size, const char **cpu)
{
    const char *at = strchr(value, '@');

    *cpu = at != NULL ? at + 1 : "";
    snprintf(list, size, "%.*s", (int)(at != NULL ? (size_t)(at - value) : strlen(value)), value);
}

/* Where an IRQ is really delivered is another file, of the same folder; a container or an old kernel has none. */
static int read_irq(const struct settings_roots *r, const char *path, char *out, size_t size)
{
    char other[CHANGE_PATH_MAX + 20], effective[16];
    int length = settings_read_text(r, path, out, size), folder = (int)(strrchr(path, '/') - path);

    if (length < 0)
        return errno;
    snprintf(other, sizeof other, "%.*s/effective_affinity_list", folder, path);
    bool one = settings_read_text(r, other, effective, sizeof effective) > 0 &&
               strspn(effective, "0123456789") == strlen(effective);
    if (one && (size_t)length + strlen(effective) + 2 <= size)
        snprintf(out + length, size - (size_t)length, "@%s", effective);
    return 0;
}

/* The kernel leaves an IRQ where it is if it may stay there: thus first to its CPU, then to the list. */
static int write_irq(const struct settings_roots *r, const char *path, const char *value)
{
    char list[CHANGE_VALUE_MAX], now[CHANGE_VALUE_MAX] = "", now_list[CHANGE_VALUE_MAX];
    const char *cpu, *now_cpu;

    split_irq(value, list, sizeof list, &cpu);
    if (cpu[0] != '\0' && read_irq(r, path, now, sizeof now) == 0) {
        split_irq(now, now_list, sizeof now_list, &now_cpu);
        if (strcmp(cpu, now_cpu) != 0)
            (void)settings_write_text(r, path, cpu); /* that CPU may be gone; the list is what counts */
    }
    return settings_write_text(r, path, list);
}

/* ---- one setting ---- */

int settings_change_read(const struct settings_roots *r, const struct change *c, char *out, size_t size)
{
    char why[200];
    uint64_t min, max;
    bool bit = false;
    int error;

    out[0] = '\0';
    switch (c->kind) {
    case CHANGE_FILE:
        return settings_read_text(r, c->path, out, size) < 0 ? errno : 0;
    case CHANGE_IRQ:
        return read_irq(r, c->path, out, size);
    case CHANGE_TURBO_BIT:
        error = turbo_bit(r, c->cpu, false, &bit);
        snprintf(out, size, "%d", bit);
        return error;
    case CHANGE_LIKWID:
        if (likwid_get_frequency(r->likwid, c->cpu, &min, &max, why, sizeof why) != 0)
            return EACCES;
        snprintf(out, size, "%" PRIu64 "-%" PRIu64, min, max);
        return 0;
    case CHANGE_CONTROLLER:
    case CHANGE_PARTITION:
    case CHANGE_SHIELD:
        return settings_isolate_read(r, c, out, size);
    }
    return EINVAL;
}

int settings_change_write(const struct settings_roots *r, const struct change *c, const char *value)
{
    bool bit = strcmp(value, "1") == 0;

    switch (c->kind) {
    case CHANGE_FILE:
        return settings_write_text(r, c->path, value);
    case CHANGE_IRQ:
        return write_irq(r, c->path, value);
    case CHANGE_TURBO_BIT:
        return turbo_bit(r, c->cpu, true, &bit);
    case CHANGE_LIKWID:
        return likwid_limits(r, c->cpu, value);
    case CHANGE_CONTROLLER:
        return settings_write_text(r, c->path, bit ? "+cpuset" : "-cpuset");
    case CHANGE_PARTITION:
    case CHANGE_SHIELD:
        return value == c->after ? settings_isolate_make(r, c) : settings_isolate_undo(r, c);
    }
    return EINVAL;
}

static bool same_lists(const char *a, const char *b)
{
    char list[2][CHANGE_VALUE_MAX];
    struct cpu_mask mask[2];
    const char *cpu;

    split_irq(a, list[0], sizeof list[0], &cpu);
    split_irq(b, list[1], sizeof list[1], &cpu);
    return cpu_mask_parse(list[0], &mask[0]) == 0 && cpu_mask_parse(list[1], &mask[1]) == 0 &&
           memcmp(&mask[0], &mask[1], sizeof mask[0]) == 0;
}

bool settings_change_same(const struct change *c, const char *a, const char *b)
{
    struct cpu_mask mask[2];

    if (strcmp(a, b) == 0)
        return true;
    if (c->kind == CHANGE_IRQ)
        return same_lists(a, b);
    return c->kind == CHANGE_FILE && file_is_mask(c->path) && cpu_mask_parse_hex(a, &mask[0]) == 0 &&
           cpu_mask_parse_hex(b, &mask[1]) == 0 && memcmp(&mask[0], &mask[1], sizeof mask[0]) == 0;
}

void settings_change_name(const struct settings_roots *r, const struct change *c, char *out, size_t size)
{
    if (c->kind == CHANGE_TURBO_BIT)
        snprintf(out, size, "bit 38 of MSR 1A0H of CPU %d", c->cpu);
    else if (c->kind == CHANGE_LIKWID)
        snprintf(out, size, "the frequency limits of CPU %d (liblikwid)", c->cpu);
    else
        settings_real_path(r, c->path, out, size);
}
