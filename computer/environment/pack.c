/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a computer from which its environment is read, for others to read it from. */
#include "computer/environment/pack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "computer/environment/environment.h"
#include "computer/environment/tree.h"

enum { PACK_TEXT_SIZE = 4096, OTHER_CPUS_MAX = 1024 };

struct packing {
    struct tree t;
    const struct environment *e;
    environment_taker *take;
    void *data;
    int status;
    bool read_only; /* the present file */
};

static void pack_bytes(struct packing *p, const char *path, const char *bytes, size_t size)
{
    if (p->status == 0)
        p->status = p->take(p->data, path, bytes, size, p->read_only);
}

static void pack_text(struct packing *p, const char *path, const char *text)
{
    pack_bytes(p, path, text, strlen(text));
}

/* A small file as it is, where it can be read. */
static void pack_file(struct packing *p, const char *path)
{
    char text[PACK_TEXT_SIZE];
    long size = tree_text(&p->t, path, text, sizeof text);
    if (size >= 0)
        pack_bytes(p, path, text, (size_t)size);
}

/* A large one. */
static void pack_whole(struct packing *p, const char *path)
{
    char *text = tree_whole(&p->t, path);
    if (text != NULL)
        pack_text(p, path, text);
    free(text);
}

/* ---- the facts ---- */

/* Returns whether a word of the kernel's command line changes what is measured; others may name disks, hosts,
 * addresses. */
static bool word_matters(const char *word)
{
    static const char keys[] = "isolcpus nohz_full nohz rcu_nocbs irqaffinity mitigations nosmt intel_pstate "
                               "amd_pstate intel_idle. processor. cpuidle. idle nmi_watchdog nowatchdog tsc "
                               "clocksource transparent_hugepage lockdown kthread_cpus pti nopti preempt "
                               "threadirqs skew_tick workqueue. cpufreq. nox2apic acpi_irq_nobalance maxcpus "
                               "nr_cpus nomodule";
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:=";
    size_t length;
    for (const char *key = keys; *key != '\0'; key += length + strspn(key + length, " ")) {
        length = strcspn(key, " ");
        bool begins = strncmp(word, key, length) == 0;
        bool whole = key[length - 1] == '.' || word[length] == '\0' || word[length] == '=';
        if (begins && whole)
            return strspn(word, plain) == strlen(word);
    }
    return false;
}

static void command_line(struct packing *p, const char *path)
{
    char text[PACK_TEXT_SIZE], kept[PACK_TEXT_SIZE] = "", *rest = NULL;
    size_t used = 0;
    if (tree_text(&p->t, path, text, sizeof text) < 0)
        return;
    for (const char *word = strtok_r(text, " \n", &rest); word != NULL && strcmp(word, "--") != 0;
         word = strtok_r(NULL, " \n", &rest))
        if (word_matters(word))
            used += (size_t)snprintf(kept + used, sizeof kept - used, "%s%s", used > 0 ? " " : "", word);
    snprintf(kept + used, sizeof kept - used, "\n");
    pack_text(p, path, kept);
}

/* Replaces a star: by "0" where any name will do, or by nothing after the beginning of a name. */
static void without_star(const char *path, char *out, size_t size)
{
    const char *star = strchr(path, '*');
    if (star == NULL)
        snprintf(out, size, "%s", path);
    else
        snprintf(out, size, "%.*s%s%s", (int)(star - path), path, star[-1] == '/' ? "0" : "", star + 1);
}

static void facts(struct packing *p)
{
    for (int i = 0; i < ENV_FACTS; i++) {
        const struct environment_path path = environment_path((enum environment_fact)i, p->e->cpu);
        char concrete[sizeof path.text], text[ENVIRONMENT_TEXT + 1];
        without_star(path.text + 1, concrete, sizeof concrete);
        if (i == ENV_BOOT_ID || p->e->fact[i].error != 0)
            continue;
        if (i == ENV_CMDLINE) {
            command_line(p, concrete);
        } else if (strchr(path.text, '*') != NULL) {
            snprintf(text, sizeof text, "%s\n", p->e->fact[i].text);
            pack_text(p, concrete, text);
        } else {
            pack_file(p, concrete); /* a set of CPUs may be longer than a fact */
        }
    }
}

/* ---- CPUs ---- */

