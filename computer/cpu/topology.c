/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logical CPUs and physical cores: which exist, which may be used, which to measure on. */
#include "computer/cpu/cpu.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cpu_mask_clear(struct cpu_mask *m)
{
    CPU_ZERO_S(sizeof *m, m->set);
}

void cpu_mask_add(struct cpu_mask *m, int cpu)
{
    if (cpu >= 0 && cpu < CPU_LIMIT)
        CPU_SET_S((size_t)cpu, sizeof *m, m->set);
}

bool cpu_mask_has(const struct cpu_mask *m, int cpu)
{
    return cpu >= 0 && cpu < CPU_LIMIT && CPU_ISSET_S((size_t)cpu, sizeof *m, m->set);
}

unsigned cpu_mask_count(const struct cpu_mask *m)
{
    return (unsigned)CPU_COUNT_S(sizeof *m, m->set);
}

/* One number of a list; -1 when there is none or it is out of range. */
static long list_number(const char **text)
{
    if (!isdigit((unsigned char)**text))
        return -1;
    char *end;
    unsigned long value = strtoul(*text, &end, 10);
    *text = end;
    return value < CPU_LIMIT ? (long)value : -1;
}

int cpu_mask_parse(const char *text, struct cpu_mask *out)
{
    cpu_mask_clear(out);
    while (*text != '\0') {
        long first = list_number(&text);
        long last = first;
        if (*text == '-') {
            text++;
            last = list_number(&text);
        }
        if (first < 0 || last < first || (*text != ',' && *text != '\0') || (*text == ',' && text[1] == '\0')) {
            cpu_mask_clear(out);
            return -1;
        }
        for (long cpu = first; cpu <= last; cpu++)
            cpu_mask_add(out, (int)cpu);
        text += *text == ',';
    }
    return 0;
}

int cpu_mask_parse_hex(const char *text, struct cpu_mask *out)
{
    enum { WORD_DIGITS = 8, WORD_BITS = 32 };
    const char *const begin = text;
    size_t words = 1;
    bool good = true;
    cpu_mask_clear(out);
    for (const char *c = text; *c != '\0'; c++)
        words += *c == ',';
    while (good && words-- > 0) {
        size_t digits = strspn(text, "0123456789abcdefABCDEF");
        unsigned long bits = strtoul(text, NULL, 16);
        good = digits > 0 && digits <= WORD_DIGITS && text[digits] == (words > 0 ? ',' : '\0') &&
               (digits == WORD_DIGITS || text == begin) && (bits == 0 || words < CPU_LIMIT / WORD_BITS);
        for (int i = 0; good && i < WORD_BITS; i++)
            if (bits >> i & 1)
                cpu_mask_add(out, (int)words * WORD_BITS + i);
        text += digits + 1;
    }
    if (!good)
        cpu_mask_clear(out);
    return good ? 0 : -1;
}

void cpu_mask_format(const struct cpu_mask *m, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        char part[32];
        int last = cpu;
        if (!cpu_mask_has(m, cpu))
            continue;
        while (cpu_mask_has(m, last + 1))
            last++;
        int length = snprintf(part, sizeof part, last > cpu ? "%s%d-%d" : "%s%d", used > 0 ? "," : "", cpu, last);
        if (used + (size_t)length + 4 > size) { /* leaves room for the dots */
            snprintf(out + used, size - used, "...");
            return;
        }
        memcpy(out + used, part, (size_t)length + 1);
        used += (size_t)length;
        cpu = last;
    }
}

void cpu_mask_format_hex(const struct cpu_mask *m, char *out, size_t size)
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

int cpu_get_affinity(struct cpu_mask *out)
{
    cpu_mask_clear(out);
    return sched_getaffinity(0, sizeof *out, out->set);
}

int cpu_pin(int cpu, struct cpu_mask *before)
{
    struct cpu_mask one;
    cpu_mask_clear(&one);
    cpu_mask_add(&one, cpu);
    return cpu_get_affinity(before) != 0 ? -1 : cpu_set_affinity(&one);
}

