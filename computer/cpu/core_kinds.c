/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which cores differ from one another, by what Linux shows of them: the kind of a hybrid part, the die, and whether
 * the processor prefers a core because it reaches a higher frequency than others.
 */
#include <stdlib.h>

#include "computer/cpu/cpu.h"
#include "util/order.h"
#include "util/text_list.h"

struct core {
    int cpu;        /* the one that cpu_choose() prefers */
    unsigned class; /* index into classes */
    int package, die;
    int cluster; /* cores that share a second-level cache; -1: not known */
    long reach;  /* how fast it may become, in whatever unit; 0: not known */
    bool favoured;
};

/* Linux, Documentation/arch/x86 and drivers/perf: a folder of /sys/devices for each core PMU of a hybrid part. */
static const struct {
    const char *folder, *label;
} classes[] = {{"cpu_core", "P"}, {"cpu_atom", "E"}, {"cpu_lowpower", "LP-E"}, {NULL, ""}};

static unsigned class_of(const char *root, int cpu)
{
    unsigned i = 0;
    for (; classes[i].folder != NULL; i++) {
        struct cpu_mask cpus;
        if (cpu_read_list(root, &cpus, "devices/%s/cpus", classes[i].folder) && cpu_mask_has(&cpus, cpu))
            break;
    }
    return i;
}

const char *cpu_core_class(const char *root, int cpu)
{
    return classes[class_of(root, cpu)].label;
}

/* CPPC's highest performance tells favoured cores apart (Linux, Documentation/admin-guide/pm/amd-pstate.rst and
 * arch/x86/kernel/itmt.c); older ones show in the highest frequency. */
static long reach_of(const char *root, int cpu)
{
    long reach = cpu_read_number(root, 0, "devices/system/cpu/cpu%d/acpi_cppc/highest_perf", cpu);
    return reach > 0 ? reach : cpu_read_number(root, 0, "devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", cpu);
}

static bool neighbours(const struct core *a, const struct core *b)
{
    return a->class == b->class && a->package == b->package && a->die == b->die;
}

/* The number of the cluster of a CPU: cores that share a second-level cache (Linux, admin-guide/cputopology.rst); -1
 * where sysfs does not say. */
static int cpu_cluster_of(const char *root, int cpu)
{
    return (int)cpu_read_number(root, -1, "devices/system/cpu/cpu%d/topology/cluster_id", cpu);
}

static size_t list_cores(const char *root, const struct cpu_view *v, struct core *out)
{
    struct cpu_mask seen;
    size_t n = 0;
    cpu_mask_clear(&seen);
    for (int i = (CPU_QUIETEST + 1) * CPU_LIMIT - 1; i >= 0; i--) {
        int cpu = i % CPU_LIMIT;
        if (!cpu_usable(v, cpu) || cpu_quietness(v, cpu) != i / CPU_LIMIT)
            continue;
        int core = cpu_core_in(v, root, cpu);
        if (cpu_mask_has(&seen, core))
            continue;
        cpu_mask_add(&seen, core);
        out[n++] = (struct core){.cpu = cpu,
                                 .class = class_of(root, cpu),
                                 .package = cpu_package_of(root, cpu),
                                 .die = cpu_die_of(root, cpu),
                                 .cluster = cpu_cluster_of(root, cpu),
                                 .reach = reach_of(root, cpu)};
    }
    return n;
}

/* A core is favoured that reaches more than some core of its kind and die, and no less than any of them. */
static void find_favoured(struct core *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool most = true, more = false;
        for (size_t k = 0; k < n; k++) {
            if (neighbours(&list[i], &list[k]) && list[k].reach > 0) {
                most = most && list[k].reach <= list[i].reach;
                more = more || list[k].reach < list[i].reach;
            }
        }
        list[i].favoured = most && more;
    }
}

/* Returns whether the core is in a cluster with others, and its die has another cluster of its kind. */
static bool is_clustered(const struct core *list, size_t n, const struct core *c)
{
    size_t with = 0, beside = 0;
    for (size_t i = 0; i < n; i++) {
        with += neighbours(&list[i], c) && list[i].cluster == c->cluster;
        beside += neighbours(&list[i], c) && list[i].cluster != c->cluster;
    }
    return c->cluster >= 0 && with > 1 && beside > 0;
}

/* Says only in what the core differs from others; `every`: also in which cluster it is, which makes no kind. */
static void describe(const struct core *list, size_t n, const struct core *c, bool every, char *label, size_t size)
{
    bool class = false, package = false, die = false, favoured = false;
    for (size_t i = 0; i < n; i++) {
        class = class || list[i].class != c->class;
        package = package || list[i].package != c->package;
        die = die || (list[i].package == c->package && list[i].die != c->die);
        favoured = favoured || (neighbours(&list[i], c) && list[i].favoured != c->favoured);
    }
    label[0] = '\0';
    if (class && classes[c->class].label[0] != '\0')
        text_list_add(label, size, ", ", "%s", classes[c->class].label);
    if (package)
        text_list_add(label, size, ", ", "package %d", c->package);
    if (die)
        text_list_add(label, size, ", ", "die %d", c->die);
    if (every && is_clustered(list, n, c))
        text_list_add(label, size, ", ", "cluster %d", c->cluster);
    if (favoured)
        text_list_add(label, size, ", ", c->favoured ? "favoured" : "not favoured");
}

static bool alike(const struct core *a, const struct core *b)
{
    return neighbours(a, b) && a->favoured == b->favoured;
}

/* The usable logical CPUs of all cores that are like one. */
static void list_cpus(const char *root, const struct cpu_view *v, const struct core *list, size_t n, size_t of,
                      struct core_kind *out)
{
    struct cpu_mask cores, cpus;
    cpu_mask_clear(&cores);
    cpu_mask_clear(&cpus);
    for (size_t i = 0; i < n; i++)
        if (alike(&list[i], &list[of]))
            cpu_mask_add(&cores, cpu_core_in(v, root, list[i].cpu));
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++)
        if (cpu_usable(v, cpu) && cpu_mask_has(&cores, cpu_core_in(v, root, cpu)))
            cpu_mask_add(&cpus, cpu);
    cpu_mask_format(&cpus, out->cpus, sizeof out->cpus);
}

size_t cpu_core_kinds(const char *root, const struct cpu_view *v, bool every, struct core_kind *out, size_t max)
{
    struct core *list = calloc(CPU_LIMIT, sizeof *list);
    size_t labelled = 0;
    if (list == NULL)
        return 0;
    size_t n = list_cores(root, v, list);
    find_favoured(list, n);
    if (every)
        qsort(list, n, sizeof *list, order_unsigned);
    for (size_t i = 0; i < n && labelled < max; i++) {
        size_t first = every ? i : 0;
        while (!alike(&list[first], &list[i]))
            first++;
        if (first < i)
            continue;
        out[labelled].cpu = list[i].cpu;
        describe(list, n, &list[i], every, out[labelled].label, sizeof out[labelled].label);
        if (!every)
            list_cpus(root, v, list, n, i, &out[labelled]);
        labelled++;
    }
    free(list);
    return labelled;
}
