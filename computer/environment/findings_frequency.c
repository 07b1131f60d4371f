/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who chooses the frequency, within which limits, and who else uses the core. */
#include <errno.h>
#include <math.h>

#include "computer/environment/findings_parts.h"

#define IMPLAUSIBLE_KHZ 7e6 /* above what any x86 processor is sold for: 6.2 GHz (Core i9-14900KS) */

/*
 * The highest frequency that cpufreq tells; NaN: none, or it cannot be right: firmware tables and hypervisors fill in
 * anything. A driver that does not know turbo tells the base frequency, or 1 MHz more (Linux,
 * Documentation/admin-guide/pm/intel_pstate.rst, "intel_pstate vs acpi-cpufreq"), but none less.
 */
static double highest_khz(const struct environment *e)
{
    double khz = findings_number(e, ENV_HIGHEST_KHZ);
    bool below = khz < 0.95 * e->base_khz || khz < findings_number(e, ENV_LOWEST_KHZ); /* NaN: not known */
    return khz > 0 && khz <= IMPLAUSIBLE_KHZ && !below ? khz : NAN;
}

static void look_at_highest_frequency(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_HIGHEST_KHZ))
        return;
    if (e->base_khz > 0)
        findings_see(f, "base frequency, by %s: %.2f GHz", e->base_from, e->base_khz * 1e-6);
    if (isnan(highest_khz(e)))
        findings_limits(f, "implausible, as firmware or hypervisors fill it in: frequencies are measured, and nothing "
                           "here is judged by it; only --fixed-frequency cannot go beyond it");
}

/* The part of the highest frequency that lies below `khz`; NaN: not known. */
static double lost_below(const struct environment *e, double khz)
{
    return 1 - khz / highest_khz(e);
}

/*
 * The driver leaves the frequency to the processor, which only takes hints and limits: intel_pstate in active mode with
 * HWP, amd-pstate in active mode. Both have an energy_performance_preference then (Linux,
 * Documentation/admin-guide/pm/intel_pstate.rst, "Active Mode With HWP"; amd-pstate.rst, "Active Mode").
 */
static bool processor_chooses(const struct environment *e)
{
    return e->fact[ENV_EPP].error != ENOENT &&
           (findings_is(e, ENV_DRIVER, "intel_pstate") || findings_is(e, ENV_DRIVER, "amd-pstate-epp") ||
            findings_is(e, ENV_DRIVER, "amd_pstate_epp"));
}

/* V 5.1.1, figure 5-1: under powersave, there that of intel_pstate by what it does, a core climbs from 1.2 to 3.5 GHz,
 * step by step, while it is measured. As a governor of other drivers, powersave is the lowest frequency (cpufreq.rst,
 * "powersave"). */
static void look_at_governor(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_GOVERNOR) || findings_is(e, ENV_GOVERNOR, "performance"))
        return;
    bool powersave = findings_is(e, ENV_GOVERNOR, "powersave");
    if (powersave && processor_chooses(e)) {
        findings_see(f, "with this driver the processor chooses, and the preference (epp) counts");
        return;
    }
    double lowest = findings_number(e, ENV_LOWEST_KHZ);
    bool keeps = powersave && e->fact[ENV_DRIVER].error == 0 && !findings_is(e, ENV_DRIVER, "intel_pstate");
    if (highest_khz(e) > 0) {
        findings_see(f, "%s %.2f %s %.2f GHz", keeps ? "it chooses" : "it may choose", lowest * 1e-6,
                     keeps ? "of" : "to", highest_khz(e) * 1e-6);
        findings_estimated(f, lost_below(e, lowest));
    }
    if (keeps)
        findings_disturbs(f, "with this driver it keeps the CPU at its lowest frequency, whatever runs: license levels "
                             "above that are invisible");
    else
        findings_disturbs(f, "the kernel adapts the frequency to the load: a core speeds up step by step while it is "
                             "measured, and these steps look like the processor's own");
    findings_write_fact(e, f, ENV_GOVERNOR, "performance");
}

