/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings about the computer, its kernel and its host: what they do meanwhile, and what they keep from being read. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "computer/environment/findings_parts.h"
#include "util/text_list.h"

enum { EXIT_US = 2 }; /* states that take longer to leave (doc/quiet-machine.md) */

/* Intel SDM vol. 3B, "Sleep states": C6 saves the core's state, and its caches are empty afterwards. */
static void look_at_cstates(const struct environment *e, struct finding *f)
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

/* Linux, Documentation/filesystems/proc.rst, 1.7 "Miscellaneous kernel statistics in /proc/stat": steal. */
static void look_at_steal(const struct environment *e, struct finding *f)
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
static void look_at_container(const struct environment *e, struct finding *f)
{
    const char *kind = e->fact[ENV_CONTAINER].error == 0 ? e->fact[ENV_CONTAINER].text : "";
    bool inside = kind[0] || e->container_files;
    if (inside)
        findings_see(f, "this is a container%s%s", kind[0] ? ": " : "", kind);
    if (isfinite(e->cgroup_quota)) {
        findings_see(f, "its cgroup is limited to the time of %.3g CPUs", e->cgroup_quota);
        findings_disturbs(f,
                          "once a period's quota is used up, all its threads are stopped until the next period, for "
                          "tens of milliseconds; start it without a CPU quota (docker: without --cpus)%s",
                          inside && e->hypervisor ? "; a rented container keeps its quota, an instance has none" : "");
        if (e->cgroup_quota < 1)
            findings_counted(f, 1 - e->cgroup_quota);
        return;
    }
    if (inside && e->hypervisor)
        findings_limits(f, "settings and kernel are those of the guest around this container, and are changed there; "
                           "where only containers are rented, that takes an instance of one's own");
    if (inside || e->cgroup_cpus[0])
        findings_see(f, "no CPU quota%s%s", e->cgroup_cpus[0] ? "; its CPUs: " : "", e->cgroup_cpus);
}

/*
 * V 4.4.2: random accesses to memory on a distant core take a core's 99th percentile from 0.03 % to 1.33 %, here in
 * proportion to how busy the others are.
 */
static void look_at_load(const struct environment *e, struct finding *f)
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

/* Linux, Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst. Of several dies only the first was read: what
 * changes all of them keeps what each had. */
static void look_at_uncore(const struct environment *e, struct finding *f)
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

/* Linux, arch/x86/kernel/tsc.c, tsc_unstable: what the kernel does not trust is no clock for 1 us either. */
static void look_at_clocksource(const struct environment *e, struct finding *f)
{
    static const char *const of_tsc[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "xen"};
    if (!findings_shows(e, f, ENV_CLOCKSOURCE))
        return;
    for (size_t i = 0; i < sizeof of_tsc / sizeof *of_tsc; i++)
        if (strcmp(e->fact[ENV_CLOCKSOURCE].text, of_tsc[i]) == 0)
            return;
    findings_disturbs(f, "the kernel does not trust the time stamp counter, which times everything here: dmesg says "
                         "why (unstable? different between CPUs?)");
}

static void look_at_microcode(const struct environment *e, struct finding *f)
{
    if (e->microcodes > 1) {
        findings_see(f, "/proc/cpuinfo: %u revisions among the CPUs", e->microcodes);
        findings_disturbs(f, "CPUs with different microcode may have different license levels: an interrupted update? "
                             "A reboot loads the same for all");
        return;
    }
    if (e->microcode[0])
        findings_see(f, "revision %s%s", e->microcode, e->hypervisor ? ", as reported by the hypervisor" : "");
}

/* Words of Linux, arch/x86/kernel/cpu/bugs.c, for what is done at each entry to the kernel or at each switch. */
static bool costs_at_entry(const char *text)
{
    static const char *const words[] = {"PTI",  "Clear CPU buffers", "untrained return", "IBPB: always",
                                        "IBRS", "Safe RET"};
    if (strncmp(text, "Mitigation: ", 12) != 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(text, words[i]);
        bool hardware = at && strcmp(words[i], "IBRS") == 0 && strstr(text, "Enhanced"); /* set once, at boot */
        if (at && !hardware && !(at > text && (isalpha((unsigned char)at[-1]) || at[-1] == '-')))
            return true;
    }
    return false;
}

