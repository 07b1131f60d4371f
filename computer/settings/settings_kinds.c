/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The settings that this program changes: which there are, with which values, and how those of each kind are read
 * and written. It is the only place of the program that writes any. Root writes what stands in a journal, so one
 * that somebody else has made must not become a way to write anything else.
 */
#include "computer/settings/settings_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "computer/msr/msr_decode.h"

/* ---- values ---- */

static const char digits[] = "0123456789";

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:";

static bool is_made_of(const char *text, const char *characters, size_t longest)
{
    size_t length = strspn(text, characters);
    return length > 0 && text[length] == '\0' && length <= longest;
}

static bool is_bit(const char *text)
{
    return strcmp(text, "0") == 0 || strcmp(text, "1") == 0;
}

static bool is_number(const char *text)
{
    return is_made_of(text, digits, 12);
}

static bool is_number_or_none(const char *text)
{
    return strcmp(text, "-1") == 0 || is_number(text);
}

static bool is_word(const char *text)
{
    return is_made_of(text, letters, 40);
}

static bool is_range(const char *text)
{
    const char *dash = strchr(text, '-');
    return dash != NULL && dash > text && dash - text <= 12 && strspn(text, digits) == (size_t)(dash - text) &&
           is_number(dash + 1);
}

static bool is_mask(const char *text)
{
    struct cpu_mask mask;
    return cpu_mask_parse_hex(text, &mask) == 0;
}

static bool is_cpu_list(const char *text)
{
    struct cpu_mask mask;
    return text[0] != '\0' && cpu_mask_parse(text, &mask) == 0;
}

static bool is_irq(const char *text)
{
    char list[CHANGE_VALUE_MAX];
    const char *at = strchr(text, '@');
    size_t length = at != NULL ? (size_t)(at - text) : strlen(text);
    if (length >= sizeof list || (at != NULL && !is_made_of(at + 1, digits, 6)))
        return false;
    snprintf(list, sizeof list, "%.*s", (int)length, text);
    return is_cpu_list(list);
}

/* "-", or the path of a cgroup below its root */
static bool is_cgroup(const char *text)
{
    bool path = text[0] == '/' && strstr(text, "/..") == NULL && strstr(text, "//") == NULL;
    for (const char *c = text; *c != '\0'; c++)
        path = path && *c > ' ' && *c < 0x7f;
    return path || strcmp(text, "-") == 0;
}

/* ---- paths ---- */

/* '#' in the pattern stands for a number, '*' for a name. */
static bool matches(const char *path, const char *pattern)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '#' || *pattern == '*') {
            size_t length = strspn(path, *pattern == '#' ? digits : letters);
            if (length == 0 || length > 60 || *path == '.')
                return false;
            path += length;
        } else if (*path++ != *pattern) {
            return false;
        }
    }
    return *path == '\0';
}

/* All settings that this program changes, and the values that they can have. */
static const struct setting {
    enum change_kind kind;
    const char *path; /* "": none */
    bool (*value)(const char *text);
} settings[] = {{CHANGE_FILE, SETTINGS_CPUS "intel_pstate/no_turbo", is_bit},
                {CHANGE_FILE, SETTINGS_CPUS "cpufreq/boost", is_bit},
                {CHANGE_FILE, SETTINGS_CPUS "cpufreq/policy#/boost", is_bit},
                {CHANGE_FILE, SETTINGS_CPUS "cpufreq/policy#/scaling_min_freq", is_number},
                {CHANGE_FILE, SETTINGS_CPUS "cpufreq/policy#/scaling_max_freq", is_number},
                {CHANGE_FILE, SETTINGS_CPUS "cpufreq/policy#/scaling_governor", is_word},
                {CHANGE_FILE, SETTINGS_CPUS "cpufreq/policy#/energy_performance_preference", is_word},
                {CHANGE_FILE, SETTINGS_CPUS "cpu#/cpuidle/state#/disable", is_bit},
                {CHANGE_FILE, SETTINGS_CPUS "cpu#/online", is_bit},
                {CHANGE_FILE, "/proc/irq/default_smp_affinity", is_mask},
                {CHANGE_IRQ, "/proc/irq/#/smp_affinity_list", is_irq},
                {CHANGE_FILE, SETTINGS_WORKQUEUES "cpumask", is_mask},
                {CHANGE_FILE, SETTINGS_WORKQUEUES "*/cpumask", is_mask},
                {CHANGE_FILE, "/proc/sys/kernel/nmi_watchdog", is_bit},
                {CHANGE_FILE, "/proc/sys/kernel/sched_rt_runtime_us", is_number_or_none},
                {CHANGE_FILE, "/proc/sys/vm/stat_interval", is_number},
                {CHANGE_TURBO_BIT, "", is_bit},
                {CHANGE_LIKWID, "", is_range},
                {CHANGE_CONTROLLER, "/sys/fs/cgroup/cgroup.subtree_control", is_bit},
                {CHANGE_CONTROLLER, "/sys/fs/cgroup/unified/cgroup.subtree_control", is_bit},
                {CHANGE_PARTITION, "/sys/fs/cgroup/characterize", is_cgroup},
                {CHANGE_PARTITION, "/sys/fs/cgroup/unified/characterize", is_cgroup},
                {CHANGE_SHIELD, SETTINGS_CPUSET "/characterize-others", is_cgroup}};

