/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What keeps counters and registers from being read: it disturbs nothing, but less can be measured. */
#include <errno.h>
#include <string.h>

#include "computer/findings/findings_parts.h"

void findings_pmu(const struct environment *e, struct finding *f)
{
    if (findings_has(e, f, ENV_PMU_TYPE)) {
        findings_see(f, "/sys/bus/event_source/devices: cpu is there");
    } else if (f->kind == FINDING_QUIET) {
        findings_see(f, "no cpu in /sys/bus/event_source/devices");
        findings_limits(f,
                        "cycles, instructions and license levels cannot be counted; frequencies come from time "
                        "stamps alone%s",
                        e->hypervisor ? ". The host can give a guest its counters (QEMU: -cpu "
                                        "host,pmu=on; clouds: bare-metal instances)"
                                      : "");
    }
}

/* Linux, Documentation/admin-guide/sysctl/kernel.rst, perf_event_paranoid; root is never refused. */
void findings_perf_paranoid(const struct environment *e, struct finding *f)
{
    if (e->fact[ENV_PMU_TYPE].error == ENOENT || !findings_shows(e, f, ENV_PERF_PARANOID))
        return;
    if (e->root || !(findings_number(e, ENV_PERF_PARANOID) > 2))
        return;
    findings_limits(f, "unprivileged users may not count anything: --machine perf does not work");
    findings_write_fact(e, f, ENV_PERF_PARANOID, "2");
}

/* Linux, arch/x86/events/core.c, rdpmc: 0 for nobody, 1 while perf events are mapped, 2 always. */
void findings_rdpmc(const struct environment *e, struct finding *f)
{
    if (e->fact[ENV_PMU_TYPE].error == ENOENT || !findings_shows(e, f, ENV_RDPMC) || !findings_is(e, ENV_RDPMC, "0"))
        return;
    findings_limits(f, "programs may not use RDPMC, and reading a counter by a system call takes a microsecond instead "
                       "of a few nanoseconds");
    findings_write_fact(e, f, ENV_RDPMC, "1");
}

/* The word in brackets of "none [integrity] confidentiality". */
static bool chosen_word(const char *text, const char *word)
{
    const char *at = strchr(text, '[');
    size_t n = strlen(word);
    return at && strncmp(at + 1, word, n) == 0 && at[1 + n] == ']';
}

/* kernel_lockdown(7). */
void findings_lockdown(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_LOCKDOWN))
        return;
    if (chosen_word(e->fact[ENV_LOCKDOWN].text, "integrity") ||
        chosen_word(e->fact[ENV_LOCKDOWN].text, "confidentiality"))
        findings_limits(f, "registers (MSRs) cannot be written, and only signed modules are loaded; to end it, boot "
                           "without lockdown= and, usually, with Secure Boot off in the firmware");
}

void findings_secure_boot(const struct environment *e, struct finding *f)
{
    if (e->secure_boot < 0)
        return;
    findings_see(f, "/sys/firmware/efi/efivars/SecureBoot-*: %s", e->secure_boot ? "on" : "off");
    if (e->secure_boot)
        findings_limits(f, "only signed modules are loaded: the helper must be signed with a key that the firmware "
                           "knows (mokutil --import, doc/kernel-helper.md), or Secure Boot turned off in the firmware");
}

/* msr(4). */
void findings_msr_module(const struct environment *e, struct finding *f)
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