int cpu_set_affinity(const struct cpu_mask *m)
{
    return sched_setaffinity(0, sizeof *m, m->set);
}

static int read_at(const char *root, char *out, size_t size, const char *path, va_list args)
{
    char below[400], full[512];
    int length = vsnprintf(below, sizeof below, path, args);
    int whole = snprintf(full, sizeof full, "%s/%s", root, below);
    out[0] = '\0';
    if (length < 0 || (size_t)length >= sizeof below || (size_t)whole >= sizeof full) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = open(full, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, out, size - 1);
    int saved = errno;
    close(fd);
    errno = saved;
    if (got < 0) {
        out[0] = '\0';
        return -1;
    }
    while (got > 0 && isspace((unsigned char)out[got - 1]))
        got--;
    out[got] = '\0';
    return (int)got;
}

int cpu_read_text(const char *root, char *out, size_t size, const char *path, ...)
{
    va_list args;
    va_start(args, path);
    int length = read_at(root, out, size, path, args);
    va_end(args);
    return length;
}

long cpu_read_number(const char *root, long otherwise, const char *path, ...)
{
    char text[64], *end = text;
    long value = 0;
    va_list args;
    va_start(args, path);
    if (read_at(root, text, sizeof text, path, args) > 0)
        value = strtol(text, &end, 10);
    va_end(args);
    return end != text && *end == '\0' ? value : otherwise;
}

bool cpu_read_list(const char *root, struct cpu_mask *out, const char *path, ...)
{
    char text[4096];
    va_list args;
    cpu_mask_clear(out);
    va_start(args, path);
    bool read = read_at(root, text, sizeof text, path, args) > 0 && cpu_mask_parse(text, out) == 0;
    va_end(args);
    return read;
}

int cpu_quietness(const struct cpu_view *v, int cpu)
{
    return cpu_mask_has(&v->isolated, cpu) ? CPU_QUIETEST : cpu_mask_has(&v->tickless, cpu);
}

void cpu_view_widen(struct cpu_view *v, const struct cpu_mask *reach)
{
    struct cpu_mask more;
    cpu_mask_clear(&more);
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        bool allowed = cpu_mask_has(&v->allowed, cpu), isolated = cpu_mask_has(&v->isolated, cpu);
        if (!cpu_mask_has(&v->online, cpu) || !cpu_mask_has(reach, cpu))
            continue;
        if (allowed == isolated)
            return;
        if (isolated)
            cpu_mask_add(&more, cpu);
    }
    CPU_OR_S(sizeof more, v->allowed.set, v->allowed.set, more.set);
}

/* The kernel cuts a request down to what the cpuset holds (sched_setaffinity(2)). */
static void request_isolated(struct cpu_view *v)
{
    struct cpu_mask reach;
    if (cpu_mask_count(&v->isolated) == 0 || cpu_set_affinity(&v->online) != 0)
        return;
    bool known = cpu_get_affinity(&reach) == 0;
    if (cpu_set_affinity(&v->allowed) == 0 && known)
        cpu_view_widen(v, &reach);
}

void cpu_view_read(const char *root, struct cpu_view *out)
{
    out->core = NULL;
    if (cpu_get_affinity(&out->allowed) != 0)
        cpu_mask_clear(&out->allowed);
    cpu_read_list(root, &out->present, "devices/system/cpu/present");
    cpu_read_list(root, &out->online, "devices/system/cpu/online");
    cpu_read_list(root, &out->big, "devices/cpu_core/cpus");
    cpu_read_list(root, &out->isolated, "devices/system/cpu/isolated");
    cpu_read_list(root, &out->tickless, "devices/system/cpu/nohz_full");
    if (cpu_mask_count(&out->online) == 0)
        out->online = out->allowed;
    if (cpu_mask_count(&out->present) == 0)
        out->present = out->online;
    request_isolated(out);
}