static void pack_cpu(struct packing *p, int cpu)
{
    static const char *const names[] = {
        "online",
        "topology/thread_siblings_list",
        "topology/core_cpus_list",
        "topology/core_id",
        "topology/physical_package_id",
        "topology/die_id",
        "cpufreq/scaling_driver",
        "cpufreq/scaling_governor",
        "cpufreq/cpuinfo_max_freq",
        "acpi_cppc/highest_perf",
        "microcode/version",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pack_file(p, tree_path("sys/devices/system/cpu/cpu%d/%s", cpu, names[i]).text);
}

static void pack_states(struct packing *p)
{
    for (size_t i = 0; i < p->e->n_states; i++) {
        static const char *const names[] = {"name", "latency", "disable"};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            pack_file(p, tree_path("sys/devices/system/cpu/cpu%d/cpuidle/state%u/%s", p->e->cpu, p->e->states[i].number,
                                   names[k])
                             .text);
    }
}

static void pack_cpus(struct packing *p)
{
    struct tree_names names;
    pack_file(p, "sys/devices/system/cpu/present");
    pack_file(p, "sys/devices/system/cpu/possible");
    pack_file(p, "sys/devices/cpu_core/cpus");
    pack_file(p, "sys/devices/cpu_atom/cpus");
    tree_names(&p->t, "sys/devices/system/cpu", "cpu", &names);
    for (size_t i = 0; i < names.n && i < OTHER_CPUS_MAX; i++) {
        char *end;
        long cpu = strtol(names.name[i] + 3, &end, 10);
        if (*end == '\0' && end > names.name[i] + 3)
            pack_cpu(p, (int)cpu);
    }
    tree_names_free(&names);
    pack_states(p);
    pack_whole(p, "proc/cpuinfo");
}

/* ---- interrupts, and what is counted: the state of one moment ---- */

static void pack_irqs(struct packing *p)
{
    pack_whole(p, "proc/interrupts");
    for (size_t i = 0; i < p->e->n_irqs; i++) {
        p->read_only = !p->e->irqs[i].movable;
        if (p->e->irqs[i].numbered)
            pack_file(p, tree_path("proc/irq/%s/smp_affinity_list", p->e->irqs[i].name).text);
    }
    p->read_only = false;
}

/* The lines of the CPUs; others tell for how long the machine has run, and how much. */
static void pack_stat(struct packing *p)
{
    char *text = tree_whole(&p->t, "proc/stat"), *end = text;
    while (end != NULL && strncmp(end, "cpu", 3) == 0) {
        end += strcspn(end, "\n");
        end += *end == '\n';
    }
    if (text != NULL)
        pack_bytes(p, "proc/stat", text, (size_t)(end - text));
    free(text);
}

/* ---- what has another form there ---- */

/* One hierarchy of version 2, and this process at its root: names of groups tell of users and hosts. */
static void pack_cgroup(struct packing *p)
{
    char text[PACK_TEXT_SIZE];
    pack_text(p, "proc/self/mountinfo", "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    pack_text(p, "proc/self/cgroup", "0::/\n");
    if (p->e->cgroup_cpus[0] != '\0') {
        snprintf(text, sizeof text, "%s\n", p->e->cgroup_cpus);
        pack_text(p, "sys/fs/cgroup/cpuset.cpus.effective", text);
    }
    if (!isnan(p->e->cgroup_quota)) {
        snprintf(text, sizeof text, "%.0f 100000\n", p->e->cgroup_quota * 100000);
        pack_text(p, "sys/fs/cgroup/cpu.max", text);
    }
    if (p->e->container_files)
        pack_text(p, "run/.containerenv", "");
}

static void pack_kernel(struct packing *p)
{
    static const char variable[] = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
    char text[60];
    if (p->e->config_hz > 0) { /* which need not be compressed */
        snprintf(text, sizeof text, "CONFIG_HZ=%ld\n", p->e->config_hz);
        pack_text(p, "proc/config.gz", text);
    }
    if (p->e->secure_boot >= 0) {
        const char bytes[] = {6, 0, 0, 0, (char)p->e->secure_boot};
        pack_bytes(p, variable, bytes, sizeof bytes);
    }
    if (p->e->msr_error == 0)
        pack_text(p, tree_path("dev/cpu/%d/msr", p->e->cpu).text, "");
}

int environment_pack(const char *root, int cpu, environment_taker *take, void *data)
{
    struct environment e;
    struct machine_error ignored;
    struct packing p = {.e = &e, .take = take, .data = data};
    if (environment_read(root, cpu, 0, NULL, NULL, &e, &ignored) != MACHINE_OK)
        return 0; /* there is nothing to tell */
    if (tree_open(root, &p.t) == 0) {
        facts(&p);
        pack_cpus(&p);
        for (size_t i = 0; i < e.n_weaknesses; i++)
            pack_file(&p, tree_path("sys/devices/system/cpu/vulnerabilities/%s", e.weaknesses[i].name).text);
        pack_irqs(&p);
        pack_stat(&p);
        pack_cgroup(&p);
        pack_kernel(&p);
        tree_close(&p.t);
    }
    environment_free(&e);
    return p.status;
}
