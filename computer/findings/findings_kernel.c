/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel was told at boot or by root, and holds for all CPUs. */
#include <ctype.h>
#include <string.h>

#include "computer/findings/findings_parts.h"
#include "util/text_list.h"

void findings_microcode(const struct environment *e, struct finding *f)
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

void findings_mitigations(const struct environment *e, struct finding *f)
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

/* V 5.1.8: it makes runs of a program differ, not parts of one run; those of registers alone not at all. */
void findings_aslr(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_ASLR) || findings_is(e, ENV_ASLR, "0"))
        return;
    findings_disturbs(f, "code and data are at different addresses in each run, so runs with memory accesses differ; "
                         "for a single command, and without root: setarch -R ./characterize ...");
    findings_write_fact(e, f, ENV_ASLR, "0");
}

/* Linux, Documentation/admin-guide/mm/transhuge.rst. */
void findings_huge_pages(const struct environment *e, struct finding *f)
{
    if (!findings_shows(e, f, ENV_HUGE_PAGES) || !strstr(e->fact[ENV_HUGE_PAGES].text, "[always]"))
        return;
    findings_disturbs(f, "whether a buffer gets huge pages varies from run to run, and khugepaged merges pages "
                         "meanwhile: tables with memory accesses differ from run to run");
    char path[200];
    environment_path(ENV_HUGE_PAGES, e->cpu, path, sizeof path);
    findings_write(e, f, path, "madvise", "always");
}

/* Linux, arch/x86/kernel/tsc.c, tsc_unstable: what the kernel does not trust is no clock for 1 us either. */
void findings_clocksource(const struct environment *e, struct finding *f)
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
