/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What else uses the CPU, its core, the processor and the computer. */
#include <math.h>
#include <string.h>

#include "computer/findings/findings_parts.h"
#include "util/text_list.h"

enum { EXIT_US = 2 }; /* states that take longer to leave (doc/quiet-machine.md) */

/* Intel SDM vol. 3B, "Sleep states": C6 saves the core's state, and its caches are empty afterwards. */
void findings_cstates(const struct environment *e, struct finding *f)
{
    char names[200] = "", numbers[200] = "", change[sizeof f->change], undo[sizeof f->undo];
    long slowest = 0;
    for (size_t i = 0; i < e->n_states; i++) {
        const struct environment_state *s = &e->states[i];
        if (s->disabled || s->exit_us <= EXIT_US)
            continue;
        text_list_add(names, sizeof names, ", ", "%s (%ld us)", s->name, s->exit_us);
        text_list_add(numbers, sizeof numbers, " ", "%u", s->number);
        slowest = s->exit_us > slowest ? s->exit_us : slowest;
    }
    if (e->n_states > 0 && slowest == 0)
        findings_see(f, "/sys/devices/system/cpu/cpu%d/cpuidle: none takes more than %d us to leave", e->cpu, EXIT_US);
    if (e->n_states > 0 && slowest == 0 && e->fact[ENV_HALT_POLL_NS].error == 0)
        findings_see(f, "guest_halt_poll_ns %s", e->fact[ENV_HALT_POLL_NS].text);
    if (slowest == 0)
        return;
    findings_see(f, "/sys/devices/system/cpu/cpu%d/cpuidle: may enter %s", e->cpu, names);
    findings_disturbs(f,
                      "between repetitions the core sleeps: it wakes up to %ld us late, with cold caches and at a "
                      "different frequency and voltage",
                      slowest);
    snprintf(change, sizeof change,
             "for s in %s; do echo 1 | %stee /sys/devices/system/cpu/cpu%d/cpuidle/state$s/disable; done", numbers,
             findings_sudo(e), e->cpu);
    snprintf(undo, sizeof undo,
             "for s in %s; do echo 0 | %stee /sys/devices/system/cpu/cpu%d/cpuidle/state$s/disable; done", numbers,
             findings_sudo(e), e->cpu);
    findings_commands(f, change, undo);
}

/* The siblings of the CPU that are not the CPU; how many. */
static size_t siblings_of(const struct environment *e, struct cpu_mask *out)
{
    size_t n = 0;
    cpu_mask_clear(out);
    for (int cpu = 0; e->siblings_known && cpu < CPU_LIMIT; cpu++) {
        if (cpu != e->cpu && cpu_mask_has(&e->siblings, cpu)) {
            cpu_mask_add(out, cpu);
            n++;
        }
    }
    return n;
}

static int findings_first_cpu(const struct cpu_mask *m)
{
    int cpu = 0;
    while (cpu < CPU_LIMIT && !cpu_mask_has(m, cpu))
        cpu++;
    return cpu;
}

/*
 * V 5.1.2: two threads of a core do between one and two times the work of one, so each loses up to half of its speed;
 * the middle is a quarter. CPU 0 mostly cannot be taken offline.
 */
void findings_smt(const struct environment *e, struct finding *f)
{
    struct cpu_mask others;
    char list[200], path[100];
    size_t n = siblings_of(e, &others);
    if (n == 0) {
        if (findings_has(e, f, ENV_SIBLINGS))
            findings_see(f, "no other CPU shares the core of CPU %d", e->cpu);
        return;
    }
    cpu_mask_format(&others, list, sizeof list);
    if (isnan(e->busy_sibling)) {
        findings_see(f, "CPU %s shares the core of CPU %d", list, e->cpu);
        findings_not_counted(e, f, "how busy it was");
        return;
    }
    findings_see(f, "CPU %s shares the core of CPU %d, and was %.1f %% busy", list, e->cpu, 100 * e->busy_sibling);
    for (size_t i = 0, told = 0; i < e->n_tasks && told < 3; i++) {
        if (e->tasks[i].on_sibling && !e->tasks[i].self) {
            findings_see(f, "%s (%d) ran %.1f ms", e->tasks[i].name, e->tasks[i].pid, e->tasks[i].cpu_ms);
            told++;
        }
    }
    if (!(e->busy_sibling > 0))
        return;
    findings_disturbs(f, "whatever runs there takes a share of this core's units and caches, and its wide code sets "
                         "this core's license level as well");
    findings_counted(f, 0.25 * e->busy_sibling);
    if (n == 1 && findings_first_cpu(&others) > 0) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/online", findings_first_cpu(&others));
        findings_write(e, f, path, "0", "1");
    }
}