static void look_at_driver(const struct environment *e, struct finding *f)
{
    if (findings_has(e, f, ENV_DRIVER)) {
        findings_see_fact(e, f, ENV_DRIVER);
    } else if (f->kind == FINDING_QUIET) {
        findings_see(f, "no /sys/devices/system/cpu/cpu%d/cpufreq", e->cpu);
        findings_limits(f, e->hypervisor
                               ? "the host of this guest chooses the frequency: neither governor nor limits "
                                 "can be read or set here, and both may change meanwhile; a bare-metal instance "
                                 "shows them"
                               : "no cpufreq driver: the firmware chooses the frequency, and how it does can be "
                                 "neither seen nor changed here (BIOS: let the operating system control it)");
    }
}

/* License frequencies are turbo frequencies: turbo on is what is measured, until others share its limits. */
static void look_at_turbo(const struct environment *e, struct finding *f)
{
    static const enum environment_fact places[] = {ENV_NO_TURBO, ENV_POLICY_BOOST, ENV_BOOST};
    enum environment_fact which = ENV_NO_TURBO;
    bool found = false;
    for (size_t i = 0; i < sizeof places / sizeof *places && !found && f->kind == FINDING_QUIET; i++) {
        which = places[i];
        found = findings_has(e, f, which);
    }
    if (!found)
        return;
    bool on = findings_is(e, which, "0") == (which == ENV_NO_TURBO);
    findings_see_fact(e, f, which);
    if (!on) {
        findings_limits(f, "turbo is off: license levels differ above the base frequency only, so none may be visible");
    } else if (e->busy_others > 0.05) { /* NaN: not known */
        findings_see(f, "turbo is on, and the other CPUs were %.0f %% busy", 100 * e->busy_others);
        findings_disturbs(f, "the turbo frequency depends on how many cores are active and how warm they are: other "
                             "programs change it (without turbo, no license levels are visible)");
    } else {
        findings_see(f, "turbo is on, as license levels need it");
        return;
    }
    findings_write_fact(e, f, which, on == (which == ENV_NO_TURBO) ? "1" : "0");
}

/* Linux, Documentation/admin-guide/pm/intel_pstate.rst, "Energy vs Performance Hints". */
static void look_at_epp(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_EPP))
        return;
    if (processor_chooses(e))
        findings_see(f, "the processor chooses the frequency by it");
    if (findings_is(e, ENV_EPP, "performance") || findings_is(e, ENV_EPP, "0"))
        return;
    findings_disturbs(
        f, "the processor itself trades speed for energy: it raises the frequency late and lowers it while code waits");
    findings_write_fact(e, f, ENV_EPP, "performance");
}

/* Global limits are in force besides those of each CPU (intel_pstate.rst, "Coordination of P-State Limits"). */
static void look_at_frequency_limits(const struct environment *e, struct finding *f)
{
    static const char why[] = "the CPU is kept below its highest frequency, and license levels above that limit are "
                              "invisible";
    double most = findings_number(e, ENV_MAX_KHZ), percent = findings_number(e, ENV_MAX_PERF_PCT);
    if (!findings_has(e, f, ENV_MAX_KHZ) || !findings_has(e, f, ENV_HIGHEST_KHZ))
        return;
    findings_see_fact(e, f, ENV_MAX_KHZ);
    if (most < highest_khz(e)) {
        findings_see(f, "the processor goes up to %.2f GHz", highest_khz(e) * 1e-6);
        findings_disturbs(f, "%s", why);
        findings_counted(f, lost_below(e, most));
        findings_write_fact(e, f, ENV_MAX_KHZ, e->fact[ENV_HIGHEST_KHZ].text);
    } else if (percent < 100) {
        findings_see_fact(e, f, ENV_MAX_PERF_PCT);
        findings_disturbs(f, "%s", why);
        findings_counted(f, 1 - percent / 100);
        findings_write_fact(e, f, ENV_MAX_PERF_PCT, "100");
    }
}

