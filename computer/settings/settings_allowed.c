/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a journal may hold: exactly the files that this program changes, with values that such a file can have had. Root
 * writes what stands in a journal, so that one that somebody else has made must not become a way to write anything
 * else.
 */
#include "computer/settings/settings_parts.h"

#include <stdio.h>
#include <string.h>

static const char digits[] = "0123456789";
static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:";

static bool is_made_of(const char *text, const char *characters, size_t longest)
{
    size_t length = strspn(text, characters);
    return length > 0 && text[length] == '\0' && length <= longest;
}

/* ---- values ---- */

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

static const struct {
    enum change_kind kind;
    const char *path; /* "": none */
    bool (*value)(const char *text);
} settings_allowed[] = {{CHANGE_FILE, SETTINGS_CPUS "intel_pstate/no_turbo", is_bit},
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

bool settings_change_allowed(const struct change *c)
{
    for (size_t i = 0; i < sizeof settings_allowed / sizeof *settings_allowed; i++) {
        if (settings_allowed[i].kind != c->kind || !matches(c->path, settings_allowed[i].path))
            continue;
        bool moved = c->kind == CHANGE_PARTITION || c->kind == CHANGE_SHIELD; /* the value after is a list of CPUs */
        return settings_allowed[i].value(c->before) &&
               (moved ? is_cpu_list(c->after) : settings_allowed[i].value(c->after)) &&
               (c->kind == CHANGE_TURBO_BIT || c->kind == CHANGE_LIKWID) == (c->cpu >= 0);
    }
    return false;
}
