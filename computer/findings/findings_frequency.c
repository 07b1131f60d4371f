/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who chooses the frequency, and within which limits. */
#include <math.h>
#include <string.h>

#include "computer/findings/findings_parts.h"

/* The part of the highest frequency that lies below `khz`. */
static double lost_below(const struct environment *e, double khz)
{
    return 1 - khz / findings_number(e, ENV_HIGHEST_KHZ);
}

/* V 5.1.1, figure 5-1: under powersave a core climbs from 1.2 to 3.5 GHz, step by step, while it is measured. */
void findings_governor(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_GOVERNOR) || findings_is(e, ENV_GOVERNOR, "performance"))
        return;
    double lowest = findings_number(e, ENV_LOWEST_KHZ);
    if (findings_number(e, ENV_HIGHEST_KHZ) > 0) {
        findings_see(f, "it may choose %.2f to %.2f GHz", lowest * 1e-6, findings_number(e, ENV_HIGHEST_KHZ) * 1e-6);
        findings_estimated(f, lost_below(e, lowest));
    }
    findings_disturbs(f, "the kernel adapts the frequency to the load: a core speeds up step by step while it is "
                         "measured, and these steps look like the processor's own");
    findings_write_fact(e, f, ENV_GOVERNOR, "performance");
}

void findings_driver(const struct environment *e, struct finding *f)
{
    if (findings_has(e, f, ENV_DRIVER)) {
        findings_see_fact(e, f, ENV_DRIVER);
    } else if (f->kind == FINDING_QUIET) {
        findings_see(f, "no /sys/devices/system/cpu/cpu%d/cpufreq", e->cpu);
        findings_limits(f, e->hypervisor
                               ? "the host of this guest chooses the frequency: neither governor nor limits "
                                 "can be read or set here, and both may change meanwhile"
                               : "no cpufreq driver: the firmware chooses the frequency, and how it does can be "
                                 "neither seen nor changed here (BIOS: let the operating system control it)");
    }
}

/* License frequencies are turbo frequencies: turbo on is what is measured, until others share its limits. */
void findings_turbo(const struct environment *e, struct finding *f)
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
void findings_epp(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_EPP))
        return;
    if (e->hwp)
        findings_see(f, "HWP: the processor chooses");
    if (findings_is(e, ENV_EPP, "performance") || findings_is(e, ENV_EPP, "0"))
        return;
    findings_disturbs(
        f, "the processor itself trades speed for energy: it raises the frequency late and lowers it while code waits");
    findings_write_fact(e, f, ENV_EPP, "performance");
}

void findings_frequency_limits(const struct environment *e, struct finding *f)
{
    if (!findings_has(e, f, ENV_MAX_KHZ) || !findings_has(e, f, ENV_HIGHEST_KHZ))
        return;
    double most = findings_number(e, ENV_MAX_KHZ), highest = findings_number(e, ENV_HIGHEST_KHZ);
    findings_see_fact(e, f, ENV_MAX_KHZ);
    if (!(most < highest))
        return;
    findings_see(f, "the processor goes up to %.2f GHz", highest * 1e-6);
    findings_disturbs(f,
                      "the CPU is kept below its highest frequency, and license levels above that limit are invisible");
    findings_counted(f, lost_below(e, most));
    findings_write_fact(e, f, ENV_MAX_KHZ, e->fact[ENV_HIGHEST_KHZ].text);
}

/* Linux, Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst. Of several dies only the first was read: what
 * changes all of them keeps what each had. */
void findings_uncore(const struct environment *e, struct finding *f)
{
    static const char all[] = "/sys/devices/system/cpu/intel_uncore_frequency/*/min_freq_khz";
    char change[sizeof f->change], undo[sizeof f->undo];
    const char *most = e->fact[ENV_UNCORE_MAX_KHZ].text, *sudo = findings_sudo(e);
    if (!findings_has(e, f, ENV_UNCORE_MIN_KHZ) || !findings_has(e, f, ENV_UNCORE_MAX_KHZ))
        return;
    findings_see_fact(e, f, ENV_UNCORE_MIN_KHZ);
    findings_see(f, "max_freq_khz: %s", most);
    if (!(findings_number(e, ENV_UNCORE_MIN_KHZ) < findings_number(e, ENV_UNCORE_MAX_KHZ)))
        return;
    findings_disturbs(f, "the clock of the mesh and the last-level cache varies with the load of all cores: accesses "
                         "beyond L2 take more or less time, and its power is taken from the cores' budget");
    if (!findings_harmless(most))
        return;
    snprintf(change, sizeof change, "%sgrep . %s >~/uncore.before; echo %s | %stee %s", sudo, all, most, sudo, all);
    snprintf(undo, sizeof undo, "while IFS=: read -r f v; do echo \"$v\" | %stee \"$f\"; done <~/uncore.before", sudo);
    findings_commands(f, change, undo);
}

/* Linux, Documentation/power/powercap/powercap.rst: constraint_0 is the long-term limit. */
void findings_power_cap(const struct environment *e, struct finding *f)
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

/* Linux, Documentation/ABI/testing/sysfs-devices-system-cpu, thermal_throttle/. */
void findings_thermal(const struct environment *e, struct finding *f)
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
