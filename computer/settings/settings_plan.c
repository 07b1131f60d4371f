/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a wish becomes changes: which ways there are on this machine, and what stands there now. */
#include "computer/settings/settings_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "computer/cpu/cpu.h"
#include "util/text_list.h"

enum { SO_ALREADY = -1 };

int settings_writable(const struct settings_roots *r, const struct change *one)
{
    if (one->kind != CHANGE_FILE && one->kind != CHANGE_IRQ && one->kind != CHANGE_CONTROLLER)
        return 0;
    int fd = settings_open(r, one->path, O_WRONLY);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* Only the kernel places it: a file that nobody may write (kernel/irq/proc.c: irq_can_set_affinity_usr). */
static bool is_placed_by_kernel(const struct settings_roots *r, const struct change *one)
{
    char real[300];
    struct stat s;
    settings_real_path(r, one->path, real, sizeof real);
    return one->kind == CHANGE_IRQ && lstat(real, &s) == 0 && (s.st_mode & 0222) == 0;
}

/* Adds the change of `where` from what stands there to `after`; `try`: this user must be able to write it, as far as
 * opening it shows. Returns 0, SO_ALREADY, or an error number: EBADMSG: what stands there could not be put back. */
static int plan_change(const struct settings_roots *r, const struct change *where, const char *after, bool try,
                       struct changes *out)
{
    char before[CHANGE_VALUE_MAX], value[CHANGE_VALUE_MAX];
    struct change one = *where;
    int error = settings_change_read(r, where, before, sizeof before);
    snprintf(value, sizeof value, "%s", after);
    one.before = before;
    one.after = value;
    if (error == 0 && !settings_change_allowed(&one))
        error = EBADMSG;
    if (error == 0 && settings_change_same(&one, before, after))
        return SO_ALREADY;
    if (error == 0 && is_placed_by_kernel(r, &one))
        error = EPERM;
    if (error == 0 && try)
        error = settings_writable(r, &one);
    return error != 0 ? error : settings_changes_add(out, &one) == 0 ? 0 : ENOMEM;
}

/* The same of what must be changed. */
static int plan_or_refuse(const struct settings_roots *r, const struct change *where, const char *after,
                          struct changes *out, struct machine_error *err)
{
    char name[300];
    int error = plan_change(r, where, after, false, out);
    if (error == 0 || error == SO_ALREADY)
        return MACHINE_OK;
    if (error == ENOMEM)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    settings_change_name(r, where, name, sizeof name);
    return machine_fail(err, MACHINE_CANNOT, error == EACCES || error == EPERM ? "run as root" : "",
                        "%s cannot be read: %s", name, error != EBADMSG ? strerror(error) : "not understood");
}

void settings_keep(struct quiet_plan *p, const char *name, int error)
{
    if (p->kept++ == 0) {
        p->error = error;
        snprintf(p->first, sizeof p->first, "%s", name);
    }
}

void settings_plan_add(struct quiet_plan *p, enum change_kind kind, const char *path, const char *after)
{
    char name[300];
    struct change one = {.kind = kind, .cpu = -1, .part = -1};
    snprintf(one.path, sizeof one.path, "%s", path);
    settings_change_name(p->roots, &one, name, sizeof name);
    int error = plan_change(p->roots, &one, after, !p->only_shown, &p->changes);
    p->all++;
    p->already += error == SO_ALREADY;
    p->out_of_memory = p->out_of_memory || error == ENOMEM;
    if (error > 0 && error != ENOMEM)
        settings_keep(p, name, error);
}

void settings_why(const struct quiet_plan *p, char *out, size_t size)
{
    bool irq = strstr(p->first, "/irq/") != NULL; /* managed ones, of queues for each CPU, refuse */
    const char *because = p->error == -1                                  ? "accepts the write but does not keep it"
                          : p->error == EBADMSG                           ? "its content is not understood"
                          : irq && (p->error == EIO || p->error == EPERM) ? "only the kernel places it"
                                                                          : strerror(p->error);
    out[0] = '\0';
    if (p->why[0] != '\0')
        snprintf(out, size, "%s", p->why);
    else if (p->kept == 1)
        snprintf(out, size, "%s: %s", p->first, because);
    else if (p->kept > 1 && p->kept >= p->all)
        snprintf(out, size, "e.g. %s: %s", p->first, because);
    else if (p->kept > 1)
        snprintf(out, size, "%zu of %zu cannot be changed, e.g. %s: %s", p->kept, p->all, p->first, because);
}

/* ---- turbo ---- */

static bool has_file(const struct settings_roots *r, const char *name, struct change *one)
{
    *one = (struct change){.kind = CHANGE_FILE, .cpu = -1, .part = -1};
    snprintf(one->path, sizeof one->path, SETTINGS_CPUS "%s", name);
    return settings_accessible(r, one->path, F_OK);
}

bool settings_policies(const struct settings_roots *r, struct cpu_mask *out)
{
    unsigned *numbers;
    size_t n;
    cpu_mask_clear(out);
    (void)settings_numbers(r, SETTINGS_CPUS "cpufreq", "policy", &numbers, &n);
    for (size_t i = 0; i < n; i++)
        cpu_mask_add(out, (int)numbers[i]);
    free(numbers);
    return cpu_mask_count(out) > 0;
}

/* policyN/boost of every policy that has one. *found: there was one. */
static int plan_policy_boost(const struct settings_roots *r, const char *after, bool *found, struct changes *out,
                             struct machine_error *err)
{
    struct cpu_mask policies;
    int status = MACHINE_OK;
    *found = false;
    settings_policies(r, &policies);
    for (int i = 0; i < CPU_LIMIT && status == MACHINE_OK; i++) {
        char name[60];
        struct change one;
        snprintf(name, sizeof name, "cpufreq/policy%d/boost", i);
        if (cpu_mask_has(&policies, i) && has_file(r, name, &one)) {
            *found = true;
            status = plan_or_refuse(r, &one, after, out, err);
        }
    }
    return status;
}

static int plan_turbo_bits(const struct settings_roots *r, const char *after, struct changes *out,
                           struct machine_error *err)
{
    struct cpu_view view;
    int status = MACHINE_OK;
    cpu_view_read(r->sys, &view);
    for (int cpu = 0; cpu < CPU_LIMIT && status == MACHINE_OK; cpu++) {
        if (cpu_mask_has(&view.online, cpu)) {
            struct change one = {.kind = CHANGE_TURBO_BIT, .cpu = cpu, .part = -1};
            status = plan_or_refuse(r, &one, after, out, err);
        }
    }
    if (status == MACHINE_CANNOT) {
        char why[250];
        snprintf(why, sizeof why, "%.240s", err->text);
        machine_fail(err, MACHINE_CANNOT, "load a cpufreq driver, or as root: modprobe msr",
                     "turbo cannot be switched here: there is neither intel_pstate/no_turbo nor cpufreq/boost, and %s",
                     why);
    }
    return status;
}

int settings_plan_turbo(const struct settings_roots *r, bool on, struct changes *out, char *text, size_t size,
                        struct machine_error *err)
{
    const char *no_turbo = on ? "0" : "1", *boost = on ? "1" : "0";
    size_t before = out->n;
    struct change one;
    bool found = true;
    int status;
    if (has_file(r, "intel_pstate/no_turbo", &one))
        status = plan_or_refuse(r, &one, no_turbo, out, err);
    else if (has_file(r, "cpufreq/boost", &one))
        status = plan_or_refuse(r, &one, boost, out, err);
    else
        status = plan_policy_boost(r, boost, &found, out, err);
    if (status == MACHINE_OK && !found && r->intel) {
        status = plan_turbo_bits(r, no_turbo, out, err);
    } else if (status == MACHINE_OK && !found) {
        status = machine_fail(err, MACHINE_CANNOT, "",
                              "turbo cannot be switched here: there is neither intel_pstate/no_turbo nor cpufreq/boost "
                              "(a virtual machine has none)");
    }
    const char *was = out->n == before ? "as before" : on ? "was off" : "was on";
    text_list_add(text, size, "; ", "turbo %s (%s)", on ? "on" : "off", was);
    return status;
}

/* ---- frequency ---- */

struct limits {
    uint64_t lowest, highest, min, max; /* kHz: of the hardware; in force */
};

static int read_khz(const struct settings_roots *r, int policy, const char *name, uint64_t *khz)
{
    char path[80], text[40];
    struct change one;
    snprintf(path, sizeof path, "cpufreq/policy%d/%s", policy, name);
    if (!has_file(r, path, &one))
        return ENOENT;
    int error = settings_change_read(r, &one, text, sizeof text);
    char *end = text;
    *khz = error == 0 ? strtoull(text, &end, 10) : 0;
    return error != 0 ? error : end != text && *end == '\0' ? 0 : EBADMSG;
}

static int read_limits(const struct settings_roots *r, int policy, struct limits *l, struct machine_error *err)
{
    int error = read_khz(r, policy, "cpuinfo_min_freq", &l->lowest);
    error = error != 0 ? error : read_khz(r, policy, "cpuinfo_max_freq", &l->highest);
    error = error != 0 ? error : read_khz(r, policy, "scaling_min_freq", &l->min);
    error = error != 0 ? error : read_khz(r, policy, "scaling_max_freq", &l->max);
    if (error != 0) {
        return machine_fail(err, MACHINE_CANNOT, "", "the limits of cpufreq/policy%d cannot be read: %s", policy,
                            strerror(error));
    }
    return MACHINE_OK;
}

/* The lower limit may never be above the upper one, neither on the way there nor, in reverse order, back. */
static int plan_policy(const struct settings_roots *r, int policy, uint64_t khz, const struct limits *l,
                       struct changes *out, struct machine_error *err)
{
    static const char *const names[2] = {"scaling_min_freq", "scaling_max_freq"};
    char path[80], value[40];
    struct change one[2];
    bool writable = true;
    snprintf(value, sizeof value, "%" PRIu64, khz);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "cpufreq/policy%d/%s", policy, names[i]);
        writable = has_file(r, path, &one[i]) && settings_accessible(r, one[i].path, W_OK) && writable;
    }
    if (!writable) {
        char why[200], both[48];
        uint64_t min, max;
        struct change other = {.kind = CHANGE_LIKWID, .cpu = policy, .part = -1};
        if (likwid_get_frequency(r->likwid, policy, &min, &max, why, sizeof why) != 0) {
            return machine_fail(err, MACHINE_CANNOT, "run as root, or set up likwid's frequency daemon",
                                "the frequency cannot be set: %s is not writable, and %.200s", one[0].path, why);
        }
        snprintf(both, sizeof both, "%" PRIu64 "-%" PRIu64, khz, khz);
        return plan_or_refuse(r, &other, both, out, err);
    }
    int first = khz > l->max ? 1 : 0;
    int status = plan_or_refuse(r, &one[first], value, out, err);
    return status != MACHINE_OK ? status : plan_or_refuse(r, &one[1 - first], value, out, err);
}