static void look_at_mitigations(const struct environment *e, struct finding *f)
{
    char list[200] = "";
    for (size_t i = 0; i < e->n_weaknesses; i++)
        if (costs_at_entry(e->weaknesses[i].text))
            text_list_add(list, sizeof list, ", ", "%s", e->weaknesses[i].name);
    if (e->n_weaknesses == 0)
        return;
    if (!list[0]) {
        findings_see(f, "/sys/devices/system/cpu/vulnerabilities: none has a cost at each kernel entry");
        return;
    }
    findings_see(f, "/sys/devices/system/cpu/vulnerabilities: mitigated at each kernel entry or context switch: %s",
                 list);
    findings_disturbs(f, "every interrupt and system call takes up to a microsecond longer and leaves colder buffers. "
                         "Turn them off only where all code that runs is trusted");
    if (strcmp(e->mitigations, "default") == 0) {
        findings_boot(f, "mitigations=off");
    } else if (findings_harmless(e->mitigations) && strcmp(e->mitigations, "off") != 0) {
        static const char line[] = "on the kernel command line and reboot";
        f->boot = true;
        snprintf(f->change, sizeof f->change, "replace mitigations=%s with mitigations=off %s", e->mitigations, line);
        snprintf(f->undo, sizeof f->undo, "replace mitigations=off with mitigations=%s %s", e->mitigations, line);
    }
}

/* Linux, Documentation/admin-guide/mm/transhuge.rst. */
static void look_at_huge_pages(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_HUGE_PAGES) || !strstr(e->fact[ENV_HUGE_PAGES].text, "[always]"))
        return;
    findings_disturbs(f, "whether a buffer gets huge pages varies from run to run, and khugepaged merges pages "
                         "meanwhile: tables with memory accesses differ from run to run");
    findings_write(e, f, environment_path(ENV_HUGE_PAGES, e->cpu).text, "madvise", "always");
}

/* V 5.1.8: it makes runs of a program differ, by what meets in caches and TLBs, not parts of one run. */
static void look_at_aslr(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_ASLR) || findings_is(e, ENV_ASLR, "0"))
        return;
    findings_disturbs(f, "code and data are at different addresses in each run, so runs with memory accesses differ; "
                         "for a single command, and without root: setarch -R ./characterize ...");
    findings_write_fact(e, f, ENV_ASLR, "0");
}

static void look_at_hypervisor(const struct environment *e, struct finding *f)
{
    if (!e->hypervisor)
        return;
    findings_see(f, "/proc/cpuinfo: the flag hypervisor%s%s", e->hypervisor_name[0] ? "; CPUID: " : "",
                 e->hypervisor_name);
    findings_limits(f,
                    "this is a guest: counters and registers are virtual or missing, the host may stop a CPU at any "
                    "time and move it to another core, and what else runs on the processor is invisible. A bare-metal "
                    "instance has none of these problems, a dedicated host no strangers; longer runs average "
                    "what remains");
}

/* ---- what keeps counters and registers from being read: it disturbs nothing, but less can be measured ---- */

static void look_at_pmu(const struct environment *e, struct finding *f)
{
    if (findings_has(e, f, ENV_PMU_TYPE)) {
        findings_see(f, "/sys/bus/event_source/devices: cpu is there");
    } else if (f->kind == FINDING_QUIET) {
        findings_see(f, "no cpu in /sys/bus/event_source/devices");
        findings_limits(f,
                        "cycles, instructions and license levels cannot be counted; frequencies come from time "
                        "stamps alone%s",
                        e->hypervisor ? ": " CPU_GUEST_COUNTERS : "");
    }
}

/* Linux, Documentation/admin-guide/sysctl/kernel.rst, perf_event_paranoid; root is never refused. */
static void look_at_perf_paranoid(const struct environment *e, struct finding *f)
{
    if (e->fact[ENV_PMU_TYPE].error == ENOENT || !findings_shows(e, f, ENV_PERF_PARANOID))
        return;
    if (e->root || !(findings_number(e, ENV_PERF_PARANOID) > 2))
        return;
    findings_limits(f, "unprivileged users may not count anything: --machine perf does not work");
    findings_write_fact(e, f, ENV_PERF_PARANOID, "2");
}

/*
 * The kernel allows rate / HZ samples a tick, rounded up, and where that is one, it stops an event after each sample
 * until the next tick; since Linux 6.16 with all counters of its group (kernel/events/core.c,
 * __perf_event_account_interrupt(), perf_event_throttle_group()). It lowers the rate itself where interrupts take long
 * ("perf: interrupt took too long"), never below HZ (perf_sample_event_took()). Of this program only the profile by
 * perf samples (drivers/perf/perf_profile.c); all else reads counters.
 */
static void look_at_perf_sample_rate(const struct environment *e, struct finding *f)
{
    static const long least_hz = 100; /* CONFIG_HZ, where it is not known: the lowest on x86 */
    if (e->fact[ENV_PMU_TYPE].error == ENOENT || !findings_shows(e, f, ENV_PERF_RATE) ||
        !(findings_number(e, ENV_PERF_RATE) <= (double)(e->config_hz > 0 ? e->config_hz : least_hz)))
        return;
    findings_limits(f, "one sample a tick at most, after each of which counting may stop until the next: --profile by "
                       "perf counts too little. Its --machine helper, and --machine perf elsewhere, which only reads, "
                       "are not affected");
    findings_write_fact(e, f, ENV_PERF_RATE, "100000");
}