/* NULL: this program does not change it. */
static const struct setting *find_setting(const struct change *c)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i].kind == c->kind && matches(c->path, settings[i].path))
            return &settings[i];
    return NULL;
}

bool settings_change_allowed(const struct change *c)
{
    const struct setting *s = find_setting(c);
    bool moved = c->kind == CHANGE_PARTITION || c->kind == CHANGE_SHIELD; /* the value after is a list of CPUs */
    return s != NULL && s->value(c->before) && (moved ? is_cpu_list(c->after) : s->value(c->after)) &&
           (c->kind == CHANGE_TURBO_BIT || c->kind == CHANGE_LIKWID) == (c->cpu >= 0);
}

/* ---- registers, liblikwid ---- */

/* Bit 38 of 1A0H of a CPU: *bit is what it is. With `to` not below 0 that bit alone is set to it. */
static int turbo_bit(const struct settings_roots *r, int cpu, int to, bool *bit)
{
    char path[CHANGE_PATH_MAX];
    uint64_t value, after;
    *bit = false;
    snprintf(path, sizeof path, "/dev/cpu/%d/msr", cpu);
    int fd = settings_open(r, path, to >= 0 ? O_RDWR : O_RDONLY);
    if (fd < 0)
        return errno;
    ssize_t got = pread(fd, &value, sizeof value, MSR_MISC_ENABLE);
    int error = got == (ssize_t)sizeof value ? 0 : got < 0 ? errno : EIO;
    if (error == 0 && to >= 0) {
        after = to > 0 ? value | MSR_MISC_ENABLE_NO_TURBO : value & ~MSR_MISC_ENABLE_NO_TURBO;
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

static int read_turbo_bit(const struct settings_roots *r, const struct change *c, char *out, size_t size)
{
    bool bit;
    int error = turbo_bit(r, c->cpu, -1, &bit);
    snprintf(out, size, "%d", bit);
    return error;
}

static int write_turbo_bit(const struct settings_roots *r, const struct change *c, const char *value)
{
    bool bit;
    return turbo_bit(r, c->cpu, strcmp(value, "1") == 0, &bit);
}

static int read_likwid(const struct settings_roots *r, const struct change *c, char *out, size_t size)
{
    char why[200];
    uint64_t min, max;
    if (likwid_get_frequency(r->likwid, c->cpu, &min, &max, why, sizeof why) != 0)
        return EACCES;
    snprintf(out, size, "%" PRIu64 "-%" PRIu64, min, max);
    return 0;
}

static int write_likwid(const struct settings_roots *r, const struct change *c, const char *value)
{
    char why[200], *end;
    uint64_t min = strtoull(value, &end, 10);
    uint64_t max = *end == '-' ? strtoull(end + 1, &end, 10) : 0;
    if (min == 0 || max < min || *end != '\0')
        return EINVAL;
    return likwid_set_frequency(r->likwid, c->cpu, min, max, why, sizeof why) == 0 ? 0 : EACCES;
}

/* ---- files, IRQs ---- */

static int read_file(const struct settings_roots *r, const struct change *c, char *out, size_t size)
{
    return settings_read_text(r, c->path, out, size) < 0 ? errno : 0;
}

static int write_file(const struct settings_roots *r, const struct change *c, const char *value)
{
    return settings_write_text(r, c->path, value);
}

/* The two parts of "LIST@CPU"; *cpu is "" where there is none. */
static void split_irq(const char *value, char *list, size_t size, const char **cpu)
{
    const char *at = strchr(value, '@');
    *cpu = at != NULL ? at + 1 : "";
    snprintf(list, size, "%.*s", (int)(at != NULL ? (size_t)(at - value) : strlen(value)), value);
}

/* The CPUs to which an IRQ is really delivered are in another file of the same folder; a container or an old kernel has
 * none. */
static int read_irq(const struct settings_roots *r, const struct change *c, char *out, size_t size)
{
    char other[CHANGE_PATH_MAX + 20], effective[16];
    int length = settings_read_text(r, c->path, out, size), folder = (int)(strrchr(c->path, '/') - c->path);
    if (length < 0)
        return errno;
    snprintf(other, sizeof other, "%.*s/effective_affinity_list", folder, c->path);
    bool one = settings_read_text(r, other, effective, sizeof effective) > 0 &&
               strspn(effective, "0123456789") == strlen(effective);
    if (one && (size_t)length + strlen(effective) + 2 <= size)
        snprintf(out + length, size - (size_t)length, "@%s", effective);
    return 0;
}

/* The kernel leaves an IRQ where it is if it may stay there: thus first to its CPU, then to the list. */
static int write_irq(const struct settings_roots *r, const struct change *c, const char *value)
{
    char list[CHANGE_VALUE_MAX], now[CHANGE_VALUE_MAX] = "", now_list[CHANGE_VALUE_MAX];
    const char *cpu, *now_cpu;
    split_irq(value, list, sizeof list, &cpu);
    if (cpu[0] != '\0' && read_irq(r, c, now, sizeof now) == 0) {
        split_irq(now, now_list, sizeof now_list, &now_cpu);
        if (strcmp(cpu, now_cpu) != 0)
            (void)settings_write_text(r, c->path, cpu); /* that CPU may be gone; the list is what counts */
    }
    return settings_write_text(r, c->path, list);
}

/*
 * ---- cgroups: the measured CPU for this program alone ----
 *
 * cgroup version 2: a partition `isolated` of that CPU, in which this process is; the kernel keeps everybody else out
 * (Linux, admin-guide/cgroup-v2.rst, "Cpuset Interface Files"). Version 1 has no such thing: other tasks that may run
 * anywhere are moved to a cpuset of the other CPUs; those that have chosen their CPUs themselves stay.
 */

enum { TASKS_TEXT_MAX = 1 << 20 };

/* Calls use() for each process or task of a file. Returns how many there were, or -1 with errno. */
static long each_task(const struct settings_roots *r, const char *file,
                      void (*use)(const struct settings_roots *r, int task, void *data), void *data)
{
    long n = 0;
    char *text = malloc(TASKS_TEXT_MAX), *rest = text, *line;
    if (text == NULL || settings_read_text(r, file, text, TASKS_TEXT_MAX) < 0) {
        int error = text != NULL ? errno : ENOMEM;
        free(text);
        errno = error;
        return -1;
    }
    while ((line = strsep(&rest, "\n")) != NULL) {
        int task = atoi(line);
        if (task <= 0)
            continue;
        n++;
        use(r, task, data);
    }
    free(text);
    return n;
}

static int write_task(const struct settings_roots *r, const char *file, int task)
{
    char number[16];
    snprintf(number, sizeof number, "%d", task);
    return settings_write_text(r, file, number);
}

/* The folder `path` is in, and *name of it. */
static int open_parent(const struct settings_roots *r, const char *path, const char **name)
{
    char parent[CHANGE_PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    *name = slash + 1;
    return settings_open_folder(r, parent);
}

static int make_folder(const struct settings_roots *r, const char *path)
{
    const char *name;
    int fd = open_parent(r, path, &name);
    int error = fd < 0 || mkdirat(fd, name, 0755) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return error == EEXIST ? 0 : error; /* an empty one that has lost its journal; others have tasks: see below */
}

/* A cgroup is busy for a moment after its last task has left it. */
static int remove_folder(const struct settings_roots *r, const char *path)
{
    enum { ATTEMPTS = 40 }; /* of 5 ms each: 0.2 s, more than the kernel was seen to take; assumed */
    static const struct timespec pause = {.tv_nsec = 5000000};
    const char *name;
    int error = EBUSY;
    for (int i = 0; i < ATTEMPTS && error == EBUSY; i++) {
        int fd = open_parent(r, path, &name);
        error = fd < 0 || unlinkat(fd, name, AT_REMOVEDIR) != 0 ? errno : 0;
        if (fd >= 0)
            close(fd);
        if (error == EBUSY)
            (void)nanosleep(&pause, NULL);
    }
    return error == ENOENT ? 0 : error;
}

static int write_below(const struct settings_roots *r, const char *folder, const char *name, const char *value)
{
    char path[CHANGE_PATH_MAX + 40];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return settings_write_text(r, path, value);
}

bool settings_has_cpuset(const struct settings_roots *r, const char *path, int *error)
{
    char text[400], words[402];
    *error = settings_read_text(r, path, text, sizeof text) < 0 ? errno : 0;
    snprintf(words, sizeof words, " %s ", text);
    return strstr(words, " cpuset ") != NULL;
}

static int read_controller(const struct settings_roots *r, const struct change *c, char *out, size_t size)
{
    int error;
    snprintf(out, size, "%d", settings_has_cpuset(r, c->path, &error));
    return error;
}

static int write_controller(const struct settings_roots *r, const struct change *c, const char *value)
{
    return settings_write_text(r, c->path, strcmp(value, "1") == 0 ? "+cpuset" : "-cpuset");
}

/* A cgroup stands for `after` where it exists, else for `before`. */
static int read_cgroup(const struct settings_roots *r, const struct change *c, char *out, size_t size)
{
    int fd = settings_open_folder(r, c->path);
    if (fd < 0 && errno != ENOENT)
        return errno;
    snprintf(out, size, "%s", fd >= 0 ? c->after : c->before);
    if (fd >= 0)
        close(fd);
    return 0;
}

struct moving {
    const char *to, *otherwise; /* files; otherwise: NULL, or where to when that is gone */
    const struct cpu_mask *all; /* only tasks that may run on all of these; NULL: whatever they may */
    struct cpu_mask allowed;
    long moved;
};

static void move_task(const struct settings_roots *r, int task, void *data)
{
    struct moving *m = data;
    int process = 0;
    bool kernel;
    if (m->all != NULL && (!settings_task_allowed(r, task, &m->allowed, &process, &kernel) || process == getpid() ||
                           CPU_EQUAL_S(sizeof m->allowed, m->allowed.set, m->all->set) == 0))
        return;
    int error = write_task(r, m->to, task);
    if (error == ENOENT && m->otherwise != NULL)
        error = write_task(r, m->otherwise, task);
    m->moved += error == 0;
}

static int make_partition(const struct settings_roots *r, const struct change *c)
{
    char path[CHANGE_PATH_MAX + 40], state[200];
    int error = write_below(r, c->path, "cpuset.cpus", c->after);
    if (error == 0)
        error = write_below(r, c->path, "cpuset.cpus.partition", "isolated");
    snprintf(path, sizeof path, "%s/cpuset.cpus.partition", c->path);
    if (error == 0 && settings_read_text(r, path, state, sizeof state) < 0)
        error = errno;
    if (error == 0 && strcmp(state, "isolated") != 0)
        error = ENOTSUP; /* "isolated invalid (...)" */
    return error != 0 ? error : write_below(r, c->path, "cgroup.procs", "0");
}

/* Tasks that are born meanwhile are found by another pass. */
static int make_shield(const struct settings_roots *r, const struct change *c)
{
    enum { PASSES = 5 }; /* each finds the children of those that the one before moved; assumed */
    char path[CHANGE_PATH_MAX + 40], text[CHANGE_VALUE_MAX];
    struct cpu_mask all;
    struct moving moving = {.to = path, .all = &all};
    if (settings_read_text(r, SETTINGS_CPUSET "/cpuset.mems", text, sizeof text) < 0)
        return errno;
    int error = write_below(r, c->path, "cpuset.mems", text);
    if (error == 0)
        error = write_below(r, c->path, "cpuset.cpus", c->after);
    if (error == 0 && (settings_read_text(r, SETTINGS_CPUSET "/cpuset.cpus", text, sizeof text) < 0 ||
                       cpu_mask_parse(text, &all) != 0))
        error = EBADMSG;
    snprintf(path, sizeof path, "%s/tasks", c->path);
    for (int pass = 0; pass < PASSES && error == 0; pass++) {
        long before = moving.moved;
        if (each_task(r, SETTINGS_CPUSET "/tasks", move_task, &moving) < 0)
            error = errno;
        if (moving.moved == before)
            break;
    }
    return error == 0 && moving.moved == 0 ? ENOTSUP : error;
}

static int leave_cgroup(const struct settings_roots *r, const struct change *c)
{
    enum { PASSES = 50 }; /* a fork bomb must not keep the run from ending; assumed */
    bool partition = c->kind == CHANGE_PARTITION;
    char from[CHANGE_PATH_MAX + 40], to[2 * CHANGE_PATH_MAX], root[CHANGE_PATH_MAX];
    struct moving moving = {.to = to, .otherwise = root};
    int folder = (int)(strrchr(c->path, '/') - c->path);
    const char *file = partition ? "cgroup.procs" : "tasks";
    bool home = !partition || strcmp(c->before, "/") == 0;
    snprintf(from, sizeof from, "%s/%s", c->path, file);
    snprintf(root, sizeof root, "%.*s/%s", folder, c->path, file);
    snprintf(to, sizeof to, "%.*s%.*s/%s", folder, c->path, CHANGE_PATH_MAX, home ? "" : c->before, file);
    for (int pass = 0; pass < PASSES && each_task(r, from, move_task, &moving) > 0; pass++)
        if (moving.moved == 0)
            break;
    return remove_folder(r, c->path);
}

static int write_cgroup(const struct settings_roots *r, const struct change *c, const char *value)
{
    if (value != c->after)
        return leave_cgroup(r, c);
    int error = make_folder(r, c->path);
    if (error == 0)
        error = c->kind == CHANGE_PARTITION ? make_partition(r, c) : make_shield(r, c);
    if (error != 0)
        (void)leave_cgroup(r, c);
    return error;
}

/* ---- one setting ---- */

const char *const settings_kind_names[CHANGE_KINDS] = {
    [CHANGE_FILE] = "file",    [CHANGE_TURBO_BIT] = "turbo-bit",   [CHANGE_LIKWID] = "likwid",
    [CHANGE_IRQ] = "irq",      [CHANGE_CONTROLLER] = "controller", [CHANGE_PARTITION] = "partition",
    [CHANGE_SHIELD] = "shield"};

static const struct {
    int (*read)(const struct settings_roots *r, const struct change *c, char *out, size_t size);
    int (*write)(const struct settings_roots *r, const struct change *c, const char *value);
} kinds[CHANGE_KINDS] = {[CHANGE_FILE] = {read_file, write_file},
                         [CHANGE_TURBO_BIT] = {read_turbo_bit, write_turbo_bit},
                         [CHANGE_LIKWID] = {read_likwid, write_likwid},
                         [CHANGE_IRQ] = {read_irq, write_irq},
                         [CHANGE_CONTROLLER] = {read_controller, write_controller},
                         [CHANGE_PARTITION] = {read_cgroup, write_cgroup},
                         [CHANGE_SHIELD] = {read_cgroup, write_cgroup}};

int settings_change_read(const struct settings_roots *r, const struct change *c, char *out, size_t size)
{
    out[0] = '\0';
    return kinds[c->kind].read(r, c, out, size);
}

int settings_change_write(const struct settings_roots *r, const struct change *c, const char *value)
{
    return kinds[c->kind].write(r, c, value);
}

bool settings_change_same(const struct change *c, const char *a, const char *b)
{
    const struct setting *s = find_setting(c);
    char list[2][CHANGE_VALUE_MAX];
    struct cpu_mask mask[2];
    const char *cpu;
    if (strcmp(a, b) == 0)
        return true;
    bool is_list = s != NULL && s->value == is_irq, is_hex = s != NULL && s->value == is_mask;
    split_irq(a, list[0], sizeof list[0], &cpu);
    split_irq(b, list[1], sizeof list[1], &cpu);
    int (*const parse)(const char *, struct cpu_mask *) = is_list ? cpu_mask_parse : cpu_mask_parse_hex;
    return (is_list || is_hex) && parse(list[0], &mask[0]) == 0 && parse(list[1], &mask[1]) == 0 &&
           memcmp(&mask[0], &mask[1], sizeof mask[0]) == 0;
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