int settings_plan_frequency(const struct settings_roots *r, double ghz, struct changes *out, char *text, size_t size,
                            struct machine_error *err)
{
    struct cpu_mask policies;
    uint64_t khz = (uint64_t)llround(ghz * 1e6);
    struct limits l = {0, 0, 0, 0};
    int status = MACHINE_OK;
    if (!settings_policies(r, &policies)) {
        status = machine_fail(err, MACHINE_CANNOT, "",
                              "the frequency cannot be set here: cpufreq has no policy (a virtual machine has none)");
    }
    for (int i = 0; i < CPU_LIMIT && status == MACHINE_OK; i++) {
        if (!cpu_mask_has(&policies, i))
            continue;
        status = read_limits(r, i, &l, err);
        if (status == MACHINE_OK && (khz < l.lowest || khz > l.highest)) {
            status = machine_fail(err, MACHINE_CANNOT, "", "%g GHz cannot be set: cpufreq/policy%d allows %g to %g GHz",
                                  ghz, i, (double)l.lowest * 1e-6, (double)l.highest * 1e-6);
        }
        if (status == MACHINE_OK)
            status = plan_policy(r, i, khz, &l, out, err);
    }
    text_list_add(text, size, "; ", "%g GHz fixed (limits were %g to %g GHz)", ghz, (double)l.min * 1e-6,
                  (double)l.max * 1e-6);
    return status;
}