/* Linux, arch/x86/events/core.c, rdpmc: 0 for nobody, 1 while perf events are mapped, 2 always. */
static void look_at_rdpmc(const struct environment *e, struct finding *f)
{
    if (e->fact[ENV_PMU_TYPE].error == ENOENT || !findings_shows(e, f, ENV_RDPMC) || !findings_is(e, ENV_RDPMC, "0"))
        return;
    findings_limits(f, "programs may not use RDPMC, and reading a counter by a system call takes a microsecond instead "
                       "of a few nanoseconds");
    findings_write_fact(e, f, ENV_RDPMC, "1");
}

/* msr(4). */
static void look_at_msr_module(const struct environment *e, struct finding *f)
{
    char change[60], undo[60];
    size_t length;
    bool modules = environment_boot_option(e, "nomodule", &length) == NULL;
    if (e->msr_error == 0) {
        findings_see(f, "/dev/cpu/%d/msr can be read", e->cpu);
        return;
    }
    findings_see(f, "/dev/cpu/%d/msr: %s", e->cpu,
                 e->msr_error == ENOENT || e->msr_error == ENOTDIR ? "not there" : strerror(e->msr_error));
    if (e->msr_error == EACCES || e->msr_error == EPERM) {
        findings_limits(f, "voltage, turbo limits and throttling reasons are in registers, which only root may read: "
                           "run as root, or grant CAP_SYS_RAWIO and read access to the file");
        return;
    }
    if (e->hypervisor) {
        findings_limits(f,
                        "voltage, turbo limits and throttling reasons are in registers, which hypervisors do not pass "
                        "on: " CPU_GUEST_HARDWARE);
        return;
    }
    findings_limits(
        f,
        "voltage, turbo limits and throttling reasons are in registers, which the kernel module msr makes readable%s",
        modules ? "" : "; this kernel was booted without modules (nomodule)");
    if (!modules || (e->msr_error != ENOENT && e->msr_error != ENOTDIR))
        return;
    snprintf(change, sizeof change, "%smodprobe msr", findings_sudo(e));
    snprintf(undo, sizeof undo, "%smodprobe -r msr", findings_sudo(e));
    findings_commands(f, change, undo);
}

/* kernel_lockdown(7). */
static void look_at_lockdown(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_LOCKDOWN))
        return;
    const char *text = e->fact[ENV_LOCKDOWN].text; /* "none [integrity] confidentiality" */
    if (strstr(text, "[integrity]") || strstr(text, "[confidentiality]"))
        findings_limits(f, "registers (MSRs) cannot be written, and only signed modules are loaded; to end it, boot "
                           "without lockdown= and, usually, with Secure Boot off in the firmware");
}

static void look_at_secure_boot(const struct environment *e, struct finding *f)
{
    if (e->secure_boot < 0)
        return;
    findings_see(f, "/sys/firmware/efi/efivars/SecureBoot-*: %s", e->secure_boot ? "on" : "off");
    if (e->secure_boot)
        findings_limits(f, "only signed modules are loaded: the helper must be signed with a key that the firmware "
                           "knows (mokutil --import, doc/kernel-helper.md), or Secure Boot turned off in the firmware");
}

/* Linux, Documentation/scheduler/sched-rt-group.rst; drivers/native/pinning.c keeps below the limit. */
static void look_at_rt_throttling(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_RT_RUNTIME) || e->fact[ENV_RT_RUNTIME].text[0] == '-')
        return;
    findings_limits(f, "a real-time thread is stopped after that many microseconds of each second: longer stretches "
                       "are measured at normal priority, where others interrupt them");
    findings_write_fact(e, f, ENV_RT_RUNTIME, "-1");
}

const struct finding_rule findings_of_kernel[] = {
    {"cstates", look_at_cstates},
    {"steal", look_at_steal},
    {"container", look_at_container},
    {"load", look_at_load},
    {"uncore", look_at_uncore},
    {"clocksource", look_at_clocksource},
    {"microcode", look_at_microcode},
    {"mitigations", look_at_mitigations},
    {"huge-pages", look_at_huge_pages},
    {"aslr", look_at_aslr},
    {"hypervisor", look_at_hypervisor},
    {"pmu", look_at_pmu},
    {"perf-paranoid", look_at_perf_paranoid},
    {"perf-sample-rate", look_at_perf_sample_rate},
    {"rdpmc", look_at_rdpmc},
    {"msr-module", look_at_msr_module},
    {"lockdown", look_at_lockdown},
    {"secure-boot", look_at_secure_boot},
    {"rt-throttling", look_at_rt_throttling},
    {NULL, NULL},
};