/* V 3.6.1, 5.1.3. */
void findings_isolation(const struct environment *e, struct finding *f)
{
    struct cpu_mask others;
    if (!findings_has(e, f, ENV_ISOLATED))
        return;
    if (cpu_mask_has(&e->isolated, e->cpu)) {
        findings_see_fact(e, f, ENV_ISOLATED);
        return;
    }
    findings_see(f, "CPU %d is not in /sys/devices/system/cpu/isolated (%s)", e->cpu,
                 e->fact[ENV_ISOLATED].text[0] ? e->fact[ENV_ISOLATED].text : "none is");
    if (!findings_others(e, &e->online, &others)) {
        findings_disturbs(f, "any program may run on this CPU at any time, and there is no other CPU for them");
        return;
    }
    findings_disturbs(f, "the kernel may run any program on this CPU at any time, taking its time and evicting its "
                         "caches; without a reboot, --quiet-machine=isolate keeps other programs away for a run");
    findings_boot_cpus(e, f, "isolcpus=domain,managed_irq,", &e->isolated);
}

/*
 * V 4.4.2: random accesses to memory on a distant core take a core's 99th percentile from 0.03 % to 1.33 %, here in
 * proportion to how busy the others are.
 */
void findings_load(const struct environment *e, struct finding *f)
{
    if (isnan(e->busy_others))
        return;
    findings_see(f, "/proc/stat: the other CPUs were %.1f %% busy", 100 * e->busy_others);
    if (e->busy_others < 0.01)
        return;
    findings_disturbs(f, "they share the last-level cache, memory, power and turbo limit with this CPU: end what runs "
                         "there (top shows it)");
    findings_estimated(f, 0.013 * e->busy_others);
}

void findings_hypervisor(const struct environment *e, struct finding *f)
{
    if (!e->hypervisor)
        return;
    findings_see(f, "/proc/cpuinfo: the flag hypervisor%s%s", e->hypervisor_name[0] ? "; CPUID: " : "",
                 e->hypervisor_name);
    findings_limits(f, "this is a guest: counters and registers are virtual or missing, the host may stop a CPU at any "
                       "time and move it to another core, and what else runs on the processor is invisible; bare metal "
                       "has none of these problems");
}

/* Linux, Documentation/filesystems/proc.rst, 1.7 "Miscellaneous kernel statistics in /proc/stat": steal. */
void findings_steal(const struct environment *e, struct finding *f)
{
    if (isnan(e->steal) && e->hypervisor)
        findings_not_counted(e, f, "the time taken by the host");
    if (isnan(e->steal) || (!e->hypervisor && !(e->steal > 0)))
        return;
    findings_see(f, "/proc/stat: the host took %.2f %% of the time of CPU %d", 100 * e->steal, e->cpu);
    if (!(e->steal > 0))
        return;
    findings_disturbs(f, "the host ran something else on it meanwhile, for milliseconds each time; a quieter host or a "
                         "larger or dedicated instance helps");
    findings_counted(f, e->steal);
}

/* Linux, Documentation/admin-guide/cgroup-v2.rst, "CPU Interface Files": cpu.max. */
void findings_container(const struct environment *e, struct finding *f)
{
    const char *kind = e->fact[ENV_CONTAINER].error == 0 ? e->fact[ENV_CONTAINER].text : "";
    bool inside = kind[0] || e->container_files;
    if (inside)
        findings_see(f, "this is a container%s%s", kind[0] ? ": " : "", kind);
    if (isfinite(e->cgroup_quota)) {
        findings_see(f, "its cgroup is limited to the time of %.3g CPUs", e->cgroup_quota);
        findings_disturbs(f, "once a period's quota is used up, all its threads are stopped until the next period, for "
                             "tens of milliseconds; start it without a CPU quota (docker: without --cpus)");
        if (e->cgroup_quota < 1)
            findings_counted(f, 1 - e->cgroup_quota);
        return;
    }
    if (inside || e->cgroup_cpus[0])
        findings_see(f, "no CPU quota%s%s", e->cgroup_cpus[0] ? "; its CPUs: " : "", e->cgroup_cpus);
}