bool cpu_usable(const struct cpu_view *v, int cpu)
{
    return cpu_mask_has(&v->online, cpu) && cpu_mask_has(&v->allowed, cpu);
}

int cpu_refuse(const struct cpu_view *v, struct machine_error *err, const char *remedy, const char *text, ...)
{
    struct cpu_mask can;
    char list[120];
    va_list args;
    CPU_AND_S(sizeof can, can.set, v->online.set, v->allowed.set);
    cpu_mask_format(&can, list, sizeof list);
    err->status = MACHINE_BAD_INPUT;
    va_start(args, text);
    vsnprintf(err->text, sizeof err->text, text, args);
    va_end(args);
    snprintf(err->remedy, sizeof err->remedy, "%susable CPUs: %s", remedy, list[0] != '\0' ? list : "none");
    return MACHINE_BAD_INPUT;
}

static int choose_default(const struct cpu_view *v, int *cpu, struct machine_error *err)
{
    int best = -1, most = -1;
    for (int c = CPU_LIMIT - 1; c >= 0; c--) {
        int merit = (CPU_QUIETEST + 1) * cpu_mask_has(&v->big, c) + cpu_quietness(v, c);
        if (cpu_usable(v, c) && merit > most) {
            best = c;
            most = merit;
        }
    }
    *cpu = best;
    if (best >= 0)
        return MACHINE_OK;
    return cpu_refuse(v, err, "", "no CPU is both online and allowed to this process");
}

int cpu_choose(const struct cpu_view *v, int wanted, int *cpu, struct machine_error *err)
{
    if (wanted == -1)
        return choose_default(v, cpu, err);
    if (!cpu_mask_has(&v->present, wanted))
        return cpu_refuse(v, err, "", "CPU %d does not exist on this machine", wanted);
    if (!cpu_mask_has(&v->online, wanted)) {
        char remedy[100];
        snprintf(remedy, sizeof remedy, "as root: echo 1 > /sys/devices/system/cpu/cpu%d/online; ", wanted);
        return cpu_refuse(v, err, remedy, "CPU %d is offline", wanted);
    }
    if (!cpu_mask_has(&v->allowed, wanted)) {
        return cpu_refuse(v, err, "widen it with taskset or the cgroup's cpuset; ",
                          "CPU %d is not allowed to this process (its affinity or cgroup excludes it)", wanted);
    }
    *cpu = wanted;
    return MACHINE_OK;
}

int cpu_default(const char *root)
{
    struct cpu_view view;
    struct machine_error ignored;
    int cpu;
    cpu_view_read(root, &view);
    return cpu_choose(&view, -1, &cpu, &ignored) == MACHINE_OK ? cpu : 0;
}

/* The first CPU of a list in which this one is, too; `otherwise` where it is not, as in no list of its own. */
static int first_with(const struct cpu_mask *list, int cpu, int otherwise)
{
    int first = 0;
    if (!cpu_mask_has(list, cpu))
        return otherwise;
    while (!cpu_mask_has(list, first))
        first++;
    return first;
}

int cpu_core_of(const char *root, int cpu)
{
    struct cpu_mask siblings;
    (void)cpu_read_list(root, &siblings, "devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    return first_with(&siblings, cpu, cpu);
}

int cpu_core_in(const struct cpu_view *v, const char *root, int cpu)
{
    return v->core != NULL ? v->core[cpu] : cpu_core_of(root, cpu);
}

int cpu_package_of(const char *root, int cpu)
{
    return (int)cpu_read_number(root, 0, "devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
}

int cpu_l3_of(const char *root, int cpu)
{
    struct cpu_mask sharing;
    (void)cpu_read_list(root, &sharing, "devices/system/cpu/cpu%d/cache/index3/shared_cpu_list", cpu);
    return first_with(&sharing, cpu, -1);
}

int cpu_die_of(const char *root, int cpu)
{
    return (int)cpu_read_number(root, 0, "devices/system/cpu/cpu%d/topology/die_id", cpu);
}
