/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/computer.h"
#include "tests/support/test.h"

void computer_set(struct computer *c, enum environment_fact which, const char *text)
{
    c->e.fact[which].error = 0;
    snprintf(c->e.fact[which].text, sizeof c->e.fact[which].text, "%s", text);
}

void computer_boot_line(struct computer *c, const char *text)
{
    snprintf(c->e.command_line, sizeof c->e.command_line, "%s", text);
}

void computer_mask(struct cpu_mask *m, const char *list)
{
    assert_int_equal(cpu_mask_parse(list, m), 0);
}

void computer_quiet(struct computer *c)
{
    static const struct {
        enum environment_fact which;
        const char *text;
    } facts[] = {{ENV_GOVERNOR, "performance"},
                 {ENV_DRIVER, "intel_pstate"},
                 {ENV_MIN_KHZ, "1000000"},
                 {ENV_MAX_KHZ, "3700000"},
                 {ENV_LOWEST_KHZ, "1000000"},
                 {ENV_HIGHEST_KHZ, "3700000"},
                 {ENV_EPP, "performance"},
                 {ENV_NO_TURBO, "0"},
                 {ENV_SIBLINGS, "3,7"},
                 {ENV_ONLINE, "0-7"},
                 {ENV_ISOLATED, "3,7"},
                 {ENV_NOHZ_FULL, "3,7"},
                 {ENV_WORKQUEUE_MASK, "77"},
                 {ENV_WRITEBACK_MASK, "77"},
                 {ENV_THERMAL_CORE, "0"},
                 {ENV_UNCORE_MIN_KHZ, "2400000"},
                 {ENV_UNCORE_MAX_KHZ, "2400000"},
                 {ENV_CAP_UW, "125000000"},
                 {ENV_CAP_MAX_UW, "125000000"},
                 {ENV_RDPMC, "1"},
                 {ENV_PMU_TYPE, "4"},
                 {ENV_LOCKDOWN, "[none] integrity confidentiality"},
                 {ENV_HUGE_PAGES, "always [madvise] never"},
                 {ENV_CLOCKSOURCE, "tsc"},
                 {ENV_NMI_WATCHDOG, "0"},
                 {ENV_RT_RUNTIME, "-1"},
                 {ENV_PERF_PARANOID, "2"},
                 {ENV_ASLR, "0"},
                 {ENV_DEFAULT_AFFINITY, "77"}};
    memset(c, 0, sizeof *c);
    struct environment *e = &c->e;
    for (size_t i = 0; i < ENV_FACTS; i++)
        e->fact[i].error = ENOENT;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        computer_set(c, facts[i].which, facts[i].text);
    e->cpu = 3;
    e->seconds = 1;
    computer_mask(&e->online, "0-7");
    computer_mask(&e->siblings, "3,7");
    computer_mask(&e->isolated, "3,7");
    computer_mask(&e->nohz_full, "3,7");
    computer_mask(&e->workqueue, "0-2,4-6");
    computer_mask(&e->writeback, "0-2,4-6");
    computer_mask(&e->default_affinity, "0-2,4-6");
    e->siblings_known = e->cpuinfo_known = true;
    e->states = c->states;
    e->irqs = c->irqs;
    e->tasks = c->tasks;
    e->weaknesses = c->weaknesses;
    c->states[0] = (struct environment_state){.name = "C1", .exit_us = 2};
    c->states[1] = (struct environment_state){.name = "C6", .exit_us = 133, .number = 1, .disabled = true};
    e->n_states = 2;
    c->weaknesses[0] = (struct environment_weakness){"spectre_v2", "Mitigation: Enhanced / Automatic IBRS; IBPB: "
                                                                   "conditional; PBRSB-eIBRS: Not affected"};
    e->n_weaknesses = 1;
    e->timer_hz = 1;
    e->config_hz = 250;
    e->secure_boot = 0;
    e->microcodes = 1;
    snprintf(e->microcode, sizeof e->microcode, "0x2b000590");
    snprintf(e->mitigations, sizeof e->mitigations, "default");
    e->cgroup_quota = NAN;
    e->thermal_boot = e->thermal_now = 0;
}

void computer_add_irq(struct computer *c, const char *name, const char *device, uint64_t counted, const char *allowed)
{
    struct environment_irq *irq = &c->irqs[c->e.n_irqs++];
    snprintf(irq->name, sizeof irq->name, "%s", name);
    snprintf(irq->device, sizeof irq->device, "%s", device);
    irq->counted = counted;
    irq->numbered = irq->allowed_known = irq->movable = allowed != NULL;
    if (allowed) {
        computer_mask(&irq->allowed, allowed);
        irq->here = cpu_mask_has(&irq->allowed, c->e.cpu);
    }
}

void computer_findings(const struct computer *c, struct findings *f)
{
    assert_int_equal(findings_of(&c->e, f), 0);
}