/* Linux, Documentation/ABI/testing/sysfs-devices-system-cpu, thermal_throttle/. */
static void look_at_thermal(const struct environment *e, struct finding *f)
{
    if (!findings_has(e, f, ENV_THERMAL_CORE))
        return;
    if (isnan(e->thermal_boot)) {
        findings_see_fact(e, f, ENV_THERMAL_CORE);
        return;
    }
    findings_see(f, "/sys/devices/system/cpu/cpu%d/thermal_throttle: %.0f since boot", e->cpu, e->thermal_boot);
    if (e->thermal_now > 0)
        findings_see(f, "%.0f of them while counting", e->thermal_now);
    if (e->thermal_boot > 0)
        findings_disturbs(f, "the processor was too hot and slowed down: frequencies of that time reflect the cooling; "
                             "better fans or fewer --runs help");
}

/* Linux, Documentation/power/powercap/powercap.rst: constraint_0 is the long-term limit. */
static void look_at_power_cap(const struct environment *e, struct finding *f)
{
    if (!findings_has(e, f, ENV_CAP_UW))
        return;
    double cap = findings_number(e, ENV_CAP_UW), most = findings_number(e, ENV_CAP_MAX_UW);
    findings_see_fact(e, f, ENV_CAP_UW);
    if (!(cap < most) || findings_is(e, ENV_CAP_ENABLED, "0"))
        return;
    findings_see(f, "the package allows %.0f W and is limited to %.0f W", most * 1e-6, cap * 1e-6);
    findings_disturbs(f, "a power limit below the processor's own lowers the frequency of heavy code on many cores, "
                         "which looks like a license level");
    findings_write_fact(e, f, ENV_CAP_UW, e->fact[ENV_CAP_MAX_UW].text);
}

/* ---- who else runs on the core, and on the CPU ---- */

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

static int first_cpu(const struct cpu_mask *m)
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
static void look_at_smt(const struct environment *e, struct finding *f)
{
    struct cpu_mask others;
    char list[200], path[100];
    size_t n = siblings_of(e, &others);
    if (n == 0) {
        if (findings_has(e, f, ENV_SIBLINGS))
            findings_see(f, "no other CPU shares the core of CPU %d%s", e->cpu,
                         e->hypervisor ? ", as far as the hypervisor tells" : "");
        return;
    }
    cpu_mask_format(&others, list, sizeof list);
    if (isnan(e->busy_sibling)) {
        findings_see(f, "CPU %s shares the core of CPU %d", list, e->cpu);
        findings_not_counted(e, f, "how busy it was");
        return;
    }
    findings_see(f, "CPU %s shares the core of CPU %d, and was %.1f %% busy", list, e->cpu, 100 * e->busy_sibling);
    for (size_t i = 0, reported = 0; i < e->n_tasks && reported < 3; i++) {
        if (e->tasks[i].on_sibling && !e->tasks[i].self) {
            findings_see(f, "%s (%d) ran %.1f ms", e->tasks[i].name, e->tasks[i].pid, e->tasks[i].cpu_ms);
            reported++;
        }
    }
    if (!(e->busy_sibling > 0))
        return;
    findings_disturbs(f, "whatever runs there takes a share of this core's units and caches, and its wide code sets "
                         "this core's license level as well");
    findings_counted(f, 0.25 * e->busy_sibling);
    if (n == 1 && first_cpu(&others) > 0) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/online", first_cpu(&others));
        findings_write(e, f, path, "0", "1");
    }
}

/* V 3.6.1, 5.1.3. */
static void look_at_isolation(const struct environment *e, struct finding *f)
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
    findings_disturbs(f,
                      "the kernel may run any program on this CPU at any time, taking its time and evicting its "
                      "caches; without a reboot, --quiet-machine=isolate keeps other programs away for a run%s",
                      e->hypervisor ? "; only a dedicated host or bare metal keeps the host's away" : "");
    findings_boot_cpus(e, f, "isolcpus=domain,managed_irq,", &e->isolated);
}

const struct finding_rule findings_of_frequency[] = {
    {"governor", look_at_governor},
    {"driver", look_at_driver},
    {"turbo", look_at_turbo},
    {"epp", look_at_epp},
    {"frequency-limits", look_at_frequency_limits},
    {"max-frequency", look_at_highest_frequency},
    {"thermal", look_at_thermal},
    {"power-cap", look_at_power_cap},
    {"smt", look_at_smt},
    {"isolation", look_at_isolation},
    {NULL, NULL},
};
