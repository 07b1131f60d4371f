/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts about this computer as JSON. */
#include "output/self_test/host_facts.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "drivers/machine.h"

enum { SERIAL_NUMBER = 3, SUBLEAVES_MAX = 16, LEAVES_MAX = 64, CHOICES_MAX = 8 };

/* Leaves whose ECX chooses among subleaves (SDM vol. 2A, CPUID; AMD APM vol. 3, appendix E). */
static bool has_subleaves(uint32_t leaf)
{
    static const uint32_t leaves[] = {0x4,  0x7,  0xb,  0xd,  0xf,  0x10, 0x12,       0x14,       0x17,      0x18,
                                      0x1d, 0x1e, 0x1f, 0x20, 0x23, 0x24, 0x8000001d, 0x80000020, 0x80000026};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++)
        if (leaves[i] == leaf)
            return true;
    return false;
}

static void add_leaf(json_t *out, cpuid_fn *cpuid, uint32_t leaf)
{
    for (uint32_t sub = 0; sub < SUBLEAVES_MAX; sub++) {
        struct cpuid_regs r;
        cpuid(leaf, sub, &r);
        if (sub > 0 && (r.eax | r.ebx | r.ecx | r.edx) == 0)
            continue; /* state components of 0DH have gaps */
        json_array_append_new(out, json_sprintf("%08x.%u: %08x %08x %08x %08x", leaf, sub, r.eax, r.ebx, r.ecx, r.edx));
        if (!has_subleaves(leaf))
            return;
    }
}

static void add_leaves(json_t *out, cpuid_fn *cpuid, uint32_t base)
{
    struct cpuid_regs r;
    cpuid(base, 0, &r);
    for (uint32_t leaf = base; leaf <= r.eax && leaf - base < LEAVES_MAX; leaf++)
        if (leaf != SERIAL_NUMBER)
            add_leaf(out, cpuid, leaf);
}

/* `cpuid` alone, of another CPU. */
static json_t *host_facts_cpuid(cpuid_fn *cpuid)
{
    struct cpuid_regs version;
    json_t *out = json_array();
    add_leaves(out, cpuid, 0);
    cpuid(1, 0, &version);
    if (version.ecx >> 31)
        add_leaves(out, cpuid, 0x40000000);
    add_leaves(out, cpuid, 0x80000000);
    return out;
}

static json_t *cpuinfo_json(const char *proc)
{
    static const char *const fields[] = {"vendor_id", "cpu family", "model",    "model name", "stepping",
                                         "microcode", "cache size", "siblings", "cpu cores",  "cpuid level",
                                         "flags",     "bugs",       "cpu MHz"};
    char path[300], line[8192];
    json_t *out = json_object();
    json_int_t processors = 0;
    snprintf(path, sizeof path, "%s/cpuinfo", proc);
    FILE *in = fopen(path, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        processors += cpu_info_value(line, "processor") != NULL;
        for (size_t i = 0; processors == 1 && i < sizeof fields / sizeof *fields; i++) {
            const char *value = cpu_info_value(line, fields[i]);
            if (value != NULL)
                json_object_set_new(out, fields[i], json_string(value));
        }
    }
    if (in != NULL)
        (void)fclose(in);
    json_object_set_new(out, "processors", json_integer(processors));
    return out;
}

/* The files that can be read, by their names. */
static json_t *files_json(const char *root, const char *folder, const char *const *names, size_t n)
{
    json_t *out = json_object();
    for (size_t i = 0; i < n; i++) {
        char text[300];
        if (cpu_read_text(root, text, sizeof text, "%s/%s", folder, names[i]) > 0)
            json_object_set_new(out, names[i], json_string(text));
    }
    return out;
}

static json_t *topology_json(const char *sys)
{
    static const char *const names[] = {
        "topology/physical_package_id",  "topology/die_id",          "topology/core_id",
        "topology/thread_siblings_list", "cpufreq/scaling_driver",   "cpufreq/scaling_governor",
        "cpufreq/scaling_min_freq",      "cpufreq/scaling_max_freq", "cpufreq/cpuinfo_max_freq",
        "cpufreq/base_frequency",        "acpi_cppc/highest_perf"};
    struct cpu_view view;
    json_t *out = json_object();
    cpu_view_read(sys, &view);
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        char folder[60], number[16];
        if (cpu_mask_has(&view.online, cpu)) {
            snprintf(folder, sizeof folder, "devices/system/cpu/cpu%d", cpu);
            snprintf(number, sizeof number, "%d", cpu);
            json_object_set_new(out, number, files_json(sys, folder, names, sizeof names / sizeof *names));
        }
    }
    return out;
}

static json_t *system_json(const char *sys)
{
    static const char *const names[] = {"cpu/online",
                                        "cpu/present",
                                        "cpu/smt/active",
                                        "cpu/smt/control",
                                        "cpu/isolated",
                                        "cpu/nohz_full",
                                        "cpu/intel_pstate/status",
                                        "cpu/intel_pstate/no_turbo",
                                        "cpu/amd_pstate/status",
                                        "cpu/cpufreq/boost",
                                        "cpu/cpuidle/current_driver",
                                        "cpu/cpuidle/current_governor",
                                        "cpu/cpu0/microcode/version",
                                        "clocksource/clocksource0/current_clocksource"};
    return files_json(sys, "devices/system", names, sizeof names / sizeof *names);
}

static json_t *machines_json(void)
{
    struct machine_choice choices[CHOICES_MAX];
    size_t n = machine_choices(choices, CHOICES_MAX);
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(out, json_pack("{s:s, s:b, s:s, s:s}", "name", choices[i].name, "usable",
                                             choices[i].usable, "why", choices[i].why, "remedy", choices[i].remedy));
    }
    return out;
}

json_t *host_facts_json(const char *sys, const char *proc)
{
    struct utsname name;
    const char *release = uname(&name) == 0 ? name.release : "";
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "format", "characterize-host/1", "kernel", release, "cpuid",
                     host_facts_cpuid(cpu_cpuid_here), "cpuinfo", cpuinfo_json(proc), "system", system_json(sys),
                     "topology", topology_json(sys), "machines", machines_json());
}
